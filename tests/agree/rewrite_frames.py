"""The same physics by another choice of frames, axes and trees."""

import copy

import kinds
import vec
from draw_controls import names_in_controls
from machine import Unclear
from rewrite_couplings import joints_of, reframed_parts, refuse_closing, with_joint_reversed
from rewritten import Rewritten, is_one


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
    shape = {k: b.pop(k) for k in ("box", "sphere", "capsule", "cylinder", "hull", "mesh") if k in b}
    if shape:
        b["shapes"] = [shape]
    reframed_parts(b, here, Qt)
    b["at"] = vec.add(b.get("at", [0, 0, 0]), vec.times(R, d))
    b["rotate"] = vec.log(vec.product(R, Q))

    def place(p):
        if p == name:
            return {"on": name, "at": here([0, 0, 0])}
        return {"on": name, "at": here(p["at"])} if isinstance(p, dict) and p.get("on") == name else p
    for s in out.get("springs", {}).values():
        s["between"] = [place(p) for p in s["between"]]
    for c in out.get("cables", {}).values():
        for guide in c["route"]:
            if guide.get("on", guide.get("pulley")) == name:
                guide["at"] = here(guide["at"])
                if "axis" in guide:
                    guide["axis"] = vec.times(Qt, guide["axis"])
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
    if any(entry.get("from") == name for section in kinds.SHORT_FORMS for entry in out.get(section, {}).values()):
        raise Unclear("a short form is in the axes of the body")
    turned_probes = set()
    for p in out["probes"]:
        if "on" in p:
            if p["on"] == name and p["quantity"] == "rotation":
                turned_probes.add(p["name"])
            if p["quantity"] not in ("momentum", "angular_momentum"):  # of the body, wherever its frame is
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
    if isinstance(value, dict):
        return vec.scaled(-1, value)
    return [negated(v) for v in value] if isinstance(value, list) else -value


def turned_about(joint, keys=("rest", "position", "velocity", "motion", "preload")):
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
    names = [n for n, j in scene.get("joints", {}).items() if j["type"] in ("revolute", "prismatic", "screw") and "axis" in j
             and n not in names_in_controls(scene)]
    if not names:
        raise Unclear("no hinge, slide or screw")
    name = rng.choice(names)
    out = copy.deepcopy(scene)
    turned_about(out["joints"][name])
    signs = {}
    for key, coupling in out.get("couplings", {}).items():
        if name in joints_of(coupling):
            out["couplings"][key], signs[key] = with_joint_reversed(coupling, name)

    def back(quantity, probe, values):
        if probe and probe.get("joint") == name and quantity.startswith("joint_"):
            return vec.scaled(-1, values)
        return vec.scaled(signs.get(probe["coupling"], 1), values) if probe and "coupling" in probe else values
    return Rewritten(out, back)


def reopened(scene, rng):
    """A ring that is opened at another of its joints."""
    if len(scene.get("loops", {})) != 1:
        raise Unclear("no ring")
    if "controllers" in scene or "events" in scene:
        raise Unclear("they speak of joints of the tree")
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
    refuse_closing(scene, [cut])
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


def joined(scene, rng):
    """Closing joints among the others: the tree is found anew."""
    if not scene.get("loops"):
        raise Unclear("no ring")
    if "controllers" in scene or "events" in scene:
        raise Unclear("they speak of joints of the tree, and of columns")
    out = copy.deepcopy(scene)
    for name, loop in out.pop("loops").items():
        joint = {k: v for k, v in loop.items() if k not in ("a", "b")}
        if loop["b"] == "world":
            joint, child, parent = opposite(joint), loop["a"], None
        else:
            child, parent = loop["b"], loop["a"]
        joint["child"] = child
        if parent not in (None, "world"):
            joint["parent"] = parent
        out["joints"][name] = joint
    items = list(out["joints"].items())
    rng.shuffle(items)
    out["joints"] = dict(items)
    out["probes"] = [p for p in out["probes"] if "joint" not in p]  # of a joint that closes now: other methods refuse them
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
    elif joint["type"] in ("revolute", "prismatic", "cylindrical", "screw"):
        out["axis"] = vec.scaled(-1, joint["axis"])
    elif joint["type"] == "spherical":
        if not is_one(joint.get("stiffness", 0)) or joint.get("rest"):
            raise Unclear("its law depends on axes")
    else:
        raise Unclear(f"a {joint['type']} joint")
    return out


def split(scene, rng):
    """A box as two welded halves."""
    whole = {p.get("on") for p in scene["probes"] if p["quantity"] in ("momentum", "angular_momentum")}  # a half has its own
    names = [n for n, b in scene.get("bodies", {}).items() if "box" in b and not b.get("fixed") and "linear_drag" not in b
             and "angular_drag" not in b and n not in whole]
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
    names = [n for n, j in scene.get("joints", {}).items() if j["type"] not in ("fixed", "planar", "free")]
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
