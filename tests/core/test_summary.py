"""What is said of a figure over several runs."""

import pytest

from daxy.core.summary import Summary


def test_the_standard_error_is_of_the_sample_and_the_deviation_of_the_population() -> None:
    found = Summary(runs=(10.0, 20.0, 30.0))
    assert found.mean == 20
    assert found.sem == pytest.approx(10 / 3**0.5)
    assert found.deviation == pytest.approx((200 / 3) ** 0.5)
    assert (found.min, found.max) == (10, 30)


def test_the_deviation_is_that_of_table_9() -> None:
    """66.7 ±5.9 of eight sentences, three runs: 5, 5 and 6 right."""
    found = Summary(runs=(62.5, 62.5, 75.0))
    assert (round(found.mean, 1), round(found.deviation, 1)) == (66.7, 5.9)


def test_one_run_has_no_standard_error() -> None:
    found = Summary(runs=(10.0,))
    assert (found.sem, found.deviation) == (None, 0)
