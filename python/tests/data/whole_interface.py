"""Every part of the interface, typed: mypy --strict passes on it, and it runs."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import numpy.typing as npt

import limber
from limber import bridges, envs

Floats = npt.NDArray[np.float64]

TEXT = """\
limber: 1
title: A blade on a hinge
parameters: {length: 300 mm, height: 1 mm, pull: 1 N}
materials:
  steel: {E: 205 GPa, nu: 0.29, density: 7850 kg/m3}
sections:
  blade: {rectangle: {width: 20 mm, height: =height}}
bodies:
  hub: {cylinder: {radius: 4 cm, from: [0, -2 cm, 0], to: [0, 2 cm, 0]}, mass: 1 kg}
joints:
  motor: {type: revolute, child: hub, axis: [0, 1, 0]}
drives:
  - {joint: motor, servo: {target: 0, kp: 50 N*m/rad, kd: 1 N*m*s/rad}}
beams:
  arm: {from: hub, path: [[0, 0, 0], [=length, 0, 0]], material: steel, section: blade, elements: 4, damping: 1 ms}
loads:
  tip: {on: arm.tip, force: [0, 0, =-pull]}
probes: [arm.tip.position, motor.angle]
run: {time: 0.05 s, step: 2 ms}
"""


def scenes() -> limber.Scene:
    scene = limber.Scene(TEXT, name="blade.yaml")
    scene.set(length="0.25 m", pull=0.5).set({"sections.blade.width": "25 mm"})
    parameter: limber.Parameter = scene.parameters["length"]
    assert (parameter.name, parameter.value, parameter.unit) == ("length", 0.25, "m")
    scene["bodies"]["hub"]["mass"] = "2 kg"
    keys: list[str] = list(scene)
    assert "beams" in keys and "beams" in scene and len(scene) == len(keys)
    verdict: limber.Verdict = scene.check()
    assert "articulated" in verdict.runs and "articulated" in verdict.rests and verdict.warnings == ()
    first: limber.MethodVerdict = verdict.methods[0]
    print(first.method, first.rests, first.against, first.sizes)
    scene.save("blade.yaml")
    again = limber.load("blade.yaml", pull=0.5, length="0.25 m")
    assert again.title == scene.title and again.name == "blade.yaml" and again.options["step"] == 0.002
    assert limber.Scene(scene.to_yaml(resolved=True)).text
    assert copy.copy(scene) == scene == pickle.loads(pickle.dumps(scene)) == scene.with_()
    print(limber.scenes.names(), limber.scenes.cantilever, limber.schema()[:20], limber.__version__)
    return again


def statics(scene: limber.Scene) -> None:
    rest: limber.Equilibrium = scene.static(modes=2)
    tip: Floats = rest.points["arm.tip"]
    stress: Floats = rest.stress["arm"]
    beam: limber.BeamRest = rest.beams["arm"]
    reaction: limber.Reaction = rest.reactions["motor"]
    mode: limber.StaticMode = rest.modes[0]
    print(rest.stable, rest.method, rest.negative, rest.residual, rest.iterations, rest.error, rest.warnings, rest.lost)
    print(tip, stress.max(), beam.s, beam.force, beam.moment, beam.safety, beam.slope, reaction.force, reaction.torque)
    print(mode.frequency, mode.shape, rest.statements, rest["arm.tip.position"], rest.energy, rest.springs, rest.bodies)
    print(rest.moment.values, rest.unloaded.points["hub"], rest.poses.shape, rest.all_reactions)
    rest.report("rest.html")
    gradient: Floats = rest.gradient("arm.tip.position.z", wrt=["length", "sections.blade.width"])
    jacobian: Floats = rest.jacobian(["arm.tip.position", "motor.angle"], wrt=["length", "height", "pull"])
    assert gradient.shape == (2,) and jacobian.shape == (4, 3)
    curve: limber.StaticCurve = scene.load_curve(3, weight=True)
    print(curve.ok, curve.message, curve.method, curve.loads, curve.times, curve.kinds, curve.columns, curve.lost)
    print(curve["motor.angle"], len(curve), curve.moment(-1).time, curve.events, curve.warnings, curve.statements)
    cantilever = limber.scenes.cantilever
    shape: limber.UnloadedShape = cantilever.unloaded()
    print(shape.off, shape.stable, shape.unloaded.points, shape.loaded.bodies, shape.warnings)
    print(cantilever.path(), cantilever.static().path(), cantilever.history("1 s", 2))
    found: limber.Comparison = cantilever.compare("rest")
    best: limber.Candidate = found.candidates[0]
    print(found.reference, found.time, best.method, best.setting, best.error, best.seconds, best.refusal)


def runs(scene: limber.Scene) -> None:
    told: list[float] = []
    run: limber.Run = scene.run(time=0.02, frame="2 ms", progress=lambda t, end: told.append(t), folder="run", force=True)
    times: Floats = run.times
    position: Floats = run["arm.tip.position"]
    frames: limber.Frames = run.frames
    assert position.shape == (len(times), 3) == (len(run), 3) and "motor.angle" in run
    print(frames.names, frames.lines, frames.poses.shape, frames.points.shape, frames.of("hub"), frames[-1]["motor.angle"])
    print(run.columns, run.info["report"], run.outcome, run.warnings, run.events, run.folder)
    run.csv("a.csv")
    run.glb("a.glb")
    run.vtk("vtk")
    run.report("a.html")
    print(limber.open_run("run"), run.save("copy"), told)
    by: Floats = run.gradient("arm.tip.position.z", wrt=["length"])
    of_all: Floats = run.gradient({"arm.tip.position.z": position[:, 2]}, wrt=["length"], at=None)
    found: limber.Sensitivity = run.sensitivity("arm.tip.position.z", wrt=["length"], at=times[-1], forces=True)
    print(by, of_all, found.value, found.by, found.positions, found.velocities, found.forces, found.freedoms, found.of("motor"))
    print(run.scene.name, run.options)
    try:
        limber.Scene("limber: 1\nbodies: {a: {mass: 1 m}}").run()
    except limber.SceneError as error:
        fault: limber.Fault = error.faults[0]
        print(fault.file, fault.line, fault.column, fault.path, fault.message)


def control(scene: limber.Scene) -> None:
    sim: limber.Simulation = scene.simulate(step="1 ms")
    sim.step()
    sim.step(4)
    sim.set_drive("motor", 0.3)
    state: limber.State = sim.state
    bits: bytes = sim.save()
    sim.grab("hub", [0, 0, 1], at=(0, 0, 0), stiffness=10, damping=0.1)
    sim.step()
    sim.release()
    sim.scale_loads(0.5)
    sim.load(bits)
    contacts: list[limber.Contact] = sim.contacts
    poses: Floats = sim.poses
    print(state.time, state.positions, state.velocities, contacts, poses, sim.points, sim.scalars, sim["arm.tip.position"])
    print(sim.time, sim.steps, sim.step_size, sim.method, sim.solver, sim.dofs, sim.options, sim.events, sim.over)
    print(sim.bodies, sim.columns, sim.drives, sim.now.poses, sim.now["motor.angle"])


def functions(scene: limber.Scene) -> None:
    f: bridges.Function = bridges.Function(scene, ["arm.tip.position.z"], wrt=["length"])
    value, by = f.value_and_gradient(f.start)
    print(value, by, f(f.start), f.jacobian(f.start), f.vjp(f.start, [1.0]), f.at(f.start).name, f.outputs, f.wrt)
    server = bridges.umbridge_server(f, port=0)
    server.server_close()

    def reward(sim: limber.Simulation, action: Floats) -> float:
        return float(-action @ action) - sim.time

    env: envs.Env = envs.Env(scene, observe=["motor.angle"], drives=["motor"], reward=reward, horizon=3, step="1 ms")
    observation, info = env.reset(seed=1)
    observation, told, terminated, truncated, info = env.step(np.zeros(1))
    batch: envs.Batch = envs.Batch([env], threads=1)
    batch.reset(seed=2)
    print(observation, told, terminated, truncated, info, batch.step(np.zeros((1, 1))), len(batch))
    batch.close()
    path: limber.StaticCurve = limber.scenes.arch.path("stable")
    snap: limber.Snap = path.snap
    turn: limber.Turn | None = snap.snaps
    print(path.deflections, path.stresses, path.force, path.stiffness, turn, snap.comes_back, snap.stays)


def reduced() -> None:
    model: limber.Reduced = limber.scenes.gripper.reduce()
    model.save("gripper.rom")
    print(limber.load("gripper.rom").run(time=0.01), len(model.data))


def main() -> None:
    scene = scenes()
    statics(scene)
    runs(scene)
    control(scene)
    functions(scene)
    reduced()
    assert Path("run/frames").exists()


if __name__ == "__main__":
    main()
