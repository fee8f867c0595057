"""MJCF to a scene: flexes of one dimension. With a modulus they are beams, else bodies with springs between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._xml import Element

if TYPE_CHECKING:
    from ._mjcf import Reading


def flexes(r: Reading) -> None:
    m = r.m
    for f in range(m.nflex):
        name = m.names[m.name_flexadr[f] :].split(b"\0", 1)[0].decode()
        at = r.prepared.at("flex", name)
        if m.flex_dim[f] != 1:
            r.draft.note(at, f'flex "{name}"', f"has {m.flex_dim[f]} dimensions: its points are bodies without forces between them")
            continue
        elasticity = at.first("elasticity")
        young = float(elasticity.get("young", "0").split()[0]) if elasticity else 0.0
        if young > 0 and elasticity is not None:
            _beam(r, f, name, at, elasticity, young)
        else:
            _net(r, f, name, at)


def _vertices(r: Reading, f: int) -> tuple[list[int], list[Any]]:
    """Bodies of the vertices, and where they are in the world."""
    m = r.m
    span = range(m.flex_vertadr[f], m.flex_vertadr[f] + m.flex_vertnum[f])
    bodies = [int(m.flex_vertbodyid[v]) for v in span]
    return bodies, [r.poses[b].of(m.flex_vert[v]) for b, v in zip(bodies, span)]


def _beam(r: Reading, f: int, name: str, at: Element, elasticity: Element, young: float) -> None:
    m = r.m
    bodies, places = _vertices(r, f)
    own = {b for b in bodies if m.body_jntnum[b] and all(m.jnt_type[j] == 2 for j in _joints(m, b)) and m.body_jntnum[b] == 3}
    edges = m.flex_edge[m.flex_edgeadr[f] : m.flex_edgeadr[f] + m.flex_edgenum[f]]
    in_row = [list(e) for e in edges] == [[n, n + 1] for n in range(len(places) - 1)]
    ends = bodies[0] not in own and bodies[1] == bodies[0]
    r.skipped |= own | {b for b in range(m.nbody) if str(m.body(b).name).startswith(f"{name}_twist")}
    if not in_row or not ends or bodies[-1] not in own:
        why = "a beam is a row of points clamped at its start: pin the first two (a ring, a free or a pinned end is method thread's)"
        return r.draft.note(at, f'flex "{name}"', why)
    if elasticity.get("section") == "box":
        return r.draft.note(at, f'flex "{name}"', "its section is a box: only round ones are taken")
    radius, poisson = float(m.flex_radius[f]), float(elasticity.get("poisson", "0"))
    path = np.array([r.poses[bodies[0]].inverse().of(p) for p in places])
    # MuJoCo bends at vertices, each for half of the edges beside it: so the beam begins in the middle of the clamped
    # edge, has the mass of a vertex on the length of an edge, and half a vertex at its tip.
    path = np.vstack([(path[0] + path[1]) / 2, path[1:]])
    edge = float(np.linalg.norm(path[-1] - path[-2]))
    vertex = float(m.body_mass[bodies[-1]])
    material: dict[str, Any] = {"E": young, "nu": poisson, "density": vertex / (np.pi * radius**2 * edge)}
    if shear := float(elasticity.get("shear", "0")):
        material["G"] = shear
    draft = r.draft
    stuff = draft.put("materials", name, material)
    section = draft.put("sections", name, {"circle": radius})
    entry: dict[str, Any] = {"from": _owner(r, bodies[0]), "path": path, "material": stuff, "section": section, "elements": len(places) - 2}
    if damping := float(elasticity.get("damping", "0")):
        entry["damping"] = damping
    if not m.flex_edgeequality[f]:
        draft.note(at, f'flex "{name}"', "its edges may stretch; a beam of links does not unless it says `stretch`")
    draft.note(at, f'flex "{name}"', "is a beam: its mass and its bending are spread over its length")
    beam = draft.put("beams", name, entry, "Clamped in the middle of its first edge; half the mass of a vertex sits on its tip.")
    tip = draft.put("bodies", f"{name}_end", {"at": places[-1], "mass": vertex / 2, "inertia": [0, 0, 0]})
    draft.put("joints", f"{name}_end", {"type": "fixed", "parent": f"{beam}.tip", "child": tip, "at": places[-1]})


def _owner(r: Reading, b: int) -> str:
    """The name that a body will have: flexes come before bodies."""
    return "world" if b == 0 else r.draft.name("bodies", r.name("body", b))


def _joints(m: Any, b: int) -> range:
    return range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b])


def _net(r: Reading, f: int, name: str, at: Element) -> None:
    """Edges: springs, or rods where they are held."""
    m = r.m
    span = range(m.flex_vertadr[f], m.flex_vertadr[f] + m.flex_vertnum[f])
    bodies = [int(m.flex_vertbodyid[v]) for v in span]
    offsets = [m.flex_vert[v].astype(float) for v in span]
    first = int(m.flex_edgeadr[f])
    stiffness, damping = float(m.flex_edgestiffness[f]), float(m.flex_edgedamping[f])
    for n, (a, b) in enumerate(m.flex_edge[first : first + m.flex_edgenum[f]]):
        if bodies[a] == bodies[b]:
            continue
        rest = float(m.flexedge_length0[first + n])
        names = [_owner(r, bodies[v]) for v in (a, b)]
        if m.flex_edgeequality[f]:
            frames = {"parent_frame": {"at": offsets[a]}, "child_frame": {"at": offsets[b]}}
            r.draft.put("joints", f"{name}_{n}", {"type": "distance", "parent": names[0], "child": names[1], **frames, "length": rest})
        elif stiffness or damping:
            ends = [{"on": w, "at": offsets[v]} for w, v in zip(names, (a, b))]
            r.draft.put("springs", f"{name}_{n}", {"between": ends, "stiffness": stiffness, "rest_length": rest, **({"damping": damping} if damping else {})})
    if m.flex_contype[f] or m.flex_conaffinity[f]:
        r.draft.note(at, f'flex "{name}"', "its points touch nothing")
