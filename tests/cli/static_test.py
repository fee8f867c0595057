"""limber static: one answer in the terminal, in JSON and in the report, by every method; curves, unloaded shapes,
histories, and what it says of bad beams."""

import csv
import io
import json
import re

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


METHODS = ("chain", "articulated", "thread")


def report_data(file):
    """What a report.html shows, as it stands in it."""
    text = file.read_text()
    return json.loads(re.search(r'<script type="application/json" id="limber-data">(.*?)</script>', text, re.S).group(1))


# A four-bar in a turned plane: iterations once ended where 7 % of the forces were left over, and called it stable.
TURNED = """limber: 1
bodies:
  b0: {box: [3 cm, 2 cm, 2 cm], mass: 0.2606, at: [-0.07661512792721628, -0.07071866894530553, 0.10596693840675292]}
  b1: {box: [3 cm, 2 cm, 2 cm], mass: 0.33706, at: [-0.26217096287485064, -0.1430911534882904, 0.13300867647888326]}
  b2: {box: [3 cm, 2 cm, 2 cm], mass: 0.43687, at: [-0.2912639840587323, -0.08093278547542684, -0.03339424838835471]}
joints:
  j0: {type: revolute, child: b0, at: [0, 0, 0], axis: &z [-0.2878367444740753, 0.8795488755569518, 0.3788717250430119]}
  j1: {type: revolute, parent: b0, child: b1, at: [-0.15323025585443256, -0.14143733789061105, 0.21193387681350584], axis: *z, stiffness: 1.6476}
  j2: {type: revolute, parent: b1, child: b2, at: [-0.3711116698952687, -0.14474496908596976, 0.05408347614426068], axis: *z}
loops:
  lo: {type: revolute, a: b2, b: world, at: [-0.21141629822219582, -0.017120601864883934, -0.1208719729209701], axis: *z}
loads: {l: {on: b1, force: [-0.129, 0, 0]}}
"""


class NoFalseRest(CommandTest):
    def test_no_force_is_left_over(self):
        (self.folder / "turned.yaml").write_text(TURNED, encoding="utf-8")
        answer = json.loads(self.expect(DONE, "static", "turned.yaml", "--method", "articulated", "--json").stdout)
        # Newton ends where rounding does, far below what anyone could mean by a rest.
        self.assertLess(answer["residual"], 1e-9)
        self.assertTrue(answer["stable"])


class OneAnswer(CommandTest):
    """The same words and keys whatever method answers."""

    def setUp(self):
        super().setUp()
        self.scene = self.folder / "beam.yaml"
        # Stressed beyond its yield, with a probe that no rest looks at: something to warn of.
        self.scene.write_text(BEAM.replace("density:", "yield: 5 MPa, density:") + "probes: [rod.tip.position, rod.tip.velocity]\n")

    def ask(self, method, *arguments):
        shown = limber("static", self.scene, "--method", method, *arguments)
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        return shown

    def test_terminal_json_file_and_report_agree(self):
        for method in METHODS:
            with self.subTest(method):
                report, file = self.folder / f"{method}.html", self.folder / f"{method}.json"
                text = self.ask(method, "--estimate", "--report", report, "--write", file).stdout
                answer = json.loads(self.ask(method, "--estimate", "--json").stdout)
                self.assertGreater(answer.pop("wall_clock")["cpu_seconds"], 0)  # stdout alone: files are the same every time
                self.assertEqual(answer, json.loads(file.read_text()))
                data = report_data(report)
                found = next(t for t in data["tables"] if t["title"] == "What was found")["rows"]
                self.assertEqual([[s["label"], s["text"]] for s in answer["summary"]], found)
                self.assertEqual(answer["warnings"], data["warnings"])
                for statement in answer["summary"]:
                    self.assertRegex(text, rf"{statement['label']} +{re.escape(statement['text'])}")
                self.assertIn(["stability", "stable"], found)
                self.assertIn("error", [row[0] for row in found])
                self.assertIn(f"by {method}", data["subtitle"])
                # The curve ends at the rest, in newtons of the only load.
                curve = data["plots"][0]["curves"][0]
                self.assertEqual(curve["y"][0], 0)
                self.assertAlmostEqual(curve["y"][-1], 1, places=12)
                self.assertEqual(curve["x"][0], 0)
                moved = answer["beams"]["rod"]["moved"]
                self.assertAlmostEqual(curve["x"][-1], sum(x * x for x in moved) ** 0.5, places=12)

    def test_the_same_keys(self):
        answers = {m: json.loads(self.ask(m, "--json").stdout) for m in METHODS}
        old = {"gap", "joints", "loops", "out_of_range", "threads"}
        keys = {m: set(a) - old for m, a in answers.items()}
        self.assertEqual(keys["chain"], keys["articulated"])
        self.assertEqual(keys["chain"], keys["thread"])
        # The rod of 5 mm radius is stiff: elements of 125 mm and shear leave 1e-4 of its deflection.
        for key in ("tip", "moved"):
            for method in METHODS:
                for a, b in zip(answers[method]["beams"]["rod"][key], answers["chain"]["beams"]["rod"][key]):
                    self.assertAlmostEqual(a, b, delta=1e-6)
        for method in METHODS:
            self.assertAlmostEqual(answers[method]["reactions"]["rod"]["force"][2], 1, places=6)
            self.assertAlmostEqual(answers[method]["reactions"]["rod"]["moment"][1], -1, delta=1e-3)
            # M c / I = 10.2 MPa at the root.
            self.assertAlmostEqual(answers[method]["beams"]["rod"]["stress"]["largest"], 10.186e6, delta=2e4)
            self.assertTrue(answers[method]["beams"]["rod"]["stress"]["yields"])
            self.assertIn("YIELDS", self.ask(method).stdout)

    def test_ramp_by_every_method(self):
        for method in METHODS:
            with self.subTest(method):
                table = rows(self.ask(method, "--ramp", 4).stdout)
                answer = json.loads(self.ask(method, "--ramp", 4, "--json").stdout)
                self.assertEqual([p["load_factor"] for p in answer["points"]], [0, 0.25, 0.5, 0.75, 1])
                self.assertEqual([float(r["rod.tip.position.z [m]"]) for r in table],
                                 [p["probes"]["rod.tip.position.z"] for p in answer["points"]])

    def test_iterations_are_honoured(self):
        self.scene.write_text(self.scene.read_text().replace("-1 N", "-400 N"))
        for method in METHODS:
            shown = limber("static", self.scene, "--method", method, "--max-iterations", 1, "--json")
            self.assertEqual(shown.returncode, FAILED, method)
            self.assertFalse(json.loads(shown.stdout)["ok"])


SWITCH = """\
limber: 1
title: A bistable switch
gravity: [0, 0, 0]
materials: {pla: {E: 3.2 GPa, nu: 0.35, density: 1240 kg/m3, yield: 55 MPa}}
sections: {blade: {rectangle: {width: 10 mm, height: 0.5 mm}}}
beams:
  blade:
    path: {spline: [[0, 0, 0], [12.5 mm, 0, 0.732 mm], [25 mm, 0, 2.5 mm], [37.5 mm, 0, 4.268 mm], [50 mm, 0, 5 mm],
                    [62.5 mm, 0, 4.268 mm], [75 mm, 0, 2.5 mm], [87.5 mm, 0, 0.732 mm], [100 mm, 0, 0]]}
    material: pla
    section: blade
    elements: 16
ties: {foot: {on: blade.tip}, guide: {on: blade@0.5, type: prismatic, axis: [0, 0, 1]}}
loads: {push: {on: blade@0.5, force: [0, 0, -5 N]}}
probes: [blade@0.5.position]
"""


class Curves(CommandTest):
    def test_a_switch_says_how_it_snaps(self):
        scene, file = self.folder / "switch.yaml", self.folder / "switch.html"
        scene.write_text(SWITCH)
        shown = limber("static", scene)
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        answer = json.loads(limber("static", scene, "--json").stdout)
        said = {row["label"]: row["text"] for row in answer["summary"]}
        for label in ("snaps", "comes back", "bistable", "stress"):
            self.assertIn(said[label], shown.stdout)
        self.assertRegex(said["snaps"], r"at [0-9.]+ N, [0-9.]+ mm")
        self.assertIn("pushed back", said["comes back"])
        self.assertTrue(said["bistable"].startswith("yes"))
        self.assertRegex(said["stress"], r"MPa at most, in \"blade\" at .* N; safety")
        # The path says the same, in the terminal, in its summary and in the report, and its points have the numbers.
        path = json.loads(limber("static", scene, "--path", "--branch", "stable", "--estimate", "--json",
                                 "--report", file).stdout)
        along = {row["label"]: row["text"] for row in path["summary"]}
        self.assertEqual(along["snaps"], said["snaps"])
        table = dict(tuple(row[:2]) for row in report_data(file)["tables"][0]["rows"])
        self.assertEqual(table["snaps"], said["snaps"])
        first = next(p for p in path["points"] if p["point"] != "regular")
        self.assertEqual(f"at {first['force']:.5g} N, {1e3 * first['deflection']:.4g} mm along it", said["snaps"].split(":")[0])
        self.assertAlmostEqual(path["lost"][0]["factor"] * 5, first["force"], places=12)
        self.assertLess(path["lost"][0]["error"] * 5, 0.2 * first["force"])
        self.assertGreater(path["lost"][0]["error"], 0)
        self.assertTrue(any("limit point" in m["name"] or "bifurcation" in m["name"] for m in report_data(file)["marks"]))
        self.assertGreater(path["stiffness"], 0)

    def test_the_report_has_the_path(self):
        file, table = self.folder / "path.html", self.folder / "path.csv"
        shown = limber("static", SCENES / "arch.yaml", "--path", "--report", file, "--csv", table)
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        data, points = report_data(file), rows(table.read_text())
        self.assertEqual(data["axis"]["name"], "point of the path")
        curve = data["plots"][0]["curves"][0]
        self.assertEqual(len(curve["y"]), len(points))
        share = [y / curve["y"][-1] for y in curve["y"]]
        for a, b in zip(share, points):
            self.assertAlmostEqual(a, float(b["load_factor"]), places=12)
        self.assertTrue(any(b < a for a, b in zip(share, share[1:])))  # the load goes back
        self.assertIn("limit point", [row[0] for row in data["tables"][0]["rows"]])
        self.assertIn("limit point", shown.stdout)

    def test_the_report_has_the_history(self):
        file = self.folder / "history.html"
        shown = limber("static", SCENES / "windswept-tree.yaml", "--until", 8, "--steps", 16, "--set", "wind=20 m/s",
                       "--report", file, "--json")
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        answer, data = json.loads(shown.stdout), report_data(file)
        self.assertEqual([p["time"] for p in answer["points"]], data["plots"][0]["curves"][0]["x"])
        events = [row[1] for row in data["tables"][0]["rows"] if row[0] == "change"]
        self.assertEqual(events, answer["events"])
        self.assertTrue(any("breaks" in e for e in events))

    def test_unloaded_shape_as_json(self):
        answer = json.loads(limber("static", SCENES / "windswept-tree.yaml", "--inverse", "--json").stdout)
        self.assertLess(answer["off"], 1e-8)
        self.assertEqual(answer["unloaded"].keys(), answer["loaded"].keys())

    def test_sweeps_to_a_file(self):
        file = self.folder / "sweeps.json"
        shown = limber("static", SCENES / "lateral-buckling.yaml", "--solver", "linear_12", "--write", file)
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        self.assertTrue(json.loads(file.read_text())["ok"])


class Changes(CommandTest):
    """A rest at a time is that of the structure as it is then."""

    def tip(self, *arguments):
        shown = limber("static", self.folder / "beam.yaml", "--json", *arguments)
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        answer = json.loads(shown.stdout)
        return answer["beams"]["rod"]["tip"][2], answer

    def test_changes_until_then(self):
        text = BEAM.replace("sections: {", "sections: {thick: {circle: 10 mm}, ").replace("-1 N]", "-1 N * t]")
        (self.folder / "beam.yaml").write_text(text)
        plain = self.tip("--at", "1 s")[0]
        (self.folder / "beam.yaml").write_text(text + "changes:\n  - {at: 2 s, beam: rod, section: thick}\n")
        self.assertEqual(self.tip("--at", "1 s")[0], plain)
        after, answer = self.tip("--at", "3 s")
        self.assertEqual(len(answer["events"]), 1)
        # Three times the load on 16 times the stiffness.
        self.assertAlmostEqual(after, 3 * plain / 16, delta=2e-3 * abs(plain))  # it bends a little beyond linear
        history = rows(limber("static", self.folder / "beam.yaml", "--until", 3, "--steps", 3).stdout)
        self.assertEqual(len(history), 4)
        shown = limber("static", self.folder / "beam.yaml", "--at", "3 s", "--report", self.folder / "r.html")
        self.assertEqual(shown.returncode, DONE, shown.stderr)
        self.assertEqual(report_data(self.folder / "r.html")["axis"], {"name": "time", "unit": "s"})

    def test_a_beam_that_has_not_grown_bears_nothing(self):
        text = BEAM + "  more: {on: twig.tip, force: [0, 0, -1 N]}\n"
        text = text.replace("loads:", "  twig: {from: rod.tip, path: [[0, 0, 0], [0.2, 0, 0]], material: steel, section: rod}\nloads:")
        (self.folder / "beam.yaml").write_text(text)
        both = self.tip()[0]
        (self.folder / "beam.yaml").write_text(text + "changes:\n  - {at: 2 s, beam: twig, grow: true}\n")
        self.assertLess(abs(self.tip("--at", "1 s")[0]), 0.6 * abs(both))
        self.assertGreater(abs(self.tip("--at", "2 s")[0]), 0.9 * abs(both))


class Folders(CommandTest):
    """--out: a history as a run folder, a pose for other programs."""

    def setUp(self):
        super().setUp()
        (self.folder / "beam.yaml").write_text(BEAM + "probes: [rod.tip.position]\n", encoding="utf-8")
        (self.folder / "cut.yaml").write_text(
            BEAM.replace("gravity: [0, 0, 0]", "gravity: [0, 0, -9.81]") + "changes: [{at: 1 s, beam: rod, cut: 0.5}]\n"
            "probes: [rod.tip.position, rod@0.25.position]\n", encoding="utf-8")

    def test_a_history_is_a_run(self):
        asked = ("static", "cut.yaml", "--until", "2", "--steps", "8")
        self.expect(DONE, *asked, "--out", "run")
        table = rows((self.folder / "run" / "probes.csv").read_text())
        curve = rows(self.expect(DONE, *asked).stdout)
        self.assertEqual((len(table), len(curve)), (9, 9))
        here, there = (next(name for name in t[0] if name.startswith("rod@0.25.position.z")) for t in (table, curve))
        for a, b in zip(table, curve):
            self.assertAlmostEqual(float(a[here]), float(b[there]), delta=1e-9)
        severed = next(name for name in table[0] if name.startswith("severed"))
        self.assertEqual([float(row[severed]) for row in table], [0] * 4 + [1] * 5)
        # It falls from where it stood: 9.81/2 · 1 s².
        z = [float(row["rod.tip.position.z [m]"]) for row in table]
        self.assertAlmostEqual(z[8] - z[4], -9.81 / 2, delta=1e-6)
        facts = json.loads((self.folder / "run" / "run.json").read_text())
        self.assertEqual((facts["outcome"], facts["options"]["method"], facts["frames"]), ("done", "chain", 9))
        self.assertIn("is cut at", facts["events"][0]["what"])
        page = report_data(self.folder / "run" / "report.html")
        self.assertEqual(page["marks"][0]["at"], 1)
        for name in ("scene.glb", "scene.pvd", "frames", "scene/cut.yaml"):
            self.assertTrue((self.folder / "run" / name).exists(), name)
        self.assertIn("this run is done", self.expect(DONE, "resume", "run").stderr)

    def test_a_folder_that_is_taken(self):
        asked = ("static", "cut.yaml", "--until", "1", "--steps", "2", "--out", "run")
        self.expect(DONE, *asked)
        self.assertNotEqual(self.limber(*asked).returncode, DONE)
        self.expect(DONE, *asked, "--force")

    def test_what_does_not_go_together(self):
        for more in (("--until", "1", "--out", "run", "--csv", "x.csv"), ("--force",), ("--ramp", "3", "--out", "run")):
            self.assertIn("has no effect", self.expect(BAD_INPUT, "static", "beam.yaml", *more).stderr)
        self.assertFalse((self.folder / "run").exists())

    def test_a_pose(self):
        self.expect(DONE, "static", "beam.yaml", "--out", "pose")
        answer = json.loads(self.expect(DONE, "static", "beam.yaml", "--json").stdout)
        nodes = rows((self.folder / "pose" / "nodes.csv").read_text())
        for k, tip in enumerate(answer["beams"]["rod"]["tip"]):
            self.assertEqual(float(nodes[-1]["xyz"[k] + " [m]"]), tip)
        self.assertEqual(float(nodes[-1]["from x [m]"]), 1)
        self.assertGreater(float(nodes[1]["stress [Pa]"]), 0)
        self.assertEqual((self.folder / "pose" / "pose.glb").read_bytes()[:4], b"glTF")
        self.assertIn("PolyData", (self.folder / "pose" / "pose.vtp").read_bytes()[:400].decode("latin-1"))
        self.assertEqual(sorted(p.name for p in (self.folder / "pose").iterdir()), ["nodes.csv", "pose.glb", "pose.vtp"])
        self.assertIn("--force", self.limber("static", "beam.yaml", "--out", "pose").stderr)
        self.expect(DONE, "static", "beam.yaml", "--out", "pose", "--force")

    def test_an_unloaded_pose(self):
        self.expect(DONE, "static", "beam.yaml", "--inverse", "--csv", "unloaded.csv", "--out", "pose")
        nodes = rows((self.folder / "pose" / "nodes.csv").read_text())
        self.assertGreater(float(nodes[-1]["z [m]"]), 1e-4)  # bent up, so that the load makes it straight
        self.assertAlmostEqual(float(nodes[-1]["from z [m]"]), 0, delta=1e-9)


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

    def test_errors_of_limit_loads(self):
        # Of the first limit point, against 32 times the elements; the estimate is Richardson's, good to a third here.
        def limit(elements, *options):
            out = self.expect(DONE, "static", str(SCENES / "arch.yaml"), "--path", "--set", f"elements={elements}", "--json", *options)
            return next(lost for lost in json.loads(out.stdout)["lost"] if lost["kind"] == "limit")

        exact = limit(320)["factor"]
        for elements in (10, 20):
            found = limit(elements, "--estimate")
            error = abs(found["factor"] - exact)
            self.assertLess(abs(found["error"] - error), error / 3, elements)

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
