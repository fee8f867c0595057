#!/usr/bin/python3
"""check_vtp.py FOLDER: VTK's own readers open every scene.pvd and .vtp below FOLDER, and the numbers must be those of
known.json beside them (written by make_sample from the recorded poses, not from the exported files)."""

import csv
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from math import hypot
from pathlib import Path

try:
    from vtkmodules.vtkCommonCore import vtkIdList, vtkVersion
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
except ImportError as error:
    sys.exit(f"check_vtp.py needs VTK for Python: install the package python3-vtk9 ({error})")

# A vertex is a few products of numbers of size 1: some ten roundings of 1e-16.
TOLERANCE = 1e-14


def rotation(q):
    w, x, y, z = q
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def into_frame(R, p, point):
    """R transposed times (point - p)."""
    d = [a - b for a, b in zip(point, p)]
    return tuple(sum(R[row][col] * d[row] for row in range(3)) for col in range(3))


def distance_to_surface(shape, point):
    """How far a vertex, given in the shape's frame, is from where the shape's vertices must be."""
    x, y, z = point
    if "box" in shape:
        return max(abs(abs(c) - side / 2) for c, side in zip(point, shape["box"]))
    if "sphere" in shape:
        return abs(hypot(x, y, z) - shape["sphere"][0])
    if "cylinder" in shape:
        radius, length = shape["cylinder"]
        return min(abs(hypot(x, y) - radius), hypot(x, y)) + abs(abs(z) - length / 2)
    radius, length = shape["capsule"]
    return abs(hypot(x, y, max(abs(z) - length / 2, 0)) - radius)


def read(path):
    reader = vtkXMLPolyDataReader()
    failures = []
    reader.AddObserver("ErrorEvent", lambda *_: failures.append("error"))
    reader.SetFileName(str(path))
    reader.Update()
    assert not failures and reader.GetErrorCode() == 0, f"{path}: VTK reports an error"
    return reader.GetOutput()


def cells_of(array):
    cells, ids = [], vtkIdList()
    for i in range(array.GetNumberOfCells()):
        array.GetCellAtId(i, ids)
        cells.append([ids.GetId(k) for k in range(ids.GetNumberOfIds())])
    return cells


def check_fields(path, fields, names, snapshot):
    for name, value in [("TimeValue", snapshot["time"])] + list(zip(names, snapshot["scalars"])):
        array = fields.GetArray(name)
        assert array and array.GetNumberOfTuples() == 1, f"{path}: {name} is missing"
        assert array.GetValue(0) == value, f"{path}: {name}: {array.GetValue(0)} instead of {value}"


def check_frame(path, known, snapshot, names):
    data = read(path)
    check_fields(path, data.GetFieldData(), names, snapshot)
    points = [data.GetPoint(i) for i in range(data.GetNumberOfPoints())]
    assert not points or data.GetPoints().GetData().GetDataTypeAsString() == "double", path
    lines, polys = cells_of(data.GetLines()), cells_of(data.GetPolys())
    array = data.GetCellData().GetArray("body")
    body = [int(array.GetValue(i)) for i in range(array.GetNumberOfTuples())] if array else []
    assert len(body) == len(lines) + len(polys) == data.GetNumberOfCells(), path
    if "values" in snapshot:
        array = data.GetCellData().GetArray("activity")
        of_body = [snapshot["values"][b] if b >= 0 else 0 for b in body]
        assert [array.GetValue(i) for i in range(len(body))] == of_body, f"{path}: activity"

    # Polylines: the very points, in order.
    first, expected = 0, []
    for k, count in enumerate(known["polylines"]):
        if count >= 2:
            expected.append((-1 - k, [tuple(p) for p in snapshot["points"][first:first + count]]))
        first += count
    assert [(b, [points[i] for i in line]) for b, line in zip(body, lines)] == expected, f"{path}: polylines"

    # Shapes: every vertex of a body's triangles lies on one of its shapes, and every shape has some.
    for f, shapes in enumerate(known["shapes"]):
        vertices = {i for cell, b in zip(polys, body[len(lines):]) if b == f for i in cell}
        assert bool(vertices) == bool(shapes), f"{path}: body {f}"
        R, p = rotation(snapshot["rotations"][f]), snapshot["positions"][f]
        seen = set()
        for i in vertices:
            in_body = into_frame(R, p, points[i])
            on = {k for k, shape in enumerate(shapes)
                  if distance_to_surface(shape, into_frame(shape["R"], shape["p"], in_body)) < TOLERANCE}
            assert on, f"{path}: body {f}: vertex {i} lies on none of its shapes"
            seen |= on
        assert len(seen) == len(shapes), f"{path}: body {f}: a shape is missing"
    return len(points)


def array_names(folder):
    """The names of the scalars' arrays, from the CSV's header: cleaned, and told apart by a number."""
    with open(folder / "probes.csv", newline="", encoding="utf-8") as file:
        header = next(csv.reader(file))
    names = []
    for title in header[1:]:
        name = unique = re.sub(r"[^A-Za-z0-9._-]", "_", re.sub(r" \[[^]]*\]$", "", title))
        number = 2
        while unique in names:
            unique, number = f"{name}_{number}", number + 1
        names.append(unique)
    return names


def check_folder(folder):
    known = json.loads((folder / "known.json").read_text(encoding="utf-8"))
    snapshots = known["snapshots"]
    datasets = ElementTree.parse(folder / "scene.pvd").getroot().findall("Collection/DataSet")
    assert [float(d.get("timestep")) for d in datasets] == [s["time"] for s in snapshots], folder
    files = [folder / d.get("file") for d in datasets]
    assert sorted((folder / "vtk").iterdir()) == files, f"{folder}: other files than scene.pvd says"
    names = array_names(folder)
    points = sum(check_frame(path, known, snapshot, names) for path, snapshot in zip(files, snapshots))
    print(f"{folder.name}: {len(files)} frames, {points} points, {len(names)} scalars agree")
    return len(files)


def main():
    folders = sorted(path.parent for path in Path(sys.argv[1]).glob("*/known.json"))
    total = sum(check_folder(folder) for folder in folders)
    assert total > 0, "no frame to check"
    print(f"VTK {vtkVersion.GetVTKVersion()}: {total} files good")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: check_vtp.py FOLDER")
    main()
