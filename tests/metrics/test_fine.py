"""Fine accuracy: what is right before the first error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy import tasks
from daxy.core.examples import Examples, Sequences

TASK = tasks.get("transduction/copy")


def score(target: str, prediction: str) -> float:
    examples = Examples.of([(["x"], target.split())])
    (found,) = TASK.score("fine", examples, Sequences.of([prediction.split()]))
    return float(found)


@pytest.mark.parametrize(
    ("target", "prediction", "expected"),
    [
        ("a b c", "a b c", 1.0),
        ("a b c", "a b d", 2 / 4),
        ("a b c", "x b c", 0.0),
        ("a b c", "a x c", 1 / 4),  # what is right after an error counts for nothing
        ("a b c", "a b", 2 / 4),  # ends too early
        ("a b c", "a b c c", 3 / 4),  # ends too late
        ("a b c", "", 0.0),
        ("", "", 1.0),
        ("", "a", 0.0),
    ],
)
def test_only_what_is_before_the_first_error_counts(
    target: str, prediction: str, expected: float
) -> None:
    assert score(target, prediction) == pytest.approx(expected)


words = st.lists(st.sampled_from("abc"), max_size=6)


@given(st.lists(st.tuples(words, words), max_size=8))
def test_fine_is_the_longest_common_beginning_with_the_end(
    pairs: list[tuple[list[str], list[str]]],
) -> None:
    examples = Examples.of([(["x"], target) for target, _ in pairs])
    found = TASK.score("fine", examples, Sequences.of([said for _, said in pairs]))
    expected = list[float]()
    for target, said in pairs:
        wanted, given_ = [*target, "END"], [*said, "END"]
        right = 0
        while right < min(len(wanted), len(given_)) and wanted[right] == given_[right]:
            right += 1
        expected.append(right / len(wanted))
    np.testing.assert_allclose(found, expected)
    exact = TASK.score("exact", examples, Sequences.of([said for _, said in pairs]))
    np.testing.assert_array_equal(found == 1, exact)
