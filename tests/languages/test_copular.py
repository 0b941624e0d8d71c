"""English and French sentences about somebody."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.core.errors import WrongRequest
from daxy.core.examples import Tokens
from daxy.languages import copular, spelling
from daxy.languages.copular import Clause, Predicate


def said(text: str) -> Tokens:
    return tuple(text.split())


def of(*texts: str) -> set[Tokens]:
    return set(map(said, texts))


PREDICATES = copular.predicates()
BY_ENGLISH = {" ".join(each.english): each for each in PREDICATES}
clauses = st.sampled_from(PREDICATES).flatmap(
    lambda predicate: st.sampled_from(list(copular.clauses(predicate)))
)


def test_there_are_several_hundred_predicates_each_once() -> None:
    assert len(BY_ENGLISH) == len(PREDICATES) > 500
    for predicate in PREDICATES:
        for form in (predicate.english, predicate.of_many, *predicate.french):
            assert form and spelling.words(" ".join(form)) == form


@pytest.mark.parametrize(
    ("english", "forms"),
    [
        ("tired", ["fatigue", "fatiguee", "fatigues", "fatiguees"]),
        ("happy", ["heureux", "heureuse", "heureux", "heureuses"]),
        ("beautiful", ["beau", "belle", "beaux", "belles"]),
        ("liberal", ["liberal", "liberale", "liberaux", "liberales"]),
        ("fatal", ["fatal", "fatale", "fatals", "fatales"]),
        ("sad", ["triste", "triste", "tristes", "tristes"]),
        ("active", ["actif", "active", "actifs", "actives"]),
        ("a baker", ["boulanger", "boulangere", "boulangers", "boulangeres"]),
        ("at work", ["au travail"] * 4),
    ],
)
def test_french_agrees_in_gender_and_number(english: str, forms: list[str]) -> None:
    assert [" ".join(form) for form in BY_ENGLISH[english].french] == forms


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("he is tired .", {"il est fatigue ."}),
        ("she isn t tired .", {"elle n est pas fatiguee ."}),
        ("i m not very tired .", {f"je ne suis pas tres {w} ." for w in ("fatigue", "fatiguee")}),
        ("you re a baker .", {f"{v} {n} ." for v in ("tu es", "vous etes")
                              for n in ("boulanger", "boulangere")}),
        ("you re bakers .", {"vous etes boulangers .", "vous etes boulangeres ."}),
        ("they are at work .", {"ils sont au travail .", "elles sont au travail ."}),
    ],
)  # fmt: skip
def test_a_sentence_has_all_its_translations(english: str, french: set[str]) -> None:
    assert set(copular.translations(said(english))) == of(*french)


def test_french_has_every_english_spelling() -> None:
    assert set(copular.translations(said("vous n etes pas fatiguees ."))) == of(
        "you are not tired .", "you re not tired .", "you aren t tired ."
    )
    assert of("he is kind .", "he is nice .") < set(copular.translations(said("il est gentil .")))


@given(clauses)
def test_translations_go_both_ways(clause: Clause) -> None:
    for english, french in product(clause.sentences("english"), clause.sentences("french")):
        assert french in copular.translations(english)
        assert english in copular.translations(french)
        assert clause in copular.parse(english)[1]
        assert clause in copular.parse(french)[1]


@given(clauses)
def test_every_translation_is_accepted_in_place_of_another(clause: Clause) -> None:
    for english, french in product(clause.sentences("english"), clause.sentences("french")):
        assert copular.accepted(english, french) == set(copular.translations(english))
        assert copular.accepted(french, english) == set(copular.translations(french))


def test_a_word_that_is_not_known_is_taken_for_an_adjective() -> None:
    source, target = said("you are not daxy ."), said("tu n es pas daxiste .")
    assert copular.accepted(source, target) == of(
        "tu n es pas daxiste .", "vous n etes pas daxiste .", "vous n etes pas daxistes ."
    )
    assert copular.accepted(target, source) == of(
        "you are not daxy .", "you re not daxy .", "you aren t daxy ."
    )
    source, target = said("you are grumpy ."), said("tu es grincheux .")
    assert copular.accepted(source, target) == of(
        "tu es grincheux .", "tu es grincheuse .", "vous etes grincheux .",
        "vous etes grincheuse .", "vous etes grincheuses ."
    )  # fmt: skip
    assert copular.accepted(target, source) == of("you are grumpy .", "you re grumpy .")


def test_a_known_word_with_another_translation_is_taken_for_an_adjective_too() -> None:
    source, target = said("you re greedy ."), said("tu es avide .")
    assert target not in copular.translations(source)
    assert copular.accepted(source, target) == of(
        "tu es avide .", "vous etes avide .", "vous etes avides ."
    )
    source, target = said("tu es fatigue ."), said("you are daxy .")
    assert copular.accepted(source, target) == of("you are daxy .", "you re daxy .")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("she said no .", "elle a dit non ."),
        ("you are tired !", "tu es fatigue !"),
        ("he is tired .", "il a sommeil ."),
        ("i am tired of it .", "j en ai marre ."),
        # A word in the plural, or of a woman, is no adjective that others follow from.
        ("they are daxy .", "ils sont daxistes ."),
        ("you are gone .", "vous etes partis ."),
        ("you re very sharp .", "vous etes tres vives ."),
        ("she is daxy .", "elle est daxiste ."),
    ],
)
def test_what_the_grammar_does_not_know_has_the_one_translation(source: str, target: str) -> None:
    assert copular.accepted(said(source), said(target)) == of(target)


def test_the_eight_constructions_are_the_papers() -> None:
    daxy = copular.constructions(copular.adjective(("daxy",), "daxiste"))
    assert {" ".join(english): " ".join(french) for english, french in daxy.values()} == {
        "you are daxy .": "tu es daxiste .",
        "he is daxy .": "il est daxiste .",
        "i am not daxy .": "je ne suis pas daxiste .",
        "you are not daxy .": "tu n es pas daxiste .",
        "he is not daxy .": "il n est pas daxiste .",
        "i am very daxy .": "je suis tres daxiste .",
        "you are very daxy .": "tu es tres daxiste .",
        "he is very daxy .": "il est tres daxiste .",
    }


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        ("", "a sentence begins with elle, elles, he, i,"),
        ("it is tired .", "a sentence begins with"),
        ("i am tired", "a sentence ends with a full stop of its own"),
        ("you is happy .", "expected are or re, negated or not, after you"),
        ("tu suis fatigue .", "expected es, negated or not, after tu"),
        ("he is hapy .", "'hapy' is not what 'he' can be; did you mean 'happy'?"),
        ("you re not .", "'you re not .': nothing is said of 'you'"),
        ("we are a baker .", "'a baker' is not what 'we' can be"),
        ("elle est fatigue .", "'fatigue' is not what 'elle' can be"),
        ("he is very at work .", "'at work' is not what 'he' can be"),
    ],
)
def test_what_is_no_sentence_is_refused(sentence: str, problem: str) -> None:
    with pytest.raises(WrongRequest, match="^'") as raised:
        copular.parse(said(sentence))
    assert problem in str(raised.value)


@given(st.lists(st.sampled_from(["i", "am", "not", "very", "tired", "tu", "es", "pas", "."])))
def test_any_words_are_parsed_or_refused(words: list[str]) -> None:
    try:
        language, meant = copular.parse(tuple(words))
    except WrongRequest:
        return
    assert all(tuple(words) in clause.sentences(language) for clause in meant)


def test_only_adjectives_are_very() -> None:
    for predicate in (BY_ENGLISH["a baker"], BY_ENGLISH["at work"]):
        assert not any(clause.is_very for clause in copular.clauses(predicate))
    assert isinstance(BY_ENGLISH["tired"], Predicate)
    assert any(clause.is_very for clause in copular.clauses(BY_ENGLISH["tired"]))
