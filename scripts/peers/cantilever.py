"""A cantilever under a dead end force, P L²/EI = 5, at rest: error of the tip against the elliptic integrals of
Bisshopp and Drucker (tests/data/A1), inextensible. EA is 1e7 EI/L², so that stretch does not show."""

import json
import time

import exudyn as exu
import numpy as np
from exudyn.beams import GenerateStraightLineANCFCable2D
from exudyn.utilities import Cable2D, Force, MarkerNodePosition

from measure import ROOT, Row, cpu, figure

ELEMENTS = (10, 50, 200)
LOAD, STIFFNESS = 5.0, 1e7
EXUDYN = f"Exudyn {exu.__version__} ANCF"
SCENE = """limber: 1
title: A planar cantilever
gravity: [0, 0, 0]
materials: {{m: {{E: {E!r} Pa, nu: 0, density: 1 kg/m3}}}}
sections: {{s: {{rectangle: {{width: {side!r} m, height: {side!r} m}}}}}}
beams:
  beam: {{path: [[0, 0, 0], [1 m, 0, 0]], material: m, section: s, elements: {n}}}
loads:
  push: {{on: beam.tip, force: [0, 0, -5 N]}}
probes: [beam.tip.position]
run: {{method: {method}, time: 1 s, step: 1 ms}}
"""


def exact():
    data = json.loads((ROOT / "tests/data/A1_cantilever_end_force.json").read_text())
    case, = (c for c in data["reference"] if c["PL2_over_EI"] == LOAD)
    return np.array([case["tip_x_over_L"], -case["tip_deflection_over_L"]])


def exudyn_tip(n):
    """Seconds of the static solver, the tip, and the seconds that building the system took before. One load step, sparse: the
    fastest of 1 to 5 steps and of its linear solvers."""
    start = time.process_time()
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    cable = Cable2D(physicsMassPerLength=1, physicsBendingStiffness=1, physicsAxialStiffness=STIFFNESS)
    nodes = GenerateStraightLineANCFCable2D(mbs, [0, 0, 0], [1, 0, 0], n, cable, [0, 0, 0], [1, 1, 0, 1])[0]
    mbs.AddLoad(Force(markerNumber=mbs.AddMarker(MarkerNodePosition(nodeNumber=nodes[-1])), loadVector=[0, -LOAD, 0]))
    mbs.Assemble()
    s = exu.SimulationSettings()
    s.staticSolver.numberOfLoadSteps = 1
    s.staticSolver.newton.relativeTolerance = 1e-9
    s.staticSolver.newton.absoluteTolerance = 1e-10
    s.staticSolver.verboseMode = 0
    s.displayStatistics = False
    s.linearSolverType = exu.LinearSolverType.EigenSparse
    s.solutionSettings.writeSolutionToFile = False
    building = time.process_time() - start
    seconds, _ = cpu(mbs.SolveStatic, s)
    return seconds, mbs.GetNodeOutput(nodes[-1], exu.OutputVariableType.Position)[:2], building


def rows(limber, turns):
    """Two rows a method. Solving: SolveStatic beside what limber takes to compile the scene and find its rest (`cpu_seconds` of
    `limber static --json`). In all: with building the model in Python, beside the whole command less `limber --version`, which reads
    the scene and writes the rest as JSON."""
    side = (12 / STIFFNESS) ** 0.5
    E, tip = float(STIFFNESS / side**2), exact()
    result = []
    for n in ELEMENTS:
        scenes = {m: limber.scene(f"{m}.yaml", SCENE.format(E=E, side=float(side), n=n, method=m)) for m in ("chain", "articulated", "thread")}
        solvers = {m: lambda m=m: limber.static(scenes[m], ["--method", m]) for m in scenes}
        error = {m: limber_error(solve()[1], tip) for m, solve in solvers.items()}
        error[EXUDYN] = np.abs(exudyn_tip(n)[1] - tip).max()
        told = {k: [] for k in (EXUDYN, *solvers)}  # (solving, in all)
        for _ in range(2 * turns):
            seconds, _, building = exudyn_tip(n)
            told[EXUDYN].append((seconds, seconds + building))
            for m, solve in solvers.items():
                seconds, rest = solve()
                told[m].append((rest["wall_clock"]["cpu_seconds"], seconds))
        for which, what in enumerate(("solving", "in all")):
            figures = {k: figure([t[which] for t in times], f"{error[k]:.1e} L", 1e3) for k, times in told.items()}
            result += [Row(f"cantilever at rest, {n} elements, {what}", "ms", EXUDYN, figures[EXUDYN], figures[m], m) for m in solvers]
    return result, []


def limber_error(rest, tip):
    x, z = (rest["probes"][f"beam.tip.position.{c}"] for c in "xz")
    return np.abs(np.array([x, z]) - tip).max()
