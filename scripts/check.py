#!/usr/bin/env python3
"""Runs the tests that a change can affect: those whose program, scripts or data differ from when they last passed.

    check.py BUILD [--list] [ctest options]

What a test depends on is read off its command line: the program (which holds all the libraries that it links), the
folder of a script, and the folders of scenes, data and documents whose paths stand in the program. Their contents,
not their times, count: a change of a comment builds a lot and tests nothing.
"""

import hashlib
import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ("scenes", "tests/data", "docs")
SKIP = {"node_modules", "build", ".git", "runs", "__pycache__"}


@lru_cache(maxsize=None)
def digest(path):
    """Of a file's bytes, or of all files of a folder with their names."""
    out = hashlib.sha256()
    if path.is_file():
        out.update(path.read_bytes())
    else:
        for entry in sorted(path.iterdir()):
            if entry.name in SKIP or entry.is_symlink():
                continue
            out.update(f"{entry.name}:{digest(entry)}\n".encode())
    return out.hexdigest()


@lru_cache(maxsize=None)
def data_of(program):
    text = program.read_bytes()
    return [ROOT / name for name in DATA if str(ROOT / name).encode() in text]


def inputs(command):
    for word in command:
        path = Path(word.split("=", 1)[-1])
        if not path.is_absolute() or not path.exists() or path.is_relative_to("/usr"):
            continue
        if path.is_dir():
            if path.is_relative_to(ROOT) and "build" not in path.relative_to(ROOT).parts:
                yield path
        elif path.suffix in (".py", ".mjs", ".cmake"):
            yield from (path.parent, ROOT / "scenes", ROOT / "docs")
        else:
            yield path
            yield from data_of(path)


def key(test):
    parts = sorted({str(p) + digest(p) for p in inputs(test["command"])})
    return hashlib.sha256("\n".join(parts + test["command"]).encode()).hexdigest()


def main():
    build, options = Path(sys.argv[1]).resolve(), sys.argv[2:]
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, capture_output=True, text=True, check=True)
    tests = json.loads(listed.stdout)["tests"]
    numbered = {t["name"]: (i + 1, key(t)) for i, t in enumerate(tests) if "command" in t}
    record = build / "passed.json"
    passed = json.loads(record.read_text()) if record.exists() else {}
    due = {name: number for name, (number, k) in numbered.items() if passed.get(name) != k}
    print(f"limber: {len(due)} of {len(numbered)} tests are touched by what changed since they last passed", flush=True)
    if "--list" in options:
        print("\n".join(due))
        return 0
    if not due:
        return 0
    wanted = build / "due-tests"
    wanted.write_text("0,0,0," + ",".join(map(str, due.values())))
    log = build / "Testing/Temporary/LastTestsFailed.log"
    log.unlink(missing_ok=True)
    code = subprocess.run(["ctest", "-I", str(wanted), "--output-on-failure", *options], cwd=build).returncode
    failed = {line.split(":", 1)[1] for line in log.read_text().split("\n") if ":" in line} if log.exists() else set()
    if code == 0 or failed:  # an interrupted run proves nothing
        passed.update({name: numbered[name][1] for name in due if name not in failed})
        record.write_text(json.dumps(passed))
    return code


sys.exit(main())
