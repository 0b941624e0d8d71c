"""Worlds as columns are the worlds they were made from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.worlds.made import asked, worlds

from daxy.core.errors import WrongRequest
from daxy.languages import grounded
from daxy.languages.grounded import Command, NoReferent, Phrase, Thing
from daxy.worlds.batch_demonstration import demonstrate_all
from daxy.worlds.columns import Worlds
from daxy.worlds.demonstration import demonstrate
from daxy.worlds.grid import GridCell, Placed
from daxy.worlds.referents import referents
from daxy.worlds.world import World

COMMANDS = st.sampled_from(grounded.commands())


@given(st.lists(worlds(), max_size=5))
def test_a_world_comes_back_as_it_was(rows: list[World]) -> None:
    table = Worlds.of(rows)
    assert list(table) == rows
    assert len(table) == len(rows)


@given(st.lists(worlds(), min_size=1, max_size=5), st.data())
def test_taken_and_joined_worlds_are_those_asked_for(
    rows: list[World], data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=7))
    taken = Worlds.of(rows).take(chosen)
    assert list(taken) == [rows[place] for place in chosen]
    joined = Worlds.joined([taken, Worlds.of(rows)])
    assert list(joined) == [*(rows[place] for place in chosen), *rows]
    assert list(joined[-1:]) == rows[-1:]
    assert joined[-1] == rows[-1]


@given(worlds())
def test_a_map_says_what_the_tensor_does(world: World) -> None:
    table = Worlds.of([world, world])
    np.testing.assert_array_equal(table.tensors, [world.tensor()] * 2)


def test_maps_of_grids_of_two_sizes_are_refused() -> None:
    table = Worlds.of([World(size, GridCell(0, 0)) for size in (2, 3)])
    with pytest.raises(WrongRequest, match="maps are of grids of one size"):
        _ = table.cell_ids


@given(st.lists(st.tuples(COMMANDS, worlds()), max_size=5))
def test_referents_in_columns_are_those_of_the_language(rows: list[tuple[Command, World]]) -> None:
    def referent(command: Command, world: World) -> int:
        try:
            return grounded.referent(command.phrase, world.things)
        except NoReferent:
            return -1

    places = np.array([grounded.commands().index(command) for command, _ in rows], np.int64)
    found = referents(places, Worlds.of(world for _, world in rows))
    assert found.tolist() == [referent(command, world) for command, world in rows]


@given(st.lists(asked(), max_size=4))
def test_demonstrations_in_columns_are_those_of_each_world(
    rows: list[tuple[Command, World]],
) -> None:
    first = [(command, _with_target_first(command, world)) for command, world in rows]
    places = np.array([grounded.commands().index(command) for command, _ in first], np.int64)
    found = demonstrate_all(places, Worlds.of(world for _, world in first))
    assert list(found) == [demonstrate(command, world) for command, world in first]


@pytest.mark.parametrize(
    ("verb", "manner", "heading", "times"),
    [
        *(("push", None, heading, times) for heading, times in enumerate((4, 3, 1, 2))),
        *(("pull", None, heading, times) for heading, times in enumerate((1, 2, 4, 3))),
        ("push", "while zigzagging", 0, 4),
        ("push", "while zigzagging", 1, 3),
    ],
)
def test_who_stands_on_the_target_moves_it_as_far_as_it_goes_from_there(
    verb: str, manner: str | None, heading: int, times: int
) -> None:
    """On a grid of 6 by 6, from row 2 and column 1: to the east there are four cells more."""
    command, cell = Command(verb, Phrase("circle"), manner), GridCell(2, 1)
    world = World(6, cell, (Placed(Thing("circle", "red", 1), cell),), heading)
    place = np.array([grounded.commands().index(command)])
    for shown in (demonstrate(command, world), demonstrate_all(place, Worlds.of([world]))[0]):
        assert shown == (verb,) * times


def _with_target_first(command: Command, world: World) -> World:
    place = grounded.referent(command.phrase, world.things)
    placed = (world.placed[place], *world.placed[:place], *world.placed[place + 1 :])
    return World(world.size, world.agent, placed, world.heading)


@given(worlds(), worlds())
def test_equal_worlds_alone_have_equal_contents(one: World, other: World) -> None:
    turned = World(one.size, one.agent, one.placed[::-1], one.heading)
    first, again, second = Worlds.of([one, turned, other]).contents
    assert first == again
    alike = (one.size, one.agent, one.heading, set(one.placed)) == (
        *(other.size, other.agent, other.heading),
        set(other.placed),
    )
    assert (first == second) == alike
