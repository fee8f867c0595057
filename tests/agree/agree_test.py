#!/usr/bin/python3
"""The machine itself: scenes survive their text, numbers have dimensions, a small lie is caught and shrunk."""

import argparse
import copy
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import agree
import draw
import families
import kinds
import rewrite
import shrink
import text
from machine import Disagreement, Machine

LIMBER = Path(__file__).resolve().parents[2] / "build/release/limber"
COUNTS = {"elements", "links", "guide", "cut", "at", "between", "modes", "error", "steps", "max_iterations",
          "triangles", "levels", "branches", "rungs", "bodies", "kind", "seed"}  # numbers without a dimension


def cases(count):
    return [families.draw_written(draw.seeded("self", i), i) for i in range(count)]


class Scenes(unittest.TestCase):
    def test_text_and_back(self):
        for case in cases(200):
            back, head = text.read(text.write(case["scene"], ["one", "two"]))
            wanted = {k: v for k, v in case["scene"].items() if v not in ({}, [])}
            self.assertEqual(back, {"probes": [], **wanted})
            self.assertEqual(head, ["one", "two"])

    def test_every_number_has_a_dimension(self):
        for case in cases(200):
            for path, value in kinds.walk(case["scene"]):
                if kinds.dimension(case["scene"], path) is None:
                    self.assertTrue(any(k in COUNTS for k in path), path)

    def test_drawn_again_the_same(self):
        self.assertEqual(cases(20), cases(20))


class Words(unittest.TestCase):
    """What limber knows and the machine must ask."""

    def setUp(self):
        done = subprocess.run([LIMBER, "schema"], capture_output=True, text=True, check=True)
        self.schema = json.loads(done.stdout)

    def test_every_integrator(self):
        known = self.schema["definitions"]["object_run"]["properties"]["integrator"]["enum"]
        self.assertEqual(set(known), set(families.ORDERS))

    def test_every_section(self):
        """What a scene may have is drawn, or is another way to write what is drawn."""
        drawn = {key for case in cases(600) for key in case["scene"]}
        other_words = {"limber", "title", "description", "parameters", "drives", "motions", "chains"}
        self.assertEqual(set(self.schema["properties"]) - other_words, drawn - {"parameters"})


class Lies(unittest.TestCase):
    """A way that says it changes nothing and moves every stiffness by 1e-5."""

    def test_caught_and_shrunk(self):
        def lie(scene, rng):
            out = copy.deepcopy(scene)
            for joint in out["joints"].values():
                if isinstance(joint.get("stiffness"), float):
                    joint["stiffness"] *= 1 + 1e-5
            return rewrite.Rewritten(out)
        rewrite.WAYS["lie"] = lie
        self.addCleanup(rewrite.WAYS.pop, "lie")
        caught = 0
        with tempfile.TemporaryDirectory() as folder:
            machine = Machine(LIMBER.resolve(), Path(folder))
            for i in range(6):
                rng = draw.seeded("lie", i)
                case = {"question": "run articulated", "scene": draw.mechanism(rng, "run articulated"), "ways": ["lie"], "seed": i}
                found, why = agree.verdict(machine, "written", case)
                if found != "disagrees":
                    continue
                caught += 1
                if caught == 1:
                    small, still = shrink.shrunk(machine, "written", case, why, families, agree.verdict)
                    self.assertEqual(still.kind, why.kind)
                    self.assertLess(len(text.write(small["scene"])), len(text.write(case["scene"])))
        self.assertGreaterEqual(caught, 2)  # joints without a spring tell no lies


class Processes(unittest.TestCase):
    """Calls through the fork server are calls of limber."""

    def setUp(self):
        library = LIMBER.resolve().parent / "tests/agree/liblimber_fork_server.so"
        if not library.exists():
            self.skipTest("no fork server in this build")
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.plain, self.forking = (Machine(LIMBER.resolve(), Path(folder), s) for s in (None, library))
        self.addCleanup(self.forking.close)

    def test_same_codes_and_texts(self):
        self.plain.write("limber: 1\nbodies: {b: {sphere: 1}}\n")
        for call in (("--version",), ("check", "scene.yaml"), ("check", "nothing.yaml"), ("check",), ("chekc",)):
            self.assertEqual(self.plain.call(*call), self.forking.call(*call))

    def test_crash_is_a_signal_and_the_next_call_works(self):
        code, _, _ = crashing(self.forking)
        self.assertEqual(code, -signal.SIGSEGV)
        self.assertEqual(self.forking.call("--version")[0], 0)

    def test_hanging_is_told_and_ended(self):
        self.forking.server.timeout = 1
        self.plain.write("limber: 1\nbodies: {b: {sphere: 1}}\nrun: {time: 1e6, step: 1e-3}\n")
        with self.assertRaisesRegex(Disagreement, "hangs"):
            self.forking.call("run", "scene.yaml")
        self.assertEqual(self.forking.call("--version")[0], 0)

    def test_jobs_draw_the_same(self):
        def counts(*options):
            done = subprocess.run([sys.executable, agree.__file__, "3", "--limber", LIMBER, *options], capture_output=True,
                                  text=True, check=True)
            return [line for line in done.stdout.splitlines() if " agrees, " in line]
        self.assertEqual(counts("--jobs", "2"), counts())


def crashing(machine):
    """A call whose process ends by a signal."""
    threading.Timer(0.3, lambda: os.kill(machine.server.child, signal.SIGSEGV)).start()
    machine.write("limber: 1\nbodies: {b: {sphere: 1}}\nrun: {time: 1e6, step: 1e-3}\n")
    return machine.call("run", "scene.yaml", "--out", "crash")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--limber", type=Path, default=LIMBER)
    known, rest = parser.parse_known_args()
    LIMBER = known.limber
    unittest.main(argv=[sys.argv[0], *rest])
