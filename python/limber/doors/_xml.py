"""XML with lines, for files that nobody vouches for: no entities, nothing outside, no includes in circles."""

from __future__ import annotations

import dataclasses
import xml.parsers.expat
from collections.abc import Iterator
from pathlib import Path

from ._draft import ImportFault

LARGEST_FILE = 64_000_000  # bytes
DEEPEST = 400
MOST_ELEMENTS = 2_000_000


@dataclasses.dataclass
class Element:
    """An element, and where it was read."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    text: str = ""
    children: list[Element] = dataclasses.field(default_factory=list)

    def get(self, name: str, default: str = "") -> str:
        return self.attributes.get(name, default)

    def all(self, *tags: str) -> list[Element]:
        return [c for c in self.children if c.tag in tags]

    def first(self, tag: str) -> Element | None:
        return next((c for c in self.children if c.tag == tag), None)

    def walk(self) -> Iterator[Element]:
        stack = [self]
        while stack:
            at = stack.pop()
            yield at
            stack += reversed(at.children)

    def numbers(self, name: str, count: int, default: str | None = None) -> list[float]:
        """Of an attribute; a fault where they are not so many finite numbers."""
        return self.parse(self.attributes.get(name, default), count, f'{self.tag} {name}="{self.attributes.get(name)}"')

    def text_numbers(self, count: int) -> list[float]:
        return self.parse(self.text, count, f"<{self.tag}>{self.text.strip()[:40]}</{self.tag}>")

    def parse(self, text: str | None, count: int, what: str) -> list[float]:
        try:
            numbers = [float(x) for x in (text or "").split()]
        except ValueError:
            numbers = []
        if len(numbers) != count or any(x != x or abs(x) == float("inf") for x in numbers):
            raise self.fault(f"{what}: expected {count} number{'s' if count > 1 else ''}")
        return numbers

    def fault(self, message: str) -> ImportFault:
        return ImportFault(self.file, self.line, message)


def read_bytes(file: Path, name: str) -> bytes:
    try:
        if not file.is_file():
            raise ImportFault(name, 0, "there is no such file")
        if file.stat().st_size > LARGEST_FILE:
            raise ImportFault(name, 0, f"larger than {LARGEST_FILE // 1_000_000} MB")
        return file.read_bytes()
    except OSError as e:
        raise ImportFault(name, 0, e.strerror or str(e)) from None


def parse(data: bytes, name: str) -> Element:
    """The root of a document. Declarations of entities are refused: none of these formats needs them."""
    parser = xml.parsers.expat.ParserCreate()
    parser.buffer_text = True
    root: list[Element] = []
    stack: list[Element] = []
    count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        element = Element(tag, attributes, name, parser.CurrentLineNumber)
        if len(stack) > DEEPEST or count > MOST_ELEMENTS:
            raise element.fault("nested too deeply" if len(stack) > DEEPEST else "too many elements")
        (stack[-1].children if stack else root).append(element)
        stack.append(element)

    def end(_: str) -> None:
        stack.pop()

    def text(data: str) -> None:
        if stack:
            stack[-1].text += data

    def entity(*_: object) -> None:
        raise ImportFault(name, parser.CurrentLineNumber, "declares entities, which are not taken")

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.EntityDeclHandler = parser.UnparsedEntityDeclHandler = entity
    parser.ExternalEntityRefHandler = entity  # type: ignore[assignment]
    try:
        parser.Parse(data, True)
    except xml.parsers.expat.ExpatError as e:
        raise ImportFault(name, e.lineno, f"no XML: {xml.parsers.expat.errors.messages[e.code]}") from None
    except (LookupError, ValueError) as e:
        if isinstance(e, ImportFault):
            raise
        raise ImportFault(name, 0, f"no XML: {e}") from None
    if not root:
        raise ImportFault(name, 1, "no XML: there is no element")
    return root[0]


class Files:
    """Which files a model may name: those in the folder above its own, and in folders that the user gives."""

    def __init__(self, model: Path, more: list[Path]) -> None:
        self.model = model.resolve()
        self.roots = [self.model.parent.parent, *(p.resolve() for p in more)]
        self.searched = [self.model.parent, *(p.resolve() for p in more)]
        if self.roots[0] == Path(self.roots[0].anchor):  # not the whole disk
            self.roots[0] = self.model.parent

    def name_of(self, file: Path) -> str:
        """As people see it: relative to the model."""
        try:
            return str(file.relative_to(self.model.parent))
        except ValueError:
            return file.name

    def find(self, text: str, at: Element, folder: Path | None = None) -> Path:
        """The file that `at` names; a fault where there is none, or it lies outside."""
        for scheme in ("package://", "model://", "file://"):
            if text.startswith(scheme):
                return self._find_by_name(text, text[len(scheme) :], at)
        if "\0" in text or "://" in text:
            raise at.fault(f'"{text[:80]}" is no path of a file')
        tried = [(base / text).resolve() for base in ([folder] if folder else []) + self.searched]
        inside = [p for p in tried if any(p.is_relative_to(root) for root in self.roots)]
        if not inside:
            raise at.fault(f'"{text}" lies outside of the model\'s folders; --files FOLDER allows another')
        found = next((p for p in inside if p.is_file()), None)
        if found is None:
            raise at.fault(f'there is no file "{text}"')
        return found

    def _find_by_name(self, text: str, inner: str, at: Element) -> Path:
        """package://name/path: `name` is a folder above the model, or one in a folder that the user gives."""
        name, _, rest = inner.strip("/").partition("/")
        parts = Path(rest).parts
        if ".." in parts or name in ("", ".", ".."):
            raise at.fault(f'"{text}" lies outside of its package')
        for base in [*self.roots[1:], *self.model.parents]:
            for folder in (base / name, base if base.name == name else None):
                if folder is not None and folder != Path(folder.anchor) and (folder / rest).is_file():
                    return (folder / rest).resolve()
        raise at.fault(f'there is no file "{text}" beside the model; --files FOLDER names the folder of "{name}"')
