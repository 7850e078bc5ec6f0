"""Loads along an arm and their extremes over many states: `Chain.load_diagram`, `Chain.load_envelope`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import Array, MaybeNone, _show, as_amount, as_array, as_integer, did_you_mean
from .._extras import optional
from .._html import html_table
from ..model.section import COMPONENTS, Bar, Section, stress_of

if TYPE_CHECKING:
    from ..model.chain import Chain

__all__ = ["LoadDiagram", "LoadEnvelope", "load_diagram", "load_envelope"]


class _Resultants:
    """The six components by name."""

    values: Array

    @property
    def N(self) -> Array:
        """Normal force, N, tension positive."""
        return self.values[..., 0]

    @property
    def Qy(self) -> Array:
        """Shear force along y, N."""
        return self.values[..., 1]

    @property
    def Qz(self) -> Array:
        """Shear force along z, N."""
        return self.values[..., 2]

    @property
    def T(self) -> Array:
        """Torque, N m."""
        return self.values[..., 3]

    @property
    def My(self) -> Array:
        """Bending moment about y, N m."""
        return self.values[..., 4]

    @property
    def Mz(self) -> Array:
        """Bending moment about z, N m."""
        return self.values[..., 5]

    @property
    def Q(self) -> Array:
        """Size of the shear force, N."""
        return np.hypot(self.Qy, self.Qz)

    @property
    def M(self) -> Array:
        """Size of the bending moment, N m."""
        return np.hypot(self.My, self.Mz)


@dataclass(frozen=True, eq=False)
class LoadDiagram(_Resultants):
    """Stress resultants along an arm; made by `Chain.load_diagram`.

    Attributes
    ----------
    position : (P,) array, m
        Way along the arm, from joint to joint; a joint stands there twice, as the end of a link and as the beginning of
        the next.
    values : (..., P, 6) array, N and N m
        N, Qy, Qz, T, My, Mz in the axes of each link's sections; also by name, and `Q`, `M` for the sizes of shear
        force and bending moment, (..., P).
    sections : tuple of P Section
    links : tuple of P str
        The link of each section.
    """

    position: Array
    values: Array
    sections: tuple[Section, ...]

    @property
    def links(self) -> tuple[str, ...]:
        """The link of each section."""
        return tuple(section.link for section in self.sections)

    def plot(self, axes: Any = None, *, state: int | tuple[int, ...] = 0) -> Any:
        """Draw forces and moments along the arm. Needs matplotlib (``zveno[plot]``).

        Parameters
        ----------
        axes : pair of Axes, optional
            For forces and for moments. Default: a new figure.
        state : int or tuple of int
            Which state of a batch.

        Returns
        -------
        figure : matplotlib Figure

        Examples
        --------
        >>> import zveno as zv
        >>> arm = zv.robots.two_link()
        >>> figure = arm.load_diagram([0.3, 0.4], [0, 0], [0, 0]).plot()
        >>> [ax.get_ylabel() for ax in figure.axes]
        ['force, N', 'moment, N m']
        """
        return optional("zveno.plot.section_loads", "LoadDiagram.plot", "matplotlib").plot_diagram(self, axes, state)

    def __repr__(self) -> str:
        return "\n".join([self._title(), *(f"  {name:<2} {text}" for name, text in self._rows())])

    def _title(self) -> str:
        lead = self.values.shape[:-2]
        states = f"{lead} states" if lead else "one state"
        reach = f"{float(self.position[-1]):.4g} m" if len(self.position) else "nothing"
        return f"LoadDiagram({len(self.position)} sections over {reach}, {states})"

    def _rows(self) -> list[tuple[str, str]]:
        rows = []
        for k, (name, unit) in enumerate(COMPONENTS.items()):
            part = self.values[..., k]
            if not part.size:
                continue
            at = int(np.abs(part).reshape(-1, part.shape[-1]).max(axis=0).argmax())
            where = f", largest at {float(self.position[at]):.4g} m, link {_show(self.links[at])}"
            rows.append((name, f"{part.min():.4g} to {part.max():.4g} {unit}" + (where if part.any() else "")))
        return rows

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._rows(), ("", "range"))


@dataclass(frozen=True, eq=False)
class LoadEnvelope:
    """Extremes of stress resultants over many states; made by `Chain.load_envelope`.

    Attributes
    ----------
    sections : tuple of k Section
    states : int
        How many there were; states of a batch of several dimensions are counted in C order.
    max, min : (k, 6) array, N and N m
        Largest and smallest N, Qy, Qz, T, My, Mz of each section.
    at_max, at_min : (k, 6) array of int
        States where they occur, the first of them.
    von_mises : (k,) array, Pa
        Largest equivalent stress, NaN for sections without a cross-section.
    at_von_mises : (k,) array of int
        -1 for sections without a cross-section.
    utilisation : (k,) array or None
        von_mises by the yield strength, if that was given.
    time : (states,) array, s, or None
    """

    sections: tuple[Section, ...]
    states: int
    max: Array
    min: Array
    at_max: NDArray[np.intp]
    at_min: NDArray[np.intp]
    von_mises: Array
    at_von_mises: NDArray[np.intp]
    utilisation: MaybeNone
    time: Array | None

    @property
    def largest(self) -> dict[str, tuple[float, int, int]]:
        """By component: the value of the largest size, its section and its state."""
        found = {}
        for k, name in enumerate(COMPONENTS):
            high, low = self.max[:, k], self.min[:, k]
            section = int(np.maximum(np.abs(high), np.abs(low)).argmax())
            upper = abs(high[section]) >= abs(low[section])
            where = (self.at_max if upper else self.at_min)[section, k]
            found[name] = float((high if upper else low)[section]), section, int(where)
        return found

    def _when(self, state: int) -> str:
        return f"#{state}" if self.time is None else f"{float(self.time[state]):.4g} s"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        stressed = bool((self.at_von_mises >= 0).any())
        header = ["section", *(f"{name}, {unit}" for name, unit in COMPONENTS.items())]
        header += ["von Mises, MPa"] if stressed else []
        rows = []
        for i, section in enumerate(self.sections):
            place = ", ".join(f"{x:.4g}" for x in section.point.tolist())
            for what, value, at in (("max", self.max, self.at_max), ("min", self.min, self.at_min)):
                row = [f"{section.link} ({place}) {what}"]
                row += [f"{value[i, k]:.4g} at {self._when(at[i, k])}" for k in range(6)]
                if stressed:
                    known = what == "max" and self.at_von_mises[i] >= 0
                    row.append(f"{self.von_mises[i] / 1e6:.4g} at {self._when(self.at_von_mises[i])}" if known else "")
                rows.append(row)
        return header, rows

    def _title(self) -> str:
        return f"LoadEnvelope({len(self.sections)} sections, {self.states} states)"

    def __repr__(self) -> str:
        header, rows = self._table()
        shown = [header, *rows[:40]]
        widths = [max(len(row[i]) for row in shown) for i in range(len(header))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in shown]
        more = [f"and {len(self.sections) - 20} more sections"] if len(rows) > 40 else []
        return "\n".join([self._title(), *("  " + line.rstrip() for line in lines), *more])

    def _repr_html_(self) -> str:
        header, rows = self._table()
        return html_table(self._title(), rows, header)


def _longest_path(chain: Chain) -> list[str]:
    """Names from the base to the link with most links before it, the first of several."""
    parents = {link.name: link.parent for link in chain.links}

    def path(name: str | None) -> list[str]:
        found: list[str] = []
        while name is not None and name in parents:
            found.append(name)
            name = parents[name]
        return found[::-1]

    return max((path(name) for name in parents), key=len)


def _segments(chain: Chain, names: Sequence[str]) -> list[tuple[str, Array]]:
    """Links that have a length, and where they end in their own axes."""
    found = []
    links = {link.name: link for link in chain.links}
    for k, name in enumerate(names):
        following = names[k + 1] if k + 1 < len(names) else None
        children = {child.name: child.position for child in chain.links if child.parent == name}
        link = links[name]
        if following in children:
            end = children[following]
        elif children:
            end = max(children.values(), key=lambda x: float(np.linalg.norm(x)))
        elif link.mass and link.com.any():  # a last link: to the end of its mass
            along = link.com / np.linalg.norm(link.com)
            end = along * Bar(link, along).ends[1]
        else:
            end = np.zeros(3)
        if float(np.linalg.norm(end)) > 1e-9:
            found.append((name, end))
    return found


def load_diagram(
    chain: Chain,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    links: Iterable[str] | None = None,
    points: int = 50,
    *,
    external: dict[str, Any] | None = None,
    base_motion: ArrayLike | None = None,
    parts: Literal["total", "static", "dynamic"] = "total",
    external_frame: Literal["world", "link"] = "world",
) -> LoadDiagram:
    """Stress resultants along the arm: normal and shear forces, torque and bending moments.

    Every link is cut between its origin and the joint of the next one, its mass spread evenly: see `Section` with
    ``far="uniform"``. Links without a length are left out; what they carry appears at the joint before them.

    Parameters
    ----------
    q, qd, qdd : (..., n) array
        Joint coordinates, rates and accelerations.
    links : iterable of str, optional
        Links in their order along the arm. Default: from the base to the link with the most links before it.
    points : int
        Sections of each link, both ends included.
    external, base_motion, parts, external_frame
        See `section_load`.

    Returns
    -------
    diagram : LoadDiagram
        Attributes position (P,), values (..., P, 6), N, Qy, Qz, T, My, Mz, Q, M (..., P); ``.plot()`` draws them.

    See Also
    --------
    section_load : one section with a given far part.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()  # two rods of 1 kg and 1 m, level
    >>> diagram = arm.load_diagram([0, 0], [0, 0], [0, 0], points=3)
    >>> for x, force, moment in zip(diagram.position, diagram.Qz, diagram.My):
    ...     print(f"{x:.1f} m  {force:7.3f} N  {moment:6.3f} N m")
    0.0 m  -19.620 N  19.620 N m
    0.5 m  -14.715 N  11.036 N m
    1.0 m   -9.810 N   4.905 N m
    1.0 m   -9.810 N   4.905 N m
    1.5 m   -4.905 N   1.226 N m
    2.0 m    0.000 N   0.000 N m
    """
    count = as_integer("load_diagram", "points", points, 2, 100_000)
    if links is None:
        names = _longest_path(chain)
    elif isinstance(links, str):
        names = [links]
    elif isinstance(links, Iterable):
        names = list(links)
    else:
        raise TypeError(f"load_diagram: links is {_show(links)}, expected names of links")
    for name in names:
        if name not in chain.link_names:
            hint = did_you_mean(name, chain.link_names)
            raise ValueError(f"load_diagram: no link {_show(name)} in chain '{chain.name}'{hint}")
    sections: list[Section] = []
    position: list[float] = []
    start = 0.0
    for name, end in _segments(chain, names):
        size = float(np.linalg.norm(end))
        for part in np.linspace(0.0, 1.0, count).tolist():
            sections.append(Section(name, end * part, end))
            position.append(start + part * size)
        start += size
    if not sections:
        raise ValueError(f"load_diagram: no link of {_show(names)} has a length")
    how: dict[str, Any] = {"parts": parts, "external_frame": external_frame}
    loads = [chain.section_load(q, qd, qdd, section, external, base_motion, **how) for section in sections]
    return LoadDiagram(np.array(position), 0.0 - np.stack(loads, axis=-2), tuple(sections))


def load_envelope(
    chain: Chain,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    sections: Section | Iterable[Section],
    *,
    time: ArrayLike | None = None,
    yield_strength: float | None = None,
    external: dict[str, Any] | None = None,
    base_motion: ArrayLike | None = None,
    parts: Literal["total", "static", "dynamic"] = "total",
    external_frame: Literal["world", "link"] = "world",
    threads: int | None = None,
) -> LoadEnvelope:
    """Extremes of the stress resultants in sections over many states, and where they occur.

    Parameters
    ----------
    q, qd, qdd : (..., n) array
        Joint coordinates, rates and accelerations of the states.
    sections : Section or iterable of Section
    time : (...) array, s, optional
        Of the states, to be shown.
    yield_strength : float, Pa, optional
        What the equivalent stress of sections with a cross-section is compared with.
    external, base_motion, parts, external_frame, threads
        See `section_load`.

    Returns
    -------
    envelope : LoadEnvelope
        Attributes max, min (k, 6), at_max, at_min, von_mises (k,), at_von_mises, utilisation, largest.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()
    >>> t = np.linspace(0, 1, 1001)
    >>> q = np.stack([np.sin(5 * t), 0 * t], axis=-1)
    >>> qd, qdd = np.gradient(q, t, axis=0), -25 * q
    >>> root = zv.Section("upper", (0, 0, 0), cross_section=zv.sections.Tube(0.03, 0.002))
    >>> found = arm.load_envelope(q, qd, qdd, root, time=t, yield_strength=250e6)
    >>> value, section, state = found.largest["My"]
    >>> # 8/3 kg m^2 with 25 rad/s^2, and 2 kg at cos(1) m
    >>> print(f"{value:.1f} N m at {t[state]:.3f} s, {found.utilisation[0]:.0%} of the yield strength")
    77.3 N m at 0.314 s, 6% of the yield strength
    """

    def fail(text: str) -> NoReturn:
        raise ValueError(f"load_envelope: {text}")

    if not isinstance(sections, Iterable) and not isinstance(sections, Section):
        raise TypeError(f"load_envelope: sections is {_show(sections)}, expected a Section or several")
    wanted = (sections,) if isinstance(sections, Section) else tuple(sections)
    if not wanted:
        fail("sections is empty, expected at least one")
    for section in wanted:
        if not isinstance(section, Section):
            raise TypeError(f"load_envelope: sections has {_show(section)}, expected a Section")
    limit = None if yield_strength is None else as_amount(yield_strength, fail, "yield_strength", positive=True)
    size = len(wanted)
    high, low = np.empty((size, 6)), np.empty((size, 6))
    at_high, at_low = np.empty((size, 6), np.intp), np.empty((size, 6), np.intp)
    stress, at_stress = np.full(size, np.nan), np.full(size, -1, np.intp)
    loads: Array | None = None
    how: dict[str, Any] = {"parts": parts, "external_frame": external_frame, "threads": threads}
    for i, section in enumerate(wanted):
        loads = chain.section_load(q, qd, qdd, section, external, base_motion, out=loads, **how)
        values = 0.0 - loads.reshape(-1, 6)  # no negative zeros
        if not len(values):
            fail("there are no states")
        at_high[i], at_low[i] = values.argmax(axis=0), values.argmin(axis=0)
        high[i], low[i] = (values[at[i], np.arange(6)] for at in (at_high, at_low))
        if section.cross_section is not None:
            equivalent = stress_of(section.cross_section, values, None).von_mises
            at_stress[i] = equivalent.argmax()
            stress[i] = equivalent[at_stress[i]]
    states = len(values)
    times = None
    if time is not None:
        times = as_array(time, fail, "time", (states,), loads.shape[:-1] if loads is not None else ()).reshape(-1)
    used = None if limit is None else stress / limit
    return LoadEnvelope(wanted, states, high, low, at_high, at_low, stress, at_stress, used, times)
