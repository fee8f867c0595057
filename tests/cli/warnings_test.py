#!/usr/bin/python3
"""What makes the numbers of a run worth less is said once, in the same words, in terminal, --json, run.json and report."""

import json

import support
from support import DONE, CommandTest, run_json

# Two fingers of a crank, a rocker and a tip each close on a box and lift it: far more than the 1 N that the points of the
# reduced model were chosen for.
GRASP = """limber: 1
title: A grasp beyond the model
contact: {friction: 0.6, planes: [{at: [0, 0, -20 mm]}]}
bodies:
  palm: {box: [80 mm, 30 mm, 10 mm], at: [0, 0, 100 mm]}
  box: {box: [30 mm, 30 mm, 40 mm], mass: 100 g}
  crank.${i}: {repeat: {i: 2}, capsule: {radius: 3 mm, from: [0, 0, 0], to: [0, 0, -60 mm]}, at: ["(2*i-1)*25 mm", 0, 95 mm]}
  rocker.${i}: {repeat: {i: 2}, capsule: {radius: 3 mm, from: [0, 0, 0], to: [0, 0, -60 mm]}, at: ["(2*i-1)*40 mm", 0, 95 mm]}
  tip.${i}: {repeat: {i: 2}, box: [10 mm, 20 mm, 60 mm], at: ["(2*i-1)*32 mm", 0, 10 mm]}
joints:
  lift: {type: prismatic, child: palm, axis: [0, 0, 1], drive: {servo: {target: "50 mm*min(max(t - 0.5 s, 0 s)/(0.5 s), 1)", kp: 5 kN/m, kd: 100 N*s/m}}}
  drive.${i}: {repeat: {i: 2}, type: revolute, parent: palm, child: "crank.${i}", axis: [0, 1, 0],
               drive: {servo: {target: "(2*i-1)*25 deg*min(t/(0.5 s), 1)", kp: 1 N*m/rad, kd: 0.02 N*m*s/rad}}}
  rock.${i}: {repeat: {i: 2}, type: revolute, parent: palm, child: "rocker.${i}", axis: [0, 1, 0], stiffness: 0.2 N*m/rad, damping: 2 mN*m*s/rad}
  coup.${i}: {repeat: {i: 2}, type: revolute, parent: "crank.${i}", child: "tip.${i}", at: ["(2*i-1)*25 mm", 0, 35 mm], axis: [0, 1, 0],
              stiffness: 0.2 N*m/rad, damping: 2 mN*m*s/rad}
loops:
  close.${i}: {repeat: {i: 2}, type: revolute, a: "rocker.${i}", b: "tip.${i}", at: ["(2*i-1)*40 mm", 0, 35 mm], axis: [0, 1, 0]}
run: {method: rom, time: 1.2 s, step: 2 ms, rom: {ends: [tip.0, tip.1], range: {force: 1 N}}}
"""

# A cord of 2 mm, half of it inside a rod.
CORD = """limber: 1
gravity: [0, 0, 0]
materials: {rubber: {E: 1 MPa, nu: 0.4, density: 1100 kg/m3}}
sections: {round: {circle: 2 mm}}
bodies: {rod: {cylinder: {radius: 1 cm, length: 10 cm}, rotate: [90 deg, 0, 0], at: [5 cm, 0, =-12 mm + into], fixed: true}}
parameters: {into: 0 mm}
beams: {cord: {path: [[0, 0, 0], [10 cm, 0, 0]], root: free, material: rubber, section: round, elements: 8}}
contact: {friction: 0.3}
run: {method: thread, time: 10 ms, step: 1 ms}
"""

# A four-bar whose rocker begins turned away from where the loop wants it.
FOUR_BAR = """limber: 1
parameters: {off: 0 deg}
bodies:
  crank: {capsule: {radius: 1 cm, from: [0, 0, 0], to: [0, 0, 30 cm]}}
  coupler: {capsule: {radius: 1 cm, from: [0, 0, 0], to: [50 cm, 0, 0]}, at: [0, 0, 30 cm]}
  rocker: {capsule: {radius: 1 cm, from: [0, 0, 0], to: [0, 0, 30 cm]}, at: [50 cm, 0, 0]}
joints:
  a: {type: revolute, child: crank, axis: [0, 1, 0]}
  b: {type: revolute, parent: crank, child: coupler, axis: [0, 1, 0]}
  c: {type: revolute, child: rocker, axis: [0, 1, 0], position: =off}
loops: {d: {type: revolute, a: coupler, b: rocker, at: [50 cm, 0, 30 cm], axis: [0, 1, 0]}}
run: {time: 10 ms, step: 1 ms}
"""


# An inner link that rests in a ball, and a trunk that falls through the floor.
INNER = """limber: 1
bodies:
  a: {box: [20 cm, 2 cm, 2 cm], at: [10 cm, 0, 0]}
  b: {box: [20 cm, 2 cm, 2 cm], at: [30 cm, 0, 0]}
  stop: {fixed: true, sphere: 3 cm, at: [10 cm, 0, -5 cm]}
joints:
  j1: {type: revolute, child: a, at: [0, 0, 0], axis: [0, 1, 0], stiffness: 1 N*m/rad, damping: 0.05 N*m*s/rad}
  j2: {type: revolute, parent: a, child: b, at: [20 cm, 0, 0], axis: [0, 1, 0], stiffness: 1 N*m/rad, damping: 0.05 N*m*s/rad}
contact: {friction: 0.3}
run: {method: rom, time: 20 ms, step: 2 ms, rom: {ends: [b]}}
"""
TRUNK = """limber: 1
bodies:
  trunk: {box: [0.3, 0.2, 0.1], at: [0, 0, 0.2], mass: 5 kg}
  leg: {capsule: {radius: 2 cm, from: [0, 0, 0], to: [0.25, 0, 0]}, at: [0.1, 0, 0.2], mass: 1 kg}
joints: {hip: {type: revolute, parent: trunk, child: leg, axis: [0, 1, 0], stiffness: 2, damping: 0.3}}
contact: {friction: 0.8, planes: [{}]}
run: {method: rom, time: 0.4 s, step: 2 ms, rom: {ends: [leg]}}
"""

# Two upright strips, the tip of one tied to a place `off` beside that of the other.
TIED = """limber: 1
gravity: [0, 0, 0]
parameters: {off: 0 m}
materials: {steel: {E: 200 GPa, nu: 0.3, density: 7800 kg/m3}}
sections: {strip: {rectangle: {width: 20 mm, height: 1 mm}}}
beams:
  a: {path: [[0, 0, 0], [0, 0, 1]], material: steel, section: strip, elements: 6}
  b: {path: [[=off, 0, 0], [=off, 0, 1]], material: steel, section: strip, elements: 6}
ties: {t: {on: a.tip, to: b.tip, type: spherical}}
run: {time: 10 ms, step: 1 ms}
"""


class Warnings(CommandTest):
    def warnings(self, scene, *words):
        (self.folder / "it.yaml").write_text(scene, encoding="utf-8")
        done = self.expect(DONE, "run", "it.yaml", "--out", "r", "--force", "--no-vtk", "--no-glb", *words)
        told = run_json(self.folder / "r")["warnings"]
        report = (self.folder / "r" / "report.html").read_text(encoding="utf-8")
        for text in told:
            self.assertIn(text, done.stdout + done.stderr)
            self.assertIn(json.dumps(text)[1:-1].replace('\\"', ""), report.replace('\\"', ""))
        as_json = json.loads(self.expect(DONE, "run", "it.yaml", "--out", "r", "--force", "--json", *words).stdout)
        self.assertEqual(as_json["warnings"], told)
        return told

    def test_reduced_model_out_of_its_range(self):
        told = self.warnings(GRASP)
        self.assertEqual(sum("leaves the loads" in text for text in told), 1, told)
        self.assertEqual(sum("come apart" in text for text in told), 1, told)

    def test_overlap_at_the_start(self):
        self.assertEqual(self.warnings(CORD), [])
        told = self.warnings(CORD, "--set", "into=1 mm")
        self.assertEqual(sum('at the start "cord" overlaps "rod" by 0.001 m' in text for text in told), 1, told)

    def test_overlap_that_a_first_step_cannot_undo(self):
        """Whether the run gets through or not, it says what may be the reason."""
        (self.folder / "it.yaml").write_text(CORD.replace("friction: 0.3", "friction: 0.3, planes: [{at: [0, 0, -1 mm]}]"), encoding="utf-8")
        self.limber("run", "it.yaml", "--out", "r", "--no-vtk", "--no-glb", "--no-report")
        told = run_json(self.folder / "r")["warnings"]
        self.assertEqual(sum('"cord" overlaps a plane by 0.001 m' in text for text in told), 1, told)

    def test_bodies_that_overlap_at_the_start(self):
        told = self.warnings(GRASP.replace("mass: 100 g", "mass: 100 g, at: [0, 0, -5 mm]").replace("time: 1.2 s", "time: 20 ms"))
        self.assertEqual(sum('"box" overlaps a plane by 0.005' in text or 'a plane overlaps "box" by 0.005' in text for text in told), 1, told)

    def test_inner_links_and_bases_touch(self):
        """Of reduced models too: what overlaps at the start is told, and a trunk lies on the floor."""
        told = self.warnings(INNER)
        self.assertEqual(sum('"a" overlaps "stop"' in text or '"stop" overlaps "a"' in text for text in told), 1, told)
        self.assertEqual(self.warnings(INNER.replace("-5 cm", "-30 cm")), [])
        self.assertEqual([text for text in self.warnings(TRUNK) if "inside" in text or "overlaps" in text], [])

    def test_ties_that_close_from_afar(self):
        """Of every method: a run by articulated says what it moved, the others which ends stand apart."""
        for method in ("adaptive", "articulated"):
            for off, lines in (("0 m", 0), ("1 mm", 0), ("10 cm", 1)):
                told = self.warnings(TIED, "--set", f"off={off}", "--method", method)
                self.assertEqual(sum("closing" in text for text in told), lines, (method, off, told))
        (self.folder / "it.yaml").write_text(TIED, encoding="utf-8")
        for method in ("chain", "articulated"):
            for off, lines in (("0 m", 0), ("10 cm", 1)):
                words = ("static", "it.yaml", "--method", method, "--set", f"off={off}")
                told = json.loads(self.expect(DONE, *words, "--json").stdout)["warnings"]
                self.assertEqual(sum('tie "t": its ends stand 0.1 m apart' in text for text in told), lines, (method, off, told))
                text = self.expect(DONE, *words, "--report", "r.html").stdout
                report = (self.folder / "r.html").read_text(encoding="utf-8").replace('\\"', '"')
                for line in told:
                    self.assertIn(line, text)
                    self.assertIn(line, report)

    def test_loop_that_closes_from_afar(self):
        for off, lines in (("0 deg", 0), ("0.1 deg", 0), ("20 deg", 1)):
            told = self.warnings(FOUR_BAR, "--set", f"off={off}")
            self.assertEqual(sum("closing the loops moves" in text for text in told), lines, told)


if __name__ == "__main__":
    support.main()
