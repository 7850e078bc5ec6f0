"""Command line: ``zveno bench``, ``info``, ``export`` and ``cpu``. Needs typer and rich (``zveno[cli]``)."""

from __future__ import annotations

import sys
from typing import Annotated, Final, NoReturn

from .. import __version__

INSTALL: Final = 'pip install "zveno[cli]"'

try:
    import typer

    from .bench import bench
    from .cpu import cpu
    from .export import export
    from .info import info
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in {"typer", "rich"}:
        raise
    raise SystemExit(f"zveno: the command line needs {error.name}, install it with: {INSTALL}") from None

app = typer.Typer(
    name="zveno",
    help="Rigid-body dynamics of chains: compare the algorithms, look into a model, get C code for it.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _command in (bench, info, export, cpu):
    app.command()(_command)


def main() -> NoReturn:
    """Entry point of the console script; a wrong option is one line on stderr and exit code 2."""
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="zveno", standalone_mode=False)
    except Exception as error:
        # typer's own usage errors, whichever module its version keeps them in
        if not hasattr(error, "format_message"):
            raise
        typer.echo(f"zveno: {error.format_message()}", err=True)
        code = getattr(error, "exit_code", 2)
    sys.exit(code)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"zveno {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass
