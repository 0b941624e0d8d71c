"""What gSCAN's tests hold out (Ruis et al. 2020, section 5), of many examples at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from daxy.languages import grounded
from daxy.languages.grounded import COLORS, SHAPES, SIZES, Command
from daxy.tasks._gscan_examples import Demonstrations
from daxy.worlds.placement import DIRECTIONS

Flags = NDArray[np.bool_]


def _says(shown: Demonstrations, holds: Callable[[Command], bool]) -> Flags:
    return np.array([holds(command) for command in grounded.commands()])[shown.command]


def _is(shown: Demonstrations, shape: str, *, color: str | None = None, size: int | None = None) -> Flags:
    """Return whether each target is of a shape, and of a color or size if one is given."""
    shapes, colors, sizes = shown.targets.T
    found = shapes == SHAPES.index(shape)
    if color is not None:
        found &= colors == COLORS.index(color)
    if size is not None:
        found &= sizes == SIZES.index(size)
    return found


def yellow_squares(shown: Demonstrations) -> Flags:
    """B: yellow squares spoken of with their color."""
    return _is(shown, "square", color="yellow") & _says(
        shown, lambda command: command.phrase.color == "yellow"
    )


def red_squares(shown: Demonstrations) -> Flags:
    """C: red squares, however they are spoken of."""
    return _is(shown, "square", color="red")


def novel_direction(shown: Demonstrations) -> Flags:
    """D: targets south-west of the agent."""
    return shown.directions == list(DIRECTIONS).index("sw")


def relativity(shown: Demonstrations) -> Flags:
    """E: circles of size 2 that are small."""
    return _is(shown, "circle", size=2) & _says(
        shown, lambda command: command.phrase.size == "small"
    )


def class_inference(shown: Demonstrations) -> Flags:
    """F: squares of size 3 that are pushed."""
    return _is(shown, "square", size=3) & _says(shown, lambda command: command.verb == "push")


def few_shot_adverb(shown: Demonstrations) -> Flags:
    """G: what is done cautiously."""
    return _says(shown, lambda command: command.manner == "cautiously")


def adverb_to_verb(shown: Demonstrations) -> Flags:
    """H: what is pulled while spinning."""
    return _says(shown, lambda command: (command.verb, command.manner) == ("pull", SPINNING))


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
"""By the name that the official files have for it."""


def held_out(shown: Demonstrations) -> NDArray[np.bool_]:
    """Return which tests hold each example out: [count, tests], in the order of `HELD_OUT`."""
    return np.stack([holds(shown) for holds in HELD_OUT.values()], axis=1)
