"""Sentences that say what somebody is, in English and in French.

    S -> subject BE [not] [very] predicate .

The same can be said in several ways: `you` is `tu` or `vous`, a man or a woman, one or more;
`i am` is `i m`. So sentences of the two languages are translations of each other when a `Clause`,
what is meant, can be said as the one and as the other. Words are spelled as `daxy.languages.
spelling` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import product
from typing import Any, NamedTuple, final

from daxy.core.display import counted
from daxy.core.errors import MOST_COMPARED, WrongRequest, quote
from daxy.core.tokens import Tokens
from daxy.languages import _copular_forms, _language, spelling
from daxy.languages._copular_clauses import (
    BE,
    END,
    ETRE,
    FRIEND,
    LANGUAGES,
    MAN,
    ONESELF,
    SUBJECTS,
    Clause,
    Language,
    Predicate,
    Subject,
)
from daxy.languages._copular_lexicon import ADJECTIVES, NOUNS, PHRASES

CONSTRUCTIONS: Mapping[str, tuple[Subject, bool, bool]] = {
    "you are": (FRIEND, False, False),
    "he is": (MAN, False, False),
    "i am not": (ONESELF, True, False),
    "you are not": (FRIEND, True, False),
    "he is not": (MAN, True, False),
    "i am very": (ONESELF, False, True),
    "you are very": (FRIEND, False, True),
    "he is very": (MAN, False, True),
}
"""What Lake & Baroni (2018), Experiment 4, ask of a new word: its subject, negated, very."""


def constructions(predicate: Predicate) -> dict[str, tuple[Tokens, Tokens]]:
    """Return the sentence that each construction makes of a predicate, and its translation."""
    found: dict[str, tuple[Tokens, Tokens]] = {}
    for name, (subject, is_negated, is_very) in CONSTRUCTIONS.items():
        clause = Clause(subject, predicate, is_negated, is_very)
        found[name] = clause.said("english")[0], clause.said("french")[0]
    return found


def introduction(predicate: Predicate) -> tuple[Tokens, Tokens]:
    """Return the sentence that a new word is learned from, `i am daxy .`, and its translation."""
    clause = Clause(ONESELF, predicate)
    return clause.said("english")[0], clause.said("french")[0]


def adjective(english: Tokens, man: str, woman: str | None = None) -> Predicate:
    """Return the adjective with this meaning and these French forms; plurals follow.

    Args:
        english: Its words.
        man: What a man is.
        woman: What a woman is; by the rules unless given.
    """
    return Predicate("adjective", english, english, _copular_forms.french(man, woman))


@cache
def predicates() -> tuple[Predicate, ...]:
    """Return everything that can be said of somebody: adjectives, nouns, phrases."""
    found = [
        adjective(spelling.words(word), *forms.split()) for word, forms in _entries(ADJECTIVES)
    ]
    for word, forms in _entries(NOUNS):
        of_one = spelling.words(word)
        of_many = (*of_one[1:-1], _copular_forms.english_plural(of_one[-1]))
        found.append(Predicate("noun", of_one, of_many, _copular_forms.french(*forms.split())))
    for word, phrase in _entries(PHRASES):
        same, said = spelling.words(word), spelling.words(phrase)
        found.append(Predicate("phrase", same, same, (said, said, said, said)))
    return tuple(found)


def clauses(predicate: Predicate) -> Iterator[Clause]:
    """Yield everything that can be meant with a predicate; only adjectives can be `very`."""
    degrees = (False, True) if predicate.kind == "adjective" else (False,)
    for subject, is_negated, is_very in product(SUBJECTS, (False, True), degrees):
        yield Clause(subject, predicate, is_negated, is_very)


def parse(words: Sequence[str]) -> tuple[Language, tuple[Clause, ...]]:
    """Return the language of a sentence, and everything that can be meant by it.

    Raises:
        WrongRequest: it is no sentence of the grammar; says what is wrong.
    """
    sentence = tuple(words)
    who = sentence[0] if sentence else ""
    language: Language = "french" if who in ETRE else "english"
    known = sorted(BE | ETRE)
    if who not in known:
        raise WrongRequest(f"{_said(sentence)}: a sentence begins with {', '.join(known)}")
    if sentence[-1] != END:
        raise WrongRequest(f"{_said(sentence)}: a sentence ends with a full stop of its own")
    rest = _after_the_frame(sentence, language)
    if rest is None:
        verbs = " or ".join(BE[who]) if language == "english" else ETRE[who]
        raise WrongRequest(f"{_said(sentence)}: expected {verbs}, negated or not, after {who}")
    found = tuple(_read(sentence, language, _index()[language].get(rest, ())))
    if not found:
        if not rest:
            raise WrongRequest(f"{_said(sentence)}: nothing is said of {quote(who)}")
        said = " ".join(rest)
        known = map(" ".join, _index()[language]) if len(said) <= MOST_COMPARED else ()
        near = get_close_matches(said, known, n=1)
        hint = f"; did you mean {quote(near[0])}?" if near and near[0] != said else ""
        problem = f"{quote(said, most=60)} is not what {quote(who)} can be{hint}"
        raise WrongRequest(f"{_said(sentence)}: {problem}")
    return language, found


def translations(words: Sequence[str]) -> tuple[Tokens, ...]:
    """Return every sentence of the other language that says what this one says, sorted.

    Raises:
        WrongRequest: it is no sentence of the grammar.
    """
    language, meant = parse(words)
    return tuple(sorted({said for clause in meant for said in clause.said(_other(language))}))


def accepted(source: Sequence[str], target: Sequence[str]) -> frozenset[Tokens]:
    """Return what translates a sentence as well as the translation that is given does.

    A word that is not known, or not as this translation has it, is taken for an adjective, if the
    pair says it of one person who need not be a woman, and, after `vous`, in a form that could not
    be one of several: of `you are daxy . tu es daxiste .` all that can be said follows. What the
    grammar does not know has one translation.
    """
    asked, given = tuple(source), tuple(target)
    for language in LANGUAGES:
        meant = _meant(asked, given, language)
        if meant:
            others = (said for clause in meant for said in clause.said(_other(language)))
            return frozenset({given, *others})
    return frozenset({given})


def _meant(source: Tokens, target: Tokens, language: Language) -> list[Clause]:
    """Return what can be meant by a source of this language of which a translation is known."""
    other = _other(language)
    rest, said = _after_the_frame(source, language), _after_the_frame(target, other)
    if not rest or not said:
        return []
    found = list(_read(source, language, _index()[language].get(rest, ())))
    if any(target in each.said(other) for each in found):
        return found
    english, french = (rest, said) if language == "english" else (said, rest)
    who = (target if language == "english" else source)[0]
    word, *more = french
    if more or (who == "vous" and word.endswith(("s", "x"))):
        return []
    guessed = list(_read(source, language, (adjective(english, word),)))
    said_by = [each.subject for each in guessed if target in each.said(other)]
    is_one = any(not (each.is_many or each.is_female) for each in said_by)
    return guessed if is_one else []


def _read(sentence: Tokens, language: Language, known: tuple[Predicate, ...]) -> Iterator[Clause]:
    for predicate in known:
        yield from (each for each in clauses(predicate) if sentence in each.said(language))


def _after_the_frame(sentence: Tokens, language: Language) -> Tokens | None:
    """Return what stands between subject, verb, `not` and `very`, and the end; None without them.

    The longest frame counts: `i am not very daxy .` says `daxy`.
    """
    frames = _frames()[language]
    for size in range(min(len(sentence), 5), 1, -1):
        if sentence[:size] in frames and sentence[-1] == END:
            return sentence[size:-1]
    return None


@cache
def _frames() -> Mapping[Language, frozenset[Tokens]]:
    nothing = Predicate("adjective", (), (), ((), (), (), ()))

    def of(language: Language) -> frozenset[Tokens]:
        return frozenset(said[:-1] for each in clauses(nothing) for said in each.said(language))

    return {"english": of("english"), "french": of("french")}


@cache
def _index() -> Mapping[Language, Mapping[Tokens, tuple[Predicate, ...]]]:
    english: dict[Tokens, tuple[Predicate, ...]] = {}
    french: dict[Tokens, tuple[Predicate, ...]] = {}
    for each in predicates():
        for form in {each.english, each.of_many}:
            english[form] = (*english.get(form, ()), each)
        for form in set(each.french):
            french[form] = (*french.get(form, ()), each)
    return {"english": english, "french": french}


def _other(language: Language) -> Language:
    return "french" if language == "english" else "english"


def _said(sentence: Tokens) -> str:
    return quote(" ".join(sentence), most=100)


def _entries(text: str) -> Iterator[tuple[str, str]]:
    for entry in text.split(";"):
        word, _, rest = entry.partition(":")
        yield " ".join(word.split()), " ".join(rest.split())


class Sentence(NamedTuple):
    """A sentence with everything that can be meant by it."""

    words: Tokens
    language: Language
    clauses: tuple[Clause, ...]


@final
class Copular(_language.Language[Sentence]):
    """Sentences of either language; they mean what translates them."""

    def words(self, text: str) -> Tokens:
        """Return the words of a sentence without capitals, accents or apostrophes."""
        return spelling.words(text)

    def parse(self, words: Tokens) -> Sentence:
        """Return a sentence with what can be meant by it."""
        return Sentence(tuple(words), *parse(words))

    def denote(self, phrase: Sentence, world: Any = None) -> Tokens:
        """Return the first translation."""
        del world
        return translations(phrase.words)[0]

    def say(self, phrase: Sentence) -> Tokens:
        """Return the words of a sentence."""
        return phrase.words

    def tree(self, phrase: Sentence) -> _language.Tree:
        """Return the first of the meanings, the subject at the bottom."""
        return _clause_tree(phrase.clauses[0])

    def interpret(self, text: str, world: Any = None) -> _language.Reading:
        """Return the meanings of a sentence and its translations."""
        del world
        sentence = self.parse(self.words(text))
        said = " ".join(sentence.words)
        found = [" ".join(each) for each in translations(sentence.words)]
        parses = list({str(it): it for it in map(_clause_tree, sentence.clauses)}.values())
        data = {
            "sentence": said,
            "language": sentence.language,
            "meanings": parses,
            "translations": found,
        }
        shown = [line for tree in parses for line in _language.lines(tree)]
        shown += ["", f"{counted(len(found), 'translation')}:", *found]
        return _language.Reading(data, shown, [(tree, said) for tree in parses])


def _clause_tree(clause: Clause) -> _language.Tree:
    subject = _language.node(clause.subject.name)
    tree = _language.node(" ".join(clause.predicate.english), subject)
    for label, applies in (("very", clause.is_very), ("not", clause.is_negated)):
        tree = _language.node(label, tree) if applies else tree
    return tree


LANGUAGE = Copular()
