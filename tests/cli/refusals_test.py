#!/usr/bin/python3
"""Nothing in a scene or on the command line is ignored: honoured, or refused at its place with exit code 2.

Each case was once taken and ignored. {key} marks the place that the message must name.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LIMBER = Path(sys.argv[sys.argv.index("--limber") + 1]).resolve()
FOLDER = Path(tempfile.mkdtemp(prefix="limber-refusals-"))
faults = []

BEAM = """materials: {{wood: {{E: 1 GPa, nu: 0.3, density: 600{material}}}}}
sections: {{s: {{circle: 5 mm}}}}
beams:
  b: {{path: [[0, 0, 0], [0.5, 0, 0]], material: wood, section: s, elements: 4{beam}}}
loads: {{l: {{on: b.tip, force: [0, 0, -0.1]}}}}
probes: [b.tip.position{probe}]
"""
ARM = """bodies:
  base: {{sphere: 5 cm, fixed: true}}
  upper: {{sphere: 3 cm, at: [0.2, 0, 0]{body}}}
  lower: {{sphere: 3 cm, at: [0.4, 0, 0]}}
joints:
  shoulder: {{type: {type}, parent: base, child: upper, at: [0, 0, 0]{axis}, stiffness: 20, damping: 0.2{joint}}}
  elbow: {{type: revolute, parent: upper, child: lower, at: [0.2, 0, 0], axis: [0, 1, 0], stiffness: 20, damping: 0.2}}
{more}probes: [lower.position{probe}]
"""


def beam(material="", beam="", probe="", more=""):
    return BEAM.format(material=material, beam=beam, probe=probe) + more


def arm(body="", joint="", more="", probe="", type="revolute"):
    axis = ", axis: [0, 1, 0]" if type == "revolute" else ""
    return ARM.format(body=body, joint=joint, more=more, probe=probe, type=type, axis=axis)


LOOP = "loops:\n  close: {type: spherical, a: base, b: lower, at: [0.4, 0, 0]%s}\n"
ROM = "run: {time: 0.02, step: 1 ms, method: rom, rom: {ends: [%s]}}\n"
ADAPTIVE = "run: {time: 0.02, step: 1 ms, method: adaptive}\n"
PLAIN = "run: {time: 0.02, step: 1 ms}\n"

# what, scene, the key at whose place it is refused
CASES = [
    ("adaptive: probe of a closing joint", arm(more=LOOP % "", probe=", close.angle") + ADAPTIVE, "close.angle"),
    ("adaptive: changes", beam(more="changes:\n  - {at: 5 ms, beam: b, cut: 0.5}\n") + ADAPTIVE, "{at: 5"),
    ("adaptive: velocity of a joint", arm(joint=", velocity: 3") + ADAPTIVE, "3}"),
    ("adaptive: servo of a ball joint",
     arm(type="spherical", joint=", drive: {servo: {target: [0, 0, 0.5], kp: 9}}") + ADAPTIVE, "{servo"),
    ("adaptive: limits", arm(joint=", limits: 0.1") + ADAPTIVE, "0.1}"),
    ("rom: changes", beam(more="changes:\n  - {at: 5 ms, beam: b, cut: 0.5}\n") + ROM % "b.tip", "{at: 5"),
    ("rom finds no rest to start from", beam() + "run: {time: 0.02, step: 1 ms, from: static, method: rom, rom: {ends: [b.tip]}}\n",
     "static, m"),
    ("rom: clamps", beam(beam=", clamps: [{at: 1, hold: pinned}]") + ROM % "b.tip", "[{at: 1"),
    ("rom: straight", beam(beam=", straight: true") + ROM % "b.tip", "true}"),
    ("rom: air_damping", beam(beam=", air_damping: 3") + ROM % "b.tip", "3}"),
    ("rom: limits of a ball joint", arm(type="spherical", joint=", limits: 0.1") + ROM % "lower", "0.1}"),
    ("rom: limits of a closing joint",
     arm(more=LOOP.replace("spherical", "revolute").replace("%s", ", axis: [0, 1, 0], limits: 0.1")) + ROM % "lower",
     "0.1}"),
    ("rom: restitution of stops", arm(joint=", limits: 0.3, restitution: 0.9") + ROM % "lower", "0.9}"),
    ("rom: drag", arm(body=", linear_drag: 2") + ROM % "lower", "2}"),
    ("rom: position of a joint", arm(joint=", position: 0.2") + ROM % "lower", "0.2}"),
    ("rom: velocity of a joint", arm(joint=", velocity: 3") + ROM % "lower", "3}"),
    ("run: a recipe that has no potential", beam(beam=", recipe: published_1r") + PLAIN, "published_1r"),
    ("rom: a recipe that has no potential", beam(beam=", recipe: published_1r") + ROM % "b.tip", "published_1r"),
    ("run: strength", beam(material=", strength: 1 MPa") + PLAIN, "1 MPa"),
    ("run: creep", beam(material=", creep: {rate: 0.1, stress: 1 MPa}") + PLAIN, "{rate"),
    ("run: fatigue", beam(material=", fatigue: {rate: 0.1, stress: 1 MPa}") + PLAIN, "{rate"),
    ("run: friction of a thread", arm(more="contact: {self: false}\n") + PLAIN, "self: false"),
    ("thread: a corner that its elements cannot hold",
     beam().replace("[0.5, 0, 0]]", "[0.5, 0, 0], [0.7, 0.35, 0]]") + "run: {time: 0.02, step: 1 ms, method: thread}\n",
     "0.35"),
    ("thread: probe of a joint",
     beam(more="bodies: {hand: {sphere: 1 cm, at: [0, 1, 0]}}\n"
               "joints: {j: {type: prismatic, child: hand, axis: [0, 0, 1], motion: 0.1*t}}\n",
          probe=", j.position") + "run: {time: 0.02, step: 1 ms, method: thread}\n", "j.position"),
]


def run(*arguments):
    done = subprocess.run([str(LIMBER), *map(str, arguments)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def check(ok, what):
    if not ok:
        faults.append(what)
        print("FAILED:", what)


def refused_at_its_place(number, what, text, key):
    file = FOLDER / f"case{number}.yaml"
    text = "limber: 1\n" + text
    file.write_text(text)
    line = next(i for i, row in enumerate(text.split("\n"), 1) if key in row)
    for command in ("run", "check"):
        extra = ["--out", FOLDER / f"run{number}"] if command == "run" else []
        code, out, err = run(command, file, *extra)
        if command == "check" and "run:" in what:  # a rest is taken by another method: told, not refused
            check("not run by articulated" in out, f"{what}: check says {out}{err}")
            continue
        check(code == 2, f"{what}: limber {command} ends with {code}: {out[-300:]}{err[-300:]}")
        place = re.search(rf"case{number}\.yaml:(\d+):(\d+): ", err)
        check(bool(place), f"{what}: no place in {err!r}")
        check(not place or int(place.group(1)) == line, f"{what}: expected line {line}: {err!r}")
        check(" does" in err or "method" in err, f"{what}: names no method that honours it: {err!r}")


for number, case in enumerate(CASES):
    refused_at_its_place(number, *case)

# What a run or a rest by another method would refuse, `check` knows: of which method, and at the same line.
KNOWN = [
    ("adaptive", "run", arm() + "run:\n  time: 0.02\n  step: 1 ms\n  from: static\n", "from: static", "finds no rest"),
    ("rom", "run", arm() + "run: {time: 0.02, step: 1 ms, rom: {ends: [lower]},\n  from: static}\n", "from: static", "finds no rest"),
    ("rom", "run", "bodies:\n  upper: {sphere: 3 cm, at: [0.2, 0, 0]}\n  lower: {sphere: 3 cm, at: [0.4, 0, 0]}\njoints:\n"
     "  shoulder: {type: spherical, child: upper, at: [0, 0, 0]}\n"
     "  elbow: {type: spherical, parent: upper, child: lower, at: [0.2, 0, 0], stiffness: 1}\n"
     "run: {time: 0.02, step: 1 ms, rom: {ends: [lower]}}\n", "upper: {", "nothing holds"),
    ("chain", "static", beam(beam=", recipe: published_1r"), "recipe", "sweeps"),
    ("articulated", "run", "bodies:\n  upper: {sphere: 3 cm, at: [0.2, 0, 0]}\n  ball: {sphere: 3 cm, at: [0, 0, 5],\n    velocity: [1, 0, 0]}\njoints:\n"
     "  shoulder: {type: revolute, child: upper, at: [0, 0, 0], stiffness: 1,\n    velocity: 2}\n"
     "run: {time: 0.02, step: 1 ms, from: static}\n", "velocity", "at rest has no velocities"),
    ("adaptive", "run", arm(more="events:\n  fast: {when: {reads: energy.kinetic, above: 1 J}, stop: true}\n") + PLAIN,
     "fast: {when", "does not tell"),
]
for number, (method, command, text, key, word) in enumerate(KNOWN):
    file = FOLDER / f"known{number}.yaml"
    text = "limber: 1\n" + text
    file.write_text(text)
    code, out, err = run("check", file, "--json")
    told = [d for m in json.loads(out)["files"][0]["methods"] if m["method"] == method and m["question"] == command
            for d in m["against"]]
    lines = [i for i, row in enumerate(text.split("\n"), 1) if key in row]
    check(any(word in d["message"] and d["line"] in lines for d in told), f"check of {method}: {told}")
    extra = ["--out", FOLDER / f"known{number}"] if command == "run" else []
    code, out, err = run(command, file, "--method", method, *extra)
    check(code == 2 and any(f"known{number}.yaml:{d['line']}:{d['column']}: " in err and d["message"] in err for d in told),
          f"{command} by {method} says something else than check: {code} {err!r} {told}")

# Warnings stand in the terminal, in --json, in run.json and in the report, in the same words.
file = FOLDER / "yield.yaml"
file.write_text("limber: 1\n" + beam(material=", yield: 30 MPa") + "run: {time: 0.1, step: 4 ms, frame: 50 ms}\n")
code, out, err = run("run", file, "--out", FOLDER / "warned", "--json", "--no-vtk", "--no-glb")
warnings = json.loads(out)["warnings"]
check(code == 0 and any("yield" in w for w in warnings), f"yield: {warnings}")
check(any("every 0.052 s" in w for w in warnings), f"frame: {warnings}")
check(json.loads((FOLDER / "warned/run.json").read_text())["warnings"] == warnings, "run.json has other warnings")
report = (FOLDER / "warned/report.html").read_text()
check(all(json.dumps(w, ensure_ascii=False)[1:-1] in report for w in warnings), "the report has other warnings")
code, out, err = run("run", file, "--out", FOLDER / "warned2", "--no-vtk", "--no-glb", "--no-report")
check(all(w in out + err for w in warnings), f"the terminal has other warnings: {out}{err}")

fall = FOLDER / "fall.yaml"
fall.write_text("limber: 1\nbodies:\n  floor: {box: [2, 2, 0.1], fixed: true}\n  ball: {sphere: 5 cm, at: [0, 0, 0.5]}\n"
                "run: {time: 1, step: 5 ms}\n")
code, out, err = run("run", fall, "--out", FOLDER / "fall", "--json", "--no-vtk", "--no-glb", "--no-report")
check(any('"ball" goes into the fixed "floor"' in w for w in json.loads(out)["warnings"]), f"falling: {out}")

# A step longer than the run is a mistake; a time that is no whole number of steps is told.
code, out, err = run("run", file, "--step", "10", "--out", FOLDER / "long")
check(code == 2 and "--step 10: is longer" in err, f"--step 10: {code} {err}")
code, out, err = run("run", file, "--time", "0.101", "--out", FOLDER / "odd", "--json", "--no-vtk", "--no-glb", "--no-report")
check(any("it runs to 0.104 s" in w for w in json.loads(out)["warnings"]), f"time: {out}")

# Options of `static` that a mode does not honour are refused by name.
file = FOLDER / "static.yaml"
file.write_text("limber: 1\n" + beam())
for arguments in (["--ramp", "4", "--all"], ["--until", "1", "--at", "1"], ["--inverse", "--modes", "2"],
                  ["--solver", "linear_12", "--report", "r.html"], ["--method", "articulated", "--csv", "c.csv"],
                  ["--method", "thread", "--steps", "3"], ["--method", "chain", "--modes", "3"], ["--path", "--ramp", "4"]):
    code, out, err = run("static", file, *arguments)
    check(code == 2 and (arguments[-2] in err or arguments[-1] in err), f"static {arguments}: {code} {err!r}")
for arguments, word in ((["--method", "thread", "--path"], "path"), (["--method", "thread", "--until", "1"], "history"),
                        (["--method", "articulated", "--inverse"], "inverse"),
                        (["--method", "thread", "--solver", "linear_12"], "sweeps")):
    code, out, err = run("static", file, *arguments)
    check(code == 2 and word in err and "chain" in err, f"static {arguments}: {code} {err!r}")
code, out, err = run("static", file, "--method", "thread", "--ramp", "4")  # it would grow the weight too
check(code == 2 and "gravity" in err, f"static --ramp with a weight: {code} {err!r}")

# What a scene changes is not passed by: a curve that knows no changes says so at their line.
file = FOLDER / "changes.yaml"
file.write_text("limber: 1\n" + beam(more="changes:\n  - {at: 2 s, beam: b, cut: 0.5}\n"))
line = file.read_text().split("\n").index("  - {at: 2 s, beam: b, cut: 0.5}") + 1
for arguments in (["--ramp", "4"], ["--path"], ["--inverse"], ["--estimate"], ["--solver", "linear_12"]):
    code, out, err = run("static", file, "--at", "3 s", *arguments)
    check(code == 2 and f"changes.yaml:{line}:" in err, f"static {arguments} with changes: {code} {err!r}")
    code, out, err = run("static", file, "--at", "1 s", *arguments)  # not yet
    check(code == 0, f"static {arguments} before the change: {code} {err!r}")

# A method that only finds rests: `static` takes it from the scene, `run` and `view` refuse it at its line.
file = FOLDER / "rests.yaml"
file.write_text("limber: 1\n" + beam() + "run:\n  time: 0.02\n  step: 1 ms\n  method: chain\n")
line = file.read_text().split("\n").index("  method: chain") + 1
for command in (["run", file, "--out", FOLDER / "rests"], ["view", file, "--no-open"]):
    code, out, err = run(*command)
    check(code == 2 and err.count("\n") == 1 and f"rests.yaml:{line}:11: run.method: " in err and "articulated" in err,
          f"{command[0]} by chain: {code} {err!r}")
check(not (FOLDER / "rests").exists(), "a run that is refused leaves a folder")
code, out, err = run("check", file)
check(code == 0 and "comes to rest" in out, f"check of chain: {code} {out} {err}")
code, out, err = run("static", file, "--modes", "3")
check(code == 2 and "method chain" in err, f"static takes the scene's method: {code} {err!r}")
code, out, err = run("run", file, "--method", "articulated", "-q", "--out", FOLDER / "rests", "--no-vtk", "--no-glb", "--no-report")
check(code == 0, f"run --method over the scene's: {code} {err!r}")

# What reads a scene writes all of it.
file = FOLDER / "mesh.yaml"
file.write_text("limber: 1\n" + beam() + "run: {time: 0.02, step: 1 ms, method: thread, thread: {error: 1 mm, levels: 2}}\n")
code, out, err = run("convert", file, "--to", "yaml", "--out", FOLDER / "mesh2.yaml")
text = (FOLDER / "mesh2.yaml").read_text() if code == 0 else ""
check(re.search(r"error: 0\.001", text) is not None, f"convert drops thread.error: {code} {err} {text[-300:]}")

print(f"{len(CASES)} refusals at their places, warnings in four places, options of static, round trip")
print(f"{len(faults)} faults")
sys.exit(1 if faults else 0)
