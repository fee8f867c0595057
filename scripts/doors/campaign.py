#!/usr/bin/env python3
"""Imports every MJCF of dm-control and gymnasium and every URDF of example-robot-data, and takes every shipped scene
without beams through MJCF and back; prints the tables of docs/import.md.

    campaign.py [--only PART] [--poses 10]

Ends with 1 if something that was translated differs by more than TOLERANCE, or a reader breaks.
"""

from __future__ import annotations

import argparse
import re
import sys
import sysconfig
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "tests"))

import import_against  # noqa: E402

import limber  # noqa: E402
from limber import _limber  # noqa: E402
from limber.doors import ImportFault, import_model  # noqa: E402
from limber.doors._draft import grouped  # noqa: E402
from limber.doors._export import export_scene  # noqa: E402
from limber.doors._mjcf_file import compiled, prepare  # noqa: E402
from limber.doors._xml import Files  # noqa: E402

TOLERANCE = 1e-8
SITE = Path(sysconfig.get_paths()["purelib"])
ROBOTS = SITE / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
LARGE = {"molecule", "millipede", "cross_linked", "bicycle_chain", "bridge_many"}  # minutes of text


def why(notes: Any) -> str:
    """What was not translated, in a cell."""
    kinds: dict[str, int] = {}
    for n in notes:
        word = re.sub(r"\d+ pairs of bodies .*", "pairs of bodies", re.sub(r'"[^"]*"', "", n.what))
        word = re.sub(r"\s+", " ", word).strip().split(" of ")[0]
        reason = re.sub(r"[-\d.e]+, [-\d.e]+, [-\d.e]+", "…", re.sub(r"(forcerange )?[-\d.e+]+ … [-\d.e+]+", "…", n.why))
        reason = re.sub(r"\d+ points", "points", re.sub(r"[\d.e+]+ N/m", "…", reason))
        key = f"{word}: {reason}".replace("|", "/")
        kinds[key] = kinds.get(key, 0) + 1
    return "; ".join(f"{count} × {key}" if count > 1 else key for key, count in kinds.items())


def one_mjcf(file: Path, poses: int) -> tuple[str, str, bool]:
    made = import_model(file, files=[SITE / "dm_control"])
    if not made.tree.get("bodies"):
        return "no bodies: a part of other files", "", True
    model = compiled(prepare(file, Files(file, [SITE / "dm_control"])), file.name)
    model.opt.density = model.opt.viscosity = 0  # listed where there is any
    found = import_against.against_mujoco(model, made, poses)
    return told(found), why(made.notes), found.largest < max(TOLERANCE, found.rounding)


def one_urdf(file: Path, poses: int) -> tuple[str, str, bool]:
    extra = []
    try:
        made = import_model(file)
    except ImportFault as e:
        if "there is no file" not in str(e):
            raise
        made, extra = import_model(file, meshes=False), [f"refused as it is: {e.message}"]
    notes = [n for n in made.notes if "left out, as was asked" not in n.why]
    changed = any("no mass has" in n.why or "nothing beyond it" in n.why for n in notes)
    try:
        found = import_against.against_pinocchio(file, made, poses)
    except np.linalg.LinAlgError:
        return "Pinocchio's mass matrix is singular", "; ".join([*extra, why(notes)]), True
    return told(found), "; ".join([*extra, *([why(notes)] if notes else [])]), found.largest < TOLERANCE or changed


def told(found: import_against.Difference) -> str:
    ours, theirs = found.freedoms
    return f"{ours} freedoms" + ("" if ours == theirs else f" (theirs {theirs})") + f", {found.mass:.0e}, {found.com:.0e}, {found.acceleration:.0e}"


def round_trip(name: str, folder: Path) -> tuple[str, str, bool] | None:
    scene = getattr(limber.scenes, name)
    if "beams" in scene:
        return None
    made = export_scene(scene, "mjcf")
    lost = [n for n in made.notes if not n.startswith("constraints: soft") and "is thin" not in n and "keyframe" not in n and "a shape" not in n and not n.startswith("contact")]
    file = folder / name / f"{name}.xml"
    file.parent.mkdir()
    file.write_text(made.text)
    back = import_model(file)
    tree = _limber.read_tree(scene.to_yaml(resolved=True), name)
    pairs = [(b, back.names["bodies"][b]) for b in tree["bodies"] if b in back.names["bodies"]]
    there, here = (import_against.accelerations(t, [p[k] for p in pairs]) for k, t in enumerate((tree, back.tree)))
    difference = float(np.abs(there - here).max() / max(1.0, np.abs(there).max()))
    return f"{len(pairs)} bodies, {difference:.0e}", "; ".join(sorted({re.sub(r"[0-9.]+", "…", n) for n in lost})), difference < TOLERANCE or bool(lost)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="files whose path has this in it")
    parser.add_argument("--poses", type=int, default=10)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    failures, counts = [], {}
    mjcf = [f for p in ("dm_control", "gymnasium") for f in sorted((SITE / p).rglob("*.xml"))]
    jobs: list[tuple[str, str, Any]] = [("MJCF", str(f.relative_to(SITE)), lambda f=f: one_mjcf(f, given.poses)) for f in mjcf]
    jobs += [("URDF", str(f.relative_to(ROBOTS)), lambda f=f: one_urdf(f, given.poses)) for f in sorted(ROBOTS.rglob("*.urdf"))]
    with tempfile.TemporaryDirectory() as folder:
        jobs += [("round trip", n, lambda n=n: round_trip(n, Path(folder))) for n in limber.scenes.names() if n not in LARGE]
        kind_before = ""
        for kind, name, job in jobs:
            if given.only not in name:
                continue
            if kind != kind_before:
                print(f"\n## {kind}\n\n| file | freedoms; mass, centre of mass, accelerations agree to | not translated, or not exactly |\n|---|---|---|")
                kind_before = kind
            try:
                row = job()
            except (ImportFault, ValueError) as e:
                row = ("refused", str(e).split("\n")[0].replace("|", "/")[:160], True)
            if row is None:
                continue
            agree, lost, good = row
            counts[kind, good] = counts.get((kind, good), 0) + 1
            if not good:
                failures.append(name)
            print(f"| `{name}` | {agree}{'' if good else ' **differs**'} | {lost} |", flush=True)
    print(f"\n{counts}", file=sys.stderr)
    print("differ: " + (", ".join(failures) or "none"), file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
