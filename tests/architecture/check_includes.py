#!/usr/bin/python3
"""Checks what the compiler does not: arrows between folders, CPU-independent bits, size and tidiness.

    check_includes.py ROOT

Prints one line for each fault, `file:line: what`, and ends with 1 if there is any.

1. `#include "limber/<folder>/…"` and the DEPENDS of a folder's CMake target point only to the folders that ARROWS
   allows. Methods never see each other.
2. Nothing under src/limber calls an elementary function of the C library (math/trig.h has ours), directly or through an
   Eigen function that does.
3. A listed public header (cmake/install.cmake) exists and includes only listed ones.
4. No source file is longer than MAX_LINES, none holds a note to do something later, none reaches out of the tree.
"""

import re
import sys
from pathlib import Path

METHODS = ("chain", "articulated", "rom", "thread", "adaptive")
BASE = {"math", "model", "result"}
SHARED = {"elastic", "multibody", "contact", "observe"}
BELOW_SIM = BASE | SHARED | set(METHODS)

# folder -> folders it may include, besides itself
ARROWS = {
    "math": set(),
    "model": {"math"},
    "result": {"math", "model"},
    "elastic": BASE,
    "multibody": BASE,
    "contact": BASE,
    "observe": BASE | {"elastic"},
    **{method: BASE | SHARED for method in METHODS},
    "sim": BELOW_SIM,
    "scene": BELOW_SIM | {"sim"},
    "export": BASE,
}

MAX_LINES = 600
SOURCE_SUFFIXES = {".h", ".cpp", ".inc"}
TEXT_SUFFIXES = SOURCE_SUFFIXES | {".py", ".sh", ".cmake", ".md", ".yaml", ".json", ".txt", ".in"}
TIDY_FOLDERS = ("src", "tools", "tests", "bench", "cmake", "scripts", "docs", "scenes", ".ci")
TIDY_FILES = ("CMakeLists.txt", "Makefile", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")

FUNCTIONS = (
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh sincos exp exp2 expm1 log log2 log10 log1p pow "
    "hypot cbrt erf erfc tgamma lgamma"
).split()
NAME = "(" + "|".join(sorted(FUNCTIONS, key=len, reverse=True)) + ")"
QUALIFIED_CALL = re.compile(r"(?:\bstd::|(?<![\w>])::|\b__builtin_)" + NAME + r"[fl]?\s*\(")
USING_STD = re.compile(r"\busing\s+std::" + NAME + r"\b")
UNQUALIFIED_CALL = re.compile(r"(?<![\w:.>])" + NAME + r"[fl]?\s*\(")
MEMBER_CALL = re.compile(r"(?:\.|->)" + NAME + r"\s*\(")
OWN_FUNCTIONS = re.compile(r"\busing\s+(?:namespace\s+)?(?:limber::)?math\b(?:::" + NAME + r")?")
USES_LIBM = re.compile(
    r"\b(AngleAxis[df]?|Rotation2D[df]?|slerp|eulerAngles|hypotNorm|computeDirect|angularDistance|normal_distribution)\b"
)

INCLUDE = re.compile(r'^\s*#\s*include\s+"limber/([^/"]+)/([^"]*)"')
TARGET = re.compile(r"\blimber(?:::|_)(\w+)")
LISTED_HEADER = re.compile(r"^\s*(\w+/[\w/]+\.h)\s*\)?\s*$", re.M)
NOTE = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")
OUTSIDE = re.compile(r"\.\./sha" r"red\b")


def without_comments(text):
    """The text with comments and literals blanked, every line where it was."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'', re.S)

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())

    return pattern.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def files_in(root, folder, suffixes):
    base = root / folder
    if not base.is_dir():
        return []
    found = (p for p in base.rglob("*") if p.is_file() and p.suffix in suffixes)
    return sorted(p for p in found if not {"node_modules", "__pycache__"} & set(p.parts))


def check_includes(path, folder, text):
    """Faults of one file's include lines; `folder` is None for tools, which may include all."""
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match.group(1)
        if target not in ARROWS:
            yield number, f"includes limber/{target}/, which is no folder that the architecture knows"
        elif folder is not None and target != folder and target not in ARROWS[folder]:
            yield number, f"{folder}/ must not include {target}/"


def check_cmake(folder, text):
    """Faults of a folder's CMake target: its libraries follow the same arrows."""
    call = re.search(r"limber_library\((.*?)\)", text, re.S)
    if not call:
        return
    for match in TARGET.finditer(call.group(1)):
        target = match.group(1)
        if target in ARROWS and target != folder and target not in ARROWS[folder]:
            yield line_of(text, call.start(1) + match.start()), f"{folder} must not link {target}"


def check_libm(folder, text):
    """Calls whose last bits depend on the CPU."""
    code = without_comments(text)
    for pattern in (QUALIFIED_CALL, USING_STD, MEMBER_CALL, USES_LIBM):
        for match in pattern.finditer(code):
            name = match.group().strip().rstrip("(").strip()
            yield line_of(code, match.start()), f"`{name}`: its bits depend on the CPU; use limber/math/trig.h"
    # In namespace limber::math, or after a using-declaration, an unqualified call is our own function.
    if folder == "math" or OWN_FUNCTIONS.search(code):
        return
    for match in UNQUALIFIED_CALL.finditer(code):
        yield line_of(code, match.start()), f"`{match.group(1)}`: say math::{match.group(1)}; unqualified is the C library's"


def check_public_headers(root):
    """Listed headers exist and see only listed ones."""
    install = root / "cmake/install.cmake"
    if not install.is_file():
        return
    text = install.read_text(encoding="utf-8")
    listed = {m.group(1): line_of(text, m.start(1)) for m in LISTED_HEADER.finditer(text)}
    for header, number in listed.items():
        path = root / "src/limber" / header
        if not path.is_file():
            yield install, number, f"lists {header}, which does not exist"
            continue
        for line, content in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(content)
            if match and f"{match.group(1)}/{match.group(2)}" not in listed:
                yield path, line, f"public header includes {match.group(1)}/{match.group(2)}, which is not installed"


def check_sources(root):
    for path in files_in(root, "src/limber", SOURCE_SUFFIXES):
        folder = path.relative_to(root / "src/limber").parts[0]
        text = path.read_text(encoding="utf-8")
        if folder not in ARROWS:
            yield path, 1, f"src/limber/{folder}/ is no folder that the architecture knows"
            continue
        for number, what in check_includes(path, folder, text):
            yield path, number, what
        for number, what in check_libm(folder, text):
            yield path, number, what
    for path in files_in(root, "tools", SOURCE_SUFFIXES):
        for number, what in check_includes(path, None, path.read_text(encoding="utf-8")):
            yield path, number, what
    for folder in ARROWS:
        path = root / "src/limber" / folder / "CMakeLists.txt"
        if path.is_file():
            for number, what in check_cmake(folder, path.read_text(encoding="utf-8")):
                yield path, number, what


def check_tidiness(root):
    for path in files_in(root, "src", SOURCE_SUFFIXES) + files_in(root, "tools", SOURCE_SUFFIXES):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MAX_LINES:
            yield path, lines, f"{lines} lines; over {MAX_LINES} look for the seam"
    paths = [p for folder in TIDY_FOLDERS for p in files_in(root, folder, TEXT_SUFFIXES)]
    paths += [root / name for name in TIDY_FILES if (root / name).is_file()]
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if NOTE.search(line):
                yield path, number, "holds a note to do something later; do it or leave it out"
            if OUTSIDE.search(line):
                yield path, number, "reaches out of the source tree"


def faults(root):
    """All faults of the tree at `root` as (path, line, message), in a fixed order."""
    found = list(check_sources(root)) + list(check_public_headers(root)) + list(check_tidiness(root))
    return sorted((path.relative_to(root).as_posix(), number, what) for path, number, what in found)


def main(arguments):
    if len(arguments) != 2:
        print("usage: check_includes.py ROOT", file=sys.stderr)
        return 2
    root = Path(arguments[1]).resolve()
    if not (root / "src/limber").is_dir():
        print(f"check_includes.py: {root}/src/limber is no folder", file=sys.stderr)
        return 2
    found = faults(root)
    for path, number, what in found:
        print(f"{path}:{number}: {what}")
    print(f"{len(found)} faults" if found else "the tree follows its rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
