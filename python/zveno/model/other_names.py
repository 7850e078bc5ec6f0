"""What other libraries call things: answers to attributes that a mechanism does not have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from inspect import getattr_static
from typing import TYPE_CHECKING, Final, NoReturn

from .. import _core
from .._check import _show

__all__ = [
    "MAKERS",
    "OTHER_NAMES",
    "Elsewhere",
    "MechanismType",
    "answer",
    "names_of",
    "of_module",
    "teach",
    "without_words",
    "word_of",
]

if TYPE_CHECKING:
    _CoreType = type
else:
    _CoreType = type(_core.Chain)  # of every class with a C++ base

_FK: Final = ("pose(q, link)", "forward_kinematics(strokes)")
_ID: Final = ("inverse_dynamics",)
_FD: Final = ("forward_dynamics",)
_BIAS: Final = ("bias(q, qd)",)
_GRAVITY: Final = ("inverse_dynamics(q, 0 * q, 0 * q)",)
_M: Final = ("mass_matrix",)
_J: Final = ("jacobian(q, link)", "jacobian")
_COUNT: Final = ("n", "nj (coordinates of a leg; the ring has 6)")
_IK: Final = ("ik(T)", "closure(r, R)")
_SAVE: Final = ("save(path)",)

# name elsewhere: texts, the first one whose first word the mechanism has is told
OTHER_NAMES: Final[dict[str, tuple[str, ...]]] = {
    # Pinocchio
    "rnea": _ID, "crba": _M, "aba": _FD, "nle": _BIAS, "nonLinearEffects": _BIAS, "nq": _COUNT, "nv": _COUNT,
    "njoints": _COUNT, "forwardKinematics": _FK, "framesForwardKinematics": ("poses(q)",), "oMf": ("poses(q)",),
    "oMi": ("poses(q)",), "updateFramePlacements": ("poses(q)",), "computeGeneralizedGravity": _GRAVITY,
    "computeFrameJacobian": ("jacobian(q, link, frame='link' or 'world')", "jacobian"), "getFrameJacobian": _J,
    "computeJointJacobian": _J, "computeJointJacobians": _J, "computeCoriolisMatrix": ("coriolis_matrix(q, qd)",),
    "computeJointJacobiansTimeVariation": ("jacobian_rate(q, qd, link)",), "computeRNEADerivatives": ("derivatives",),
    "computeJointTorqueRegressor": ("regressor(q, qd, qdd)",), "centerOfMass": ("com(q)",),
    "computeCentroidalMomentum": ("momentum(q, qd)", "momentum"), "computeKineticEnergy": ("kinetic_energy",),
    "computeCentroidalMap": ("momentum_matrix(q)",), "computePotentialEnergy": ("potential_energy",),
    "lowerPositionLimit": ("lower",), "upperPositionLimit": ("upper",), "velocityLimit": ("velocity_limit",),
    "upperVelocityLimit": ("velocity_limit",), "effortLimit": ("effort_limit",), "upperEffortLimit": ("effort_limit",),
    "armature": ("rotor_inertia",), "frames": ("link_names", "leg_names"), "names": ("joint_names", "leg_names"),
    "joints": ("joint_names", "leg_names"), "inertias": ("inertial_parameters", "platform"),
    "buildReducedModel": ("with_locked({joint: position})",), "computeTotalMass": ("total_mass",),
    "getJointJacobian": _J, "getFrameJacobianTimeVariation": ("jacobian_rate(q, qd, link)",),
    "getFrameVelocity": ("velocity(q, qd, link)",), "nbodies": ("links", "legs"), "ccrba": ("momentum_matrix(q)",),
    "getFrameClassicalAcceleration": ("acceleration(q, qd, qdd, link)",), "computeMinverse": ("inverse_mass_matrix",),
    "computeABADerivatives": ("forward_derivatives(q, qd, tau)",), "getFrameId": ("link_names", "leg_names"),
    "existFrame": ("link_names", "leg_names"), "getJointId": ("joint_names", "leg_names"),
    # MuJoCo
    "mj_inverse": _ID, "mj_forward": _FD, "mj_fullM": _M, "mj_rne": _BIAS, "mj_step": ("simulate(t_end, dt)",),
    "mj_jac": _J, "mj_jacBody": _J, "mj_kinematics": ("poses(q)", "forward_kinematics(strokes)"), "qM": _M,
    "qfrc_bias": _BIAS, "xpos": ("poses(q).positions",), "xmat": ("poses(q).rotations",), "njnt": _COUNT, "nu": _COUNT,
    "nbody": ("links", "legs"), "jnt_range": ("lower, upper",), "dof_armature": ("rotor_inertia",),
    "dof_damping": ("friction",), "body_mass": ("inertial_parameters", "platform"), "subtree_com": ("com(q)",),
    "mj_jacSite": _J, "xquat": ("poses(q).rotations",), "mj_energyPos": ("potential_energy",),
    "mj_energyVel": ("kinetic_energy",), "mj_saveLastXML": _SAVE, "step": ("simulate(t_end, dt)",),
    # roboticstoolbox
    "fkine": _FK, "fkine_all": ("poses(q)",), "jacob0": ("jacobian(q, link, frame='world')", "jacobian"),
    "jacobe": ("jacobian(q, link, frame='link')", "jacobian"), "jacob0_dot": ("jacobian_rate(q, qd, link)",),
    "rne": _ID, "accel": _FD, "inertia": _M, "coriolis": ("coriolis_matrix(q, qd)",), "gravload": _GRAVITY,
    "qlim": ("lower, upper",), "islimit": ("within_limits(q)",), "payload": ("with_payload(link, mass)",),
    "teach": ("plot(q)",), "tool": ("with_tool(T)",), "addTool": ("with_tool(T)",), "dhparams": ("to_dh()",),
    "ikine_LM": _IK, "ikine_GN": _IK, "ikine_NR": _IK, "ikine_QP": _IK, "ik_LM": _IK, "ik_GN": _IK, "ik_NR": _IK,
    "ikine_a": ("ik_all(T)",), "fdyn": ("simulate(t_end, dt)",), "paycap": ("payload_capacity",),
    "nlinks": ("links", "legs"), "base": ("base_name",),
    # Drake
    "CalcMassMatrix": _M, "CalcMassMatrixViaInverseDynamics": _M, "CalcInverseDynamics": _ID, "CalcBiasTerm": _BIAS,
    "CalcGravityGeneralizedForces": _GRAVITY, "CalcJacobianSpatialVelocity": _J, "CalcTotalMass": ("total_mass",),
    "CalcCenterOfMassPositionInWorld": ("com(q)",), "CalcPotentialEnergy": ("potential_energy",),
    "CalcKineticEnergy": ("kinetic_energy",), "EvalBodyPoseInWorld": _FK, "CalcRelativeTransform": _FK,
    "num_positions": _COUNT, "num_velocities": _COUNT, "num_joints": _COUNT, "num_bodies": ("links", "legs"),
    "GetPositionLowerLimits": ("lower",), "GetPositionUpperLimits": ("upper",), "gravity_field": ("gravity",),
    "GetVelocityUpperLimits": ("velocity_limit",), "GetEffortUpperLimits": ("effort_limit",),
    "GetBodyByName": ("links", "legs"), "GetJointByName": ("links", "legs"),
    "CalcJacobianTranslationalVelocity": ("jacobian(q, link)[:3]", "jacobian"), "CalcPoseInWorld": _FK,
    "GetFrameByName": ("link_names", "leg_names"),
    "CalcSpatialMomentumInWorldAboutPoint": ("momentum(q, qd)", "momentum"),
    # anybody
    "dof": _COUNT, "ndof": _COUNT, "dofs": _COUNT, "M": _M, "H": _M, "C": ("coriolis_matrix(q, qd)",),
    "G": _GRAVITY, "fk": _FK, "ik": ("closure(r, R)",), "inverse_kinematics": ("ik(T)", "closure(r, R)"),
    "jac": _J, "jacobian_dot": ("jacobian_rate(q, qd, link)",), "inertia_matrix": _M, "gravity_torque": _GRAVITY,
    "limits": ("lower, upper",), "joint_limits": ("lower, upper",), "links": ("legs",), "link_names": ("leg_names",),
    "pose": _FK[1:], "n": _COUNT[1:],
    "forward_kinematics": _FK, "mass": ("total_mass", "platform"), "bodies": ("links", "legs"),
    "linearize": ("linearise(q)",), "g": ("gravity",), "torque": _ID, "dump": _SAVE, "to_json": _SAVE, "write": _SAVE,
}  # fmt: skip

# where a linkage has another answer
OF_LINKAGES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("dof", "ndof", "dofs"), ("mobility(q).degrees",)),
    **dict.fromkeys(
        ("G", "gravload", "gravity_torque", "computeGeneralizedGravity", "CalcGravityGeneralizedForces"),
        ("inverse_dynamics(q, 0 * q, 0 * q, actuated)",),
    ),
    **dict.fromkeys(
        (
            "ik", "inverse_kinematics", "ikine_a", "ikine_LM", "ikine_GN", "ikine_NR", "ikine_QP",
            "ik_LM", "ik_GN", "ik_NR",
        ),
        ("close(q_guess, hold=joints)",),
    ),
    "nefc": ("m",), "efc_J": ("constraint_jacobian(q)",),
}  # fmt: skip

# what makes a model elsewhere
MAKERS: Final = {
    **dict.fromkeys(("buildModelFromUrdf", "RobotWrapper", "ERobot", "URDF", "from_urdf"), "Chain.from_urdf(path)"),
    **dict.fromkeys(("DHRobot", "SerialLink", "RevoluteDH", "from_dh"), "Chain.from_dh(rows)"),
    **dict.fromkeys(("MjModel", "from_xml_path"), "Linkage.from_mjcf(path)"),
    **dict.fromkeys(("Robot", "Model", "RobotModel", "Arm"), "Chain(links)"),
    **dict.fromkeys(("Stewart", "StewartPlatform", "Platform"), "Hexapod(platform, legs)"),
    **dict.fromkeys(("MultibodyPlant", "Parser", "read", "open"), "load(path)"),
}


def word_of(text: str) -> str:
    """The first name in a text of the table."""
    return re.split(r"\W", text, maxsplit=1)[0]


class Elsewhere:
    """A word of another library: there is no such attribute, and the error tells ours.

    A descriptor for each word, not `__getattr__`, which would make every call of a method a tenth slower.
    """

    def __init__(self, name: str, texts: tuple[str, ...], tree: type | None) -> None:
        self.name, self.texts, self.tree = name, texts, tree

    def __get__(self, instance: object, owner: type) -> NoReturn:
        text = f"{_show(owner.__name__)} object has no attribute {_show(self.name)}{self.told(owner)}"
        raise AttributeError(text, name=self.name, obj=instance)

    def told(self, owner: type) -> str:
        """The end of a message: the first of our words that the class has, or its tree."""
        ours = next((text for text in self.texts if _has(owner, text)), None)
        if ours is None and self.tree is not None:
            there = next((text for text in (self.name, *self.texts) if _has(self.tree, text)), None)
            ours = f"chain.{there}" if there else None
        return f": it is called `{ours}` here" if ours else ""


def _has(kind: type, text: str) -> bool:
    """Whether a class has the first name in a text, and not as a word of other libraries."""
    found = getattr_static(kind, word_of(text), None)
    return found is not None and not isinstance(found, Elsewhere)


def of_module(name: str, kinds: Iterable[type]) -> str:
    """The end of a message about a name that the package does not have: a maker, or a method of a mechanism."""
    if name in MAKERS:
        return f": it is called `{MAKERS[name]}` here"
    for kind in kinds:
        for word in (name, *OTHER_NAMES.get(name, ())):
            if not word.startswith("_") and _has(kind, word):
                return f": it is a method here, `{kind.__name__}.{word}`"
    return ""


def teach(kind: type, tree: type | None = None) -> None:
    """Make a class answer the words that it does not use itself, and those of the class of its attribute `chain`."""
    words = OTHER_NAMES
    if tree is not None:
        words = dict.fromkeys((x for x in dir(tree) if not x.startswith("_")), ()) | OTHER_NAMES | OF_LINKAGES
    for name, texts in words.items():
        if not hasattr(kind, name):
            setattr(kind, name, Elsewhere(name, texts, tree))


def answer(kind: type, name: str) -> str:
    """The end of a message about an attribute that a class does not have: what it is called here, or nothing."""
    found = getattr_static(kind, name, None)
    return found.told(kind) if isinstance(found, Elsewhere) else ""


def names_of(kind: type) -> list[str]:
    """The public names of a class and those of its tree."""
    words = (name for name, x in vars(kind).items() if isinstance(x, Elsewhere) and x.tree and _has(x.tree, name))
    return [*(name for name in dir(kind) if not name.startswith("_")), *words]


def without_words(kind: type, names: Iterable[str]) -> list[str]:
    """The names of attributes of a class or its objects that are no words of other libraries."""
    return [name for name in names if not isinstance(getattr_static(kind, name, None), Elsewhere)]


class MechanismType(_CoreType):
    """Type of mechanisms: ``dir``, ``help`` and completion of the class do not list the words of other libraries."""

    def __dir__(self) -> list[str]:
        return without_words(self, super().__dir__())
