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
    os.execv(command, [command, *sys.argv[1:]])
