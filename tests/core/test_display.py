"""Values at a prompt and in a notebook: one short line, or a table that any page can hold."""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

import daxy
from daxy import tasks
from daxy.core import display
from daxy.core.errors import visible
from daxy.core.examples import Examples

SMALL = {"grid": 4, "resampling": 1, "kind": "simple_trans"}
TEXTS = st.text(max_size=40)


def cells(html: str) -> list[list[str]]:
    rows = ElementTree.fromstring(html).iterfind(".//tbody/tr")
    return [["".join(cell.itertext()) for cell in row] for row in rows]


@given(st.lists(st.tuples(TEXTS, TEXTS, st.integers()), max_size=3), TEXTS)
def test_a_table_holds_any_text_as_text(rows: Sequence[tuple[str, str, int]], title: str) -> None:
    html = display.table(("<a>", "b", "c"), rows, title=title)
    shown = [[display.cut(a, 300), display.cut(b, 300), f"{c:,}"] for a, b, c in rows]
    assert cells(html) == shown
    styles = [
        value
        for element in ElementTree.fromstring(html).iter()
        for value in element.attrib.values()
    ]
    assert not any("color" in style for style in styles), "a dark notebook has its own colors"


@given(st.lists(st.tuples(st.lists(TEXTS, min_size=1), st.lists(TEXTS)), max_size=3))
def test_the_repr_of_any_examples_is_one_line_of_less_than_100_characters(pairs: list[Any]) -> None:
    examples = Examples.of(pairs)
    for value in (examples, examples.source, examples.target, *examples):
        assert len(repr(value)) < 100
        assert repr(value).splitlines() == [visible(repr(value))]
        assert repr(value).startswith(f"{type(value).__name__}(")


def test_the_repr_of_a_task_and_of_its_data_is_one_short_line() -> None:
    for name in tasks.available():
        task = tasks.get(name)
        assert task.name in repr(task)
        assert len(repr(task)) < 100
        assert repr(tasks.data(name, seed=3)) == f"{task.options.__name__}(seed=3)"


def test_a_split_says_what_it_holds() -> None:
    split = daxy.load("scan/addprim_jump")
    assert repr(split) == "Split(scan/addprim_jump: 14,670 train, 7,706 test)"
    (train, validation, test) = cells(split._repr_html_())
    assert train == ["train", "14,670", *split.train[0].texts]
    assert validation == ["validation", "0"]
    assert test == ["test", "7,706", *split.test[0].texts]
    assert cells(split.test._repr_html_())[4] == list(split.test[4].texts)


def test_a_grounded_split_shows_its_tests_and_its_examples_their_worlds() -> None:
    split = daxy.load("gscan/length", **SMALL)
    assert "2 tests" in repr(split)
    assert [row[0] for row in cells(split._repr_html_())] == ["train", "validation", "A", "I"]
    html = split.test._repr_html_()
    assert html.count("<svg") == 3
    for example in split.test[:3]:
        assert example._repr_svg_() in html
    assert repr(split.test[0].world).startswith("World(4x4: agent at ")
    assert repr(split.test.worlds) == f"Worlds({len(split.test):,}; 4x4)"


def test_scores_say_how_much_is_right_of_how_many() -> None:
    split = daxy.load("gscan/length", **SMALL)
    scored = daxy.score("gscan/length", split.test.target, split=split)
    assert repr(scored) == f"Scored(gscan/length: exact 100.0%, {len(split.test):,} examples)"
    every = ["all", f"{len(split.test):,}", "100.0%", "100.0%"]
    assert cells(scored._repr_html_())[0] == every
    some = daxy.score("gscan/length", split.only(sample=9).test.target, split=split.only(sample=9))
    assert "9 of" in repr(some)
