"""Short forms: entries in a row that differ by a count in their names and by even steps in their numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

LEAST = 4  # entries that are worth a short form
INDEX = "i"


def _numbered(name: str) -> tuple[str, int, str] | None:
    """The last number of a name, and what is around it."""
    found = re.fullmatch(r"(.*?)(0|[1-9][0-9]*)([^0-9]*)", name)
    return (found[1], int(found[2]), found[3]) if found else None


def _fit(values: list[Any], first: int) -> Any:
    """What the values have in common, with the index in it; ValueError if that is nothing."""
    head = values[0]
    if isinstance(head, np.ndarray):
        return _fit([v.tolist() for v in values], first)
    if isinstance(head, Mapping):
        if any(not isinstance(v, Mapping) or list(v) != list(head) for v in values):
            raise ValueError
        return {k: _fit([v[k] for v in values], first) for k in head}
    if isinstance(head, (list, tuple)):
        if any(not isinstance(v, (list, tuple)) or len(v) != len(head) for v in values):
            raise ValueError
        return [_fit([v[k] for v in values], first) for k in range(len(head))]
    if all(type(v) is type(head) and v == head for v in values):
        return head
    if all(isinstance(v, str) for v in values):
        return _fit_names(values, first)
    if all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
        return _fit_numbers([float(v) for v in values], first)
    raise ValueError


def _fit_names(values: list[str], first: int) -> str:
    parts = [_numbered(v) for v in values]
    if any(p is None for p in parts):
        raise ValueError
    known = [p for p in parts if p is not None]
    shift = known[0][1] - first
    if any((p[0], p[2]) != (known[0][0], known[0][2]) or p[1] != first + n + shift for n, p in enumerate(known)):
        raise ValueError
    inner = INDEX if shift == 0 else f"{INDEX}{shift:+d}"
    return f"{known[0][0]}${{{inner}}}{known[0][2]}"


def _fit_numbers(values: list[float], first: int) -> str | float:
    step = (values[-1] - values[0]) / (len(values) - 1)
    size = max(abs(v) for v in values)
    step = float(f"{step:.12g}")
    start = float(f"{values[0] - first * step:.12g}")
    if any(abs(start + (first + n) * step - v) > 4e-16 * size for n, v in enumerate(values)):
        raise ValueError
    return start if step == 0 else f"={start:.12g} {'+' if step > 0 else '-'} {abs(step):.12g}*{INDEX}"


def repeated(entries: Mapping[str, dict[str, Any]], alone: Collection[str]) -> dict[str, dict[str, Any]]:
    """The entries, with rows of LEAST or more in one; those in `alone` keep to themselves (they have comments)."""
    names, out, at = list(entries), {}, 0
    while at < len(names):
        row = _row(names, entries, alone, at)
        if row is None:
            out[names[at]] = entries[names[at]]
            at += 1
        else:
            name, entry, at = row
            out[name] = entry
    return out


def _row(
    names: list[str], entries: Mapping[str, dict[str, Any]], alone: Collection[str], at: int
) -> tuple[str, dict[str, Any], int] | None:
    begin = _numbered(names[at])
    if begin is None or names[at] in alone:
        return None
    end = at + 1
    while (
        end < len(names)
        and names[end] not in alone
        and names[end] == f"{begin[0]}{begin[1] + end - at}{begin[2]}"
        and list(entries[names[end]]) == list(entries[names[at]])
    ):
        end += 1
    while end - at >= LEAST:
        try:
            fitted = _fit([entries[n] for n in names[at:end]], begin[1])
        except ValueError:
            end -= 1
            continue
        count: Any = end - at if begin[1] == 0 else [begin[1], begin[1] + end - at - 1]
        return f"{begin[0]}${{{INDEX}}}{begin[2]}", {"repeat": {INDEX: count}, **fitted}, end
    return None
