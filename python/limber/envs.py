"""Simulations as environments for learning: the interface of gymnasium, which need not be there.

    env = limber.envs.Env(scene, observe=["cart.position", "pole.angle"], drives=["cart"], reward=my_reward)
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(action)

Where gymnasium is installed Env is a gymnasium.Env with spaces of gymnasium.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import Diverged
from ._scene import Scene
from ._simulation import Simulation

Floats = NDArray[np.float64]

if TYPE_CHECKING:
    _Base = object
    Box: Any
else:
    try:
        import gymnasium
        from gymnasium.spaces import Box

        _Base = gymnasium.Env
    except ImportError:
        _Base = object

        class Box:
            """Arrays between two bounds, as gymnasium.spaces.Box."""

            def __init__(self, low: Any, high: Any, shape: tuple[int, ...], dtype: Any = np.float64, seed: Any = None) -> None:
                self.low, self.high = np.full(shape, low, dtype), np.full(shape, high, dtype)
                self.shape, self.dtype = shape, np.dtype(dtype)
                self._random = np.random.default_rng(seed)

            def sample(self) -> Any:
                bounded = self._random.uniform(np.maximum(self.low, -1e6), np.minimum(self.high, 1e6))
                return np.asarray(bounded, dtype=self.dtype)

            def contains(self, x: Any) -> bool:
                x = np.asarray(x)
                return x.shape == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))


Reward = Callable[[Simulation, Floats], float]  #: of the simulation after the step, and of the action
End = Callable[[Simulation], bool]
Start = Callable[[Scene, np.random.Generator], Scene]


class Env(_Base):
    """One simulation. Observations are what is probed, one number after the other; actions are what drives aim at.

    `reward`, `terminated`: functions of the simulation. `start`: the scene of an episode, by a generator of random
    numbers (changed parameters, another place to begin). `steps`: steps of the simulation in one of the environment.
    `horizon`: steps of the environment, then an episode is truncated. A simulation that diverges terminates it."""

    metadata: dict[str, Any] = {"render_modes": []}
    render_mode = None

    def __init__(
        self,
        scene: Scene,
        *,
        observe: Sequence[str],
        drives: Sequence[str],
        reward: Reward,
        terminated: End | None = None,
        start: Start | None = None,
        low: float = -1.0,
        high: float = 1.0,
        steps: int = 1,
        horizon: int | None = None,
        **options: Any,
    ) -> None:
        if steps < 1 or (horizon is not None and horizon < 1):
            raise ValueError("steps and horizon: expected at least 1")
        if not low < high:
            raise ValueError("low: expected less than high")
        self.scene, self.observed, self.drives = scene.with_(), list(observe), list(drives)
        self._reward, self._terminated, self._start = reward, terminated, start
        self._steps, self._horizon, self._options = steps, horizon, options
        self.simulation = Simulation(self.scene, **options)
        self._sizes = [self._size(name) for name in self.drives]
        self.action_space = Box(low, high, shape=(sum(self._sizes),), dtype=np.float64)
        self.observation_space = Box(-np.inf, np.inf, shape=self._observation().shape, dtype=np.float64)
        self._random = np.random.default_rng()
        self._taken = 0
        self._over = True

    def _size(self, drive: str) -> int:
        for size in range(1, 7):
            try:
                Simulation(self.scene, **self._options).set_drive(drive, [0.0] * size)
            except ValueError as e:
                if f"got {size}" not in str(e):
                    raise
            else:
                return size
        raise ValueError(f"drive {drive}: of no size")

    def _observation(self) -> Floats:
        parts = [np.atleast_1d(np.asarray(self.simulation[name], dtype=np.float64)) for name in self.observed]
        return np.concatenate(parts) if parts else np.empty(0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """A new episode; with a seed a repeatable one."""
        if _Base is not object:
            super().reset(seed=seed)  # type: ignore[misc]
        if seed is not None:
            self._random = np.random.default_rng(seed)
        scene = self.scene if self._start is None else self._start(self.scene.with_(), self._random)
        self.simulation = Simulation(scene, **self._options)
        self._taken, self._over = 0, False
        return self._observation(), {}

    def step(self, action: ArrayLike) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Observation, reward, terminated, truncated, info."""
        if self._over:
            raise RuntimeError("this episode is over: reset() begins another")
        values = np.asarray(action, dtype=np.float64)
        if values.shape != self.action_space.shape:
            raise ValueError(f"action: expected shape {self.action_space.shape}, got {values.shape}")
        begin = 0
        for name, size in zip(self.drives, self._sizes):
            self.simulation.set_drive(name, values[begin : begin + size])
            begin += size
        info: dict[str, Any] = {}
        failed = False
        try:
            self.simulation.step(self._steps)
        except Diverged as e:
            failed, info = True, {"diverged": str(e)}
        self._taken += 1
        ended = failed or self.simulation.over or (self._terminated is not None and bool(self._terminated(self.simulation)))
        truncated = not ended and self._horizon is not None and self._taken >= self._horizon
        self._over = ended or truncated
        return self._observation(), float(self._reward(self.simulation, values)), ended, truncated, info

    def render(self) -> None:
        """Nothing: limber shows runs, and Simulation.view() a scene live."""

    def close(self) -> None:
        """Nothing is held."""


class Batch:
    """Many environments stepped at once by a pool of threads: a step does not hold the interpreter's lock. One that is
    over begins again by itself; its last observation is in info["final_observation"]."""

    def __init__(self, environments: Sequence[Env], *, threads: int | None = None) -> None:
        if not environments:
            raise ValueError("expected at least one environment")
        self.environments = list(environments)
        self._pool = ThreadPoolExecutor(threads or os.cpu_count() or 1)

    def __len__(self) -> int:
        return len(self.environments)

    def reset(self, *, seed: int | None = None) -> tuple[Floats, list[dict[str, Any]]]:
        """(environments, numbers); the k-th has the seed seed + k."""
        seeds = [None if seed is None else seed + k for k in range(len(self))]
        found = list(self._pool.map(lambda pair: pair[0].reset(seed=pair[1]), zip(self.environments, seeds)))
        return np.array([f[0] for f in found]), [f[1] for f in found]

    def step(
        self, actions: ArrayLike
    ) -> tuple[Floats, Floats, NDArray[np.bool_], NDArray[np.bool_], list[dict[str, Any]]]:
        """The same as of one, of all: (environments, …)."""
        given = np.asarray(actions, dtype=np.float64)
        if len(given) != len(self):
            raise ValueError(f"expected {len(self)} actions, got {len(given)}")

        def one(pair: tuple[Env, Any]) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
            env, action = pair
            observation, reward, ended, truncated, info = env.step(action)
            if ended or truncated:
                info = {**info, "final_observation": observation}
                observation, _ = env.reset()
            return observation, reward, ended, truncated, info

        found = list(self._pool.map(one, zip(self.environments, given)))
        return (
            np.array([f[0] for f in found]),
            np.array([f[1] for f in found]),
            np.array([f[2] for f in found]),
            np.array([f[3] for f in found]),
            [f[4] for f in found],
        )

    def close(self) -> None:
        """Ends its threads."""
        self._pool.shutdown()
