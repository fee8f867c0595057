"""A thread let go: 1 m, radius 5 mm, E 1 MPa, ν 0.4, 1100 kg/m³, clamped horizontally, 64 elements, 0.5 s. The error is
that of the tip, the worst of 50 frames, against the same program's own solution with fine steps (in time) and with fine
steps and 256 elements (in all)."""

from importlib.metadata import version

import elastica
import exudyn as exu
import numpy as np
from exudyn.beams import GenerateStraightBeam, GenerateStraightLineANCFCable2D
from exudyn.utilities import Cable2D, ObjectBeamGeometricallyExact2D, SensorNode

from measure import Curve, Row, alternate, cpu, figure

LENGTH, RADIUS, E, NU, DENSITY, GRAVITY, ELEMENTS = 1.0, 0.005, 1e6, 0.4, 1100.0, 9.81, 64
TIME, FRAME = 0.5, 0.01
STEPS = tuple(FRAME / n for n in (1, 2, 3, 4, 5, 8, 10, 16, 20))
FINE, FINE_ELEMENTS = 0.0001, 256
AREA, MOMENT = np.pi * RADIUS**2, np.pi * RADIUS**4 / 4
EXUDYN, ELASTICA = f"Exudyn {exu.__version__}", f"PyElastica {version('pyelastica')}"
ELASTICA_STEPS, ELASTICA_FINE = (0.0002, 0.0001), 0.000025  # 0.2 ms: the largest that is stable
SCENE = f"""limber: 1
title: A thread let go
parameters: {{elements: {ELEMENTS}}}
gravity: [0, 0, {-GRAVITY}]
materials: {{rubber: {{E: {E!r} Pa, nu: {NU}, density: {DENSITY} kg/m3}}}}
sections: {{round: {{circle: {RADIUS} m}}}}
beams:
  thread: {{path: [[0, 0, 0], [{LENGTH} m, 0, 0]], material: rubber, section: round, elements: =elements}}
probes: [thread.tip.position]
run: {{method: thread, time: {TIME} s, step: 1 ms}}
"""


def exudyn_tip(kind, step, elements=ELEMENTS):
    """CPU seconds of SolveDynamic, and the tip at every frame. kind: GE2D or ANCF."""
    system = exu.SystemContainer()
    mbs = system.AddSystem()
    ends, weight = ([0, 0, 0], [LENGTH, 0, 0]), [0, -GRAVITY, 0]
    if kind == "ANCF":
        cable = Cable2D(physicsMassPerLength=DENSITY * AREA, physicsBendingStiffness=E * MOMENT, physicsAxialStiffness=E * AREA)
        nodes = GenerateStraightLineANCFCable2D(mbs, *ends, elements, cable, weight, [1, 1, 0, 1])[0]
    else:
        shear = 6 * (1 + NU) / (7 + 6 * NU) * E / (2 * (1 + NU)) * AREA
        beam = ObjectBeamGeometricallyExact2D(physicsMassPerLength=DENSITY * AREA, physicsCrossSectionInertia=DENSITY * MOMENT,
                                              physicsBendingStiffness=E * MOMENT, physicsAxialStiffness=E * AREA, physicsShearStiffness=shear)
        nodes = GenerateStraightBeam(mbs, *ends, elements, beam, weight, [1, 1, 1])[0]
    tip = mbs.AddSensor(SensorNode(nodeNumber=nodes[-1], storeInternal=True, outputVariableType=exu.OutputVariableType.Position))
    mbs.Assemble()
    s = exu.SimulationSettings()
    s.timeIntegration.numberOfSteps, s.timeIntegration.endTime = round(TIME / step), TIME
    s.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    s.timeIntegration.newton.useModifiedNewton = True
    s.timeIntegration.verboseMode = 0
    s.linearSolverType = exu.LinearSolverType.EigenSparse
    s.displayStatistics = False
    s.solutionSettings.writeSolutionToFile = False
    s.solutionSettings.sensorsWritePeriod = FRAME
    seconds, _ = cpu(mbs.SolveDynamic, s)
    return seconds, mbs.GetSensorStoredData(tip)[:, 1:4]


class Simulator(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing):
    pass


def elastica_tip(step, elements=ELEMENTS):
    """CPU seconds of its loop in Python over compiled kernels (compiled before), and the tip at every frame."""
    simulator = Simulator()
    rod = elastica.CosseratRod.straight_rod(elements, np.zeros(3), np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), LENGTH, RADIUS, DENSITY,
                                            youngs_modulus=E, shear_modulus=E / (2 * (1 + NU)))
    simulator.append(rod)
    simulator.constrain(rod).using(elastica.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,))
    simulator.add_forcing_to(rod).using(elastica.GravityForces, acc_gravity=np.array([0, 0, -GRAVITY]))
    simulator.finalize()
    stepper = elastica.PositionVerlet()

    def run():
        now, told = np.float64(0.0), [rod.position_collection[:, -1].copy()]
        for _ in range(round(TIME / FRAME)):
            for _ in range(round(FRAME / step)):
                now = stepper.step(simulator, now, np.float64(step))
            told.append(rod.position_collection[:, -1].copy())
        return np.array(told)

    return cpu(run)


def rows(limber, turns, integrator=None):
    """integrator: limber's; None: its default, bdf2, and the two of second and fourth order that err least."""
    scene = limber.scene("thread.yaml", SCENE)

    def limber_tip(rule, step, elements=ELEMENTS):
        seconds, probes, _ = limber.run(scene, step, TIME, FRAME, ["--set", f"elements={elements}", "--integrator", rule])
        return seconds, np.array(probes)[:, 1:4]

    rules = (integrator,) if integrator else ("bdf2", "alpha", "lobatto")
    ours = {rule: f"thread, {rule}" for rule in rules}
    geometrically_exact, ancf = f"{EXUDYN} GE2D", f"{EXUDYN} ANCF"
    programs = {**{name: (lambda *a, r=rule: limber_tip(r, *a), STEPS, FINE) for rule, name in ours.items()},
                geometrically_exact: (lambda *a: exudyn_tip("GE2D", *a), STEPS, FINE),
                ancf: (lambda *a: exudyn_tip("ANCF", *a), STEPS, FINE),
                ELASTICA: (elastica_tip, ELASTICA_STEPS, ELASTICA_FINE)}
    errors = {}
    for name, (tip, steps, fine) in programs.items():
        in_time, in_all = tip(fine)[1], tip(fine, FINE_ELEMENTS)[1]
        for step in steps:
            told = tip(step)[1]
            errors[name, step] = [np.linalg.norm(told - r, axis=1).max() for r in (in_time, in_all)]
    times = alternate([lambda j=j: programs[j[0]][0](j[1])[0] for j in errors], turns)
    figures = {j: figure(t, f"h {1e3 * j[1]:.3g} ms, {1e3 * e[0]:.2g} mm in time, {1e3 * e[1]:.2g} in all", 1e3)
               for (j, e), t in zip(errors.items(), times)}
    curves = [Curve("thread", n, [(h, errors[n, h][1], figures[n, h].value / 1e3) for h in steps]) for n, (_, steps, _) in programs.items()]

    def cheapest(name, target, which):
        return min((figures[name, h] for h in programs[name][1] if errors[name, h][which] <= target), key=lambda f: f.value)

    result = [Row(f"thread of 64, 0.5 s, h {1e3 * h:.3g} ms", "ms", peer, figures[peer, h], figures[name, h], name)
              for h in (FRAME / 10, FRAME / 2, FRAME) for peer in (geometrically_exact, ancf) for name in ours.values()]
    for target, which, what, peers in ((0.001, 0, "1 mm in time", (geometrically_exact, ancf)), (0.01, 0, "10 mm in time", (geometrically_exact, ancf)),
                                       (0.015, 1, "15 mm in all", (ELASTICA,))):
        result += [Row(f"thread of 64, 0.5 s, to {what}", "ms", peer, cheapest(peer, target, which), cheapest(name, target, which), name)
                   for peer in peers for name in ours.values()]
    return result, curves
