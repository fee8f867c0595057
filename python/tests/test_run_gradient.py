"""Gradients of runs against central differences of whole runs."""

from __future__ import annotations

import os
import random
from typing import Any

import numpy as np
import pytest

import limber

INTEGRATORS = ["midpoint", "euler", "implicit_euler", "sdirk", "rk4", "gauss", "sdirk4"]
SCENES = int(os.environ.get("LIMBER_GRADIENTS", "1"))  # of each integrator; 100 and more in a campaign
EXACT = {"tolerance": 1e-14}


def differences(scene: limber.Scene, name: str, options: dict[str, Any], value: Any) -> Any:
    """Of the fourth order: four runs."""
    p = scene.parameters[name]
    relative = 5e-5  # a stiff beam in gauss swings so fast that longer ways are off by themselves

    def at(share: float) -> Any:
        return value(scene.with_(**{name: f"{p.value * (1 + share * relative)!r} {p.unit}"}).run(**options))

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * relative * p.value)


def swinging_scene(rng: random.Random, beam: bool = True) -> limber.Scene:
    """A chain of bodies on joints of several kinds, with springs between them and to the ground, drag, a servo, a
    load that changes with time; in half of the cases a beam that carries a ball."""
    tree: dict[str, Any] = {
        "parameters": {
            "mass": rng.uniform(0.5, 2), "stiffness": rng.uniform(1, 10), "damping": rng.uniform(0.05, 0.3),
            "reach": rng.uniform(0.2, 0.4), "k": rng.uniform(5, 40), "gain": rng.uniform(2, 8), "push": rng.uniform(0.5, 3),
            "rate": rng.uniform(3, 9), "turn": rng.uniform(0.2, 0.8), "fast": rng.uniform(0.5, 2), "drag": rng.uniform(0.02, 0.2),
        },
        "gravity": [0.5, 0.2, -9.81],
        "bodies": {}, "joints": {}, "drives": [],
        "loads": {"push": {"on": "b2", "force": ["=push*cos(rate*t)", 0.3, "=push"]}},
        "springs": {
            "stay": {"between": ["b2", {"on": "world", "at": [0.3, 0.4, 0.5]}], "stiffness": "=k", "rest_length": 0.3, "damping": 0.2},
            "tie": {"between": [{"on": "b0", "at": [0, 0.1, 0]}, {"on": "b2", "at": [0, 0.1, 0.05]}], "stiffness": "=k/2", "rest_length": 0.2},
        },
        "probes": ["b2.position", "b1.velocity", "j0.angle", "b2.rotation"],
        "run": {"step": 0.01, "time": 0.4, "frame": 0.05},
    }  # fmt: skip
    kinds = ["revolute", rng.choice(["spherical", "revolute", "cylindrical"]), rng.choice(["revolute", "prismatic", "planar"])]
    for i, kind in enumerate(kinds):
        tree["bodies"][f"b{i}"] = {
            "box": [0.1, 0.06, 0.04], "mass": "=mass", "at": [f"=reach*{i + 1}", 0, 0], "linear_drag": "=drag", "angular_drag": 0.01,
        }  # fmt: skip
        tree["joints"][f"j{i}"] = {
            "type": kind, "child": f"b{i}", "at": [f"=reach*{i}", 0, 0], "axis": [0.1 * i, 1, 0.2],
            "stiffness": "=stiffness" if kind not in ("cylindrical", "planar") else 8.0,
            "damping": "=damping" if kind not in ("cylindrical", "planar") else 0.2,
        }  # fmt: skip
        if kind in ("cylindrical", "planar"):
            del tree["joints"][f"j{i}"]["stiffness"], tree["joints"][f"j{i}"]["damping"]
        if kind == "spherical":
            del tree["joints"][f"j{i}"]["axis"]
        if i:
            tree["joints"][f"j{i}"]["parent"] = f"b{i - 1}"
    tree["joints"]["j0"]["position"] = "=turn"
    tree["joints"]["j0"]["velocity"] = "=fast"
    tree["drives"].append({"joint": "j0", "servo": {"target": "0.3*sin(rate*t)", "kp": "=gain", "kd": 0.2}})
    if rng.random() < 0.5 and beam:  # not for an explicit step: its own swings are too fast
        tree["parameters"]["height"] = rng.uniform(1e-3, 2e-3)
        tree["materials"] = {"steel": {"E": 2e11, "nu": 0.3, "density": 7800}}
        tree["sections"] = {"blade": {"rectangle": {"width": 0.02, "height": "=height"}}}
        tree["beams"] = {
            "arm": {
                "from": "b0", "path": [[0, 0, 0], [0, 0, 0.2]], "material": "steel", "section": "blade", "elements": 3,
                "damping": 2e-3,
            }
        }  # fmt: skip
        tree["probes"].append("arm.tip.position")
    return limber.Scene(tree)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("seed", range(SCENES))
def test_random_scenes(integrator: str, seed: int) -> None:
    rng = random.Random(1000 * seed + INTEGRATORS.index(integrator))
    options = {"integrator": integrator, **EXACT}
    while True:
        scene = swinging_scene(rng, beam=integrator != "rk4")
        run = scene.run(**options)
        if run.info["report"]["substeps"] == 0:  # how steps are divided may differ where differences look
            break
    names = list(scene["parameters"])
    outputs = ("b2.position", "j0.angle")
    found = np.vstack([run.gradient(output, wrt=names) for output in outputs])

    def ends(r: limber.Run) -> Any:
        return np.append(r[outputs[0]][-1], r[outputs[1]][-1])

    for k, name in enumerate(names):
        # 1e-6 of what is compared, and what rounding leaves of differences: 1e-12 of the value over their way.
        floor = 2e-8 * np.abs(ends(run)).max() / abs(scene.parameters[name].value)
        assert found[:, k] == pytest.approx(differences(scene, name, options, ends), rel=1e-6, abs=floor), name


def test_by_where_it_starts_and_by_forces_at_every_step() -> None:
    scene = limber.Scene(
        {
            "parameters": {"turn": 0.4, "fast": 0.7, "push": 0.3},
            "bodies": {"a": {"sphere": 0.05, "mass": 1, "at": [0.3, 0, 0]}},
            "joints": {"j": {"type": "revolute", "child": "a", "at": [0, 0, 0], "axis": [0, 1, 0], "position": "=turn", "velocity": "=fast"}},
            "drives": [{"joint": "j", "force": "=push"}],
            "probes": ["j.angle"],
            "run": {"time": 0.5, "step": 0.01, "frame": 0.1},
        }
    )  # fmt: skip
    run = scene.run(**EXACT)
    found = run.sensitivity("j.angle", wrt=["turn", "fast", "push"])
    assert found.value == run["j.angle"][-1] and found.freedoms == [("j", 0)] and found.forces is not None
    # A force on the joint for as long as the run lasts is the drive's own.
    assert found.by["turn"] == pytest.approx(found.positions[0], rel=1e-6)
    assert found.by["fast"] == pytest.approx(found.velocities[0], rel=1e-6)
    assert found.by["push"] == pytest.approx(found.forces[:, found.of("j")].sum(), rel=1e-6)
    # Any scalar of the trajectory, by its derivatives: ½ Σ angle².
    angle = run["j.angle"]
    by = run.gradient({"j.angle": angle}, wrt=["push"])
    wanted = differences(scene, "push", EXACT, lambda r: 0.5 * np.sum(r["j.angle"] ** 2))
    assert by[0] == pytest.approx(wanted, rel=1e-7)
    middle = run.gradient("j.angle", wrt=["push"], at="0.2 s")
    assert middle[0] == pytest.approx(differences(scene, "push", EXACT, lambda r: r["j.angle"][2]), rel=1e-7)


def test_where_there_is_none() -> None:
    run = limber.scenes.double_pendulum.run(time=0.1)
    assert run.gradient("energy.kinetic", ["upper"]).shape == (1,)  # what sees all of it
    for wrong in ("energy.dissipated", "energy.remainder"):
        with pytest.raises(ValueError, match="adds up"):
            run.gradient(wrong, ["upper"])
    with pytest.raises(ValueError, match="no frame"):
        run.gradient("elbow.angle", ["upper"], at=0.0123)
    with pytest.raises(ValueError, match="how the scene is run"):
        run.gradient("elbow.angle", ["run.step"])
    with pytest.raises(KeyError):
        run.gradient("elbow.angle", ["nothing"])
    with pytest.raises(TypeError):
        run.gradient("elbow.angle", [3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="shape"):
        run.gradient({"elbow.angle": np.ones(3)}, ["upper"])
    pendulum = limber.scenes.double_pendulum
    pendulum["events"] = {"low": {"when": {"reads": "elbow.angle", "below": "-5"}, "stop": True}}
    with pytest.raises(ValueError, match="events"):
        pendulum.run(time=0.02).gradient("elbow.angle", ["upper"])
    ball = {"bodies": {"b": {"sphere": 0.05, "mass": 1, "at": [0, 0, 0.06]}}, "contact": {"planes": [{"at": [0, 0, 0]}]}}
    with pytest.raises(ValueError, match="touches"):
        limber.Scene({**ball, "run": {"time": 0.2}}).run().gradient("b.position.z", ["bodies.b.mass"])
    loops = limber.scenes.umbrella.run(time=0.02)
    with pytest.raises(ValueError, match="loops"):
        loops.gradient("energy.kinetic", list(loops.scene.parameters)[:1])
