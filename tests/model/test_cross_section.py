"""Cross-sections against textbook values and a solution of Prandtl's equation."""

import math
import pickle

import numpy as np
import pytest
import zveno as zv
from refusals import check_refused
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve
from zveno.sections import Box, IBeam, Rod, Tube

ALL = (Rod(0.02), Tube(0.05, 0.004), Box(0.08, 0.12), Box(0.08, 0.12, 0.005), IBeam(0.1, 0.2, 0.0056, 0.0085))


def by_cells(inside, width, height, cells=800):
    """Area, integrals of z^2 and y^2 by small squares."""
    y, z = (size * ((np.arange(cells) + 0.5) / cells - 0.5) for size in (width, height))
    Y, Z = np.meshgrid(y, z, indexing="ij")
    cell = width * height / cells**2
    full = inside(Y, Z)
    return cell * np.array([full.sum(), (full * Z**2).sum(), (full * Y**2).sum()])


def inside_of(shape):
    """Membership of a point."""
    if isinstance(shape, Rod | Tube):
        inner = shape.radius - shape.thickness if isinstance(shape, Tube) else 0.0
        return lambda y, z: (np.hypot(y, z) <= shape.radius) & (np.hypot(y, z) >= inner)
    if isinstance(shape, Box):
        t = shape.thickness
        if t is None:
            return lambda y, z: np.ones_like(y, bool)
        return lambda y, z: (np.abs(y) > shape.width / 2 - t) | (np.abs(z) > shape.height / 2 - t)
    return lambda y, z: (np.abs(y) < shape.web / 2) | (np.abs(z) > shape.height / 2 - shape.flange)


@pytest.mark.parametrize("shape", ALL, ids=repr)
def test_area_and_second_moments_are_integrals(shape):
    got = shape.area, shape.Iy, shape.Iz
    want = by_cells(inside_of(shape), 2 * shape.half_width, 2 * shape.half_height)
    assert np.allclose(got, want, rtol=0.02)
    assert math.isclose(shape.Ip, shape.Iy + shape.Iz, rel_tol=1e-15)
    assert math.isclose(shape.wy * shape.half_height, shape.Iy, rel_tol=1e-15)
    assert math.isclose(shape.wz * shape.half_width, shape.Iz, rel_tol=1e-15)


def prandtl(inside, hole, width, height, cells):
    """Torsion constant by Prandtl's function: lap phi = -2, 0 outside, one unknown constant in the hole; J = 2 vol phi.

    Finite differences on the nodes of square cells; around the hole, the circulation of the shear is 2 times its area.
    """
    h = width / cells
    ny, nz = cells + 1, round(height / h) + 1
    Y, Z = np.meshgrid(h * (np.arange(ny) - cells / 2), h * (np.arange(nz) - (nz - 1) / 2), indexing="ij")
    wall, void = inside(Y, Z), hole(Y, Z)
    number = np.full((ny, nz), -1)
    number[wall] = np.arange(wall.sum())
    count = int(wall.sum())
    number[void] = count  # all of them the same
    rows, cols, values = [], [], []
    right = np.zeros(count + 1)
    right[:count] = 2 * h * h
    for dy, dz in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        shifted = np.full_like(number, -1)
        a, b = (slice(max(0, -d), n - max(0, d)) for d, n in ((dy, ny), (dz, nz)))
        a2, b2 = (slice(max(0, d), n - max(0, -d)) for d, n in ((dy, ny), (dz, nz)))
        shifted[a, b] = number[a2, b2]
        for mask in (wall, void):
            own, other = number[mask], shifted[mask]
            keep = own != other  # inside of the hole
            own, other = own[keep], other[keep]
            rows.append(own), cols.append(own), values.append(np.ones(len(own)))
            known = other >= 0
            rows.append(own[known]), cols.append(other[known]), values.append(-np.ones(known.sum()))
    area = void.sum() * h * h
    right[count] = 2 * area
    size = count + 1 if void.any() else count
    matrix = coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(cols))), (count + 1,) * 2)
    phi = spsolve(matrix.tocsr()[:size, :size], right[:size])
    return 2 * (phi[:count].sum() * h * h + (phi[count] * area if void.any() else 0.0))


def nothing(y, z):
    return np.zeros_like(y, bool)


@pytest.mark.parametrize(("width", "height"), [(1.0, 1.0), (1.0, 2.0), (2.0, 1.0)])
def test_torsion_of_full_rectangles(width, height):
    want = prandtl(
        lambda y, z: (np.abs(y) < width / 2 - 1e-9) & (np.abs(z) < height / 2 - 1e-9), nothing, width, height, 80
    )
    assert math.isclose(Box(width, height).J, want, rel_tol=2e-3)


@pytest.mark.parametrize("thickness", [0.05, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("height", [1.0, 1.6])
def test_torsion_of_hollow_boxes_are_a_little_soft(thickness, height):
    def hole(y, z):
        return (np.abs(y) < 0.5 - thickness + 1e-9) & (np.abs(z) < height / 2 - thickness + 1e-9)

    def wall(y, z):
        return (np.abs(y) < 0.5 - 1e-9) & (np.abs(z) < height / 2 - 1e-9) & ~hole(y, z)

    want = prandtl(wall, hole, 1.0, height, 160)
    assert 0.93 * want < Box(1.0, height, thickness).J < want


def test_torsion_of_an_i_beam():
    width, height, web, flange = 1.0, 1.2, 0.1, 0.15

    def inside(y, z):
        plate = (
            (np.abs(z) > height / 2 - flange + 1e-9) & (np.abs(z) < height / 2 - 1e-9) & (np.abs(y) < width / 2 - 1e-9)
        )
        return plate | ((np.abs(y) < web / 2 - 1e-9) & (np.abs(z) < height / 2 - 1e-9))

    want = prandtl(inside, nothing, width, height, 400)
    assert math.isclose(IBeam(width, height, web, flange).J, want, rel_tol=0.03)


def test_textbook_values():
    """Timoshenko & Goodier: rectangles 1:1 and 2:1; thin and full rings; Cowper (1966) at nu = 0.3."""
    square, long = Box(1.0, 1.0), Box(2.0, 1.0)
    assert np.allclose([square.J, square.wt, long.J / 2, long.wt / 2], [0.1406, 0.208, 0.229, 0.246], atol=5e-4)
    R, t = 0.1, 1e-5
    thin = Tube(R, t)
    assert math.isclose(thin.J, 2 * math.pi * R**3 * t, rel_tol=1e-3)
    assert math.isclose(thin.shear_area_z, thin.area / 2, rel_tol=1e-3)
    assert math.isclose(thin.kappa(0.3), 2 * 1.3 / (4 + 0.9), rel_tol=1e-3)  # thin ring
    assert math.isclose(Rod(R).kappa(0.3), 6 * 1.3 / (7 + 1.8), rel_tol=1e-15)
    assert math.isclose(Rod(R).shear_area_y, 0.75 * Rod(R).area, rel_tol=1e-15)
    assert math.isclose(Box(0.1, 0.2).kappa(0.3), 10 * 1.3 / (12 + 3.3), rel_tol=1e-15)
    assert math.isclose(Box(0.1, 0.1, 1e-6).kappa(0.3), 20 * 1.3 / (48 + 11.7), rel_tol=1e-12)  # thin square tube
    assert math.isclose(Box(0.1, 0.2).shear_area_z, 2 / 3 * 0.02, rel_tol=1e-12)
    full = Tube(0.05, 0.05)
    assert np.allclose([full.area, full.Iy, full.J, full.wt], [Rod(0.05).area, Rod(0.05).Iy, Rod(0.05).J, Rod(0.05).wt])
    # a web alone: flanges without width but that of the web
    web = IBeam(0.011, 0.2, 0.01, 0.001)
    assert math.isclose(web.kappa(0.3), Box(0.01, 0.2).kappa(0.3), rel_tol=0.05)


def test_a_beam_of_the_european_catalogue():
    """IPE 200 without its fillets: Iy = 1943 cm^4, Iz = 142 cm^4, It = 6.98 cm^4, A = 28.5 cm^2 with them."""
    beam = IBeam(0.1, 0.2, 0.0056, 0.0085)
    assert math.isclose(beam.area, 28.5e-4, rel_tol=0.05)
    assert math.isclose(beam.Iy, 1943e-8, rel_tol=0.06)
    assert math.isclose(beam.Iz, 142e-8, rel_tol=0.01)
    assert 0.6 * 6.98e-8 < beam.J < 6.98e-8


@pytest.mark.parametrize("shape", ALL, ids=repr)
def test_cross_sections_are_values(shape):
    kind = type(shape)
    assert pickle.loads(pickle.dumps(shape)) == shape == kind.from_dict(shape.to_dict())
    assert hash(kind.from_dict(shape.to_dict())) == hash(shape)
    assert 0 < shape.kappa(0.3) < 1
    assert 0 < shape.kappa(0.0, "y") < 1
    assert shape.wt > 0
    with pytest.raises(AttributeError, match="immutable"):
        shape.width = 1.0


@pytest.mark.parametrize(("make", "arguments", "words"), [
    (Rod, (0.0,), ["Rod", "radius"]),
    (Rod, (-1.0,), ["Rod", "radius", "-1"]),
    (Rod, ("a",), ["Rod", "radius", "'a'"]),
    (Rod, (math.nan,), ["Rod", "radius"]),
    (Rod, (1e30,), ["Rod", "radius"]),
    (Tube, (0.05, 0.06), ["Tube", "thickness", "0.06"]),
    (Tube, (0.05, 0.0), ["Tube", "thickness"]),
    (Box, (0.05, 0.1, 0.025), ["Box", "thickness"]),
    (Box, (0.05, None), ["Box", "height"]),
    (IBeam, (0.1, 0.2, 0.1, 0.01), ["IBeam", "web"]),
    (IBeam, (0.1, 0.2, 0.01, 0.1), ["IBeam", "flange"]),
])  # fmt: skip
def test_sizes_that_no_section_has(make, arguments, words):
    check_refused(zv.ModelError, words, make, *arguments)


def test_kappa_refuses_nonsense():
    check_refused(ValueError, ["Rod.kappa", "poisson", "0.6"], Rod(0.1).kappa, 0.6)
    check_refused(ValueError, ["Box.kappa", "poisson"], Box(0.1, 0.1).kappa, "a")
    check_refused(ValueError, ["Box.kappa", "axis", "'x'"], Box(0.1, 0.1).kappa, 0.3, "x")
