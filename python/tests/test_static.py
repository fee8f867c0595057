"""Rests and their curves."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from conftest import command

import limber


def test_a_cantilever_sinks_by_its_closed_form() -> None:
    E, b, h, L, F = 205e9, 0.02, 0.002, 0.3, 0.01
    scene = limber.Scene(
        {
            "gravity": [0, 0, 0],
            "materials": {"steel": {"E": E, "nu": 0.29, "density": 7850}},
            "sections": {"blade": {"rectangle": {"width": b, "height": h}}},
            "beams": {
                "arm": {"path": [[0, 0, 0], [L, 0, 0]], "material": "steel", "section": "blade", "elements": 40}
            },
            "loads": {"tip": {"on": "arm.tip", "force": [0, 0, -F]}},
        }
    )
    rest = scene.static()
    assert rest.stable and rest.method == "chain"
    sinks = F * L**3 / (3 * E * b * h**3 / 12)
    # 40 elements: 3e-4 off by the elements' second order; the slope of 1.6e-4 rad changes nothing.
    assert rest.points["arm.tip"][2] == pytest.approx(-sinks, rel=1e-3)
    assert rest.beams["arm"].stress[0] == pytest.approx(6 * F * L / (b * h**2), rel=1e-3)
    assert rest.reactions["arm"].force[2] == pytest.approx(F, rel=1e-9)
    assert rest.stress["arm"].shape == rest.beams["arm"].s.shape


def test_it_says_what_the_command_says(arm: str, tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    file.write_text(arm)
    said = json.loads(command("static", str(file), "--json").stdout)
    rest = limber.load(file).static()
    assert rest.method == said["method"]
    for name, value in said["probes"].items():
        assert rest[name] == value
    for name, body in said["bodies"].items():
        assert list(rest.points[name]) == body["position"]
    for name, reaction in said["reactions"].items():
        assert list(rest.reactions[name].force) == reaction["force"]


def test_arrays_cannot_be_written_to(arm: str) -> None:
    rest = limber.Scene(arm).static()
    for array in (rest.poses, rest.points["hub"], rest.beams["arm"].force, rest.stress["arm"], rest.reactions["motor"].at):
        assert array.dtype == np.float64
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_no_rest_is_told(arm: str) -> None:
    scene = limber.Scene(arm)
    with pytest.raises(limber.NotConverged) as caught:
        scene.static(method="articulated", max_iterations=1, modes=0)
    assert caught.value.equilibrium is not None and not caught.value.equilibrium.stable


def test_options_are_held_to_what_they_are(arm: str) -> None:
    scene = limber.Scene(arm)
    assert scene.static(at="0 s", load=0.5)["arm.tip.position.z"] > scene.static()["arm.tip.position.z"]
    for wrong in ({"at": "1 m"}, {"loads": 2}, {"load_steps": 0}, {"modes": 1.5}, {"at": -1}, {"load": float("nan")}):
        with pytest.raises(ValueError):
            scene.static(**wrong)
    with pytest.raises(ValueError, match="method"):
        scene.static(method="magic")


def test_curves(arm: str) -> None:
    arch = limber.scenes.arch
    path = arch.path()
    assert path.ok and "limit" in path.kinds and np.max(path.loads) > 1 - 1e-9
    assert path["energy.elastic"].shape == (len(path),)
    assert path.moment(-1).points["arch"].shape[1] == 3
    ramp = limber.Scene(arm).load_curve(4, weight=True)
    assert len(ramp) == 5 and ramp.loads[-1] == 1
    assert ramp["arm.tip.position"].shape == (5, 3)
    again = pickle.loads(pickle.dumps(limber.Scene(arm).static()))
    assert again["arm.tip.position.z"] == ramp["arm.tip.position"][-1, 2] or again.stable


def test_reports() -> None:
    rest = limber.scenes.cantilever.static()
    page = rest._repr_html_()
    assert page is None or (page.startswith("<iframe") and len(page) > 100_000)
