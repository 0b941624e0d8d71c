import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy import metrics, tasks
from daxy.core.errors import UnknownName, WrongRequest
from daxy.core.examples import Examples, Predictions, Sequences
from daxy.metrics import Metric, Rules, Scores

SCAN, NACS = tasks.get("scan/simple"), tasks.get("nacs/simple")
tokens = st.lists(st.sampled_from(["I_JUMP", "I_WALK", "I_RUN"]), max_size=3)


class Likelihood(Metric):
    """The mean probability of the targets."""

    name = "likelihood"
    summary = "the mean probability of the targets"

    def score(self, task: Rules, examples: Examples, predictions: Predictions) -> Scores:
        assert predictions.log_likelihood is not None
        return np.exp(predictions.log_likelihood)


def test_every_metric_is_named_as_its_file_and_says_what_it_is() -> None:
    assert {"back_mapping", "exact"} <= set(metrics.available())
    for name in metrics.available():
        assert metrics.get(name).name == name
        assert metrics.get(name).summary


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(UnknownName, match="no metric named 'exat'; did you mean exact?"):
        metrics.get("exat")


@given(rows=st.lists(st.tuples(tokens, tokens), min_size=1))
def test_exact_match_is_equality_of_tokens(rows: list[tuple[list[str], list[str]]]) -> None:
    examples = Examples.of(([], target) for target, _ in rows)
    predictions = Sequences.of(prediction for _, prediction in rows)
    wanted = [target == prediction for target, prediction in rows]
    assert SCAN.score("exact", examples, predictions).tolist() == wanted
    total = SCAN.total("exact", examples, predictions)
    assert math.isclose(total, sum(wanted) / len(wanted))


@pytest.mark.parametrize(
    ("actions", "command", "right"),
    [
        ("I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP", "jump left twice", True),
        ("I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP", "jump left and jump left", True),
        ("I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP", "jump left", False),
        ("I_WALK I_JUMP", "jump after walk", True),
        ("I_WALK I_JUMP", "jump and walk", False),
        # Four jumps have the right meaning for no command: `and` does not nest.
        ("I_JUMP I_JUMP I_JUMP", "jump and jump and jump", False),
        ("I_JUMP", "", False),
        ("I_JUMP", "I_JUMP", False),
        ("I_JUMP", "dab", False),
        ("I_DAB", "dab", True),
    ],
)
def test_back_mapping_accepts_any_command_that_means_the_source(
    actions: str, command: str, right: bool
) -> None:
    examples = Examples.of([(actions.split(), ["walk"])])
    predictions = Sequences.of([command.split()])
    assert NACS.score("back_mapping", examples, predictions).tolist() == [right]


def test_the_perplexity_is_that_of_a_target_token() -> None:
    """Of a model that expects each of two symbols and the end alike, 3 whatever the targets."""
    examples = Examples.of([(("walk",), ("I_WALK",)), (("jump", "twice"), ("I_JUMP", "I_JUMP"))])
    even = replace(Predictions.of_sequences(examples.target), log_likelihood=-np.log([9.0, 27.0]))
    perplexity = metrics.get("perplexity")
    assert perplexity.total(SCAN, examples, even) == pytest.approx(3.0)
    np.testing.assert_allclose(perplexity.score(SCAN, examples, even), [3.0, 3.0])
    # 2 and 3 tokens: the total is over tokens, (1/8 * 1)^(-1/5), and no mean over examples.
    uneven = replace(even, log_likelihood=-np.log([8.0, 1.0]))
    assert perplexity.total(SCAN, examples, uneven) == pytest.approx(8 ** (1 / 5))
    assert (perplexity.text(3.14159), metrics.text("exact", 0.5)) == ("3.142", "50.0%")
    with pytest.raises(WrongRequest, match="perplexity needs log-likelihoods"):
        perplexity.total(SCAN, examples, Predictions.of_sequences(examples.target))


def test_likelihoods_reach_a_metric_with_the_predictions() -> None:
    target = Sequences.of([["a"], ["b", "a"], ["c"]])
    given = Predictions.of_sequences(target)
    assert given.log_likelihood is None
    assert given.take([2, 0]).log_likelihood is None
    known = replace(given, log_likelihood=np.log([0.5, 0.25, 1.0]))
    assert Predictions.of_sequences(known) is known
    np.testing.assert_allclose(known.take([2, 0]).log_likelihood, np.log([1.0, 0.5]))
    np.testing.assert_allclose(known[1:].log_likelihood, np.log([0.25, 1.0]))
    assert list(known[1:]) == [("b", "a"), ("c",)]
    assert known[0] == ("a",)
    examples = Examples(target, target)
    assert Likelihood().total(SCAN, examples, known) == pytest.approx(1.75 / 3)
