"""Examples with worlds: keys, rows and pictures."""

import numpy as np
import pytest
from hypothesis import given
from tests.worlds.made import actions, asked

import daxy
from daxy import tasks
from daxy.core.errors import WrongRequest
from daxy.core.examples import Examples, Sequences
from daxy.languages import grounded
from daxy.languages.grounded import Command
from daxy.worlds.columns import Worlds
from daxy.worlds.demonstration import demonstrate
from daxy.worlds.execution import fault
from daxy.worlds.world import World

TASK = tasks.get("gscan/length")


def table(*rows: tuple[Command, World]) -> Examples:
    return Examples(
        Sequences.of(grounded.say(command) for command, _ in rows),
        Sequences.of(demonstrate(*row) for row in rows),
        Worlds.of(world for _, world in rows),
    )


@given(asked())
def test_a_row_is_the_example_that_was_put_in(row: tuple[Command, World]) -> None:
    command, world = row
    examples = table(row, row)
    (example, again) = examples
    assert example.world is not None
    assert example == again == examples[-1]
    assert (example.source, example.world) == (grounded.say(command), world)
    assert examples.keys == (example.key,) * 2
    assert examples[1:][0] == example


@given(asked())
def test_a_notebook_shows_the_world_with_the_target(row: tuple[Command, World]) -> None:
    (example,) = table(row)
    assert example._repr_svg_().startswith("<svg ")


@given(asked(), asked())
def test_the_world_belongs_to_the_key(
    one: tuple[Command, World], other: tuple[Command, World]
) -> None:
    first, second = table(one, other)
    same = (first.source, first.target) == (second.source, second.target) and set(
        Worlds.of([one[1]]).contents
    ) == set(Worlds.of([other[1]]).contents)
    assert (first.key == second.key) == same


@given(asked())
def test_the_demonstration_executes_and_is_exact(row: tuple[Command, World]) -> None:
    examples = table(row)
    for name in ("exact", "executes"):
        assert TASK.total(name, examples, examples.target) == 1.0


def test_the_other_way_round_executes_without_being_exact() -> None:
    examples = daxy.load(
        "gscan/length", grid=4, resampling=1, kind="simple_intrans", max_length=5
    ).train
    assert examples.worlds is not None
    diagonal = [
        (row, ("turn right", *["walk"] * rows, "turn left", *["walk"] * columns))
        for row, example in enumerate(examples)
        for rows, columns in [
            np.subtract(example.world.placed[0].cell, example.world.agent).tolist()
        ]
        if rows > 0 and columns > 0
    ]
    some = examples.take([row for row, _ in diagonal])
    found = TASK.score("executes", some, Sequences.of(way for _, way in diagonal))
    assert len(some) > 50
    assert found.all()
    assert not TASK.score("exact", some, Sequences.of(way for _, way in diagonal)).any()


def test_what_has_no_world_cannot_be_executed() -> None:
    examples = Examples.of([(("walk", "to", "a", "circle"), ("walk",))])
    with pytest.raises(WrongRequest, match="only examples with worlds execute"):
        TASK.score("executes", examples, Sequences.of([()]))


@given(asked(), actions)
def test_the_score_is_whether_a_fault_is_found(row: tuple[Command, World], done: list[str]) -> None:
    command, world = row
    found = TASK.score("executes", table(row), Sequences.of([done]))
    assert found.tolist() == [fault(command, world, done) is None]
