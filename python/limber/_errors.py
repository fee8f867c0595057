"""What goes wrong, as exceptions that carry all there is to know."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._run import Run
    from ._static import Equilibrium

__all__ = ["Diverged", "Fault", "LimberError", "NotConverged", "SceneError"]


class LimberError(Exception):
    """Whatever limber itself has to say. Wrong arguments are ValueError and TypeError, files OSError."""


@dataclasses.dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a scene, and where."""

    file: str
    line: int  #: from 1; 0: not in a file
    column: int  #: from 1, in characters
    path: str  #: of the key: "beams.finger.length"
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else f"{self.file}: " if self.file else ""
        path = f"{self.path}: " if self.path and self.line else ""
        return place + path + self.message


class SceneError(LimberError, ValueError):
    """A scene is wrong, or a method refuses it: every fault with its place."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(faults)
        super().__init__("\n".join(str(f) for f in self.faults))

    def __reduce__(self) -> tuple[Any, ...]:
        return (SceneError, (self.faults,))


class NotConverged(LimberError, ArithmeticError):
    """A search for a rest found none. `equilibrium` is where it ended, if there is anything to see."""

    def __init__(self, message: str, *, equilibrium: Equilibrium | None = None) -> None:
        super().__init__(message)
        self.equilibrium = equilibrium

    def __reduce__(self) -> tuple[Any, ...]:
        return (NotConverged, (str(self),))


class Diverged(LimberError, ArithmeticError):
    """A motion diverged, or a step did not converge. `run` holds the frames so far; None of a single step."""

    def __init__(
        self, message: str, *, status: str = "diverged", time: float = 0.0, worst: str = "", run: Run | None = None
    ) -> None:
        super().__init__(message)
        self.status = status  #: "diverged" or "not_converged"
        self.time = time  #: [s] where it failed
        self.worst = worst  #: the body or joint where it is worst, if known
        self.run = run

    def __reduce__(self) -> tuple[Any, ...]:
        return (_diverged, (str(self), self.status, self.time, self.worst, self.run))


def _diverged(message: str, status: str, time: float, worst: str, run: Run | None) -> Diverged:
    return Diverged(message, status=status, time=time, worst=worst, run=run)


# Called by the extension.
def scene_error(faults: list[tuple[str, int, int, str, str]]) -> SceneError:
    return SceneError(Fault(*f) for f in faults)


def diverged(status: str, message: str, time: float, worst: str) -> Diverged:
    return Diverged(message, status=status, time=time, worst=worst)
