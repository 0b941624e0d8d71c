"""Copular sentences in English and French.

    S -> subject BE [not] [very] predicate .

A meaning has several sentences, and a sentence several meanings: `you` is `tu` or `vous`, a man or
a woman, one or more; `i am` is `i m`. Sentences are translations of each other if they share a
`Clause`, a meaning. Words are spelled as by `daxy.languages.spelling`.
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
"""Tested constructions of Lake & Baroni (2018), Experiment 4: subject, negated, very."""


def constructions(predicate: Predicate) -> dict[str, tuple[Tokens, Tokens]]:
    """Return the sentence of each construction with a predicate, and its translation."""
    pairs: dict[str, tuple[Tokens, Tokens]] = {}
    for name, (subject, is_negated, is_very) in CONSTRUCTIONS.items():
        clause = Clause(subject, predicate, is_negated, is_very)
        pairs[name] = clause.sentences("english")[0], clause.sentences("french")[0]
    return pairs


def introduction(predicate: Predicate) -> tuple[Tokens, Tokens]:
    """Return the training sentence of a new word, `i am daxy .`, and its translation."""
    clause = Clause(ONESELF, predicate)
    return clause.sentences("english")[0], clause.sentences("french")[0]


def adjective(english: Tokens, man: str, woman: str | None = None) -> Predicate:
    """Return an adjective.

    Args:
        english: English words.
        man: French masculine form.
        woman: French feminine form; by the rules by default.
    """
    return Predicate("adjective", english, english, _copular_forms.french(man, woman))


@cache
def predicates() -> tuple[Predicate, ...]:
    """Return all predicates: adjectives, nouns and phrases."""
    found = [
        adjective(spelling.words(word), *forms.split()) for word, forms in _entries(ADJECTIVES)
    ]
    for word, forms in _entries(NOUNS):
        of_one = spelling.words(word)
        of_many = (*of_one[1:-1], _copular_forms.english_plural(of_one[-1]))
        found.append(Predicate("noun", of_one, of_many, _copular_forms.french(*forms.split())))
    for word, phrase in _entries(PHRASES):
        english, french = spelling.words(word), spelling.words(phrase)
        found.append(Predicate("phrase", english, english, (french, french, french, french)))
    return tuple(found)


def clauses(predicate: Predicate) -> Iterator[Clause]:
    """Yield the clauses of a predicate; only adjectives can be `very`."""
    degrees = (False, True) if predicate.kind == "adjective" else (False,)
    for subject, is_negated, is_very in product(SUBJECTS, (False, True), degrees):
        yield Clause(subject, predicate, is_negated, is_very)


def parse(words: Sequence[str]) -> tuple[Language, tuple[Clause, ...]]:
    """Return the language and the meanings of a sentence.

    Raises:
        WrongRequest: the words are no sentence of the grammar.
    """
    sentence = tuple(words)
    who = sentence[0] if sentence else ""
    language: Language = "french" if who in ETRE else "english"
    known = sorted(BE | ETRE)
    if who not in known:
        raise WrongRequest(f"{_quoted(sentence)}: a sentence begins with {', '.join(known)}")
    if sentence[-1] != END:
        raise WrongRequest(f"{_quoted(sentence)}: a sentence ends with a full stop of its own")
    rest = _after_the_frame(sentence, language)
    if rest is None:
        verbs = " or ".join(BE[who]) if language == "english" else ETRE[who]
        raise WrongRequest(f"{_quoted(sentence)}: expected {verbs}, negated or not, after {who}")
    found = tuple(_read(sentence, language, _index()[language].get(rest, ())))
    if not found:
        if not rest:
            raise WrongRequest(f"{_quoted(sentence)}: nothing is said of {quote(who)}")
        words_left = " ".join(rest)
        known = map(" ".join, _index()[language]) if len(words_left) <= MOST_COMPARED else ()
        near = get_close_matches(words_left, known, n=1)
        hint = f"; did you mean {quote(near[0])}?" if near and near[0] != words_left else ""
        problem = f"{quote(words_left, most=60)} is not what {quote(who)} can be{hint}"
        raise WrongRequest(f"{_quoted(sentence)}: {problem}")
    return language, found


def translations(words: Sequence[str]) -> tuple[Tokens, ...]:
    """Return all translations of a sentence, sorted.

    Raises:
        WrongRequest: the words are no sentence of the grammar.
    """
    language, meant = parse(words)
    other = _other(language)
    return tuple(sorted({each for clause in meant for each in clause.sentences(other)}))


def accepted(source: Sequence[str], target: Sequence[str]) -> frozenset[Tokens]:
    """Return the translations that are as right as the given one.

    An unknown word, or one with another translation, counts as an adjective if the pair is about
    one person who can be a man, and after `vous` if the form is no plural: all translations of
    `you are daxy .` follow from `tu es daxiste .`. Other sentences have only the given translation.
    """
    asked, given = tuple(source), tuple(target)
    for language in LANGUAGES:
        meant = _meant(asked, given, language)
        if meant:
            others = (words for clause in meant for words in clause.sentences(_other(language)))
            return frozenset({given, *others})
    return frozenset({given})


def _meant(source: Tokens, target: Tokens, language: Language) -> list[Clause]:
    """Return the meanings of a source of this language with a given translation."""
    other = _other(language)
    rest, other_rest = _after_the_frame(source, language), _after_the_frame(target, other)
    if not rest or not other_rest:
        return []
    found = list(_read(source, language, _index()[language].get(rest, ())))
    if any(target in each.sentences(other) for each in found):
        return found
    english, french = (rest, other_rest) if language == "english" else (other_rest, rest)
    who = (target if language == "english" else source)[0]
    word, *more = french
    if more or (who == "vous" and word.endswith(("s", "x"))):
        return []
    guessed = list(_read(source, language, (adjective(english, word),)))
    said_by = [each.subject for each in guessed if target in each.sentences(other)]
    is_one = any(not (each.is_plural or each.is_female) for each in said_by)
    return guessed if is_one else []


def _read(sentence: Tokens, language: Language, known: tuple[Predicate, ...]) -> Iterator[Clause]:
    for predicate in known:
        yield from (each for each in clauses(predicate) if sentence in each.sentences(language))


def _after_the_frame(sentence: Tokens, language: Language) -> Tokens | None:
    """Return the predicate's words, after the longest frame of subject, verb, `not` and `very`."""
    frames = _frames()[language]
    for size in range(min(len(sentence), 5), 1, -1):
        if sentence[:size] in frames and sentence[-1] == END:
            return sentence[size:-1]
    return None


@cache
def _frames() -> Mapping[Language, frozenset[Tokens]]:
    nothing = Predicate("adjective", (), (), ((), (), (), ()))

    def of(language: Language) -> frozenset[Tokens]:
        return frozenset(
            words[:-1] for each in clauses(nothing) for words in each.sentences(language)
        )

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


def _quoted(sentence: Tokens) -> str:
    return quote(" ".join(sentence), most=100)


def _entries(text: str) -> Iterator[tuple[str, str]]:
    for entry in text.split(";"):
        word, _, rest = entry.partition(":")
        yield " ".join(word.split()), " ".join(rest.split())


class Sentence(NamedTuple):
    """A sentence with its meanings."""

    words: Tokens
    language: Language
    clauses: tuple[Clause, ...]


@final
class Copular(_language.Language[Sentence]):
    """Sentences of either language; their meanings are their translations."""

    def words(self, text: str) -> Tokens:
        """Return the words of a sentence without capitals, accents or apostrophes."""
        return spelling.words(text)

    def parse(self, words: Tokens) -> Sentence:
        """Return a sentence with its meanings."""
        return Sentence(tuple(words), *parse(words))

    def denote(self, phrase: Sentence, world: Any = None) -> Tokens:
        """Return the first translation."""
        del world
        return translations(phrase.words)[0]

    def say(self, phrase: Sentence) -> Tokens:
        """Return the words of a sentence."""
        return phrase.words

    def tree(self, phrase: Sentence) -> _language.Tree:
        """Return the first meaning, with the subject at the bottom."""
        return _clause_tree(phrase.clauses[0])

    def interpret(self, text: str, world: Any = None) -> _language.Reading:
        """Return the meanings of a sentence and its translations."""
        del world
        sentence = self.parse(self.words(text))
        text = " ".join(sentence.words)
        found = [" ".join(each) for each in translations(sentence.words)]
        parses = list({str(it): it for it in map(_clause_tree, sentence.clauses)}.values())
        data = {
            "sentence": text,
            "language": sentence.language,
            "meanings": parses,
            "translations": found,
        }
        shown = [line for tree in parses for line in _language.lines(tree)]
        shown += ["", f"{counted(len(found), 'translation')}:", *found]
        return _language.Reading(data, shown, [(tree, text) for tree in parses])


def _clause_tree(clause: Clause) -> _language.Tree:
    subject = _language.node(clause.subject.name)
    tree = _language.node(" ".join(clause.predicate.english), subject)
    for label, applies in (("very", clause.is_very), ("not", clause.is_negated)):
        tree = _language.node(label, tree) if applies else tree
    return tree


LANGUAGE = Copular()
