"""Vectors and rotations as plain lists; rotation matrices by rows."""

import math

IDENTITY = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def add(a, b):
    return [x + y for x, y in zip(a, b)]


def sub(a, b):
    return [x - y for x, y in zip(a, b)]


def scaled(s, a):
    return rowwise(lambda v: scaled(s, v), a) if isinstance(a, dict) else [s * x for x in a]


def rowwise(change, table):
    """A vector by a table of time, changed in every row."""
    return {**table, "table": [[t, *change(v)] for t, *v in table["table"]]}


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def norm(a):
    return math.sqrt(sum(x * x for x in a))


def unit(a):
    return scaled(1 / norm(a), a)


def times(R, v):
    """Matrix and vector; a vector of expressions of time gives expressions, one by a table a table."""
    if isinstance(v, dict):
        return rowwise(lambda row: times(R, row), v)
    if any(isinstance(x, str) for x in v):
        return [" + ".join(f"({R[i][k]!r})*({v[k]})" for k in range(3)) for i in range(3)]
    return [sum(R[i][k] * v[k] for k in range(3)) for i in range(3)]


def product(A, B):
    return [[sum(A[i][k] * B[k][j] for k in range(3)) for j in range(3)] for i in range(3)]


def transposed(A):
    return [[A[j][i] for j in range(3)] for i in range(3)]


def skew(v):
    return [[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]]


def exp(v):
    """The rotation of a rotation vector (Rodrigues)."""
    angle = norm(v)
    if angle < 1e-12:
        K = skew(v)
        return [[IDENTITY[i][j] + K[i][j] for j in range(3)] for i in range(3)]
    K = skew(scaled(1 / angle, v))
    KK = product(K, K)
    s, c = math.sin(angle), 2 * math.sin(angle / 2) ** 2
    return [[IDENTITY[i][j] + s * K[i][j] + c * KK[i][j] for j in range(3)] for i in range(3)]


def quaternion(R):
    """(w, x, y, z) by the largest of the four, for full accuracy at every angle."""
    squares = [1 + R[0][0] + R[1][1] + R[2][2], 1 + R[0][0] - R[1][1] - R[2][2],
               1 - R[0][0] + R[1][1] - R[2][2], 1 - R[0][0] - R[1][1] + R[2][2]]
    k = max(range(4), key=lambda i: squares[i])
    r = math.sqrt(squares[k])
    rows = [[squares[0], R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]],
            [R[2][1] - R[1][2], squares[1], R[0][1] + R[1][0], R[0][2] + R[2][0]],
            [R[0][2] - R[2][0], R[0][1] + R[1][0], squares[2], R[1][2] + R[2][1]],
            [R[1][0] - R[0][1], R[0][2] + R[2][0], R[1][2] + R[2][1], squares[3]]]
    return [x / (2 * r) for x in rows[k]]


def log(R):
    """The rotation vector, at most pi long."""
    w, *v = quaternion(R)
    if w < 0:
        w, v = -w, scaled(-1, v)
    s = norm(v)
    return scaled(2 * math.atan2(s, w) / s if s > 1e-300 else 2.0, v)


def random_unit(rng):
    while True:
        v = [rng.gauss(0, 1) for _ in range(3)]
        if norm(v) > 0.1:
            return unit(v)


def random_rotation(rng):
    return exp(scaled(rng.uniform(0.1, 3), random_unit(rng)))


def perpendicular(rng, a):
    """A random unit vector at a right angle to a."""
    return unit(cross(a, cross(random_unit(rng), a)))


def from_z(axis):
    """The shortest rotation that takes z to a unit vector."""
    x, y, z = axis
    if z < -1 + 1e-12:
        return exp([math.pi, 0, 0])
    c = cross([0, 0, 1], axis)
    K = skew(c)
    KK = product(K, K)
    return [[IDENTITY[i][j] + K[i][j] + KK[i][j] / (1 + z) for j in range(3)] for i in range(3)]
