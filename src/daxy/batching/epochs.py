"""Order of batches, and the padded shapes of batches.

An epoch shuffles the examples, sorts them by source length (a stable sort, so that equal lengths
stay shuffled), cuts the row into batches and shuffles those. The examples' order depends on the
run's seed; the batches' order only on the epoch, so that vmapped replicas
have batches of one length at each step and share their padded shape.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daxy.batching.table import Rows
from daxy.core.random import stream

PADDING = 1, 2
"""Cost of a padded token in a source and in a target: a decoder step costs about twice as much as
an encoder step."""


@dataclass(frozen=True, eq=False)
class Epoch:
    """The batches of one epoch of one run."""

    rows: NDArray[np.int32]
    """Shape [steps, batch]; a batch that is not full repeats one of its rows with weight 0."""
    weights: NDArray[np.float32]
    """Weight of each example's loss, shape [steps, batch]: 1 / the examples of its batch, or
    1 / their tokens; 0 for padding."""

    def __len__(self) -> int:
        return len(self.rows)


def bucketed(
    rows: Rows, source_lengths: NDArray[np.integer], *, size: int, seed: int, number: int
) -> Epoch:
    """Return epoch `number` (from 0) over these rows, in batches of similar source lengths.

    Args:
        rows: The training set, repeats included.
        source_lengths: Length of the source of each row.
        size: Examples in a batch; the last batch of the sorted rows may be smaller.
        seed: The run's seed.
        number: Number of the epoch, from 0.
    """
    order = stream(seed, f"order of examples, epoch {number}").permutation(len(rows))
    ordered = rows[order[np.argsort(source_lengths[order], kind="stable")]]
    steps = -(-len(rows) // size)
    padded = np.concatenate([ordered, np.repeat(ordered[-1:], steps * size - len(rows))])
    counts = np.full(steps, size)
    counts[-1] = len(rows) - (steps - 1) * size
    weights = (np.arange(size) < counts[:, None]) / counts[:, None]
    batches = stream(0, f"order of batches, epoch {number}").permutation(steps)
    return Epoch(padded.reshape(steps, size)[batches], weights[batches].astype(np.float32))


def shuffled(
    rows: Rows,
    source_lengths: NDArray[np.integer],
    target_lengths: NDArray[np.integer],
    *,
    size: int,
    first: int,
    steps: int,
    seed: int,
) -> Epoch:
    """Return consecutive batches of shuffled passes over these rows.

    Within a batch the longest examples come last, so that it can be padded in parts.

    Args:
        rows: The training set, repeats included.
        source_lengths: Length of the source of each row.
        target_lengths: Length of the target of each row.
        size: Examples in a batch; the last batch of a pass may be smaller.
        first: Number of earlier batches.
        steps: Batches to return.
        seed: The run's seed.
    """
    pass_steps = -(-len(rows) // size)
    passes = range(first // pass_steps, -(-(first + steps) // pass_steps))
    padding = np.full(pass_steps * size - len(rows), -1)
    orders = [stream(seed, f"order of examples, pass {n}").permutation(len(rows)) for n in passes]
    batches = np.concatenate([np.concatenate([order, padding]) for order in orders])
    batches = batches.reshape(-1, size)[first - passes.start * pass_steps :][:steps]
    batches = _longest_last(batches, source_lengths, target_lengths)
    is_example = batches >= 0
    # Padding repeats the shortest example of the batch with weight 0.
    shortest = np.take_along_axis(batches, is_example.argmax(axis=1)[:, None], axis=1)
    weights = is_example / is_example.sum(axis=1, keepdims=True)
    return Epoch(rows[np.where(is_example, batches, shortest)], weights.astype(np.float32))


def sequential(
    rows: Rows,
    source_lengths: NDArray[np.integer],
    target_lengths: NDArray[np.integer],
    *,
    size: int,
) -> Epoch:
    """Return full batches of these rows in their order.

    Within a batch the longest examples come last, so that it can be padded in parts.

    Args:
        rows: The training set; their number is a multiple of `size`.
        source_lengths: Length of the source of each row.
        target_lengths: Length of the target of each row.
        size: Examples in a batch.
    """
    batches = _longest_last(np.arange(len(rows)).reshape(-1, size), source_lengths, target_lengths)
    return Epoch(rows[batches], np.full(batches.shape, 1 / size, np.float32))


def _longest_last(
    batches: NDArray[np.integer],
    source_lengths: NDArray[np.integer],
    target_lengths: NDArray[np.integer],
) -> NDArray[np.integer]:
    """Return each batch with its longest examples last; padding, -1, comes first."""
    minor, major = _sides(source_lengths, target_lengths)
    order = np.lexsort((minor[batches], major[batches], batches >= 0))
    return np.take_along_axis(batches, order, axis=1)


def _sides(
    source_lengths: NDArray[np.integer], target_lengths: NDArray[np.integer]
) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Return both lengths, in the order (minor, major) of sort keys.

    The major key is the side whose lengths differ more, weighted by the cost of padding: SCAN's
    targets, NACS's sources.
    """
    sides = source_lengths, target_lengths
    source, target = (
        cost * (lengths.max() - lengths.mean())
        for cost, lengths in zip(PADDING, sides, strict=True)
    )
    return (target_lengths, source_lengths) if source > target else sides


QUANTILES = 16
"""Quantiles of length from which a step samples."""


def sampled_with_replacement(
    rows: Rows,
    source_lengths: NDArray[np.integer],
    target_lengths: NDArray[np.integer],
    odds: NDArray[np.float64],
    *,
    size: int,
    steps: int,
    seed: int,
    number: int,
) -> Epoch:
    """Return epoch `number` of examples sampled with replacement.

    Rows are sorted by length; a sample is a uniform number that selects a row by the cumulative
    odds. All seeds share the quantile of this number; its position in the quantile depends on the
    seed. So the samples of one seed are independent and have the right odds, and all replicas have
    similar lengths at a step. Within a batch the longest examples come last, so that it can be
    padded in parts.

    Args:
        rows: The training set, repeats included.
        source_lengths: Length of the source of each row.
        target_lengths: Length of the target of each row.
        odds: Probability of each row; the sum is 1.
        size: Examples in a batch.
        steps: Batches in the epoch.
        seed: The run's seed.
        number: Number of the epoch, from 0.
    """
    positions = stream(seed, f"draws of examples, epoch {number}").random((steps, size))
    shares = (_quantiles(steps, size, number) + positions) / QUANTILES
    # Rows and shares are sorted, so the samples of a step are sorted by length.
    order = np.lexsort(_sides(source_lengths, target_lengths))
    chosen = rows[order[_rows_at(odds[order], np.sort(shares, axis=1))]]
    return Epoch(chosen, np.full((steps, size), 1 / size, np.float32))


def sampled_shapes(
    source_lengths: NDArray[np.integer],
    target_lengths: NDArray[np.integer],
    odds: NDArray[np.float64],
    *,
    size: int,
    steps: int,
    parts: int = 1,
) -> NDArray[np.int64]:
    """Return the maximum source and target length of each part of each step of the first epoch.

    Shape [steps, parts, 2].
    """
    order = np.lexsort(_sides(source_lengths, target_lengths))
    lengths = np.stack([source_lengths, target_lengths], axis=1)[order]
    edges = _rows_at(odds[order], np.arange(QUANTILES + 1) / QUANTILES)
    quantiles = itertools.pairwise(edges.tolist())
    longest = np.stack([lengths[one : other + 1].max(axis=0) for one, other in quantiles])
    return in_parts(longest[np.sort(_quantiles(steps, size, 0), axis=1)], parts).max(axis=2)


def _rows_at(odds: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the row at each share of the cumulative odds."""
    rows = np.searchsorted(np.cumsum(odds), shares, side="right")
    return np.minimum(rows, len(odds) - 1)


def _quantiles(steps: int, size: int, number: int) -> NDArray[np.int64]:
    return stream(0, f"quantiles of length, epoch {number}").integers(QUANTILES, size=(steps, size))


@dataclass(frozen=True, slots=True)
class Bucket:
    """A padded shape, END included."""

    source: int
    target: int

    @property
    def cost(self) -> int:
        """Cost of an example, in source tokens."""
        return self.source * PADDING[0] + self.target * PADDING[1]


def needs(
    epochs: Sequence[Epoch],
    source_lengths: NDArray[np.integer],
    target_lengths: NDArray[np.integer],
    parts: int = 1,
) -> NDArray[np.int64]:
    """Return the longest source and target of each part of each step over all replicas.

    Shape [steps, parts, 2].
    """

    def longest(epoch: Epoch) -> NDArray[np.int64]:
        rows = in_parts(epoch.rows, parts)
        sides = source_lengths, target_lengths
        return np.stack([lengths[rows].max(axis=2) for lengths in sides], axis=2)

    return widest(list(map(longest, epochs)))


def in_parts(values: NDArray[Any], parts: int) -> NDArray[Any]:
    """Return values of shape [steps, batch, ...] as [steps, parts, batch / parts, ...]."""
    return values.reshape(len(values), parts, -1, *values.shape[2:])


def widest(shapes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the maximum shapes over runs: [steps, parts, 2].

    Runs may have different numbers of steps.
    """
    longest = np.zeros((max(map(len, shapes)), *shapes[0].shape[1:]), np.int64)
    for lengths in shapes:
        steps = len(lengths)
        longest[:steps] = np.maximum(longest[:steps], lengths)
    return longest


def choose_buckets(shapes: NDArray[np.int64], limits: tuple[int, int], count: int) -> list[Bucket]:
    """Return at most `count` shapes for all parts of batches, the smallest first.

    Two shapes are merged at a time: those that add the least padding. One bucket has the `limits`,
    for the batches of later epochs.
    """
    distinct, times = np.unique(shapes.reshape(-1, 2), axis=0, return_counts=True)
    merged = [(np.asarray(limits), 0), *zip(distinct, times.tolist(), strict=True)]
    while len(merged) > count:
        sides = np.stack([shape for shape, _ in merged])
        weight = np.array([times for _, times in merged], float)
        union = np.maximum(sides[:, None], sides[None])
        cost = union @ PADDING * (weight[:, None] + weight) - sides @ PADDING * weight
        cost -= (sides @ PADDING * weight)[:, None]
        cost[np.tril_indices(len(merged))] = np.inf
        one, other = np.unravel_index(np.argmin(cost), cost.shape)
        joined = (union[one, other], merged[one][1] + merged[other][1])
        merged = [shape for at, shape in enumerate(merged) if at not in (one, other)]
        merged.append(joined)
    buckets = {Bucket(int(source), int(target)) for (source, target), _ in merged}
    return sorted(buckets, key=lambda bucket: (bucket.cost, bucket.source))


def assign(shapes: NDArray[np.int64], buckets: Sequence[Bucket]) -> NDArray[np.int32]:
    """Return the first, and so the cheapest, bucket for each part of each step.

    Args:
        shapes: Shape [steps, parts, 2].
        buckets: Buckets, one of which fits every part.

    Returns:
        Indices of `buckets`: [steps, parts].
    """
    sides = np.array([(bucket.source, bucket.target) for bucket in buckets])
    fits = (shapes[..., None, :] <= sides).all(axis=-1)
    assert fits.any(axis=-1).all()
    return fits.argmax(axis=-1).astype(np.int32)
