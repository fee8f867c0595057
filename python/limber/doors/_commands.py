"""limber import and limber export."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ._draft import grouped
from ._import import import_model


def _write(text: str, out: str | None, default: Path) -> str | None:
    """Into a file, whole or not at all; `-`: to stdout. Its name."""
    if out == "-":
        sys.stdout.write(text)
        return None
    path = Path(out) if out else default
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=path.name, encoding="utf-8", delete=False) as stream:
        stream.write(text)
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(stream.name, 0o666 & ~mask)
    os.replace(stream.name, path)
    return str(path)


def import_(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="limber import",
        description="Makes a scene of a robot's file (MJCF, URDF, SDF), and lists what of it is not in the scene.",
        epilog="Example: limber import robot.urdf --floating -o robot.yaml && limber run robot.yaml",
    )
    parser.add_argument("file", help="MJCF (<mujoco>), URDF (<robot>) or SDF (<sdf>)")
    parser.add_argument("-o", "--out", help="scene to write; default: the file's name with .yaml, here; -: to stdout")
    parser.add_argument("--files", action="append", default=[], metavar="FOLDER", help="that it may read meshes and includes from, too")
    parser.add_argument("--no-meshes", action="store_true", help="leave meshes out, and list them")
    parser.add_argument("--floating", action="store_true", help="URDF: the first link floats; else it stands on the world")
    parser.add_argument("--loops", metavar="FILE", help="URDF: closed loops, in a YAML file; default: NAME.loops.yaml beside it")
    parser.add_argument("--force", action="store_true", help="replace a scene that is there")
    given = parser.parse_args(list(words))
    default = Path(Path(given.file).stem + ".yaml")
    target = Path(given.out) if given.out and given.out != "-" else default
    if given.out != "-" and target.exists() and not given.force:
        raise ValueError(f"{target} is there already; --force replaces it, -o names another")
    made = import_model(given.file, files=given.files, meshes=not given.no_meshes, floating=given.floating, loops=given.loops)
    verdict = made.scene.check()
    written = _write(made.text, given.out, default)
    if written:
        print(f"wrote {written}", file=sys.stderr)
    lines = made.report()
    if lines:
        print("not translated, or not exactly:", file=sys.stderr)
    for line in lines:
        print(f"  {line}", file=sys.stderr)
    for line in grouped(made.remarks):
        print(f"  (by the way) {line}", file=sys.stderr)
    if not verdict.runs:
        print("no method runs it yet:", file=sys.stderr)
        for method in verdict.methods:
            if method.method == "articulated" and not method.rests:
                print("  " + "; ".join(method.against), file=sys.stderr)
    return 0


def export(words: Sequence[str]) -> int:
    from ._export import export_scene

    parser = argparse.ArgumentParser(
        prog="limber export",
        description="Writes a scene as MJCF or URDF, for comparing, and lists what of it these cannot say.",
        epilog="Example: limber export arm.yaml --to mjcf -o arm.xml",
    )
    parser.add_argument("scene")
    parser.add_argument("--to", required=True, choices=["mjcf", "urdf"])
    parser.add_argument("-o", "--out", help="file to write; default: the scene's name with .xml or .urdf, here; -: to stdout")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the scene")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    given = parser.parse_args(list(words))
    default = Path(Path(given.scene).stem + {"mjcf": ".xml", "urdf": ".urdf"}[given.to])
    target = Path(given.out) if given.out and given.out != "-" else default
    if given.out != "-" and target.exists() and not given.force:
        raise ValueError(f"{target} is there already; --force replaces it, -o names another")
    parameters = {}
    for item in given.set:
        name, equals, value = item.partition("=")
        if not equals:
            raise ValueError(f"--set {item}: expected name=value")
        parameters[name] = value
    made = export_scene(given.scene, given.to, **parameters)
    written = _write(made.text, given.out, default)
    if written:
        print(f"wrote {written}", file=sys.stderr)
    if made.notes:
        print("not said there, or not exactly:", file=sys.stderr)
    for note in made.notes:
        print(f"  {note}", file=sys.stderr)
    return 0
