"""Numbers by name: "tip.position" for the columns "tip.position.x", ".y" and ".z"."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


class Columns:
    """Which columns a name means."""

    def __init__(self, columns: Sequence[tuple[str, str]]) -> None:
        self.units = dict(columns)
        self._index = {name: i for i, (name, _) in enumerate(columns)}

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._index or bool(self._group(name)))

    def _group(self, name: str) -> list[int]:
        return [i for full, i in self._index.items() if full.rpartition(".")[0] == name]

    def find(self, name: str) -> int | list[int]:
        """One column, or those of a vector in their order."""
        if name in self._index:
            return self._index[name]
        group = self._group(name)
        if not group:
            near = difflib.get_close_matches(name, self._index, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise KeyError(f'nothing is recorded as "{name}": it has to be among the scene\'s probes{hint}')
        return group
