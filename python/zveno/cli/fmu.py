"""``zveno fmu``."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from .. import Error
from ..deploy.fmu import export_fmu
from .output import MODEL_HELP, SNAP, complain, complete_model, fail, one_line
from .rig_options import RIG_HELP, model_of, with_options


def fmu(
    model: Annotated[str, typer.Argument(help=f"{MODEL_HELP} {RIG_HELP}", autocompletion=complete_model)],
    out: Annotated[str, typer.Option("--out", "-o", help="The FMU to write.")],
    fmi: Annotated[int, typer.Option(help="Version of the standard: 2 or 3.")] = 3,
    step: Annotated[float | None, typer.Option(help="Communication step, s; default: 1e-3.")] = None,
    substeps: Annotated[int | None, typer.Option(help="Steps of the integrator in it; default: 1.")] = None,
    method: Annotated[str | None, typer.Option(help="rk4 (the default) or semi-implicit.")] = None,
    external: Annotated[
        list[str] | None, typer.Option(help="Link with a wrench as an input; repeat it for several.")
    ] = None,
    pose: Annotated[list[str] | None, typer.Option(help="Link whose pose is an output; repeat it for several.")] = None,
    base_motion: Annotated[bool, typer.Option("--base-motion", help="The motion of the base is an input.")] = False,
    outputs: Annotated[
        str | None, typer.Option(help="Which of them, as stroke,leg_force; the state is always given. Default: all.")
    ] = None,
    level: Annotated[str, typer.Option(help="strict: the bits of Python; algebraic: fewer operations.")] = "strict",
    name: Annotated[str | None, typer.Option(help="Of the model; default: after the file.")] = None,
    platform: Annotated[
        list[str] | None,
        typer.Option(help="native (the default), source, all, or one as x86_64-windows; repeat it for several."),
    ] = None,
    rotations: Annotated[
        bool, typer.Option("--rotations", help="3x3 matrices of quaternions are outputs too.")
    ] = False,
    snap: Annotated[float, typer.Option(help="Angles of a URDF so close to a right angle, rad, are one.")] = SNAP,
) -> None:
    """Write a mechanism as a functional mock-up unit (FMI 2.0 or 3.0): sources, and binaries for this machine.

    Sources are C99; of dockings, linkages and custom legs they also are zveno's library, C++17.

    zveno fmu docking_ring:UPS -o ring.fmu --fmi 3 --step 1e-3
    """
    mechanism, options, warned = model_of("fmu", model, snap)
    period = options.pop("period", 1e-3)
    options.pop("most_held", None), options.pop("jump", None)  # the master's business
    given = with_options(
        options,
        substeps=substeps,
        method=method,
        external=external,
        poses=pose,
        base_motion=True if base_motion else None,
        outputs=None if outputs is None else outputs.split(","),
    )
    chosen: Any = platform or "native"
    if len(platform or ()) == 1 and chosen[0] in ("native", "source", "all"):
        chosen = chosen[0]
    try:
        path = export_fmu(
            mechanism,
            out,
            fmi=cast(Any, fmi),
            step=step if step is not None else period,
            name=name,
            platforms=chosen,
            rotations=rotations,
            level=cast(Any, level),
            **given,
        )
    except OSError as error:
        fail(f"fmu: cannot write {out!r}: {error.strerror or one_line(error).removeprefix('export_fmu: ')}", 1)
    except (Error, ValueError, TypeError, ArithmeticError) as error:
        fail(f"fmu: {one_line(error).removeprefix('export_fmu: ')}", 2)
    for line in warned:
        complain(f"Warning: {line}")
    typer.echo(f"Written\n  {path}, {path.stat().st_size:,} bytes, FMI {fmi}.0")
