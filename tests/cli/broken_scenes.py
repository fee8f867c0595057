#!/usr/bin/python3
"""Breaks shipped scenes in random ways and checks what `limber run` says.

    broken_scenes.py COUNT [SEED] [--limber PATH]

Each broken scene must end with exit code 2, a message `file:line:column: …`, and no folder left behind.
"""

import argparse
import random
import re
import shutil
import sys
import tempfile
from pathlib import Path

import support

PLACE = re.compile(r"^[^\s:]+\.yaml:\d+:\d+: .", re.M)
KEY = re.compile(r"[A-Za-z_][\w]*(?=: )")
NUMBER = re.compile(r"(?<![\w.#])\d+(\.\d+)?")
WORD = re.compile(r"(?<=: )[A-Za-z_][\w.]*")


def replace_one(rng, pattern, text, new):
    """Replaces a random match; `new` makes the text from the match."""
    matches = list(pattern.finditer(text))
    if not matches:
        return text
    match = rng.choice(matches)
    return text[:match.start()] + new(match.group()) + text[match.end():]


def drop_line(rng, text):
    lines = text.splitlines(True)
    del lines[rng.randrange(len(lines))]
    return "".join(lines)


def double_line(rng, text):
    lines = text.splitlines(True)
    at = rng.randrange(len(lines))
    return "".join(lines[:at + 1] + lines[at:])


def insert(rng, text, what):
    at = rng.randrange(len(text) + 1)
    return text[:at] + what + text[at:]


def drop_character(rng, text):
    at = rng.randrange(len(text))
    return text[:at] + text[at + 1:]


MUTATIONS = {
    "misspelt key": lambda r, t: replace_one(r, KEY, t, lambda k: k + "x"),
    "swapped letters": lambda r, t: replace_one(r, KEY, t, lambda k: k[1:2] + k[0] + k[2:]),
    "negative number": lambda r, t: replace_one(r, NUMBER, t, lambda n: "-" + n),
    "zero": lambda r, t: replace_one(r, NUMBER, t, lambda n: "0"),
    "huge number": lambda r, t: replace_one(r, NUMBER, t, lambda n: "1e999"),
    "not a number": lambda r, t: replace_one(r, NUMBER, t, lambda n: "nan"),
    "word for a number": lambda r, t: replace_one(r, NUMBER, t, lambda n: "several"),
    "wrong unit": lambda r, t: replace_one(r, NUMBER, t, lambda n: n + " kg*m5"),
    "unknown unit": lambda r, t: replace_one(r, NUMBER, t, lambda n: n + " furlong"),
    "wrong name": lambda r, t: replace_one(r, WORD, t, lambda w: w + "_no"),
    "list for a value": lambda r, t: replace_one(r, NUMBER, t, lambda n: f"[{n}, {n}, {n}, {n}, {n}]"),
    "mapping for a value": lambda r, t: replace_one(r, NUMBER, t, lambda n: "{a: " + n + "}"),
    "dropped line": drop_line,
    "doubled line": double_line,
    "bracket": lambda r, t: insert(r, t, r.choice("[]{}")),
    "quote": lambda r, t: insert(r, t, r.choice("\"'")),
    "tab": lambda r, t: insert(r, t, "\n\t"),
    "control character": lambda r, t: insert(r, t, "\x01"),
    "alias of nothing": lambda r, t: replace_one(r, NUMBER, t, lambda n: "*nothing"),
    "dropped character": drop_character,
    "cut off": lambda r, t: t[:r.randrange(len(t))],
    "wrong version": lambda r, t: t.replace("limber: 1", "limber: 99", 1),
    "unknown parameter": lambda r, t: replace_one(r, NUMBER, t, lambda n: "=nowhere"),
    "division by zero": lambda r, t: replace_one(r, NUMBER, t, lambda n: f"={n}/0"),
}


def shipped_scenes():
    """Those that are whole: where another is refused, it is not for the mutation."""
    scenes = [s for s in sorted((support.ROOT / "scenes").glob("*.yaml")) if not is_broken(s)]
    if not scenes:
        sys.exit("scenes/: no scene that passes `limber check`")
    return scenes


def is_broken(scene):
    done = support.limber("check", scene.name, cwd=scene.parent)
    if done.returncode not in (support.DONE, support.BAD_INPUT):
        sys.exit(f"limber check ended with {done.returncode}:\n{done.stderr}\n{scene.read_text(encoding='utf-8')}")
    return done.returncode == support.BAD_INPUT


def fault_of(folder, scene):
    """What is wrong with the way limber run refuses the scene, or None."""
    before = {p.name for p in folder.iterdir()}
    done = support.limber("run", scene.name, cwd=folder)
    left = {p.name for p in folder.iterdir()} - before
    if done.returncode != support.BAD_INPUT:
        return f"exit code {done.returncode}, expected {support.BAD_INPUT}"
    if not PLACE.search(done.stderr):
        return "no file:line:column in the message"
    if left:
        return f"left behind: {', '.join(sorted(left))}"
    return None


def main():
    parser = argparse.ArgumentParser(description="Breaks scenes and checks what `limber run` says.")
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    support.add_limber_argument(parser)
    arguments = parser.parse_args()
    support.use(arguments.limber)
    rng = random.Random(arguments.seed)
    folder = Path(tempfile.mkdtemp(prefix="limber_broken_"))
    for extra in (support.ROOT / "scenes").iterdir():  # files that scenes name
        if extra.suffix != ".yaml":
            (shutil.copytree if extra.is_dir() else shutil.copy)(extra, folder / extra.name)
    scene, broken, harmless, faults, names = folder / "broken.yaml", 0, 0, 0, list(MUTATIONS)
    originals = [path.read_text(encoding="utf-8") for path in shipped_scenes()]
    while broken < arguments.count:
        name = names[(broken + harmless) % len(names)]
        scene.write_text(MUTATIONS[name](rng, rng.choice(originals)), encoding="utf-8")
        if not is_broken(scene):
            harmless += 1
            if harmless > 20 * arguments.count:
                sys.exit("too few mutations break anything")
            continue
        broken += 1
        fault = fault_of(folder, scene)
        if fault:
            faults += 1
            done = support.limber("run", scene.name, cwd=folder)
            print(f"{name}: {fault}\n{done.stderr}--- scene\n{scene.read_text(encoding='utf-8')}---", file=sys.stderr)
    shutil.rmtree(folder)
    print(f"{broken} broken scenes ({harmless} mutations were harmless): {broken - faults} refused as they should be, {faults} not")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
