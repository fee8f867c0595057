"""Runs: the same bits as the command's, arrays, and how they end."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import SCENES, command, digest

import limber


@pytest.mark.parametrize("file", sorted(SCENES.glob("*.yaml")), ids=lambda f: f.stem)
def test_the_same_bits_as_the_command(file: Path, tmp_path: Path) -> None:
    scene = limber.load(file)
    if scene.options["method"] not in scene.check().runs:
        pytest.skip("it only comes to rest")
    step = scene.options["step"]
    times = 3 * step
    frame = {"frame": step}
    done = command(
        "run", str(file), "--time", repr(times), "--frame", repr(step), "--out", str(tmp_path / "a"), "-q",
        "--no-vtk", "--no-glb", "--no-report",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = scene.run(time=times, folder=tmp_path / "b", **frame)
    assert digest(tmp_path / "a" / "frames") == digest(tmp_path / "b" / "frames")
    assert len(run) == len(run.times) and run.frames.poses.shape == (len(run), len(run.frames.names), 7)


def test_what_was_recorded(arm: str) -> None:
    run = limber.Scene(arm).run(frame=0.01)
    assert run.times[0] == 0 and run.times[-1] == pytest.approx(0.2)
    assert run["arm.tip.position"].shape == (len(run), 3) and run["motor.angle"].shape == (len(run),)
    assert run.frames.poses.dtype == np.float64 and not run.frames.poses.flags.writeable
    assert np.allclose(np.linalg.norm(run.frames.poses[:, :, 3:], axis=2), 1, atol=1e-12)
    assert np.array_equal(run.frames[-1].points["hub"], run.frames.of("hub")[-1, :3])
    assert np.array_equal(run.frames.of("arm")[:, -1], run["arm.tip.position"])
    with pytest.raises(KeyError, match="did you mean"):
        run["arm.tip.positon"]
    assert run.outcome == "done" and run.info["report"]["steps"] == 100


def test_a_run_is_a_value(arm: str, tmp_path: Path) -> None:
    run = limber.Scene(arm).run(time=0.02, step="2 ms")
    copied, kept = pickle.loads(pickle.dumps(run)), run.save(tmp_path / "kept")
    for other in (copied, kept, limber.open_run(tmp_path / "kept")):
        assert np.array_equal(other.frames.poses, run.frames.poses)
        assert repr(other) == repr(run)
    folder = run.folder
    assert folder.exists()
    del run, other
    assert not folder.exists() and (tmp_path / "kept" / "frames").exists()


def test_files_for_other_programs(arm: str, tmp_path: Path) -> None:
    run = limber.Scene(arm).run(time=0.02)
    run.csv(tmp_path / "a.csv")
    run.glb(tmp_path / "a.glb")
    run.vtk(tmp_path / "vtk")
    assert (tmp_path / "a.csv").read_text().startswith("time [s],")
    assert (tmp_path / "a.glb").read_bytes()[:4] == b"glTF" and (tmp_path / "vtk" / "scene.pvd").exists()
    page = run._repr_html_()
    assert page is None or page.startswith("<iframe srcdoc=")


def test_progress_is_told_and_may_end_a_run(arm: str) -> None:
    told: list[tuple[float, float]] = []
    limber.Scene(arm).run(progress=lambda t, end: told.append((t, end)))
    assert told[0] == (0, 0.2) and told[-1] == (0.2, 0.2)

    class Enough(Exception):
        pass

    def stop(t: float, end: float) -> None:
        raise Enough

    with pytest.raises(Enough):
        limber.Scene(arm).run(progress=stop)


def test_what_diverges_keeps_its_frames() -> None:
    scene = limber.Scene(
        "limber: 1\nbodies:\n  ball: {sphere: 1 cm, mass: 1 kg}\nprobes: [ball.position]\n"
        "loads:\n  blast: {on: ball, force: ['exp(2000*t) * 1 N', 0, 0]}\nrun: {time: 1 s, step: 10 ms, frame: 10 ms}\n"
    )
    with pytest.raises(limber.Diverged) as caught:
        scene.run()
    run = caught.value.run
    assert run is not None and len(run) > 3 and np.all(np.isfinite(run["ball.position"]))
    assert caught.value.status in ("diverged", "not_converged") and str(caught.value)


def test_a_folder_is_not_overwritten_unasked(arm: str, tmp_path: Path) -> None:
    scene = limber.Scene(arm).set({"run.time": 0.01})
    scene.run(folder=tmp_path / "a")
    with pytest.raises(ValueError):
        scene.run(folder=tmp_path / "a")
    scene.run(folder=tmp_path / "a", force=True)


def test_ctrl_c_ends_what_computes(arm: str) -> None:
    scene = limber.Scene(arm).set({"run.time": 1e6})
    for work in (lambda: scene.run(), lambda: scene.simulate().step(10**9)):
        killer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            killer.start()
            work()
        # A loaded machine may take its time; the work itself would take hours.
        assert time.monotonic() - begin < 30
        killer.join()
    assert scene.with_({"run.time": 0.01}).run().outcome == "done"


def test_threads_compute_beside_each_other(arm: str) -> None:
    scene = limber.Scene(arm)
    alone = scene.run().frames.poses
    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append(np.array_equal(scene.run().frames.poses, alone))) for _ in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [True] * 4


def test_other_methods_run_too(tmp_path: Path) -> None:
    reduced = limber.scenes.gripper.reduce()
    reduced.save(tmp_path / "g.rom")
    run = limber.load(tmp_path / "g.rom").run(time=0.02)
    assert run.info["options"]["method"] == "rom" and np.all(np.isfinite(run.frames.poses))
    with pytest.raises(ValueError):
        reduced.scene()["title"] = "another"
