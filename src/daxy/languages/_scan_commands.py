"""SCAN's commands as values, with their words and their meaning (Lake & Baroni 2018, Fig. 7)."""

from __future__ import annotations

from dataclasses import dataclass

from daxy.core.tokens import Tokens

TURN = "turn"
"""The verb that means no action of its own: `turn left` is only the turn."""


@dataclass(frozen=True, slots=True)
class Act:
    """`walk`: a primitive on its own."""

    verb: str


@dataclass(frozen=True, slots=True)
class Toward:
    """`walk left`; with the verb `turn`, only the turn."""

    verb: str
    direction: str


@dataclass(frozen=True, slots=True)
class Opposite:
    """`walk opposite left`."""

    verb: str
    direction: str


@dataclass(frozen=True, slots=True)
class Around:
    """`walk around left`."""

    verb: str
    direction: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """`... twice` or `... thrice`."""

    inner: Act | Toward | Opposite | Around
    times: int


@dataclass(frozen=True, slots=True)
class And:
    """`first and second`."""

    first: Sentence
    second: Sentence


@dataclass(frozen=True, slots=True)
class After:
    """`first after second`: the second is done first."""

    first: Sentence
    second: Sentence


VerbPhrase = Act | Toward | Opposite | Around
Sentence = VerbPhrase | Repeat
Command = Sentence | And | After


def denote(command: Command) -> Tokens:
    """Return the actions that a command means (Lake & Baroni 2018, Fig. 7)."""
    match command:
        case Act(verb):
            return _act(verb)
        case Toward(verb, direction):
            return _turn(direction) + _act(verb)
        case Opposite(verb, direction):
            return _turn(direction) * 2 + _act(verb)
        case Around(verb, direction):
            return (_turn(direction) + _act(verb)) * 4
        case Repeat(inner, times):
            return denote(inner) * times
        case And(first, second):
            return denote(first) + denote(second)
        case After(first, second):
            return denote(second) + denote(first)


def say(command: Command) -> Tokens:
    """Return the words of a command; parsing them gives the command back."""
    match command:
        case Act(verb):
            return (verb,)
        case Toward(verb, direction):
            return (verb, direction)
        case Opposite(verb, direction):
            return (verb, "opposite", direction)
        case Around(verb, direction):
            return (verb, "around", direction)
        case Repeat(inner, times):
            return (*say(inner), "twice" if times == 2 else "thrice")
        case And(first, second):
            return (*say(first), "and", *say(second))
        case After(first, second):
            return (*say(first), "after", *say(second))


def _act(verb: str) -> Tokens:
    return () if verb == TURN else (f"I_{verb.upper()}",)


def _turn(direction: str) -> Tokens:
    return (f"I_TURN_{direction.upper()}",)
