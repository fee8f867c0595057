#!/usr/bin/python3
"""The agreement machine: scenes drawn at random, answers that must agree, none by a guessed tolerance.

    agree.py N --limber PATH [--seed S] [--family NAME] [--keep FOLDER]

written   the same physics written differently: the world turned and moved, entries in another order, other names, other
          units, an inert body far away, denser frames, two threads. Same bits where no number changes; else the same up
          to rounding that the motion amplifies, measured by perturbing the scene's own numbers in their last digits.
methods   one question asked twice: the four integrators at refined steps, against their own differences of step and half
          step; the rest of a beam by chain, articulated and thread, against their differences of n and 2n elements and
          the stretch and shear that only threads have.

Every run: no crash, no hang, nothing that is not finite with exit code 0; made-up energy only with a warning. A scene that
fails is kept, with what disagreed. What every key must do is tests/scene/features_test.cpp.
"""

import argparse
import csv
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import scenes

INTEGRATORS = {"euler": 1, "implicit_euler": 1, "midpoint": 2, "sdirk": 2}


class Disagreement(Exception):
    pass


class Refused(Exception):
    """Exit code 2 or 3: an answer that is no number is no disagreement."""


class Machine:
    def __init__(self, limber, folder, keep):
        self.limber, self.folder, self.keep, self.calls = limber, folder, keep, 0
        self.texts = {}

    def call(self, *arguments):
        self.calls += 1
        try:
            done = subprocess.run([self.limber, *map(str, arguments)], capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            raise Disagreement(f"limber {' '.join(map(str, arguments))} hangs") from None
        if done.returncode in (2, 3):
            raise Refused(done.stderr.strip()[-300:])
        if done.returncode != 0:
            raise Disagreement(f"exit code {done.returncode}: {done.stderr[-300:]}")
        return done.stdout

    def write(self, name, text):
        file = self.folder / f"{name}.yaml"
        file.write_text(text)
        self.texts[name] = text
        return file

    def run(self, name, text, *options):
        """Times and probes of a run: [(t, [x…])…] by column name."""
        file, out = self.write(name, text), self.folder / f"{name}-run"
        answer = json.loads(self.call("run", file, "--out", out, "--force", "--json", "--no-vtk", "--no-glb", "--no-report",
                                      *options))
        with open(out / "probes.csv") as stream:
            rows = list(csv.reader(stream))
        table = {head.split(" ")[0]: [float(r[i]) for r in rows[1:]] for i, head in enumerate(rows[0])}
        for head, values in table.items():
            if not all(map(math.isfinite, values)):
                raise Disagreement(f"{name}: {head} is not finite with exit code 0")
        self.check_energy(name, table, answer["warnings"])
        return table

    @staticmethod
    def check_energy(name, table, warnings):
        if "energy.remainder" not in table:
            return
        spread = [max(table[k]) - min(table[k]) for k in table if k.startswith("energy.") and k != "energy.remainder"]
        made = max(table["energy.remainder"])
        if made > 0.1 * max(spread) and made > 1e-9 and not any("energy" in w for w in warnings):
            raise Disagreement(f"{name}: {made:.3g} J were made of nothing, of changes up to {max(spread):.3g} J, in silence")

    def rest(self, name, text, method):
        answer = json.loads(self.call("static", self.write(name, text), "--method", method, "--json"))
        if method == "chain":
            return answer["beams"]["b"]["tip"]
        return [answer["probes"][f"b.tip.position.{c}"] for c in "xyz"]


def positions(table, names=None):
    """{body.component: values}, of probes of positions, under the names of the first scene."""
    back = {v: k for k, v in (names or {}).items()}
    out = {}
    for head, values in table.items():
        parts = head.split(".")
        if len(parts) == 3 and parts[1] == "position":
            out[f"{back.get(parts[0], parts[0])}.{parts[2]}"] = values
    return out


def distance(a, b, every=1):
    """The largest difference of two tables of positions; of the second every `every`th frame."""
    return max(abs(x - y) for k in a for x, y in zip(a[k], b[k][::every]))


def written(m, rng):
    scene = scenes.draw_tree(rng)
    own = m.run("as-drawn", scenes.write_tree(scene))
    base = positions(own)
    # How much the motion amplifies the last digits: numbers of the scene moved by 1e-12 of themselves.
    nudged = json.loads(json.dumps(scene))
    for b in nudged["bodies"].values():
        b["at"] = [x * (1 + 1e-12) for x in b["at"]]
        b["mass"] *= 1 + 1e-12
    allowed = 100 * distance(base, positions(m.run("nudged", scenes.write_tree(nudged)))) + 1e-11

    def expect(what, other, limit):
        off = distance(base, other)
        if not off <= limit:
            raise Disagreement(f"{what}: positions differ by {off:.3g} m, allowed {limit:.3g}")

    expect("two threads", positions(m.run("threads", scenes.write_tree(scene), "--threads", "2")), 0)
    denser = positions(m.run("denser", scenes.write_tree(scene, frame=0.004)))
    off = distance(base, denser, 5)
    if off != 0:
        raise Disagreement(f"denser frames: positions differ by {off:.3g} m")
    names = {n: f"x{i}_{n}" for i, n in enumerate(list(scene["bodies"]) + list(scene["joints"]) + list(scene["springs"]))}
    expect("renamed", positions(m.run("renamed", scenes.write_tree(scene, names=names)), names), 0)
    expect("in another order", positions(m.run("permuted", scenes.write_tree(scene, order=rng))), allowed)
    expect("in millimetres and grams", positions(m.run("units", scenes.write_tree(scene, small_units=True))), allowed)
    expect("with an inert body", positions(m.run("inert", scenes.write_tree(scene, inert=True))), allowed)
    R, shift = scenes.rotation(rng), [rng.uniform(-1, 1) for _ in range(3)]
    table = positions(m.run("turned", scenes.write_tree(scenes.turned(scene, R, shift))))
    back = [[R[k][i] for k in range(3)] for i in range(3)]
    for body in scene["bodies"]:
        rows = zip(*(table[f"{body}.{c}"] for c in "xyz"))
        turned = [scenes.times(back, [x - s for x, s in zip(p, shift)]) for p in rows]
        for i, c in enumerate("xyz"):
            table[f"{body}.{c}"] = [p[i] for p in turned]
    expect("turned and moved", table, allowed)


def integrators(m, rng):
    scene = scenes.draw_tree(rng)
    found = {}
    for name, order in INTEGRATORS.items():
        coarse, fine = (positions(m.run(f"{name}-{h}", scenes.write_tree(scene, step=h, integrator=name)))
                        for h in (0.001, 0.0005))
        found[name] = (fine, distance(coarse, fine) / (2 ** order - 1))  # Richardson's estimate
    best, bound = found["midpoint"]
    for name, (table, error) in found.items():
        off = distance(best, table)
        limit = 3 * (error + bound) + 1e-9
        if off > limit:
            raise Disagreement(f"{name} and midpoint: positions differ by {off:.3g} m, allowed {limit:.3g}")


def rests(m, rng):
    beam = scenes.draw_beam(rng)
    length = sum(math.dist(a, b) for a, b in zip(beam["path"], beam["path"][1:]))
    found = {}
    for method in ("chain", "articulated", "thread"):
        coarse, fine = (m.rest(f"{method}-{n}", scenes.write_beam(beam, n), method) for n in (12, 24))
        found[method] = (fine, math.dist(coarse, fine))
    # Threads stretch and shear: of the order (radius / length)² of the bend.
    physical = 20 * (beam["radius"] / length) ** 2 * length
    base, bound = found["chain"]
    for method, (tip, error) in found.items():
        off = math.dist(base, tip)
        limit = 3 * (error + bound) + 1e-7 * length + (physical if method == "thread" else 0)
        if off > limit:
            raise Disagreement(f"{method} and chain: tips differ by {off:.3g} m, allowed {limit:.3g}")
    R = scenes.rotation(rng)
    turned = m.rest("turned", scenes.write_beam(beam, 24, R), "chain")
    off = math.dist(turned, scenes.times(R, base))
    if off > 1e-8 * length:
        raise Disagreement(f"turned world: tips differ by {off:.3g} m")


FAMILIES = {"written": written, "integrators": integrators, "rests": rests}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, help="scenes a family")
    parser.add_argument("--limber", type=Path, default=Path(__file__).resolve().parents[2] / "build/release/limber")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first scene")
    parser.add_argument("--family", choices=list(FAMILIES))
    parser.add_argument("--keep", type=Path, help="folder for scenes that fail (default: agree-failures)")
    a = parser.parse_args()
    keep = a.keep or Path("agree-failures")
    bad = 0
    for family in [a.family] if a.family else FAMILIES:
        agreed = refused = 0
        for number in range(a.first, a.first + a.count):
            with tempfile.TemporaryDirectory(prefix="limber-agree-") as folder:
                machine = Machine(str(a.limber.resolve()), Path(folder), keep)
                try:
                    FAMILIES[family](machine, scenes.seeded(family, number, a.seed))
                    agreed += 1
                except Refused:
                    refused += 1
                except Disagreement as fault:
                    bad += 1
                    keep.mkdir(parents=True, exist_ok=True)
                    for name, text in machine.texts.items():
                        (keep / f"{family}-{a.seed}-{number}-{name}.yaml").write_text(text)
                    print(f"{family} {number} (seed {a.seed}): {fault}", flush=True)
        print(f"{family}: {agreed} of {a.count} scenes agree, {refused} refused, {a.count - agreed - refused} do not", flush=True)
    print(f"{bad} violations")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
