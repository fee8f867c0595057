"""Derivatives of what a rest says, by parameters and by numbers of its scene."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _limber, _paths
from ._columns import Columns
from ._moment import Floats

if TYPE_CHECKING:
    from ._scene import Scene

_STEP = 1e-5  # of a parameter: differences of forces are then good to 1e-10 and better


class Derivatives:
    """Of one rest; it is found once, for outputs that are probed."""

    def __init__(self, scene: Scene, run: dict[str, Any], statics: dict[str, Any]) -> None:
        self._scene = scene
        self._of = _limber.StaticGradient(scene._compile(), run, statics)
        self.columns = Columns(self._of.columns)
        self._known: dict[str, Floats] = {}

    def by(self, name: str) -> Floats:
        """Of every column, by a parameter or a key of the scene, in SI."""
        if name not in self._known:
            value, unit = self._value(name)
            delta = _STEP * abs(value) if value else 1e-6
            up = self._with(name, value + delta, unit)
            down = self._with(name, value - delta, unit)
            self._known[name] = self._of.derivative(up._compile(), down._compile(), delta)
        return self._known[name]

    def _value(self, name: str) -> tuple[float, str]:
        parameters = self._scene.parameters
        if name in parameters:
            return parameters[name].value, parameters[name].unit
        at, key = _paths.find(self._scene._open(), name)
        text = at[key]
        if isinstance(text, bool) or not isinstance(text, (int, float, str)):
            raise ValueError(f'"{name}" is no number')
        try:
            return _limber.evaluate(self._scene._compile(), str(text).lstrip("="))
        except ValueError as e:
            raise ValueError(f'"{name}": {e}') from None

    def _with(self, name: str, value: float, unit: str) -> Scene:
        text = f"{value!r} {unit}".strip()
        if name in self._scene.parameters:
            return self._scene.with_(**{name: text})
        return self._scene.with_({name: float(value) if not unit else text})


def probed(scene: Scene, outputs: Sequence[str]) -> Scene:
    """The scene, with these among its probes."""
    missing = [re.sub(r"\.[xyzw]$", "", o) for o in outputs]
    have = scene.get("probes") or []
    if not isinstance(have, list):
        raise ValueError("the scene's probes are no list")
    names = {p if isinstance(p, str) else None for p in have}
    # Energies are in every rest; all else has to be asked for.
    new = list(dict.fromkeys(m for m in missing if m not in names and not m.startswith("energy.")))
    if not new:
        return scene
    out = scene.with_()
    out["probes"] = [*have, *new]
    return out


def matrix(of: Derivatives, outputs: Sequence[str], wrt: Sequence[str]) -> Floats:
    """(numbers of the outputs, one after the other; parameters)"""
    rows: list[int] = []
    for output in outputs:
        found = of.columns.find(output)
        rows += [found] if isinstance(found, int) else found
    out = np.empty((len(rows), len(wrt)))
    for k, name in enumerate(wrt):
        out[:, k] = of.by(name)[rows]
    return out
