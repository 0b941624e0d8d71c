"""Worlds as text for a terminal."""

from __future__ import annotations

from daxy.worlds.grid import Grid, GridCell

SHAPES = {"circle": "○", "square": "□", "cylinder": "⌭"}
ARROWS = "→↓←↑"
WIDTH = 7
"""Columns of a cell."""


def as_text(world: Grid, marked: GridCell | None = None) -> str:
    """Return one line for each row: shape, size and color of things, an arrow for the agent.

    Args:
        world: The world.
        marked: A cell to put in brackets, such as the target's.
    """
    numbers = len(str(world.size - 1))
    columns = "".join(f"{column:<{WIDTH}}" for column in range(world.size))
    lines = [f"{'':{numbers}} {columns}".rstrip()]
    for row in range(world.size):
        cells = (_cell(world, GridCell(row, column), marked) for column in range(world.size))
        lines.append(f"{row:>{numbers}} " + "".join(f"{cell:<{WIDTH}}" for cell in cells).rstrip())
    return "\n".join(lines)


def _cell(world: Grid, cell: GridCell, marked: GridCell | None) -> str:
    text = ""
    if cell in world.occupied:
        thing = world.placed[world.occupied[cell]].thing
        text = f"{SHAPES[thing.shape]}{thing.size}{thing.color[0]}"
    if cell == world.agent:
        text += ARROWS[world.heading]
    text = text or "·"
    return f"[{text}]" if cell == marked else text
