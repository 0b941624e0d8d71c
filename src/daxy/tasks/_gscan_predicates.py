"""Predicates of gSCAN's tests (Ruis et al. 2020, section 5), over many examples at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from daxy.languages import grounded
from daxy.languages.grounded import COLORS, SHAPES, SIZES, Command
from daxy.tasks._gscan_examples import Demonstrations
from daxy.worlds.placement import DIRECTIONS

Flags = NDArray[np.bool_]


def _says(table: Demonstrations, holds: Callable[[Command], bool]) -> Flags:
    return np.array([holds(command) for command in grounded.commands()])[table.command]


def _is(
    table: Demonstrations, shape: str, *, color: str | None = None, size: int | None = None
) -> Flags:
    shapes, colors, sizes = table.worlds.targets.T
    matches = shapes == SHAPES.index(shape)
    if color is not None:
        matches &= colors == COLORS.index(color)
    if size is not None:
        matches &= sizes == SIZES.index(size)
    return matches


def yellow_squares(table: Demonstrations) -> Flags:
    """B: yellow squares named by their color."""
    return _is(table, "square", color="yellow") & _says(
        table, lambda command: command.phrase.color == "yellow"
    )


def red_squares(table: Demonstrations) -> Flags:
    """C: red squares, by any phrase."""
    return _is(table, "square", color="red")


def novel_direction(table: Demonstrations) -> Flags:
    """D: targets south-west of the agent."""
    return table.directions == list(DIRECTIONS).index("sw")


def relativity(table: Demonstrations) -> Flags:
    """E: circles of size 2 called small."""
    return _is(table, "circle", size=2) & _says(
        table, lambda command: command.phrase.size == "small"
    )


def class_inference(table: Demonstrations) -> Flags:
    """F: pushed squares of size 3."""
    return _is(table, "square", size=3) & _says(table, lambda command: command.verb == "push")


def few_shot_adverb(table: Demonstrations) -> Flags:
    """G: cautious commands."""
    return _says(table, lambda command: command.manner == "cautiously")


def adverb_to_verb(table: Demonstrations) -> Flags:
    """H: pulling while spinning."""
    return _says(table, lambda command: (command.verb, command.manner) == ("pull", SPINNING))


SPINNING = "while spinning"
HELD_OUT: Mapping[str, Callable[[Demonstrations], Flags]] = {
    "visual_easier": yellow_squares,
    "visual": red_squares,
    "situational_1": novel_direction,
    "situational_2": relativity,
    "contextual": class_inference,
    "adverb_1": few_shot_adverb,
    "adverb_2": adverb_to_verb,
}
"""Predicates by the official names of the tests."""


def held_out(table: Demonstrations) -> NDArray[np.bool_]:
    """Return which tests select each example: [count, tests], in the order of `HELD_OUT`."""
    return np.stack([holds(table) for holds in HELD_OUT.values()], axis=1)
