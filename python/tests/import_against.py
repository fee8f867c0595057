"""Imported models against the programs whose files they are: masses, freedoms, centres of mass, accelerations.

What is smooth is compared: constraints are soft in MuJoCo and exact in limber, so contact, limits, dry friction and
equalities are taken off on both sides.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np

from limber import Scene
from limber.doors import _space


@dataclasses.dataclass
class Difference:
    """Of everything the largest over all poses, relative to what it is of."""

    mass: float = 0.0
    freedoms: tuple[int, int] = (0, 0)
    com: float = 0.0
    acceleration: float = 0.0
    poses: int = 0
    rounding: float = 0.0  #: what accelerations may be off: a rotor beside a body that is light against it

    @property
    def largest(self) -> float:
        return max(self.mass, self.com, self.acceleration, float(self.freedoms[0] != self.freedoms[1]))


@dataclasses.dataclass
class State:
    """Where a tree of joints is, and how it moves: by the names of the scene's joints; bodies that float by theirs."""

    positions: dict[str, list[float]]
    rates: dict[str, list[float]]


def smooth(tree: dict[str, Any], without: tuple[str, ...] = ("limits", "friction", "restitution"), keep: str = "_armature", start: bool = False) -> dict[str, Any]:
    """A scene without what is a constraint, bodies that float on joints of their own."""
    tree = copy.deepcopy(dict(tree))
    tree.pop("contact", None)
    tree.pop("loops", None)
    tree["couplings"] = {
        n: c for n, c in tree.get("couplings", {}).items() if n.endswith(("_armature", keep)) or "stiffness" in c
    }
    for part in ("springs", "cables"):
        tree[part] = {n: s for n, s in tree.get(part, {}).items() if not n.endswith("_limit")}
    for joint in tree.setdefault("joints", {}).values():
        for key in without:
            joint.pop(key, None)
    held = {j["child"] for j in tree["joints"].values() if j["type"] != "distance"}
    for name, body in tree.get("bodies", {}).items():
        if name not in held and not body.get("fixed"):
            tree["joints"][f"{name}_floats"] = {"type": "free", "child": name}
    tree["joints"] = {n: j for n, j in tree["joints"].items() if j["type"] != "distance"}
    tree["run"] = {"step": 1e-3}
    if "parameters" in tree and not start:
        tree["parameters"] = dict.fromkeys(tree["parameters"], 0)  # signals of actuators
    for key in ("couplings", "springs", "cables"):
        if not tree[key]:
            del tree[key]
    return tree


def moment(tree: dict[str, Any], state: State, bodies: list[str]) -> Any:
    """The scene at a state, with the accelerations of bodies among its probes."""
    tree = copy.deepcopy(tree)
    for name, joint in tree["joints"].items():
        of = name.removesuffix("_axle") if name not in state.positions else name
        if of in state.positions:
            joint["position"], joint["velocity"] = state.positions[of], state.rates[of]
    tree["probes"] = [f"{b}.{q}" for b in bodies for q in ("acceleration", "angular_acceleration", "angular_velocity")]
    return Scene(tree).simulate()


def centre_of_mass(tree: dict[str, Any], sim: Any) -> np.ndarray:
    total, sum_ = 0.0, np.zeros(3)
    for pose, name in zip(sim.poses, sim.bodies):
        body = tree["bodies"].get(name, {})
        mass = float(body.get("mass", 0.0))
        total += mass
        sum_ += mass * (pose[:3] + _space.from_quaternion(pose[3:]) @ np.asarray(body.get("com", [0, 0, 0]), dtype=float))
    return sum_ / total


def total_mass(tree: dict[str, Any]) -> float:
    return sum(float(b.get("mass", 0.0)) for b in tree.get("bodies", {}).values())


def accelerations(tree: Any, bodies: list[str]) -> np.ndarray:
    """Of the first moment, without contact, events and controllers, which MJCF does not have as they are here."""
    tree = copy.deepcopy(dict(tree))
    tree["probes"] = [{"name": f"p{k}{q}", "quantity": q, "on": b} for k, b in enumerate(bodies) for q in ("acceleration", "angular_acceleration")]
    tree["run"] = {"step": 1e-3}
    for key in ("contact", "events", "controllers"):
        tree.pop(key, None)
    sim = Scene(tree).simulate()
    return np.array([sim[p["name"]] for p in tree["probes"]])


def rotors(tree: dict[str, Any]) -> int:
    return sum(n.endswith("_armature") for n in tree.get("couplings", {}))


def against_mujoco(model: Any, imported: Any, poses: int = 10, seed: int = 1) -> Difference:
    import mujoco

    tree = smooth(imported.tree)
    bodies = {model.body(n).id: s for n, s in imported.names["bodies"].items()}
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= int(off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_FRICTIONLOSS | off.mjDSBL_EQUALITY)
    data, rng, out = mujoco.MjData(model), np.random.default_rng(seed), Difference(poses=poses)
    gravity = np.asarray(imported.tree.get("gravity", [0, 0, -9.81]))  # none where a flag says so
    mass = float(model.body_mass.sum())
    out.mass = abs(total_mass(tree) - mass) / max(mass, 1e-300)
    if not mass:
        return out
    own = np.maximum(model.dof_M0 - model.dof_armature, 1e-300)
    out.rounding = float((4e-16 * model.dof_armature / own).max(initial=0))
    for _ in range(poses):
        state = _random_mujoco(model, data, imported, bodies, tree, rng)
        mujoco.mj_forward(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        sim = moment(tree, state, list(bodies.values()))
        out.freedoms = (sim.dofs - rotors(tree), int(model.nv))
        reach = max(1.0, float(np.abs(data.xipos).max()))
        out.com = max(out.com, float(np.abs(centre_of_mass(tree, sim) - data.subtree_com[0]).max()) / reach)
        told, theirs = [], []
        for index, name in bodies.items():
            found = np.zeros(6)
            mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_XBODY, index, found, 0)
            theirs += [found[3:] + gravity, found[:3]]
            told += [sim[f"{name}.acceleration"], sim[f"{name}.angular_acceleration"]]
        size = max(1.0, float(np.abs(theirs).max()))
        out.acceleration = max(out.acceleration, float(np.abs(np.array(told) - theirs).max()) / size)
    return out


def against_pinocchio(file: Any, imported: Any, poses: int = 10, seed: int = 1) -> Difference:
    """Of a URDF that stands on the world. Joints that mimic others move with them on both sides."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(file))
    data = model.createData()
    tree = smooth(imported.tree, ("limits", "friction", "damping", "position"), "_mimic")
    names = imported.names["joints"]
    mimics = {c["mimic"][1]: (c["mimic"][0], c["ratio"], c.get("offset", 0)) for n, c in tree.get("couplings", {}).items() if n.endswith("_mimic")}
    rng, out = np.random.default_rng(seed), Difference(poses=poses)
    mass = sum(i.mass for i in model.inertias)
    out.mass = abs(total_mass(tree) - mass) / max(mass, 1e-300)
    links = {n: s for n, s in imported.names["bodies"].items() if model.existFrame(n, pin.BODY)}
    reduction, free = _reduction(model, names, mimics)
    for _ in range(poses):
        state = State({}, {})
        q, v = _random_pinocchio(model, names, mimics, free, state, rng)
        pin.crba(model, data, q)
        inertia = np.triu(data.M) + np.triu(data.M, 1).T
        bias = pin.nonLinearEffects(model, data, q, v)
        a = reduction @ np.linalg.solve(reduction.T @ inertia @ reduction, -reduction.T @ bias) if model.nv else np.zeros(0)
        pin.forwardKinematics(model, data, q, v, a)
        pin.updateFramePlacements(model, data)
        sim = moment(tree, state, list(links.values()))
        out.freedoms = (sim.dofs - rotors(tree), int(model.nv))
        com = sum(i.mass * data.oMi[n].act(i.lever) for n, i in enumerate(model.inertias)) / max(mass, 1e-300)
        out.com = max(out.com, float(np.abs(centre_of_mass(tree, sim) - com).max()))
        told, theirs = [], []
        for link, name in links.items():
            found = pin.getFrameClassicalAcceleration(model, data, model.getFrameId(link, pin.BODY), pin.LOCAL_WORLD_ALIGNED)
            theirs += [found.linear, found.angular]
            told += [sim[f"{name}.acceleration"], sim[f"{name}.angular_acceleration"]]
        size = max(1.0, float(np.abs(theirs).max()))
        out.acceleration = max(out.acceleration, float(np.abs(np.array(told) - theirs).max()) / size)
    return out


def _reduction(model: Any, names: Any, mimics: Any) -> tuple[np.ndarray, list[int]]:
    """Rates of all joints by those that do not mimic."""
    index = {names[n]: int(model.joints[k].idx_v) for k, n in enumerate(model.names) if k and n in names}
    free = [v for n, v in index.items() if n not in mimics]
    matrix = np.zeros((model.nv, len(free)))
    for n, v in index.items():
        factor = 1.0
        while n in mimics:
            n, ratio, _ = mimics[n]
            factor *= ratio
        matrix[v, free.index(index[n])] = factor
    return matrix, free


def _random_pinocchio(model: Any, names: Any, mimics: Any, free: list[int], state: State, rng: Any) -> tuple[np.ndarray, np.ndarray]:
    low, high = model.lowerPositionLimit, model.upperPositionLimit
    for k, n in enumerate(model.names):
        if k and names[n] not in mimics:
            at = int(model.joints[k].idx_q)
            reach = (-1.0, 1.0)
            if model.joints[k].nq == 1 and np.isfinite(low[at]) and low[at] < high[at] and high[at] - low[at] < 10:
                reach = (low[at], high[at])
            state.positions[names[n]], state.rates[names[n]] = [float(rng.uniform(*reach))], [float(rng.uniform(-1, 1))]
    for n in mimics:
        chain, leader = [], n
        while leader in mimics:
            chain.append(mimics[leader])
            leader = mimics[leader][0]
        x, rate = state.positions[leader][0], state.rates[leader][0]
        for _, ratio, offset in reversed(chain):
            x, rate = ratio * x + offset, ratio * rate
        state.positions[n], state.rates[n] = [x], [rate]
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    for k, n in enumerate(model.names):
        if k:
            joint, x = model.joints[k], state.positions[names[n]][0]
            q[joint.idx_q : joint.idx_q + joint.nq] = x if joint.nq == 1 else [np.cos(x), np.sin(x)]
            v[joint.idx_v] = state.rates[names[n]][0]
    return q, v


def _random_mujoco(model: Any, data: Any, imported: Any, bodies: dict[int, str], tree: dict[str, Any], rng: Any) -> State:
    """A pose within limits, and rates, on both sides."""
    import mujoco

    mujoco.mj_resetData(model, data)
    state = State({}, {})
    for j in range(model.njnt):
        q, v, kind = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j]), int(model.jnt_type[j])
        name = imported.names["joints"].get(model.jnt(j).name)
        if kind >= 2:  # a slide or a hinge
            low, high = model.jnt_range[j] if model.jnt_limited[j] else model.qpos0[q] + np.array([-1.0, 1.0]) * (1 if kind == 3 else 0.2)
            data.qpos[q], data.qvel[v] = rng.uniform(low, high), rng.uniform(-1, 1)
            if name:
                state.positions[name] = [float(data.qpos[q] - model.qpos0[q])]
                state.rates[name] = [float(data.qvel[v])]
            continue
        name = name or f"{bodies[int(model.jnt_bodyid[j])]}_floats"
        shift = rng.uniform(-1, 1, 3) if kind == 0 else np.zeros(0)
        turn, spin, drift = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3), rng.uniform(-1, 1, len(shift))
        at = q + len(shift)
        written = _space.from_quaternion(model.qpos0[at : at + 4])
        # limber's coordinates turn in the axes of the joint's frame, which are the world's with the bodies as written.
        frame = _written_rotation(tree, name)
        data.qpos[at : at + 4] = _space.to_quaternion(written @ frame.T @ _space.from_vector(turn) @ frame)
        data.qvel[v + len(shift) : v + len(shift) + 3] = frame.T @ spin
        if kind == 0:
            data.qpos[q : q + 3] = model.qpos0[q : q + 3] + shift
            data.qvel[v : v + 3] = drift
        state.positions[name] = [*turn, *shift]
        state.rates[name] = [*spin, *drift]
    return state


def _written_rotation(tree: dict[str, Any], joint: str) -> np.ndarray:
    """Of the joint's child in the world, as written."""
    turn = tree["bodies"][tree["joints"][joint]["child"]].get("rotate", [0, 0, 0])
    return _space.from_vector([float(x) for x in turn])
