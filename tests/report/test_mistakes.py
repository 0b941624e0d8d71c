"""Kinds of error, and where an error begins."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from daxy.core.examples import Examples, Sequences, Tokens
from daxy.report.mistakes import KINDS, Mistakes

TOKENS = st.lists(st.sampled_from("abc"), max_size=6).map(tuple)


def kind_of(target: Tokens, prediction: Tokens) -> str:
    if len(prediction) != len(target):
        return "too short" if len(prediction) < len(target) else "too long"
    wrong = sum(one != other for one, other in zip(target, prediction, strict=True))
    return "one token substituted" if wrong == 1 else "other"


@given(st.lists(st.tuples(TOKENS, TOKENS, TOKENS), min_size=1, max_size=8))
def test_each_wrong_prediction_has_its_kind_and_its_first_wrong_token(
    rows: list[tuple[Tokens, Tokens, Tokens]],
) -> None:
    examples = Examples.of((("s",), target) for target, *_ in rows)
    said = [Sequences.of(row[run] for row in rows) for run in (1, 2)]
    right = [examples.target.matches(predictions) for predictions in said]
    mistakes = Mistakes(examples.source, examples.target, said, np.array(right))
    for run in (0, 1):
        for row, (target, *predictions) in enumerate(rows):
            if right[run][row]:
                assert mistakes.kinds[run, row] == -1
            else:
                assert KINDS[mistakes.kinds[run, row]] == kind_of(target, predictions[run])
    by_kind = mistakes.by_kind()
    assert sum(map(len, by_kind.values())) == len(mistakes.rows)
    for mistake in [each for listed in by_kind.values() for each in listed]:
        for told in mistake.as_json["predictions"]:
            first = told["first_wrong"] - 1
            prediction = tuple(told["prediction"])
            assert prediction[:first] == mistake.target[:first]
            assert prediction[first : first + 1] != mistake.target[first : first + 1]
        assert sum("[" in line for line in mistake.lines(2)) == len(mistake.predictions)
