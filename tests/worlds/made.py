"""Worlds and commands for hypothesis."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, composite

from daxy.languages import grounded
from daxy.languages.grounded import COLORS, SHAPES, SIZES, Command, NoReferent, Thing
from daxy.worlds.grid import ACTIONS, GridCell, Placed
from daxy.worlds.world import World

actions = st.lists(st.sampled_from(ACTIONS), max_size=30)
things = st.builds(Thing, st.sampled_from(SHAPES), st.sampled_from(COLORS), st.sampled_from(SIZES))


@composite
def worlds(draw: DrawFn, most: int = 8) -> World:
    """A grid of up to seven cells along a side, with some things on it."""
    size = draw(st.integers(1, 7))
    cells = st.builds(GridCell, st.integers(0, size - 1), st.integers(0, size - 1))
    places = draw(st.lists(cells, unique=True, max_size=most))
    placed = tuple(Placed(draw(things), cell) for cell in places)
    return World(size, draw(cells), placed, draw(st.integers(0, 3)))


@composite
def asked(draw: DrawFn) -> tuple[Command, World]:
    """A command and a world in which it speaks of one thing."""
    world = draw(worlds().filter(lambda world: bool(world.placed)))
    able = [command for command in grounded.commands() if _speaks(command, world)]
    assume(able)
    return draw(st.sampled_from(able)), world


def _speaks(command: Command, world: World) -> bool:
    try:
        grounded.referent(command.phrase, world.things)
    except NoReferent:
        return False
    return True
