"""limber: simulation of structures that bend.

>>> import limber
>>> scene = limber.scenes.cantilever
>>> rest = scene.static()
>>> run = scene.run(time=0.1)

SI throughout: metres, kilograms, seconds, newtons, radians; texts may carry other units ("3 mm"). Every array is
read-only; copy it to change it. docs/python.md has every call.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import scenes
    from ._errors import Diverged, Fault, LimberError, NotConverged, SceneError
    from ._gradient import Sensitivity
    from ._limber import BeamRest, Candidate, Comparison, Contact, MethodVerdict, Reaction, StaticMode
    from ._run import Frames, Run, open_run, resume
    from ._scene import Parameter, Reduced, Scene, Verdict, load, schema
    from ._simulation import Simulation, State, View
    from ._static import Equilibrium, Snap, StaticCurve, Turn, UnloadedShape

# What is where; nothing is loaded before it is asked for, so that the command starts at once.
_HOME = {
    "_errors": ("Diverged", "Fault", "LimberError", "NotConverged", "SceneError"),
    "_gradient": ("Sensitivity",),
    "_limber": ("BeamRest", "Candidate", "Comparison", "Contact", "MethodVerdict", "Reaction", "StaticMode"),
    "_run": ("Frames", "Run", "open_run", "resume"),
    "_scene": ("Parameter", "Reduced", "Scene", "Verdict", "load", "schema"),
    "_simulation": ("Simulation", "State", "View"),
    "_static": ("Equilibrium", "Snap", "StaticCurve", "Turn", "UnloadedShape"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "BeamRest",
    "Candidate",
    "Comparison",
    "Contact",
    "Diverged",
    "Equilibrium",
    "Fault",
    "Frames",
    "LimberError",
    "MethodVerdict",
    "NotConverged",
    "Parameter",
    "Reaction",
    "Reduced",
    "Run",
    "Scene",
    "SceneError",
    "Sensitivity",
    "Simulation",
    "Snap",
    "State",
    "StaticCurve",
    "StaticMode",
    "Turn",
    "UnloadedShape",
    "Verdict",
    "View",
    "load",
    "open_run",
    "resume",
    "scenes",
    "schema",
]


def __getattr__(name: str) -> Any:
    if name == "scenes":
        return importlib.import_module(".scenes", __name__)
    if name == "__version__":
        return importlib.import_module("._limber", __name__).version()
    if name in _MODULE_OF:
        value = getattr(importlib.import_module("." + _MODULE_OF[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
