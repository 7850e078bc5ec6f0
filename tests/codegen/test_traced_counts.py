"""The page of traced operation counts is what the tracer counts, and its claims hold."""

import runpy
from pathlib import Path

import numpy as np
import pytest
import zveno as zv

ROOT = Path(__file__).parents[2]
TABLE = runpy.run_path(str(ROOT / "bench" / "traced_counts.py"))
CHAINS = TABLE["robots"]()


def test_traced_counts_page_is_what_the_tracer_counts():
    assert (ROOT / "docs" / "traced-counts.md").read_text(encoding="utf-8") == "\n".join(TABLE["lines"]()) + "\n"


def test_generated_code_page_quotes_it():
    page = (ROOT / "docs" / "generated-code.md").read_text(encoding="utf-8")
    section = page.partition("## Operation counts\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    assert len(rows) > 20
    assert set(rows) <= set(TABLE["lines"]())


@pytest.mark.parametrize("name", CHAINS)
def test_tracing_takes_operations_away(name):
    arm = CHAINS[name]
    for function, method in TABLE["FUNCTIONS"]:
        kernel, traced = arm.operations(function, method), arm.trace(function, method=method).operations
        assert (traced.mul < kernel.mul, traced.add < kernel.add, traced.div <= kernel.div) == (True, True, True)


@pytest.mark.parametrize("name", CHAINS)
def test_principal_axes_take_products_of_inertia_away_and_nothing_else(name):
    arm, plain = CHAINS[name], TABLE["principal"](CHAINS[name])
    for before, after in zip(arm.links, plain.links, strict=True):
        assert after == zv.Link.from_dict(before.to_dict() | {"inertia": np.diag(before.inertia.diagonal())})
    assert plain.trace("inverse_dynamics").operations.total <= arm.trace("inverse_dynamics").operations.total


@pytest.mark.parametrize("name", CHAINS)
def test_general_bodies_have_all_ten_parameters(name):
    arm = TABLE["general"](CHAINS[name])
    for link in arm.links:
        assert link.joint == "fixed" or (link.mass > 0 and (link.com != 0).all() and (link.inertia != 0).all())
    assert arm.trace("bias").operations.total >= CHAINS[name].trace("bias").operations.total


def test_drives_are_left_out():
    for arm in CHAINS.values():
        assert not arm.rotor_inertia.any() and not arm.friction.any()
    assert zv.robots.puma560().rotor_inertia.any()
