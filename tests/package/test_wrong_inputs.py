"""Wrong inputs of every kind: refused by a message that names function and argument, never taken for something else."""

import inspect
import pydoc
import warnings

import numpy as np
import pytest
import zveno as zv
from matplotlib.figure import Figure

ARM, RING = zv.robots.puma560(), zv.mechanisms.docking_ring("UPS")
RUN = zv.robots.two_link().simulate(0.02, 1e-2, q=[0.5, 0.0])
RUNS = zv.robots.two_link().simulate(0.02, 1e-2, q=[[0.5, 0.0], [0.4, 0.0]])
LOOSE = (
    '<robot name="a"><link name="b"/><link name="c"/>'
    '<joint name="j" type="continuous"><parent link="b"/><child link="c"/></joint></robot>'
)
ROWS = [(0, 0.4, 0.3, 0), (0, 0, 0.25, 1)]
ARRAY = np.ones(6)
LONG = "x" * 10**5
KINDS = ["array", "0-d array", "huge", "bytes", "long", "records"]

NO_FLAGS = ["no", "False", "", None, ARRAY, np.empty(0), 2, 0.0, [True]]
FLAGS = {
    "Chain: strict": lambda x: zv.Chain(ARM.links, strict=x),
    "Chain.from_dict: strict": lambda x: zv.Chain.from_dict(ARM.to_dict(), strict=x),
    "Chain.from_dh: strict": lambda x: zv.Chain.from_dh(ROWS, masses=[1, 1], strict=x),
    "Chain.from_textbook: strict": lambda x: zv.Chain.from_textbook([1], m=[1], J=[1], strict=x),
    "Body.mesh: closed": lambda x: zv.Body.mesh(np.zeros((1, 3, 3)), mass=1.0, closed=x),
    "to_quaternion: scalar_first": lambda x: zv.orientation.to_quaternion(np.eye(3), scalar_first=x),
    "from_quaternion: scalar_first": lambda x: zv.orientation.from_quaternion([1, 0, 0, 0], scalar_first=x),
    "from_urdf: strict": lambda x: zv.Chain.from_urdf(LOOSE, strict=x),
    "from_urdf: friction": lambda x: zv.Chain.from_urdf(LOOSE, friction=x),
    "Hexapod: strict": lambda x: zv.Hexapod(RING.platform, RING.legs, nominal=RING.nominal, strict=x),
    "within_limits: per_joint": lambda x: ARM.within_limits(np.zeros(6), per_joint=x),
    "plot: frames": lambda x: ARM.plot(frames=x),
    "operations: moving": lambda x: RING.operations(0, moving=x),
    "operations: free": lambda x: RING.operations(0, free=x),
    "docking_ring: reflected": lambda x: zv.mechanisms.docking_ring("UPS", reflected=x),
    "show_versions: as_json": lambda x: zv.show_versions(as_json=x),
    "Simulation.summary: each": lambda x: RUN.summary(each=x),
    "SimulationBatch.summary: each": lambda x: RUNS.summary(each=x),
    "save: overwrite": lambda x: ARM.trace("com").save("never written", overwrite=x),
}


@pytest.mark.parametrize("name", FLAGS)
def test_switches_are_true_or_false_and_not_the_truth_of_a_text(name):
    for value in NO_FLAGS:
        with pytest.raises(ValueError, match=rf"{name.split(': ')[-1]} is .*, expected True or False") as caught:
            FLAGS[name](value)
        assert name.split(":")[0].split(".")[0] in str(caught.value)


def test_switches_take_the_numbers_of_numpy():
    assert ARM.within_limits(np.zeros(6), per_joint=np.True_).shape == (6,)
    assert ARM.within_limits(np.zeros(6), per_joint=1).shape == (6,)
    assert ARM.within_limits(np.zeros(6), per_joint=np.False_) is True


CHOICES = {
    "wrench_at: axes": lambda x: zv.wrench_at((0, 0, 0), (1, 0, 0), axes=x, r=(0, 0, 0), R=np.eye(3)),
    "workspace: axes": lambda x: RING.workspace((x, "y"), (0.1, 0.1), 3),
    "singularity: on_error": lambda x: RING.singularity(*RING.nominal, on_error=x),
    "forward_kinematics: on_error": lambda x: RING.forward_kinematics(np.zeros(6), on_error=x),
    "from_dh: convention": lambda x: zv.Chain.from_dh(ROWS, convention=x),
    "from_dh: joints": lambda x: zv.Chain.from_dh(ROWS, joints=[x, x]),
    "trace: level": lambda x: ARM.trace("com", level=x),
    "trace: method": lambda x: ARM.trace("mass_matrix", method=x),
    "trace: link": lambda x: ARM.trace("pose", link=x),
    "trace: frame": lambda x: ARM.trace("jacobian", link="link6", frame=x),
    "trace: arguments": lambda x: ARM.trace("bias", arguments=x),
    "trace: outputs": lambda x: ARM.trace("derivatives", outputs=x),
    "trace: external": lambda x: ARM.trace("inverse_dynamics", external=x),
    "trace: parameters": lambda x: ARM.trace("inverse_dynamics", parameters=x),
    "trace: tau": lambda x: RING.trace("forward_dynamics", tau=x),
    "trace: function": lambda x: RING.trace(x),
    "operations: function": lambda x: ARM.operations(x),
    "operations: method": lambda x: ARM.operations("mass_matrix", x),
    "c_source: real": lambda x: ARM.trace("com").c_source(real=x),
    "save: real": lambda x: ARM.trace("com").save("never written", real=x),
    "with_payload: ": lambda x: ARM.with_payload(x, 1.0),
    "with_tool: link": lambda x: ARM.with_tool(np.eye(4), x),
    "to_dh: convention": lambda x: ARM.to_dh(x),
    "to_dh: tool": lambda x: ARM.to_dh(tool=x),
    "to_textbook: tool": lambda x: ARM.to_textbook(tool=x),
    "drive_halves: split": lambda x: zv.Body.drive_halves(1, 1, 1, split=x),
    "compose: parts": lambda x: zv.Body.compose(x),
    "mesh: mass": lambda x: zv.Body.mesh(np.zeros((1, 3, 3)), mass=x, closed=False),
}


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("value", [ARRAY, np.array(1.0), 10**400, b"abc", LONG, np.zeros(6, "f4,f4")], ids=KINDS)
def test_names_are_refused_by_name_and_briefly(name, value):
    function, argument = name.split(": ")
    with pytest.raises((TypeError, ValueError), match=rf"{function}: .*{argument}") as caught:
        CHOICES[name](value)
    text = str(caught.value)
    assert len(text) < 600 and "truth value" not in text and "incompatible" not in text and "C++" not in text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ARM.poses(np.ones(5)), r"poses: q has shape \(5,\), expected \(6,\)"),
        (lambda: ARM.poses("abc"), "poses: q is a str"),
        (lambda: RING.status(np.ones(2), np.eye(3)), r"status: r has shape \(2,\)"),
        (lambda: RING.status(*RING.nominal, threads="all"), "status: threads is 'all'"),
        (lambda: RING.workspace(threads="all"), "workspace: threads is 'all'"),
        (lambda: RING.workspace(extent=np.array(0.1)), r"workspace: extent is array\(0\.1\)"),
        (lambda: RING.workspace(points=[[1, 2], [3]]), r"workspace: points is \[1, 2\], expected an integer"),
        (lambda: RING.workspace(axes=(np.zeros(3), np.eye(3))), "workspace: axes is "),
        (lambda: zv.Chain(np.array(1.0)), r"Chain 'chain': links is array\(1\.\), expected a list of Link"),
        (
            lambda: zv.Hexapod(RING.platform, np.array(1.0)),
            r"Hexapod 'hexapod': legs is array\(1\.\), expected six Leg",
        ),
        (lambda: zv.Chain.from_dh(np.array(1.0)), r"from_dh: rows is array\(1\.\)"),
        (lambda: zv.Chain.from_dh(ROWS, joints=None), "from_dh: joints is None"),
        (lambda: zv.Chain.from_dh(ROWS, masses=[1.0]), "from_dh: masses has 1 entries, expected 2"),
        (lambda: zv.Chain.from_dh(ROWS, tool=3), "from_dh: tool is 3"),
        (lambda: zv.Chain.from_urdf(LOOSE, snap=10**400), "from_urdf: snap is 1000.*, expected 0 to 0.1 rad"),
        (lambda: zv.Hexapod.from_dict(RING.to_dict() | {"note": "\ud800"}), "Hexapod: note is "),
        (lambda: zv.Hexapod.from_dict(RING.to_dict() | {"note": ARRAY}), "Hexapod: note is "),
        (lambda: ARM.trace("jacobian", link="link6", point=10**400), "trace: point is 1000"),
        (lambda: ARM.trace("com").save(3), "save: directory is 3, expected a path"),
        (lambda: ARM.trace("com").save("\ud800"), "save: directory is "),
        (lambda: ARM.trace("com").reference("many"), "reference: count is 'many'"),
        (lambda: zv.files.open_model("/"), "open_model: '/' is a directory, expected a file"),
        (lambda: zv.files.open_model("docking_ring:XYZ"), r"docking_ring:XYZ.*did you mean 'docking_ring:U\w\w'\?"),
        (lambda: ARM.plot(np.full(6, 1 + 1j)), r"plot: q is .*, expected numbers of shape \(6,\)"),
        (lambda: ARM.plot(["1"] * 6), r"plot: q is .*, expected numbers of shape \(6,\)"),
        (lambda: ARM.plot(ax="here"), "plot: ax is 'here', expected Axes3D"),
        (lambda: RING.plot(ax=Figure().add_subplot()), "plot: ax is .*, expected Axes3D"),
    ],
)
def test_the_message_names_what_was_called_and_which_argument(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_files_are_read_strictly_or_not(tmp_path):
    ARM.save(tmp_path / "arm.json")
    with pytest.raises(zv.ModelError, match="strict is 'no', expected True or False"):
        zv.load(tmp_path / "arm.json", strict="no")


def test_long_names_of_legs_are_cut():
    with pytest.raises(zv.ModelError) as caught:
        zv.Leg.ups((0, 0, 0), (1, 0, 0), housing=None, rod=None, housing_length=1.0, name=LONG)
    assert len(str(caught.value)) < 200 and caught.value.link == LONG


def test_codes_of_rows_do_not_share_memory_with_numbers():
    q, out = np.zeros((50, 6)), np.zeros((50, 6))
    inside = {"out": out.view(np.int16).ravel()[:50], "q": q.view(np.int16).ravel()[-50:]}
    for name, status in inside.items():
        for call in (ARM.inverse_dynamics, ARM.compile("inverse_dynamics")):
            with pytest.raises(ValueError, match=f"inverse_dynamics: status shares memory with {name}"):
                call(q, out.copy(), out.copy(), out=out, on_error="nan", status=status)
    beside = np.zeros(50 * 6 * 4 + 50, np.int16)  # neighbours may touch
    numbers, codes = beside[:1200].view(np.float64).reshape(50, 6), beside[1200:]
    ARM.inverse_dynamics(q, q, q, out=numbers, on_error="nan", status=codes)
    np.testing.assert_array_equal(numbers, ARM.inverse_dynamics(q, q, q))
    assert not codes.any()


@pytest.mark.parametrize("kind", [zv.Chain, zv.Hexapod])
def test_help_lists_no_words_of_other_libraries(kind):
    class Mine(kind):
        pass

    for cls in (kind, Mine):
        assert "rnea" not in dir(cls) and "M" not in dir(cls) and "mass_matrix" in dir(cls)
        assert "CalcMassMatrix" not in dict(inspect.getmembers(cls))
        text = pydoc.plain(pydoc.render_doc(cls))
        assert "CalcMassMatrix" not in text and "Elsewhere" not in text and "mass_matrix" in text
    with pytest.raises(AttributeError, match="it is called `inverse_dynamics` here"):
        _ = kind.rnea


def test_no_input_warns_from_inside():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (np.full(6, 1e308), np.full(6, np.nan), np.full(6, np.longdouble("1e4000"))):
            for call in (
                lambda x: ARM.within_limits(x, x, x),
                lambda x: zv.wrench_at(x[:3], x[:3], r=x[:3], R=np.eye(3)),
            ):
                try:
                    call(value)
                except ValueError as error:
                    assert "expected finite" in str(error) or "too large" in str(error)


PATHS = {
    "Simulation.load": zv.Simulation.load,
    "Simulation.save": RUN.save,
    "Simulation.to_csv": RUN.to_csv,
    "SimulationBatch.load": zv.SimulationBatch.load,
    "SimulationBatch.save": RUNS.save,
    "SimulationBatch.to_csv": RUNS.to_csv,
    "load": zv.load,
}


@pytest.mark.parametrize("name", PATHS)
def test_a_path_is_no_number_of_an_open_file(name):
    for value in (True, 1, 2.0, None, ["a"], b"a"):
        with pytest.raises(TypeError, match=f"{name}: path is .*, expected a path"):
            PATHS[name](value)
    with pytest.raises(ValueError, match=f"{name}: path is .* null"):
        PATHS[name]("a\0b")


def test_names_of_fields_and_laws_are_lists():
    with pytest.raises(TypeError, match=r"Simulation.summary: fields is 3, expected names"):
        RUN.summary(3)
    with pytest.raises(ValueError, match=r"to_csv: progress is 'no', expected True or False"):
        RUN.to_csv("never written.csv", progress="no")
    with pytest.raises((TypeError, ValueError), match=r"Sum: laws is 1.0, expected a tuple of Law"):
        zv.laws.Sum(1.0)
    with pytest.raises((TypeError, ValueError), match=r"Table: times is .*expected"):
        zv.laws.Table(np.array(1.0), np.array(1.0))
