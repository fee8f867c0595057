"""Scenes as functions and as environments; with other people's packages where they are installed."""

from __future__ import annotations

import json
import threading
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest

import limber
from limber import bridges, envs


def rest() -> bridges.Function:
    scene = limber.Scene(
        {
            "parameters": {"length": "300 mm", "height": "1 mm", "pull": "1 N"},
            "materials": {"steel": {"E": "205 GPa", "nu": 0.29, "density": "7850 kg/m3"}},
            "sections": {"blade": {"rectangle": {"width": "20 mm", "height": "=height"}}},
            "beams": {"arm": {"path": [[0, 0, 0], ["=length", 0, 0]], "material": "steel", "section": "blade", "elements": 6}},
            "loads": {"tip": {"on": "arm.tip", "force": [0, 0, "=-pull"]}},
        }
    )
    return bridges.Function(scene, ["arm.tip.position.x", "arm.tip.position.z"], ["length", "height"])


def run() -> bridges.Function:
    scene = limber.scenes.double_pendulum.set({"run.time": 0.3})
    return bridges.Function(scene, ["elbow.angle", "lower.tip.position.z"], ["upper", "release"], of="run", tolerance=1e-13)


@pytest.mark.parametrize("make", [rest, run])
def test_derivatives_are_differences(make: Any) -> None:
    f = make()
    x = f.start.copy()
    found, way = f.jacobian(x), 1e-4 * x
    for k in range(len(x)):
        d = np.zeros_like(x)
        d[k] = way[k]
        wanted = (8 * (f(x + d) - f(x - d)) - (f(x + 2 * d) - f(x - 2 * d))) / (12 * way[k])
        assert found[:, k] == pytest.approx(wanted, rel=1e-5, abs=1e-6 * np.abs(wanted).max())
    assert f.vjp(x, [0.3, -2]) == pytest.approx(np.array([0.3, -2]) @ found, rel=1e-9)
    for wrong in ([1.0], [np.nan, 1.0], [[1.0, 2.0]]):
        with pytest.raises(ValueError):
            f(wrong)
    with pytest.raises(ValueError):
        f.value_and_gradient(x)


def test_scipy_finds_a_beam_of_given_deflection() -> None:
    optimize = pytest.importorskip("scipy.optimize", reason="scipy is not installed")
    f = rest()

    def off(x: Any) -> tuple[float, Any]:
        z, by = f(x * f.start)[1], f.jacobian(x * f.start)[1] * f.start
        return ((z + 0.05) / 0.05) ** 2, 2 * (z + 0.05) / 0.05**2 * by

    found = optimize.minimize(off, [1.0, 1.0], jac=True)
    assert f(found.x * f.start)[1] == pytest.approx(-0.05, rel=1e-4)


@pytest.mark.parametrize("make", [rest, run])
def test_torch(make: Any) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    f = make()
    x = torch.tensor(f.start, dtype=torch.float64, requires_grad=True)
    y = (bridges.torch_function(f)(x) ** 2).sum()
    y.backward()
    assert x.grad.numpy() == pytest.approx(2 * f(f.start) @ f.jacobian(f.start), rel=1e-9)


def test_jax() -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    jax.config.update("jax_enable_x64", True)
    f = rest()
    g = bridges.jax_function(f)
    found = jax.grad(lambda x: (g(x) ** 2).sum())(jax.numpy.array(f.start))
    assert np.asarray(found) == pytest.approx(2 * f(f.start) @ f.jacobian(f.start), rel=1e-9)


def test_umbridge() -> None:
    f = rest()
    server = bridges.umbridge_server(f, port=0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}"

    def ask(path: str, **asked: Any) -> Any:
        with urlopen(Request(url + path, json.dumps(asked).encode()), timeout=20) as answer:
            return json.load(answer)

    x = f.start.tolist()
    try:
        assert ask("/Info")["models"] == ["limber"] and ask("/InputSizes", name="limber") == {"inputSizes": [2]}
        assert ask("/Evaluate", name="limber", input=[x])["output"] == [f(x).tolist()]
        assert ask("/Gradient", name="limber", outWrt=0, inWrt=0, input=[x], sens=[1, 0])["output"] == f.vjp(x, [1, 0]).tolist()
        with pytest.raises(HTTPError):
            ask("/Evaluate", name="limber", input=[[1]])
        try:
            import umbridge
        except ImportError:
            return
        model = umbridge.HTTPModel(url, "limber")
        assert model([x])[0] == f(x).tolist() and model.supports_gradient()
    finally:
        server.shutdown()
        server.server_close()


CART = {
    "parameters": {"lean": 0.1},
    "bodies": {"cart": {"box": [0.2, 0.1, 0.1], "mass": 1}, "pole": {"capsule": {"radius": 0.01, "from": [0, 0, 0], "to": [0, 0, 0.5]}, "mass": 0.2}},
    "joints": {
        "rail": {"type": "prismatic", "child": "cart", "axis": [1, 0, 0], "drive": {"force": 0}},
        "hinge": {"type": "revolute", "parent": "cart", "child": "pole", "axis": [0, 1, 0], "position": "=lean"},
    },
    "probes": ["rail.position", "hinge.angle"],
    "run": {"step": "10 ms"},
}  # fmt: skip


def cart() -> envs.Env:
    return envs.Env(
        limber.Scene(CART), observe=["rail.position", "hinge.angle"], drives=["rail"],
        reward=lambda sim, action: -float(np.asarray(sim["hinge.angle"]) ** 2), low=-10, high=10, steps=2, horizon=50,
        terminated=lambda sim: abs(float(np.asarray(sim["hinge.angle"]))) > 1,
        start=lambda scene, random: scene.set(lean=float(random.uniform(0.02, 0.1))),
    )  # fmt: skip


def test_an_environment() -> None:
    env = cart()
    first, _ = env.reset(seed=3)
    again, _ = cart().reset(seed=3)
    assert np.array_equal(first, again) and first.shape == env.observation_space.shape == (2,)
    taken = 0
    while True:
        observation, reward, terminated, truncated, _ = env.step([0.0])
        taken += 1
        if terminated or truncated:
            break
    assert terminated and abs(observation[1]) > 1 and reward < 0 and taken < 50
    with pytest.raises(RuntimeError):
        env.step([0.0])
    env.reset(seed=3)
    with pytest.raises(ValueError):
        env.step([0.0, 1.0])
    # A pole that is held upright is truncated.
    observation, _ = env.reset(seed=3)
    rate = 0.0
    for _ in range(50):
        last = observation[1]
        observation, _, terminated, truncated, _ = env.step([60 * observation[1] + 8 * rate])
        rate = (observation[1] - last) / 0.02
        assert not terminated
    assert truncated


def test_many_at_once() -> None:
    batch = envs.Batch([cart() for _ in range(4)], threads=2)
    alone = cart()
    first, _ = batch.reset(seed=5)
    assert np.array_equal(first[2], alone.reset(seed=7)[0])
    for _ in range(80):
        many, rewards, ended, _, infos = batch.step(np.zeros((4, 1)))
        if not ended[2]:
            assert np.array_equal(many[2], alone.step([0.0])[0])
        else:
            assert "final_observation" in infos[2]
            break
    assert rewards.shape == (4,)
    batch.close()


def test_gymnasium_checks_it() -> None:
    pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    from gymnasium.utils.env_checker import check_env

    check_env(cart(), skip_render_check=True)
