"""Workspaces of chains: volumes and areas that are known, sections, surfaces, dexterity, errors."""

import numpy as np
import pytest
import zveno as zv

TIP = {"joint": "fixed"}


def polar():
    """A turn about z, one about y, a slide along x: a part of a thick shell."""
    return zv.Chain(
        [
            zv.Link("yaw", lower=-1.0, upper=2.0, mass=1),
            zv.Link("pitch", axis=(0, 1, 0), lower=-0.7, upper=0.5, mass=1),
            zv.Link("slide", joint="prismatic", axis=(1, 0, 0), lower=0.6, upper=1.4, mass=1, com=(0.1, 0, 0)),
        ],
        name="polar",
    )


def test_the_volume_of_a_part_of_a_shell():
    ws = polar().workspace(points=26, samples=20_000)
    exact = (1.4**3 - 0.6**3) / 3 * 3.0 * (np.sin(0.7) + np.sin(0.5))
    assert abs(ws.volume / exact - 1) < 0.02
    inside = np.argwhere(ws.reachable)
    places = np.stack([ws.grid[k][inside[:, k]] for k in range(3)], axis=-1)
    radius = np.linalg.norm(places, axis=1)
    assert (radius > 0.6).all()
    assert (radius < 1.4).all()
    np.testing.assert_allclose(polar().pose(ws.q[ws.reachable], "slide")[:, :3, 3], places, atol=2e-6)
    # every centre inside by the closed form was found
    grid = np.stack(np.meshgrid(*ws.grid, indexing="ij"), axis=-1)
    radius, yaw = np.linalg.norm(grid, axis=-1), np.arctan2(grid[..., 1], grid[..., 0])
    pitch = -np.arcsin(grid[..., 2] / np.maximum(radius, 1e-9))
    exact = (radius > 0.6) & (radius < 1.4) & (yaw > -1) & (yaw < 2) & (pitch > -0.7) & (pitch < 0.5)
    assert np.count_nonzero(exact != ws.reachable) <= 0.002 * np.count_nonzero(exact)


def test_the_area_of_a_planar_arm():
    arm = zv.Chain(
        [
            zv.Link("a", mass=1),
            zv.Link("b", position=(1, 0, 0), mass=1),
            zv.Link("t", joint="fixed", position=(0.6, 0, 0)),
        ]
    )
    exact = np.pi * (1.6**2 - 0.4**2)
    flat = arm.workspace(points=70, samples=4000)
    assert flat.reachable.shape == (70, 70, 1)
    assert abs(flat.volume / exact - 1) < 0.01
    section = arm.workspace(axes=("x", "y"), points=70, samples=4000)
    assert abs(section.volume / exact - 1) < 0.01
    assert not arm.workspace(axes=("x", "y"), points=20, at=(0, 0, 0.1), samples=2000).reachable.any()
    # manipulability of its point: l1 l2 |sin q2|
    known = section.reachable
    want = 0.6 * np.abs(np.sin(section.q[known][:, 1]))
    np.testing.assert_allclose(section.manipulability[known], want, atol=1e-12)
    assert np.isnan(section.manipulability[~known]).all()


def test_a_box_and_its_surface():
    slides = [
        zv.Link(name, joint="prismatic", axis=axis, lower=0.0, upper=size, mass=1)
        for name, axis, size in (("x", (1, 0, 0), 1.0), ("y", (0, 1, 0), 0.5), ("z", (0, 0, 1), 0.8))
    ]
    arm = zv.Chain(slides, name="portal")
    ws = arm.workspace(points=10, extent=[(0, 1), (0, 0.5), (0, 0.8)], samples=4000)
    assert ws.reachable.all()
    np.testing.assert_allclose(ws.volume, 0.4)
    vertices, faces = ws.surface()
    assert len(faces) == 6 * 2 * 100
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    np.testing.assert_allclose((a * np.cross(b, c)).sum() / 6, 0.4)  # Gauss: closed, normals outwards
    smooth = ws.surface(smooth=2)[0]
    assert (smooth >= vertices.min(axis=0) - 1e-12).all()
    layer = ws.section("z", 0.41)
    assert layer.axes == ("x", "y")
    np.testing.assert_allclose(layer.volume, 0.5)
    with pytest.raises(ValueError, match="section already"):
        layer.section("x", 0)
    with pytest.raises(ValueError, match="no volume"):
        layer.surface()


def test_the_dexterous_part_of_an_arm_with_a_spherical_wrist():
    """A wrist without limits turns every way: dexterous are places that have all points a hand away in its reach."""
    arm = zv.Chain(
        [
            zv.Link("base1", mass=1),
            zv.Link("arm", axis=(0, 1, 0), mass=1),
            zv.Link("fore", axis=(0, 1, 0), position=(0.5, 0, 0), mass=1),
            zv.Link("w1", axis=(1, 0, 0), position=(0.5, 0, 0), mass=1),
            zv.Link("w2", axis=(0, 1, 0), mass=1),
            zv.Link("w3", axis=(1, 0, 0), mass=1),
            zv.Link("hand", joint="fixed", position=(0.2, 0, 0)),
        ]
    )
    ws = arm.workspace(axes=("x", "z"), points=25, orientations=40, samples=20_000)
    x, z = np.meshgrid(*ws.grid, indexing="ij")
    radius = np.hypot(x, z)
    assert ws.reachable[radius < 1.19].all()
    assert not ws.reachable[radius > 1.2].any()
    assert ws.dexterous[radius < 0.79].all()
    assert not ws.dexterous[radius > 0.85].any()  # 40 orientations do not find the very border
    assert ws.dexterous_volume < ws.volume
    # one orientation: the ball of the wrist, moved by the hand
    one = arm.workspace(axes=("x", "z"), points=25, orientation=np.eye(3), samples=20_000)
    shifted = np.hypot(x - 0.2, z)
    x, z = np.meshgrid(*one.grid, indexing="ij")
    shifted = np.hypot(x - 0.2, z)
    assert one.reachable[(shifted < 0.98)].mean() > 0.999
    assert not one.reachable[shifted > 1.0].any()


def test_payload_over_the_workspace_is_that_of_its_configurations():
    arm = zv.robots.two_link()
    ws = arm.workspace(axes=("x", "z"), points=15, samples=2000, payload=True, effort=[60.0, 30.0])
    known = ws.reachable
    want = arm.payload_capacity(ws.q[known], effort=[60.0, 30.0]).mass
    np.testing.assert_array_equal(ws.payload[known], want)
    assert np.isnan(ws.payload[~known]).all()


def test_pictures_have_what_was_asked_for():
    arm = zv.robots.two_link()
    ws = arm.workspace(axes=("x", "z"), points=15, samples=2000, payload=True, effort=[60.0, 30.0])
    for what in ("", "reach", "manipulability", "payload"):
        figure = ws.plot(what)
        assert "two_link" in figure.axes[0].get_title()
    solid = polar().workspace(points=8, samples=2000)
    for what in ("", "manipulability"):
        assert solid.plot(what).axes[0].name == "3d"
    with pytest.raises(ValueError, match=r"not computed.*orientations"):
        ws.plot("dexterity")


def test_what_makes_no_sense_is_refused():
    arm = polar()
    for words, options in (
        ("axes is", {"axes": ("x", "u")}),
        ("axes is", {"axes": ("x", "x")}),
        ("axes is", {"axes": "x"}),
        ("points is", {"points": 0}),
        ("points is", {"points": (3, 3)}),
        ("at most 1e7", {"points": 2000}),
        (r"extent\[0\] is", {"extent": [(1, 0), (0, 1), (0, 1)]}),
        ("extent is", {"extent": [(0, 1)]}),
        ("samples is", {"samples": 3}),
        ("no link 'tool'", {"link": "tool"}),
        ("orientation", {"orientation": np.ones((3, 3))}),
        ("mask is given without", {"mask": (1, 1, 1, 1, 1, 0)}),
        ("no limits of efforts", {"payload": True, "samples": 100, "points": 2}),
    ):
        with pytest.raises(ValueError, match=words):
            arm.workspace(**options)
    free = zv.Chain([zv.Link("slide", joint="prismatic", mass=1)])
    with pytest.raises(ValueError, match="joint 'slide_joint' slides without limits"):
        free.workspace()
    with pytest.raises(ValueError, match="no orientations were tried"):
        _ = arm.workspace(points=2, samples=100).dexterous
