"""Simulations that are stepped."""

from __future__ import annotations

import copy
import pickle
import threading
import time

import numpy as np
import pytest

import limber


def test_steps_are_those_of_a_run(arm: str) -> None:
    scene = limber.Scene(arm)
    run = scene.run(frame="2 ms")
    sim = scene.simulate()
    for i in range(len(run)):
        assert sim.time == run.times[i] and np.array_equal(sim.poses, run.frames.poses[i])
        assert np.array_equal(sim["arm.tip.position"], run["arm.tip.position"][i])
        sim.step()


def test_arrays_show_the_moment_and_are_no_copies(arm: str) -> None:
    sim = limber.Scene(arm).simulate()
    before, kept = sim.poses, sim.poses.copy()
    sim.step(3)
    now = sim.poses
    assert np.shares_memory(before, now) and np.array_equal(before, now) and not np.array_equal(kept, now)
    assert not now.flags.writeable and not now.flags.owndata
    state = sim.state
    assert len(state.velocities) == sim.dofs <= len(state.positions) and state.time == sim.time
    del sim
    assert np.all(np.isfinite(now))  # what it looks at lives as long


def test_poses_of_ten_thousand_bodies() -> None:
    sim = limber.scenes.bicycle_chain.set(links=10_000).simulate()
    sim.step()
    first = sim.poses
    begin = time.perf_counter()
    for _ in range(100):
        again = sim.poses
    took = (time.perf_counter() - begin) / 100
    assert len(first) >= 10_000 and np.shares_memory(first, again)
    # Copying 560 kB would take some 50 microseconds and more; a loaded machine gets its share.
    assert took < 5e-5


def test_saved_states_go_on_bit_for_bit(arm: str) -> None:
    sim = limber.Scene(arm).simulate()
    sim.step(5)
    sim.set_drive("motor", 0.3)
    sim.step(5)
    state = sim.save()
    others = [copy.copy(sim), pickle.loads(pickle.dumps(sim))]
    sim.step(10)
    end = sim.save()
    sim.load(state)
    for other in (sim, *others):
        other.step(10)
        assert other.save() == end and other.time == sim.time
    for wrong in (b"", b"nonsense", state[:-3], state + b"x"):
        with pytest.raises(ValueError):
            sim.load(wrong)
    assert sim.save() == end


def test_a_drive_follows_what_it_is_told(arm: str) -> None:
    sim = limber.Scene(arm).set({"run.step": "5 ms"}).set(pull=0.0).simulate()
    assert sim.drives == ["motor"]
    free = sim["motor.angle"]
    for _ in range(400):
        sim.set_drive("motor", -0.4)
        sim.step()
    # The servo is a spring: weight of the arm pulls it further.
    assert sim["motor.angle"] == pytest.approx(-0.4, abs=0.05) and free == 0
    with pytest.raises(ValueError):
        sim.set_drive("elbow", 0)
    with pytest.raises(ValueError):
        sim.set_drive("motor", [0, 1])
    with pytest.raises(ValueError):
        sim.set_drive("motor", float("nan"))


def test_what_touches_is_told() -> None:
    sim = limber.Scene(
        {
            "bodies": {"ball": {"sphere": "5 cm", "mass": 1, "at": [0, 0, 0.05]}},
            "contact": {"planes": [{"at": [0, 0, 0]}], "friction": 0.5},
            "run": {"step": "2 ms"},
        }
    ).simulate()
    sim.step(200)
    (contact,) = sim.contacts
    assert "ball" in (contact.a, contact.b)
    assert abs(contact.force[2]) == pytest.approx(9.81, rel=1e-3) and abs(contact.normal[2]) == pytest.approx(1)
    sim.grab("ball", [0, 0, 1], stiffness=1000, damping=50)
    sim.step(500)
    assert sim.contacts == [] and sim.poses[0, 2] > 0.5
    sim.release()


def test_events_are_told_and_end_it() -> None:
    scene = limber.Scene(
        {
            "bodies": {"ball": {"sphere": "5 cm", "mass": 1}},
            "probes": ["ball.position"],
            "events": {"low": {"when": {"reads": "ball.position.z", "below": "-0.1 m"}, "stop": True}},
            "run": {"step": "10 ms"},
        }
    )
    sim = scene.simulate()
    sim.step(1000)
    assert sim.over and sim["ball.position.z"] == pytest.approx(-0.1, abs=1e-9)
    time_of_end = sim.time
    sim.step()
    assert sim.time == time_of_end == pytest.approx((0.2 / 9.81) ** 0.5, rel=1e-9) and "low" in sim.events[0]


def test_two_threads_do_not_share_one(arm: str) -> None:
    sim = limber.Scene(arm).simulate()
    thread = threading.Thread(target=lambda: sim.step(3000))
    thread.start()
    refused = 0
    while thread.is_alive():
        try:
            sim.step()
        except RuntimeError as e:
            assert "another thread" in str(e)
            refused += 1
    thread.join()
    assert refused > 0


def test_python_adds_less_than_a_microsecond_to_a_step() -> None:
    sim = limber.scenes.double_pendulum.simulate()
    n = 2000

    def python() -> float:
        step = sim.step
        begin = time.perf_counter()
        for _ in range(n):
            step()
        return time.perf_counter() - begin

    # Turn by turn, so that a machine that is busy with other things is so for both; the best of each.
    both = [(sim.seconds_of(n), python()) for _ in range(15)]
    added = (min(b for _, b in both) - min(a for a, _ in both)) / n
    assert added < 1e-6


def test_a_live_view_is_served(arm: str) -> None:
    from urllib.request import urlopen

    with limber.Scene(arm).simulate().view() as view:
        assert b"<html" in urlopen(view.url, timeout=20).read().lower()
