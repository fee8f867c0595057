"""Solids that touch (contact_scenes.py): CPU time of a simulated second beside how deep solids overlap, told of both by one
judge, MuJoCo's collision detection at the poses that each program recorded.

limber runs at 5 ms as it is. MuJoCo's contact is soft: it stands once as people use it (2 ms, its defaults), and once with
the cheapest of `HARDER` whose overlap is below 0.1 mm, or the one that overlaps least where none gets there."""

import json
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

import contact_scenes
from measure import Curve, Row, cpu, figure

MUJOCO = f"MuJoCo {mujoco.__version__}"
STEP = 0.005  # of limber
LEVEL = 1e-4  # m
NEWTON, CG = mujoco.mjtSolver.mjSOL_NEWTON, mujoco.mjtSolver.mjSOL_CG


@dataclass
class Setting:
    step: float
    solver: int
    constant: float = 0  # s, of solref; 0: MuJoCo's own 20 ms
    hard: float = 0  # both d of solimp; 0: MuJoCo's own 0.9 … 0.95

    def __str__(self):
        soft = f", solref {1e3 * self.constant:g} ms, solimp {self.hard}" if self.constant else ""
        return f"{1e3 * self.step:g} ms, {'Newton' if self.solver == NEWTON else 'CG'}{soft}"


USUAL = Setting(0.002, NEWTON)
# From soft to hard; a time constant below two steps is not taken by MuJoCo.
HARDER = [Setting(h, solver, 2 * h, d) for h, d in ((0.002, 0.999), (0.001, 0.9999), (0.0005, 0.9999)) for solver in (NEWTON, CG)]
TOO_DEAR = 60  # CPU seconds of a run: a harder setting is not tried after one


@dataclass
class Case:
    work: str
    scene: contact_scenes.Scene
    time: float  # s
    frame: float
    after: float  # overlaps count from here on
    harder: list


def cases():
    every = HARDER
    return [Case("100 boxes fall into a bin, 1 s", contact_scenes.pile(100), 1, 0.05, 0.5, every),
            Case("1,000 boxes fall into a bin, 0.6 s", contact_scenes.pile(1000), 0.6, 0.05, 0.3, every[:3]),
            Case("a chain of 1,000 links on the floor", contact_scenes.chain(1000), 0.02, 0.01, 0, []),
            Case("a chain of 100 links on the floor, 0.2 s", contact_scenes.chain(100), 0.2, 0.02, 0.1, every),
            Case("20 links hold a ball, 1 s", contact_scenes.hand(), 1, 0.02, 0.5, every),
            Case("100 balls fall into a funnel, 0.6 s", contact_scenes.funnel(100), 0.6, 0.02, 0.2, every),
            Case("48 bricks are hit by a ball, 0.3 s", contact_scenes.wall(), 0.3, 0.02, 0, every)]


def by_mujoco(case, setting):
    """CPU seconds of a simulated one, the poses at frames."""
    model = contact_scenes.mujoco_model(case.scene)
    model.opt.timestep, model.opt.solver = setting.step, setting.solver
    if setting.constant:
        model.geom_solref[:] = [setting.constant, 1]
        model.geom_solimp[:, :2] = setting.hard
    data = contact_scenes.mujoco_start(case.scene, model)
    seconds, poses = 0.0, []
    for _ in range(round(case.time / case.frame)):
        seconds += cpu(mujoco.mj_step, model, data, round(case.frame / setting.step))[0]
        mujoco.mj_kinematics(model, data)
        poses.append((data.xpos[1:].copy(), data.xquat[1:].copy()))
    return seconds / case.time, poses


def by_limber(limber, case):
    scene = limber.scene("contact.yaml", contact_scenes.limber_text(case.scene))
    seconds, rows, names = limber.run(scene, STEP, case.time, case.frame)
    first = names.index(next(n for n in names if ".position.x" in n))
    n = len(case.scene.solids)
    poses = []
    for row in rows[1:]:
        x = np.array(row[first:first + 6 * n]).reshape(n, 6)
        poses.append((x[:, :3], np.array([contact_scenes.quaternion(turn) for turn in x[:, 3:]])))
    report = json.loads((Path(limber.folder) / "run/run.json").read_text())["report"]
    return seconds / case.time, poses, report["contact_residual"]


def deepest(case, judge, poses):
    """m, from `after` on."""
    return max(judge.deepest(*p) for k, p in enumerate(poses) if (k + 1) * case.frame > case.after - 1e-9)


def rows(limber, turns):
    """Each run once: they take seconds to minutes, and ratios are far from 1 or said to be near it."""
    del turns
    out, curves = [], []
    for case in cases():
        judge = contact_scenes.Judge(case.scene)
        seconds, poses, residual = by_limber(limber, case)
        own = deepest(case, judge, poses)
        ours = figure([seconds], f"{own:.1e} m, residual {residual:.0e}")
        curves.append(Curve(case.work, "limber", [(STEP, own, seconds)]))
        curve = Curve(case.work, MUJOCO)
        found = []
        for setting in [USUAL, *case.harder]:
            seconds, poses = by_mujoco(case, setting)
            over = deepest(case, judge, poses)
            curve.points.append((setting.step, over, seconds))
            print(f"peers: {case.work}: {setting}: {seconds:.3g} s/s, {over:.1e} m", flush=True)
            found.append((setting, over, seconds))
            if seconds * case.time > TOO_DEAR:
                break
        curves.append(curve)
        enough = [f for f in found[1:] if f[1] <= LEVEL]
        hard = min(enough, key=lambda f: f[2]) if enough else min(found[1:], key=lambda f: f[1], default=None)
        for what, f in (("as people use it", found[0]), ("to 0.1 mm" if enough else "its hardest", hard)):
            if f:
                theirs = figure([f[2]], f"{f[0]}; {f[1]:.1e} m")
                out.append(Row(f"{case.work}, {what}", "s/s", MUJOCO, theirs, ours, "midpoint, 5 ms"))
    return out, curves
