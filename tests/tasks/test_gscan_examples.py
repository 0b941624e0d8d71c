"""Every command in every situation, and what the tests hold out of that."""

from dataclasses import replace

import numpy as np
import pytest

from daxy.tasks._gscan_examples import commands_of, generate_all
from daxy.tasks._gscan_options import CompositionalOptions, Kind


def test_what_is_made_does_not_depend_on_the_number_of_workers() -> None:
    data = CompositionalOptions(grid=4, resampling=1, kind="simple_intrans", seed=3)
    one, two = generate_all(data), generate_all(replace(data, workers=2))
    assert list(one.actions) == list(two.actions)
    for name in ("size", "agent", "heading", "things", "cells", "offsets"):
        np.testing.assert_array_equal(getattr(one.worlds, name), getattr(two.worlds, name))


def test_another_seed_gives_other_worlds() -> None:
    data = CompositionalOptions(grid=4, resampling=1, kind="simple_intrans")
    one, other = (generate_all(replace(data, seed=seed)) for seed in (0, 1))
    assert (one.worlds.agent != other.worlds.agent).any()


@pytest.mark.parametrize(
    ("kind", "count"),
    [("adverb", 675), ("normal", 135), ("simple_trans", 63), ("simple_intrans", 21)],
)
def test_a_kind_has_its_commands(kind: Kind, count: int) -> None:
    assert len(commands_of(kind)) == count
