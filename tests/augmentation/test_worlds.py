"""GECA where commands are said in worlds: what is changed, and what never is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import daxy
from daxy.augmentation import Augmenter
from daxy.augmentation.geca import Geca
from daxy.augmentation.worlds import Rewriter, Rewritten, spelled, targets, thing_spelled
from daxy.core.errors import WrongRequest
from daxy.core.examples import Examples
from daxy.languages import grounded
from daxy.languages.grounded import COLORS, SHAPES, SIZES, Thing
from daxy.worlds.columns import Worlds

GECA = Geca(count=40)


@pytest.fixture(scope="module")
def train() -> Examples:
    found = daxy.load("gscan/compositional", grid=4, resampling=1, kind="normal", shots=0).train
    assert found.worlds is not None
    return found


@pytest.fixture(scope="module")
def rewriter(train: Examples) -> Rewriter:
    return Rewriter(train, GECA)


@pytest.fixture(scope="module")
def rewritten(rewriter: Rewriter) -> Rewritten:
    return rewriter.augment(0)


def things(worlds: Worlds) -> np.ndarray:
    """Return the target of each world."""
    return worlds.targets


def others(worlds: Worlds) -> np.ndarray:
    """Return the things of all worlds but the targets."""
    return np.delete(worlds.things, worlds.target_rows, axis=0)


def test_actions_and_all_of_a_world_but_its_target_stay(
    train: Examples, rewritten: Rewritten
) -> None:
    sides = ((train, rewritten.original), (train.take(rewritten.made_of), rewritten.added))
    for before, now in sides:
        assert list(now.target) == list(before.target)
        for column in ("size", "agent", "heading", "cells", "offsets"):
            expected = getattr(before.worlds, column)
            np.testing.assert_array_equal(getattr(now.worlds, column), expected)
        np.testing.assert_array_equal(others(now.worlds), others(before.worlds))


@pytest.mark.slow
def test_a_command_and_its_target_become_what_was_composed_of_them(
    train: Examples, rewritten: Rewritten
) -> None:
    known = {
        (origin, (each.source, each.target))
        for each in rewritten.compositions
        for origin in each.origins
    }
    changed = 0
    for before, now in (
        *zip(train, rewritten.original, strict=True),
        *zip(train.take(rewritten.made_of), rewritten.added, strict=True),
    ):
        was, becomes = (
            (each.source, spelled(each.world.placed[0].thing)) for each in (before, now)
        )
        changed += was != becomes
        assert was == becomes or (was, becomes) in known
    assert changed == rewritten.changed + len(rewritten.added)


def test_every_example_that_something_can_be_made_of_is_changed(
    train: Examples, rewritten: Rewritten
) -> None:
    origins = {origin for each in rewritten.compositions for origin in each.origins}
    pairs = [(each.source, spelled(each.world.placed[0].thing)) for each in train]
    assert sum(pair in origins for pair in pairs) == rewritten.changed > 0
    left = [(each.source, spelled(each.world.placed[0].thing)) for each in rewritten.original]
    assert not origins & set(left)


def test_what_is_new_is_in_no_training_example(train: Examples, rewritten: Rewritten) -> None:
    """Both its command and its thing are: of all things train lacks red squares alone."""
    said, placed = set(train.source), {tuple(row) for row in things(train.worlds).tolist()}
    assert {each.source for each in rewritten.compositions}.isdisjoint(said)
    for each in rewritten.compositions:
        assert thing_spelled(each.target)[:2] == ("square", "red")
    assert (SHAPES.index("square"), COLORS.index("red"), 0) not in placed


def test_what_is_no_command_is_drawn_all_the_same(rewritten: Rewritten) -> None:
    known = grounded.command_indices()
    odd = [each for each in rewritten.added if each.source not in known]
    assert odd
    for each in rewritten.added:
        assert each._repr_svg_().startswith("<svg")


def test_there_are_as_many_more_as_are_asked_for(rewritten: Rewritten, train: object) -> None:
    assert train.worlds is not None
    assert len(rewritten.added) == GECA.count
    assert len(rewritten.examples) == len(train) + GECA.count


def test_the_seed_decides(rewriter: Rewriter, rewritten: Rewritten) -> None:
    again, other = rewriter.augment(0), rewriter.augment(1)
    assert again.original.keys == rewritten.original.keys
    assert again.added.keys == rewritten.added.keys
    assert other.added.keys != rewritten.added.keys


def test_the_training_set_may_stay_as_it_is(train: Examples, rewritten: Rewritten) -> None:
    beside = Rewriter(train, replace(GECA, in_place=False)).augment(0)
    assert beside.original.keys == train.keys
    assert beside.changed == 0
    assert len(beside.added) == GECA.count
    assert beside.compositions == rewritten.compositions


def test_nothing_is_made_of_what_has_nothing_new(train: Examples) -> None:
    walks = [row for row, source in enumerate(train.source) if source == train.source[0]]
    found = Rewriter(train.take(walks), GECA).augment(0)
    assert (found.changed, len(found.added), found.compositions) == (0, 0, ())


@pytest.mark.slow
def test_targets_are_counted_by_kind_and_by_whether_their_color_is_said(
    rewritten: Rewritten,
) -> None:
    examples = rewritten.examples
    counted = targets(examples)
    assert sum(placed for placed, _ in counted.values()) == len(examples)
    for kind, (placed, referred) in counted.items():
        color, shape = kind.split()
        are = [
            color in each.source
            for each in examples
            if each.world.placed[0].thing[:2] == (shape, color)
        ]
        assert (placed, referred) == (len(are), sum(are))


@given(st.sampled_from([Thing(*each) for each in np.ndindex(3, 4, 4)]))
def test_a_thing_is_spelled_in_words_of_its_own(places: Thing) -> None:
    thing = Thing(SHAPES[places[0]], COLORS[places[1]], SIZES[int(places[2])])
    assert thing_spelled(spelled(thing)) == thing
    words = {word for command in grounded.commands() for word in grounded.say(command)}
    assert not set(spelled(thing)) & words


@pytest.mark.parametrize(
    "text",
    [
        "shape=square color=red",
        "red",
        "",
        "shape=square color=red size=x",
        "shape=ball color=red size=1",
        "shape=square color=pink size=1",
        "shape=square color=red size=9",
        "shape=square color=red color=blue size=1",
    ],
)
def test_tokens_that_spell_no_thing_are_refused(text: str) -> None:
    with pytest.raises(WrongRequest, match=f"{text} spells no thing"):
        thing_spelled(tuple(text.split()))


@pytest.mark.parametrize("row", [0, 1, 2])
def test_a_world_without_things_is_refused(train: Examples, row: int) -> None:
    some = train.take([0, 1, 2])
    worlds = list(some.worlds)
    worlds[row] = replace(worlds[row], placed=())
    bare = replace(some, worlds=Worlds.of(worlds))
    for make in (targets, lambda examples: Rewriter(examples, GECA).augment(0)):
        with pytest.raises(WrongRequest, match=f"the world of example {row} has no things"):
            make(bare)


def test_a_run_is_taught_the_changed_set_and_what_was_added(
    train: Examples, rewritten: Rewritten
) -> None:
    taught = Augmenter(train, GECA).augment(0)
    assert taught.original.keys == rewritten.original.keys
    assert taught.added.keys == rewritten.added.keys


def test_what_has_no_worlds_or_would_change_nothing_is_refused(train: Examples) -> None:
    with pytest.raises(WrongRequest, match="the examples have no worlds"):
        Rewriter(daxy.load("scan/simple_p1").train, GECA)  # pyright: ignore[reportArgumentType]
    nothing = Rewriter(train, replace(GECA, count=0, in_place=False))
    with pytest.raises(WrongRequest, match="with no-in-place count must be positive, not 0"):
        nothing.augment(0)
    assert len(Rewriter(train, replace(GECA, count=0)).augment(0).added) == 0
