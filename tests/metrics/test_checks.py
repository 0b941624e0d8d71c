"""A metric's values are checked where they are made: NaN and other nonsense is no score."""

import re
from typing import Any

import numpy as np
import pytest

from daxy import tasks
from daxy.core.errors import WrongFile
from daxy.core.examples import Examples
from daxy.metrics.exact import ExactMatch
from daxy.metrics.perplexity import Perplexity

EXAMPLES = Examples.of([(("a",), ("b",)), (("c",), ("d",))])
TASK = tasks.get("scan/simple")


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (np.array([0.5, np.nan]), "gave nan for example 1; expected a number from 0 to 1"),
        (np.array([np.inf, 1]), "gave inf for example 0; expected a number from 0 to 1"),
        (np.array([100, 50]), "gave 100 for example 0; expected a number from 0 to 1"),
        (np.array([-0.1, 1]), "gave -0.1 for example 0; expected a number from 0 to 1"),
        (
            np.array([1.0]),
            "gave an array of float64 of shape (1,); expected an array of 2 numbers or booleans",
        ),
        (np.array(["a", "b"]), "gave an array of <U1; expected an array of 2 numbers or boolea"),
        ([True, False], "gave [True, False]; expected an array of 2 numbers or booleans"),
        (None, "gave None; expected an array of 2 numbers or booleans"),
    ],
)
def test_a_value_that_is_no_score_is_refused(
    values: Any, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ExactMatch, "score", lambda *_: values)
    with pytest.raises(WrongFile, match=rf"metrics/exact\.py: `score` {re.escape(problem)}"):
        TASK.scores(EXAMPLES, EXAMPLES.target)


@pytest.mark.parametrize("total", [float("nan"), 1.5, None, "1", 1j])
def test_a_total_that_is_no_score_is_refused(total: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExactMatch, "total", lambda *_: total)
    with pytest.raises(WrongFile, match=r"exact\.py: `total` gave .*; expected a number from 0"):
        TASK.total("exact", EXAMPLES, EXAMPLES.target)


def test_rounding_is_no_error_and_other_numbers_have_no_range(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert np.isnan(TASK.total("exact", EXAMPLES[:0], EXAMPLES.target[:0]))
    monkeypatch.setattr(ExactMatch, "score", lambda *_: np.array([1 + 1e-12, -1e-12]))
    assert TASK.score("exact", EXAMPLES, EXAMPLES.target).tolist() == [1, 0]
    monkeypatch.setattr(Perplexity, "score", lambda *_: np.array([3.5, np.inf]))
    assert TASK.score("perplexity", EXAMPLES, EXAMPLES.target).tolist() == [3.5, np.inf]
