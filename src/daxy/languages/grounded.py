"""gSCAN's commands and what they mean in a world (Ruis et al. 2020, section 3 and Appendix A).

    ROOT -> VP
    VP   -> VP RB | VV_intrans 'to' DP | VV_trans DP
    DP   -> 'a' NP
    NP   -> JJ NP | NN
    VV_intrans -> walk          VV_trans -> push | pull
    NN -> circle | square | cylinder
    JJ -> red | green | yellow | blue | small | big
    RB -> while spinning | while zigzagging | hesitantly | cautiously

A phrase has at most one color and one size, the color first: 675 commands. What a phrase refers to
depends on what there is: `a small circle` is the smallest of several circles. Appendix A forgets
`yellow`; `while spinning` is one word of the official files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

from daxy.core.errors import WrongRequest
from daxy.core.tokens import Tokens
from daxy.languages._reader import Reader

VERBS = ("walk", "push", "pull")
SHAPES = ("circle", "square", "cylinder")
COLORS = ("red", "green", "yellow", "blue")
SIZE_WORDS = ("small", "big")
SIZES = (1, 2, 3, 4)
MANNERS = ("while spinning", "while zigzagging", "hesitantly", "cautiously")


class Thing(NamedTuple):
    """An object of a world."""

    shape: str
    color: str
    size: int
    """From 1 to 4; 3 and 4 are heavy."""

    def __str__(self) -> str:
        return f"{self.color} {self.shape} of size {self.size}"

    @property
    def weight(self) -> int:
        """Number of pushes or pulls for a move by one cell (section 3)."""
        return 2 if self.size > 2 else 1


@dataclass(frozen=True, slots=True)
class Phrase:
    """`a red small circle`."""

    shape: str
    color: str | None = None
    size: str | None = None

    def __str__(self) -> str:
        return " ".join(("a", *filter(None, (self.color, self.size)), self.shape))


@dataclass(frozen=True, slots=True)
class Command:
    """`push a red small circle cautiously`."""

    verb: str
    phrase: Phrase
    manner: str | None = None


class NoReferent(WrongRequest):
    """A phrase without a referent, or with several."""


def words(text: str) -> Tokens:
    """Return the words of a command; `while` and the next word are one."""
    merged = list[str]()
    for word in text.split():
        if merged and merged[-1] == "while":
            merged[-1] = f"while {word}"
        else:
            merged.append(word)
    return tuple(merged)


def parse(tokens: Sequence[str]) -> Command:
    """Return the one parse of a command's words.

    Raises:
        NotACommand: they are no command of this language.
    """
    read = Reader(tuple(tokens))
    verb = read.required(*VERBS)
    if verb == "walk":
        read.required("to")
    read.required("a")
    color = read.optional(*COLORS)
    size = read.optional(*SIZE_WORDS)
    phrase = Phrase(read.required(*SHAPES), color, size)
    manner = read.optional(*MANNERS)
    read.end()
    return Command(verb, phrase, manner)


def say(command: Command) -> Tokens:
    """Return the words of a command; parsing them gives the command back."""
    phrase, manner = command.phrase, command.manner
    verb = ("walk", "to") if command.verb == "walk" else (command.verb,)
    adjectives = tuple(word for word in (phrase.color, phrase.size) if word)
    return (*verb, "a", *adjectives, phrase.shape, *((manner,) if manner else ()))


def phrases() -> Iterator[Phrase]:
    """Yield the 45 phrases, the barest first."""
    for with_color, with_size in ((False, False), (True, False), (False, True), (True, True)):
        colors = COLORS if with_color else (None,)
        sizes = SIZE_WORDS if with_size else (None,)
        yield from (Phrase(*each) for each in product(SHAPES, colors, sizes))


@cache
def commands() -> tuple[Command, ...]:
    """Return all 675 commands, by manner, verb and phrase."""
    every = product((None, *MANNERS), VERBS, phrases())
    return tuple(Command(verb, phrase, manner) for manner, verb, phrase in every)


@cache
def command_indices() -> dict[Tokens, int]:
    """Return the index of each command in `commands`, by its words."""
    return {say(command): index for index, command in enumerate(commands())}


def candidates(phrase: Phrase, things: Sequence[Thing]) -> list[int]:
    """Return the indices of the things with the phrase's shape and color."""
    return [
        place
        for place, thing in enumerate(things)
        if thing.shape == phrase.shape and phrase.color in (None, thing.color)
    ]


def referent(phrase: Phrase, things: Sequence[Thing]) -> int:
    """Return the index of the referent of a phrase.

    Sizes are relative: `small` is the smallest of the things with the named shape and color, if
    they differ in size; `big` is the largest.

    Raises:
        NoReferent: nothing fits, or more than one thing does.
    """
    found = candidates(phrase, things)
    if phrase.size is not None and found:
        sizes = {things[place].size for place in found}
        if len(sizes) == 1:
            alone = "it is alone" if len(found) == 1 else "all have one size"
            raise NoReferent(f"nothing is {phrase}: {_list(things, found)}; {alone}")
        extreme = min(sizes) if phrase.size == "small" else max(sizes)
        found = [place for place in found if things[place].size == extreme]
    if not found:
        raise NoReferent(f"nothing is {phrase}: there is {_list(things, range(len(things)))}")
    if len(found) > 1:
        raise NoReferent(f"more than one thing is {phrase}: {_list(things, found)}")
    return found[0]


def _list(things: Sequence[Thing], places: Sequence[int]) -> str:
    return ", ".join(f"a {things[place]}" for place in places) or "nothing at all"


def derivation(command: Command) -> str:
    """Return the derivation as the official files write it."""
    phrase, walks = command.phrase, command.verb == "walk"
    adjectives = [word for word in (phrase.color, phrase.size) if word]
    rules = ["NP -> NN", *["NP -> JJ NP"] * len(adjectives), "DP -> 'a' NP"]
    rules += ["VP -> VV_intrans 'to' DP" if walks else "VP -> VV_trans DP"]
    leaves = [f"T:{command.verb}"]
    leaves += [f"NT:VV_{'in' * walks}transitive -> {command.verb}", *["T:to"] * walks, "T:a"]
    leaves += _adjectives(adjectives)
    leaves += [f"T:{phrase.shape}", f"NT:NN -> {phrase.shape}"]
    if command.manner:
        rules.append("VP -> VP RB")
        leaves += [f"T:{command.manner}", f"NT:RB -> {command.manner}"]
    return f"{','.join([*rules, 'ROOT -> VP'])};{','.join(leaves)}"


def _adjectives(words: Sequence[str]) -> list[str]:
    """Return the leaves of adjectives; both rules follow the first word, as in the files."""
    if not words:
        return []
    first, *others = words
    rules = ":".join(f"JJ -> {word}" for word in reversed(words))
    return [f"T:{first}", f"NT:{rules}", *(f"T:{word}" for word in others)]
