"""Who touches whom in MuJoCo: masks of geoms become surfaces, exclusions and explicit pairs become pairs.

Geoms touch where contype of one meets conaffinity of the other. Bodies with the same masks have one surface; of two
surfaces whose masks do not meet a pair says so. What a joint joins touches in neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._mjcf import Reading

Masks = frozenset[tuple[int, int]]


def filters(r: Reading) -> None:
    assert r.draft.contact is not None
    pairs = _explicit(r) + _excluded(r) + _by_masks(r)  # the first that means two counts
    if pairs:
        r.draft.contact["pairs"] = pairs


def _meet(a: Masks, b: Masks) -> bool:
    return any(t1 & a2 or t2 & a1 for t1, a1 in a for t2, a2 in b)


def _mask(r: Reading, g: int) -> tuple[int, int]:
    return int(r.m.geom_contype[g]), int(r.m.geom_conaffinity[g])


def touches(m: Any, g: int) -> bool:
    """Whether a geom may touch anything at all."""
    return bool(m.geom_contype[g] or m.geom_conaffinity[g] or g in m.pair_geom1 or g in m.pair_geom2)


def any_contact(m: Any) -> bool:
    """Whether anything can touch anything else: the masks of two geoms meet, or a pair says so."""
    types, affinities = int(np.bitwise_or.reduce(m.geom_contype, initial=0)), int(np.bitwise_or.reduce(m.geom_conaffinity, initial=0))
    return bool(types & affinities or m.npair) and not m.opt.disableflags & (1 << 4 | 1)


def _touching(r: Reading, b: int) -> list[int]:
    return [g for g in map(int, np.flatnonzero(r.m.geom_bodyid == b)) if touches(r.m, g)]


def _by_masks(r: Reading) -> list[dict[str, Any]]:
    """Surfaces of all that touches, and of which of them pass through each other."""
    own: list[tuple[Masks, dict[str, Any]]] = []
    for b, name in r.bodies.items():
        if b and (masks := frozenset(_mask(r, g) for g in _touching(r, b))):
            own.append((masks, r.draft.entries["bodies"][name]))
            if len(masks) > 1 and not all(_meet(frozenset([x]), frozenset([y])) for x in masks for y in masks):
                r.draft.note(r.at("body", b), f'geoms of "{r.name("body", b)}" with masks of their own', "a body has one here: it touches what any of them touches")
    own += [(frozenset([_mask(r, g)]), entry) for g, (_, entry) in r.standing.items() if touches(r.m, g)]
    classes = sorted({masks for masks, _ in own}, key=sorted)
    apart = [(i, k) for i in range(len(classes)) for k in range(i, len(classes)) if not _meet(classes[i], classes[k])]
    if not apart:
        return []
    names = [f"touch_{i}" for i in range(len(classes))]
    for name in names:
        r.draft.entries["surfaces"][name] = {}
    for masks, entry in own:
        entry["surfaces"] = [names[classes.index(masks)]]
    return [{"between": [names[i], names[k]], "collide": False} for i, k in apart]


def _excluded(r: Reading) -> list[dict[str, Any]]:
    out = []
    for s in r.m.exclude_signature:
        a, b = int(s) >> 16, int(s) & 0xFFFF
        if a in r.bodies and b in r.bodies and _touching(r, a) and _touching(r, b) and r.lump(a) != r.lump(b):
            out.append({"between": [r.bodies[a], r.bodies[b]], "collide": False})
    return out


def _explicit(r: Reading) -> list[dict[str, Any]]:
    """Explicit pairs touch whatever their masks are, with a friction of their own; here as bodies."""
    out: dict[tuple[str, str], dict[str, Any]] = {}
    m = r.m
    for p in range(m.npair):
        geoms = int(m.pair_geom1[p]), int(m.pair_geom2[p])
        bodies = [int(m.geom_bodyid[g]) for g in geoms]
        names = [r.bodies.get(b, "") if b else r.standing.get(g, ("", {}))[0] for g, b in zip(geoms, bodies, strict=True)]
        what = f'contact pair "{r.name("pair", p)}"'
        if not all(names) or r.lump(bodies[0]) == r.lump(bodies[1]):
            r.draft.note(r.at("pair", p), what, "its geoms belong to one body, or to what is not here")
            continue
        friction = float(m.pair_friction[p][0]) if m.pair_dim[p] > 1 else 0.0
        out[names[0], names[1]] = {"between": names, "friction": friction, "collide": True}
        if any(b and len(_touching(r, b)) > 1 for b in bodies):
            r.draft.note(r.at("pair", p), what, "holds for all shapes of the two bodies here")
    return list(out.values())
