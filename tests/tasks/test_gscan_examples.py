"""Every command in every situation, and what the tests hold out of that."""

from dataclasses import replace

import numpy as np
import pytest

from daxy.languages import grounded
from daxy.tasks._gscan_data import CompositionalData, Kind
from daxy.tasks._gscan_examples import Shown, commands_of, every
from daxy.tasks._gscan_predicates import HELD_OUT, held_out
from daxy.worlds.placement import DIRECTIONS

# Ruis et al. 2020, Appendix C: the released set, a grid of 6 by 6 with 5 of each distance.
PUBLISHED = {
    "visual_easier": 18_718,
    "visual": 37_436,
    "situational_1": 88_642,
    "situational_2": 16_808,
    "contextual": 11_460,
    "adverb_1": 112_880 + 1,  # one of them is in train
    "adverb_2": 38_582,
}
DROPPED = 97_731


@pytest.fixture(scope="module")
def released() -> Shown:
    """A set of the size of the released one."""
    return every(CompositionalData())


def test_the_paper_s_set_has_835200_examples(released: Shown) -> None:
    assert len(released) == 835_200
    assert len(released.actions) == len(released.worlds) == len(released)


def test_as_many_examples_are_held_out_as_published(released: Shown) -> None:
    flags = held_out(released)
    times = flags.sum(axis=1)
    alone = dict(zip(HELD_OUT, flags[times == 1].sum(axis=0).tolist(), strict=True))
    assert alone == PUBLISHED
    assert (times > 1).sum() == DROPPED


def test_each_flag_is_what_its_test_says(released: Shown) -> None:
    rows = np.random.default_rng(0).choice(len(released), 2000, replace=False)
    some = released.take(rows)
    for n, flags in enumerate(held_out(some)):
        command, world = grounded.commands()[some.command[n]], some.worlds[n]
        target, cell = world.placed[0]
        verb, phrase, manner = command.verb, command.phrase, command.manner
        wanted = {
            "visual_easier": (target.shape, target.color, phrase.color)
            == ("square", "yellow", "yellow"),
            "visual": (target.shape, target.color) == ("square", "red"),
            "situational_1": cell.row > world.agent.row and cell.column < world.agent.column,
            "situational_2": (target.shape, target.size, phrase.size) == ("circle", 2, "small"),
            "contextual": (target.shape, target.size, verb) == ("square", 3, "push"),
            "adverb_1": manner == "cautiously",
            "adverb_2": (verb, manner) == ("pull", "while spinning"),
        }
        assert dict(zip(HELD_OUT, flags.tolist(), strict=True)) == wanted
        assert grounded.referent(phrase, world.things) == 0
        way = cell.row - world.agent.row, cell.column - world.agent.column
        signs = tuple(np.sign(way).tolist())
        assert list(DIRECTIONS.values())[some.directions[n]] == signs


def test_what_is_made_does_not_depend_on_the_number_of_workers() -> None:
    data = CompositionalData(grid=4, resampling=1, kind="simple_intrans", seed=3)
    one, two = every(data), every(replace(data, workers=2))
    assert list(one.actions) == list(two.actions)
    for name in ("size", "agent", "heading", "things", "cells", "offsets"):
        np.testing.assert_array_equal(getattr(one.worlds, name), getattr(two.worlds, name))


def test_another_seed_gives_other_worlds() -> None:
    data = CompositionalData(grid=4, resampling=1, kind="simple_intrans")
    one, other = (every(replace(data, seed=seed)) for seed in (0, 1))
    assert (one.worlds.agent != other.worlds.agent).any()


@pytest.mark.parametrize(
    ("kind", "count"),
    [("adverb", 675), ("normal", 135), ("simple_trans", 63), ("simple_intrans", 21)],
)
def test_a_kind_has_its_commands(kind: Kind, count: int) -> None:
    assert len(commands_of(kind)) == count
