"""Records on disk: damaged files are refused with file and field, tables read back to the same bits, peaks."""

import csv
import io
import json
import os
import re
import sys
import types

import numpy as np
import pytest
import zveno as zv
from zveno import laws
from zveno.sim.output import Peak, Summary, whole_file
from zveno.sim.simulation import HexapodSimulation, Simulation

SOFT = laws.SpringDamper(400.0, 80.0)
PUSH = [-0.05, 0.03, 0.02, 0.1, -0.08, 0.06]


def ring(kind="UPS", **options):
    return zv.mechanisms.docking_ring(kind, **options)


@pytest.fixture(scope="module")
def record():
    return ring().simulate(0.02, 1e-3, u=PUSH, laws=SOFT)


@pytest.fixture(scope="module")
def good(record, tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "run.npz"
    record.save(path)
    return path


def contents(path):
    with np.load(path) as data:
        return {name: data[name] for name in data.files}


def refused(path):
    """The message about a file, which names it."""
    with pytest.raises(ValueError) as caught:
        Simulation.load(path)
    assert str(caught.value).startswith(f"Simulation.load: '{path}' ")
    return str(caught.value)


def test_truncated_files_are_refused(good, tmp_path):
    data, path = good.read_bytes(), tmp_path / "cut.npz"
    for size in [*range(0, 200, 7), *range(200, len(data) - 1, 997), len(data) - 1]:
        path.write_bytes(data[:size])
        assert "is not a simulation file" in refused(path)


def test_files_that_lack_a_piece_are_refused(good, tmp_path):
    data, path = good.read_bytes(), tmp_path / "gap.npz"
    rng = np.random.default_rng(2)
    for at in rng.integers(0, len(data) - 100, 50).tolist():
        path.write_bytes(data[:at] + data[at + int(rng.integers(1, 50)) :])
        refused(path)


def test_a_flipped_byte_is_found_or_does_not_matter(good, record, tmp_path):
    data, path = good.read_bytes(), tmp_path / "flipped.npz"
    found = 0
    for at in np.random.default_rng(1).integers(0, len(data), 300).tolist():
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :])
        try:
            back = Simulation.load(path)
        except ValueError as error:
            assert str(error).startswith(f"Simulation.load: '{path}' ")
            found += 1
        else:  # dates and the like
            assert all((array == back.to_dict()[name]).all() for name, array in record.to_dict().items())
    assert found > 200


def test_the_damaged_field_is_named(good, tmp_path):
    data, path = bytearray(good.read_bytes()), tmp_path / "damaged.npz"
    at = data.find(b"base_wrench.npy") + 60  # in its compressed numbers
    data[at] ^= 0xFF
    path.write_bytes(data)
    assert "is damaged in its field base_wrench (" in refused(path)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "array.npz"
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))
    assert "is not a simulation file" in refused(path)
    path.write_text("{}")
    assert "is not a simulation file" in refused(path)
    with pytest.raises(OSError):
        Simulation.load(tmp_path)


def nested(depth):
    return np.array("[" * depth + "]" * depth)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"r": np.zeros((20, 3))}, "has r of shape (20, 3), expected (21, 3)"),
        ({"r": np.zeros((21, 4))}, "has r of shape (21, 4), expected (21, 3)"),
        ({"t": np.zeros((21, 1))}, "has t of shape (21, 1), expected "),
        ({"t": np.zeros(21)}, "has times t that do not increase"),
        ({"t": np.full(21, np.nan)}, "has times t that do not increase"),
        ({"tau": np.zeros((21, 6), np.float32)}, "has tau of dtype float32, expected float64"),
        ({"tau": np.zeros((21, 6), complex)}, "has tau of dtype complex128, expected float64"),
        ({"tau": np.full((21, 6), "a")}, "has tau of dtype <U1, expected float64"),
        ({"joint_position": np.zeros((21, 6, 4))}, "has joint_position of shape (21, 6, 4), expected (21, 6, 3)"),
        ({"energy": np.zeros(21)}, "has an unknown field 'energy'"),
        ({"about": nested(100_000)}, "has a field about that is not JSON of ours ("),
        ({"about": np.array("{")}, "has a field about that is not JSON of ours ("),
        ({"about": np.array("[1]")}, "has a field about that is [1], expected a dictionary"),
        ({"about": np.zeros(3)}, "has a field about of shape (3,) and dtype float64, expected one string"),
        ({"about": np.array(["{}", "{}"])}, "has a field about of shape (2,) and dtype <U2, expected one string"),
    ],
)
def test_wrong_arrays_are_refused_by_name(change, text, good, tmp_path):
    path = tmp_path / "wrong.npz"
    np.savez(path, **contents(good) | change)
    assert text in refused(path)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"version": True}, "is not a file of 'zveno.simulation', version 1"),
        ({"method": "euler"}, "has method 'euler', expected one of 'rk4', 'semi-implicit', "),
        ({"method": None}, "has method None"),
        ({"dt": "fast"}, "has dt 'fast', expected a number > 0"),
        ({"dt": -1.0}, "has dt -1.0, expected a number > 0"),
        ({"dt": float("nan")}, "has dt nan, expected a number > 0"),
        ({"dt": True}, "has dt True, expected a number > 0"),
        ({"hexapod": 3}, "has a field hexapod that is none: Hexapod.from_dict: got 3, expected a dictionary"),
        (
            {"hexapod": {"format": "zveno.hexapod"}},
            "has a field hexapod that is none: Hexapod.from_dict: version is None",
        ),
        ({"events": 3}, "has events 3, expected a list"),
        ({"events": [[1, 2]]}, "has events[0] [1, 2], expected [time, name, side, kind, rate]"),
        ({"events": [[1, "leg1", "lower", "jump", 2]]}, "has events[0] [1, 'leg1', 'lower', 'jump', 2], expected"),
        ({"events": [[1, "leg9", "lower", "enter", 2]]}, "has events[0] of 'leg9', which hexapod 'docking_ring UPS"),
        ({"failure": "bad"}, "has failure 'bad', expected type, message and data"),
        ({"failure": {"type": "Error", "message": "x", "data": {"__class__": 1}}}, "has failure data '__class__'"),
    ],
)
def test_wrong_descriptions_are_refused_by_name(change, text, good, tmp_path):
    path, arrays = tmp_path / "wrong.npz", contents(good)
    about = json.loads(str(arrays["about"])) | change
    np.savez(path, **arrays | {"about": np.array(json.dumps(about))})
    assert text in refused(path)
    for name in change:  # and what is missing
        if name != "version":
            del about[name]
            np.savez(path, **arrays | {"about": np.array(json.dumps(about))})
            assert f"lacks {name}" in refused(path)


def test_a_file_appears_whole_or_not_at_all(record, tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    path.write_bytes(b"before")
    with monkeypatch.context() as patch:
        patch.setattr(np, "savez_compressed", lambda file, **arrays: file.write(b"half") and 1 / 0)
        with pytest.raises(ZeroDivisionError):
            record.save(path)
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["run.npz"]
    with monkeypatch.context() as patch:
        patch.setattr(HexapodSimulation, "tau", np.zeros((21, 6)), raising=False)
        with pytest.raises(RuntimeError), whole_file(tmp_path / "table.csv", "w") as file:
            file.write("half")
            raise RuntimeError
    assert os.listdir(tmp_path) == ["run.npz"]
    record.save(path)
    assert Simulation.load(path).hexapod == record.hexapod and os.listdir(tmp_path) == ["run.npz"]


def test_places_that_do_not_exist_are_named(record, tmp_path):
    for write in (record.save, record.to_csv):
        with pytest.raises(FileNotFoundError) as caught:
            write(tmp_path / "nowhere" / "run")
        assert caught.value.filename == str(tmp_path / "nowhere" / "run")
        with pytest.raises(IsADirectoryError):
            write(tmp_path)


def test_files_have_the_permissions_of_any_new_file(record, tmp_path):
    (tmp_path / "plain").write_text("")
    record.to_csv(tmp_path / "table.csv", "r")
    assert (tmp_path / "table.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


# ---- tables


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = list(csv.reader(file))
    return head, np.array(rows, float)


def test_tables_read_back_to_the_same_bits(record, tmp_path):
    record.to_csv(tmp_path / "all.csv")
    head, rows = table(tmp_path / "all.csv")
    columns = record.columns()
    assert [text.partition(" [")[0] for text in head] == list(columns)
    assert (rows == np.column_stack(list(columns.values()))).all()
    assert (tmp_path / "all.csv").read_bytes().count(b"\r") == 0


def test_tables_hold_the_chosen_fields_with_units(record, tmp_path):
    record.to_csv(tmp_path / "some.csv", ["base_wrench", "tau.leg3", "u"])
    head, rows = table(tmp_path / "some.csv")
    assert head == [
        "t [s]", "base_wrench.fx [N]", "base_wrench.fy [N]", "base_wrench.fz [N]", "base_wrench.mx [N m]",
        "base_wrench.my [N m]", "base_wrench.mz [N m]", "tau.leg3 [N]", "u.vx [m/s]", "u.vy [m/s]", "u.vz [m/s]",
        "u.wx [rad/s]", "u.wy [rad/s]", "u.wz [rad/s]",
    ]  # fmt: skip
    assert (rows[:, 1:7] == record.base_wrench).all() and (rows[:, 0] == record.t).all()
    record.to_csv(tmp_path / "one.csv", "t")
    assert table(tmp_path / "one.csv")[0] == ["t [s]"]
    record.to_csv(str(tmp_path / "twice.csv"), ["tau", "tau.leg3"])
    assert len(table(tmp_path / "twice.csv")[0]) == 7
    with pytest.raises(ValueError, match=r"Simulation\.to_csv: fields names 'force', expected some of t, r, R,"):
        record.to_csv(tmp_path / "none.csv", ["force"])
    assert not (tmp_path / "none.csv").exists()


def test_units_follow_the_joints(tmp_path):
    mixed = zv.Hexapod(ring().platform, [*ring().legs[:3], *ring("RSU").legs[3:]], nominal=ring().nominal, name="mixed")
    s = mixed.simulate(0.01, 1e-3)
    units = {column.name: column.unit for column in s._columns()}
    assert units["tau.leg1"] == "N" and units["tau.leg6"] == "N m" and units["R.x.y"] == "1"
    assert units["joint_position.leg1.stroke"] == "m" and units["joint_position.leg1.u1"] == "rad"
    assert units["joint_acceleration.leg6.crank"] == "rad/s^2" and units["reaction.leg2.m"] == "N m"
    links = [
        zv.Link("a", joint_name="slide", joint="prismatic", axis=(1, 0, 0), mass=1.0, inertia=np.eye(3)),
        zv.Link("b", joint_name="turn", axis=(0, 0, 1), mass=1.0, inertia=np.eye(3)),
    ]
    units = {column.name: column.unit for column in zv.Chain(links).simulate(0.01, 1e-3)._columns()}
    assert units["q.slide"] == "m" and units["q.turn"] == "rad" and units["qdd.turn"] == "rad/s^2"
    assert units["tau.slide"] == "N" and units["tau.turn"] == "N m" and units["kinetic_energy"] == "J"


def test_large_tables_show_progress(record, tmp_path, monkeypatch):
    err = io.StringIO()
    err.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", err)
    record.to_csv(tmp_path / "all.csv", progress=True)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", err.getvalue())  # without colours
    assert "writing" in shown and "21/21 lines" in shown


# ---- peaks


def test_peaks_have_sign_time_and_place(record):
    summary = record.summary()
    names = [row.quantity for row in summary]
    assert "t" not in names and "R" not in names and "quaternion" not in names
    assert names.count("base_wrench") == 2 and names.count("tau") == 1 and names.count("kinetic_energy") == 1
    force, moment = (row for row in summary if row.quantity == "base_wrench")
    i, k = np.unravel_index(np.abs(record.base_wrench[:, :3]).argmax(), (21, 3))
    assert force == Peak("base_wrench", ("fx", "fy", "fz")[k], record.base_wrench[i, k], "N", record.t[i])
    assert moment.unit == "N m" and abs(moment.peak) == np.abs(record.base_wrench[:, 3:]).max()
    (tau,) = record.summary("tau")
    i, k = np.unravel_index(np.abs(record.tau).argmax(), (21, 6))
    assert tau == Peak("tau", f"leg{k + 1}", record.tau[i, k], "N", record.t[i])
    each = record.summary(["tau", "r"], each=True)
    assert [row.where for row in each] == [*record.hexapod.leg_names, "x", "y", "z"]
    assert [abs(row.peak) for row in each[:6]] == np.abs(record.tau).max(axis=0).tolist()
    assert [row.where for row in record.summary("tau.leg5")] == ["leg5"]
    with pytest.raises(ValueError, match=r"Simulation\.summary: fields names 'load', expected some of t, r"):
        record.summary("load")


def test_peaks_print_as_a_table_and_become_frames(record, monkeypatch):
    summary = record.summary(["tau", "base_wrench"])
    lines = str(summary).splitlines()
    assert lines[0].split() == ["quantity", "where", "peak", "unit", "time,", "s"] and len(lines) == 4
    assert len({line.index(unit) for line, unit in zip(lines, ("unit", "N", "N", "N m"), strict=True)}) == 1
    assert summary.to_dict()["unit"] == ["N", "N", "N m"] and list(summary.to_dict()) == list(Peak._fields)
    assert summary._repr_html_().count("<tr>") == 4 and isinstance(summary, Summary)
    frames = types.ModuleType("pandas")
    frames.DataFrame = lambda data: ("frame", data)
    monkeypatch.setitem(sys.modules, "pandas", frames)
    assert summary.to_pandas() == ("frame", summary.to_dict())


def test_notebooks_show_what_is_recorded(record):
    text = record._repr_html_()
    assert text.count("<tr>") == len(record.fields) + 1 and "21 states from t = 0 to 0.02 s" in text
    for words in ("<td", ">base_wrench</td>", ">(21, 6)</td>", ">N, N m</td>", "Ring axes to base axes."):
        assert words in text


def test_peaks_of_what_is_not_known_are_left_out():
    s = ring().simulate(0.01, 1e-3, base_motion=[1.0, 0, 0, 0, 0, 0, 0, 0, 0])
    assert "energy_error" not in [row.quantity for row in s.summary()]
    empty = ring("RUS").simulate(1.0, 1e-3, r=[2.0, 0, 0], on_error="stop")
    assert empty.summary() == ()


def test_the_angular_velocity_in_base_axes_turns_the_ring():
    R = np.array([[0.96, -0.28, 0.0], [0.28, 0.96, 0.0], [0.0, 0.0, 1.0]])
    s = ring().simulate(0.1, 1e-3, R=R, u=PUSH, laws=SOFT)
    rate = (s.R[2:] - s.R[:-2]) / (2 * s.dt)
    spin = rate @ s.R[1:-1].transpose(0, 2, 1)
    measured = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    np.testing.assert_allclose(s.omega_base[1:-1], measured, atol=1e-5)
    assert s.omega_base.shape == (101, 3) and np.abs(s.omega_base - s.u[:, 3:]).max() > 1e-4
