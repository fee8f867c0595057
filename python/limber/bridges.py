"""Scenes as functions of their parameters, with derivatives: for scipy, PyTorch, JAX and UM-Bridge.

    f = limber.bridges.Function(scene, ["tip.position.z"], wrt=["length", "height"])
    scipy.optimize.minimize(f.value_and_gradient, f.start, jac=True)

None of these packages is needed by limber: each is imported by the function that is for it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._gradient import _Numbers
from ._run import Run
from ._scene import Scene
from ._static import Equilibrium

Floats = NDArray[np.float64]


class Function:
    """Numbers of a scene at rest (of="rest"), or at the last frame of its run (of="run"), by parameters or by numbers
    of it by their path, all in SI. Options are those of Scene.static() and Scene.run()."""

    def __init__(self, scene: Scene, outputs: str | Sequence[str], wrt: Sequence[str], *, of: str = "rest", **options: Any) -> None:
        if of not in ("rest", "run"):
            raise ValueError(f'of: expected "rest" or "run", got {of!r}')
        self.outputs = [outputs] if isinstance(outputs, str) else list(outputs)  #: what is probed; one number each
        self.wrt = [wrt] if isinstance(wrt, str) else list(wrt)
        from . import _gradient

        self.scene = _gradient.probed(scene.with_(), self.outputs)
        self._of, self._options = of, options
        numbers = _Numbers(self.scene)
        start = [numbers._value(name) for name in self.wrt]
        self.start: Floats = np.array([value for value, _ in start])  #: as the scene says
        self._units = [unit for _, unit in start]
        self._last: tuple[bytes, Equilibrium | Run] | None = None
        self._lock = threading.Lock()

    def at(self, x: ArrayLike) -> Scene:
        """The scene with these numbers."""
        values = np.asarray(x, dtype=np.float64)
        if values.shape != self.start.shape:
            raise ValueError(f"expected {len(self.start)} numbers, got shape {values.shape}")
        if not np.all(np.isfinite(values)):
            raise ValueError("expected finite numbers")
        out = self.scene.with_()
        parameters = set(self.scene.parameters)
        for name, value, unit in zip(self.wrt, values.tolist(), self._units):
            text: str | float = f"{value!r} {unit}" if unit else value
            if name in parameters:
                out.set(**{name: text})
            else:
                out.set({name: text})
        return out

    def _found(self, x: ArrayLike) -> Equilibrium | Run:
        key = np.asarray(x, dtype=np.float64).tobytes()
        if self._last is None or self._last[0] != key:
            scene = self.at(x)
            self._last = key, scene.run(**self._options) if self._of == "run" else scene.static(**self._options)
        return self._last[1]

    @staticmethod
    def _number(found: Equilibrium | Run, output: str) -> float:
        value = np.asarray(found[output])
        if isinstance(found, Run):
            value = value[-1]
        if value.ndim:
            raise ValueError(f"{output}: expected one number; name its component ({output}.z)")
        return float(value)

    def __call__(self, x: ArrayLike) -> Floats:
        """(outputs,)"""
        with self._lock:
            found = self._found(x)
            return np.array([self._number(found, output) for output in self.outputs])

    def jacobian(self, x: ArrayLike) -> Floats:
        """(outputs, parameters)"""
        with self._lock:
            found = self._found(x)
            if isinstance(found, Run):
                return np.array([found.gradient(output, self.wrt) for output in self.outputs])
            return np.array(found.jacobian(self.outputs, self.wrt))

    def vjp(self, x: ArrayLike, weights: ArrayLike) -> Floats:
        """weights @ jacobian(x), of runs by one walk backwards."""
        w = np.asarray(weights, dtype=np.float64)
        if w.shape != (len(self.outputs),):
            raise ValueError(f"expected {len(self.outputs)} weights, got shape {w.shape}")
        if self._of == "rest":
            return np.asarray(w @ self.jacobian(x))
        with self._lock:
            found = self._found(x)
            assert isinstance(found, Run)
            table: dict[str, Any] = {}
            for output, share in zip(self.outputs, w.tolist()):
                last = np.zeros(len(found.times))
                last[-1] = share
                table[output] = table[output] + last if output in table else last
            return found.gradient(table, self.wrt)

    def value_and_gradient(self, x: ArrayLike) -> tuple[float, Floats]:
        """Of the only output: what scipy.optimize.minimize takes with jac=True."""
        if len(self.outputs) != 1:
            raise ValueError(f"there are {len(self.outputs)} outputs: a gradient is of one")
        return float(self(x)[0]), self.jacobian(x)[0]


def torch_function(f: Function) -> Callable[[Any], Any]:
    """f of a PyTorch tensor (parameters,), float64, giving (outputs,), with its backward pass."""
    import torch

    class Of(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.x = x.detach().cpu().numpy().astype(np.float64)
            return torch.as_tensor(f(ctx.x), dtype=x.dtype, device=x.device)

        @staticmethod
        def backward(ctx: Any, weights: Any) -> Any:
            found = f.vjp(ctx.x, weights.detach().cpu().numpy().astype(np.float64))
            return torch.tensor(found, dtype=weights.dtype, device=weights.device)

    return lambda x: Of.apply(x)


def jax_function(f: Function) -> Callable[[Any], Any]:
    """f of a JAX array (parameters,), giving (outputs,), with its vector–Jacobian product. Give JAX 64 bits
    (jax.config.update("jax_enable_x64", True)), else it rounds."""
    import jax
    import jax.numpy as jnp

    def call(x: Any) -> Any:
        out = jax.ShapeDtypeStruct((len(f.outputs),), jnp.result_type(x))
        return jax.pure_callback(lambda a: f(np.asarray(a)).astype(out.dtype), out, x)

    @jax.custom_vjp
    def of(x: Any) -> Any:
        return call(x)

    def forward(x: Any) -> tuple[Any, Any]:
        return call(x), x

    def backward(x: Any, weights: Any) -> tuple[Any]:
        out = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return (jax.pure_callback(lambda a, w: f.vjp(np.asarray(a), np.asarray(w)).astype(out.dtype), out, x, weights),)

    of.defvjp(forward, backward)
    return of  # type: ignore[no-any-return]


def umbridge_server(f: Function, *, name: str = "limber", port: int = 4242, host: str = "127.0.0.1") -> ThreadingHTTPServer:
    """A server of f by the protocol of UM-Bridge (HTTP, JSON); begin it with .serve_forever(), end it with
    .shutdown(). One input, the parameters, and one output, the numbers."""

    def answer(path: str, asked: dict[str, Any]) -> dict[str, Any]:
        if path == "/Info":
            return {"protocolVersion": 1.0, "models": [name]}
        if asked.get("name") != name:
            raise LookupError(f"there is no model {asked.get('name')!r}")
        if path == "/InputSizes":
            return {"inputSizes": [len(f.wrt)]}
        if path == "/OutputSizes":
            return {"outputSizes": [len(f.outputs)]}
        if path == "/ModelInfo":
            able = {"Evaluate": True, "Gradient": True, "ApplyJacobian": True, "ApplyHessian": False}
            return {"support": able}
        x = np.asarray(asked["input"][0], dtype=np.float64)
        if path == "/Evaluate":
            return {"output": [f(x).tolist()]}
        if path == "/Gradient":
            return {"output": f.vjp(x, asked["sens"]).tolist()}
        if path == "/ApplyJacobian":
            return {"output": (f.jacobian(x) @ np.asarray(asked["vec"], dtype=np.float64)).tolist()}
        raise LookupError(f"there is no {path}")

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

        def _reply(self, told: dict[str, Any], status: int = 200) -> None:
            body = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _handle(self) -> None:
            try:
                length = int(self.headers.get("Content-Length") or 0)
                self._reply(answer(self.path, json.loads(self.rfile.read(length)) if length else {}))
            except (LookupError, TypeError, ValueError) as e:
                self._reply({"error": {"type": "InvalidInput", "message": str(e)}}, 400)
            except ArithmeticError as e:  # NotConverged, Diverged
                self._reply({"error": {"type": "UnexpectedError", "message": str(e)}}, 500)

        do_GET = do_POST = _handle

    return ThreadingHTTPServer((host, port), Handler)
