"""Answers side by side: columns grouped to quantities, differences, and what rounding may make of them."""

import kinds
import vec
from machine import Unclear

NUDGE = 1e-12      # of the scene's own numbers …
AMPLIFIED = 100    # … whose effect, times this, is what rounding on another way may do: 1e-10 against 1e-16 a step
FLOOR = 1e-10      # of a quantity's largest value, where the nudge has no effect by chance


def groups(answer, scene):
    """{probe: (quantity, entry, [vector a frame])}, energies included."""
    entries = {p["name"]: p for p in scene["probes"]}
    columns, out = answer.columns, {}
    for head in columns:
        stem, _, component = head.rpartition(".")
        name = stem if stem in entries and (component in "xyz" or component.isdigit()) else head
        if name in out or not (name in entries or name.startswith("energy.")):
            continue  # the time, and what a method says of itself
        heads = [h for h in columns if h == name or h.rpartition(".")[0] == name and name in entries]
        entry = entries.get(name)
        out[name] = (entry["quantity"] if entry else name, entry, [list(row) for row in zip(*(columns[h] for h in heads))])
    return out


def off(quantity, a, b):
    """How far two values of a quantity are apart."""
    if quantity == "rotation":
        return vec.norm(vec.log(vec.product(vec.transposed(vec.exp(a)), vec.exp(b))))
    return max(abs(x - y) for x, y in zip(a, b))


def differences(one, other, back=None, every=1):
    """{probe: largest difference over all frames}, of the probes that both have."""
    out = {}
    for name, (quantity, entry, frames) in one.items():
        if name not in other:
            continue
        rows = other[name][2][::every]
        if back:
            rows = [back(quantity, entry, row) for row in rows]
        if rows and rows[0] is None:
            continue
        out[name] = max((off(quantity, a, b) for a, b in zip(frames, rows)), default=0)
        if len(rows) != len(frames):
            out[name] = float("inf")
    return out


def scales(grouped, scene, size):
    """{probe: the largest value of its quantity in the scene}."""
    largest = {}
    kind = lambda q: "energy" if q.startswith("energy.") else q
    for quantity, _, frames in grouped.values():
        value = max((abs(x) for row in frames for x in row), default=0)
        largest[kind(quantity)] = max(largest.get(kind(quantity), 0), value)
    for quantity, least in natural(scene, size).items():
        largest[quantity] = max(largest.get(quantity, 0), least)
    return {name: largest[kind(q)] for name, (q, _, _) in grouped.items()}


def natural(scene, size):
    """How large a quantity would be if the scene moved by its own size: what its zeros are rounded from."""
    out = {"position": size, "rider_position": size, "spring_length": size, "joint_position": max(1, size),
           "coupling_gap": max(1, size), "rotation": 1, "curvature": 1 / size,
           "twist": 1 / size, "overlap": size,
           "spring_tension": size * max([s.get("stiffness", 0) for s in scene.get("springs", {}).values()] + [0])}
    out["energy"] = max([size * out["spring_tension"]] + [b.get("mass", 1) * 10 * size for b in scene.get("bodies", {}).values()]
                        + [flat(j.get("stiffness", 0)) for j in scene.get("joints", {}).values()])
    weight = sum(b.get("mass", 1) for b in scene.get("bodies", {}).values()) * 10
    out.update(acceleration=10, angular_acceleration=10 / size, reaction_force=weight, coupling_force=weight * max(1, size),
               reaction_torque=weight * size, momentum=weight * size, angular_momentum=weight * size ** 2, total_momentum=weight * size)
    if scene.get("cables"):
        pull = max(c["EA"] for c in scene["cables"].values())
        out.update(cable_length=size, cable_tension=pull)
        out["energy"] = max(out["energy"], pull * size)
    if scene.get("materials"):
        E = max(m["E"] for m in scene["materials"].values())
        r = max(x for _, x in kinds.walk(scene["sections"]))
        out.update(tension=E * r ** 2, bending_moment=E * r ** 4 / size, torque=E * r ** 4 / size)
        out["energy"] = max(out["energy"], E * r ** 4 / size)
    return out


def flat(value):
    return max(value) if isinstance(value, list) else value


def pushed(scene, rng, size):
    """Of a rest: with forces on its beams as small as those that a static solve may leave over."""
    if not scene.get("beams"):
        return scene
    E = max(m["E"] for m in scene["materials"].values())
    force = LEFT_OVER * E * max(x for _, x in kinds.walk(scene["sections"])) ** 4 / size ** 2
    more = {f"push_{b}": {"on": f"{b}@0.6", "force": vec.scaled(force, vec.random_unit(rng))} for b in scene["beams"]}
    return {**scene, "loads": {**scene.get("loads", {}), **more}}


def nudge_of(scene):
    """Of a run that starts at a rest: as much as a static solve may leave over of the forces."""
    return STATIC / AMPLIFIED if scene.get("run", {}).get("from") == "static" else NUDGE


def nudged(scene, rng, sooner):
    """The scene with masses, stiffnesses and loads off by about 1e-12: no geometry, which loops need exactly.

    sooner: what happens in time does so by that many nudges: a jump exactly at a step's end is this step's or the next one's."""
    def change(value, dimension, path):
        factor = 1 + nudge_of(scene) * rng.choice([-1, 1]) * rng.uniform(0.5, 1)
        acts = dimension[1] != 0 or path[0] in ("gravity", "sections") or path[-1] in ("velocity", "target", "motion")
        if not acts or path[0] == "run":
            return value
        if isinstance(value, str):
            return f"{factor!r}*({kinds.with_time(value, f'({1 + sooner * NUDGE!r}*t)')})"
        return value * factor
    return kinds.mapped(scene, change)


def refined(machine, scene, question, base, options=()):
    """{probe: how far the answer is from that at half the step}."""
    finer = {**scene, "run": {**scene["run"], "step": scene["run"]["step"] / 2}}
    return differences(base, groups(machine.ask(finer, question, *options), scene))


LEFT_OVER = 1e-10  # of the forces that bend a beam by its own size; a hundred times that is allowed
CONTACT = 1e-4    # of a thread's radius: gaps and slips are solved to that (docs/theory/contact.md), a step …
TIED = 5e-6       # of a quantity: beams do not stretch, so that ties closed to 1e-12 leave them its root of play
STATIC = 1e-8     # of a quantity: a static solve stops when so little of the forces is left over


def stated(quantity, scene, question, scale):
    """What a method says of its own accuracy, where that is more than rounding."""
    if scene.get("ties"):
        return TIED * scale
    if not question.startswith("run"):
        return STATIC * scale
    if question == "run articulated" and scene["run"].get("error", 0) > 0:  # asked for in a step, of the size
        return scene["run"]["error"] * scale * scene["run"]["time"] / scene["run"]["step"]
    if question == "run thread" and "contact" in scene:
        if quantity != "position":
            return float("inf")  # forces of contact act or do not
        steps = scene["run"]["time"] / scene["run"]["step"]
        return CONTACT * max(x for _, x in kinds.walk(scene["sections"])) * steps
    return 0.0


def left_by_iterations(machine, scene, question, base, options):
    """{probe: how far the answer is from that of iterations which go on to rounding}: they end far below a step's own error."""
    if question != "run articulated" or scene["run"].get("integrator") == "euler":  # rk4: limits are sdirk's
        return {}
    return differences(base, tightened(machine, scene, options))


def tightened(machine, scene, options=()):
    """The answer of iterations that go on to rounding."""
    tight = {**scene, "run": {**scene["run"], "tolerance": 1e-13}}
    return groups(machine.ask(tight, "run articulated", *options), scene)


def taken_back(grouped, back):
    """Of a scene written differently: in the first one's words."""
    return {n: (q, e, [back(q, e, row) for row in rows]) for n, (q, e, rows) in grouped.items()} if back else grouped


def allowed(machine, scene, question, base, rng, size, options=()):
    """{probe: difference that rounding explains}."""
    scale = scales(base, scene, size)
    worst = dict.fromkeys(base, 0.0)
    for sooner in (1, -1):
        other = nudged(scene, rng, sooner)
        if not question.startswith("run"):
            other = pushed(other, rng, size)
        other = groups(machine.ask(other, question, *options), scene)
        for name, d in differences(base, other).items():
            worst[name] = max(worst[name], d)
    left = left_by_iterations(machine, scene, question, base, options)
    out = {name: AMPLIFIED * worst[name] + FLOOR * scale[name] + 10 * left.get(name, 0) + stated(base[name][0], scene, question, scale[name])
           for name in base}
    if any(q == "position" and out[n] > 0.01 * scale[n] for n, (q, _, _) in base.items()):
        raise Unclear("too sensitive to rounding")
    return out
