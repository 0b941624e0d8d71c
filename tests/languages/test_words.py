"""What a grammar is asked may be any sequence of words."""

from collections.abc import Callable
from functools import partial

import pytest

from daxy.languages import copular, grounded, itg, scan

ASKED: dict[str, tuple[Callable[..., object], list[str]]] = {
    "scan": (scan.SCAN.parse, ["jump twice"]),
    "gscan": (grounded.parse, ["walk to a red circle"]),
    "copular": (copular.parse, ["she isn t tired ."]),
    "translations": (copular.translations, ["she isn t tired ."]),
    "accepted": (copular.accepted, ["you are daxy .", "tu es daxiste ."]),
    "itg source": (partial(itg.parse, itg.grammar("gender")), ["the me1 and a fe2"]),
    "itg": (
        partial(itg.parse, itg.grammar("gender")),
        ["the me1 and a fe2", "der mg1 und eine fg2"],
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_list_of_words_is_as_good_as_a_tuple(name: str) -> None:
    ask, sentences = ASKED[name]
    lists = [sentence.split() for sentence in sentences]
    assert ask(*lists) == ask(*map(tuple, lists))
