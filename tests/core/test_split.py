import dataclasses
from typing import Any

import pytest

from daxy.core.errors import UnknownName, WrongRequest
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


def three_tests() -> Split:
    test = Examples.of([((f"s{row}",), (f"t{row}",)) for row in range(6)])
    return Split.of(
        train=test[:1],
        validation=test[:0],
        test=test,
        tests={"A": 2, "B": 1, "C": 3},
        task="task",
        rule="",
        seed=0,
        options={},
    )


def test_one_of_several_tests_can_be_taken() -> None:
    only = three_tests().only(test="C")
    assert only.test.source[0] == ("s3",)
    assert len(only.test) == only.provenance.sizes.test == 3
    assert only.tests == {"C": slice(0, 3)}
    with pytest.raises(UnknownName, match="no test named 'D'"):
        three_tests().only(test="D")


def test_a_sample_keeps_the_order_and_the_names_of_its_tests() -> None:
    split = three_tests()
    sample = split.only(sample=4, seed=1)
    rows = [int(word.removeprefix("s")) for (word,) in sample.test.source]
    assert rows == sorted(set(rows))
    names = "AABCCC"
    assert list(sample.provenance.sizes.tests.values()) == [
        sum(names[row] == name for row in rows) for name in "ABC"
    ]
    assert sample.provenance.part == {"sample": 4, "of": 6, "seed": 1}
    assert split.only(sample=4, seed=1).test.keys == sample.test.keys
    assert len({split.only(sample=2, seed=seed).test.keys for seed in range(20)}) > 5
    for wrong in (0, 7):
        with pytest.raises(WrongRequest, match="sample must be from 1 to the 6 examples"):
            split.only(sample=wrong)


@pytest.mark.parametrize(
    "wrong",
    [{"sample": "5"}, {"sample": 5.0}, {"sample": True}, {"seed": "a"}, {"test": 4}],
    ids=str,
)
def test_a_part_of_another_type_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(WrongRequest, match="must be a"):
        three_tests().only(**wrong)


def test_a_replaced_test_set_is_not_cut_by_the_sizes_it_had() -> None:
    split = three_tests()
    shuffled = dataclasses.replace(split, test=split.test[::-1])
    for changed in (shuffled, dataclasses.replace(split, test=split.test[:3])):
        with pytest.raises(WrongRequest, match=r"was replaced.*split\.only"):
            _ = changed.tests
        assert "a part was replaced" in repr(changed)
    same = dataclasses.replace(split, test=split.test.take(range(6)))
    assert list(same.tests) == ["A", "B", "C"]
