"""Pictures as files: checked before the work, written after it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from daxy.cli._out import check_free
from daxy.core.errors import require, visible
from daxy.core.files import write_bytes
from daxy.core.imports import need

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from daxy.worlds.drawing import Look
    from daxy.worlds.grid import Grid

Picture = Annotated[Path | None, tyro.conf.arg(metavar="FILE")]
"""Type of a flag that names a picture."""

FIGURES = (".png", ".svg", ".pdf")
"""Formats of a figure."""
WORLDS = (".svg", ".png", ".gif")
"""Formats of a picture of a world."""


def check(
    path: Path | None, endings: Sequence[str] = FIGURES, *, force: bool, by: str = "matplotlib"
) -> None:
    """Refuse a picture that cannot be written, before the work begins.

    Args:
        path: The file to write; None for no picture.
        endings: Allowed endings of its name.
        force: Whether an existing file is replaced.
        by: The package that draws; Pillow (`PIL`) draws pixels only, and SVG needs no package.

    Raises:
        WrongRequest: the name has no known format, the file exists, or the package is missing.
    """
    if path is None:
        return
    named = f"{path}: expected a name that ends in {', '.join(endings)}"
    require(path.suffix.lower() in endings, named)
    check_free(path, force=force)
    if by != "PIL" or path.suffix.lower() != ".svg":
        need(by)


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the file's ending.

    Raises:
        RunFailed: it cannot be written.
    """
    drawn = io.BytesIO()
    kind = path.suffix[1:].lower()
    figure.savefig(drawn, format=kind, dpi=120)
    data = drawn.getvalue()
    # XML has no control characters: texts are also in its comments.
    write_bytes(path, visible(data.decode()).encode() if kind == "svg" else data)


def save_world(path: Path, world: Grid, actions: Sequence[str], look: Look) -> None:
    """Write a picture of a world in the format of the file's name; a GIF shows the actions.

    Raises:
        RunFailed: it cannot be written.
    """
    if path.suffix.lower() == ".svg":
        from daxy.worlds.drawing import svg

        write_bytes(path, svg(world, **look).encode())
        return
    from daxy.worlds.raster import gif, png

    is_film = path.suffix.lower() == ".gif"
    write_bytes(path, gif(world, actions, **look) if is_film else png(world, **look))
