"""The package itself: what is in the wheel, its types, how long it takes to import."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import limber
from limber import _command

HERE = Path(__file__).parent
WHEEL = os.environ.get("LIMBER_WHEEL")
needs_wheel = pytest.mark.skipif(not WHEEL, reason="LIMBER_WHEEL names no wheel")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False)


@needs_wheel
def test_the_wheel() -> None:
    assert WHEEL is not None
    assert re.match(r"limber_sim-[\d.]+-cp310-abi3-manylinux_2_\d+_x86_64", Path(WHEEL).name)
    assert Path(WHEEL).stat().st_size < 15e6
    with zipfile.ZipFile(WHEEL) as wheel:
        names = wheel.namelist()
        metadata = wheel.read(next(n for n in names if n.endswith("/METADATA"))).decode()
    for version in ("310", "311", "312", "313", "314"):
        assert any(re.match(rf"limber/_backend/_nb_backend_v1\.cpython-{version}-", n) for n in names)
    needs = re.findall(r"^Requires-Dist: ([\w-]+)(.*)$", metadata, re.MULTILINE)
    always = [name for name, rest in needs if ";" not in rest]
    assert always == ["numpy"]
    assert {"limber/py.typed", "limber/_limber.pyi", "limber/_bin/limber", "limber/_scenes/bridge-car.yaml"} <= set(names)


@needs_wheel
def test_what_is_tested_is_what_was_installed() -> None:
    assert "site-packages" in str(Path(limber.__file__))


def test_importing_it_takes_little_beyond_numpy() -> None:
    code = (
        "import time, numpy; a = time.process_time(); import limber; limber.Scene, limber.Simulation, limber.Run; "
        "limber.Equilibrium; print(time.process_time() - a)"
    )
    taken = min(float(run(sys.executable, "-c", code).stdout) for _ in range(5))
    assert taken < 0.1


def test_the_command_comes_with_it() -> None:
    assert limber.__version__ in run(str(_command.path()), "--version").stdout
    script = Path(sys.executable).parent / "limber"
    if WHEEL:
        assert run(str(script), "check", str(_command.path().parents[1] / "_scenes" / "arch.yaml")).returncode == 0
        assert run(str(script), "no-such-command").returncode == 2


def test_mypy_strict_passes_on_the_whole_interface() -> None:
    found = run(
        sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "--no-incremental",
        str(HERE / "data" / "whole_interface.py"),
    )  # fmt: skip
    assert found.returncode == 0, found.stdout


def test_the_whole_interface_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "data" / "whole_interface.py")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_stubs_say_what_is_there() -> None:
    found = run(sys.executable, "-m", "mypy.stubtest", "limber._limber", "--ignore-disjoint-bases", "--concise")
    # What nanobind's own kinds of functions and classes are to stubtest, whatever the stub says; all else is clean.
    own = re.compile(r"is not a function$|metaclass differs$|__init__ is inconsistent, stub does not have \*args parameter")
    lines = [line for line in found.stdout.splitlines() if line.startswith("limber._limber")]
    assert lines and all(own.search(line) for line in lines), found.stdout + found.stderr
