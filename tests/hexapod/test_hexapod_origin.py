"""A platform with an origin of its own: the same ring, described from another point."""

import copy
import json
import pickle

import hexapod_models as models
import numpy as np
import pytest
import zveno as zv
from helpers import assert_close
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from reference import hexapod as hd
from scipy.spatial.transform import RigidTransform, Rotation

CASES = [*(f"{type}-skew" for type in hd.TYPES), "mixed-general", models.UUU]


def described_from(hx, com, **options):
    """The same mechanism; the platform's frame has its centre of mass at `com`."""
    legs = [leg._with(ring=leg.ring + com) for leg in hx.legs]
    r, R = hx.nominal
    platform = zv.Body(hx.platform.mass, hx.platform.inertia, com)
    return zv.Hexapod(platform, legs, nominal=(r - R @ com, R), gravity=hx.gravity, **options)


@pytest.mark.parametrize("case", CASES)
def test_every_result_is_that_of_the_ring_described_from_its_centre_of_mass(case, rng):
    ref, hx = models.pair(case)
    com = rng.uniform(-0.3, 0.3, 3)
    other = described_from(hx, com)
    assert not other.platform.com.any()
    np.testing.assert_allclose(other.origin, -com, rtol=0, atol=0)
    for key in (0, 1):
        np.testing.assert_allclose(other.nominal[key], hx.nominal[key], rtol=0, atol=1e-15)
    for one, two in zip(hx.legs, other.legs, strict=True):
        np.testing.assert_allclose(two.ring, one.ring, rtol=0, atol=1e-15)
    values = models.values_of(rng, ref, (5,))
    for variant in models.VARIANTS:
        for a, b in zip(*(models.arrays_of(models.call(x, variant, values)) for x in (hx, other)), strict=True):
            assert np.abs(a - b).max() <= 1e-9 * max(1.0, np.abs(a).max()), variant


@pytest.mark.parametrize("kind", hd.TYPES)
def test_frames_and_rods_that_a_leg_leaves_open_come_out_the_same(kind):
    hx = zv.mechanisms.docking_ring(kind)
    com = np.array([0.07, -0.02, 0.11])
    legs = []
    for leg in hx.legs:
        data = leg.to_dict() | {"ring": leg.ring + com, "base_frame": None, "ring_frame": None}
        legs.append(zv.Leg.from_dict(data | ({} if kind in hd.HUNT else {"outer_length": None})))
    platform = zv.Body(hx.platform.mass, hx.platform.inertia, com)
    shifted = zv.Hexapod(platform, legs, nominal=hx.nominal[0] - com)
    plain = zv.Hexapod(hx.platform, [leg._with(ring=leg.ring - com) for leg in legs], nominal=hx.nominal[0])
    for one, two in zip(plain.legs, shifted.legs, strict=True):
        for key in ("base_frame", "ring_frame", "outer_length"):
            np.testing.assert_allclose(getattr(two, key), getattr(one, key), rtol=0, atol=1e-12)


def test_without_a_shift_nothing_changes():
    hx = zv.mechanisms.docking_ring("UPS")
    assert not hx.origin.any() and not hx.origin.flags.writeable and "origin" not in hx.to_dict()
    r, R = hx.to_origin(*hx.nominal)
    assert np.array_equal(r, hx.nominal[0]) and np.array_equal(R, hx.nominal[1])


def test_the_origin_survives_json_pickle_and_copy():
    hx = described_from(zv.mechanisms.docking_ring("SPU"), np.array([0.1, 0.02, 0]), name="drawn")
    assert hx.to_dict()["origin"] == [-0.1, -0.02, 0.0]
    for twin in (
        zv.Hexapod.from_dict(json.loads(json.dumps(hx.to_dict()))),
        pickle.loads(pickle.dumps(hx)),
        copy.copy(hx),
    ):
        assert twin == hx and np.array_equal(twin.origin, hx.origin)
    assert hx != zv.Hexapod(hx.platform, hx.legs, nominal=hx.nominal, name="drawn")
    # a dictionary may itself be described from another point
    data = hx.to_dict()
    data["platform"]["com"] = [0.0, 0.0, 0.5]
    for leg in data["legs"]:
        leg["ring"][2] += 0.5
    data["nominal"][0][2] -= 0.5
    twice = zv.Hexapod.from_dict(data)
    np.testing.assert_allclose(twice.origin, [-0.1, -0.02, -0.5], rtol=0, atol=1e-15)
    np.testing.assert_allclose(twice.nominal[0], hx.nominal[0], rtol=0, atol=1e-15)


@pytest.mark.parametrize("origin", ["here", [1, 2], [0, 0, None], True])
def test_an_origin_that_is_no_point_is_a_model_error(origin):
    data = zv.mechanisms.docking_ring("UPS").to_dict() | {"origin": origin}
    with pytest.raises(zv.ModelError, match="Hexapod 'docking_ring UPS': origin"):
        zv.Hexapod.from_dict(data)


vectors = hnp.arrays(float, 3, elements=st.floats(-1, 1))
TURNED = described_from(zv.mechanisms.docking_ring("UPS"), np.array([0.2, -0.1, 0.15]))


@given(r=vectors, turn=vectors, u=hnp.arrays(float, 6, elements=st.floats(-1, 1)))
def test_states_of_the_origin_move_as_points_of_a_rigid_body(r, turn, u):
    R = Rotation.from_rotvec(turn).as_matrix()
    centre, same, rate = TURNED.from_origin(r, R, u)
    np.testing.assert_allclose(centre, r + R @ [0.2, -0.1, 0.15], rtol=0, atol=1e-15)
    assert_close(same, R, 10)
    # v_C = v_O + R (w x c)
    np.testing.assert_allclose(rate[:3], u[:3] + R @ np.cross(u[3:], [0.2, -0.1, 0.15]), rtol=0, atol=1e-14)
    assert np.array_equal(rate[3:], u[3:])
    for a, b in zip(TURNED.to_origin(centre, R, rate), (r, R, u), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-14)


def test_states_of_the_origin_broadcast_and_may_be_any_pose(rng):
    R = Rotation.from_rotvec(rng.uniform(-1, 1, (4, 3)))
    r = rng.uniform(-1, 1, (4, 3))
    pairs = [TURNED.from_origin(r, R.as_matrix()), TURNED.from_origin(r, R)]
    pairs.append(TURNED.from_origin(RigidTransform.from_components(r, R)))
    for found in pairs:
        assert len(found) == 2
        for a, b in zip(found, pairs[0], strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-15)
    centre, turned, rate = TURNED.from_origin(r[0], R.as_matrix(), np.ones((3, 1, 6)))
    assert centre.shape == (3, 4, 3) and turned.shape == (3, 4, 3, 3) and rate.shape == (3, 4, 6)
    with pytest.raises(ValueError, match="to_origin: leading shapes of the arguments do not broadcast: r"):
        TURNED.to_origin(r, R.as_matrix()[:3])
    with pytest.raises(ValueError, match=r"from_origin: u has shape \(5,\), expected \(6,\) or \(..., 6\)"):
        TURNED.from_origin(r, R, np.zeros(5))
    with pytest.raises(ValueError, match="from_origin: R of state is not orthonormal"):
        TURNED.from_origin(r, 2 * R.as_matrix())
    with pytest.raises(ValueError, match=r"from_origin: pose has shape \(4, 3\), expected \(4, 4\)"):
        TURNED.from_origin(r)


def test_a_force_on_the_own_origin_is_a_wrench_at_that_point():
    """Power of the force: F . v_O = wrench . [v_C; w]."""
    rng = np.random.default_rng(5)
    R = Rotation.from_rotvec(rng.uniform(-1, 1, 3)).as_matrix()
    r, u, force = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 6), rng.uniform(-9, 9, 3)
    centre, _, rate = TURNED.from_origin(r, R, u)
    wrench = zv.wrench_at(r, force, r=centre, R=R)
    same = zv.wrench_at(TURNED.origin, R.T @ force, axes="ring", R=R)
    np.testing.assert_allclose(same, wrench, rtol=0, atol=1e-13)
    moment = wrench[3:]
    assert abs(wrench[:3] @ rate[:3] + moment @ rate[3:] - force @ u[:3]) < 1e-12
