"""Hexapods in Pinocchio and MuJoCo, modelled the way each of them is fastest.

A tree of joints is cut where a spherical joint is, wherever in the leg that may be, which leaves point constraints;
only UCU legs, which have none, are welded to the ring behind their last joint. Both engines get states that satisfy the
constraints, so the closure of the loops costs them nothing; neither computes the wrench on the base.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from reference import hexapod as hd

from .cut import SHARE, text, universal_angles
from .pinocchio import init_constraints, joint_model

Array = np.ndarray
TYPES = hd.TYPES
FORMS = ("free", "hung")


# ---- states -----------------------------------------------------------------------------------------------------


@dataclass
class States:
    """Rows of r, R, u, wrench, tau (actuated) as zveno takes them; p, pd close the loops; acceleration is u'."""

    r: Array
    R: Array
    u: Array
    wrench: Array
    tau: Array
    p: Array
    pd: Array
    acceleration: Array

    def __len__(self) -> int:
        return len(self.r)


def random_states(ref: hd.RefHexapod, count: int = 16, seed: int = 0, speed: float = 0.2) -> States:
    """States near the nominal pose with forces of the drives only, and u' by the reference."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        state = hd.random_state(rng, ref, speed=speed, passive_tau=False)
        result = hd.forward(ref, state)
        tau = hd.actuated(ref, state.tau)
        p, pd = result.joint_position, result.joint_velocity
        rows.append((state.r, state.R, state.u, state.wrench, tau, p, pd, result.acceleration))
    return States(*(np.array(column) for column in zip(*rows, strict=True)))


# ---- the tree ---------------------------------------------------------------------------------------------------


@dataclass
class Node:
    """A joint and the body it moves. kind: R, P, S (ball) or F (free); value: where its coordinate comes from."""

    name: str
    parent: int
    kind: str
    axis: Array
    R: Array
    x: Array
    value: tuple[Any, ...]
    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    armature: float = 0.0

    def carry(self, mass: float, com: Array, inertia: Array) -> Node:
        self.mass, self.com, self.inertia = mass, com, inertia
        return self


@dataclass
class Cut:
    """Two frames that coincide (weld) or whose origins do; node -1 is the base."""

    nodes: tuple[int, int]
    R: tuple[Array, Array]
    x: tuple[Array, Array]
    weld: bool


class Tree:
    """A hexapod cut open. form "free": the ring is a free body; "hung": it hangs on the first leg."""

    def __init__(self, ref: hd.RefHexapod, form: str = "free") -> None:
        self.ref, self.nodes, self.cuts = ref, [], []
        one, zero, hung = np.eye(3), np.zeros(3), form == "hung"
        legs = [(k, leg) for k, leg in enumerate(ref.legs) if k or not hung]
        # leg by leg, what stands on the base before the ring: in Pinocchio the joints of a subtree must be neighbours
        tips, welded = {}, {}
        for k, leg in legs:
            if leg.type != "SPU":
                tips[k] = self._chain(k, leg, 1 if leg.type == "RSU" else leg.n)
            if leg.type == "UCU":
                welded[k] = self._universal(k, leg, tips[k])
        rest = 1 - SHARE * len(welded)
        self.ring_R, self.ring_x = one, zero  # ring axes and centre of mass in the frame of the ring's node
        if hung:
            self._hang(ref.legs[0], rest * ref.m_C, rest * ref.I_C)
        else:
            ring = Node("ring", -1, "F", hd.X, one, zero, ("ring",))
            self.ring = self._add(ring.carry(rest * ref.m_C, zero, rest * ref.I_C))
        for k, leg in legs:
            if k in welded:
                com, turned = -leg.gamma_C @ leg.l_C, leg.gamma_C @ ref.I_C @ leg.gamma_C.T
                self.nodes[welded[k]].carry(SHARE * ref.m_C, com, SHARE * turned)
                frames, points = (one, self.ring_R @ leg.gamma_C.T), (zero, self._on_ring(leg.l_C))
                self.cuts.append(Cut((welded[k], self.ring), frames, points, True))
            elif leg.n == 3:
                self._cut((tips[k], self.ring), (leg.l_L, self._on_ring(leg.l_C)))
            else:
                self._from_ring(k, leg, tips.get(k))

    def _add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _cut(self, nodes: tuple[int, int], points: tuple[Array, Array]) -> None:
        self.cuts.append(Cut(nodes, (np.eye(3), np.eye(3)), points, False))

    def _on_ring(self, point: Array) -> Array:
        return self.ring_x + self.ring_R @ point

    def _chain(self, k: int, leg: hd.RefLeg, count: int) -> int:
        """The first joints of a leg, from the base."""
        parent = -1
        for j, (joint, body, (offset, gamma)) in enumerate(zip(leg.joints, leg.bodies, leg.before, strict=True)):
            if j == count:
                break
            node = Node(f"leg{k}_{j}", parent, "R" if joint.revolute else "P", joint.axis, gamma.T, offset, ("p", k, j))
            node.armature = leg.drives[j]
            parent = self._add(node.carry(body.m, body.d, body.I_com) if body.m else node)
        return parent

    def _universal(self, k: int, leg: hd.RefLeg, parent: int) -> int:
        """The U joint at the ring, from the leg's side."""
        y = self._add(Node(f"leg{k}_y", parent, "R", hd.Y, leg.gamma_L.T, leg.l_L, ("a", k)))
        return self._add(Node(f"leg{k}_z", y, "R", hd.Z, np.eye(3), np.zeros(3), ("b", k)))

    def _from_ring(self, k: int, leg: hd.RefLeg, crank: int | None) -> None:
        """SPU and RSU: the last link hangs on the ring; axes are reversed, so that coordinates keep their signs."""
        z = Node(f"leg{k}_z", self.ring, "R", -hd.Z, self.ring_R @ leg.gamma_C.T, self._on_ring(leg.l_C), ("b", k))
        y = Node(f"leg{k}_y", self._add(z), "R", -hd.Y, np.eye(3), np.zeros(3), ("a", k))
        turn, link = leg.gamma_L, leg.bodies[-1]  # link axes -> frame of its joint
        link_node = self._add(y.carry(link.m, turn @ (link.d - leg.l_L), turn @ link.I_com @ turn.T))
        if crank is None:
            housing = leg.bodies[2]
            place = -turn @ (leg.l_L + housing.l)
            slide = Node(f"leg{k}_3", link_node, "P", -hd.X, turn, place, ("p", k, 3), armature=leg.drives[3])
            tip = self._add(slide.carry(housing.m, housing.d, housing.I_com))
            self._cut((tip, -1), (np.zeros(3), leg.l_0))
        else:
            self._cut((link_node, crank), (-turn @ leg.l_L, leg.bodies[0].l))

    def _hang(self, leg: hd.RefLeg, mass: float, inertia: Array) -> None:
        tip = self._chain(0, leg, leg.n)
        if leg.n == 3:
            self.ring = self._add(Node("ring", tip, "S", hd.X, np.eye(3), leg.l_L, ("ball",)))
            self.ring_x = -leg.l_C
        else:
            self.ring = self._universal(0, leg, tip)
            self.ring_R, self.ring_x = leg.gamma_C, -leg.gamma_C @ leg.l_C
        self.nodes[self.ring].carry(mass, self.ring_x, self.ring_R @ inertia @ self.ring_R.T)

    def coordinates(self, states: States, row: int) -> list[tuple[Any, Any, float]]:
        """Position, rate and force of the drive of every node; a rotation and a vector for balls and free bodies."""
        R, u, out = states.R[row], states.u[row], []
        om = R @ u[3:]
        for node in self.nodes:
            what, *where = node.value
            if what == "ring":
                out.append(((R, states.r[row]), u, 0.0))
            elif what == "p":
                k, j = where
                drive = states.tau[row, k] if j == self.ref.legs[k].actuated else 0.0
                out.append((states.p[row, k, j], states.pd[row, k, j], drive))
            else:
                k = where[0] if where else 0
                leg = self.ref.legs[k]
                motion = hd.leg_kinematics(leg, states.p[row, k], states.pd[row, k])
                link, spin = motion.tau[-1].T, om - motion.om[-1]
                if what == "ball":
                    out.append((link.T @ R, R.T @ spin, 0.0))
                elif what == "a":
                    out.append((universal_angles(leg, link, R)[0], spin @ link @ leg.gamma_L[1], 0.0))
                else:
                    out.append((universal_angles(leg, link, R)[1], spin @ R @ leg.gamma_C[2], 0.0))
        return out


# ---- Pinocchio --------------------------------------------------------------------------------------------------


class Pinocchio:
    """constraintDynamics, and the loop-constrained articulated-body algorithm where Pinocchio has it (4.0)."""

    def __init__(self, tree: Tree, states: States, mu: float = 1e-6) -> None:
        self.tree = tree
        self.model, self.joints = self._build(tree)
        self.model.gravity.linear = tree.ref.g
        self.data = self.model.createData()
        self.constraints = pin.StdVec_RigidConstraintModel()
        for cut in tree.cuts:
            kind = pin.ContactType.CONTACT_6D if cut.weld else pin.ContactType.CONTACT_3D
            sides: list[Any] = []
            for node, R, x in zip(cut.nodes, cut.R, cut.x, strict=True):
                sides += [self.joints[node][0] if node >= 0 else 0, pin.SE3(R, x)]
            self.constraints.append(pin.RigidConstraintModel(kind, self.model, *sides, pin.ReferenceFrame.LOCAL))
        # one for each function: what lcaba leaves behind spoils constraintDynamics
        self.datas, self.lcaba_datas = pin.StdVec_RigidConstraintData(), pin.StdVec_RigidConstraintData()
        for constraint in self.constraints:
            self.datas.append(constraint.createData())
            self.lcaba_datas.append(constraint.createData())
        init_constraints(self.model, self.data, self.constraints, self.datas)
        self.settings = pin.ProximalSettings(1e-14, 0.0, 1)
        self.lcaba_data = None
        if hasattr(pin, "lcaba"):
            self.lcaba_data = self.model.createData()
            self.lcaba_settings = pin.ProximalSettings(1e-10, mu, 5)
            pin.computeJointMinimalOrdering(self.model, self.lcaba_data, self.constraints)
        rows = [self._state(states, row) for row in range(len(states))]
        self.q, self.v, self.tau = (np.array(column) for column in zip(*rows, strict=True))

    @staticmethod
    def _build(tree: Tree) -> tuple[Any, list[tuple[int, int]]]:
        """Model, and for each node its joint and the place in it; two axes without a body between are one joint."""
        model, joints = pin.Model(), []
        armature: dict[int, float] = {}
        waiting: tuple[int, Node] | None = None
        for index, node in enumerate(tree.nodes):
            place = pin.SE3(node.R, node.x)
            following = tree.nodes[index + 1] if index + 1 < len(tree.nodes) else None
            if waiting is not None:
                first = waiting[1]
                joint = pin.JointModelUniversal(first.axis, node.axis)
                parent, place, offset, name = first.parent, pin.SE3(first.R, first.x), 1, first.name
                waiting = None
            elif (
                node.kind == "R" and node.mass == 0 and following is not None and following.parent == index
                and following.kind == "R" and node.axis @ following.axis == 0 and hasattr(pin, "JointModelUniversal")
                and np.array_equal(following.R, np.eye(3)) and not np.any(following.x)
            ):  # fmt: skip
                waiting = index, node
                joints.append((model.njoints, 0))
                continue
            else:
                joint, parent, offset, name = _pin_joint(node), node.parent, 0, node.name
            made = model.addJoint(joints[parent][0] if parent >= 0 else 0, joint, place, name)
            if node.mass:
                model.appendBodyToJoint(made, pin.Inertia(node.mass, node.com, node.inertia), pin.SE3.Identity())
            joints.append((made, offset))
            if node.armature:
                armature[model.joints[made].idx_v + offset] = node.armature
        values = np.zeros(model.nv)
        for at, value in armature.items():
            values[at] = value
        model.armature = values
        return model, joints

    def _state(self, states: States, row: int) -> tuple[Array, Array, Array]:
        model = self.model
        q, v, tau = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        coordinates = self.tree.coordinates(states, row)
        for node, (joint, offset), (position, rate, drive) in zip(
            self.tree.nodes, self.joints, coordinates, strict=True
        ):
            at_q, at_v = model.joints[joint].idx_q + offset, model.joints[joint].idx_v + offset
            if node.kind == "F":
                R, r = position
                q[at_q : at_q + 7] = pin.SE3ToXYZQUAT(pin.SE3(R, r))
                v[at_v : at_v + 6] = np.concatenate([R.T @ rate[:3], rate[3:]])
            elif node.kind == "S":
                q[at_q : at_q + 4] = pin.Quaternion(position).coeffs()
                v[at_v : at_v + 3] = rate
            else:
                q[at_q], v[at_v], tau[at_v] = position, rate, drive
        joint = self.joints[self.tree.ring][0]
        J = pin.computeJointJacobian(model, self.data, q, joint)
        centre = pin.SE3(self.tree.ring_R, self.tree.ring_x).toActionMatrixInverse() @ J
        R = states.R[row]
        return q, v, tau + centre.T @ np.concatenate([R.T @ states.wrench[row, :3], states.wrench[row, 3:]])

    def ring_acceleration(self, row: int, acc: Array) -> Array:
        """u' from joint accelerations."""
        pin.forwardKinematics(self.model, self.data, self.q[row], self.v[row], acc)
        joint, place = self.joints[self.tree.ring][0], pin.SE3(self.tree.ring_R, self.tree.ring_x)
        a, v = place.actInv(self.data.a[joint]), place.actInv(self.data.v[joint])
        R = (self.data.oMi[joint] * place).rotation
        return np.concatenate([R @ (a.linear + np.cross(v.angular, v.linear)), a.angular])

    def calls(self, row: int = 0) -> Iterator[tuple[str, Callable[[], Array]]]:
        """Functions without arguments that return the joint accelerations of one state."""
        args = self.model, self.data, self.q[row].copy(), self.v[row].copy(), self.tau[row].copy(), self.constraints
        yield "constraintDynamics", lambda: pin.constraintDynamics(*args, self.datas, self.settings)
        if self.lcaba_data is not None:
            more = self.model, self.lcaba_data, *args[2:], self.lcaba_datas, self.lcaba_settings
            yield "lcaba", lambda: pin.lcaba(*more)

    def loops(self) -> Iterator[tuple[str, Callable[[], Array]]]:
        """The same for all states, a loop in Python, results gathered in one array."""
        forms = {"constraintDynamics": (pin.constraintDynamics, self.data, self.datas, self.settings)}
        if self.lcaba_data is not None:
            forms["lcaba"] = pin.lcaba, self.lcaba_data, self.lcaba_datas, self.lcaba_settings
        for name, (function, data, *rest) in forms.items():

            def loop(function: Any = function, data: Any = data, rest: Any = rest) -> Array:
                out = np.empty_like(self.v)
                for k, (q, v, tau) in enumerate(zip(self.q, self.v, self.tau, strict=True)):
                    out[k] = function(self.model, data, q, v, tau, self.constraints, *rest)
                return out

            yield name, loop

    def deviation(self, states: States, result: Array) -> float:
        """Of the ring accelerations of all states from the reference, relative to the largest."""
        got = np.array([self.ring_acceleration(row, acc) for row, acc in enumerate(result)])
        return float(np.abs(got - states.acceleration).max() / np.abs(states.acceleration).max())

    def write(self, states: States, path: Path) -> None:
        """Model, constraints, states and accelerations as plain numbers, the input of bench/cpp/hexapod_pinocchio."""
        model, lines = self.model, []
        expected = next(self.loops())[1]()
        if not self.deviation(states, expected) < 1e-9:
            raise SystemExit("hexapods: Pinocchio does not agree with the reference")
        lines.append(f"{model.njoints - 1} {len(self.tree.cuts)} {len(states)} {text(self.tree.ref.g)}")
        kinds: dict[int, list[Node]] = {}
        for node, (joint, _) in zip(self.tree.nodes, self.joints, strict=True):
            kinds.setdefault(joint, []).append(node)
        for joint in range(1, model.njoints):
            nodes, body, place = kinds[joint], model.inertias[joint], model.jointPlacements[joint]
            kind = "U" if len(nodes) == 2 else nodes[0].kind
            numbers = text(nodes[0].axis, nodes[-1].axis, place.rotation, place.translation)
            inertia = text(body.mass, body.lever, body.inertia)
            lines.append(f"{model.parents[joint]} {kind} {numbers} {inertia}")
        lines.append(text(model.armature))
        for c in self.constraints:
            places = (c.joint1_placement, c.joint2_placement)
            numbers = [text(place.rotation, place.translation) for place in places]
            weld = int(c.type == pin.ContactType.CONTACT_6D)
            lines.append(f"{weld} {c.joint1_id} {numbers[0]} {c.joint2_id} {numbers[1]}")
        for values in (self.q, self.v, self.tau, expected):
            lines += [text(row) for row in values]
        path.write_text("\n".join(lines) + "\n")


def _pin_joint(node: Node) -> Any:
    if node.kind in "FS":
        return pin.JointModelFreeFlyer() if node.kind == "F" else pin.JointModelSpherical()
    return joint_model(node.kind, node.axis)


# ---- MuJoCo -----------------------------------------------------------------------------------------------------

SOFT: dict[str, str] = {}  # MuJoCo's defaults
STIFF = {"solimp": "0.9999 0.9999 0.001 0.5 2"}


class MuJoCo:
    """mj_forward; its constraints are soft, so that it agrees to 1e-3 at best, and to 0.1 with the default softness."""

    def __init__(self, tree: Tree, states: States, *, stiff: bool = True, **options: str) -> None:
        self.tree = tree
        self.model = mujoco.MjModel.from_xml_string(self._xml(tree, STIFF if stiff else SOFT, options))
        self.data = mujoco.MjData(self.model)
        rows = [self._state(states, row) for row in range(len(states))]
        self.q, self.v, self.tau = (np.array(column) for column in zip(*rows, strict=True))

    @staticmethod
    def _xml(tree: Tree, softness: dict[str, str], options: dict[str, str]) -> str:
        root = ElementTree.Element("mujoco")
        compiler = {"angle": "radian", "inertiafromgeom": "false", "boundmass": "0"}
        ElementTree.SubElement(root, "compiler", **compiler)
        option = ElementTree.SubElement(root, "option", gravity=text(tree.ref.g), **options)
        ElementTree.SubElement(option, "flag", contact="disable")
        world = ElementTree.SubElement(root, "worldbody")
        bodies: list[Any] = []
        for index, node in enumerate(tree.nodes):
            parent = world if node.parent < 0 else bodies[node.parent]
            merged = node.parent == index - 1 and index > 0 and tree.nodes[index - 1].mass == 0
            if merged:  # several joints in one body
                body = parent
            else:
                place = {"pos": text(node.x), "xyaxes": text(node.R[:, 0], node.R[:, 1])}
                body = ElementTree.SubElement(parent, "body", **place)
            if node.mass:
                full = node.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
                inertial = {"pos": text(node.com), "mass": repr(node.mass), "fullinertia": text(full)}
                ElementTree.SubElement(body, "inertial", **inertial)
            if node.kind == "F":
                ElementTree.SubElement(body, "freejoint", name=node.name)
            else:
                kind = {"R": "hinge", "P": "slide", "S": "ball"}[node.kind]
                extra = {} if kind == "ball" else {"axis": text(node.axis)}
                armature = repr(float(node.armature))
                ElementTree.SubElement(body, "joint", name=node.name, type=kind, armature=armature, **extra)
            bodies.append(body)
        equality = ElementTree.SubElement(root, "equality")
        for k, cut in enumerate(tree.cuts):
            for side, (node, R, x) in enumerate(zip(cut.nodes, cut.R, cut.x, strict=True)):
                body = bodies[node] if node >= 0 else world
                place = {"pos": text(x), "xyaxes": text(R[:, 0], R[:, 1])}
                ElementTree.SubElement(body, "site", name=f"s{k}_{side}", **place)
            kind = "weld" if cut.weld else "connect"
            ElementTree.SubElement(equality, kind, site1=f"s{k}_0", site2=f"s{k}_1", **softness)
        return ElementTree.tostring(root, encoding="unicode")

    def _state(self, states: States, row: int) -> tuple[Array, Array, Array]:
        model, data = self.model, self.data
        q, v, tau = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        quat = np.empty(4)
        for node, (position, rate, drive) in zip(self.tree.nodes, self.tree.coordinates(states, row), strict=True):
            joint = model.joint(node.name)
            at_q, at_v = joint.qposadr[0], joint.dofadr[0]
            if node.kind == "F":
                R, r = position
                mujoco.mju_mat2Quat(quat, R.ravel())
                q[at_q : at_q + 7], v[at_v : at_v + 6] = np.concatenate([r, quat]), rate
            elif node.kind == "S":
                mujoco.mju_mat2Quat(quat, position.ravel())
                q[at_q : at_q + 4], v[at_v : at_v + 3] = quat, rate
            else:
                q[at_q], v[at_v], tau[at_v] = position, rate, drive
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        body = model.jnt_bodyid[model.joint(self.tree.nodes[self.tree.ring].name).id]
        J = np.empty((2, 3, model.nv))
        mujoco.mj_jac(model, data, J[0], J[1], states.r[row], body)
        moment = states.R[row] @ states.wrench[row, 3:]
        return q, v, tau + J[0].T @ states.wrench[row, :3] + J[1].T @ moment

    def ring_acceleration(self, row: int) -> Array:
        """u' of the state just evaluated."""
        model, data = self.model, self.data
        body = model.jnt_bodyid[model.joint(self.tree.nodes[self.tree.ring].name).id]
        J, rate = np.empty((2, 3, model.nv)), np.empty((2, 3, model.nv))
        R = data.xmat[body].reshape(3, 3) @ self.tree.ring_R
        centre = data.xpos[body] + data.xmat[body].reshape(3, 3) @ self.tree.ring_x
        mujoco.mj_jac(model, data, J[0], J[1], centre, body)
        mujoco.mj_jacDot(model, data, rate[0], rate[1], centre, body)
        linear, angular = J @ data.qacc + rate @ data.qvel
        return np.concatenate([linear, R.T @ angular])

    def set(self, row: int) -> None:
        """A state, without a guess of the solution."""
        self.data.qpos[:], self.data.qvel[:], self.data.qfrc_applied[:] = self.q[row], self.v[row], self.tau[row]
        self.data.qacc_warmstart[:] = 0

    def call(self, row: int = 0) -> Callable[[], Array]:
        """Function without arguments that returns the joint accelerations of one state."""
        self.set(row)
        model, data = self.model, self.data

        def run() -> Array:
            mujoco.mj_forward(model, data)
            return data.qacc

        return run

    def loop(self) -> Callable[[], Array]:
        """The same for all states, a loop in Python; each starts from the solution before, as in a simulation."""
        model, data = self.model, self.data

        def run() -> Array:
            out = np.empty_like(self.v)
            for k, (q, v, tau) in enumerate(zip(self.q, self.v, self.tau, strict=True)):
                data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
                mujoco.mj_forward(model, data)
                out[k] = data.qacc
            return out

        return run

    @property
    def iterations(self) -> int:
        """Of the solver in the last evaluation."""
        return int(self.data.solver_niter[0])

    def deviation(self, states: States) -> float:
        """Of the ring accelerations of all states from the reference, relative to the largest."""
        got = []
        for row in range(len(states)):
            self.call(row)()
            got.append(self.ring_acceleration(row))
        return float(np.abs(np.array(got) - states.acceleration).max() / np.abs(states.acceleration).max())
