"""Loads through cuts of links: the joint put in place of the cut, textbook beams, stresses, refusals."""

import pickle

import numpy as np
import pytest
import zveno as zv
from engines.pinocchio import Twin
from engines.random_mechanisms import mechanisms, random_body, random_rotation, random_state
from helpers import OTHER, assert_close
from hypothesis import given
from hypothesis import strategies as st
from refusals import check_refused

G = 9.81
STEEL = 7850.0


def rng_of(*numbers):
    return np.random.default_rng(numbers)


# ---- a joint in the cut -----------------------------------------------------------------------------------------


def parameters(body):
    """m, m c, second moment about the origin."""
    c = np.asarray(body["com"])
    inertia = np.asarray(body["inertia"])
    second = np.trace(inertia) / 2 * np.eye(3) - inertia
    return body["mass"], body["mass"] * c, second + body["mass"] * np.outer(c, c)


def body_of(m, mc, second):
    c = mc / m
    about = second - m * np.outer(c, c)
    inertia = np.trace(about) * np.eye(3) - about
    return {"mass": m, "com": c, "inertia": (inertia + inertia.T) / 2}


def in_frame(body, R, p):
    """The body in a frame that stands at R, p in the old one."""
    return {"mass": body["mass"], "com": R.T @ (body["com"] - p), "inertia": R.T @ body["inertia"] @ R}


def divided(rng, chain, kind):
    """A chain with a joint in the cut of one of its links, the section, and the place of the new joint in q.

    The link gets a body in two parts; children stand on either side of the cut by chance.
    """
    names = list(chain.link_names)
    index = int(rng.integers(len(names)))
    link = chain.links[index]
    near, far = random_body(rng), random_body(rng)
    whole = body_of(*(a + b for a, b in zip(parameters(near), parameters(far), strict=True)))
    R = random_rotation(rng)  # axes of the section
    normal, up = R[:, 0], R[:, 2]
    second = np.trace(whole["inertia"]) / 2 * np.eye(3) - whole["inertia"]
    half = np.sqrt(3 * normal @ second @ normal / whole["mass"])  # of the link's mass along the normal
    point = whole["com"] + R @ (rng.uniform(-1, 1, 3) * (half, 0.1, 0.1))
    section = zv.Section(link.name, point, normal, zv.Body(**far), up=up, loads=("near", "far")[rng.integers(2)])
    links, cut = [], []
    for other in chain.links:
        values = other.to_dict()
        if other.name == link.name:
            links.append(zv.Link.from_dict(values | whole))
            cut.append(zv.Link.from_dict(values | near))
            cut.append(
                zv.Link("far", parent=link.name, joint=kind, axis=rng.normal(size=3), position=point, rotation=R,
                        **in_frame(far, R, point))
            )  # fmt: skip
            continue
        links.append(other)
        if other.parent == link.name and (other.position - point) @ normal > 0:
            place = {"parent": "far", "position": R.T @ (other.position - point), "rotation": R.T @ other.rotation}
            cut.append(zv.Link.from_dict(values | place))
        else:
            cut.append(other)
    make = {"gravity": chain.gravity, "name": chain.name}
    split = zv.Chain(cut, **make)
    at = split.joint_names.index("far_joint")
    return zv.Chain(links, **make), split, section, at


def moved_loads(chain, section, q, external):
    """Wrenches on the cut link as seen from the origin of the far part, if that is where they act."""
    loads = dict(external)
    if section.loads == "far" and section.link in loads:
        wrench = loads.pop(section.link).copy()
        pose = chain.pose(q, section.link)
        wrench[..., 3:] -= np.cross(np.squeeze(pose[..., :3, :3] @ section.point), wrench[..., :3])
        loads["far"] = wrench
    return loads


@given(mechanism=mechanisms(max_n=6), kind=st.sampled_from(("revolute", "prismatic")))
def test_load_of_a_section_is_the_reaction_of_a_joint_held_still_in_its_place(mechanism, kind):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    chain, split, section, at = divided(rng, chain, kind)
    external = {name: rng.uniform(-20, 20, 6) for name in {section.link, chain.link_names[-1]}}
    base = rng.uniform(-2, 2, 9)
    held = [np.insert(x, at, 0.0) for x in (q, qd, qdd)]
    loads = moved_loads(chain, section, q, external)
    for motion in (None, base):
        got = chain.section_load(q, qd, qdd, section, external, motion)
        want = split.reactions(*held, loads, base_motion=motion)[at]
        size = np.abs(split.reactions(*held, loads, base_motion=motion)).max()
        assert_close(got, want, chain.n, scale=max(size, 1.0))
        world = chain.section_load(q, qd, qdd, section, external, motion, frame="world")
        want = split.reactions(*held, loads, base_motion=motion, frame="world")[at]
        assert_close(world, want, chain.n, scale=max(size, 1.0))
    own = chain.section_load(q, qd, qdd, section, frame="link")
    turn = chain.pose(q, section.link)[:3, :3]
    world = chain.section_load(q, qd, qdd, section, frame="world")
    assert_close(np.concatenate([turn @ own[:3], turn @ own[3:]]), world, chain.n, scale=max(np.abs(world).max(), 1.0))


@given(mechanism=mechanisms(max_n=6, friction=False, spring=False), kind=st.sampled_from(("revolute", "prismatic")))
def test_load_of_a_section_is_the_joint_force_of_pinocchio(mechanism, kind):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    chain, split, section, at = divided(rng, chain, kind)
    external = {section.link: rng.uniform(-20, 20, 6)}
    held = [np.insert(x, at, 0.0) for x in (q, qd, qdd)]
    loads = moved_loads(chain, section, q, external)
    want = Twin(split).reactions(*held, loads)
    got = chain.section_load(q, qd, qdd, section, external)
    assert_close(got, want[at], chain.n, ulps=OTHER, scale=max(np.abs(want).max(), 1.0))


@given(mechanism=mechanisms(max_n=6), kind=st.sampled_from(("revolute", "prismatic")))
def test_wrenches_in_link_axes_are_those_of_the_world_turned(mechanism, kind):
    chain, rng = mechanism
    state = random_state(rng, chain)
    chain, _, section, _ = divided(rng, chain, kind)
    loads = {name: rng.uniform(-20, 20, 6) for name in {section.link, *chain.link_names[-2:]}}
    turned = {}
    for name, wrench in loads.items():
        R = chain.pose(state[0], name)[:3, :3]
        turned[name] = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
    for options in ({}, {"parts": "static", "frame": "world"}, {"parts": "dynamic"}):
        got = chain.section_load(*state, section, loads, external_frame="link", **options)
        want = chain.section_load(*state, section, turned, **options)
        assert_close(got, want, chain.n, ulps=OTHER, scale=max(np.abs(want).max(), 100.0))
    assert np.array_equal(
        chain.load_envelope(*state, section, external=loads, external_frame="link").max[0],
        0.0 - chain.section_load(*state, section, loads, external_frame="link"),
    )


def test_diagrams_take_wrenches_that_turn_with_links():
    arm = zv.robots.two_link()
    q, rest = np.array([0.3, 0.5]), np.zeros(2)
    R = arm.pose(q, "tip")[:3, :3]
    pull = np.array([0, 0, 7.0])
    turned = arm.load_diagram(q, rest, rest, external={"tip": np.r_[R @ pull, rest, 0]})
    own = arm.load_diagram(q, rest, rest, external={"tip": np.r_[pull, rest, 0]}, external_frame="link")
    assert_close(own.values, turned.values, 2, scale=20.0)


@given(mechanism=mechanisms(max_n=6))
def test_static_and_dynamic_parts_add_up(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain, (5,))
    chain, _, section, _ = divided(rng, chain, "revolute")
    external = {section.link: rng.uniform(-20, 20, (5, 6)), chain.link_names[-1]: rng.uniform(-20, 20, 6)}
    base = rng.uniform(-2, 2, 9)

    def load(parts, *state, **more):
        return chain.section_load(*state, section, external, base, parts=parts, **more)

    total, static, dynamic = (load(parts, q, qd, qdd) for parts in ("total", "static", "dynamic"))
    assert_close(static + dynamic, total, chain.n, scale=max(np.abs([total, static, dynamic]).max(), 1.0))
    rest = np.zeros_like(q)
    at_rest = chain.section_load(q, rest, rest, section, external)
    assert_close(static, at_rest, chain.n, scale=max(np.abs(static).max(), 1.0))
    weightless = zv.Chain(chain.links, gravity=(0, 0, 0)).section_load(q, qd, qdd, section, None, base)
    assert_close(dynamic, weightless, chain.n, scale=max(np.abs(dynamic).max(), 1.0))


@given(mechanism=mechanisms(max_n=6))
def test_a_cut_at_the_origin_carries_what_the_joint_does(mechanism):
    chain, rng = mechanism
    state = random_state(rng, chain)
    moving = [link for link in chain.links if link.joint != "fixed"]
    link = moving[int(rng.integers(len(moving)))]
    names = [child.name for child in chain.links if child.parent == link.name]
    section = zv.Section(link.name, (0, 0, 0), random_rotation(rng)[0], link.body, carries=names, loads="far")
    external = {link.name: rng.uniform(-20, 20, 6)}
    want = chain.reactions(*state, external)
    got = chain.section_load(*state, section, external, frame="link")
    assert_close(got, want[moving.index(link)], chain.n, scale=max(np.abs(want).max(), 1.0))


@given(mechanism=mechanisms(max_n=5))
def test_the_uniform_bar_has_all_parameters_of_its_link(mechanism):
    chain, rng = mechanism
    state = random_state(rng, chain)
    link = chain.links[int(rng.integers(len(chain.links)))]
    names = [child.name for child in chain.links if child.parent == link.name]
    normal = random_rotation(rng)[0]
    second = np.trace(link.inertia) / 2 * np.eye(3) - link.inertia
    behind = link.com - normal * np.sqrt(3 * normal @ second @ normal / link.mass)
    cut = {"carries": names, "loads": "far"}
    bar = zv.Section(link.name, behind, normal, "uniform", **cut)
    whole = zv.Section(link.name, behind, normal, link.body, **cut)
    a, b = (chain.section_load(*state, section) for section in (bar, whole))
    assert_close(a, b, chain.n, ulps=1000, scale=max(np.abs(b).max(), 1.0))


# ---- textbooks --------------------------------------------------------------------------------------------------


def beam(length=2.0, mass=3.0, tip=0.0, axis=(0, 1, 0)):
    """A rod along x on a hinge, perhaps with a mass at its end."""
    rod = zv.Body.cylinder(mass, 0.0, length)
    links = [zv.Link("rod", axis=axis, mass=mass, com=rod.com, inertia=rod.inertia)]
    links += [zv.Link("tip", joint="fixed", position=(length, 0, 0), mass=tip)]
    return zv.Chain(links)


def resultants(chain, state, section, **options):
    return -chain.section_load(*state, section, **options)


REST = ([0.0], [0.0], [0.0])


def test_a_cantilever_carries_its_weight_and_a_mass_at_its_end():
    L, m, tip = 2.0, 3.0, 0.7
    chain, w = beam(L, m, tip), 3.0 / 2.0 * G
    for s in (0.0, 0.3, 1.1, 2.0):
        N, Qy, Qz, T, My, Mz = resultants(chain, REST, zv.Section("rod", (s, 0, 0)))
        rest = L - s
        assert np.allclose([N, Qy, T, Mz], 0.0, atol=1e-12)
        assert np.isclose(Qz, -(w * rest + tip * G), rtol=1e-13)
        assert np.isclose(My, w * rest**2 / 2 + tip * G * rest, rtol=1e-13, atol=1e-13)


def test_a_rotating_rod_is_pulled_by_what_is_beyond():
    L, m, omega = 2.0, 3.0, 7.0
    chain = beam(L, m, axis=(0, 0, 1))
    state = [0.4], [omega], [0.0]
    for s in (0.0, 0.5, 1.9):
        load = resultants(chain, state, zv.Section("rod", (s, 0, 0)), parts="dynamic")
        assert np.isclose(load[0], m / L * omega**2 * (L**2 - s**2) / 2, rtol=1e-13)
        assert np.allclose(load[1:], 0.0, atol=1e-12)


def test_a_rod_that_is_sped_up_bends_by_its_inertia():
    """Mz = -rhoA alpha (L^3/3 - s L^2/2 + s^3/6), Qy = rhoA alpha (L^2 - s^2)/2."""
    L, m, alpha = 2.0, 3.0, 5.0
    chain, line = beam(L, m, axis=(0, 0, 1)), 3.0 / 2.0
    for s in (0.0, 0.8, 1.5):
        load = resultants(chain, ([0.1], [0.0], [alpha]), zv.Section("rod", (s, 0, 0)), parts="dynamic")
        assert np.isclose(load[1], -line * alpha * (L**2 - s**2) / 2, rtol=1e-13)
        assert np.isclose(load[5], -line * alpha * (L**3 / 3 - s * L**2 / 2 + s**3 / 6), rtol=1e-13)


def test_bending_moment_grows_by_the_shear_force():
    """d My / dx = Qz, d Mz / dx = -Qy, and by what the weight of a slice has as an arm across."""
    chain = zv.robots.puma560()
    state = random_state(rng_of(3), chain)[0], np.zeros(6), np.zeros(6)
    end, h = chain.links[2].position, 1e-5
    n = end / np.linalg.norm(end)
    behind, here, ahead = (resultants(chain, state, zv.Section("link2", n * (0.2 + d), n)) for d in (-h, 0.0, h))
    slope = (ahead - behind) / (2 * h)
    line = zv.model.section.Bar(chain.links[1], n)
    axes = zv.Section("link2", n * 0.2, n)._resolved(chain, "test")[2]
    arm = axes.T @ (line.com + line.line * (0.2 - line.centre) - n * 0.2)
    want = np.array([0.0, here[2], -here[1]]) + np.cross(arm, slope[:3])
    assert np.abs(here[1:3]).max() > 1.0
    assert np.allclose(slope[3:], want, rtol=1e-6, atol=1e-6)


def test_the_load_jumps_by_the_reaction_at_a_child_joint():
    rng = rng_of(5)
    chain = zv.robots.two_link()
    state = random_state(rng, chain)
    beyond, before = (
        chain.section_load(*state, zv.Section("upper", (1.0, 0, 0), (1, 0, 0), carries=names), frame="link")
        for names in ([], ["lower"])
    )
    reaction = chain.reactions(*state)[1]
    turn = chain.pose(state[0], "upper")[:3, :3].T @ chain.pose(state[0], "lower")[:3, :3]
    want = np.concatenate([turn @ reaction[:3], turn @ reaction[3:]])
    assert np.allclose(before - beyond, want, rtol=0, atol=1e-12 * np.abs(want).max())


def test_a_link_welded_to_the_base_is_cut_too():
    rng = rng_of(6)
    arm = zv.robots.two_link()
    post = zv.Link("post", joint="fixed", parent="base", mass=5.0, com=(0, 0, 0.5), inertia=(0.4, 0.4, 0.01))
    links = [post, *(zv.Link.from_dict(link.to_dict() | {"parent": "post", "position": [0, 0, 1.0]})
                     if link.parent == "base" else link for link in arm.links)]  # fmt: skip
    chain = zv.Chain(links)
    state = random_state(rng, chain)
    foot = zv.Section("post", (0, 0, 0), (0, 0, 1), post.body)
    base = rng.uniform(-2, 2, 9)
    for motion in (None, base):
        load = chain.section_load(*state, foot, {"post": np.arange(6.0)}, motion, frame="world")
        want = -chain.base_wrench(*state, {"post": np.arange(6.0)}, motion)
        assert_close(load, want, 4)


def test_a_child_in_the_cut_hangs_on_the_far_side():
    chain = zv.robots.two_link()
    rest = np.zeros(2)
    at_end = chain.section_load(rest, rest, rest, zv.Section("upper", (1, 0, 0)))
    assert np.isclose(at_end[2], 1.0 * G)


# ---- batches, instruments ----------------------------------------------------------------------------------------


def test_a_batch_has_the_bits_of_single_calls_and_of_compiled_code():
    pytest.importorskip("llvmlite")
    chain = zv.robots.puma560()
    rng = rng_of(7)
    q, qd, qdd = random_state(rng, chain, (37,))
    section = zv.Section("link3", (0.0, 0.05, 0.0), (0, 1, 0))
    for parts in ("total", "static", "dynamic"):
        for frame in ("section", "link", "world"):
            many = chain.section_load(q, qd, qdd, section, parts=parts, frame=frame)
            ones = [chain.section_load(*x, section, parts=parts, frame=frame) for x in zip(q, qd, qdd, strict=True)]
            assert np.array_equal(many, ones)
            compiled = chain.compile("section_load", section=section, parts=parts, frame=frame)
            assert np.array_equal(compiled(q, qd, qdd), many)
    again = pickle.loads(pickle.dumps(compiled))
    assert np.array_equal(again(q, qd, qdd), many)
    external = {"link6": rng.normal(size=(37, 6))}
    for frame in ("world", "link"):
        loaded = chain.compile("section_load", section=section, external=["link6"], external_frame=frame)
        want = chain.section_load(q, qd, qdd, section, external, external_frame=frame)
        assert np.array_equal(loaded(q, qd, qdd, external=external), want)
    assert compiled.kernel_operations.total > compiled.operations.total > 0


def test_inertial_parameters_beyond_the_section_are_arguments():
    pytest.importorskip("llvmlite")
    chain = zv.robots.two_link()
    section = zv.Section("upper", (0.3, 0, 0))
    compiled = chain.compile("section_load", section=section, parameters=["lower"])
    theta = 1.5 * compiled.parameters
    state = random_state(rng_of(11), chain)
    links = [zv.Link.from_dict(link.to_dict() | {"mass": 1.5 * link.mass, "inertia": 1.5 * link.inertia})
             if link.name == "lower" else link for link in chain.links]  # fmt: skip
    heavier = zv.Chain(links, gravity=chain.gravity)
    got, want = compiled(*state, parameters=theta), heavier.section_load(*state, section)
    assert np.allclose(got, want, rtol=0, atol=1e-12 * np.abs(want).max())
    words = ["compile", "section", "'upper'", "parameters"]
    check_refused(ValueError, words, chain.compile, "section_load", section=section, parameters=["upper"])


def test_operations_of_a_section_are_counted():
    chain = zv.robots.puma560()
    whole = chain.operations("section_load")
    near = chain.operations("section_load", section=zv.Section("link1", (0, 0, 0), (0, 0, 1)))
    reactions = chain.operations("inverse_dynamics")
    assert reactions.total < whole.total < 2 * reactions.total
    assert near.total < whole.total  # the way to the body is shorter


# ---- cross-sections and stress ----------------------------------------------------------------------------------


def test_bending_stress_of_a_cantilever():
    """sigma = w L^2 / 2 / W, tau = Q S / (I b) at the neutral axis."""
    L, b, h = 2.0, 0.04, 0.06
    mass = STEEL * b * h * L
    chain = beam(L, mass)
    root = zv.Section("rod", (0, 0, 0), cross_section=zv.sections.Box(b, h))
    stress = root.stress(chain.section_load(*REST, root), yield_strength=235e6)
    moment = mass * G * L / 2
    assert np.isclose(stress.sigma_max, moment / (b * h**2 / 6), rtol=1e-12)
    assert np.isclose(stress.sigma_min, -stress.sigma_max, rtol=1e-12)
    assert np.isclose(stress.shear, 1.5 * mass * G / (b * h), rtol=1e-12)
    assert np.isclose(stress.von_mises, stress.sigma_max, rtol=1e-12)
    assert np.isclose(stress.utilisation, stress.von_mises / 235e6, rtol=1e-15)


def test_stress_of_a_shaft_under_bending_and_torsion():
    """sqrt(sigma^2 + 3 tau^2) with sigma = 32 M / (pi d^3), tau = 16 T / (pi d^3)."""
    d, M, T, N = 0.05, 300.0, 400.0, 8000.0
    shaft = zv.Section("l", (0, 0, 0), cross_section=zv.sections.Rod(d / 2))
    sigma, tau = 32 * M / (np.pi * d**3) + 4 * N / (np.pi * d**2), 16 * T / (np.pi * d**3)
    load = -np.array([N, 0, 0, T, 0.6 * M, -0.8 * M])
    stress = shaft.stress([load, 2 * load])
    assert np.allclose(stress.von_mises, np.sqrt(sigma**2 + 3 * tau**2) * np.array([1, 2]), rtol=1e-12)
    assert np.allclose(stress.sigma_max, sigma * np.array([1, 2]), rtol=1e-12)
    assert stress.utilisation is None


def test_tension_is_positive():
    rod = zv.Section("rod", (1, 0, 0), cross_section=zv.sections.Rod(0.01))
    load = beam(axis=(0, 0, 1)).section_load([0.0], [5.0], [0.0], rod, parts="dynamic")
    stress = rod.stress(load)
    assert stress.sigma_max > 0
    assert np.isclose(stress.sigma_max, stress.sigma_min, rtol=1e-9)


# ---- diagrams and envelopes --------------------------------------------------------------------------------------


def test_a_diagram_has_the_loads_of_its_sections():
    chain = zv.robots.two_link()
    rng = rng_of(8)
    q, qd, qdd = random_state(rng, chain, (3, 2))
    external = {"tip": rng.normal(size=6)}
    diagram = chain.load_diagram(q, qd, qdd, points=7, external=external)
    assert diagram.values.shape == (3, 2, 14, 6)
    assert diagram.position.shape == (14,)
    assert np.isclose(diagram.position[-1], 2.0)
    assert diagram.links == ("upper",) * 7 + ("lower",) * 7
    for k in (0, 5, 13):
        load = chain.section_load(q, qd, qdd, diagram.sections[k], external)
        assert np.array_equal(diagram.values[..., k, :], -load)
    parts = [getattr(diagram, name) for name in ("N", "Qy", "Qz", "T", "My", "Mz")]
    assert np.array_equal(np.stack(parts, axis=-1), diagram.values)
    assert np.allclose(diagram.M, np.hypot(diagram.My, diagram.Mz))
    # both rods begin with the reactions of their joints, in axes of the link (section axes of these rods)
    reactions = chain.reactions(q, qd, qdd, external)
    assert np.allclose(-diagram.values[..., [0, 7], :], reactions, rtol=1e-12, atol=1e-9)
    assert "LoadDiagram(14 sections over 2 m" in repr(diagram)
    assert "N m" in diagram._repr_html_()


def test_a_diagram_is_drawn():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    chain = zv.robots.puma560()
    diagram = chain.load_diagram(np.full((4, 6), 0.3), np.ones((4, 6)), np.ones((4, 6)), points=5)
    figure = diagram.plot(state=2)
    force, moment = figure.axes
    drawn = np.concatenate([line.get_ydata() for line in force.lines if line.get_color() == "#1f6f8b"])
    assert np.array_equal(drawn, diagram.N[2])
    assert moment.get_xlabel() == "way along the arm, m"
    assert diagram.plot(figure.axes, state=(1,)) is figure
    with pytest.raises(ValueError, match="state"):
        diagram.plot(state=(0, 1))
    pyplot.close("all")


def test_an_envelope_tells_the_states_of_its_extremes():
    chain = zv.robots.puma560()
    rng = rng_of(9)
    q, qd, qdd = random_state(rng, chain, (40, 5))
    t = np.arange(200.0).reshape(40, 5) / 100
    tube = zv.sections.Tube(0.06, 0.004)
    sections = [
        zv.Section("link2", (0.1, 0, 0), (1, 0, 0), cross_section=tube),
        zv.Section("link2", (0.3, 0, 0), (1, 0, 0)),
    ]
    found = chain.load_envelope(q, qd, qdd, sections, time=t, yield_strength=200e6)
    for i, section in enumerate(sections):
        values = -chain.section_load(q, qd, qdd, section).reshape(-1, 6)
        assert np.array_equal(found.max[i], values.max(axis=0))
        assert np.array_equal(found.min[i], values.min(axis=0))
        for k in range(6):
            assert values[found.at_max[i, k], k] == found.max[i, k]
            assert values[found.at_min[i, k], k] == found.min[i, k]
    stress = sections[0].stress(chain.section_load(q, qd, qdd, sections[0])).von_mises.reshape(-1)
    assert found.von_mises[0] == stress.max()
    assert stress[found.at_von_mises[0]] == stress.max()
    assert np.isnan(found.von_mises[1])
    assert found.at_von_mises[1] == -1
    assert found.utilisation[0] == stress.max() / 200e6
    value, section, state = found.largest["Mz"]
    every = [-chain.section_load(q, qd, qdd, x)[..., 5].reshape(-1) for x in sections]
    assert abs(value) == np.abs(every).max()
    assert every[section][state] == value
    text = repr(found)
    assert all(word in text for word in ("N, N", "Mz, N m", "von Mises, MPa", "200 states", " s"))
    assert "#" in repr(chain.load_envelope(q, qd, qdd, sections[1]))
    assert "<table>" in found._repr_html_()


def test_an_envelope_of_a_hundred_thousand_states_is_one_call_a_section():
    calls = []

    class Counting(zv.Chain):
        def section_load(self, *args, **options):
            calls.append(args)
            return super().section_load(*args, **options)

    arm = zv.robots.two_link()
    chain = Counting(arm.links, gravity=arm.gravity)
    state = random_state(rng_of(10), chain, (100_000,))
    found = chain.load_envelope(*state, [zv.Section("upper", (x, 0, 0)) for x in (0.1, 0.2)])
    assert len(calls) == 2
    assert found.states == 100_000


# ---- the record ---------------------------------------------------------------------------------------------------


def test_a_section_is_a_value():
    tube = zv.sections.Tube(0.05, 0.004)
    section = zv.Section("l", (0.1, 0, 0), (2, 0, 0), zv.Body(1.0, 0.1), up=(0, 1, 0), carries=["a"], loads="far",
                         cross_section=tube)  # fmt: skip
    again = zv.Section.from_dict(section.to_dict())
    assert again == section == pickle.loads(pickle.dumps(section))
    assert hash(again) == hash(section)
    assert np.array_equal(section.normal, [1, 0, 0])
    assert again.cross_section == tube
    assert zv.Section("l", (0, 0, 0)) != zv.Section("l", (0, 0, 0.1))
    with pytest.raises(AttributeError, match="immutable"):
        section.link = "other"
    assert "Tube" in repr(section)
    assert "1 kg" in repr(section)


@pytest.mark.parametrize(("normal", "axes"), [
    ((1, 0, 0), np.eye(3)),
    ((0, 1, 0), [[0, -1, 0], [1, 0, 0], [0, 0, 1]]),
    ((0, 0, 1), [[0, 0, 1], [0, -1, 0], [1, 0, 0]]),
])  # fmt: skip
def test_axes_of_a_section(normal, axes):
    chain = beam()
    found = zv.Section("rod", (0, 0, 0), normal)._resolved(chain, "test")[2]
    assert np.allclose(found, axes, atol=1e-15)
    assert np.isclose(np.linalg.det(found), 1.0)


def test_the_default_normal_points_to_the_farthest_child():
    chain = zv.robots.two_link()
    rest = np.zeros(2)
    section, told = zv.Section("upper", (0.5, 0, 0)), zv.Section("upper", (0.5, 0, 0), (1, 0, 0))
    assert np.array_equal(chain.section_load(rest, rest, rest, section), chain.section_load(rest, rest, rest, told))
    ended = zv.Section("rod", (0.5, 0, 0), end=(2, 0, 0))
    assert np.array_equal(beam().section_load(*REST, ended), beam().section_load(*REST, zv.Section("rod", (0.5, 0, 0))))


ROD = ("rod", (0.5, 0, 0), (1, 0, 0))


@pytest.mark.parametrize(("arguments", "options", "words"), [
    ((3, (0, 0, 0)), {}, ["link is 3"]),
    (("", (0, 0, 0)), {}, ["link is ''"]),
    (("l", (0, 0)), {}, ["point", "(2,)"]),
    (("l", "abc"), {}, ["point"]),
    (("l", (0, 0, np.nan)), {}, ["point", "finite"]),
    (("l", (0, 0, 0), (0, 0, 0)), {}, ["normal", "direction"]),
    (("l", (0, 0, 0), (1, 0)), {}, ["normal", "(2,)"]),
    (("l", (0, 0, 0), (1, 0, 0), "half"), {}, ["far is 'half'", "Body"]),
    (("l", (0, 0, 0), (1, 0, 0), 3.0), {}, ["far is 3.0"]),
    (("l", (0, 0, 0), (1, 0, 0), zv.Body(1.0, 0.1)), {"end": (1, 0, 0)}, ["end"]),
    (("l", (0, 0, 0)), {"end": (0, 0, 0)}, ["end"]),
    (("l", (0, 0, 0), (1, 0, 0)), {"up": (2, 0, 0)}, ["up", "normal"]),
    (("l", (0, 0, 0)), {"loads": "both"}, ["loads is 'both'"]),
    (("l", (0, 0, 0)), {"carries": "tip"}, ["carries is 'tip'"]),
    (("l", (0, 0, 0)), {"carries": [1]}, ["carries has 1"]),
    (("l", (0, 0, 0)), {"carries": 7}, ["carries is 7"]),
    (("l", (0, 0, 0)), {"cross_section": "tube"}, ["cross_section is 'tube'"]),
])  # fmt: skip
def test_nonsense_makes_no_section(arguments, options, words):
    check_refused(zv.ModelError, ["Section", *words], zv.Section, *arguments, **options)


@pytest.mark.parametrize(("arguments", "options", "words"), [
    (("rode", (0, 0, 0)), {}, ["no link 'rode'", "did you mean 'rod'?"]),
    (("base", (0, 0, 0)), {}, ["base"]),
    (("rod", (2.1, 0, 0), (1, 0, 0)), {}, ["2.1 m", "outside link 'rod'", "0 to 2 m"]),
    (("rod", (-0.01, 0, 0), (1, 0, 0)), {}, ["outside link 'rod'"]),
    (("rod", (0, 0, 0.1), (0, 0, 1)), {}, ["outside link 'rod'"]),
    ((*ROD, zv.Body(3.1, 0.1)), {}, ["3.1 kg", "3 kg"]),
    (ROD, {"carries": ["rod"]}, ["carries", "'rod'"]),
    (ROD, {"end": (1.5, 0, 0)}, ["no uniform rod", "centre of mass"]),
    (("rod", (0.5, 0, 0), (0, 1, 0)), {"end": (2, 0, 0)}, ["end", "normal"]),
    (("tip", (0, 0, 0)), {}, ["normal must be given", "'tip'"]),
])  # fmt: skip
def test_a_section_that_is_not_on_the_chain_is_refused(arguments, options, words):
    section = zv.Section(*arguments, **options)
    check_refused(zv.ModelError, ["section_load", *words], beam().section_load, *REST, section)
    check_refused(zv.ModelError, ["compile", *words], beam().compile, "section_load", section=section)


def test_a_rod_with_other_inertia_is_no_uniform_rod():
    chain = zv.Chain([zv.Link("rod", mass=3.0, com=(1, 0, 0), inertia=(0, 0.5, 0.5))])
    section = zv.Section("rod", (0.5, 0, 0), end=(2, 0, 0))
    check_refused(zv.ModelError, ["inertia", "1.41421 m", "2 m"], chain.section_load, *REST, section)


def test_equally_far_children_leave_no_default_normal():
    links = [
        zv.Link("fork", mass=1.0),
        *(zv.Link(x, parent="fork", position=(1, y, 0)) for x, y in (("a", 1), ("b", -1))),
    ]
    with pytest.warns(zv.ModelWarning):
        chain = zv.Chain(links)
    rest = np.zeros(3)
    section = zv.Section("fork", (0, 0, 0))
    check_refused(zv.ModelError, ["normal must be given", "'fork'"], chain.section_load, rest, rest, rest, section)


@pytest.mark.parametrize("bad", [None, "rod", 3, ("rod", (0, 0, 0)), zv.Body(1.0, 0.1)])
def test_what_is_no_section_is_refused(bad):
    check_refused(TypeError, ["section_load", "section"], beam().section_load, *REST, bad)
    if bad is not None:
        check_refused(TypeError, ["section"], beam().compile, "section_load", section=bad)
        check_refused(TypeError, ["load_envelope", "section"], beam().load_envelope, *REST, bad)


def test_wrong_words_are_refused():
    section = zv.Section(*ROD)
    check_refused(TypeError, ["section_load", "section", "missing"], beam().section_load, *REST)
    check_refused(ValueError, ["parts", "'all'", "'total'"], beam().section_load, *REST, section, parts="all")
    check_refused(ValueError, ["frame", "'body'", "'section'"], beam().section_load, *REST, section, frame="body")
    check_refused(ValueError, ["needs a section"], beam().compile, "section_load")
    check_refused(ValueError, ["takes no section"], beam().compile, "mass_matrix", section=section)
    check_refused(ValueError, ["load_envelope", "empty"], beam().load_envelope, *REST, [])
    check_refused(ValueError, ["load_envelope", "no states"], beam().load_envelope, *np.zeros((3, 0, 1)), section)
    check_refused(ValueError, ["load_envelope", "time"], beam().load_envelope, *REST, section, time=[1.0, 2.0])
    check_refused(ValueError, ["yield_strength"], beam().load_envelope, *REST, section, yield_strength=0.0)
    check_refused(ValueError, ["load_diagram", "'arm'"], beam().load_diagram, *REST, links=["arm"])
    check_refused(TypeError, ["load_diagram", "links"], beam().load_diagram, *REST, links=3)
    check_refused(ValueError, ["load_diagram", "points"], beam().load_diagram, *REST, points=1)
    check_refused(ValueError, ["load_diagram", "length"], beam().load_diagram, *REST, links="tip")
    check_refused(ValueError, ["stress", "cross_section"], section.stress, np.zeros(6))
    rod = zv.Section(*ROD, cross_section=zv.sections.Rod(0.01))
    check_refused(ValueError, ["stress", "load"], rod.stress, np.zeros(5))
    check_refused(ValueError, ["stress", "yield_strength"], rod.stress, np.zeros(6), -1.0)
