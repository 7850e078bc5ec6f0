"""What every test needs: random mechanisms, independent twins of a chain, tolerances, the table of functions."""

import importlib.metadata
import warnings
import xml.etree.ElementTree as ElementTree
from functools import cache

import mujoco
import numpy as np
import pinocchio as pin
import zveno as zv
from hypothesis import strategies as st
from reference import Serial

METHODS = (
    *("crba", "crba-walk", "crba-columns", "kane"),
    *("kane-triangular", "kane-recurrent", "kane-collapsed", "kosynka"),
)
SERIAL_ONLY = ("kane-recurrent", "kosynka")
TREE_METHODS = tuple(m for m in METHODS if m not in SERIAL_ONLY)

# ---- tolerances -------------------------------------------------------------------------------------------------

SELF = 100  # the same quantity by another route: below 1e-12 for n = 40
OTHER = 10_000  # an implementation we did not write: below 1e-10 for n = 40
DIFFERENCE = 1_000_000  # sixth-order differences lose eps^(1/7)


def tol(n, scale=1.0, ulps=SELF):
    """Tolerance in units of epsilon times problem size n times the size of the numbers compared."""
    return ulps * np.finfo(float).eps * n * scale


def assert_close(got, want, n, *, ulps=SELF, scale=None):
    """Largest difference relative to the largest expected number (or to scale) is within tol."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    if not want.size:
        return
    scale = np.abs(want).max() if scale is None else scale
    error, limit = np.abs(got - want).max(), tol(n, scale, ulps)
    assert error <= limit, f"differs by {error:.3e}, allowed {limit:.3e} (scale {scale:.3e})"


def derivative(f):
    """Derivative at 0 of a function of one number, sixth-order central difference."""
    h = np.finfo(float).eps ** (1 / 7)
    pairs = ((1, 45.0), (2, -9.0), (3, 1.0))
    return sum(weight * (f(k * h) - f(-k * h)) for k, weight in pairs) / (60 * h)


# ---- random mechanisms ------------------------------------------------------------------------------------------


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


# ---- twins ------------------------------------------------------------------------------------------------------


def to_reference(chain):
    """Data of a serial chain without welded links for tests/reference (no drives, friction, springs in the papers)."""
    links = chain.links
    assert all(link.joint != "fixed" for link in links)
    arrays = {k: np.array([getattr(link, k) for link in links]) for k in ("position", "rotation", "mass", "com")}
    com, m = arrays["com"], arrays["mass"]
    steiner = [mass * (c @ c * np.eye(3) - np.outer(c, c)) for mass, c in zip(m, com, strict=True)]
    axis = np.array([link.axis for link in links], dtype=float)
    return Serial(
        revolute=[link.joint != "prismatic" for link in links],
        l=arrays["position"],
        gamma=np.swapaxes(arrays["rotation"], 1, 2),
        axis=axis / np.linalg.norm(axis, axis=1, keepdims=True),
        m=m,
        d=com,
        I=np.array([link.inertia for link in links]) + steiner,
        g=np.array(chain.gravity),
    )


def to_pinocchio(chain):
    """The same mechanism as a pinocchio Model: welded links become frames, their inertias go to the carrying joint."""
    model = pin.Model()
    model.gravity.linear = np.array(chain.gravity)
    children = {}
    for link in chain.links:
        children.setdefault(link.parent, []).append(link)
    carrier = {chain.base_name: (0, pin.SE3.Identity())}
    stack = children[chain.base_name][::-1]
    while stack:  # depth first: pinocchio wants the joints of a subtree to be neighbours
        link = stack.pop()
        joint, placement = carrier[link.parent]
        placement = placement * pin.SE3(np.array(link.rotation), np.array(link.position))
        if link.joint != "fixed":
            axis = np.array(link.axis) / np.linalg.norm(link.axis)
            kind = pin.JointModelPrismaticUnaligned if link.joint == "prismatic" else pin.JointModelRevoluteUnaligned
            joint, placement = model.addJoint(joint, kind(axis), placement, link.joint_name), pin.SE3.Identity()
        # Pinocchio refuses an eigenvalue of -1e-20, which real files carry
        lift = max(0.0, -2 * float(np.linalg.eigvalsh(link.inertia)[0]))
        body = pin.Inertia(link.mass, np.array(link.com), link.inertia + lift * np.eye(3))
        model.appendBodyToJoint(joint, body, placement)
        model.addFrame(pin.Frame(link.name, joint, 0, placement, pin.FrameType.BODY))
        carrier[link.name] = joint, placement
        stack += children.get(link.name, [])[::-1]
    return model


class Twin:
    """Pinocchio's answers in our conventions and in the joint order of the chain."""

    def __init__(self, chain, model=None):
        own = to_pinocchio(chain)
        self.chain, self.model = chain, own if model is None else model
        # a URDF's root link is the base itself; what is welded to it still rests on it
        self.base_load = own.inertias[0]
        ids = [self.model.getJointId(name) for name in chain.joint_names]
        self.ids = ids
        self.order = np.array([self.model.joints[i].idx_v for i in ids])
        armature = np.zeros(self.model.nv)
        armature[self.order] = chain.rotor_inertia
        self.model.armature = armature
        self.data = self.model.createData()

    def _v(self, qd):
        out = np.empty(self.model.nv)
        out[self.order] = qd
        return out

    def _q(self, q):
        return pin.integrate(self.model, pin.neutral(self.model), self._v(q))

    def _matrix(self, M):
        return np.reshape(M, (self.model.nv,) * 2)[np.ix_(self.order, self.order)]

    def frame(self, link, point=(0.0, 0.0, 0.0)):
        """Joint and placement of a point of a link on it."""
        f = self.model.frames[self.model.getFrameId(link, pin.FrameType.BODY)]
        return f.parentJoint, f.placement * pin.SE3(np.eye(3), np.array(point, dtype=float))

    def _external(self, q, external):
        """World wrenches at link origins as pinocchio wants them: at joints, in joint axes."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        pin.forwardKinematics(self.model, self.data, self._q(q))
        for link, wrench in (external or {}).items():
            joint, placement = self.frame(link)
            aligned = self.data.oMi[joint].actInv(pin.SE3(np.eye(3), (self.data.oMi[joint] * placement).translation))
            forces[joint] += aligned.act(pin.Force(np.array(wrench)))
        return forces

    def mass_matrix(self, q):
        return self._matrix(pin.crba(self.model, self.data, self._q(q), pin.Convention.WORLD))

    def inverse_dynamics(self, q, qd, qdd, external=None):
        forces = self._external(q, external)
        tau = pin.rnea(self.model, self.data, self._q(q), self._v(qd), self._v(qdd), forces)
        return tau[self.order] + self._resistance(q, qd)

    def _resistance(self, q, qd):
        """Efforts of friction and springs, which Pinocchio does not know."""
        return self.chain.friction * qd + self.chain.stiffness * (q - self.chain.rest)

    def bias(self, q, qd, external=None):
        return self.inverse_dynamics(q, qd, np.zeros(self.chain.n), external)

    def forward_dynamics(self, q, qd, tau, external=None):
        forces = self._external(q, external)
        effort = self._v(tau - self._resistance(q, qd))
        return pin.aba(self.model, self.data, self._q(q), self._v(qd), effort, forces)[self.order].copy()

    def reactions(self, q, qd, qdd, external=None, frame="link"):
        self.inverse_dynamics(q, qd, qdd, external)
        wrenches = [self.data.f[i].vector for i in self.ids]
        if frame == "world":
            turn = [pin.SE3(self.data.oMi[i].rotation, np.zeros(3)) for i in self.ids]
            wrenches = [X.act(pin.Force(w)).vector for X, w in zip(turn, wrenches, strict=True)]
        return np.array(wrenches)

    def base_wrench(self, q, qd, qdd, external=None):
        self.inverse_dynamics(q, qd, qdd, external)
        roots = [i for i in self.ids if self.model.parents[i] == 0]
        total = -sum((self.data.oMi[i].act(self.data.f[i]).vector for i in roots), np.zeros(6))
        weight = self.base_load.mass * self.chain.gravity
        total += np.concatenate([weight, np.cross(self.base_load.lever, weight)])
        for link, wrench in (external or {}).items():
            joint, placement = self.frame(link)
            if joint == 0:
                total += np.concatenate([wrench[:3], wrench[3:] + np.cross(placement.translation, wrench[:3])])
        return total

    def kinetic_energy(self, q, qd):
        rotor = 0.5 * self.chain.rotor_inertia @ qd**2
        plain = self.model.copy()
        plain.armature = np.zeros(plain.nv)
        return pin.computeKineticEnergy(plain, self.data, self._q(q), self._v(qd)) + rotor

    def potential_energy(self, q):
        moving = pin.computePotentialEnergy(self.model, self.data, self._q(q))
        springs = 0.5 * self.chain.stiffness @ (q - self.chain.rest) ** 2
        return moving - self.base_load.mass * self.base_load.lever @ self.chain.gravity + springs

    def momentum(self, q, qd):
        """Linear momentum and angular momentum about the base origin."""
        h = pin.computeCentroidalMomentum(self.model, self.data, self._q(q), self._v(qd))
        com = self.data.com[0]
        return np.concatenate([h.linear, h.angular + np.cross(com, h.linear)])

    def pose(self, q, link):
        pin.forwardKinematics(self.model, self.data, self._q(q))
        joint, placement = self.frame(link)
        return (self.data.oMi[joint] * placement).homogeneous

    def _with_point(self, link, point):
        joint, placement = self.frame(link, (0.0, 0.0, 0.0) if point is None else point)
        model = self.model.copy()
        index = model.addFrame(pin.Frame("the point", joint, 0, placement, pin.FrameType.OP_FRAME))
        return model, model.createData(), index

    def jacobian(self, q, link, point=None, frame="world"):
        model, data, index = self._with_point(link, point)
        return pin.computeFrameJacobian(model, data, self._q(q), index, AXES[frame]).reshape(6, -1)[:, self.order]

    def jacobian_rate(self, q, qd, link, point=None, frame="world"):
        model, data, index = self._with_point(link, point)
        pin.computeJointJacobiansTimeVariation(model, data, self._q(q), self._v(qd))
        pin.updateFramePlacements(model, data)
        return pin.getFrameJacobianTimeVariation(model, data, index, AXES[frame]).reshape(6, -1)[:, self.order]

    def derivatives(self, q, qd, qdd):
        args = self._q(q), self._v(qd), self._v(qdd)
        dq, dqd, dqdd = (self._matrix(M) for M in pin.computeRNEADerivatives(self.model, self.data, *args))
        return dq + np.diag(self.chain.stiffness), dqd + np.diag(self.chain.friction), dqdd


AXES = {"world": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, "link": pin.ReferenceFrame.LOCAL}


def to_mujoco(chain):
    """The same mechanism as a MuJoCo model (every link needs a mass); joint names are kept."""
    root = ElementTree.Element("mujoco")
    ElementTree.SubElement(root, "compiler", angle="radian", boundmass="0", inertiafromgeom="false")
    option = ElementTree.SubElement(root, "option", gravity=_text(chain.gravity))
    ElementTree.SubElement(option, "flag", contact="disable", constraint="disable")
    bodies = {chain.base_name: ElementTree.SubElement(root, "worldbody")}
    for link in chain.links:
        body = ElementTree.SubElement(bodies[link.parent], "body", name=link.name, pos=_text(link.position))
        rotation = np.array(link.rotation)
        body.set("xyaxes", _text(np.concatenate([rotation[:, 0], rotation[:, 1]])))
        full = np.array(link.inertia)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        ElementTree.SubElement(
            body, "inertial", pos=_text(link.com), mass=repr(float(link.mass)), fullinertia=_text(full)
        )
        if link.joint != "fixed":
            kind = "slide" if link.joint == "prismatic" else "hinge"
            joint = ElementTree.SubElement(body, "joint", name=link.joint_name, type=kind, axis=_text(link.axis))
            joint.set("armature", repr(float(link.rotor_inertia)))
            joint.set("damping", repr(float(link.friction)))
            joint.set("stiffness", repr(float(link.stiffness)))
            joint.set("springref", repr(float(link.rest)))
        bodies[link.name] = body
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))


def _text(values):
    return " ".join(repr(float(value)) for value in values)


# ---- model files ------------------------------------------------------------------------------------------------


@cache
def urdf_files(physical=True):
    """Files of example-robot-data on a fixed base by short name; physical=False: those with an impossible inertia."""
    found = {}
    for file in importlib.metadata.files("example-robot-data"):
        if file.suffix == ".urdf":
            path = file.locate()
            root = ElementTree.parse(path).getroot()
            kinds = {joint.get("type") for joint in root.findall("joint")}
            fixed_base = kinds & {"revolute", "continuous", "prismatic"} and not kinds & {"floating", "planar"}
            if fixed_base and all(map(_possible, root.iterfind("link/inertial"))) == physical:
                found[f"{path.parent.parent.name}-{path.stem}"] = path
    return found


def _possible(inertial):
    """No eigenvalue of the inertia is negative beyond rounding of the inertia about the link origin."""
    inertia, origin = inertial.find("inertia"), inertial.find("origin")
    xx, yy, zz, xy, xz, yz = (float(inertia.get(f"i{k}")) for k in ("xx", "yy", "zz", "xy", "xz", "yz"))
    com = np.array([float(x) for x in ("0 0 0" if origin is None else origin.get("xyz", "0 0 0")).split()])
    size = xx + yy + zz + float(inertial.find("mass").get("value")) * com @ com
    return np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).min() >= -1e-12 * size


@cache
def urdf_chain(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zv.ModelWarning)
        return zv.Chain.from_urdf(urdf_files()[name], snap=0)  # angles as printed, as Pinocchio takes them


@cache
def urdf_twin(name):
    return Twin(urdf_chain(name), pin.buildModelFromUrdf(str(urdf_files()[name])))


# ---- the table of functions -------------------------------------------------------------------------------------

FUNCTIONS = {
    "mass_matrix": ("q",),
    "bias": ("q", "qd"),
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "tau"),
    "reactions": ("q", "qd", "qdd"),
    "base_wrench": ("q", "qd", "qdd"),
    "kinetic_energy": ("q", "qd"),
    "potential_energy": ("q",),
    "pose": ("q", "link"),
    "jacobian": ("q", "link"),
    "jacobian_rate": ("q", "qd", "link"),
    "derivatives": ("q", "qd", "qdd"),
}
TAKES_EXTERNAL = ("bias", "inverse_dynamics", "forward_dynamics", "reactions", "base_wrench", "derivatives")
OPTIONS = {
    "mass_matrix": [{"method": m} for m in METHODS],
    "bias": [{"method": m} for m in ("rnea", "kane")],
    "forward_dynamics": [{"method": m} for m in ("aba", "cholesky", "cholesky-walk")],
    "reactions": [{"frame": f} for f in AXES],
    "jacobian": [{"frame": f} for f in AXES] + [{"point": (0.1, -0.2, 0.3)}],
    "jacobian_rate": [{"frame": f} for f in AXES] + [{"point": (0.1, -0.2, 0.3)}],
}
VARIANTS = [(name, options) for name in FUNCTIONS for options in OPTIONS.get(name, [{}])]


def variant_id(variant):
    return "-".join([variant[0], *map(str, variant[1].values())]) if isinstance(variant, tuple) else None


def arguments(name, values, link):
    """Positional arguments of a function from the arrays q, qd, qdd (tau takes the place of qdd)."""
    table = dict(zip(("q", "qd", "qdd"), values, strict=True), tau=values[2], link=link)
    return [table[argument] for argument in FUNCTIONS[name]]


def item_shape(name, n):
    """Shape of one result."""
    shapes = {"mass_matrix": (n, n), "derivatives": (n, n), "reactions": (n, 6), "base_wrench": (6,), "pose": (4, 4)}
    shapes |= {"kinetic_energy": (), "potential_energy": (), "jacobian": (6, n), "jacobian_rate": (6, n)}
    return shapes.get(name, (n,))


def arrays_of(result):
    """The arrays of a result: one, or the three of derivatives."""
    if hasattr(result, "dtau_dq"):
        return [result.dtau_dq, result.dtau_dqd, result.dtau_dqdd]
    return [np.asarray(result)]
