"""Moments by name: what bodies, lines and probes say at one time."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _limber
from ._columns import Columns

Floats = npt.NDArray[np.float64]


class Points(Mapping[str, Floats]):
    """Places by name: a body's origin, all points of a line ("arm"), its last one ("arm.tip") [m]."""

    def __init__(self, moment: _limber.Moment) -> None:
        layout = moment.layout
        self._poses, self._points = moment.poses, moment.points
        self._frames = {name: i for i, name in enumerate(layout.frames)}
        self._lines: dict[str, slice] = {}
        begin = 0
        for name, count in layout.lines:
            self._lines[name] = slice(begin, begin + count)
            begin += count

    def __getitem__(self, name: str) -> Floats:
        if name in self._frames:
            return self._poses[self._frames[name], :3]
        if name in self._lines:
            return self._points[self._lines[name]]
        if isinstance(name, str) and name.endswith(".tip") and name[:-4] in self._lines:
            return self._points[self._lines[name[:-4]]][-1]
        near = difflib.get_close_matches(str(name), list(self), n=1)
        raise KeyError(f'there is no body or line "{name}"' + (f'; did you mean "{near[0]}"?' if near else ""))

    def __iter__(self) -> Iterator[str]:
        yield from self._frames
        yield from self._lines

    def __len__(self) -> int:
        return len(self._frames) + len(self._lines)


class Moment:
    """One moment: `moment["tip.position"]` of what the scene probes, poses and places of all that moves."""

    def __init__(self, moment: _limber.Moment) -> None:
        self._moment = moment
        self._columns = Columns(moment.layout.columns)
        self._scalars = moment.scalars

    def __getitem__(self, name: str) -> Union[float, Floats]:
        found = self._columns.find(name)
        return float(self._scalars[found]) if isinstance(found, int) else self._scalars[found]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    @property
    def time(self) -> float:
        """[s]"""
        return self._moment.time

    @property
    def columns(self) -> dict[str, str]:
        """What is probed, and its unit."""
        return dict(self._columns.units)

    @property
    def values(self) -> dict[str, float]:
        """All that is probed."""
        return {name: float(x) for name, x in zip(self._columns.units, self._scalars)}

    @property
    def points(self) -> Points:
        """Places by name [m]."""
        return Points(self._moment)

    @property
    def bodies(self) -> list[str]:
        """Names of what has a pose, in the order of `poses`."""
        return self._moment.layout.frames

    @property
    def poses(self) -> Floats:
        """(bodies, 7): x, y, z [m] and the unit quaternion w, x, y, z."""
        return self._moment.poses

    def __repr__(self) -> str:
        return f"<limber.Moment at {self.time:g} s: {len(self.bodies)} bodies, {len(self._columns.units)} columns>"


def options_of_statics(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What concerns the rest, and what the run."""
    names = ("at", "load", "load_steps", "max_iterations", "modes", "estimate", "error")
    statics = {k: v for k, v in options.items() if k in names and v is not None}
    return statics, {k: v for k, v in options.items() if k not in names}
