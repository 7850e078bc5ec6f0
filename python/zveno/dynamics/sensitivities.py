"""Derivatives of the joint efforts by whatever they depend on: `Chain.derivatives` with ``wrt=``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .._check import Array, _show, as_list, did_you_mean
from .._html import html_table

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["Sensitivities", "sensitivities"]

_STATES: Final = ("q", "qd", "qdd")
_KNOWN: Final = (*_STATES, "gravity", "parameters", "external")
_OF_CALL: Final = ("outputs", "out", "status", "on_error")


class Sensitivities:
    """Derivatives of the joint efforts tau, in the order that was asked for.

    Each is an attribute: ``dtau_dq``, ``dtau_dqd``, ``dtau_dqdd`` (..., n, n); ``dtau_dgravity`` (..., n, 3), by the
    acceleration of gravity in base axes; ``dtau_dparameters`` (..., n, 10 k), by the inertial parameters of k links,
    the regressor; ``dtau_dexternal`` (..., n, 6 k), by the external wrenches on k links. `links` names the links of the
    last two. Iterating gives the arrays.
    """

    __slots__ = ("_arrays", "links")

    def __init__(self, arrays: Mapping[str, Array], links: Mapping[str, tuple[str, ...]]) -> None:
        self._arrays = dict(arrays)
        self.links = dict(links)

    def __getattr__(self, name: str) -> Array:
        if not name.startswith("dtau_d") or name not in self._arrays:
            there = ", ".join(self._arrays) if not name.startswith("_") else ""
            raise AttributeError(f"Sensitivities has no {name}; there is {there}", name=name, obj=self)
        return self._arrays[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._arrays]

    def __iter__(self) -> Iterator[Array]:
        return iter(self._arrays.values())

    def __repr__(self) -> str:
        return f"Sensitivities({', '.join(f'{name} {array.shape}' for name, array in self._arrays.items())})"

    def _repr_html_(self) -> str:
        rows = [(name, str(a.shape), ", ".join(self.links.get(name, ()))) for name, a in self._arrays.items()]
        return html_table("Derivatives of the joint efforts", rows, ("", "shape", "links"))


def sensitivities(chain: Chain, given: dict[str, Any]) -> Sensitivities:
    """`Chain.derivatives` with the arguments `given`, among them wrt."""
    wanted = _wanted(chain, given.pop("wrt"))
    for name in _OF_CALL:
        if given.get(name) is not None and given[name] != "raise":
            raise ValueError(f"derivatives: {name} is given, which does not go with wrt")
    for name in _STATES:
        if given.get(name) is None:
            raise TypeError(f"derivatives: argument '{name}' is missing")
    states = tuple(name for name in wanted if name in _STATES)
    external: Mapping[str, Any] = given.get("external") or {}
    # always called, so that every argument is checked
    names: Any = [f"dtau_d{name}" for name in states or _STATES]
    parts = chain.derivatives(**given, outputs=names)
    q, qd, qdd = (np.asarray(given[name], dtype=np.float64) for name in _STATES)
    lead = getattr(parts, names[0]).shape[:-2]
    arrays: dict[str, Array] = {}
    links: dict[str, tuple[str, ...]] = {}
    for name, chosen in wanted.items():
        key = f"dtau_d{name}"
        if name in _STATES:
            array = getattr(parts, key)
        elif name == "gravity":
            array = -np.swapaxes(chain.momentum_matrix(q, about="base")[..., :3, :], -1, -2)
        elif name == "parameters":
            links[key] = chosen or chain.link_names
            Y = chain.regressor(q, qd, qdd, given.get("base_motion"))
            array = Y.reshape(*Y.shape[:-1], -1, 10)[..., [chain.link_names.index(x) for x in links[key]], :]
            array = array.reshape(*array.shape[:-2], -1)
        else:
            links[key] = chosen or tuple(external)
            if not links[key]:
                raise ValueError("derivatives: wrt has 'external', but no link and no external wrench is given")
            frame: Any = given.get("external_frame") or "world"
            columns = [-np.swapaxes(chain.jacobian(q, link, frame=frame), -1, -2) for link in links[key]]
            array = np.concatenate(columns, axis=-1)
        arrays[key] = np.ascontiguousarray(np.broadcast_to(array, (*lead, *array.shape[-2:])))
    return Sensitivities(arrays, links)


def _wanted(chain: Chain, wrt: object) -> dict[str, tuple[str, ...]]:
    """Names, and the links that come with them."""
    items = [wrt] if isinstance(wrt, str) else as_list(wrt)
    expected = "expected some of " + ", ".join(repr(name) for name in _KNOWN)
    if items is None:
        raise TypeError(f"derivatives: wrt is {_show(wrt)}, {expected}")
    if not items:
        raise ValueError(f"derivatives: wrt is empty, {expected}")
    wanted: dict[str, tuple[str, ...]] = {}
    for item in items:
        name: Any = item
        chosen: list[Any] = []
        if not isinstance(item, str):
            pair = as_list(item)
            if pair is None or len(pair) != 2 or pair[0] not in ("parameters", "external"):
                raise TypeError(f"derivatives: wrt has {_show(item)}, {expected}, or a pair ('parameters', links)")
            name = pair[0]
            found = [pair[1]] if isinstance(pair[1], str) else as_list(pair[1])
            if not found:
                raise TypeError(f"derivatives: wrt has {name!r} with {_show(pair[1])}, expected names of links")
            chosen = found
        if name not in _KNOWN:
            raise ValueError(f"derivatives: wrt has {_show(name)}, {expected}{did_you_mean(name, _KNOWN)}")
        if name in wanted:
            raise ValueError(f"derivatives: wrt has {name!r} twice")
        for link in chosen:
            if not isinstance(link, str) or link not in chain.link_names:
                hint = did_you_mean(link, chain.link_names)
                raise ValueError(f"derivatives: wrt names the link {_show(link)}, which is not in the model{hint}")
        wanted[name] = tuple(chosen)
    return wanted
