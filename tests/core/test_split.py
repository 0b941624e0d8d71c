from daxy.core.examples import Examples
from daxy.core.split import Split, checksum

PAIRS = [(["jump"], ["I_JUMP"]), (["walk"], ["I_WALK"])]


def test_the_checksum_depends_on_content_and_order_alone() -> None:
    whole = Examples.of([*PAIRS, (["run"], ["I_RUN"])])
    assert checksum((whole[:2],)) == checksum((Examples.of(PAIRS),))
    assert checksum((Examples.of(PAIRS),)) != checksum((Examples.of(PAIRS[::-1]),))


def test_the_checksum_sees_where_one_part_ends() -> None:
    rows = Examples.of(PAIRS)
    assert checksum((rows, rows[:0])) != checksum((rows[:1], rows[1:]))


def test_a_split_writes_down_where_it_came_from() -> None:
    rows = Examples.of(PAIRS)
    split = Split.of(
        train=rows, validation=rows[:0], test=rows[1:], task="t", rule="r", seed=3, options={}
    )
    sizes = split.provenance.sizes
    assert (sizes.train, sizes.validation, sizes.test) == (2, 0, 1)
    assert split.provenance.seed == 3
    assert split.provenance.source == "generated"
    assert list(split.parts) == ["train", "validation", "test"]
