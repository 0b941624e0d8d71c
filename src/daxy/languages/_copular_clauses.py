"""Clauses: the meanings of copular sentences."""

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
    """A subject with its pronouns."""

    english: str
    french: str
    is_plural: bool
    is_female: bool

    @property
    def name(self) -> str:
        """The two pronouns, with gender and number where French shows them."""
        who = ["women" if self.is_plural else "a woman"] if self.is_female else []
        who += ["several"] if self.is_plural and self.french == "vous" else []
        return f"{self.english}/{self.french}" + (f" ({', '.join(who)})" if who else "")


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate with its forms."""

    kind: Kind
    english: Tokens
    """Singular."""
    of_many: Tokens
    """English plural."""
    french: tuple[Tokens, Tokens, Tokens, Tokens]
    """French forms of a man, a woman, men (or both), women."""

    def forms_for(self, subject: Subject) -> tuple[Tokens, Tokens]:
        """Return the English and the French form for a subject."""
        form = self.french[2 * subject.is_plural + subject.is_female]
        return self.of_many if subject.is_plural else self.english, form


@dataclass(frozen=True, slots=True)
class Clause:
    """The meaning of a sentence: a subject, a predicate, negation and degree."""

    subject: Subject
    predicate: Predicate
    is_negated: bool = False
    is_very: bool = False

    def sentences(self, language: Language) -> tuple[Tokens, ...]:
        """Return the sentences with this meaning, the one without contractions first."""
        return self._english() if language == "english" else (self._french(),)

    def _english(self) -> tuple[Tokens, ...]:
        who = self.subject.english
        full, short = BE[who]
        rest = (*["very"] * self.is_very, *self.predicate.forms_for(self.subject)[0], END)
        if not self.is_negated:
            return (who, full, *rest), (who, short, *rest)
        forms = [(who, full, "not", *rest), (who, short, "not", *rest)]
        # There is `he isn't`, but no `I amn't`.
        return tuple([*forms, (who, f"{full}n", "t", *rest)] if full != "am" else forms)

    def _french(self) -> Tokens:
        who = self.subject.french
        verb = ETRE[who]
        rest = (*["tres"] * self.is_very, *self.predicate.forms_for(self.subject)[1], END)
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
"""Forms of `be` by pronoun, in full and contracted."""
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
