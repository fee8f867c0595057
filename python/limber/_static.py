"""Where scenes come to rest, and curves of such rests."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from . import _gradient, _html, _limber
from ._columns import Columns
from ._errors import NotConverged
from ._moment import Floats, Moment, Points, options_of_statics

if TYPE_CHECKING:
    from ._scene import Scene


class _Page:
    """What has a report."""

    def _write_page(self, file: str) -> str:
        raise NotImplementedError

    def report(self, file: str | os.PathLike[str]) -> None:
        """Writes its report: one file, for any browser."""
        self._write_page(os.fspath(file))

    def _repr_html_(self) -> str | None:
        try:
            return _html.frame(_html.page_by_file(self._write_page))
        except OSError:  # built without the page
            return None


class Equilibrium(_Page):
    """Where a scene comes to rest, whether it would stay there, and what it carries."""

    def __init__(self, scene: Scene, rest: _limber.Rest, arguments: tuple[str | None, dict[str, Any]]) -> None:
        self.scene = scene  #: as it was asked; a copy
        self._rest = rest
        self._arguments = arguments
        self._derivatives: _gradient.Derivatives | None = None

    @classmethod
    def _find(cls, scene: Scene, method: str | None, options: dict[str, Any]) -> Equilibrium:
        scene = scene.with_()
        statics, run = options_of_statics(options)
        if method is not None:
            statics["method"] = method
        out = cls(scene, _limber.find_rest(scene._compile(), run, statics), (method, dict(options)))
        if not out._rest.ok:
            raise NotConverged(out._rest.message, equilibrium=out)
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return (Equilibrium._find, (self.scene, *self._arguments))  # the same bits, found again

    # --- how it stands

    @property
    def stable(self) -> bool:
        """It would stay there. False too where the method cannot count (see `statements`)."""
        return self._rest.stable

    @property
    def method(self) -> str:
        """That found it."""
        return self._rest.method

    @property
    def negative(self) -> int:
        """Directions in which it would leave."""
        return self._rest.negative

    @property
    def residual(self) -> float:
        """Forces left over, relative to those that act."""
        return self._rest.residual

    @property
    def iterations(self) -> int:
        """Newton steps in all."""
        return self._rest.iterations

    @property
    def error(self) -> float | None:
        """Of the elements' number, of the structure's size, where it was asked for (estimate=True, error=…)."""
        return self._rest.error

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the numbers worth less."""
        return tuple(self._rest.warnings)

    @property
    def statements(self) -> dict[str, str]:
        """What was found, in words."""
        return dict(self._rest.statements)

    # --- what it says

    @property
    def moment(self) -> Moment:
        """Everything at rest."""
        return Moment(self._rest.moment)

    @property
    def unloaded(self) -> Moment:
        """Everything before the loads came on."""
        return Moment(self._rest.unloaded)

    def __getitem__(self, name: str) -> Union[float, Floats]:
        return self.moment[name]

    @property
    def points(self) -> Points:
        """Places at rest, by name: a body's origin, a beam's points ("arm"), its tip ("arm.tip") [m]."""
        return Points(self._rest.moment)

    @property
    def poses(self) -> Floats:
        """(bodies, 7): x, y, z [m] and the unit quaternion w, x, y, z."""
        return self._rest.moment.poses

    @property
    def bodies(self) -> list[str]:
        """Names of what has a pose, in the order of `poses`."""
        return self._rest.moment.layout.frames

    @property
    def beams(self) -> Mapping[str, _limber.BeamRest]:
        """Beams by name: tip, forces and stress along each."""
        return MappingProxyType({b.name: b for b in self._rest.beams})

    @property
    def stress(self) -> Mapping[str, Floats]:
        """Largest von Mises stress of each section along each beam, from root to tip [Pa]."""
        return MappingProxyType({b.name: b.stress for b in self._rest.beams})

    @property
    def reactions(self) -> Mapping[str, _limber.Reaction]:
        """What holds supports, joints, loops and ties, by name; of several with one name the first."""
        out: dict[str, _limber.Reaction] = {}
        for r in self._rest.reactions:
            out.setdefault(r.name, r)
        return MappingProxyType(out)

    @property
    def all_reactions(self) -> list[_limber.Reaction]:
        """The same, every one."""
        return self._rest.reactions

    @property
    def springs(self) -> Mapping[str, tuple[float, float]]:
        """Length [m] and tension [N] of springs by name."""
        return MappingProxyType(dict(self._rest.springs))

    @property
    def modes(self) -> list[_limber.StaticMode]:
        """Lowest swings about it, by method articulated."""
        return self._rest.modes

    @property
    def lost(self) -> list[_limber.StabilityLoss]:
        """Where stability was lost or won as the loads came on."""
        return self._rest.lost

    @property
    def energy(self) -> dict[str, float]:
        """[J]"""
        gravity, elastic = self._rest.energy
        return {"gravity": gravity, "elastic": elastic}

    @property
    def stiffness(self) -> float | None:
        """Against the only load, at the rest [N/m]; None where it is not known (method chain, one load)."""
        return self._rest.stiffness

    def path(self, branch: int | str = 0, **options: Any) -> StaticCurve:
        """The path of rests to it past limit points, by method chain."""
        return self.scene.path(branch, **options)

    # --- derivatives

    def gradient(self, output: str, wrt: Sequence[str]) -> Floats:
        """How an output changes with parameters of the scene, or with its numbers by their path
        ("sections.blade.height"): SI units of the output per SI unit of each.

        The output is what can be probed, whether the scene does or not: "arm.tip.position.z" gives (parameters,), a
        vector as "arm.tip.position" (3, parameters). Implicit differentiation of the equilibrium with its factored
        tangent, by methods articulated and chain; no search is done again. ValueError where there is none: contact,
        limit points, parameters that change more than numbers (elements, names)."""
        found = self.jacobian([output], wrt)
        return found[0] if len(found) == 1 else found

    def jacobian(self, outputs: Sequence[str], wrt: Sequence[str]) -> Floats:
        """The same of several outputs: (numbers of all outputs, parameters). Parameters are paid for once."""
        wrt, outputs = [wrt] if isinstance(wrt, str) else list(wrt), [outputs] if isinstance(outputs, str) else list(outputs)
        for name in (*wrt, *outputs):
            if not isinstance(name, str):
                raise TypeError(f"expected names, got {name!r}")
        if self._derivatives is None or not all(o in self._derivatives.columns for o in outputs):
            method, options = self._arguments
            statics, run = options_of_statics({k: v for k, v in options.items() if k != "modes"})
            statics["method"] = self.method if method is None else method
            self._derivatives = _gradient.Derivatives(_gradient.probed(self.scene, outputs), run, statics)
        return _gradient.matrix(self._derivatives, outputs, wrt)

    def _write_page(self, file: str) -> str:
        return self._rest.page(file)

    def __repr__(self) -> str:
        stands = "stable" if self.stable else "unstable" if self._rest.counted else "stability not counted"
        return f"<limber.Equilibrium of {self.scene.name} by {self.method}: {stands}>"


class Turn(NamedTuple):
    """A place on a path where stability is lost or won."""

    load: float  #: factor of the loads
    deflection: float  #: of the place of the only load, along it [m]


class Snap(NamedTuple):
    """What a path tells who designs a switch."""

    snaps: Turn | None  #: it leaves its rest there as the load grows
    comes_back: Turn | None  #: and the other side there as the load falls
    stays: float | None  #: where it rests on the other side without load [m]: bistable


class StaticCurve(_Page):
    """Rests one after the other: as loads come on, along a path, in the course of time."""

    def __init__(self, scene: Scene, curve: _limber.Curve) -> None:
        self.scene = scene
        self._curve = curve
        self._columns = Columns(curve.columns)
        self._scalars = curve.scalars

    @classmethod
    def _load(cls, scene: Scene, steps: int, weight: bool, method: str | None, options: dict[str, Any]) -> StaticCurve:
        scene = scene.with_()
        statics, run = options_of_statics(options)
        if method is not None:
            statics["method"] = method
        return cls(scene, _limber.load_curve(scene._compile(), run, statics, _count(steps), weight))

    @classmethod
    def _path(cls, scene: Scene, branch: int | str, options: dict[str, Any]) -> StaticCurve:
        scene = scene.with_()
        ways: dict[int | str, int] = {-1: -1, 0: 0, 1: 1, "stable": 2}
        if isinstance(branch, bool) or not isinstance(branch, (int, str)) or branch not in ways:
            raise ValueError(f'branch: expected -1, 0, 1 or "stable", got {branch!r}')
        return cls(scene, _limber.equilibrium_path(scene._compile(), _only_statics(options), ways[branch]))

    @classmethod
    def _history(cls, scene: Scene, until: float | str, steps: int, options: dict[str, Any]) -> StaticCurve:
        scene = scene.with_()
        time = _limber.quantity(until, "until", "s")
        if not (time >= 0 and math.isfinite(time)):
            raise ValueError(f"until: expected a time that is not negative, got {time}")
        return cls(scene, _limber.static_history(scene._compile(), _only_statics(options), time, _count(steps)))

    @property
    def ok(self) -> bool:
        """It is complete; else `message` says why it ends early."""
        return self._curve.ok

    @property
    def message(self) -> str:
        """Why it ends early."""
        return self._curve.message

    @property
    def method(self) -> str:
        """That found it."""
        return self._curve.method

    @property
    def loads(self) -> Floats:
        """Share of the loads, of each point."""
        return self._curve.loads

    @property
    def times(self) -> Floats:
        """[s] whose loads act, of each point."""
        return self._curve.times

    @property
    def kinds(self) -> list[str]:
        """regular, limit or bifurcation, of each point."""
        return [self._curve.point(i).kind for i in range(len(self))]

    @property
    def columns(self) -> dict[str, str]:
        """What is probed, and its unit."""
        return dict(self._columns.units)

    @property
    def deflections(self) -> Floats:
        """Of the place of the only load of a path, along it, since the first point [m]; else zeros."""
        return np.array([self._curve.point(i).deflection for i in range(len(self))])

    @property
    def stresses(self) -> Floats:
        """Largest von Mises stress of each point of a path or a history [Pa]."""
        return np.array([self._curve.point(i).largest_stress for i in range(len(self))])

    @property
    def force(self) -> float:
        """Of the only load, at its full size [N]; 0 where there are several, or none."""
        return self._curve.force

    @property
    def stiffness(self) -> float:
        """Against the only load of a path, at its first point [N/m]; 0: not known."""
        return self._curve.stiffness

    @property
    def snap(self) -> Snap:
        """Of a path: where the structure snaps, where it comes back, whether it stays."""
        snaps, comes_back, stays = self._curve.snap
        return Snap(Turn(*snaps) if snaps else None, Turn(*comes_back) if comes_back else None, stays)

    @property
    def lost(self) -> list[_limber.StabilityLoss]:
        """Where stability is lost or won."""
        return self._curve.lost

    @property
    def events(self) -> list[str]:
        """What happened, of a history."""
        return self._curve.events

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the numbers worth less."""
        return tuple(self._curve.warnings)

    @property
    def statements(self) -> dict[str, str]:
        """What was found, in words."""
        return dict(self._curve.statements)

    def __getitem__(self, name: str) -> Floats:
        return self._scalars[:, self._columns.find(name)]

    def __len__(self) -> int:
        return len(self._curve)

    def moment(self, index: int) -> Moment:
        """Everything at one point; negative ones from the end."""
        return Moment(self._curve.moment(_index(index, len(self))))

    def _write_page(self, file: str) -> str:
        return self._curve.page(file)

    def __repr__(self) -> str:
        return f"<limber.StaticCurve of {self.scene.name} by {self.method}: {len(self)} rests>"


class UnloadedShape(_Page):
    """The shape that becomes the scene's under its loads."""

    def __init__(self, scene: Scene, shape: _limber.UnloadedShape) -> None:
        self.scene = scene
        self._shape = shape

    @classmethod
    def _find(cls, scene: Scene, options: dict[str, Any]) -> UnloadedShape:
        scene = scene.with_()
        shape = _limber.unloaded_shape(scene._compile(), _only_statics(options))
        if not shape.ok:
            raise NotConverged(shape.message or "the shape does not come back under its loads")
        return cls(scene, shape)

    @property
    def off(self) -> float:
        """Of the loaded shape from the given one, of its size."""
        return self._shape.off

    @property
    def stable(self) -> bool:
        """The given shape, under these loads."""
        return self._shape.stable

    @property
    def unloaded(self) -> Moment:
        """Without loads."""
        return Moment(self._shape.unloaded)

    @property
    def loaded(self) -> Moment:
        """Loaded again."""
        return Moment(self._shape.loaded)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the numbers worth less."""
        return tuple(self._shape.warnings)

    def _write_page(self, file: str) -> str:
        return self._shape.page(file)

    def __repr__(self) -> str:
        return f"<limber.UnloadedShape of {self.scene.name}: comes back within {self.off:.2g} of its size>"


def _only_statics(options: dict[str, Any]) -> dict[str, Any]:
    statics, others = options_of_statics(options)
    for name in others:
        raise ValueError(f"{name}: method chain has no such option")
    return statics


def _count(steps: int) -> int:
    if not isinstance(steps, int) or not 1 <= steps <= 1_000_000:
        raise ValueError(f"steps: expected a whole number from 1 on, got {steps!r}")
    return steps


def _index(index: int, size: int) -> int:
    at = index + size if index < 0 else index
    if not 0 <= at < size:
        raise IndexError(f"there are {size} points, not {index}")
    return at
