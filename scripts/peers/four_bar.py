"""The four-bar linkage of scenes/four-bar.yaml over 5 s, against its reduction to one coordinate (tests/data/B3a)."""

import json

import numpy as np

from measure import ROOT, Curve, Row, alternate, coarsest, cpu, figure
import pinocchio_loop

TARGET = 1e-8  # m, rocker's end, worst of 100 frames of 50 ms
FRAME, FRAMES = 0.05, 100
PARTS = (10, 12, 16, 20, 25, 28, 32, 36, 40, 45, 50, 56, 64, 72, 80, 90, 100, 112, 125, 160, 200, 400)  # steps a frame


def pinocchio_mechanism(data):
    B, C = (np.array([x, 0, z]) for x, z in (data["initial"]["B"], data["initial"]["C"]))
    D = np.array([0.8, 0, 0])
    m = pinocchio_loop.Mechanism([0, 0, -9.81])

    def rod(parent, at, along, mass):  # a slender rod from `at`
        length = np.linalg.norm(along)
        inertia = mass / 12 * (length**2 * np.eye(3) - np.outer(along, along))
        return m.hinge(parent, [0, -1, 0], at, mass, along / 2, inertia)

    crank = rod(0, [0, 0, 0], B, 0.5)
    coupler = rod(crank, B, C - B, 1.0)
    rocker = rod(0, D, C - D, 0.8)
    m.pin_together(coupler, C - B, rocker, C - D)
    angle0 = np.arctan2((C - D)[2], (C - D)[0])
    # The hinge about −y turns from x towards z.
    return m, lambda q: (0.8 + 0.6 * np.cos(angle0 + q[2]), 0.6 * np.sin(angle0 + q[2]))


def rows(limber, turns):
    data = json.loads((ROOT / "tests/data/B3a_four_bar.json").read_text())
    reference = np.array(data["reference"]["C"])
    scene = ROOT / "scenes/four-bar.yaml"
    mechanism, observe = pinocchio_mechanism(data)

    def by_pinocchio(step):
        seconds, told = cpu(mechanism.run, step, FRAMES, round(FRAME / step), observe)
        return seconds, np.abs(told - reference).max()

    def by_limber(integrator):
        def solve(step):
            seconds, probes, names = limber.run(scene, step, FRAME * FRAMES, FRAME, ["--integrator", integrator])
            x, z = (names.index(f"rocker.end.position.{c} [m]") for c in "xz")
            return seconds, np.abs(np.array(probes)[:, [x, z]] - reference).max()
        return solve

    solvers = {pinocchio_loop.NAME: by_pinocchio, "limber rk4": by_limber("rk4"), "limber gauss": by_limber("gauss")}
    curves, best = [], {}
    for name, solve in solvers.items():
        points, step = coarsest(solve, [FRAME / n for n in PARTS], TARGET)
        curves.append(Curve("four-bar", name, points))
        best[name] = (step, points[-1][1])
    turn = {n: lambda n=n: solvers[n](best[n][0])[0] for n in solvers}
    calls = 4 * FRAMES * round(FRAME / best[pinocchio_loop.NAME][0])
    turn[pinocchio_loop.NAME] = lambda: calls * mechanism.call_seconds()
    times = alternate(turn.values(), turns)
    told = {n: figure(t, f"h {1e3 * best[n][0]:.3g} ms, {best[n][1]:.1e} m") for n, t in zip(solvers, times)}
    return [Row("four-bar, 5 s, to 1e-8 m", "s", pinocchio_loop.NAME, told[pinocchio_loop.NAME], told[f"limber {i}"], i)
            for i in ("rk4", "gauss")], curves
