"""Scenes as MJCF and URDF, and back: the same accelerations."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from import_against import accelerations

import limber
from limber import Scene, _limber
from limber.doors import export_scene, import_model

mujoco = pytest.importorskip("mujoco")


def _back(scene: Scene, to: str, folder: Path) -> tuple[Any, Any, Any]:
    """The file, what it is as a scene again, and the scene without short forms."""
    made = export_scene(scene, to)
    (folder / "a").mkdir()
    file = folder / "a" / f"scene.{'xml' if to == 'mjcf' else 'urdf'}"
    file.write_text(made.text)
    return made, import_model(file), _limber.read_tree(scene.to_yaml(resolved=True), "scene.yaml")


def _difference(tree: Any, back: Any, names: Any) -> float:
    pairs = [(b, names[b]) for b in tree["bodies"] if b in names]
    assert len(pairs) == len(tree["bodies"])
    there, here = accelerations(tree, [p[0] for p in pairs]), accelerations(back, [p[1] for p in pairs])
    assert np.abs(there).max() > 1e-3 or not np.abs(here).max() > 1e-9
    return float(np.abs(there - here).max() / max(1.0, np.abs(there).max()))


# 1e-8: numbers of 15 digits through loops of many links; moments of thin bodies are raised by 1e-9.
@pytest.mark.parametrize(
    "name",
    ["double_pendulum", "four_bar", "squeezer", "sprung_chain", "bridge", "flyball_governor", "bricard", "trampoline", "dominoes", "coupled_pendulums", "inverted_pendulum", "newtons_cradle"],
)
def test_mjcf_and_back(name: str, tmp_path: Path) -> None:
    _, back, tree = _back(getattr(limber.scenes, name), "mjcf", tmp_path)
    assert _difference(tree, back.tree, back.names["bodies"]) < 1e-8


def test_what_mjcf_makes_of_it_falls_as_limber_does(tmp_path: Path) -> None:
    """Not by our own reader alone: MuJoCo itself, from the keyframe `start`."""
    scene = limber.scenes.double_pendulum
    made, _, tree = _back(scene, "mjcf", tmp_path)
    assert not made.notes
    model = mujoco.MjModel.from_xml_string(made.text)
    model.opt.timestep, model.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    for _ in range(300):
        mujoco.mj_step(model, data)
    run = scene.run(time=0.3, step=1e-3, integrator="gauss")
    for name in tree["bodies"]:
        assert np.allclose(run.frames.of(name)[-1, :3], data.body(name).xpos, atol=1e-9)


@pytest.mark.parametrize("name", ["double_pendulum", "umbrella", "stick_slip", "flyball_governor"])
def test_urdf_and_back(name: str, tmp_path: Path) -> None:
    """Inertias, frames and axes of all joints, at coordinates 0 and under a slanting gravity; forces stay out."""
    _, back, tree = _back(getattr(limber.scenes, name), "urdf", tmp_path)
    assert _difference(_bare(tree), _bare(back.tree), back.names["bodies"]) < 1e-8


def _bare(tree: Any) -> Any:
    keep = {"type", "parent", "child", "parent_frame", "child_frame", "at", "axis", "axis2", "pitch"}
    out = {k: copy.deepcopy(tree[k]) for k in ("limber", "title", "bodies")}
    out["joints"] = {n: {k: v for k, v in j.items() if k in keep} for n, j in tree["joints"].items()}
    out["gravity"] = [0.3, 0.2, -9.81]
    return out


def test_rotors_and_carriers_become_what_they_stand_for() -> None:
    made = import_model(Path(__file__).parent / "data" / "doors" / "arm.xml")
    back = export_scene(made.scene, "mjcf").text
    assert 'armature="0.02"' in back and "_rotor" not in back and "__" not in back
    model = mujoco.MjModel.from_xml_string(back)
    assert (model.nv, model.nbody) == (12, 5)


def test_what_is_not_said_is_listed() -> None:
    notes = export_scene(limber.scenes.cable_robot, "mjcf").notes
    assert any(n.startswith("cables:") for n in notes)
    assert any("loops" in n for n in export_scene(limber.scenes.four_bar, "urdf").notes)
    with pytest.raises(ValueError, match="no joint of type constant_velocity"):
        export_scene(limber.scenes.screw_press, "mjcf")
    with pytest.raises(ValueError, match="hangs on a beam"):
        export_scene(limber.scenes.bistable_switch, "urdf")
    with pytest.raises(ValueError, match="expected"):
        export_scene(limber.scenes.four_bar, "dae")
