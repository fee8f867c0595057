"""The same physics written differently.

Each way is a function (scene, rng) → Rewritten, or raises Unclear where it does not apply. Rewritten.back turns the
columns of the new scene's answer into those of the first.
"""

import copy
import math

import kinds
import vec
from machine import Unclear


class Rewritten:
    """exact: the same bits. discrete: steps in other coordinates, the same only as the step goes to zero."""

    def __init__(self, scene, back=None, exact=False, options=(), every=1, discrete=False):
        self.scene, self.exact, self.options, self.every, self.discrete = scene, exact, options, every, discrete
        self.back = back or (lambda quantity, probe, values: values)


# Nothing that the numbers depend on


def threads(scene, rng):
    return Rewritten(scene, exact=True, options=("--threads", "2"))


def denser(scene, rng):
    out = copy.deepcopy(scene)
    out["run"]["frame"] = scene["run"]["frame"] / 2
    if abs(out["run"]["frame"] / scene["run"]["step"] % 1) > 1e-9:
        raise Unclear("no whole number of steps")
    return Rewritten(out, exact=True, every=2)


SECTIONS = ("materials", "sections", "bodies", "joints", "linkages", "beams", "springs", "loops", "ties", "loads", "riders")


# Keys whose text names something.
NAMING = ("on", "along", "between", "parent", "child", "a", "b", "to", "from", "material", "section", "beam", "joint", "spring",
          "rider", "ends")


def renamed(scene, rng):
    """Every name another; the order of the file stays."""
    names = {}
    for section in SECTIONS:
        for i, name in enumerate(scene.get(section, {})):
            names[name] = f"x{section[0]}{i}-{name}" if rng.random() < 0.5 else f"{chr(122 - i)}_{section}"

    def other(value, key=None):
        if isinstance(value, dict):
            return {(names.get(k, k) if key in SECTIONS else k): other(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [other(v, key) for v in value]
        if isinstance(value, str) and key in NAMING:
            head = value.replace("@", ".").split(".")[0]
            if head in names:
                return names[head] + value[len(head):]
        return value
    return Rewritten(other(scene), exact=True)


# The same numbers in another order or form


def permuted(scene, rng):
    out = copy.deepcopy(scene)
    for section, entries in out.items():
        if isinstance(entries, dict) and section not in ("run", "wind", "contact"):
            items = list(entries.items())
            rng.shuffle(items)
            out[section] = dict(items)
    return Rewritten(out)


UNITS = {kinds.LENGTH: ("mm", 1e-3), kinds.MASS: ("g", 1e-3), kinds.TIME: ("ms", 1e-3), kinds.FORCE: ("mN", 1e-3),
         kinds.STRESS: ("MPa", 1e6), kinds.DENSITY: ("g/cm^3", 1e3), kinds.TORQUE: ("N*mm", 1e-3),
         kinds.STIFFNESS: ("N/mm", 1e3), kinds.DAMPING: ("mN*s/m", 1e-3), kinds.SPEED: ("cm/s", 1e-2),
         kinds.RATE: ("rpm", math.pi / 30)}


def units(scene, rng):
    """Other units; angles stay plain numbers, which are radians."""
    def change(value, dimension, path):
        if isinstance(value, str) or dimension not in UNITS or path[0] == "run" or rng.random() < 0.3:
            return value
        if path[0] in ("materials", "joints", "loops") and path[-1] == "rate":
            return value
        unit, factor = UNITS[dimension]
        if dimension == kinds.RATE and (path[0] in ("beams", "materials") or "angular_velocity" not in path):
            unit, factor = "kHz", 1e3
        if path[0] in ("joints", "loops") and dimension == kinds.RATE:
            unit, factor = "rpm", math.pi / 30
        return f"{value / factor!r} {unit}"
    return Rewritten(kinds.mapped(scene, change))


def expressions(scene, rng):
    """Numbers as expressions of parameters."""
    out = copy.deepcopy(scene)
    parameters = {}

    def change(value, dimension, path):
        if isinstance(value, str) or path[0] in ("probes", "run") or rng.random() < 0.6:
            return value
        name = f"q{len(parameters)}"
        parameters[name] = value / 2
        return f"{name} + {name}" if rng.random() < 0.5 else f"=2*{name}"
    out = kinds.mapped(out, change)
    out["parameters"] = parameters
    return Rewritten(out)


def repeated(scene, rng):
    """A load as three of a third each, by `repeat`."""
    names = list(scene.get("loads", {}))
    if not names:
        raise Unclear("no load")
    name = rng.choice(names)
    out = copy.deepcopy(scene)
    load = out["loads"].pop(name)
    for key in ("force", "moment", "force_per_length"):
        if key in load:
            load[key] = [f"({x})/3" if isinstance(x, str) else f"({x!r})/(2 + min(i, 1) + (i < 1))" for x in load[key]]
    out["loads"][f"{name}.${{i}}"] = {"repeat": {"i": 3}, **load}
    return Rewritten(out)


# Another world


def inert(scene, rng):
    out = copy.deepcopy(scene)
    out.setdefault("bodies", {})["far_away"] = {"at": [100, 200, 50], "sphere": 0.5, "mass": 1000, "fixed": True}
    return Rewritten(out)


def is_one(value):
    """The same for all coordinates."""
    return not isinstance(value, list) or len(set(value)) <= 1


class Map:
    """x ↦ Q x + s of the world. A mirror (det Q = −1) mirrors the axes of every body too."""

    def __init__(self, Q, shift, mirrors):
        self.Q, self.shift, self.mirrors, self.sign = Q, shift, mirrors, -1 if mirrors else 1

    def point(self, p):
        return vec.add(vec.times(self.Q, p), self.shift)

    def polar(self, v):
        return vec.times(self.Q, v)

    def axial(self, v):
        return vec.times([[self.sign * x for x in row] for row in self.Q], v)

    def rotation(self, R):
        out = vec.product(self.Q, R)
        return vec.product(out, vec.transposed(self.Q)) if self.mirrors else out

    def local(self, v):
        return self.polar(v) if self.mirrors else v

    def local_axial(self, v):
        return self.axial(v) if self.mirrors else v

    # Of answers: back to the first world.
    def back(self, quantity, probe, values):
        Qt = vec.transposed(self.Q)
        if quantity in ("position", "rider_position"):
            return vec.times(Qt, vec.sub(values, self.shift))
        if quantity == "velocity":
            return vec.times(Qt, values)
        if quantity == "angular_velocity":
            return vec.scaled(self.sign, vec.times(Qt, values))
        if quantity == "rotation":
            R = vec.product(Qt, vec.exp(values))
            return vec.log(vec.product(R, self.Q) if self.mirrors else R)
        if quantity.startswith("energy.") and quantity not in ("energy.kinetic", "energy.elastic", "energy.dissipated"):
            return None  # heights count from another origin
        if self.mirrors and quantity in ("twist", "torque"):
            return None if quantity == "twist" else vec.scaled(self.sign, values)
        return values


def moved_place(place, m, scene):
    if isinstance(place, str):
        return place
    if place["on"] == "world":
        return {"on": "world", "at": m.point(place["at"])}
    if m.mirrors and is_on_beam(place["on"], scene):
        return {"on": place["on"], "at": mirrored_in_beam(place["at"])}
    return {"on": place["on"], "at": m.local(place["at"])}


def is_on_beam(name, scene):
    return name.replace("@", ".").split(".")[0] in scene.get("beams", {})


def mirrored_in_beam(v):
    """Axes of a beam are x along it, z up, y = z × x: of mirrored ones y points the other way."""
    return [v[0], f"-({v[1]})" if isinstance(v[1], str) else -v[1], v[2]]


def moved_path(path, m):
    if isinstance(path, list):
        return [m.point(p) for p in path]
    kind, a = next(iter(path.items()))
    if kind == "spline":
        return {"spline": [m.point(p) for p in a]}
    if kind == "arc":
        return {"arc": {**a, "start": m.point(a["start"]), "direction": m.polar(a["direction"]), "towards": m.polar(a["towards"])}}
    return {"helix": {**a, "center": m.point(a["center"]), "axis": m.polar(a["axis"]),
                      "start_direction": m.polar(a["start_direction"]), "turns": m.sign * a["turns"]}}


def moved_joint(joint, m):
    out = dict(joint)
    kind = joint["type"]
    values = [joint.get(k, 0) for k in ("rest", "position", "velocity", "stiffness", "damping")]
    if kind in ("spherical", "planar", "free") and (any(not is_one(v) and len(v) == 3 and kind == "spherical" for v in values)
                                                   or any(isinstance(v, list) and any(v) for v in values[:3])
                                                   or "drive" in joint or "motion" in joint):
        raise Unclear("its law depends on axes")
    if any(k in joint for k in ("parent_frame", "child_frame")):
        raise Unclear("frames are given")
    if isinstance(joint.get("at"), list):
        out["at"] = m.point(joint["at"])
    for key in ("axis", "axis2"):
        if key in joint:
            out[key] = (m.polar if kind == "prismatic" else m.axial)(joint[key])
    return out


def moved_load(load, m, scene):
    out = dict(load)
    if "on" in load:
        out["on"] = moved_place(load["on"], m, scene)
    where = load.get("along") or (load["on"] if isinstance(load["on"], str) else load["on"]["on"])
    for key, polar in (("force", True), ("force_per_length", True), ("moment", False)):
        if key not in load:
            continue
        v = load[key]
        if not load.get("follows"):
            out[key] = (m.polar if polar else m.axial)(v)
        elif m.mirrors and is_on_beam(where, scene):
            flipped = mirrored_in_beam(v)
            out[key] = flipped if polar else [f"-({x})" if isinstance(x, str) else -x for x in flipped]
        else:
            out[key] = (m.local if polar else m.local_axial)(v)
    return out


def mapped_world(scene, m):
    out = copy.deepcopy(scene)
    if "gravity" in scene:
        out["gravity"] = m.polar(scene["gravity"])
    for b in out.get("bodies", {}).values():
        b["at"] = m.point(b.get("at", [0, 0, 0]))
        b["rotate"] = vec.log(m.rotation(vec.exp(b.get("rotate", [0, 0, 0]))))
        if "com" in b:
            b["com"] = m.local(b["com"])
        for key, f in (("velocity", m.polar), ("angular_velocity", m.axial)):
            if key in b:
                b[key] = f(b[key])
    for section in ("joints", "loops"):
        for name, j in out.get(section, {}).items():
            out[section][name] = moved_joint(j, m)
    for s in out.get("springs", {}).values():
        s["between"] = [moved_place(p, m, scene) for p in s["between"]]
    for name, l in out.get("loads", {}).items():
        out["loads"][name] = moved_load(l, m, scene)
    for b in out.get("beams", {}).values():
        move_beam(b, m, scene)
    for c in out.get("linkages", {}).values():
        move_chain(c, m)
    for t in out.get("ties", {}).values():
        if "shift" in t or "turn" in t:
            raise Unclear("in the joint's axes")
        t["axis"] = m.polar(t["axis"])
        if "to" in t:
            t["to"] = moved_place(t["to"], m, scene)
    if "wind" in out:
        out["wind"]["velocity"] = m.polar(out["wind"]["velocity"])
    for p in out.get("contact", {}).get("planes", []):
        p["at"], p["normal"] = m.point(p.get("at", [0, 0, 0])), m.polar(p.get("normal", [0, 0, 1]))
    for p in out["probes"]:
        if "on" in p:
            p["on"] = moved_place(p["on"], m, scene)
    return out


def move_beam(b, m, scene):
    start = b.get("from", "world")
    if isinstance(start, dict):
        if m.mirrors:
            raise Unclear("an offset of a beam")
        return
    if start == "world":
        b["path"] = moved_path(b["path"], m)
        b["up"] = m.polar(b["up"])
        if "velocity" in b:
            b["velocity"] = m.polar(b["velocity"])
    elif m.mirrors:
        if is_on_beam(start, scene):
            raise Unclear("in the axes of a beam")
        b["path"], b["up"] = moved_path(b["path"], Map(m.Q, [0, 0, 0], True)), m.polar(b["up"])
        if "velocity" in b:
            b["velocity"] = m.polar(b["velocity"])
    elif "velocity" in b:
        b["velocity"] = m.polar(b["velocity"])


def move_chain(c, m):
    if m.mirrors:
        raise Unclear("a bend has a sense")
    if c["joint"] != "revolute":
        raise Unclear("its coordinates are along the world's axes")
    c["direction"], c["axis"] = m.polar(c["direction"]), m.polar(c["axis"])  # links have the axes of the world
    if "from" not in c:
        c["start"] = m.point(c.get("start", [0, 0, 0]))


def turned(scene, rng):
    m = Map(vec.random_rotation(rng), [rng.uniform(-1, 1) for _ in range(3)], False)
    on_chains = {p["name"] for p in scene["probes"] if str(p.get("on")).split(".")[0] in scene.get("linkages", {})}

    def back(quantity, probe, values):
        if quantity == "rotation" and probe["name"] in on_chains:
            return None  # its links have the world's axes, however it is turned
        return m.back(quantity, probe, values)
    return Rewritten(mapped_world(scene, m), back)


def mirrored(scene, rng):
    if any("height_field" in b for b in scene.get("bodies", {}).values()):
        raise Unclear("its triangles are cut along one diagonal")
    m = Map([[-1.0, 0, 0], [0, 1, 0], [0, 0, 1]], [rng.uniform(-1, 1) for _ in range(3)], True)
    out = mapped_world(scene, m)
    beams = {p["name"] for p in scene["probes"] if isinstance(p.get("on"), str) and is_on_beam(p["on"], scene)}

    def back(quantity, probe, values):
        if quantity == "rotation" and probe.get("name") in beams:
            return None  # y of its axes points the other way
        return m.back(quantity, probe, values)
    return Rewritten(out, back)


def quantity_dimension(scene, quantity, probe):
    if quantity.startswith("energy."):
        return kinds.QUANTITIES["energy"]
    return kinds.probe_dimension(scene, probe) if probe else None


def scaled(scene, rng):
    """Lengths, masses and times in other sizes, powers of two: a scene of the same numbers but for the units."""
    l, m, t = (2.0 ** rng.randint(-7, 7) for _ in range(3))
    factor = lambda d: l ** d[0] * m ** d[1] * t ** d[2]
    if scene["run"].get("method") == "adaptive" and any(j["type"] == "prismatic" for j in scene.get("joints", {}).values()):
        raise Unclear("run.turn is in radians and metres")

    def change(value, dimension, path):
        if isinstance(value, str):
            return f"({factor(dimension)!r})*({kinds.with_time(value, f'(t/{t!r})')})"
        return value * factor(dimension)
    out = kinds.mapped(scene, change)
    if out.get("gravity") is None:
        out["gravity"] = [0, 0, -9.81 * factor((1, 0, -2))]
    if "wind" in out and "air_density" not in out["wind"]:
        out["wind"]["air_density"] = 1.225 * factor(kinds.DENSITY)
    for entry in [*out.get("bodies", {}).values(), *out.get("linkages", {}).values()]:
        if "mass" not in entry and "density" not in entry:
            entry["density"] = 1000 * factor(kinds.DENSITY)

    def back(quantity, probe, values):
        d = quantity_dimension(scene, quantity, probe)
        if d is None:
            return None
        return vec.scaled(1 / factor(d), values)
    return Rewritten(out, back)


# Another choice of frames, axes and trees


def reframed(scene, rng):
    """The frame of a body elsewhere on it."""
    bodies = [n for n, b in scene.get("bodies", {}).items() if "inertia" not in b and "height_field" not in b]
    if not bodies:
        raise Unclear("no such body")
    name = rng.choice(bodies)
    out = copy.deepcopy(scene)
    b = out["bodies"][name]
    d, Q = vec.scaled(0.07, vec.random_unit(rng)), vec.random_rotation(rng)
    Qt = vec.transposed(Q)
    here = lambda p: vec.times(Qt, vec.sub(p, d))
    joint = next((j for j in out.get("joints", {}).values() if j.get("child") == name), None)
    if joint is None and not b.get("fixed"):
        raise Unclear("it floats: its joint is at its centre of mass")
    if joint and "at" not in joint:
        joint["at"] = list(b.get("at", [0, 0, 0]))
    R = vec.exp(b.get("rotate", [0, 0, 0]))
    shape = {k: b.pop(k) for k in ("box", "sphere", "capsule", "cylinder") if k in b}
    b["shapes"] = [{**shape, "at": here([0, 0, 0]), "rotate": vec.log(Qt)}]
    b["at"] = vec.add(b.get("at", [0, 0, 0]), vec.times(R, d))
    b["rotate"] = vec.log(vec.product(R, Q))

    def place(p):
        if p == name:
            return {"on": name, "at": here([0, 0, 0])}
        return {"on": name, "at": here(p["at"])} if isinstance(p, dict) and p.get("on") == name else p
    for s in out.get("springs", {}).values():
        s["between"] = [place(p) for p in s["between"]]
    for l in out.get("loads", {}).values():
        if "on" in l:
            mine = l["on"] == name or isinstance(l["on"], dict) and l["on"]["on"] == name
            l["on"] = place(l["on"])
            if mine and l.get("follows"):
                for key in ("force", "moment"):
                    if key in l:
                        l[key] = vec.times(Qt, l[key])
    for section in ("ties",):
        for t in out.get(section, {}).values():
            t.update({k: place(t[k]) for k in ("on", "to") if k in t})
    for beam in out.get("beams", {}).values():
        if beam.get("from") == name:
            beam["from"] = place(name)
            raise Unclear("the path is in the axes of the body")
        if any(c.get("to") == name for c in beam.get("clamps", [])):
            continue
    turned_probes = set()
    for p in out["probes"]:
        if "on" in p:
            if p["on"] == name and p["quantity"] == "rotation":
                turned_probes.add(p["name"])
            p["on"] = place(p["on"])
    if "rom" in out.get("run", {}) and name in out["run"]["rom"]["ends"]:
        raise Unclear("an end effector is its frame")

    def back(quantity, probe, values):
        if probe and probe["name"] in turned_probes:
            return vec.log(vec.product(vec.exp(values), Qt))
        return values
    return Rewritten(out, back)


def negated(value):
    if isinstance(value, str):
        return f"-({value})"
    return [negated(v) for v in value] if isinstance(value, list) else -value


def turned_about(joint, keys=("rest", "position", "velocity", "motion")):
    """A joint of one coordinate with its axis the other way, and its values."""
    joint["axis"] = vec.scaled(-1, joint["axis"])
    for key in keys:
        if key in joint:
            joint[key] = negated(joint[key])
    if "limits" in joint:
        a = joint["limits"]
        joint["limits"] = [-a[1], -a[0]] if isinstance(a, list) else a
    if "drive" in joint:
        d = joint["drive"]
        if "force" in d:
            d["force"] = negated(d["force"])
        else:
            d["servo"]["target"] = negated(d["servo"]["target"])


def reversed_axis(scene, rng):
    names = [n for n, j in scene.get("joints", {}).items() if j["type"] in ("revolute", "prismatic") and "axis" in j]
    if not names:
        raise Unclear("no hinge or slide")
    name = rng.choice(names)
    out = copy.deepcopy(scene)
    turned_about(out["joints"][name])
    return Rewritten(out, lambda quantity, probe, values:
                     vec.scaled(-1, values) if probe and probe.get("joint") == name else values)


def reopened(scene, rng):
    """A ring that is opened at another of its joints."""
    if len(scene.get("loops", {})) != 1:
        raise Unclear("no ring")
    loop_name, loop = next(iter(scene["loops"].items()))
    joints = scene["joints"]
    by_child = {j["child"]: n for n, j in joints.items()}
    ring, body = [], loop["a"]  # joints of the ring from the closing one back to the world
    while body:
        ring.append(by_child[body])
        body = joints[by_child[body]].get("parent")
    if loop["b"] != "world" or any(joints[n]["type"] == "fixed" for n in ring):
        raise Unclear("no ring with the world")
    cut = rng.choice(ring)
    fixed_there = [n for n in ring[:ring.index(cut) + 1]]
    if any(k in joints[n] for n in fixed_there for k in ("drive", "position", "velocity", "motion")):
        raise Unclear("a drive of a joint that would close the loop")
    if joints[cut]["type"] == "spherical" and "limits" in joints[cut]:
        raise Unclear("limits of a closing ball joint")
    out = copy.deepcopy(scene)
    swapped = set()
    # From the old closing joint to the cut every body hangs the other way round.
    new = {"type": loop["type"], "child": loop["a"], **{k: v for k, v in loop.items() if k not in ("a", "b")}}
    order = [out["joints"][n] for n in fixed_there]
    for n in fixed_there:
        del out["joints"][n]
    flipped = [opposite(new)]
    swapped.add(loop_name)
    for n, j in zip(fixed_there[:-1], order[:-1]):
        other = opposite(j)
        other["parent"], other["child"] = j["child"], j["parent"]
        flipped.append(other)
        swapped.add(n)
    names = [loop_name] + fixed_there[:-1]
    out["joints"].update(dict(zip(names, flipped)))
    last = order[-1]
    del out["loops"][loop_name]
    out["loops"][cut] = {**{k: v for k, v in last.items() if k not in ("parent", "child")},
                         "a": last.get("parent", "world"), "b": last["child"]}
    out["probes"] = [p for p in out["probes"] if p.get("joint") not in (cut, loop_name)]
    return Rewritten(out, discrete=True)


def opposite(joint):
    """A joint seen from its child: the same coordinates with the axes reversed."""
    out = dict(joint)
    if joint["type"] == "universal":
        out["axis"], out["axis2"] = vec.scaled(-1, joint["axis2"]), vec.scaled(-1, joint["axis"])
        for key in ("stiffness", "damping", "rest"):
            if isinstance(joint.get(key), list):
                out[key] = joint[key][::-1]
        if "limits" in joint:
            out["limits"] = joint["limits"][::-1] if isinstance(joint["limits"], list) else joint["limits"]
    elif joint["type"] in ("revolute", "prismatic"):
        out["axis"] = vec.scaled(-1, joint["axis"])
    elif joint["type"] == "spherical":
        if not is_one(joint.get("stiffness", 0)) or joint.get("rest"):
            raise Unclear("its law depends on axes")
    else:
        raise Unclear(f"a {joint['type']} joint")
    return out


def split(scene, rng):
    """A box as two welded halves."""
    names = [n for n, b in scene.get("bodies", {}).items() if "box" in b and not b.get("fixed") and "linear_drag" not in b
             and "angular_drag" not in b]
    if not names or "wind" in scene or "contact" in scene:
        raise Unclear("no box to split")
    name = rng.choice(names)
    out = copy.deepcopy(scene)
    b = out["bodies"][name]
    joint = next((j for j in out.get("joints", {}).values() if j.get("child") == name), None)
    if joint is None:
        raise Unclear("it floats")
    x, y, z = b.pop("box")
    R = vec.exp(b.get("rotate", [0, 0, 0]))
    halves = {"box": [x / 2, y, z]}
    if "mass" in b:
        b["mass"] /= 2
    rest = {k: b[k] for k in ("mass", "density") if k in b}
    b["shapes"] = [{**halves, "at": [x / 4, 0, 0]}]
    other = {"at": vec.add(b["at"], vec.times(R, [-x / 4, 0, 0])), "rotate": b.get("rotate", [0, 0, 0]), **halves, **rest}
    out["bodies"]["half"] = other
    out["joints"]["weld"] = {"type": "fixed", "parent": name, "child": "half"}
    return Rewritten(out, discrete=True)


def framed(scene, rng):
    """Joints by frames on their bodies instead of a place and an axis in the world."""
    out = copy.deepcopy(scene)
    poses = {n: (b.get("at", [0, 0, 0]), vec.exp(b.get("rotate", [0, 0, 0]))) for n, b in scene.get("bodies", {}).items()}
    poses["world"] = ([0, 0, 0], vec.IDENTITY)
    names = [n for n, j in scene.get("joints", {}).items() if j["type"] in ("revolute", "prismatic", "universal", "spherical")]
    if not names:
        raise Unclear("no joint")
    for name in names:
        j = out["joints"][name]
        b = out["bodies"][j["child"]]
        at = j.pop("at", poses[j["child"]][0])
        axis, axis2 = j.pop("axis", None), j.pop("axis2", None)
        if j["type"] == "universal":
            R = vec.transposed([axis, axis2, vec.cross(axis, axis2)])
        else:
            R = vec.from_z(axis or [0, 0, 1])
        for key, body in (("parent_frame", j.get("parent", "world")), ("child_frame", j["child"])):
            p, R_body = poses[body]
            inverse = vec.transposed(R_body)
            j[key] = {"at": vec.times(inverse, vec.sub(at, p)), "rotate": vec.log(vec.product(inverse, R))}
        b.pop("at", None), b.pop("rotate", None)
    return Rewritten(out)


WAYS = {"threads": threads, "denser": denser, "renamed": renamed, "permuted": permuted, "units": units,
        "expressions": expressions, "repeated": repeated, "inert": inert, "turned": turned, "mirrored": mirrored, "scaled": scaled,
        "reframed": reframed, "reversed": reversed_axis, "reopened": reopened, "split": split, "framed": framed}
