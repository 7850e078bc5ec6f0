"""Well-known arms, ready to use. Where inertial data are made up, the docstring and the ``note`` say so."""

from __future__ import annotations

import math
import warnings

import numpy as np

from .errors import ModelWarning
from .model import Chain, Link

__all__ = ["kawasaki_fs020n", "puma560", "scara", "stanford", "two_link"]

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
