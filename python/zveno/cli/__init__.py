"""Command line: ``zveno demo``, ``info``, ``export``, ``identify``, ``dock``, ``fmu``, ``rig``: needs extra ``cli``."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import Annotated, Final, NoReturn

from .. import __version__

INTERRUPTED: Final = 130  # exit code of a program that SIGINT has ended
INSTALL: Final = 'pip install "zveno[cli]"'

try:
    import typer

    from .bench import bench
    from .config import config
    from .cpu import cpu
    from .demo import demo
    from .dock import app as dock
    from .doctor import doctor
    from .export import export
    from .fmu import fmu
    from .identify import identify
    from .info import info
    from .output import MODELS, complain
    from .rig import app as rig
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in {"typer", "rich"}:
        raise
    if sys.argv[1:2] == ["doctor"]:  # the one command that must work without extras
        from ..versions import show_versions

        show_versions(as_json="--json" in sys.argv)
    raise SystemExit(f"zveno: the command line needs {error.name}, install it with: {INSTALL}") from None

app = typer.Typer(
    name="zveno",
    help="Dynamics of manipulators and docking mechanisms: look into a model, get C code for it, compare algorithms.",
    epilog="Completion of commands and options with Tab: zveno --install-completion, then a new shell.",
    pretty_exceptions_enable=False,
)
for _command in (demo, info, export, fmu, identify, config, bench, doctor):
    app.command()(_command)
app.command(hidden=True)(cpu)  # part of doctor
app.add_typer(dock)
app.add_typer(rig)


def main() -> NoReturn:
    """Entry point of the console script; a wrong option is one line on stderr and exit code 2."""
    arguments = sys.argv[1:]
    if "--no-color" in arguments:  # anywhere, not only before the command
        arguments.remove("--no-color")
        os.environ["NO_COLOR"] = "1"
    try:
        code = app(arguments, prog_name="zveno", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough
        _drop_output()
        code = 0
    except OSError as error:
        _drop_output()
        complain(f"zveno: cannot write: {error.strerror or error}")
        code = 1
    except Exception as error:
        # typer's own errors, whichever module its version keeps them in; Abort is Ctrl-C in some versions
        if type(error).__name__ == "Abort":
            code = INTERRUPTED
        elif hasattr(error, "format_message"):
            if text := error.format_message():  # none where help was shown instead
                complain(f"zveno: {text}")
            code = getattr(error, "exit_code", 2)
        else:
            raise
    if code == INTERRUPTED:
        complain("zveno: interrupted")
    sys.exit(code)


def _drop_output() -> None:
    """What is left in the buffer of stdout cannot be written: the interpreter must not try it again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _version(show: bool) -> None:
    if show:
        typer.echo(f"zveno {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    no_color: Annotated[
        bool, typer.Option("--no-color", help="Plain text; the variable NO_COLOR does the same.")
    ] = False,
) -> None:
    if no_color:
        os.environ["NO_COLOR"] = "1"
    if context.invoked_subcommand is None:
        lines = [line for names in MODELS for line in textwrap.wrap(names, 76)]
        typer.echo(_WELCOME.format(version=__version__, models="\n  ".join(lines)))


_WELCOME: Final = """\
zveno {version}: dynamics of manipulators and docking mechanisms

Start here
  zveno demo                     the main jobs in a minute, one page to look at
  zveno info arm.urdf            joints, links, masses, warnings of your model
  zveno export arm.urdf -f inverse_dynamics -f mass_matrix -o arm_c
                                 C code for a controller, with its self-test
  zveno identify arm.urdf log.csv -o report
                                 masses and friction from a measured motion
  zveno dock --demo              two spacecraft dock: capture, peak loads
  zveno fmu docking_ring -o ring.fmu
                                 an FMU for the master of a rig
  zveno rig margin --mass 100 --stiffness 1e4 --damping 100 --delay 8e-3
                                 is the force loop of a rig stable
  zveno bench                    which mass-matrix algorithm is fastest here
  zveno doctor                   what is installed, what is missing

Models are URDF files, JSON files of zveno, or built-in
  {models}

In Python
  >>> import zveno as zv
  >>> arm = zv.robots.puma560()
  >>> arm.mass_matrix([0, 0.3, -0.5, 0, 0.2, 0])

zveno --help lists options, zveno COMMAND --help those of a command."""
