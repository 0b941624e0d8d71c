"""Left-to-right reader for parsers, with exact errors."""

from __future__ import annotations

from daxy.core.errors import WrongRequest, quote
from daxy.core.tokens import Tokens

MOST_OF_LINE, MOST_OF_WORD = 130, 60
"""Maximum characters of a quoted command and of its wrong word."""


class NotACommand(WrongRequest):
    """Words outside the grammar, with the first wrong word and the expected ones."""

    def __init__(self, words: Tokens, position: int, expected: Tokens, *, may_end: bool) -> None:
        choices = [*expected, *(["the end of the command"] if may_end else [])]
        wanted = " or ".join([", ".join(choices[:-1]), choices[-1]] if choices[1:] else choices)
        if position > len(words):
            text = " ".join(words)
            problem = f"{quote(text, len(text))} ends too early: word {position} is missing"
        else:
            before, wrong, after = words[: position - 1], words[position - 1], words[position:]
            marked = " ".join([*before, f"[{wrong}]", *after])
            at = sum(len(word) + 1 for word in before)
            line, word = quote(marked, at, most=MOST_OF_LINE), quote(wrong, most=MOST_OF_WORD)
            problem = f"not a command: {line}, word {position} cannot be {word}"
        super().__init__(f"{problem}; expected {wanted}")
        self.words = words
        self.position = position
        """Position of the first wrong word, from 1; one past the last for an early end."""
        self.expected = expected
        """The expected words, in the grammar's order."""
        self.may_end = may_end
        """Whether the command could have ended before this word."""


class Reader:
    """A position in words; rejected choices since the last word are the expected words."""

    def __init__(self, words: Tokens) -> None:
        self._words = words
        self._position = 0
        self._asked: Tokens = ()

    def optional(self, *choices: str) -> str | None:
        """Return the next word if it is one of these, and go past it."""
        word = self._words[self._position] if self._position < len(self._words) else None
        if word in choices:
            self._position += 1
            self._asked = ()
            return word
        self._asked += choices
        return None

    def required(self, *choices: str) -> str:
        """Return the next word, and go past it.

        Raises:
            NotACommand: it is none of these.
        """
        word = self.optional(*choices)
        if word is None:
            raise NotACommand(self._words, self._position + 1, self._asked, may_end=False)
        return word

    def end(self) -> None:
        """Make sure that all is read.

        Raises:
            NotACommand: there is another word.
        """
        if self._position < len(self._words):
            raise NotACommand(self._words, self._position + 1, self._asked, may_end=True)
