"""What actions make of a world."""

import pytest
from hypothesis import given
from tests.worlds.made import actions, worlds

from daxy.core.errors import WrongRequest
from daxy.languages.grounded import Thing
from daxy.worlds.grid import CHANNELS, EAST, NORTH, SOUTH, WEST, GridCell, Placed
from daxy.worlds.world import World

LIGHT, HEAVY = Thing("circle", "red", 2), Thing("square", "blue", 3)


def moved(world: World, *actions: str) -> World:
    *_, last = world.course(actions)
    return last


def line(thing: Thing, *others: int, at: int = 1, heading: int = EAST) -> World:
    """Return a world with things in its second row, the agent on the first of them."""
    placed = [
        Placed(thing, GridCell(1, at)),
        *(Placed(LIGHT, GridCell(1, place)) for place in others),
    ]
    return World(4, GridCell(1, at), tuple(placed), heading)


@pytest.mark.parametrize(
    ("heading", "wanted"), [(EAST, (1, 2)), (SOUTH, (2, 1)), (WEST, (1, 0)), (NORTH, (0, 1))]
)
def test_a_step_goes_where_the_agent_faces(heading: int, wanted: tuple[int, int]) -> None:
    assert World(3, GridCell(1, 1), (), heading).after("walk").agent == wanted


def test_rows_grow_southwards_and_turns_to_the_right_are_clockwise() -> None:
    world = World(3, GridCell(0, 0)).after("turn right")
    assert world.heading == SOUTH
    assert world.after("walk").agent == GridCell(1, 0)
    assert moved(world, *["turn left"] * 4).heading == SOUTH


def test_a_wall_stops_the_agent_and_a_thing_does_not() -> None:
    world = World(3, GridCell(0, 1), (Placed(HEAVY, GridCell(0, 2)),))
    assert world.after("walk").agent == GridCell(0, 2)
    assert moved(world, "walk", "walk").agent == GridCell(0, 2)


def test_a_light_thing_moves_at_the_first_push_and_takes_the_agent_along() -> None:
    world = line(LIGHT).after("push")
    assert (world.agent, world.placed[0].cell) == (GridCell(1, 2), GridCell(1, 2))


def test_a_heavy_thing_moves_at_the_second_push() -> None:
    world = line(HEAVY).after("push")
    assert world.placed[0].cell == GridCell(1, 1)
    assert world.after("push").placed[0].cell == GridCell(1, 2)
    looked = moved(world, "turn left", "turn right", "stay", "push")
    assert looked.placed[0].cell == GridCell(1, 2)


def test_pushes_in_two_directions_are_not_added_up() -> None:
    world = moved(line(HEAVY), "push", "turn right", "push")
    assert world.placed[0].cell == GridCell(1, 1)
    assert world.after("push").placed[0].cell == GridCell(2, 1)
    assert moved(line(HEAVY), "push", "pull", "push").placed[0].cell == GridCell(1, 1)


def test_pulling_goes_backwards_without_a_turn() -> None:
    world = line(LIGHT, at=2).after("pull")
    assert (world.agent, world.placed[0].cell, world.heading) == (
        GridCell(1, 1),
        GridCell(1, 1),
        EAST,
    )


@pytest.mark.parametrize("world", [line(LIGHT, 2), line(LIGHT, at=3), World(4, GridCell(0, 0))])
def test_what_cannot_move_stays(world: World) -> None:
    assert world.after("push") == world


@given(worlds(), actions)
def test_nothing_leaves_the_grid_or_disappears(world: World, actions: list[str]) -> None:
    for now in world.course(actions):
        assert sorted(now.things) == sorted(world.things)
        assert len(now.occupied) == len(now.placed)
        assert all(now.holds(cell) for cell in (now.agent, *now.occupied))


@given(worlds(), actions)
def test_only_what_is_under_the_agent_moves(world: World, actions: list[str]) -> None:
    for before, after in zip(course := list(world.course(actions)), course[1:], strict=False):
        for one, other in zip(before.placed, after.placed, strict=True):
            if one != other:
                assert (one.cell, other.cell) == (before.agent, after.agent)


@given(worlds())
def test_the_tensor_says_all_that_is_to_be_seen(world: World) -> None:
    state = world.tensor()
    assert state.shape == (world.size, world.size, 16)
    names = {
        (row, column): [CHANNELS[n] for n in state[row, column].nonzero()[0]]
        for row in range(world.size)
        for column in range(world.size)
        if state[row, column].any()
    }
    wanted = {cell: [thing.size, thing.shape, thing.color] for thing, cell in world.placed}
    heading = ("east", "south", "west", "north")[world.heading]
    wanted.setdefault(world.agent, []).extend(["agent", heading])
    assert {cell: sorted(map(str, own)) for cell, own in names.items()} == {
        tuple(cell): sorted(map(str, own)) for cell, own in wanted.items()
    }


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: World(3, GridCell(0, 3)), "the agent is at (0, 3), outside a grid of 3 by 3"),
        (lambda: World(0, GridCell(0, 0)), "at least one cell"),
        (lambda: World(3, GridCell(0, 0), heading=4), "heading must be 0 to 3, not 4"),
        (
            lambda: World(
                3, GridCell(0, 0), (Placed(LIGHT, GridCell(1, 1)), Placed(HEAVY, GridCell(1, 1)))
            ),
            "a blue square of size 3 and a red circle of size 2 share the cell (1, 1)",
        ),
        (
            lambda: World(3, GridCell(0, 0), (Placed(Thing("star", "red", 1), GridCell(0, 0)),)),
            "no shape 'star'; there are circle, square, cylinder",
        ),
        (lambda: World(3, GridCell(0, 0)).after("jump"), "no action 'jump'; there are walk, push"),
    ],
)
def test_a_world_that_cannot_be_is_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(WrongRequest) as caught:
        make()
    assert message in str(caught.value)
