"""How the authors' demonstrations carry commands out, and what else does."""

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.worlds.made import asked

from daxy.languages import grounded
from daxy.languages.grounded import Command, Thing
from daxy.worlds.demonstration import TURNS, demonstrate, headings, with_manner
from daxy.worlds.execution import fault
from daxy.worlds.grid import ACTIONS, GridCell, Placed
from daxy.worlds.world import World

CIRCLE = Thing("circle", "red", 2)
SHORT = {"W": "walk", "P": "push", "U": "pull", "S": "stay", "L": "turn left", "R": "turn right"}


def world(row: int, column: int, thing: Thing = CIRCLE, size: int = 5) -> World:
    """Return a world with the agent at (2, 2), facing east, and a thing elsewhere."""
    return World(size, GridCell(2, 2), (Placed(thing, GridCell(row, column)),))


def said(text: str) -> Command:
    return grounded.parse(grounded.words(text))


def spelled(text: str) -> list[str]:
    return [SHORT[letter] for letter in text.replace(" ", "")]


# Figure 2 of the paper, with spinning where the data have it, and rules of the released files.
DEMONSTRATIONS = {
    ("walk to a circle", (2, 4)): "WW",
    ("walk to a circle", (0, 4)): "WW LWW",
    ("walk to a circle", (4, 1)): "LLW LWW",
    ("walk to a circle", (0, 2)): "LWW",
    ("walk to a circle while spinning", (3, 3)): "LLLLW LLLLRW",
    ("walk to a circle cautiously", (1, 3)): "LRRLW LLRRLW",
    ("walk to a circle hesitantly", (1, 3)): "WS LWS",
    ("walk to a circle while zigzagging", (0, 4)): "W LW RW LW",
    ("walk to a circle while zigzagging", (1, 4)): "W LW RW",
    ("walk to a circle while zigzagging", (2, 4)): "WW",
    ("push a circle", (2, 3)): "W P",
    ("pull a circle", (2, 4)): "WW UUUU",
    ("push a circle", (1, 3)): "W LW P",
    ("push a circle while spinning", (2, 3)): "LLLLW LLLLP",
    ("push a circle cautiously", (2, 3)): "LRRLW LRRLP",
    ("push a circle hesitantly", (2, 3)): "WS PS",
    ("push a circle", (2, 4)): "WW",
}


@pytest.mark.parametrize(("asked", "wanted"), DEMONSTRATIONS.items(), ids=str)
def test_a_demonstration_is_the_authors_own(
    asked: tuple[str, tuple[int, int]], wanted: str
) -> None:
    text, cell = asked
    assert list(demonstrate(said(text), world(*cell))) == spelled(wanted)


def test_a_heavy_thing_takes_two_pushes_a_cell_each_in_the_manner() -> None:
    there = world(2, 3, CIRCLE._replace(size=3))
    assert list(demonstrate(said("push a circle hesitantly"), there)) == spelled("WS PSPS")
    assert list(demonstrate(said("pull a circle"), there)) == spelled("W UUUUUU")


def test_a_push_ends_at_another_thing() -> None:
    there = World(
        6,
        GridCell(0, 0),
        (Placed(CIRCLE, GridCell(0, 1)), Placed(CIRCLE._replace(shape="square"), GridCell(0, 4))),
    )
    assert list(demonstrate(said("push a circle"), there)) == spelled("W PP")


@given(asked())
def test_a_demonstration_does_what_the_command_says(asked: tuple[Command, World]) -> None:
    command, world = asked
    shown = demonstrate(command, world)
    assert fault(command, world, shown) is None
    *_, last = world.course(shown)
    place = grounded.referent(command.phrase, world.things)
    assert last.agent == last.placed[place].cell
    others = [each for n, each in enumerate(last.placed) if n != place]
    assert others == [each for n, each in enumerate(world.placed) if n != place]
    assert last.effort is None or last.placed == world.placed


@given(asked(), st.data())
def test_no_action_of_a_demonstration_can_be_left_out(
    asked: tuple[Command, World], data: st.DataObject
) -> None:
    command, world = asked
    shown = demonstrate(command, world)
    assume(shown)
    place = data.draw(st.integers(0, len(shown) - 1))
    assert fault(command, world, shown[:place] + shown[place + 1 :]) is not None


@given(asked(), st.data())
def test_nothing_can_be_added_to_a_demonstration(
    asked: tuple[Command, World], data: st.DataObject
) -> None:
    command, world = asked
    shown = demonstrate(command, world)
    place = data.draw(st.integers(0, len(shown)))
    more = data.draw(st.sampled_from(ACTIONS))
    assert fault(command, world, (*shown[:place], more, *shown[place:])) is not None


@given(asked(), st.randoms(use_true_random=False))
def test_any_shortest_way_is_right(asked: tuple[Command, World], random: Random) -> None:
    command, world = asked
    cell = world.placed[grounded.referent(command.phrase, world.things)].cell
    way = cell.row - world.agent.row, cell.column - world.agent.column
    route = list(headings(command.manner, way))
    random.shuffle(route)
    assume(route)
    taken = list[str]()
    for before, after in pairwise([world.heading, *route]):
        taken += with_manner("cautiously", "walk", TURNS[(after - before) % 4])
    plain = Command("walk", command.phrase, "cautiously")
    assert fault(plain, world, taken) is None
    *_, last = world.course(taken)
    assert last.agent == cell
    assert fault(replace(plain, manner="hesitantly"), world, taken) is not None


# Right, though no demonstration: the column first, a staircase, the other way round.
RIGHT = {
    ("walk to a circle", (1, 4)): ("LW RWW", "W LW RW"),
    ("walk to a circle while zigzagging", (0, 4)): ("LW RW LW RW",),
    ("walk to a circle", (2, 1)): ("LLW", "RRW"),
    ("walk to a circle while spinning", (2, 3)): ("LLLLW", "RRRRW"),
    ("walk to a circle cautiously", (2, 3)): ("LRRLW", "RLLRW"),
    ("push a circle", (1, 3)): ("LW RW P",),
}


@pytest.mark.parametrize(("asked", "ways"), RIGHT.items(), ids=str)
def test_any_way_is_right_that_has_the_effect_in_the_manner(
    asked: tuple[str, tuple[int, int]], ways: tuple[str, ...]
) -> None:
    text, cell = asked
    for way in ways:
        assert fault(said(text), world(*cell), spelled(way)) is None


WRONG = {
    ("walk to a circle", (2, 4), "W"): "after 1 of 2 steps the agent is at (2, 3), not there",
    ("walk to a circle", (2, 4), "WWW"): "action 3, walk: it is there already",
    ("walk to a circle", (2, 4), "WRRRRW"): "'turn right turn right turn right turn right' before",
    ("walk to a circle", (2, 4), "WWL"): "action 3 and what follows it does nothing",
    ("walk to a circle", (2, 4), "WSW"): "action 1, walk: 1 stays follow it",
    ("walk to a circle while spinning", (2, 4), "LLLLWW"): "action 6, walk: no spin goes before it",
    ("walk to a circle cautiously", (2, 3), "LRW"): "no look to both sides goes before it",
    ("walk to a circle hesitantly", (2, 3), "W"): "no stay follows it",
    ("walk to a circle while zigzagging", (0, 4), "WWLWW"): "the way does not zigzag",
    ("push a circle", (2, 3), "W"): "it has to push 1 times, not 0",
    ("push a circle", (2, 3), "WU"): "action 2, pull: it is to push",
    ("push a circle", (2, 3), "WRP"): "action 3, push: the agent has turned",
    ("push a circle", (2, 4), "WPW"): "action 2, push: the agent is not there yet",
}


@pytest.mark.parametrize(("case", "message"), WRONG.items(), ids=str)
def test_what_is_wrong_is_said(case: tuple[str, tuple[int, int], str], message: str) -> None:
    text, cell, way = case
    found = fault(said(text), world(*cell), spelled(way))
    assert found is not None
    assert message in found


def test_a_word_that_is_no_action_is_named() -> None:
    found = fault(said("walk to a circle"), world(2, 3), ["jump"])
    assert found == "action 1 is 'jump', which is none"
