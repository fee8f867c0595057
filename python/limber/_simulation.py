"""Simulations to be stepped: for control, for learning, for watching."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from . import _command, _limber
from ._columns import Columns
from ._moment import Floats, Moment

if TYPE_CHECKING:
    from ._scene import Scene


class State(NamedTuple):
    """What a method knows of a moment. docs/python.md says what the numbers of each method are."""

    time: float  #: [s]
    positions: Floats
    velocities: Floats  #: empty where the method has none


class Simulation(_limber.Stepper):
    """A simulation that is stepped: the same steps, and bits, as those of a run.

    Arrays show the moment at which they are asked for, and are written over when one is asked for after a later step:
    nothing is copied. Keep one with `.copy()`. One thread at a time may use it.
    """

    def __init__(self, scene: Scene, **options: Any) -> None:
        self.scene = scene.with_()  #: as it was when it began
        self._given = dict(options)
        super().__init__(self.scene._compile(), options)
        self._columns = Columns(self.layout.columns)
        self._begin = {name: i for i, name in enumerate(self._columns.units)}

    def __getitem__(self, name: str) -> Union[float, Floats]:
        """What is probed, now."""
        found = self._columns.find(name)
        return float(self.scalars[found]) if isinstance(found, int) else self.scalars[found[0] : found[-1] + 1]

    @property
    def columns(self) -> dict[str, str]:
        """What is probed, and its unit."""
        return dict(self._columns.units)

    @property
    def bodies(self) -> list[str]:
        """Bodies and links, in the order of `poses`."""
        return self.layout.frames

    @property
    def now(self) -> Moment:
        """This moment, to keep."""
        return Moment(self.moment())

    @property
    def state(self) -> State:
        """Coordinates and rates of the method, as of now."""
        return State(self.time, self.q, self.v)

    def set_drive(self, name: str, values: float | Sequence[float] | Floats) -> None:
        """What the drive of a joint aims at from the next step on: its coordinate [rad or m] where it is a servo, else
        its force [N m or N]; one number, or one for each freedom."""
        super().set_drive(name, [float(x) for x in np.atleast_1d(np.asarray(values, dtype=np.float64))])

    def grab(
        self,
        body: str,
        target: Sequence[float] | Floats,
        *,
        at: Sequence[float] | Floats = (0.0, 0.0, 0.0),
        stiffness: float = 100.0,
        damping: float = 1.0,
    ) -> None:
        """Pulls a point of a body towards a place in the world with a spring [N/m] and a damper [N s/m], until
        release()."""
        super().grab(body, [float(x) for x in at], [float(x) for x in target], float(stiffness), float(damping))

    def view(self, *, port: int = 0) -> View:
        """The scene live in a browser, from its start: it can be pulled at, changed and taken back in time."""
        return View(self.scene, port=port)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self.scene, self._given, self.save()))

    def __copy__(self) -> Simulation:
        return _restored(self.scene, self._given, self.save())

    def __deepcopy__(self, memo: dict[int, Any]) -> Simulation:
        return self.__copy__()

    def __repr__(self) -> str:
        return f"<limber.Simulation of {self.scene.name} by {self.method}: {self.time:g} s, {self.steps} steps>"


def _restored(scene: Scene, options: dict[str, Any], state: bytes) -> Simulation:
    out = Simulation(scene, **options)
    out.load(state)
    return out


class View:
    """A live view, served by the command `limber view` until it is closed."""

    def __init__(self, scene: Scene, *, port: int = 0) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="limber-")
        read = scene._compile()
        if read.reduced:
            file = Path(self._folder.name) / (Path(scene.name).stem + ".rom")
            file.write_bytes(scene._reduced or b"")
        else:
            for name, text in read.sources:
                file = Path(self._folder.name) / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            file = Path(self._folder.name) / scene.name
        given = [item for k, v in scene._set.items() for item in ("--set", f"{k}={v}")]
        self._process = subprocess.Popen(
            [str(_command.path()), "view", str(file), "--no-open", "--port", str(int(port)), *given],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        said = []
        for line in self._process.stderr:
            said.append(line)
            if "limber: open " in line:
                self.url = line.partition("limber: open ")[2].strip()  #: to be opened in a browser
                return
        raise ValueError("".join(said).strip() or "the live view did not begin")

    def close(self) -> None:
        """Ends it."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        self._folder.cleanup()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.close()

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" style="width:100%;height:640px;border:0" title="limber"></iframe>'

    def __repr__(self) -> str:
        return f"<limber.View at {self.url}>"
