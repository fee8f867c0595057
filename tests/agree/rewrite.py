"""The same physics written differently.

Each way is a function (scene, rng) → Rewritten, or raises Unclear where it does not apply. Rewritten.back turns the
columns of the new scene's answer into those of the first.
"""

import copy
import math

import kinds
import vec
from draw_controls import names_in_controls
from machine import Unclear
from rewrite_couplings import KINDS
from rewrite_frames import framed, joined, reframed, reopened, reversed_axis, split
from rewrite_world import mirrored, scaled, turned
from rewritten import Rewritten

# Nothing that the numbers depend on


def threads(scene, rng):
    return Rewritten(scene, exact=True, options=("--cpu-threads", "2"))


def denser(scene, rng):
    if any("stop" in e for e in scene.get("events", {}).values()):
        raise Unclear("its last frame is where it stops")
    out = copy.deepcopy(scene)
    out["run"]["frame"] = scene["run"]["frame"] / 2
    if abs(out["run"]["frame"] / scene["run"]["step"] % 1) > 1e-9:
        raise Unclear("no whole number of steps")
    return Rewritten(out, exact=True, every=2)


SECTIONS = ("materials", "sections", "surfaces", "bodies", "joints", *kinds.SHORT_FORMS, "beams", "springs", "couplings", "cables", "bushings", "loops", "ties",
            "loads", "riders", "controllers", "events")


# Keys whose text names something.
NAMING = ("on", "against", "surfaces", "along", "between", "parent", "child", "a", "b", "to", "from", "material", "section", "beam", "joint", "spring",
          "rider", "ends", "coupling", "cable", "pulley", "drive", "load", "controller", *KINDS)


def renamed(scene, rng):
    """Every name another; the order of the file stays."""
    names = {}
    for section in SECTIONS:
        for i, name in enumerate(scene.get(section, {})):
            names[name] = f"x{section[0]}{i}-{name}" if rng.random() < 0.5 else f"{chr(122 - i)}_{section}"

    def other(value, key=None):
        if isinstance(value, dict):
            return {(names.get(k, k) if key in SECTIONS or key == "sum" else k): other(v, k) for k, v in value.items()}
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
    names = [n for n in scene.get("loads", {}) if n not in names_in_controls(scene)]
    if not names:
        raise Unclear("no load")
    name = rng.choice(names)
    out = copy.deepcopy(scene)
    load = out["loads"].pop(name)
    for key in ("force", "moment", "force_per_length"):
        if isinstance(load.get(key), dict):
            load[key] = vec.scaled(1 / 3, load[key])
        elif key in load:
            load[key] = [f"({x})/3" if isinstance(x, str) else f"({x!r})/(2 + min(i, 1) + (i < 1))" for x in load[key]]
    out["loads"][f"{name}.${{i}}"] = {"repeat": {"i": 3}, **load}
    return Rewritten(out)


def listed(scene, rng):
    """Drives and motions in lists of their own instead of at their joints."""
    out = copy.deepcopy(scene)
    joints = out.get("joints", {})
    out["drives"] = [{"joint": n, **j.pop("drive")} for n, j in joints.items() if "drive" in j]
    out["motions"] = [{"joint": n, "position": j.pop("motion")} for n, j in joints.items() if "motion" in j]
    if not out["drives"] and not out["motions"]:
        raise Unclear("nothing is driven")
    return Rewritten(out, exact=True)


def inert(scene, rng):
    out = copy.deepcopy(scene)
    out.setdefault("bodies", {})["far_away"] = {"at": [100, 200, 50], "sphere": 0.5, "mass": 1000, "fixed": True}
    return Rewritten(out)


WAYS = {"threads": threads, "denser": denser, "renamed": renamed, "permuted": permuted, "units": units,
        "expressions": expressions, "repeated": repeated, "listed": listed, "inert": inert, "turned": turned, "mirrored": mirrored,
        "scaled": scaled, "reframed": reframed, "reversed": reversed_axis, "reopened": reopened, "joined": joined, "split": split,
        "framed": framed}
