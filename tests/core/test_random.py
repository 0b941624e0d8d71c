import numpy as np
import pytest

from daxy.core.errors import WrongRequest
from daxy.core.random import stream


def test_a_purpose_has_its_own_stream_under_every_seed() -> None:
    draws = {
        (seed, purpose): tuple(stream(seed, purpose).integers(1 << 30, size=4))
        for seed in (0, 1)
        for purpose in ("split", "order")
    }
    assert len(set(draws.values())) == 4


def test_the_same_seed_and_purpose_draw_the_same() -> None:
    one, other = (stream(3, "split").random(8) for _ in range(2))
    assert np.array_equal(one, other)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(WrongRequest, match="a seed must not be negative: -1"):
        stream(-1, "split")
