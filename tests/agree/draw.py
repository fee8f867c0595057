"""Scenes drawn at random: mechanisms of bodies, trees or closed, small and short, of what a question takes.

What a method refuses by its row of docs/methods.md is not drawn for it (`Takes`): a refused scene says nothing.
"""

import json
import math
import random

import draw_cables
import draw_controls
import draw_couplings
import kinds
import vec

RUN = {"time": 0.2, "step": 0.002, "frame": 0.02}


class Takes:
    """What is drawn for a question."""

    def __init__(self, question):
        verb, method = question.split(" ")
        full = method == "articulated"
        self.verb, self.method = verb, method
        self.drag = self.velocity = self.motion = self.wind = self.ball_limits = self.loop_limits = full
        self.limits = self.restitution = self.laws = full
        self.friction = full and verb == "run"
        self.couplings = full
        self.position = method in ("articulated", "adaptive")
        self.servo = method in ("articulated", "rom", "adaptive")
        self.ball_servo = self.max_force = full
        self.force_drive = method in ("articulated", "rom", "adaptive")
        self.ball_drive = method in ("articulated", "adaptive")
        self.free = method in ("articulated",)
        self.loops = method in ("articulated", "rom", "adaptive", "chain")
        self.loop_law = method in ("articulated", "rom", "adaptive")
        self.joint_probes = method in ("articulated", "rom", "adaptive")
        self.loop_probes = full
        self.must_hold = verb == "static" or method in ("rom", "adaptive")  # a rest is wanted near the pose as written


def seeded(*parts):
    return random.Random("/".join(map(str, parts)))


def some(rng, share):
    return rng.random() < share


def of_time(rng):
    """A function of time of size one."""
    return rng.choice(["1", f"sin({rng.uniform(3, 20):.6g}*t)", "if(t < 0.1, 0, 1)", f"cos({rng.uniform(3, 20):.6g}*t)",
                       f"min(t/{rng.uniform(0.05, 0.2):.6g}, 1)"])


def table(rng, last, value):
    """A function of time by points, perhaps repeated."""
    times = sorted(rng.uniform(0, last) for _ in range(rng.randint(2, 4)))
    out = {"table": [[t, *value()] for t in times]}
    if some(rng, 0.3):
        out["periodic"] = True
    return out


def of_time_times(rng, value):
    """A number times a function of time."""
    if some(rng, 0.1):
        return table(rng, 0.2, lambda: [value * rng.uniform(-1, 1)])
    return f"{value:.6g}*{of_time(rng)}"


def vector_of_time(rng, size):
    v = vec.scaled(size * rng.uniform(0.2, 1), vec.random_unit(rng))
    if some(rng, 0.12):
        return table(rng, 0.2, lambda: vec.scaled(rng.uniform(-1, 1), v) if some(rng, 0.5) else vec.scaled(size, vec.random_unit(rng)))
    f = of_time(rng)
    return v if f == "1" else [f"({x!r})*{f}" for x in v]


def gravity(rng):
    if some(rng, 0.2):
        return [0, 0, 0]
    g = [0, 0, -9.81] if some(rng, 0.4) else vec.scaled(rng.uniform(2, 12), vec.random_unit(rng))
    if some(rng, 0.15):
        return [f"({x!r})*{of_time(rng)}" for x in g]
    if some(rng, 0.05):
        return table(rng, 0.2, lambda: vec.scaled(rng.uniform(0, 1), g))
    return g


def solid(rng, size):
    """A shape with its mass, or several; points on it."""
    kind = rng.choice(["box", "box", "sphere", "capsule", "cylinder", "inertia", "shapes"])
    if kind == "shapes":
        body = draw_couplings.put_together(rng, size)
        draw_couplings.add_points(rng, body, size)
        return body
    body = {"mass": rng.uniform(0.2, 2)}
    if kind == "box":
        body["box"] = [size * rng.uniform(0.15, 0.6) for _ in range(3)]
    elif kind == "sphere":
        body["sphere"] = size * rng.uniform(0.1, 0.3)
    elif kind == "inertia":
        i = body["mass"] * size ** 2
        body["inertia"] = [i * rng.uniform(0.05, 0.1) for _ in range(3)]
        body["com"] = vec.scaled(size * rng.uniform(0, 0.3), vec.random_unit(rng))
    else:
        body[kind] = {"radius": size * rng.uniform(0.05, 0.2), "length": size * rng.uniform(0.2, 0.8)}
        if some(rng, 0.5):
            body["density"] = body.pop("mass") * 1000
    draw_couplings.add_points(rng, body, size)
    if some(rng, 0.5):
        body["rotate"] = vec.scaled(rng.uniform(0.1, 2), vec.random_unit(rng))
    return body


FREEDOMS = {"fixed": 0, "revolute": 1, "prismatic": 1, "universal": 2, "planar": 3, "spherical": 3, "free": 6,
            "cylindrical": 2, "screw": 1, "point_on_line": 4, "point_on_plane": 5, "constant_velocity": 2}
MORE_KINDS = ("planar", "cylindrical", "screw", "point_on_line", "point_on_plane", "constant_velocity")  # of articulated


def by_coordinate(turn, slide):
    """Numbers of all kinds: the same for all coordinates of a sort, so that they do not depend on axes."""
    return {"revolute": turn, "prismatic": slide, "universal": turn, "spherical": turn, "planar": [slide, slide, turn],
            "free": [turn] * 3 + [slide] * 3, "fixed": 0, "cylindrical": [turn, slide], "screw": turn,
            "point_on_line": [turn] * 3 + [slide], "point_on_plane": [turn] * 3 + [slide] * 2, "constant_velocity": turn}


def stiffness(rng, kind, strong):
    turn = rng.uniform(20, 80) if strong else rng.uniform(5, 40)
    slide = rng.uniform(500, 3000)
    return by_coordinate(turn, slide)[kind]


def damping(rng, kind):
    turn, slide = rng.uniform(0.01, 0.5), rng.uniform(0.5, 8)
    return by_coordinate(turn, slide)[kind]


def law(rng, joint, takes, closing=False):
    """Springs, dampers, rests and stops of a joint."""
    kind = joint["type"]
    if kind == "fixed":
        return
    plain = kind in ("revolute", "prismatic", "universal", "screw")
    size = 0.02 if kind == "prismatic" else 0.3
    if closing and not takes.loop_law:
        return
    if kind in ("prismatic", "free", *MORE_KINDS) or takes.must_hold and not closing or some(rng, 0.6):
        joint["stiffness"] = stiffness(rng, kind, takes.must_hold)
        if plain and kind != "universal" and some(rng, 0.3):
            joint["rest"] = rng.uniform(-size, size)
    if takes.method in ("adaptive", "rom") or some(rng, 0.6):
        joint["damping"] = damping(rng, kind)
    if takes.method == "rom" and kind == "free":
        joint.pop("damping", None)
    limited = takes.loop_limits if closing else takes.limits
    if plain and limited and some(rng, 0.2):
        one = lambda: [-size * rng.uniform(0.1, 1), size * rng.uniform(0.1, 1)]
        joint["limits"] = [one(), one()] if kind == "universal" else one()
    if kind == "spherical" and takes.ball_limits and not closing and some(rng, 0.2):
        joint["limits"] = rng.uniform(0.05, 0.5)
    if "limits" in joint and takes.restitution and some(rng, 0.5):
        joint["restitution"] = rng.uniform(0, 0.9)
    if kind in ("revolute", "prismatic", "screw") and takes.laws:
        more_laws(rng, joint, takes, closing)


def more_laws(rng, joint, takes, closing):
    """Preloads, stops that give, dry friction; of closing joints too."""
    turns = joint["type"] != "prismatic"
    if "stiffness" in joint and some(rng, 0.15):
        joint["preload"] = rng.uniform(-1, 1) * (2 if turns else 10)
    if "limits" in joint and "restitution" not in joint and some(rng, 0.5):
        joint["stop_stiffness"] = rng.uniform(1, 10) * (40 if turns else 2000)
        if some(rng, 0.5):
            joint["stop_damping"] = damping(rng, joint["type"])
    if takes.friction and some(rng, 0.1):
        joint["friction"] = rng.uniform(0.1, 1) * (0.3 if turns else 2)


def drive(rng, joint, takes):
    """A motor, a given motion, a start elsewhere or a start in motion; at most one."""
    kind = joint["type"]
    if kind not in ("revolute", "prismatic", "screw") or not some(rng, 0.4):
        return
    size = 0.02 if kind == "prismatic" else 0.3
    strong = 2000 if kind == "prismatic" else 25
    choices = [c for c, ok in (("servo", takes.servo), ("force", takes.force_drive), ("motion", takes.motion),
                               ("position", takes.position), ("velocity", takes.velocity)) if ok]
    choice = rng.choice(choices) if choices else None
    if choice == "servo":
        servo = {"target": of_time_times(rng, rng.uniform(-size, size)), "kp": strong * rng.uniform(0.3, 1)}
        if some(rng, 0.7):
            servo["kd"] = servo["kp"] * rng.uniform(0.001, 0.02)
        if takes.max_force and some(rng, 0.3):
            servo["max_force"] = strong * size * rng.uniform(0.1, 1)
        joint["drive"] = {"servo": servo}
    elif choice == "force":
        joint["drive"] = {"force": of_time_times(rng, strong * size * rng.uniform(-0.3, 0.3))}
    elif choice == "motion":
        joint["motion"] = f"{rng.uniform(-size, size):.6g}*sin({rng.uniform(2, 9):.6g}*t)"
        if some(rng, 0.1):
            joint["motion"] = table(rng, 0.2, lambda: [rng.uniform(-size, size)])
        for key in ("limits", "restitution", "stop_stiffness", "stop_damping"):
            joint.pop(key, None)
    elif choice == "position":
        joint["position"] = rng.uniform(-size, size)
    elif choice == "velocity":
        joint["velocity"] = rng.uniform(-3, 3) * size * 3


def new_scene(rng):
    return {"gravity": gravity(rng), "bodies": {}, "joints": {}, "springs": {}, "couplings": {}, "loops": {}, "loads": {}, "probes": [],
            "run": dict(RUN)}


def probe(scene, **entry):
    used = {p["name"] for p in scene["probes"]}
    name = next(f"p{i}" for i in range(len(used) + 1) if f"p{i}" not in used)
    scene["probes"].append({"name": name, **entry})


def add_tree(rng, scene, takes, count, parents, size=0.2):
    """Bodies on joints of all kinds; parents: what the first may hang on, {name or None: its joint's place}."""
    parents = dict(parents)
    for _ in range(count):
        k = len(scene["bodies"])
        name, parent = f"b{k}", rng.choice(list(parents))
        origin = parents[parent]
        place = vec.add(origin, vec.scaled(size, vec.random_unit(rng)))
        scene["bodies"][name] = {"at": place, **solid(rng, size / 2)}
        if takes.drag and some(rng, 0.2):
            scene["bodies"][name]["linear_drag"] = rng.uniform(0.1, 2)
        if takes.drag and some(rng, 0.1):
            scene["bodies"][name]["angular_drag"] = rng.uniform(0.01, 0.1)
        types = ["revolute"] * 6 + ["prismatic", "universal", "spherical", "spherical", "fixed"]
        if takes.method == "articulated":
            types += MORE_KINDS
        if takes.free and parent is None:
            types += ["free"]
        joint = {"type": rng.choice(types), "child": name, "at": list(origin)}
        if parent:
            joint["parent"] = parent
        axes(rng, joint)
        law(rng, joint, takes)
        drive(rng, joint, takes)
        scene["joints"][f"j{k}"] = joint
        parents[name] = vec.add(place, vec.scaled(0.3 * size, vec.random_unit(rng)))
        probe(scene, quantity="position", on=name)
        probe(scene, quantity="rotation", on=name)
        if takes.joint_probes and joint["type"] in ("revolute", "prismatic", "screw"):
            probe(scene, quantity="joint_position", joint=f"j{k}")


def axes(rng, joint):
    if joint["type"] in ("revolute", "prismatic", "universal", *MORE_KINDS):
        joint["axis"] = vec.random_unit(rng) if some(rng, 0.7) else list(rng.choice(vec.IDENTITY))
    if joint["type"] == "universal":
        joint["axis2"] = vec.perpendicular(rng, joint["axis"])
    if joint["type"] == "screw":
        joint["pitch"] = rng.choice([-1, 1]) * rng.uniform(0.02, 0.3)


def add_polygon(rng, scene, takes):
    """A closed chain of hinges in a plane, turned anyhow; redundant as every planar loop in space is."""
    R = vec.random_rotation(rng) if some(rng, 0.8) else vec.IDENTITY
    n = rng.choice([3, 3, 3, 4])
    flat = {3: [[0, 0], [0.05, 0.2], [0.35, 0.25], [0.3, 0]], 4: [[0, 0], [-0.05, 0.2], [0.15, 0.35], [0.35, 0.2], [0.3, 0]]}[n]
    corners = [vec.times(R, [x + rng.uniform(-0.03, 0.03), y + rng.uniform(-0.03, 0.03), 0]) for x, y in flat]
    normal = vec.times(R, [0, 0, 1])
    add_ring(rng, scene, takes, corners, [("revolute", normal)] * (n + 1))


def add_spatial(rng, scene, takes):
    """Hinge, ball, ball, hinge: a closed chain in space."""
    corners = [[0, 0, 0], [0.02, 0.05, 0.2], [0.3, 0.1, 0.25], [0.3, 0, 0]]
    corners = [vec.add(c, vec.scaled(0.04, vec.random_unit(rng))) for c in corners]
    types = [("revolute", vec.random_unit(rng)), ("spherical", None), ("spherical", None), ("revolute", vec.random_unit(rng))]
    if some(rng, 0.5):
        types[1] = ("universal", vec.random_unit(rng))
    add_ring(rng, scene, takes, corners, types)


def add_ring(rng, scene, takes, corners, types):
    """Bodies between corners, joints at them; the last closes the loop with the world."""
    n, first = len(corners) - 1, len(scene["bodies"])
    for i in range(n):
        name = f"b{first + i}"
        at = vec.scaled(0.5, vec.add(corners[i], corners[i + 1]))
        scene["bodies"][name] = {"at": at, **solid(rng, 0.1)}
        probe(scene, quantity="position", on=name)
    for i, (kind, axis) in enumerate(types):
        joint = {"type": kind, "at": corners[i]}
        if axis:
            joint["axis"] = axis
        if kind == "universal":
            joint["axis2"] = vec.perpendicular(rng, axis)
        law(rng, joint, takes, closing=i == n)
        if i < n:
            if i == 0:
                drive(rng, joint, takes)
                for key in ("position", "velocity", "motion"):  # the loop would not close, or not at that speed
                    joint.pop(key, None)
            if i > 0:
                joint["parent"] = f"b{first + i - 1}"
            joint["child"] = f"b{first + i}"
            scene["joints"][f"j{first + i}"] = joint
            if takes.joint_probes and kind == "revolute":
                probe(scene, quantity="joint_position", joint=f"j{first + i}")
        else:
            scene["loops"][f"o{first}"] = {**joint, "a": f"b{first + i - 1}", "b": "world"}


def add_springs(rng, scene, most=2):
    names = list(scene["bodies"])
    for k in range(rng.randint(0, most)):
        a = rng.choice(names)
        b = rng.choice(["world"] + [x for x in names if x != a])
        end = {"on": b, "at": vec.scaled(rng.uniform(0.05, 0.5 if b == "world" else 0.1), vec.random_unit(rng))}
        start = a if some(rng, 0.5) else {"on": a, "at": vec.scaled(0.05, vec.random_unit(rng))}
        spring = {"between": [start, end], "stiffness": rng.uniform(20, 300)}
        if some(rng, 0.5):
            spring["damping"] = rng.uniform(0, 2)
        if some(rng, 0.5):
            spring["rest_length"] = rng.uniform(0.02, 0.3)
        if "rest_length" in spring and some(rng, 0.5):
            spring["tension_only"] = True  # at ease it would start between slack and taut
        scene["springs"][f"s{k}"] = spring
        probe(scene, quantity="spring_length", spring=f"s{k}")
        probe(scene, quantity="spring_tension", spring=f"s{k}")


def add_loads(rng, scene, size=3, most=2):
    names = list(scene["bodies"])
    for k in range(rng.randint(0, most)):
        on = rng.choice(names)
        load = {"on": on if some(rng, 0.5) else {"on": on, "at": vec.scaled(0.05, vec.random_unit(rng))},
                "force": vector_of_time(rng, size)}
        if some(rng, 0.3):
            load["moment"] = vector_of_time(rng, 0.1 * size)
        if some(rng, 0.3):
            load["follows"] = True
        if some(rng, 0.2) and not any(isinstance(load.get(k), dict) for k in ("force", "moment")):
            load["ramp"] = rng.uniform(0.02, 0.3)
        scene["loads"][f"l{k}"] = load


def mechanism(rng, question):
    """A tree, a ring, or a tree on a ring, with what acts on them."""
    takes = Takes(question)
    scene = new_scene(rng)
    if takes.loops and some(rng, 0.4):
        (add_polygon if some(rng, 0.6) else add_spatial)(rng, scene, takes)
        if some(rng, 0.3):
            anchor = rng.choice(list(scene["bodies"]))
            add_tree(rng, scene, takes, 1, {anchor: list(scene["bodies"][anchor]["at"])})
    else:
        add_tree(rng, scene, takes, rng.randint(1, 4), {None: [0, 0, 0]})
    add_springs(rng, scene)
    draw_couplings.add_couplings(rng, scene, takes, probe)
    draw_couplings.add_bushings(rng, scene, takes, probe)
    add_loads(rng, scene)
    draw_cables.add_cables(scene, takes, probe)
    if takes.wind and some(rng, 0.1):
        scene["wind"] = {"velocity": vector_of_time(rng, 10)}
    finish(rng, scene, takes)
    return scene


def add_reactions(scene):
    """What joints carry, how bodies accelerate: where nothing jumps at a stop or a cut, and no loop shares what it holds."""
    joints = scene["joints"]
    if scene["loops"] or not joints or any(key in repr(joints) for key in ("limits", "max_force", "friction")):
        return
    for name in sorted({min(joints), max(joints)}):
        for quantity in ("reaction_force", "reaction_torque"):
            probe(scene, quantity=quantity, joint=name)
        for quantity in ("acceleration", "angular_acceleration", "momentum", "angular_momentum"):
            probe(scene, quantity=quantity, on=joints[name]["child"])
    probe(scene, quantity="total_momentum")


def finish(rng, scene, takes):
    """Options of the method, and probes that it alone knows."""
    run = scene["run"]
    if takes.method == "articulated":
        add_reactions(scene)
    if takes.method == "articulated" and takes.verb == "run":
        run["integrator"] = rng.choice(["midpoint", "midpoint", "euler", "implicit_euler", "sdirk", "gauss", "sdirk4", "rk4"])
        if some(rng, 0.2):
            run["solver"] = rng.choice(["gaba", "pcg", "pcg_rows", "dense"])
        if some(rng, 0.1):
            run["error"] = 10 ** rng.uniform(-6, -3)
        draw_controls.add_controls(rng, scene)
        if some(rng, 0.1) and "friction" not in repr((scene["joints"], scene["loops"], scene.get("cables"))) and "controllers" not in scene \
                and '"velocity"' not in json.dumps([scene["joints"], scene["bodies"]]):
            run["from"] = "static"
    if takes.method == "rom":
        run["rom"] = {"ends": ends(rng, scene)}
        if some(rng, 0.3):
            run["rom"]["integrator"] = "midpoint"
        if some(rng, 0.2) and len(scene["bodies"]) > 2:
            run["rom"]["modes"] = 1
    if takes.method == "adaptive":
        run["step"], run["time"], run["frame"] = 0.01, 0.5, 0.05
        if some(rng, 0.3):
            run["measure"] = rng.choice(["relative_joint", "absolute_joint", "relative_linkage", "absolute_linkage"])
        if some(rng, 0.3):
            run["weights"] = rng.choice(["none", "reach", "inertia"])


def ends(rng, scene):
    """End effectors: one of every tree that moves, perhaps one more."""
    joints, trees = {j["child"]: j for j in scene["joints"].values()}, {}
    for body in joints:
        root, moves = body, joints[body]["type"] != "fixed"
        while joints[root].get("parent"):
            root = joints[root]["parent"]
            moves = moves or joints[root]["type"] != "fixed"
        if moves:
            trees.setdefault(root, []).append(body)
    chosen = {rng.choice(bodies) for bodies in trees.values()}
    if trees and some(rng, 0.4):
        chosen.add(rng.choice(rng.choice(list(trees.values()))))
    return sorted(chosen)


def radius(scene):
    """The size of a scene: the farthest that anything is written from the origin."""
    places = [b["at"] for b in scene.get("bodies", {}).values() if "at" in b]
    for b in scene.get("beams", {}).values():
        if isinstance(b["path"], list):
            places += b["path"]
    long = [entry.get("length", entry.get("spacing", entry.get("coil", 0))) * (entry.get("links") or entry.get("levels") or
            entry.get("rungs") or entry["bodies"]) for section in kinds.SHORT_FORMS for entry in scene.get(section, {}).values()]
    return max([math.sqrt(sum(x * x for x in p)) for p in places] + long + [0.1])
