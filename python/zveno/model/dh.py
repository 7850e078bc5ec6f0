"""Links of a serial chain from Denavit-Hartenberg rows; `Chain.from_dh` says what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, Fail, _is_name, _show, as_array, as_choice, as_list
from .._rotation import about_axis, as_pose, rotated
from .link import Link

__all__ = ["links"]

# what `Chain.from_dh` calls a column of arguments of `Link`
_ARGUMENT: Final = {"name": "names", "joint": "joints", "mass": "masses", "com": "coms", "inertia": "inertias"}


def links(
    rows: Iterable[Sequence[float]],
    convention: str,
    columns: dict[str, Any],
    base_pose: ArrayLike | None,
    tool_pose: ArrayLike | None,
    tool: str,
    fail: Fail,
) -> list[Link]:
    """The moving links and the tool. `columns` are arguments of `Link`, one entry for each row, or None."""
    as_choice(convention, fail, "convention", ("standard", "modified"))
    listed = as_list(rows)
    if listed is None:
        fail(f"rows is {_show(rows)}, expected rows (theta0, d, a, alpha)")
    table = [as_array(row, fail, f"rows[{i}]", (4,)).tolist() for i, row in enumerate(listed)]
    n = len(table)
    if columns["name"] is None:
        columns["name"] = [f"link{i + 1}" for i in range(n)]
    if columns["joint"] is None:
        fail("joints is None, expected 'revolute', 'prismatic' or one of them for each row")
    if isinstance(columns["joint"], str):
        columns["joint"] = [columns["joint"]] * n

    given: dict[str, list[Any]] = {}
    for key, column in columns.items():
        if isinstance(column, str) or not (column is None or isinstance(column, Sequence | np.ndarray)):
            fail(f"{_ARGUMENT.get(key, key)} is {_show(column)}, expected {n} entries")
        if column is not None:
            given[key] = list(np.atleast_1d(column) if isinstance(column, np.ndarray) else column)
            if len(given[key]) != n:
                fail(f"{_ARGUMENT.get(key, key)} has {len(given[key])} entries, expected {n}")

    R_next, p_next = _split_pose(base_pose, fail, "base_pose")
    R_tool, p_tool = _split_pose(tool_pose, fail, "tool_pose")
    made = []
    for i, (theta, d, a, alpha) in enumerate(table):
        body = {key: column[i] for key, column in given.items()}
        as_choice(body["joint"], fail, f"joints[{i}]", ("revolute", "prismatic"))
        if convention == "standard":
            # the joint frame is DH frame i-1; R_BF, p_BF place DH frame i in the link
            R_theta = about_axis(2, theta)
            R_BF, p_BF = R_theta @ about_axis(0, alpha), R_theta @ (a, 0.0, 0.0) + (0.0, 0.0, d)
            link = Link(**body)  # checked before it is moved
            body |= {"com": p_BF + R_BF @ link.com, "inertia": rotated(R_BF, link.inertia)}
            link = Link(**body, position=p_next, rotation=R_next)
            R_next, p_next = R_BF, p_BF
        else:
            R_row = about_axis(0, alpha)
            position = p_next + R_next @ ((a, 0.0, 0.0) + R_row @ (0.0, 0.0, d))
            link = Link(**body, position=position, rotation=R_next @ R_row @ about_axis(2, theta))
            R_next, p_next = np.eye(3), np.zeros(3)
        made.append(link)
    if not _is_name(tool):
        fail(f"tool is {_show(tool)}, expected a non-empty string")
    made.append(Link(tool, joint="fixed", position=p_next + R_next @ p_tool, rotation=R_next @ R_tool))
    return made


def _split_pose(pose: Any, fail: Fail, what: str) -> tuple[Array, Array]:
    """Rotation and translation of a pose in any form; identity for None. The rotation is checked by its link."""
    p, R = (np.zeros(3), np.eye(3)) if pose is None else as_pose(pose, fail, what, exact=False)
    return R, p
