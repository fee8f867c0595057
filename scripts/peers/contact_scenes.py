"""Scenes of solids that touch, each described once and written for limber and for MuJoCo, and a judge: MuJoCo's collision
detection, which tells how deep solids overlap at the poses that either program came to."""

import math
from dataclasses import dataclass, field

import mujoco
import numpy as np


@dataclass
class Solid:
    name: str
    at: np.ndarray
    shape: str  # box: full sides; sphere: radius; capsule: radius, length between the middles of its ends
    size: tuple
    turn: np.ndarray = field(default_factory=lambda: np.zeros(3))  # rotation vector
    mass: float = 0.0  # 0: of 1000 kg/m³
    velocity: tuple = (0, 0, 0)


@dataclass
class Joint:
    kind: str  # spherical, or revolute with a spring and a damper
    parent: int  # -1: the world
    child: int
    at: np.ndarray
    axis: np.ndarray = None
    spring: tuple = (0, 0, 0)  # stiffness, damping, angle at rest


@dataclass
class Scene:
    solids: list
    planes: list = field(default_factory=list)  # (point, normal)
    joints: list = field(default_factory=list)
    friction: float = 0.5


def vec(v):
    return np.array(v, float)


def pile(count):
    """Boxes of 10 cm on a grid that fall a finger's width, turned a little each, between four walls (`limber bench contact`)."""
    side = max(1, round((count / 2) ** (1 / 3)))
    solids = [Solid(f"b{k}", vec([0.16 * (k % side - 0.5 * side) + 0.01 * math.sin(7 * k),
                                  0.16 * (k // side % side - 0.5 * side) + 0.01 * math.sin(11 * k),
                                  0.055 + 0.115 * (k // side**2)]), "box", (0.1, 0.1, 0.1), vec([0, 0, 0.4 * math.sin(3 * k)]))
              for k in range(count)]
    wall = 0.08 * side + 0.1
    sides = [(vec([-x * wall, -y * wall, 0]), vec([x, y, 0])) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    return Scene(solids, [(vec([0, 0, 0]), vec([0, 0, 1])), *sides])


def chain(links):
    """Capsules of 10 cm in all on ball joints, which lie on the floor."""
    solids = [Solid(f"l{i}", vec([0.1 * i, 0, 0.02]), "capsule", (0.02, 0.06), vec([0, math.pi / 2, 0]), 0.1) for i in range(links)]
    joints = [Joint("spherical", i - 1, i, vec([0.1 * i - 0.05, 0, 0.02])) for i in range(1, links)]
    return Scene(solids, [(vec([0, 0, 0]), vec([0, 0, 1]))], joints)


def hand():
    """Five fingers of four links around a ball, closed by springs."""
    ball, thick, step = 0.05, 0.008, 0.55
    reach = ball + thick + 0.001
    root = reach / math.cos(step / 2)
    solids, joints = [Solid("ball", vec([0, 0, 0]), "sphere", (ball,), mass=0.3)], []
    for f in range(5):
        a = 2 * math.pi * f / 5
        out, axis = vec([math.cos(a), math.sin(a), 0]), vec([math.sin(a), -math.cos(a), 0])
        for i in range(4):
            middle = -0.9 + step * i
            joint = middle - step / 2
            up = vec([0, 0, 1])
            solids.append(Solid(f"f{f}_{i}", reach * (math.cos(middle) * out + math.sin(middle) * up), "capsule", (thick, 0.02),
                                middle * axis, 0.02))
            joints.append(Joint("revolute", len(solids) - 2 if i else -1, len(solids) - 1,
                                root * (math.cos(joint) * out + math.sin(joint) * up), axis, (2, 0.01, -0.3)))
    return Scene(solids, [], joints, 0.6)


def funnel(count):
    """Balls of 4 cm above eight planes that lean inwards, of 45°, and fall into it."""
    side, r = 10, 0.02
    solids = [Solid(f"s{k}", vec([0.045 * (k % side - 4.5) + 0.002 * math.sin(7 * k), 0.045 * (k // side % side - 4.5) + 0.002 * math.sin(11 * k),
                                  0.35 + 0.045 * (k // side**2)]), "sphere", (r,)) for k in range(count)]
    turns = [math.pi * (k + 0.5) / 4 for k in range(8)]
    return Scene(solids, [(vec([0, 0, 0]), vec([-math.cos(a), -math.sin(a), 1]) / math.sqrt(2)) for a in turns], friction=0.3)


def wall():
    """48 bricks in a bond, and a ball of 2.1 kg that comes at 6 m/s."""
    solids = [Solid("ball", vec([-0.6, 0.02, 0.35]), "sphere", (0.08,), velocity=(6, 0, 1))]
    solids += [Solid(f"b{row}_{k}", vec([0, 0.201 * (k - 2.5) + 0.1 * (row % 2), 0.05 + 0.1 * row]), "box", (0.1, 0.2, 0.1))
               for row in range(8) for k in range(6)]
    return Scene(solids, [(vec([0, 0, 0]), vec([0, 0, 1]))], friction=0.6)


# --- limber ---------------------------------------------------------------------------------------------------------------------


def numbers(v):
    return "[" + ", ".join(f"{x:.12g}" for x in v) + "]"


def limber_text(scene):
    lines = ["limber: 1", "title: solids that touch", "bodies:"]
    for s in scene.solids:
        shape = {"box": lambda: numbers(s.size), "sphere": lambda: f"{{radius: {s.size[0]}}}",
                 "capsule": lambda: f"{{radius: {s.size[0]}, length: {s.size[1]}}}"}[s.shape]()
        more = f", mass: {s.mass}" if s.mass else ""
        more += f", velocity: {numbers(s.velocity)}" if any(s.velocity) else ""
        lines.append(f"  {s.name}: {{at: {numbers(s.at)}, rotate: {numbers(s.turn)}, {s.shape}: {shape}{more}}}")
    lines += ["joints:"] if scene.joints else []
    for i, j in enumerate(scene.joints):
        parent = f", parent: {scene.solids[j.parent].name}" if j.parent >= 0 else ""
        spring = "" if j.axis is None else (f", axis: {numbers(j.axis)}, stiffness: {j.spring[0]}, damping: {j.spring[1]}, "
                                            f"rest: {j.spring[2]}")
        lines.append(f"  j{i}: {{type: {j.kind}, child: {scene.solids[j.child].name}{parent}, at: {numbers(j.at)}{spring}}}")
    planes = ", ".join(f"{{at: {numbers(p)}, normal: {numbers(n)}}}" for p, n in scene.planes)
    lines += [f"contact: {{friction: {scene.friction}{f', planes: [{planes}]' if planes else ''}}}",
              "probes: [" + ", ".join(f"{s.name}.position, {s.name}.rotation" for s in scene.solids) + ", contact.overlap]"]
    return "\n".join(lines) + "\n"


# --- MuJoCo ---------------------------------------------------------------------------------------------------------------------


def quaternion(turn):
    angle = np.linalg.norm(turn)
    return np.array([1.0, 0, 0, 0]) if angle == 0 else np.concatenate([[math.cos(angle / 2)], math.sin(angle / 2) * turn / angle])


def rotated_back(quat, v):
    """v in the axes of a body that stands as `quat`."""
    out, back = np.zeros(3), np.zeros(4)
    mujoco.mju_negQuat(back, quat)
    mujoco.mju_rotVecQuat(out, v, back)
    return out


def add_geom(body, scene, shape, size):
    kind = {"box": mujoco.mjtGeom.mjGEOM_BOX, "sphere": mujoco.mjtGeom.mjGEOM_SPHERE, "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE}[shape]
    half = {"box": lambda: [x / 2 for x in size], "sphere": lambda: [size[0], 0, 0],
            "capsule": lambda: [size[0], size[1] / 2, 0]}[shape]()
    return body.add_geom(type=kind, size=half, friction=[scene.friction, 0, 0], condim=3)


def add_planes(spec, scene):
    for point, normal in scene.planes:
        quat = np.zeros(4)
        mujoco.mju_quatZ2Vec(quat, normal)
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[50, 50, 1], pos=point, quat=quat,
                                friction=[scene.friction, 0, 0], condim=3)


def mujoco_model(scene, joints=True):
    """Without joints, all free: to be placed by the judge."""
    spec = mujoco.MjSpec()
    spec.option.gravity = [0, 0, -9.81]
    add_planes(spec, scene)
    of = {j.child: j for j in scene.joints} if joints else {}
    bodies, quats = [], [quaternion(s.turn) for s in scene.solids]
    for i, s in enumerate(scene.solids):
        joint = of.get(i)
        parent = joint.parent if joint else -1
        at, quat = s.at, quats[i]
        if parent >= 0:
            at = rotated_back(quats[parent], s.at - scene.solids[parent].at)
            back = np.zeros(4)
            mujoco.mju_negQuat(back, quats[parent])
            quat = np.zeros(4)
            mujoco.mju_mulQuat(quat, back, quats[i])
        body = (bodies[parent] if parent >= 0 else spec.worldbody).add_body(name=s.name, pos=at, quat=quat)
        geom = add_geom(body, scene, s.shape, s.size)
        if s.mass:
            geom.mass = s.mass
        if joint is None:
            body.add_freejoint()
        elif joint.kind == "spherical":
            body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL, pos=rotated_back(quats[i], joint.at - s.at))
        else:
            body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, pos=rotated_back(quats[i], joint.at - s.at),
                           axis=rotated_back(quats[i], joint.axis), stiffness=[joint.spring[0], 0, 0],
                           damping=[joint.spring[1], 0, 0], springref=joint.spring[2])
        bodies.append(body)
    for j in scene.joints:  # both leave out what a joint joins
        if j.parent >= 0:
            spec.add_exclude(bodyname1=scene.solids[j.parent].name, bodyname2=scene.solids[j.child].name)
    model = spec.compile()
    return model


def mujoco_start(scene, model):
    data = mujoco.MjData(model)
    for i, s in enumerate(scene.solids):
        if any(s.velocity):
            address = model.jnt_dofadr[model.body_jntadr[i + 1]]
            data.qvel[address:address + 3] = s.velocity
    return data


class Judge:
    """How deep solids overlap at given poses."""

    def __init__(self, scene):
        self.model = mujoco_model(scene, joints=False)
        self.data = mujoco.MjData(self.model)

    def deepest(self, positions, quats):
        self.data.qpos[:] = np.hstack([positions, quats]).ravel()
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_collision(self.model, self.data)
        return max(0.0, -min((self.data.contact.dist[k] for k in range(self.data.ncon)), default=0.0))
