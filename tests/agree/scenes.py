"""Scenes drawn at random, small and short, as plain data; written as YAML text, and written differently.

A scene is a dict: bodies, joints, springs, loads, gravity, run. Vectors are lists of numbers in SI units and world axes;
a load's force is a vector times a function of time. That is all that the ways of writing it differently need to know.
"""

import copy
import math
import random


def unit(rng):
    while True:
        v = [rng.gauss(0, 1) for _ in range(3)]
        n = math.sqrt(sum(x * x for x in v))
        if n > 0.1:
            return [x / n for x in v]


def rotation(rng):
    """A rotation matrix, rows first."""
    q = [rng.gauss(0, 1) for _ in range(4)]
    n = math.sqrt(sum(x * x for x in q))
    w, x, y, z = (c / n for c in q)
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def times(R, v):
    return [sum(R[i][k] * v[k] for k in range(3)) for i in range(3)]


def draw_tree(rng):
    """Bodies on joints, with springs, dampers, stops, servos, drag and loads."""
    n = rng.randint(1, 5)
    scene = {"bodies": {}, "joints": {}, "springs": {}, "loads": {}, "probes": [],
             "gravity": [rng.uniform(-3, 3), rng.uniform(-3, 3), -9.81],
             "run": {"time": 0.2, "step": 0.002, "frame": 0.02}}
    for i in range(n):
        parent = rng.choice([None] + list(scene["bodies"])) if i else None
        origin = scene["bodies"][parent]["at"] if parent else [0, 0, 0]
        reach = [0.2 * x for x in unit(rng)]
        name = f"b{i}"
        body = {"at": [o + r for o, r in zip(origin, reach)], "mass": rng.uniform(0.2, 2),
                "box": [rng.uniform(0.03, 0.1) for _ in range(3)]}
        if rng.random() < 0.2:
            body["linear_drag"] = rng.uniform(0.1, 2)
        scene["bodies"][name] = body
        kind = rng.choices(["revolute", "prismatic", "universal", "spherical"], [6, 1, 1, 2])[0]
        joint = {"type": kind, "child": name, "at": list(origin)}
        if parent:
            joint["parent"] = parent
        if kind in ("revolute", "prismatic"):
            joint["axis"] = unit(rng)
        if kind == "universal":
            a = unit(rng)
            b = unit(rng)
            cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
            norm = math.sqrt(sum(x * x for x in cross)) or 1
            joint["axis"], joint["axis2"] = a, [x / norm for x in cross]
        if kind == "prismatic" or rng.random() < 0.6:
            joint["stiffness"] = rng.uniform(5, 60) * (20 if kind == "prismatic" else 1)
        if rng.random() < 0.6:
            joint["damping"] = rng.uniform(0.01, 0.3)
        if kind == "revolute" and rng.random() < 0.2:
            joint["drive"] = {"servo": {"target": f"0.2*sin({rng.uniform(2, 9):.6g}*t)", "kp": rng.uniform(5, 30), "kd": 0.3}}
        if kind == "revolute" and "drive" not in joint and rng.random() < 0.2:
            joint["velocity"] = rng.uniform(-2, 2)
        scene["joints"][f"j{i}"] = joint
        scene["probes"].append(f"{name}.position")
    names = list(scene["bodies"])
    for k in range(rng.randint(0, 2)):
        a = rng.choice(names)
        b = rng.choice(["world"] + [x for x in names if x != a])
        spring = {"a": a, "b": b, "stiffness": rng.uniform(20, 300), "damping": rng.uniform(0, 2),
                  "point": [rng.uniform(-0.5, 0.5) for _ in range(3)], "rest_length": rng.uniform(0.05, 0.3)}
        scene["springs"][f"s{k}"] = spring
    for k in range(rng.randint(0, 2)):
        scene["loads"][f"l{k}"] = {"on": rng.choice(names), "force": [rng.uniform(-3, 3) for _ in range(3)],
                                   "of_time": rng.choice(["1", f"sin({rng.uniform(3, 20):.6g}*t)", "if(t < 0.1, 0, 1)"])}
    return scene


def draw_beam(rng):
    """A slender cantilever, straight or bent, perhaps with a second one on its tip, under dead loads."""
    L = rng.uniform(0.3, 1)
    r = L * rng.uniform(0.002, 0.008)
    E = 10 ** rng.uniform(8.5, 11)
    EI = E * math.pi * r ** 4 / 4
    scale = EI / L ** 2  # a force of this size bends it by a third of its length
    points, along = [[0, 0, 0]], unit(rng)
    for _ in range(rng.randint(1, 3)):
        points.append([p + d * L / 3 for p, d in zip(points[-1], along)])
        along = [a + 0.5 * b for a, b in zip(along, unit(rng))]  # corners of at most 30 degrees: threads refuse sharp ones
        norm = math.sqrt(sum(x * x for x in along))
        along = [x / norm for x in along]
    return {"E": E, "nu": rng.uniform(0.1, 0.4), "density": 10 ** rng.uniform(2, 3.5) * 0.1, "radius": r, "path": points,
            "force": [x * scale * rng.uniform(0.05, 1.5) for x in unit(rng)], "gravity": [0, 0, -9.81], "elements": 8}


def number(x):
    return repr(float(x))


def vector(v):
    return "[" + ", ".join(number(x) for x in v) + "]"


def write_tree(scene, step=None, frame=None, integrator=None, order=None, names=None, small_units=False, inert=False):
    """YAML text. order: a random.Random that shuffles entries; names: a prefix; small_units: mm, g; inert: a far body."""
    names = names or {}
    called = lambda n: names.get(n, n)
    length = (lambda v: "[" + ", ".join(f"{number(1e3 * x)} mm" for x in v) + "]") if small_units else vector
    mass = (lambda m: f"{number(1e3 * m)} g") if small_units else number
    lines = ["limber: 1", f"gravity: {vector(scene['gravity'])}"]

    def section(title, entries):
        rows = [f"  {called(name)}: {{{text}}}" for name, text in entries]
        if order:
            order.shuffle(rows)
        if rows:
            lines.extend([f"{title}:"] + rows)

    bodies = []
    for name, b in scene["bodies"].items():
        text = f"at: {length(b['at'])}, mass: {mass(b['mass'])}, box: {length(b['box'])}"
        if "turn" in b:
            text += f", rotate: {vector(b['turn'])}"
        if "linear_drag" in b:
            text += f", linear_drag: {number(b['linear_drag'])}"
        bodies.append((name, text))
    if inert:
        bodies.append(("far_away", "at: [1000, 2000, 500], sphere: 0.5, mass: 1e5, fixed: true"))
    section("bodies", bodies)
    joints = []
    for name, j in scene["joints"].items():
        text = f"type: {j['type']}, child: {called(j['child'])}, at: {length(j['at'])}"
        if "parent" in j:
            text += f", parent: {called(j['parent'])}"
        for key in ("axis", "axis2"):
            if key in j:
                text += f", {key}: {vector(j[key])}"
        for key in ("stiffness", "damping", "velocity"):
            if key in j:
                text += f", {key}: {number(j[key])}"
        if "drive" in j:
            s = j["drive"]["servo"]
            text += f", drive: {{servo: {{target: \"{s['target']}\", kp: {number(s['kp'])}, kd: {number(s['kd'])}}}}}"
        joints.append((name, text))
    section("joints", joints)
    springs = []
    for name, s in scene["springs"].items():
        end = f"{{on: world, at: {length(s['point'])}}}" if s["b"] == "world" else called(s["b"])
        springs.append((name, f"between: [{called(s['a'])}, {end}], stiffness: {number(s['stiffness'])}, "
                              f"damping: {number(s['damping'])}, rest_length: {number(s['rest_length'])}"))
    section("springs", springs)
    loads = []
    for name, l in scene["loads"].items():
        force = ", ".join(f"\"({number(f)})*({l['of_time']})\"" for f in l["force"])
        loads.append((name, f"on: {called(l['on'])}, force: [{force}]"))
    section("loads", loads)
    probes = ", ".join(f"{called(p.split('.')[0])}.{p.split('.')[1]}" for p in scene["probes"])
    lines.append(f"probes: [{probes}]")
    run = dict(scene["run"])
    run.update({k: v for k, v in (("step", step), ("frame", frame), ("integrator", integrator)) if v})
    lines.append("run: {" + ", ".join(f"{k}: {v}" for k, v in run.items()) + "}")
    return "\n".join(lines) + "\n"


def turned(scene, R, shift):
    """The same in a world turned by R and moved by shift."""
    out = copy.deepcopy(scene)
    move = lambda p: [a + b for a, b in zip(times(R, p), shift)]
    out["gravity"] = times(R, scene["gravity"])
    # The rotation vector of R, for the bodies' own axes.
    trace = R[0][0] + R[1][1] + R[2][2]
    angle = math.acos(max(-1, min(1, (trace - 1) / 2)))
    axis = [R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]]
    n = math.sqrt(sum(x * x for x in axis))
    turn = [angle * x / n for x in axis] if n > 1e-9 else [0, 0, 0]
    for b in out["bodies"].values():
        b["at"], b["turn"] = move(b["at"]), turn
    for j in out["joints"].values():
        j["at"] = move(j["at"])
        for key in ("axis", "axis2"):
            if key in j:
                j[key] = times(R, j[key])
    for s in out["springs"].values():
        s["point"] = move(s["point"])
    for l in out["loads"].values():
        l["force"] = times(R, l["force"])
    return out


def write_beam(beam, elements=None, R=None):
    R = R or [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    path = "[" + ", ".join(vector(times(R, p)) for p in beam["path"]) + "]"
    return (f"limber: 1\ngravity: {vector(times(R, beam['gravity']))}\n"
            f"materials: {{m: {{E: {number(beam['E'])}, nu: {number(beam['nu'])}, density: {number(beam['density'])}}}}}\n"
            f"sections: {{s: {{circle: {number(beam['radius'])}}}}}\n"
            f"beams: {{b: {{path: {path}, up: {vector(times(R, [0.3, 0.5, 0.8]))}, material: m, section: s, "
            f"elements: {elements or beam['elements']}}}}}\n"
            f"loads: {{l: {{on: b.tip, force: {vector(times(R, beam['force']))}}}}}\n"
            f"probes: [b.tip.position]\n")


def seeded(family, number_, seed):
    return random.Random(f"{seed}/{family}/{number_}")
