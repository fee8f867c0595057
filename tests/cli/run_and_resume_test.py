#!/usr/bin/python3
"""limber run and limber resume: folders, options, interrupts, full disks, divergence, threads."""

import json
import os
import resource
import shutil
import signal
import subprocess
import time
import unittest

import support
from support import BAD_INPUT, DONE, FAILED, INTERRUPTED, IO_FAILED, CommandTest, differences, run_json

LONG = ("--set", "links=40", "--time", "60 s", "--step", "1 ms", "--frame", "0.5 s")  # many seconds of work
SHORT = ("--set", "links=40", "--time", "10 s", "--step", "1 ms", "--frame", "0.05 s")  # about a second


class Folders(CommandTest):
    def test_default_names(self):
        for name in ("scene", "scene-2", "scene-3"):
            done = json.loads(self.expect(DONE, "run", "scene.yaml", "--json", "--time", "0.1").stdout)
            self.assertEqual(done["folder"], f"runs/{name}")

    def test_folder_in_use(self):
        self.expect(DONE, "run", "scene.yaml", "--quiet", "--out", "r")
        before = support.contents(self.folder / "r")
        self.assertIn("--force", self.expect(BAD_INPUT, "run", "scene.yaml", "--out", "r").stderr)
        self.assertEqual(support.contents(self.folder / "r"), before)
        self.expect(DONE, "run", "scene.yaml", "--quiet", "--out", "r", "--force", "--time", "0.5 s")
        self.assertEqual(run_json(self.folder / "r")["options"]["time"], 0.5)

    def test_foreign_folder(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "thesis.tex").write_text("x", encoding="utf-8")
        self.expect(BAD_INPUT, "run", "scene.yaml", "--out", "mine")
        self.assertEqual([p.name for p in (self.folder / "mine").iterdir()], ["thesis.tex"])

    def test_unwritable_place(self):
        self.assertIn("/proc", self.expect(IO_FAILED, "run", "scene.yaml", "--out", "/proc/limber/run").stderr)

    def test_two_at_once(self):
        process = support.start("run", "scene.yaml", *LONG, "--out", "r", cwd=self.folder)
        wait_for(self.folder / "r" / "frames")
        done = self.expect(IO_FAILED, "resume", "r")
        self.assertIn(str(process.pid), done.stderr)
        process.kill()
        process.wait()


class Options(CommandTest):
    def test_units_and_set(self):
        self.expect(DONE, "run", "scene.yaml", "--quiet", "--out", "r", "--time", "0.2 s", "--step", "2 ms", "--frame", "1/50",
                    "--integrator", "euler", "--set", "links=3", "--set", "torque=10 mN*m", "--cpu-threads", "2")
        json_ = run_json(self.folder / "r")
        options = json_["options"]
        self.assertEqual((options["time"], options["step"], options["frame"]), (0.2, 0.002, 0.02))
        self.assertEqual(options["articulated"]["integrator"], "euler")
        self.assertEqual(json_["set"], [{"name": "links", "value": "3"}, {"name": "torque", "value": "10 mN*m"}])
        self.assertEqual((json_["model"]["bodies"], json_["frames"], json_["wall_clock"]["cpu_threads"]), (3, 11, 2))

    def test_threads_do_not_matter(self):
        for threads in (1, 2, 4):
            self.expect(DONE, "run", "scene.yaml", "--quiet", "--out", f"r{threads}", "--cpu-threads", threads, "--set", "links=50")
        for threads in (2, 4):
            self.assertEqual(differences(self.folder / f"r{threads}", self.folder / "r1"), [])

    def test_summary(self):
        text = self.expect(DONE, "run", "scene.yaml").stdout
        for word in ("done", "200 of 200", "real time", "energy.total", "runs/scene/probes.csv", "scene.glb"):
            self.assertIn(word, text)


def wait_for(path, seconds=60):
    end = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > end:
            raise TimeoutError(path)
        time.sleep(0.005)


class Reports(CommandTest):
    def report(self, *words):
        self.expect(DONE, "run", *words, "--quiet", "--out", "r", "--force", "--no-vtk", "--no-glb")
        return (self.folder / "r" / "report.html").read_text(encoding="utf-8")

    def test_names_the_integrator_of_its_method(self):
        self.assertIn("integrator sdirk", self.report("scene.yaml", "--integrator", "sdirk"))
        self.assertIn("adaptive, linear solver", self.report("scene.yaml", "--method", "adaptive"))  # which has none
        (self.folder / "cord.yaml").write_text("limber: 1\nmaterials: {m: {E: 1 MPa, density: 1000}}\nsections: {s: {circle: 2 mm}}\n"
                                               "beams: {b: {path: [[0, 0, 0], [0.1, 0, 0]], material: m, section: s, elements: 4, damping: 10 ms}}\n"
                                               "run: {method: thread, time: 5 ms, step: 1 ms}\n", encoding="utf-8")
        text = self.report("cord.yaml")
        self.assertIn("integrator bdf2", text)
        self.assertNotIn("integrator midpoint", text)

    def test_the_flagship_balances(self):
        """What `make run` shows: no warning, and an integrator that neither makes nor loses a share of the energy."""
        summary = json.loads(self.expect(DONE, "run", support.ROOT / "scenes" / "bridge-car.yaml", "--json", "--out", "r", "--no-vtk",
                                         "--no-glb", "--no-report").stdout)
        self.assertFalse([text for text in summary["warnings"] if "integrator" in text])
        energy = {name: value["last"] for name, value in summary["energies"].items()}
        # 5 %: from there on a run warns.
        self.assertLess(abs(energy["energy.remainder"]), 0.05 * abs(energy["energy.work"]))


class Interrupts(CommandTest):
    def interrupted_then_resumed(self, number):
        self.expect(DONE, "run", "scene.yaml", *SHORT, "--quiet", "--out", "reference")
        process = support.start("run", "scene.yaml", *SHORT, "--out", "r", cwd=self.folder)
        wait_for(self.folder / "r" / "frames")
        time.sleep(0.1)
        process.send_signal(number)
        begin = time.monotonic()
        self.assertEqual(process.wait(), INTERRUPTED)
        self.assertLess(time.monotonic() - begin, 2)
        self.assertEqual(run_json(self.folder / "r")["outcome"], "interrupted")
        self.expect(DONE, "resume", "r")
        self.assertEqual(run_json(self.folder / "r")["wall_clock"]["resumed"], 1)
        self.assertEqual(differences(self.folder / "r", self.folder / "reference"), [])

    def test_sigint(self):
        self.interrupted_then_resumed(signal.SIGINT)

    def test_sigterm(self):
        self.interrupted_then_resumed(signal.SIGTERM)

    def test_while_it_compiles(self):
        # Finding an order of elimination takes half a minute: 4,000 links, tied many times.
        scene = support.ROOT / "scenes" / "bridge-car.yaml"
        process = support.start("run", scene, "--set", "links=4000", "--set", "cables=1000", "--out", "r", cwd=self.folder)
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        self.assertEqual(process.wait(30), INTERRUPTED)
        self.assertLess(time.monotonic() - begin, 2)
        self.assertFalse((self.folder / "r").exists())

    def test_number_of_threads_stays(self):
        """A run goes on with as many threads of the CPU as it had, unless it is told another number."""
        for more, threads in (([], 2), (["--cpu-threads", "3"], 3)):
            process = support.start("run", "scene.yaml", *SHORT, "--cpu-threads", "2", "--force", "--out", "r", cwd=self.folder)
            wait_for(self.folder / "r" / "frames")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(), INTERRUPTED)
            self.expect(DONE, "resume", "r", *more)
            self.assertEqual(run_json(self.folder / "r")["wall_clock"]["cpu_threads"], threads)
            shutil.rmtree(self.folder / "r")

    def test_says_how_to_go_on(self):
        process = subprocess.Popen([str(support.LIMBER), "run", "scene.yaml", *LONG, "--out", "r"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(self.folder / "r" / "frames")
        process.send_signal(signal.SIGINT)
        words = process.communicate()[1]
        self.assertIn("limber resume r", words)


class Resume(CommandTest):
    def test_finished_run(self):
        self.expect(DONE, "run", "scene.yaml", "--quiet", "--out", "r")
        before = support.contents(self.folder / "r")
        self.assertIn("done", self.expect(DONE, "resume", "r").stderr)
        for name in ("probes.csv", "scene.glb", "scene.pvd"):
            (self.folder / "r" / name).unlink()
        self.expect(DONE, "resume", "r")
        self.assertEqual(support.contents(self.folder / "r"), before)

    def test_edited_scene(self):
        process = support.start("run", "scene.yaml", *SHORT, "--out", "r", cwd=self.folder)
        wait_for(self.folder / "r" / "frames")
        process.send_signal(signal.SIGINT)
        process.wait()
        copy = self.folder / "r" / "scene" / "scene.yaml"
        copy.write_text(copy.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        words = self.expect(BAD_INPUT, "resume", "r").stderr
        self.assertIn("cannot be continued", words)
        self.assertNotRegex(words, "going on|goes on")

    def test_only_what_was_asked_for(self):
        self.expect(DONE, "run", "scene.yaml", "--quiet", "--out", "r", "--no-glb", "--no-vtk")
        self.expect(DONE, "resume", "r")
        self.assertFalse((self.folder / "r" / "scene.glb").exists())

    def test_no_run(self):
        self.assertIn("run.json", self.expect(IO_FAILED, "resume", ".").stderr)
        self.assertIn("nowhere", self.expect(IO_FAILED, "resume", "nowhere").stderr)

    def test_damaged_checkpoint_is_said(self):
        self.expect(DONE, "run", "scene.yaml", *SHORT, "--quiet", "--out", "reference")
        process = support.start("run", "scene.yaml", *SHORT, "--out", "r", cwd=self.folder)
        wait_for(self.folder / "r" / "frames")
        process.send_signal(signal.SIGINT)
        process.wait()
        checkpoint = self.folder / "r" / "checkpoint"
        data = bytearray(checkpoint.read_bytes())
        data[len(data) // 2] ^= 1
        checkpoint.write_bytes(data)
        self.assertIn("checksum", self.expect(DONE, "resume", "r").stderr)
        self.assertEqual(differences(self.folder / "r", self.folder / "reference"), [])


class Failures(CommandTest):
    def test_divergence(self):
        done = self.expect(FAILED, "run", "scene.yaml", "--set", "torque=1e308 N*m", "--out", "r")
        self.assertRegex(done.stderr, r"at t = [0-9.e-]+ s")
        self.assertIn("arm.", done.stderr)
        self.assertIn(run_json(self.folder / "r")["outcome"], ("diverged", "not_converged"))
        self.assertGreaterEqual(run_json(self.folder / "r")["frames"], 1)
        self.assertTrue((self.folder / "r" / "probes.csv").exists())
        self.expect(FAILED, "resume", "r")

    def test_full_disk(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))
        done = self.expect(IO_FAILED, "run", "scene.yaml", "--time", "20 s", "--out", "r", preexec_fn=limit)
        self.assertIn("r/frames: cannot write", done.stderr)
        self.assertIn("limber resume r", done.stderr)
        self.expect(DONE, "resume", "r", "--quiet")
        self.expect(DONE, "run", "scene.yaml", "--time", "20 s", "--out", "reference", "--quiet")
        self.assertEqual(differences(self.folder / "r", self.folder / "reference"), [])

    def test_disk_full_from_the_start(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
        self.expect(IO_FAILED, "run", "scene.yaml", "--out", "r", preexec_fn=limit)
        self.expect(IO_FAILED, "run", "scene.yaml", preexec_fn=limit)
        self.expect(DONE, "run", "scene.yaml", "--out", "r", "--quiet")
        self.expect(DONE, "run", "scene.yaml", "--quiet")
        self.assertTrue((self.folder / "runs" / "scene" / "run.json").exists())  # not scene-2

    def test_error_out_of_reach(self):
        done = self.expect(FAILED, "run", "scene.yaml", "--error", "1e-18", "--out", "r")
        self.assertIn("out of reach", done.stderr)
        self.assertEqual(run_json(self.folder / "r")["outcome"], "not_converged")

    # From some allocation on every one fails, also those of the words about it. (The first ten or so are those of libraries
    # that are loaded before limber.)
    @unittest.skipIf("LIMBER_SANITIZED" in os.environ, "sanitizers bring their own allocator")
    def test_memory_that_does_not_come_back(self):
        source, library = support.ROOT / "tests" / "cli" / "failing_new.cpp", self.folder / "failing_new.so"
        subprocess.run(["c++", "-O1", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
        codes = set()
        for after in (30, 300, 2000, 3000, 4000, 5000, 6000, 8000):
            done = self.limber("run", "scene.yaml", "--quiet", "--out", f"r{after}", "--time", "0.2 s",
                               env={"LD_PRELOAD": str(library), "FAIL_AFTER": str(after)})
            self.assertIn(done.returncode, (DONE, IO_FAILED), f"after {after}: {done.stderr}")
            if done.returncode == IO_FAILED:
                self.assertIn("out of memory", done.stderr)
            codes.add(done.returncode)
        self.assertIn(IO_FAILED, codes)

    @unittest.skipIf("LIMBER_SANITIZED" in os.environ, "sanitizers reserve too much address space")
    def test_out_of_memory(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
        done = self.expect(IO_FAILED, "run", "scene.yaml", "--set", "links=1000000", "--quiet", preexec_fn=limit)
        self.assertIn("memory", done.stderr)


if __name__ == "__main__":
    support.main()
