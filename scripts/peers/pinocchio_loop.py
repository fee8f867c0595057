"""Trees of hinges with loops in Pinocchio: constraintDynamics (proximal), stepped by the classical Runge–Kutta rule.

The steps around it are Python. So Pinocchio's figure is that of its calls alone: their number times the time of one."""

import numpy as np
import pinocchio as pin

from measure import settle

NAME = f"Pinocchio {pin.__version__} RK4"
SETTINGS = (1e-12, 1e-10, 2)  # accuracy, proximal parameter, iterations
DRIFT_RATE = 1.0  # 1/s, at which a loop's gap is drawn together (Baumgarte): the best of 0, 1, 10, 50, … for the four-bar


class Mechanism:
    def __init__(self, gravity):
        self.model = pin.Model()
        self.model.gravity.linear = np.array(gravity, float)
        self.constraints = pin.StdVec_RigidConstraintModel()

    def hinge(self, parent, axis, at, mass, com, inertia):
        """A body on a hinge; `at` in the parent's frame, all frames parallel to the world's at the start."""
        joint = self.model.addJoint(parent, pin.JointModelRevoluteUnaligned(np.array(axis, float)),
                                    pin.SE3(np.eye(3), np.array(at, float)), f"j{self.model.njoints}")
        self.model.appendBodyToJoint(joint, pin.Inertia(mass, np.array(com, float), np.diag(inertia) if np.ndim(inertia) == 1 else inertia),
                                     pin.SE3.Identity())
        return joint

    def pin_together(self, a, at_a, b, at_b):
        place = [pin.SE3(np.eye(3), np.array(p, float)) for p in (at_a, at_b)]
        c = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, a, place[0], b, place[1], pin.ReferenceFrame.LOCAL)
        c.m_baumgarte_parameters.Kp, c.m_baumgarte_parameters.Kd = DRIFT_RATE**2, 2 * DRIFT_RATE
        self.constraints.append(c)

    def start(self):
        self.data = self.model.createData()
        self.constraint_data = pin.StdVec_RigidConstraintData()
        for c in self.constraints:
            self.constraint_data.append(c.createData())
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.constraint_data)
        self.settings = pin.ProximalSettings(*SETTINGS)
        self.zero = np.zeros(self.model.nv)

    def acceleration(self, q, v):
        return pin.constraintDynamics(self.model, self.data, q, v, self.zero, self.constraints, self.constraint_data, self.settings)

    def call_seconds(self):
        """Of one acceleration, near the start."""
        self.start()
        q = np.full(self.model.nq, 0.01)
        return settle(lambda: self.acceleration(q, q))

    def run(self, step, frames, steps_a_frame, observe):
        """From rest at q = 0, unlimited hinges (q is a vector): what observe(q) tells at every frame."""
        self.start()
        q, v = np.zeros(self.model.nq), np.zeros(self.model.nv)
        f, told = self.acceleration, [observe(q)]
        for _ in range(frames):
            for _ in range(steps_a_frame):
                a1 = f(q, v)
                v2 = v + 0.5 * step * a1
                a2 = f(q + 0.5 * step * v, v2)
                v3 = v + 0.5 * step * a2
                a3 = f(q + 0.5 * step * v2, v3)
                v4 = v + step * a3
                a4 = f(q + step * v3, v4)
                q = q + step / 6 * (v + 2 * v2 + 2 * v3 + v4)
                v = v + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
            told.append(observe(q))
        return np.array(told)
