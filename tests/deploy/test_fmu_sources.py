"""Sources of FMUs that zveno's library computes: they compile anywhere, and have the bits of Python."""

import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import fmpy
import numpy as np
import pytest
import zveno as zv
from fmpy.validation import validate_fmu
from hexapod_models import pair
from test_fmu import column
from zveno import docking

ALONE = {"PATH": os.environ["PATH"], "LC_ALL": "C"}  # no CPATH, no CXXFLAGS


class Built:
    """An FMU whose binary is made from what its description names, and from nothing else."""

    def __init__(self, folder, made, model, fmi, **options):
        path = zv.export_fmu(model, folder / "unit.fmu", fmi=fmi, name="unit", platforms="source", **options)
        assert validate_fmu(str(path)) == []
        self.folder, self.fmi = folder / "unpacked", fmi
        fmpy.extract(str(path), unzipdir=str(self.folder))
        assert not (self.folder / "binaries").exists()
        self.sources, self.made = self.folder / "sources", made
        with ThreadPoolExecutor(2) as threads:
            objects, used = zip(*threads.map(self.compiled, self.listed()), strict=True)
        found = {str(x.relative_to(self.sources)) for x in self.sources.rglob("*") if x.is_file()}
        assert set().union(*used) == found - {"buildDescription.xml", "zveno/LICENSE"}
        assert "BSD 3-Clause" in (self.sources / "zveno" / "LICENSE").read_text()
        where = self.folder / "binaries" / ("linux64" if fmi == 2 else "x86_64-linux")
        where.mkdir(parents=True)
        command = ["c++", "-shared", *map(str, objects), "-Wl,-z,defs", "-o", str(where / "unit.so")]
        subprocess.run(command, check=True, env=ALONE)

    def listed(self):
        """By the description alone."""
        if self.fmi == 2:
            root = ElementTree.parse(self.folder / "modelDescription.xml").getroot()
            return [x.get("name") for x in root.findall("CoSimulation/SourceFiles/File")]
        root = ElementTree.parse(self.sources / "buildDescription.xml").getroot()
        (files,) = root.findall("BuildConfiguration/SourceFileSet")
        assert (files.get("language"), files.find("IncludeDirectory").get("name")) == ("C++17", ".")
        return [x.get("name") for x in files.findall("SourceFile")]

    def compiled(self, name):
        """The object, and the files of the sources that it was made from; the same text is compiled once."""
        text = (self.sources / name).read_text()
        if text not in self.made:
            result = self.folder.parent / f"{name}.o"
            command = ["c++", "-x", "c++", "-std=c++17", "-O0", "-fPIC", "-w", "-Wno-psabi", "-MMD", "-I", "."]
            command += ["-c", name, "-o", str(result)]
            done = subprocess.run(command, cwd=self.sources, env=ALONE, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr[-3000:]
            listed = shlex.split(result.with_suffix(".d").read_text().replace("\\\n", " "))[1:]
            assert not any(os.path.isabs(x) for x in listed)
            self.made[text] = result, {os.path.normpath(x) for x in listed}
        return self.made[text]

    def run(self, **settings):
        return fmpy.simulate_fmu(str(self.folder), **settings)


@pytest.fixture(scope="module")
def made():
    """Objects by the text that they were compiled from: libraries of FMUs of one name are the same."""
    return {}


@pytest.mark.sources
def test_sources_need_a_compiler_alone_and_have_the_bits_of_python(tmp_path, made):
    scenario = docking.demo("UPS", "aligned")
    history = docking.simulate(scenario, t_end=2.0, dt=2e-3, record=0.1).history
    names = {"A.position": "position_a", "stroke": "stroke_a", "interface_load": "load", "base_wrench": "base_load_a"}
    assert np.any(history.load)
    for fmi in (3, 2):
        (tmp_path / f"docking{fmi}").mkdir()
        unit = Built(tmp_path / f"docking{fmi}", made, scenario, fmi, step=2e-3)
        result = unit.run(stop_time=2.0, step_size=2e-3, output_interval=0.1)
        for name, field in names.items():
            want = getattr(history, field)
            assert np.array_equal(column(result, name, want.shape[1], fmi), want), (fmi, name)
        assert np.array_equal(result["phase"], history.phase) and result["captured"][-1] == 1
        # names of C++ are those of this FMU: another in the same process shares nothing with it
        listed = subprocess.run(
            ["nm", "-D", "--defined-only", "-C", next(unit.folder.glob("binaries/*/unit.so"))],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert not re.search(r"(?<![\w])zveno::", listed) and not re.search(r" zv_", listed)

    ring = pair("mixed-general")[1]  # custom legs, closed by Newton's method
    (tmp_path / "ring").mkdir()
    unit = Built(tmp_path / "ring", made, ring, 3, u=[0.01, 0, 0, 0, 0.02, 0])
    result = unit.run(stop_time=0.01, step_size=1e-3, output_interval=1e-3)
    assert np.array_equal(result["ring.position"], ring.simulate(0.01, 1e-3, u=[0.01, 0, 0, 0, 0.02, 0]).r)

    data = zv.mechanisms.four_bar().to_dict()
    for link in data["chain"]["links"]:  # rotations but for rounding, which decompositions make good
        link["rotation"] = (np.array(link["rotation"]) * (1 + 1e-9)).tolist()
    bar = zv.Linkage.from_dict(data)
    q = bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
    (tmp_path / "bar").mkdir()
    unit = Built(tmp_path / "bar", made, bar, 3, q=q)
    result = unit.run(stop_time=0.05, step_size=1e-3, output_interval=1e-3)
    assert np.array_equal(result["q"], bar.simulate(0.05, 1e-3, q=q).q)


def test_what_is_compiled_as_c_is_c(tmp_path):
    path = zv.export_fmu(docking.demo("UPS", "aligned"), tmp_path / "unit.fmu", name="unit", platforms="source")
    fmpy.extract(str(path), unzipdir=str(tmp_path))
    for name in ("unit_model.c", "unit_fmi3.c"):
        command = ["cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", name]
        done = subprocess.run(command, cwd=tmp_path / "sources", env=ALONE, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
