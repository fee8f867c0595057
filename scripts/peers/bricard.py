"""Bricard's linkage (scenes/bricard.yaml) over 10 s: six rods of 1 m and 1 kg along the edges of a cube, a hinge at
every corner. The error is that of the first hinge's angle, the worst of 200 frames. Reference: Pinocchio with a fine
step and limber's gauss with another, which have to agree."""

import exudyn
import mujoco
import numpy as np
from exudyn.utilities import RigidBodyInertia, SensorNode

from measure import ROOT, Curve, Row, alternate, coarsest, cpu, figure
import pinocchio_loop

TARGET = 5e-5  # rad
FRAME, FRAMES = 0.05, 200
PARTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100, 125, 160, 200, 250, 400)
# MuJoCo's loop is a stiff spring, k and damping a unit of inertia: the cheapest for TARGET of 45 pairs. SOLIMP is its hardest.
SOLREF, SOLIMP = "-10000 0", "0.9999 0.9999 0.001 0.5 1"
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]], float)
AXES = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], float)  # of the hinge at a corner


def rods():
    """(corner where it hangs, its axis, middle of the rod, direction) of rods 1 to 5."""
    for i in range(1, 6):
        along = CORNERS[(i + 1) % 6] - CORNERS[i]
        yield CORNERS[i], AXES[i], CORNERS[i] + along / 2, along


def pinocchio_mechanism():
    m = pinocchio_loop.Mechanism([0, 0, -9.81])
    joint, before = 0, np.zeros(3)
    for corner, axis, middle, along in rods():
        joint = m.hinge(joint, axis, corner - before, 1.0, middle - corner, (np.eye(3) - np.outer(along, along)) / 12)
        before = corner
    for at in (np.zeros(3), AXES[0] / 2):  # two points of the last hinge
        m.pin_together(joint, at - before, 0, at)
    return m


def mujoco_run(step):
    body, before = "", np.zeros(3)
    text = lambda v: " ".join(f"{x:.17g}" for x in v)
    for i, (corner, axis, middle, along) in enumerate(rods()):
        inertia = np.where(along != 0, 1e-10, 1 / 12)  # MuJoCo wants an inertia about the rod too
        body += (f'<body name="rod{i}" pos="{text(corner - before)}"><joint axis="{text(axis)}"/>'
                 f'<inertial pos="{text(middle - corner)}" mass="1" diaginertia="{text(inertia)}"/>')
        before = corner
    connect = "".join(f'<connect body1="rod4" anchor="{text(at - before)}" solref="{SOLREF}" solimp="{SOLIMP}"/>'
                      for at in (np.zeros(3), AXES[0] / 2))
    xml = (f'<mujoco><option timestep="{step!r}" integrator="RK4" gravity="0 0 -9.81" tolerance="1e-14" iterations="20">'
           f'<flag contact="disable"/></option><worldbody>{body}{"</body>" * 5}</worldbody><equality>{connect}</equality></mujoco>')
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)

    def run():
        told = [0.0]
        for _ in range(FRAMES):
            mujoco.mj_step(model, data, round(FRAME / step))
            told.append(data.qpos[0])
        return np.array(told)

    return cpu(run)


def exudyn_run(step):
    exu = exudyn
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    bodies = [mbs.CreateGround()]
    for _, _, middle, along in rods():
        inertia = RigidBodyInertia(mass=1, inertiaTensor=(np.eye(3) - np.outer(along, along)) / 12 + 1e-10 * np.outer(along, along))
        bodies.append(mbs.CreateRigidBody(inertia=inertia, referencePosition=middle, gravity=[0, 0, -9.81], nodeType=exu.NodeType.RotationEulerParameters))
    for i, b in enumerate(bodies):
        mbs.CreateRevoluteJoint(bodyNumbers=[bodies[i - 1], b], position=CORNERS[i], axis=AXES[i], useGlobalFrame=True)
    sensor = mbs.AddSensor(SensorNode(nodeNumber=mbs.GetObject(bodies[1])["nodeNumber"], storeInternal=True, outputVariableType=exu.OutputVariableType.RotationMatrix))
    mbs.Assemble()
    s = exu.SimulationSettings()
    s.timeIntegration.numberOfSteps, s.timeIntegration.endTime = round(FRAMES * FRAME / step), FRAMES * FRAME
    s.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    s.timeIntegration.newton.useModifiedNewton = True
    s.linearSolverType = exu.LinearSolverType.EigenDense  # copes with the dependent row
    s.linearSolverSettings.ignoreSingularJacobian = True
    s.solutionSettings.writeSolutionToFile = False
    s.solutionSettings.sensorsWritePeriod = FRAME
    s.timeIntegration.verboseMode = 0
    s.displayStatistics = False
    seconds, _ = cpu(mbs.SolveDynamic, s)
    R = mbs.GetSensorStoredData(sensor)[:, 1:]
    return seconds, np.unwrap(np.arctan2(R[:, 3], R[:, 0]))


def rows(limber, turns):
    scene = ROOT / "scenes/bricard.yaml"
    mechanism = pinocchio_mechanism()

    def limber_angle(step, integrator):
        seconds, probes, names = limber.run(scene, step, FRAME * FRAMES, FRAME, ["--integrator", integrator])
        return seconds, np.array(probes)[:, names.index("hinge.1.angle [rad]")]

    def pinocchio_angle(step):
        return cpu(mechanism.run, step, FRAMES, round(FRAME / step), lambda q: q[0])

    reference = pinocchio_angle(FRAME / 400)[1]
    apart = np.abs(limber_angle(FRAME / 160, "gauss")[1] - reference).max()
    if apart > TARGET / 50:
        raise RuntimeError(f"the two references of Bricard's linkage differ by {apart}")

    def error_of(angle):
        def solve(step):
            seconds, told = angle(step)
            return seconds, np.abs(told - reference).max()
        return solve

    mujoco_name, exudyn_name = f"MuJoCo {mujoco.__version__} RK4", f"Exudyn {exudyn.__version__} generalised-α"
    solvers = {name: error_of(angle) for name, angle in (
        (mujoco_name, mujoco_run), (pinocchio_loop.NAME, pinocchio_angle), (exudyn_name, exudyn_run),
        ("limber rk4", lambda h: limber_angle(h, "rk4")), ("limber gauss", lambda h: limber_angle(h, "gauss")))}
    curves, best = [], {}
    for name, solve in solvers.items():
        first = {exudyn_name: 80, mujoco_name: 4}.get(name, 0)  # with coarser steps they fail
        points, step = coarsest(solve, [FRAME / n for n in PARTS if n >= first], TARGET)
        curves.append(Curve("Bricard", name, points))
        best[name] = (step, points[-1][1])
    turn = {n: lambda n=n: solvers[n](best[n][0])[0] for n in solvers}
    calls = 4 * FRAMES * round(FRAME / best[pinocchio_loop.NAME][0])
    turn[pinocchio_loop.NAME] = lambda: calls * mechanism.call_seconds()
    times = alternate(turn.values(), turns)
    told = {n: figure(t, f"h {1e3 * best[n][0]:.3g} ms, {best[n][1]:.1e} rad") for n, t in zip(solvers, times)}
    return [Row("Bricard, 10 s, to 5e-5 rad", "s", peer, told[peer], told[f"limber {i}"], i)
            for peer in (mujoco_name, pinocchio_loop.NAME, exudyn_name) for i in ("rk4", "gauss")], curves
