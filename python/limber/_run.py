"""Runs: folders of the run loop, and what was recorded in them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _command, _gradient, _html, _limber
from ._columns import Columns
from ._errors import Diverged
from ._gradient import Output, Sensitivity
from ._moment import Floats, Moment

if TYPE_CHECKING:
    import pandas
    import xarray

    from ._scene import Progress, Scene


class Frames:
    """What was recorded at each time, of all that moves."""

    def __init__(self, recording: _limber.Recording) -> None:
        self._recording = recording
        self._layout = recording.layout

    @property
    def names(self) -> list[str]:
        """Bodies and links, in the order of `poses`."""
        return self._layout.frames

    @property
    def lines(self) -> dict[str, int]:
        """Beams, springs and threads, in the order of `points`, and how many points each has."""
        return dict(self._layout.lines)

    @cached_property
    def poses(self) -> Floats:
        """(frames, bodies, 7): x, y, z [m] and the unit quaternion w, x, y, z."""
        return self._recording.poses()

    @cached_property
    def points(self) -> Floats:
        """(frames, points of all lines, 3) [m]."""
        return self._recording.points()

    def of(self, name: str) -> Floats:
        """Poses of a body (frames, 7), or points of a line (frames, points, 3)."""
        if name in self.names:
            return self.poses[:, self.names.index(name)]
        begin = 0
        for line, count in self._layout.lines:
            if line == name:
                return self.points[:, begin : begin + count]
            begin += count
        raise KeyError(f'there is no body or line "{name}"')

    def __len__(self) -> int:
        return len(self._recording)

    def __getitem__(self, index: int) -> Moment:
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"there are {len(self)} frames, not {index}")
        return Moment(self._recording.moment(at))

    def __repr__(self) -> str:
        return f"<limber.Frames: {len(self)} of {len(self.names)} bodies and {len(self.lines)} lines>"


class Run:
    """A finished run: `run.times`, `run["tip.position"]`, `run.frames.poses`."""

    def __init__(self, folder: str | os.PathLike[str], *, _kept: tempfile.TemporaryDirectory[str] | None = None) -> None:
        self.folder = Path(folder)  #: with the files that docs/run-folder.md describes
        self._kept = _kept  # what was recorded without a folder goes with the run
        self._recording = _limber.Recording(str(self.folder / "frames"))
        self._columns = Columns(self._recording.layout.columns)
        self._derivatives: _gradient.RunDerivatives | None = None

    @classmethod
    def _of(
        cls, scene: Scene, folder: str | os.PathLike[str] | None, force: bool, progress: Progress, options: dict[str, Any]
    ) -> Run:
        kept = tempfile.TemporaryDirectory(prefix="limber-") if folder is None else None
        at = Path(kept.name) / "run" if kept is not None else Path(os.fspath(folder))  # type: ignore[arg-type]
        bar = _Bar() if progress is True else None
        tell = bar if bar is not None else progress if callable(progress) else None
        try:
            outcome = _limber.run(scene._compile(), options, str(at), force, list(scene._set.items()), tell)
        finally:
            if bar is not None:
                bar.end()
        run = cls(at, _kept=kept)
        if outcome != "done":
            report = run.info["report"]
            raise Diverged(
                report.get("message", outcome), status=outcome, time=report.get("time", 0.0), worst=report.get("worst", ""), run=run
            )
        return run

    # --- numbers

    @cached_property
    def times(self) -> Floats:
        """[s] of each frame."""
        return self._recording.times()

    @cached_property
    def _scalars(self) -> Floats:
        return self._recording.scalars()

    def __getitem__(self, name: str) -> Floats:
        """Of a probe: (frames,), or (frames, 3) of a vector."""
        return self._scalars[:, self._columns.find(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    @property
    def columns(self) -> dict[str, str]:
        """What is probed, and its unit."""
        return dict(self._columns.units)

    @cached_property
    def frames(self) -> Frames:
        """Poses and points of all that moves."""
        return Frames(self._recording)

    def __len__(self) -> int:
        return len(self._recording)

    # --- how it went

    @cached_property
    def info(self) -> dict[str, Any]:
        """run.json: what ran, with which options, and how it went."""
        out: dict[str, Any] = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        return out

    @property
    def outcome(self) -> str:
        """done, diverged, not_converged or interrupted."""
        return str(self.info["outcome"])

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the numbers worth less."""
        return tuple(self.info.get("warnings", ()))

    @property
    def events(self) -> list[dict[str, Any]]:
        """Events of the scene that happened."""
        return list(self.info.get("events", ()))

    # --- derivatives

    @cached_property
    def scene(self) -> Scene:
        """The scene as it was run."""
        from ._scene import load

        given = {p["name"]: p["value"] for p in self.info.get("set", ())}
        return load(self.folder / "scene" / str(self.info["scene"]), **given)

    @property
    def options(self) -> dict[str, Any]:
        """With which it ran: of every run, and of its method."""
        told = dict(self.info["options"])
        return {**{k: v for k, v in told.items() if not isinstance(v, dict)}, **told.get(str(told["method"]), {})}

    def gradient(self, output: Output, wrt: Sequence[str], *, at: float | str | None = None) -> Floats:
        """How a number of the run changes with parameters of its scene, or with numbers of it by their path, in SI:
        (parameters,), of a vector (3, parameters).

        `output` is what can be probed, whether the scene does or not, at the last frame or at the time `at`; or the
        derivatives of a scalar of the whole trajectory by what is recorded, {"tip.position": (frames, 3), …}. By the
        adjoint of the implicit step, of the discrete motion: a run of its own, one walk backwards, and per parameter
        two evaluations of the equations of motion at each stage. ValueError where there is none: loops, contact,
        friction, controllers, events, stops that are hit, parameters that change more than numbers."""
        wrt = _names(wrt)
        found = [s.by for s in self._sensitivities(output, wrt, at, False)]
        out = np.array([[by[name] for name in wrt] for by in found])
        return out[0] if len(out) == 1 else out

    def sensitivity(
        self, output: Output, wrt: Sequence[str] = (), *, at: float | str | None = None, forces: bool = True
    ) -> Sensitivity:
        """The same of one number, with more: by where the run starts, and by a force on each freedom at every step."""
        found = self._sensitivities(output, _names(wrt), at, forces)
        if len(found) != 1:
            raise ValueError(f"{output}: expected one number, got {len(found)}; name its component")
        return found[0]

    def _sensitivities(self, output: Output, wrt: list[str], at: float | str | None, forces: bool) -> list[Sensitivity]:
        names = [output] if isinstance(output, str) else list(output)
        if not all(isinstance(name, str) for name in names):
            raise TypeError(f"expected names, got {output!r}")
        if self._derivatives is None or not all(n in self._derivatives.columns for n in names):
            self._derivatives = _gradient.RunDerivatives(_gradient.probed(self.scene, names), self.options)
        of = self._derivatives
        time = None if at is None else _limber.quantity(at, "at", "s")
        return [of.find(numbers, wrt, forces) for numbers in of.numbers(output, time)]

    # --- elsewhere

    def to_pandas(self) -> pandas.DataFrame:
        """A table of what is probed, by time."""
        import pandas

        return pandas.DataFrame(
            {name: self._scalars[:, i] for i, name in enumerate(self._columns.units)},
            index=pandas.Index(self.times, name="time"),
        )

    def to_xarray(self) -> xarray.Dataset:
        """What is probed, poses and points, with names and units."""
        import xarray

        data: dict[str, Any] = {
            name: ("time", self._scalars[:, i], {"units": unit}) for i, (name, unit) in enumerate(self._columns.units.items())
        }
        data["poses"] = (("time", "body", "pose"), self.frames.poses)
        data["points"] = (("time", "point", "axis"), self.frames.points, {"units": "m"})
        coords = {
            "time": ("time", self.times, {"units": "s"}),
            "body": self.frames.names,
            "pose": ["x", "y", "z", "qw", "qx", "qy", "qz"],
            "axis": ["x", "y", "z"],
        }
        return xarray.Dataset(data, coords=coords, attrs={"title": self._recording.layout.title})

    def save(self, folder: str | os.PathLike[str]) -> Run:
        """Its folder, copied to a place that keeps."""
        return Run(shutil.copytree(self.folder, folder))

    def report(self, file: str | os.PathLike[str]) -> None:
        """Writes its report: one file, for any browser."""
        _limber.write_file(str(self.folder), "report", os.fspath(file))

    def csv(self, file: str | os.PathLike[str]) -> None:
        """Writes what is probed as a table."""
        _limber.write_file(str(self.folder), "csv", os.fspath(file))

    def glb(self, file: str | os.PathLike[str]) -> None:
        """Writes the animation as glTF 2.0."""
        _limber.write_file(str(self.folder), "glb", os.fspath(file))

    def vtk(self, folder: str | os.PathLike[str]) -> None:
        """Writes scene.pvd and vtk/ for ParaView into a folder."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        _limber.write_file(str(self.folder), "vtk", os.fspath(folder))

    # --- as a value

    def __getstate__(self) -> dict[str, bytes]:
        files = [f for f in self.folder.rglob("*") if f.is_file() and f.name != "lock"]
        return {str(f.relative_to(self.folder)): f.read_bytes() for f in files}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        kept = tempfile.TemporaryDirectory(prefix="limber-")
        at = Path(kept.name) / "run"
        for name, data in state.items():
            (at / name).parent.mkdir(parents=True, exist_ok=True)
            (at / name).write_bytes(data)
        Run.__init__(self, at, _kept=kept)

    def _repr_html_(self) -> str | None:
        try:
            return _html.frame(_html.page_by_file(self.report))
        except (OSError, ValueError):  # built without the page
            return None

    def __repr__(self) -> str:
        end = f"{self.times[-1]:g} s" if len(self) else "nothing"
        return f"<limber.Run of {self.info['scene']}: {self.outcome}, {len(self)} frames to {end}>"


def _names(wrt: Sequence[str]) -> list[str]:
    names = [wrt] if isinstance(wrt, str) else list(wrt)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"expected names, got {name!r}")
    return names


def open_run(folder: str | os.PathLike[str]) -> Run:
    """A run that stands in a folder."""
    return Run(folder)


def resume(folder: str | os.PathLike[str]) -> Run:
    """Goes on with a run that was interrupted or killed, bit for bit, and opens it."""
    done = subprocess.run([str(_command.path()), "resume", os.fspath(folder), "--quiet"], capture_output=True, text=True)
    if done.returncode == 3:
        raise Diverged(done.stderr.strip(), run=Run(folder))
    if done.returncode:
        raise OSError(done.stderr.strip())
    return Run(folder)


class _Bar:
    """How far a run is, on stderr."""

    def __init__(self) -> None:
        self._told = ""

    def __call__(self, time: float, end: float) -> None:
        share = 1.0 if end <= 0 else time / end
        text = f"\r[{'#' * int(30 * share):<30}] {100 * share:3.0f} %  {time:.4g} of {end:.4g} s"
        if text != self._told:
            sys.stderr.write(text)
            sys.stderr.flush()
            self._told = text

    def end(self) -> None:
        if self._told:
            sys.stderr.write("\n")


Scalar = Union[float, Floats]
