#!/usr/bin/env python3
"""The study that Hall 2013, section 6.1.1, proposes: how fast each recipe approaches the exact rod.

Runs `limber static` with every recipe and 2 to 160 elements on a planar cantilever (dead end force, P L²/EI = 5) and on
the buckled strip of scenes/lateral-buckling.yaml, and draws the error of the tip over the number of elements:

    scripts/chain_study.py build/release/limber docs/images/chain-study.svg
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

PLANAR = """limber: 1
title: A planar cantilever
gravity: [0, 0, 0]
materials: {{m: {{E: 12 Pa, nu: 0, density: 1 kg/m3}}}}
sections: {{s: {{rectangle: {{width: 1 m, height: 1 m}}}}}}
beams:
  beam: {{path: [[0, 0, 0], [1 m, 0, 0]], material: m, section: s, elements: {n}, recipe: {recipe}}}
loads:
  push: {{on: beam.tip, force: [0, 0, -5 N]}}
"""
SPATIAL = """limber: 1
title: A strip that buckles sideways
gravity: [0, 0, 0]
materials: {{m: {{E: 200000 psi, nu: 0.4, density: 905 kg/m3}}}}
sections: {{s: {{rectangle: {{width: 0.25 in, height: 4 in}}}}}}
beams:
  beam: {{path: [[0, 0, 0], [100 in, 0, 0]], material: m, section: s, elements: {n}, recipe: {recipe}}}
loads:
  push: {{on: beam.tip, force: [0, 0.005 lbf, -0.6 lbf]}}
"""
# Exact rods: Bisshopp and Drucker's elliptic integrals; a Kirchhoff rod by shooting (tests/data/A1, A5).
CASES = [("planar: end force, PL²/EI = 5", PLANAR, 1.0, None),
         ("spatial: buckled strip", SPATIAL, 2.54, (85.10708377588833, 40.147941321490336, -18.03038181975517))]
RECIPES = [("published 1R", "published_1r", "#cc79a7", "linear_12"), ("published 3R, sweeps", "published_3r", "#e69f00", "linear_12"),
           ("published 3R", "published_3r", "#d55e00", "newton"), ("consistent 1R", "consistent_1r", "#56b4e9", "newton"),
           ("consistent 3R", "consistent_3r", "#0072b2", "newton")]
ELEMENTS = (2, 3, 5, 10, 20, 40, 80, 160)


def tip(limber, folder, text, n, recipe, solver):
    scene = Path(folder) / "scene.yaml"
    scene.write_text(text.format(n=n, recipe=recipe), encoding="utf-8")
    done = subprocess.run([limber, "static", str(scene), "--json", "--method", "chain", "--solver", solver],
                          capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    return answer["beams"]["beam"]["tip"] if answer["ok"] else None


def reference(name):
    data = json.loads((Path(__file__).parents[1] / "tests/data" / name).read_text(encoding="utf-8"))
    return data["reference"]


def main():
    limber, picture = sys.argv[1], Path(sys.argv[2])
    planar = next(r for r in reference("A1_cantilever_end_force.json") if r["PL2_over_EI"] == 5)
    exact = [(planar["tip_x_over_L"], 0, -planar["tip_deflection_over_L"]), tuple(0.0254 * x for x in CASES[1][3])]
    width, height, margin = 470, 380, 60
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * width}" height="{height + 70}" '
           'font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/>']
    with tempfile.TemporaryDirectory() as folder:
        for column, (title, text, length, _) in enumerate(CASES):
            left = column * width + margin
            right, top, bottom = (column + 1) * width - 15, 35, height - 45
            x = lambda n: left + (right - left) * math.log(n / 2) / math.log(100)
            y = lambda e: top + (bottom - top) * (math.log10(0.3) - math.log10(e)) / 6
            svg.append(f'<text x="{(left + right) / 2}" y="20" text-anchor="middle" font-weight="bold">{title}</text>')
            for k in range(-6, 0):
                svg.append(f'<line x1="{left}" x2="{right}" y1="{y(10.0**k):.1f}" y2="{y(10.0**k):.1f}" stroke="#ddd"/>'
                           f'<text x="{left - 6}" y="{y(10.0**k) + 4:.1f}" text-anchor="end">1e{k}</text>')
            for n in ELEMENTS:
                svg.append(f'<line x1="{x(n):.1f}" x2="{x(n):.1f}" y1="{top}" y2="{bottom}" stroke="#eee"/>'
                           f'<text x="{x(n):.1f}" y="{bottom + 18}" text-anchor="middle">{n}</text>')
            svg.append(f'<text x="{(left + right) / 2}" y="{bottom + 36}" text-anchor="middle">elements</text>')
            print(title)
            for name, recipe, colour, solver in RECIPES:
                points = []
                for n in ELEMENTS:
                    at = tip(limber, folder, text, n, recipe, solver)
                    if at is not None:
                        points.append((n, math.dist(at, exact[column]) / length))
                print(f"  {name:<22}" + "".join(f"  {n}: {e:.2e}" for n, e in points))
                line = " ".join(f"{x(n):.1f},{y(e):.1f}" for n, e in points if e < 0.3)
                svg.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for i, (name, _, colour, _) in enumerate(RECIPES):
        at = 40 + i * 180
        svg.append(f'<line x1="{at}" x2="{at + 28}" y1="{height + 20}" y2="{height + 20}" stroke="{colour}" '
                   f'stroke-width="3"/><text x="{at + 34}" y="{height + 24}">{name}</text>')
    svg.append(f'<text x="40" y="{height + 52}">error of the tip, of the length</text></svg>')
    picture.write_text("\n".join(svg) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
