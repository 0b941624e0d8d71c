"""Memories against the equations of their papers, one strength after another."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daxy.core.errors import UnknownName
from daxy.kernels import memory_reads
from daxy.kernels.memory_reads import MemoryInputs, PrecomputedReads
from daxy.models import memories
from daxy.models.memories import StrengthMemory

Numbers = np.ndarray[Any, np.dtype[np.float64]]

SIDES = {"stack": ("top",), "queue": ("bottom",), "deque": ("top", "bottom")}
"""Where each is popped and read. All are pushed at the top, the DeQue at the bottom too."""


def passed(strengths: Numbers, i: int, side: str) -> Any:
    """Return the sum of the strengths that are met before a place when one comes from a side."""
    return (strengths[i + 1 :] if side == "top" else strengths[:i]).sum()


def popped(strengths: Numbers, amount: float, side: str) -> Numbers:
    """Return what a pop leaves: equation 2 from the top, equation 4 from the bottom."""
    left = np.zeros_like(strengths)
    for i, strength in enumerate(strengths):
        left[i] = max(0.0, strength - max(0.0, amount - passed(strengths, i, side)))
    return left


def read(strengths: Numbers, vectors: Numbers, side: str) -> Numbers:
    """Return the mixture of what makes up a strength of 1: equation 3 or 5."""
    found = np.zeros(vectors.shape[1])
    for i, strength in enumerate(strengths):
        found += min(strength, max(0.0, 1.0 - passed(strengths, i, side))) * vectors[i]
    return found


def recursion(name: str, wanted: Numbers, values: Numbers) -> tuple[Numbers, Numbers]:
    """Return what `equations` does, of a memory of strengths: pops, then pushes, then reads."""
    strengths, vectors, reads, held = np.zeros(0), values[:0, 0], list[Any](), list[Any]()
    for want, value in zip(sigmoid(wanted), values, strict=True):
        for side, pop in zip(SIDES[name], want[:, 0], strict=True):
            strengths = popped(strengths, pop, side)
        strengths, vectors = np.append(strengths, want[0, 1]), np.vstack([vectors, value[0]])
        if name == "deque":
            strengths, vectors = np.append(want[1, 1], strengths), np.vstack([value[1], vectors])
        reads.append([read(strengths, vectors, side) for side in SIDES[name]])
        held.append(strengths @ vectors)
    return np.array(reads), np.array(held)


def superposed(wanted: Numbers, values: Numbers) -> tuple[Numbers, Numbers]:
    """Return what `equations` does, of Joulin & Mikolov's stack, slot by slot from the top."""
    slots = [np.zeros(values.shape[-1])] * (len(values) + 1)
    tops, held = list[Any](), list[Any]()
    for (want,), (value,) in zip(wanted, values, strict=True):
        push, pop, keep = np.exp(want) / np.exp(want).sum()
        slots = [
            push * above + pop * below + keep * here
            for above, here, below in zip(
                [value, *slots[:-1]], slots, [*slots[1:], value * 0], strict=True
            )
        ]
        tops.append([slots[0]])
        held.append(np.sum(slots, axis=0))
    return np.array(tops), np.array(held)


def equations(name: str, wanted: Numbers, values: Numbers) -> tuple[Numbers, Numbers]:
    """Return what is read after each step, and the sum of all that is there.

    Of what a controller wants, [steps, ends, wants], and of vectors, [steps, ends, width]; what is
    read is of that shape too, the sum is [steps, width].
    """
    wanted, values = wanted.astype(np.float64), values.astype(np.float64)
    if name == "superposition":
        return superposed(wanted, values)
    return recursion(name, wanted, values)


def sigmoid(values: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-values))


def wanting(strengths: Any) -> Numbers:
    """Return what a controller says for such strengths: infinite numbers for 0 and 1."""
    with np.errstate(divide="ignore"):
        return np.log(strengths) - np.log1p(-np.asarray(strengths))


@partial(jax.jit, static_argnums=0)
def played(
    name: str,
    wanted: Any,
    values: Any,
    is_step: Any = None,
    times: Any = None,
    precomputed: PrecomputedReads | None = None,
) -> tuple[Any, Any, Any]:
    """Return a memory after each step, what is read then, and the sum of all there is.

    Axes for the steps and the rows of a batch come first. All rows step, and at the same time,
    unless another is said.
    """
    memory, (steps, batch, _, width) = memories.get(name), values.shape
    is_step = jnp.ones((steps, batch), bool) if is_step is None else is_step
    times = jnp.arange(steps) if times is None else times

    def step(state: Any, here: Any) -> tuple[Any, Any]:
        if precomputed is not None:
            state, read = memory_reads.step(memory, state, *here, precomputed)
            return state, (state, read, None)
        state, read = memory.step(state, *here)
        return state, (state, read, memory.contents(state))

    begin = memory.start(batch, steps, width)
    if precomputed is not None:
        begin = precomputed.enter(begin.sums)
    return jax.lax.scan(step, begin, (times, is_step, wanted, values))[1]


def exactly(name: str, wanted: Numbers, values: Numbers) -> tuple[Numbers, Numbers]:
    """Return what a memory comes to in float64, in the shapes of `equations`."""
    with jax.enable_x64(True):
        _, reads, held = played(name, jnp.asarray(wanted)[:, None], jnp.asarray(values)[:, None])
    assert reads.dtype == held.dtype == np.float64
    return np.asarray(reads)[:, 0], np.asarray(held)[:, 0]


def drawn(
    kind: str, name: str, steps: int, seed: int, jitter: float = 0
) -> tuple[Numbers, Numbers]:
    """Return what is said for strengths of some kind, and vectors.

    Each strength is moved by `jitter` of the way to another one.
    """
    draw = np.random.default_rng(seed)
    shape = (steps, memories.get(name).ends)
    strengths = draw.random((*shape, 2))
    if kind == "binary":
        strengths = np.round(strengths)
    if kind == "sparse":
        strengths = np.where(draw.random(strengths.shape) < 0.5, 0, strengths)
    strengths += jitter * (draw.random(strengths.shape) - strengths)
    return wanting(strengths), draw.standard_normal((*shape, 3))


@settings(deadline=None, max_examples=60)
@given(
    name=st.sampled_from(list(SIDES)),
    kind=st.sampled_from(["random", "binary", "sparse"]),
    steps=st.sampled_from([1, 2, 3, 7, 24]),
    seed=st.integers(0, 2**32),
)
def test_a_memory_reads_and_holds_what_the_papers_recursion_does(
    name: str, kind: str, steps: int, seed: int
) -> None:
    moves = drawn(kind, name, steps, seed)
    for found, expected in zip(exactly(name, *moves), equations(name, *moves), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@settings(deadline=None, max_examples=20)
@given(steps=st.sampled_from([1, 2, 9, 24]), seed=st.integers(0, 2**32))
def test_the_superposition_stack_mixes_its_operations(steps: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    moves = draw.standard_normal((steps, 1, 3)), draw.standard_normal((steps, 1, 2))
    for found, expected in zip(exactly("superposition", *moves), superposed(*moves), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_gradients_of_the_superposition_stack_are_its_differences(seed: int) -> None:
    draw = np.random.default_rng(seed)
    moves = draw.standard_normal((5, 1, 3)), draw.standard_normal((5, 1, 2))
    weigh = draw.standard_normal(moves[1].shape)
    with jax.enable_x64(True):
        rows = (jnp.asarray(each)[:, None] for each in (weigh, *moves))
        found = jax.tree.map(np.asarray, mixed_slopes(*rows))
    for own, expected in zip(found, differences(superposed, moves, weigh), strict=True):
        np.testing.assert_allclose(own[:, 0], expected, rtol=0, atol=1e-9)


@jax.jit
def mixed_slopes(weigh: Any, *moves: Any) -> Any:
    """Return the gradients of a weighted sum of what is read."""
    return jax.grad(lambda moves: (played("superposition", *moves)[1] * weigh).sum())(moves)


def differences(
    reads: Callable[..., Any], moves: Sequence[Any], weigh: Any, step: float = 1e-5
) -> Iterator[Any]:
    """Yield, for each of the moves, how a weighted sum of what is read changes with it."""
    for place, own in enumerate(moves):
        found = np.zeros_like(own)
        for index in np.ndindex(own.shape):
            sides = list[float]()
            for sign in (1, -1):
                moved = [each.copy() for each in moves]
                moved[place][index] += sign * step
                sides.append(float((reads(*moved)[0] * weigh).sum()))
            found[index] = (sides[0] - sides[1]) / (2 * step)
        yield found


@settings(deadline=None, max_examples=20)
@given(
    name=st.sampled_from(list(SIDES)),
    kind=st.sampled_from(["random", "binary", "sparse"]),
    seed=st.integers(0, 2**32),
)
def test_gradients_are_those_of_the_papers_recursion(name: str, kind: str, seed: int) -> None:
    """Strengths are moved a little: a memory has no gradient where pops use strengths up."""
    moves = drawn(kind, name, 5, seed, jitter=0.02)
    weigh = np.random.default_rng(seed).standard_normal(moves[1].shape)
    with jax.enable_x64(True):
        rows = (jnp.asarray(each)[:, None] for each in (weigh, *moves))
        plain, knowing = jax.tree.map(np.asarray, slopes(name, *rows))
    expected = differences(partial(equations, name), moves, weigh)
    for place, own in enumerate(expected):
        for gradient in (plain[place], knowing[place]):
            np.testing.assert_allclose(gradient[:, 0], own, rtol=0, atol=1e-9)


@partial(jax.jit, static_argnums=0)
def slopes(name: str, weigh: Any, *moves: Any) -> tuple[Any, Any]:
    """Return the gradients of a weighted sum of what is read.

    Of steps as they are, and of steps that know what the memory comes to.
    """
    memory = memories.get(name)
    assert isinstance(memory, StrengthMemory)

    def total(moves: Any, precomputed: PrecomputedReads | None) -> Any:
        return (played(name, *moves, precomputed=precomputed)[1] * weigh).sum()

    wanted, values = moves
    steps, batch, _, width = values.shape
    begin = memory.start(batch, steps, width)
    last = jax.tree.map(lambda part: part[-1], played(name, *moves)[0])
    inputs = MemoryInputs(jnp.arange(steps), jnp.ones((steps, batch), bool), wanted, values)
    vectors = last.vectors, jnp.zeros_like(begin.vectors)
    _, known = memory_reads.precompute(memory, begin.sums, inputs, *vectors)
    return jax.grad(total)(moves, None), jax.grad(total)(moves, known)


@pytest.mark.slow
@pytest.mark.parametrize("name", SIDES)
def test_gradients_of_memories_side_by_side_are_those_of_each_alone(name: str) -> None:
    """Networks are trained as replicas of one program, also where it knows what comes."""
    rows = [
        [jnp.asarray(each)[:, None] for each in drawn("random", name, 6, seed)] for seed in (0, 1)
    ]
    weigh = jnp.asarray(rows[0][1][::-1])
    own = partial(slopes, name, weigh)
    together = jax.vmap(own)(*(jnp.stack(each) for each in zip(*rows, strict=True)))
    for place, moves in enumerate(rows):
        alone = own(*moves)
        for one, other in zip(jax.tree.leaves(alone), jax.tree.leaves(together), strict=True):
            assert np.abs(one).max() > 1e-3
            np.testing.assert_allclose(other[place], one, rtol=0, atol=1e-6)


BOUNDS = {"stack": 3e-6, "queue": 3e-5, "deque": 3e-5, "superposition": 3e-6}
"""How wrong a read may be in float32, where sums of strengths are rounded at each step."""


@pytest.mark.parametrize("name", memories.available())
def test_in_float32_a_memory_reads_what_it_should_after_260_steps_too(name: str) -> None:
    """Of 300 steps 40 are none."""
    is_step = np.random.default_rng(1).permutation(300) < 260
    assert_rows_read_what_they_would_alone(name, is_step[:, None], within=BOUNDS[name])


@pytest.mark.parametrize("name", memories.available())
def test_a_row_of_a_batch_is_as_it_is_alone(name: str) -> None:
    assert_rows_read_what_they_would_alone(name, np.ones((5, 4), bool))


@pytest.mark.parametrize("name", memories.available())
def test_a_row_without_a_step_keeps_what_it_has(name: str) -> None:
    is_step = np.ones((7, 2), bool)
    is_step[[1, 3, 4], 1] = False
    assert_rows_read_what_they_would_alone(name, is_step)


@pytest.mark.parametrize("name", memories.available())
def test_a_row_may_be_ahead_of_another(name: str) -> None:
    """The first begins three steps after the second, and one after the third."""
    times = np.arange(7)[:, None] - [3, 0, 2]
    assert_rows_read_what_they_would_alone(name, times >= 0, np.maximum(times, 0))


def assert_rows_read_what_they_would_alone(
    name: str, is_step: Any, times: Any = None, within: float = 1e-6
) -> None:
    """Compare float32 reads of rows that step side by side with the equations of each row."""
    memory, draw = memories.get(name), np.random.default_rng(0)
    shape = *is_step.shape, memory.ends
    if isinstance(memory, StrengthMemory):
        wanted = wanting([0.7, 1] * draw.random((*shape, 2)))  # less is taken out than put in
    else:
        wanted = draw.standard_normal((*shape, len(memory.actions)))
    values = draw.uniform(-1, 1, (*shape, 3))
    wanted, values = wanted.astype(np.float32), values.astype(np.float32)
    reads = np.asarray(played(name, wanted, values, is_step, times)[1])
    assert (reads.dtype, reads.shape) == (np.float32, values.shape)
    for row, own in enumerate(is_step.T):
        expected, _ = equations(name, wanted[own, row], values[own, row])
        np.testing.assert_allclose(reads[own, row], expected, atol=within)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SIDES)
def test_a_memory_that_was_full_is_read_well_until_it_is_empty(name: str, seed: int) -> None:
    """130 nearly whole vectors are put in and taken out, in 32 bits, whose sums are large then."""
    memory, draw, count = memories.get(name), np.random.default_rng(seed), 130
    little, most = draw.uniform(0, 0.05, (2 * count, 2)), draw.uniform(0.95, 1, (2 * count, 2))
    pushes = np.arange(2 * count)[:, None] < count
    strengths = np.where(np.hstack([~pushes, pushes]), most, little)[:, None]
    others = draw.uniform(0, 0.02, (2 * count, memory.ends - 1, 2))
    wanted = wanting(np.concatenate([strengths, others], axis=1)).astype(np.float32)
    values = draw.uniform(-1, 1, (2 * count, memory.ends, 3)).astype(np.float32)
    reads = played(name, wanted[:, None], values[:, None], np.ones((2 * count, 1), bool), None)[1]
    expected, _ = equations(name, wanted, values)
    np.testing.assert_allclose(np.asarray(reads)[:, 0], expected, atol=5e-4)


@pytest.mark.parametrize("name", SIDES)
def test_no_product_of_stored_vectors_may_be_rounded(name: str) -> None:
    """A GPU would do so with those that do not ask for their full precision."""
    moves = (jnp.asarray(each)[:, None] for each in drawn("random", name, 3, 0))
    program = slopes.lower(name, 1.0, *moves).as_text()
    products = [line for line in program.splitlines() if "dot_general" in line]
    assert products
    assert all("precision = [HIGHEST, HIGHEST]" in line for line in products)


ONE, TWO, THREE = np.eye(3)


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("stack", [THREE, TWO, ONE]),
        ("queue", [ONE, TWO, THREE]),
    ],
)
def test_what_was_put_in_comes_out_in_its_order(name: str, reads: list[Numbers]) -> None:
    """Three vectors go in; each pop after that leaves two, one and none."""
    pops_and_pushes = [[[0.0, 1.0]]] * 3 + [[[1.0, 0.0]]] * 3
    values = np.stack([ONE, TWO, THREE, *[ONE * 0] * 3])[:, None]
    found, _ = exactly(name, wanting(pops_and_pushes), values)
    np.testing.assert_array_equal(found[2:, 0], [*reads, ONE * 0])


def test_a_deque_is_a_stack_and_a_queue_at_either_end() -> None:
    def reads(pops: list[tuple[float, float]]) -> Numbers:
        pushes = [[[0.0, 1.0], [0.0, 0.0]]] * 3
        after = [[[top, 0.0], [bottom, 0.0]] for top, bottom in pops]
        values = np.zeros((len(pushes + after), 2, 3))
        values[:3, 0] = [ONE, TWO, THREE]
        return exactly("deque", wanting(pushes + after), values)[0][2:]

    np.testing.assert_array_equal(reads([(1, 0), (1, 0)])[:, 0], [THREE, TWO, ONE])
    np.testing.assert_array_equal(reads([(0, 1), (0, 1)])[:, 1], [ONE, TWO, THREE])
    both = reads([(1, 1)])[1]  # one of three is left, and either end reads it
    np.testing.assert_array_equal(both, [TWO, TWO])


def test_a_pop_of_more_than_is_on_top_reaches_what_is_below() -> None:
    """Of strengths .5 and .7 a pop of .9 leaves .3 of the first; the read adds the new .1."""
    pops_and_pushes = [[[0.0, 0.5]], [[0.0, 0.7]], [[0.9, 0.1]]]
    values = np.stack([ONE, TWO, THREE])[:, None]
    found, _ = exactly("stack", wanting(pops_and_pushes), values)
    expected = [[0.5, 0, 0], [0.3, 0.7, 0], [0.3, 0, 0.1]]
    np.testing.assert_allclose(found[:, 0], expected, rtol=0, atol=1e-12)


def test_there_are_four_and_no_other() -> None:
    assert memories.available() == ["deque", "queue", "stack", "superposition"]
    with pytest.raises(UnknownName, match="no memory named 'heap'"):
        memories.get("heap")
