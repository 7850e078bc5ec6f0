"""``zveno config``."""

from __future__ import annotations

from typing import Annotated

import typer

from ..deploy.library import c_library


def config(
    cflags: Annotated[bool, typer.Option("--cflags", help="Options of the compiler alone.")] = False,
    libs: Annotated[bool, typer.Option("--libs", help="Options of the linker alone.")] = False,
) -> None:
    """What a C compiler is told to use zveno.h: cc rig.c $(zveno config --cflags --libs) -o rig."""
    paths = c_library()
    if cflags or libs:
        typer.echo(" ".join([*([paths.cflags] if cflags else []), *([paths.libs] if libs else [])]))
        return
    typer.echo(f"header   {paths.include / 'zveno.h'}\nlibrary  {paths.library}\n")
    typer.echo("  cc rig.c $(zveno config --cflags --libs) -o rig")
