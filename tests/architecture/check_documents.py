#!/usr/bin/python3
"""Checks that the documentation is true: links lead somewhere, scenes in it load, its C++ program is the tested one.

    check_documents.py ROOT LIMBER

LIMBER is the command. A ```yaml block that starts with `limber:` is a whole scene and must pass `limber check`; a ```cpp
block that has a `main` must be tests/consumer/project/main.cpp, letter for letter; every name in `make name` must be a target.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.M | re.S)
MAKE = re.compile(r"(?:^|`)make ([a-z][a-z-]*)", re.M)


def documents(root):
    found = [root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [p for p in found if p.is_file()] + sorted((root / "docs").rglob("*.md"))


def anchors(text):
    """The anchors that a page's headings make."""
    prose = BLOCK.sub("", text)
    headings = re.findall(r"^#+ +(.+?) *$", prose, re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def check_links(path, text):
    for target in LINK.findall(BLOCK.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        page = (path.parent / name) if name else path
        if not page.exists():
            yield f"link to {target}, which does not exist"
        elif anchor and anchor not in anchors(page.read_text(encoding="utf-8")):
            yield f"link to {target}: the page has no such heading"


def check_scenes(text, limber):
    for language, block in BLOCK.findall(text):
        if language != "yaml" or not block.startswith("limber:"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            scene = Path(folder) / "example.yaml"
            scene.write_text(block, encoding="utf-8")
            done = subprocess.run([limber, "check", str(scene)], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                yield "a scene does not pass limber check:\n" + done.stdout + done.stderr


def check_program(root, text):
    program = (root / "tests/consumer/project/main.cpp").read_text(encoding="utf-8")
    for language, block in BLOCK.findall(text):
        if language == "cpp" and "int main" in block and block != program:
            yield "the C++ program is not tests/consumer/project/main.cpp"


def check_make(root, text):
    targets = re.findall(r"^([a-z-]+):.*## ", (root / "Makefile").read_text(encoding="utf-8"), re.M)
    for name in MAKE.findall(text):
        if name not in targets:
            yield f"make {name} is no target"


def main(arguments):
    if len(arguments) != 3:
        print("usage: check_documents.py ROOT LIMBER", file=sys.stderr)
        return 2
    root, limber = Path(arguments[1]).resolve(), arguments[2]
    faults = 0
    for path in documents(root):
        text = path.read_text(encoding="utf-8")
        checks = (check_links(path, text), check_scenes(text, limber), check_program(root, text), check_make(root, text))
        for what in (what for check in checks for what in check):
            print(f"{path.relative_to(root)}: {what}")
            faults += 1
    print(f"{faults} faults" if faults else "the documents are true")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
