#!/usr/bin/python3
"""Scenes written out in full run the same bits: each scene, and what `limber convert --to yaml` makes of it.

    round_trip.py --limber PATH [--steps N] [--set NAME=VALUE]… FILE…
    round_trip.py --limber PATH --generated N [--seed S] [--keep FOLDER]

Takes any scenes, for some steps (`make round-trip`: the shipped ones), or draws them as the agreement machine does, for all
methods, runs, rests and histories. A scene that limber refuses is told and counts as no fault, if both are refused.
"""

import argparse
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "agree"))
import agree
import draw
import families
import text
from machine import QUIET


def answer(machine, file, arguments, made):
    """The bytes of what an answer consists of, or the exit code."""
    for name in made:
        (machine.folder / name).unlink(missing_ok=True)
    code, out, _ = machine.call(arguments[0], file, *arguments[1:])
    if code != 0:
        return code
    return [(machine.folder / name).read_bytes() for name in made] or without_clock(out.replace(str(file), ""))


def without_clock(out):
    """An answer in JSON without what the clock said."""
    json_out = json.loads(out)
    json_out.pop("wall_clock", None)
    return json_out


def differs(machine, file, arguments, made, sets=()):
    """What differs between a scene and its full text; '' if nothing, None if both are refused or fail."""
    code, full, said = machine.call("convert", file, "--to", "yaml", *sets)
    if code != 0:
        return None if code == 2 else f"convert ends with {code}: {said}"
    (machine.folder / "full.yaml").write_text(full)
    a = answer(machine, file, (*arguments, *sets), made)
    b = answer(machine, "full.yaml", arguments, made)
    if isinstance(a, int) and a == b:
        return None
    if isinstance(a, int) or isinstance(b, int):
        return f"one ends with {a if isinstance(a, int) else b}"
    return "" if a == b else "answers differ"


def shipped(machine, a):
    """(name, what differs) of every file, in its first steps; files of a scene's folder are read from there."""
    sets = [x for s in a.set for x in ("--set", s)]
    for file in a.files:
        code, full, _ = machine.call("convert", file.resolve(), "--to", "yaml", *sets)
        step = float(re.search(r"^run: .*?\bstep: ([^,}]+)", full, re.M).group(1)) if code == 0 else 1
        run = ("run", "--out", "out", "--force", "--quiet", *QUIET, "--frame", "1 us", "--time", repr(a.steps * step))
        yield file, differs(machine, file.resolve(), run, ["out/frames"], sets)


def generated(machine, a):
    """(name, what differs) of scenes drawn at random, each asked its own question."""
    for number in range(a.generated):
        case = families.draw_written(draw.seeded("round trip", a.seed, number), number)
        verb, method = case["question"].split(" ")
        file = machine.write(case["scene"], "drawn")
        if verb == "run":
            what = differs(machine, file, ("run", "--method", method, "--out", "out", "--force", "--quiet", *QUIET),
                           ["out/frames", "out/probes.csv"])
        elif verb == "static":
            what = differs(machine, file, ("static", "--method", method, "--json"), [])
        else:
            what = differs(machine, file, ("static", "--method", method, "--csv", "h.csv", *machine.times(case["scene"])), ["h.csv"])
        name = f"{number}, {case['question']}"
        if what and a.keep:
            a.keep.mkdir(parents=True, exist_ok=True)
            (a.keep / f"round-trip-{a.seed}-{number}.yaml").write_text(text.write(case["scene"], [name]))
        yield name, what


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--limber", required=True, type=Path)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--generated", type=int, default=0, help="scenes to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for scenes that differ")
    a = parser.parse_args()
    count = faults = refused = 0
    with agree.memory_folder() as folder:
        machine = agree.machine_in(folder, a.limber)
        for scenes in (shipped, generated):
            for name, what in scenes(machine, a):
                count += 1
                refused += what is None
                faults += bool(what)
                if what:
                    print(f"{name}: {what}", flush=True)
        machine.close()
    print(f"{count} scenes, {refused} refused or without an answer, {faults} faults")
    return 1 if faults or 2 * refused > count else 0  # most scenes have an answer, or nothing was compared


if __name__ == "__main__":
    sys.exit(main())
