"""Pages in notebooks."""

from __future__ import annotations

import html
import tempfile
from collections.abc import Callable
from pathlib import Path


def page_by_file(write: Callable[[str], object]) -> str:
    """The text of a page that is written to a file."""
    with tempfile.TemporaryDirectory(prefix="limber-") as folder:
        file = Path(folder) / "report.html"
        write(str(file))
        return file.read_text(encoding="utf-8")


def frame(page: str, height: int = 640) -> str:
    """A page inside of another one, with its own scripts and styles."""
    source = html.escape(page, quote=True)
    return (
        f'<iframe srcdoc="{source}" style="width:100%;height:{height}px;border:0" '
        'sandbox="allow-scripts allow-downloads" title="limber"></iframe>'
    )
