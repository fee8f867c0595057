"""python -m limber.bench: what Python adds to a step, and what gradients cost beside what they are of.

Ratios of processor times measured turn by turn in one process, the best of several of each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from . import scenes
from ._scene import Scene


def best(*works: Callable[[], object], times: int = 3) -> list[float]:
    """Seconds of the processor, turn by turn."""
    out = [float("inf")] * len(works)
    for _ in range(times):
        for i, work in enumerate(works):
            begin = time.process_time()
            work()
            out[i] = min(out[i], time.process_time() - begin)
    return out


def blades(count: int, elements: int, **more: Any) -> Scene:
    """A cantilever of blades one after the other, each with a height of its own: a parameter each."""
    beams: dict[str, Any] = {}
    for i in range(count):
        beams[f"b{i}"] = {
            "path": [[0, 0, 0], [1.0 / count, 0, 0]],
            "material": "steel",
            "section": f"s{i}",
            "elements": elements,
            "damping": 2e-3,
        }
        if i:
            beams[f"b{i}"]["from"] = f"b{i - 1}.tip"
    return Scene(
        {
            "parameters": {f"p{i}": 1e-3 * (1 + 0.3 * ((7 * i) % 10) / 10) for i in range(count)},
            "materials": {"steel": {"E": 2e11, "nu": 0.3, "density": 7800}},
            "sections": {f"s{i}": {"rectangle": {"width": 0.02, "height": f"=p{i}"}} for i in range(count)},
            "beams": beams,
            "loads": {"tip": {"on": f"b{count - 1}.tip", "force": [0, 0, -0.05]}},
            "probes": [f"b{count - 1}.tip.position"],
            **more,
        }
    )


def step_overhead(steps: int = 2000, times: int = 15) -> float:
    """Seconds that a call of sim.step() adds to the step of a double pendulum."""
    sim = scenes.double_pendulum.simulate()

    def python() -> None:
        step = sim.step
        for _ in range(steps):
            step()

    without, with_python = best(lambda: sim.seconds_of(steps), python, times=times)
    return (with_python - without) / steps


def static_gradient_ratio(count: int = 50, elements: int = 20, method: str = "articulated") -> float:
    """A gradient in `count` parameters over the search for the rest that it is of."""
    scene = blades(count, elements)
    output, wrt = f"b{count - 1}.tip.position.z", [f"p{i}" for i in range(count)]
    scene.check()

    def fresh() -> None:
        scene.static(method=method).gradient(output, wrt)

    search, both = best(lambda: scene.static(method=method), fresh)
    return (both - search) / search


def run_gradient_ratio(count: int = 50, elements: int = 2, integrator: str = "midpoint", time: float = 2.0) -> float:
    """A gradient in `count` parameters over the run that it is of."""
    scene = blades(count, elements, run={"step": 0.005, "time": time, "frame": 0.1})
    output, wrt = f"b{count - 1}.tip.position.z", [f"p{i}" for i in range(count)]
    run = scene.run(integrator=integrator)

    def gradient() -> None:
        run._derivatives = None
        run.gradient(output, wrt)

    alone, found = best(lambda: scene.run(integrator=integrator), gradient)
    return found / alone


def main(words: Sequence[str]) -> int:
    """Prints all of them."""
    print(f"sim.step() of a double pendulum: {1e6 * step_overhead():.2f} µs over C++")
    for method in ("chain", "articulated"):
        print(f"gradient of a rest in 50 parameters, {method}: {static_gradient_ratio(method=method):.1f} searches")
    for integrator in ("midpoint", "euler", "sdirk", "gauss"):
        print(f"gradient of a run in 50 parameters, {integrator}: {run_gradient_ratio(integrator=integrator):.1f} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
