"""Docstrings: every public function has an example, and all examples run."""

import doctest
import inspect
import pkgutil
import re
import types

import matplotlib
import pytest
import zveno as zv
from zveno import _core

matplotlib.use("Agg")

MODULES = [
    m.name for m in pkgutil.walk_packages(zv.__path__, "zveno.") if not re.search(r"\._(core|kernels|_main__)", m.name)
]
FLAGS = doctest.NORMALIZE_WHITESPACE


def rooms(module, seen):
    """The module and all public modules that it names."""
    if module not in seen:
        seen.append(module)
        for name in module.__all__:
            if inspect.ismodule(getattr(module, name)):
                rooms(getattr(module, name), seen)
    return seen


def public(owner):
    """Names of functions and methods of a class that are ours, inherited ones too, with their docstrings."""
    fields = getattr(owner, "__dataclass_fields__", {})
    for name in dir(owner):
        value = None if name.startswith("_") or name in fields else inspect.getattr_static(owner, name)
        if isinstance(value, types.FunctionType | types.MethodDescriptorType | classmethod | staticmethod):
            homes = [base for base in owner.__mro__ if name in vars(base)]
            if homes[0].__module__.startswith("zveno"):
                yield name, homes


def shown(owner, name, homes):
    """Whether an example shows a method: its own, that of one that it replaces, or one of the class."""
    docs = [inspect.getdoc(vars(base)[name]) or "" for base in homes]
    examples = re.findall(r"^(?:>>>|\.\.\.) .*", "\n".join(inspect.getdoc(base) or "" for base in owner.__mro__), re.M)
    return any(">>> " in doc for doc in docs) or any(re.search(rf"\b{name}\b", line) for line in examples)


def documented():
    """Every public function and method, whether an example shows it."""
    for module in rooms(zv, []):
        for name in module.__all__:
            value, where = getattr(module, name), f"{module.__name__}.{name}"
            if inspect.isclass(value):
                yield from ((f"{where}.{method}", shown(value, method, homes)) for method, homes in public(value))
            elif callable(value):
                yield where, ">>> " in (inspect.getdoc(value) or "")
    # classes that are made by calling them
    given = {"Controller", "MotionPeaks", "MotionState", "PathState", "PosePath"}
    makers = [(m, name) for m in (zv.laws, zv.control, zv.trajectory, zv.orientation) for name in m.__all__]
    makers += [(zv.rigs, name) for name in ("Lead", "VirtualDamper", "Predictor", "Passivity", "FaceContact", "Rig")]
    for module, name in makers:
        if name not in given:
            yield f"{module.__name__}.{name}", ">>> " in (inspect.getdoc(getattr(module, name)) or "")


DOCUMENTED = dict(documented())


def test_every_public_function_has_an_example():
    assert len(DOCUMENTED) > 500
    assert sorted(name for name, has in DOCUMENTED.items() if not has) == []


@pytest.mark.parametrize("owner", [_core.Chain, _core.Hexapod, _core.Linkage])
def test_examples_of_the_compiled_methods_run(owner):
    runner, examples = doctest.DocTestRunner(optionflags=FLAGS), 0
    for name, homes in public(owner):
        test = doctest.DocTestParser().get_doctest(inspect.getdoc(vars(homes[0])[name]) or "", {}, name, None, 0)
        runner.run(test, clear_globs=True)
        examples += len(test.examples)
    assert examples > 25 and runner.failures == 0


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_run(name):
    module = __import__(name, fromlist=["_"])
    result = doctest.testmod(module, extraglobs={"zv": zv}, optionflags=FLAGS)
    assert result.failed == 0
