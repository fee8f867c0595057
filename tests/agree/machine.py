"""Asks limber: a process a question, answers as columns of numbers, and what must hold of every answer.

A question is how a scene is asked: "run" or "static" and a method, as in "run articulated" or "static chain".
"""

import csv
import json
import math
import os
import resource
import select
import shutil
import signal
import subprocess
import sys

import text

TIMEOUT = 60  # [s] of a processor, of a scene that takes milliseconds: it hangs
ASLEEP = 10   # times that on the clock, however busy the computer is
ENERGY = 1e-9  # of the energies themselves: iterations and closed loops end near it (sim/watches.cpp)
LOADS = 1e-12  # [J] work of loads on rounded places: 1e-13 of 10 N over 1 m, about what is drawn
QUIET = ("--no-vtk", "--no-glb", "--no-report")


class Disagreement(Exception):
    """Two answers that must agree do not. `kind` says which, without numbers; `size` by how much of their size."""

    def __init__(self, kind, details="", size=1.0):
        super().__init__(kind, details, size)
        self.kind, self.details, self.size = kind, details, size

    def __str__(self):
        return f"{self.kind}: {self.details}" if self.details else self.kind


class Refused(Exception):
    """Exit code 2: the scene is not taken."""


class Failed(Exception):
    """Exit code 3: no answer, and it says so."""


class Unclear(Exception):
    """Nothing can be concluded: too sensitive, not applicable."""


class Answer:
    def __init__(self, columns, warnings, more):
        self.columns, self.warnings, self.more = columns, warnings, more

    def last(self):
        return {name: values[-1:] for name, values in self.columns.items()}


def hangs(arguments):
    return Disagreement("hangs", f"limber {' '.join(map(str, arguments))}")


class Server:
    """A limber that is loaded once and forks for every call (fork_server.cpp)."""

    def __init__(self, limber, folder, library):
        self.folder, self.timeout = folder, TIMEOUT
        self.process = subprocess.Popen([limber], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, bufsize=0,
                                        env={**os.environ, "LD_PRELOAD": str(library), "LD_BIND_NOW": "1"})

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def number(self):
        answer = self.process.stdout.read(4)
        if len(answer) < 4:
            raise RuntimeError("the fork server has ended")
        return int.from_bytes(answer, sys.byteorder, signed=True)

    def call(self, arguments):
        """Exit code (minus the signal that ended it), stdout, stderr."""
        assert not any(c in a for a in arguments for c in "\x1f\n")
        self.process.stdin.write(("\x1f".join([str(self.timeout), *arguments]) + "\n").encode())
        self.child = self.number()
        in_time = select.select([self.process.stdout], [], [], ASLEEP * self.timeout)[0]
        if not in_time:
            os.kill(self.child, signal.SIGKILL)
        status = self.number()
        code = os.waitstatus_to_exitcode(status)
        if not in_time or code == -signal.SIGXCPU:
            raise hangs(arguments)
        return code, *((self.folder / name).read_text() for name in ("stdout", "stderr"))


class Machine:
    """fork_server: the library of fork_server.cpp; without it every process is started anew, which takes longer."""

    def __init__(self, limber, folder, fork_server=None):
        self.limber, self.folder, self.calls = str(limber), folder, 0
        self.server = Server(self.limber, folder, fork_server) if fork_server else None

    def close(self):
        if self.server:
            self.server.close()

    def call(self, *arguments, most_bytes=None):
        """Exit code, stdout, stderr. most_bytes: no file may grow beyond."""
        self.calls += 1
        if self.server and not most_bytes:
            return self.server.call(list(map(str, arguments)))
        limit = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))) if most_bytes else None
        try:
            done = subprocess.run([self.limber, *map(str, arguments)], capture_output=True, text=True, timeout=ASLEEP * TIMEOUT,
                                  cwd=self.folder, preexec_fn=limit, check=False)
        except subprocess.TimeoutExpired:
            raise hangs(arguments) from None
        return done.returncode, done.stdout, done.stderr

    def expect(self, *arguments):
        code, out, err = self.call(*arguments)
        if code == 2:
            raise Refused(first_line(err))
        if code == 3:
            raise Failed(first_line(err))
        if code != 0:
            raise Disagreement(f"exit code {code}", f"limber {' '.join(map(str, arguments))}: {err[-300:]}")
        return out

    def write(self, scene, name="scene"):
        file = self.folder / f"{name}.yaml"
        if not isinstance(scene, str) and "steps" in scene["run"]:  # of a history: options of the command
            scene = {**scene, "run": {}}
        file.write_text(scene if isinstance(scene, str) else text.write(scene))
        return file.name

    def ask(self, scene, question, *options):
        """scene: data or a text; a history's text with its time and steps as options."""
        verb, method = question.split(" ", 1)
        answer = {"run": self.run, "static": self.static, "history": self.history}[verb](scene, method, *options)
        for name, values in answer.columns.items():
            if not all(map(math.isfinite, values)):
                raise Disagreement(f"not finite, {question}", f"{name} with exit code 0")
        return answer

    def run(self, scene, method, *options):
        file = self.write(scene)
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        out = self.expect("run", file, "--method", method, "--out", "out", "--json", *QUIET, *options)
        return self.read_run(json.loads(out), f"run {method}")

    def read_run(self, answer, question):
        with open(self.folder / "out" / "probes.csv") as stream:
            columns = read_columns(stream)
        check_energy(question, columns, answer["warnings"])
        answer["frames_size"] = os.path.getsize(self.folder / "out" / "frames")
        return Answer(columns, answer["warnings"], answer)

    def interrupted(self, scene, method, most_bytes, *options):
        """A run that is killed when a file grows beyond a size, and resumed."""
        file = self.write(scene)
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        code, _, _ = self.call("run", file, "--method", method, "--out", "out", "--json", "--checkpoint", "0 s", *QUIET,
                               *options, most_bytes=most_bytes)
        if not os.path.exists(self.folder / "out" / "run.json"):
            raise Unclear("killed before it began")
        self.expect("resume", "out", "--quiet")
        return self.read_run(json.loads((self.folder / "out" / "run.json").read_text()), f"run {method}"), code

    def static(self, scene, method, *options):
        out = json.loads(self.expect("static", self.write(scene), "--method", method, "--json", *options))
        columns = {name: [value] for name, value in out["probes"].items()
                   if isinstance(value, (int, float)) and not name.startswith("energy.")}
        return Answer(columns, out.get("warnings", []), out)

    def history(self, scene, method, *options):
        """Rests one after the other while the scene changes."""
        if not isinstance(scene, str):
            options = (*self.times(scene), *options)
        self.expect("static", self.write(scene), "--method", method, "--csv", "h.csv", *options)
        with open(self.folder / "h.csv") as stream:
            return Answer(read_columns(stream), [], {})

    def times(self, scene):
        """Of a history: options of the command, which its text does not have."""
        return ("--until", scene["run"]["time"], "--steps", scene["run"]["steps"]) if "steps" in scene["run"] else ()

    def convert(self, scene):
        return self.expect("convert", self.write(scene), "--to", "yaml")


def read_columns(stream):
    rows = list(csv.reader(stream))
    return {head.split(" ")[0]: [float(r[i]) for r in rows[1:]] for i, head in enumerate(rows[0])}


def first_line(err):
    """What a message says, without the place."""
    lines = [line for line in err.strip().splitlines() if not line.startswith(("limber: running", "writing"))]
    return lines[0] if lines else ""


def check_energy(question, columns, warnings):
    """Energy that nobody put in comes with a warning. A tenth: twice what a run promises without one."""
    if "energy.remainder" not in columns:
        return
    energies = [v for k, v in columns.items() if k.startswith("energy.") and k != "energy.remainder"]
    spread = max(max(v) - min(v) for v in energies)
    made = max(columns["energy.remainder"])
    rounding = ENERGY * max(abs(x) for v in energies for x in v)
    if made > 0.1 * spread and made > max(rounding, LOADS) and not any("energy" in w for w in warnings):
        raise Disagreement(f"energy made in silence, {question}", f"{made:.3g} J, of changes up to {spread:.3g} J")
