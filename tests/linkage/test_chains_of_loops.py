"""Chains of loops are solved loop by loop, (L32): results are those of all rows at once."""

import time

import numpy as np
import pytest
import zveno as zv
from engines import closed_mechanisms as known
from engines.random_linkages import closing_side, make, rotation
from hypothesis import given
from hypothesis import strategies as st
from reference import loops as ref


def chain_of_loops(rng, count, kinds):
    """Loops of two branches of three joints, each on a link of the one before; closed at q."""
    links, q, loops = [], [], []
    carrier = "base"
    for k in range(count):
        ends = {}
        for branch in "ab":
            parent = carrier
            for j in range(3):
                kind = "prismatic" if rng.random() < 0.2 else "revolute"
                axis = rng.normal(size=3)
                half = rng.uniform(-0.3, 0.3, (3, 3))
                at, R = rng.uniform(-0.4, 0.4, 3), rotation(rng)
                links.append(
                    zv.Link(f"{branch}{k}{j}", parent=parent, joint=kind, axis=axis, position=at, rotation=R,
                            mass=rng.uniform(0.5, 2.0), com=rng.uniform(-0.2, 0.2, 3),
                            inertia=(np.sum(half * half) + 0.05) * np.eye(3) - half @ half.T, friction=0.1,
                            stiffness=2.0, rotor_inertia=0.02)
                )  # fmt: skip
                parent = links[-1].name
                q.append(rng.uniform(-1, 1))
            ends[branch] = parent
        chain = zv.Chain(links)
        (Ra, pa), (Rb, pb) = ((T[:3, :3], T[:3, 3]) for T in (chain.pose(q, ends[x]) for x in "ab"))
        kind = kinds[k % len(kinds)]
        side_a = ref.Side(0, rotation(rng), rng.uniform(-0.3, 0.3, 3))
        frame = Ra @ side_a.R, pa + Ra @ side_a.p
        side_b = ref.Side(1, *closing_side(rng, kind, *frame, Rb, pb, {}))
        loops.append(
            make(kind, ends["a"], ends["b"], side_a, side_b, **({"length": 0.9} if kind == "distance" else {}))
        )
        carrier = f"{rng.choice(['a', 'b'])}{k}{rng.integers(3)}"
    return zv.Linkage(zv.Chain(links), loops, length=0.8), np.array(q)


KINDS = ["spherical", "revolute", "cylindrical", "universal", "distance", "planar"]


def taken_together(linkage):
    """The same with a coupling of two joints elsewhere: then all rows are taken at once."""
    spare = [
        zv.Link(f"spare{k}", parent="base", position=(9.0 + k, 0, 0), mass=1.0, inertia=(1.0, 1.0, 1.0))
        for k in range(2)
    ]
    coupling = zv.constraints.coupling({"spare0_joint": 1.0, "spare1_joint": 1.0})
    chain = zv.Chain([*linkage.chain.links, *spare], gravity=linkage.chain.gravity)
    return zv.Linkage(chain, linkage.constraints, [coupling], length=linkage.length)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.permutations(KINDS))
def test_loop_by_loop_is_all_at_once(seed, count, kinds):
    rng = np.random.default_rng(seed)
    linkage, q = chain_of_loops(rng, count, kinds)
    qd = linkage.project_velocity(q, rng.normal(size=linkage.n))
    tau, drive, base_motion = rng.normal(size=linkage.n), rng.normal(size=(count, 2)), rng.normal(size=9)
    external = {link: rng.normal(size=6) for link in rng.choice(linkage.chain.link_names, 2, replace=False)}
    acting = {"drive": drive, "external": external, "base_motion": base_motion}
    found = linkage.forward_dynamics(q, qd, tau, **acting)
    scale = 1 + np.abs(found.qdd).max()
    together = taken_together(linkage)
    whole = together.forward_dynamics(
        *(np.r_[x, 0.0, 0.0] for x in (q, qd, tau)), **acting | {"drive": np.r_[drive, [[0.0, 0.0]]]}
    )
    for key in ("qdd", "multiplier", "loop_reaction", "reaction"):
        ours = getattr(found, key)
        expected = getattr(whole, key)[: len(ours)]
        assert np.abs(ours - expected).max() < 1e-8 * (scale + np.abs(expected).max()), key
    alone = linkage.forward_dynamics(q, qd, tau, **acting, outputs=("qdd",)).qdd
    assert np.abs(alone - found.qdd).max() <= 1e-12 * scale
    # of the constraints, and of the equations of motion
    G = linkage.constraint_jacobian(q)
    assert np.abs(G @ alone + linkage.constraint_bias(q, qd)).max() < 1e-8 * scale
    plain = linkage.forward_dynamics(q, qd, tau, external=external, base_motion=base_motion)
    needed = linkage.chain.inverse_dynamics(q, qd, plain.qdd, external=external, base_motion=base_motion)
    left = needed - tau - G.T @ plain.multiplier
    assert np.abs(left).max() < 1e-8 * (scale + np.abs(needed).max())
    many = linkage.forward_dynamics(np.tile(q, (11, 1)), qd, tau, **acting)
    for key, one in found._asdict().items():
        rows = getattr(many, key)
        assert (rows == rows[0]).all() and np.array_equal(rows[0], one)


@given(st.integers(0, 2**32 - 1), st.permutations(KINDS))
def test_rates_are_projected_loop_by_loop_in_the_metric_of_the_mass_matrix(seed, kinds):
    rng = np.random.default_rng(seed)
    linkage, q = chain_of_loops(rng, 4, kinds)
    rates = rng.normal(size=linkage.n)
    found = linkage.project_velocity(q, rates)
    M, G = linkage.chain.mass_matrix(q), linkage.constraint_jacobian(q)
    root = np.linalg.cholesky(M)
    W = np.linalg.solve(root, G.T)
    expected = rates - np.linalg.solve(root.T, np.linalg.pinv(W.T, rcond=1e-11) @ (G @ rates))
    assert np.abs(found - expected).max() < 1e-7 * (1 + np.abs(expected).max())


def ladder(count):
    """Four-bars, each on the coupler of the one before."""
    links, loops, carrier, x = [], [], "base", 0.0

    def bar(name, parent, place, size):
        return zv.Link(name, parent=parent, position=place, mass=1.0, com=(size / 2, 0, 0), inertia=(0.01, 0.03, 0.03))

    for k in range(count):
        links += [
            bar(f"crank{k}", carrier, (x, 0, 0), 0.3),
            bar(f"coupler{k}", f"crank{k}", (0.3, 0, 0), 0.9),
            bar(f"rocker{k}", carrier, (0.9, 0.4, 0) if k else (1.0, 0, 0), 0.7),
        ]
        at = {"point_a": (0.9, 0, 0), "point_b": (0.7, 0, 0)}
        loops.append(zv.Loop.revolute(f"coupler{k}", f"rocker{k}", **at))
        carrier, x = f"coupler{k}", 0.9
    return zv.Linkage(zv.Chain(links, gravity=(0, -9.81, 0)), loops)


@pytest.mark.parametrize("count", [4, 12])
def test_redundant_planar_loops_in_a_chain(count):
    linkage = ladder(count)
    q = linkage.close(np.tile([0.8, -0.2, 1.6], count))
    qd = linkage.project_velocity(q, np.ones(linkage.n))
    tau = np.linspace(-1, 1, linkage.n)
    whole = taken_together(linkage).forward_dynamics(*(np.r_[x, 0.0, 0.0] for x in (q, qd, tau))).qdd[: linkage.n]
    alone = linkage.forward_dynamics(q, qd, tau, outputs=("qdd",)).qdd
    assert np.abs(alone - whole).max() < 1e-10 * np.abs(whole).max()
    energy = linkage.simulate(0.1, 1e-4, q=q, qd=qd, record=["energy_error", "kinetic_energy"])
    assert np.abs(energy.energy_error).max() < 1e-6 * energy.kinetic_energy.max()


def test_a_long_chain_of_loops_closes_from_anywhere_and_names_the_loop_that_does_not():
    linkage = ladder(24)
    guess = np.random.default_rng(3).uniform(-3, 3, linkage.n)
    assert np.abs(linkage.residual(linkage.close(guess))).max() < 1e-13
    mobility = linkage.mobility(linkage.close(guess))
    assert (mobility.degrees, mobility.redundant) == (24, 72)
    links = [
        zv.Link.from_dict(link.to_dict() | ({"position": [4.0, 0, 0]} if link.name == "rocker7" else {}))
        for link in linkage.chain.links
    ]
    broken = zv.Linkage(zv.Chain(links, gravity=(0, -9.81, 0)), linkage.constraints)
    with pytest.raises(zv.UnreachableError, match="coupler7-rocker7"):
        broken.close(guess)


def test_least_reactions_from_group_to_group_are_those_of_all_at_once():
    links, loops, carrier, x = [], [], "base", 0.0
    for k in range(4):
        links += [
            known.bar(f"crank{k}", carrier, (x, 0, 0), 0.3, 1.0, 0.01, 0.02),
            known.bar(f"coupler{k}", f"crank{k}", (0.3, 0, 0), 0.9, 1.0 + k, 0.0, -0.03),
            known.bar(f"rocker{k}", carrier, (0.9, 0.4, 0) if k else (1.0, 0, 0), 0.7, 1.0, 0.0, 0.01),
        ]
        loops.append(known.hinge(f"coupler{k}", f"rocker{k}", 0.9, 0.7))
        carrier, x = f"coupler{k}", 0.9
    groups = known.planar(links, loops)
    # a coupling of two joints elsewhere: then rows are taken together
    spare = [known.bar(f"spare{k}", "base", (5.0 + k, 0, 0), 0.2, 1.0) for k in range(2)]
    coupling = zv.constraints.coupling({"spare0_joint": 1.0, "spare1_joint": 1.0})
    together = zv.Linkage(zv.Chain([*links, *spare], gravity=(0, -9.81, 0)), loops, [coupling], length=1.0)

    q = groups.close(np.tile([0.8, -0.2, 1.6], 4))
    qd = groups.project_velocity(q, np.linspace(-1, 1, groups.n))
    tau = np.linspace(1, -1, groups.n)
    found = groups.forward_dynamics(q, qd, tau)
    whole = together.forward_dynamics(*(np.r_[y, 0.0, 0.0] for y in (q, qd, tau)))
    for key in ("qdd", "multiplier", "loop_reaction", "reaction"):
        expected = getattr(whole, key)[: len(getattr(found, key))]
        np.testing.assert_allclose(getattr(found, key), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert np.array_equal(found.unique, whole.unique[: groups.n])
    assert not found.unique.all()


def test_a_singular_loop_among_others_is_told_as_such():
    links, loops, carrier, x = [], [], "base", 0.0
    for k in range(4):
        links += [
            known.bar(f"a{k}", carrier, (x, 0, 0), 0.4, 1.0),
            known.bar(f"b{k}", f"a{k}", (0.4, 0, 0), 1.0, 1.0),
            known.bar(f"c{k}", carrier, (x + 1.0, 0, 0), 0.4, 1.0),
        ]
        loops.append(known.hinge(f"b{k}", f"c{k}", 1.0, 0.4))
        carrier, x = f"b{k}", 0.1
    linkage = known.planar(links, loops)
    q, qd, tau = np.tile([0.8, -0.8, 0.8], 4), np.tile([1.0, -1.0, 1.0], 4), np.zeros(12)
    flat = q.copy()
    flat[3:6] = 0.0
    for outputs in (("qdd",), None):
        with pytest.raises(zv.SingularityError, match="is singular here"):
            linkage.forward_dynamics(flat, qd, tau, outputs=outputs)
        rows = linkage.forward_dynamics(np.array([q, flat, q]), qd, tau, outputs=outputs, on_error="nan").qdd
        assert np.isnan(rows[1]).all()
        assert np.array_equal(rows[0], linkage.forward_dynamics(q, qd, tau, outputs=outputs).qdd)
        assert np.array_equal(rows[0], rows[2])
    assert linkage.singularity(flat).kind == "branches cross"


def test_mobility_of_a_chain_of_loops_is_that_of_its_whole_jacobian():
    count = 9
    linkage = ladder(count)
    q = linkage.close(np.tile([0.8, -0.2, 1.6], count))
    m = linkage.mobility(q)
    G = linkage.constraint_jacobian(q) / linkage.length
    U, s, _ = np.linalg.svd(G)
    assert m.rank == np.linalg.matrix_rank(G) == 2 * count and m.degrees == count and m.redundant == 3 * count
    np.testing.assert_allclose(m.singular_values, s, atol=1e-14)
    involved = [
        name for name, part in zip(linkage.row_names, np.abs(U[:, m.rank :]).max(axis=1), strict=True) if part > 1e-8
    ]
    assert list(m.involved) == involved
    assert [row for _, row in m.involved] == ["force along z", "moment about x", "moment about y"] * count
    assert m.status == "regular" and m.generic_rank == m.rank and not m.passive
    free = linkage.independent(q)
    assert len(free) == count and linkage.independent(q, free) == free
    assert {name[-len("0_joint") :] for name in free} == {f"{k}_joint" for k in range(count)}


def test_rows_of_a_chain_of_loops_are_those_chosen_at_once():
    rng = np.random.default_rng(5)
    linkage, _ = chain_of_loops(rng, 4, KINDS)
    together = taken_together(linkage)
    _, active, redundant, still = linkage._choice
    _, at_once, *_ = together._choice
    assert active == [i for i in at_once if i < linkage.m] and still == 0
    assert sorted(active + redundant) == list(range(linkage.m))


def test_making_a_chain_of_loops_takes_a_time_in_proportion_to_their_number():
    def seconds(count):
        start = time.process_time()
        ladder(count)
        return time.process_time() - start

    seconds(4)
    assert min(seconds(64) for _ in range(3)) < 9 * min(seconds(16) for _ in range(3))
