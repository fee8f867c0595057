"""Every key matters: a number that a method accepts, made a fifth larger, changes something."""

import copy
import json
import re

import asked
import compare
import kinds
import vec
from machine import Disagreement, Failed, Refused, Unclear


def draw_keys(rng, number):
    question, scene = asked.draw_asked(rng)
    scene["gravity"] = [1.3, 2.1, -9.81]  # everything that can move does
    for joint in scene.get("joints", {}).values() if not scene.get("loops") else ():
        if joint["type"] in ("revolute", "prismatic", "planar") and 1 in joint["axis"]:
            joint["axis"] = vec.random_unit(rng)  # and no force is along an axis
    paths = [p for p, v in kinds.walk(scene) if matters(scene, question, p)]
    return {"question": question, "scene": scene, "path": list(rng.choice(paths)) if paths else None}


ACTING = {"materials": {"E", "density"}, "sections": {"circle", "outer", "width", "height", "a", "b"},
          "joints": {"stiffness", "damping", "rest", "preload", "position", "velocity", "target", "kp", "kd", "force", "pitch"},
          "loops": {"stiffness", "damping"}, "springs": {"stiffness", "damping", "rest_length"},
          "loads": {"force", "moment", "force_per_length"}, "gravity": {"gravity"}, "bodies": {"mass", "density", "linear_drag"},
          "couplings": {"ratio", "radius"}, "cables": {"pretension"}, "bushings": {"stiffness", "damping"}, "controllers": {"kp", "target"},
          "wind": {"velocity"}, "beams": {"damping", "air_damping", "velocity"},
          **{section: {"stiffness", "damping", "mass", "density", "length", "spacing", "linear_drag"} for section in kinds.SHORT_FORMS}}
MOVING = {"damping", "velocity", "kd", "linear_drag", "air_damping"}  # what a rest does not know


def matters(scene, question, path):
    """Numbers that cannot pass by: not what acts beyond a bound only, or on what is held."""
    section = path[0]
    key = next((k for k in reversed(path) if isinstance(k, str)), None)
    rest = not question.startswith("run")
    if key not in ACTING.get(section, ()) or rest and key in MOVING:
        return False
    stops = any("limits" in e for s in kinds.LINKS for e in scene.get(s, {}).values())
    if stops and (rest or scene["run"].get("from") == "static"):  # it may stand at one
        return False
    if key == "position" and (rest or scene["run"].get("from") == "static"):  # where the search for a rest begins
        return False
    flat = any(1 in l.get("axis", ()) for l in scene.get("loops", {}).values()) or "ladders" in scene
    if flat and section in ("gravity", "loads"):  # a component across its plane moves nothing
        return False
    if section in ("gravity", "loads", "bodies") and scene.get("ties") and any(b.get("planar") for b in scene["beams"].values()):
        return False  # held at both ends in the one plane in which it bends
    if section == "gravity":
        return any(not is_held(scene, b) for b in scene["bodies"]) or any(s in scene for s in ("beams", *kinds.SHORT_FORMS))
    entry = scene[section][path[1]] if isinstance(scene[section], dict) and section != "wind" else {}
    if section in ("bodies", "loads", "springs") and any(is_held(scene, n) for n in named(entry, path[1])):
        return False
    if section == "loads" and "ramp" in entry and rest:
        return False
    if section == "loads" and entry.get("follows") and any(b.get("planar") for b in scene.get("beams", {}).values()):
        return False  # across the plane in which it bends
    if key == "moment" and not any(can_turn(scene, n) for n in named(entry, path[1])):
        return False
    if rest and section in kinds.SHORT_FORMS and key in ("mass", "density") and "stiffness" not in entry:
        return False  # it hangs, however heavy
    if section == "bodies" and rest and path[1] == "base":
        return False  # it hangs at its centre of mass
    if section == "controllers":  # cut all the time it asks for the most, whatever it would
        return "limits" not in entry
    if section == "couplings":  # within its play it does nothing
        return "backlash" not in entry
    if section == "cables":
        on = [g.get("on", g.get("pulley")) for g in entry["route"]]
        return not all(n == "world" or is_held(scene, n) for n in on)
    if section == "bushings":
        return not all(n == "world" or is_held(scene, n) for n in (entry["a"], entry["b"]))
    if section == "springs":
        return key == "stiffness" and "rest_length" in entry and not entry.get("tension_only")
    if section == "joints" and (any(k in entry for k in ("motion", "limits", "friction")) or entry["type"] == "fixed" or scene.get("ties")):
        return False  # a straight beam held at both ends does not move: its links do not stretch
    if section in ("materials", "sections", "beams") and scene.get("ties") and any(b.get("planar") for b in scene["beams"].values()):
        return False  # held at both ends in the one plane in which it bends
    if section == "materials":
        return any(b["material"] == path[1] for b in scene["beams"].values())
    if section == "sections":
        return any(b["section"] == path[1] and not (b.get("planar") and key in ("a", "width")) for b in scene["beams"].values())  # weight and stiffness grow alike with the width
    if key in MOVING and question == "run rom":  # it starts at rest; what hangs beyond the ends is carried as if stiff
        return is_driven(scene, entry) and carries_an_end(scene, entry)
    return section != "wind" or any("inertia" not in b and not is_held(scene, n) for n, b in scene["bodies"].items())


def named(entry, name):
    """Bodies and beams that an entry acts on; of a body itself."""
    ends = entry.get("between", []) if "stiffness" in entry else [entry.get("on", entry.get("along", name))]
    ends = [e["on"] if isinstance(e, dict) else e for e in ends]
    return [e for e in ends if e != "world"] or [name]


def is_held(scene, name):
    """Whether a place does not move, or need not: on a body welded to the world, driven or stuck, or at a clamp."""
    beam = scene.get("beams", {}).get(name.replace("@", ".").split(".")[0])
    if beam:
        return "clamps" in beam or scene.get("ties") is not None
    tree, _, place = name.partition(".")
    if scene.get("trees", {}).get(tree, {}).get("fixed_trunk") and place == "0":
        name = scene["trees"][tree].get("from")
    while name:
        if scene["bodies"].get(name, {}).get("fixed"):
            return True
        joint = next((j for j in scene["joints"].values() if j["child"] == name), None)
        if joint is None or joint["type"] != "fixed" and "motion" not in joint and "friction" not in joint:  # which may stick
            return False
        name = joint.get("parent")
    return True


def carries_an_end(scene, joint):
    """Whether an end effector of a reduced model hangs on a joint's child, or a loop may lead there."""
    if "child" not in joint:
        return True
    above = {j["child"]: j.get("parent") for j in scene["joints"].values()}
    for body in scene["run"].get("rom", {}).get("ends", []):
        while body:
            if body == joint.get("child"):
                return True
            body = above.get(body)
    return bool(scene.get("loops")) or bool(scene.get("springs"))


def is_driven(scene, joint):
    """Whether a load or a drive that changes in time acts on what a joint is in: under constant ones it starts at rest."""
    changes = lambda entry: re.search(r'\bt\b|"table"|"ramp"', json.dumps(entry)) is not None
    moved = [j["child"] for j in scene["joints"].values() if changes(j.get("drive"))]
    moved += [n for l in scene.get("loads", {}).values() if changes({**l, "on": None}) for n in named(l, None)]
    if "child" not in joint or scene.get("beams"):
        return bool(moved)
    return bool(part_of(scene, joint["child"]).intersection(moved))


def part_of(scene, body):
    """All bodies that joints, springs and loops tie to one, but not through what is held."""
    ties = [{j["child"], j.get("parent", "world")} for j in scene["joints"].values()]
    ties += [{l["a"], l["b"]} for l in scene.get("loops", {}).values()]
    ties += [set(named(s, None)) for s in scene.get("springs", {}).values()]
    held = {"world", *(n for n in scene["bodies"] if is_held(scene, n))}
    part = {body}
    while more := [t for t in ties if part & t - held and t - part - held]:
        part.update(*more)
        part -= held
    return part


def can_turn(scene, name):
    """Whether a joint between the world and a body turns; all places of a beam do."""
    while name in scene["bodies"]:
        joint = next((j for j in scene["joints"].values() if j["child"] == name), None)
        if joint is None or joint["type"] not in ("fixed", "prismatic"):
            return True
        name = joint.get("parent")
    return name is not None


def check_keys(machine, case):
    scene, question, path = case["scene"], case["question"], case["path"]
    if not path:
        raise Unclear("no key")
    base = compare.groups(machine.ask(scene, question), scene)
    other = copy.deepcopy(scene)
    value = kinds.at(scene, path)
    kinds.put(other, path, f"1.2*({value}) + {steady_part(value)!r}" if isinstance(value, str) else 1.2 * value)
    try:
        answer = machine.ask(other, question)
    except (Refused, Failed) as e:
        raise Unclear(str(e)) from None
    found = compare.differences(base, compare.groups(answer, scene))
    if value != 0 and all(d == 0 for d in found.values()):
        raise Disagreement(f"no effect of {path[0]}.{'.'.join(k for k in path[2:] if isinstance(k, str))}, {question}")


def steady_part(expression):
    """A fifth of its first number: the change acts whenever the expression does not."""
    return 0.2 * float(re.search(r"-?[0-9.]+(e-?[0-9]+)?", expression).group())
