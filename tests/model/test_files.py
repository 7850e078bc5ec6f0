"""Models in files: what is written is read to the last bit, what is broken is refused by file and field."""

import json
import os
import pathlib
import stat
import warnings

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import mechanisms, random_chain
from helpers import json_values
from hexapod_models import CASES, pair
from hypothesis import given
from hypothesis import strategies as st
from zveno import files

DATA = pathlib.Path(__file__).parents[1] / "data"
RINGS = {kind: zv.mechanisms.docking_ring(kind) for kind in ("UPS", "SPU", "UCU", "RUS", "RSU")}
pytestmark = pytest.mark.filterwarnings("ignore::zveno.ModelWarning")


def same_bits(a, b):
    """Whether two models are equal and give the same bits."""
    return a == b and type(a) is type(b) and json.dumps(a.to_dict()) == json.dumps(b.to_dict())


def written(folder, text, name="model.json"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# ---- there and back ------------------------------------------------------------------------------------------------


@given(mechanisms(max_n=6))
def test_chains_come_back_to_the_last_bit(tmp_path_factory, made):
    chain, rng = made
    path = tmp_path_factory.mktemp("chains") / "chain.json"
    chain.save(path)
    again = zv.load(path)
    assert same_bits(again, chain)
    q = rng.uniform(-1, 1, chain.n)
    np.testing.assert_array_equal(again.mass_matrix(q), chain.mass_matrix(q))


@given(st.sampled_from(sorted(RINGS)), st.integers(0, 2**32 - 1))
def test_hexapods_come_back_to_the_last_bit(tmp_path_factory, kind, seed):
    rng = np.random.default_rng(seed)
    data = RINGS[kind].to_dict()
    data["platform"]["mass"] *= rng.uniform(0.5, 2)
    data["gravity"] = rng.uniform(-10, 10, 3).tolist()
    for leg in data["legs"]:
        leg["reflected"] *= rng.uniform(0.5, 2)
    ring = zv.Hexapod.from_dict(data)
    path = tmp_path_factory.mktemp("rings") / "ring.JSON"
    ring.save(str(path))
    again = zv.load(str(path))
    assert same_bits(again, ring)
    r, R = ring.nominal
    np.testing.assert_array_equal(again.mass_matrix(r, R), ring.mass_matrix(r, R))


@pytest.mark.parametrize("case", CASES)
def test_hexapods_of_every_kind_come_back_under_another_gravity_too(tmp_path, case):
    _, ring = pair(case)
    ring.save(tmp_path / "ring.json")
    again = zv.load(tmp_path / "ring.json")
    assert same_bits(again, ring)
    r, R = ring.nominal
    rest = np.zeros(6)
    light = again.with_gravity((0, 0, 0))
    assert not light.gravity.any() and light.legs == ring.legs
    np.testing.assert_array_equal(light.mass_matrix(r, R), ring.mass_matrix(r, R))
    np.testing.assert_allclose(light.inverse_dynamics(r, R, rest, rest), 0, atol=1e-12)


def test_numbers_at_the_edge_of_what_can_be_written_come_back(tmp_path):
    rod = {"mass": 5e-324, "com": (1 / 3, 1e-300, 0), "inertia": (0.1 + 0.2, 0.4, 0.4)}
    link = zv.Link('a"\\\n é 𝄞', lower=-1.7976931348623157e308, rotor_inertia=2**-1074, **rod)
    chain = zv.Chain([link], gravity=(-0.0, 1e-320, 9.80665), name="naïve")
    chain.save(tmp_path / "a.json")
    assert same_bits(zv.load(tmp_path / "a.json"), chain)


def test_a_simulation_is_read_too(tmp_path):
    arm = zv.robots.two_link()
    sim = arm.simulate(0.1, 1e-3)
    path = tmp_path / "run.npz"
    sim.save(path)
    again = zv.load(path)
    assert isinstance(again, zv.ChainSimulation)
    np.testing.assert_array_equal(again.q, sim.q)
    with pytest.raises(zv.ModelError, match=r"run\.npz: holds a simulation, expected a model"):
        files.open_model(path)


def test_urdf_is_read_with_its_options():
    path = DATA / "arm.urdf"
    assert zv.load(path) == zv.Chain.from_urdf(path)
    assert zv.load(str(path), friction=True, name="x") == zv.Chain.from_urdf(path, friction=True, name="x")
    with pytest.raises(zv.ModelError, match="strict=True"):
        zv.load(path, strict=True)


def test_strict_holds_for_chains_in_json(tmp_path):
    zv.robots.puma560().save(tmp_path / "puma.json")
    with pytest.warns(zv.ModelWarning, match="triangle inequality") as caught:
        assert zv.load(tmp_path / "puma.json").n == 6
        assert files.open_model(tmp_path / "puma.json").n == 6
        assert files.open_model(DATA / "suspicious.urdf").n == 2
    assert [item.filename for item in caught] == 3 * [__file__]
    with pytest.raises(zv.ModelError, match=r"load: puma\.json: .*triangle inequality.*strict=True"):
        zv.load(tmp_path / "puma.json", strict=True)


def test_every_part_of_the_model_is_in_the_documented_table():
    words = set(files.__doc__.replace("`", " ").replace(",", " ").replace(":", " ").replace(";", " ").split())
    chain, ring = zv.robots.puma560().to_dict(), RINGS["UPS"].to_dict()
    for data in (chain, ring, chain["links"][0], ring["platform"]):
        assert set(data) - {"format", "version"} <= words
    assert {chain["format"], ring["format"], "zveno.simulation"} <= words


# ---- writing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["arm", "arm.urdf", "arm.json.txt", "", ".json", "arm.jso"])
def test_only_names_that_end_in_json_are_written(tmp_path, name):
    with pytest.raises(ValueError, match=r"save: path is .*expected a name that ends in '\.json'"):
        zv.robots.scara().save(str(tmp_path / name) if name else name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", [3, None, ["a.json"], b"a.json"])
def test_what_is_no_path_is_a_type_error(path):
    with pytest.raises(TypeError, match=r"save: path is .*expected a path"):
        zv.robots.scara().save(path)
    with pytest.raises(TypeError, match=r"load: path is .*expected a path"):
        zv.load(path)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "arm.json"
    first, second = zv.robots.scara(), zv.robots.stanford()
    first.save(path)
    path.chmod(0o640)
    second.save(path)
    assert zv.load(path) == second and stat.S_IMODE(path.stat().st_mode) == 0o640
    before = path.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        first.save(path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["arm.json"]


def test_a_link_to_a_file_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "arm.json"
    try:
        link.symlink_to(tmp_path / "real" / "arm.json")
    except OSError:  # Windows may forbid it
        return
    zv.robots.scara().save(link)
    assert link.is_symlink() and zv.load(tmp_path / "real" / "arm.json") == zv.robots.scara()


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(IsADirectoryError, match=r"save: .*is a directory"):
        zv.robots.scara().save(tmp_path / "folder.json")
    with pytest.raises(FileNotFoundError):
        zv.robots.scara().save(tmp_path / "missing" / "arm.json")
    with pytest.raises(zv.ModelError, match="is not a regular file"):
        zv.load(tmp_path)


# ---- broken files --------------------------------------------------------------------------------------------------


def edited(model, *place, **changes):
    """The JSON text of a model with values of one of its parts changed."""
    data = model.to_dict()
    part = data
    for key in place:
        part = part[key]
    part.update(changes)
    return json.dumps(data)


ARM, RING, LINKAGE = zv.robots.scara(), RINGS["UPS"], zv.mechanisms.four_bar()
WHOLE = json.dumps(ARM.to_dict())
BROKEN = {
    "truncated": (WHOLE[:-1], r"is not JSON \(.*\): the file is cut short"),
    "half": (WHOLE[: len(WHOLE) // 2], "is not JSON"),
    "one brace": ("{", "is not JSON"),
    "junk after": (WHOLE + "}", "is not JSON"),
    "empty": ("", "is empty"),
    "blank": (" \n", "is empty"),
    "zeros": (b"\0" * 100, "is empty"),
    "a list": ("[1, 2]", "is neither URDF nor JSON of zveno nor a simulation"),
    "an image": (b"\x89PNG\r\n\x1a\n", "is neither URDF nor JSON"),
    "bad text": (b'{"format": "\xff"}', "is not JSON of zveno"),
    "deep": ('{"a":' * 100_000, "is nested too deeply"),
    "no format": ("{}", r"format is None, expected 'zveno\.chain' or 'zveno\.hexapod'"),
    "other format": ('{"format": "zveno.chian"}', r"format is 'zveno\.chian', .*did you mean 'zveno\.chain'"),
    "format of another type": ('{"format": [1]}', r"format is \[1\]"),
    "rig": ('{"format": "zveno.rig"}', r"is a file of save_rig, expected a model; `zveno\.Stepper\.open` reads it"),
    "scenario": ('{"chaser": {}}', r"is a scenario of a docking, expected a model; `zveno\.docking\.Scenario\.load`"),
    "simulation": ('{"format": "zveno.simulation"}', r"expected the \.npz file"),
    "newer": (edited(ARM, version=2), "version is 2, expected 1: a newer zveno has written it"),
    "newer ring": (edited(RING, version=7), "version is 7, expected 1: a newer zveno has written it"),
    "newer linkage": (edited(LINKAGE, version=2), "version is 2, expected 1: a newer zveno has written it"),
    "version of another type": (edited(LINKAGE, version=True), "version is True, expected 1"),
    "twice": ('{"format": "zveno.chain", "format": "zveno.hexapod"}', "the key 'format' stands twice"),
    "nan": (edited(ARM, "links", 1, mass=float("nan")), "link 'link2': mass is nan, expected a finite number"),
    "nan in an array": (edited(ARM, "links", 0, com=[0, float("nan"), 0]), "link 'link1': com is .*nan"),
    "nan of a leg": (edited(RING, "legs", 2, ring=[0, 0, float("nan")]), "leg3.*nan"),
    "nan of the platform": (edited(RING, "platform", mass=float("nan")), "platform: .*mass is nan"),
    "infinite": (edited(ARM, "links", 1, mass=float("inf")), "link 'link2': mass is inf"),
    "negative": (edited(ARM, "links", 1, mass=-1), "link 'link2': mass -1 is negative"),
    "unknown key": (edited(ARM, colour="red"), "unknown key 'colour'"),
    "unknown key of a link": (edited(ARM, "links", 1, colour="red"), "link 'link2': unknown key 'colour'"),
    "missing key": (json.dumps({k: v for k, v in ARM.to_dict().items() if k != "links"}), "'links' is missing"),
    "no list": (edited(ARM, links=3), "links is 3, expected a list"),
    "no link": (edited(ARM, links=[3]), r"links\[0\]: .*got 3"),
    "five legs": (edited(RING, legs=RING.to_dict()["legs"][:5]), "legs has 5 entries, expected six"),
    "huge number": ('{"format": ' + "1" * 10_000 + "}", "is not JSON of zveno"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_refused_by_file_and_field(tmp_path, case):
    text, message = BROKEN[case]
    path = written(tmp_path, text)
    for read in (zv.load, files.open_model):
        with pytest.raises(zv.ModelError, match=rf"^load: model\.json: .*{message}") as caught:
            read(path)
        assert len(str(caught.value)) < 400 and "\n" not in str(caught.value)


@given(cut=st.integers(1, len(WHOLE) - 1))
def test_every_file_that_is_cut_short_is_refused(tmp_path_factory, cut):
    path = written(tmp_path_factory.mktemp("cut"), WHOLE[:cut])
    with pytest.raises(zv.ModelError, match=r"load: model\.json: is not JSON"):
        zv.load(path)


@given(st.sampled_from(["name", "base", "gravity", "links", "format", "version"]), json_values)
def test_any_json_makes_a_model_or_an_error_that_names_the_file(tmp_path_factory, key, value):
    path = written(tmp_path_factory.mktemp("any"), json.dumps(ARM.to_dict() | {key: value}))
    try:
        assert isinstance(zv.load(path), zv.Chain | zv.Hexapod)
    except zv.ModelError as error:
        assert str(error).startswith("load: model.json: ")


def test_sizes_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 2**20)
    with pytest.raises(zv.ModelError, match="is larger than 1 MiB"):
        zv.load(written(tmp_path, "{" + " " * 2**20 + "}"))


def test_what_is_not_there_is_said_with_its_neighbour(tmp_path):
    ARM.save(tmp_path / "scara.json")
    with pytest.raises(FileNotFoundError, match=r"there is no such file; did you mean 'scara\.json'\?"):
        zv.load(tmp_path / "scarra.json")
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        zv.load(tmp_path / "nowhere" / "x.json")
    with pytest.raises(zv.ModelError, match="expected the name of a file"):
        zv.load("")
    with pytest.raises(ValueError, match=r"load: path is 'a.*b', a name cannot hold a null character"):
        zv.load("a\0b")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "fifo")
        with pytest.raises(zv.ModelError, match="fifo: is not a regular file"):
            zv.load(tmp_path / "fifo")


# ---- built-in names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", zv.robots.__all__)
def test_robots_are_opened_by_name(name):
    assert files.open_model(name) == getattr(zv.robots, name)()


@pytest.mark.parametrize("kind", RINGS)
def test_rings_are_opened_by_name(kind):
    assert files.open_model(f"docking_ring:{kind}") == RINGS[kind] == files.open_model(f"docking_ring:{kind.lower()}")


def test_every_listed_name_opens():
    assert "puma560" in files.BUILT_IN and "docking_ring:UPS" in files.BUILT_IN
    assert all(isinstance(files.open_model(name), zv.Chain | zv.Hexapod) for name in files.BUILT_IN)
    assert files.open_model("docking_ring") == RINGS["UPS"]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("pma560", r"there is no file 'pma560', nor is it a built-in model; did you mean 'puma560'\?"),
        ("PUMA560", "did you mean 'puma560'"),
        ("docking_ring:UPX", "did you mean 'docking_ring:UPS'"),
        ("dockingring", "did you mean 'docking_ring'"),
        ("", "nor is it a built-in model: .*puma560"),
        ("qqqq", "built-in model: .*puma560.*docking_ring:RSU"),
        ("a\0b", "there is no file"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(word, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(zv.ModelError, match=f"^open_model: .*{message}"):
        files.open_model(word)


def test_files_come_before_built_in_names_and_folders_do_not(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    other = random_chain(rng, 3)
    other.save("mine.json")
    os.rename("mine.json", "puma560")
    (tmp_path / "scara").mkdir()
    assert files.open_model("puma560") == other
    assert files.open_model("scara") == zv.robots.scara()
    with pytest.raises(zv.ModelError, match="did you mean 'puma560'"):
        files.open_model("puma561")
    with pytest.raises(TypeError, match="open_model: text is 3"):
        files.open_model(3)


def test_options_are_checked_for_every_model():
    for name in ("puma560", DATA / "arm.urdf"):
        with pytest.raises(ValueError, match=r"snap is nan, expected 0 to 0\.1 rad"):
            files.open_model(name, snap=float("nan"))
        with pytest.raises(TypeError, match=r"unknown option 'srtict'; did you mean 'strict'\?"):
            files.open_model(name, srtict=True)
    assert files.open_model(DATA / "arm.urdf", snap=1e-5, friction=True).friction.any()


@pytest.mark.parametrize("option", [{"gravity": (0, 0, -1.62)}, {"name": "moon"}, {"friction": True}])
def test_options_of_urdf_are_not_passed_over_for_other_models(tmp_path, option):
    zv.robots.scara().save(tmp_path / "arm.json")
    zv.robots.scara().simulate(0.01, 1e-3).save(tmp_path / "run.npz")
    for name in ("arm.json", "run.npz"):
        with pytest.raises(TypeError, match=rf"^load: {next(iter(option))} is given, which only URDF takes; {name}"):
            zv.load(tmp_path / name, **option)
    for name in ("scara", "docking_ring", "docking_ring:RUS"):
        with pytest.raises(TypeError, match=f"^open_model: {next(iter(option))} is given"):
            files.open_model(name, **option)
    assert zv.load(tmp_path / "arm.json", snap=1e-5) == zv.robots.scara()


def test_models_without_suspicions_load_without_a_warning(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in files.BUILT_IN:
            files.open_model(name)
        ARM.save(tmp_path / "a.json")
        assert zv.load(tmp_path / "a.json") == ARM
