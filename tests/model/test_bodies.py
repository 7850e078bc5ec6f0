"""Bodies of primitives, of meshes and of other bodies: closed forms, sums that must agree, files that must not hurt."""

import contextlib
import math
import os
import re
import struct
import tempfile

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_body, random_rotation
from hypothesis import given
from hypothesis import strategies as st

Body = zv.Body
size = st.floats(0.01, 3)


def same(one, two, rtol=1e-12):
    scale = one.mass * max(1e-3, np.abs(one.com).max(), *np.abs(one.inertia / max(one.mass, 1e-300)).ravel()) + 1e-30
    assert one.mass == pytest.approx(two.mass, rel=rtol)
    np.testing.assert_allclose(one.com, two.com, rtol=rtol, atol=rtol * scale)
    np.testing.assert_allclose(one.inertia, two.inertia, rtol=rtol, atol=rtol * scale)


# ---- the textbook's composition ------------------------------------------------------------------------------------


def test_the_composition_gives_the_printed_digits():
    first, _ = Body.drive_halves(12, 0.09, 0.14, axis=(1, 0, 0), centre=(0, -0.06, 0.02))
    arm = Body.cylinder(18, 0.08, 0.36, start=-0.36, axis=(0, 0, 1))
    second, _ = Body.drive_halves(7, 0.06, 0.16)
    link = Body.compose([first, arm, second])
    assert link.mass == 27.5
    np.testing.assert_allclose(link.com, (0, -0.013090909, -0.113454545), rtol=0, atol=5.1e-10)
    J = np.diag([0.506625758, 0.487388485, 0.102737273])
    J[1, 2] = J[2, 1] = 0.048043636
    np.testing.assert_allclose(link.inertia, J, rtol=0, atol=5.1e-10)


@pytest.mark.parametrize("split", ["mass", "cut"])
def test_two_halves_are_the_drive(split):
    axis, centre = (1, 2, -2), np.array([0.1, 0.2, 0.3])
    whole = Body.cylinder(12, 0.09, 0.14, start=-0.07, axis=axis).placed(centre)
    first, second = Body.drive_halves(12, 0.09, 0.14, axis=axis, centre=centre, split=split)
    same(Body.compose([first, second]), whole)
    along = (second.com - first.com) @ axis / 3
    assert along == pytest.approx(0.07 if split == "cut" else 0)


# ---- primitives ----------------------------------------------------------------------------------------------------


def slices(radius_at, hole_at, length, count=4000):
    """Mass per density, place and moments about the centre of a body of revolution, by slices across its axis x."""
    x = (np.arange(count) + 0.5) / count * length
    r, hole = radius_at(x), hole_at(x)
    m = math.pi * (r**2 - hole**2) * length / count
    mass, centre = m.sum(), (m * x).sum() / m.sum()
    along = (m * (r**2 + hole**2) / 2).sum()
    across = along / 2 + (m * (x - centre) ** 2).sum()
    return mass, centre, along, across


@given(size, size, size)
def test_bodies_of_revolution_are_their_slices(r, other, length):
    big, small = max(r, other), min(r, other)
    cases = {
        "cylinder": (Body.cylinder(None, r, length, density=1.0), lambda x: r + 0 * x, lambda x: 0 * x),
        "tube": (Body.tube(None, big, small, length, density=1.0), lambda x: big + 0 * x, lambda x: small + 0 * x),
        "cone": (Body.cone(None, r, length, density=1.0), lambda x: r * (1 - x / length), lambda x: 0 * x),
        "frustum": (
            Body.cone(None, r, length, end_radius=other, density=1.0),
            lambda x: r + (other - r) * x / length,
            lambda x: 0 * x,
        ),
    }
    for name, (body, radius_at, hole_at) in cases.items():
        if name == "tube" and big - small < 1e-3 * big:
            continue
        mass, centre, along, across = slices(radius_at, hole_at, length)
        assert body.mass == pytest.approx(mass, rel=1e-5), name
        assert body.com == pytest.approx([centre, 0, 0], rel=1e-5, abs=1e-9), name
        np.testing.assert_allclose(np.diag(body.inertia), (along, across, across), rtol=1e-4, err_msg=name)


@given(size, size)
def test_balls_and_capsules_are_their_slices(r, length):
    ball = Body.sphere(None, r, density=1.0)
    mass, _, along, across = slices(lambda x: np.sqrt(np.maximum(r**2 - (x - r) ** 2, 0)), lambda x: 0 * x, 2 * r)
    np.testing.assert_allclose([ball.mass, *np.diag(ball.inertia)], (mass, along, across, across), rtol=1e-5)

    def radius(x):
        beyond = np.maximum(np.maximum(r - x, x - r - length), 0)
        return np.sqrt(np.maximum(r**2 - beyond**2, 0))

    capsule = Body.capsule(None, r, length, start=r, density=1.0)
    mass, centre, along, across = slices(radius, lambda x: 0 * x, length + 2 * r)
    np.testing.assert_allclose([capsule.mass, *np.diag(capsule.inertia)], (mass, along, across, across), rtol=2e-5)
    assert capsule.com[0] == pytest.approx(centre)


@given(size, size, size)
def test_limits_of_shapes_are_other_shapes(r, length, m):
    same(Body.tube(m, r, 0.0, length), Body.cylinder(m, r, length))
    same(Body.cone(m, r, length, end_radius=r), Body.cylinder(m, r, length))
    same(Body.capsule(m, r, 0.0), Body.sphere(m, r))
    shell = Body.sphere(m, r, r)
    np.testing.assert_allclose(shell.inertia, 2 / 3 * m * r**2 * np.eye(3), rtol=1e-14)
    inner = Body.sphere(None, r / 2, density=7.0)
    outer = Body.sphere(None, r, density=7.0)
    hollow = Body.sphere(None, r, r / 2, density=7.0)
    same(Body.compose([hollow, inner]), outer)
    tip = Body.cone(None, r / 2, length, density=7.0)
    frustum = Body.cone(None, r, length, end_radius=r / 2, density=7.0)
    same(Body.compose([frustum, (tip, (length, 0, 0))]), Body.cone(None, r, 2 * length, density=7.0))
    halves = Body.box(m / 2, (length / 2, r, r))
    whole = Body.compose([(halves, (-length / 4, 0, 0)), (halves, (length / 4, 0, 0))])
    same(whole, Body.box(m, (length, r, r)))


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -3), (1, 2, 2), (1e-9, 1, 0)])
def test_an_axis_turns_the_body(axis):
    u = np.array(axis) / np.linalg.norm(axis)
    for body, turned in (
        (Body.cylinder(3, 0.1, 0.6, 0.2), Body.cylinder(3, 0.1, 0.6, 0.2, axis=axis)),
        (Body.tube(3, 0.1, 0.05, 0.6), Body.tube(3, 0.1, 0.05, 0.6, axis=axis)),
        (Body.cone(3, 0.1, 0.6), Body.cone(3, 0.1, 0.6, axis=axis)),
        (Body.capsule(3, 0.1, 0.6), Body.capsule(3, 0.1, 0.6, axis=axis)),
    ):
        np.testing.assert_allclose(turned.com, body.com[0] * u, atol=1e-16)
        assert u @ turned.inertia @ u == pytest.approx(body.inertia[0, 0], rel=1e-12)
        np.testing.assert_allclose(np.linalg.eigvalsh(turned.inertia), np.sort(np.diag(body.inertia)), rtol=1e-12)


# ---- composition ---------------------------------------------------------------------------------------------------


def random_bodies(seed, count):
    rng = np.random.default_rng(seed)
    bodies = [Body(b["mass"], b["inertia"], b["com"]) for b in (random_body(rng) for _ in range(count))]
    poses = []
    for _ in range(count):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = random_rotation(rng), rng.uniform(-1, 1, 3)
        poses.append(T)
    return bodies, poses, rng


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_a_composed_body_moves_like_its_parts(seed, count):
    bodies, poses, rng = random_bodies(seed, count)
    whole = Body.compose(zip(bodies, poses, strict=True))
    v, w = rng.normal(size=(2, 3))

    def energy(body, T):
        c = T[:3, :3] @ body.com + T[:3, 3]
        speed, turn = v + np.cross(w, c), T[:3, :3].T @ w
        return (body.mass * speed @ speed + turn @ body.inertia @ turn) / 2

    parts = sum(energy(body, T) for body, T in zip(bodies, poses, strict=True))
    assert energy(whole, np.eye(4)) == pytest.approx(parts, rel=1e-12)
    assert whole.mass == pytest.approx(sum(body.mass for body in bodies))


@given(st.integers(0, 2**32 - 1))
def test_composition_is_associative_and_placing_a_motion(seed):
    bodies, poses, _ = random_bodies(seed, 3)
    parts = list(zip(bodies, poses, strict=True))
    same(Body.compose([Body.compose(parts[:2]), parts[2]]), Body.compose(parts))
    first, second = poses[:2]
    same(bodies[0].placed(pose=second).placed(pose=first), bodies[0].placed(pose=first @ second))
    same(bodies[0].placed(pose=first).placed(pose=np.linalg.inv(first)), bodies[0])


def test_a_composed_link_is_the_chain_of_welded_ones(rng):
    bodies, poses, _ = random_bodies(3, 3)
    whole = Body.compose(zip(bodies, poses, strict=True))
    one = zv.Chain([zv.Link("a", axis=(1, 2, 3), mass=whole.mass, com=whole.com, inertia=whole.inertia)])
    parts = [
        zv.Link(f"p{i}", parent="a", joint="fixed", pose=T, mass=b.mass, com=b.com, inertia=b.inertia)
        for i, (b, T) in enumerate(zip(bodies, poses, strict=True))
    ]
    many = zv.Chain([zv.Link("a", axis=(1, 2, 3)), *parts])
    state = rng.normal(size=(3, 1))
    np.testing.assert_allclose(one.inverse_dynamics(*state), many.inverse_dynamics(*state), rtol=1e-12)


def test_points_without_mass_compose():
    assert Body.compose([Body(0.0, 0.0), Body(0.0, 0.0, (1, 0, 0))]).mass == 0
    point = Body(2.0, 0.0)
    pair = Body.compose([(point, (1, 0, 0)), (point, (-1, 0, 0))])
    np.testing.assert_allclose(pair.inertia, np.diag([0, 4, 4]), atol=1e-15)


# ---- meshes --------------------------------------------------------------------------------------------------------

QUADS = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]


def box_mesh(size):
    corners = np.array([(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) / 2 * size
    faces = [(a, b, c) for q in QUADS for a, b, c in ((q[0], q[1], q[2]), (q[0], q[2], q[3]))]
    return corners, np.array(faces)


def sphere_mesh(radius, rows=120):
    """Corners on the sphere; the body inside is smaller by O(1 / rows^2)."""
    theta, phi = np.linspace(0, math.pi, rows + 1), np.linspace(0, 2 * math.pi, 2 * rows + 1)
    theta[-1], phi[-1] = math.pi, 0.0
    s, c = np.sin(theta), np.cos(theta)
    s[0] = s[-1] = 0.0
    grid = radius * np.stack(
        [np.outer(s, np.cos(phi)), np.outer(s, np.sin(phi)), np.repeat(c[:, None], len(phi), axis=1)], axis=-1
    )
    a, b, d, e = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    return np.concatenate([np.stack([a, b, d], axis=-2), np.stack([a, d, e], axis=-2)]).reshape(-1, 3, 3)


def test_the_mesh_of_a_box_is_the_box(rng):
    edges = (0.3, 0.5, 0.8)
    vertices, faces = box_mesh(edges)
    box = Body.box(None, edges, density=2700.0)
    same(Body.mesh((vertices, faces), density=2700.0), box, rtol=1e-14)
    same(Body.mesh((vertices, faces), mass=box.mass), box, rtol=1e-14)
    same(Body.mesh(vertices[faces], mass=box.mass), box, rtol=1e-14)
    same(Body.mesh((1000 * vertices, faces[:, ::-1]), scale=1e-3, density=2700.0), box)  # inside out, millimetres
    R, r = random_rotation(rng), np.array([10.0, -20, 30])
    same(Body.mesh((vertices @ R.T + r, faces), density=2700.0), box.placed(r, R), rtol=1e-10)


def test_the_mesh_of_a_sphere_converges_to_the_ball():
    errors = []
    for rows in (30, 60):
        ball, mesh = Body.sphere(None, 0.4, density=1.0), Body.mesh(sphere_mesh(0.4, rows), density=1.0)
        np.testing.assert_allclose(mesh.com, 0, atol=1e-15)
        errors.append([1 - mesh.mass / ball.mass, *(1 - np.diag(mesh.inertia) / ball.inertia[0, 0])])
    first, second = np.array(errors)
    assert (second > 0).all() and (second < 0.01).all()
    np.testing.assert_allclose(first / second, 4, rtol=0.02)
    np.testing.assert_allclose(second - first / 4, 0, atol=1e-5)  # extrapolated


def test_a_hole_in_a_body_is_a_surface_turned_inwards():
    vertices, faces = box_mesh((1.0, 1.0, 1.0))
    both = np.concatenate([vertices[faces], 0.5 * vertices[faces[:, ::-1]]])
    hollow = Body.mesh(both, density=1.0)
    same(Body.compose([hollow, Body.box(None, (0.5, 0.5, 0.5), density=1.0)]), Body.box(None, (1, 1, 1), density=1.0))


def binary_stl(corners):
    head = b"solid may stand here too".ljust(80) + struct.pack("<I", len(corners))
    return head + b"".join(struct.pack("<12fH", *np.zeros(3), *t.ravel(), 7) for t in corners)


def ascii_stl(corners):
    lines = ["solid box"]
    for triangle in corners:
        lines += ["facet normal 0 0 0", " outer loop"]
        lines += ["  vertex " + " ".join(repr(float(x)) for x in p) for p in triangle]
        lines += [" endloop", "endfacet"]
    return "\n".join([*lines, "endsolid box", ""]).encode()


def obj(vertices, quads, first=1):
    lines = ["# a comment", "o box", "vn 0 0 1"]
    lines += ["v " + " ".join(repr(float(x)) for x in p) for p in vertices]
    count = len(vertices)
    lines += ["f " + " ".join(f"{i + 1 if first > 0 else i - count}/1/1" for i in quad) for quad in quads]
    return "\r\n".join(lines).encode()


@pytest.mark.parametrize("name", ["binary.stl", "text.STL", "quads.obj", "from_the_end.OBJ"])
def test_files_give_the_body_of_the_surface(name, tmp_path):
    edges = (0.25, 0.5, 0.75)  # exact in single precision
    vertices, faces = box_mesh(edges)
    data = {
        "binary.stl": lambda: binary_stl(vertices[faces]),
        "text.STL": lambda: ascii_stl(vertices[faces]),
        "quads.obj": lambda: obj(vertices, QUADS),
        "from_the_end.OBJ": lambda: obj(vertices, QUADS, first=-1),
    }[name]()
    path = tmp_path / name
    path.write_bytes(data)
    box = Body.box(None, edges, density=1000.0)
    same(Body.mesh(path, density=1000.0), box, rtol=1e-14)
    same(Body.mesh(str(path), density=1000.0), box, rtol=1e-14)


GOOD = box_mesh((1.0, 1.0, 1.0))
TEXT = ascii_stl(GOOD[0][GOOD[1]])


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.stl", b"", "0 bytes are no text that begins with 'solid', and a binary STL has 84 at least"),
        ("a.stl", b"\x00" * 84, "the mesh has no triangles"),
        ("a.stl", b"\x00" * 80 + b"\xff\xff\xff\xff", "84 bytes .* of 4294967295 triangles would have 214748364834"),
        ("a.stl", binary_stl(GOOD[0][GOOD[1]])[:-1], "683 bytes .* a binary STL of 12 triangles would have 684"),
        ("a.stl", binary_stl(np.full((1, 3, 3), np.nan)), "triangle 1 has a coordinate that is not finite"),
        ("a.stl", TEXT.replace(b"0.5", b"x", 1), "line 4: .*expected three numbers"),
        ("a.stl", TEXT.replace(b"0.5", b"1e999", 1), "not finite"),
        ("a.stl", TEXT.replace(b"  vertex", b"  vortex", 1), "line 4: '  vortex .*expected a word of STL"),
        ("a.stl", TEXT.replace(b"endfacet", b"", 1), "a facet of 6 vertices, expected 3"),
        ("a.stl", TEXT[: TEXT.rindex(b"endfacet")], "the last facet does not end"),
        ("a.stl", b"solid\nvertex 1 2\nendfacet", "line 2: '1 2', expected three numbers"),
        ("a.stl", b"solid nothing\nendsolid", "the mesh has no triangles"),
        ("a.obj", b"", "no face"),
        ("a.obj", b"v 0 0 0\nf 1 1 2", "line 2: a face names vertex '2', and 1 are known"),
        ("a.obj", b"v 0 0 0\nf 1 1 0", "line 2: a face names vertex '0'"),
        ("a.obj", b"v 0 0 0\nf 1 1 -2", "line 2: a face names vertex '-2'"),
        ("a.obj", b"v 0 0 0\nf 1 1 a", "line 2: a face names vertex 'a'"),
        ("a.obj", b"v 0 0 0\nf 1 1 " + b"9" * 10**5, "line 2: a face names vertex"),
        ("a.obj", b"v 0 0 0\nf 1 1", "line 2: a face of 2 vertices, expected 3 to 999"),
        ("a.obj", b"v 0 0 0\nf" + b" 1" * 5000, "line 2: a face of 5000 vertices"),
        ("a.obj", b"v 0 0\n", "line 1: '0 0', expected three numbers"),
        ("a.obj", b"v nan 0 0\nf 1 1 1", "not finite"),
        ("a.ply", b"ply\nformat ascii 1.0", "expected a file that is named .stl or .obj"),
    ],
)
def test_bad_files_are_refused_with_the_line(name, data, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(zv.ModelError, match=f"^Body.mesh: .*{message}") as caught:
        Body.mesh(path, density=1.0)
    assert len(str(caught.value)) < 400


HEADS = [b"", b"solid ", TEXT[:200], b"v 0 0 0\nf "]


@given(st.binary(max_size=300), st.sampled_from(["a.stl", "a.obj"]), st.sampled_from(HEADS))
def test_any_bytes_are_a_body_or_a_model_error(data, name, head):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(head + data)
        with contextlib.suppress(zv.ModelError):
            Body.mesh(path, mass=1.0)


def test_open_and_mixed_surfaces_are_refused_with_a_place():
    vertices, faces = box_mesh((1.0, 1.0, 1.0))
    with pytest.raises(zv.ModelError, match=r"not closed.*3 of 18 edges .* one at \(.*closed=False takes it as it is"):
        Body.mesh((vertices, faces[1:]), density=1.0)
    mixed = faces.copy()
    mixed[0] = mixed[0, ::-1]
    with pytest.raises(zv.ModelError, match="3 of 18 edges"):
        Body.mesh((vertices, mixed), density=1.0)
    taken = Body.mesh((vertices, faces[1:]), density=1.0, closed=False)
    assert 0.5 < taken.mass < 1.0
    thin = np.concatenate([vertices[faces], [vertices[[0, 0, 1]]]])  # a triangle without area
    same(Body.mesh(thin, density=1.0), Body.box(1.0, (1, 1, 1)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Body.box(1.0, (1, 2)), "Body.box: size has shape (2,), expected (3,)"),
        (lambda: Body.box(1.0, (1, 2, -3)), "Body.box: size is [1.0, 2.0, -3.0], expected numbers >= 0"),
        (lambda: Body.box(None, (1, 2, 3)), "Body.box: mass is None and density is None, expected one of the two"),
        (lambda: Body.box(1.0, (1, 2, 3), density=1.0), "Body.box: mass is 1.0 and density is 1.0, expected one of"),
        (lambda: Body.box(-1.0, (1, 2, 3)), "Body.box: mass is -1, expected a number >= 0"),
        (lambda: Body.box(None, (1, 2, 3), density="steel"), "Body.box: density is 'steel', expected a number"),
        (lambda: Body.box(None, (1e60, 1e60, 1e60), density=1.0), "too large"),
        (lambda: Body.cylinder(1.0, -0.1, 1.0), "Body.cylinder: radius is -0.1, expected a number >= 0"),
        (
            lambda: Body.cylinder(1.0, 0.1, 1.0, axis=(0, 0, 0)),
            "Body.cylinder: axis is [0.0, 0.0, 0.0], expected a dir",
        ),
        (lambda: Body.cylinder(1.0, 0.1, math.nan), "Body.cylinder: length is nan"),
        (lambda: Body.tube(1.0, 0.1, 0.2, 1.0), "Body.tube: inner_radius is 0.2, expected at most the radius 0.1"),
        (lambda: Body.sphere(1.0, 0.1, 0.2), "Body.sphere: inner_radius is 0.2, expected at most the radius 0.1"),
        (lambda: Body.cone(1.0, 0.0, 1.0), "Body.cone: radius and end_radius are 0"),
        (lambda: Body.capsule(1.0, "r", 1.0), "Body.capsule: radius is 'r', expected a number"),
        (
            lambda: Body.drive_halves(1, 1, 1, split="both"),
            "Body.drive_halves: split is 'both', expected 'mass' or 'cut'",
        ),
        (lambda: Body.drive_halves(1, -1, 1), "Body.drive_halves: radius is -1"),
        (lambda: Body.drive_halves(1, 1, 1, centre=3), "Body.drive_halves: centre has shape"),
        (lambda: Body.compose([]), "Body.compose: parts is [], expected one Body or more"),
        (lambda: Body.compose(Body(1.0, 1.0)), "Body.compose: parts is Body(1 kg), expected one Body or more"),
        (lambda: Body.compose([3]), "Body.compose: parts[0] is 3, expected a Body or a pair (Body, pose)"),
        (lambda: Body.compose([(Body(1.0, 1.0), np.eye(3))]), "Body.compose: pose of parts[0] has shape (3, 3)"),
        (lambda: Body.compose([(Body(1.0, 1.0), 2 * np.eye(4))]), "Body.compose: the last row of pose of parts[0]"),
        (lambda: Body(1.0, 1.0).placed((0, 0)), "Body.placed: position has shape (2,), expected (3,)"),
        (lambda: Body(1.0, 1.0).placed(rotation=2 * np.eye(3)), "Body.placed: rotation is not orthonormal"),
        (lambda: Body(1.0, 1.0).placed((0, 0, 0), pose=np.eye(4)), "Body.placed: pose is given and so is position"),
        (lambda: Body.mesh(3, density=1.0), "Body.mesh: source is 3, expected a path, a pair (vertices, faces) or an"),
        (lambda: Body.mesh(np.zeros((2, 3)), density=1.0), "Body.mesh: source has shape (2, 3), expected a path"),
        (
            lambda: Body.mesh(([(0, 0)], [(0, 0, 0)]), density=1.0),
            "Body.mesh: vertices has shape (1, 2), expected (n, 3)",
        ),
        (lambda: Body.mesh((GOOD[0], GOOD[1] + 1), density=1.0), "Body.mesh: faces names vertex 8, expected 0 to 7"),
        (lambda: Body.mesh((GOOD[0], GOOD[1] - 1), density=1.0), "Body.mesh: faces names vertex -1, expected 0 to 7"),
        (
            lambda: Body.mesh((GOOD[0], GOOD[1] * 1.0), density=1.0),
            "Body.mesh: faces has type float64, expected integers",
        ),
        (lambda: Body.mesh((GOOD[0] * 0, GOOD[1]), density=1.0), "Body.mesh: the mesh encloses 0 m^3"),
        (lambda: Body.mesh(GOOD, density=1.0, scale=0), "Body.mesh: scale is 0, expected a number > 0"),
        (lambda: Body.mesh(GOOD, density=1.0, closed="no"), "Body.mesh: closed is 'no', expected True or False"),
        (lambda: Body.mesh(GOOD), "Body.mesh: mass is None and density is None"),
        (lambda: Body.mesh("no such file.stl", density=1.0), "Body.mesh: cannot read 'no such file.stl'"),
        (lambda: Body.mesh("/", density=1.0), "Body.mesh: cannot read '/'"),
        (lambda: Body.mesh("a\0b", density=1.0), "Body.mesh: path is 'a\\x00b', a name cannot hold a null character"),
    ],
)
def test_bad_arguments_name_function_argument_and_value(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
