"""Situations and what stands around, by the rules that the authors' data follow."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.core.errors import WrongRequest
from daxy.languages import grounded
from daxy.languages.grounded import Phrase, Thing
from daxy.worlds.batch_demonstration import demonstrate_everywhere
from daxy.worlds.columns import thing_of
from daxy.worlds.demonstration import demonstrate
from daxy.worlds.placement import (
    draw_distractors,
    draw_situations,
    place_objects,
    possible_targets,
)

PAIRS = [(phrase, thing) for phrase in grounded.phrases() for thing in possible_targets(phrase)]


@pytest.mark.parametrize(("size", "resampling"), [(2, 1), (3, 4), (4, 1), (6, 5), (12, 5)])
def test_a_target_is_in_every_direction_at_every_distance(size: int, resampling: int) -> None:
    found = draw_situations(size, resampling, np.random.default_rng(0))
    most = size - 1
    straight = min(most, 2) + max(size - 3, 0) * resampling
    assert len(found) == 4 * straight + 4 * ((2 * size - 4) * resampling + 1)
    for cells in (found.agent, found.target):
        assert cells.min() >= 0
        assert cells.max() < size
    ways = (found.target - found.agent).tolist()
    times = Counter((np.sign(row), np.sign(column), abs(row) + abs(column)) for row, column in ways)
    for (row, column, distance), many in times.items():
        ends = (1, most) if 0 in (row, column) else (2 * most,)
        assert many == (1 if distance in ends else resampling)


def test_the_paper_s_grid_has_232_situations_of_a_thing() -> None:
    assert len(draw_situations(6, 5, np.random.default_rng(1))) == 232


def test_there_are_as_many_pairs_of_a_command_and_a_target_as_in_the_data() -> None:
    pairs = sum(len(list(possible_targets(command.phrase))) for command in grounded.commands())
    assert pairs == 3600


@given(st.sampled_from(PAIRS), st.integers(0, 2**32))
def test_a_phrase_speaks_of_its_target_and_of_nothing_around(
    pair: tuple[Phrase, Thing], seed: int
) -> None:
    phrase, target = pair
    for others in draw_distractors(phrase, target, 4, np.random.default_rng(seed)).tolist():
        things = [target, *map(thing_of, others)]
        assert grounded.referent(phrase, things) == 0
        kinds = Counter((thing.shape, thing.color) for thing in things[1:])
        if phrase.size is not None:
            assert len(things) == 12
            beside = things[1]
            assert (beside.shape, beside.color) == (target.shape, target.color)
            assert (beside.size > target.size) == (phrase.size == "small")
            assert kinds.pop((target.shape, target.color)) == 1
            assert sorted(kinds.values()) == [2] * 5
        elif phrase.color is not None:
            assert sorted(kinds.values()) == [1] * 5
            assert len(things) == 6
        else:
            assert len(things) == 2
            assert things[1].shape != target.shape


def test_everything_that_may_stand_around_does_at_times() -> None:
    draw = np.random.default_rng(2)
    seen = {
        tuple(each)
        for each in draw_distractors(Phrase("circle"), Thing("circle", "red", 1), 900, draw)[:, 0]
    }
    assert len(seen) == 2 * 4 * 4
    many = draw_distractors(Phrase("circle", "red"), Thing("circle", "red", 1), 300, draw)
    kinds = Counter((shape, color) for shape, color, _ in many.reshape(-1, 3).tolist())
    assert len(kinds) == 11
    # Five of eleven each time: 300 * 5 / 11, give or take four standard deviations.
    assert all(abs(times - 136) < 4 * (300 * 5 / 11 * 6 / 11) ** 0.5 for times in kinds.values())


@given(st.sampled_from(grounded.commands()), st.integers(4, 7), st.integers(0, 2**32))
def test_worlds_are_whole_and_every_demonstration_is_the_one_of_its_world(
    command: grounded.Command, size: int, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    target = list(possible_targets(command.phrase))[-1]
    where = draw_situations(size, 1, draw)
    worlds = place_objects(command.phrase, target, where, size, draw)
    actions = demonstrate_everywhere(command, target, worlds)
    for row, (agent, cell) in enumerate(zip(where.agent, where.target, strict=True)):
        world = worlds[row]  # refuses two things on a cell
        assert world.agent == tuple(agent)
        assert world.placed[0] == (target, tuple(cell))
        assert world.agent not in {cell for _, cell in world.placed[1:]}
        assert actions[row] == demonstrate(command, world)


def test_a_grid_that_is_too_small_is_refused() -> None:
    draw = np.random.default_rng(0)
    target = Thing("circle", "red", 1)
    with pytest.raises(WrongRequest, match="3 by 3 has no room for 11 things around a small circ"):
        place_objects(Phrase("circle", None, "small"), target, draw_situations(3, 1, draw), 3, draw)
    with pytest.raises(WrongRequest, match="two cells along a side, not 1"):
        draw_situations(1, 1, draw)
    with pytest.raises(WrongRequest, match="resampling must be positive, not 0"):
        draw_situations(3, 0, draw)
