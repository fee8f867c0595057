"""What ties joints and bodies beside the tree: couplings of all kinds, bushings, masses that are put together."""

import vec

TURNS, SLIDES = ("revolute", "screw"), ("prismatic",)


def some(rng, share):
    return rng.random() < share


def add_couplings(rng, scene, takes, probe):
    """Up to two, of joints that nothing else gives a motion. In a closed chain they give: rigid ones would hold it."""
    if not takes.couplings or not some(rng, 0.8):
        return
    free = [n for n, j in scene["joints"].items() if j["type"] in TURNS + SLIDES and "motion" not in j and "position" not in j]
    rng.shuffle(free)
    while len(free) > 1 and len(scene["couplings"]) < 2:
        coupling = one(rng, scene, free)
        if coupling is None:
            return
        name = f"c{len(scene['couplings'])}"
        if scene["loops"] or some(rng, 0.4):
            give(rng, scene, coupling)
        scene["couplings"][name] = coupling
        probe(scene, quantity="coupling_gap", coupling=name)
        if not scene["loops"] and not any(key in repr(scene["joints"]) for key in ("limits", "max_force", "friction")) and \
                not scene["couplings"][name].get("backlash"):
            probe(scene, quantity="coupling_force", coupling=name)


def one(rng, scene, free):
    """A coupling of the next of the free joints, which it takes off the list; None: no kind fits."""
    slides = lambda n: scene["joints"][n]["type"] in SLIDES
    a, b = free.pop(), free.pop()
    if some(rng, 0.35):
        return {"cam": [a, b], "profile": profile(rng, slides(a), slides(b))}
    if slides(a) != slides(b):
        if slides(a):
            a, b = b, a
        return {"rack": [a, b], "radius": rng.choice([-1, 1]) * rng.uniform(0.02, 0.1)}
    kinds = ["gear", "mimic", "belt", "sum"]
    third = next((n for n in free if slides(n) == slides(a)), None)
    if third:
        kinds.append("differential")
    kind = rng.choice(kinds)
    ratio = rng.choice([-1, 1]) * rng.uniform(0.4, 2)
    if kind == "gear":
        return {"gear": [a, b], "ratio": ratio}
    if kind == "mimic":
        return {"mimic": [a, b]} if some(rng, 0.5) else {"mimic": [a, b], "ratio": ratio}
    if kind == "belt":
        belt = {"belt": [a, b], "radii": [rng.uniform(0.02, 0.1), rng.uniform(0.02, 0.1)]}
        return {**belt, "crossed": True} if some(rng, 0.3) else belt
    if kind == "differential":
        free.remove(third)
        return {"differential": [a, b, third]}
    return {"sum": {a: rng.uniform(0.5, 1.5), b: ratio}}


def profile(rng, from_slide, to_slide):
    """Of a cam, through zero, by points or by an expression of x."""
    x, y = (0.05 if from_slide else 0.5), (0.03 if to_slide else 0.4)
    slope = rng.choice([-1, 1]) * rng.uniform(0.2, 1) * y / x
    if some(rng, 0.5):
        bend = rng.uniform(-0.5, 0.5) * slope / x
        return f"{slope:.6g}*x + {bend:.6g}*x^2"
    rows = [[s * x, s * x * slope * rng.uniform(0.6, 1.4)] for s in (-2, -1, 0, 1, 2)]
    return {"table": rows}


def last_of(coupling):
    """The joint that the gap is measured by."""
    kind = next(iter(coupling))
    return next(iter(coupling["sum"])) if kind == "sum" else coupling[kind][-1]


def give(rng, scene, coupling):
    slides = scene["joints"][last_of(coupling)]["type"] in SLIDES
    coupling["stiffness"] = rng.uniform(0.5, 2) * (2000 if slides else 20)
    if some(rng, 0.6):
        coupling["damping"] = coupling["stiffness"] * rng.uniform(0.001, 0.02)
    if some(rng, 0.3):
        coupling["backlash"] = rng.uniform(0.1, 1) * (0.002 if slides else 0.02)


def add_bushings(rng, scene, takes, probe):
    if not takes.couplings or not scene["bodies"] or not some(rng, 0.15):
        return
    names = list(scene["bodies"])
    b = rng.choice(names)
    a = rng.choice(["world"] + [n for n in names if n != b])
    turn, slide = rng.uniform(1, 20), rng.uniform(50, 1000)
    diagonal = [turn * rng.uniform(0.5, 2) for _ in range(3)] + [slide * rng.uniform(0.5, 2) for _ in range(3)]
    bushing = {"a": a, "b": b, "at": vec.add(scene["bodies"][b]["at"], vec.scaled(0.05, vec.random_unit(rng))),
               "rotate": vec.scaled(rng.uniform(0.1, 2), vec.random_unit(rng)), "stiffness": diagonal}
    if some(rng, 0.4):  # with what ties a turn to a shift
        rows = [[diagonal[i] if i == j else 0.0 for j in range(6)] for i in range(6)]
        i, j = rng.randrange(3), 3 + rng.randrange(3)
        rows[i][j] = rows[j][i] = rng.uniform(-0.5, 0.5) * (diagonal[i] * diagonal[j]) ** 0.5
        bushing["stiffness"] = rows
    if some(rng, 0.6):
        share = rng.uniform(0.001, 0.02)
        bushing["damping"] = [share * k for k in diagonal]
    scene["bushings"] = {"u0": bushing}


def put_together(rng, size):
    """Shapes with masses and densities of their own, perhaps a hole."""
    place = lambda: vec.scaled(size * rng.uniform(0.1, 0.5), vec.random_unit(rng))
    box = {"box": [size * rng.uniform(0.3, 0.6) for _ in range(3)], "density": rng.uniform(500, 5000)}
    shapes = [box, {"sphere": size * rng.uniform(0.1, 0.3), "at": place(), "mass": rng.uniform(0.1, 1)}]
    if some(rng, 0.5):
        shapes.append({"cylinder": {"radius": size * rng.uniform(0.05, 0.2), "length": size * rng.uniform(0.2, 0.8)}, "at": place(),
                       "rotate": vec.scaled(rng.uniform(0.1, 2), vec.random_unit(rng))})
    if some(rng, 0.4):
        shapes.append({"sphere": 0.1 * size, "hole": True, "density": box["density"]})
    rng.shuffle(shapes)
    body = {"shapes": shapes}
    if any("density" not in s and "mass" not in s for s in shapes):
        body["density"] = rng.uniform(500, 3000)
    return body


def add_points(rng, body, size):
    if some(rng, 0.2):
        body["point_masses"] = [{"mass": rng.uniform(0.05, 0.5), "at": vec.scaled(size * rng.uniform(0, 1), vec.random_unit(rng))}
                                for _ in range(rng.randint(1, 2))]
