"""A scene as MJCF."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ._export import Part, Plan, constant, frame_of, inertia_of, text, values
from ._space import Array, Pose, from_vector, to_quaternion

X, Y, Z = np.eye(3)
# Joints as hinges and slides along axes of their frame, in the order of limber's coordinates.
ELEMENTS: dict[str, list[tuple[str, Array]]] = {
    "fixed": [],
    "revolute": [("hinge", Z)],
    "prismatic": [("slide", Z)],
    "universal": [("hinge", X), ("hinge", Y)],
    "cylindrical": [("hinge", Z), ("slide", Z)],
    "planar": [("slide", X), ("slide", Y), ("hinge", Z)],
    "spherical": [("ball", Z)],
}
THIN = 1e-9  # of the largest moment: the least that is written
ROD = 0.1  # m between the two points that hold a hinge that closes a loop


def tag(element: str, /, **words: Any) -> str:
    return f"<{element}" + "".join(f" {k.rstrip('_')}={quoteattr(v if isinstance(v, str) else text(v))}" for k, v in words.items() if v is not None) + "/>"


def write(plan: Plan, model: str) -> str:
    return _Writer(plan).write(model)


class _Writer:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.names: dict[str, list[str]] = {}  # of limber's joints the MJCF's, by coordinate
        self.sites: dict[str, list[str]] = {}
        self.qpos: list[str] = []
        self.qvel: list[str] = []
        self.moved = False
        self.actuators: list[str] = []
        self.ctrl: list[float] = []
        contact = plan.tree.get("contact")
        self.friction = None if contact is None else contact.get("friction", 0.3)

    def write(self, model: str) -> str:
        plan, tree = self.plan, self.plan.tree
        tendons, equality = self._springs(), self._loops()
        bodies = [line for b in plan.children["world"] for line in self._below(b, "    ")]
        couplings, tendons_too = self._couplings()
        gravity = [constant(g) for g in tree.get("gravity", [0, 0, -9.81])]
        if None in gravity:
            plan.note("gravity", "is a function of time: its first value is not known here, and none is written")
        step = tree.get("run", {}).get("step", 0.01)
        lines = [f"<mujoco model={quoteattr(model)}>", '  <compiler angle="radian" autolimits="true" balanceinertia="false" boundinertia="0"/>']
        lines += [f"  {tag('option', gravity=[g or 0.0 for g in gravity], timestep=float(step))}", "  <worldbody>", *self._grounds(), *self._world_sites(), *bodies, "  </worldbody>"]
        for section, some in (("equality", equality + couplings), ("tendon", tendons + tendons_too), ("actuator", self.actuators)):
            if some:
                lines += [f"  <{section}>", *("    " + s for s in some), f"  </{section}>"]
        if self.moved or any(self.ctrl):
            key = tag("key", name="start", qpos=" ".join(self.qpos), qvel=" ".join(self.qvel), ctrl=self.ctrl if any(self.ctrl) else None)
            lines += ["  <keyframe>", f"    {key}", "  </keyframe>"]
        for load in tree.get("loads", {}):
            plan.note(f"load {load}", "is set by a program there")
        if equality:
            plan.notes.append("constraints: soft there (solref, solimp)")
        return "\n".join([*lines, "</mujoco>"]) + "\n"

    # --- bodies

    def _grounds(self) -> list[str]:
        out = []
        contact = self.plan.tree.get("contact") or {}
        for n, plane in enumerate(contact.get("planes", [])):
            normal = np.array(plane.get("normal", [0, 0, 1]), dtype=float)
            out.append("    " + tag("geom", name=f"plane_{n}", type="plane", size="0 0 1", pos=plane.get("at", [0, 0, 0]), zaxis=normal, friction=[self.friction, 0.0, 0.0], condim="3"))
        for key in ("pairs", "apart"):
            if contact.get(key):
                self.plan.note(f"contact {key}", "not said there")
        return out

    def _world_sites(self) -> list[str]:
        return ["    " + s for s in self.sites.get("world", [])]

    def _below(self, b: str, indent: str) -> list[str]:
        plan = self.plan
        if b in plan.carriers:
            return [line for c in plan.children[b] for line in self._below(c, indent)]
        part = plan.parts[b]
        lines = [f"{indent}<body name={quoteattr(b)} pos={quoteattr(text(part.pose.place))} quat={quoteattr(text(to_quaternion(part.pose.rotation)))}>"]
        inner = indent + "  "
        mass, com, inertia = inertia_of(part.body)
        if mass or part.joints:
            i = self._thick(b, inertia)
            full = [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]
            lines.append(inner + tag("inertial", pos=com, mass=mass, fullinertia=full))
        lines += [inner + j for j in self._joints(part)]
        lines += [inner + s for s in self._shapes(part)]
        for name, at in part.body.get("points", {}).items():
            lines.append(inner + tag("site", name=f"{b}.{name}", pos=at))
        lines += [inner + s for s in self.sites.get(b, [])]
        for c in plan.children[b]:
            lines += self._below(c, inner)
        return [*lines, f"{indent}</body>"]

    def _thick(self, b: str, inertia: Array) -> Array:
        """MuJoCo wants moments that are positive, and no rounding beyond those of a plate."""
        moments, axes = np.linalg.eigh(inertia)
        least = max(THIN * float(moments[2]), 2e-15)
        better = np.maximum(moments, least)
        better[1] = max(better[1], better[2] - better[0] + THIN * better[2] / 10)
        if np.abs(better - moments).max() == 0:
            return inertia
        if np.abs(better - moments).max() > 1e-14 * moments[2]:
            self.plan.note(f"body {b}", f"is thin: its moments are raised by {THIN:g} of the largest")
        out: Array = axes @ np.diag(better) @ axes.T
        return out

    def _joints(self, part: Part) -> list[str]:
        if not part.joints:  # it floats
            self._start(list(part.pose.place) + list(to_quaternion(part.pose.rotation)), [0.0] * 6, False)
            return ["<freejoint/>"]
        out = []
        for name, j, frame in part.joints:
            if j["type"] == "free":
                out.append(self._free(part, name, j, frame))
            elif j["type"] in ELEMENTS:
                out += self._elements(name, j, frame)
            else:
                raise ValueError(f'joint "{name}": MJCF has no joint of type {j["type"]}')
        return out

    def _free(self, part: Part, name: str, j: dict[str, Any], frame: Pose) -> str:
        if part.parent != "world":
            raise ValueError(f'joint "{name}": a free joint of MJCF hangs on the world')
        forces = set(j) & {"stiffness", "damping", "limits", "friction", "spring_force", "damping_force"}
        if any(np.any(np.asarray(j[k], dtype=object) != 0) for k in forces):
            self.plan.note(f"joint {name}", "springs and dampers of a free joint")
        x, v = values(j, "position", 6), values(j, "velocity", 6)
        first, child = frame_of(j.get("parent_frame", {})), frame_of(j.get("child_frame", {}))
        pose = first @ Pose(from_vector(x[:3]), np.array(x[3:])) @ child.inverse()
        if any(v):
            self.plan.note(f"joint {name}", "its first velocity is not written")
        self._start([*pose.place, *to_quaternion(pose.rotation)], [0.0] * 6, any(x))
        return tag("freejoint", name=name)

    def _start(self, qpos: list[float], qvel: list[float], moved: bool) -> None:
        self.qpos += [text([x]) for x in qpos]
        self.qvel += [text([x]) for x in qvel]
        self.moved = self.moved or moved or any(qvel)

    def _elements(self, name: str, j: dict[str, Any], frame: Pose) -> list[str]:
        some = ELEMENTS[j["type"]]
        ball = j["type"] == "spherical"
        count = 3 if ball else len(some)
        x, v = values(j, "position", count), values(j, "velocity", count)
        words = self._passive(name, j, count, ball)
        out, names = [], []
        for n, (kind, axis) in enumerate(some):
            own = name if len(some) == 1 else f"{name}.{n}"
            names.append(own)
            place = None if kind == "slide" else frame.place
            armature = self.plan.armature.get(own)
            out.append(tag("joint", name=own, type=kind, pos=place, axis=None if ball else frame.rotation @ axis, armature=None if armature is None else [armature], **words[n]))
        if ball:
            q = to_quaternion(frame.rotation @ from_vector(x) @ frame.rotation.T)
            self._start(list(q), list(frame.rotation @ np.array(v)), any(x))
        else:
            self._start(x, v, any(x))
        self.names[name] = names
        self._drive(name, j, names)
        return out

    def _passive(self, name: str, j: dict[str, Any], count: int, ball: bool) -> list[dict[str, Any]]:
        plan = self.plan
        words: list[dict[str, Any]] = [{} for _ in range(count)]
        for ours, theirs in (("stiffness", "stiffness"), ("damping", "damping"), ("rest", "springref")):
            some = values(j, ours, count)
            if ball and (len(set(some)) > 1 or (ours == "rest" and any(some))):
                plan.note(f"joint {name}", f"{ours} that differs by direction; the mean is written")
                some = [0.0 if ours == "rest" else sum(some) / 3] * 3
            for w, x in zip(words, some):
                if x:
                    w[theirs] = [x]
        for key in ("spring_force", "damping_force", "preload", "stop_stiffness", "restitution"):
            if np.any(np.asarray(j.get(key, 0), dtype=object) != 0):
                plan.note(f"joint {name}", f"{key} is not said there")
        friction = j.get("friction")
        if friction is not None:
            some = values(friction if isinstance(friction, dict) else {"static": friction}, "static", count)
            for w, x in zip(words, some):
                if x:
                    w["frictionloss"] = [x]
            plan.note(f"joint {name}", "dry friction is soft there, and has one level")
        given = j.get("limits")
        if given is not None:
            if ball:  # one angle
                given = [0.0, float(np.max(np.asarray(given, dtype=float)))]
            rows = given if isinstance(given[0], list) else [given] * (1 if ball else count)
            for w, row in zip(words, rows):
                low, high = (float(x) for x in row)
                if np.isfinite(low) and np.isfinite(high):
                    w["range"] = [0.0 if ball else low, high]
                elif np.isfinite(low) or np.isfinite(high):
                    plan.note(f"joint {name}", "a limit on one side alone")
        return words

    def _drive(self, name: str, j: dict[str, Any], names: list[str]) -> None:
        drive = self.plan.drives.get(name) or j.get("drive")
        if drive is None:
            return
        servo = drive.get("servo")
        if len(names) != 1:
            return self.plan.note(f"drive of {name}", "of a joint of several coordinates")
        aim = constant((servo or {"target": drive.get("force")})["target"])
        if aim is None:
            self.plan.note(f"drive of {name}", "is a function of time: write it into ctrl")
        if servo is None:
            self.actuators.append(tag("motor", name=name, joint=names[0]))
        else:
            kp, kd = values(servo, "kp", 1)[0], values(servo, "kd", 1)[0]
            high = values(servo, "max_force", 1)[0] if "max_force" in servo else float("inf")
            limit = [-high, high] if np.isfinite(high) else None
            self.actuators.append(tag("general", name=name, joint=names[0], gainprm=[kp], biastype="affine", biasprm=[0.0, -kp, -kd], forcerange=limit))
        self.ctrl.append(aim or 0.0)
        if aim:
            self.plan.note(f"drive of {name}", "its constant stands in the keyframe `start`")

    def _shapes(self, part: Part) -> list[str]:
        body, out = part.body, []
        words: dict[str, Any] = {"mass": "0"}
        if self.friction is None:
            words |= {"contype": "0", "conaffinity": "0"}
        else:
            words |= {"friction": [body.get("friction", self.friction), 0.0, 0.0]}
        if "color" in body:
            words["rgba"] = [*body["color"], 1.0]
        for shape in body.get("shapes", []):
            pose = frame_of(shape)
            place = {"pos": pose.place, "quat": to_quaternion(pose.rotation)}
            if "box" in shape:
                out.append(tag("geom", type="box", size=np.array(shape["box"], dtype=float) / 2, **place, **words))
            elif "sphere" in shape:
                out.append(tag("geom", type="sphere", size=[float(shape["sphere"])], pos=pose.place, **words))
            elif "cylinder" in shape or "capsule" in shape:
                kind = "cylinder" if "cylinder" in shape else "capsule"
                out.append(tag("geom", type=kind, size=[shape[kind]["radius"], shape[kind]["length"] / 2], **place, **words))
            else:
                self.plan.note(f"body {part.name}", f"a shape ({next(iter(shape))}) was left out")
        return out

    # --- what ties bodies together

    def _in_part(self, body: str, frame: Pose) -> tuple[str, Pose]:
        """Carriers have no body of their own: refused."""
        if body in self.plan.carriers:
            raise ValueError(f'"{body}" has no mass, and something is fixed to it: MJCF has no such body')
        return body, frame

    def _site(self, end: dict[str, Any] | str, name: str) -> str:
        body, at = (end, [0, 0, 0]) if isinstance(end, str) else (end["on"], end.get("at", [0, 0, 0]))
        self._in_part(body, Pose(np.eye(3), np.zeros(3)))
        self.sites.setdefault(body, []).append(tag("site", name=name, pos=at, size="0.002"))
        return name

    def _springs(self) -> list[str]:
        out = []
        for name, s in self.plan.tree.get("springs", {}).items():
            if "spring_force" in s or "damping_force" in s or s.get("preload"):
                self.plan.note(f"spring {name}", "its law is not said there")
                continue
            ends = [self._site(end, f"{name}.{n}") for n, end in enumerate(s["between"])]
            length = s.get("rest_length")
            if length is None:
                length = self._distance(s["between"])
            stiffness = s["stiffness"] if "stiffness" in s else s["EA"] / length
            words = {"stiffness": [stiffness], "springlength": [0.0, length] if s.get("tension_only") else [length], "damping": [s["damping"]] if s.get("damping") else None}
            inner = "".join(tag("site", site=e) for e in ends)
            out.append(tag("spatial", name=name, **words)[:-2] + f">{inner}</spatial>")
        return out

    def _distance(self, ends: list[Any]) -> float:
        """At coordinates 0; a spring that counts from other ones says its rest length."""
        places = [self.plan.places[e if isinstance(e, str) else e["on"]].of([0, 0, 0] if isinstance(e, str) else e.get("at", [0, 0, 0])) for e in ends]
        if self._starts_elsewhere():
            self.plan.note("springs", "without a rest length, in a scene that starts elsewhere than at coordinates 0")
        return float(np.linalg.norm(places[1] - places[0]))

    def _starts_elsewhere(self) -> bool:
        return any(np.any(np.asarray(j.get("position", 0), dtype=float)) for j in self.plan.joints.values())

    def _loops(self) -> list[str]:
        out = []
        for name, loop in self.plan.tree.get("loops", {}).items():
            a, b = (frame_of(loop.get(f"{end}_frame", {})) for end in ("a", "b"))
            kind = loop["type"]
            forces = [k for k in ("stiffness", "damping", "limits", "friction", "spring_force") if np.any(np.asarray(loop.get(k, 0), dtype=object) != 0)]
            if forces:
                self.plan.note(f"loop {name}", f"its {forces[0]} is not said there")
            shifts = {"spherical": [0.0], "fixed": [0.0], "revolute": [0.0, ROD]}.get(kind)
            if shifts is None:
                self.plan.note(f"loop {name}", f"a loop of type {kind} was left out")
                continue
            ends = []
            for n, shift in enumerate(shifts):
                pair = [self._frame_site(loop[end], pose, f"{name}.{end}{n or ''}", shift, kind == "fixed") for end, pose in (("a", a), ("b", b))]
                ends.append(tag("weld" if kind == "fixed" else "connect", name=name if n == 0 else f"{name}.{n}", site1=pair[0], site2=pair[1]))
            out += ends
        return out

    def _frame_site(self, body: str, pose: Pose, name: str, shift: float, turned: bool) -> str:
        self._in_part(body, pose)
        quat = to_quaternion(pose.rotation) if turned else None
        self.sites.setdefault(body, []).append(tag("site", name=name, pos=pose.of([0, 0, shift]), quat=quat, size="0.002"))
        return name

    def _couplings(self) -> tuple[list[str], list[str]]:
        equality, tendons = [], []
        for name, c in self.plan.couplings.items():
            if "sum" not in c:
                self.plan.note(f"coupling {name}", "a cam was left out")
                continue
            terms = {self._coordinate(j): float(f) for j, f in c["sum"].items()}
            if "stiffness" in c:
                play, offset = float(c.get("backlash", 0)), float(c.get("offset", 0))
                words = {"stiffness": [float(c["stiffness"])], "damping": [float(c["damping"])] if c.get("damping") else None, "springlength": [offset - play / 2, offset + play / 2]}
                inner = "".join(tag("joint", joint=j, coef=[f]) for j, f in terms.items())
                if offset - play / 2 < 0:
                    self.plan.note(f"coupling {name}", "a tendon's length at ease is not below 0 there")
                    continue
                tendons.append(tag("fixed", name=name, **words)[:-2] + f">{inner}</fixed>")
            elif len(terms) == 2:
                (y, cy), (x, cx) = terms.items()
                equality.append(tag("joint", name=name, joint1=y, joint2=x, polycoef=[float(c.get("offset", 0)) / cy, -cx / cy, 0, 0, 0]))
            else:
                inner = "".join(tag("joint", joint=j, coef=[f]) for j, f in terms.items())
                tendons.append(tag("fixed", name=name)[:-2] + f">{inner}</fixed>")
                equality.append(tag("tendon", name=name, tendon1=name, polycoef=[float(c.get("offset", 0)), 0, 0, 0, 0]))
        return equality, tendons

    def _coordinate(self, text_: str) -> str:
        if text_ in self.names:
            return self.names[text_][0]
        joint, _, n = text_.rpartition(".")
        return self.names[joint][int(n)]


