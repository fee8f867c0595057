"""What the numbers of a scene are: for every key its dimension (length, mass, time), and the walk over all of them."""

import copy
import re

NUMBER, LENGTH, MASS, TIME = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)
FORCE, TORQUE, STRESS, DENSITY = (1, 1, -2), (2, 1, -2), (-1, 1, -2), (-3, 1, 0)
SPEED, RATE, STIFFNESS, DAMPING = (1, 0, -1), (0, 0, -1), (0, 1, -2), (0, 1, -1)

SHORT_FORMS = ("linkages", "trees", "ladders", "molecules", "helices")
LINKS = ("joints", "loops", *SHORT_FORMS)  # what has laws of joints
OF_LINKS = {"axis": NUMBER, "density": DENSITY, "mass": MASS, "restitution": NUMBER, "linear_drag": DAMPING,
            "angular_drag": (2, 1, -1)}

# By section; the deepest key of a number's path that stands here gives its dimension.
KEYS = {
    "gravity": {"gravity": (1, 0, -2)},
    "materials": {"E": STRESS, "G": STRESS, "nu": NUMBER, "density": DENSITY, "yield": STRESS, "strength": STRESS,
                  "rate": RATE, "stress": STRESS, "exponent": NUMBER},
    "sections": {"circle": LENGTH, "tube": LENGTH, "rectangle": LENGTH, "ellipse": LENGTH, "polygon": LENGTH},
    "surfaces": {"friction": NUMBER, "restitution": NUMBER, "stiffness": STIFFNESS, "damping": DAMPING},
    "bodies": {"box": LENGTH, "sphere": LENGTH, "cylinder": LENGTH, "capsule": LENGTH, "at": LENGTH, "com": LENGTH,
               "points": LENGTH, "rotate": NUMBER, "mass": MASS, "density": DENSITY, "inertia": (2, 1, 0),
               "linear_drag": DAMPING, "angular_drag": (2, 1, -1), "velocity": SPEED, "angular_velocity": RATE,
               "friction": NUMBER, "hull": LENGTH, "size": LENGTH, "rows": LENGTH, "vertices": LENGTH},
    "joints": {"at": LENGTH, "axis": NUMBER, "axis2": NUMBER, "rotate": NUMBER, "restitution": NUMBER, "pitch": LENGTH,
               "length": LENGTH},
    "loops": {"at": LENGTH, "axis": NUMBER, "axis2": NUMBER, "rotate": NUMBER, "restitution": NUMBER, "pitch": LENGTH,
              "length": LENGTH},
    "trees": {"start": LENGTH, "direction": NUMBER, "length": LENGTH, "radius": LENGTH, "length_ratio": NUMBER, "radius_ratio": NUMBER,
              "stiffness_ratio": NUMBER, "angle": NUMBER, "twist": NUMBER, **OF_LINKS},
    "ladders": {"start": LENGTH, "direction": NUMBER, "across": NUMBER, "spacing": LENGTH, "width": LENGTH, "radius": LENGTH, **OF_LINKS},
    "molecules": {"start": LENGTH, "length": LENGTH, "radius": LENGTH, **OF_LINKS},
    "helices": {"start": LENGTH, "direction": NUMBER, "coil": LENGTH, "pitch": LENGTH, "turns": NUMBER, "radius": LENGTH, **OF_LINKS},
    "linkages": {"start": LENGTH, "direction": NUMBER, "length": LENGTH, "radius": LENGTH, "bend": NUMBER, **OF_LINKS},
    "riders": {"mass": MASS, "position": LENGTH},
    "beams": {"path": LENGTH, "angle": NUMBER, "turns": NUMBER, "direction": NUMBER, "towards": NUMBER, "axis": NUMBER,
              "start_direction": NUMBER, "up": NUMBER, "damping": TIME, "air_damping": RATE, "velocity": SPEED,
              "from": LENGTH, "length": LENGTH, "until": TIME},
    "bushings": {"at": LENGTH, "rotate": NUMBER},
    "cables": {"at": LENGTH, "radius": LENGTH, "axis": NUMBER, "friction": NUMBER, "stiffness": STIFFNESS, "EA": FORCE,
               "damping": DAMPING, "rest_length": LENGTH, "pretension": FORCE, "winch": LENGTH},
    "springs": {"between": LENGTH, "stiffness": STIFFNESS, "EA": FORCE, "damping": DAMPING, "rest_length": LENGTH},
    "ties": {"on": LENGTH, "to": LENGTH, "axis": NUMBER, "shift": LENGTH, "turn": NUMBER},
    "loads": {"on": LENGTH, "force": FORCE, "moment": TORQUE, "force_per_length": STIFFNESS, "ramp": TIME},
    "wind": {"velocity": SPEED, "air_density": DENSITY, "drag_coefficient": NUMBER, "ramp": TIME},
    "contact": {"friction": NUMBER, "at": LENGTH, "normal": NUMBER, "restitution": NUMBER},
    "changes": {"at": TIME},
    "controllers": {"period": TIME},
    "events": {"at": TIME, "delay": TIME},
    "probes": {"on": LENGTH},
    "run": {"time": TIME, "step": TIME, "frame": TIME, "substep": TIME, "force": FORCE, "moment": TORQUE},
}
# Of joints, by coordinate: angles or lengths.
TURNING = {"stiffness": TORQUE, "damping": (2, 1, -1), "rest": NUMBER, "limits": NUMBER, "position": NUMBER, "velocity": RATE,
           "motion": NUMBER, "force": TORQUE, "target": NUMBER, "kp": TORQUE, "kd": (2, 1, -1), "max_force": TORQUE,
           "preload": TORQUE, "stop_stiffness": TORQUE, "stop_damping": (2, 1, -1), "friction": TORQUE}
SLIDING = {"stiffness": STIFFNESS, "damping": DAMPING, "rest": LENGTH, "limits": LENGTH, "position": LENGTH,
           "velocity": SPEED, "motion": LENGTH, "force": FORCE, "target": LENGTH, "kp": STIFFNESS, "kd": DAMPING,
           "max_force": FORCE, "preload": FORCE, "stop_stiffness": STIFFNESS, "stop_damping": DAMPING, "friction": FORCE}
SLIDES = {"prismatic": {0}, "planar": {0, 1}, "free": {3, 4, 5}, "cylindrical": {1}, "point_on_line": {3},
          "point_on_plane": {3, 4}}  # coordinates that are lengths
FUNCTIONS = {"gravity", "position", "force", "moment", "force_per_length", "velocity", "motion", "target", "shift", "turn", "winch"}

# Of what comes out.
QUANTITIES = {"position": LENGTH, "velocity": SPEED, "rotation": NUMBER, "angular_velocity": RATE, "spring_length": LENGTH,
              "spring_tension": FORCE, "cable_length": LENGTH, "cable_tension": FORCE, "cable_wrap": NUMBER, "cable_slip": LENGTH,
              "winch_power": (2, 1, -3), "energy": (2, 1, -2), "tension": FORCE, "curvature": (-1, 0, 0), "twist": (-1, 0, 0),
              "rider_position": LENGTH, "bending_moment": TORQUE, "torque": TORQUE, "contact_count": NUMBER, "overlap": LENGTH, "contact_force": FORCE,
              "acceleration": (1, 0, -2), "angular_acceleration": (0, 0, -2), "momentum": (1, 1, -1), "angular_momentum": (2, 1, -1),
              "total_momentum": (1, 1, -1), "reaction_force": FORCE, "reaction_torque": TORQUE}


def over(a, b):
    return tuple(x - y for x, y in zip(a, b))


def coupling_dimension(scene, path):
    """By its joints: of angles or of lengths."""
    coupling = scene["couplings"][path[1]]
    of = lambda joint: SLIDING if scene["joints"][joint]["type"] == "prismatic" else TURNING
    kind = next(k for k in coupling if k in ("gear", "mimic", "belt", "rack", "differential", "cam", "sum"))
    last = next(iter(coupling["sum"])) if kind == "sum" else coupling[kind][-1]
    if path[2] in ("stiffness", "damping"):
        return of(last)[path[2]]
    if path[2] in ("offset", "backlash"):
        return of(last)["rest"]
    if path[2] == "profile":
        return of(coupling["cam"][0] if path[-1] == 0 else last)["rest"]
    if path[2] == "sum":
        return over(of(last)["rest"], of(path[3])["rest"])
    return LENGTH if path[2] in ("radius", "radii") else NUMBER


BUSHING = {"stiffness": (STIFFNESS, FORCE, TORQUE), "damping": (DAMPING, (1, 1, -1), (2, 1, -1))}  # by how many are turns


def dimension(scene, path):
    """Of the number at a path of keys and indices; None: no physical number (a count, an option)."""
    section = path[0]
    if section == "couplings":
        return coupling_dimension(scene, path)
    if section == "bushings" and path[2] in BUSHING:
        row, column = path[3], path[-1]
        return BUSHING[path[2]][(row < 3) + (column < 3)]
    if "table" in path:  # of rows: time, values
        return TIME if path[-1] == 0 else dimension(scene, path[:path.index("table")])
    if section in LINKS and len(path) > 2:
        entry = scene[section][path[1]]
        entry = {**entry, "type": entry.get("type", entry.get("joint", "revolute"))}
        key = next((k for k in reversed(path) if k in TURNING), None)
        if key is not None and path[2] not in ("parent_frame", "child_frame", "a_frame", "b_frame", "at"):
            after = path[path.index(key) + 1:]
            sliding = SLIDES.get(entry["type"], set())
            return (SLIDING if (after[0] if after and entry["type"] in SLIDES and entry["type"] != "prismatic" else 0) in sliding else TURNING)[key]
    if section == "controllers" and len(path) > 2 and path[2] in ("target", "kp", "ki", "kd", "limits"):
        entry = scene[section][path[1]]
        table = SLIDING if scene["joints"][entry["joint"]]["type"] == "prismatic" else TURNING
        d = table[{"ki": "kp", "limits": "force"}.get(path[2], path[2])]  # it reads a joint of its own kind
        return (d[0], d[1], d[2] - 1) if path[2] == "ki" else d
    if section == "events" and len(path) > 3 and path[2] == "when":
        reads = scene[section][path[1]]["when"]["reads"]
        return probe_dimension(scene, next(p for p in scene["probes"] if p["name"] == reads))
    table = KEYS.get(section, {})
    return next((table[k] for k in reversed(path) if isinstance(k, str) and k in table), None)


def probe_dimension(scene, probe):
    quantity = probe["quantity"]
    if quantity.startswith("coupling_"):
        path = ("couplings", probe["coupling"])
        gap = coupling_dimension(scene, (*path, "offset"))
        return gap if quantity == "coupling_gap" else (FORCE if gap == LENGTH else TORQUE)
    if not quantity.startswith("joint_"):
        return QUANTITIES[quantity]
    joint = {**scene.get("joints", {}), **scene.get("loops", {})}[probe["joint"]]
    return (SLIDING if joint["type"] == "prismatic" else TURNING)[quantity[len("joint_"):]]


def walk(value, path=()):
    """Every number and expression with its path."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from walk(entry, path + (key,))
    elif isinstance(value, list):
        for i, entry in enumerate(value):
            yield from walk(entry, path + (i,))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value
    elif isinstance(value, str) and any(k in FUNCTIONS for k in path) and not isinstance(path[-1], str):
        yield path, value
    elif isinstance(value, str) and path and path[-1] in ("motion", "target", "force", "position", "winch"):
        yield path, value


def at(value, path):
    for key in path:
        value = value[key]
    return value


def put(value, path, new):
    at(value, path[:-1])[path[-1]] = new


def mapped(scene, change):
    """A copy in which change(value, dimension, path) stands for every physical number."""
    out = copy.deepcopy(scene)
    for path, value in list(walk(scene)):
        d = dimension(scene, path)
        if d is not None:
            put(out, path, change(value, d, path))
    return out


def with_time(expression, text):
    """An expression with something else in place of t."""
    return re.sub(r"\bt\b", text, expression)
