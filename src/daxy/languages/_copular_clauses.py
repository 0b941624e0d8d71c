"""What a sentence about somebody means: who is what, or is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from daxy.core.tokens import Tokens

Kind = Literal["adjective", "noun", "phrase"]
Language = Literal["english", "french"]
LANGUAGES: tuple[Language, ...] = ("english", "french")
END = "."


@dataclass(frozen=True, slots=True)
class Subject:
    """Somebody who is spoken of."""

    english: str
    french: str
    is_many: bool
    is_female: bool

    @property
    def name(self) -> str:
        """The two pronouns, and what French says of who they stand for."""
        who = ["women" if self.is_many else "a woman"] if self.is_female else []
        who += ["several"] if self.is_many and self.french == "vous" else []
        return f"{self.english}/{self.french}" + (f" ({', '.join(who)})" if who else "")


@dataclass(frozen=True, slots=True)
class Predicate:
    """What can be said of somebody."""

    kind: Kind
    english: Tokens
    """Of one."""
    of_many: Tokens
    """In English, of several."""
    french: tuple[Tokens, Tokens, Tokens, Tokens]
    """Of a man, a woman, men (or both), women."""

    def said_of(self, subject: Subject) -> tuple[Tokens, Tokens]:
        """Return it in English and in French, of this subject."""
        form = self.french[2 * subject.is_many + subject.is_female]
        return self.of_many if subject.is_many else self.english, form


@dataclass(frozen=True, slots=True)
class Clause:
    """What is meant: somebody is something, or is not."""

    subject: Subject
    predicate: Predicate
    is_negated: bool = False
    is_very: bool = False

    def said(self, language: Language) -> tuple[Tokens, ...]:
        """Return the sentences that say it, the one without contractions first."""
        return self._english() if language == "english" else (self._french(),)

    def _english(self) -> tuple[Tokens, ...]:
        who = self.subject.english
        full, short = BE[who]
        rest = (*["very"] * self.is_very, *self.predicate.said_of(self.subject)[0], END)
        if not self.is_negated:
            return (who, full, *rest), (who, short, *rest)
        said = [(who, full, "not", *rest), (who, short, "not", *rest)]
        # One says `he isn't`, and not `I amn't`.
        return tuple([*said, (who, f"{full}n", "t", *rest)] if full != "am" else said)

    def _french(self) -> Tokens:
        who = self.subject.french
        verb = ETRE[who]
        rest = (*["tres"] * self.is_very, *self.predicate.said_of(self.subject)[1], END)
        if not self.is_negated:
            return who, verb, *rest
        return who, "n" if verb[0] in "aeiou" else "ne", verb, "pas", *rest


BE = {
    "i": ("am", "m"),
    "you": ("are", "re"),
    "he": ("is", "s"),
    "she": ("is", "s"),
    "we": ("are", "re"),
    "they": ("are", "re"),
}
"""What follows a pronoun, in full and contracted."""
ETRE = {
    "je": "suis",
    "tu": "es",
    "il": "est",
    "elle": "est",
    "nous": "sommes",
    "vous": "etes",
    "ils": "sont",
    "elles": "sont",
}
SUBJECTS = (
    Subject("i", "je", False, False),
    Subject("i", "je", False, True),
    Subject("you", "tu", False, False),
    Subject("you", "tu", False, True),
    Subject("you", "vous", False, False),
    Subject("you", "vous", False, True),
    Subject("you", "vous", True, False),
    Subject("you", "vous", True, True),
    Subject("he", "il", False, False),
    Subject("she", "elle", False, True),
    Subject("we", "nous", True, False),
    Subject("we", "nous", True, True),
    Subject("they", "ils", True, False),
    Subject("they", "elles", True, True),
)
ONESELF, FRIEND, MAN = SUBJECTS[0], SUBJECTS[2], SUBJECTS[8]
