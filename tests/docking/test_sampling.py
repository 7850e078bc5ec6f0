"""Conditions of campaigns: the published draws, distributions, designs that a run's number alone decides."""

import json
import math
import pickle

import numpy as np
import pytest
from scipy import stats
from zveno import docking
from zveno.docking.sampling import CONDITIONS, Sampler

BOX = docking.Box.idss()
DEGREE = math.pi / 180
# offset y z, pitch, yaw, roll (degrees), closing, lateral y z, rates x y z (degrees/s) of seed 2026
DRAWS = [
    "-0.0356659553 0.0542980795 1.287251571 -0.3633736118 1.4960060774 0.0661891127 -0.0084625994 -0.0284807006 "
    "-0.0327565695 -0.0482914731 0.0495632199",
    "0.0839506785 0.0023436271 1.9825214929 2.8244871887 -1.3004089399 0.099102857 0.007154695 -0.0109424268 "
    "0.0316350933 0.0507895301 0.1854761031",
    "0.058421401 -0.0637227018 2.1209344357 -3.0343570513 2.8510620941 0.091875458 0.012715901 0.0073552748 "
    "0.0799585972 0.065986195 0.1574674039",
]


def test_draws_are_the_published_ones():
    found = Sampler(BOX, 2026, "random", 3).conditions(0, 3)
    for name, column in zip(CONDITIONS, np.array([row.split() for row in DRAWS], float).T, strict=True):
        factor = DEGREE if CONDITIONS[name].startswith("rad") else 1.0
        np.testing.assert_allclose(found[name], factor * column, rtol=0, atol=5.1e-11 * max(1, factor), err_msg=name)


@pytest.mark.parametrize("design", ["random", "latin", "sobol", "corners", "saltelli"])
def test_point_depends_on_seed_and_number_alone(design):
    box = docking.Box.idss(uncertain={"contact.friction": (0.05, 0.15)})
    sampler = Sampler(box, 7, design, 200)
    whole = sampler.points(0, 40)
    assert whole.shape == (40, 12)
    assert ((whole >= 0) & (whole <= 1)).all()
    assert np.array_equal(np.concatenate([sampler.points(k, 1) for k in (39, 0, 17)]), whole[[39, 0, 17]])
    assert np.array_equal(sampler.points(13, 9), whole[13:22])
    assert not np.array_equal(Sampler(box, 8, design, 200).points(0, 40), whole)


@pytest.mark.parametrize("n", [1, 2, 5, 64, 301])
def test_latin_hypercube_has_one_run_in_each_interval(n):
    points = Sampler(BOX, 3, "latin", n).points(0, n)
    assert np.array_equal(np.sort(np.floor(points * n), axis=0), np.tile(np.arange(n)[:, None], 11))
    if n > 100:
        assert np.abs(np.corrcoef(points.T) - np.eye(11)).max() < 4 / math.sqrt(n)


def test_sobol_points_fill_the_cube_evenly():
    from scipy.stats import qmc

    points = Sampler(BOX, 3, "sobol", 256).points(0, 256)
    assert qmc.discrepancy(points) < 0.5 * qmc.discrepancy(Sampler(BOX, 3, "random", 256).points(0, 256))
    for column in points.T:  # every elementary interval of a coordinate holds as many
        assert np.array_equal(np.bincount(np.floor(column * 64).astype(int), minlength=64), np.full(64, 4))


def test_corners_are_all_different_and_at_the_limits():
    sampler = Sampler(BOX, 5, "corners", 2048)
    assert sampler.most == 2048
    points = sampler.points(0, 2048)
    assert len(np.unique(points, axis=0)) == 2048
    made = sampler.conditions(0, 64)
    np.testing.assert_allclose(np.hypot(made["offset_y"], made["offset_z"]), BOX.offset)
    assert set(made["closing"]) == {0.05, 0.1}


def test_saltelli_blocks_exchange_one_factor_at_a_time():
    sampler = Sampler(BOX, 5, "saltelli", 90)
    width = len(sampler.factors) + 2
    block = sampler.points(3 * width, width)
    a, b = block[:2]
    for group, mixed in zip(sampler.groups, block[2:], strict=True):
        assert np.array_equal(mixed[list(group)], b[list(group)])
        others = [k for k in range(11) if k not in group]
        assert np.array_equal(mixed[others], a[others])


def test_uniform_draws_follow_their_distributions():
    made = Sampler(BOX, 11, "random", 4000).conditions(0, 4000)
    radius = np.hypot(made["lateral_y"], made["lateral_z"]) / BOX.lateral
    assert stats.kstest(radius**2, "uniform").pvalue > 0.01
    angle = np.arctan2(made["yaw"], made["pitch"]) / (2 * math.pi) % 1
    assert stats.kstest(angle, "uniform").pvalue > 0.01
    assert stats.kstest(made["roll"], "uniform", (-4 * DEGREE, 8 * DEGREE)).pvalue > 0.01


def test_normal_draws_are_those_of_scipy():
    box = docking.Box.idss(
        distribution="normal", sigmas=2.0, uncertain={"x": docking.Normal(1.0, 0.5, low=0.2, high=1.7)}
    )
    u = np.random.default_rng(1).random((200, 12))
    made = [box.conditions(row) for row in u]
    middle = stats.truncnorm(-2, 2, loc=0.075, scale=0.0125)
    np.testing.assert_allclose([row["closing"] for row in made], middle.ppf(u[:, 9]), rtol=1e-12)
    x = stats.truncnorm(-1.6, 1.4, loc=1.0, scale=0.5)
    np.testing.assert_allclose([row["x"] for row in made], x.ppf(u[:, 11]), rtol=1e-12)
    length = np.array([math.hypot(row["offset_y"], row["offset_z"]) for row in made])
    scale = BOX.offset / 2.0
    whole = stats.rayleigh.cdf(2.0)
    np.testing.assert_allclose(length, scale * stats.rayleigh.ppf(whole * u[:, 0]), rtol=1e-9)


def test_limits_of_a_normal_number_are_reached():
    for spread in (docking.Normal(1.0, 0.1), docking.Normal(1.0, 0.1, low=-50.0, high=50.0), docking.Normal(2.0, 0.0)):
        assert spread.low <= spread.at(0.0) <= spread.at(1.0) <= spread.high


def test_boxes_are_plain_data():
    box = docking.Box.idss(uncertain={"a.b": docking.Normal(1, 0.1, relative=True), "c": (1, 2)})
    again = docking.Box.from_dict(json.loads(json.dumps(box.to_dict())))
    assert again == box == pickle.loads(pickle.dumps(box))
    assert hash(again) == hash(box)
    assert docking.Box.from_dict({"closing": (0.05, 0.1), "tilt_deg": 4, "roll_deg": [-4, 4]}).tilt == BOX.tilt


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"closing": 0.1}, r"Box: closing is 0\.1, expected a pair \(low, high\)"),
        ({"closing": (0.1, 0.05)}, r"closing is \(0\.1, 0\.05\), expected low <= high"),
        ({"closing": (0.0, 0.0)}, "expected speeds >= 0, not both 0"),
        ({"offset": -1.0}, "offset is -1, expected a number >= 0"),
        ({"tilt": math.nan}, "tilt is nan, expected a finite number"),
        ({"roll": (1, 2, 3)}, r"roll is \(1, 2, 3\), expected a pair"),
        ({"distribution": "gauss"}, "distribution is 'gauss', expected 'uniform' or 'normal'"),
        ({"sigmas": 0}, "sigmas is 0, expected a number > 0"),
        ({"uncertain": {"a..b": (0, 1)}}, r"uncertain has the name 'a\.\.b'"),
        ({"uncertain": {"roll": (0, 1)}}, "which is a condition of the box"),
        ({"uncertain": {"a": 3}}, r"uncertain\['a'\] is 3, expected Uniform, Normal or a pair"),
        ({"uncertain": {"a": (2, 1)}}, "low = 2 is above high = 1"),
        ({"uncertain": {"a": {"kind": "normal", "meen": 1}}}, "unknown key 'meen'; did you mean 'mean'"),
        ({"uncertain": [1]}, r"uncertain is \[1\], expected a mapping"),
    ],
)
def test_boxes_that_make_no_sense_are_refused(keywords, text):
    with pytest.raises(ValueError, match=text):
        docking.Box(**{"closing": (0.05, 0.1)} | keywords)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"closing": [0.05, 0.1], "offsett": 1}, "unknown key 'offsett'; did you mean 'offset'"),
        ({"closing_deg": [0.05, 0.1]}, "unknown key 'closing_deg'"),
        ({"offset": 0.1}, "'closing' is missing"),
        ({"closing": [0.05, 0.1], "tilt": 1, "tilt_deg": 1}, "tilt is given twice"),
        ([], r"got \[\], expected a dictionary"),
    ],
)
def test_dictionaries_of_no_box_are_refused(data, text):
    with pytest.raises(ValueError, match=text):
        docking.Box.from_dict(data)
