"""MJCF to a scene: bodies, joints, shapes and contact. What acts on them is in _mjcf_forces.py."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from ._draft import Draft, mass_of, stand
from ._meshes import ellipsoid_points, hull_points
from ._mjcf_file import Prepared, compiled, prepare
from ._mjcf_filters import any_contact, filters, touches
from ._mjcf_flex import flexes
from ._mjcf_forces import forces
from ._parts import rotor, turn_rotors
from ._space import Array, Pose, from_quaternion, to_vector
from ._xml import Element, Files

PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)  # of mjtGeom
START = "start"  # the keyframe that a scene starts in
FREE, BALL, SLIDE, HINGE = range(4)  # of mjtJoint
NAMED = {"eq": "equality"}  # what MuJoCo calls a kind
SHAPE_WORDS = {SPHERE: "sphere", CAPSULE: "capsule", CYLINDER: "cylinder", BOX: "box", ELLIPSOID: "hull", MESH: "hull"}


class Reading:
    """What is known while a model is translated."""

    def __init__(self, model: Any, prepared: Prepared, draft: Draft) -> None:
        self.m, self.prepared, self.draft = model, prepared, draft
        self.poses = self._places()
        self.bodies: dict[int, str] = {0: "world"}  # MuJoCo's bodies that are bodies of the scene
        self.joints: dict[int, str] = {}  # MuJoCo's joints that are joints of the scene
        self.skipped: set[int] = set()  # bodies that are part of something else
        self.standing: dict[int, tuple[str, dict[str, Any]]] = {}  # geoms of the world: a body, or a plane of "world"
        self.start = next((k for k in range(model.nkey) if self.name("key", k) == START), None)

    def _places(self) -> list[Pose]:
        """Of all bodies, in the pose of reference."""
        m, out = self.m, [Pose(np.eye(3), np.zeros(3))]
        for b in range(1, m.nbody):
            inner = Pose(from_quaternion(m.body_quat[b]), m.body_pos[b].astype(float))
            j = m.body_jntadr[b]
            if m.body_jntnum[b] == 1 and m.jnt_type[j] == FREE:
                q = m.qpos0[m.jnt_qposadr[j] :][:7]
                out.append(Pose(from_quaternion(q[3:7]), q[:3].astype(float)))
            else:
                out.append(out[m.body_parentid[b]] @ inner)
        return out

    def name(self, kind: str, index: int) -> str:
        return str(getattr(self.m, NAMED.get(kind, kind))(index).name)

    def at(self, kind: str, index: int) -> Element:
        return self.prepared.at(kind, self.name(kind, index))

    def lump(self, body: int) -> int:
        """The first body that this one is welded to; 0: the world."""
        return int(self.m.body_weldid[body])


def read(file: Path, files: Files, *, meshes: bool = True, name: str = "") -> Draft:
    prepared = prepare(file, files, meshes)
    model = compiled(prepared, file.name)
    draft = Draft(prepared.root.get("model") or file.stem, name or file.name)
    r = Reading(model, prepared, draft)
    flexes(r)
    for b in range(1, model.nbody):
        if b not in r.skipped:
            _body(r, b)
    _world_shapes(r)
    forces(r)
    _start(r)
    turn_rotors(draft)
    _contact(r)
    _options(r)
    return draft


# --- bodies and their joints


def _body(r: Reading, b: int) -> None:
    m, pose = r.m, r.poses[b]
    at = r.at("body", b)
    if m.body_mocapid[b] >= 0:
        r.draft.note(at, f'mocap body "{r.name("body", b)}"', "stands still here; give a joint a motion to move it")
    turn = from_quaternion(m.body_iquat[b])
    entry = stand(pose) | mass_of(float(m.body_mass[b]), m.body_ipos[b], turn @ np.diag(m.body_inertia[b]) @ turn.T)
    entry |= _shapes(r, b)
    points = _points(r, b)
    if points:
        entry["points"] = points
    parent, joints = int(m.body_parentid[b]), range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b])
    if not joints and parent == 0:
        entry["fixed"] = True
    name = r.bodies[b] = r.draft.names["bodies"][r.name("body", b)] = r.draft.put("bodies", r.name("body", b), entry)
    if not joints and parent != 0:
        r.draft.put("joints", f"{name}_weld", {"type": "fixed", "parent": r.bodies[parent], "child": name})
    if m.body_gravcomp[b] and m.body_mass[b]:
        lift = -float(m.body_gravcomp[b] * m.body_mass[b]) * np.asarray(m.opt.gravity)
        r.draft.put("loads", f"{name}_gravcomp", {"on": {"on": name, "at": m.body_ipos[b]}, "force": lift})
    holder = r.bodies[parent]
    for j in joints:
        last = j == joints[-1]
        child = name
        if not last:
            carrier = stand(pose) | {"mass": 0, "inertia": [0, 0, 0]}
            child = r.draft.put("bodies", f"{name}_{r.name('joint', j)}", carrier)
        _joint(r, j, holder, child, pose)
        holder = child


def _points(r: Reading, b: int) -> dict[str, Array]:
    """Sites that have a name, as points of the body."""
    m = r.m
    own = [s for s in map(int, np.flatnonzero(m.site_bodyid == b)) if ("site", r.name("site", s)) not in r.prepared.made]
    return {_word(r.name("site", s)): m.site_pos[s] for s in own}


def _word(text: str) -> str:
    word = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in text)
    return word if word[:1].isalpha() or word[:1] == "_" else "_" + word


def _joint(r: Reading, j: int, parent: str, child: str, pose: Pose) -> None:
    m, at, kind, wish = r.m, r.at("joint", j), int(r.m.jnt_type[j]), r.name("joint", j)
    dof = int(m.jnt_dofadr[j])
    entry: dict[str, Any] = {"type": ("free", "spherical", "prismatic", "revolute")[kind], "parent": parent, "child": child}
    if kind != FREE and not (kind == SLIDE and np.abs(m.jnt_pos[j]).max() == 0):
        entry["at"] = pose.of(m.jnt_pos[j])
    if kind in (SLIDE, HINGE):
        entry["axis"] = pose.rotation @ m.jnt_axis[j]
    if kind == FREE:
        _free_joint(r, j, entry)
    else:
        entry |= _passive(r, j, dof, kind, at)
    if kind == FREE and set(entry) == {"type", "parent", "child"} and ("joint", wish) in r.prepared.made:
        return  # a body without a joint floats
    name = r.joints[j] = r.draft.names["joints"][wish] = r.draft.put("joints", wish, entry)
    armature = m.dof_armature[dof : dof + (6, 3, 1, 1)[kind]]
    if kind in (SLIDE, HINGE) and armature[0]:
        rotor(r.draft, name, float(armature[0]), kind == SLIDE)
    elif armature.any():
        r.draft.note(at, f'armature of the {entry["type"]} joint "{wish}"', "there is no rotor of three freedoms")
    if m.jnt_margin[j]:
        r.draft.note(at, f'margin of the limits of "{wish}"', "limits are rigid and act where they are", exact=True)


def _free_joint(r: Reading, j: int, entry: dict[str, Any]) -> None:
    m, at, dof = r.m, r.at("joint", j), int(r.m.jnt_dofadr[j])
    for what, values in (("stiffness", m.jnt_stiffness[j : j + 1]), ("damping", m.dof_damping[dof : dof + 6]), ("frictionloss", m.dof_frictionloss[dof : dof + 6])):
        if values.any():
            r.draft.note(at, f'{what} of the free joint "{r.name("joint", j)}"', "MuJoCo's acts on the body's origin, in axes of its own")


def _passive(r: Reading, j: int, dof: int, kind: int, at: Element) -> dict[str, Any]:
    """Spring, damper, limits, friction."""
    m = r.m
    out: dict[str, Any] = {}
    q = int(m.jnt_qposadr[j])
    if kind == BALL:
        rest: Any = to_vector(from_quaternion(m.qpos0[q : q + 4]).T @ from_quaternion(m.qpos_spring[q : q + 4]))
    else:
        rest = float(m.qpos_spring[q] - m.qpos0[q])
    poly, drag = m.jnt_stiffnesspoly[j], m.dof_dampingpoly[dof]
    if poly.any() and kind != BALL:
        out["spring_force"] = f"{m.jnt_stiffness[j]:.15g}*x + {poly[0]:.15g}*x^2 + {poly[1]:.15g}*x^3"
    elif m.jnt_stiffness[j]:
        out["stiffness"] = float(m.jnt_stiffness[j])
    if out and np.any(rest):
        out["rest"] = rest
    if drag.any() and kind != BALL:
        out["damping_force"] = f"{m.dof_damping[dof]:.15g}*v + {drag[0]:.15g}*v*abs(v) + {drag[1]:.15g}*v^3"
    elif m.dof_damping[dof]:
        out["damping"] = float(m.dof_damping[dof])
    if kind == BALL and (poly.any() or drag.any()):
        r.draft.note(at, f'polynomial spring or damper of the ball joint "{r.name("joint", j)}"', "its linear part alone is taken")
    if kind == BALL and m.dof_frictionloss[dof]:
        r.draft.note(at, f'frictionloss of the ball joint "{r.name("joint", j)}"', "dry friction is of angles and shifts")
    elif m.dof_frictionloss[dof]:
        out["friction"] = float(m.dof_frictionloss[dof])
    if m.jnt_limited[j]:
        low, high = (float(x) for x in m.jnt_range[j])
        shift = 0.0 if kind == BALL else float(m.qpos0[q])
        out["limits"] = high if kind == BALL else [low - shift, high - shift]
        if kind != BALL and not low - 1e-9 <= shift <= high + 1e-9:
            inside = min(max(0.0, low - shift), high - shift)
            out["position"] = inside
            r.draft.note(at, f'joint "{r.name("joint", j)}"', "its reference lies outside of its limits: it starts at the nearer one")
    if m.jnt_springyield[j] and np.isfinite(m.jnt_springyield[j]):
        r.draft.note(at, f'springyield of "{r.name("joint", j)}"', "springs do not yield")
    return out


def _start(r: Reading) -> None:
    """The keyframe `start`, if there is one: where the joints are at t = 0, and how they move."""
    m, key = r.m, r.start
    if key is None:
        return
    for j in range(m.njnt):
        q, v, kind = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]), int(m.jnt_type[j])
        qpos, qvel, b = m.key_qpos[key], m.key_qvel[key], int(m.jnt_bodyid[j])
        turn = r.poses[b].rotation  # coordinates of balls are in the world's axes, with the bodies as written
        at = q + (3 if kind == FREE else 0)
        if kind in (SLIDE, HINGE):
            position, rates = [float(qpos[q] - m.qpos0[q])], [float(qvel[v])]
        else:
            written, now = (from_quaternion(x[at : at + 4]) for x in (m.qpos0, qpos))
            position = list(turn @ to_vector(written.T @ now))
            rates = list(turn @ qvel[v + at - q : v + at - q + 3])
        if kind == FREE:
            position += list(qpos[q : q + 3] - m.qpos0[q : q + 3])
            rates += list(qvel[v : v + 3])
        if not np.any(position) and not np.any(rates):
            continue
        if j not in r.joints:
            r.joints[j] = r.draft.put("joints", r.name("joint", j), {"type": "free", "child": r.bodies[b]})
        joint = r.draft.entries["joints"][r.joints[j]]
        for word, some in (("position", position), ("velocity", rates)):
            if np.any(some):
                joint[word] = some[0] if len(some) == 1 else some


# --- shapes


def _shapes(r: Reading, b: int) -> dict[str, Any]:
    """Those that touch; where nothing of the model does, all, to be seen."""
    m = r.m
    geoms = [g for g in map(int, np.flatnonzero(m.geom_bodyid == b)) if any_contact(m) <= touches(m, g)]
    shapes = [s for g in geoms if (s := shape_of(r, g)) is not None]
    out: dict[str, Any] = {}
    if len(shapes) == 1 and not {"at", "rotate"} & set(shapes[0]):
        out |= shapes[0]
    elif shapes:
        out["shapes"] = shapes
    frictions = {float(m.geom_friction[g][0]) if m.geom_condim[g] > 1 else 0.0 for g in geoms}
    if shapes and any_contact(m):
        out["friction"] = max(frictions)
        if len(frictions) > 1:
            r.draft.note(r.at("body", b), f'frictions of the geoms of "{r.name("body", b)}"', "a body has one: the largest is taken")
    colors = [m.geom_rgba[g] for g in geoms if (m.geom_rgba[g][:3] != 0.5).any() and m.geom_rgba[g][3] > 0]
    if colors and shapes:
        out["color"] = [round(float(x), 4) for x in colors[0][:3]]
    return out


def shape_of(r: Reading, g: int) -> dict[str, Any] | None:
    """A geom as a shape in the axes of its body; None where there is no such shape, which is noted."""
    m, kind, size = r.m, int(r.m.geom_type[g]), r.m.geom_size[g].astype(float)
    place = Pose(from_quaternion(m.geom_quat[g]), m.geom_pos[g].astype(float))
    what = f'geom "{r.name("geom", g)}"'
    if kind == SPHERE:
        return {"sphere": size[0], **({} if not np.any(place.place) else {"at": place.place})}
    if kind in (CAPSULE, CYLINDER):
        return {SHAPE_WORDS[kind]: {"radius": size[0], "length": 2 * size[1]}, **stand(place)}
    if kind == BOX:
        return {"box": 2 * size, **stand(place)}
    if kind == ELLIPSOID:
        r.draft.note(r.at("geom", g), what, "an ellipsoid is the hull of points on it here", exact=not any_contact(m))
        return {"hull": {"points": ellipsoid_points(size)}, **stand(place)}
    if kind == MESH:
        d = int(m.geom_dataid[g])
        vertices = m.mesh_vert[m.mesh_vertadr[d] :][: m.mesh_vertnum[d]].astype(float)
        points = hull_points(vertices)
        if points is None:
            r.draft.note(r.at("geom", g), what, "its mesh is flat: it has no hull")
            return None
        if len(points) < len(vertices) and any_contact(m):
            r.draft.note(r.at("geom", g), what, f"its hull has the {len(points)} points that reach out most")
        return {"hull": {"points": points}, **stand(place)}
    if kind == PLANE:
        r.draft.note(r.at("geom", g), what, "a plane belongs to the world here, not to a body that moves")
        return None
    r.draft.note(r.at("geom", g), what, f"there is no such shape ({('height field' if kind == HFIELD else 'sdf')} on a body)")
    return None


def _world_shapes(r: Reading) -> None:
    """Planes, grounds, and what else stands on the world."""
    m = r.m
    for g in map(int, np.flatnonzero(m.geom_bodyid == 0)):
        if any_contact(m) and not touches(m, g):
            continue
        place = Pose(from_quaternion(m.geom_quat[g]), m.geom_pos[g].astype(float))
        if m.geom_type[g] == PLANE:
            if any_contact(m):
                contact = r.draft.contact = r.draft.contact or {}
                normal = place.rotation[:, 2]
                plane = {} if np.abs(normal - [0, 0, 1]).max() < 1e-15 else {"normal": normal}
                contact.setdefault("planes", []).append({"at": place.place, **plane})
                r.standing[g] = "world", contact["planes"][-1]
                contact["friction"] = max(contact.get("friction", 0.0), float(m.geom_friction[g][0]))
            continue
        entry: dict[str, Any] | None = _height_field(r, g) if m.geom_type[g] == HFIELD else shape_of(r, g)
        if entry is not None:
            entry |= {"mass": 0, "inertia": [0, 0, 0], "fixed": True}
            if any_contact(m):
                entry["friction"] = float(m.geom_friction[g][0])
            name = r.draft.put("bodies", r.name("geom", g), entry)
            r.standing[g] = name, r.draft.entries["bodies"][name]


def _height_field(r: Reading, g: int) -> dict[str, Any] | None:
    m, d = r.m, int(r.m.geom_dataid[g])
    rows, columns = int(m.hfield_nrow[d]), int(m.hfield_ncol[d])
    if rows > 250 or columns > 250:
        r.draft.note(r.at("geom", g), f'height field "{r.name("geom", g)}"', f"{rows} by {columns} heights; at most 250 by 250 are taken")
        return None
    heights = m.hfield_data[m.hfield_adr[d] :][: rows * columns].reshape(rows, columns) * m.hfield_size[d][2]
    place = Pose(from_quaternion(m.geom_quat[g]), m.geom_pos[g].astype(float))
    return {"height_field": {"size": 2 * m.hfield_size[d][:2], "rows": heights.astype(float)}, **stand(place)}


# --- contact


def _contact(r: Reading) -> None:
    m = r.m
    if not any_contact(m):
        return
    r.draft.contact = {**(r.draft.contact or {}), "combine": "maximum"}  # planes stay the ones in `standing`
    root = r.prepared.root
    filters(r)
    if (m.geom_condim > 3).any():
        r.draft.note(root, "friction against rolling and spinning (condim 4, 6)", "contact has Coulomb's friction alone")
    r.draft.note(root, "softness of contact, limits and constraints (solref, solimp)", "they are rigid here", exact=True)


def _options(r: Reading) -> None:
    m, root = r.m, r.prepared.root
    off = int(m.opt.disableflags)
    r.draft.gravity = [0.0, 0.0, 0.0] if off & 128 else [float(x) for x in m.opt.gravity]
    r.draft.run = {"time": "5 s", "step": float(m.opt.timestep)}
    if m.opt.density or m.opt.viscosity:
        r.draft.note(root, "air or water (option density, viscosity)", "a fluid's forces on geoms are not computed")
    if np.any(m.opt.wind):
        r.draft.note(root, "option wind", "acts with the fluid's forces, which are not computed")
    if m.nplugin:
        r.draft.note(root, "plugins", "code of others is not run")
    if m.nkey and r.start is None:
        r.draft.note(root, f"{m.nkey} keyframes", f"the scene starts in the pose of reference: none is called `{START}`", exact=True)
    if off & (2 | 4 | 8 | 32 | 64):
        r.draft.note(root, "<flag> that turns springs, limits or constraints off", "they are on here")
    if not math.isfinite(sum(r.draft.gravity)):
        raise root.fault("gravity is not finite")
