"""Beams, trees of beams, threads and histories drawn at random."""

import math

import draw
import kinds
import vec
from draw import gravity, new_scene, probe, some, vector_of_time


def path(rng, length, choices=("straight", "straight", "points", "arc", "helix", "spline")):
    """A path of a given length, a bend of at most 30 degrees a corner: threads refuse sharp ones."""
    kind = rng.choice(choices)
    if kind == "arc":
        angle = rng.uniform(0.3, 2)
        direction = vec.random_unit(rng)
        return {"arc": {"start": [0, 0, 0], "direction": direction, "towards": vec.perpendicular(rng, direction),
                        "radius": length / angle, "angle": angle}}
    if kind == "helix":
        axis = vec.random_unit(rng)
        turns = rng.choice([-1, 1]) * rng.uniform(0.3, 1.2)
        around = 2 * math.pi * abs(turns)
        return {"helix": {"center": [0, 0, 0], "axis": axis, "start_direction": vec.perpendicular(rng, axis),
                          "radius": 0.8 * length / around, "pitch": 0.6 * length / abs(turns), "turns": turns}}
    points, along = [[0, 0, 0]], vec.random_unit(rng)
    pieces = 1 if kind == "straight" else rng.randint(2, 3)
    for _ in range(pieces):
        points.append(vec.add(points[-1], vec.scaled(length / pieces, along)))
        along = vec.unit(vec.add(along, vec.scaled(0.5, vec.random_unit(rng))))
    return {"spline": points} if kind == "spline" and len(points) > 2 else points


def cross_section(rng, radius):
    """A section about so thick, with two equal or unequal stiffnesses."""
    kind = rng.choice(["circle", "circle", "tube", "rectangle", "ellipse"])
    if kind == "circle":
        return {"circle": radius}
    if kind == "tube":
        return {"tube": {"outer": radius, "inner": radius * rng.uniform(0.3, 0.8)}}
    if kind == "rectangle":
        return {"rectangle": {"width": 2 * radius * rng.uniform(0.7, 1.5), "height": 2 * radius}}
    return {"ellipse": {"a": radius * rng.uniform(0.7, 1.5), "b": radius}}


class Stuff:
    """A material and a section, and the force that bends a beam of them by about a third of its length."""

    def __init__(self, rng, scene, heavy=0.1):
        self.length = rng.uniform(0.3, 1)
        self.radius = self.length * rng.uniform(0.003, 0.01)
        self.E = 10 ** rng.uniform(8.5, 11)
        self.force = self.E * math.pi * self.radius ** 4 / 4 / self.length ** 2
        # Its weight is at most such a part of that force.
        weight = heavy * rng.uniform(0.1, 1) * self.force / 9.81
        density = weight / (math.pi * self.radius ** 2 * self.length)
        scene["materials"] = {"m": {"E": self.E, "nu": rng.uniform(0, 0.4), "density": density}}
        scene["sections"] = {"s": cross_section(rng, self.radius)}


def beam(rng, stuff, elements):
    return {"path": path(rng, stuff.length), "up": vec.random_unit(rng), "material": "m", "section": "s", "elements": elements}


def shape_at_ease(rng, stuff):
    """Another path of the same length: beams of links do not stretch."""
    return {"path": path(rng, stuff.length, ("straight", "points", "arc", "helix")), "up": vec.random_unit(rng)}


def place(rng, name):
    return rng.choice([f"{name}.tip", f"{name}.tip", f"{name}@0.5", f"{name}@0.7"])


def beam_load(rng, stuff, name, size=0.7):
    """On a place or along it, dead or following."""
    if some(rng, 0.3):
        load = {"along": name, "force_per_length": vector_of_time(rng, size * stuff.force / stuff.length)}
        if some(rng, 0.4):
            a = rng.uniform(0, 0.5)
            load["between"] = [a, rng.uniform(a + 0.2, 1)]
    else:
        load = {"on": place(rng, name), "force": vector_of_time(rng, size * stuff.force)}
        if some(rng, 0.3):
            load["moment"] = vector_of_time(rng, 0.3 * size * stuff.force * stuff.length)
    if some(rng, 0.25):
        load["follows"] = True
    return load


def beam_spring(rng, stuff, name, bodies=()):
    end = rng.choice(["world", *bodies])
    at = vec.scaled(stuff.length * rng.uniform(0.2, 1.2), vec.random_unit(rng)) if end == "world" else [0, 0, 0]
    start = place(rng, name)
    if some(rng, 0.5):
        start = {"on": start, "at": vec.scaled(0.05 * stuff.length, vec.random_unit(rng))}
    spring = {"between": [start, {"on": end, "at": at}], "stiffness": stuff.force / stuff.length * rng.uniform(0.3, 3)}
    if some(rng, 0.6):
        spring["rest_length"] = stuff.length * rng.uniform(0.05, 0.8)
    if "rest_length" in spring and some(rng, 0.4):
        spring["tension_only"] = True
    return spring


def beams(rng, question):
    """One to three beams, on the world, a fixed body, a hinged body or each other; ties, springs, loads."""
    verb, method = question.split(" ")
    scene = new_scene(rng)
    scene["gravity"] = gravity(rng)
    stuff = Stuff(rng, scene)
    elements = rng.randint(2, 6)
    scene["beams"] = {"a": beam(rng, stuff, elements)}
    bodies = []
    if some(rng, 0.3):
        scene["bodies"]["base"] = {"at": vec.scaled(0.1, vec.random_unit(rng)), "box": [0.05, 0.04, 0.03], "mass": 0.1,
                                   "rotate": vec.scaled(rng.uniform(0, 2), vec.random_unit(rng))}
        if some(rng, 0.5):
            scene["bodies"]["base"]["fixed"] = True
        else:
            scene["joints"]["hinge"] = {"type": rng.choice(["revolute", "spherical"] if method in ("chain", "thread") else
                                                                   ["revolute", "universal", "spherical"]), "child": "base",
                                        "stiffness": stuff.force * stuff.length * rng.uniform(1, 5), "damping": 0.01}
            if scene["joints"]["hinge"]["type"] != "spherical":
                scene["joints"]["hinge"]["axis"] = vec.random_unit(rng)
            if scene["joints"]["hinge"]["type"] == "universal":
                scene["joints"]["hinge"]["axis2"] = vec.perpendicular(rng, scene["joints"]["hinge"]["axis"])
        scene["beams"]["a"]["from"] = "base"
        bodies = ["base"]
    if some(rng, 0.3):
        scene["beams"]["b"] = {**beam(rng, stuff, elements), "from": rng.choice(["a.tip", "a@0.5"])}
        if some(rng, 0.3):
            scene["beams"]["b"]["from"] = {"on": scene["beams"]["b"]["from"], "at": vec.scaled(0.02, vec.random_unit(rng))}
    if some(rng, 0.2):
        scene["beams"]["a"]["planar"] = True
    if some(rng, 0.15):
        scene["beams"]["a"]["recipe"] = rng.choice(["consistent_1r", "published_3r"])
    names = list(scene["beams"])
    for k in range(rng.randint(1, 2)):
        scene["loads"][f"l{k}"] = beam_load(rng, stuff, rng.choice(names))
    for k in range(rng.randint(0, 1)):
        scene["springs"][f"s{k}"] = beam_spring(rng, stuff, rng.choice(names), bodies)
        probe(scene, quantity="spring_tension", spring=f"s{k}")
    if some(rng, 0.2) and method != "thread":
        scene["ties"] = {"tie": {"on": f"{names[-1]}.tip", "type": rng.choice(["spherical", "prismatic", "revolute"]),
                                 "axis": vec.random_unit(rng)}}
    if some(rng, 0.15) and method in ("articulated", "chain") and not bodies and "ties" not in scene:
        tie_to_finger(rng, scene, stuff)
    for name in names:
        probe(scene, quantity="position", on=f"{name}.tip")
        probe(scene, quantity="rotation", on=f"{name}@0.5")
    if verb == "run":
        period = length_of_period(stuff)
        scene["run"] = {"time": 40 * 0.02 * period, "step": 0.02 * period, "frame": 4 * 0.02 * period}
        for b in scene["beams"].values():
            b["damping"] = period * rng.choice([0, rng.uniform(0.02, 0.2)])
        if method == "rom":
            scene["run"]["rom"] = {"ends": [f"{names[-1]}.tip"]}
        if method == "articulated":
            scene["run"]["integrator"] = rng.choice(["midpoint", "sdirk", "implicit_euler", "euler", "gauss", "sdirk4"])
    if "ties" not in scene and "planar" not in scene["beams"]["a"] and some(rng, 0.2):
        scene["beams"]["a"]["rest"] = shape_at_ease(rng, stuff)
    return scene


def tie_to_finger(rng, scene, stuff):
    """The tip of a straight beam tied to a link on a sprung hinge."""
    tip = vec.scaled(stuff.length, vec.random_unit(rng))
    scene["beams"]["a"]["path"] = [[0, 0, 0], tip]
    at = vec.add(tip, vec.scaled(0.1 * stuff.length, vec.random_unit(rng)))
    scene["bodies"]["finger"] = {"at": at, "box": [0.05 * stuff.length] * 3, "mass": stuff.force / 20}
    scene["joints"]["knuckle"] = {"type": rng.choice(["revolute", "spherical"]), "child": "finger", "damping": 0.01,
                                  "at": vec.add(at, vec.scaled(0.4 * stuff.length, vec.random_unit(rng))),
                                  "stiffness": stuff.force * stuff.length * rng.uniform(1, 5)}
    if scene["joints"]["knuckle"]["type"] == "revolute":
        scene["joints"]["knuckle"]["axis"] = vec.random_unit(rng)
    scene["ties"] = {"tie": {"on": "a.tip", "to": {"on": "finger", "at": vec.sub(tip, at)}, "type": "spherical",
                             "axis": [0, 0, 1]}}
    probe(scene, quantity="position", on="finger")


def length_of_period(stuff):
    """Of the first bending mode of a cantilever, about."""
    # Weight is a part of the force EI/L²: from rho A L g = weight, omega² = 12.4 EI / (rho A L⁴).
    return 2 * math.pi * math.sqrt(0.05 * stuff.force * stuff.length / 9.81 / (12.4 * stuff.force))


def threads(rng, question):
    """One or two threads, held here and there, with springs, drifts, motions and contact."""
    verb, _ = question.split(" ")
    scene = new_scene(rng)
    stuff = Stuff(rng, scene, heavy=0.5)
    elements = rng.choice([4, 6, 8])
    scene["beams"] = {"a": beam(rng, stuff, elements)}
    a = scene["beams"]["a"]
    if some(rng, 0.4):
        a["clamps"] = [{"at": rng.choice([0.5, 1]), "hold": rng.choice(["clamped", "pinned", "welded"])}]
    if some(rng, 0.3):
        a["root"] = rng.choice(["pinned", "welded"])
        if "clamps" not in a and verb == "static":
            a["clamps"] = [{"at": 1, "hold": rng.choice(["clamped", "pinned"])}]
    if some(rng, 0.4):
        scene["springs"]["s0"] = beam_spring(rng, stuff, "a")
        probe(scene, quantity="spring_tension", spring="s0")
    for k in range(rng.randint(0, 2)):
        scene["loads"][f"l{k}"] = beam_load(rng, stuff, "a")
    for at in ("tip", "@0.5"):
        on = f"a.{at}" if at == "tip" else f"a{at}"
        probe(scene, quantity="position", on=on)
        probe(scene, quantity=rng.choice(["tension", "curvature", "twist", "bending_moment", "torque"]), on=on)
    if verb == "run":
        period = length_of_period(stuff)
        h = 0.02 * period
        scene["run"] = {"time": 20 * h, "step": h, "frame": 2 * h, "thread": {}}
        a["damping"] = period * rng.uniform(0, 0.1)
        if some(rng, 0.4):
            a["air_damping"] = rng.uniform(0, 1) / period
        if some(rng, 0.2) and "clamps" not in a:
            a["root"] = "free"
            a["velocity"] = vec.scaled(stuff.length / period * rng.uniform(0.1, 1), vec.random_unit(rng))
        if some(rng, 0.3):
            scene["run"]["thread"]["integrator"] = "euler"
        if some(rng, 0.2):
            scene["run"]["thread"]["element"] = rng.choice(["green", "printed"])
            a["path"], a["damping"] = path(rng, stuff.length, ["straight"]), 0
            scene["springs"].clear()  # of the log element only, as are curved paths, damping and contact
            scene["probes"] = [p for p in scene["probes"] if "spring" not in p]
        elif some(rng, 0.3):
            add_contact(rng, scene, stuff, period)
    if some(rng, 0.15):
        scene["beams"]["b"] = {**beam(rng, stuff, elements)}
        b = scene["beams"]["b"]
        b["path"] = [[0, 0, stuff.length / 3], [stuff.length, 0, stuff.length / 3]]
        probe(scene, quantity="position", on="b.tip")
    if some(rng, 0.2):
        add_hand(rng, scene, stuff)
    if verb == "run" and scene["run"]["thread"].get("element", "log") == "log" and some(rng, 0.1):
        scene["changes"] = [{"at": 0.4 * scene["run"]["time"], "beam": "a", "cut": 0.5}]
    if scene["run"].get("thread", {}).get("element", "log") == "log" and some(rng, 0.25):
        a["rest"] = {"length": stuff.length * rng.uniform(0.95, 1.05)} if some(rng, 0.5) else shape_at_ease(rng, stuff)
    if verb == "run" and "clamps" in a and all("to" not in c for c in a["clamps"]) and some(rng, 0.3):
        a["clamps"][0]["until"] = rng.uniform(0.3, 0.7) * scene["run"]["time"]
    if "contact" in scene and some(rng, 0.3):
        scene["contact"]["pairs"] = [{"between": ["a", "world"], "friction": rng.uniform(0, 0.6)}]
    return scene


def add_contact(rng, scene, stuff, period):
    """A plane or a solid near the middle of the thread."""
    scene["contact"] = {"friction": rng.uniform(0, 0.6)}
    if some(rng, 0.5):
        scene["contact"]["planes"] = [{"at": vec.scaled(-stuff.length * 0.05 - 3 * stuff.radius, [0, 0, 1]), "normal": [0, 0, 1]}]
        scene["beams"]["a"]["path"] = [[0, 0, 0], [stuff.length, 0, 0]]
    else:
        scene["bodies"]["stone"] = {**stone(rng, 0.05 * stuff.length), "fixed": True,
                                    "at": [stuff.length / 2, 0.01 * stuff.length, -0.08 * stuff.length - 3 * stuff.radius]}
        scene["beams"]["a"]["path"] = [[0, 0, 0], [stuff.length, 0, 0]]
    scene["loads"]["down"] = {"along": "a", "force_per_length": [0, 0, -stuff.force / stuff.length * rng.uniform(1, 5)]}
    scene["run"]["thread"]["substep"] = scene["run"]["step"] / 2
    probe(scene, quantity="overlap")


def stone(rng, r):
    """A solid that reaches as far as r, or ground as high."""
    kind = rng.choice(["sphere", "box", "capsule", "cylinder", "hull", "mesh", "height_field"])
    if kind == "sphere":
        return {"sphere": r}
    if kind == "box":
        return {"box": [2 * r, 3 * r, 2 * r]}
    if kind in ("capsule", "cylinder"):
        return {kind: {"radius": r, "length": 4 * r}, "rotate": [math.pi / 2 + rng.uniform(-0.3, 0.3), 0, 0]}
    if kind == "height_field":
        rows = [[r * rng.uniform(0.5, 1) for _ in range(4)] for _ in range(4)]
        return {"height_field": {"size": [30 * r, 10 * r], "rows": rows}}
    return {kind: tetrahedron(r)[kind]}


def tetrahedron(r):
    """Its corners at a distance r, one edge up."""
    a, b = r, r * math.sqrt(0.5)
    corners = [[-a, 0, b], [a, 0, b], [0, -a, -b], [0, a, -b]]
    return {"hull": {"points": corners}, "mesh": {"vertices": corners, "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]}}


def add_hand(rng, scene, stuff):
    """A body with a given motion that holds the root."""
    scene["bodies"]["hand"] = {"sphere": 3 * stuff.radius, "at": [0, 0, 0]}
    scene["joints"]["wrist"] = {"type": "revolute", "child": "hand", "axis": vec.random_unit(rng),
                                "motion": f"{rng.uniform(-0.3, 0.3):.6g}*sin({rng.uniform(2, 9):.6g}*t)"}
    scene["beams"]["a"]["from"] = "hand"


def histories(rng, question):
    """Beams of the chain with changes: cuts, growth, other materials and sections, ageing."""
    scene = beams(rng, "static chain")
    scene["run"] = {"time": 1, "steps": rng.choice([4, 5])}
    names = list(scene["beams"])
    age(rng, scene)
    scene["materials"]["m2"] = {**scene["materials"]["m"], "E": scene["materials"]["m"]["E"] * rng.uniform(1.2, 3)}
    scene["sections"]["s2"] = {"circle": max(x for _, x in kinds.walk(scene["sections"]["s"])) * rng.uniform(0.7, 1.3)}
    changes = []
    for _ in range(rng.randint(0, 2)):
        kind = rng.choice(["material", "section", "cut"] + ["grow"] * (len(names) > 1))
        change = {"at": round(rng.uniform(0.1, 0.9), 3), "beam": "b" if kind == "grow" else rng.choice(names)}
        changes.append({**change, **{"material": {"material": "m2"}, "section": {"section": "s2"}, "cut": {"cut": 0.5},
                                     "grow": {"grow": True}}[kind]})
    if changes:
        scene["changes"] = changes
    for tie in scene.get("ties", {}).values():
        if "to" in tie:
            continue
        if some(rng, 0.5):
            tie["shift"] = [f"{scale * rng.uniform(-0.02, 0.02):.6g}*t" for scale in 3 * [draw.radius(scene)]]
        if some(rng, 0.3):
            tie["turn"] = [f"{rng.uniform(-0.2, 0.2):.6g}*t" for _ in range(3)]
    return scene


def age(rng, scene):
    """Creep, fatigue and a strength, of the stresses that bend a beam by about its length."""
    material = scene["materials"]["m"]
    stress = material["E"] * max(x for _, x in kinds.walk(scene["sections"]["s"])) / draw.radius(scene)
    law = lambda: {"rate": rng.uniform(0.05, 1), "stress": stress * rng.uniform(0.2, 2), "exponent": rng.choice([0, 1, 1, 2, 3.5])}
    for key, share in (("creep", 0.4), ("fatigue", 0.3)):
        if some(rng, share):
            material[key] = law()
    if some(rng, 0.2):
        material["strength"] = stress * rng.uniform(0.2, 3)
    if some(rng, 0.2):
        material["yield"] = stress * rng.uniform(0.2, 3)
