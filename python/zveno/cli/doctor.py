"""``zveno doctor``."""

from typing import Annotated

import typer

from ..versions import show_versions


def doctor(
    json_output: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Show versions, instruction set, threads, extras found and missing, compiler."""
    show_versions(as_json=json_output)
