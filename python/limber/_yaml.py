"""Scenes as dictionaries, written as YAML: a line for each thing, so that faults have places."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

# What the reader takes as it stands, inside of braces too; all else goes into quotes.
_PLAIN = re.compile(r"[A-Za-z_(=.][A-Za-z0-9_ .*/+()=^<>-]*[A-Za-z0-9_)]|[A-Za-z_]")
_WORDS = {"true", "false", "null", "~"}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError("a scene holds no nan")
        return repr(float(value)) if math.isfinite(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        return text(value)
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:  # a number of numpy
        return scalar(value.item())
    raise TypeError(f"a scene holds dictionaries, lists, numbers and texts, not {type(value).__name__}")


def text(value: str) -> str:
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS and not _is_number(value):
        return value
    return '"' + "".join(_ESCAPES.get(c, c) for c in value) + '"'


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _plain(value: object) -> object:
    """numpy's arrays as lists."""
    return value.tolist() if hasattr(value, "tolist") and getattr(value, "ndim", 0) else value


def flow(value: object, depth: int = 0) -> str:
    if depth > 60:
        raise ValueError("a scene is not nested so deeply")
    value = _plain(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{text(str(k))}: {flow(v, depth + 1)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return "[" + ", ".join(flow(v, depth + 1) for v in value) + "]"
    return scalar(value)


def dump(tree: Mapping[str, Any]) -> str:
    """A scene's text: keys of the scene and what stands directly below them on lines of their own."""
    lines: list[str] = []
    for key, value in tree.items():
        value = _plain(value)
        if isinstance(value, Mapping) and value:
            lines.append(f"{text(str(key))}:")
            lines += [f"  {text(str(k))}: {flow(v)}" for k, v in value.items()]
        elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)) and value:
            lines.append(f"{text(str(key))}:")
            lines += [f"  - {flow(v)}" for v in value]
        else:
            lines.append(f"{text(str(key))}: {flow(value)}")
    return "\n".join(lines) + "\n"
