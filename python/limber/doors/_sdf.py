"""SDF to a scene. A link that hangs on two joints closes a loop, which the scene language says the same way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ._draft import Draft, mass_of, stand
from ._parts import limits, mesh_shape, possible_inertia, round_shape, with_shapes
from ._space import Array, Pose, from_quaternion, from_rpy, identity, tensor
from ._xml import Element, Files, parse, read_bytes

TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "ball": "spherical",
    "universal": "universal",
    "fixed": "fixed",
    "screw": "screw",
    "revolute2": "revolute2",
    "gearbox": "gearbox",
}
PASSED_OVER = {"plugin", "sensor", "light", "gui", "scene", "audio", "physics", "state", "atmosphere", "magnetic_field", "wind", "spherical_coordinates", "static", "self_collide", "enable_wind", "allow_auto_disable", "frame", "pose", "link", "joint", "model", "include", "gravity", "actor", "population", "road", "gripper"}
NO_LIMIT = 1e15  # what SDF has where nothing is limited


def read(file: Path, files: Files, *, meshes: bool) -> Draft:
    root = parse(read_bytes(file, file.name), file.name)
    _include(root, files, [file.resolve()])
    draft = Draft(file.stem, file.name)
    draft.run = {"time": "5 s", "step": "1 ms"}
    version = tuple(int(x) for x in root.get("version", "1.6").split(".")[:2] if x.isdigit())
    worlds = root.all("world")
    models = root.all("model") + [m for w in worlds for m in w.all("model")]
    for world in worlds:
        if (g := world.first("gravity")) is not None:
            draft.gravity = g.text_numbers(3)
    if not models:
        raise root.fault("there is no model")
    for model in models:
        name = model.get("name") or file.stem
        reader = _Sdf(draft, files, meshes, version, name + "_" if len(models) > 1 else "")
        reader.model(model, identity())
    if len(models) == 1:
        draft.title = models[0].get("name") or file.stem
    return draft


def _include(element: Element, files: Files, above: list[Path]) -> None:
    """<include><uri>…</uri></include>: the first model of another file, with a name and a pose of its own."""
    for child in element.children:
        if child.tag != "include" or (uri := child.first("uri")) is None:
            _include(child, files, above)
            continue
        if len(above) > 20:
            raise child.fault("includes are nested too deeply")
        path = files.find(uri.text.strip(), uri)
        if path in above:
            raise child.fault(f'"{uri.text.strip()}" includes itself')
        inner = parse(read_bytes(path, files.name_of(path)), files.name_of(path))
        _include(inner, files, [*above, path])
        model = inner.first("model")
        if model is None:
            raise child.fault(f'"{uri.text.strip()}" has no model')
        child.tag, kept = "model", child.children
        child.attributes = {"name": _text(child, "name") or model.get("name")}
        own_pose = next((c for c in kept if c.tag == "pose"), None)
        child.children = [c for c in model.children if c.tag != "pose" or own_pose is None] + ([own_pose] if own_pose else [])


def _text(e: Element, tag: str, default: str = "") -> str:
    inner = e.first(tag)
    return inner.text.strip() if inner is not None else default


def _number(e: Element | None, tag: str, default: float) -> float:
    inner = e.first(tag) if e is not None else None
    return inner.text_numbers(1)[0] if inner is not None else default


def _vector(e: Element, tag: str, count: int, default: list[float]) -> list[float]:
    inner = e.first(tag)
    return inner.text_numbers(count) if inner is not None else default


class _Sdf:
    """One model; models within it are read by the same, with their names before."""

    def __init__(self, draft: Draft, files: Files, meshes: bool, version: tuple[int, ...], prefix: str) -> None:
        self.draft, self.files, self.meshes, self.version, self.prefix = draft, files, meshes, version, prefix
        self.frames: dict[str, Pose] = {}  # of links, joints, frames and models, in the world
        self.bodies: dict[str, str] = {"world": "world"}

    def model(self, model: Element, outer: Pose) -> None:
        self.frames["__model__"] = outer @ self._raw_pose(model)[0]
        self._place(model, "", self.frames["__model__"])
        static = _text(model, "static") in ("true", "1")
        self._links(model, "", static)
        for scope, e in self._all(model, "joint"):
            self._joint(scope, e)

    def _all(self, model: Element, tag: str, scope: str = "") -> list[tuple[str, Element]]:
        out = [(scope, e) for e in model.all(tag)]
        for inner in model.all("model"):
            out += self._all(inner, tag, f"{scope}{inner.get('name')}::")
        return out

    # --- frames

    def _raw_pose(self, e: Element) -> tuple[Pose, str]:
        """Of <pose relative_to=…>x y z roll pitch yaw</pose>, and what it is relative to."""
        at = e.first("pose")
        if at is None or not at.text.strip():
            return identity(), at.get("relative_to") if at is not None else ""
        if at.get("rotation_format") == "quat_xyzw":
            n = at.text_numbers(7)
            return Pose(from_quaternion([n[6], *n[3:6]]), np.array(n[:3])), at.get("relative_to")
        n = at.text_numbers(6)
        if at.get("degrees") in ("true", "1"):
            n[3:] = [float(np.deg2rad(x)) for x in n[3:]]
        return Pose(from_rpy(*n[3:]), np.array(n[:3])), at.get("relative_to")

    def _place(self, model: Element, scope: str, here: Pose) -> None:
        """All frames, in whatever order they lean on each other."""
        waiting: dict[str, tuple[Element, str]] = {}
        for e in model.children:
            if e.tag in ("link", "frame", "model"):
                name = e.get("name")
                if not name or scope + name in self.frames or name in waiting:
                    raise e.fault(f'<{e.tag}>: a name of its own is needed, not "{name}"')
                base = self._raw_pose(e)[1] or (e.get("attached_to") if e.tag == "frame" else "")
                waiting[name] = (e, base)
            elif e.tag == "joint":
                base = self._raw_pose(e)[1] or _text(e, "child")
                waiting[e.get("name")] = (e, base)
        while waiting:
            ready = [n for n, (_, base) in waiting.items() if base in ("", "__model__", "world") or scope + base in self.frames]
            if not ready:
                name, (e, base) = next(iter(waiting.items()))
                known = base in waiting or base.split("::")[0] in waiting
                raise e.fault(f'<{e.tag} name="{name}">: ' + ("its pose leans on itself" if known else f'there is no frame "{base}"'))
            for name in ready:
                e, base = waiting.pop(name)
                outer = identity() if base == "world" else here if base in ("", "__model__") else self.frames[scope + base]
                self.frames[scope + name] = outer @ self._raw_pose(e)[0]
                if e.tag == "model":
                    self.frames[f"{scope}{name}::__model__"] = self.frames[scope + name]
                    self._place(e, f"{scope}{name}::", self.frames[scope + name])

    # --- links

    def _links(self, model: Element, scope: str, static: bool) -> None:
        for e in model.children:
            if e.tag == "link":
                self._link(scope, e, static)
            elif e.tag == "model":
                self._links(e, f"{scope}{e.get('name')}::", static or _text(e, "static") in ("true", "1"))
            elif e.tag not in PASSED_OVER:
                self.draft.note(e, f"<{e.tag}>", "is not translated")
            elif e.tag in ("plugin", "gripper"):
                self.draft.note(e, f"<{e.tag}>", "is for another program", exact=True)

    def _link(self, scope: str, e: Element, static: bool) -> None:
        name = scope + e.get("name")
        entry: dict[str, Any] = stand(self.frames[name])
        inner = e.first("inertial")
        if not static:
            entry |= self._inertia(name, e, inner)
        shapes = [s for c in (e.all("collision") or e.all("visual")) if (s := self._shape(c)) is not None]
        with_shapes(entry, shapes)
        if static:
            entry |= {"fixed": True} | ({} if shapes else {"mass": 0, "inertia": [0, 0, 0]})
        if _text(e, "gravity") in ("false", "0"):
            self.draft.note(e, f'link "{name}" without gravity', "all bodies have weight: give it a load against it")
        if e.first("velocity_decay") is not None:
            self.draft.note(e, f'velocity_decay of link "{name}"', "use linear_drag and angular_drag")
        self.bodies[name] = self.draft.names["bodies"][name] = self.draft.put("bodies", self.prefix + name.replace("::", "_"), entry)

    def _inertia(self, name: str, e: Element, inner: Element | None) -> dict[str, Any]:
        if inner is None:  # what SDF takes where nothing is said
            return mass_of(1.0, np.zeros(3), np.eye(3))
        if inner.get("auto") in ("true", "1"):
            self.draft.note(inner, f'automatic inertia of link "{name}"', "taken as 1 kg and 1 kg m²: write its numbers")
        place = self._raw_pose(inner)[0]
        mass, at = _number(inner, "mass", 1.0), inner.first("inertia")
        numbers = [_number(at, w, 1.0 if w[1] == w[2] else 0.0) for w in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")]
        turned = place.rotation @ tensor(numbers) @ place.rotation.T
        return mass_of(mass, place.place, possible_inertia(self.draft, at or inner, f'inertia of link "{name}"', mass, turned))

    def _shape(self, e: Element) -> dict[str, Any] | None:
        place, geometry = self._raw_pose(e)[0], e.first("geometry")
        inner = geometry.children[0] if geometry is not None and geometry.children else None
        if inner is None or inner.tag == "empty":
            return None
        if inner.tag == "box":
            return {"box": _vector(inner, "size", 3, [1, 1, 1]), **stand(place)}
        if inner.tag == "sphere":
            return round_shape("sphere", _number(inner, "radius", 1.0), None, place)
        if inner.tag in ("cylinder", "capsule"):
            return round_shape(inner.tag, _number(inner, "radius", 0.5), _number(inner, "length", 1.0), place)
        if inner.tag == "mesh":
            uri = inner.first("uri")
            shape = None
            if uri is not None:
                scale = np.array(_vector(inner, "scale", 3, [1, 1, 1]))
                shape = mesh_shape(self.draft, self.files, uri, uri.text.strip(), scale, self.meshes)
            return None if shape is None else shape | stand(place)
        self.draft.note(inner, f"<{inner.tag}>", "is no shape of a body here (a plane: `contact: {planes: …}`)")
        return None

    # --- joints

    def _end(self, scope: str, e: Element, tag: str) -> tuple[str, str]:
        name = _text(e, tag)
        if name == "world":
            return "world", "world"
        full = scope + name
        if full not in self.bodies:
            raise (e.first(tag) or e).fault(f'joint "{e.get("name")}": there is no link "{name}"')
        return full, self.bodies[full]

    def _axis(self, scope: str, e: Element, tag: str, frame: Pose) -> Array | None:
        at = e.first(tag)
        if at is None:
            return None
        xyz = at.first("xyz")
        axis = np.array(xyz.text_numbers(3) if xyz is not None else [0.0, 0.0, 1.0])
        if np.linalg.norm(axis) < 1e-12:
            raise at.fault(f'joint "{e.get("name")}": its axis is zero')
        base = frame.rotation
        within = xyz.get("expressed_in") if xyz is not None else ""
        old = _text(at, "use_parent_model_frame")
        if within:
            base = self.frames[scope + within].rotation if within != "__model__" else self.frames[scope + "__model__"].rotation
        elif old in ("true", "1") or (not old and self.version < (1, 5)):
            base = self.frames[scope + "__model__"].rotation
        out: Array = base @ (axis / np.linalg.norm(axis))
        return out

    def _joint(self, scope: str, e: Element) -> None:
        name = e.get("name")
        (_, parent), (_, child) = self._end(scope, e, "parent"), self._end(scope, e, "child")
        kind, frame = TYPES.get(e.get("type")), self.frames[scope + name]
        if kind is None:
            raise e.fault(f'joint "{name}": there is no type "{e.get("type")}"')
        if kind == "gearbox":
            return self.draft.note(e, f'gearbox "{name}"', "write a coupling between its two hinges")
        first, second = self._axis(scope, e, "axis", frame), self._axis(scope, e, "axis2", frame)
        entry: dict[str, Any] = {"type": kind, "parent": parent, "child": child, "at": frame.place}
        if child == "world":  # the world hangs on nothing: the other way round, and the axis with it
            entry |= {"parent": "world", "child": parent}
            first, second = (None if a is None else -a for a in (first, second))
        if kind == "revolute2":
            return self._two_hinges(name, e, entry, first, second)
        if kind in ("revolute", "prismatic", "screw"):
            entry["axis"] = first if first is not None else frame.rotation[:, 2]
        if kind == "universal":
            if first is None or second is None or abs(float(first @ second)) > 1e-9:
                return self._two_hinges(name, e, entry, first, second)
            entry |= {"axis": first, "axis2": second}
        if kind == "screw":
            entry["pitch"] = self._pitch(e)
        if kind in ("revolute", "prismatic", "screw"):
            entry |= self._passive(e, "axis", name, kind)
        elif kind == "universal":
            some = [self._passive(e, tag, name, kind) for tag in ("axis", "axis2")]
            for word in {w for s in some for w in s}:
                entry[word] = [s.get(word, [-1e3, 1e3] if word == "limits" else 0) for s in some]
        self.draft.names["joints"][scope + name] = self.draft.put("joints", self.prefix + (scope + name).replace("::", "_"), entry)

    def _pitch(self, e: Element) -> float:
        """Metres a turn. `thread_pitch` is radians a metre, and turns the other way."""
        if e.first("screw_thread_pitch") is not None:
            return _number(e, "screw_thread_pitch", 1.0)
        return -2 * float(np.pi) / _number(e, "thread_pitch", 1.0)

    def _two_hinges(self, name: str, e: Element, entry: dict[str, Any], first: Array | None, second: Array | None) -> None:
        """Two axes in any directions: a carrier without mass between."""
        carrier = self.draft.put("bodies", f"{self.prefix}{name}_between", {"at": entry["at"], "mass": 0, "inertia": [0, 0, 0]})
        z = np.array([0.0, 0.0, 1.0])
        near = {"type": "revolute", "parent": entry["parent"], "child": carrier, "at": entry["at"], "axis": z if first is None else first}
        far = {"type": "revolute", "parent": carrier, "child": entry["child"], "at": entry["at"], "axis": z if second is None else second}
        self.draft.put("joints", f"{self.prefix}{name}_1", near | self._passive(e, "axis", name, "revolute"))
        self.draft.put("joints", f"{self.prefix}{name}_2", far | self._passive(e, "axis2", name, "revolute"))

    def _passive(self, e: Element, tag: str, name: str, kind: str) -> dict[str, Any]:
        at, out = e.first(tag), {}
        if at is None:
            return {}
        dynamics, limit = at.first("dynamics"), at.first("limit")
        for word, ours in (("damping", "damping"), ("friction", "friction"), ("spring_stiffness", "stiffness"), ("spring_reference", "rest")):
            value = _number(dynamics, word, 0.0)
            if value and (ours != "rest" or "stiffness" in out):
                out[ours] = value
        low, high = _number(limit, "lower", -NO_LIMIT), _number(limit, "upper", NO_LIMIT)
        if low > -NO_LIMIT or high < NO_LIMIT:
            bound = float("inf")
            out |= limits(self.draft, limit or at, name, low if low > -NO_LIMIT else -bound, high if high < NO_LIMIT else bound)
        if limit is not None and (_number(limit, "effort", -1) > 0 or _number(limit, "velocity", -1) > 0):
            self.draft.note(limit, "largest effort and velocity", "are a controller's: give its drive a `max_force`", exact=True)
        mimic = at.first("mimic")
        if mimic is not None:
            self.draft.note(mimic, f'joint "{name}" that mimics another', "write a coupling between the two")
        return out
