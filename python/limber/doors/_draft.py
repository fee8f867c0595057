"""A scene in the making: what was translated, with comments, and a list of what was not."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _yaml
from ._repeat import repeated
from ._space import Array, Pose, six, to_vector

# In which a scene is written, and what it is called in a report.
SECTIONS = ("materials", "sections", "surfaces", "bodies", "joints", "beams", "springs", "bushings", "cables", "couplings", "loops", "ties", "loads")


class ImportFault(ValueError):
    """A file that cannot be imported: where, and why."""

    def __init__(self, file: str, line: int, message: str) -> None:
        self.file, self.line, self.message = file, line, message
        super().__init__(f"{file}:{line}: {message}" if line else f"{file}: {message}")


@dataclasses.dataclass(frozen=True)
class Note:
    """Something that was not translated, or not exactly."""

    file: str
    line: int  #: 0: of the file as a whole
    what: str
    why: str
    exact: bool = False  #: only said: the motion is that of the original

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.what}: {self.why}"


@dataclasses.dataclass
class Draft:
    """What becomes a scene: entries by section and name, and comments above them."""

    title: str
    source: str
    entries: dict[str, dict[str, dict[str, Any]]] = dataclasses.field(default_factory=lambda: {s: {} for s in SECTIONS})
    comments: dict[tuple[str, str], list[str]] = dataclasses.field(default_factory=dict)
    parameters: dict[str, Any] = dataclasses.field(default_factory=dict)
    gravity: Sequence[float] = (0, 0, -9.81)
    contact: dict[str, Any] | None = None
    run: dict[str, Any] = dataclasses.field(default_factory=dict)
    notes: list[Note] = dataclasses.field(default_factory=list)
    names: dict[str, dict[str, str]] = dataclasses.field(default_factory=lambda: {"bodies": {}, "joints": {}})  # the file's: the scene's

    def name(self, section: str, wish: str) -> str:
        """A name that the scene language takes, and that nothing else of the section has."""
        name = re.sub(r"[^A-Za-z0-9_-]", "_", wish) or "x"
        if not re.match(r"[A-Za-z_]", name):
            name = "_" + name
        name = name[:180]
        taken, out, n = self.entries[section], name, 2
        while out in taken or out == "world":
            out, n = f"{name}_{n}", n + 1
        return out

    def put(self, section: str, wish: str, entry: Mapping[str, Any], *comments: str) -> str:
        name = self.name(section, wish)
        self.entries[section][name] = dict(entry)
        if comments:
            self.comments[section, name] = [*comments]
        return name

    def say(self, section: str, name: str, comment: str) -> None:
        self.comments.setdefault((section, name), []).append(comment)

    def note(self, at: Any, what: str, why: str, *, exact: bool = False) -> None:
        """`at` is what has a `file` and a `line`."""
        self.notes.append(Note(at.file, at.line, what, why, exact))

    @property
    def complete(self) -> bool:
        """Everything that matters to the motion was translated."""
        return all(n.exact for n in self.notes)

    def tree(self) -> dict[str, Any]:
        """The scene as a dictionary."""
        out: dict[str, Any] = {"limber": 1, "title": self.title}
        if self.parameters:
            out["parameters"] = self.parameters
        if not np.allclose(self.gravity, (0, 0, -9.81), rtol=0, atol=0):
            out["gravity"] = [float(x) for x in self.gravity]
        for section in SECTIONS:
            if self.entries[section]:
                out[section] = self.entries[section]
        if self.contact is not None:
            out["contact"] = self.contact
        if self.run:
            out["run"] = self.run
        return out

    def text(self) -> str:
        """The scene as YAML: short forms where structure repeats, comments where something is approximate."""
        lines = [f"# Made of {self.source} by limber import."]
        left = sum(not n.exact for n in self.notes)
        if left:
            lines.append(f"# Not all of it could be said here: see the list of {left} at the end of this file.")
        for key, value in self.tree().items():
            if key not in self.entries:
                lines.append(f"{key}: {_yaml.flow(plain(value))}")
                continue
            lines.append(f"{key}:")
            for name, entry in repeated(self.entries[key], {n for s, n in self.comments if s == key}).items():
                lines += [f"  # {line}" for c in self.comments.get((key, name), []) for line in c.splitlines()]
                lines.append(f"  {_yaml.text(name)}: {_yaml.flow(plain(entry))}")
        if left:
            lines += ["", "# Not translated, or not exactly:"]
            lines += ["# " + line for line in grouped([n for n in self.notes if not n.exact])]
        return "\n".join(lines) + "\n"


def grouped(notes: Sequence[Note]) -> list[str]:
    """Notes that say the same of several lines, as one."""
    groups: dict[tuple[str, str, str], list[Note]] = {}
    for n in notes:
        groups.setdefault((n.file, re.sub(r'"[^"]*"', "…", n.what), n.why), []).append(n)
    out = []
    for (file, _, why), some in groups.items():
        lines = sorted({n.line for n in some if n.line})
        where = f"{file}:{','.join(map(str, lines))}" if lines else file
        what = some[0].what if len(some) == 1 else f"{some[0].what} and {len(some) - 1} more"
        out.append(f"{where}: {what}: {why}".replace("\n", " "))
    return out


def plain(value: Any) -> Any:
    """Numbers to 15 digits, and what is only rounding beside its neighbours as zero."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in value):
            size = max(abs(v) for v in value)
            return [number(0.0 if abs(v) < 1e-15 * size else v) for v in value]
        return [plain(v) for v in value]
    return number(value) if isinstance(value, (float, np.floating)) else value


def number(value: Any) -> float | int:
    value = float(f"{float(value):.15g}")
    return int(value) if value == int(value) and abs(value) < 1e9 else value


def stand(pose: Pose) -> dict[str, Any]:
    """`at` and `rotate` of a pose, without what is nothing."""
    out: dict[str, Any] = {}
    if np.abs(pose.place).max() > 1e-15:
        out["at"] = pose.place
    turn = to_vector(pose.rotation)
    if np.abs(turn).max() > 1e-15:
        out["rotate"] = turn
    return out


def mass_of(mass: float, com: Array, inertia: Array) -> dict[str, Any]:
    """`mass`, `com`, `inertia`; the tensor is about the centre of mass, in the axes of the body."""
    numbers = six(inertia)
    size = max(map(abs, numbers))
    if all(abs(x) <= 1e-15 * size for x in numbers[3:]):
        numbers = numbers[:3]
    out: dict[str, Any] = {"mass": mass}
    if np.abs(com).max() > 0:
        out["com"] = com
    return out | {"inertia": numbers}


