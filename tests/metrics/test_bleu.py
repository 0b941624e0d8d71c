"""BLEU, and translations that are as good as the one that is given."""

import math

import numpy as np
import pytest
from sacrebleu import corpus_bleu, sentence_bleu

from daxy import metrics, tasks
from daxy.core.examples import Examples, Sequences
from daxy.metrics.bleu import SIGNATURE, scorer
from daxy.papers._printed import COUNTED

BLEU, TASK = metrics.get("bleu"), tasks.get("translation/daxy")
PAIRS = [
    ("i am very tired .", "je suis tres fatigue ."),
    ("you are not daxy .", "tu n es pas daxiste ."),
    ("she said no .", "elle a dit non ."),
]
SAID = ["je suis tres fatiguee .", "vous n etes pas daxistes .", "elle a dit oui ."]


def examples() -> Examples:
    return Examples.of((source.split(), target.split()) for source, target in PAIRS)


def sequences(sentences: list[str]) -> Sequences:
    return Sequences.of([sentence.split() for sentence in sentences])


def test_bleu_is_sacrebleus() -> None:
    wanted = [target for _, target in PAIRS]
    found = TASK.total("bleu", examples(), sequences(SAID))
    assert found == corpus_bleu(SAID, [wanted], tokenize="none", force=True).score / 100
    each = [
        sentence_bleu(said, [own], tokenize="none") for said, own in zip(SAID, wanted, strict=True)
    ]
    np.testing.assert_allclose(
        TASK.score("bleu", examples(), sequences(SAID)), [own.score / 100 for own in each]
    )


def test_bleu_of_targets_is_one_and_of_nothing_none() -> None:
    right = examples().target
    assert TASK.total("bleu", examples(), right) == 1.0
    assert TASK.score("bleu", examples(), right).tolist() == pytest.approx([1.0] * 3)
    nothing = Sequences.of([[]] * 3)
    assert TASK.total("bleu", examples(), nothing) == 0
    assert TASK.score("bleu", examples(), nothing).tolist() == [0.0] * 3
    none = examples().take([])
    assert math.isnan(TASK.total("bleu", none, none.target))


def test_the_signature_is_what_sacrebleu_says() -> None:
    scorer().corpus_score(["a b"], [["a b"]])
    said = str(scorer().get_signature())
    assert said.startswith(f"{SIGNATURE}|version:")
    assert SIGNATURE in BLEU.summary
    assert SIGNATURE in BLEU.signature
    assert f"{SIGNATURE}." in COUNTED


def test_another_way_to_say_the_same_is_accepted() -> None:
    assert TASK.score("accepted", examples(), sequences(SAID)).tolist() == [True, True, False]
    assert TASK.score("accepted", examples(), examples().target).all()
    wrong = ["tu es tres fatigue .", "vous etes daxiste .", ""]
    assert not TASK.score("accepted", examples(), sequences(wrong)).any()


def test_both_directions_are_accepted() -> None:
    said = ["i m very tired .", "you aren t daxy .", "she says no ."]
    task = tasks.get("translation/daxy_fr_en")
    found = task.score("accepted", examples().swapped(), sequences(said))
    assert found.tolist() == [True, True, False]
