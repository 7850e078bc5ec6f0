"""`Chain`: an open chain or tree of links. The numbers are worked out by the C++ base class."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NoReturn, Self, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._check import (
    Array,
    _is_name,
    _show,
    as_amount,
    as_array,
    as_choice,
    as_flag,
    as_list,
    as_path,
    called,
    did_you_mean,
    frozen,
    report,
)
from .._rotation import applied, as_pose, shape_of
from ..dynamics.equilibrium import equilibrium as _equilibrium
from ..dynamics.equilibrium import holding_torque as _holding_torque
from ..dynamics.linear import linearise as _linearise
from ..dynamics.section_loads import load_diagram as _load_diagram
from ..dynamics.section_loads import load_envelope as _load_envelope
from ..dynamics.statics import joint_forces as _joint_forces
from ..dynamics.statics import payload_capacity as _payload_capacity
from ..dynamics.statics import statics as _statics
from ..errors import ModelError
from ..identification.calls import base_parameters as _base_parameters
from ..kinematics.arms import ik as _ik
from ..kinematics.arms import ik_all as _ik_all
from ..kinematics.rates import inverse_acceleration as _inverse_acceleration
from ..kinematics.rates import inverse_velocity as _inverse_velocity
from ..kinematics.rates import manipulability as _manipulability
from ..kinematics.scan import workspace as _workspace
from ..opcount import operations as _operations
from ..sim.chain import simulate_chain
from . import dh
from .link import KINDS, Link
from .mechanism import Mechanism
from .other_names import MechanismType
from .proportions import chain_doubts
from .reduced import LinkPoses, locked_links, path_links
from .time_derivatives import time_derivatives as _time_derivatives

if TYPE_CHECKING:
    from ..codegen.function import CompiledFunction, TraceOptions
    from ..results import Derivatives, ForwardDerivatives, LinkageDynamics, SecondDerivatives
    from .constraint import Constraint
    from .linkage import Linkage

__all__ = ["Chain"]

GRAVITY: Final = (0.0, 0.0, -9.81)
_HTML_ROWS: Final = 60


class Chain(Mechanism, _core.Chain, metaclass=MechanismType):
    """An open chain or tree of rigid links on a fixed base. Immutable; may be shared by threads.

    Joint coordinates q follow the order of the moving joints in `links`. The world frame is the base frame.

    Parameters
    ----------
    links : iterable of Link
        In any order; parents may come after their children.
    gravity : (3,) array, m/s^2
        In base axes.
    name, base : str
        Names of the mechanism and of its base.
    strict : bool
        Raise `ModelError` for suspicious data (see `suspicions`) instead of a `ModelWarning`.

    Raises
    ------
    ModelError
        Duplicate or unknown names, cycles, negative mass, an inertia that no body has, no moving joint.

    Examples
    --------
    >>> arm = Chain([Link("l1", mass=1.0, com=(0.5, 0, 0)), Link("l2", position=(1, 0, 0), mass=1.0, com=(0.5, 0, 0))])
    >>> arm
    Chain 'chain': 2 joints (2 revolute), 2 links, 2.0 kg
    """

    _format = "zveno.chain"
    _fields = ("name", "base", "gravity", "links")
    _parts: ClassVar = {"links": Link}
    _many = "links"
    _part = "joint"

    def __init__(
        self,
        links: Iterable[Link],
        *,
        gravity: ArrayLike = GRAVITY,
        name: str = "chain",
        base: str = "base",
        strict: bool = False,
    ) -> None:
        self._assemble(name, base, gravity, links)
        report([text for _, text in self.suspicions], f"Chain '{name}'", strict)

    operations = _operations
    simulate = simulate_chain
    load_diagram = _load_diagram
    load_envelope = _load_envelope
    time_derivatives = _time_derivatives
    linearise = _linearise
    equilibrium = _equilibrium
    holding_torque = _holding_torque
    ik = _ik
    ik_all = _ik_all
    inverse_velocity = _inverse_velocity
    inverse_acceleration = _inverse_acceleration
    manipulability = _manipulability
    workspace = _workspace
    joint_forces = _joint_forces
    statics = _statics
    payload_capacity = _payload_capacity
    base_parameters = _base_parameters

    if TYPE_CHECKING:

        @overload
        def compile(self, function: _core._ChainArrays, **options: Unpack[TraceOptions]) -> CompiledFunction[Array]: ...
        @overload
        def compile(
            self, function: _core._ChainNumbers, **options: Unpack[TraceOptions]
        ) -> CompiledFunction[float | Array]: ...
        @overload
        def compile(
            self, function: Literal["derivatives"], **options: Unpack[TraceOptions]
        ) -> CompiledFunction[Derivatives]: ...
        @overload
        def compile(
            self, function: Literal["forward_derivatives"], **options: Unpack[TraceOptions]
        ) -> CompiledFunction[ForwardDerivatives]: ...
        @overload
        def compile(
            self, function: Literal["second_derivatives"], **options: Unpack[TraceOptions]
        ) -> CompiledFunction[SecondDerivatives]: ...
        @overload
        def compile(self, function: str, **options: Unpack[TraceOptions]) -> CompiledFunction[Any]: ...
        def compile(self, function: str, **options: Unpack[TraceOptions]) -> CompiledFunction[Any]: ...

    def _assemble(self, name: str, base: str, gravity: ArrayLike, links: Iterable[Link]) -> None:
        """Check the arguments, resolve parents, build the C++ model."""
        self._require_new()
        for key, text in (("name", name), ("base", base)):
            if not _is_name(text):
                raise ModelError(f"Chain: {key} is {_show(text)}, expected a non-empty string")

        def fail(text: str) -> NoReturn:
            raise ModelError(f"Chain {_show(name)}: {text}")

        listed = as_list(links)
        if listed is None:
            fail(f"links is {_show(links)}, expected a list of Link")
        resolved: list[Link] = []
        previous = base
        for item in listed:
            if not isinstance(item, Link):
                fail(f"links[{len(resolved)}] is {_show(item)}, expected a Link")
            resolved.append(item._child_of(item.parent or previous))
            previous = item.name
        names = {base, *(link.name for link in resolved)}
        for link in resolved:
            if link.parent not in names:
                text = f"unknown parent {_show(link.parent)}{did_you_mean(link.parent, names - {link.name})}"
                raise ModelError(f"link {_show(link.name)}: {text}", link.name)
        g = as_array(gravity, fail, "gravity", (3,))
        _core.Chain.__init__(self, name, base, g, resolved)
        self._links = tuple(resolved)
        self._moving = tuple(link for link in resolved if link.joint != "fixed")
        self._name, self._base, self._gravity = name, base, g

    @overload
    @classmethod
    def from_urdf(
        cls,
        source: str | os.PathLike[str] | bytes,
        *,
        gravity: ArrayLike = GRAVITY,
        name: str | None = None,
        friction: bool = False,
        snap: float = 1e-11,
        strict: bool = False,
        mimic: Literal["free"] = "free",
    ) -> Self: ...
    @overload
    @classmethod
    def from_urdf(
        cls,
        source: str | os.PathLike[str] | bytes,
        *,
        gravity: ArrayLike = GRAVITY,
        name: str | None = None,
        friction: bool = False,
        snap: float = 1e-11,
        strict: bool = False,
        mimic: Literal["couple"],
    ) -> Linkage: ...
    @classmethod
    def from_urdf(
        cls,
        source: str | os.PathLike[str] | bytes,
        *,
        gravity: ArrayLike = GRAVITY,
        name: str | None = None,
        friction: bool = False,
        snap: float = 1e-11,
        strict: bool = False,
        mimic: Literal["free", "couple"] = "free",
    ) -> Self | Linkage:
        """Read a URDF file, or XML text.

        Parameters
        ----------
        source : path, or str or bytes with the XML itself
            A str whose first visible character is ``<`` is XML text, any other a path.
        gravity : (3,) array, m/s^2
        name : str, optional
            Default: the robot's name in the file.
        friction : bool
            Apply ``<dynamics damping>`` as viscous friction. By default it is not applied, as in Pinocchio's ``rnea``.
        snap : float, rad
            Roll, pitch and yaw angles no further than this from a multiple of 90 degrees are taken to be it: exact
            zeros make generated code much shorter. The default covers files that print 1.57079632679; many print
            1.5708, which takes ``snap=1e-5``.
        strict : bool
            Raise `ModelError` wherever a `ModelWarning` would be emitted; only that a root link with mass is fixed to
            the world stays a warning.
        mimic : {"free", "couple"}
            Mimic joints are independent ones, or coupled: the result is then a `Linkage`, as of `Linkage.from_urdf`.

        Returns
        -------
        chain : Chain
            The base is the root link; joints are in depth-first order, children in the order of the document.

        Notes
        -----
        Read: revolute, continuous, prismatic and fixed joints, origins, axes, limits, damping, inertials. A mimic
        joint becomes an independent joint. Transmissions, Coulomb friction, meshes, materials, collision shapes,
        safety controllers and extensions are ignored; those that matter for dynamics are named in a `ModelWarning`.
        Floating and planar joints are a `ModelError`: the base is fixed. A root link with mass is named in the warning:
        the world carries it, so its mass enters no result.

        Small mistakes of real files are mended, and the warning names line, element and number: limits in the wrong
        order are exchanged, a negative eigenvalue of an inertia and absent products of inertia become zero, an element
        that stands twice with the same content counts once, what is left of xacro is ignored. NaN, a negative mass and
        two different elements where one is expected are errors.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> text = '''<robot name="swing"><link name="ground"/>
        ... <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
        ... <inertia ixx="0.2" iyy="0.2" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
        ... <joint name="hinge" type="continuous"><parent link="ground"/><child link="rod"/><axis xyz="0 1 0"/></joint>
        ... </robot>'''
        >>> arm = zv.Chain.from_urdf(text)  # or a path
        >>> arm.inverse_dynamics([np.pi / 2], [0], [0]).round(2)  # 0.5 m * 2 kg * g
        array([9.81])
        """
        from . import urdf

        def fail(text: str) -> NoReturn:
            raise ValueError(f"from_urdf: {text}")

        if as_choice(mimic, fail, "mimic", ("free", "couple")) == "couple":
            from .linkage import Linkage

            return Linkage.from_urdf(source, gravity=gravity, name=name, friction=friction, snap=snap, strict=strict)
        return urdf.read(cls, source, gravity=gravity, name=name, friction=friction, snap=snap, strict=strict)

    @classmethod
    def from_dh(
        cls,
        rows: Iterable[Sequence[float]],
        *,
        convention: str = "standard",
        joints: str | Sequence[str] = "revolute",
        masses: ArrayLike | None = None,
        coms: ArrayLike | None = None,
        inertias: Sequence[ArrayLike] | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
        rotor_inertia: ArrayLike | None = None,
        friction: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        rest: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        base_pose: ArrayLike | None = None,
        tool_pose: ArrayLike | None = None,
        tool: str = "tool",
        gravity: ArrayLike = GRAVITY,
        name: str = "chain",
        base: str = "base",
        strict: bool = False,
    ) -> Self:
        """Build a serial chain from Denavit-Hartenberg rows ``(theta0, d, a, alpha)``, rad and m.

        With q added to theta0 (revolute) or to d (prismatic), frame i in frame i-1 is
        ``Rz(theta) Tz(d) Tx(a) Rx(alpha)`` ("standard": the joint axis is z of frame i-1, frame i sits at the far
        end of link i) or ``Rx(alpha) Tx(a) Rz(theta) Tz(d)`` ("modified", Craig: the joint axis is z of frame i).

        Parameters
        ----------
        rows : n rows of four numbers
            In a "modified" row a and alpha are those usually written with index i-1.
        joints : "revolute", "prismatic" or a sequence of n of them
        masses : (n,) array, kg
        coms : (n, 3) array, m
            Centres of mass in DH frame i.
        inertias : n inertias, kg m^2
            About the centre of mass, in the axes of DH frame i; each as in `Link`.
        lower, upper, velocity, effort, rotor_inertia, friction, stiffness, rest : (n,) arrays
            As in `Link`.
        names : n link names
            Default: ``link1 ... linkn``.
        base_pose, tool_pose : (4, 4) arrays
            Homogeneous: DH frame 0 in the base, the tool frame in DH frame n. Default: identity.
        tool : str
            Name of the massless fixed link that carries the tool frame.

        Returns
        -------
        chain : Chain
            n moving links and the tool. The frame of a link is at its joint: in the standard convention link i has
            the origin of DH frame i-1 and turns with link i, and ``com`` and ``inertia`` of ``chain.links`` are
            expressed there; in the modified one it is DH frame i. ``chain.pose(q, tool)`` is DH frame n times
            `tool_pose` in both.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> rows = [(0, 0.4, 0.3, 0), (0, 0, 0.25, np.pi), (0, 0, 0, 0)]  # theta0, d, a, alpha
        >>> scara = zv.Chain.from_dh(rows, joints=["revolute", "revolute", "prismatic"], masses=[3.0, 2.0, 1.0])
        >>> scara.pose([0, 0, 0.1], "tool")[:3, 3].round(3) + 0.0
        array([0.55, 0.  , 0.3 ])
        >>> rest = np.zeros(3)
        >>> scara.inverse_dynamics(rest, rest, rest).round(2) + 0.0  # only the slide carries weight
        array([ 0.  ,  0.  , -9.81])
        """

        def fail(text: str) -> NoReturn:
            raise ModelError(f"from_dh: {text} for chain {_show(name)}")

        columns: dict[str, Any] = {
            "name": names,
            "joint": joints,
            "mass": masses,
            "com": coms,
            "inertia": inertias,
            "lower": lower,
            "upper": upper,
            "velocity": velocity,
            "effort": effort,
            "rotor_inertia": rotor_inertia,
            "friction": friction,
            "stiffness": stiffness,
            "rest": rest,
        }
        links = dh.dh_links(rows, convention, columns, base_pose, tool_pose, tool, fail)
        chain = cls._made(name=name, base=base, gravity=gravity, links=links)
        report([text for _, text in chain.suspicions], f"Chain '{name}'", strict)
        return chain

    def to_dh(
        self, convention: str = "standard", *, tool: str | None = None, parallel: float = 1e-11
    ) -> dh.DHParameters:
        """Denavit-Hartenberg rows of a serial chain, and everything else that `from_dh` needs to make it again.

        Every serial chain has such rows, whatever its axes: frames are moved along the axes and about them until they
        fit, and inertias are moved with them. Between axes that cross or are skew x runs along the common normal
        towards the next axis; between parallel ones d = 0; the standard convention leaves its last row zero, and base
        and tool poses take what is left at both ends.

        Parameters
        ----------
        convention : {"standard", "modified"}
            As in `from_dh`.
        tool : str, optional
            Link whose frame is the tool's; it is fixed to the last moving one. Default: the last such link without
            others on it, else the last moving link itself.
        parallel : float, rad
            Axes no further than this from parallel are taken to be it.

        Returns
        -------
        parameters : DHParameters
            ``Chain.from_dh(**parameters._asdict())`` has the same poses of the tool, mass matrix, torques and limits.
            Masses of fixed links are added to the moving ones that carry them; those on the base are left out, they
            load nothing else.

        Raises
        ------
        ModelError
            A chain that branches, or whose links are not listed in the order in which they carry each other.

        Warns
        -----
        ModelWarning
            Axes that are nearly parallel: their common normal is far away and loses digits.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> table = arm.to_dh()
        >>> np.array(table.rows).round(3)  # theta0, d, a, alpha
        array([[0., 0., 1., 0.],
               [0., 0., 0., 0.]])
        >>> again = zv.Chain.from_dh(**table._asdict())
        >>> q = np.array([0.3, -0.8])
        >>> bool(np.allclose(again.pose(q, "tip"), arm.pose(q, "tip"), atol=1e-14))
        True
        """

        def fail(text: str) -> NoReturn:
            raise ModelError(f"to_dh: {text} for chain '{self._name}'")

        table, doubts = dh.to_dh(self, convention, tool, as_amount(parallel, fail, "parallel"), fail)
        report(doubts, f"to_dh: Chain '{self._name}'", strict=False)
        return table

    @classmethod
    def from_textbook(
        cls,
        sigma: ArrayLike,
        alpha: ArrayLike | None = None,
        beta: ArrayLike | None = None,
        gamma: ArrayLike | None = None,
        l: ArrayLike | None = None,  # noqa: E741
        r: ArrayLike | None = None,
        m: ArrayLike | None = None,
        J: Sequence[ArrayLike] | ArrayLike | None = None,
        *,
        base_frame: tuple[ArrayLike, ArrayLike] | None = None,
        tool_frame: tuple[ArrayLike, ArrayLike] | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
        rotor_inertia: ArrayLike | None = None,
        friction: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        rest: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        tool: str = "tool",
        gravity: ArrayLike = GRAVITY,
        name: str = "chain",
        base: str = "base",
        strict: bool = False,
    ) -> Self:
        """Build a serial chain from the parameters of Leskov et al. (2017).

        Frame i is fixed to link i and lies at its far end: the axis of joint i is z of frame i-1, as in the standard
        convention of Denavit and Hartenberg, but x and the origin on the axis are free. Frame i in frame i-1 is::

            tau_{i-1,i} = Rz(sigma_i q_i) Rx(alpha_i) Ry(beta_i) Rz(gamma_i),
            p_i - p_{i-1} = tau_{B,i} L_i,  L_i = l_i + (1 - sigma_i) q_i nu_i,

        where nu_i, the axis of joint i in frame i, is the last row of Rx(alpha_i) Ry(beta_i) Rz(gamma_i).

        Parameters
        ----------
        sigma : (n,) array
            1 for a revolute joint, 0 for a prismatic one.
        alpha, beta, gamma : (n,) arrays, rad
            Installation angles: frame i-1 at q = 0 turned about its x, its new y and its new z is frame i
            (`orientation.from_pyr`). Default: 0.
        l : (n, 3) array, m
            From O_{i-1} to O_i at q = 0, in frame i. Default: 0.
        r : (n, 3) array, m
            From O_i to the centre of mass of link i, in frame i.
        m : (n,) array, kg
        J : n inertias, kg m^2
            About the centre of mass, in axes of frame i; each as in `Link`, products of inertia with the minus sign.
        base_frame : pair of (3,) arrays, rad and m
            Angles alpha, beta, gamma from the base to frame 0, and l_0 in frame 0. Default: frame 0 is the base.
        tool_frame : pair of (3,) arrays, rad and m
            Angles from frame n to the tool, and l_T in the tool frame. Default: frame n.
        lower, upper, velocity, effort, rotor_inertia, friction, stiffness, rest : (n,) arrays
            As in `Link`.
        names : n link names
            Default: ``link1 ... linkn``.
        tool : str
            Name of the massless fixed link that carries the tool frame.

        Returns
        -------
        chain : Chain
            n moving links and the tool. The frame of link i+1 has the origin and the z axis of frame i and turns with
            link i+1; ``com`` and ``inertia`` of ``chain.links`` are expressed there.

        Examples
        --------
        A revolute joint and a slide on it:

        >>> import numpy as np, zveno as zv
        >>> arm = zv.Chain.from_textbook(
        ...     sigma=(1, 0), alpha=(np.pi / 2, 0), l=[(0.1, 0.35, 0), (0, 0.05, 0.2)], m=(4.0, 2.5),
        ...     r=[(-0.05, -0.2, 0.03), (0.02, -0.01, -0.3)], J=[(0.11, 0.02, 0.10), (0.05, 0.06, 0.015)])
        >>> arm.pose([0.6, 0.25], "tool")[:3, 3].round(6)
        array([ 0.336623, -0.314937,  0.4     ])
        >>> arm.mass_matrix([0.6, 0.25]).round(9)
        array([[ 0.18585, -0.3    ],
               [-0.3    ,  2.5    ]])
        """

        def fail(text: str) -> NoReturn:
            raise ModelError(f"from_textbook: {text} for chain {_show(name)}")

        columns: dict[str, Any] = {
            "name": names,
            "joint": None,
            "mass": m,
            "com": r,
            "inertia": J,
            "lower": lower,
            "upper": upper,
            "velocity": velocity,
            "effort": effort,
            "rotor_inertia": rotor_inertia,
            "friction": friction,
            "stiffness": stiffness,
            "rest": rest,
        }
        angles = {"alpha": alpha, "beta": beta, "gamma": gamma}
        links = dh.textbook_links(sigma, angles, l, columns, base_frame, tool_frame, tool, fail)
        chain = cls._made(name=name, base=base, gravity=gravity, links=links)
        report([text for _, text in chain.suspicions], f"Chain '{name}'", strict)
        return chain

    def to_textbook(self, *, tool: str | None = None) -> dh.TextbookParameters:
        """The parameters of Leskov et al. (2017) of a serial chain, as `from_textbook` takes them.

        Frame i has the origin of joint i+1 and z along its axis, frame n is the tool.

        Parameters
        ----------
        tool : str, optional
            As in `to_dh`.

        Returns
        -------
        parameters : TextbookParameters
            ``Chain.from_textbook(**parameters._asdict())`` has the same poses of the tool, mass matrix, torques and
            limits; masses of fixed links as in `to_dh`.

        Raises
        ------
        ModelError
            A chain that branches, or whose links are not listed in the order in which they carry each other.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> table = zv.robots.kawasaki_fs020n().to_textbook()
        >>> table.sigma, np.degrees(table.alpha).round(6)
        (array([1, 1, 1, 1, 1, 1]), array([  0., 180.,   0., -90.,  90.,   0.]))
        >>> again = zv.Chain.from_textbook(**table._asdict())
        >>> again.pose(np.zeros(6), "tool")[:3, 3].round(9) + 0.0
        array([0.  , 0.09, 1.62])
        """

        def fail(text: str) -> NoReturn:
            raise ModelError(f"to_textbook: {text} for chain '{self._name}'")

        return dh.to_textbook(self, tool, fail)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, strict: bool = False) -> Self:
        """Build the model of `to_dict`; every key is checked, an unknown one is a `ModelError`.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> longer = arm.to_dict()
        >>> longer["links"][1]["position"] = [1.5, 0, 0]
        >>> float(zv.Chain.from_dict(longer).pose([0, 0], "tip")[0, 3])
        2.5
        """
        chain = cls._read(data)
        report([text for _, text in chain.suspicions], f"Chain '{chain.name}'", strict)
        return chain

    def to_urdf(self, path: str | os.PathLike[str] | None = None, *, coulomb: Mapping[str, float] | None = None) -> str:
        """Return the chain as URDF, and write it to a file.

        Frames, axes, limits, bodies and viscous friction (as damping) are written with all digits. URDF has no springs,
        no inertias of drives and no infinite limits: the former are left out, 1e9 stands for the latter.

        Parameters
        ----------
        path : path, optional
            File to write.
        coulomb : mapping of joint names to N m or N, optional
            Dry friction, the ``friction`` of ``<dynamics>``.

        Returns
        -------
        text : str

        Examples
        --------
        >>> import zveno as zv
        >>> arm = zv.robots.ur5e()
        >>> text = arm.to_urdf()
        >>> again = zv.Chain.from_urdf(text)
        >>> bool(abs(again.inertial_parameters - arm.inertial_parameters).max() < 1e-12)
        True
        """
        from ..sim.output import whole_file
        from .urdf_writer import urdf_text

        def fail(text: str) -> NoReturn:
            raise ValueError(f"to_urdf: {text}")

        dry: dict[str, float] = {}
        for name, value in (coulomb or {}).items():
            if name not in self.joint_names:
                fail(f"coulomb has {_show(name)}, no joint{did_you_mean(name, self.joint_names)}")
            dry[name] = as_amount(value, fail, f"coulomb of {name!r}")
        text = urdf_text(self, dry)
        if path is not None:
            with whole_file(as_path("to_urdf", path), "w", encoding="utf-8") as file:
                file.write(text)
        return text

    def constrained_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        constraints: Iterable[Constraint],
        t: ArrayLike = 0.0,
        **options: Any,
    ) -> LinkageDynamics:
        """Accelerations under constraints, and the multipliers that hold them. (L28)

        The same as ``Linkage(chain, constraints=constraints).forward_dynamics(q, qd, tau, t)`` for constraints that
        come and go; q need not meet them: f'' is held at zero, whatever f is. A `Linkage` kept by the caller is faster.

        Parameters
        ----------
        q, qd, tau : (..., n) array
        constraints : iterable of Constraint
        t : (...) array, s
        **options
            ``outputs``, ``on_error``, ``status``, ``out``, ``threads`` of `Linkage.forward_dynamics`.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> wall = zv.constraints.point_on_plane("base", "tip", axis_a=(1, 0, 0), offset=1.2)
        >>> q, qd = np.array([0.3, 0.9]), np.array([0.1, -0.2])
        >>> r = arm.constrained_dynamics(q, qd, [1.0, 0.5], [wall])
        >>> float(abs(arm.acceleration(q, qd, r.qdd, "tip")[0]).round(9))  # no acceleration into the wall
        0.0
        """
        from .linkage import constrained

        return constrained(self, constraints).forward_dynamics(q, qd, tau, t, **options)

    def with_payload(
        self,
        link: str,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike = 0.0,
        name: str = "payload",
    ) -> Self:
        """Return a new chain with a body welded to `link`.

        Parameters
        ----------
        link : str
        mass : float, kg
        com : (3,) array, m
            Centre of mass of the payload in the frame of `link`.
        inertia : (3, 3) or (3,) array or float, kg m^2
            About that centre of mass, in the axes of `link`.
        name : str
            Name of the new link; its frame is that of `link`.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> loaded = arm.with_payload("tip", 1.0)
        >>> rest = np.zeros(2)
        >>> more = loaded.inverse_dynamics(rest, rest, rest) - arm.inverse_dynamics(rest, rest, rest)
        >>> more.round(2)  # 1 kg at 2 m and at 1 m
        array([-19.62,  -9.81])
        """
        if not isinstance(link, str) or link not in self.link_names:
            hint = did_you_mean(link, self.link_names)
            raise ModelError(f"with_payload: no link {_show(link)} in chain '{self._name}'{hint}")
        load = Link(name, parent=link, joint="fixed", mass=mass, com=com, inertia=inertia)
        chain = self._with(links=(*self._links, load))
        texts = [text for who, text in chain.suspicions if who == name]
        report(texts, f"Chain '{self._name}'", strict=False)
        return chain

    def with_tool(self, T: Any, link: str | None = None, name: str | None = None) -> Self:
        """Return a new chain with a tool frame: a massless link welded to `link`.

        The tool is a link like others: `pose`, `jacobian`, wrenches and payloads take its name.

        Parameters
        ----------
        T : (4, 4) array, pair (position, rotation), or object with ``.as_matrix()``
            Tool frame in the frame of `link`: the pose of its axes and of the tool point. Three numbers are a shift.
        link : str, optional
            Default: the last link, where there is one: the only one that carries no other.
        name : str, optional
            Default: "tool"; "tool2" and so on where there is one already.

        Returns
        -------
        chain : Chain
            The tool is the last of its `links`.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.kawasaki_fs020n().with_tool((0, 0, 0.1), name="torch")
        >>> arm.link_names[-2:]
        ('tool', 'torch')
        >>> arm.pose(np.zeros(6), "torch")[:3, 3].round(9) + 0.0
        array([0.  , 0.09, 1.72])
        """

        def fail(text: str) -> NoReturn:
            raise ModelError(f"with_tool: {text} for chain '{self._name}'")

        known = self.link_names
        if link is None:
            parents = {item.parent for item in self._links}
            ends = [item.name for item in self._links if item.name not in parents]
            if len(ends) > 1:
                fail(f"link is None, and {len(ends)} links carry no other, {_show(ends)}; expected the name of one")
            link = ends[0]
        elif not isinstance(link, str) or (link not in known and link != self._base):
            fail(f"no link {_show(link)}{did_you_mean(link, [self._base, *known])}")
        if name is None:
            name = dh.free_name("tool", {self._base, *known})
        elif not _is_name(name):
            fail(f"name is {_show(name)}, expected a non-empty string")
        elif name in known or name == self._base:
            fail(f"name is {_show(name)}, which a link has already, expected a new one")
        if shape_of(T) == (3,) and not hasattr(T, "as_matrix"):
            place, turn = as_array(T, fail, "T", (3,)), np.eye(3)
        else:
            place, turn = as_pose(T, fail, "T")
        return self._with(links=(*self._links, Link(name, parent=link, joint="fixed", position=place, rotation=turn)))

    def with_locked(self, joints: Mapping[str, float]) -> Self:
        """Return a new chain with joints held where they are told: fewer joints, the same links and masses.

        A locked joint becomes a fixed one: its link keeps name, frame and mass, and stays a place for wrenches, poses
        and payloads. Rotor inertia, friction, spring and limits of the joint are dropped.

        Parameters
        ----------
        joints : dict of str to float, rad or m
            Positions by the names of joints (`joint_names`). Limits are not enforced.

        Raises
        ------
        ModelError
            An unknown joint, a position that is not a finite number, no joint left to move.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.scara()
        >>> planar = arm.with_locked({arm.joint_names[2]: 0.1, arm.joint_names[3]: 0.0})
        >>> arm.n, planar.n
        (4, 2)
        >>> bool(np.allclose(planar.mass_matrix([0.2, 0.3]), arm.mass_matrix([0.2, 0.3, 0.1, 0.0])[:2, :2]))
        True
        """

        def fail(text: str) -> NoReturn:
            raise ModelError(f"with_locked: {text} for chain '{self._name}'")

        return self._reported(links=locked_links(self._links, joints, fail))

    def subchain(self, to: str, base: str | None = None) -> Self:
        """Return the chain of the links that carry `to`, and of `to` itself: other branches are left out.

        What hangs on a link beside the way is left out with its mass, even if it is welded to it; to keep a gripper's
        mass and hold its fingers, use `with_locked`.

        Parameters
        ----------
        to : str
            Name of the last link.
        base : str, optional
            Link that becomes the base of the new chain; it must carry `to`. Its frame becomes the world frame, and
            gravity is turned into its axes as they are at q = 0. Default: the base.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.puma560()
        >>> wrist = arm.subchain(to="link6", base="link3")
        >>> wrist.joint_names
        ('link4_joint', 'link5_joint', 'link6_joint')
        >>> arm.subchain(to="link3")
        Chain 'puma560': 3 joints (3 revolute), 3 links, 35.2 kg
        """

        def fail(text: str) -> NoReturn:
            raise ModelError(f"subchain: {text} for chain '{self._name}'")

        start = self._base if base is None else base
        links = path_links(self._links, self._base, start, to, fail)
        turn = self.pose(np.zeros(self.n), start)[:3, :3]
        gravity = self._gravity if start == self._base else applied(turn.T, self._gravity)
        return self._reported(base=start, gravity=gravity, links=links)

    def _reported(self, **changes: Any) -> Self:
        """The chain with other values; what looks suspicious only now is reported."""
        chain = self._with(**changes)
        known = set(self.suspicions)
        texts = [text for who, text in chain.suspicions if (who, text) not in known]
        report(texts, f"Chain '{self._name}'", strict=False)
        return chain

    def with_inertial_parameters(self, theta: ArrayLike) -> Self:
        """Return a new chain with other inertial parameters; a link whose row is unchanged stays as it is.

        Parameters
        ----------
        theta : (N, 10) array
            Rows as in `inertial_parameters`, in the order of `links`.

        Raises
        ------
        ModelError
            A row that no body has: a negative mass, a first moment without mass, an inertia about the centre of mass
            with a negative eigenvalue.

        Examples
        --------
        >>> import zveno as zv
        >>> arm = zv.robots.two_link()
        >>> theta = arm.inertial_parameters.copy()
        >>> theta[1] *= 1.5
        >>> heavier = arm.with_inertial_parameters(theta)
        >>> round(heavier.links[1].mass / arm.links[1].mass, 3)
        1.5
        """
        old = self.inertial_parameters

        def fail(text: str) -> NoReturn:
            raise ModelError(f"with_inertial_parameters: {text} for chain '{self._name}'")

        rows = as_array(theta, fail, "theta", old.shape)
        links = list(self._links)
        for i in np.flatnonzero((rows != old).any(axis=1)).tolist():
            link = links[i]
            try:
                mass, com, inertia = _core.body_of_parameters(rows[i])
            except ModelError as error:
                raise ModelError(f"link '{link.name}': {error}", link.name) from None
            links[i] = type(link)(**link._values() | {"mass": mass, "com": com, "inertia": inertia})
        return self._reported(links=links)

    def poses(self, q: ArrayLike) -> LinkPoses:
        """Poses of all links in the base in one call.

        Parameters
        ----------
        q : (..., n) array, rad or m

        Returns
        -------
        poses : LinkPoses
            ``poses["hand"]`` is what ``pose(q, "hand")`` gives, (..., 4, 4); ``poses.positions`` (..., N, 3) in m and
            ``poses.rotations`` (..., N, 3, 3), link axes to base axes, have the links in the order of `links`.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> poses = arm.poses([0.0, np.pi / 2])
        >>> for link, (x, y, z) in zip(poses, poses.positions.round(3) + 0.0):
        ...     print(link, x, z)
        upper 0.0 0.0
        lower 1.0 0.0
        tip 1.0 -1.0
        >>> bool((poses["tip"] == arm.pose([0.0, np.pi / 2], "tip")).all())
        True
        """
        names = self.link_names
        with called("poses", "pose"):
            first = self.pose(q, names[0])
        matrices = np.empty((*first.shape[:-2], len(names), 4, 4))
        matrices[..., 0, :, :] = first
        for i, name in enumerate(names[1:], 1):
            matrices[..., i, :, :] = self.pose(q, name)
        return LinkPoses(names, matrices)

    @overload
    def within_limits(
        self, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None, *, per_joint: Literal[True]
    ) -> NDArray[np.bool_]: ...
    @overload
    def within_limits(
        self, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None, *, per_joint: bool = False
    ) -> Any: ...
    def within_limits(
        self, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None, *, per_joint: bool = False
    ) -> Any:
        """Whether states respect the limits of the joints, which no other function enforces.

        Parameters
        ----------
        q : (..., n) array, rad or m
            Compared with `lower` and `upper`; the bounds themselves are inside. A turn of 2 pi makes a difference.
        qd : (..., n) array, rad/s or m/s, optional
            Its magnitude is compared with `velocity_limit`.
        tau : (..., n) array, N m or N, optional
            Its magnitude is compared with `effort_limit`.
        per_joint : bool
            Answer for each joint instead of each state.

        Returns
        -------
        inside : bool or (...) array of bool, (..., n) with `per_joint`
            One answer per state; the leading shapes of q, qd and tau are broadcast.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> link = zv.Link("arm", lower=-1.0, upper=1.0, velocity=2.0, mass=1.0, com=(0.5, 0, 0))
        >>> arm = zv.Chain([link, zv.Link("hand", position=(1, 0, 0), mass=1.0)])
        >>> arm.within_limits([0.5, 9.0])
        True
        >>> arm.within_limits([[0.5, 0.0], [1.5, 0.0]])
        array([ True, False])
        >>> [name for name, ok in zip(arm.joint_names, arm.within_limits([1.5, 0.0], per_joint=True)) if not ok]
        ['arm_joint']
        """

        def fail(text: str) -> NoReturn:
            raise ValueError(f"within_limits: {text} for chain '{self._name}'")

        per_joint = as_flag(per_joint, fail, "per_joint")
        given = as_array(q, fail, "q", (self.n,), lead=True)
        inside = (self.lower <= given) & (given <= self.upper)
        for value, name, limit in ((qd, "qd", self.velocity_limit), (tau, "tau", self.effort_limit)):
            if value is None:
                continue
            size = np.abs(as_array(value, fail, name, (self.n,), lead=True))
            try:
                inside = inside & (size <= limit)
            except ValueError:
                fail(f"{name} has shape {size.shape}, which does not broadcast with {inside.shape} of the others")
        if per_joint:
            return inside
        answer = inside.all(axis=-1)
        return bool(answer) if answer.ndim == 0 else answer

    def plot(self, q: ArrayLike | None = None, ax: Any = None, *, frames: bool = True) -> Any:
        """Draw the chain in space. Needs matplotlib (``zveno[plot]``).

        Parameters
        ----------
        q : (n,) array, rad or m, optional
            Default: zero.
        ax : Axes3D, optional
            Default: new ones in a new figure.
        frames : bool
            Draw the frame of the base and of every last link: x red, y green, z blue.

        Returns
        -------
        ax : Axes3D
            ``ax.figure.savefig("arm.png")`` writes the picture.

        Examples
        --------
        >>> import zveno as zv
        >>> ax = zv.robots.puma560().plot([0.3, -0.5, 0.8, 0, 0.6, 0])
        >>> ax.get_title()
        'puma560'
        """

        def fail(text: str) -> NoReturn:
            raise ValueError(f"plot: {text} for chain '{self._name}'")

        frames = as_flag(frames, fail, "frames")
        state = np.zeros(self.n) if q is None else as_array(q, fail, "q", (self.n,))
        if ax is not None and not hasattr(ax, "add_collection3d"):
            fail(f"ax is {_show(ax)}, expected Axes3D: `figure.add_subplot(projection='3d')`")
        try:
            from ..plot.mechanism import draw_chain
        except ImportError as error:
            if (error.name or "").partition(".")[0] not in ("matplotlib", "mpl_toolkits"):
                raise
            text = "Chain.plot needs matplotlib: install it with `pip install zveno[plot]`"
            raise ImportError(text, name="matplotlib") from error
        return draw_chain(self, state, ax, frames=frames)

    @property
    def base_name(self) -> str:
        """Name of the fixed base."""
        return self._base

    @property
    def suspicions(self) -> list[tuple[str, str]]:
        """What looks wrong but can be computed with: (name of the link, text).

        Reported as one `ModelWarning` when a chain is made, as a `ModelError` with ``strict=True``. Looked at are

        * inertias that no body has, inertia without mass, joints that move no mass;
        * links and centres of mass more than 100 m away from each other in a chain of less than 1 kg for each metre:
          millimetres. Where the chain stands on its base does not matter;
        * a centre of mass or a radius of gyration above 5 m and 100 times the longest link: millimetres, kg mm^2.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.robots.two_link().suspicions
        []
        """
        return [*super().suspicions, *chain_doubts(self._links, self._base)]

    @property
    def links(self) -> tuple[Link, ...]:
        """All links as given, fixed ones too, with their parents spelled out."""
        return self._links

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links in the order of `links`; the base is not among them."""
        return tuple(link.name for link in self._links)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the n moving joints in the order of q."""
        return tuple(link.joint_name for link in self._moving)

    @property
    def joint_types(self) -> tuple[str, ...]:
        """ "revolute" or "prismatic" for each of the n moving joints."""
        return tuple(link.joint for link in self._moving)

    @property
    def regressor_pattern(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where elements of `packed_regressor` stand in `regressor`: indices of columns, and pointers to rows.

        Row i of the regressor has ``data[pointers[i]:pointers[i + 1]]`` in the columns
        ``indices[pointers[i]:pointers[i + 1]]``; in SciPy ``csr_array((data, indices, pointers), shape=(n, 10 N))``.
        """
        index = {link.name: i for i, link in enumerate(self._links)}
        joint = {link.name: j for j, link in enumerate(self._moving)}
        moved: list[list[int]] = [[] for _ in self._moving]
        for i, link in enumerate(self._links):
            at: Link | None = link
            while at is not None:
                if at.name in joint:
                    moved[joint[at.name]].append(i)
                at = self._links[index[at.parent]] if at.parent in index else None
        pointers = np.cumsum([0, *(10 * len(links) for links in moved)], dtype=np.intp)
        links = np.array([i for links in moved for i in links], dtype=np.intp)
        return (10 * links[:, None] + np.arange(10)).ravel(), pointers

    def _column(self, key: str) -> Array:
        return frozen(np.array([getattr(link, key) for link in self._moving]))

    @property
    def lower(self) -> Array:
        """Lower joint limits, (n,) rad or m, -inf where there is none."""
        return self._column("lower")

    @property
    def upper(self) -> Array:
        """Upper joint limits, (n,) rad or m, inf where there is none."""
        return self._column("upper")

    @property
    def velocity_limit(self) -> Array:
        """Velocity limits, (n,) rad/s or m/s."""
        return self._column("velocity")

    @property
    def effort_limit(self) -> Array:
        """Effort limits, (n,) N m or N."""
        return self._column("effort")

    @property
    def rotor_inertia(self) -> Array:
        """Reflected drive inertias, (n,) kg m^2 or kg."""
        return self._column("rotor_inertia")

    @property
    def friction(self) -> Array:
        """Viscous friction coefficients, (n,) N m s/rad or N s/m."""
        return self._column("friction")

    @property
    def stiffness(self) -> Array:
        """Stiffnesses of the springs in the joints, (n,) N m/rad or N/m, 0 where there is none."""
        return self._column("stiffness")

    @property
    def rest(self) -> Array:
        """Positions of the joints in which their springs are unloaded, (n,) rad or m."""
        return self._column("rest")

    def _repr_html_(self) -> str:
        """Joints and links as a table, for notebooks."""
        import html

        rows = []
        for link in self._links[:_HTML_ROWS]:
            unit = {"revolute": "rad", "prismatic": "m"}.get(link.joint, "")
            limits = f"{link.lower:.4g} to {link.upper:.4g} {unit}" if unit else ""
            name = link.joint_name if unit else ""
            rows.append((link.name, link.parent or "", name, link.joint, limits, f"{link.mass:.4g}"))
        cells = ("".join(f"<td>{html.escape(text[:80])}</td>" for text in row) for row in rows)
        more = len(self._links) - len(rows)
        head = "".join(f"<th>{text}</th>" for text in ("link", "carried by", "joint", "type", "limits", "mass, kg"))
        return (
            f"<p>{html.escape(repr(self))}</p><table><thead><tr>{head}</tr></thead><tbody>"
            + "".join(f"<tr>{row}</tr>" for row in cells)
            + "</tbody></table>"
            + (f"<p>and {more} more links</p>" if more else "")
        )

    def __repr__(self) -> str:
        counts = ((sum(t == kind for t in self.joint_types), kind) for kind in KINDS[:2])
        kinds = ", ".join(f"{count} {kind}" for count, kind in counts if count)
        mass = self.total_mass
        kg = f"{mass:.1f}" if mass >= 1 or mass == 0 else f"{mass:.2g}"
        joints, links = _plural(self.n, "joint"), _plural(len(self._links), "link")
        return self._with_note(f"Chain '{self._name}': {joints} ({kinds}), {links}, {kg} kg")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
