"""URDF to a scene, with what others say beside it: mimic joints, drake's elements, closed loops in a file of their own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from .. import _limber
from ._draft import Draft, ImportFault, mass_of, stand
from ._parts import limits, mesh_shape, possible_inertia, rotor, round_shape, turn_rotors, with_shapes
from ._space import Pose, from_rpy, identity, tensor
from ._xml import Element, Files, parse, read_bytes

TYPES = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed", "floating": "free", "planar": "planar"}
DRAKE_TYPES = {"ball": "spherical", "universal": "universal", "planar": "planar"}
FOR_OTHERS = {"gazebo", "transmission", "sensor", "ros2_control", "xacro:if", "group", "group_state", "virtual_joint", "disable_collisions"}


def read(file: Path, files: Files, *, meshes: bool, floating: bool, loops: Path | None) -> Draft:
    return _Urdf(file, files, meshes, floating).read(loops)


def _origin(element: Element | None) -> Pose:
    """Of <origin xyz rpy>; nothing said: none."""
    at = element.first("origin") if element is not None else None
    if at is None:
        return identity()
    return Pose(from_rpy(*at.numbers("rpy", 3, "0 0 0")), np.array(at.numbers("xyz", 3, "0 0 0")))


class _Urdf:
    def __init__(self, file: Path, files: Files, meshes: bool, floating: bool) -> None:
        self.root = parse(read_bytes(file, file.name), file.name)
        self.file, self.files, self.meshes, self.floating = file, files, meshes, floating
        self.draft = Draft(self.root.get("name") or file.stem, file.name)
        self.links = self._by_name("link")
        self.joints = self._by_name("joint", "drake:joint")
        self.poses: dict[str, Pose] = {}
        self.bodies: dict[str, str] = {}  # of links
        self.points: dict[str, tuple[str, Pose]] = {}  # links that are no more than a place on another
        self.colors = {m.get("name"): c for m in self.root.all("material") if (c := _color(m))}

    def _by_name(self, *tags: str) -> dict[str, Element]:
        out: dict[str, Element] = {}
        for e in self.root.all(*tags):
            name = e.get("name")
            if not name:
                raise e.fault(f"a {tags[0]} without a name")
            if name in out:
                raise e.fault(f'{tags[0]} "{name}" is there already, at line {out[name].line}')
            out[name] = e
        return out

    def read(self, loops: Path | None) -> Draft:
        if not self.links:
            raise self.root.fault("there is no link")
        children = self._tree()
        self._place(children)
        self._find_points(children)
        for link in self.order:
            if link not in self.points:
                self._body(link)
        for name, e in self.joints.items():
            self._joint(name, e)
        self._massless(children)
        self._mimics()
        self._drake()
        turn_rotors(self.draft)
        self._loops(loops)
        self._for_others()
        self.draft.run = {"time": "5 s", "step": "1 ms"}
        return self.draft

    # --- the tree

    def _ends(self, joint: Element) -> tuple[str, str]:
        out = []
        for tag in ("parent", "child"):
            e = joint.first(tag)
            link = e.get("link") if e is not None else ""
            if link not in self.links:
                raise (e or joint).fault(f'{tag} of joint "{joint.get("name")}": there is no link "{link}"')
            out.append(link)
        return out[0], out[1]

    def _tree(self) -> dict[str, list[tuple[str, Element]]]:
        """Of every link the joints below; joints that give a link a second parent close loops."""
        children: dict[str, list[tuple[str, Element]]] = {link: [] for link in self.links}
        self.closing: set[str] = set()
        held: set[str] = set()
        for name, e in self.joints.items():
            parent, child = self._ends(e)
            if child in held:
                self.closing.add(name)
            else:
                held.add(child)
                children[parent].append((child, e))
        self.roots = [link for link in self.links if link not in held]
        if not self.roots:
            raise self.root.fault("every link hangs on another one: there is no first link")
        return children

    def _place(self, children: dict[str, list[tuple[str, Element]]]) -> None:
        self.order: list[str] = []
        stack = list(reversed(self.roots))
        self.poses = {link: identity() for link in self.roots}
        while stack:
            link = stack.pop()
            self.order.append(link)
            for child, e in reversed(children[link]):
                self.poses[child] = self.poses[link] @ _origin(e)
                stack.append(child)
        if len(self.order) < len(self.links):
            lost = next(link for link in self.links if link not in self.poses)
            raise self.links[lost].fault(f'link "{lost}" hangs on itself')
        if len(self.roots) > 1:
            self.draft.note(self.links[self.roots[1]], f'link "{self.roots[1]}"', "hangs on nothing, beside the first one", exact=True)

    def _find_points(self, children: dict[str, list[tuple[str, Element]]]) -> None:
        """Links without mass and shape, welded to another, on which nothing hangs: frames that only have a name."""
        named = {e.get("link") for e in self.root.walk() if e.tag.startswith("drake:link")}
        above = {child: (parent, e) for parent, some in children.items() for child, e in some}
        for name in self.closing:
            named |= set(self._ends(self.joints[name]))
        for link in reversed(self.order):
            e = self.links[link]
            leaf = all(c in self.points for c, _ in children[link])
            plain = not any(e.all("inertial", "collision", "visual"))
            if link in above and leaf and plain and above[link][1].get("type") == "fixed" and link not in named:
                self.points[link] = (above[link][0], self.poses[link])

    def _owner(self, link: str) -> str:
        while link in self.points:
            link = self.points[link][0]
        return link

    # --- bodies

    def _body(self, link: str) -> None:
        e, pose = self.links[link], self.poses[link]
        entry: dict[str, Any] = stand(pose) | self._inertia(link, e)
        seen = e.all("collision") or e.all("visual")  # without contact, shapes are there to be seen
        shapes = [s for c in seen if (s := self._shape(c)) is not None]
        with_shapes(entry, shapes)
        color = next((c for v in e.all("visual") for m in v.all("material") if (c := _color(m) or self.colors.get(m.get("name")))), None)
        if color and shapes:
            entry["color"] = color
        places = {self._word(p): pose.inverse().of(at.place) for p, (_, at) in self.points.items() if self._owner(p) == link}
        if places:
            entry["points"] = places
        if link in self.roots and not (self.floating and link == self.roots[0]):
            entry["fixed"] = True
        self.bodies[link] = self.draft.names["bodies"][link] = self.draft.put("bodies", link, entry)

    def _word(self, text: str) -> str:
        word = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in text)
        return word if word[:1].isalpha() or word[:1] == "_" else "_" + word

    def _inertia(self, link: str, e: Element) -> dict[str, Any]:
        inner = e.first("inertial")
        mass_at, six_at = (inner.first("mass"), inner.first("inertia")) if inner is not None else (None, None)
        mass = mass_at.numbers("value", 1)[0] if mass_at is not None else 0.0
        moments = np.zeros((3, 3))
        if six_at is not None:
            moments = tensor([six_at.numbers(w, 1, "0")[0] for w in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")])
        place = _origin(inner)
        turned = place.rotation @ moments @ place.rotation.T
        turned = possible_inertia(self.draft, six_at or e, f'inertia of link "{link}"', mass, turned)
        return mass_of(mass, place.place if mass else np.zeros(3), turned)

    def _shape(self, e: Element) -> dict[str, Any] | None:
        place, geometry = _origin(e), e.first("geometry")
        inner = geometry.children[0] if geometry is not None and geometry.children else None
        if inner is None:
            return None
        if inner.tag == "box":
            return {"box": inner.numbers("size", 3), **stand(place)}
        if inner.tag == "sphere":
            return round_shape("sphere", inner.numbers("radius", 1)[0], None, place)
        if inner.tag in ("cylinder", "capsule", "drake:capsule"):
            kind = inner.tag.removeprefix("drake:")
            return round_shape(kind, inner.numbers("radius", 1)[0], inner.numbers("length", 1)[0], place)
        if inner.tag == "mesh":
            scale = np.array(inner.numbers("scale", 3, "1 1 1"))
            shape = mesh_shape(self.draft, self.files, inner, inner.get("filename"), scale, self.meshes)
            return None if shape is None else shape | stand(place)
        self.draft.note(inner, f"<{inner.tag}>", "there is no such shape")
        return None

    # --- joints

    def _joint(self, name: str, e: Element) -> None:
        parent, child = self._ends(e)
        if child in self.points:
            return
        kind = (DRAKE_TYPES if e.tag == "drake:joint" else TYPES).get(e.get("type"))
        if kind is None:
            raise e.fault(f'joint "{name}": there is no type "{e.get("type")}"')
        frame = self.poses[parent] @ _origin(e)
        entry: dict[str, Any] = {"type": kind, "parent": self.bodies[self._owner(parent)], "child": self.bodies[child]}
        if name in self.closing:
            self.draft.note(e, f'joint "{name}"', "closes a loop: its frame in the child is taken as the child's own", exact=True)
            entry |= {"parent_frame": stand(self.poses[parent].inverse() @ frame), "child_frame": {}}
        elif kind in ("revolute", "prismatic", "planar"):
            axis_at = e.first("axis")
            axis = np.array(axis_at.numbers("xyz", 3, "1 0 0") if axis_at is not None else [1.0, 0.0, 0.0])
            if np.linalg.norm(axis) < 1e-12:
                raise e.fault(f'joint "{name}": its axis is zero')
            entry["axis"] = frame.rotation @ (axis / np.linalg.norm(axis))
        elif kind == "universal":
            entry |= {"axis": frame.rotation[:, 0], "axis2": frame.rotation[:, 1]}
        entry |= self._passive(name, e, kind)
        self.draft.names["joints"][name] = self.draft.put("joints", name, entry)

    def _passive(self, name: str, e: Element, kind: str) -> dict[str, Any]:
        out: dict[str, Any] = {}
        dynamics, limit = e.first("dynamics"), e.first("limit")
        if dynamics is not None and kind != "fixed":
            for word in ("damping", "friction"):
                value = dynamics.numbers(word, 1, "0")[0]
                if value < 0:
                    self.draft.note(dynamics, f'{word} of joint "{name}"', "is negative, and was left out")
                elif value:
                    out[word] = value
        if limit is not None and e.get("type") in ("revolute", "prismatic"):
            out |= limits(self.draft, limit, name, *(limit.numbers(w, 1, "0")[0] for w in ("lower", "upper")))
        if limit is not None and ({"effort", "velocity"} & set(limit.attributes)):
            self.draft.note(limit, "largest effort and velocity", "are a controller's: give its drive a `max_force`", exact=True)
        if e.first("safety_controller") is not None:
            self.draft.note(e, "<safety_controller>", "is a controller's", exact=True)
        return out

    def _massless(self, children: dict[str, list[tuple[str, Element]]]) -> None:
        """A joint beyond which nothing has a mass has no acceleration."""
        heavy: set[str] = set()
        for link in reversed(self.order):
            body = self.draft.entries["bodies"].get(self.bodies.get(link, ""), {})
            if body.get("mass") or any(body.get("inertia", [])) or any(c in heavy for c, _ in children[link]):
                heavy.add(link)
        for name, e in self.joints.items():
            child = self._ends(e)[1]
            if name in self.draft.names["joints"] and child not in heavy and self.draft.entries["joints"][self.draft.names["joints"][name]]["type"] != "fixed":
                self.draft.note(e, f'joint "{name}"', "nothing beyond it has a mass: it cannot be moved until something has")

    def _mimics(self) -> None:
        for name, e in self.joints.items():
            m = e.first("mimic")
            if m is None or name not in self.draft.names["joints"]:
                continue
            leader = self.draft.names["joints"].get(m.get("joint"))
            fixed = [w for w in (leader, self.draft.names["joints"][name]) if w and self.draft.entries["joints"][w]["type"] == "fixed"]
            if leader is None or fixed or m.get("joint") == name:
                why = "one of them does not move" if fixed else "there is no such other joint"
                self.draft.note(m, f'joint "{name}" that mimics "{m.get("joint")}"', why, exact=bool(fixed))
                continue
            ratio, offset = m.numbers("multiplier", 1, "1")[0], m.numbers("offset", 1, "0")[0]
            how = {"mimic": [leader, self.draft.names["joints"][name]], "ratio": ratio, "offset": offset}
            self.draft.put("couplings", f"{name}_mimic", how)
            start = ratio * self._start_of(leader) + offset
            if start:
                self.draft.entries["joints"][self.draft.names["joints"][name]]["position"] = start

    def _start_of(self, joint: str) -> float:
        return float(self.draft.entries["joints"][joint].get("position", 0.0))

    # --- beside the tree

    def _drake(self) -> None:
        for e in self.root.children:
            if e.tag == "drake:linear_spring_damper":
                value = {w: _child(e, f"drake:{w}", 1)[0] for w in ("free_length", "stiffness", "damping")}
                spring = {"between": self._two(e, "drake:p_AP", "drake:p_BQ"), "stiffness": value["stiffness"], "rest_length": value["free_length"]}
                self.draft.put("springs", e.get("name", "spring"), spring | ({"damping": value["damping"]} if value["damping"] else {}))
            elif e.tag == "drake:ball_constraint":
                a, b = self._two(e, "drake:p_AP", "drake:p_BQ")
                self.draft.put("loops", e.get("name", "ball"), {"type": "spherical", "a": a["on"], "b": b["on"], "a_frame": {"at": a["at"]}, "b_frame": {"at": b["at"]}})
            elif e.tag == "transmission":
                self._armature(e)
            elif e.tag.startswith("drake:") and e.tag != "drake:joint":
                self.draft.note(e, f"<{e.tag}>", "this element of drake's is not translated")

    def _two(self, e: Element, *places: str) -> list[dict[str, Any]]:
        out = []
        for tag, place in zip(("drake:link_A", "drake:link_B"), places):
            inner = e.first(tag) or e.first(tag.replace("link", "body"))
            link = inner.get("name") or inner.get("link") if inner is not None else ""
            if link not in self.links:
                raise (inner or e).fault(f'<{e.tag}>: there is no link "{link}"')
            out.append({"on": self.bodies[self._owner(link)], "at": np.array(_child(e, place, 3))})
        return out

    def _armature(self, e: Element) -> None:
        """drake's rotors: an inertia before a gear."""
        for actuator in e.all("actuator"):
            inertia = _child(actuator, "drake:rotor_inertia", 1, [0.0])[0]
            ratio = _child(actuator, "drake:gear_ratio", 1, [1.0])[0]
            for joint in e.all("joint"):
                name = self.draft.names["joints"].get(joint.get("name"))
                if inertia and name:
                    rotor(self.draft, name, inertia * ratio**2, self.draft.entries["joints"][name]["type"] == "prismatic")

    def _loops(self, given: Path | None) -> None:
        """Closed loops beside the file: {loops: {name: {type, a, b, …}}} as in a scene, or pairs of frames that meet."""
        path = given or self.file.with_name(self.file.stem + ".loops.yaml")
        if not path.is_file():
            if given:
                raise ImportFault(str(given), 0, "there is no such file")
            return
        tree = _limber.read_tree(read_bytes(path, path.name).decode("utf-8", "replace"), path.name)
        if not isinstance(tree, dict) or not {"loops", "closed_loop"} & set(tree):
            raise ImportFault(path.name, 1, "expected `loops:` as in a scene, or `closed_loop:` with pairs of frames")
        for name, loop in (tree.get("loops") or {}).items():
            for end in ("a", "b"):
                if loop.get(end) not in {*self.links, "world"}:
                    raise ImportFault(path.name, 0, f'loop "{name}": there is no link "{loop.get(end)}"')
            ends = {end: self.bodies[self._owner(loop[end])] if loop[end] != "world" else "world" for end in ("a", "b")}
            self.draft.put("loops", name, {**loop, **ends})
        kinds = tree.get("type") or []
        for n, pair in enumerate(tree.get("closed_loop") or []):
            self._meet(path, n, pair, str(kinds[n]).lower() if n < len(kinds) else "6d")

    def _meet(self, path: Path, n: int, pair: Any, kind: str) -> None:
        if not isinstance(pair, list) or len(pair) != 2 or any(p not in self.links for p in pair) or kind not in ("3d", "6d"):
            raise ImportFault(path.name, 0, f"closed_loop {n}: expected two links and a type of 3d or 6d")
        owners = [self._owner(p) for p in pair]
        frames = [self.poses[o].inverse() @ self.poses[p] for o, p in zip(owners, pair)]
        names = [self.bodies[o] for o in owners]
        kinds = {"3d": "spherical", "6d": "fixed"}
        self.draft.put("loops", f"loop_{n}", {"type": kinds[kind], "a": names[0], "b": names[1], "a_frame": stand(frames[0]), "b_frame": stand(frames[1])})

    def _for_others(self) -> None:
        for e in self.root.children:
            if e.tag == "gazebo" and any(i.tag == "joint" for i in e.walk()):
                self.draft.note(e, "<gazebo> with a joint", "closes a loop for Gazebo; write it into a file for --loops")
            elif e.tag in FOR_OTHERS or ":" in e.tag and not e.tag.startswith("drake:"):
                self.draft.note(e, f"<{e.tag}>", "is for another program", exact=True)
            elif e.tag not in ("link", "joint", "material") and not e.tag.startswith("drake:"):
                self.draft.note(e, f"<{e.tag}>", "is not of URDF", exact=True)


def _child(e: Element, tag: str, count: int, default: list[float] | None = None) -> list[float]:
    inner = e.first(tag)
    if inner is None:
        if default is None:
            raise e.fault(f"<{e.tag}> needs <{tag} value=…>")
        return default
    return inner.numbers("value", count)


def _color(material: Element) -> list[float] | None:
    inner = material.first("color")
    try:
        rgba = [float(x) for x in inner.get("rgba").split()] if inner is not None else []
    except ValueError:
        return None
    return [min(max(round(c, 4), 0.0), 1.0) for c in rgba[:3]] if len(rgba) >= 3 and all(map(math.isfinite, rgba)) else None
