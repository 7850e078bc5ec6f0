"""What hexapods and their results show: texts, tables for notebooks, figures."""

import builtins
import re
import sys
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pytest
import zveno as zv
from reference import hexapod as hd

mpl.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


class Table(HTMLParser):
    """Cells of a table, row by row; tags must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.title = [], [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] == "div":
            self.title += data
        else:
            self.rows[-1][-1] += data


def a_state(hx, rng, lead=()):
    r, R = hx.nominal
    return np.broadcast_to(r, (*lead, 3)), R, *(rng.uniform(-1, 1, (*lead, 6)) for _ in range(3))


def test_the_table_of_a_hexapod_has_its_legs():
    hx = zv.mechanisms.docking_ring("UPS")
    table = Table(hx._repr_html_())
    assert table.title == repr(hx) and len(table.rows) == 7
    assert table.rows[0] == ["leg", "type", "base hinge, m", "ring hinge, m", "mass, kg", "drive"]
    assert table.rows[1] == [
        "leg1", "UPS", "(0, 0.6182, 0.1656)", "(0, 0.4243, 0.4243)", "6.5", "stroke -0.13 to 0.15 m",
    ]  # fmt: skip


def test_names_are_text_in_tables():
    hx = zv.mechanisms.docking_ring("UPS")
    legs = [hx.legs[0]._with(name="<b>&"), *hx.legs[1:]]
    table = Table(zv.Hexapod(hx.platform, legs, nominal=hx.nominal, name="<script>")._repr_html_())
    assert table.rows[1][0] == "<b>&" and "<script>" in table.title


def test_results_have_tables_with_shapes_and_peaks(rng):
    hx = zv.mechanisms.docking_ring("RSU")
    dynamics = hx.forward_dynamics(*a_state(hx, rng, (5,)))
    table = Table(dynamics._repr_html_())
    assert table.title == "HexapodDynamics((5,) states)"
    assert [row[0] for row in table.rows[1:]] == list(dynamics.outputs)
    peak = f"{np.abs(dynamics.base_wrench[:, :3]).max():.4g} N, {np.abs(dynamics.base_wrench[:, 3:]).max():.4g} N m"
    assert table.rows[2] == ["base_wrench", "(5, 6)", peak]
    assert f"base_wrench         (5, 6)     up to {peak}" in repr(dynamics)

    found = hx.forward_kinematics(np.stack([hx.closure(*hx.nominal)[:, 0], np.full(6, 9.0)]), on_error="nan")
    table = Table(found._repr_html_())
    assert table.title == "RingPose((2,), 1 failed)" and ["R", "(2, 3, 3)", "1"] in table.rows
    assert Table(hx.forward_kinematics(hx.closure(*hx.nominal)[:, 0])._repr_html_()).title == "RingPose(one pose)"
    rows = Table(hx.singularity(*hx.nominal)._repr_html_()).rows
    assert [row[0] for row in rows] == ["", "condition", "leg", "status"]
    arm = zv.robots.two_link()
    q = np.ones(2)
    assert len(Table(arm.derivatives(q, q, q)._repr_html_()).rows) == 4
    assert len(Table(arm.derivatives(q, q, q, outputs=["dtau_dq"])._repr_html_()).rows) == 2
    scan = hx.workspace(points=3)
    assert Table(scan._repr_html_()).title == repr(scan)


def test_results_without_numbers_can_be_shown(rng):
    hx = zv.mechanisms.docking_ring("UPS")
    for lead in ((0,), (2, 0)):
        empty = hx.forward_dynamics(*a_state(hx, rng, lead))
        assert "up to nothing" in repr(empty) and "nothing" in empty._repr_html_()
    _, R, *rest = a_state(hx, rng, (2,))
    failed = hx.forward_dynamics(np.full((2, 3), np.nan), R, *rest, on_error="nan")
    assert repr(failed).startswith("HexapodDynamics((2,) states, 2 failed)\n") and "up to nothing" in repr(failed)


@pytest.mark.parametrize("kind", hd.TYPES)
def test_a_ring_draws_itself(kind):
    hx = zv.mechanisms.docking_ring(kind)
    figure = hx.plot()
    axes = figure.axes[0]
    assert axes.get_title() == f"docking_ring {kind}" and isinstance(figure, mpl.figure.Figure)
    lines = [np.array(line.get_data_3d()) for line in axes.lines]
    ends = [line[:, -1] for line in lines if line.shape == (3, 2)]
    for leg in hx.legs:
        hinge = hx.nominal[0] + leg.ring
        assert min(np.abs(end - hinge).max() for end in ends) < 1e-12


def test_a_ring_draws_itself_in_any_pose():
    hx = zv.mechanisms.docking_ring("UPS")
    r = hx.nominal[0] + [0.03, 0.02, 0]
    T = np.eye(4)
    T[:3, 3] = r
    axes = plt.figure().add_subplot(projection="3d")
    assert hx.plot(r, ax=axes) is axes.figure
    drawn = [np.array(hx.plot(pose).axes[0].lines[-1].get_data_3d()) for pose in (r, (r, np.eye(3)), T)]
    assert np.array_equal(drawn[0], drawn[1]) and np.array_equal(drawn[0], drawn[2])
    bare = zv.Hexapod(hx.platform, hx.legs)
    with pytest.raises(ValueError, match="plot: pose is missing, and hexapod 'hexapod' has no nominal pose"):
        bare.plot()
    with pytest.raises(ValueError, match="plot: R of pose is not orthonormal"):
        hx.plot((r, 2 * np.eye(3)))


@pytest.mark.parametrize("axes", [("y", "z"), ("x", "pitch"), ("roll", "yaw"), ("tilt x", "z")])
def test_the_border_of_a_workspace_is_where_a_leg_meets_its_limit(axes):
    hx = zv.mechanisms.docking_ring("UPS")
    scan = hx.workspace(axes, (0.3, 0.3), 31)
    drawn = scan.plot().axes[0]
    scales = [1e3 if name in "xyz" else 180 / np.pi for name in axes]
    assert drawn.get_xlabel() == f"{axes[0]}, {'mm' if axes[0] in 'xyz' else 'deg'}"
    paths = [path for item in drawn.collections for path in item.get_paths() if hasattr(item, "levels")]
    points = np.concatenate([path.vertices for path in paths if len(path.vertices)]) / scales
    assert len(points) > 20
    # a staircase of the grid would be off by half a step, 10 mm or mrad
    for point in points[:: max(1, len(points) // 25)]:
        fine = hx.workspace(axes, (1e-9, 1e-9), 2, centre=moved(hx, axes, point))
        assert abs(fine.margin[0, 0]) < 2e-3


def test_the_border_of_a_workspace_is_closed_where_reach_ends_nearby():
    hx = zv.mechanisms.docking_ring("RSU")
    scan = hx.workspace(("y", "z"), (0.3, 0.3), 61)
    assert np.isnan(scan.margin).any()
    drawn = scan.plot().axes[0]
    (contour,) = (item for item in drawn.collections if hasattr(item, "levels"))
    (border,) = (piece for path in contour.get_paths() for piece in path.to_polygons(closed_only=False))
    assert np.array_equal(border[0], border[-1])
    inside = mpl.path.Path(border).contains_points(1e3 * grid(scan)).reshape(scan.usable.shape)
    assert np.array_equal(inside, scan.usable)


def test_without_limits_the_border_is_that_of_reach():
    hx = zv.mechanisms.docking_ring("RSU")
    legs = [leg._with(lower=-np.inf, upper=np.inf) for leg in hx.legs]
    scan = zv.Hexapod(hx.platform, legs, nominal=hx.nominal).workspace(("y", "z"), (0.3, 0.3), 31)
    (contour,) = (item for item in scan.plot().axes[0].collections if hasattr(item, "levels"))
    border = mpl.path.Path(np.concatenate([path.vertices for path in contour.get_paths()]))
    assert np.array_equal(border.contains_points(1e3 * grid(scan)).reshape(scan.usable.shape), scan.usable)


def grid(scan):
    return np.stack(np.meshgrid(scan.first, scan.second, indexing="ij"), axis=-1).reshape(-1, 2)


def moved(hx, axes, point):
    """The nominal pose of a docking ring displaced by `point` along the axes of a scan."""
    from scipy.spatial.transform import Rotation

    shift, angles = np.zeros(3), np.zeros(3)
    for name, value in zip(axes, point, strict=True):
        if name in "xyz":
            shift["xyz".index(name)] = value
        else:
            angles[("roll", "pitch", "yaw").index(name) if "tilt" not in name else "xyz".index(name[-1])] = value
    return hx.nominal[0] + shift, Rotation.from_euler("ZYX", angles[::-1]).as_matrix()


@pytest.mark.parametrize("draw", ["workspace", "ring"])
def test_without_matplotlib_the_extra_is_named(draw, monkeypatch):
    hx = zv.mechanisms.docking_ring("UPS")
    scan = hx.workspace(points=3)
    for name in list(sys.modules):
        if name.partition(".")[0] in ("matplotlib", "mpl_toolkits") or name.startswith("zveno.plot"):
            monkeypatch.delitem(sys.modules, name)
    real = builtins.__import__

    def hidden(name, *args, **options):
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", hidden)
    who = {"workspace": "Workspace.plot", "ring": "Hexapod.plot"}[draw]
    hint = re.escape(f"{who} needs matplotlib: install it with `pip install zveno[plot]`")
    with pytest.raises(ImportError, match=hint):
        scan.plot() if draw == "workspace" else hx.plot()
