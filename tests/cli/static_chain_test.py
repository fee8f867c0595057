"""limber static by method chain: tables, curves, unloaded shapes, histories, and what it says of bad beams."""

import csv
import io
import json

from support import BAD_INPUT, DONE, FAILED, ROOT, CommandTest, limber, main

SCENES = ROOT / "scenes"

BEAM = """limber: 1
title: A beam
parameters: {length: 1 m}
gravity: [0, 0, 0]
materials: {steel: {E: 200 GPa, density: 7850 kg/m3}}
sections: {rod: {circle: 5 mm}}
beams:
  rod: {path: [[0, 0, 0], [=length, 0, 0]], material: steel, section: rod, elements: 8}
loads:
  tip: {on: rod.tip, force: [0, 0, -1 N]}
"""


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


class Answers(CommandTest):
    def test_table_and_json(self):
        shown = limber("static", SCENES / "lateral-buckling.yaml")
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        for word in ("stable", "slope [deg]", "stress [MPa]", "reaction", "strip.tip.position.y"):
            self.assertIn(word, shown.stdout)
        answer = json.loads(limber("static", SCENES / "lateral-buckling.yaml", "--json", "--estimate").stdout)
        # The exact rod of this strip: 85.1071, 40.1479, -18.0304 in; forty elements are within 0.01 % of 100 in.
        for got, wanted in zip(answer["beams"]["strip"]["tip"], (85.1071, 40.1479, -18.0304)):
            self.assertAlmostEqual(got / 0.0254, wanted, delta=0.01)
        self.assertLess(answer["error_estimate"]["largest"], 1e-4)
        self.assertAlmostEqual(answer["reactions"]["strip"]["force"][2], 0.6 * 4.4482216, places=5)

    def test_same_as_articulated(self):
        (self.folder / "beam.yaml").write_text(BEAM)
        chain = json.loads(limber("static", self.folder / "beam.yaml", "--json").stdout)
        other = limber("static", self.folder / "beam.yaml", "--json", "--method", "articulated", "--modes", 0)
        other = json.loads(other.stdout)
        self.assertEqual(chain["method"], "chain")
        self.assertAlmostEqual(chain["reactions"]["rod"]["moment"][1], other["joints"]["rod.root.joint"]["moment"][1],
                               places=8)

    def test_curve(self):
        shown = limber("static", SCENES / "lateral-buckling.yaml", "--ramp", 8)
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        table = rows(shown.stdout)
        self.assertEqual(len(table), 9)
        aside = [float(r["strip.tip.position.y [m]"]) for r in table]
        self.assertEqual(sorted(aside), aside)
        self.assertGreater(aside[-1], 1)

    def test_path_through_the_limit_point(self):
        shown = limber("static", SCENES / "arch.yaml", "--path")
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        table = rows(shown.stdout)
        limits = [r for r in table if r["point"] == "limit"]
        self.assertEqual(len(limits), 2)
        self.assertGreater(float(limits[0]["load_factor"]), float(limits[1]["load_factor"]))
        self.assertEqual(float(table[-1]["load_factor"]), 1)

    def test_plain_solve_snaps_through(self):
        answer = json.loads(limber("static", SCENES / "arch.yaml", "--json").stdout)
        self.assertTrue(answer["ok"])
        self.assertTrue(answer["lost"])

    def test_error_asked_for(self):
        coarse = json.loads(limber("static", SCENES / "lateral-buckling.yaml", "--set", "elements=4", "--json").stdout)
        fine = json.loads(limber("static", SCENES / "lateral-buckling.yaml", "--set", "elements=4", "--error", "1e-4",
                                 "--json").stdout)
        self.assertGreater(fine["joints"], coarse["joints"])
        self.assertLessEqual(fine["error_estimate"]["largest"], 1e-4)

    def test_unloaded_shape(self):
        shown = limber("static", SCENES / "windswept-tree.yaml", "--inverse")
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        off = float(shown.stderr.split("by ")[1].split(" ")[0])
        self.assertLess(off, 1e-8)
        self.assertGreater(len(rows(shown.stdout)), 100)

    def test_history(self):
        shown = limber("static", SCENES / "windswept-tree.yaml", "--until", 8, "--steps", 16, "--set", "wind=20 m/s")
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        self.assertIn("breaks", shown.stderr)
        table = rows(shown.stdout)
        self.assertEqual(table[0]["severed"], "0")
        self.assertGreater(int(table[-1]["severed"]), 0)

    def test_sweeps(self):
        (self.folder / "beam.yaml").write_text(BEAM.replace("elements: 8", "elements: 8, recipe: published_1r"))
        refused = limber("static", self.folder / "beam.yaml")
        self.assertEqual(refused.returncode, BAD_INPUT)
        self.assertIn("--solver linear_12", refused.stderr)
        shown = limber("static", self.folder / "beam.yaml", "--solver", "linear_12", "--json")
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        self.assertTrue(json.loads(shown.stdout)["ok"])


class BadBeams(CommandTest):
    def check(self, text, *words, code=BAD_INPUT):
        (self.folder / "bad.yaml").write_text(text)
        shown = limber("static", self.folder / "bad.yaml", "--method", "chain")
        self.assertEqual(shown.returncode, code, shown.stdout + shown.stderr)
        for word in words:
            self.assertIn(word, shown.stderr)
        self.assertRegex(shown.stderr, r"bad\.yaml:\d+:\d+")

    def test_zero_length(self):
        self.check(BEAM.replace("[=length, 0, 0]", "[0, 0, 0]"), "rod")

    def test_unknown_section(self):
        self.check(BEAM.replace("section: rod", "section: rob"), "rob")

    def test_load_on_nothing(self):
        self.check(BEAM.replace("on: rod.tip", "on: nothing.tip"), "nothing")

    def test_beams_in_a_ring(self):
        self.check(BEAM.replace("  rod: {path", "  other: {from: rod.tip, path: [[0, 0, 0], [1 m, 0, 0]], material: steel, "
                                "section: rod}\n  rod: {from: other.tip, path"), "ring")

    def test_free_motion(self):
        self.check(BEAM + "bodies:\n  stone: {sphere: 5 cm, density: 2000 kg/m3, at: [0, 0, 1 m]}\n", "stone", "freely")

    def test_tie_to_itself(self):
        self.check(BEAM + "ties:\n  knot: {on: rod.tip, to: rod.tip}\n", "knot")

    def test_hinge_without_stiffness(self):
        self.check(BEAM.replace("beams:\n", "bodies:\n  arm: {box: [10 cm, 2 cm, 2 cm], density: 1000 kg/m3}\n"
                                "joints:\n  pin: {type: revolute, child: arm, axis: [0, 1, 0]}\nbeams:\n"),
                   "pin", "stiffness")

    def test_strength_without_sign(self):
        self.check(BEAM.replace("density:", "strength: -3 MPa, density:"), "strength")


if __name__ == "__main__":
    main()
