"""What the tests of the command share: calling it, and comparing the folders of runs."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMBER = ROOT / "build" / "release" / "limber"

DONE, BAD_INPUT, FAILED, IO_FAILED, INTERRUPTED = 0, 2, 3, 4, 130

# A chain that swings for a while; `time` and `links` make it as long as a test wants.
SCENE = """limber: 1
title: A chain
parameters: {links: 8, torque: 0 N*m}
linkages:
  arm: {links: =links, length: 10 cm, radius: 1 cm, direction: [1, 0, 0], axis: [0, 1, 0], stiffness: 0.5 N*m/rad,
        damping: 1 mN*m*s/rad}
drives:
  - {joint: arm.0.joint, force: torque * t}
probes: [arm.tip.position, energy.kinetic, energy.total]
run: {time: 1 s, step: 5 ms}
"""


def add_limber_argument(parser):
    parser.add_argument("--limber", type=Path, default=LIMBER, help="the command (default: build/release/limber)")


def use(limber):
    """Sets the command under test; its path must hold in any folder."""
    global LIMBER
    LIMBER = limber.resolve()
    if not os.access(LIMBER, os.X_OK):
        sys.exit(f"{limber}: no such command; build it first")


def limber(*arguments, cwd=None, env=None, **options):
    """Runs the command to its end."""
    return subprocess.run([str(LIMBER), *map(str, arguments)], cwd=cwd, env={**os.environ, **(env or {})},
                          capture_output=True, text=True, timeout=600, check=False, **options)


def start(*arguments, cwd=None, **options):
    """Starts the command in the background."""
    return subprocess.Popen([str(LIMBER), *map(str, arguments)], cwd=cwd, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, **options)


def contents(folder):
    """Every file of a run by name; of run.json what stands before the wall clock, its last key."""
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if path.name == "run.json":
                data = data[:data.index(b'"wall_clock"')]
            files[str(path.relative_to(folder))] = data
    return files


def differences(folder, reference):
    """Names of the files that differ between two runs."""
    a, b = contents(folder), contents(reference)
    return sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))


def run_json(folder):
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


class CommandTest(unittest.TestCase):
    """A test with a folder of its own that holds scene.yaml."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="limber_cli_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "scene.yaml").write_text(SCENE, encoding="utf-8")

    def limber(self, *arguments, **options):
        return limber(*arguments, cwd=self.folder, **options)

    def expect(self, code, *arguments, **options):
        done = self.limber(*arguments, **options)
        self.assertEqual(done.returncode, code, f"limber {' '.join(map(str, arguments))}\n{done.stdout}\n{done.stderr}")
        return done


def main():
    """For test files: unittest, with --limber PATH."""
    parser = argparse.ArgumentParser(add_help=False)
    add_limber_argument(parser)
    known, rest = parser.parse_known_args()
    use(known.limber)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=1)
