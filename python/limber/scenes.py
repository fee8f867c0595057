"""The scenes that come with limber: limber.scenes.bridge_car is a fresh copy of bridge-car.yaml."""

from __future__ import annotations

from pathlib import Path

from ._scene import Scene, load

_FOLDER = Path(__file__).parent / "_scenes"


def _files() -> dict[str, Path]:
    return {file.stem.replace("-", "_"): file for file in sorted(_FOLDER.glob("*.yaml"))}


def names() -> list[str]:
    """What is there."""
    return list(_files())


def __getattr__(name: str) -> Scene:
    file = _files().get(name)
    if file is None:
        raise AttributeError(f"there is no scene {name!r}; limber.scenes.names() has all of them")
    return load(file)


def __dir__() -> list[str]:
    return [*names(), "names"]
