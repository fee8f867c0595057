"""Derivatives of what a rest or a run says, by parameters and by numbers of its scene."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _limber, _paths
from ._columns import Columns
from ._moment import Floats

if TYPE_CHECKING:
    from ._scene import Scene

_STEP = 1e-5  # of a parameter: differences of forces are then good to 1e-10 and better


class _Numbers:
    """Parameters and keys of a scene as numbers, and the scene with others in their place."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._parameters = scene.parameters

    def is_parameter(self, name: str) -> bool:
        """Else it is a key."""
        return name in self._parameters

    def with_parameters(self, keys: Sequence[str]) -> tuple[Scene, dict[str, str]]:
        """The scene with parameters in the place of keys of its materials, sections and loads, and their names."""
        out, names = self.scene.with_(), {}
        for i, key in enumerate(keys):
            if not key.startswith(("materials.", "sections.", "loads.", "gravity")):
                continue
            value, unit = self._value(key)
            names[key] = f"limber_key_{i}"
            out["parameters"] = {**(out.get("parameters") or {}), names[key]: f"{value!r} {unit}".strip()}
            out.set({key: f"={names[key]}"})
        return out, names

    def step(self, name: str) -> tuple[float, str, float]:
        """Its value, the unit, and a little more of it."""
        value, unit = self._value(name)
        return value, unit, _STEP * abs(value) if value else 1e-6

    def sides(self, name: str) -> tuple[_limber.CompiledScene, _limber.CompiledScene, float]:
        """The scene with a little more and a little less of it, and how much that is, in SI."""
        value, unit, delta = self.step(name)
        if name in self._parameters:
            up_text, down_text = f"{value + delta!r} {unit}".strip(), f"{value - delta!r} {unit}".strip()
            return self.scene._compile_with(name, up_text), self.scene._compile_with(name, down_text), delta
        up, down = self._with(name, value + delta, unit), self._with(name, value - delta, unit)
        return up._compile(), down._compile(), delta

    def _value(self, name: str) -> tuple[float, str]:
        if name in self._parameters:
            return self._parameters[name].value, self._parameters[name].unit
        at, key = _paths.find(self.scene._open(), name)
        text = at[key]
        if isinstance(text, bool) or not isinstance(text, (int, float, str)):
            raise ValueError(f'"{name}" is no number')
        try:
            return _limber.evaluate(self.scene._compile(), str(text).lstrip("="))
        except ValueError as e:
            raise ValueError(f'"{name}": {e}') from None

    def _with(self, name: str, value: float, unit: str) -> Scene:
        return self.scene.with_({name: f"{value!r} {unit}" if unit else float(value)})


class Derivatives:
    """Of one rest; it is found once, for outputs that are probed."""

    def __init__(self, scene: Scene, run: dict[str, Any], statics: dict[str, Any]) -> None:
        self._numbers = _Numbers(scene)
        self._of = _limber.StaticGradient(scene._compile(), run, statics)
        self.columns = Columns(self._of.columns)
        self._known: dict[str, Floats] = {}
        # Scene and parameter by which a name is varied. Keys have a scene apart: what stood there counts no more in it.
        self._varied: dict[str, tuple[_limber.Variations, str]] = {}
        self._variations: _limber.Variations | None = None

    def prepare(self, names: Sequence[str]) -> None:
        """What is to be asked: keys are made parameters, so that they can be varied as such."""
        new = [n for n in names if n not in self._varied and n not in self._known]
        parameters = [n for n in new if self._numbers.is_parameter(n)]
        if parameters and self._variations is None:
            self._variations = _limber.Variations(self._numbers.scene._compile())
        for name in parameters:
            assert self._variations is not None
            self._varied[name] = (self._variations, name)
        try:
            scene, keys = self._numbers.with_parameters([n for n in new if not self._numbers.is_parameter(n)])
            if keys:
                of = _limber.Variations(scene._compile())
                self._varied.update({key: (of, parameter) for key, parameter in keys.items()})
        except ValueError:  # a key that takes no expression: by() tells
            pass

    def short(self, name: str) -> Floats | None:
        """Of the columns that tell where things stand, NaN of others, without reading the scene anew; None where the
        parameter or key changes more than numbers of materials, sections and loads."""
        if name not in self._varied:
            return None
        return self._of.by_parameter(*self._varied[name], *self._numbers.step(name))

    def by(self, name: str, columns: Sequence[int]) -> Floats:
        """Of these columns, by a parameter or a key of the scene, in SI."""
        if name not in self._known:
            found = self.short(name)
            self._known[name] = np.full(len(self._of.columns), np.nan) if found is None else found
        if np.isnan(self._known[name][columns]).any():
            self._known[name] = self._of.derivative(*self._numbers.sides(name))
        return self._known[name][columns]


class Sensitivity:
    """What a number of a run hangs on: where the run starts, forces at every step, parameters."""

    def __init__(self, found: dict[str, Any], wrt: Sequence[str], freedoms: Sequence[tuple[str, int]]) -> None:
        self.value: float = found["value"]  #: the number itself
        self.by: dict[str, float] = dict(zip(wrt, found["by"].tolist()))  #: per SI unit of each parameter
        self.positions: Floats = found["positions"]  #: (freedoms,) by the coordinates that it starts from
        self.velocities: Floats = found["velocities"]  #: (freedoms,) by the rates that it starts with
        self.forces: Floats | None = found.get("forces")  #: (steps, freedoms) by a force on each during each step
        self.freedoms: list[tuple[str, int]] = list(freedoms)  #: joint and number of its coordinate, of each

    def of(self, joint: str) -> list[int]:
        """The freedoms of a joint, in the order of its coordinates."""
        found = [i for i, (name, _) in enumerate(self.freedoms) if name == joint]
        if not found:
            raise KeyError(f'there is no joint "{joint}" that moves')
        return found

    def __repr__(self) -> str:
        return f"<limber.Sensitivity of {self.value:.6g} to {len(self.by)} parameters and {len(self.freedoms)} freedoms>"


class RunDerivatives:
    """Of one run, for outputs that are probed."""

    def __init__(self, scene: Scene, options: dict[str, Any]) -> None:
        self._scene, self._options = scene, options
        self._numbers = _Numbers(scene)
        self._of = _limber.RunGradient(scene._compile(), options)
        self.columns = Columns(self._of.columns)
        self.times = self._of.times
        self._sides: dict[str, tuple[_limber.CompiledScene, _limber.CompiledScene, float]] = {}

    def numbers(self, output: Output, at: float | None) -> list[list[tuple[int, int, float]]]:
        """Frame, column and weight of what the derivatives are wanted of: a list for each of them."""
        if isinstance(output, str):
            frame = -1 if at is None else self._frame(at)
            found = self.columns.find(output)
            return [[(frame, column, 1.0)] for column in ([found] if isinstance(found, int) else found)]
        if at is not None:
            raise ValueError("at: weights say the frames already")
        out: list[tuple[int, int, float]] = []
        for name, given in output.items():
            found = self.columns.find(name)
            columns = [found] if isinstance(found, int) else found
            weights = np.asarray(given, dtype=np.float64)
            wanted = (len(self.times),) if isinstance(found, int) else (len(self.times), len(columns))
            if weights.shape != wanted:
                raise ValueError(f"{name}: expected weights of shape {wanted}, got {weights.shape}")
            if not np.all(np.isfinite(weights)):
                raise ValueError(f"{name}: expected finite weights")
            table = weights.reshape(len(self.times), len(columns))
            out += [(int(f), columns[c], float(table[f, c])) for f, c in np.argwhere(table)]
        return [out]

    def _frame(self, at: float) -> int:
        frame = int(np.argmin(np.abs(self.times - at)))
        if not abs(self.times[frame] - at) <= 1e-9 * max(1.0, abs(at)):
            raise ValueError(f"at: there is no frame at {at:g} s; the nearest is at {self.times[frame]:g} s")
        return frame

    def find(self, numbers: list[tuple[int, int, float]], wrt: Sequence[str], forces: bool) -> Sensitivity:
        """The derivatives of a weighted sum of recorded numbers."""
        for name in wrt:
            if name not in self._sides:
                sides = self._numbers.sides(name)
                for side in sides[:2]:
                    if side.options != self._scene._compile().options:
                        raise ValueError(f'"{name}" changes how the scene is run: there is no gradient')
                self._sides[name] = sides
        sides_of = [self._sides[name] for name in wrt]
        found = self._of.of(numbers, [s[0] for s in sides_of], [s[1] for s in sides_of], [s[2] for s in sides_of], forces)
        return Sensitivity(found, wrt, self._of.freedoms)


Output = Union[str, Mapping[str, Any]]


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
    of.prepare(wrt)
    out = np.empty((len(rows), len(wrt)))
    for k, name in enumerate(wrt):
        out[:, k] = of.by(name, rows)
    return out
