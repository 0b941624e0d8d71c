import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.core.errors import WrongRequest
from daxy.core.examples import Example, Examples, Sequences, key_of

sequences = st.lists(st.lists(st.sampled_from(["a", "b", "I_C"])))


@given(rows=sequences)
def test_sequences_hold_what_they_were_built_from(rows: list[list[str]]) -> None:
    built = Sequences.of(rows)
    assert list(built) == [tuple(row) for row in rows]
    assert [built[index] for index in range(len(built))] == [tuple(row) for row in rows]
    assert built.lengths.tolist() == [len(row) for row in rows]


@given(rows=sequences, data=st.data())
def test_taking_rows_keeps_their_order_and_repeats(
    rows: list[list[str]], data: st.DataObject
) -> None:
    positions = st.lists(st.sampled_from(range(len(rows)))) if rows else st.just([])
    taken = data.draw(positions)
    assert list(Sequences.of(rows).take(taken)) == [tuple(rows[row]) for row in taken]


@given(rows=sequences)
def test_compacting_changes_no_sequence_and_keeps_only_tokens_that_occur(
    rows: list[list[str]],
) -> None:
    some = Sequences.of([*rows, ["never", "taken"]])[: len(rows)].compact()
    assert list(some) == [tuple(row) for row in rows]
    assert set(some.symbols) == {token for row in rows for token in row}


def test_renaming_can_make_two_tokens_one() -> None:
    renamed = Sequences.of([["LTURN", "I_TURN_LEFT"]]).renamed(lambda _: "x")
    assert list(renamed) == [("x", "x")]
    assert renamed.symbols == ("x",)


def test_slices_and_negative_positions_work_as_in_a_list() -> None:
    built = Sequences.of([["a"], ["b"], ["c"]])
    assert built[-1] == ("c",)
    assert list(built[1:]) == [("b",), ("c",)]
    with pytest.raises(IndexError):
        built[3]


@given(rows=sequences, data=st.data())
def test_any_slice_is_that_of_a_list(rows: list[list[str]], data: st.DataObject) -> None:
    bound = st.none() | st.integers(-len(rows) - 3, len(rows) + 3)
    step = data.draw(st.none() | st.integers(-3, 3).filter(bool))
    cut = slice(data.draw(bound), data.draw(bound), step)
    whole = Examples.of([(row, row[::-1]) for row in rows])
    for one in (whole, whole[0:], whole[1:]):
        expected = [*one][cut]
        assert list(one[cut]) == expected
        assert list(one.source[cut]) == [example.source for example in expected]
        assert one.source[cut].lengths.tolist() == [len(example.source) for example in expected]


def test_consecutive_rows_are_what_taking_them_gives() -> None:
    built = Sequences.of([["a"], [], ["b", "a"], ["b"]])
    for cut in (slice(1, 3), slice(None), slice(2, 2), slice(4, 9), slice(3, 1), slice(-2, None)):
        sliced, taken = built[cut], built.take(range(4)[cut])
        assert sliced.symbols == taken.symbols
        for one, other in ((sliced.codes, taken.codes), (sliced.offsets, taken.offsets)):
            assert one.tolist() == other.tolist()
            assert one.dtype == other.dtype


def test_an_example_has_the_key_of_its_content() -> None:
    examples = Examples.of([(["jump"], ["I_JUMP"]), (["walk"], ["I_WALK"])])
    assert examples[0] == Example(key_of(("jump",), ("I_JUMP",)), ("jump",), ("I_JUMP",))
    assert [example.key for example in examples] == list(examples.keys)
    assert len(set(examples.keys)) == 2


def test_a_key_stays_the_same_for_ever() -> None:
    # People's files refer to examples by these keys. The value is what `b2sum -l 64` says.
    assert key_of(("jump", "left"), ("I_TURN_LEFT", "I_JUMP")) == "c0491fabe2026b79"


def test_swapping_exchanges_source_and_target() -> None:
    swapped = Examples.of([(["jump"], ["I_JUMP"])]).swapped()
    assert (swapped[0].source, swapped[0].target) == (("I_JUMP",), ("jump",))


def test_more_tokens_than_codes_are_refused() -> None:
    with pytest.raises(WrongRequest, match="more than 65,536 distinct tokens: 65537"):
        Sequences.of([[str(number) for number in range(65_537)]])
