"""The parser of SCAN's grammar (Lake & Baroni 2018, Fig. 6), with exact errors."""

from __future__ import annotations

from daxy.core.tokens import Tokens
from daxy.languages._reader import Reader
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

DIRECTIONS = ("left", "right")
TIMES = {"twice": 2, "thrice": 3}


class Parser:
    """Reads a command from the left."""

    def __init__(self, words: Tokens, verbs: Tokens) -> None:
        self._reader, self._verbs = Reader(words), verbs

    def command(self) -> Command:
        """Return the parse of all the words."""
        command: Command = self._sentence()
        link = self._reader.optional("and", "after")
        if link is not None:
            form = And if link == "and" else After
            command = form(command, self._sentence())
        self._reader.end()
        return command

    def _sentence(self) -> Sentence:
        phrase = self._verb_phrase()
        times = self._reader.optional(*TIMES)
        return phrase if times is None else Repeat(phrase, TIMES[times])

    def _verb_phrase(self) -> VerbPhrase:
        read = self._reader
        verb = read.required(*self._verbs)
        choices = (*DIRECTIONS, "opposite", "around")
        word = read.required(*choices) if verb == TURN else read.optional(*choices)
        if word is None:
            return Act(verb)
        if word in DIRECTIONS:
            return Toward(verb, word)
        form = Opposite if word == "opposite" else Around
        return form(verb, read.required(*DIRECTIONS))
