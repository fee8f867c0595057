"""MJCF to a scene: equalities, tendons and actuators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._draft import stand
from ._space import Array, Pose, from_quaternion
from ._xml import Element

if TYPE_CHECKING:
    from ._mjcf import Reading

CONNECT, WELD, JOINT_EQ, TENDON_EQ, FLEX_EQ = range(5)  # of mjtEq
WRAP_PULLEY, WRAP_SITE, WRAP_SPHERE, WRAP_CYLINDER = 2, 3, 4, 5  # of mjtWrap
ON_JOINT, ON_JOINT_IN_PARENT, ON_TENDON = 0, 1, 3  # of mjtTrn
FIXED_TENDON = 0
OBJ_SITE = 6  # of mjtObj


def forces(r: Reading) -> None:
    for e in range(r.m.neq):
        _equality(r, e)
    for t in range(r.m.ntendon):
        _tendon(r, t)
    _actuators(r)


# --- equalities


def _equality(r: Reading, e: int) -> None:
    m, kind, wish = r.m, int(r.m.eq_type[e]), r.name("eq", e)
    at = r.at("eq", e)
    if not m.eq_active0[e]:
        r.draft.note(at, f'equality "{wish}"', "is not active, and was left out", exact=True)
    elif kind in (CONNECT, WELD):
        _closure(r, e, kind, wish, at)
    elif kind == JOINT_EQ:
        first, second = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        terms = {r.joints[first]: 1.0}
        _couple(r, wish, at, terms, {r.joints[second]: 1.0} if second >= 0 else {}, m.eq_data[e][:5])
    elif kind == TENDON_EQ:
        first, second = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        if any(t >= 0 and m.tendon_type[t] != FIXED_TENDON for t in (first, second)):
            r.draft.note(at, f'equality "{wish}"', "lengths of spatial tendons are not held")
        else:
            _couple(r, wish, at, _terms(r, first), _terms(r, second) if second >= 0 else {}, m.eq_data[e][:5])
    elif kind != FLEX_EQ:  # these are read with their flex
        r.draft.note(at, f'equality "{wish}"', "this kind is not translated")


def _closure(r: Reading, e: int, kind: int, wish: str, at: Element) -> None:
    m, data = r.m, r.m.eq_data[e]
    if int(m.eq_objtype[e]) == OBJ_SITE:
        sites = (int(m.eq_obj1id[e]), int(m.eq_obj2id[e]))
        bodies = [int(m.site_bodyid[s]) for s in sites]
        frames = [Pose(from_quaternion(m.site_quat[s]), m.site_pos[s].astype(float)) for s in sites]
    else:
        bodies = [int(m.eq_obj1id[e]), int(m.eq_obj2id[e])]
        first, second = (data[0:3], data[3:6]) if kind == CONNECT else (data[3:6], data[0:3])
        turn = np.eye(3) if kind == CONNECT else from_quaternion(data[6:10])
        frames = [Pose(turn, first.astype(float)), Pose(np.eye(3), second.astype(float))]
    if any(b not in r.bodies for b in bodies):
        return r.draft.note(at, f'equality "{wish}"', "holds a vertex of a flex")
    if kind == CONNECT:
        frames = [Pose(np.eye(3), f.place) for f in frames]
    apart = [r.poses[b] @ f for b, f in zip(bodies, frames)]
    gap = float(np.linalg.norm(apart[0].place - apart[1].place))
    if kind == WELD:
        gap += float(np.linalg.norm(apart[0].rotation - apart[1].rotation))
    if gap > 1e-6 and r.start is None:
        r.draft.note(at, f'equality "{wish}"', "is open at the start: here it is closed before anything moves, there by a spring")
    r.draft.put(
        "loops",
        wish,
        {
            "type": "spherical" if kind == CONNECT else "fixed",
            "a": r.bodies[bodies[0]],
            "b": r.bodies[bodies[1]],
            "a_frame": stand(frames[0]),
            "b_frame": stand(frames[1]),
        },
    )


def _terms(r: Reading, t: int) -> dict[str, float]:
    """A fixed tendon: joints and their factors."""
    m = r.m
    span = range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t])
    return {r.joints[int(m.wrap_objid[w])]: float(m.wrap_prm[w]) for w in span}


def _couple(r: Reading, wish: str, at: Element, y: dict[str, float], x: dict[str, float], poly: Array) -> None:
    """Σ y = a0 + a1 Σ x + … of coordinates that count from the pose of reference, as limber's do."""
    if poly[2:].any() and x:
        if len(y) > 1 or len(x) > 1 or list(y.values()) != [1.0] or list(x.values()) != [1.0]:
            return r.draft.note(at, f'equality "{wish}"', "a polynomial of sums of joints is not translated")
        profile = " + ".join(f"{a:.15g}*x^{n}" if n else f"{a:.15g}" for n, a in enumerate(poly) if a)
        r.draft.put("couplings", wish, {"cam": [*x, *y], "profile": profile})
        return
    terms = dict(y)
    for joint, factor in x.items():
        terms[joint] = terms.get(joint, 0.0) - float(poly[1]) * factor
    terms = {j: c for j, c in terms.items() if c}
    if not terms:
        return r.draft.note(at, f'equality "{wish}"', "says nothing", exact=True)
    if len(y) == 1 and len(x) == 1 and list(y.values()) == [1.0] and not poly[0]:
        r.draft.put("couplings", wish, {"mimic": [*x, *y], "ratio": float(poly[1]) * next(iter(x.values()))})
    else:
        r.draft.put("couplings", wish, {"sum": terms, "offset": float(poly[0])})


# --- tendons


def _tendon(r: Reading, t: int) -> None:
    m, at, wish = r.m, r.at("tendon", t), r.name("tendon", t)
    if m.tendon_frictionloss[t]:
        r.draft.note(at, f'frictionloss of tendon "{wish}"', "is of joints here, not of tendons")
    if m.tendon_armature[t]:
        r.draft.note(at, f'armature of tendon "{wish}"', "is of joints here, not of tendons")
    if m.tendon_stiffnesspoly[t].any() or m.tendon_dampingpoly[t].any():
        r.draft.note(at, f'polynomial spring or damper of tendon "{wish}"', "its linear part alone is taken")
    passive = m.tendon_stiffness[t] or m.tendon_damping[t] or m.tendon_limited[t]
    if not passive:
        if not any(m.actuator_trntype[a] == ON_TENDON and m.actuator_trnid[a][0] == t for a in range(m.nactuator)):
            r.draft.note(at, f'tendon "{wish}"', "only measures; nothing follows from it", exact=True)
    elif m.tendon_type[t] == FIXED_TENDON:
        _fixed_tendon(r, t, at, wish)
    else:
        _spatial_tendon(r, t, at, wish)


def _fixed_tendon(r: Reading, t: int, at: Element, wish: str) -> None:
    """A spring on a sum of joints: a coupling that gives."""
    m, terms = r.m, _terms(r, t)
    stiffness, damping = float(m.tendon_stiffness[t]), float(m.tendon_damping[t])
    low, high = (float(x) for x in m.tendon_lengthspring[t])
    if m.tendon_limited[t]:
        r.draft.note(at, f'limits of tendon "{wish}"', "a sum of joints has none")
    if not stiffness:
        if damping:
            r.draft.note(at, f'damping of tendon "{wish}"', "a coupling with damping needs a stiffness")
        return
    if len({_joint_kind(r, j) for j in terms}) > 1 and damping:
        r.draft.note(at, f'tendon "{wish}"', "angles and shifts in one sum: in rad and m", exact=True)
    entry: dict[str, Any] = {"sum": terms, "offset": (low + high) / 2 - float(m.tendon_length0[t])}
    entry["stiffness"] = stiffness
    if damping:
        entry["damping"] = damping
    if high > low:
        entry["backlash"] = high - low
    r.draft.put("couplings", wish, entry)


def _joint_kind(r: Reading, name: str) -> str:
    return str(r.draft.entries["joints"][name]["type"])


def _spatial_tendon(r: Reading, t: int, at: Element, wish: str) -> None:
    m = r.m
    span = list(range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t]))
    if any(m.wrap_type[w] == WRAP_PULLEY for w in span):
        return r.draft.note(at, f'tendon "{wish}"', "branches by <pulley divisor>: a cable has one route and one tension")
    route = [guide for n, w in enumerate(span) if (guide := _guide(r, span, n, at, wish)) is not None]
    if len(route) != len(span):
        return
    straight = len(route) == 2
    damping = {"damping": float(m.tendon_damping[t])} if m.tendon_damping[t] else {}
    low, high = (float(x) for x in m.tendon_lengthspring[t])
    if m.tendon_stiffness[t] or damping:
        law = _spring_law(float(m.tendon_stiffness[t]), low, high)
        if straight:
            r.draft.put("springs", wish, {"between": route, **law, **damping})
        elif not m.tendon_stiffness[t]:
            r.draft.note(at, f'tendon "{wish}"', "a damper over guides needs a stiffness")
        else:
            if low > 0:
                r.draft.note(at, f'tendon "{wish}"', "pushes where it is shorter than its rest length; a cable goes slack")
            if damping:
                r.draft.note(at, f'damping of tendon "{wish}"', "acts in MuJoCo where it is slack too; a cable's does while it pulls")
            r.draft.put("cables", wish, {"route": route, "stiffness": float(m.tendon_stiffness[t]), "rest_length": max(high, 1e-9), **damping})
    if m.tendon_limited[t]:
        _rope(r, t, at, wish, route)


def _spring_law(k: float, low: float, high: float) -> dict[str, Any]:
    """Between its two rest lengths the spring of a tendon does nothing."""
    if low == high or not k:
        return {"stiffness": k, "rest_length": high}
    if low <= 0:
        return {"stiffness": k, "rest_length": high, "tension_only": True}
    return {"spring_force": f"{k:.15g}*(max(x, 0) + min(x + {high - low:.15g}, 0))", "rest_length": high}


def _rope(r: Reading, t: int, at: Element, wish: str, route: list[Any]) -> None:
    """An upper limit of the length: MuJoCo holds it by a spring and damper of its own (solref), so does this."""
    m = r.m
    low, high = (float(x) for x in m.tendon_range[t])
    time, ratio = (float(x) for x in m.tendon_solref_lim[t])
    if low > 0:
        r.draft.note(at, f'lower limit of tendon "{wish}"', "a cable does not push")
    mass, impedance = 1 / max(float(m.tendon_invweight0[t]), 1e-12), m.tendon_solimp_lim[t]
    share = float(impedance[0]) / (1 - float(impedance[0]))  # MuJoCo's force at rest, over that of its spring alone
    if time > 0:
        time = max(time, 2 * float(m.opt.timestep)) * float(impedance[1])
        stiffness, damping = mass * share / (time * ratio) ** 2, 2 * mass * share / time
    else:
        stiffness, damping = -time * mass * share, -ratio * mass * share
    r.draft.note(at, f'upper limit of tendon "{wish}"', f"is a rope that gives: {stiffness:.4g} N/m")
    law: dict[str, Any] = {"stiffness": stiffness, "damping": damping, "rest_length": high}
    if len(route) == 2:
        stop = {"spring_force": f"{stiffness:.15g}*max(x, 0)", "rest_length": high}
        r.draft.put("springs", f"{wish}_limit", {"between": route, **stop})
    else:
        r.draft.put("cables", f"{wish}_limit", {"route": route, **law})


def _guide(r: Reading, span: list[int], n: int, at: Element, wish: str) -> dict[str, Any] | None:
    m, w = r.m, span[n]
    if m.wrap_type[w] == WRAP_SITE:
        s = int(m.wrap_objid[w])
        return {"on": r.bodies[int(m.site_bodyid[s])], "at": m.site_pos[s].astype(float)}
    return _pulley(r, w, _site_place(r, span[n - 1]), _site_place(r, span[n + 1]), at, wish)


def _site_place(r: Reading, w: int) -> Array:
    s = int(r.m.wrap_objid[w])
    return r.poses[int(r.m.site_bodyid[s])].of(r.m.site_pos[s])


def _pulley(r: Reading, w: int, p0: Array, p1: Array, at: Element, wish: str) -> dict[str, Any] | None:
    """A sphere or cylinder between two sites, as a pulley that the cable leaves where it does not touch."""
    m, g = r.m, int(r.m.wrap_objid[w])
    b, radius = int(m.geom_bodyid[g]), float(m.geom_size[g][0])
    pose = r.poses[b] @ Pose(from_quaternion(m.geom_quat[g]), m.geom_pos[g].astype(float))
    centre, axis, side = pose.place, pose.rotation[:, 2], int(round(m.wrap_prm[w]))
    if m.wrap_type[w] == WRAP_SPHERE:
        axis = np.cross(p0 - centre, p1 - centre)
        if np.linalg.norm(axis) < 1e-12:
            r.draft.note(at, f'tendon "{wish}"', "goes straight at the middle of a sphere")
            return None
        axis = axis / np.linalg.norm(axis)
        r.draft.note(at, f'tendon "{wish}"', "goes round a sphere: here round a pulley in the plane of the first moment")
    else:
        along = [float(axis @ (p - centre)) for p in (p0, p1)]
        if abs(along[0] - along[1]) > 1e-9:
            r.draft.note(at, f'tendon "{wish}"', "runs along its cylinder too: here it lies in the plane of a pulley")
        centre = centre + axis * sum(along) / 2

    def flat(v: Array) -> Array:
        return v - axis * (axis @ v)

    chord = flat(p1 - p0)
    if side >= 0:
        place = r.poses[int(m.site_bodyid[side])].of(m.site_pos[side])
        if np.linalg.norm((place if m.wrap_type[w] == WRAP_SPHERE else centre + flat(place - centre)) - centre) < radius:
            r.draft.note(at, f'tendon "{wish}"', "runs inside of what it is wound on")
            return None
        lean = float(axis @ np.cross(chord, flat(place - centre)))
    else:
        lean = float(axis @ np.cross(chord, flat((p0 + p1) / 2 - centre)))
    inner = r.poses[b].inverse()
    return {
        "pulley": r.bodies[b],
        "at": inner.of(centre),
        "radius": radius,
        "axis": inner.rotation @ axis,
        "turn": "negative" if lean > 0 else "positive",
    }


# --- actuators


class Push(NamedTuple):
    """What an actuator does to a joint: gain · signal + constant − kp q − kd q̇, q from the pose of reference."""

    signal: str
    gain: float
    constant: float
    kp: float
    kd: float
    limit: float


def _actuators(r: Reading) -> None:
    """What acts on a joint is one drive: a force, or a servo where something pulls to a place."""
    pushes: dict[int, list[Push]] = {}
    for a in range(r.m.nactuator):
        _actuator(r, a, pushes)
    for j, some in pushes.items():
        _drive(r, j, some)


def _actuator(r: Reading, a: int, pushes: dict[int, list[Push]]) -> None:
    m, at, wish = r.m, r.at("actuator", a), r.name("actuator", a)
    what, kind = f'actuator "{wish}"', int(m.actuator_trntype[a])
    target, gear = int(m.actuator_trnid[a][0]), float(m.actuator_gear[a][0])
    if kind == ON_TENDON and m.tendon_type[target] == FIXED_TENDON:
        span = range(m.tendon_adr[target], m.tendon_adr[target] + m.tendon_num[target])
        on = {int(m.wrap_objid[w]): gear * float(m.wrap_prm[w]) for w in span}
    elif kind in (ON_JOINT, ON_JOINT_IN_PARENT) and m.jnt_type[target] in (2, 3):
        on = {target: gear}
    else:
        return r.draft.note(at, what, "acts on what has no drive here (a site, a body, a spatial tendon, a ball or free joint)")
    if int(m.actuator_gaintype[a]) != 0 or int(m.actuator_biastype[a]) not in (0, 1):
        return r.draft.note(at, what, "its gain is no number, or its bias not affine (muscles, motors with currents)")
    if m.actuator_dyntype[a] != 0:
        r.draft.note(at, what, "has an activation that lags; the drive acts at once")
    gain = float(m.actuator_gainprm[a][0])
    bias = [float(x) for x in m.actuator_biasprm[a][:3]] if m.actuator_biastype[a] == 1 else [0.0] * 3
    if bias[1] > 0 or bias[2] > 0 or (len(on) > 1 and bias[2] and not bias[1]):
        return r.draft.note(at, what, "pushes away from its target, or damps a sum of joints alone")
    limit = float("inf")
    if m.actuator_forcelimited[a]:
        low, high = (float(x) for x in m.actuator_forcerange[a])
        limit = high
        if low != -high or len(on) > 1 or not (bias[1] or bias[2]):
            limit = float("inf")
            r.draft.note(at, what, f"its forcerange {low:g} … {high:g} is not kept to: only servos have one, from -x to x")
    word = "u_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in wish)
    while word in r.draft.parameters:
        word += "_"
    key = r.start
    r.draft.parameters[word] = 0 if key is None else float(m.key_ctrl[key][int(m.actuator_ctrladr[a])])
    if m.actuator_armature[a] or np.any(m.actuator_damping[a]):
        r.draft.note(at, what, "its own armature or damping is not taken; give them to the joint")
    if len(on) > 1 and bias[1]:  # a spring on the sum, whose length at ease is what is asked for
        length = gear * float(m.tendon_length0[target])
        terms = {r.joints[j]: lever for j, lever in on.items()}
        aim = f"={-gain / bias[1]:.15g}*{word} - {bias[0] / bias[1] + length:.15g}"
        servo = {"sum": terms, "offset": aim, "stiffness": -bias[1]}
        r.draft.put("couplings", wish, servo | ({"damping": -bias[2]} if bias[2] else {}))
        return
    for j, lever in on.items():
        q0 = float(m.qpos0[m.jnt_qposadr[j]])
        constant = lever * (bias[0] + bias[1] * lever * q0)
        push = Push(word, lever * gain, constant, -bias[1] * lever**2, -bias[2] * lever**2, abs(lever) * limit)
        pushes.setdefault(j, []).append(push)


def _drive(r: Reading, j: int, some: list[Push]) -> None:
    joint = r.draft.entries["joints"][r.joints[j]]
    constant, kp, kd = sum(p.constant for p in some), sum(p.kp for p in some), sum(p.kd for p in some)

    def signal(by: float) -> str:
        terms = [p.signal if p.gain == by else f"{p.gain / by:.15g}*{p.signal}" for p in some if p.gain]
        return " + ".join(terms + ([f"{constant / by:.15g}"] if constant else [])) or "0"

    limit = min(p.limit for p in some)
    if kp or (kd and np.isfinite(limit)):
        if np.isfinite(limit) and len(some) > 1:
            r.draft.note(r.at("joint", j), f'joint "{r.name("joint", j)}"', "several actuators: their forceranges are not kept to")
            limit = float("inf")
        target = signal(kp) if kp else f"({signal(kd)})*t"
        servo = {"target": target, "kp": kp, **({"kd": kd} if kd else {})}
        joint["drive"] = {"servo": servo | ({"max_force": limit} if np.isfinite(limit) else {})}
        return
    if kd:
        if "damping_force" in joint:
            joint["damping_force"] += f" + {kd:.15g}*v"
        else:
            joint["damping"] = joint.get("damping", 0.0) + kd
    joint["drive"] = {"force": signal(1.0)}
