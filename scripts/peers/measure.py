"""CPU time of functions and of the limber command, and the rows of the table.

A figure is the least of several turns and how far the middle one is above it. The turns of the programs that stand in
one row alternate, so that all have the same noise of the machine."""

import csv
import itertools
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Figure:
    value: float  # the least of the turns
    spread: float = 0.0  # of it over the least one, minus 1
    detail: str = ""  # step, error


@dataclass
class Row:
    work: str
    unit: str
    peer: str
    theirs: Figure
    ours: Figure
    ours_by: str = ""  # method or integrator of limber

    @property
    def ratio(self):
        return self.theirs.value / self.ours.value


@dataclass
class Curve:
    """A work–precision curve: one line a step."""

    work: str
    program: str
    points: list = field(default_factory=list)  # (step [s], error, CPU [s])


def figure(times, detail="", scale=1.0):
    """The middle turn: the least of differences of two runs is one whose noise helped."""
    middle = statistics.median(times)
    return Figure(middle * scale, middle / min(times) - 1, detail)


def alternate(functions, turns):
    """The seconds that each function returns, `turns` times, in turns."""
    times = [[] for _ in functions]
    for _, (i, f) in itertools.product(range(turns), list(enumerate(functions))):
        times[i].append(f())
    return times


def cpu(f, *args):
    """CPU seconds of this process in f, and what f returns."""
    start = time.process_time()
    result = f(*args)
    return time.process_time() - start, result


def settle(f, least=0.05):
    """CPU seconds of one call of f: as many calls as take `least` seconds."""
    f()
    calls = 1
    while True:
        start = time.process_time()
        for _ in range(calls):
            f()
        seconds = time.process_time() - start
        if seconds >= least:
            return seconds / calls
        calls *= 2


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Limber:
    """The command. Seconds are CPU seconds of the whole process, less those of `limber --version`."""

    def __init__(self, binary):
        self.binary = str(binary)
        self.keep = tempfile.TemporaryDirectory(prefix="limber-peers-")  # removed at the end
        self.folder = self.keep.name
        self.start = 0.0
        self.version = subprocess.run([self.binary, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        self.start = min(self.call(["--version"])[0] for _ in range(9))

    def call(self, args):
        before = children_seconds()
        done = subprocess.run([self.binary, *map(str, args)], capture_output=True, text=True, check=False)
        seconds = children_seconds() - before - self.start
        if done.returncode != 0:
            raise RuntimeError(f"limber {' '.join(map(str, args))}\n{done.stderr}")
        return seconds, done.stdout

    def scene(self, name, text):
        path = Path(self.folder) / name
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, scene, step, time_s, frame, options=()):
        """Seconds of a run, its probes (time in column 0) and their names."""
        out = Path(self.folder) / "run"
        seconds, _ = self.call(["run", scene, "--step", f"{step!r} s", "--time", f"{time_s!r} s", "--frame", f"{frame!r} s",
                                "--cpu-threads", 1, "--out", out, "--force", "--quiet", "--no-vtk", "--no-glb", "--no-report", *options])
        with open(out / "probes.csv", encoding="utf-8") as f:
            names, *rows = csv.reader(f)
        return seconds, [[float(x) for x in row] for row in rows], names

    def static(self, scene, options=()):
        seconds, text = self.call(["static", scene, "--json", *options])
        return seconds, json.loads(text)

    def bench(self, suite):
        return json.loads(self.call(["bench", suite, "--json"])[1])

    def step_seconds(self, scene, step, steps, options=()):
        """Of one step, by two runs of `steps` and of three times as many: reading and writing cancel."""
        few, _, _ = self.run(scene, step, steps * step, steps * step, options)
        many, _, _ = self.run(scene, step, 3 * steps * step, 3 * steps * step, options)
        return (many - few) / (2 * steps)


def one_thread():
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"


def coarsest(solve, steps, target):
    """Steps from coarse to fine until the error is at most `target`: the curve, and the last step.
    solve(step) gives (seconds, error)."""
    points = []
    for step in steps:
        seconds, error = solve(step)
        points.append((step, error, seconds))
        if error <= target:
            return points, step
    raise RuntimeError(f"no step reaches {target}: {points}")
