"""Rotations and poses of three dimensions, as numpy arrays: quaternions are w, x, y, z."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Numbers = Sequence[float] | Array


class Pose(NamedTuple):
    """A frame against another: p_outer = rotation @ p + place."""

    rotation: Array
    place: Array

    def __matmul__(self, inner: Pose) -> Pose:
        return Pose(self.rotation @ inner.rotation, self.rotation @ inner.place + self.place)

    def of(self, point: Numbers) -> Array:
        out: Array = self.rotation @ np.asarray(point, dtype=float) + self.place
        return out

    def inverse(self) -> Pose:
        return Pose(self.rotation.T, -self.rotation.T @ self.place)


def identity() -> Pose:
    return Pose(np.eye(3), np.zeros(3))


def from_quaternion(q: Numbers) -> Array:
    w, x, y, z = np.asarray(q, dtype=float) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def to_quaternion(rotation: Array) -> Array:
    """Shepperd's way: by the largest of the four."""
    trace = float(np.trace(rotation))
    sizes = [trace, *np.diag(rotation)]
    i = int(np.argmax(sizes))
    if i == 0:
        q = [1 + trace, rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]
    else:
        a, b, c = i - 1, i % 3, (i + 1) % 3
        q = [0.0, 0.0, 0.0, 0.0]
        q[0] = rotation[c, b] - rotation[b, c]
        q[1 + a] = 1 + rotation[a, a] - rotation[b, b] - rotation[c, c]
        q[1 + b] = rotation[b, a] + rotation[a, b]
        q[1 + c] = rotation[c, a] + rotation[a, c]
    out = np.array(q, dtype=float)
    out /= np.linalg.norm(out)
    return out if out[0] >= 0 else -out


def to_vector(rotation: Array) -> Array:
    """The rotation vector: axis times angle, up to a half turn."""
    q = to_quaternion(rotation)
    size = float(np.linalg.norm(q[1:]))
    return np.zeros(3) if size == 0 else 2 * math.atan2(size, float(q[0])) * q[1:] / size


def from_vector(vector: Numbers) -> Array:
    v = np.asarray(vector, dtype=float)
    angle = float(np.linalg.norm(v))
    if angle == 0:
        return np.eye(3)
    return from_quaternion([math.cos(angle / 2), *(math.sin(angle / 2) * v / angle)])


def from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """Rz(yaw) Ry(pitch) Rx(roll), as URDF and SDF have it."""
    (sr, sp, sy), (cr, cp, cy) = np.sin([roll, pitch, yaw]), np.cos([roll, pitch, yaw])
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def to_rpy(rotation: Array) -> Array:
    pitch = math.atan2(-rotation[2, 0], math.hypot(rotation[0, 0], rotation[1, 0]))
    if math.cos(pitch) < 1e-9:  # roll and yaw turn about the same axis
        return np.array([math.atan2(-rotation[1, 2], rotation[1, 1]), pitch, 0.0])
    return np.array([math.atan2(rotation[2, 1], rotation[2, 2]), pitch, math.atan2(rotation[1, 0], rotation[0, 0])])


def tensor(six: Numbers) -> Array:
    """Of xx, yy, zz, xy, xz, yz."""
    xx, yy, zz, xy, xz, yz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float)


def six(inertia: Array) -> list[float]:
    i = inertia
    return [float(x) for x in (i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])]


def z_to(axis: Numbers) -> Array:
    """A rotation that takes z to an axis."""
    a = np.asarray(axis, dtype=float)
    a = a / np.linalg.norm(a)
    other = np.eye(3)[int(np.argmin(np.abs(a)))]
    x = np.cross(other, a)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(a, x), a])
