#!/usr/bin/python3
"""Makes structures that cannot be and checks that `limber run` says which part is wrong.

    bad_structures.py COUNT [SEED] [--limber PATH]

Each must end with exit code 2 (refused) or 3 (a step failed), and name the culprit on stderr.
"""

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

import support

HEAD = "limber: 1\nrun: {time: 20 ms, step: 5 ms}\n"


def arms(rest=""):
    """Two arms on hinges 1 m apart."""
    return HEAD + f"""bodies:
  left: {{box: [10 cm, 10 cm, 50 cm], density: 1000, at: [0, 0, -0.25], points: {{end: [0, 0, -0.25]}}}}
  right: {{box: [10 cm, 10 cm, 50 cm], density: 1000, at: [1, 0, -0.25], points: {{end: [0, 0, -0.25]}}}}
joints:
  left_hinge: {{type: revolute, child: left, at: [0, 0, 0], axis: [0, 1, 0]}}
  right_hinge: {{type: revolute, child: right, at: [1, 0, 0], axis: [0, 1, 0]}}
{rest}"""


def loop_too_far(r, name):
    away = r.uniform(2, 50)
    frames = f"a_frame: {{at: [0, 0, -0.25]}}, b_frame: {{at: [{away:.3f}, 0, -0.25]}}"
    return arms(rest=f"loops:\n  {name}: {{type: spherical, a: left, b: right, {frames}}}\n")


def loop_on_itself(r, name):
    return arms(rest=f"loops:\n  {name}: {{type: {r.choice(['revolute', 'spherical'])}, a: left, b: left, at: left.end}}\n")


def loop_to_nowhere(r, name):
    return arms(rest=f"loops:\n  {name}: {{type: revolute, a: left, b: nobody{r.randrange(99)}, at: left.end}}\n")


def free_loop(r, name):
    return arms(rest=f"loops:\n  {name}: {{type: free, a: left, b: right, at: left.end}}\n")


def massless(r, name):
    joint = r.choice(["revolute, axis: [0, 1, 0]", "prismatic, axis: [1, 0, 0]", "spherical", "free"])
    return HEAD + f"bodies:\n  {name}: {{mass: 0, inertia: [0, 0, 0]}}\njoints:\n  j: {{type: {joint}, child: {name}}}\n"


def massless_at_the_end(r, name):
    body = f"bodies:\n  base: {{sphere: 10 cm, density: 1000}}\n  {name}: {{mass: 0, inertia: [0, 0, 0]}}\n"
    joints = "joints:\n  a: {type: free, child: base}\n  b: {type: revolute, parent: base, child: " + name + "}\n"
    return HEAD + body + joints


def spring_to_nowhere(r, name):
    return arms(rest=f"springs:\n  {name}: {{between: [left.end, nobody{r.randrange(99)}.end], stiffness: 10}}\n")


def spring_on_itself(r, name):
    return arms(rest=f"springs:\n  {name}: {{between: [left.end, left], stiffness: {r.uniform(1, 99):.2f}}}\n")


def bad_stiffness(r, name):
    value = r.choice([".nan", "nan", "-5", "1e999", "=0/0", "=sqrt(-1)", "soft", "10 kg"])
    return arms(rest=f"springs:\n  {name}: {{between: [left.end, right.end], stiffness: {value}}}\n")


def bad_rest_length(r, name):
    value = r.choice([".nan", "-1", "1e999", "=log(-1)", "10 s"])
    spring = f"{{between: [left.end, right.end], stiffness: 10, rest_length: {value}}}"
    return arms(rest=f"springs:\n  {name}: {spring}\n")


def joint_on_itself(r, name):
    del r
    return arms().replace("joints:\n", f"joints:\n  {name}: {{type: revolute, parent: left, child: left}}\n")


def twice(r, name):
    del r
    spring = f"  {name}: {{between: [left.end, right.end], stiffness: 10}}\n"
    return arms(rest="springs:\n" + spring + spring)


def nan_force(r, name):
    force = r.choice(['"0/(t - t)"', '"sqrt(-1 - t)"', '"1e300*1e300*(1 + t)"'])
    return arms(rest=f"loads:\n  {name}: {{on: left.end, force: [{force}, 0, 0]}}\n")


STRUCTURES = [loop_too_far, loop_on_itself, loop_to_nowhere, free_loop, massless, massless_at_the_end, spring_to_nowhere,
              spring_on_itself, bad_stiffness, bad_rest_length, joint_on_itself, twice, nan_force]


def main():
    parser = argparse.ArgumentParser(description="Makes structures that cannot be and checks what `limber run` says.")
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    support.add_limber_argument(parser)
    arguments = parser.parse_args()
    support.use(arguments.limber)
    rng = random.Random(arguments.seed)
    folder = Path(tempfile.mkdtemp(prefix="limber_bad_"))
    faults = 0
    for i in range(arguments.count):
        make, name = STRUCTURES[i % len(STRUCTURES)], f"culprit{rng.randrange(1000)}"
        (folder / f"s{i}.yaml").write_text(make(rng, name), encoding="utf-8")
        done = support.limber("run", f"s{i}.yaml", cwd=folder)
        named = name in done.stderr
        if done.returncode not in (support.BAD_INPUT, support.FAILED) or not named:
            faults += 1
            print(f"{make.__name__}: exit code {done.returncode}, {name} named: {named}\n{done.stderr}", file=sys.stderr)
    shutil.rmtree(folder)
    print(f"{arguments.count} bad structures: {arguments.count - faults} refused by name, {faults} not")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
