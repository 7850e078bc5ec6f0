"""Documentation site: ``python -m sphinx -W --keep-going docs build/docs`` with ``zveno[docs]`` installed.

Everything is built from the installed package and nothing is fetched: MathJax comes from a Python package. Pages of the
API and of the command line are written into ``reference/api`` at every build, the gallery into ``gallery``.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib
import zveno as zv

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples" / "python"
MATHJAX = "tex-svg.js"  # one file, no fonts

project = "zveno"
author = copyright = "The zveno developers"
version = release = zv.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/*.py", "gallery/*.ipynb", "gallery/*.codeobj.json"]
templates_path = ["_templates"]
default_role = "py:obj"
highlight_language = "none"
nitpicky = False
smartquotes_action = "qe"  # two hyphens are the beginning of an option, never a dash
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # types, shapes and units are in the docstrings
autodoc_member_order = "alphabetical"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

mathjax_path = MATHJAX
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": str(EXAMPLES),
    "gallery_dirs": "gallery",
    "filename_pattern": r"[\\/]\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
}
matplotlib.use("Agg")

html_theme = "pydata_sphinx_theme"
html_title = "zveno"
html_static_path = ["_static"]
html_css_files = ["zveno.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "zveno"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {"index": [], "changelog": []}

# ---- pages of the API, from the public names of the package

TOPICS: dict[str, tuple[str, str, list[str]]] = {
    "models": (
        "Models",
        "What a mechanism is made of, and the mechanisms.",
        ["Link", "Chain", "Body", "Leg", "Hexapod", "DHParameters", "TextbookParameters"],
    ),
    "closed_loops": (
        "Closed loops",
        "Chains with constraints, and what their functions return; how to use them: [](../../constraints.md). "
        "Constraints beside the joints of loops: [](constraints.md).",
        [
            "Linkage",
            "Loop",
            "Constraint",
            "LinkageDynamics",
            "LinkageEfforts",
            "Mobility",
            "SingularConfiguration",
            "CutJoint",
        ],
    ),
    "sections_of_links": (
        "Sections of links",
        "Cuts through links, and what `Chain.load_diagram`, `Chain.load_envelope` and `Section.stress` return; how to "
        "use them: [](../../section-loads.md). Cross-sections: [](sections.md).",
        ["Section", "LoadDiagram", "LoadEnvelope", "SectionStress"],
    ),
    "arms": (
        "Arms",
        "Loads for `Chain.statics`, and what functions of arms return; how to use them: [](../../manipulators.md).",
        ["PointLoad", "JointForces", "JointRates", "JacobianMeasures", "PayloadCapacity", "ArmWorkspace"],
    ),
    "base_parameters": (
        "Base parameters",
        "What `Chain.base_parameters` and `Hexapod.base_parameters` return: [](../../base-parameters.md).",
        ["BaseParameters", "HexapodBaseParameters"],
    ),
    "simulation": (
        "Motion in time",
        "Records that `Chain.simulate` and `Hexapod.simulate` return. Force laws: [](laws.md).",
        ["Simulation", "ChainSimulation", "HexapodSimulation", "SimulationBatch", "StopEvent"],
    ),
    "results": (
        "Results",
        "Objects that calls with several results return.",
        [
            "Derivatives",
            "SecondDerivatives",
            "ConstraintDerivatives",
            "HexapodDynamics",
            "RingPose",
            "InverseKinematics",
            "ClosedFormSolutions",
            "Singularity",
            "OpCount",
        ],
    ),
    "linear": (
        "Small motions",
        "What `Chain.linearise`, `Linkage.linearise` and `Chain.equilibrium` return; how to use them: "
        "[](../../linearisation.md).",
        ["Linearisation", "LinkageLinearisation", "StateSpace", "Modes", "Equilibrium"],
    ),
    "rigs_in_c": (
        "Steps outside of Python",
        "Files and steps of the C library, generated steps, FMUs; how to use them: [](../../howto/c-library.md), "
        "[](../../howto/fmu.md).",
        ["save_rig", "Stepper", "export_step", "export_fmu"],
    ),
    "compiled": (
        "Traced and compiled functions",
        "What `Chain.trace`, `Chain.compile`, `Hexapod.trace` and `Hexapod.compile` return. Graphs: [](graph.md).",
        ["TracedFunction", "CompiledFunction"],
    ),
    "errors": (
        "Errors and warnings",
        "What to do about them: [](../../howto/errors.md).",
        [
            "Error",
            "ModelError",
            "ModelWarning",
            "SingularityError",
            "UnreachableError",
            "InfeasibleError",
            "StepError",
            "UndecidedError",
            "SimulationWarning",
            "GraphSizeError",
        ],
    ),
}
MODULES = {
    "robots": ("Robots", "Well-known arms, ready to use."),
    "orientation": (
        "Orientations",
        "Angles, quaternions and rotation vectors, from and to matrices, many at once; the same numbers as SciPy.",
    ),
    "inertial": (
        "Inertial parameters",
        "The ten parameters of a body as tensor, second moments and pseudo-inertia: [](../../base-parameters.md).",
    ),
    "mechanisms": ("Mechanisms", "Parallel mechanisms, ready to use."),
    "sections": ("Cross-sections", "Areas, moments of area, torsion and shear of tubes, boxes, rods and I-beams."),
    "laws": ("Force laws", "Forces of drives and joints in a simulation; laws add up with `+`."),
    "flexible": (
        "Flexible links",
        "Beams as rigid finite elements; how to use them: [](../../flexible.md), their [cross-sections](sections.md).",
    ),
    "constraints": (
        "Constraints",
        "Points on planes, lines, curves and surfaces, poses, couplings, targets that move: [](../../constraints.md).",
    ),
    "trajectory": (
        "Trajectories",
        "Motions from point to point, through via points and along paths, as fast as limits allow: "
        "[](../../trajectories.md).",
    ),
    "docking": (
        "Docking",
        "Two spacecraft: contact, capture, retraction; campaigns of many dockings: [](../../docking.md). Their "
        "statistics: [](docking.statistics.md).",
    ),
    "docking.statistics": ("Statistics of campaigns", "Probabilities, percentiles, correlations, their confidence."),
    "identification": (
        "Identification",
        "Parameters from measured motion: logs, friction, bodies that can exist, payloads, estimators on a rig: "
        "[](../../identification.md).",
    ),
    "rigs": (
        "Rigs",
        "Delay and stability of hardware in the loop, compensation, time of steps: [](../../rigs.md).",
    ),
    "control": ("Controllers", "Efforts from state and reference, in Python and as C: [](../../control.md)."),
    "files": ("Files", "Reading and writing models and records."),
    "graph": ("Expression graphs", "The straight-line program behind a traced function."),
    "opcount": ("Operation counts", "Counting, and fitting polynomials to counts."),
    "hexapod_plots": ("Figures", "Drawings of mechanisms, simulations and workspaces; needs matplotlib."),
}


def documented(owner: ModuleType, names: list[str]) -> list[str]:
    """Names that have a docstring of their own: no constants, no modules."""
    found = [(name, getattr(owner, name)) for name in names]
    return [name for name, value in found if inspect.isclass(value) or inspect.isroutine(value)]


def table(module: str, names: list[str]) -> str:
    lines = ["```{eval-rst}", f".. currentmodule:: {module}", "", ".. autosummary::", "   :toctree: generated"]
    lines += ["   :signatures: short", ""]
    return "\n".join([*lines, *(f"   {name}" for name in names), "```", ""])


def write(path: Path, text: str) -> None:
    """Written only where it changes something, so that a second build has little to do."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_api(app: Any, config: Any) -> None:
    """One page per topic; a public name that no topic lists comes under "Other"."""
    folder = HERE / "reference" / "api"
    public = documented(zv, [name for name in zv.__all__ if not name.startswith("_")])
    listed = {name for *_, names in TOPICS.values() for name in names}
    rest = ("Functions of the package", "", sorted(set(public) - listed))
    pages = {}
    for key, (title, text, names) in {**TOPICS, "package": rest}.items():
        pages[key] = f"# {title}\n\n{text}\n\n{table('zveno', [name for name in names if name in public])}"
    shown = {id(getattr(zv, name)) for name in public}  # what two modules have is described once
    for key, (title, text) in MODULES.items():
        if find_spec(f"zveno.{key}") is None:
            continue
        module = import_module(f"zveno.{key}")
        names = [name for name in documented(module, module.__all__) if id(getattr(module, name)) not in shown]
        shown |= {id(getattr(module, name)) for name in names}
        pages[key] = f"# {title}\n\n{text} `zveno.{key}`\n\n{table(module.__name__, names)}"
    order = [
        key for key in ("models", "robots", "mechanisms", "simulation", "laws", "results", "files") if key in pages
    ]
    order += [key for key in pages if key not in order]
    contents = "\n".join(["```{toctree}", ":maxdepth: 1", "", *order, "```"])
    head = (
        "Every public name, from the docstrings of the installed package. `import zveno as zv`; what `zv` offers:\n\n"
    )
    write(folder / "index.md", f"# Python API\n\n{head}{contents}\n")
    for key, text in pages.items():
        write(folder / f"{key}.md", text)


def write_commands(app: Any, config: Any) -> None:
    """The command line as it describes itself."""
    import typer
    from zveno.cli import app as cli

    root = typer.main.get_command(cli)
    assert hasattr(root, "commands")
    text = [
        "# Command line",
        "",
        '`pip install "zveno[cli]"` brings `zveno`; `zveno COMMAND --help` prints what is here.',
        "",
    ]
    commands = sorted(root.commands.items())
    for name, group in commands[:]:
        commands += [(f"{name} {inner}", command) for inner, command in getattr(group, "commands", {}).items()]
    for name, command in sorted(commands):
        if command.hidden:
            continue
        help = re.sub(r"(?m)^zveno .*$", r"`\g<0>`", inspect.cleandoc(command.help or ""))
        text += [f"## zveno {name}", "", help, ""]
        rows = []
        for parameter in command.params:
            default = parameter.default if isinstance(parameter.default, str | int | float) else None
            shown = "" if default in (None, False, "") else f" Default: `{default}`."
            what = ", ".join(f"`{option}`" for option in parameter.opts)
            if parameter.param_type_name == "argument":
                what = f"`{parameter.name.upper()}`"
            rows.append(f"| {what} | {(getattr(parameter, 'help', None) or '').replace('|', '/')}{shown} |")
        text += ["| option | meaning |", "|---|---|", *rows, ""] if rows else []
    write(HERE / "reference" / "api" / "commands.md", "\n".join(text))


def copy_mathjax(app: Any, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        spec = find_spec("sphinx-mathjax-offline")
        assert spec is not None and spec.origin is not None, "install zveno[docs]: MathJax is missing"
        script = Path(spec.origin).parent / "static" / "mathjax" / MATHJAX
        (Path(app.outdir) / "_static" / MATHJAX).write_bytes(script.read_bytes())


def own_signature(app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, result: Any) -> Any:
    """What autodoc found for compiled methods; numpydoc would show the slash after their self."""
    return (signature, result) if signature and inspect.ismethoddescriptor(obj) else None


def keep_bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """|v| is an absolute value here, no substitution of reStructuredText."""
    lines[:] = [line if ">>>" in line else re.sub(r"(?<!`)\|(\w+)\|(?!`)", r"\|\1\|", line) for line in lines]


def each_page_once(app: Any, page: str, source: list[str]) -> None:
    """The sidebar lists an example where the tutorials have it, and the others below the page of all examples."""
    if page == "gallery/index":
        tutorials = (HERE / "tutorials.md").read_text(encoding="utf-8")
        lines = source[0].splitlines(keepends=True)
        source[0] = "".join(line for line in lines if f"<{line.strip().removeprefix('/')}>" not in tutorials)


def setup(app: Any) -> None:
    app.connect("config-inited", write_api)  # before the sources are listed, where autosummary looks for names
    app.connect("config-inited", write_commands)
    app.connect("source-read", each_page_once)
    app.connect("autodoc-process-signature", own_signature, priority=400)  # before numpydoc
    app.connect("autodoc-process-docstring", keep_bars)
    app.connect("build-finished", copy_mathjax)
