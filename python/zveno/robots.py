"""Well-known arms, ready to use. Where inertial data are made up, the docstring and the ``note`` say so."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ._rotation import about_axis
from .errors import ModelWarning
from .model import Body, Chain, Link

__all__ = [
    "abb_irb120",
    "angular",
    "cartesian",
    "cylindrical",
    "kawasaki_fs020n",
    "kuka_iiwa14",
    "puma560",
    "scara",
    "spherical",
    "stanford",
    "staubli_rx90",
    "two_link",
    "ur3e",
    "ur5e",
    "ur10e",
]

_RIGHT = math.pi / 2


def two_link() -> Chain:
    """Planar arm of two equal slender rods, 1 m and 1 kg each, swinging in the vertical xz plane.

    Joint axes along y; at q = 0 both rods lie along x. With q about y, positive angles turn the arm downwards.
    Inertial data are those of ideal rods (made up), so every result can be checked by hand.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> zv.robots.two_link()
    Chain 'two_link': 2 joints (2 revolute), 3 links, 2.0 kg (made-up inertias)
    """

    def rod(name: str, x: float) -> Link:
        inertia = (0.0, 1 / 12, 1 / 12)
        return Link(name, axis=(0, 1, 0), position=(x, 0, 0), mass=1.0, com=(0.5, 0, 0), inertia=inertia)

    tip = Link("tip", joint="fixed", position=(1, 0, 0))
    return Chain([rod("upper", 0.0), rod("lower", 1.0), tip], name="two_link")._noted("made-up inertias")


def puma560() -> Chain:
    """Unimation PUMA 560 with the parameters measured by Armstrong, Khatib and Burdick.

    Frames are the modified Denavit-Hartenberg frames of the paper, frame 0 at the height of the shoulder axis; at
    q = 0 the upper arm points along x and the forearm upwards. Limits are left out: the sources count the angles from
    different zero positions.

    Notes
    -----
    The numbers were taken from reprints, not from the paper itself: geometry, masses, centres of mass and principal
    inertias of links 1-3 from two that agree (one of them misprints 0.086 of link 3 as 0.066), inertias of the wrist
    links from one. Reflected drive inertias of joints 1-3 differ by up to 4 % between two reprints; those of the wrist,
    by up to 6 % between two models of one author, are rounded.

    Link 3 breaks the triangle inequality, 0.086 > 0.066 + 0.0125 kg m^2. It is kept as published: `Chain.suspicions`
    lists it, no warning is emitted here.

    Not measured, made up here: mass and transverse inertias of link 1. It turns about a vertical axis through its
    centre of mass, so they enter no joint torque, only the load on the base.

    References
    ----------
    B. Armstrong, O. Khatib, J. Burdick, "The explicit dynamic model and inertial parameters of the PUMA 560 arm",
    Proc. IEEE ICRA 1986. Reprinted in P. Corke's Robotics Toolbox, models puma560 and puma560akb.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> zv.robots.puma560()
    Chain 'puma560': 6 joints (6 revolute), 7 links, 36.5 kg
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return Chain.from_dh(
            [
                (0.0, 0.0, 0.0, 0.0),
                (0.0, 0.2435, 0.0, -_RIGHT),
                (0.0, -0.0934, 0.4318, 0.0),
                (0.0, 0.4331, -0.0203, _RIGHT),
                (0.0, 0.0, 0.0, -_RIGHT),
                (0.0, 0.0, 0.0, _RIGHT),
            ],
            convention="modified",
            masses=(13.0, 17.40, 4.80, 0.82, 0.34, 0.09),
            coms=((0, 0, 0), (0.068, 0.006, -0.016), (0, -0.070, 0.014), (0, 0, -0.019), (0, 0, 0), (0, 0, 0.032)),
            inertias=(
                (0.18, 0.18, 0.35),
                (0.130, 0.524, 0.539),
                (0.066, 0.0125, 0.086),
                (1.8e-3, 1.8e-3, 1.3e-3),
                (0.3e-3, 0.3e-3, 0.4e-3),
                (0.15e-3, 0.15e-3, 0.04e-3),
            ),
            rotor_inertia=(1.14, 4.71, 0.83, 0.20, 0.18, 0.19),
            name="puma560",
        )


def stanford() -> Chain:
    """Stanford arm (Scheinman): five revolute joints and the prismatic third one. Inertial data are made up.

    Standard Denavit-Hartenberg; frame 6, between the finger tips, is the link "tool". The extension q3 is the
    distance from the shoulder to the wrist.

    Notes
    -----
    The reprints of the published inertial data at hand put centres of mass metres away from the arm, so plausible
    round numbers are used instead; so are the limits of the boom.

    References
    ----------
    Geometry: R. P. Paul, "Modelling, trajectory calculation and servoing of a computer controlled arm", Stanford AI
    Laboratory memo AIM-177, 1972, figure 2.3 (inches there).

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> zv.robots.stanford()
    Chain 'stanford': 6 joints (5 revolute, 1 prismatic), 7 links, 20.1 kg (made-up inertias)
    """
    inch = 0.0254
    return Chain.from_dh(
        [
            (0.0, 16.24 * inch, 0.0, -_RIGHT),
            (0.0, 6.05 * inch, 0.0, _RIGHT),
            (-_RIGHT, 0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0, -_RIGHT),
            (0.0, 0.0, 0.0, _RIGHT),
            (0.0, 10.35 * inch, 0.0, 0.0),
        ],
        joints=("revolute", "revolute", "prismatic", "revolute", "revolute", "revolute"),
        masses=(9.0, 5.0, 4.0, 1.0, 0.6, 0.5),
        coms=((0, 0.11, 0.02), (0, -0.05, 0), (0, 0, -0.5), (0, 0.01, 0), (0, 0, 0.02), (0, 0, -0.1)),
        inertias=(
            (0.25, 0.07, 0.25),
            (0.10, 0.02, 0.10),
            (0.40, 0.40, 0.006),
            (0.002, 0.001, 0.002),
            (0.001, 0.001, 0.0005),
            (0.002, 0.002, 0.0003),
        ),
        lower=(-math.inf, -math.inf, 0.15, -math.inf, -math.inf, -math.inf),
        upper=(math.inf, math.inf, 0.95, math.inf, math.inf, math.inf),
        name="stanford",
    )._noted("made-up inertias")


def scara() -> Chain:
    """SCARA arm of the 600 mm class: two vertical axes, the spindle's stroke, the spindle's turn. All data made up.

    Standard Denavit-Hartenberg; q3 lowers the spindle, the link "tool" is its end with z pointing down.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> zv.robots.scara()
    Chain 'scara': 4 joints (3 revolute, 1 prismatic), 5 links, 21.0 kg (made-up data)
    """
    return Chain.from_dh(
        [(0.0, 0.39, 0.325, 0.0), (0.0, 0.0, 0.275, math.pi), (0.0, 0.0, 0.0, 0.0), (0.0, 0.05, 0.0, 0.0)],
        joints=("revolute", "revolute", "prismatic", "revolute"),
        masses=(11.0, 8.0, 1.5, 0.5),
        coms=((-0.16, 0, 0), (-0.14, 0, 0.03), (0, 0, -0.1), (0, 0, -0.02)),
        inertias=((0.05, 0.15, 0.18), (0.04, 0.09, 0.11), (0.02, 0.02, 0.0005), (5e-4, 5e-4, 3e-4)),
        lower=(math.radians(-105), math.radians(-150), 0.0, math.radians(-360)),
        upper=(math.radians(105), math.radians(150), 0.21, math.radians(360)),
        rotor_inertia=(0.6, 0.3, 40.0, 0.01),
        name="scara",
    )._noted("made-up data")


def kawasaki_fs020n() -> Chain:
    """Kawasaki FS020N (FS20N), 20 kg payload, reach 1.7 m. Geometry and limits are real, inertial data are made up.

    The base frame is at the crossing of axis 1 with the height of the shoulder axis, 0.570 m above the mounting face;
    z up, y forward. At q = 0 the arm is stretched upwards. The link "tool" is the flange: frame 6 of Leskov et al.
    (2017), whose frames are turned from the DH frames by a quarter about z.

    References
    ----------
    Leskov et al. (2017), appendices 1 and 2, in the standard Denavit-Hartenberg form.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> zv.robots.kawasaki_fs020n()
    Chain 'kawasaki_fs020n': 6 joints (6 revolute), 7 links, 183.0 kg (made-up inertias)
    """
    base_pose = np.diag([1.0, -1.0, -1.0, 1.0])
    flange = np.array([[0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.12], [0.0, 0.0, 0.0, 1.0]])
    limits = np.radians([(-160, 160), (-105, 140), (-155, 120), (-270, 270), (-145, 145), (-360, 360)])
    return Chain.from_dh(
        [
            (-_RIGHT, 0.0, 0.15, _RIGHT),
            (-_RIGHT, 0.0, 0.8, math.pi),
            (_RIGHT, 0.0, 0.06, _RIGHT),
            (0.0, 0.7, 0.0, -_RIGHT),
            (math.pi, 0.0, 0.0, -_RIGHT),
            (0.0, 0.0, 0.0, 0.0),
        ],
        masses=(70.0, 45.0, 40.0, 20.0, 6.0, 2.0),
        coms=((-0.05, -0.1, 0), (-0.45, 0, -0.1), (-0.03, 0, 0.05), (0, 0.3, 0), (0, 0, 0.02), (0, 0, 0.1)),
        inertias=(
            (2.0, 1.8, 2.0),
            (0.5, 3.5, 3.6),
            (0.8, 0.8, 0.6),
            (0.9, 0.1, 0.9),
            (0.02, 0.02, 0.015),
            (0.003, 0.003, 0.004),
        ),
        lower=limits[:, 0],
        upper=limits[:, 1],
        base_pose=base_pose,
        tool_pose=flange,
        name="kawasaki_fs020n",
    )._noted("made-up inertias")


# ---- the four classical arms ----------------------------------------------------------------------------------------


def _carrying(body: Body) -> dict[str, Any]:
    """Arguments of a `Link` that is this body."""
    return {"mass": body.mass, "com": body.com, "inertia": body.inertia}


def cartesian() -> Chain:
    """Cartesian arm, a gantry: three slides along x, y and z. All data made up.

    The first of the four classical structures of Leskov et al. (2017), section 1.1. The link "tool" is the lower end
    of the vertical slide, at (q1, q2, 0.8 m + q3).

    Examples
    --------
    >>> import zveno as zv
    >>> arm = zv.robots.cartesian()
    >>> arm
    Chain 'cartesian': 3 joints (3 prismatic), 4 links, 41.0 kg (made-up data)
    >>> arm.pose([0.5, 0.2, -0.1], "tool")[:3, 3].round(9)
    array([0.5, 0.2, 0.7])
    """
    bridge, carriage, ram = (
        Body.box(24.0, (0.2, 1.2, 0.15)),
        Body.box(11.0, (0.3, 0.25, 0.2)),
        Body.box(6.0, (0.08, 0.08, 0.8)),
    )
    links = [
        Link("bridge", joint="prismatic", axis=(1, 0, 0), position=(0, 0, 1.2), lower=0, upper=1.5,
             **_carrying(bridge.placed((0, 0.5, 0)))),
        Link("carriage", joint="prismatic", axis=(0, 1, 0), lower=0, upper=1, **_carrying(carriage)),
        Link("ram", joint="prismatic", axis=(0, 0, 1), lower=-0.4, upper=0, **_carrying(ram)),
        Link("tool", joint="fixed", position=(0, 0, -0.4)),
    ]  # fmt: skip
    return Chain(links, name="cartesian")._noted("made-up data")


def cylindrical() -> Chain:
    """Cylindrical arm: a turn about the vertical, a lift along it, a horizontal slide. All data made up.

    The second of the four classical structures of Leskov et al. (2017), section 1.1. The link "tool" is the end of the
    slide, at the distance 0.4 m + q3 from the vertical and at the height 0.5 m + q2; at q1 = 0 it lies along x.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.cylindrical()
    >>> arm
    Chain 'cylindrical': 3 joints (1 revolute, 2 prismatic), 4 links, 56.0 kg (made-up data)
    >>> arm.pose([np.pi / 2, 0.2, 0.1], "tool")[:3, 3].round(9) + 0.0
    array([0. , 0.5, 0.7])
    """
    column = Body.cylinder(30.0, 0.1, 1.2, axis=(0, 0, 1))
    head = Body.box(18.0, (0.3, 0.25, 0.25))
    slide = Body.cylinder(8.0, 0.035, 0.8, start=-0.4)
    links = [
        Link("column", lower=-2.6, upper=2.6, **_carrying(column)),
        Link("lift", joint="prismatic", position=(0, 0, 0.5), lower=0, upper=0.6, **_carrying(head)),
        Link("slide", joint="prismatic", axis=(1, 0, 0), lower=0, upper=0.4, **_carrying(slide)),
        Link("tool", joint="fixed", position=(0.4, 0, 0)),
    ]
    return Chain(links, name="cylindrical")._noted("made-up data")


def spherical() -> Chain:
    """Spherical arm: a turn about the vertical, an elevation, a slide. All data made up.

    The third of the four classical structures of Leskov et al. (2017), section 1.1. The shoulder is 0.8 m high; the
    link "tool" is the end of the slide, at the distance 0.5 m + q3 from the shoulder. At q1 = q2 = 0 it lies along x,
    and positive q2 raises it.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.spherical()
    >>> arm
    Chain 'spherical': 3 joints (2 revolute, 1 prismatic), 4 links, 60.0 kg (made-up data)
    >>> arm.pose([0, np.pi / 2, 0.2], "tool")[:3, 3].round(9) + 0.0
    array([0. , 0. , 1.5])
    """
    column = Body.cylinder(35.0, 0.12, 0.8, start=-0.8, axis=(0, 0, 1))
    housing = Body.cylinder(17.0, 0.08, 0.5, start=-0.2)
    slide = Body.cylinder(8.0, 0.035, 0.9, start=-0.4)
    links = [
        Link("column", position=(0, 0, 0.8), lower=-2.6, upper=2.6, **_carrying(column)),
        Link("housing", axis=(0, -1, 0), lower=-0.7, upper=1.2, **_carrying(housing)),
        Link("slide", joint="prismatic", axis=(1, 0, 0), lower=0, upper=0.5, **_carrying(slide)),
        Link("tool", joint="fixed", position=(0.5, 0, 0)),
    ]
    return Chain(links, name="spherical")._noted("made-up data")


def angular() -> Chain:
    """Angular arm: a turn about the vertical, shoulder and elbow with parallel axes. All data made up.

    The fourth of the four classical structures of Leskov et al. (2017), section 1.1. The shoulder is 0.6 m high, the
    upper arm 0.5 m and the forearm 0.45 m long; the link "tool" is the end of the forearm. At q = 0 the arm is
    stretched along x, and positive q2 and q3 raise it.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.angular()
    >>> arm
    Chain 'angular': 3 joints (3 revolute), 4 links, 49.0 kg (made-up data)
    >>> arm.pose([0, np.pi / 2, -np.pi / 2], "tool")[:3, 3].round(9) + 0.0
    array([0.45, 0.  , 1.1 ])
    """
    column = Body.cylinder(28.0, 0.11, 0.6, start=-0.6, axis=(0, 0, 1))
    upper = Body.tube(13.0, 0.07, 0.04, 0.5)
    fore = Body.tube(8.0, 0.05, 0.03, 0.45)
    links = [
        Link("column", position=(0, 0, 0.6), lower=-2.6, upper=2.6, **_carrying(column)),
        Link("upper_arm", axis=(0, -1, 0), lower=-0.8, upper=2.4, **_carrying(upper)),
        Link("forearm", axis=(0, -1, 0), position=(0.5, 0, 0), lower=-2.6, upper=2.6, **_carrying(fore)),
        Link("tool", joint="fixed", position=(0.45, 0, 0)),
    ]
    return Chain(links, name="angular")._noted("made-up data")


# ---- arms that people own -------------------------------------------------------------------------------------------


def _symmetric(*six: float) -> list[list[float]]:
    """Tensor from its elements xx, xy, xz, yy, yz, zz."""
    xx, xy, xz, yy, yz, zz = six
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def _ur(
    name: str,
    lengths: tuple[float, ...],
    masses: tuple[float, ...],
    coms: tuple[tuple[float, float, float], ...],
    inertias: tuple[tuple[float, ...], ...],
    speeds: tuple[float, ...],
    efforts: tuple[float, ...],
) -> Chain:
    """An arm of Universal Robots from d1, a2, a3, d4, d5, d6; all of them have one structure."""
    d1, a2, a3, d4, d5, d6 = lengths
    return Chain.from_dh(
        [
            (0.0, d1, 0.0, _RIGHT),
            (0.0, 0.0, a2, 0.0),
            (0.0, 0.0, a3, 0.0),
            (0.0, d4, 0.0, _RIGHT),
            (0.0, d5, 0.0, -_RIGHT),
            (0.0, d6, 0.0, 0.0),
        ],
        masses=masses,
        coms=coms,
        inertias=[_symmetric(*six) for six in inertias],
        lower=np.full(6, -2 * math.pi),
        upper=np.full(6, 2 * math.pi),
        velocity=np.radians(speeds),
        effort=efforts,
        names=("shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3"),
        name=name,
    )


def ur3e() -> Chain:
    """Universal Robots UR3e, 3 kg payload.

    Standard Denavit-Hartenberg with the frames of the maker; the link "tool" is the tool flange. At q = 0 the arm is
    stretched along -x. All joints turn by +-360 degrees as the maker states, though the elbow of the real arm meets
    the upper arm before.

    References
    ----------
    Geometry, masses, centres of mass: Universal Robots, article "DH parameters for calculations of kinematics and
    dynamics", www.universal-robots.com. Inertias: the maker's ROS 2 description,
    ``config/ur3e/physical_parameters.yaml`` of github.com/UniversalRobots/Universal_Robots_ROS2_Description at 3426d67.
    Speeds and torques: ``config/ur3e/joint_limits.yaml`` there at 8ef39b3, which quotes the manual of version 5.8 and
    the article "Max. joint torques".

    Examples
    --------
    >>> import zveno as zv
    >>> zv.robots.ur3e()
    Chain 'ur3e': 6 joints (6 revolute), 7 links, 8.8 kg
    """
    return _ur(
        "ur3e",
        lengths=(0.15185, -0.24355, -0.2132, 0.13105, 0.08535, 0.0921),
        masses=(1.98, 3.4445, 1.437, 0.871, 0.805, 0.261),
        coms=((0, -0.02, 0), (0.13, 0, 0.1157), (0.05, 0, 0.0238), (0, 0, 0.01), (0, 0, 0.01), (0, 0, -0.02)),
        inertias=(
            (0.0027657, 0.0000096, -0.0000149, 0.0021501, 0.0001873, 0.0025626),
            (0.0042623, -0.0000409, -0.0014960, 0.0460284, -0.0000129, 0.0448947),
            (0.0010511, 0.0, -0.0000331, 0.0113396, 0.0000022, 0.0110895),
            (0.0008174, -0.0000005, 0.0000021, 0.0006844, 0.0000617, 0.0005497),
            (0.0006059, -0.0000006, -0.0000006, 0.0005837, -0.0000271, 0.0003831),
            (0.0001080, -0.0000001, -0.0000001, 0.0001086, -0.0000002, 0.0001371),
        ),
        speeds=(180, 180, 180, 360, 360, 360),
        efforts=(56, 56, 28, 12, 12, 12),
    )


def ur5e() -> Chain:
    """Universal Robots UR5e, 5 kg payload.

    Frames, limits and sources as of `ur3e`, with the files of ``config/ur5e``, limits at 1c32d8f.

    References
    ----------
    Universal Robots, article "DH parameters for calculations of kinematics and dynamics"; ROS 2 description.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.ur5e()
    >>> arm
    Chain 'ur5e': 6 joints (6 revolute), 7 links, 17.7 kg
    >>> arm.pose(np.zeros(6), "tool")[:3, 3].round(9)
    array([-0.8172, -0.2329,  0.0628])
    """
    return _ur(
        "ur5e",
        lengths=(0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996),
        masses=(3.761, 8.058, 2.846, 1.37, 1.3, 0.365),
        coms=(
            (0, -0.02561, 0.00193),
            (0.2125, 0, 0.11336),
            (0.15, 0, 0.0265),
            (0, -0.0018, 0.01634),
            (0, 0.0018, 0.01634),
            (0, 0, -0.001159),
        ),
        inertias=(
            (0.00700210, 0.00000073, -0.00001053, 0.00648091, 0.00049994, 0.00657286),
            (0.01505885, -0.00005400, 0.00000563, 0.33388086, -0.00000181, 0.33247207),
            (0.00399632, -0.00001365, 0.00137272, 0.07879254, -0.00000660, 0.07848510),
            (0.00165491, -0.00000282, -0.00000438, 0.00135962, 0.00010157, 0.00126279),
            (0.00135617, -0.00000274, 0.00000444, 0.00127827, -0.00005048, 0.00096614),
            (0.00018694, 0.00000006, -0.00000017, 0.00018908, -0.00000092, 0.00025756),
        ),
        speeds=(180,) * 6,
        efforts=(150, 150, 150, 28, 28, 28),
    )


def ur10e() -> Chain:
    """Universal Robots UR10e, 12.5 kg payload.

    Frames, limits and sources as of `ur3e`, with the files of ``config/ur10e``.

    References
    ----------
    Universal Robots, article "DH parameters for calculations of kinematics and dynamics"; ROS 2 description.

    Examples
    --------
    >>> import zveno as zv
    >>> zv.robots.ur10e()
    Chain 'ur10e': 6 joints (6 revolute), 7 links, 29.1 kg
    """
    return _ur(
        "ur10e",
        lengths=(0.1807, -0.6127, -0.57155, 0.17415, 0.11985, 0.11655),
        masses=(7.369, 13.051, 3.989, 2.1, 1.98, 0.615),
        coms=(
            (0.021, 0, 0.027),
            (0.38, 0, 0.158),
            (0.24, 0, 0.068),
            (0, 0.007, 0.018),
            (0, 0.007, 0.018),
            (0, 0, -0.026),
        ),
        inertias=(
            (0.03408, 0.00002, -0.00425, 0.03529, 0.00008, 0.02156),
            (0.02814, 0.00005, -0.01561, 0.77068, 0.00002, 0.76943),
            (0.01014, 0.00008, 0.00916, 0.30928, 0.0, 0.30646),
            (0.00296, -0.00001, 0.0, 0.00222, -0.00024, 0.00258),
            (0.00296, -0.00001, 0.0, 0.00222, -0.00024, 0.00258),
            (0.00040, 0.0, 0.0, 0.00041, 0.0, 0.00034),
        ),
        speeds=(120, 120, 180, 180, 180, 180),
        efforts=(330, 330, 150, 56, 56, 56),
    )


def kuka_iiwa14() -> Chain:
    """KUKA LBR iiwa 14 R820, seven joints, 14 kg payload.

    Base frame at the mounting face, z up; at q = 0 the arm is stretched upwards, 1.306 m to the link "tool", the
    flange. Shoulder, elbow and wrist are 0.36, 0.78 and 1.18 m high there.

    Notes
    -----
    Inertial data are approximate: those of Drake's model, whose masses of links 2 to 5 and 7 are larger than the CAD
    values of the maker that the same file quotes.

    References
    ----------
    Geometry, limits, speeds, torques and inertial data: ``manipulation/models/iiwa_description/urdf/
    iiwa14_no_collision.urdf`` of github.com/RobotLocomotion/drake at 0b6a9c3. Distances between the axes, limits and
    speeds agree with ``kuka_lbr_iiwa_support/urdf/lbr_iiwa_14_r820_macro.xacro`` of
    github.com/ros-industrial/kuka_experimental at 62256c3 (limits to 0.03 degrees).

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.kuka_iiwa14()
    >>> arm
    Chain 'kuka_iiwa14': 7 joints (7 revolute), 8 links, 25.6 kg (approximate inertias)
    >>> arm.pose(np.zeros(7), "tool")[:3, 3].round(9) + 0.0
    array([0.   , 0.   , 1.306])
    """
    up, down = about_axis(2, math.pi) @ about_axis(0, _RIGHT), about_axis(1, math.pi) @ about_axis(0, -_RIGHT)
    quarter = about_axis(0, _RIGHT)
    rows: list[tuple[Any, ...]] = [  # position, rotation, mass, com, inertia, limit and speed in degrees, torque
        ((0, 0, 0.1575), np.eye(3), 5.76, (0, -0.03, 0.12), (0.033, 0.0333, 0.0123), 170, 85, 320),
        ((0, 0, 0.2025), up, 6.35, (0.0003, 0.059, 0.042), (0.0305, 0.0304, 0.011), 120, 85, 320),
        ((0, 0.2045, 0), up, 3.5, (0, 0.03, 0.13), (0.025, 0.0238, 0.0076), 170, 100, 176),
        ((0, 0, 0.2155), quarter, 3.5, (0, 0.067, 0.034), (0.017, 0.0164, 0.006), 120, 75, 176),
        ((0, 0.1845, 0), down, 3.5, (0.0001, 0.021, 0.076), (0.01, 0.0087, 0.00449), 170, 130, 110),
        ((0, 0, 0.2155), quarter, 1.8, (0, 0.0006, 0.0004), (0.0049, 0.0047, 0.0036), 120, 135, 40),
        ((0, 0.081, 0), down, 1.2, (0, 0, 0.02), (0.001, 0.001, 0.001), 175, 135, 40),
    ]
    links = [
        Link(
            f"link{i}",
            position=position,
            rotation=rotation,
            mass=mass,
            com=com,
            inertia=inertia,
            lower=-math.radians(limit),
            upper=math.radians(limit),
            velocity=math.radians(speed),
            effort=torque,
        )
        for i, (position, rotation, mass, com, inertia, limit, speed, torque) in enumerate(rows, 1)
    ]
    links.append(Link("tool", joint="fixed", position=(0, 0, 0.045)))
    return Chain(links, name="kuka_iiwa14")._noted("approximate inertias")


def abb_irb120() -> Chain:
    """ABB IRB 120-3/0.58, 3 kg payload, reach 0.58 m.

    Base frame at the mounting face, z up, x forward; at q = 0 the upper arm is upright and the forearm lies along x.
    The link "tool" is the flange with z pointing out of it, the maker's tool0.

    Notes
    -----
    The inertia of link 6, 0.001 kg m^2 about every axis for 0.137 kg, is a placeholder of the source. Torques of the
    drives are not in it.

    References
    ----------
    Geometry, limits, speeds and inertial data: ``abb_irb120_support/urdf/irb120_3_58_macro.xacro`` of
    github.com/ros-industrial/abb at 59e17fb.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.abb_irb120()
    >>> arm
    Chain 'abb_irb120': 6 joints (6 revolute), 7 links, 11.9 kg
    >>> arm.pose(np.zeros(6), "tool")[:3, 3].round(9) + 0.0
    array([0.374, 0.   , 0.63 ])
    """
    x, y, z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
    rows: list[tuple[Any, ...]] = [  # axis, position, mass, com, inertia, lower, upper and speed in degrees
        (z, (0, 0, 0), 3.067, (9.77e-05, -0.00012, 0.23841),
         (0.0142175, -1.28579e-05, -2.31364e-05, 0.0144041, 1.93404e-05, 0.0104533), -165, 165, 250),
        (y, (0, 0, 0.29), 3.909, (0.00078, -0.00212, 0.10124),
         (0.0603111, 9.83431e-06, 5.72407e-05, 0.041569, -0.00050497, 0.0259548), -110, 110, 250),
        (y, (0, 0, 0.27), 2.944, (0.02281, 0.00106, 0.05791),
         (0.00835606, -8.01545e-05, 0.00142884, 0.016713, -0.000182227, 0.0126984), -110, 70, 250),
        (x, (0, 0, 0.07), 1.328, (0.2247, 0.00015, 0.00041),
         (0.00284661, -2.12765e-05, -1.6435e-05, 0.00401346, 1.31336e-05, 0.0052535), -160, 160, 320),
        (y, (0.302, 0, 0), 0.546, (-0.00109, 3.68e-05, 6.22e-05),
         (0.000404891, 1.61943e-06, 8.46805e-07, 0.000892825, -1.51792e-08, 0.000815468), -120, 120, 320),
        (x, (0.072, 0, 0), 0.137, (-0.00706, -0.00017, -1.32e-06), (0.001, 0, 0, 0.001, 0, 0.001), -400, 400, 420),
    ]  # fmt: skip
    links = [
        Link(
            f"link{i}",
            axis=axis,
            position=position,
            mass=mass,
            com=com,
            inertia=_symmetric(*six),
            lower=math.radians(lower),
            upper=math.radians(upper),
            velocity=math.radians(speed),
        )
        for i, (axis, position, mass, com, six, lower, upper, speed) in enumerate(rows, 1)
    ]
    links.append(Link("tool", joint="fixed", rotation=about_axis(1, _RIGHT)))
    return Chain(links, name="abb_irb120")


def staubli_rx90() -> Chain:
    """Staubli RX 90, six joints. Geometry and limits are real, inertial data are made up.

    The base frame is at the crossing of axes 1 and 2, z up, x forward. At q = 0 the arm is stretched upwards, and
    positive q2, q3 and q5 lean it forwards. The link "tool" is frame 6 of the source, in the centre of the wrist;
    `Chain.with_tool` adds the way to your flange.

    Notes
    -----
    The source of the limits gives the range of joint 5, -105 to 120 degrees, without its sense: that of joints 2 and 3
    is taken. Axes 5 and 6 are coupled in the real drives, not here.

    References
    ----------
    Structure: W. Khalil, E. Dombre, *Modeling, Identification and Control of Robots*, Hermes Penton, 2002, and
    ``robots/RX90/RX90.par`` of github.com/symoro/symoro at 3d7917d. Lengths of upper arm and forearm, 0.45 m each:
    ``TP3/matLabApp/RX90data.m`` of github.com/MariusBallot/09-2021-Robotics-EFREI-Files at 0bfb6f8. Limits and speeds:
    ``rx90l.py`` of github.com/dimpap5555/Staubli-RX90L-Simulator at 2c5a0b9, of the RX 90 L with its longer forearm.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.staubli_rx90()
    >>> arm
    Chain 'staubli_rx90': 6 joints (6 revolute), 7 links, 76.5 kg (made-up inertias)
    >>> arm.pose(np.zeros(6), "tool")[:3, 3].round(9) + 0.0
    array([0. , 0. , 0.9])
    """
    limits = np.radians([(-160, 160), (-137.5, 137.5), (-142.5, 142.5), (-270, 270), (-105, 120), (-270, 270)])
    return Chain.from_dh(
        [
            (0.0, 0.0, 0.0, 0.0),
            (-_RIGHT, 0.0, 0.0, -_RIGHT),
            (_RIGHT, 0.0, 0.45, 0.0),
            (0.0, 0.45, 0.0, _RIGHT),
            (0.0, 0.0, 0.0, -_RIGHT),
            (0.0, 0.0, 0.0, _RIGHT),
        ],
        convention="modified",
        masses=(35.0, 20.0, 13.0, 6.0, 2.0, 0.5),
        coms=((0, 0, -0.1), (0.2, 0, -0.05), (0, -0.05, 0), (0, 0, -0.15), (0, 0, 0), (0, 0, 0.05)),
        inertias=(
            (0.9, 0.9, 0.5),
            (0.1, 0.6, 0.6),
            (0.15, 0.1, 0.15),
            (0.09, 0.09, 0.01),
            (6e-3, 4e-3, 6e-3),
            (4e-4, 4e-4, 3e-4),
        ),
        lower=limits[:, 0],
        upper=limits[:, 1],
        velocity=np.radians([356, 356, 296, 409, 480, 1125]),
        name="staubli_rx90",
    )._noted("made-up inertias")
