"""Examples as codes and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.batching.table import Table
from daxy.core.errors import WrongRequest
from daxy.core.examples import Examples, Sequences
from daxy.core.vocabulary import END, PAD, RESERVED, Vocabulary

sequences = st.lists(st.lists(st.sampled_from(["jump", "walk", "é", "<PAD>", "1"])), min_size=1)


@given(sequences)
def test_what_is_encoded_is_decoded(rows: list[list[str]]) -> None:
    column = Sequences.of(rows)
    words = Vocabulary.of(column)
    assert list(words.decode(words.encode(column))) == [tuple(row) for row in rows]


@given(sequences, st.integers(0, 5))
def test_a_wider_code_decodes_to_the_same(rows: list[list[str]], more: int) -> None:
    column = Sequences.of(rows)
    words = Vocabulary.of(column)
    width = max(map(len, rows)) + 1 + more
    codes = words.encode(column, width)
    assert codes.shape == (len(rows), width)
    assert list(words.decode(codes)) == list(column)


def test_a_code_is_the_tokens_the_end_and_padding() -> None:
    column = Sequences.of([["b", "a"], [], ["c"]])
    words = Vocabulary.of(column)
    assert words.tokens == ("a", "b", "c")
    assert len(words) == 3 + RESERVED
    expected = [[RESERVED + 1, RESERVED, END], [END, PAD, PAD], [RESERVED + 2, END, PAD]]
    np.testing.assert_array_equal(words.encode(column), expected)


def test_what_stands_after_the_end_or_after_padding_is_not_read() -> None:
    words = Vocabulary(("a", "b"))
    codes = np.array([[2, END, 3], [3, PAD, 2], [2, 3, 2]])
    assert list(words.decode(codes)) == [("a",), ("b",), ("a", "b", "a")]


def test_an_unknown_token_is_refused_by_name() -> None:
    with pytest.raises(WrongRequest, match="'blicket' is not in the network's vocabulary"):
        Vocabulary(("jump",)).encode(Sequences.of([["jump"], ["blicket"]]))


def test_a_token_that_only_the_dictionary_holds_is_no_offence() -> None:
    column = Sequences.of([["jump"], ["blicket"]]).take([0])
    np.testing.assert_array_equal(Vocabulary(("jump",)).encode(column), [[RESERVED, END]])


TRAIN = Examples.of([(["a"], ["x"]), (["b", "b"], ["y"]), (["a"], ["x"])])
TEST = Examples.of([(["c"], ["x", "y", "z"]), (["a"], ["x"])])


def test_a_table_holds_every_distinct_example_once() -> None:
    table = Table.of([TRAIN, TEST])
    assert table.source.shape == (3, 3)
    assert table.target.shape == (3, 4)
    decoded = zip(
        table.sources.decode(table.source), table.targets.decode(table.target), strict=True
    )
    assert set(decoded) == {(e.source, e.target) for part in (TRAIN, TEST) for e in part}


def test_rows_repeat_what_is_repeated_and_keep_the_order() -> None:
    table = Table.of([TRAIN, TEST])
    for part in (TRAIN, TEST):
        rows = table.rows(part)
        assert list(table.sources.decode(table.source[rows])) == list(part.source)
        assert list(table.targets.decode(table.target[rows])) == list(part.target)
    first, _, third = table.rows(TRAIN)
    assert first == third == table.rows(TEST)[1]


def test_lengths_count_the_end() -> None:
    table = Table.of([TRAIN, TEST])
    np.testing.assert_array_equal(table.source_lengths[table.rows(TRAIN)], [2, 3, 2])
    np.testing.assert_array_equal(table.target_lengths[table.rows(TEST)], [4, 2])


def test_the_vocabulary_is_that_of_all_parts() -> None:
    table = Table.of([TRAIN, TEST])
    assert table.sources.tokens == ("a", "b", "c")
    assert table.targets.tokens == ("x", "y", "z")
