"""Scenes by short forms: trees, ladders, molecules and helices of links.

They hang on a body, in whose axes they are written: the world turns, and they with it.
"""

import vec
from draw import Takes, new_scene, probe, some, vector_of_time


def shorts(rng, question):
    takes = Takes(question)
    scene = new_scene(rng)
    scene["bodies"]["base"] = {"at": vec.scaled(rng.uniform(0.1, 0.5), vec.random_unit(rng)), "sphere": 0.03, "fixed": True,
                               "rotate": vec.scaled(rng.uniform(0, 2), vec.random_unit(rng))}
    kinds = [tree, tree, helix] + ([ladder] if takes.loop_law else []) + ([molecule] if takes.method == "articulated" else [])
    section, name, entry, bodies = rng.choice(kinds)(rng, takes)
    scene[section] = {name: {"from": "base", **entry}}
    if some(rng, 0.5):
        scene[section][name]["start"] = vec.scaled(0.1, vec.random_unit(rng))
    seen = sorted({bodies[-1], rng.choice(bodies)})
    for body in seen:
        probe(scene, quantity="position", on=body)
        probe(scene, quantity="rotation", on=body)
    if some(rng, 0.6):
        scene["loads"]["l0"] = {"on": {"on": rng.choice(seen), "at": [0.03, 0.02, 0.05]}, "force": vector_of_time(rng, 2)}
    if takes.wind and some(rng, 0.1):
        scene["wind"] = {"velocity": vector_of_time(rng, 10)}
    if takes.method == "articulated" and takes.verb == "run":
        scene["run"]["integrator"] = rng.choice(["midpoint", "euler", "implicit_euler", "sdirk", "gauss", "rk4"])
    if takes.method == "adaptive":
        scene["run"].update(step=0.01, time=0.5, frame=0.05)
    return scene


def law(rng, takes, kinds=("revolute", "revolute", "universal", "spherical")):
    """Of all joints of a short form."""
    out = {"joint": rng.choice(kinds), "stiffness": rng.uniform(5, 60) * (3 if takes.must_hold else 1)}
    if takes.method == "adaptive" or some(rng, 0.7):
        out["damping"] = rng.uniform(0.01, 0.3)
    if out["joint"] == "revolute" and some(rng, 0.3):
        out["rest"] = rng.uniform(-0.3, 0.3)
    if takes.limits and out["joint"] == "revolute" and some(rng, 0.1):
        out["limits"] = rng.uniform(0.1, 0.5)
    if takes.position and out["joint"] == "revolute" and "limits" not in out and some(rng, 0.2):
        out["position"] = rng.uniform(-0.2, 0.2)
    if takes.velocity and out["joint"] == "revolute" and some(rng, 0.2):
        out["velocity"] = rng.uniform(-1, 1)
    return {**out, **weight(rng, takes)}


def weight(rng, takes):
    out = {"mass": rng.uniform(0.05, 0.5)} if some(rng, 0.5) else {"density": rng.uniform(300, 3000)} if some(rng, 0.5) else {}
    if takes.drag and some(rng, 0.2):
        out["linear_drag"] = rng.uniform(0.1, 1)
    if takes.drag and some(rng, 0.1):
        out["angular_drag"] = rng.uniform(0.001, 0.01)
    return out


def tree(rng, takes):
    levels, branches = rng.choice([(1, 1), (2, 2), (2, 3), (3, 1), (3, 2)])
    entry = {"levels": levels, "branches": branches, "length": rng.uniform(0.1, 0.3), "direction": vec.random_unit(rng), **law(rng, takes)}
    for key, low, high in (("length_ratio", 0.5, 1), ("radius_ratio", 0.5, 1), ("stiffness_ratio", 0.3, 1), ("angle", 0.2, 1),
                           ("twist", 0, 2)):
        if some(rng, 0.3):
            entry[key] = rng.uniform(low, high)
    if levels > 1 and some(rng, 0.2):
        entry["fixed_trunk"] = True
    count = sum(branches ** k for k in range(levels))
    return "trees", "oak", entry, [f"oak.{k}" for k in range(count)]


def ladder(rng, takes):
    rungs = rng.randint(1, 2)
    direction = vec.random_unit(rng)
    entry = {"rungs": rungs, "spacing": rng.uniform(0.1, 0.3), "width": rng.uniform(0.1, 0.3), "direction": direction,
             "across": vec.perpendicular(rng, direction), **law(rng, takes, ("revolute",))}
    for key in ("position", "velocity", "limits"):  # loops would not close
        entry.pop(key, None)
    return "ladders", "rope", entry, [f"rope.{side}.{k}" for k in range(rungs) for side in ("left", "right")] + ["rope.rung.0"]


def molecule(rng, takes):
    count = rng.randint(2, 6)
    entry = {"bodies": count, "kind": rng.randint(0, 3), "seed": rng.randint(1, 10 ** 6), "length": rng.uniform(0.1, 0.2),
             **weight(rng, takes)}
    return "molecules", "m", entry, [f"m.{k}" for k in range(count)]


def helix(rng, takes):
    count = rng.randint(2, 6)
    entry = {"links": count, "coil": rng.uniform(0.05, 0.2), "pitch": rng.uniform(0.05, 0.2), "direction": vec.random_unit(rng),
             "turns": rng.choice([-1, 1]) * rng.uniform(0.3, 1), **law(rng, takes)}
    return "helices", "spiral", entry, [f"spiral.{k}" for k in range(count)]
