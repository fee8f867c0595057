"""What the readers of URDF and SDF share, and MJCF's too: rotors, inertias that no mass has, shapes, tree order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._draft import Draft, stand
from ._meshes import hull_points, load
from ._space import Array, Pose
from ._xml import Element, Files


def rotor(draft: Draft, joint: str, inertia: float, slides: bool) -> None:
    """Reflected inertia, exactly: a wheel without mass on the world that turns as the joint does."""
    wheel = draft.put("bodies", f"{joint}_rotor", {"mass": 0, "inertia": [inertia] * 3})
    axle = draft.put("joints", f"{joint}_axle", {"type": "revolute", "child": wheel})
    how = {"rack": [axle, joint], "radius": 1} if slides else {"mimic": [joint, axle]}
    draft.put("couplings", f"{joint}_armature", how)


def turn_rotors(draft: Draft) -> None:
    """They start where their joints do, and as fast: else the first moment is nobody's."""
    for name in draft.entries["couplings"]:
        joint = name.removesuffix("_armature")
        axle = draft.entries["joints"].get(f"{joint}_axle")
        if joint != name and axle is not None:
            axle |= {k: draft.entries["joints"][joint][k] for k in ("position", "velocity") if k in draft.entries["joints"][joint]}


def possible_inertia(draft: Draft, at: Element, what: str, mass: float, inertia: Array) -> Array:
    """The tensor, or the nearest that some mass has: principal moments are positive, none above the other two."""
    if not np.isfinite(inertia).all() or not np.isfinite(mass) or mass < 0:
        raise at.fault(f"{what} has a mass or an inertia that nothing has")
    moments, axes = np.linalg.eigh(inertia)
    size = max(float(np.abs(moments).max()), 1e-300)
    better = np.maximum(moments, 0.0)
    better[2] = min(better[2], better[0] + better[1])
    if np.abs(better - moments).max() <= 1e-9 * size:
        return inertia
    draft.note(at, what, f"no mass has the moments {moments[0]:.4g}, {moments[1]:.4g}, {moments[2]:.4g}: the nearest that one has are taken")
    changed: Array = axes @ np.diag(better) @ axes.T
    return changed


def mesh_shape(draft: Draft, files: Files, at: Element, uri: str, scale: Array, meshes: bool) -> dict[str, Any] | None:
    """The hull of a mesh; None where it is not read, which is noted."""
    what = f'mesh "{uri}"'
    if not meshes:
        draft.note(at, what, "left out, as was asked")
        return None
    path = files.find(uri, at)
    try:
        vertices = load(path, at)
    except NotImplementedError as e:
        draft.note(at, what, str(e))
        return None
    points = hull_points(vertices * scale)
    if points is None:
        draft.note(at, what, "is flat: it has no hull")
        return None
    draft.note(at, what, f"is its hull, with the {len(points)} points that reach out most", exact=True)
    return {"hull": {"points": points}}


def round_shape(kind: str, radius: float, length: float | None, place: Pose) -> dict[str, Any]:
    if length is None:
        return {"sphere": radius, **({"at": place.place} if np.any(place.place) else {})}
    return {kind: {"radius": radius, "length": length}, **stand(place)}


def with_shapes(entry: dict[str, Any], shapes: list[dict[str, Any]]) -> None:
    if len(shapes) == 1 and not {"at", "rotate"} & set(shapes[0]):
        entry.update(shapes[0])
    elif shapes:
        entry["shapes"] = shapes


def limits(draft: Draft, at: Element, name: str, low: float, high: float) -> dict[str, Any]:
    """`limits`, and a start within them."""
    if low > high:
        draft.note(at, f'limits of joint "{name}"', f"the lower one, {low:g}, is above the upper one")
        return {}
    out: dict[str, Any] = {"limits": [low, high]}
    if not low <= 0 <= high:
        out["position"] = min(max(0.0, low), high)
        draft.note(at, f'joint "{name}"', "0 is outside of its limits: it starts at the nearer one", exact=True)
    return out
