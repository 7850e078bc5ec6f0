"""`Chain`: an open chain or tree of links. The numbers are worked out by the C++ base class."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import Array, _is_name, _show, as_array, frozen, report
from ..errors import ModelError
from ..opcount import operations as _operations
from ..sim.chain import simulate_chain
from . import dh
from .link import KINDS, Link
from .mechanism import Mechanism

__all__ = ["Chain"]

GRAVITY: Final = (0.0, 0.0, -9.81)


class Chain(Mechanism, _core.Chain):
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

    def _assemble(self, name: str, base: str, gravity: ArrayLike, links: Iterable[Link]) -> None:
        """Check the arguments, resolve parents, build the C++ model."""
        for key, text in (("name", name), ("base", base)):
            if not _is_name(text):
                raise ModelError(f"Chain: {key} is {_show(text)}, expected a non-empty string")

        def fail(text: str) -> NoReturn:
            raise ModelError(f"Chain '{name}': {text}")

        if isinstance(links, str | bytes | Mapping) or not isinstance(links, Iterable):
            fail(f"links is {_show(links)}, expected a list of Link")
        resolved: list[Link] = []
        previous = base
        for item in links:
            if not isinstance(item, Link):
                fail(f"links[{len(resolved)}] is {_show(item)}, expected a Link")
            resolved.append(item._child_of(item.parent or previous))
            previous = item.name
        g = as_array(gravity, fail, "gravity", (3,))
        _core.Chain.__init__(self, name, base, g, resolved)
        self._links = tuple(resolved)
        self._moving = tuple(link for link in resolved if link.joint != "fixed")
        self._name, self._base, self._gravity = name, base, g

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
    ) -> Self:
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
            Raise `ModelError` wherever a `ModelWarning` would be emitted.

        Returns
        -------
        chain : Chain
            The base is the root link; joints are in depth-first order, children in the order of the document.

        Notes
        -----
        Read: revolute, continuous, prismatic and fixed joints, origins, axes, limits, damping, inertials. A mimic
        joint becomes an independent joint. Transmissions, Coulomb friction, meshes, materials, collision shapes,
        safety controllers and extensions are ignored; those that matter for dynamics are named in a `ModelWarning`.
        Floating and planar joints are a `ModelError`: the base is fixed.

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
        links = dh.links(rows, convention, columns, base_pose, tool_pose, tool, fail)
        chain = cls._made(name=name, base=base, gravity=gravity, links=links)
        report([text for _, text in chain.suspicions], f"Chain '{name}'", strict)
        return chain

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
        if link not in self.link_names:
            raise ModelError(f"with_payload: no link {_show(link)} in chain '{self._name}'")
        load = Link(name, parent=link, joint="fixed", mass=mass, com=com, inertia=inertia)
        chain = self._with(links=(*self._links, load))
        texts = [text for who, text in chain.suspicions if who == name]
        report(texts, f"Chain '{self._name}'", strict=False)
        return chain

    def with_gravity(self, gravity: ArrayLike) -> Self:
        """Return a new chain under another gravity, (3,) m/s^2 in base axes.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> space = arm.with_gravity((0, 0, 0))
        >>> space.bias([0.3, 0.4], [0, 0]).round(3) + 0.0
        array([0., 0.])
        >>> np.array_equal(space.mass_matrix([0.3, 0.4]), arm.mass_matrix([0.3, 0.4]))
        True
        """
        return self._with(gravity=gravity)

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
        chain = self._with(links=links)
        known = set(self.suspicions)
        texts = [text for who, text in chain.suspicions if (who, text) not in known]
        report(texts, f"Chain '{self._name}'", strict=False)
        return chain

    @property
    def base_name(self) -> str:
        """Name of the fixed base."""
        return self._base

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

    def __repr__(self) -> str:
        counts = ((sum(t == kind for t in self.joint_types), kind) for kind in KINDS[:2])
        kinds = ", ".join(f"{count} {kind}" for count, kind in counts if count)
        mass = self.total_mass
        kg = f"{mass:.1f}" if mass >= 1 or mass == 0 else f"{mass:.2g}"
        joints, links = _plural(self.n, "joint"), _plural(len(self._links), "link")
        return self._with_note(f"Chain '{self._name}': {joints} ({kinds}), {links}, {kg} kg")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
