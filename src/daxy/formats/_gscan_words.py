"""Words of gSCAN's official files for commands and directions."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from daxy.core.errors import quote
from daxy.languages import grounded
from daxy.languages._reader import NotACommand
from daxy.worlds.placement import DIRECTIONS


class WrongExample(Exception):  # noqa: N818 - reads as what happened
    """Error of an example."""


class CommandWords(NamedTuple):
    """Fields of a command in official files."""

    number: int
    """In `grounded.commands()`."""
    derivation: str
    verb: str
    manner: str
    referred: str


@cache
def command_words(command: str) -> CommandWords:
    """Return the fields of a command, written with commas."""
    try:
        parsed = grounded.parse(tuple(command.split(",")))
    except NotACommand as error:
        raise WrongExample(f"command is {quote(command)}: {error}") from None
    phrase = parsed.phrase
    return CommandWords(
        number=grounded.command_indices()[grounded.say(parsed)],
        derivation=grounded.derivation(parsed),
        verb=parsed.verb,
        manner=parsed.manner or "",
        referred=f"{phrase.size or ''} {phrase.color or ''} {phrase.shape}",
    )


@cache
def direction(rows: int, columns: int) -> str:
    """Return the official name of a direction from the agent to the target."""
    signs = int(np.sign(rows)), int(np.sign(columns))
    return next((name for name, each in DIRECTIONS.items() if each == signs), " ")
