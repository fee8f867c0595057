"""What the tests share."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from limber import _command

SCENES = Path(__file__).resolve().parents[2] / "scenes"

ARM = """\
limber: 1
title: An arm on a motor
parameters: {length: 300 mm, height: 1 mm, pull: 2 N}
materials:
  steel: {E: 205 GPa, nu: 0.29, density: 7850 kg/m3, yield: 800 MPa}
sections:
  blade: {rectangle: {width: 20 mm, height: =height}}
bodies:
  hub: {cylinder: {radius: 4 cm, from: [0, -2 cm, 0], to: [0, 2 cm, 0]}, mass: 1 kg}
joints:
  motor: {type: revolute, child: hub, axis: [0, 1, 0], limits: [-170 deg, 170 deg]}
drives:
  - {joint: motor, servo: {target: 0, kp: 50 N*m/rad, kd: 1 N*m*s/rad}}
beams:
  arm: {from: hub, path: [[0, 0, 0], [=length, 0, 0]], material: steel, section: blade, elements: 8, damping: 1 ms}
loads:
  tip: {on: arm.tip, force: [0, 0, =-pull]}
probes: [arm.tip.position, motor.angle]
run: {time: 0.2 s, step: 2 ms}
"""


@pytest.fixture
def arm() -> str:
    return ARM


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(_command.path()), *words], capture_output=True, text=True, check=False)
