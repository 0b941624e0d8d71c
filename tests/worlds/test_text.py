"""A world in a terminal has all that is in it."""

from hypothesis import given
from tests.worlds.made import worlds

from daxy.languages.grounded import Thing
from daxy.worlds.grid import GridCell, Placed
from daxy.worlds.text import SHAPES, as_text
from daxy.worlds.world import World


def test_a_world_is_drawn_row_by_row() -> None:
    things = (
        Placed(Thing("square", "blue", 3), GridCell(0, 2)),
        Placed(Thing("circle", "red", 2), GridCell(1, 0)),
    )
    assert as_text(World(3, GridCell(1, 0), things), GridCell(0, 2)) == (
        "  0      1      2\n0 ·      ·      [□3b]\n1 ○2r→   ·      ·\n2 ·      ·      ·"
    )


@given(worlds())
def test_nothing_is_left_out(world: World) -> None:
    said = as_text(world)
    assert sum(arrow in said for arrow in "→↓←↑") == 1
    assert sum(said.count(mark) for mark in SHAPES.values()) == len(world.placed)
    assert len(said.splitlines()) == world.size + 1


def test_rows_and_columns_of_a_large_grid_are_in_line() -> None:
    lines = as_text(World(12, GridCell(0, 0), (), 0)).splitlines()
    assert {line.index("·") for line in lines[2:]} == {3}
    assert lines[0].index("11") == 3 + 11 * 7
