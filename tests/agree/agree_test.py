#!/usr/bin/python3
"""The machine itself: scenes survive their text, numbers have dimensions, a small lie is caught and shrunk."""

import argparse
import copy
import sys
import tempfile
import unittest
from pathlib import Path

import agree
import draw
import families
import kinds
import rewrite
import shrink
import text
from machine import Machine

LIMBER = Path(__file__).resolve().parents[2] / "build/release/limber"
COUNTS = {"elements", "links", "cut", "at", "between", "modes", "error", "steps", "max_iterations"}  # numbers without a dimension


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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--limber", type=Path, default=LIMBER)
    known, rest = parser.parse_known_args()
    LIMBER = known.limber
    unittest.main(argv=[sys.argv[0], *rest])
