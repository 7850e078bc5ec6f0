"""Random chains of every kind, and their states."""

import numpy as np
import zveno as zv
from hypothesis import strategies as st


def random_rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.linalg.det(q)


def random_body(rng, scale=1.0):
    """Mass, centre of mass and a physically possible inertia about it (second moments are positive)."""
    second = rng.uniform(0.005, 0.05, 3)
    rotation = random_rotation(rng)
    mass = scale * rng.uniform(0.5, 3.0)
    inertia = scale * rotation @ np.diag(second.sum() - second) @ rotation.T
    return {"mass": mass, "com": rng.uniform(-0.2, 0.2, 3), "inertia": (inertia + inertia.T) / 2}


def random_place(rng, reach=0.4):
    return {"position": rng.uniform(-reach, reach, 3), "rotation": random_rotation(rng)}


def random_links(
    rng, n, kinds="mixed", *, branching=False, fixed=False, well_scaled=True, rotor=False, friction=False, spring=False
):
    """n moving links (names l0, l1, ...) and, with fixed=True, welded ones between and beyond them (w0, w1, ...)."""
    links, parents = [], ["base"]
    for i in range(n):
        scale = 1.0 if well_scaled else 10.0 ** rng.uniform(-3, 3)
        parent = parents[rng.integers(len(parents))] if branching else parents[-1]
        if fixed and rng.random() < 0.4:
            links.append(zv.Link(f"w{i}", parent=parent, joint="fixed", **random_place(rng), **random_body(rng, scale)))
            parents.append(f"w{i}")
            parent = f"w{i}"
        kind = ("revolute", "prismatic")[rng.integers(2)] if kinds == "mixed" else kinds
        links.append(
            zv.Link(
                f"l{i}",
                parent=parent,
                joint=kind,
                axis=rng.normal(size=3),
                rotor_inertia=rng.uniform(0.1, 1.0) * scale if rotor else 0.0,
                friction=rng.uniform(0.1, 1.0) if friction else 0.0,
                stiffness=rng.choice([0.0, rng.uniform(1, 9)]) if spring else 0.0,
                rest=rng.choice([0.0, rng.uniform(-2, 2)]) if spring else 0.0,
                **random_place(rng),
                **random_body(rng, scale),
            )
        )
        parents.append(f"l{i}")
    if fixed:
        links.append(zv.Link("tool", parent=f"l{n - 1}", joint="fixed", **random_place(rng), **random_body(rng)))
    return links


def random_chain(rng, n, kinds="mixed", *, gravity=None, name="random", **options):
    gravity = rng.uniform(-10, 10, 3) if gravity is None else gravity
    return zv.Chain(random_links(rng, n, kinds, **options), gravity=gravity, name=name)


@st.composite
def mechanisms(draw, max_n=12, **options):
    """A random branching chain of mixed joints with rotors, friction and springs, and the generator to go on with."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, max_n))
    flags = {name: draw(st.booleans()) for name in ("branching", "fixed", "rotor", "friction", "spring")} | options
    return random_chain(rng, n, draw(st.sampled_from(("mixed", "revolute", "prismatic"))), **flags), rng


def random_state(rng, chain, batch=()):
    """q, qd, qdd of any leading shape."""
    return tuple(rng.uniform(-limit, limit, (*batch, chain.n)) for limit in (np.pi, 2.0, 3.0))


def random_wrenches(rng, chain, batch=(), count=3):
    names = rng.permutation(chain.link_names)[:count]
    return {str(name): rng.uniform(-20, 20, (*batch, 6)) for name in names}


def copy_link(link, **changes):
    """The same link with some arguments replaced."""
    return zv.Link.from_dict(link.to_dict() | changes)


def random_stack(rng, link, count):
    """The link on `count` massless ones before it, all joints at one point; of three the first one slides."""
    kinds = ["prismatic", "revolute", "revolute"] if count == 3 else ["revolute"] * count
    square = rng.random() < 0.6  # axes x, y, z in some order, or any
    axes = np.eye(3)[rng.permutation(3)] if square else rng.normal(size=(3, 3))
    if count == 3:
        axes = np.vstack([axes[2], axes])
    first = {"position": link.position, "rotation": link.rotation}
    hinges, parent = [], link.parent
    for k, kind in enumerate(kinds):
        place = first if k == 0 else {}
        drive = {"rotor_inertia": rng.choice([0.0, 0.3]), "stiffness": link.stiffness, "friction": link.friction}
        hinges.append(zv.Link(f"{link.name}_{k}", parent=parent, joint=kind, axis=axes[k], **place, **drive))
        parent = hinges[-1].name
    turned = {} if square else {"rotation": random_rotation(rng)}
    at = {"parent": parent, "joint": "revolute", "axis": axes[-1], "position": (0, 0, 0), "rotation": np.eye(3)}
    return [*hinges, copy_link(link, **(at | turned))]


@st.composite
def stacked_mechanisms(draw, max_n=5, **options):
    """A random tree some of whose joints are stacks of up to four coincident ones, and the generator to go on with."""
    chain, rng = draw(mechanisms(max_n=max_n, **options))
    links = []
    for k, link in enumerate(chain.links):
        count = 0 if link.joint == "fixed" else int(rng.integers(k == 0, 4))
        links += random_stack(rng, link, count) if count else [link]
    return zv.Chain(links, gravity=chain.gravity, name="stacked"), rng
