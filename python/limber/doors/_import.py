"""import_model(): a file of another program as a scene."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .._scene import Scene
from ._draft import Draft, ImportFault, Note, grouped, plain
from ._xml import Files, parse, read_bytes


@dataclasses.dataclass(frozen=True)
class Imported:
    """A scene, and what of the file is not in it."""

    text: str  #: of the scene
    notes: tuple[Note, ...]  #: what was not translated, or not exactly, with lines of the file
    remarks: tuple[Note, ...]  #: what may be worth knowing, but does not change the motion
    name: str
    tree: Mapping[str, Any]  #: the same as a dictionary, without short forms
    names: Mapping[str, Mapping[str, str]]  #: "bodies" and "joints" of the file: what they are called in the scene

    @property
    def scene(self) -> Scene:
        """The scene, to be checked, changed and run."""
        return Scene(self.text, name=self.name)

    @property
    def complete(self) -> bool:
        """All that matters to the motion was translated."""
        return not self.notes

    def report(self) -> list[str]:
        """The notes, in lines; those that say the same as one."""
        return grouped(self.notes)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the scene."""
        Path(file).write_text(self.text, encoding="utf-8")


def draft(file: Path, folders: Sequence[Path] = (), *, meshes: bool = True, floating: bool = False, loops: Path | None = None) -> Draft:
    if not file.is_file():
        raise ImportFault(str(file), 0, "there is no such file")
    files = Files(file, list(folders))
    kind = parse(read_bytes(file, file.name), file.name).tag
    if kind == "mujoco":
        from . import _mjcf

        return _mjcf.read(file, files, meshes=meshes)
    if kind == "robot":
        from . import _urdf

        return _urdf.read(file, files, meshes=meshes, floating=floating, loops=loops)
    if kind == "sdf":
        from . import _sdf

        return _sdf.read(file, files, meshes=meshes)
    raise ImportFault(file.name, 1, f"expected <mujoco>, <robot> or <sdf>, got <{kind}>")


def import_model(
    file: str | os.PathLike[str],
    *,
    files: Sequence[str | os.PathLike[str]] = (),
    meshes: bool = True,
    floating: bool = False,
    loops: str | os.PathLike[str] | None = None,
) -> Imported:
    """A model of another program (MJCF, URDF, SDF) as a scene, and the list of what is not in it.

    `files`: folders that it may read from, beside the one above its own. Without `meshes` they are left out and noted.
    `floating`: a URDF's first link floats; else it stands on the world. `loops`: a YAML file with its closed loops.
    ImportFault says what is wrong with a file, and where.
    """
    made = draft(Path(file), [Path(f) for f in files], meshes=meshes, floating=floating, loops=None if loops is None else Path(loops))
    notes = tuple(n for n in made.notes if not n.exact)
    return Imported(made.text(), notes, tuple(n for n in made.notes if n.exact), Path(file).stem + ".yaml", plain(made.tree()), made.names)
