"""Worlds as columns are the worlds they were made from."""

from hypothesis import given
from hypothesis import strategies as st
from tests.worlds.made import worlds

from daxy.worlds.columns import Worlds
from daxy.worlds.grid import World


@given(st.lists(worlds(), max_size=5))
def test_a_world_comes_back_as_it_was(rows: list[World]) -> None:
    table = Worlds.of(rows)
    assert list(table) == rows
    assert len(table) == len(rows)


@given(st.lists(worlds(), min_size=1, max_size=5), st.data())
def test_taken_and_joined_worlds_are_those_asked_for(
    rows: list[World], data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=7))
    taken = Worlds.of(rows).take(chosen)
    assert list(taken) == [rows[place] for place in chosen]
    joined = Worlds.joined([taken, Worlds.of(rows)])
    assert list(joined) == [*(rows[place] for place in chosen), *rows]
    assert list(joined[-1:]) == rows[-1:]
    assert joined[-1] == rows[-1]
