#!/usr/bin/python3
"""Scenes written out in full run the same bits: each scene, and what `limber convert --to yaml` makes of it, for some steps.

    round_trip.py --limber PATH [--steps N] [--set NAME=VALUE]… FILE…

Takes any scenes: the shipped ones (`make round-trip`), or those that the agreement machine drew and kept. The short form
is tests/scene/round_trip_test.cpp. A scene that limber refuses is told and counts as no fault, if both are refused.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def call(limber, *arguments):
    done = subprocess.run([limber, *map(str, arguments)], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stderr.strip()


def first_frames(limber, scene, out, time, sets):
    """The bytes of all frames, or the exit code and the message without its place."""
    code, said = call(limber, "run", scene, "--out", out, "--quiet", "--no-vtk", "--no-glb", "--no-report",
                      "--frame", "1 us", "--time", time, *sets)
    return (out / "frames").read_bytes() if code == 0 else (code, said)


def compare(limber, scene, folder, steps, sets):
    """What differs; '' if nothing, None if both are refused."""
    full = folder / "full.yaml"
    code, said = call(limber, "convert", scene, "--to", "yaml", "--out", full, *sets)
    if code != 0:
        return None if code == 2 else f"convert ends with {code}: {said}"
    step = float(re.search(r"^run: .*?\bstep: ([^,}]+)", full.read_text(), re.M).group(1))
    a, b = (first_frames(limber, s, folder / name, repr(steps * step), more)
            for s, name, more in ((scene, "a", sets), (full, "b", [])))
    if isinstance(a, tuple) and isinstance(b, tuple) and a[0] == b[0]:
        return None
    if isinstance(a, tuple) or isinstance(b, tuple):
        return f"one ends with {a if isinstance(a, tuple) else b}"
    return "" if a == b else "frames differ"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--limber", required=True, type=lambda p: str(Path(p).resolve()))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--set", action="append", default=[])
    a = parser.parse_args()
    sets = [x for s in a.set for x in ("--set", s)]
    faults = refused = 0
    for file in a.files:
        with tempfile.TemporaryDirectory(prefix="limber-round-trip-") as folder:
            what = compare(a.limber, file, Path(folder), a.steps, sets)
        refused += what is None
        if what:
            faults += 1
            print(f"{file}: {what}")
    print(f"{len(a.files)} scenes, {refused} refused, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
