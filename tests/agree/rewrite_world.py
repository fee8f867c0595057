"""The same physics in another world: turned, moved, mirrored, of another size."""

import copy

import kinds
import vec
from machine import Unclear
from rewrite_couplings import moved_bushing, moved_parts
from rewritten import Rewritten, is_one


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
        if quantity in ("velocity", "acceleration", "momentum", "total_momentum", "reaction_force"):
            return vec.times(Qt, values)
        if quantity in ("angular_velocity", "angular_acceleration", "reaction_torque"):
            return vec.scaled(self.sign, vec.times(Qt, values))
        if quantity == "angular_momentum":
            return None  # about another origin
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
    return vec.times([[1, 0, 0], [0, -1, 0], [0, 0, 1]], v)


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
    plain = kind in ("fixed", "revolute", "prismatic", "universal", "screw")
    if not plain and (any(not is_one(v) and len(v) == 3 and kind == "spherical" for v in values)
                      or kind == "free" and any(isinstance(v, list) and len({*v[:3]}) + len({*v[3:]}) > 2 for v in values[3:])
                      or any(isinstance(v, list) and any(v) for v in values[:3]) or "drive" in joint or "motion" in joint):
        raise Unclear("its law depends on axes")
    if any(k in joint for k in ("parent_frame", "child_frame")):
        raise Unclear("frames are given")
    if isinstance(joint.get("at"), list):
        out["at"] = m.point(joint["at"])
    for key in ("axis", "axis2"):
        if key in joint:
            out[key] = (m.polar if kind == "prismatic" else m.axial)(joint[key])
    if "pitch" in joint:
        out["pitch"] = m.sign * joint["pitch"]
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
            out[key] = flipped if polar else vec.times([[-1, 0, 0], [0, -1, 0], [0, 0, -1]], flipped)
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
        moved_parts(b, m)
        if "hull" in b:
            b["hull"]["points"] = [m.local(p) for p in b["hull"]["points"]]
        if "mesh" in b:  # a mirror turns triangles inside out
            b["mesh"] = {"vertices": [m.local(p) for p in b["mesh"]["vertices"]],
                         "triangles": [t[::m.sign] for t in b["mesh"]["triangles"]]}
        for key, f in (("velocity", m.polar), ("angular_velocity", m.axial)):
            if key in b:
                b[key] = f(b[key])
    for section in ("joints", "loops"):
        for name, j in out.get(section, {}).items():
            out[section][name] = moved_joint(j, m)
    for s in out.get("springs", {}).values():
        s["between"] = [moved_place(p, m, scene) for p in s["between"]]
    for c in out.get("cables", {}).values():
        for guide in c["route"]:
            on = guide.get("on", guide.get("pulley"))
            if "axis" in guide:
                guide["axis"] = (m.axial if on == "world" else m.local_axial)(guide["axis"])
            guide["at"] = moved_place({"on": on, "at": guide["at"]}, m, scene)["at"]
    for name, x in out.get("bushings", {}).items():
        out["bushings"][name] = moved_bushing(x, m)
    for name, l in out.get("loads", {}).items():
        out["loads"][name] = moved_load(l, m, scene)
    for b in out.get("beams", {}).values():
        move_beam(b, m, scene)
    for c in out.get("linkages", {}).values():
        move_chain(c, m)
    if m.mirrors and any(section in out for section in kinds.SHORT_FORMS):
        raise Unclear("short forms have a hand")
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
    if "path" in b.get("rest", {}):  # only its shape counts, and its hand
        b["rest"] = {"path": moved_path(b["rest"]["path"], m), "up": m.polar(b["rest"]["up"])}
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
    short = {**scene.get("linkages", {}), **scene.get("ladders", {})}
    on_chains = {p["name"] for p in scene["probes"] if str(p.get("on")).split(".")[0] in short}

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
    if scene["run"].get("measure", "").startswith("absolute"):
        raise Unclear("its error is an acceleration")
    if any(isinstance(c.get("profile"), str) for c in scene.get("couplings", {}).values()):
        raise Unclear("the numbers of a profile have no dimension of their own")

    def change(value, dimension, path):
        if isinstance(value, str):
            return f"({factor(dimension)!r})*({kinds.with_time(value, f'(t/{t!r})')})"
        return value * factor(dimension)
    out = kinds.mapped(scene, change)
    if out.get("gravity") is None:
        out["gravity"] = [0, 0, -9.81 * factor((1, 0, -2))]
    if "wind" in out and "air_density" not in out["wind"]:
        out["wind"]["air_density"] = 1.225 * factor(kinds.DENSITY)
    for entry in [e for section in ("bodies", *kinds.SHORT_FORMS) for e in out.get(section, {}).values()]:
        if "mass" not in entry and "density" not in entry and not all("mass" in s or "density" in s for s in entry.get("shapes", [{}])):
            entry["density"] = 1000 * factor(kinds.DENSITY)

    def back(quantity, probe, values):
        d = quantity_dimension(scene, quantity, probe)
        if d is None:
            return None
        return vec.scaled(1 / factor(d), values)
    return Rewritten(out, back)
