"""Differences between learners: against other libraries, and their intervals on simulated runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.report.difference import difference, mcnemar, over_examples, over_seeds

RUNS = [([0.1, 0.3, 0.2], [0.5, 0.4, 0.9, 0.7]), ([0.0, 1.0], [0.2, 0.2]), ([0.9] * 3, [0.8, 0.7])]


@pytest.mark.parametrize(("first", "second"), RUNS)
def test_the_interval_over_seeds_is_that_of_statsmodels(
    first: list[float], second: list[float]
) -> None:
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    pair = weightstats.CompareMeans.from_data(first, second)
    wanted = np.clip(pair.tconfint_diff(usevar="unequal"), -1, 1)
    assert over_seeds(first, second) == pytest.approx(tuple(wanted))


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_that_of_statsmodels(only_first: int, only_second: int) -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    if only_first + only_second == 0:
        assert mcnemar(0, 0) == 1
        return
    wanted = tables.mcnemar([[5, only_first], [only_second, 5]], exact=True).pvalue
    assert mcnemar(only_first, only_second) == pytest.approx(wanted)


def test_a_single_run_has_no_interval_over_seeds() -> None:
    assert over_seeds([0.5], [0.1, 0.2]) is None


def test_runs_without_spread_say_nothing_of_other_seeds() -> None:
    assert over_seeds([0.5, 0.5], [0.1, 0.1]) is None


SIMULATIONS = 1_000
WITHIN = 0.93, 0.975
"""Bounds of a 95% interval's coverage in so many simulations: the standard error is 0.7 points."""


@pytest.mark.parametrize(("only_first", "only_second"), [(0.2, 0.1), (0.05, 0)])
def test_the_interval_over_examples_covers(only_first: float, only_second: float) -> None:
    random = np.random.default_rng(0)
    values, count = np.array([0.0, 1.0, -1.0]), 300
    shares = [1 - only_first - only_second, only_first, only_second]
    truth, hits = only_first - only_second, 0
    for _ in range(SIMULATIONS):
        low, high = over_examples(random.choice(values, count, p=shares))
        hits += low <= truth <= high
    assert WITHIN[0] <= hits / SIMULATIONS <= WITHIN[1]


def test_the_interval_over_seeds_covers() -> None:
    random, hits = np.random.default_rng(1), 0
    for _ in range(SIMULATIONS):
        interval = over_seeds(
            random.normal(0.6, 0.1, 5).tolist(), random.normal(0.4, 0.02, 8).tolist()
        )
        assert interval is not None
        hits += interval[0] <= 0.2 <= interval[1]
    assert WITHIN[0] <= hits / SIMULATIONS <= WITHIN[1]


def test_runs_that_never_part_still_have_an_interval_over_examples() -> None:
    low, high = over_examples(np.zeros(100))
    assert low == -high < 0 < high < 0.04


def test_single_runs_have_counts_and_a_test() -> None:
    right = np.array([[True, True, False, True]])
    other = np.array([[True, False, False, False]])
    found = difference("a", right, "b", other)
    assert (found.only_first, found.only_second, found.mean) == (2, 0, 50)
    assert found.p == pytest.approx(0.5)
    assert difference("b", other, "a", right).mean == -50
