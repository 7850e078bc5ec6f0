"""Docstrings: every public function has an example, and all examples run."""

import doctest
import inspect
import pkgutil
import types

import matplotlib
import pytest
import zveno as zv
from zveno import _core

matplotlib.use("Agg")

MODULES = [
    m.name for m in pkgutil.walk_packages(zv.__path__, "zveno.") if "._" not in m.name and "__main__" not in m.name
]
CLASSES = (zv.Chain, zv.Hexapod, zv.Link, zv.Leg, zv.Body)
SHARED = {"to_dict", "from_dict"}  # of records: described once


def public(owner):
    for name, value in inspect.getmembers(owner):
        function = inspect.isroutine(value) or isinstance(value, types.MethodDescriptorType)
        if function and not name.startswith("_") and hasattr(owner, name):
            yield f"{getattr(owner, '__name__', owner)}.{name}", inspect.getdoc(value) or ""


def documented():
    for owner in CLASSES:
        yield from ((name, doc) for name, doc in public(owner) if name.split(".")[-1] not in SHARED)
    for module in (zv.robots, zv.mechanisms, zv.orientation):
        yield from (
            (f"{module.__name__}.{name}", inspect.getdoc(getattr(module, name)) or "") for name in module.__all__
        )
    yield from ((f"laws.{name}", inspect.getdoc(getattr(zv.laws, name)) or "") for name in zv.laws.__all__)
    for name in sorted(set(zv.control.__all__) - {"Controller"}):
        yield f"control.{name}", inspect.getdoc(getattr(zv.control, name)) or ""
    for name in ("beam", "buckling_load", "deflection", "resolution"):
        yield f"flexible.{name}", inspect.getdoc(getattr(zv.flexible, name)) or ""
    for name in sorted(set(zv.trajectory.__all__) - {"MotionPeaks", "MotionState", "PathState", "PosePath"}):
        yield f"trajectory.{name}", inspect.getdoc(getattr(zv.trajectory, name)) or ""
    for name in ("Lead", "VirtualDamper", "Predictor", "Passivity", "FaceContact", "Rig", "RingPlant", "chart"):
        yield f"rigs.{name}", inspect.getdoc(getattr(zv.rigs, name)) or ""
    for name in ("delay_margin", "measure", "restitution", "rightmost_root", "sampled_margin", "simulate"):
        yield f"rigs.{name}", inspect.getdoc(getattr(zv.rigs, name)) or ""
    yield "cpu_features", inspect.getdoc(zv.cpu_features)


DOCUMENTED = dict(documented())
FLAGS = doctest.NORMALIZE_WHITESPACE


def test_every_public_function_has_an_example():
    assert len(DOCUMENTED) > 150
    assert not [name for name, doc in DOCUMENTED.items() if ">>> " not in doc]


@pytest.mark.parametrize("owner", [_core.Chain, _core.Hexapod], ids=["Chain", "Hexapod"])
def test_examples_of_the_compiled_methods_run(owner):
    runner, examples = doctest.DocTestRunner(optionflags=FLAGS), 0
    for name, doc in public(owner):
        test = doctest.DocTestParser().get_doctest(doc, {}, name, None, 0)
        runner.run(test, clear_globs=True)
        examples += len(test.examples)
    assert examples > 50 and runner.failures == 0


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_run(name):
    module = __import__(name, fromlist=["_"])
    result = doctest.testmod(module, extraglobs={"zv": zv}, optionflags=FLAGS)
    assert result.failed == 0
