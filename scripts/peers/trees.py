"""Trees: scenes/tree.yaml of 765 joints, a step; chains and binary trees as `limber bench articulated` has them, the
articulated-body pass against Pinocchio's and a whole step against MuJoCo's."""

import math

import mujoco
import numpy as np
import pinocchio as pin

from measure import ROOT, Row, alternate, cpu, figure, settle, Figure

MUJOCO = f"MuJoCo {mujoco.__version__}"
LEVELS, STEP = 8, 0.01
SIZES = (300, 1000)


def text(v):
    return " ".join(f"{x:.17g}" for x in v)


def crossbars(levels):
    """The tree of scenes/tree.yaml, without drag (MuJoCo has none of this kind), in MJCF."""
    leg, bar, thick, strength = 3.0, 12.0, 0.5, 1e5
    total = thick**2 * (leg + 2 * bar * (1.5**levels - 1) + 1.9 * leg * (1.9**levels - 1) / 0.9)
    pull, across = 10 * total, math.floor(2 ** (levels + 1) / 3)
    tendons = []

    def box(size, z):
        mass = math.prod(size)
        a, b, c = (mass / 12 * x * x for x in size)
        return f'<inertial pos="0 0 {z:.17g}" mass="{mass:.17g}" diaginertia="{text((b + c, a + c, a + b))}"/>'

    def hinge(level):  # about y where the bar lies along x, about the vertical where it lies along y
        return f'<joint type="hinge" axis="{"0 1 0" if level % 2 else "0 0 1"}" stiffness="1000" damping="1"/>'

    def bars(level, k, at):
        length = bar * 0.75 ** (level - 1)
        size = (length, thick, thick) if level % 2 else (thick, length, thick)
        legs = "".join(legs_of(level, 2 * k + side, (side - 0.5) * length) for side in (0, 1))
        tendons.append((level, k, strength / length, length))
        return f'<body pos="{text(at)}">{hinge(level)}{box(size, 0)}{legs}</body>'

    def legs_of(level, k, along):
        length = leg * 0.95**level
        foot = (0, 0, -length)
        more = bars(level + 1, k, foot) if level < levels else ""
        at = (along, 0, 0) if level % 2 else (0, along, 0)
        return (f'<body pos="{text(at)}">{hinge(level)}{box((thick, thick, length), -length / 2)}'
                f'<site name="foot{level}_{k}" pos="{text(foot)}"/>{more}</body>')

    body = bars(1, 0, (0, 0, -leg))
    springs = "".join(f'<spatial stiffness="{s:.17g}" damping="1" springlength="{length:.17g}"><site site="foot{n}_{2 * k}"/>'
                      f'<site site="foot{n}_{2 * k + 1}"/></spatial>' for n, k, s, length in tendons)
    loads = "".join(f'<general site="foot{levels}_{i * across + k * (2**levels - 1 - across)}" refsite="world" '
                    f'gear="{text(((2 * i - 1) * pull, (2 * k - 1) * pull, -pull, 0, 0, 0))}"/>' for i in (0, 1) for k in (0, 1))
    return (f'<mujoco><compiler autolimits="true"/><option gravity="0 0 -980" timestep="{STEP}" integrator="discrete"><flag contact="disable"/></option>'
            f'<worldbody><site name="world"/>{body}</worldbody><tendon>{springs}</tendon><actuator>{loads}</actuator></mujoco>')


def limber_crossbars(limber):
    lines = (ROOT / "scenes/tree.yaml").read_text().splitlines()
    return limber.scene("tree.yaml", "\n".join(x for x in lines if "_drag:" not in x))


def branching(binary, n):
    """(parent, turn about y) of the bodies of `limber bench articulated`."""
    return [((i - 1) // 2 if binary else i - 1, (0.5 if i % 2 else -0.5) if binary and i else 0.0) for i in range(n)]


def mujoco_branching(binary, n, integrator):
    spec = mujoco.MjSpec()  # XML may not be nested so deep
    spec.option.gravity, spec.option.timestep, spec.option.integrator = [0, -9.81, 0], 0.001, integrator
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
    bodies = []
    for i, (parent, turn) in enumerate(branching(binary, n)):
        body = (bodies[parent] if i else spec.worldbody).add_body(
            pos=[0.1 if i else 0, 0, 0], quat=[math.cos(turn / 2), 0, math.sin(turn / 2), 0],
            mass=0.1, ipos=[0.05, 0, 0], inertia=[1e-5, 1e-4, 1e-4], explicitinertial=True)
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1], stiffness=[1, 0, 0], damping=[0.01, 0, 0])
        bodies.append(body)
    return spec.compile()


def limber_branching(limber, binary, n):
    bodies, joints = [], []
    for i, (parent, turn) in enumerate(branching(binary, n)):
        bodies.append(f"  link{i}: {{mass: 0.1 kg, com: [0.05, 0, 0], inertia: [1e-5, 1e-4, 1e-4]}}")
        frame = f"parent: link{parent}, parent_frame: {{at: [0.1, 0, 0], rotate: [0, {turn} rad, 0]}}, child_frame: {{}}" if i else "axis: [0, 0, 1]"
        joints.append(f"  joint{i}: {{type: revolute, child: link{i}, {frame}, stiffness: 1, damping: 0.01}}")
    return limber.scene(f"{'tree' if binary else 'chain'}{n}.yaml", "\n".join(
        ["limber: 1", "title: bodies on hinges", "gravity: [0, -9.81, 0]", "bodies:", *bodies, "joints:", *joints,
         f"probes: [joint{n - 1}.angle]", "run: {method: articulated, time: 1 s, step: 1 ms, integrator: euler}"]) + "\n")


def pinocchio_branching(binary, n):
    model, joints = pin.Model(), []
    model.gravity.linear = np.array([0, -9.81, 0])
    for i, (parent, turn) in enumerate(branching(binary, n)):
        place = pin.SE3(pin.utils.rotate("y", turn), np.array([0.1 if i else 0, 0, 0]))
        joints.append(model.addJoint(joints[parent] if i else 0, pin.JointModelRZ(), place, f"j{i}"))
        model.appendBodyToJoint(joints[-1], pin.Inertia(0.1, np.array([0.05, 0, 0]), np.diag([1e-5, 1e-4, 1e-4])), pin.SE3.Identity())
    return model


def mujoco_step(model):
    """CPU seconds of a step, by 10 and more from the start."""
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 10)
    steps, seconds = 10, 0.0
    while seconds < 0.05:
        mujoco.mj_resetData(model, data)
        steps *= 2
        seconds, _ = cpu(mujoco.mj_step, model, data, steps)
    return seconds / steps


def crossbars_rows(limber, turns):
    """A step of 10 ms over the first 2 s. The error is that of a corner's foot over 0.3 s against limber's sdirk4 at 0.5 ms.
    MuJoCo's Euler is not in it: with this step it diverges after 0.54 s."""
    scene, span = limber_crossbars(limber), 0.3
    options = ["--set", f"levels={LEVELS}", "--integrator"]
    foot = lambda step, rule: np.array(limber.run(scene, step, span, span / 10, [*options, rule])[1])[1:, 1:4]
    reference = foot(0.0005, "sdirk4")

    def start(integrator, solver):
        model = mujoco.MjModel.from_xml_string(crossbars(LEVELS))
        model.opt.integrator, model.opt.solver = integrator, solver
        data = mujoco.MjData(model)
        data.ctrl[:] = 1
        return model, data

    def error(integrator, solver):
        model, data = start(integrator, solver)
        worst = 0.0
        for i in range(10):
            mujoco.mj_step(model, data, round(span / 10 / STEP))
            mujoco.mj_kinematics(model, data)
            worst = max(worst, np.abs(data.site(f"foot{LEVELS}_0").xpos - reference[i]).max())
        return worst

    def seconds(integrator, solver):
        model, data = start(integrator, solver)
        return cpu(mujoco.mj_step, model, data, 200)[0] / 200

    rules = {"discrete": (mujoco.mjtIntegrator.mjINT_DISCRETE, mujoco.mjtSolver.mjSOL_NEWTON),
             "discrete, PGS": (mujoco.mjtIntegrator.mjINT_DISCRETE, mujoco.mjtSolver.mjSOL_PGS)}
    times = alternate([lambda: limber.step_seconds(scene, STEP, 100, [*options, "euler"])]
                      + [lambda r=r: seconds(*r) for r in rules.values()], turns)
    ours = figure(times[0], f"{np.abs(foot(STEP, 'euler') - reference).max():.2f} cm", 1e3)
    return [Row("tree, 765 DOF, a step of 10 ms", "ms", f"{MUJOCO} {name}", figure(t, f"{error(*r):.2f} cm", 1e3), ours, "euler")
            for (name, r), t in zip(rules.items(), times[1:])]


def pass_rows(limber, turns):
    """The articulated-body pass, ns a body. Pinocchio's data of 1,000 joints want 50 GB (it has room for tensors of n³), and
    `limber bench` has no 300: there limber's 1,000 stand beside Pinocchio's 300, which is no favour to limber."""
    rows = []
    bench = limber.bench("articulated")
    for binary, n, own in ((False, 100, 100), (False, 300, 1000), (True, 100, 100), (True, 300, 1000)):
        model = pinocchio_branching(binary, n)
        data = model.createData()
        q, v, tau = (0.1 * np.array([(i * a % b - c) / c for i in range(n)]) for a, b, c in ((37, 11, 5), (53, 13, 6), (29, 7, 3)))
        times, = alternate([lambda: settle(lambda: pin.aba(model, data, q, v, tau))], turns)
        key = f"aba_ns_per_body_{'tree' if binary else 'chain'}_{own}"
        ours = Figure(bench[key], bench[f"{key}_spread"], "" if own == n else f"{own} bodies")
        rows.append(Row(f"ABA, {'binary tree' if binary else 'chain'} of {n}", "ns a body", f"Pinocchio {pin.__version__}",
                        figure(times, scale=1e9 / n), ours, "bench"))
    return rows


def step_rows(limber, turns):
    """A whole step of 1 ms, ns a body, springs and dampers at the hinges."""
    rows = []
    for binary in (False, True):
        for n in SIZES:
            scene, models = limber_branching(limber, binary, n), {
                "Euler": mujoco_branching(binary, n, mujoco.mjtIntegrator.mjINT_EULER),
                "discrete": mujoco_branching(binary, n, mujoco.mjtIntegrator.mjINT_DISCRETE)}
            times = alternate([lambda: limber.step_seconds(scene, 0.001, max(100, 100000 // n), ["--integrator", "euler"])]
                              + [lambda m=m: mujoco_step(m) for m in models.values()], turns)
            ours = figure(times[0], scale=1e9 / n)
            rows += [Row(f"a step, {'binary tree' if binary else 'chain'} of {n}", "ns a body", f"{MUJOCO} {name}",
                         figure(t, scale=1e9 / n), ours, "euler") for name, t in zip(models, times[1:])]
    return rows


def rows(limber, turns):
    return crossbars_rows(limber, turns) + pass_rows(limber, turns) + step_rows(limber, turns), []
