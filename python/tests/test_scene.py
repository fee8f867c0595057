"""Scenes: read, edited, checked, copied."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import limber


def test_faults_carry_their_places(arm: str) -> None:
    wrong = arm.replace("mass: 1 kg", "mass: 1 cm").replace("section: blade", "section: balde")
    with pytest.raises(limber.SceneError) as caught:
        limber.Scene(wrong, name="arm.yaml").check()
    faults = caught.value.faults
    assert [f.path for f in faults] == ["bodies.hub.mass", "beams.arm.section"]
    assert [wrong.splitlines()[f.line - 1][f.column - 1 :].split()[0] for f in faults] == ["1", "balde,"]
    assert faults[1].file == "arm.yaml" and "blade" in faults[1].message
    assert isinstance(caught.value, ValueError) and pickle.loads(pickle.dumps(caught.value)).faults == faults


def test_what_a_method_refuses_is_told_at_its_line(arm: str) -> None:
    with pytest.raises(limber.SceneError) as caught:
        limber.Scene(arm).static(method="thread")
    assert all(f.line > 0 for f in caught.value.faults)


def test_parameters_and_keys_by_path(arm: str) -> None:
    scene = limber.Scene(arm).set(length=0.4, pull="3 N")
    assert scene.parameters["length"].value == 0.4 and scene.parameters["pull"].unit == "N"
    scene.set({"sections.blade.height": "2 mm", "beams.arm.elements": 4})
    assert scene["sections"]["blade"]["rectangle"]["height"] == "2 mm"
    assert len(scene.static().points["arm"]) == len(limber.Scene(arm).static().points["arm"]) - 8
    with pytest.raises(limber.SceneError, match="did you mean"):
        limber.Scene(arm).set(lenght=1).check()
    with pytest.raises(KeyError):
        scene.set({"sections.blade.width.deep": 1})


def test_a_scene_from_a_dictionary_is_the_scene_from_its_text(arm: str) -> None:
    written = limber.Scene(arm)
    tree = {key: written[key] for key in written}
    made = limber.Scene(tree)
    assert made.to_yaml(resolved=True) == written.to_yaml(resolved=True)
    assert made.text != arm and limber.Scene(made.text).to_yaml(resolved=True) == made.to_yaml(resolved=True)


def test_a_scene_that_is_only_looked_at_keeps_its_text(arm: str) -> None:
    scene = limber.Scene(arm)
    assert scene["bodies"]["hub"]["mass"] == "1 kg" and scene.text == arm
    scene["bodies"]["hub"]["mass"] = 2
    assert "mass: 2" in scene.text
    scene["bodies"]["hub"]["mass"] = "1 kg"
    assert scene.text == arm


def test_numbers_of_numpy_and_texts_with_anything_in_them() -> None:
    scene = limber.Scene(
        {
            "title": 'quotes " and \\ and: {braces}, # and ü',
            "bodies": {"ball": {"sphere": np.float64(0.1), "mass": np.int64(2), "at": np.array([0.0, 0.0, 1e-5])}},
            "run": {"time": 0.01},
        }
    )
    assert scene.title == 'quotes " and \\ and: {braces}, # and ü'
    assert scene.run().frames.poses[0, 0, 2] == 1e-5
    for wrong in (float("nan"), object(), {1, 2}, b"bytes"):
        with pytest.raises((TypeError, ValueError)):
            limber.Scene({"title": wrong}).text


def test_copies_are_their_own(arm: str) -> None:
    scene = limber.Scene(arm).set(pull="1 N")
    for other in (copy.copy(scene), copy.deepcopy(scene), pickle.loads(pickle.dumps(scene)), scene.with_()):
        assert other == scene and repr(other) == repr(scene)
        other["bodies"]["hub"]["mass"] = 5
        other.set(pull="4 N")
        assert scene["bodies"]["hub"]["mass"] == "1 kg" and scene.parameters["pull"].value == 1
    assert repr(scene) == "<limber.Scene scene.yaml, pull='1 N'>"


def test_files_that_a_scene_names_go_with_it(tmp_path: Path) -> None:
    (tmp_path / "push.csv").write_text("t,push\n0,0\n1,2\n")
    (tmp_path / "a.yaml").write_text(
        "limber: 1\nbodies:\n  ball: {sphere: 1 cm, mass: 1 kg}\n"
        "loads:\n  push: {on: ball, force: [{file: push.csv}, 0, 0]}\nrun: {time: 0.1 s}\n"
    )
    scene = limber.load(tmp_path / "a.yaml")
    there = scene.run()
    (tmp_path / "push.csv").unlink()
    gone = pickle.loads(pickle.dumps(scene))
    assert np.array_equal(gone.run().frames.poses, there.frames.poses)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        limber.load(tmp_path / "none.yaml")
    (tmp_path / "b.yaml").write_bytes(b"limber: 1\ntitle: \xff\n")
    with pytest.raises(limber.SceneError) as caught:
        limber.load(tmp_path / "b.yaml")
    assert (caught.value.faults[0].line, caught.value.faults[0].column) == (2, 8)


def test_check_tells_what_methods_say(arm: str) -> None:
    found = limber.Scene(arm).check()
    assert "articulated" in found.runs and "chain" not in found.runs
    assert [m.against for m in found.methods if m.method == "thread" and not m.rests][0][0].startswith("scene.yaml:")


def test_every_shipped_scene_is_there() -> None:
    names = limber.scenes.names()
    assert len(names) > 40 and {"bridge_car", "gripper", "knot"} <= set(names)
    for name in names:
        assert getattr(limber.scenes, name).text.startswith("#") or getattr(limber.scenes, name)["limber"] == 1
    with pytest.raises(AttributeError):
        limber.scenes.no_such_scene  # noqa: B018
