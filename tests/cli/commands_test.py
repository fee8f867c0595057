#!/usr/bin/python3
"""Every subcommand: exit codes, where its words go, help, JSON, colour."""

import json
import os
import pty
import subprocess

import support
from support import BAD_INPUT, DONE, IO_FAILED, CommandTest

COMMANDS = ("new", "check", "info", "run", "resume", "convert", "schema", "bench", "completion", "static", "view",
            "compare", "reduce")
TEMPLATES = ("chain", "pendulum", "beam", "mobile", "tree")


class Help(CommandTest):
    def test_every_help_has_an_example(self):
        for arguments in ((), *((name,) for name in COMMANDS)):
            done = self.expect(DONE, *arguments, "--help")
            self.assertIn("Example", done.stdout, arguments)
            self.assertIn("limber " + (arguments[0] if arguments else ""), done.stdout)
            self.assertEqual(done.stderr, "")

    def test_version(self):
        self.assertRegex(self.expect(DONE, "--version").stdout, r"^limber \d+\.\d+\.\d+\n$")

    def test_usage_errors(self):
        for arguments in ((), ("run",), ("run", "scene.yaml", "--bogus"), ("--bogus",), ("check",), ("resume",),
                          ("convert", "scene.yaml"), ("convert", "scene.yaml", "--to", "docx"), ("completion", "tcsh"),
                          ("run", "scene.yaml", "--set", "links"), ("run", "scene.yaml", "--time", "5 m"),
                          ("run", "scene.yaml", "--time", "soon"), ("run", "scene.yaml", "--step", "0"),
                          ("run", "scene.yaml", "--step", "-1 ms"), ("run", "scene.yaml", "--cpu-threads", "0"),
                          ("run", "scene.yaml", "--integrator", "verlet"), ("run", "scene.yaml", "--method", "magic"),
                          ("bench", "nothing"), ("convert", "scene.yaml", "--to", "csv")):
            done = self.expect(BAD_INPUT, *arguments)
            self.assertEqual(done.stdout, "", arguments)
            self.assertNotEqual(done.stderr, "", arguments)
        self.assertFalse((self.folder / "runs").exists())

    def test_suggestions(self):
        self.assertIn('did you mean "run"?', self.expect(BAD_INPUT, "rum", "scene.yaml").stderr)
        self.assertIn("--time", self.expect(BAD_INPUT, "run", "scene.yaml", "--tiem", "5").stderr)
        self.assertIn('"articulated"', self.expect(BAD_INPUT, "bench", "articlated").stderr)


ARM = """limber: 1
bodies:
  upper: {capsule: {radius: 1 cm, from: [0, 0, 0], to: [20 cm, 0, 0]}, mass: 0.2 kg}
  lower: {capsule: {radius: 1 cm, from: [0, 0, 0], to: [20 cm, 0, 0]}, at: [20 cm, 0, 0], mass: 0.1 kg}
joints:
  a: {type: revolute, child: upper, axis: [0, 1, 0], stiffness: 5 N*m/rad, damping: 0.1 N*m*s/rad}
  b: {type: revolute, parent: upper, child: lower, axis: [0, 1, 0], stiffness: 3 N*m/rad, damping: 0.1 N*m*s/rad}
run: {method: rom, time: 0.1 s, step: 5 ms, rom: {ends: [lower], points: [{loads: [{on: lower, force: [0, 0, 5 N]}]}]}}
"""


class Doors(CommandTest):
    """What the Python package does: python/tests/test_import.py has it with the package."""

    def test_says_what_is_missing(self):
        for word in ("import", "export"):
            os.environ["LIMBER_PYTHON"] = "/nowhere/python"
            self.addCleanup(os.environ.pop, "LIMBER_PYTHON", None)
            self.assertIn("needs Python", self.expect(IO_FAILED, word, "robot.urdf").stderr)
            os.environ["LIMBER_PYTHON"] = "/usr/bin/python3"  # the system's, which has no wheels
            done = self.expect(IO_FAILED, word, "--help")
            self.assertIn("pip install", done.stderr)
            self.assertEqual(done.stdout, "")


class Reduce(CommandTest):
    def test_file_runs_alone(self):
        (self.folder / "arm.yaml").write_text(ARM, encoding="utf-8")
        self.expect(DONE, "reduce", "arm.yaml", "--ends", "lower")
        (self.folder / "arm.yaml").unlink()
        self.expect(DONE, "run", "arm.rom", "--quiet")

    def test_compare_with_the_whole(self):
        (self.folder / "arm.yaml").write_text(ARM, encoding="utf-8")
        got = json.loads(self.expect(DONE, "compare", "arm.yaml", "--json").stdout)
        self.assertEqual(got["kind"], "reduced")
        methods = {(m["method"], m["setting"]): m for m in got["methods"]}
        whole = methods["articulated", "the whole"]
        one, two = methods["reduced", "1 point"], methods["reduced", "2 points"]
        self.assertEqual(whole["error"], 0)
        for m in (one, two):  # small errors, but errors: each for itself, of different models
            for what in ("error", "force_error", "gap"):
                self.assertGreater(m[what], 0)
                self.assertLess(m[what], 0.5)
        self.assertNotEqual(one["error"], two["error"])
        text = self.expect(DONE, "compare", "arm.yaml").stdout
        self.assertIn("force off by", text)

    def test_an_end_that_is_not_there(self):
        (self.folder / "arm.yaml").write_text(ARM, encoding="utf-8")
        self.assertIn("hand", self.expect(BAD_INPUT, "reduce", "arm.yaml", "--ends", "hand").stderr)


class New(CommandTest):
    def test_every_template_passes_check_and_runs(self):
        listed = self.expect(DONE, "new", "--list").stdout
        for name in TEMPLATES:
            self.assertIn(name, listed)
            self.assertIn(f"limber run {name}.yaml", self.expect(DONE, "new", name).stderr)
            self.assertIn("ok:", self.expect(DONE, "check", f"{name}.yaml").stdout)
            self.expect(DONE, "run", f"{name}.yaml", "--time", "0.1 s", "--quiet")

    def test_never_overwrites(self):
        self.expect(BAD_INPUT, "new", "scene")
        self.assertEqual((self.folder / "scene.yaml").read_text(encoding="utf-8"), support.SCENE)
        self.expect(DONE, "new", "scene", "--force", "--template", "beam")
        self.expect(DONE, "new", "--template", "tree", "--out", "oak.yaml")
        self.assertIn("oak:", (self.folder / "oak.yaml").read_text(encoding="utf-8"))

    def test_folder_that_is_not_there(self):
        self.assertIn("nowhere", self.expect(IO_FAILED, "new", "--out", "nowhere/x.yaml").stderr)


class Check(CommandTest):
    def test_ok(self):
        lines = self.expect(DONE, "check", "scene.yaml").stdout.splitlines()
        self.assertEqual(lines[0], "ok: 8 bodies, 8 joints, 8 degrees of freedom")
        self.assertEqual(lines[1].split()[:2], ["run", "articulated,"])
        done = self.expect(DONE, "check", "scene.yaml", "--set", "links=1")
        self.assertEqual(done.stdout.splitlines()[0], "ok: 1 body, 1 joint, 1 degree of freedom")

    def test_all_errors_with_their_places(self):
        broken = support.SCENE.replace("10 cm", "-10 cm").replace("time: 1 s", "time: 1 kg")
        (self.folder / "broken.yaml").write_text(broken, encoding="utf-8")
        done = self.expect(BAD_INPUT, "check", "broken.yaml", "scene.yaml")
        self.assertEqual(len([x for x in done.stderr.splitlines() if x.startswith("broken.yaml:")]), 2, done.stderr)
        self.assertIn("scene.yaml: ok:", done.stdout)

    def test_json(self):
        done = json.loads(self.expect(DONE, "check", "scene.yaml", "--json").stdout)
        self.assertEqual((done["ok"], done["files"][0]["model"]["dofs"]), (True, 8))
        (self.folder / "broken.yaml").write_text("limber: 1\nrun: {time: 1 kg}\n", encoding="utf-8")
        done = json.loads(self.expect(BAD_INPUT, "check", "broken.yaml", "--json").stdout)
        self.assertEqual(done["files"][0]["diagnostics"][0]["line"], 2)

    def test_what_a_method_refuses_has_its_place(self):
        text = "limber: 1\nbodies:\n  ghost: {sphere: 1 cm, mass: 0 kg}\n"
        (self.folder / "ghost.yaml").write_text(text, encoding="utf-8")
        for command in ("check", "run", "info"):
            self.assertIn("ghost.yaml:3:31: bodies.ghost.mass: ", self.expect(BAD_INPUT, command, "ghost.yaml").stderr)
        self.assertFalse((self.folder / "runs").exists())

    def test_unknown_parameter(self):
        self.expect(BAD_INPUT, "check", "scene.yaml", "--set", "lnks=3")

    def test_no_such_file(self):
        self.assertIn("nothing.yaml", self.expect(IO_FAILED, "check", "nothing.yaml").stderr)


class Info(CommandTest):
    def test_scene(self):
        text = self.expect(DONE, "info", "scene.yaml").stdout
        for word in ("A chain", "degrees of freedom", "revolute", "links", "arm.tip.position", "midpoint", "200 steps"):
            self.assertIn(word, text)
        done = json.loads(self.expect(DONE, "info", "scene.yaml", "--json", "--set", "links=3").stdout)
        self.assertEqual((done["model"]["bodies"], done["parameters"]["links"]), (3, 3))

    def test_run(self):
        self.expect(DONE, "run", "scene.yaml", "--quiet")
        text = self.expect(DONE, "info", "runs/scene").stdout
        for word in ("done", "energy.total", "probes.csv", "scene.glb", "scene.pvd"):
            self.assertIn(word, text)
        done = json.loads(self.expect(DONE, "info", "runs/scene", "--json").stdout)
        self.assertEqual((done["outcome"]["outcome"], done["outcome"]["steps"]), ("done", 200))

    def test_folder_without_a_run(self):
        self.assertIn("run.json", self.expect(IO_FAILED, "info", ".").stderr)


class Convert(CommandTest):
    def test_run(self):
        self.expect(DONE, "run", "scene.yaml", "--quiet", "--no-vtk", "--no-glb", "--out", "r")
        self.assertFalse((self.folder / "r" / "scene.glb").exists())
        for kind, made in (("csv", "probes.csv"), ("glb", "scene.glb"), ("vtk", "scene.pvd")):
            self.expect(DONE, "convert", "r", "--to", kind)
            self.assertTrue((self.folder / "r" / made).exists())
        self.expect(DONE, "convert", "r", "--to", "csv", "--out", "x.csv")
        self.assertEqual((self.folder / "x.csv").read_bytes(), (self.folder / "r" / "probes.csv").read_bytes())
        self.expect(DONE, "convert", "r", "--to", "vtk", "--out", "paraview")
        self.assertTrue((self.folder / "paraview" / "scene.pvd").exists())
        self.expect(BAD_INPUT, "convert", "r", "--to", "yaml")
        self.expect(IO_FAILED, "convert", "r", "--to", "csv", "--out", "nowhere/x.csv")

    def test_scene_written_out_runs_the_same(self):
        full = self.expect(DONE, "convert", "scene.yaml", "--to", "yaml").stdout
        self.expect(DONE, "convert", "scene.yaml", "--to", "yaml", "--out", "full.yaml")
        self.assertEqual((self.folder / "full.yaml").read_text(encoding="utf-8"), full)
        self.expect(DONE, "run", "scene.yaml", "--quiet", "--out", "a")
        self.expect(DONE, "run", "full.yaml", "--quiet", "--out", "b")
        # Numbers, not bytes: a scene cannot say -0.
        self.assertEqual(self.numbers("a"), self.numbers("b"))

    def numbers(self, run):
        lines = (self.folder / run / "probes.csv").read_text(encoding="utf-8").splitlines()
        return [[float(x) for x in line.split(",")] for line in lines[1:]]


class Words(CommandTest):
    def test_schema(self):
        self.assertIn("properties", json.loads(self.expect(DONE, "schema").stdout))
        self.assertIn("# ", self.expect(DONE, "schema", "--reference").stdout)

    def test_bench_list(self):
        self.assertIn("articulated", self.expect(DONE, "bench", "--list").stdout)

    def test_data_on_stdout_messages_on_stderr(self):
        done = self.expect(DONE, "run", "scene.yaml", "--json")
        self.assertEqual(json.loads(done.stdout)["outcome"], "done")
        self.assertIn("running", done.stderr)
        done = self.expect(DONE, "run", "scene.yaml", "--quiet")
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_no_colour_in_a_pipe(self):
        for arguments in (("info", "scene.yaml"), ("run", "scene.yaml"), ("check", "nothing.yaml")):
            done = self.limber(*arguments, env={"TERM": "xterm-256color"})
            self.assertNotIn("\x1b", done.stdout + done.stderr)

    def on_terminal(self, *arguments, env=None):
        """What the command writes when stdout and stderr are a terminal."""
        master, slave = pty.openpty()
        environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        process = subprocess.Popen([str(support.LIMBER), *arguments], cwd=self.folder, stdout=slave, stderr=slave,
                                   env={**environment, "TERM": "xterm", **(env or {})})
        os.close(slave)
        data = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            data += part
        os.close(master)
        process.wait()
        return data.decode()

    def test_colour_and_bar_on_a_terminal(self):
        self.assertIn("\x1b[1m", self.on_terminal("info", "scene.yaml"))
        self.assertNotIn("\x1b", self.on_terminal("info", "scene.yaml", env={"NO_COLOR": "1"}))
        bar = self.on_terminal("run", "scene.yaml", "--set", "links=60", "--time", "20 s", "--no-vtk", "--no-glb")
        for word in ("\r", "[=", "%", "real time", "left", "frames"):
            self.assertIn(word, bar)

    def test_closed_and_full_stdout(self):
        done = subprocess.run(f"'{support.LIMBER}' schema --reference | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}", shell=True,
                              executable="/bin/bash", capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.stderr), ("0\n", ""))
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([str(support.LIMBER), "schema"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, IO_FAILED)
        self.assertIn("standard output", done.stderr)


if __name__ == "__main__":
    support.main()
