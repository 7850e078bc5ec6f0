"""Hexapod: whatever arrives, a clear exception that names leg and cause, never a crash, never a silent wrong number."""

import pickle
from functools import partial

import hexapod_models as models
import numpy as np
import pytest
import zveno as zv
from hexapod_models import FUNCTIONS, VARIANTS, argument_shape, arrays_of, call, values_of
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from reference import hexapod as hd
from refusals import BAD, WRONG_TYPES, anything, assert_answered_or_refused, check_refused
from zveno.kinematics.hexapods import explain

ROD = zv.Body.cylinder(2.0, 0.02, 0.3)
STRUT = {"housing": ROD, "rod": ROD, "housing_length": 0.25, "rod_length": 0.25, "base_frame": np.eye(3)}
ARM = {"crank": ROD, "coupler": ROD, "crank_length": 0.25, "coupler_length": 0.5, "base_frame": np.eye(3)}
SINGULAR, UNREACHABLE = zv.SingularityError, zv.UnreachableError


@pytest.fixture(scope="module")
def model():
    """RefHexapod and Hexapod of all types, with gravity; nj = 4."""
    return models.pair("mixed-skew")


@pytest.fixture(scope="module")
def plain(model):
    """Valid arguments."""
    return values_of(np.random.default_rng(5), model[0])


# ---- legs that cannot take a pose -------------------------------------------------------------------------------


def frame(x, y):
    """Frame with these first two axes."""
    return np.column_stack([x, y, np.cross(x, y)]).astype(float)


X_ALONG = frame((0, 1, 0), (0, 0, 1))  # z of the frame is x of what it stands in
ASKEW = frame((0.6, -0.8, 0), (0.8, 0.6, 0))  # y leans towards the link
DOWN = frame((1, 0, 0), (0, 0, -1))  # y is -z
GS, HUNT, STRUT_U = hd.GOUGH_STEWART, hd.HUNT, ("SPU", "UCU")
LONG = {"crank_length": 0.375, "coupler_length": 0.625}
# name, kinds of leg, error, cause, margin, what the leg has, its ring hinge seen from its base hinge in its base_frame.
# Cranks are 0.25 m, couplers 0.5 m long; margin of reach: |cos alpha_1| - 1.
TABLE = [
    ("along its first axis", GS, SINGULAR, "along first axis", 0, {}, (0, 0.5, 0)),
    ("against its first axis", GS, SINGULAR, "along first axis", 0, {}, (0, -0.5, 0)),
    ("straight", HUNT, SINGULAR, "straight elbow", 0, {}, (0.75, 0, 0)),
    ("folded", HUNT, SINGULAR, "straight elbow", 0, {"elbow": -1}, (0, 0, 0.25)),
    ("too far", HUNT, UNREACHABLE, "out of reach", 0.625, {}, (0, 0, -1)),
    ("too near", HUNT, UNREACHABLE, "out of reach", 0.625, {}, (0.1875, 0, 0)),
    ("too far aside", HUNT, UNREACHABLE, "out of reach", 1.125, {}, (0.25, -0.625, 0)),
    ("on the crank's axis", HUNT, SINGULAR, "hinge on crank axis", 0, {}, (0, 0.25, 0)),
    ("on the crank's axis where any crank fits", HUNT, SINGULAR, "hinge on crank axis", 0, LONG, (0, 0.5, 0)),
    ("coupler along y", HUNT, SINGULAR, "coupler along axis", 0, {"elbow": -1, "crank_frame": DOWN}, (0.25, 0, -0.5)),
    ("locked", STRUT_U, SINGULAR, "ring joint locked", 0, {"ring_frame": X_ALONG}, (0.5, 0, 0)),
    ("locked", ("RSU",), SINGULAR, "ring joint locked", 0, {"elbow": -1}, (0.25, 0, -0.5)),
    (
        "without right angle", STRUT_U, UNREACHABLE, "ring joint out of reach", 0.8,
        {"ring_frame": X_ALONG, "tip_frame": ASKEW}, (0.5, 0, 0),
    ),
    (
        "without right angle", ("RSU",), UNREACHABLE, "ring joint out of reach", 0.8,
        {"elbow": -1, "tip_frame": ASKEW}, (0.25, 0, -0.5),
    ),
]  # fmt: skip
FAILURES = [
    pytest.param(kind, *rest, id=f"{kind} {name}".replace(" ", "-")) for name, kinds, *rest in TABLE for kind in kinds
]
TEXTS = {
    "no length": "has no length: its hinges coincide (L = 0)",
    "along first axis": "lies along the first axis of its base joint (L cos p2 = 0)",
    "straight elbow": "has a straight elbow (Q1 = 0)",
    "out of reach": "cannot reach its hinge: crank and coupler do not meet",
    "hinge on crank axis": "has its ring hinge on the axis of the crank (l13 = 0)",
    "coupler along axis": "has its coupler along the first axis of the crank's joint (cos p3 = 0)",
    "ring joint locked": "has a locked universal joint on the ring (n_R . X = 0)",
    "ring joint out of reach": "cannot bring the axes of its universal joint on the ring to a right angle",
}


def with_leg(kind, options, d):
    """A hexapod of UPS legs whose fourth one is special, and the position that puts its ring hinge at d."""
    base, ring = np.array([0.0, 0.5, -0.5]), np.array([0.0, 0.25, -0.5])
    default = (ARM if kind in hd.HUNT else STRUT) | ({"ring_frame": np.eye(3)} if kind.endswith("U") else {})
    special = getattr(zv.Leg, kind.lower())(base, ring, name="special", **default | options)
    legs = list(zv.mechanisms.docking_ring("UPS").legs)
    legs[3] = special
    return zv.Hexapod(zv.Body(45.0, (15.5, 8.2, 8.2)), legs, name="odd"), base + d - ring


def resting(hx, r, lead=()):
    """Every argument, zero but the pose."""
    names = {name for args in FUNCTIONS.values() for name in args} - {"base"}
    values = {name: np.zeros(lead + argument_shape(name, hx)) for name in names}
    return values | {"r": np.broadcast_to(r, (*lead, 3)).copy(), "R": np.eye(3)}


@pytest.mark.parametrize(("kind", "error", "cause", "margin", "options", "d"), FAILURES)
def test_a_pose_that_a_leg_cannot_take(kind, error, cause, margin, options, d):
    hx, r = with_leg(kind, options, d)
    for variant, (name, _, fixed) in VARIANTS.items():
        if fixed:
            continue
        caught = check_refused(
            error, (f"{name}: leg 'special' {TEXTS[cause]}, margin ",), call, hx, variant, resting(hx, r)
        )
        assert (caught.leg, caught.leg_index, caught.cause, caught.row) == ("special", 3, cause, None)
        assert abs(abs(caught.margin) - margin) < 1e-7
        assert isinstance(caught, zv.Error)
        batch = resting(hx, r, (2, 5))
        batch["r"].reshape(-1, 3)[:6] = (0.4, 0.1, 0.1)  # elsewhere
        if np.isfinite(call(hx, "closure", batch, on_error="nan")[0]).all():
            caught = check_refused(error, (f"{name}: leg 'special'", " in row 6, margin"), call, hx, variant, batch)
            assert (caught.leg, caught.leg_index, caught.cause, caught.row) == ("special", 3, cause, 6)
    status = hx.status(r, np.eye(3))
    assert status.dtype == np.int16 and status.shape == ()
    assert hx.explain(status) == f"leg 'special' {TEXTS[cause]}"
    assert explain(status) == f"leg 4 {TEXTS[cause]}"
    check_refused(error, ("leg 'special'",), hx.singularity, r, np.eye(3))
    near = hx.singularity(r, np.eye(3), on_error="nan")
    assert np.isnan(near.condition) and np.isnan(near.leg).all()
    assert near.status == status and not near.ok


@pytest.mark.parametrize("kind", GS)
def test_hinges_that_coincide(kind):
    hx, r = with_leg(kind, {}, (0, 0, 0))
    for variant, (name, _, fixed) in VARIANTS.items():
        if not fixed:
            words = (f"{name}: leg 'special' {TEXTS['no length']}",)
            caught = check_refused(SINGULAR, words, call, hx, variant, resting(hx, r))
            assert caught.cause == "no length" and caught.margin == 0.0


@pytest.mark.parametrize(("kind", "d"), [("UPS", (0, 0.5, 0)), ("RUS", (0, 0, -1))])
def test_errors_can_be_pickled(kind, d):
    hx, r = with_leg(kind, {}, d)
    caught = check_refused(zv.Error, (), hx.closure, r, np.eye(3))
    twin = pickle.loads(pickle.dumps(caught))
    assert type(twin) is type(caught) and str(twin) == str(caught) and vars(twin) == vars(caught)


def test_of_several_legs_the_first_is_named(model):
    _, hx = model
    r = hx.nominal[0] + [10.0, 0, 0]
    caught = check_refused(UNREACHABLE, ("leg 'leg2'",), hx.closure, r, hx.nominal[1])
    assert caught.leg_index == 1  # leg 1 is a strut and reaches anything


def test_a_nominal_pose_out_of_reach_is_an_error_of_the_model():
    hx = zv.mechanisms.docking_ring("RUS")
    words = ("leg 'leg1' does not close in the nominal pose", TEXTS["out of reach"])
    caught = check_refused(zv.ModelError, words, zv.Hexapod, hx.platform, hx.legs, nominal=(0.9, 0.0, 0.0))
    assert caught.link == "leg1"
    assert isinstance(caught.__cause__, UNREACHABLE)


# ---- close to a singularity -------------------------------------------------------------------------------------

# kind, what the leg has, hinge at a singularity, direction out of it
EDGES = {
    "UPS along its first axis": ("UPS", {}, (0, 0.5, 0), (1, 0.2, 0.3)),
    "UCU against its first axis": ("UCU", {}, (0, -0.5, 0), (-0.2, 0.1, 1)),
    "RUS straight": ("RUS", {}, (0.75, 0, 0), (-1, 0.2, 0.3)),
    "RSU folded": ("RSU", {"elbow": -1}, (0, 0, 0.25), (0.1, 0.2, 1)),
    "RUS across the axis of the crank": ("RUS", LONG, (0, 0.5, 0), (1, 0.01, 0.2)),
    "RUS coupler along y": ("RUS", {"elbow": -1, "crank_frame": DOWN}, (0.25, 0, -0.5), (0.3, 1, 0.1)),
    "SPU locked": ("SPU", {"ring_frame": X_ALONG}, (0.5, 0, 0), (0.1, 1, 0.5)),
    "RSU locked": ("RSU", {"elbow": -1}, (0.25, 0, -0.5), (0.5, 1, 0.2)),
    "UCU without right angle": ("UCU", {"ring_frame": X_ALONG, "tip_frame": ASKEW}, (0.3, 0.4, 0), (0.1, 1, 0.2)),
}


@pytest.mark.parametrize(("kind", "options", "d", "direction"), EDGES.values(), ids=EDGES)
def test_on_a_path_through_a_singularity_numbers_are_right_or_refused(kind, options, d, direction):
    hx, middle = with_leg(kind, options, d)
    ref = hd.RefHexapod(hx.platform.mass, hx.platform.inertia, [hd._standard_leg(leg) for leg in hx.legs], None)
    steps = np.concatenate([[0.0], np.logspace(-12, -1, 23)])
    steps = np.concatenate([-steps[::-1], steps])
    refused, taken = 0, 0
    for step in steps:
        state = hd.RefState(middle + step * np.array(direction), np.eye(3), np.full(6, 0.1), np.full(6, 10.0))
        try:
            result = hx.forward_dynamics(state.r, state.R, state.u, state.wrench, np.zeros(6))
        except (SINGULAR, UNREACHABLE) as error:
            assert (error.leg, error.leg_index) == ("special", 3)
            refused += 1
            continue
        taken += 1
        leg, p = ref.legs[3], result.joint_position[3]
        condition = np.linalg.cond(hd.leg_constraints(leg, p[: leg.n], state.r, state.R.T)[0])
        # the loop is closed to rounding, however near the singularity is; but cos p3 = sqrt(1 - sin^2 p3) loses digits
        limit = 1e-14 * (condition if "crank_frame" in options else 1)
        assert np.abs(hd.residual(leg, p[: leg.n], state.r, state.R.T)).max() < limit
        want = hd.forward(ref, state)
        assert condition < 1e9
        for field in ("acceleration", "joint_velocity", "base_wrench"):
            error = np.abs(getattr(result, field) - getattr(want, field)).max() / np.abs(getattr(want, field)).max()
            assert error < 1e-15 * condition**2 + 1e-13
    assert refused and taken > 5


# ---- Newton's method --------------------------------------------------------------------------------------------


def test_a_custom_leg_out_of_reach():
    ref, hx = models.pair("RSU*")
    r = hx.nominal[0] + [3.0, 0, 0]
    for variant, (name, _, _) in VARIANTS.items():
        words = (f"{name}: leg 'leg1' was not closed by Newton's method: out of reach or a bad start, margin ",)
        caught = check_refused(UNREACHABLE, words, call, hx, variant, resting(hx, r) | {"R": hx.nominal[1]})
        assert (caught.leg, caught.leg_index, caught.cause, caught.row) == ("leg1", 0, "no convergence", None)
        assert abs(caught.margin) > 1.0  # m that are missing
    values = values_of(np.random.default_rng(0), ref, (6,))
    values["r"][4] = r
    assert check_refused(UNREACHABLE, ("in row 4",), call, hx, "forward_dynamics", values).row == 4
    assert hx.explain(hx.status(r, hx.nominal[1])).startswith("leg 'leg1' was not closed by Newton's method")


def test_a_start_from_which_newton_finds_nothing():
    _, hx = models.pair("RUS-lean")
    start = hx.closure(*hx.nominal)
    start[2] = 0.0  # crank and coupler in line
    caught = check_refused((SINGULAR, UNREACHABLE), ("leg 'leg3'",), hx.closure, *hx.nominal, "newton", start)
    assert caught.cause in ("singular", "no convergence")


@pytest.mark.parametrize("pose", [(0, 0.5, 0), (0, 0.5, 1e-12)], ids=["exactly", "nearly"])
def test_a_custom_leg_that_is_singular(pose):
    # a strut along the first axis of its base joint, as a chain
    hx, r = with_leg("UPS", {}, pose)
    links = [
        zv.Link("cross", axis=(0, 1, 0), position=hx.legs[3].base, mass=0.1),
        zv.Link("housing", axis=(0, 0, 1), mass=2.0, inertia=0.1),
        zv.Link("rod", joint="prismatic", axis=(1, 0, 0), position=(0.25, 0, 0), mass=2.0, inertia=0.1),
    ]
    ends = {"ring": hx.legs[3].ring, "point": (0.25, 0, 0), "actuated": "rod_joint", "name": "special"}
    leg = zv.Leg.custom(zv.Chain(links), "rod", start=(0, np.pi / 2, 0), **ends)
    legs = list(hx.legs)
    legs[3] = leg
    custom = zv.Hexapod(hx.platform, legs)
    for variant, (name, _, _) in VARIANTS.items():
        caught = check_refused(SINGULAR, (f"{name}: leg 'special' is singular",), call, custom, variant, resting(hx, r))
        assert (caught.leg, caught.leg_index, caught.cause) == ("special", 3, "singular")
        assert 0 <= caught.margin < 1e-9


# ---- the mechanism as a whole -----------------------------------------------------------------------------------


def parallel_legs():
    """Six struts side by side: they hold the ring against three motions only."""
    angles = np.arange(6) * np.pi / 3
    points = 0.5 * np.column_stack([0 * angles, np.cos(angles), np.sin(angles)])
    frames = {"base_frame": np.eye(3)}
    legs = [zv.Leg.ups(p, p, housing=ROD, rod=ROD, housing_length=0.25, rod_length=0.25, **frames) for p in points]
    return zv.Hexapod(zv.Body(45.0, (15.5, 8.2, 8.2)), legs, nominal=(0.5, 0, 0), name="weak")


def test_drives_that_do_not_hold_the_ring():
    hx = parallel_legs()
    values = resting(hx, hx.nominal[0])
    words = ("inverse_dynamics: hexapod 'weak' is singular", "do not determine the motion of the ring", "margin")
    caught = check_refused(SINGULAR, words, call, hx, "inverse_dynamics", values)
    assert (caught.leg, caught.leg_index, caught.cause, caught.row) == (None, None, "singular", None)
    assert 0 <= caught.margin < 1e-12
    batch = resting(hx, hx.nominal[0], (9,))
    assert check_refused(SINGULAR, ("in row 0",), call, hx, "inverse_dynamics", batch).row == 0
    assert np.isnan(call(hx, "inverse_dynamics", batch, on_error="nan")).all()
    # it moves as it likes, which is no error
    assert np.isfinite(call(hx, "forward_dynamics", values | {"wrench": np.ones(6)}).acceleration).all()
    assert hx.singularity(*hx.nominal).condition > 1e15
    assert hx.status(*hx.nominal) == 0
    caught = check_refused(SINGULAR, ("forward_kinematics",), hx.forward_kinematics, np.full(6, 0.1))
    assert (caught.leg, caught.cause) == (None, "singular")


# ---- rotations --------------------------------------------------------------------------------------------------

NO_ROTATIONS = {
    "zero": np.zeros((3, 3)),
    "left-handed": np.diag([1.0, 1.0, -1.0]),
    "scaled": (1 + 6e-10) * np.eye(3),
    "sheared": np.eye(3) + 2e-9 * np.eye(3, k=1),
    "single precision": hd.alpha_from_angles(0.3, 0.2, 0.1).astype(np.float32),
    "twice": 2 * np.eye(3),
    "huge": np.full((3, 3), 1e200),
    "transposed angles": np.array([[0.0, 0.1, 0.2]] * 3),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_no_rotation_is_refused(variant, model, plain):
    _, hx = model
    name = VARIANTS[variant][0]
    words = ("is not a rotation: expected R'R = 1 within 1e-9 and determinant +1",)
    for R in NO_ROTATIONS.values():
        check_refused(ValueError, (f"{name}: R ", *words), call, hx, variant, plain | {"R": R})
        batch = np.tile(plain["R"], (11, 1, 1))
        batch[6] = R
        check_refused(ValueError, (f"{name}: R (row 6) ", *words), call, hx, variant, plain | {"R": batch})


@pytest.mark.parametrize("variant", VARIANTS)
def test_rotations_with_rounding_errors_are_taken(variant, model, plain, rng):
    _, hx = model
    exact = call(hx, variant, plain)
    for error in (4e-10 * plain["R"], 1e-10 * rng.uniform(-1, 1, (3, 3))):
        got = call(hx, variant, plain | {"R": plain["R"] + error})
        for x, y in zip(arrays_of(got), arrays_of(exact), strict=True):
            assert np.abs(x - y).max() < 1e-7 * max(1.0, np.abs(y).max())
        batch = call(hx, variant, plain | {"R": np.tile(plain["R"] + error, (9, 1, 1))})
        assert all(np.array_equal(x[4], y) for x, y in zip(arrays_of(batch), arrays_of(got), strict=True))


# ---- arguments --------------------------------------------------------------------------------------------------

array_arguments = [(name, a) for name, args in FUNCTIONS.items() for a in args if a != "base"]
every_array = pytest.mark.parametrize(("name", "argument"), array_arguments, ids=map("-".join, array_arguments))


def passive_place(hx, name, argument):
    """An index into one item of the argument on which the result depends."""
    if name == "inverse_dynamics" and argument == "tau":
        return 0, (hx.actuated[0] + 1) % 3
    return (0,) * len(argument_shape(argument, hx))


@every_array
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf], ids=str)
def test_a_number_that_is_not_finite_is_refused_wherever_it_stands(name, argument, bad, model, plain):
    _, hx = model
    place = passive_place(hx, name, argument)
    value = plain[argument].copy()
    value[place] = bad
    words = (f"{name}: {argument} is not finite: element ", f" is {bad}")
    check_refused(ValueError, words, call, hx, name, plain | {argument: value})
    for count, row in ((1, 0), (5, 2), (40, 39)):
        batch = np.broadcast_to(plain[argument], (count, *value.shape)).copy()
        batch[row] = value
        for layout in (np.asarray, np.asfortranarray):
            check_refused(
                ValueError, (*words, f"(row {row})"), call, hx, name, plain | {argument: layout(batch)}, threads=2
            )


def test_a_start_that_is_not_finite_is_refused(model, plain):
    _, hx = model
    start = hx.closure(plain["r"], plain["R"])
    start[2, 1] = np.nan
    words = ("closure: start is not finite", "nan")
    check_refused(ValueError, words, hx.closure, plain["r"], plain["R"], "newton", start)


@every_array
def test_wrong_shape_names_function_argument_and_both_shapes(name, argument, model, plain):
    _, hx = model
    shape = argument_shape(argument, hx)
    wrong = [(), (0,), (2,), (5,), (7,), (*shape[:-1], shape[-1] + 1), (4, *shape[:-1], shape[-1] - 1)]
    if len(shape) == 2:
        wrong += [(shape[0] + 1, shape[1]), (shape[1] - 2, shape[0]), shape[1:]]
    for bad in wrong:
        if argument == "tau" and bad[-1:] == (6,):
            continue
        value = np.zeros(bad)
        words = (f"{name}: {argument} has shape {bad}", "expected", hx.name)
        check_refused(ValueError, words, call, hx, name, plain | {argument: value})


def test_shapes_of_forces():
    ref, hx = models.pair("UPS-lean")  # nj = 3
    values = values_of(np.random.default_rng(0), ref)
    for shape in ((6, 4), (4, 6, 4), (5,), (), (6, 6, 1)):
        words = (
            "forward_dynamics: tau has shape",
            str(shape),
            "expected (..., 6) for the actuated joints or (..., 6, 3)",
        )
        check_refused(ValueError, words, call, hx, "forward_dynamics", values | {"tau": np.zeros(shape)})
    for shape in ((3,), (5, 3), (2, 7, 3)):
        words = ("forward_dynamics: tau has shape", str(shape), "expected (6, 3)")
        check_refused(ValueError, words, call, hx, "forward_dynamics", values | {"tau": np.zeros(shape)})
    for shape in ((6,), (6, 3), (2, 6), (6, 6), (5, 6, 3), (3, 6)):
        lead = shape[:-2] if shape[-1] == 3 else shape[:-1]
        got = call(hx, "forward_dynamics", values | {"tau": np.zeros(shape)})
        assert got.acceleration.shape == (*lead, 6)


@every_array
def test_wrong_type_names_function_argument_and_what_came(name, argument, model, plain):
    _, hx = model
    for value in (*WRONG_TYPES.values(), [[1.0, 2.0], [1.0]]):
        check_refused(TypeError, (f"{name}: {argument} ",), call, hx, name, plain | {argument: value})


def test_an_object_with_a_matrix_that_is_none_is_refused(model, plain):
    _, hx = model

    class Turn:
        def as_matrix(self):
            return "a matrix"

    class Broken:
        def as_matrix(self):
            raise RuntimeError("no matrix today")

    class Flat:
        def as_matrix(self):
            return np.zeros(9)

    check_refused(TypeError, ("closure: R ",), hx.closure, plain["r"], Turn())
    check_refused(ValueError, ("closure: R has shape (9,)",), hx.closure, plain["r"], Flat())
    check_refused(RuntimeError, ("no matrix today",), hx.closure, plain["r"], Broken())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_arguments_are_named(name, model, plain):
    _, hx = model
    function = getattr(hx, name)
    args = {a: models.SPACECRAFT if a == "base" else plain[a] for a in FUNCTIONS[name]}
    assert function(**args) is not None
    optional = ("base_motion", "omega", "base_wrench")
    optional += ("wrench", "tau") if name == "inverse_dynamics" else ()
    for argument in args:
        if argument in optional:
            assert function(**args | {argument: None}) is not None
            continue
        words = (f"{name}: argument '{argument}' is missing",)
        check_refused(TypeError, words, function, **{a: x for a, x in args.items() if a != argument})
        check_refused(TypeError, (f"{name}: ", argument), function, **args | {argument: None})
    check_refused(TypeError, (f"{name}: unknown argument 'nonsense'",), function, **args, nonsense=1)
    check_refused(TypeError, (f"{name}: ", "'r' given twice"), function, plain["r"], **args)
    words = (f"{name}: ", "positional arguments given", "status, out and threads by keyword")
    check_refused(TypeError, words, function, *args.values(), *[None] * 9)
    for value in ("ignore", "NaN", "", 3, b"nan", ["nan"], True):
        words = (f"{name}: on_error is {value!a}, expected 'raise' or 'nan'",)
        check_refused(ValueError, words, function, **args, on_error=value)
    for value in (-1, 4097, "2", 1.5, True, [1], 10**30):
        check_refused(ValueError, (f"{name}: threads is {value!r}", "expected"), function, **args, threads=value)


def test_leading_shapes_that_do_not_broadcast_are_refused(model, plain):
    _, hx = model
    u = np.zeros((4, 6))
    r = np.tile(plain["r"], (3, 1))
    words = ("momentum: arguments do not broadcast: r (3, 3), R (3, 3), u (4, 6)",)
    check_refused(ValueError, words, hx.momentum, r, plain["R"], u)


def test_methods_of_closure(model, plain):
    _, hx = model
    pose = plain["r"], plain["R"]
    for method in ("magic", "", 3, b"newton", ["newton"]):
        words = ("closure: ", f"method {method!a}" if isinstance(method, str) else f"method is {method!a}",
                 "expected one of 'closed', 'newton'")  # fmt: skip
        check_refused((TypeError, ValueError), words, hx.closure, *pose, method)
    p = hx.closure(*pose)
    words = ("closure: start is given, but method 'closed' does not start anywhere",)
    check_refused(ValueError, words, hx.closure, *pose, start=p)
    words = ("closure: start has shape (6, 3), expected (6, 4)",)
    check_refused(ValueError, words, hx.closure, *pose, "newton", p[:, :3])


@pytest.mark.parametrize("base", [3.0, "ship", {"mass": 1.0}, np.zeros(3), zv.Link("ship"), zv.Body], ids=repr)
def test_a_base_that_is_no_body_is_refused(base, model, plain):
    _, hx = model
    args = [plain[a] for a in ("r", "R", "u", "wrench", "tau")]
    words = ("forward_dynamics_free: base is of type ", type(base).__name__, "expected a zveno.Body")
    check_refused(TypeError, words, hx.forward_dynamics_free, *args, base)


def test_a_base_without_mass_is_refused(model, plain):
    _, hx = model
    args = [plain[a] for a in ("r", "R", "u", "wrench", "tau")]
    check_refused(
        ValueError, ("forward_dynamics_free: base has no mass",), hx.forward_dynamics_free, *args, zv.Body(0.0, 0.0)
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_hexapod_that_was_not_made_is_refused(name, plain):
    args = {a: models.SPACECRAFT if a == "base" else plain[a] for a in FUNCTIONS[name]}
    check_refused(TypeError, (name, "__init__"), getattr(zv.Hexapod.__new__(zv.Hexapod), name), **args)


@every_array
@pytest.mark.parametrize("size", [1e150, 1e300, 1.7e308])
def test_overflow_is_an_exception_and_not_a_silent_infinity(name, argument, size, model, plain):
    _, hx = model
    for lead in ((), (9,)):
        value = np.full(lead + argument_shape(argument, hx), size)
        try:
            result = call(hx, name, plain | {argument: value})
        except (FloatingPointError, zv.Error, ValueError):
            continue
        assert all(np.isfinite(x).all() for x in arrays_of(result))


def test_results_stay_right_after_refusals(model, plain):
    _, hx = model
    before = call(hx, "forward_dynamics", plain)
    for value in (*WRONG_TYPES.values(), [[1.0, 2.0], [1.0]], np.zeros(5), np.full(6, np.nan)):
        check_refused(BAD, (), call, hx, "forward_dynamics", plain | {"u": value})
    after = call(hx, "forward_dynamics", plain)
    assert all(np.array_equal(x, y) for x, y in zip(arrays_of(before), arrays_of(after), strict=True))


# ---- whatever arrives -------------------------------------------------------------------------------------------

whatever = anything((6,), (3,), (3, 3), (9,), (2, 6), (0, 6), (6, 4))


@settings(max_examples=80)
@given(
    name=st.sampled_from(list(FUNCTIONS)),
    changes=st.dictionaries(st.sampled_from(sorted({a for args in FUNCTIONS.values() for a in args})), whatever),
    options=st.dictionaries(st.sampled_from(["out", "threads", "on_error"]), whatever, max_size=1),
)
def test_whatever_arrives_at_the_array_boundary_is_answered_or_refused(model, plain, name, changes, options):
    _, hx = model
    args = {a: models.SPACECRAFT if a == "base" else plain[a] for a in FUNCTIONS[name]}
    args |= {a: x for a, x in changes.items() if a in args}
    assert_answered_or_refused(partial(getattr(hx, name), **args), arrays_of, options)


numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=80)
@given(
    r=npst.arrays(float, 3, elements=st.floats(-2, 2)),
    turn=npst.arrays(float, 3, elements=st.floats(-4, 4)),
    rates=npst.arrays(float, (3, 6), elements=numbers),
    rest=npst.arrays(float, 6 + 9, elements=numbers),
    case=st.sampled_from(["UPS-lean", "RSU-lean", "mixed-skew", "mixed-general", "UUU"]),
)
def test_any_state_gives_finite_numbers_or_an_error(r, turn, rates, rest, case):
    _, hx = models.pair(case)
    angle = np.linalg.norm(turn)
    R = hd.passive(turn / angle, angle) if angle else np.eye(3)
    u, wrench, tau = rates
    try:
        result = hx.forward_dynamics(r, R, u, wrench, tau, rest[6:])
    except (FloatingPointError, zv.SingularityError, zv.UnreachableError):
        result = hx.forward_dynamics(r, R, u, wrench, tau, rest[6:], on_error="nan")
        assert not result.ok and all(np.isnan(x).all() for x in arrays_of(result))
        return
    assert all(np.isfinite(x).all() for x in arrays_of(result))
    ref = models.pair(case)[0]
    for leg, p in zip(ref.legs, result.joint_position, strict=True):
        assert np.abs(hd.residual(leg, p[: leg.n], r, R.T)).max() < 1e-10
