"""Which examples meet in a batch, in which order batches come, and how they are padded."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.batching.epochs import (
    Bucket,
    Epoch,
    assign,
    bucketed,
    choose_buckets,
    needs,
    sampled_shapes,
    sampled_with_replacement,
    shuffled,
)

# Lengths of a training set in which rows 3 and 7 are there several times.
LENGTHS = np.random.default_rng(0).integers(2, 12, 50)
ROWS = np.concatenate([np.arange(50), [3, 3, 7]]).astype(np.int32)
SIZE = 8


def made(seed: int = 0, number: int = 0, rows: np.ndarray = ROWS, size: int = SIZE) -> Epoch:
    return bucketed(rows, LENGTHS[rows], size=size, seed=seed, number=number)


def kept(one: Epoch) -> np.ndarray:
    """Return the rows that count, one after another."""
    return one.rows[one.weights > 0]


@given(st.lists(st.integers(0, 49), min_size=1, max_size=60), st.integers(1, 9), st.integers(0, 99))
def test_every_example_counts_once_an_epoch_for_each_time_it_is_there(
    rows: list[int], size: int, seed: int
) -> None:
    one = made(seed, 0, np.array(rows, np.int32), size)
    assert sorted(kept(one).tolist()) == sorted(rows)
    assert one.rows.shape == one.weights.shape == (-(-len(rows) // size), size)


@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 99))
def test_the_weights_of_every_batch_are_one_over_its_size(count: int, size: int, seed: int) -> None:
    one = made(seed, 0, np.resize(ROWS, count), size)
    np.testing.assert_allclose(one.weights.sum(axis=1), 1, rtol=1e-6)
    counts = sorted((one.weights > 0).sum(axis=1), reverse=True)
    full, left = divmod(count, size)
    assert counts == [size] * full + [left] * (left > 0)
    for weights in one.weights:
        assert len(set(weights[weights > 0])) == 1


@given(st.integers(0, 99), st.integers(0, 9))
def test_batches_cut_the_examples_sorted_by_length(seed: int, number: int) -> None:
    """No two batches overlap in length by more than an end: so put in order, they are sorted."""
    one = made(seed, number)
    lengths = LENGTHS[one.rows]
    spans = sorted((row.min(), row.max()) for row in lengths)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))


def test_the_same_seed_and_epoch_give_the_same_batches() -> None:
    one, other = made(3, 2), made(3, 2)
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.weights, other.weights)


@pytest.mark.parametrize(("seed", "number"), [(4, 2), (3, 1)])
def test_another_seed_or_another_epoch_gives_other_batches(seed: int, number: int) -> None:
    assert {tuple(sorted(row)) for row in made(3, 2).rows.tolist()} != {
        tuple(sorted(row)) for row in made(seed, number).rows.tolist()
    }


def test_seeds_share_the_lengths_of_every_step() -> None:
    """So replicas that train side by side share their padded shapes."""
    for number in range(5):
        one, other = (np.sort(LENGTHS[made(seed, number).rows], axis=1) for seed in (0, 1))
        np.testing.assert_array_equal(one, other)


def test_the_order_of_lengths_is_another_in_each_epoch_and_not_sorted() -> None:
    orders = [tuple(LENGTHS[made(0, number).rows].max(axis=1)) for number in range(4)]
    assert len(set(orders)) == 4
    assert all(list(order) != sorted(order) for order in orders)


TARGETS = 3 * LENGTHS - np.arange(50) % 5


EQUAL = np.full(len(ROWS), 1 / len(ROWS))


def draws(
    seed: int = 0, number: int = 0, steps: int = 400, size: int = 1, odds: np.ndarray = EQUAL
) -> np.ndarray:
    lengths = LENGTHS[ROWS], TARGETS[ROWS]
    one = sampled_with_replacement(
        ROWS, *lengths, odds, size=size, steps=steps, seed=seed, number=number
    )
    np.testing.assert_array_equal(one.weights, np.full((steps, size), 1 / size, np.float32))
    return one.rows


UNEQUAL = np.where(np.arange(len(ROWS)) < 10, 0.3 / 10, 0.7 / (len(ROWS) - 10))


@pytest.mark.parametrize("odds", [EQUAL, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("size", [1, 16])
def test_a_draw_meets_each_line_as_often_as_it_is_likely(size: int, odds: np.ndarray) -> None:
    """Pearson's test: 53 lines of 50 examples; chance would be as far off once in a thousand."""
    counts = np.bincount(draws(steps=40_000 // size, size=size, odds=odds).ravel(), minlength=50)
    expected = np.bincount(ROWS, odds, minlength=50) * 40_000
    assert ((counts - expected) ** 2 / expected).sum() < 85.4  # 49 degrees of freedom


def test_a_batch_of_draws_has_its_longest_targets_last() -> None:
    lengths = TARGETS[draws(size=16)]
    assert (np.diff(lengths, axis=1) >= 0).all()
    assert (lengths[:, 0] < lengths[:, -1]).all()


def test_examples_come_in_order_of_the_side_that_padding_costs_more_on() -> None:
    """A target's slot counts twice a source's; so a row that differs by as much, by target."""
    wide, narrow = 4 * LENGTHS[ROWS], TARGETS[ROWS] % 5
    places = np.arange(len(ROWS), dtype=np.int32)
    for sides, longest_last in (((wide, narrow), 0), ((narrow, wide), 1), ((wide, wide[::-1]), 1)):
        one = sampled_with_replacement(places, *sides, EQUAL, size=16, steps=50, seed=0, number=0)
        mix = shuffled(places, *sides, size=16, first=0, steps=3, seed=0)
        for rows in (one.rows, mix.rows):
            sorts = [(np.diff(side[rows], axis=1) >= 0).all() for side in sides]
            assert sorts == [longest_last == 0, longest_last == 1]


def test_one_draw_says_nothing_about_the_next() -> None:
    lengths = LENGTHS[draws(steps=40_000)].ravel().astype(float)
    assert abs(np.corrcoef(lengths[1:], lengths[:-1])[0, 1]) < 3.3 / 200


def test_seeds_draw_alike_lengths_but_not_the_same_examples() -> None:
    one, other = draws(seed=1), draws(seed=2)
    assert np.corrcoef(TARGETS[one].ravel(), TARGETS[other].ravel())[0, 1] > 0.98
    assert (one == other).mean() < 0.4


def test_a_draw_depends_on_the_seed_and_on_the_epoch_alone() -> None:
    np.testing.assert_array_equal(draws(3, 2), draws(3, 2))
    assert (draws(3, 2) != draws(3, 1)).any()
    assert (draws(3, 2) != draws(4, 2)).any()


@given(st.integers(1, 53), st.sampled_from([(1, 1), (3, 1), (4, 2)]), st.integers(0, 99))
def test_draws_fit_the_shapes_that_were_foreseen(
    count: int, sizes: tuple[int, int], seed: int
) -> None:
    rows, (size, parts) = ROWS[-count:], sizes
    given = LENGTHS[rows], TARGETS[rows], UNEQUAL[-count:] / UNEQUAL[-count:].sum()
    foreseen = sampled_shapes(*given, size=size, steps=30, parts=parts)
    one = sampled_with_replacement(rows, *given, size=size, steps=30, seed=seed, number=0)
    found = needs([one], LENGTHS, TARGETS, parts)
    fits = (found <= foreseen).all(axis=(0, 1))
    # A part of a batch in order of one side's length may have another part's longest other side.
    source, target = (side.max() - side.mean() for side in given[:2])
    assert fits[0 if source > 2 * target else 1]
    assert fits.all() or parts > 1
    assert (foreseen <= [given[0].max(), given[1].max()]).all()


def test_a_step_needs_the_longest_of_all_replicas() -> None:
    weights = np.ones((2, 2), np.float32)
    one = Epoch(np.array([[0, 1], [2, 2]], np.int32), weights)
    other = Epoch(np.array([[3, 3]], np.int32), weights[:1])
    found = needs([one, other], np.array([4, 2, 9, 5]), np.array([1, 8, 3, 7]))
    np.testing.assert_array_equal(found, [[[5, 8]], [[9, 3]]])


def test_each_part_of_a_step_needs_what_is_longest_in_it() -> None:
    rows = np.array([[0, 1, 2, 3]], np.int32)
    one, other = (Epoch(each, np.ones((1, 4), np.float32)) for each in (rows, rows[:, ::-1]))
    found = needs([one, other], np.array([4, 2, 3, 5]), np.array([1, 8, 3, 7]), parts=2)
    np.testing.assert_array_equal(found, [[[5, 8], [5, 8]]])
    alone = needs([one], np.array([4, 2, 3, 5]), np.array([1, 8, 3, 7]), parts=2)
    np.testing.assert_array_equal(alone, [[[4, 8], [5, 7]]])


TARGETS = np.random.default_rng(1).integers(1, 30, 50)
"""Lengths of the targets of the same rows."""


def passing(first: int, steps: int, count: int = 53, size: int = SIZE, seed: int = 0) -> Epoch:
    """Return some batches of passes through the first rows."""
    rows = ROWS[:count]
    lengths = LENGTHS[rows], TARGETS[rows]
    return shuffled(rows, *lengths, size=size, first=first, steps=steps, seed=seed)


@given(st.integers(1, 53), st.integers(1, 9), st.integers(0, 3), st.integers(0, 99))
def test_every_pass_of_mixed_batches_has_every_example_once(
    count: int, size: int, number: int, seed: int
) -> None:
    each = -(-count // size)
    one = passing(number * each, each, count, size, seed)
    assert sorted(kept(one).tolist()) == sorted(ROWS[:count].tolist())
    assert one.rows.shape == (each, size)
    np.testing.assert_allclose(one.weights.sum(axis=1), 1, rtol=1e-6)


@given(st.integers(0, 30), st.integers(1, 20))
def test_mixed_batches_do_not_depend_on_where_one_begins_to_ask(first: int, steps: int) -> None:
    whole, part = passing(0, first + steps), passing(first, steps)
    np.testing.assert_array_equal(whole.rows[first:], part.rows)
    np.testing.assert_array_equal(whole.weights[first:], part.weights)


@given(st.integers(0, 99))
def test_within_a_mixed_batch_the_longest_targets_come_last(seed: int) -> None:
    one = passing(0, 14, seed=seed)
    assert (np.diff(TARGETS[one.rows], axis=1) >= 0).all()


def test_mixed_batches_are_of_all_lengths() -> None:
    """Unlike those that are sorted: the longest target of one is not the shortest of another."""
    spans = [np.ptp(TARGETS[row]) for row in passing(0, 6).rows]
    assert min(spans) > np.ptp(TARGETS) / 2


shapes = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 30)), min_size=1, max_size=40)


@given(shapes, st.integers(1, 6))
def test_there_are_at_most_as_many_buckets_as_allowed_and_every_batch_fits_one(
    batches: list[tuple[int, int]], count: int
) -> None:
    found = choose_buckets(np.array(batches), (12, 30), count)
    assert 1 <= len(found) <= count
    assert Bucket(12, 30) in found
    for (source, target), place in zip(batches, assign(np.array(batches), found), strict=True):
        assert fits(found[place], source, target)


def fits(bucket: Bucket, source: int, target: int) -> bool:
    return source <= bucket.source and target <= bucket.target


def cost(bucket: Bucket) -> int:
    """Return what a step costs, in source tokens: a target token counts as two."""
    return bucket.source + 2 * bucket.target


@given(shapes, st.integers(1, 6))
def test_every_batch_gets_the_cheapest_bucket_that_it_fits(
    batches: list[tuple[int, int]], count: int
) -> None:
    found = choose_buckets(np.array(batches), (12, 30), count)
    for (source, target), place in zip(batches, assign(np.array(batches), found), strict=True):
        fitting = [cost(bucket) for bucket in found if fits(bucket, source, target)]
        assert cost(found[place]) == min(fitting)


def test_with_buckets_enough_nothing_is_padded() -> None:
    found = choose_buckets(np.array([[3, 5], [4, 9], [3, 5]]), (4, 9), 3)
    assert found == [Bucket(3, 5), Bucket(4, 9)]


def test_what_is_rare_or_alike_is_merged_and_what_is_frequent_is_kept() -> None:
    frequent, rare = [[2, 3]] * 50, [[7, 20]]
    found = choose_buckets(np.array(frequent + rare + [[8, 21]]), (9, 22), 2)
    assert found == [Bucket(2, 3), Bucket(9, 22)]
