"""Options of the data of translation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from daxy.core.errors import WrongRequest, quote, require
from daxy.core.settings import check_positive
from daxy.languages import copular, spelling
from daxy.languages.copular import Predicate
from daxy.tasks._dataset_options import DatasetOptions

MOST_REPETITIONS = 1_000_000
"""Maximum copies of the added sentence."""

Source = Literal["grammar", "file", "released"]
TUTORIAL = (
    *("i am ", "i m ", "he is", "he s ", "she is", "she s ", "you are", "you re "),
    *("we are", "we re ", "they are", "they re "),
)
PREFIXES = {"tutorial": TUTORIAL, "lake2018": (*TUTORIAL, "she s")}
"""Allowed beginnings of English sentences in the tutorial and in the released selection, where
`she s` matches `she said`, too."""


@dataclass(frozen=True, kw_only=True)
class TranslationOptions(DatasetOptions):
    """Source of the sentences, and the added word."""

    sentences: Source = "grammar"
    """Source of the sentences: daxy's own grammar, a file (--pairs), or the released selection of
    Lake & Baroni (--official); these flags imply it."""
    pairs: Path | None = None
    """File of Tatoeba sentences: English, a tab, French, and perhaps a tab and the attribution."""
    prefixes: Literal["tutorial", "lake2018"] = "lake2018"
    """Allowed beginnings of English sentences of a file: `i am`, `he s` and so on; `lake2018`
    allows `she said` too."""
    max_length: int = 9
    """Maximum words of a sentence, in either language, the full stop included."""
    test_fraction: float = 0.1058
    """Share of the pairs in test; no sentence of either language is in train and test."""
    word: str = "daxy=daxiste"
    """The new word and its translation."""
    repetitions: int = 1_000
    """Copies of its sentence in train: `i am daxy .`"""
    validation: Literal["published", "draw", "none"] = "published"
    """Validation set: random training examples (`draw`), or `none`. `published` is the authors' set
    for the released selection, and none otherwise; training then takes the choice of its
    protocol."""
    validation_fraction: float = 0.1
    """Share of the training examples that becomes the validation set."""

    not_in_identity: ClassVar[tuple[str, ...]] = ("official", "pairs")
    has_validation_option: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in ("official", "pairs") if getattr(self, name) is not None]
        require(len(given) < 2, "--pairs and --official are different data; expected one of them")
        if given:
            kind = "file" if given == ["pairs"] else "released"
            known = self.sentences in ("grammar", kind)
            require(known, f"--{given[0]} is not for the sentences of {self.sentences!r}")
            object.__setattr__(self, "sentences", kind)
        check_positive(self, "max_length")
        for name in ("test_fraction", "validation_fraction"):
            share, flag = getattr(self, name), name.replace("_", "-")
            require(0 < share < 1, f"{flag} must be between 0 and 1, not {share:g}")
        require(self.repetitions >= 0, f"repetitions must not be negative: {self.repetitions}")
        many = f"repetitions must be at most {MOST_REPETITIONS:,}, not {self.repetitions:,}"
        require(self.repetitions <= MOST_REPETITIONS, many)
        if self.sentences == "released":
            for name in ("seed", "prefixes", "max_length", "test_fraction", "validation_fraction"):
                self.check_plain(name, "the released selection is made already")
        self.check_fraction(is_requested=self.is_validated)
        if self.sentences == "grammar":
            self.check_plain("prefixes", "the grammar's sentences pass no filter")
        (english,), ((french,), *_) = self.added.english, self.added.french
        object.__setattr__(self, "word", f"{english}={french}")

    @property
    def is_validated(self) -> bool:
        """Whether there is a validation set."""
        released = self.validation == "published" and self.sentences == "released"
        return self.validation == "draw" or released

    @property
    def origin(self) -> str:
        """Origin of the data: generated, file or official."""
        return {"grammar": "generated", "file": "file", "released": "official"}[self.sentences]

    @property
    def added(self) -> Predicate:
        """The added word as an adjective.

        Raises:
            WrongRequest: the option is not a word and its translation.
        """
        parts = self.word.split("=")
        if len(parts) != len(copular.LANGUAGES) or not all(map(spelling.is_word, parts)):
            form = "word must be a word of a to z and its translation, as daxy=daxiste"
            raise WrongRequest(f"{form}, not {quote(self.word)}")
        (english,), (french,) = map(spelling.words, parts)
        return copular.adjective((english,), french)
