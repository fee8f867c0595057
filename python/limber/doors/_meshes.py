"""Meshes of robots: read (STL, OBJ), and as hulls of few points."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from ._space import Array
from ._xml import Element, read_bytes

HULL_POINTS = 48  # enough for what robots are made of; a scene stays readable
MOST_VERTICES = 3_000_000


def load(file: Path, at: Element) -> Array:
    """Vertices of a mesh, as its file has them; a fault where that is no mesh that is read here."""
    data = read_bytes(file, at.file)
    suffix = file.suffix.lower()
    try:
        if suffix == ".stl":
            vertices = _stl(data)
        elif suffix == ".obj":
            vertices = _obj(data)
        else:
            raise NotImplementedError(f'meshes of "{suffix}" are not read (STL and OBJ are)')
    except (ValueError, struct.error) as e:
        raise at.fault(f'"{file.name}" is no {suffix[1:].upper()} mesh: {e}') from None
    if len(vertices) < 4 or not np.isfinite(vertices).all():
        raise at.fault(f'"{file.name}" has no body: {len(vertices)} finite vertices')
    return vertices


def _stl(data: bytes) -> Array:
    if len(data) >= 84:
        (count,) = struct.unpack_from("<I", data, 80)
        if len(data) == 84 + 50 * count and 3 * count <= MOST_VERTICES:
            rows = np.frombuffer(data, dtype=np.dtype([("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")]), offset=84)
            return rows["v"].reshape(-1, 3).astype(np.float64)
    if not data.lstrip().startswith(b"solid"):
        raise ValueError("its length does not fit its number of triangles")
    return _lines(data, b"vertex")


def _obj(data: bytes) -> Array:
    return _lines(data, b"v")


def _lines(data: bytes, word: bytes) -> Array:
    rows = [words[1:4] for line in data.splitlines() if (words := line.split()) and words[0] == word]
    if len(rows) > MOST_VERTICES or any(len(r) != 3 for r in rows):
        raise ValueError("too many vertices, or some without three numbers")
    return np.array([[float(x) for x in r] for r in rows], dtype=np.float64).reshape(-1, 3)


def _directions(count: int) -> Array:
    """Spread evenly over the sphere, with the axes among them."""
    n = np.arange(count) + 0.5
    polar, turn = np.arccos(1 - 2 * n / count), np.pi * (1 + 5**0.5) * n
    spread = np.column_stack([np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)])
    return np.vstack([np.eye(3), -np.eye(3), spread])


def hull_points(vertices: Array, count: int = HULL_POINTS) -> Array | None:
    """Points of the convex hull, those that reach out most in `count` directions; None if all lie in a plane."""
    middle = vertices.mean(axis=0)
    size = np.linalg.svd(vertices[:: max(1, len(vertices) // 5000)] - middle, compute_uv=False)
    if len(vertices) < 4 or size[2] < 1e-6 * size[0]:
        return None
    chosen = np.unique([int(np.argmax((vertices - middle) @ d)) for d in _directions(count)])
    points = np.unique(vertices[chosen], axis=0)
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return points if len(points) >= 4 and spread[2] > 1e-6 * spread[0] else None


def ellipsoid_points(radii: Array, count: int = HULL_POINTS) -> Array:
    return _directions(count) * radii
