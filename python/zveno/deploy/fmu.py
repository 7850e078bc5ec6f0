"""Functional mock-up units: a mechanism for the masters of rigs and for other simulators."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, Unpack
from xml.sax.saxutils import quoteattr

from .._check import Fail, _show, as_flag, as_list, as_number
from .._output import checked_path, replacing
from ..codegen.c import identifier
from ..codegen.footprint import FLAGS, find_compiler
from ..codegen.function import Level, as_level
from ..model import Chain, Hexapod, Linkage
from .c_math import MATH
from .description import LATE, LONGEST_PERIOD, Channel, Description, RigOptions, describe
from .dockings import docking_numbers
from .fmi_c import GENERATED, LIBRARY, VERSIONS, fmi_source
from .library import Stepper, c_library
from .library_step import library_files, library_step
from .sources import CHAINS, RINGS, library_sources
from .step import StepCode, step_code, turning_drives

if TYPE_CHECKING:
    from ..docking.scenario import Scenario

__all__ = ["export_fmu"]

# platform tuples of FMI 3, folders of FMI 2, targets of Zig, endings
PLATFORMS: Final[dict[str, tuple[str | None, str, str]]] = {
    "x86_64-linux": ("linux64", "x86_64-linux-gnu.2.17", ".so"),
    "aarch64-linux": (None, "aarch64-linux-gnu.2.17", ".so"),
    "x86_64-windows": ("win64", "x86_64-windows-gnu", ".dll"),
    "x86_64-darwin": ("darwin64", "x86_64-macos", ".dylib"),
    "aarch64-darwin": (None, "aarch64-macos", ".dylib"),
}
PATIENCE: Final = 1800.0  # seconds for a compiler: Zig makes the runtime of Windows first
OPTIMISATION: Final = "-O2"
_LONGEST_WORD: Final = 64
_UNITS: Final[dict[str, dict[str, int]]] = {
    "s": {"s": 1},
    "kg": {"kg": 1},
    "kg.m2": {"kg": 1, "m": 2},
    "m": {"m": 1},
    "rad": {"rad": 1},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "m/s": {"m": 1, "s": -1},
    "rad/s": {"rad": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "rad/s2": {"rad": 1, "s": -2},
    "N/m": {"kg": 1, "s": -2},
    "N.m/rad": {"kg": 1, "m": 2, "s": -2, "rad": -1},
    "N.s/m": {"kg": 1, "s": -1},
    "N.m.s/rad": {"kg": 1, "m": 2, "s": -1, "rad": -1},
    "s/m": {"s": 1, "m": -1},
    "s/rad": {"s": 1, "rad": -1},
    "N/m2": {"kg": 1, "m": -1, "s": -2},
    "N.s": {"kg": 1, "m": 1, "s": -1},
    "1": {},
}
_TEXTS: Final = {
    "tau": "efforts of the drives, besides those of the laws",
    "wrench": "on the ring at its centre of mass: force in base axes, moment in ring axes",
    "base_motion": "acceleration of the base's origin, angular velocity, angular acceleration, base axes",
    "q": "joint coordinates",
    "qd": "joint rates",
    "qdd": "joint accelerations",
    "base_wrench": "force and moment of the mechanism on its base about its origin, base axes",
    "energy": "kinetic and potential energy",
    "ring.position": "centre of mass of the ring, base axes",
    "ring.quaternion": "ring axes to base axes, scalar first",
    "ring.twist": "velocity in base axes, angular velocity in ring axes",
    "ring.acceleration": "their rates",
    "stroke": "coordinates of the drives",
    "stroke_rate": "their rates",
    "leg_force": "forces of the drives",
    "drive.reference": "references of the servos of the drives",
    "external": "wrench at the origin of the link, world axes",
    "pose": "pose of the link, world axes",
    "law": "number of the law of the drives",
    "move": "number of a motion of the drives",
    "gravity": "gravity, base axes",
    "payload.mass": "of what the last link carries",
    "payload.com": "its centre of mass in the frame of the link",
    "payload.inertia": "its inertia xx, xy, xz, yy, yz, zz about its centre of mass, axes of the link",
    "thrust": "of thrusters on vehicle A at its body's centre of mass, base axes",
    "phase_command": "0: phases follow each other by themselves; 1 to 4, or -1 for ready: that one is entered",
    "contact_wrench": "on the ring of A at the origin of its frame, its axes; instead of the contact of the model",
    "A": "vehicle A: base frame in inertial axes, angular velocity in base axes",
    "B": "vehicle B, as of A",
    "misalignment": "of the ports: place and rotation vector of B in axes of A",
    "relative_twist": "of the ports: velocity of B against A, axes of A",
    "interface_load": "of contact and latches on the ring of A at the origin of its frame, its axes",
    "contact_load": "the part of the contact",
    "penetration": "the deepest of the contact",
    "energy_error": "energy less its first value less all work",
    "phase": "0 ready, 1 attenuation, 2 alignment, 3 retraction, 4 hard mate",
    "latch_closed": "latches",
    "captured": "so many latches have closed as needed",
    "energy_observer": "energy that the contact has taken; below zero: it gave back more",
    "momentum_error": "change of momentum that no thruster explains",
    "conditions": "relative motion of the ports at the start",
    "contact": "number of the law of contact",
    "latch": "number of the latches",
    "factor": "by which a number of the model is multiplied",
}
_CONDITIONS: Final = (
    ("closing", 1, "m/s"), ("offset", 2, "m"), ("tilt", 2, "rad"), ("roll", 1, "rad"), ("lateral", 2, "m/s"),
    ("rate", 3, "rad/s"), ("gap", 1, "m"),
)  # fmt: skip
_FACTORS: Final = (
    "chaser_mass", "station_mass", "friction", "stiffness", "damping", "latch_gap", "latch_stiffness", "leg_force",
)  # fmt: skip
_PAIRS: Final = {
    "q": ("m", "rad"), "stroke": ("m", "rad"), "drive.reference": ("m", "rad"), "qd": ("m/s", "rad/s"),
    "stroke_rate": ("m/s", "rad/s"), "qdd": ("m/s2", "rad/s2"), "tau": ("N", "N.m"), "leg_force": ("N", "N.m"),
}  # fmt: skip
_STATES: Final = ("q", "qd", "ring.position", "ring.quaternion", "ring.twist")
_PLAIN: Final = {"N m": "N.m", "N s": "N.s"}


_ROTATION: Final = MATH[MATH.index("static void zv_rotation(") :].partition("\n}\n")[0] + "\n}"


@dataclass(frozen=True)
class _Variable:
    """A variable of the description, and where the C code keeps its numbers."""

    name: str
    size: int
    causality: str
    store: str
    first: int
    units: tuple[str, ...]
    text: str
    kind: str = "REAL"
    start: tuple[float, ...] | None = None
    least: float | None = None
    most: float | None = None

    @property
    def variability(self) -> str | None:
        """Of what is not continuous."""
        if self.causality == "parameter":
            return "tunable" if self.store == "TUNABLE" else "fixed"
        return None if self.kind == "REAL" else "discrete"


def export_fmu(
    model: Chain | Hexapod | Linkage | Scenario,
    path: str | os.PathLike[str],
    *,
    fmi: Literal[2, 3] = 3,
    step: float = 1e-3,
    name: str | None = None,
    platforms: str | Sequence[str] = "native",
    rotations: bool = False,
    level: Level = "strict",
    **options: Unpack[RigOptions],
) -> Path:
    """Write a mechanism as an FMU: sources that need nothing but a compiler, and binaries.

    Parameters
    ----------
    model : Chain, Hexapod, Linkage or docking.Scenario
        Sources are C99; those of linkages, dockings and hexapods with custom legs also zveno's library, C++17.
    path : path
        It must end in ``.fmu``.
    fmi : {3, 2}
        Version of the standard.
    step : float, s
        Communication step that is recommended; the integrator makes `substeps` of it. Any whole multiple of the
        integrator's step is taken.
    name : str, optional
        Of the model in its description. Default: that of the model.
    platforms : {"native", "source", "all"} or sequence of str
        Binaries besides the sources: for this machine, none, or for any of ``x86_64-linux``, ``aarch64-linux``,
        ``x86_64-windows``, ``x86_64-darwin``, ``aarch64-darwin``; those of other machines are made by Zig
        (``pip install "zveno[fmi-cross]"``).
    rotations : bool
        Outputs ``ring.rotation``, ...: the 3x3 matrix of every quaternion among the outputs.
    level : {"strict", "algebraic"}
        As of `export_step`; FMUs with zveno's library are strict.
    **options
        `substeps`, `method`, `laws`, start, `external`, `poses`, `base_motion`, `outputs`: those of `save_rig`.
        Coordinates and rates of the start are always among the outputs.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        A platform needs a compiler that is not there, or version 2 has no name for it.

    Notes
    -----
    Co-simulation; chains whose laws have no internal states also model exchange. Inputs are held over a step; in
    version 2 they may be straight lines too (``fmi2SetRealInputDerivatives``, order 1), of which each internal step
    holds its first value. Results have the bits of `Stepper` and of ``simulate``. States can be saved, restored and
    serialised. A step that cannot be made is discarded: the state is that of the last one. Version 3 has arrays,
    version 2 scalars ``q[1]``, ....

    Examples
    --------
    >>> import os, tempfile, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "ring.fmu")
    ...     made = zv.export_fmu(ring, path, step=1e-3, laws=zv.laws.SpringDamper(400.0, 80.0), platforms="source")
    ...     made.name
    'ring.fmu'
    """

    def fail(text: str) -> NoReturn:
        raise ValueError(f"export_fmu: {text}")

    if isinstance(fmi, bool) or not isinstance(fmi, int) or fmi not in (2, 3):
        fail(f"fmi is {_show(fmi)}, expected 2 or 3")
    if name is not None and not (isinstance(name, str) and re.search("[0-9A-Za-z]", name)):
        fail(f"name is {_show(name)}, expected a name with letters or digits")
    for key in ("period", "most_held", "jump"):
        if key in options:
            fail(f"{key} is given; {'step= is the communication step' if key == 'period' else 'an FMU has none'}")
    target = checked_path("export_fmu", path, ".fmu")
    parent = os.path.dirname(os.path.realpath(target))
    if not os.path.isdir(parent):
        raise FileNotFoundError(f"export_fmu: path is {target!r}, but there is no folder {parent!r}")
    if not os.access(parent, os.W_OK):
        raise PermissionError(f"export_fmu: path is {target!r}, but nothing may be written to {parent!r}")
    wanted = _platforms(platforms, fmi, fail)
    period = as_number(step, fail, "step")
    if not 0 < period <= LONGEST_PERIOD:
        fail(f"step is {period:g}, expected a number > 0 and at most {LONGEST_PERIOD:g}, s")
    described = describe("export_fmu", model, {**options, "period": period})
    if described.wanted:  # importers set the start at these
        wanted_too = [x.name for x in described.all_outputs if x.name in (*described.wanted, *_STATES)]
        described = replace(described, wanted=tuple(wanted_too))
    Stepper.__new__(Stepper)._open(
        "export_fmu", described.to_json().encode()
    )  # refuses a start that none can be made from
    title = name or described.name
    word = identifier(re.sub(r"[(].*?[)]", "", title).strip() or title)[:_LONGEST_WORD]  # names of files
    # the steps of an FMU are those of its integrator
    single = replace(described, period=described.step, substeps=1)
    by_library = not isinstance(model, Chain | Hexapod) or _has_custom_legs(model) or bool(described.sensor)
    if as_level("export_fmu", level) != "strict" and by_library:
        fail("level is 'algebraic', which an FMU with zveno's library cannot have: it has the library's kernels")
    code = (
        library_step(single, f"{word}_model")
        if by_library
        else step_code(single, f"{word}_model", tunable=True, level=level)
    )
    unit = _Unit(code, described, title, word, fmi, by_library, as_flag(rotations, fail, "rotations"))
    files = unit.files()
    for tuple_ in wanted:
        folder = tuple_ if fmi == 3 else PLATFORMS[tuple_][0]
        files[f"binaries/{folder}/{word}{PLATFORMS[tuple_][2]}"] = _compiled(unit, tuple_, fail)
        if by_library and _is_own(tuple_, by_library):
            files |= {f"binaries/{folder}/{entry}": content for entry, content in library_files().items()}
    with replacing(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in sorted(files, key=lambda entry: (entry != "modelDescription.xml", entry)):
            info = zipfile.ZipInfo(entry)  # of no time: the same model gives the same bytes
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            content = files[entry]
            archive.writestr(info, content.encode() if isinstance(content, str) else content)
    return Path(target)


def _has_custom_legs(model: Chain | Hexapod) -> bool:
    return isinstance(model, Hexapod) and any(leg.type == "custom" for leg in model.legs)


def native_platform() -> str | None:
    """The tuple of this machine; None if there is no name for it."""
    machine = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}
    system = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
    found = f"{machine.get(platform.machine().lower())}-{system.get(sys.platform)}"
    return found if found in PLATFORMS else None


def _is_own(target: str, by_library: bool) -> bool:
    """Whether this machine's C compiler makes the binary; with the library beside it, where that can be."""
    return target == native_platform() and not (by_library and sys.platform == "win32")


def _platforms(platforms: Any, fmi: int, fail: Fail) -> list[str]:
    word = platforms if isinstance(platforms, str) else None
    if word == "source":
        return []
    known = [name for name, (folder, _, _) in PLATFORMS.items() if fmi == 3 or folder is not None]
    own = native_platform()
    if word == "native":
        if own is None or own not in known:
            fail(f"version {fmi} has no name for this machine; give platforms='source'")
        return [own]
    if word == "all":
        return known
    listed = None if word is not None else as_list(platforms)
    if not listed or any(not isinstance(x, str) or x not in known for x in listed):
        fail(f"platforms is {_show(platforms)}, expected 'native', 'source', 'all' or some of {', '.join(known)}")
    return list(dict.fromkeys(listed))


def _compiled(unit: _Unit, target: str, fail: Fail) -> bytes:
    """A shared library for a platform."""
    own = _is_own(target, unit.by_library)
    compiler = find_compiler() if own else None
    whole = unit.by_library and not own  # with the library's sources
    if compiler is None:
        if subprocess.run([sys.executable, "-m", "ziglang", "version"], capture_output=True, check=False).returncode:
            what = "a C compiler (cc), or Zig" if own else "Zig"
            hint = "pip install 'zveno[fmi-cross]'; platforms='source' writes sources alone"
            fail(f"platform {target} needs {what}: {hint}")
        compiler = [sys.executable, "-m", "ziglang", "c++" if whole else "cc", "-target", PLATFORMS[target][1]]
    ending = PLATFORMS[target][2]
    with tempfile.TemporaryDirectory(prefix="zveno-fmu-") as folder:
        for entry, text in unit.sources().items():
            Path(folder, entry).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, entry).write_text(text, encoding="utf-8", newline="\n")
        library = Path(folder, unit.word + ending)
        flags = ["-std=c++17" if whole else "-std=c99", OPTIMISATION, *FLAGS, "-fvisibility=hidden", "-shared"]
        flags += [] if "windows" in target else ["-fPIC"]
        flags += [] if own else ["-g0"]
        listed, libraries = unit.listed if whole else unit.c_files, ["-lm"]
        if whole:
            flags += ["-I.", "-s", "-x", "c++"]
        elif unit.by_library:
            flags += [f'-DZVENO_BESIDE="{c_library().library.name}"']
            libraries += ["-ldl"]
        command = [*compiler, *flags, *listed, "-o", library.name, *libraries]
        environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": os.path.join(tempfile.gettempdir(), "zveno-zig")}
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment
            )
        except subprocess.TimeoutExpired:
            fail(f"the compiler of {target} did not end in {PATIENCE:g} s")
        if done.returncode or not library.exists():
            fail(f"the compiler of {target} failed: {done.stderr.strip()[-500:]}")
        strip = shutil.which("strip")
        if own and strip and sys.platform == "linux":
            subprocess.run([strip, "--strip-unneeded", library.name], cwd=folder, check=False)
        return library.read_bytes()


class _Unit:
    """The files of an FMU."""

    def __init__(
        self,
        code: StepCode,
        described: Description,
        title: str,
        word: str,
        fmi: int,
        by_library: bool,
        rotations: bool,
    ) -> None:
        self.code, self.description, self.title, self.word, self.fmi = code, described, title, word, fmi
        self.by_library, self.rotations = by_library, rotations
        self.c_files = (f"{code.name}.c", f"{word}_fmi{fmi}.c")
        more: list[str] = []
        self.library: dict[str, str] = {}
        if by_library:
            groups = CHAINS if isinstance(described.model, Chain | Linkage) else RINGS
            more, self.library = library_sources(groups, word)
        self.listed = (*self.c_files, *more)  # what is compiled
        model = described.model
        # states that are no variables cannot be exchanged
        self.exchange = (
            isinstance(model, Chain)
            and not by_library
            and code.states == 2 * model.n
            and {"q", "qd", "qdd"} <= {channel.name for channel in code.outputs}  # states and their rates
        )
        self.start = described.start_numbers
        self.docks = not isinstance(model, Chain | Hexapod | Linkage)
        self.variables = self._variables()
        self.token = "{" + code.digest[:8] + "-" + "-".join(
            code.digest[i : i + 4] for i in (8, 12, 16)
        ) + "-" + code.digest[20:32] + f"{fmi}" + "}"  # fmt: skip

    def _variables(self) -> list[_Variable]:
        """All but the time, in the order of their value references."""
        made: list[_Variable] = []
        at = 0
        for channel in self.code.inputs:
            kind, limits = ("WHOLE", (-1.0, 4.0)) if channel.name == "phase_command" else ("REAL", (None, None))
            zeros = (0.0,) * channel.size
            made.append(self._of(channel, "input", "INPUT", at, kind=kind, start=zeros, limits=limits))
            at += channel.size
        behind, at = at, 0
        kinds = {"phase": "WHOLE", "captured": "TRUTH", "latch_closed": "TRUTH"} if self.docks else {}
        for channel in self.code.outputs:
            exact = at < len(self.start) and not self.docks
            start = tuple(self.start[at : at + channel.size].tolist()) if exact else None
            made.append(self._of(channel, "output", "OUTPUT", at, kind=kinds.get(channel.name, "REAL"), start=start))
            if self.rotations and channel.name.endswith("quaternion"):
                name = channel.name.removesuffix("quaternion") + "rotation"
                text = f"matrix of {channel.name}"
                made.append(_Variable(name, 9, "output", "ROTATION", at, ("1",) * 9, text))
            at += channel.size
        text = "0, or why the last step could not be made"
        text += (
            ": a code of zveno.h without its sign"
            if self.by_library
            else ": 1 a leg cannot take the pose, 2 a number is not finite, 3 an input is not finite"
        )
        made.append(_Variable("status", 1, "output", "STATUS", 0, ("1",), text, kind="WHOLE"))
        for p in self.code.parameters:
            channel = Channel(p.name, len(p.values), ", ".join(dict.fromkeys(p.units)))
            made.append(
                replace(
                    self._of(channel, "parameter", "TUNABLE", behind, start=p.values, limits=(p.least, None)),
                    units=p.units,
                )
            )
            behind += len(p.values)
        if self.docks:
            at = 0
            named = [(f"conditions.{key}", size, unit, None) for key, size, unit in _CONDITIONS]
            for name, size, unit, least in [*named, *((f"factor.{key}", 1, "1", 5e-324) for key in _FACTORS)]:
                values = tuple(self.start[at : at + size].tolist())
                channel = Channel(name, size, unit)
                made.append(self._of(channel, "parameter", "FIXED", at, start=values, limits=(least, None)))
                at += size
            scenario: Any = self.description.model
            for _, p in docking_numbers(scenario):
                channel = Channel(p.name, len(p.values), p.units[0])
                made.append(
                    replace(
                        self._of(channel, "parameter", "FIXED", at, start=p.values, limits=(p.least, None)),
                        units=p.units,
                    )
                )
                at += len(p.values)
        return made

    def _of(
        self,
        channel: Channel,
        causality: str,
        store: str,
        first: int,
        *,
        kind: str = "REAL",
        start: tuple[float, ...] | None = None,
        limits: tuple[float | None, float | None] = (None, None),
    ) -> _Variable:
        units, text = tuple(self.units(channel)), self.text_of(channel)
        return _Variable(channel.name, channel.size, causality, store, first, units, text, kind, start, *limits)

    # ---- C

    def sources(self) -> dict[str, str]:
        rows, at = ["  {TIME, REAL, 0u, 0u, 1u, 0, -HUGE_VAL, HUGE_VAL}"], 1
        for v in self.variables:
            exact = int(v.store == "OUTPUT" and v.start is not None)
            least = "-HUGE_VAL" if v.least is None else repr(v.least)
            most = "HUGE_VAL" if v.most is None else repr(v.most)
            rows.append(f"  {{{v.store}, {v.kind}, {at}u, {v.first}u, {v.size}u, {exact}, {least}, {most}}}")
            at += v.size
        inputs = [x for v in self.variables if v.store in ("INPUT", "TUNABLE") for x in v.start or ()]
        values = {
            "step": self.code.name,
            "STEP": self.code.name.upper(),
            "token": self.token,
            "derived": 2 * self.description.model.n if isinstance(self.description.model, Chain) else 0,
            "exchange": int(self.exchange),
            "variables": len(rows),
            "places": ",\n".join(rows),
            "defaults": ", ".join(map(repr, inputs)),
            "rotation": _ROTATION,
        }
        where = LIBRARY if self.by_library else GENERATED
        values |= {key: Template(text).substitute(values) for key, text in where.items()}
        head = f"/* FMI {self.fmi}.0 of {self.code.name}: generated code. */\n"
        text = head + Template(fmi_source(self.fmi)).substitute(values | VERSIONS[self.fmi])
        return {
            f"{self.code.name}.c": self.code.source,
            f"{self.code.name}.h": self.code.header,
            self.c_files[1]: text,
            **self.library,
        }

    # ---- XML

    def files(self) -> dict[str, str | bytes]:
        files: dict[str, str | bytes] = {f"sources/{name}": text for name, text in self.sources().items()}
        files["modelDescription.xml"] = self._three() if self.fmi == 3 else self._two()
        if self.fmi == 3:
            listed = "".join(f'\n      <SourceFile name="{name}"/>' for name in self.listed)
            listed += '\n      <IncludeDirectory name="."/>' if self.by_library else ""
            language = "C++17" if self.by_library else "C99"  # what is C here is C++ too
            files["sources/buildDescription.xml"] = (
                '<?xml version="1.0" encoding="UTF-8"?>\n<fmiBuildDescription fmiVersion="3.0">\n'
                f'  <BuildConfiguration modelIdentifier="{self.word}">\n'
                f'    <SourceFileSet language="{language}">{listed}\n'
                "    </SourceFileSet>\n  </BuildConfiguration>\n</fmiBuildDescription>\n"
            )
        return files

    def units(self, channel: Channel) -> list[str]:
        """Of each number."""
        model, name, size = self.description.model, channel.name.removeprefix("B."), channel.size
        if name in _PAIRS:
            driven: Any = model.chain if isinstance(model, Linkage) else model
            if self.docks:
                vehicle = driven.station if channel.name.startswith("B.") else driven.chaser
                driven = vehicle.ring
            return [_PAIRS[name][turn] for turn in turning_drives(driven)]
        if name == "base_motion":
            return ["m/s2"] * 3 + ["rad/s"] * 3 + ["rad/s2"] * 3
        halves = {"ring.acceleration": ("m/s2", "rad/s2"), "misalignment": ("m", "rad")}
        if name.endswith("twist"):
            halves[name] = ("m/s", "rad/s")
        if name.endswith(("wrench", "_load")) or name.startswith("external."):
            halves[name] = ("N", "N.m")
        if name in halves:
            return [halves[name][0]] * 3 + [halves[name][1]] * 3
        return [_PLAIN.get(channel.unit, channel.unit)] * size

    def direct(self, v: _Variable) -> bool:
        """Whether an output answers to inputs at once."""
        return not self.by_library and v.name in LATE

    @staticmethod
    def spelled(name: str) -> str:
        """A name in the structured convention: words that are no identifiers stand in quotes."""
        first, *rest = name.split(".", 1)
        if not rest:
            return name
        middle, *end = (rest[0],)
        if first == "pose":
            middle, *end = rest[0].rsplit(".", 1)
        elif first == "law" and rest[0].count(".") > 1:  # the drive has a name
            middle, *end = rest[0].rsplit(".", 2)
        elif re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", rest[0], re.ASCII) and first != "external":
            return name
        if not re.fullmatch(r"[A-Za-z_]\w*", middle, re.ASCII):
            text = re.sub(r"[^\x20-\x7e]", "_", middle).replace("\\", "\\\\").replace("'", "\\'")
            middle = f"'{text}'"
        return ".".join([first, middle, *end])

    def text_of(self, channel: Channel) -> str:
        name = channel.name
        if name.startswith(("B.thrust", "B.law", "B.move")):
            name = name.removeprefix("B.")
        known = _TEXTS.get(name) or _TEXTS[name.partition(".")[0]]
        if channel.name.startswith("B.thrust"):
            known = known.replace("vehicle A", "vehicle B")
        return known if channel.unit == "1" else f"{known}, {channel.unit}"

    def _head(self, token: str, extra: str) -> str:
        from .. import __version__

        note = getattr(self.description.model, "note", "")
        text = f"{self.title}: {self.description.method}, integrator step {self.description.step!r} s"
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<fmiModelDescription fmiVersion="{self.fmi}.0" modelName={quoteattr(_ascii(self.title))} '
            f'{token}="{self.token}"\n'
            f"    description={quoteattr(_ascii(text + (f' ({note})' if note else '')))}\n"
            f'    generationTool="zveno {__version__}" variableNamingConvention="structured"{extra}>\n'
        )

    def _unit_definitions(self) -> str:
        used = {"s"} | {unit for v in self.variables if v.kind == "REAL" for unit in v.units}
        lines = []
        for unit in sorted(used):
            if unit not in _UNITS:  # of powers that are not whole
                lines.append(f'    <Unit name="{unit}"/>')
                continue
            powers = "".join(f' {base}="{power}"' for base, power in _UNITS[unit].items())
            lines.append(f'    <Unit name="{unit}"><BaseUnit{powers}/></Unit>')
        return "  <UnitDefinitions>\n" + "\n".join(lines) + "\n  </UnitDefinitions>\n"

    def _default(self) -> str:
        step = self.description.period
        return f'  <DefaultExperiment startTime="0" stopTime="{1000 * step!r}" stepSize="{step!r}"/>\n'

    @staticmethod
    def _log() -> str:
        return '  <LogCategories>\n    <Category name="logStatusError"/>\n  </LogCategories>\n'

    def _three(self) -> str:
        same = 'canGetAndSetFMUState="true" canSerializeFMUState="true"'
        kinds = ""
        if self.exchange:
            kinds += f'  <ModelExchange modelIdentifier="{self.word}" {same} needsCompletedIntegratorStep="false"/>\n'
        kinds += (
            f'  <CoSimulation modelIdentifier="{self.word}" {same} canHandleVariableCommunicationStepSize="true" '
            f'fixedInternalStepSize="{self.description.step!r}"/>\n'
        )
        lines = [
            '    <Float64 name="time" valueReference="0" causality="independent" variability="continuous" unit="s"/>'
        ]
        references = {v.name: k + 1 for k, v in enumerate(self.variables)}
        inputs = [references[v.name] for v in self.variables if v.causality == "input"]
        outputs, unknowns = [], []
        states = [references[name] for name in ("q", "qd")] if self.exchange else []
        tags = {"REAL": "Float64", "WHOLE": "Int32", "TRUTH": "Boolean"}
        for v in self.variables:
            reference = references[v.name]
            attributes = f'name={quoteattr(self.spelled(v.name))} valueReference="{reference}" '
            attributes += f'causality="{v.causality}" description={quoteattr(_ascii(v.text))}'
            if v.variability:
                attributes += f' variability="{v.variability}"'
            if v.kind == "REAL" and len(set(v.units)) == 1:
                attributes += f' unit="{v.units[0]}"'
            attributes += self._limits(v)
            if v.causality == "output":
                attributes += f' initial="{"exact" if v.start else "calculated"}"'
                depends = [*(inputs if self.direct(v) else []), *self._states_of(v.name, references)]
                dependencies = "" if v.store == "STATUS" else f' dependencies="{" ".join(map(str, depends))}"'
                outputs.append(f'    <Output valueReference="{reference}"{dependencies}/>')
                if not v.start:
                    unknowns.append(f'    <InitialUnknown valueReference="{reference}"/>')
            derivative = {"qd": "q", "qdd": "qd"}.get(v.name)
            if self.exchange and derivative:
                attributes += f' derivative="{references[derivative]}"'
            if v.start:
                attributes += f' start="{" ".join(_written(v.kind, x) for x in v.start)}"'
            tag = tags[v.kind]
            if v.size == 1:
                lines.append(f"    <{tag} {attributes}/>")
            else:
                sizes = (3, 3) if v.store == "ROTATION" else (v.size,)
                dimensions = "".join(f'<Dimension start="{size}"/>' for size in sizes)
                lines.append(f"    <{tag} {attributes}>{dimensions}</{tag}>")
        derivatives = []
        if self.exchange:
            derivatives = [
                f'    <ContinuousStateDerivative valueReference="{references[name]}" '
                f'dependencies="{" ".join(map(str, depends))}"/>'
                for name, depends in (("qd", [states[1]]), ("qdd", [*inputs, *states]))
            ]
        return (
            self._head("instantiationToken", "")
            + kinds
            + self._unit_definitions()
            + self._log()
            + self._default()
            + "  <ModelVariables>\n"
            + "\n".join(lines)
            + "\n  </ModelVariables>\n  <ModelStructure>\n"
            + "\n".join([*outputs, *derivatives, *unknowns])
            + "\n  </ModelStructure>\n</fmiModelDescription>\n"
        )

    @staticmethod
    def _limits(v: _Variable) -> str:
        """Attributes min and max of what is not any number; what is only positive says so in C."""
        pairs = (("min", v.least), ("max", v.most))
        return "".join(
            f' {key}="{_written(v.kind, x)}"' for key, x in pairs if x is not None and (x == 0 or abs(x) > 1e-300)
        )

    def _states_of(self, name: str, references: Mapping[str, int]) -> list[int]:
        """Value references of the states that an output depends on; of co-simulation alone none."""
        if not self.exchange or name == "status":
            return []
        which = {"q": ("q",), "qd": ("qd",)}.get(name, ("q",) if name.startswith("pose.") else ("q", "qd"))
        return [references[name] for name in which]

    def _two(self) -> str:
        listed = "\n".join(f'      <File name="{name}"/>' for name in self.listed)
        sources = f"    <SourceFiles>\n{listed}\n    </SourceFiles>\n"
        same = 'canGetAndSetFMUstate="true" canSerializeFMUstate="true"'
        kinds = ""
        if self.exchange:
            kinds += (
                f'  <ModelExchange modelIdentifier="{self.word}" {same} completedIntegratorStepNotNeeded="true">\n'
                f"{sources}  </ModelExchange>\n"
            )
        kinds += (
            f'  <CoSimulation modelIdentifier="{self.word}" {same} canHandleVariableCommunicationStepSize="true" '
            f'canInterpolateInputs="true">\n{sources}  </CoSimulation>\n'
        )
        lines = [
            '    <ScalarVariable name="time" valueReference="0" causality="independent" variability="continuous">'
            '<Real unit="s"/></ScalarVariable>'
        ]
        index: dict[str, int] = {}  # of the first scalar of a variable, from 1; value references are one less
        number = 2
        for v in self.variables:
            index[v.name] = number
            number += v.size
        inputs = [index[v.name] + k for v in self.variables if v.causality == "input" for k in range(v.size)]
        sizes = {v.name: v.size for v in self.variables}
        tags = {"REAL": "Real", "WHOLE": "Integer", "TRUTH": "Boolean"}
        outputs, unknowns, derivatives = [], [], []
        for v in self.variables:
            for k, unit in enumerate(v.units):
                place = index[v.name] + k
                place_in = f"{k // 3 + 1},{k % 3 + 1}" if v.store == "ROTATION" else f"{k + 1}"
                name = self.spelled(v.name) + (f"[{place_in}]" if v.size > 1 else "")
                attributes = f'name={quoteattr(name)} valueReference="{place - 1}" causality="{v.causality}" '
                attributes += f'variability="{v.variability or "continuous"}" description={quoteattr(_ascii(v.text))}'
                real = f' unit="{unit}"' if v.kind == "REAL" else ""
                real += self._limits(v)
                derivative = {"qd": "q", "qdd": "qd"}.get(v.name)
                if self.exchange and derivative:
                    real += f' derivative="{index[derivative] + k}"'
                if v.causality == "output":
                    attributes += f' initial="{"exact" if v.start else "calculated"}"'
                    depends = sorted([*(inputs if self.direct(v) else []), *self._scalars_of(v.name, k, index, sizes)])
                    dependencies = "" if v.store == "STATUS" else f' dependencies="{" ".join(map(str, depends))}"'
                    outputs.append(f'      <Unknown index="{place}"{dependencies}/>')
                    if self.exchange and derivative:
                        both = sorted([*inputs, *self._scalars_of("qdd", 0, index, sizes)])
                        own = both if v.name == "qdd" else [place]
                        derivatives.append(f'      <Unknown index="{place}" dependencies="{" ".join(map(str, own))}"/>')
                    if not v.start:
                        unknowns.append(f'      <Unknown index="{place}"/>')
                if v.start:
                    real += f' start="{_written(v.kind, v.start[k])}"'
                lines.append(f"    <ScalarVariable {attributes}><{tags[v.kind]}{real}/></ScalarVariable>")
        structure = "    <Outputs>\n" + "\n".join(outputs) + "\n    </Outputs>\n"
        if derivatives:
            structure += "    <Derivatives>\n" + "\n".join(derivatives) + "\n    </Derivatives>\n"
        structure += "    <InitialUnknowns>\n" + "\n".join(unknowns) + "\n    </InitialUnknowns>\n"
        return (
            self._head("guid", ' numberOfEventIndicators="0"')
            + kinds
            + self._unit_definitions()
            + self._log()
            + self._default()
            + "  <ModelVariables>\n"
            + "\n".join(lines)
            + "\n  </ModelVariables>\n  <ModelStructure>\n"
            + structure
            + "  </ModelStructure>\n</fmiModelDescription>\n"
        )

    def _scalars_of(self, name: str, k: int, index: Mapping[str, int], sizes: Mapping[str, int]) -> list[int]:
        if not self.exchange or name == "status":
            return []
        if name in ("q", "qd"):
            return [index[name] + k]
        which = ("q",) if name.startswith("pose.") else ("q", "qd")
        return [index[name] + j for name in which for j in range(sizes[name])]


def _written(kind: str, x: float) -> str:
    """A number as XML has it."""
    return repr(float(x)) if kind == "REAL" else str(int(x)) if kind == "WHOLE" else str(bool(x)).lower()


def _ascii(text: str) -> str:
    """Text for XML: what is no printable character of ASCII becomes a question mark."""
    return re.sub(r"[^\x20-\x7e]", "?", text)
