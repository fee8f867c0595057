"""Gradients of rests against central differences of whole searches."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import limber
from limber import _gradient


def differences(scene: limber.Scene, output: str, name: str, method: str | None, relative: float = 1e-4) -> Any:
    """Of the fourth order: four searches."""

    def value(share: float) -> Any:
        p = scene.parameters[name]
        other = scene.with_(**{name: f"{p.value * (1 + share * relative)!r} {p.unit}"})
        return np.asarray(other.static(method=method)[output])

    step = relative * scene.parameters[name].value
    return (8 * (value(1) - value(-1)) - (value(2) - value(-2))) / (12 * step)


def beam_scene(rng: random.Random) -> limber.Scene:
    """A bent cantilever of two beams under a dead load, with a spring to the ground in half of the cases."""
    tree: dict[str, Any] = {
        "parameters": {
            "length": rng.uniform(0.2, 0.5), "height": rng.uniform(1e-3, 3e-3), "pull": rng.uniform(0.5, 3),
            "side": rng.uniform(-1, 1), "k": rng.uniform(10, 200), "E": rng.uniform(50e9, 200e9),
        },
        "gravity": [0, 0, -9.81],
        "materials": {"steel": {"E": "=E", "nu": 0.3, "density": rng.uniform(1000, 8000)}},
        "sections": {"blade": {"rectangle": {"width": 0.02, "height": "=height"}}},
        "beams": {
            "arm": {
                "path": [[0, 0, 0], ["=length", 0, 0]], "material": "steel", "section": "blade",
                "elements": rng.randint(3, 8),
            },
        },
        "loads": {"tip": {"on": "arm.tip", "force": [0, "=side", "=-pull"]}},
        "probes": ["arm.tip.position"],
    }  # fmt: skip
    if rng.random() < 0.5:
        tree["springs"] = {"s": {"between": ["arm.tip", {"on": "world", "at": [0.3, 0.1, 0.4]}], "stiffness": "=k", "rest_length": 0.1}}
    if not tree.get("springs"):
        del tree["parameters"]["k"]
    return limber.Scene(tree)


def linkage_scene(rng: random.Random) -> limber.Scene:
    """A pendulum of three sprung links; in half of the cases its end is tied to the ground: a loop."""
    n = 3
    tree: dict[str, Any] = {
        "parameters": {
            "mass": rng.uniform(0.5, 2), "stiffness": rng.uniform(5, 30), "reach": rng.uniform(0.2, 0.4),
            "turn": rng.uniform(-0.5, 0.5), "push": rng.uniform(-2, 2),
        },
        "bodies": {}, "joints": {},
        "loads": {"push": {"on": "b2", "force": ["=push", 0, 0.5]}},
        "probes": ["b2.position", "j0.angle"],
    }  # fmt: skip
    for i in range(n):
        tree["bodies"][f"b{i}"] = {"sphere": 0.02, "mass": "=mass", "at": [f"=reach*{i + 1}", 0, 0]}
        tree["joints"][f"j{i}"] = {
            "type": "revolute", "child": f"b{i}", "at": [f"=reach*{i}", 0, 0], "axis": [0, 1, 0],
            "stiffness": "=stiffness", "rest": "=turn",
        }  # fmt: skip
        if i:
            tree["joints"][f"j{i}"]["parent"] = f"b{i - 1}"
    if rng.random() < 0.5:
        tree["bodies"]["rod"] = {"sphere": 0.02, "mass": 0.1, "at": ["=reach*3", 0, -0.5]}
        tree["joints"]["post"] = {"type": "revolute", "child": "rod", "at": ["=reach*3", 0, -1], "axis": [0, 1, 0]}
        tree["loops"] = {"hook": {"type": "revolute", "a": "b2", "b": "rod", "at": ["=reach*3", 0, 0], "axis": [0, 1, 0]}}
    return limber.Scene(tree)


@pytest.mark.parametrize("seed", range(12))
def test_beams_by_both_methods(seed: int) -> None:
    scene = beam_scene(random.Random(seed))
    names = list(scene["parameters"])
    for method in ("chain", "articulated"):
        rest = scene.static(method=method)
        found = rest.gradient("arm.tip.position", wrt=names)
        for k, name in enumerate(names):
            wanted = differences(scene, "arm.tip.position", name, method)
            # 1e-6 of the vector; searches end at 1e-10 of the moments, and differences share what is left by 1e-4.
            assert found[:, k] == pytest.approx(wanted, rel=1e-6, abs=2e-6 * np.linalg.norm(wanted))


@pytest.mark.parametrize("seed", range(12))
def test_linkages_with_loops(seed: int) -> None:
    scene = linkage_scene(random.Random(100 + seed))
    names = list(scene["parameters"])
    rest = scene.static(method="articulated")
    found = rest.jacobian(["b2.position", "j0.angle"], wrt=names)
    assert found.shape == (4, len(names))
    for k, name in enumerate(names):
        wanted = np.append(differences(scene, "b2.position", name, None), differences(scene, "j0.angle", name, None))
        assert found[:, k] == pytest.approx(wanted, rel=1e-6, abs=2e-6 * np.linalg.norm(wanted))


def test_keys_and_parameters_are_the_same(arm: str) -> None:
    rest = limber.Scene(arm).static()
    by_parameter, by_key = rest.gradient("arm.tip.position.z", wrt=["height", "sections.blade.height"])
    assert by_parameter == pytest.approx(by_key, rel=1e-9)
    # What is not probed is probed for it: the reaction of the drive's joint by the load.
    assert rest.gradient("motor.reaction.force.z", wrt=["pull"])[0] == pytest.approx(1, rel=1e-6)


def test_where_there_is_none(arm: str) -> None:
    rest = limber.Scene(arm).static()
    with pytest.raises(ValueError, match="no gradient|no number|whole|expected"):
        rest.gradient("arm.tip.position.z", wrt=["beams.arm.elements"])
    with pytest.raises(KeyError):
        rest.gradient("arm.tip.position.z", wrt=["nothing"])
    with pytest.raises(ValueError):
        rest.gradient("arm.tip.positions", wrt=["pull"])
    ball = limber.Scene(
        {
            "parameters": {"mass": 1.0},
            "bodies": {"ball": {"sphere": 0.05, "mass": "=mass", "at": [0, 0, 0.05]}},
            "contact": {"planes": [{"at": [0, 0, 0]}]},
        }
    )
    with pytest.raises(ValueError, match="leans"):
        ball.static().gradient("ball.position.z", wrt=["mass"])


def held_scene(planar: bool, section: dict[str, Any]) -> limber.Scene:
    """An arch of two beams that is held at both ends, so that it stretches, with a dead and a following load."""
    beam = {"material": "steel", "section": "blade", "elements": 6, "planar": planar}
    return limber.Scene(
        {
            "parameters": {"E": "70 GPa", "rho": "2700 kg/m3", "size": 2e-3, "double": "=2*size", "pull": 3.0, "g": 9.81, "k": 40.0},
            "gravity": [0, 0, "=-g"],
            "materials": {"steel": {"E": "=E", "nu": 0.3, "density": "=rho"}},
            "sections": {"blade": section},
            "beams": {
                "left": {"path": [[0, 0, 0], [0.3, 0, 0.1]], **beam},
                "right": {"from": "left.tip", "path": [[0, 0, 0], [0.3, 0, -0.05]], **beam},
            },
            "ties": {"foot": {"on": "right.tip", "type": "fixed" if not planar else "revolute", "axis": [0, 1, 0]}},
            "springs": {"s": {"between": ["left.tip", {"on": "world", "at": [0.3, 0, 0.4]}], "stiffness": "=k", "rest_length": 0.1}},
            "loads": {"crown": {"on": "left.tip", "force": ["=pull/3", 0, "=-pull"]}, "push": {"on": "left.tip", "force": [0, 0, -0.2], "follows": True}},
            "probes": ["left.tip.position", "right.tip.position", "left.tip.rotation", "s.length"],
        }
    )  # fmt: skip


SECTIONS: list[dict[str, Any]] = [
    {"rectangle": {"width": "=5*size", "height": "=size"}},
    {"tube": {"outer": "=double", "inner": "=size"}},
    {"ellipse": {"a": "=3*size", "b": "=size"}},
]


@pytest.mark.parametrize("method", ["chain", "articulated"])
@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize("kind", range(len(SECTIONS)))
def test_numbers_are_as_whole_scenes(method: str, planar: bool, kind: int) -> None:
    """What materials, sections, dead loads and weight change is found without reading and compiling scenes: it has to
    be what these say."""
    scene = held_scene(planar, SECTIONS[kind])
    of = _gradient.Derivatives(scene, {}, {"method": method})
    names = [n for n in scene["parameters"] if n not in ("k", "double")]
    keys = ["materials.steel.E", "sections.blade." + next(iter(SECTIONS[kind])) + "." + list(next(iter(SECTIONS[kind].values())))[0]]
    of.prepare([*names, *keys, "loads.crown.force.2"])
    for name in [*names, *keys, "loads.crown.force.2"]:
        short = of.short(name)
        assert short is not None, name
        told = ~np.isnan(short)
        assert told.sum() >= 10  # 4 probes
        whole = of._of.derivative(*of._numbers.sides(name))
        # Beside 1e-6 of the vector: rests end at 1e-14 of their moments, and the long way divides that by its step.
        floor = 1e-14 / of._numbers.step(name)[2] + 1e-6 * np.abs(whole[told]).max()
        assert short[told] == pytest.approx(whole[told], rel=1e-6, abs=floor), name
    of.prepare(["k"])
    assert of.short("k") is None
    wanted = differences(scene, "left.tip.position", "size", method)
    assert scene.static(method=method).gradient("left.tip.position", ["size"])[:, 0] == pytest.approx(
        wanted, rel=1e-6, abs=2e-6 * np.linalg.norm(wanted)
    )


def test_what_is_more_than_numbers_is_read_anew() -> None:
    def short(change: Any, name: str) -> Any:
        scene = held_scene(False, SECTIONS[0])
        change(scene)
        of = _gradient.Derivatives(scene, {}, {"method": "articulated"})
        of.prepare([name])
        return of.short(name)

    def path(scene: limber.Scene) -> None:  # through another parameter
        scene["beams"]["left"]["path"][1] = ["=150*size", 0, 0.1]

    def body(scene: limber.Scene) -> None:  # it weighs what the material does
        scene["bodies"] = {"b": {"sphere": 0.01, "material": "steel"}}
        scene["joints"] = {"j": {"type": "fixed", "child": "b", "at": [0, 0, 0]}}

    def follower(scene: limber.Scene) -> None:
        scene["loads"]["push"]["force"] = [0, 0, "=-pull/15"]

    assert short(lambda scene: None, "size") is not None
    assert short(path, "size") is None and short(path, "E") is not None
    assert short(body, "rho") is None and short(body, "E") is not None
    assert short(follower, "pull") is None


def test_fifty_parameters_at_once() -> None:
    rng = random.Random(1)
    n = 50
    scene = limber.Scene(
        {
            "parameters": {f"p{i}": rng.uniform(0.8e-3, 1.2e-3) for i in range(n)},
            "materials": {"steel": {"E": 2e11, "nu": 0.3, "density": 7800}},
            "sections": {f"s{i}": {"rectangle": {"width": 0.02, "height": f"=p{i}"}} for i in range(n)},
            "beams": {
                f"b{i}": {
                    "from": f"b{i - 1}.tip" if i else None, "path": [[0, 0, 0], [0.02, 0, 0]], "material": "steel",
                    "section": f"s{i}", "elements": 20,
                }
                for i in range(n)
            },
            "loads": {"tip": {"on": f"b{n - 1}.tip", "force": [0, 0, -0.5]}},
            "probes": [f"b{n - 1}.tip.position"],
        }
    )  # fmt: skip
    for i in range(n):
        if scene["beams"][f"b{i}"]["from"] is None:
            del scene["beams"][f"b{i}"]["from"]
    scene.check()

    # What it costs: python -m limber.bench.
    found = scene.static().gradient(f"b{n - 1}.tip.position.z", wrt=[f"p{i}" for i in range(n)])
    # A thicker blade bends less and weighs more: at the clamp it stiffens most, at the tip its weight wins.
    assert found.argmax() == 0 and found[0] > 0 > found[-1]
