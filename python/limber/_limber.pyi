"""The library limber as Python sees it. Use the package limber."""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def version() -> str: ...

class Layout:
    """What the numbers of a moment are of."""

    @property
    def frames(self) -> list[str]:
        """Names of what has a pose."""

    @property
    def lines(self) -> list[tuple[str, int]]:
        """Names of beams, springs and threads, and how many points each has."""

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Probes: names and units."""

    @property
    def title(self) -> str: ...

class Moment:
    """One moment of a structure."""

    @property
    def time(self) -> float:
        """[s]"""

    @property
    def layout(self) -> Layout: ...

    @property
    def poses(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]:
        """Of each frame: x, y, z [m] and the unit quaternion w, x, y, z."""

    @property
    def points(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]:
        """Of all lines, one after the other [m]."""

    @property
    def scalars(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Of each column."""

def read_tree(text: str, name: str) -> object:
    """The text of a scene as dictionaries, lists, numbers and texts."""

class MethodVerdict:
    """What a method says of a scene."""

    @property
    def method(self) -> str:
        """Its name."""

    @property
    def rests(self) -> bool:
        """Whether it is asked for a rest (else for a run)."""

    @property
    def against(self) -> list[str]:
        """What it refuses, each with its place; empty: it takes the scene."""

    @property
    def sizes(self) -> tuple[int, int, int] | None:
        """Bodies, joints and freedoms as it sees them, where it tells them."""

    def __repr__(self) -> str: ...

class CompiledScene:
    """A scene as it was read; it never changes."""

    @property
    def title(self) -> str: ...

    @property
    def file(self) -> str: ...

    @property
    def notes(self) -> list[str]:
        """Words that have a new name."""

    @property
    def sources(self) -> list[tuple[str, str]]:
        """The scene's text and the files that it names: (path, text)."""

    @property
    def parameters(self) -> list[tuple[str, str, float, str]]:
        """Parameters: (name, text, value in SI, unit)."""

    @property
    def options(self) -> dict:
        """How the scene says it runs."""

    @property
    def counts(self) -> dict:
        """How many things of each kind are written in it."""

    @property
    def reduced(self) -> bool: ...

    @property
    def body_names(self) -> list[str]: ...

    def yaml(self) -> str:
        """
        Written out without short forms or parameters; reading it back gives the same model.
        """

    def verdicts(self) -> list[MethodVerdict]:
        """What every method says of it."""

    def warnings(self) -> list[str]:
        """What a run by its method does not look at."""

def parse(text: str, name: str, folder: str, set: Sequence[tuple[str, str]], embedded: Sequence[tuple[str, str]] | None) -> CompiledScene:
    """
    Reads a scene; files that it names come from `folder` or from `embedded`.
    """

def parse_reduced(data: bytes, name: str) -> CompiledScene:
    """Reads a reduced model (.rom)."""

def schema() -> str:
    """JSON Schema of scenes, for editors."""

def quantity(value: object, name: str, unit: str) -> float:
    """A number (SI), or a text with a unit of that dimension, in SI."""

def method_names(rests: bool) -> list[str]:
    """Methods that run, or that find rests."""

class Reaction:
    """
    What holds a place: in world axes, on the beam, on what hangs on the joint, on b of the loop.
    """

    @property
    def name(self) -> str: ...

    @property
    def of(self) -> str:
        """root, tie, clamp, joint, loop or contact"""

    @property
    def at(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """[m]"""

    @property
    def force(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """[N]"""

    @property
    def moment(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """[N m]"""

    @property
    def torque(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Of a joint's springs and drives, for each freedom [N m or N]."""

    def __repr__(self) -> str: ...

class BeamRest:
    """A beam at rest; arrays go from root to tip."""

    @property
    def name(self) -> str: ...

    @property
    def tip(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """[m]"""

    @property
    def moved(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Of the tip [m]."""

    @property
    def slope(self) -> float:
        """That the tangent at the tip has turned [rad]."""

    @property
    def s(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Where along the beam, 0 to 1."""

    @property
    def force(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]:
        """What the part beyond pulls with, x along the beam, principal axes [N]."""

    @property
    def moment(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]:
        """And turns with [N m]."""

    @property
    def stress(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Largest von Mises stress of the section [Pa]."""

    @property
    def bending(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """[Pa]"""

    @property
    def torsion(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """[Pa]"""

    @property
    def axial(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """[Pa]"""

    @property
    def safety(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """
        Yield stress over the combined one; infinite without load or yield stress.
        """

    def __repr__(self) -> str: ...

class StaticMode:
    """A small swing about a rest."""

    @property
    def eigenvalue(self) -> float:
        """[1/s2]; negative: the way it would go."""

    @property
    def frequency(self) -> float:
        """[Hz]; nan where it would leave."""

    @property
    def shape(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Joint rates, the largest 1."""

    @property
    def moves(self) -> str:
        """The joint that moves most."""

    def __repr__(self) -> str: ...

class StabilityLoss:
    """Where stability changes as loads come on."""

    @property
    def factor(self) -> float:
        """Of the loads."""

    @property
    def negative(self) -> int:
        """Directions after it."""

    @property
    def limit(self) -> bool:
        """The load has a maximum or minimum there; else another branch crosses."""

    @property
    def moves(self) -> str: ...

    def __repr__(self) -> str: ...

class Rest:
    """Where a scene comes to rest; limber.Equilibrium is what people use."""

    @property
    def ok(self) -> bool: ...

    @property
    def stable(self) -> bool: ...

    @property
    def message(self) -> str: ...

    @property
    def status(self) -> str: ...

    @property
    def worst(self) -> str: ...

    @property
    def iterations(self) -> int: ...

    @property
    def method(self) -> str: ...

    @property
    def time(self) -> float: ...

    @property
    def load(self) -> float: ...

    @property
    def residual(self) -> float: ...

    @property
    def gap(self) -> float: ...

    @property
    def negative(self) -> int: ...

    @property
    def counted(self) -> bool: ...

    @property
    def lost(self) -> list[StabilityLoss]: ...

    @property
    def modes(self) -> list[StaticMode]: ...

    @property
    def reactions(self) -> list[Reaction]: ...

    @property
    def beams(self) -> list[BeamRest]: ...

    @property
    def springs(self) -> list[tuple[str, tuple[float, float]]]: ...

    @property
    def stops(self) -> list[tuple[tuple[str, int], tuple[float, float]]]: ...

    @property
    def stiffness(self) -> float | None: ...

    @property
    def energy(self) -> tuple[float, float]: ...

    @property
    def error(self) -> float | None: ...

    @property
    def warnings(self) -> list[str]: ...

    @property
    def statements(self) -> list[tuple[str, str]]: ...

    @property
    def unloaded(self) -> Moment: ...

    @property
    def moment(self) -> Moment: ...

    def page(self, file: str) -> str:
        """The text of its report, by way of that file."""

def find_rest(scene: CompiledScene, options: dict, statics: dict) -> Rest: ...

class CurvePoint:
    """A rest on a curve of rests."""

    @property
    def load(self) -> float: ...

    @property
    def time(self) -> float: ...

    @property
    def negative(self) -> int: ...

    @property
    def kind(self) -> str: ...

    @property
    def deflection(self) -> float:
        """Of the place of the only load, along it [m]."""

    @property
    def largest_stress(self) -> float: ...

    @property
    def severed(self) -> int: ...

class Curve:
    """Rests one after the other; limber.StaticCurve is what people use."""

    @property
    def ok(self) -> bool: ...

    @property
    def message(self) -> str: ...

    @property
    def method(self) -> str: ...

    @property
    def job(self) -> str: ...

    @property
    def lost(self) -> list[StabilityLoss]: ...

    @property
    def force(self) -> float: ...

    @property
    def stiffness(self) -> float: ...

    @property
    def snap(self) -> tuple[tuple[float, float] | None, tuple[float, float] | None, float | None]:
        """
        Load and deflection where it snaps and where it comes back, deflection where it stays.
        """

    @property
    def events(self) -> list[str]: ...

    @property
    def warnings(self) -> list[str]: ...

    @property
    def statements(self) -> list[tuple[str, str]]: ...

    def __len__(self) -> int: ...

    def point(self, index: int) -> CurvePoint: ...

    def moment(self, index: int) -> Moment: ...

    @property
    def loads(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]: ...

    @property
    def times(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]: ...

    @property
    def columns(self) -> list[tuple[str, str]]: ...

    @property
    def scalars(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]:
        """(points, columns)"""

    def page(self, file: str) -> str: ...

def load_curve(scene: CompiledScene, options: dict, statics: dict, steps: int, weight: bool) -> Curve: ...

def equilibrium_path(scene: CompiledScene, statics: dict, branch: int) -> Curve: ...

def static_history(scene: CompiledScene, statics: dict, until: float, steps: int) -> Curve: ...

class UnloadedShape:
    """The shape that becomes the scene's under its loads."""

    @property
    def ok(self) -> bool: ...

    @property
    def message(self) -> str: ...

    @property
    def off(self) -> float:
        """Of the loaded shape from the given one, of its size."""

    @property
    def stable(self) -> bool:
        """The given shape, under these loads."""

    @property
    def warnings(self) -> list[str]: ...

    @property
    def statements(self) -> list[tuple[str, str]]: ...

    @property
    def unloaded(self) -> Moment: ...

    @property
    def loaded(self) -> Moment: ...

    def page(self, file: str) -> str:
        """The text of its report, by way of that file."""

def unloaded_shape(scene: CompiledScene, statics: dict) -> UnloadedShape: ...

class Recording:
    """The frames of a run."""

    def __init__(self, file: str) -> None: ...

    @property
    def layout(self) -> Layout: ...

    @property
    def torn(self) -> bool:
        """Bytes follow that are no complete frame."""

    def __len__(self) -> int: ...

    def times(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """[s]"""

    def scalars(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]:
        """(frames, columns)"""

    def poses(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), writable=False)]:
        """(frames, bodies, 7): x, y, z [m] and the unit quaternion w, x, y, z."""

    def points(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), writable=False)]:
        """(frames, points of all lines, 3) [m]"""

    def moment(self, index: int) -> Moment: ...

def run(scene: CompiledScene, options: dict, folder: str, force: bool, set: Sequence[tuple[str, str]], progress: object | None) -> str:
    """Runs into a folder; returns the outcome."""

def write_file(folder: str, kind: str, file: str) -> None:
    """Makes csv, glb, vtk (a folder) or report of a run's folder."""

class Contact:
    """A place where two things touch."""

    @property
    def a(self) -> str: ...

    @property
    def b(self) -> str: ...

    @property
    def at(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """In the world [m]."""

    @property
    def force(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """On a, in the world [N]."""

    @property
    def normal(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """From b to a."""

    def __repr__(self) -> str: ...

class Stepper:
    """A simulation that is stepped; limber.Simulation is what people use."""

    def __init__(self, scene: CompiledScene, options: dict) -> None: ...

    @overload
    def step(self) -> None:
        """One step of the scene's size."""

    @overload
    def step(self, count: int) -> None:
        """So many steps."""

    def seconds_of(self, count: int) -> float:
        """What so many steps take without Python."""

    @property
    def time(self) -> float:
        """[s]"""

    @property
    def steps(self) -> int:
        """Finished."""

    @property
    def step_size(self) -> float:
        """[s]"""

    @property
    def method(self) -> str: ...

    @property
    def solver(self) -> str:
        """What solves its linear systems."""

    @property
    def dofs(self) -> int:
        """Degrees of freedom."""

    @property
    def options(self) -> dict: ...

    @property
    def events(self) -> list[str]:
        """That happened, in words."""

    @property
    def over(self) -> bool:
        """An event has ended it."""

    @property
    def layout(self) -> Layout: ...

    @property
    def poses(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]:
        """
        Of each body and link: x, y, z [m] and the unit quaternion w, x, y, z. Not a copy.
        """

    @property
    def points(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), writable=False)]:
        """Of all lines, one after the other [m]. Not a copy."""

    @property
    def scalars(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Of each column. Not a copy."""

    @property
    def q(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Coordinates of the method's state, as of now."""

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Rates of the method's state, as of now; empty where it has none."""

    def moment(self) -> Moment:
        """This moment, to keep."""

    def save(self) -> bytes:
        """All that the next step depends on, to its last bit."""

    def load(self, state: bytes) -> None:
        """Goes on from what save() gave."""

    def set_drive(self, name: str, values: Sequence[float]) -> None: ...

    @property
    def drives(self) -> list[str]:
        """Joints whose drives can be set."""

    def grab(self, frame: str, at: Sequence[float], target: Sequence[float], stiffness: float, damping: float) -> None: ...

    def release(self) -> None: ...

    def scale_loads(self, factor: float) -> None: ...

    @property
    def contacts(self) -> list[Contact]: ...

class Candidate:
    """What one method made of a scene."""

    @property
    def method(self) -> str: ...

    @property
    def setting(self) -> str:
        """Elements, or the step."""

    @property
    def refusal(self) -> str:
        """Why it does not apply or did not converge; empty: it ran."""

    @property
    def seconds(self) -> float:
        """Of the solve, or of a step [s]."""

    @property
    def error(self) -> float:
        """Largest distance from the reference, of the structure's size."""

    @property
    def force_error(self) -> float | None:
        """Of a reduced model."""

    @property
    def gap(self) -> float | None:
        """Of a reduced model."""

    def __repr__(self) -> str: ...

class Comparison:
    """One scene through every method that applies."""

    @property
    def reference(self) -> str:
        """What the others are measured against."""

    @property
    def time(self) -> float:
        """Whose loads act, or that was simulated [s]."""

    @property
    def candidates(self) -> list[Candidate]:
        """Best first, refused ones last."""

    def __repr__(self) -> str: ...

def compare(scene: CompiledScene, options: dict, kind: str, time: float) -> Comparison: ...

def reduce(scene: CompiledScene, options: dict) -> bytes:
    """The bytes of a .rom file."""

class Variations:
    """A scene whose parameters are a little different."""

    def __init__(self, scene: CompiledScene) -> None: ...

class StaticGradient:
    """Derivatives of a rest; limber.Equilibrium.gradient is what people use."""

    def __init__(self, scene: CompiledScene, options: dict, statics: dict) -> None: ...

    @property
    def columns(self) -> list[tuple[str, str]]: ...

    @property
    def values(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]: ...

    def derivative(self, up: CompiledScene, down: CompiledScene, delta: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """
        Of every column, by the parameter in which two scenes differ by plus and minus delta.
        """

    def by_parameter(self, variations: Variations, name: str, value: float, unit: str, delta: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)] | None:
        """
        The same of the parameter with a value of that unit, for less: of columns that tell where things stand, NaN of others. None where it changes more than numbers of materials, sections and loads.
        """

class RunGradient:
    """Derivatives of a run; limber.Run.gradient is what people use."""

    def __init__(self, scene: CompiledScene, options: dict) -> None: ...

    @property
    def columns(self) -> list[tuple[str, str]]: ...

    @property
    def times(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """Of the frames [s]."""

    @property
    def freedoms(self) -> list[tuple[str, int]]:
        """Joint and its coordinate, of each freedom."""

    def of(self, numbers: Sequence[tuple[int, int, float]], up: Sequence[CompiledScene], down: Sequence[CompiledScene], delta: Sequence[float], forces: bool = False) -> dict:
        """
        Of the sum of recorded numbers (frame, column, weight): its value, its derivatives by parameters in which scenes differ by plus and minus delta, by the start and, if wanted, by forces at every step.
        """

def evaluate(scene: CompiledScene, text: str) -> tuple[float, str]:
    """Value in SI and SI unit of an expression with the scene's parameters."""
