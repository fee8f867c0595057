"""export_scene(): a scene as MJCF or URDF, for comparing, and the list of what these cannot say."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np

from .. import _limber
from .._scene import Scene, load
from ._draft import number
from ._space import Array, Pose, from_vector, identity, tensor

LISTED = ("beams", "bushings", "cables", "ties", "riders", "wind", "changes", "controllers", "events", "motions")


@dataclasses.dataclass(frozen=True)
class Exported:
    """The text of a file, and what of the scene it does not say."""

    text: str
    notes: tuple[str, ...]


@dataclasses.dataclass
class Part:
    """A body as others have it: on its parent, at coordinates 0, with the joints between in order."""

    name: str
    parent: str
    pose: Pose
    joints: list[tuple[str, dict[str, Any], Pose]]  # name, entry, its frame in the body
    body: dict[str, Any]


def export_scene(scene: Scene | str | os.PathLike[str], to: str, **parameters: float | str) -> Exported:
    """A scene as the text of an MJCF ("mjcf") or URDF ("urdf") file."""
    if to not in ("mjcf", "urdf"):
        raise ValueError(f'to: expected "mjcf" or "urdf", got {to!r}')
    read = scene.with_(**parameters) if isinstance(scene, Scene) else load(Path(scene), **parameters)
    plan = Plan(_limber.read_tree(read.to_yaml(resolved=True), read.name))
    if to == "mjcf":
        from ._export_mjcf import write
    else:
        from ._export_urdf import write
    text = write(plan, Path(read.name).stem)
    return Exported(text, tuple(plan.notes))


class Plan:
    """A scene without short forms, as a tree of bodies. Carriers and rotors without mass become what they stand for."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self.notes: list[str] = []
        self.bodies: dict[str, Any] = dict(tree.get("bodies", {}))
        self.joints: dict[str, Any] = dict(tree.get("joints", {}))
        self.couplings: dict[str, Any] = dict(tree.get("couplings", {}))
        self.drives = {d["joint"]: d for d in tree.get("drives", [])}
        for key in LISTED:
            if tree.get(key):
                self.notes.append(f"{key}: not said there ({len(tree[key])} of them)")
        self.armature = self._rotors()
        self.above = {j["child"]: (n, j) for n, j in self.joints.items()}
        self.children: dict[str, list[str]] = {b: [] for b in ["world", *self.bodies]}
        for n, j in self.joints.items():
            if j["parent"] not in self.children:
                raise ValueError(f'joint "{n}" hangs on a beam, which these files do not have')
            self.children[j["parent"]].append(j["child"])
        for b in self.bodies:
            if b not in self.above:
                self.children["world"].append(b)
        self.carriers = {b for b in self.bodies if self._is_carrier(b)}
        self.parts: dict[str, Part] = {b: self._part(b) for b in self._order() if b not in self.carriers}
        self.places = self._places()

    def note(self, what: str, why: str) -> None:
        self.notes.append(f"{what}: {why}")

    # --- what stands for something else

    def _rotors(self) -> dict[str, float]:
        """Wheels without mass on the world that turn as a joint does: armatures."""
        out: dict[str, float] = {}
        for name, c in list(self.couplings.items()):
            terms = c.get("sum", {})
            if len(terms) != 2 or set(c) - {"sum", "offset"} or c.get("offset", 0):
                continue
            for wheel, joint in (tuple(terms), tuple(reversed(terms))):
                entry = self.joints.get(wheel)
                if entry is None or not self._is_rotor(entry) or joint not in self.joints:
                    continue
                inertia = float(self.bodies[entry["child"]]["inertia"][2])
                out[joint] = out.get(joint, 0.0) + inertia * (terms[joint] / terms[wheel]) ** 2
                del self.couplings[name], self.joints[wheel], self.bodies[entry["child"]]
                break
        return out

    def _is_rotor(self, joint: dict[str, Any]) -> bool:
        body = self.bodies.get(joint["child"], {})
        hangs = any(j["parent"] == joint["child"] for j in self.joints.values())
        forces = set(joint) - {"type", "parent", "child", "parent_frame", "child_frame", "position", "velocity"}
        return joint["parent"] == "world" and joint["type"] == "revolute" and body.get("mass", 1) == 0 and "shapes" not in body and not hangs and not forces

    def _is_carrier(self, b: str) -> bool:
        body = self.bodies[b]
        light = body.get("mass", 0) == 0 and not np.any(body.get("inertia", 0)) and "shapes" not in body
        below = self.children[b]
        return light and b in self.above and len(below) == 1 and self.above[below[0]][1]["type"] != "fixed"

    # --- the tree

    def _order(self) -> list[str]:
        out, stack = [], list(reversed(self.children["world"]))
        while stack:
            b = stack.pop()
            out.append(b)
            stack += reversed(self.children[b])
        return out

    def _part(self, b: str) -> Part:
        pose, at = identity(), b
        joints: list[tuple[str, dict[str, Any], Pose]] = []
        while True:
            if at not in self.above:
                return Part(b, "world", pose, joints, self.bodies[b])
            name, j = self.above[at]
            frame = frame_of(j.get("child_frame", {}))
            joints.insert(0, (name, j, pose.inverse() @ frame))
            pose = frame_of(j.get("parent_frame", {})) @ frame.inverse() @ pose
            at = j["parent"]
            if at not in self.carriers:
                return Part(b, at, pose, joints, self.bodies[b])

    def _places(self) -> dict[str, Pose]:
        out = {"world": identity()}
        for name, part in self.parts.items():
            out[name] = out[part.parent] @ part.pose
        return out


def frame_of(entry: dict[str, Any]) -> Pose:
    return Pose(rotation_of(entry.get("rotate")), np.array(entry.get("at", [0, 0, 0]), dtype=float))


def rotation_of(turn: Any) -> Array:
    if turn is None:
        return np.eye(3)
    a = np.array(turn, dtype=float)
    if a.shape == (3, 3):
        u, _, v = np.linalg.svd(a)  # the nearest rotation: written numbers are rounded
        out: Array = u @ v
        return out
    return from_vector(a)


def inertia_of(body: dict[str, Any]) -> tuple[float, Array, Array]:
    """Mass, centre of mass, tensor about it."""
    mass = float(body.get("mass", 0.0))
    numbers = [float(x) for x in body.get("inertia", [0, 0, 0])]
    inertia = tensor(numbers if len(numbers) == 6 else [*numbers, 0, 0, 0])
    com = np.array(body.get("com", [0, 0, 0]), dtype=float)
    if "first_moment" in body and mass:
        com = np.array(body["first_moment"], dtype=float) / mass
        inertia = inertia - mass * (float(com @ com) * np.eye(3) - np.outer(com, com))
    return mass, com, inertia


def values(entry: dict[str, Any], key: str, count: int) -> list[float]:
    """One number for each coordinate; ValueError where they are functions."""
    given = entry.get(key, 0)
    some = given if isinstance(given, list) else [given] * count
    return [float(x) for x in some]


def constant(value: Any) -> float | None:
    """Of a function of time: its number, if it is one."""
    try:
        return float(value[0] if isinstance(value, list) else value)
    except (TypeError, ValueError):
        return None


def text(numbers: Any) -> str:
    """Numbers to their last bit but one, so that a file stays readable."""
    return " ".join(f"{x:.17g}" if number(x) != x else str(number(x)) for x in np.asarray(numbers, dtype=float).ravel())
