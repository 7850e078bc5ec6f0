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
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any, Final, Literal, NoReturn, Unpack
from xml.sax.saxutils import quoteattr

import numpy as np

from .._check import Fail, _show, as_list
from .._output import checked_path, replacing
from ..codegen.c import identifier
from ..codegen.footprint import FLAGS, find_compiler
from ..model import Chain, Hexapod
from .description import Channel, Description, RigOptions, describe
from .fmi_c import COMMON, FMI2, FMI3
from .step import StepCode, step_code

__all__ = ["export_fmu"]

# platform tuples of FMI 3, folders of FMI 2, targets of Zig, endings
PLATFORMS: Final[dict[str, tuple[str | None, str, str]]] = {
    "x86_64-linux": ("linux64", "x86_64-linux-gnu.2.17", ".so"),
    "aarch64-linux": (None, "aarch64-linux-gnu.2.17", ".so"),
    "x86_64-windows": ("win64", "x86_64-windows-gnu", ".dll"),
    "x86_64-darwin": ("darwin64", "x86_64-macos", ".dylib"),
    "aarch64-darwin": (None, "aarch64-macos", ".dylib"),
}
PATIENCE: Final = 600.0  # seconds for a compiler
OPTIMISATION: Final = "-O2"
_UNITS: Final[dict[str, dict[str, int]]] = {
    "s": {"s": 1},
    "m": {"m": 1},
    "rad": {"rad": 1},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "m/s": {"m": 1, "s": -1},
    "rad/s": {"rad": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "rad/s2": {"rad": 1, "s": -2},
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
}


def export_fmu(
    model: Chain | Hexapod,
    path: str | os.PathLike[str],
    *,
    fmi: Literal[2, 3] = 3,
    step: float = 1e-3,
    name: str | None = None,
    platforms: str | Sequence[str] = "native",
    **options: Unpack[RigOptions],
) -> Path:
    """Write a mechanism as an FMU: sources that need nothing but a C compiler, and binaries.

    Parameters
    ----------
    model : Chain or Hexapod
        Hexapods without custom legs.
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
    **options
        `substeps`, `method`, `laws`, start, `external`, `poses`, `base_motion`: those of `save_rig`.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        A platform needs a compiler that is not there, or version 2 has no name for it.

    Notes
    -----
    Co-simulation; chains whose laws have no internal states also model exchange. Inputs are held over a step. Results
    have the bits of `Stepper` and of ``simulate``. States can be saved, restored and serialised. A step that cannot be
    made is discarded: the state is that of the last one. Version 3 has arrays, version 2 scalars ``q[1]``, ....

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

    if isinstance(fmi, bool) or fmi not in (2, 3):
        fail(f"fmi is {_show(fmi)}, expected 2 or 3")
    if name is not None and not (isinstance(name, str) and re.search("[0-9A-Za-z]", name)):
        fail(f"name is {_show(name)}, expected a name with letters or digits")
    for key in ("period", "most_held", "jump"):
        if key in options:
            fail(f"{key} is given; {'step= is the communication step' if key == 'period' else 'an FMU has none'}")
    target = checked_path("export_fmu", path, ".fmu")
    wanted = _platforms(platforms, fmi, fail)
    described = describe("export_fmu", model, {**options, "period": step})
    word = identifier(name or re.sub(r"[(].*?[)]", "", model.name).strip())
    # the steps of an FMU are those of its integrator
    code = step_code(replace(described, period=described.step, substeps=1), f"{word}_model")
    unit = _Unit(code, described, name or model.name, word, fmi)
    files = unit.files()
    for tuple_ in wanted:
        folder = tuple_ if fmi == 3 else PLATFORMS[tuple_][0]
        files[f"binaries/{folder}/{word}{PLATFORMS[tuple_][2]}"] = _compiled(unit, tuple_, fail)
    with replacing(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in sorted(files, key=lambda entry: (entry != "modelDescription.xml", entry)):
            info = zipfile.ZipInfo(entry)  # of no time: the same model gives the same bytes
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            content = files[entry]
            archive.writestr(info, content.encode() if isinstance(content, str) else content)
    return Path(target)


def native_platform() -> str | None:
    """The tuple of this machine; None if there is no name for it."""
    machine = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}
    system = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
    found = f"{machine.get(platform.machine().lower())}-{system.get(sys.platform)}"
    return found if found in PLATFORMS else None


def _platforms(platforms: Any, fmi: int, fail: Fail) -> list[str]:
    if platforms == "source":
        return []
    known = [name for name, (folder, _, _) in PLATFORMS.items() if fmi == 3 or folder is not None]
    own = native_platform()
    if platforms == "native":
        if own is None or own not in known:
            fail(f"version {fmi} has no name for this machine; give platforms='source'")
        return [own]
    if platforms == "all":
        return known
    listed = None if isinstance(platforms, str) else as_list(platforms)
    if not listed or any(not isinstance(x, str) or x not in known for x in listed):
        fail(f"platforms is {_show(platforms)}, expected 'native', 'source', 'all' or some of {', '.join(known)}")
    return list(dict.fromkeys(listed))


def _compiled(unit: _Unit, target: str, fail: Fail) -> bytes:
    """A shared library for a platform."""
    own = target == native_platform()
    compiler = find_compiler() if own else None
    if compiler is None:
        if subprocess.run([sys.executable, "-m", "ziglang", "version"], capture_output=True, check=False).returncode:
            what = "a C compiler (cc), or Zig" if own else "Zig"
            hint = "pip install 'zveno[fmi-cross]'; platforms='source' writes sources alone"
            fail(f"platform {target} needs {what}: {hint}")
        compiler = [sys.executable, "-m", "ziglang", "cc", "-target", PLATFORMS[target][1]]
    ending = PLATFORMS[target][2]
    with tempfile.TemporaryDirectory(prefix="zveno-fmu-") as folder:
        for entry, text in unit.sources().items():
            Path(folder, entry).write_text(text, encoding="utf-8", newline="\n")
        library = Path(folder, unit.word + ending)
        flags = ["-std=c99", OPTIMISATION, *FLAGS, "-fvisibility=hidden", "-shared"]
        flags += [] if "windows" in target else ["-fPIC"]
        command = [*compiler, *flags, *unit.c_files, "-o", library.name, "-lm", *([] if own else ["-g0"])]
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

    def __init__(self, code: StepCode, described: Description, title: str, word: str, fmi: int) -> None:
        self.code, self.description, self.title, self.word, self.fmi = code, described, title, word, fmi
        self.c_files = (f"{code.name}.c", f"{word}_fmi{fmi}.c")
        model = described.model
        # states that are no variables cannot be exchanged
        self.exchange = isinstance(model, Chain) and code.states == 2 * model.n
        self.start = np.concatenate([np.ravel(x) for x in described.start.values()])
        self.variables: list[tuple[Channel, str]] = [
            *((x, "input") for x in described.inputs),
            *((x, "output") for x in described.outputs),
        ]
        self.token = "{" + code.digest[:8] + "-" + "-".join(
            code.digest[i : i + 4] for i in (8, 12, 16)
        ) + "-" + code.digest[20:32] + f"{fmi}" + "}"  # fmt: skip

    # ---- C

    def sources(self) -> dict[str, str]:
        places, at = ["{0u, 1u}"], 1
        for channel, _ in self.variables:
            places.append(f"{{{at}u, {channel.size}u}}")
            at += channel.size
        values = {
            "step": self.code.name,
            "STEP": self.code.name.upper(),
            "token": self.token,
            "derived": 2 * self.description.model.n if isinstance(self.description.model, Chain) else 0,
            "exchange": int(self.exchange),
            "variables": len(places),
            "places": ", ".join(places),
        }
        head = f"/* FMI {self.fmi}.0 of {self.code.name}: generated code. */\n"
        text = head + Template(COMMON + (FMI3 if self.fmi == 3 else FMI2)).substitute(values)
        return {
            f"{self.code.name}.c": self.code.source,
            f"{self.code.name}.h": self.code.header,
            self.c_files[1]: text,
        }

    # ---- XML

    def files(self) -> dict[str, str | bytes]:
        files: dict[str, str | bytes] = {f"sources/{name}": text for name, text in self.sources().items()}
        files["modelDescription.xml"] = self._three() if self.fmi == 3 else self._two()
        if self.fmi == 3:
            listed = "".join(f'\n      <SourceFile name="{name}"/>' for name in self.c_files)
            files["sources/buildDescription.xml"] = (
                '<?xml version="1.0" encoding="UTF-8"?>\n<fmiBuildDescription fmiVersion="3.0">\n'
                f'  <BuildConfiguration modelIdentifier="{self.word}">\n    <SourceFileSet language="C99">{listed}\n'
                "    </SourceFileSet>\n  </BuildConfiguration>\n</fmiBuildDescription>\n"
            )
        return files

    def units(self, channel: Channel) -> list[str]:
        """Of each number."""
        model, name, size = self.description.model, channel.name, channel.size
        if name in ("q", "qd", "qdd", "tau", "drive.reference", "stroke", "stroke_rate", "leg_force"):
            if isinstance(model, Hexapod):
                turns = [leg.unit == "rad" for leg in model.legs]
            else:
                turns = [kind == "revolute" for kind in (link.joint for link in model.links) if kind != "fixed"]
            kinds = {
                "q": 0,
                "stroke": 0,
                "drive.reference": 0,
                "qd": 1,
                "stroke_rate": 1,
                "qdd": 2,
                "tau": 3,
                "leg_force": 3,
            }
            pair = (("m", "rad"), ("m/s", "rad/s"), ("m/s2", "rad/s2"), ("N", "N.m"))[kinds[name]]
            return [pair[turn] for turn in turns]
        if name == "base_motion":
            return ["m/s2"] * 3 + ["rad/s"] * 3 + ["rad/s2"] * 3
        if name == "ring.twist":
            return ["m/s"] * 3 + ["rad/s"] * 3
        if name == "ring.acceleration":
            return ["m/s2"] * 3 + ["rad/s2"] * 3
        if name in ("wrench", "base_wrench") or name.startswith("external."):
            return ["N"] * 3 + ["N.m"] * 3
        return [channel.unit] * size

    def direct(self, channel: Channel) -> bool:
        """Whether an output answers to inputs at once."""
        return channel.name in ("qdd", "base_wrench", "ring.acceleration", "leg_force")

    def exact(self, at: int) -> bool:
        """Whether the output at this place is a start value."""
        return at < len(self.start)

    @staticmethod
    def spelled(name: str) -> str:
        """A name in the structured convention: words that are no identifiers stand in quotes."""
        first, *rest = name.split(".", 1)
        if not rest:
            return name
        middle, *end = rest[0].rsplit(".", 1) if first == "pose" else (rest[0],)
        if not re.fullmatch(r"[A-Za-z_]\w*", middle, re.ASCII):
            text = re.sub(r"[^\x20-\x7e]", "_", middle).replace("\\", "\\\\").replace("'", "\\'")
            middle = f"'{text}'"
        return ".".join([first, middle, *end])

    def text_of(self, channel: Channel) -> str:
        known = _TEXTS.get(channel.name) or _TEXTS[channel.name.partition(".")[0]]
        return f"{known}, {channel.unit}"

    def _head(self, token: str, extra: str) -> str:
        from .. import __version__

        note = self.description.model.note
        text = f"{self.title}: {self.description.method}, integrator step {self.description.step!r} s"
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<fmiModelDescription fmiVersion="{self.fmi}.0" modelName={quoteattr(_ascii(self.title))} '
            f'{token}="{self.token}"\n'
            f"    description={quoteattr(_ascii(text + (f' ({note})' if note else '')))}\n"
            f'    generationTool="zveno {__version__}" variableNamingConvention="structured"{extra}>\n'
        )

    def _unit_definitions(self) -> str:
        used = {"s"} | {unit for channel, _ in self.variables for unit in self.units(channel)}
        lines = []
        for unit in sorted(used):
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
        references = {channel.name: k + 1 for k, (channel, _) in enumerate(self.variables)}
        inputs = [references[channel.name] for channel, causality in self.variables if causality == "input"]
        outputs, unknowns, at = [], [], 0
        states = [references[name] for name in ("q", "qd")] if self.exchange else []
        for channel, causality in self.variables:
            reference = references[channel.name]
            attributes = f'name={quoteattr(self.spelled(channel.name))} valueReference="{reference}" '
            attributes += f'causality="{causality}" description={quoteattr(_ascii(self.text_of(channel)))}'
            units = set(self.units(channel))
            if len(units) == 1:
                attributes += f' unit="{units.pop()}"'
            start = None
            if causality == "input":
                start = [0.0] * channel.size
            else:
                if self.exact(at):
                    start = self.start[at : at + channel.size].tolist()
                attributes += f' initial="{"exact" if start else "calculated"}"'
                at += channel.size
                depends = [*(inputs if self.direct(channel) else []), *self._states_of(channel, references)]
                dependencies = f'dependencies="{" ".join(map(str, depends))}"'
                outputs.append(f'    <Output valueReference="{reference}" {dependencies}/>')
                if not start:
                    unknowns.append(f'    <InitialUnknown valueReference="{reference}"/>')
            derivative = {"qd": "q", "qdd": "qd"}.get(channel.name)
            if self.exchange and derivative:
                attributes += f' derivative="{references[derivative]}"'
            if start:
                attributes += f' start="{" ".join(repr(float(x)) for x in start)}"'
            if channel.size == 1:
                lines.append(f"    <Float64 {attributes}/>")
            else:
                lines.append(f'    <Float64 {attributes}><Dimension start="{channel.size}"/></Float64>')
        status = len(self.variables) + 1
        lines.append(
            f'    <Int32 name="status" valueReference="{status}" causality="output" variability="discrete" '
            'initial="calculated" description="0, or why the last step could not be made: 1 a leg cannot take the '
            'pose, 2 a number is not finite, 3 an input is not finite"/>'
        )
        outputs.append(f'    <Output valueReference="{status}"/>')
        unknowns.append(f'    <InitialUnknown valueReference="{status}"/>')
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

    def _states_of(self, channel: Channel, references: Mapping[str, int]) -> list[int]:
        """Value references of the states that an output depends on; of co-simulation alone none."""
        if not self.exchange:
            return []
        which = {"q": ("q",), "qd": ("qd",)}.get(
            channel.name, ("q",) if channel.name.startswith("pose.") else ("q", "qd")
        )
        return [references[name] for name in which]

    def _two(self) -> str:
        listed = "\n".join(f'      <File name="{name}"/>' for name in self.c_files)
        sources = f"    <SourceFiles>\n{listed}\n    </SourceFiles>\n"
        same = 'canGetAndSetFMUstate="true" canSerializeFMUstate="true"'
        kinds = ""
        if self.exchange:
            kinds += (
                f'  <ModelExchange modelIdentifier="{self.word}" {same} completedIntegratorStepNotNeeded="true">\n'
                f"{sources}  </ModelExchange>\n"
            )
        kinds += (
            f'  <CoSimulation modelIdentifier="{self.word}" {same} canHandleVariableCommunicationStepSize="true">\n'
            f"{sources}  </CoSimulation>\n"
        )
        lines = [
            '    <ScalarVariable name="time" valueReference="0" causality="independent" variability="continuous">'
            '<Real unit="s"/></ScalarVariable>'
        ]
        index: dict[str, int] = {}  # of the first scalar of a channel, from 1
        number = 1
        for channel, _ in self.variables:
            index[channel.name] = number + 1
            number += channel.size
        inputs = [
            index[channel.name] + k
            for channel, causality in self.variables
            if causality == "input"
            for k in range(channel.size)
        ]
        sizes = {channel.name: channel.size for channel, _ in self.variables}
        outputs, unknowns, derivatives, at, reference = [], [], [], 0, 1
        for channel, causality in self.variables:
            for k, unit in enumerate(self.units(channel)):
                name = self.spelled(channel.name) + (f"[{k + 1}]" if channel.size > 1 else "")
                attributes = f'name={quoteattr(name)} valueReference="{reference}" causality="{causality}" '
                attributes += f'variability="continuous" description={quoteattr(_ascii(self.text_of(channel)))}'
                real = f'unit="{unit}"'
                place = index[channel.name] + k
                derivative = {"qd": "q", "qdd": "qd"}.get(channel.name)
                if self.exchange and derivative:
                    real += f' derivative="{index[derivative] + k}"'
                if causality == "input":
                    real += ' start="0.0"'
                else:
                    exact = self.exact(at)
                    attributes += f' initial="{"exact" if exact else "calculated"}"'
                    if exact:
                        real += f' start="{float(self.start[at])!r}"'
                    depends = sorted(
                        [*(inputs if self.direct(channel) else []), *self._scalars_of(channel, k, index, sizes)]
                    )
                    dependencies = f'dependencies="{" ".join(map(str, depends))}"'
                    outputs.append(f'      <Unknown index="{place}" {dependencies}/>')
                    if self.exchange and derivative:
                        both = sorted([*inputs, *self._scalars_of(Channel("qdd", 1, ""), 0, index, sizes)])
                        own = both if channel.name == "qdd" else [place]
                        derivatives.append(f'      <Unknown index="{place}" dependencies="{" ".join(map(str, own))}"/>')
                    if not exact:
                        unknowns.append(f'      <Unknown index="{place}"/>')
                    at += 1
                lines.append(f"    <ScalarVariable {attributes}><Real {real}/></ScalarVariable>")
                reference += 1
        lines.append(
            f'    <ScalarVariable name="status" valueReference="{reference}" causality="output" variability="discrete" '
            'initial="calculated" description="0, or why the last step could not be made"><Integer/></ScalarVariable>'
        )
        outputs.append(f'      <Unknown index="{number + 1}"/>')
        unknowns.append(f'      <Unknown index="{number + 1}"/>')
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

    def _scalars_of(self, channel: Channel, k: int, index: Mapping[str, int], sizes: Mapping[str, int]) -> list[int]:
        if not self.exchange:
            return []
        if channel.name in ("q", "qd"):
            return [index[channel.name] + k]
        which = ("q",) if channel.name.startswith("pose.") else ("q", "qd")
        return [index[name] + j for name in which for j in range(sizes[name])]


def _ascii(text: str) -> str:
    """Text for XML: what is no printable character of ASCII becomes a question mark."""
    return re.sub(r"[^\x20-\x7e]", "?", text)
