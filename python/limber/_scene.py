"""Scenes: read, edited, checked, written, and asked."""

from __future__ import annotations

import copy
import dataclasses
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, Union

from . import _limber, _paths, _yaml
from ._errors import Fault, SceneError

Value = Union[str, float, int, bool, Sequence[Any], Mapping[str, Any], None]
Progress = Union[bool, Callable[[float, float], object]]


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a scene."""

    name: str
    text: str  #: as written
    value: float  #: in SI
    unit: str  #: SI unit of the value, "" for a pure number


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What check() found: which methods take a scene."""

    methods: tuple[_limber.MethodVerdict, ...]
    warnings: tuple[str, ...]

    @property
    def runs(self) -> tuple[str, ...]:
        """Methods that run it."""
        return tuple(m.method for m in self.methods if not m.rests and not m.against)

    @property
    def rests(self) -> tuple[str, ...]:
        """Methods that find where it comes to rest."""
        return tuple(m.method for m in self.methods if m.rests and not m.against)


def schema() -> str:
    """The JSON Schema of scenes, for editors."""
    return _limber.schema()


def load(file: str | os.PathLike[str], **parameters: float | str) -> Scene:
    """Reads a scene (.yaml), or a reduced model (.rom); parameters as Scene.set() takes them."""
    path = Path(file)
    if path.suffix == ".rom":
        if parameters:
            raise ValueError("a reduced model has no parameters left: set them when it is made (Scene.reduce)")
        return Reduced(path.read_bytes(), name=path.stem + ".yaml").scene()
    data = path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as e:
        before = data[: e.start].decode("utf-8")
        line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
        raise SceneError([Fault(path.name, line, column, "", "this is no UTF-8 text")]) from None
    scene = Scene(text, name=path.name, folder=path.parent)
    scene.set(**parameters)
    scene._compile()
    return scene


class Scene(MutableMapping[str, Any]):
    """A scene: what exists, and how it is run.

    From a text, from a dictionary, or empty; limber.load() reads files. It is a dictionary of what is written in it,
    to be changed at will; faults are found when it is used, or by check().
    """

    def __init__(
        self,
        data: str | Mapping[str, Any] | None = None,
        *,
        name: str = "scene.yaml",
        folder: str | os.PathLike[str] | None = None,
        files: Mapping[str, str] | None = None,
    ) -> None:
        self._name = name
        self._folder = "" if folder is None else os.fspath(folder)
        self._files = None if files is None else sorted(files.items())
        self._set: dict[str, str] = {}
        self._tree: dict[str, Any] | None = None  # once it has been looked into
        self._source: str | None = None  # as read, as long as the tree says the same
        self._pristine: dict[str, Any] | None = None
        self._compiled: tuple[str, tuple[tuple[str, str], ...], _limber.CompiledScene] | None = None
        self._reduced: bytes | None = None
        if isinstance(data, str):
            self._source = data
        else:
            tree = {} if data is None else copy.deepcopy(dict(data))
            self._tree = tree if "limber" in tree else {"limber": 1, **tree}

    # --- as a dictionary

    def _open(self) -> dict[str, Any]:
        if self._tree is None:
            assert self._source is not None
            tree = _limber.read_tree(self._source, self._name)
            if not isinstance(tree, dict):
                tree = {} if tree is None else self._refuse_tree()
            self._tree = tree
            self._pristine = copy.deepcopy(tree)
        return self._tree

    def _refuse_tree(self) -> dict[str, Any]:
        raise ValueError("this text is no scene: a scene is a mapping of keys")

    def __getitem__(self, key: str) -> Any:
        return self._open()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._change()[key] = value

    def __delitem__(self, key: str) -> None:
        del self._change()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._open())

    def __len__(self) -> int:
        return len(self._open())

    def _change(self) -> dict[str, Any]:
        if self._reduced is not None:
            raise ValueError("a reduced model is what it is: change the scene that it was made of")
        return self._open()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scene):
            return NotImplemented
        return self.text == other.text and self._set == other._set and self._reduced == other._reduced

    __hash__ = None  # type: ignore[assignment]

    # --- texts

    @property
    def text(self) -> str:
        """The scene as YAML: as it was read, or as it was edited. Lines of faults are lines of this text."""
        if self._source is not None and (self._tree is None or self._tree == self._pristine):
            return self._source
        return _yaml.dump(self._open())

    def to_yaml(self, *, resolved: bool = False) -> str:
        """The text; `resolved`: without short forms and parameters, every number to its last bit."""
        return self._compile().yaml() if resolved else self.text

    def save(self, file: str | os.PathLike[str], *, resolved: bool = False) -> None:
        """Writes the text."""
        Path(file).write_text(self.to_yaml(resolved=resolved), encoding="utf-8")

    @property
    def name(self) -> str:
        """Of its file, as faults say it."""
        return self._name

    @property
    def title(self) -> str:
        """Its title, or "" if it has none."""
        return self._compile().title

    # --- parameters and keys

    def set(self, values: Mapping[str, Value] | None = None, /, **parameters: float | str) -> Scene:
        """Gives parameters other values: set(links=300, pull="20 N"), or keys by their path, in a dictionary:
        set({"sections.blade.height": "2 mm"}). Returns the scene itself."""
        if self._reduced is not None and (values or parameters):
            self._change()
        for path, value in (values or {}).items():
            at, key = _paths.find(self._open(), path)
            at[key] = value
        for name, given in parameters.items():
            self._set[name] = given if isinstance(given, str) else _yaml.scalar(given)
        return self

    def with_(self, values: Mapping[str, Value] | None = None, /, **parameters: float | str) -> Scene:
        """A copy with other values."""
        return copy.copy(self).set(values, **parameters)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Its parameters, as they are set."""
        return {p[0]: Parameter(*p) for p in self._compile().parameters}

    @property
    def options(self) -> dict[str, Any]:
        """How it says it is run: method, time, step, … and the options of its method."""
        return dict(self._compile().options)

    # --- reading

    def _compile(self) -> _limber.CompiledScene:
        if self._reduced is not None:
            if self._compiled is None:
                self._compiled = ("", (), _limber.parse_reduced(self._reduced, self._name))
            return self._compiled[2]
        text, given = self.text, tuple(self._set.items())
        if self._compiled is None or self._compiled[:2] != (text, given):
            read = _limber.parse(text, self._name, self._folder, list(given), self._files)
            self._compiled = (text, given, read)
        return self._compiled[2]

    def _compile_with(self, name: str, value: str) -> _limber.CompiledScene:
        """With another value of a parameter; the text is not made again."""
        given = [(k, v) for k, v in self._set.items() if k != name]
        return _limber.parse(self.text, self._name, self._folder, [*given, (name, value)], self._files)

    def check(self) -> Verdict:
        """Finds all that is wrong with it (SceneError), and what every method says of it."""
        read = self._compile()
        return Verdict(tuple(read.verdicts()), tuple(read.warnings()))

    # --- asking

    def static(self, method: str | None = None, **options: Any) -> Equilibrium:
        """Where it comes to rest under its loads. Options: at (time whose loads act), load (share of loads and
        weight), load_steps, max_iterations, modes, estimate, error; and those of runs. NotConverged if there is no
        rest to be found."""
        return Equilibrium._find(self, method, options)

    def load_curve(self, steps: int = 20, *, weight: bool = False, method: str | None = None, **options: Any) -> StaticCurve:
        """Rests as the loads come on in even steps; `weight`: with the weight, else it acts from the start."""
        return StaticCurve._load(self, steps, weight, method, options)

    def path(self, branch: int | str = 0, **options: Any) -> StaticCurve:
        """The path of rests past limit points, by method chain; branch ±1: left at the first bifurcation, either way;
        "stable": always where the fewest directions are unstable."""
        return StaticCurve._path(self, branch, options)

    def history(self, until: float | str, steps: int = 50, **options: Any) -> StaticCurve:
        """Rests in the course of time, with changes, creep, fatigue and breaking, by method chain."""
        return StaticCurve._history(self, until, steps, options)

    def unloaded(self, **options: Any) -> UnloadedShape:
        """The shape that becomes this one under its loads, by method chain."""
        return UnloadedShape._find(self, options)

    def run(
        self,
        *,
        folder: str | os.PathLike[str] | None = None,
        force: bool = False,
        progress: Progress = False,
        **options: Any,
    ) -> Run:
        """Simulates it. Options are those of `run:` in scenes (time=3, step="5 ms", method="rom", …). Into a folder,
        which may replace a run that is there with `force`; without one what is recorded vanishes with the run.
        `progress`: True for a bar, or what is called with (time, end). Diverged has the frames so far."""
        return Run._of(self, folder, force, progress, options)

    def simulate(self, **options: Any) -> Simulation:
        """A simulation to be stepped, for control. Options as for run()."""
        return Simulation(self, **options)

    def compare(self, kind: str = "rest", *, at: float | str = 0.0, time: float | str = 1.0, **options: Any) -> _limber.Comparison:
        """Every method that applies: what each is off and what it costs. kind: "rest", "motion" or "reduced"."""
        if kind not in ("rest", "motion", "reduced"):
            raise ValueError(f'kind: expected "rest", "motion" or "reduced", got {kind!r}')
        seconds = _limber.quantity(at if kind == "rest" else time, "at" if kind == "rest" else "time", "s")
        return _limber.compare(self._compile(), options, kind, seconds)

    def reduce(self, **options: Any) -> Reduced:
        """Its mechanisms as their end effectors feel them. Options are those of method rom: ends=["a", "b"], …"""
        return Reduced(_limber.reduce(self._compile(), options), name=self._name)

    # --- as a value

    def _with_all_files(self) -> dict[str, str] | None:
        try:
            sources = self._compile().sources
        except Exception:  # wrong scenes are scenes too
            return None if self._files is None else dict(self._files)
        return dict(sources[1:]) if len(sources) > 1 or self._files is not None else None

    def __getstate__(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "name": self._name,
            "folder": self._folder,
            "files": self._with_all_files(),
            "set": dict(self._set),
            "reduced": self._reduced,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        Scene.__init__(self, state["text"], name=state["name"], folder=state["folder"], files=state["files"])
        self._set = state["set"]
        self._reduced = state["reduced"]

    def __copy__(self) -> Scene:
        out = Scene(self.text, name=self._name, folder=self._folder, files=None if self._files is None else dict(self._files))
        out._set = dict(self._set)
        out._reduced = self._reduced
        out._compiled = self._compiled
        return out

    def __deepcopy__(self, memo: dict[int, Any]) -> Scene:
        return self.__copy__()

    def __repr__(self) -> str:
        given = "".join(f", {k}={v!r}" for k, v in self._set.items())
        return f"<limber.Scene {self._name}{given}>"


class Reduced:
    """Mechanisms reduced to their end effectors: a file (.rom), and a scene that runs by it."""

    def __init__(self, data: bytes, *, name: str = "scene.yaml") -> None:
        self.data = data  #: of the file
        self._name = name

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the file."""
        path = Path(file)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as stream:
            stream.write(self.data)
        os.replace(stream.name, path)

    def scene(self) -> Scene:
        """The scene as it runs reduced."""
        read = _limber.parse_reduced(self.data, self._name)
        out = Scene(read.sources[0][1], name=self._name)
        out._reduced = self.data
        out._compiled = ("", (), read)
        return out

    def __repr__(self) -> str:
        return f"<limber.Reduced of {self._name}: {len(self.data)} bytes>"


from ._run import Run  # noqa: E402
from ._simulation import Simulation  # noqa: E402
from ._static import Equilibrium, StaticCurve, UnloadedShape  # noqa: E402
