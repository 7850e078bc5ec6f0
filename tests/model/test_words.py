"""What mechanisms say: names of other libraries, nearest names, what is immutable, tables and pictures."""

import copy
import pickle
import pydoc
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
import zveno as zv
from helpers import environment
from zveno.model.other_names import MAKERS, OTHER_NAMES, word_of

matplotlib.use("Agg")

TWO = 2
ARM, RING, BAR = zv.robots.puma560(), zv.mechanisms.docking_ring("UPS"), zv.mechanisms.four_bar()


# ---- names of others -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("rnea", "inverse_dynamics"),
        ("crba", "mass_matrix"),
        ("aba", "forward_dynamics"),
        ("nle", r"bias\(q, qd\)"),
        ("nq", "n"),
        ("nv", "n"),
        ("dof", "n"),
        ("fkine", r"pose\(q, link\)"),
        ("jacob0", r"jacobian\(q, link, frame='world'\)"),
        ("M", "mass_matrix"),
        ("CalcMassMatrix", "mass_matrix"),
        ("mj_inverse", "inverse_dynamics"),
        ("buildReducedModel", "with_locked"),
        ("computeABADerivatives", r"forward_derivatives\(q, qd, tau\)"),
        ("ccrba", r"momentum_matrix\(q\)"),
        ("mj_jacSite", r"jacobian\(q, link\)"),
        ("ikine_GN", r"ik\(T\)"),
        ("fdyn", r"simulate\(t_end, dt\)"),
        ("CalcPoseInWorld", r"pose\(q, link\)"),
        ("joint_limits", "lower, upper"),
    ],
)
def test_names_of_other_libraries_are_answered_with_ours(name, ours):
    with pytest.raises(AttributeError, match=f"'Chain' object has no attribute '{name}': it is called `{ours}.* here"):
        getattr(ARM, name)


@pytest.mark.parametrize(
    ("name", "ours"), [("rnea", "inverse_dynamics"), ("ik", "closure"), ("nq", "nj"), ("n", "nj"), ("links", "legs")]
)
def test_hexapods_answer_with_their_own_names(name, ours):
    with pytest.raises(AttributeError, match=f"'Hexapod' object has no attribute '{name}': it is called `{ours}"):
        getattr(RING, name)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("rnea", "inverse_dynamics"),
        ("aba", "forward_dynamics"),
        ("crba", "chain.mass_matrix"),
        ("nq", "n"),
        ("dof", r"mobility\(q\).degrees"),
        ("fkine", r"chain.pose\(q, link\)"),
        ("ik", r"close\(q_guess, hold=joints\)"),
        ("gravload", r"inverse_dynamics\(q, 0 \* q, 0 \* q, actuated\)"),
        ("linearize", r"linearise\(q\)"),
        ("nefc", "m"),
        ("link_names", "chain.link_names"),
        ("mass_matrix", "chain.mass_matrix"),
        ("gravity", "chain.gravity"),
    ],
)
def test_linkages_answer_with_their_own_names_or_those_of_their_tree(name, ours):
    with pytest.raises(AttributeError, match=f"'Linkage' object has no attribute '{name}': it is called `{ours}` here"):
        getattr(BAR, name)


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_every_name_of_the_table_is_foreign_to_one_mechanism_and_known_to_one(name):
    assert any(hasattr(kind, word_of(text)) for text in OTHER_NAMES[name] for kind in (zv.Chain, zv.Hexapod))
    assert not (hasattr(zv.Chain, name) and hasattr(zv.Hexapod, name))
    for text in OTHER_NAMES[name]:
        assert any(hasattr(kind, word_of(text)) for kind in (zv.Chain, zv.Hexapod)), text


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("rnea", "it is a method here, `Chain.inverse_dynamics`"),
        ("mj_step", "it is a method here, `Chain.simulate(t_end, dt)`"),
        ("ik", "it is a method here, `Chain.ik`"),
        ("singularity", "it is a method here, `Hexapod.singularity`"),
        ("buildModelFromUrdf", "it is called `Chain.from_urdf(path)` here"),
        ("MjModel", "it is called `Linkage.from_mjcf(path)` here"),
        ("puma560", "it is `zveno.robots.puma560`"),
        ("SpringDamper", "it is `zveno.laws.SpringDamper`"),
        ("four_bar", "it is `zveno.mechanisms.four_bar`"),
    ],
)
def test_the_package_tells_where_functions_of_other_packages_are(name, told):
    with pytest.raises(AttributeError) as caught:
        getattr(zv, name)
    assert str(caught.value) == f"module 'zveno' has no attribute '{name}': {told}"


@pytest.mark.parametrize("text", sorted(set(MAKERS.values())))
def test_makers_exist(text):
    found = zv
    for name in text.partition("(")[0].split("."):
        found = getattr(found, name)
    assert callable(found)


def test_a_misspelled_attribute_is_answered_with_the_nearest():
    code = "import zveno as zv; zv.robots.two_link().mass_matrx"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "no attribute 'mass_matrx'. Did you mean: 'mass_matrix'?" in run.stderr  # Python's own words
    with pytest.raises(AttributeError, match=r"no attribute 'Chian'; did you mean 'Chain'\?"):
        _ = zv.Chian


@pytest.mark.parametrize("model", [ARM, RING, BAR], ids=["chain", "hexapod", "linkage"])
def test_answers_do_not_get_in_the_way(model):
    assert not hasattr(model, "rnea") and getattr(model, "nq", None) is None
    assert not hasattr(model, "__array__") and not hasattr(model, "_repr_png_")
    assert pickle.loads(pickle.dumps(model)) == model == copy.deepcopy(model) == copy.copy(model)
    assert not {"rnea", "crba"} & {*dir(model), *dir(type(model))} and "forward_dynamics" in dir(model)
    assert not hasattr(type(model).__new__(type(model)), "_name")  # before __init__
    assert "__getattr__" not in {name for kind in type(model).__mro__ for name in vars(kind)}  # it costs every call
    with pytest.raises(AttributeError) as caught:
        _ = model.rnea
    assert caught.value.name == "rnea"


# ---- immutable -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "key", "hint"),
    [
        (ARM, "gravity", "with_gravity"),
        (RING, "gravity", "with_gravity"),
        (ARM, "inertial_parameters", "with_inertial_parameters"),
        (ARM, "links", ""),
        (ARM, "n", ""),
        (ARM, "mass_matrix", ""),
        (RING, "platform", ""),
    ],
)
def test_what_cannot_be_set_names_what_makes_a_changed_copy(model, key, hint):
    hint = rf"; {hint}\(\.\.\.\) returns a changed copy" if hint else ""
    with pytest.raises(AttributeError, match=f"is immutable, cannot set '{key}'{hint}$"):
        setattr(model, key, (0, 0, 0))


@pytest.mark.parametrize(
    ("model", "key", "told"),
    [
        (ARM, "gravty", r"; did you mean 'gravity'\?; with_gravity\(...\) returns a changed copy"),
        (ARM, "frictoin", r"; did you mean 'friction'\?"),
        (ARM, "qlim", ": it is called `lower, upper` here"),
        (ARM, "zzz", ""),
        (RING, "platfrom", r"; did you mean 'platform'\?"),
        (BAR, "constrants", r"; did you mean 'constraints'\?"),
        (BAR, "gravty", "; did you mean 'gravity': it is called `chain.gravity` here"),
        (BAR, "gravity", ": it is called `chain.gravity` here"),
    ],
)
def test_what_there_is_not_cannot_be_set(model, key, told):
    kind = type(model).__name__
    with pytest.raises(AttributeError, match=f"^{kind} is immutable and has no attribute '{key}'{told}$"):
        setattr(model, key, 1)
    assert key not in vars(model)


@pytest.mark.parametrize("key", ["n", "chain", "mobility", "simulate"])
def test_a_linkage_is_immutable(key):
    with pytest.raises(AttributeError, match=f"Linkage is immutable, cannot set '{key}'"):
        setattr(BAR, key, 1)


@pytest.mark.parametrize(
    ("part", "key", "near"),
    [(ARM.links[0], "mas", "mass"), (RING.platform, "intertia", "inertia"), (RING.legs[0], "uper", "upper")],
)
def test_parts_name_the_nearest_field(part, key, near):
    with pytest.raises(AttributeError, match=rf"is immutable, cannot set '{key}'; did you mean '{near}'\?"):
        setattr(part, key, 1)


@pytest.mark.parametrize("kind", [zv.Chain, zv.Hexapod, zv.Linkage])
def test_subclasses_set_their_own_attributes_when_they_are_made(kind):
    class Own(kind):
        def __init__(self, *args, **options):
            self.owner = "mine"
            super().__init__(*args, **options)
            self.gravty = 3  # near a name of ours: a subclass may

    made = {
        zv.Chain: lambda: Own(zv.robots.two_link().links),
        zv.Hexapod: lambda: Own(RING.platform, RING.legs),
        zv.Linkage: lambda: Own(BAR.chain, BAR.constraints),
    }[kind]()
    assert (made.owner, made.gravty) == ("mine", 3)


def test_subclasses_may_keep_things_of_their_own():
    class Arm(zv.Chain):
        colour = "red"

        @property
        def speed(self):
            return self._speed

        @speed.setter
        def speed(self, value):
            self._speed = value

    arm = Arm(zv.robots.two_link().links)
    arm.colour, arm.speed, arm.owner = "blue", 3, "mine"
    assert (arm.colour, arm.speed, arm.owner, arm.n) == ("blue", 3, "mine", 2)
    with pytest.raises(AttributeError, match="cannot set 'n'"):
        arm.n = 4


def test_hexapods_take_another_gravity():
    heavy = RING.with_gravity((-9.81, 0, 0))
    assert heavy == zv.mechanisms.docking_ring("UPS", gravity=(-9.81, 0, 0))
    r, R = RING.nominal
    push = heavy.inverse_dynamics(r, R, np.zeros(6), np.zeros(6))
    assert np.abs(push - RING.inverse_dynamics(r, R, np.zeros(6), np.zeros(6))).max() > 1


# ---- names of links ------------------------------------------------------------------------------------------------


def test_unknown_links_are_answered_with_the_nearest():
    with pytest.raises(zv.ModelError, match=r"with_payload: no link 'link7' .*; did you mean 'link\d'\?"):
        ARM.with_payload("link7", 1.0)
    with pytest.raises(zv.ModelError, match=r"link 'b': unknown parent 'shouldr'; did you mean 'shoulder'\?") as caught:
        zv.Chain([zv.Link("shoulder"), zv.Link("b", parent="shouldr")])
    assert caught.value.link == "b"
    with pytest.raises(zv.ModelError, match=r"did you mean 'Hand'\?"):
        zv.Chain([zv.Link("Hand", mass=1), zv.Link("b", parent="hand")])


def test_unknown_arguments_are_answered_with_the_nearest():
    arm, ring = zv.robots.puma560(), zv.mechanisms.docking_ring("UPS")
    q = np.zeros(6)
    with pytest.raises(TypeError, match=r"bias: unknown argument 'treads'; did you mean 'threads'\? There are q, qd, "):
        arm.bias(q, q, treads=2)
    with pytest.raises(TypeError, match="forward_dynamics: unknown argument 'wrnch'; did you mean 'wrench'"):
        ring.forward_dynamics(*ring.nominal, q, wrnch=q)
    with pytest.raises(TypeError, match="bias: unknown argument 'zzz'; there are q, qd, "):
        arm.bias(q, q, zzz=2)


def test_long_names_are_cut():
    long = "x" * 10**6
    for make in (
        lambda: ARM.with_payload(long, 1.0),
        lambda: zv.Chain([zv.Link("a"), zv.Link("b", parent=long)]),
        lambda: zv.Chain([zv.Link(long, parent="nobody")]),
        lambda: zv.Link(long, mass="heavy"),
        lambda: zv.Chain([3], name=long),
        lambda: zv.files.open_model(long),
    ):
        with pytest.raises(zv.ModelError) as caught:
            make()
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize("model", [ARM, RING], ids=["chain", "hexapod"])
@pytest.mark.parametrize("key", ["version", "format"])
@pytest.mark.parametrize("value", [np.zeros(3), np.zeros((2, 2)), [1], None, True, "1", {}, float("nan"), TWO])
def test_a_dictionary_of_another_version_is_refused_by_name(model, key, value):
    with pytest.raises(zv.ModelError, match=f"from_dict: {key} is .*expected ") as caught:
        type(model).from_dict(model.to_dict() | {key: value})
    if key == "version" and value is TWO:
        assert "a newer zveno has written it" in str(caught.value)


def test_a_part_that_has_no_name_is_found_by_its_place():
    data = ARM.to_dict()
    data["links"][3] = 7
    with pytest.raises(zv.ModelError, match=r"Chain\.from_dict: links\[3\]: .*got 7"):
        zv.Chain.from_dict(data)
    data = RING.to_dict()
    data["platform"]["mass"] = float("nan")
    with pytest.raises(zv.ModelError, match=r"Hexapod\.from_dict: platform: .*mass is nan"):
        zv.Hexapod.from_dict(data)


# ---- what is shown -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [zv.Chain, zv.Hexapod])
def test_help_shows_the_arguments_of_python_not_those_of_the_core(kind):
    text = pydoc.plain(pydoc.render_doc(kind))
    assert "self: zveno._core" not in text
    assert re.search(r"__init__\([\s|]*self, ?[\s|]*\w+", text)  # Python 3.13 writes one argument on a line


def test_modules_show_their_public_names_only():
    for module in (zv, zv.laws, zv.robots, zv.mechanisms, zv.graph, zv.errors, zv.results, zv.files, zv.model):
        assert dir(module) == sorted(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)
    assert "np" not in dir(zv.mechanisms) and {"load", "files", "robots"} <= set(dir(zv))


def test_files_are_imported_when_asked_for():
    code = "import sys, zveno; a = 'zveno.files' in sys.modules; zveno.load; print(a, 'zveno.files' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_notebooks_show_a_table_of_the_links():
    text = ARM._repr_html_()
    assert repr(ARM) in text.replace("&#x27;", "'") and text.count("<tr>") == 1 + len(ARM.links)
    for name in (*ARM.link_names, *ARM.joint_names):
        assert f"<td>{name}</td>" in text
    nasty = zv.Chain([zv.Link("<script>", mass=1.0)], name="<b>")._repr_html_()
    assert "<script>" not in nasty and "<b>" not in nasty
    many = zv.Chain([zv.Link(f"l{i}", mass=1.0, com=(0.1, 0, 0)) for i in range(100)])._repr_html_()
    assert many.count("<tr>") == 61 and "and 40 more links" in many


def test_notebooks_show_a_table_of_the_constraints():
    text = BAR._repr_html_()
    assert repr(BAR) in text.replace("&#x27;", "'")
    assert text.count("<tr>") == 1 + len(BAR.constraints) and BAR.constraints[0].name in text
    nasty = zv.Loop.revolute("a", "base", name="<script>")
    assert "<script>" not in zv.Linkage(zv.Chain([zv.Link("a", mass=1.0, com=(1, 0, 0))]), [nasty])._repr_html_()
    chain = zv.Chain([zv.Link(f"l{i}", mass=1.0, com=(0.1, 0, 0)) for i in range(100)])
    pairs = [zv.constraints.coupling({f"l{i}_joint": 1, f"l{i + 1}_joint": -1}) for i in range(99)]
    many = zv.Linkage(chain, constraints=pairs)._repr_html_()
    assert many.count("<tr>") == 62 and "and 39 more constraints" in many


# ---- pictures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [None, [0.3, -0.5, 0.8, 0, 0.6, 0]])
def test_the_picture_shows_every_joint_where_it_is(q):
    ax = ARM.plot(q)
    state = np.zeros(6) if q is None else q
    markers = [line for line in ax.lines if line.get_marker() == "o"]
    places = np.array([np.array(line.get_data_3d())[:, 0] for line in markers])
    joints = [link.name for link in ARM.links if link.joint != "fixed"]
    np.testing.assert_allclose(places, [ARM.pose(state, name)[:3, 3] for name in joints], rtol=0, atol=1e-15)
    assert ax.get_title() == "puma560" and [text.get_text().strip() for text in ax.texts] == ["tool"]
    matplotlib.pyplot.close(ax.figure)


def test_the_picture_can_be_saved_and_goes_into_given_axes(tmp_path, tree):
    figure = matplotlib.pyplot.figure()
    ax = figure.add_subplot(projection="3d")
    assert tree.plot(ax=ax, frames=False) is ax
    lines = len(ax.lines)
    tree.plot(ax=ax)
    assert len(ax.lines) > 2 * lines
    figure.savefig(tmp_path / "tree.png")
    matplotlib.pyplot.close(figure)
    with pytest.raises(ValueError, match=r"plot: q has shape \(2,\), expected \(9,\)"):
        tree.plot([0, 0])
    no_gravity = zv.Chain([zv.Link("a", mass=1.0)], gravity=(0, 0, 0))  # all frames at one point
    matplotlib.pyplot.close(no_gravity.plot().figure)


def test_without_matplotlib_the_picture_names_what_brings_it():
    code = "import sys; sys.modules['matplotlib'] = None; import zveno as zv; zv.robots.scara().plot()"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last == "ImportError: Chain.plot needs matplotlib: install it with `pip install zveno[plot]`"
