"""The parser of SCAN's grammar (Lake & Baroni 2018, Fig. 6), with exact errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from daxy.core.errors import WrongRequest
from daxy.languages._scan_commands import (
    TURN,
    Act,
    After,
    And,
    Around,
    Command,
    Opposite,
    Repeat,
    Sentence,
    Toward,
    VerbPhrase,
)

if TYPE_CHECKING:
    from daxy.core.examples import Tokens

DIRECTIONS = ("left", "right")
TIMES = {"twice": 2, "thrice": 3}


class NotACommand(WrongRequest):
    """Words outside the grammar: where the first wrong one stands, and what could stand there."""

    def __init__(self, words: Tokens, position: int, expected: Tokens, *, may_end: bool) -> None:
        choices = [*expected, *(["the end of the command"] if may_end else [])]
        wanted = " or ".join([", ".join(choices[:-1]), choices[-1]] if choices[1:] else choices)
        if position > len(words):
            said = f"{' '.join(words)!r} ends too early: word {position} is missing"
        else:
            before, wrong, after = words[: position - 1], words[position - 1], words[position:]
            marked = " ".join([*before, f"[{wrong}]", *after])
            said = f"not a command: {marked!r}, word {position} cannot be {wrong!r}"
        super().__init__(f"{said}; expected {wanted}")
        self.words = words
        self.position = position
        """Where the first wrong word stands, from 1; one past the last for an early end."""
        self.expected = expected
        """The words that could stand there, in the grammar's order."""
        self.may_end = may_end
        """Whether the command could have ended before this word."""


class Parser:
    """Reads words from the left; what it asked for in vain is what could have stood there."""

    def __init__(self, words: Tokens, verbs: Tokens) -> None:
        self._words, self._verbs = words, verbs
        self._position = 0
        self._asked: Tokens = ()

    def command(self) -> Command:
        first = self._sentence()
        link = self._optional("and", "after")
        if link is None:
            return self._end(first)
        form = And if link == "and" else After
        return self._end(form(first, self._sentence()))

    def _sentence(self) -> Sentence:
        phrase = self._verb_phrase()
        times = self._optional(*TIMES)
        return phrase if times is None else Repeat(phrase, TIMES[times])

    def _verb_phrase(self) -> VerbPhrase:
        verb = self._required(*self._verbs)
        choices = (*DIRECTIONS, "opposite", "around")
        word = self._required(*choices) if verb == TURN else self._optional(*choices)
        if word is None:
            return Act(verb)
        if word in DIRECTIONS:
            return Toward(verb, word)
        form = Opposite if word == "opposite" else Around
        return form(verb, self._required(*DIRECTIONS))

    def _optional(self, *choices: str) -> str | None:
        word = self._words[self._position] if self._position < len(self._words) else None
        if word in choices:
            self._position += 1
            self._asked = ()
            return word
        self._asked += choices
        return None

    def _required(self, *choices: str) -> str:
        word = self._optional(*choices)
        if word is None:
            raise NotACommand(self._words, self._position + 1, self._asked, may_end=False)
        return word

    def _end(self, command: Command) -> Command:
        if self._position < len(self._words):
            raise NotACommand(self._words, self._position + 1, self._asked, may_end=True)
        return command
