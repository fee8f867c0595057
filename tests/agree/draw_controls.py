"""Controllers and events for scenes of articulated: on hinges and slides, read by the probes of joints."""

import draw  # which imports this: only called, never at import


def column_of(scene, joint, quantity="joint_position"):
    """The column of a probe of a joint of one coordinate; probed if it is not yet."""
    for p in scene["probes"]:
        if p.get("joint") == joint and p["quantity"] == quantity:
            return p["name"]
    draw.probe(scene, quantity=quantity, joint=joint)
    return scene["probes"][-1]["name"]


def add_controls(rng, scene):
    joints = {n: j for n, j in scene["joints"].items() if j["type"] in ("revolute", "prismatic") and "motion" not in j}
    if joints and draw.some(rng, 0.15):
        add_controller(rng, scene, joints)
    if joints and draw.some(rng, 0.2):
        add_event(rng, scene, joints)


def add_controller(rng, scene, joints):
    name = rng.choice(sorted(joints))
    slides = joints[name]["type"] == "prismatic"
    size, strong = (0.02, 2000) if slides else (0.3, 25)
    own = draw.some(rng, 0.7)
    read = name if own else rng.choice(sorted(joints))
    if (joints[read]["type"] == "prismatic") != slides:
        read, own = name, True
    c = {"joint": name, "reads": column_of(scene, read), "target": rng.uniform(-size, size),
         "kp": strong * rng.uniform(0.1, 0.6)}
    if draw.some(rng, 0.6):
        c["ki"] = c["kp"] * rng.uniform(0.5, 5)
    if draw.some(rng, 0.7):
        c["kd"] = c["kp"] * rng.uniform(0.001, 0.02)
    if draw.some(rng, 0.3):
        c["limits"] = strong * size * rng.uniform(0.1, 1)
    if not own or draw.some(rng, 0.4):
        c["period"] = rng.choice([0.004, 0.005, 0.013])  # on steps and between them
    scene["controllers"] = {"ctrl": c}


def add_event(rng, scene, joints):
    """At a time, or where a joint comes by; what it does shows in the motion."""
    event = {"at": rng.uniform(0.03, 0.15)}
    if draw.some(rng, 0.5):
        name = rng.choice(sorted(joints))
        event = {"when": {"reads": column_of(scene, name, rng.choice(["joint_position", "joint_velocity"])),
                          rng.choice(["above", "below", "passes"]): rng.uniform(-0.02, 0.02)}}
        if draw.some(rng, 0.2):
            event["delay"] = rng.uniform(0, 0.05)
    choices = [("stop", None)]
    driven = {c["joint"] for c in scene.get("controllers", {}).values()}
    driven |= {t["joint"] for t in scene.get("couplings", {}).values() if "joint" in t}
    loose = [n for n, j in joints.items() if "drive" not in j and n not in driven and "friction" not in j]
    choices += [("release", {"joint": n}) for n in loose[:1]]
    choices += [("release", {"joint": n}) for n in list(scene.get("loops", {}))[:1]]
    choices += [("release", {"spring": n}) for n in list(scene["springs"])[:1]]
    choices += [("switch", {"load": n, "on": False}) for n in list(scene["loads"])[:1]]
    choices += [("switch", {"spring": n, "on": False}) for n in list(scene["springs"])[:1]]
    choices += [("switch", {"drive": n, "on": False}) for n, j in joints.items() if "drive" in j][:1]
    choices += [("switch", {"controller": "ctrl", "on": False}) for _ in range(len(driven) and 1)]
    key, what = rng.choice(choices)
    event[key] = True if what is None else what
    scene["events"] = {"ev": event}


def names_in_controls(scene):
    """Joints, springs and loads that controllers and events speak of."""
    out = set()
    for c in scene.get("controllers", {}).values():
        out.add(c["joint"])
        out |= {p.get("joint") for p in scene["probes"] if p["name"] == c["reads"]}
    for e in scene.get("events", {}).values():
        for key in ("release", "switch"):
            out |= {v for v in e.get(key, {}).values() if isinstance(v, str)}
        out |= {p.get("joint") for p in scene["probes"] if p["name"] == e.get("when", {}).get("reads")}
    return out
