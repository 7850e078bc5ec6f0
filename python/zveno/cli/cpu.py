"""``zveno cpu``."""

import typer

from ..bench.timing import host


def cpu() -> None:
    """Show which instruction set the batch kernels use on this machine."""
    machine = host()
    features = machine["features"]
    typer.echo(f"{machine['cpu']}, {machine['cores']} cores")
    typer.echo(f"selected: {features['selected']}, {features['lanes']} lanes")
    typer.echo(f"available: {', '.join(map(str, features['available']))}")
