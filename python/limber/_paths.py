"""Places in a scene by their path: "sections.blade.height".

What stands between two names of a path may be left out where there is only one such place:
sections.blade.rectangle.height is sections.blade.height too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Place = tuple[Any, Any]  # a dictionary or list, and the key or index in it


def _inside(at: Any) -> Iterator[Any]:
    if isinstance(at, dict):
        yield from at.values()


def _places(at: Any, parts: list[str], skip: int) -> list[Place]:
    found: list[Place] = []
    for n in range(1, len(parts) + 1):  # names may hold dots
        name, rest = ".".join(parts[:n]), parts[n:]
        key: Any = None
        if isinstance(at, dict) and name in at:
            key = name
        elif isinstance(at, list) and name.isdigit() and int(name) < len(at):
            key = int(name)
        if key is None:
            continue
        found += _places(at[key], rest, 1) if rest else [(at, key)]
    if not found and skip:
        for below in _inside(at):
            found += _places(below, parts, skip - 1)
    return found


def find(tree: dict[str, Any], path: str) -> Place:
    """The one place that a path means; KeyError if there is none, or more than one."""
    found = _places(tree, path.split("."), 0) if isinstance(path, str) else []
    if not found:
        raise KeyError(f'the scene has no "{path}"')
    if len(found) > 1:
        raise KeyError(f'"{path}" means {len(found)} places of the scene')
    return found[0]
