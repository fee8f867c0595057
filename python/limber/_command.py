"""The command `limber` of the wheel. It takes this process's place, so signals and exit codes are its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def path() -> Path:
    """Where the command is."""
    return Path(__file__).parent / "_bin" / "limber"


def main() -> None:
    command = str(path())
    os.environ.setdefault("LIMBER_PYTHON", sys.executable)  # what of it is written in Python finds this package
    os.execv(command, [command, *sys.argv[1:]])
