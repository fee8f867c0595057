"""A scene as URDF: links and joints; what closes a loop stays out, and is listed."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ._export import Part, Plan, frame_of, inertia_of, text, values
from ._export_mjcf import ELEMENTS
from ._space import Pose, identity, to_rpy

EFFORT = 1e6  # URDF wants a number


def _origin(pose: Pose, indent: str) -> str:
    return f'{indent}<origin xyz="{text(pose.place)}" rpy="{text(to_rpy(pose.rotation))}"/>'


def write(plan: Plan, model: str) -> str:
    lines = [f"<robot name={quoteattr(model)}>", '  <link name="world"/>']
    for part in plan.parts.values():
        lines += _link(plan, part) + _joints(plan, part)
    for key in ("loops", "springs", "loads", "contact"):
        if plan.tree.get(key):
            plan.note(key, "URDF has none")
    if plan.drives:
        plan.note("drives", "URDF has none")
    if plan.armature:
        plan.note("rotors", "URDF has none")
    if any(np.any(values(j, k, 1)) for j in plan.joints.values() for k in ("position", "velocity")):
        plan.note("positions and velocities at the start", "URDF has none")
    lines += _mimics(plan)
    return "\n".join([*lines, "</robot>"]) + "\n"


def _link(plan: Plan, part: Part) -> list[str]:
    mass, com, i = inertia_of(part.body)
    lines = [f"  <link name={quoteattr(part.name)}>"]
    if mass:
        six = f'ixx="{text(i[0, 0])}" ixy="{text(i[0, 1])}" ixz="{text(i[0, 2])}" iyy="{text(i[1, 1])}" iyz="{text(i[1, 2])}" izz="{text(i[2, 2])}"'
        lines += ["    <inertial>", _origin(Pose(np.eye(3), com), "      "), f'      <mass value="{text(mass)}"/>', f"      <inertia {six}/>", "    </inertial>"]
    for shape in part.body.get("shapes", []):
        if "box" in shape:
            inner = f'<box size="{text(shape["box"])}"/>'
        elif "sphere" in shape:
            inner = f'<sphere radius="{text(shape["sphere"])}"/>'
        elif "cylinder" in shape:
            inner = f'<cylinder radius="{text(shape["cylinder"]["radius"])}" length="{text(shape["cylinder"]["length"])}"/>'
        else:
            plan.note(f"body {part.name}", f"a shape ({next(iter(shape))}) was left out")
            continue
        for kind in ("visual", "collision"):
            lines += [f"    <{kind}>", _origin(frame_of(shape), "      "), f"      <geometry>{inner}</geometry>", f"    </{kind}>"]
    return [*lines, "  </link>"]


def _joints(plan: Plan, part: Part) -> list[str]:
    """A joint of several coordinates is a chain of links without mass."""
    steps: list[tuple[str, str, Any, dict[str, Any], Pose, int]] = []
    for name, j, frame in part.joints or [(f"{part.name}.floats", {"type": "free"}, identity())]:
        if j["type"] in ("free", "fixed"):
            steps.append((name, "floating" if j["type"] == "free" else "fixed", None, j, frame, 0))
        elif j["type"] in ELEMENTS and j["type"] != "spherical":
            some = ELEMENTS[j["type"]]
            for n, (kind, axis) in enumerate(some):
                own = name if len(some) == 1 else f"{name}.{n}"
                steps.append((own, {"hinge": "revolute", "slide": "prismatic"}[kind], axis, j, frame, n))
        else:
            raise ValueError(f'joint "{name}": URDF has no joint of type {j["type"]}')
    out, parent, last = [], part.parent, identity()  # `last`: the frame before, in the body
    for n, (name, kind, axis, j, frame, coordinate) in enumerate(steps):
        end = n + 1 == len(steps)
        child = part.name if end else f"{name}.link"
        if not end:
            out.append(f"  <link name={quoteattr(child)}/>")
        # All frames stand at the body's axes, each at its own joint; the last link's is the body itself.
        here = identity() if end else Pose(np.eye(3), frame.place)
        step = (part.pose if n == 0 else last.inverse()) @ here
        if end and axis is not None and kind == "revolute" and np.abs(frame.place).max() > 1e-15:
            hub = f"{name}.hub"
            at = Pose(np.eye(3), frame.place)
            out.append(f"  <link name={quoteattr(hub)}/>")
            out += _joint(plan, name, kind, parent, hub, (part.pose if n == 0 else last.inverse()) @ at, frame.rotation @ axis, j, coordinate)
            out += _joint(plan, f"{name}.weld", "fixed", hub, part.name, at.inverse(), None, {}, 0)
            return out
        out += _joint(plan, name, kind, parent, child, step, None if axis is None else frame.rotation @ axis, j, coordinate)
        parent, last = child, here
    return out


def _joint(plan: Plan, name: str, kind: str, parent: str, child: str, pose: Pose, axis: Any, j: dict[str, Any], n: int) -> list[str]:
    count = len(ELEMENTS.get(j.get("type", "fixed"), [])) or 1
    given = j.get("limits")
    row = None if given is None else (given[n] if isinstance(given[0], list) else given)
    free = row is None or not np.isfinite([float(x) for x in row]).all()
    word = "continuous" if kind == "revolute" and free else kind
    lines = [f'  <joint name={quoteattr(name)} type="{word}">', f"    <parent link={quoteattr(parent)}/><child link={quoteattr(child)}/>", _origin(pose, "    ")]
    if axis is not None:
        lines.append(f'    <axis xyz="{text(axis)}"/>')
        low, high = (-1e3, 1e3) if free or row is None else (float(x) for x in row)
        if word != "continuous":
            lines.append(f'    <limit lower="{text(low)}" upper="{text(high)}" effort="{text(EFFORT)}" velocity="{text(EFFORT)}"/>')
        damping = values(j, "damping", count)[n]
        friction = j.get("friction")
        level = 0.0 if friction is None else values(friction if isinstance(friction, dict) else {"static": friction}, "static", count)[n]
        if damping or level:
            lines.append(f'    <dynamics damping="{text(damping)}" friction="{text(level)}"/>')
        for key in ("stiffness", "spring_force", "damping_force", "preload"):
            if np.any(np.asarray(j.get(key, 0), dtype=object) != 0):
                plan.note(f"joint {name}", f"{key}: URDF has none")
    return [*lines, "  </joint>"]


def _mimics(plan: Plan) -> list[str]:
    for name in plan.couplings:
        plan.note(f"coupling {name}", "was left out")
    return []
