"""What every test needs: tolerances, processes, layouts of arrays, model files, the table of functions."""

import contextlib
import importlib.metadata
import os
import warnings
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import zveno as zv
from engines.pinocchio import AXES, Twin
from hypothesis import strategies as st
from reference import Serial
from zveno import _core
from zveno.graph import OPS

METHODS = tuple(next(row for row in _core.functions("chain") if row["name"] == "mass_matrix")["methods"])
BIAS_METHODS = tuple(next(row for row in _core.functions("chain") if row["name"] == "bias")["methods"])
SERIAL_ONLY = ("kane-recurrent", "kosynka")
TREE_METHODS = tuple(m for m in METHODS if m not in SERIAL_ONLY)

TESTS = Path(__file__).parent
ROOT = TESTS.parent


def environment(**more):
    """Variables for a Python process that finds the package of this one, the helpers and the test modules."""
    folders = [TESTS, *sorted({file.parent for file in TESTS.glob("*/test_*.py")})]
    given = os.environ.get("PYTHONPATH")
    return os.environ | {"PYTHONPATH": os.pathsep.join([*map(str, folders), *([given] if given else [])])} | more


def at_once(work, arguments):
    """Results of work(argument), each in a thread of its own."""
    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(work, arguments))


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


# ---- layouts of arrays ------------------------------------------------------------------------------------------


def backwards(x):
    """The same numbers with negative strides."""
    return np.ascontiguousarray(np.flip(x)).copy()[tuple(slice(None, None, -1) for _ in x.shape)]


def with_gaps(x):
    """The same numbers with NaN between them in memory."""
    wide = np.full([2 * n for n in x.shape], np.nan)
    every_second = tuple(slice(None, None, 2) for _ in x.shape)
    wide[every_second] = x
    return wide[every_second]


def read_only(x):
    """A copy that cannot be written."""
    x = x.copy()
    x.setflags(write=False)
    return x


def unaligned(x):
    """The same numbers at an odd address."""
    raw = np.empty(x.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(x.shape)
    raw[...] = x
    return raw


# that keep every number
LAYOUTS = {
    "list": np.ndarray.tolist,
    "tuple of rows": tuple,
    "fortran": np.asfortranarray,
    "backwards": backwards,
    "with gaps": with_gaps,
    "read-only": read_only,
    "unaligned": unaligned,
    "big endian": lambda x: x.astype(">f8"),
    "longdouble": np.longdouble,
}


# for out=, made for the shape of a result
REFUSED = {
    "longer": lambda shape: np.empty((shape[0] + 1, *shape[1:])),
    "without batch": lambda shape: np.empty(shape[1:]),
    "one more axis": lambda shape: np.empty((1, *shape)),
    "float32": lambda shape: np.empty(shape, np.float32),
    "int": lambda shape: np.empty(shape, np.int64),
    "complex": lambda shape: np.empty(shape, complex),
    "big endian": lambda shape: np.empty(shape, ">f8"),
    "read-only": lambda shape: read_only(np.empty(shape)),
    "with gaps": lambda shape: np.empty((2 * shape[0], *shape[1:]))[::2],
    "backwards": lambda shape: np.empty(shape)[::-1],
    "unaligned": lambda shape: unaligned(np.empty(shape)),
    "list": lambda shape: np.empty(shape).tolist(),
    "string": lambda shape: "out",
}


def equal(a, b):
    """Whether lists of arrays are equal bit for bit, shapes and types included."""
    return all(x.shape == y.shape and x.dtype == y.dtype and np.array_equal(x, y) for x, y in zip(a, b, strict=True))


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


def texts(**options):
    """st.text of what UTF-8 holds, named by category: Hypothesis would try to encode every character there is."""
    return st.text(st.characters(exclude_categories=["Cs"]), **options)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def assert_model_or_error(kind, data, place, key, value):
    """Data with a value put into a place of them make a model or a ModelError."""
    place[key] = value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zv.ModelWarning)
        with contextlib.suppress(zv.ModelError):
            assert isinstance(kind.from_dict(data), kind)


# ---- the table of functions -------------------------------------------------------------------------------------

ROWS = {row["name"]: row for row in _core.functions("chain")}
FUNCTIONS = {name: tuple(x["name"] for x in row["parameters"] if x["required"]) for name, row in ROWS.items()}
# those that are arrays, which come first
ARRAYS = {
    name: tuple(x["name"] for x in row["parameters"] if x["required"] and x["array"]) for name, row in ROWS.items()
}
SEVERAL = {name: len(row["outputs"]) for name, row in ROWS.items() if row["several"]}


def takes(name, parameter):
    return any(x["name"] == parameter for x in ROWS[name]["parameters"])


def _choices(name):
    choices = [{"method": method} for method in ROWS[name]["methods"]]
    choices += [{"frame": frame} for frame in AXES] if takes(name, "frame") else []
    choices += [{"parts": parts} for parts in ("total", "static", "dynamic")] if takes(name, "parts") else []
    choices += [{"point": (0.1, -0.2, 0.3)}] if takes(name, "point") else []
    return choices + ([{"about": about} for about in ("com", "base")] if takes(name, "about") else [])


TAKES_EXTERNAL = tuple(name for name in ROWS if takes(name, "external"))
OPTIONS = {name: choices for name in ROWS if (choices := _choices(name))}
VARIANTS = [(name, options) for name in FUNCTIONS for options in OPTIONS.get(name, [{}])]


def variant_id(variant):
    return "-".join([variant[0], *map(str, variant[1].values())]) if isinstance(variant, tuple) else None


def arguments(name, values, link):
    """Positional arguments of a function from the arrays q, qd, qdd (tau and weights take the place of qdd)."""
    section = zv.Section(link, (0, 0, 0), (0, 0, 1)) if isinstance(link, str) and link.isalnum() else link
    table = dict(zip(("q", "qd", "qdd"), values, strict=True), tau=values[2], weights=values[2])
    table |= {"link": link, "section": section}
    if "i" in FUNCTIONS[name]:
        table["i"] = table["j"] = _joint_of(link, values[0])
    return [table[argument] for argument in FUNCTIONS[name]]


def _joint_of(link, q):
    """Place in q of the joint that moves a link of a random chain: l0, l1, ... their own, a tool the last one."""
    if isinstance(link, str) and link[:1] == "l" and link[1:].isdigit():
        return int(link[1:])
    return q.shape[-1] - 1 if isinstance(q, np.ndarray) and q.ndim else 0


def item_shape(name, chain):
    """Shape of one result."""
    sizes = {"n": chain.n, "10N": 10 * len(chain.links), "10P": len(chain.regressor_pattern[0])}
    return tuple(sizes.get(dim, dim) for dim in ROWS[name]["outputs"][0]["shape"])


def arrays_of(result):
    """The arrays of a result: one, or those of a named result."""
    return list(result) if isinstance(result, tuple) else [np.asarray(result)]


def out_for(name, make):
    """What out= takes: an array that make() gives, or several of them."""
    return tuple(make() for _ in range(SEVERAL[name])) if name in SEVERAL else make()


# ---- graphs -----------------------------------------------------------------------------------------------------


def begun_graph():
    """A graph to go on with: itself, the function that adds an operation, nodes q1, sin q0, cos q0 and a quotient."""
    core = _core.Graph()

    def do(op, *operands):
        return core.apply(OPS.index(op), *operands)

    q0, q1, v = core.input(0, 0), core.input(0, 1), core.input(1, 0)
    s, c = do("sin", q0), do("cos", q0)
    return core, do, q1, s, c, do("div", do("sub", do("mul", s, core.constant(0.1)), c), v)
