"""Commands of the Python side: python3 -m limber import robot.xml. `limber import …` comes here too."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

# Name: module and function, which takes the words after the name and gives the exit code. tools/limber/cmd_door.cpp
# has the same names.
COMMANDS = {
    "import": ("limber.doors._commands", "import_"),
    "export": ("limber.doors._commands", "export"),
}
INTERRUPTED, BAD_INPUT, IO_FAILED = 130, 2, 4


def main(words: Sequence[str] | None = None) -> None:
    given = list(sys.argv[1:] if words is None else words)
    if not given or given[0] not in COMMANDS:
        names = ", ".join(COMMANDS)
        print(f"limber: expected one of {names}; all other commands are those of `limber`", file=sys.stderr)
        sys.exit(BAD_INPUT)
    module, function = COMMANDS[given[0]]
    try:
        code = getattr(importlib.import_module(module), function)(given[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    except OSError as e:
        print(f"limber: {e.filename or given[0]}: {e.strerror or e}", file=sys.stderr)
        code = IO_FAILED
    except (ValueError, ImportError) as e:
        print(f"limber: {e}", file=sys.stderr)
        code = BAD_INPUT
    sys.exit(code)


if __name__ == "__main__":
    main()
