"""Couplings, bushings and composed bodies under another choice of axes and frames."""

import re

import vec
from machine import Unclear

KINDS = ("gear", "mimic", "belt", "rack", "differential", "cam")


def joints_of(coupling):
    kind = next(k for k in (*KINDS, "sum") if k in coupling)
    return list(coupling[kind])


def as_sum(coupling):
    """Factors of the coordinates, the one that measures the gap first; None: a cam."""
    kind = next(k for k in (*KINDS, "sum") if k in coupling)
    if kind in ("sum", "cam"):
        return dict(coupling["sum"]) if kind == "sum" else None
    if kind == "differential":
        carrier, left, right = coupling[kind]
        return {right: 1.0, left: 1.0, carrier: -2.0}
    a, b = coupling[kind]
    if kind in ("gear", "mimic"):
        return {b: 1.0, a: -coupling.get("ratio", 1)}
    if kind == "rack":
        return {b: 1.0, a: -coupling["radius"]}
    one, two = coupling["radii"]
    return {b: 1.0, a: (1 if coupling.get("crossed") else -1) * one / two}


def with_joint_reversed(coupling, name):
    """The same with the coordinate of a joint counted the other way, and the sign of what it tells."""
    rest = {k: v for k, v in coupling.items() if k in ("stiffness", "damping", "backlash", "offset")}
    factors = as_sum(coupling)
    if factors is not None:
        first = next(iter(factors))
        return {"sum": {n: -f if n == name else f for n, f in factors.items()}, **rest}, -1 if name == first else 1
    cam, follower = coupling["cam"]
    profile, sign = coupling["profile"], 1
    if name == cam:
        profile = ({"table": [[-x, y] for x, y in reversed(profile["table"])]} if isinstance(profile, dict)
                   else re.sub(r"\bx\b", "(-x)", profile))
    if name == follower:
        profile = {"table": [[x, -y] for x, y in profile["table"]]} if isinstance(profile, dict) else f"-({profile})"
        sign = -1
        if "offset" in rest:
            rest["offset"] = -rest["offset"]
    return {"cam": [cam, follower], "profile": profile, **rest}, sign


def refuse_closing(scene, names):
    """A coupling needs joints of the tree."""
    if any(n in joints_of(c) for c in scene.get("couplings", {}).values() for n in names):
        raise Unclear("a coupled joint would close the loop")


def moved_bushing(bushing, m):
    out = dict(bushing)
    out["at"] = m.point(bushing["at"])
    out["rotate"] = vec.log(m.rotation(vec.exp(bushing["rotate"])))
    if m.mirrors:  # turns are axial, shifts polar; a mirror across x
        sign = [m.sign * m.Q[i][i] for i in range(3)] + [m.Q[i][i] for i in range(3)]
        for key in ("stiffness", "damping"):
            rows = bushing.get(key, [])
            if rows and isinstance(rows[0], list):
                out[key] = [[sign[i] * sign[j] * rows[i][j] for j in range(6)] for i in range(6)]
    return out


def moved_parts(body, m):
    """Shapes and point masses in the axes of a body that is mirrored with the world."""
    for entry in body.get("shapes", []) + body.get("point_masses", []):
        if "at" in entry:
            entry["at"] = m.local(entry["at"])
        if "rotate" in entry and m.mirrors:
            entry["rotate"] = vec.log(m.rotation(vec.exp(entry["rotate"])))


def reframed_parts(body, here, Qt):
    """The same where the body's frame is elsewhere: here(p) of a point, Qt of its axes."""
    for entry in body.get("shapes", []) + body.get("point_masses", []):
        entry["at"] = here(entry.get("at", [0, 0, 0]))
    for shape in body.get("shapes", []):
        shape["rotate"] = vec.log(vec.product(Qt, vec.exp(shape.get("rotate", [0, 0, 0]))))
