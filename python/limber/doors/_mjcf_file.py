"""MJCF as MuJoCo's own reader takes it: one document without files outside, in which every element has a name.

MuJoCo's models keep no lines. So what has no name gets one that is looked up here when something is to be said of it.
"""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ._draft import ImportFault
from ._xml import Element, Files, parse, read_bytes

MOST_COPIES = 20_000  # of all that repeats

# Elements by what MuJoCo calls their kind, where they may have a name.
KINDS = {"body": "body", "geom": "geom", "joint": "joint", "freejoint": "joint", "site": "site", "exclude": "exclude", "pair": "pair"}
KINDS_IN = {"equality": "eq", "actuator": "actuator", "tendon": "tendon"}
SKIPPED = {"default", "custom", "keyframe", "sensor", "visual", "statistic", "contact", "asset"}


@dataclasses.dataclass
class Prepared:
    root: Element
    text: str
    lines: dict[tuple[str, str], Element]  # by kind and name
    made: set[tuple[str, str]]  # names that are not the file's
    origin: list[Element]  # by the lines of `text`

    def at(self, kind: str, name: str) -> Element:
        """Where something was written: of copies, what they were made of."""
        while (kind, name) not in self.lines and name:
            name = name[:-1]
        return self.lines.get((kind, name), self.root)


def prepare(file: Path, files: Files, meshes: bool = True) -> Prepared:
    root = parse(read_bytes(file, file.name), file.name)
    if root.tag != "mujoco":
        raise root.fault(f"expected <mujoco>, got <{root.tag}>")
    _include(root, files, [file.resolve()])
    _refuse_floods(root)
    _settle_files(root, files, meshes)
    out = Prepared(root, "", {}, set(), [])
    for kind, element in _named(root, ""):
        name = element.attributes.get("name")
        if not name:
            name = f"{element.tag}_{element.line}"
            while (kind, name) in out.lines:
                name += "_"
            element.attributes["name"] = name
            out.made.add((kind, name))
        out.lines[kind, name] = element
    lines: list[str] = []
    _write(root, lines, out.origin)
    out.text = "\n".join(lines)
    return out


def _include(root: Element, files: Files, chain: list[Path]) -> None:
    seen: set[Path] = set(chain)

    def expand(element: Element, above: list[Path]) -> None:
        out: list[Element] = []
        for child in element.children:
            if child.tag != "include":
                expand(child, above)
                out.append(child)
                continue
            path = files.find(child.get("file"), child)
            if path in above:
                raise child.fault(f'"{child.get("file")}" includes itself')
            if path in seen:
                raise child.fault(f'"{child.get("file")}" is included already')
            seen.add(path)
            name = files.name_of(path)
            inner = parse(read_bytes(path, name), name)
            expand(inner, [*above, path])
            out += inner.children
        element.children = out

    expand(root, chain)


def _refuse_floods(root: Element) -> None:
    """A few lines may ask for any number of bodies."""

    def count(element: Element, times: int) -> None:
        here = times
        for word in ("count",) if element.tag in ("replicate", "flexcomp") else ():
            for n in re.findall(r"\d+", element.get(word)):
                here *= max(1, int(n[:9]))
        if here > MOST_COPIES:
            raise element.fault(f"<{element.tag}> would make more than {MOST_COPIES} copies")
        for child in element.children:
            count(child, here)

    count(root, 1)


def _settle_files(root: Element, files: Files, meshes: bool) -> None:
    """Paths that are absolute and allowed; no textures, which are only to look at; no sizes of memory."""
    folders = {"mesh": "", "hfield": "", "model": "", "flexcomp": ""}
    for compiler in root.all("compiler"):
        for word, kinds in (("assetdir", ("mesh", "hfield", "flexcomp")), ("meshdir", ("mesh", "hfield", "flexcomp"))):
            if word in compiler.attributes:
                folders.update(dict.fromkeys(kinds, compiler.attributes.pop(word)))
        strip = compiler.attributes.pop("strippath", "false") == "true"
        compiler.attributes.pop("texturedir", None)
        if strip:
            for e in root.walk():
                if "file" in e.attributes:
                    e.attributes["file"] = Path(e.attributes["file"]).name
    for size in root.all("size"):
        for word in ("memory", "njmax", "nconmax", "nstack"):
            size.attributes.pop(word, None)
    for element in root.walk():
        if element.tag in ("texture", "skin") and "file" in element.attributes or "fileright" in element.attributes:
            _flatten(element)
        elif "file" in element.attributes and element.tag in folders:
            if element.tag == "model":
                raise element.fault("<model> in <asset>: models of models are not read; give the inner file itself")
            text = element.get("file")
            base = files.model.parent / folders[element.tag]
            path = files.find(str(Path(folders[element.tag]) / text) if folders[element.tag] else text, element, base)
            element.attributes.setdefault("name", Path(text).stem)
            element.attributes["file"] = str(path)
    for asset in root.all("asset"):
        asset.children = [c for c in asset.children if c.tag != "skin"]


def _flatten(texture: Element) -> None:
    file = texture.attributes.get("file", "")
    keep = {"name": texture.attributes.get("name", Path(file).stem)}
    if texture.tag == "texture":
        texture.attributes = {**keep, "type": "2d", "builtin": "flat", "width": "1", "height": "1"}


def _named(element: Element, place: str) -> Iterator[tuple[str, Element]]:
    """All elements that may have a name, with their kinds."""
    for child in element.children:
        if element.tag == "mujoco":
            if child.tag == "contact":
                for c in child.children:
                    yield KINDS.get(c.tag, c.tag), c
            if child.tag not in SKIPPED:
                yield from _named(child, child.tag)
        elif place in KINDS_IN:
            yield KINDS_IN[place], child
        elif place == "worldbody":
            if child.tag in KINDS:
                yield KINDS[child.tag], child
            elif child.tag == "flexcomp":
                yield "flex", child
            yield from _named(child, place)
        elif place == "deformable" and child.tag == "flex":
            yield "flex", child


def _write(element: Element, lines: list[str], origin: list[Element]) -> None:
    """One tag a line, so that MuJoCo's lines lead back to the file's."""
    words = "".join(f" {k}={quoteattr(v)}" for k, v in element.attributes.items())
    inner = escape(element.text.strip()) if not element.children else ""
    lines.append(f"<{element.tag}{words}>{' '.join(inner.split())}")
    origin.append(element)
    for child in element.children:
        _write(child, lines, origin)
    lines.append(f"</{element.tag}>")
    origin.append(element)


def compiled(prepared: Prepared, name: str) -> Any:
    """The model as MuJoCo compiles it."""
    for e in prepared.root.walk():
        if e.tag == "composite":
            raise e.fault("<composite> is refused by MuJoCo 4: its own replacement is <flexcomp>, or <replicate>")
    try:
        import mujoco  # type: ignore[import-untyped]
    except ImportError as e:
        raise ImportError("MJCF is read by MuJoCo's own reader: pip install 'limber-sim[import]'") from e
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)  # or MuJoCo writes a log into the folder at hand
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what MuJoCo will no longer take one day
            return mujoco.MjSpec.from_string(prepared.text).compile()
    except (ValueError, RuntimeError) as e:
        message = " ".join(str(e).split())
        at = _place_of(message, prepared)
        raise ImportFault(at.file if at else name, at.line if at else 0, f"MuJoCo refuses it: {message}") from None
    finally:
        mujoco.set_mju_user_warning(before)


def _place_of(message: str, prepared: Prepared) -> Element | None:
    line = re.search(r"\bline (\d+)", message)
    if line and 0 < int(line[1]) <= len(prepared.origin):
        return prepared.origin[int(line[1]) - 1]
    for name in re.findall(r"'([^']+)'", message):
        for (_, known), element in prepared.lines.items():
            if known == name:
                return element
    return None
