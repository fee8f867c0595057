"""Calls of anything with anything end in a result or in a Python exception."""

from __future__ import annotations

import inspect
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import limber
from limber import _limber

CALLS = int(os.environ.get("LIMBER_CALLS", "10000"))

SCENES = [
    "limber: 1\nbodies:\n  a: {sphere: 1 cm, mass: 1 kg}\nprobes: [a.position]\nrun: {time: 0.02 s}\n",
    "limber: 1\nparameters: {heavy: 1 kg}\nbodies:\n  a: {sphere: 1 cm, mass: =heavy, at: [0, 0, -1]}\njoints:\n"
    "  j: {type: revolute, child: a, at: [0, 0, 0], axis: [0, 1, 0], stiffness: 1 N*m/rad, drive: {force: 0}}\n"
    "probes: [j.angle]\nrun: {time: 0.02 s, step: 10 ms}\n",
    "limber: 1\nmaterials:\n  s: {E: 200 GPa, nu: 0.3, density: 7800}\nsections:\n  c: {circle: {radius: 1 mm}}\n"
    "beams:\n  b: {path: [[0, 0, 0], [0.1, 0, 0]], material: s, section: c, elements: 3}\nrun: {time: 0.01 s}\n",
    "limber: 1\nbodies: {a: {mass: -1}}\n",
    "",
    "[1, 2, 3]",
    "{a: &x [*x]}",
]


def junk(rng: random.Random) -> Any:
    return rng.choice(
        [
            None, True, 0, 1, -1, 3, 2**70, 0.0, -0.5, 1e-300, 1e300, float("inf"), float("nan"), "", "a", "j", "b", "heavy",
            "a.position", "j.angle", "1 s", "2 kg", "1 mm +", "\x00", "ü" * 50, "bodies.a.mass", "sections.c.radius", b"",
            b"\x00" * 40, [], [1, 2], ["a"], [None], {}, {"a": 1}, {"method": "rom"}, {1: 2}, (), ("a", "b"), object(),
            np.zeros(3), np.ones((2, 2)), lambda *a: None, "articulated", "chain", "thread", "adaptive", "rom", "rest",
        ]
    )  # fmt: skip


OPTIONS = ["time", "step", "method", "frame", "at", "load", "modes", "integrator", "error", "x", "folder", "ends", "steps"]
# What would be over after hours, or would open windows, by rights.
PASSED_OVER = {"view", "seconds_of", "resume", "View"}


def names_of(thing: Any) -> list[str]:
    return [n for n in dir(thing) if not n.startswith("__") and n not in PASSED_OVER]


def some_call(rng: random.Random, things: list[Any]) -> Any:
    thing = rng.choice(things)
    names = names_of(thing)
    if not names:
        return None
    value = getattr(thing, rng.choice(names))
    if not callable(value) or inspect.ismodule(value):
        return value
    return value(*arguments(rng), **options(rng))


def arguments(rng: random.Random) -> list[Any]:
    return [junk(rng) for _ in range(rng.choice([0, 0, 1, 1, 2, 3]))]


def options(rng: random.Random) -> dict[str, Any]:
    return {rng.choice(OPTIONS): junk(rng) for _ in range(rng.choice([0, 0, 0, 1]))}


def special_call(rng: random.Random, things: list[Any]) -> Any:
    thing = rng.choice(things)
    kind = rng.randrange(5)
    if kind == 0:
        return thing[junk(rng)]
    if kind == 1:
        thing[junk(rng)] = junk(rng)
        return None
    if kind == 2:
        return repr(thing)
    if kind == 3:
        return len(thing)
    return thing == junk(rng)


def fresh(rng: random.Random) -> list[Any]:
    out: list[Any] = [limber, _limber]
    for text in SCENES:
        out.append(limber.Scene(text))
    good = limber.Scene(SCENES[rng.randrange(3)])
    out += [good, good.static() if SCENES[2] == good.text else good.simulate(), good.run() if rng.random() < 0.3 else good]
    return out


@pytest.mark.filterwarnings("ignore")
def test_random_calls(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("calls"))  # names that are taken for files
    rng = random.Random(20)
    things: list[Any] = fresh(rng)
    results = errors = 0
    for i in range(CALLS):
        if i % 100 == 0:
            things = fresh(rng)
        call: Callable[[random.Random, list[Any]], Any] = special_call if rng.random() < 0.2 else some_call
        try:
            value = call(rng, things)
        except Exception:  # noqa: BLE001
            errors += 1
            continue
        results += 1
        if type(value).__module__.startswith("limber") and len(things) < 40:
            things.append(value)
    assert results + errors == CALLS and results > CALLS / 10 and errors > CALLS / 10
