"""Memories against the equations of their papers, one strength after another."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daxy.core.errors import UnknownName
from daxy.models import memories
from daxy.models.memories._memory import Foreseen, Kept, StrengthMemory

Numbers = np.ndarray[Any, np.dtype[np.float64]]


def popped(strengths: Numbers, amount: float, *, from_end: bool) -> Numbers:
    """Return what a pop leaves: equation 2 from the last strength on, equation 4 from the first."""
    left = np.zeros_like(strengths)
    for i, strength in enumerate(strengths):
        passed = strengths[i + 1 :] if from_end else strengths[:i]
        left[i] = max(0.0, strength - max(0.0, amount - passed.sum()))
    return left


def read(strengths: Numbers, vectors: Numbers, *, from_end: bool) -> Numbers:
    """Return the mixture of what makes up a strength of 1: equation 3 or 5."""
    found = np.zeros(vectors.shape[1])
    for i, strength in enumerate(strengths):
        passed = strengths[i + 1 :] if from_end else strengths[:i]
        found += min(strength, max(0.0, 1.0 - passed.sum())) * vectors[i]
    return found


def stack(pop: Numbers, push: Numbers, values: Numbers) -> Numbers:
    strengths, vectors, reads = np.zeros(0), values[:0, 0], list[Numbers]()
    for u, d, v in zip(pop[:, 0], push[:, 0], values[:, 0], strict=True):
        strengths = np.append(popped(strengths, u, from_end=True), d)
        vectors = np.vstack([vectors, v])
        reads.append(read(strengths, vectors, from_end=True))
    return np.stack(reads)[:, None]


def queue(pop: Numbers, push: Numbers, values: Numbers) -> Numbers:
    strengths, vectors, reads = np.zeros(0), values[:0, 0], list[Numbers]()
    for u, d, v in zip(pop[:, 0], push[:, 0], values[:, 0], strict=True):
        strengths = np.append(popped(strengths, u, from_end=False), d)
        vectors = np.vstack([vectors, v])
        reads.append(read(strengths, vectors, from_end=False))
    return np.stack(reads)[:, None]


def deque(pop: Numbers, push: Numbers, values: Numbers) -> Numbers:
    strengths, vectors, reads = np.zeros(0), values[:0, 0], list[Numbers]()
    for u, d, v in zip(pop, push, values, strict=True):
        strengths = popped(strengths, u[0], from_end=True)
        strengths = popped(strengths, u[1], from_end=False)
        strengths = np.concatenate([[d[1]], strengths, [d[0]]])
        vectors = np.vstack([v[1], vectors, v[0]])
        both = [read(strengths, vectors, from_end=end) for end in (True, False)]
        reads.append(np.stack(both))
    return np.stack(reads)


RECURSIONS: dict[str, Callable[[Numbers, Numbers, Numbers], Numbers]] = {
    "stack": stack,
    "queue": queue,
    "deque": deque,
}


def fast(name: str, pop: Any, push: Any, values: Any) -> Any:
    """Return what the memory reads: [steps, ends, width]."""
    memory = memories.get(name)
    assert isinstance(memory, StrengthMemory)
    kept = memory.start(1, len(pop), values.shape[-1])

    def step(kept: Any, here: Any) -> tuple[Any, Any]:
        time, *moves = here
        pop, push, values = (each[None] for each in moves)
        kept = Kept(
            memory.moved(kept.sums, time, pop, push), memory.put(kept.vectors, time, values)
        )
        return kept, jnp.einsum("bes,bsw->bew", memory.weights(kept.sums), kept.vectors)[0]

    return jax.lax.scan(step, kept, (jnp.arange(len(pop)), pop, push, values))[1]


def drawn(kind: str, name: str, steps: int, seed: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return strengths for pops and pushes, and vectors."""
    draw = np.random.default_rng(seed)
    shape = (steps, memories.get(name).ends)
    strengths = draw.random((2, *shape))
    if kind == "binary":
        strengths = np.round(strengths)
    if kind == "sparse":
        strengths = np.where(draw.random((2, *shape)) < 0.5, 0, strengths)
    pop, push = strengths
    return pop, push, draw.standard_normal((*shape, 3))


@settings(deadline=None, max_examples=60)
@given(
    name=st.sampled_from(list(RECURSIONS)),
    kind=st.sampled_from(["random", "binary", "sparse"]),
    steps=st.sampled_from([1, 2, 3, 7, 24]),
    seed=st.integers(0, 2**32),
)
def test_a_memory_reads_what_the_papers_recursion_reads(
    name: str, kind: str, steps: int, seed: int
) -> None:
    given_ = drawn(kind, name, steps, seed)
    with jax.enable_x64(True):
        found = np.asarray(jax.jit(fast, static_argnums=0)(name, *map(jnp.asarray, given_)))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, RECURSIONS[name](*given_), atol=1e-12)


@settings(deadline=None, max_examples=20)
@given(
    name=st.sampled_from(list(RECURSIONS)),
    kind=st.sampled_from(["random", "binary", "sparse"]),
    seed=st.integers(0, 2**32),
)
def test_gradients_are_those_of_the_papers_recursion(name: str, kind: str, seed: int) -> None:
    """Strengths are moved a little: a memory has no gradient where pops use strengths up."""
    pop, push, values = drawn(kind, name, 5, seed)
    pop, push = (0.98 * each + 0.02 * drawn("random", name, 5, seed + 1)[0] for each in (pop, push))
    push += 0.001 * drawn("random", name, 5, seed + 2)[1]
    moves = pop, push, values
    weigh = np.random.default_rng(seed).standard_normal(RECURSIONS[name](*moves).shape)
    with jax.enable_x64(True):
        gradients = slopes(name, weigh, *map(jnp.asarray, moves))
    step = 1e-7
    for place, (own, gradient) in enumerate(zip(moves, gradients, strict=True)):
        for index in np.ndindex(own.shape):
            sides = list[float]()
            for sign in (1, -1):
                moved = [each.copy() for each in moves]
                moved[place][index] += sign * step
                sides.append(float((RECURSIONS[name](*moved) * weigh).sum()))
            np.testing.assert_allclose(
                gradient[index], (sides[0] - sides[1]) / (2 * step), atol=1e-6
            )


@partial(jax.jit, static_argnums=0)
def slopes(name: str, weigh: Any, *moves: Any) -> Any:
    """Return the gradients of a weighted sum of what is read."""
    return jax.grad(lambda moves: (fast(name, *moves) * weigh).sum())(moves)


def recursion(name: str, wanted: Any, values: Any) -> Any:
    """Return what the papers' equations read, with gradients: [steps, ends, width].

    Ends are the top and the bottom, or the one that there is; a queue is pushed at the top and
    popped and read at the bottom.
    """
    pops = {"stack": ["top"], "queue": ["bottom"], "deque": ["top", "bottom"]}[name]
    strengths, vectors, reads = list[Any](), list[Any](), list[Any]()

    def passed(side: str, i: int) -> Any:
        return sum(strengths[i + 1 :] if side == "top" else strengths[:i], jnp.zeros(()))

    for want, value in zip(jax.nn.sigmoid(wanted), values, strict=True):
        for end, side in enumerate(pops):
            left = [want[end, 0] - passed(side, i) for i in range(len(strengths))]
            strengths = [
                jnp.maximum(0, strength - jnp.maximum(0, rest))
                for strength, rest in zip(strengths, left, strict=True)
            ]
        strengths, vectors = [*strengths, want[0, 1]], [*vectors, value[0]]
        if name == "deque":
            strengths, vectors = [want[1, 1], *strengths], [value[1], *vectors]
        read = [
            [
                jnp.minimum(strength, jnp.maximum(0, 1 - passed(side, i))) * vectors[i]
                for i, strength in enumerate(strengths)
            ]
            for side in pops
        ]
        reads.append(jnp.stack([sum(own, jnp.zeros_like(value[0])) for own in read]))
    return jnp.stack(reads)


def stepped(name: str, wanted: Any, values: Any) -> Any:
    """Return what the memory reads, by steps that know what it comes to."""
    memory = memories.get(name)
    assert isinstance(memory, StrengthMemory)
    is_step, steps = jnp.ones(1, bool), len(wanted)

    def run(foreseen: Foreseen | None) -> tuple[list[Any], list[Any]]:
        state: Any = memory.start(1, steps, values.shape[-1])
        states, reads = list[Any](), list[Any]()
        for time in range(steps):
            state, read = memory.step(
                state, time, is_step, wanted[time][None], values[time][None], foreseen
            )
            states.append(state)
            reads.append(read[0])
        return states, reads

    states, _ = run(None)
    sums = jnp.stack([state.sums for state in states])
    known = jax.lax.stop_gradient(memory.foreseen(states[-1], sums))
    return jnp.stack(run(known)[1])


@pytest.mark.parametrize("name", RECURSIONS)
@pytest.mark.parametrize("seed", range(3))
def test_steps_that_know_the_end_have_the_recursions_gradients(name: str, seed: int) -> None:
    draw = np.random.default_rng(seed)
    ends, steps = memories.get(name).ends, 6
    wanted, values = 2 * draw.normal(size=(steps, ends, 2)), draw.normal(size=(steps, ends, 2))
    with jax.enable_x64(True):
        moves = jnp.asarray(wanted), jnp.asarray(values)
        weigh = jnp.asarray(draw.normal(size=(steps, ends, 2)))
        (own, to_own), (plain, to_plain) = (
            (reads(name, *moves), jax.grad(partial(weighed, reads, name, weigh))(moves))
            for reads in (stepped, recursion)
        )
    np.testing.assert_allclose(own, plain, atol=1e-12)
    jax.tree.map(partial(np.testing.assert_allclose, atol=1e-12), to_own, to_plain)
    assert all(np.abs(each).max() > 0.1 for each in to_own)


def weighed(reads: Callable[..., Any], name: str, weigh: Any, moves: Any) -> Any:
    """Return a weighted sum of what is read."""
    return (reads(name, *moves) * weigh).sum()


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
    push, pop = np.array([[1.0]] * 3 + [[0.0]] * 3), np.array([[0.0]] * 3 + [[1.0]] * 3)
    values = np.stack([ONE, TWO, THREE, *[ONE * 0] * 3])[:, None]
    found = np.asarray(fast(name, *map(jnp.asarray, (pop, push, values))))[:, 0]
    np.testing.assert_allclose(found[2:], [*reads, ONE * 0], atol=1e-6)


def test_a_deque_is_a_stack_and_a_queue_at_either_end() -> None:
    def reads(pops: list[tuple[float, float]]) -> Numbers:
        push = np.array([[1.0, 0.0]] * 3 + [[0.0, 0.0]] * len(pops))
        pop = np.array([(0.0, 0.0)] * 3 + pops)
        values = np.zeros((len(push), 2, 3))
        values[:3, 0] = [ONE, TWO, THREE]
        return np.asarray(fast("deque", *map(jnp.asarray, (pop, push, values))))[2:]

    np.testing.assert_allclose(reads([(1, 0), (1, 0)])[:, 0], [THREE, TWO, ONE], atol=1e-6)
    np.testing.assert_allclose(reads([(0, 1), (0, 1)])[:, 1], [ONE, TWO, THREE], atol=1e-6)
    both = reads([(1, 1)])[1]  # one of three is left, and either end reads it
    np.testing.assert_allclose(both, [TWO, TWO], atol=1e-6)


def test_a_pop_of_more_than_is_on_top_reaches_what_is_below() -> None:
    """Of strengths .5 and .7 a pop of .9 leaves .3 of the first; the read adds the new .1."""
    push, pop = np.array([[0.5], [0.7], [0.1]]), np.array([[0.0], [0.0], [0.9]])
    values = np.stack([ONE, TWO, THREE])[:, None]
    found = np.asarray(fast("stack", *map(jnp.asarray, (pop, push, values))))[:, 0]
    np.testing.assert_allclose(found, [[0.5, 0, 0], [0.3, 0.7, 0], [0.3, 0, 0.1]], atol=1e-6)


def superposed(wanted: Numbers, values: Numbers) -> Numbers:
    """Return the tops of Joulin & Mikolov's stack, slot by slot."""
    slots = [np.zeros(values.shape[-1])] * (len(values) + 1)
    tops = list[Numbers]()
    for want, value in zip(wanted, values, strict=True):
        push, pop, keep = np.exp(want) / np.exp(want).sum()
        slots = [
            push * ([value, *slots][i]) + pop * below + keep * here
            for i, (here, below) in enumerate(zip(slots, [*slots[1:], value * 0], strict=True))
        ]
        tops.append(slots[0])
    return np.stack(tops)


def test_the_superposition_stack_mixes_its_operations() -> None:
    draw = np.random.default_rng(0)
    wanted, values = draw.standard_normal((9, 3)), draw.standard_normal((9, 2))
    memory = memories.get("superposition")
    with jax.enable_x64(True):
        state, tops = memory.start(1, 9, 2), list[Any]()
        for time in range(9):
            here = jnp.asarray(wanted[time])[None, None], jnp.asarray(values[time])[None, None]
            state, top = memory.step(state, time, jnp.ones(1, bool), *here)
            tops.append(top[0, 0])
    np.testing.assert_allclose(np.stack(tops), superposed(wanted, values), atol=1e-12)


@pytest.mark.parametrize("name", memories.available())
def test_a_row_of_a_batch_is_as_it_is_alone(name: str) -> None:
    memory, draw = memories.get(name), np.random.default_rng(0)
    wanted = jnp.asarray(draw.standard_normal((5, 4, memory.ends, len(memory.wants))), jnp.float32)
    values = jnp.asarray(draw.standard_normal((5, 4, memory.ends, 3)), jnp.float32)

    def reads(rows: slice) -> Any:
        state, found = memory.start(rows.stop - rows.start, 5, 3), list[Any]()
        for time in range(5):
            every = jnp.ones(rows.stop - rows.start, bool)
            here = wanted[time, rows], values[time, rows]
            state, seen = memory.step(state, time, every, *here)
            found.append(seen)
        return jnp.stack(found)

    whole = reads(slice(0, 4))
    assert whole.shape == (5, 4, memory.ends, 3)
    np.testing.assert_allclose(whole[:, 2:3], reads(slice(2, 3)), atol=1e-6)


@pytest.mark.parametrize("name", memories.available())
def test_a_row_without_a_step_keeps_what_it_has(name: str) -> None:
    memory, draw = memories.get(name), np.random.default_rng(0)
    wanted = jnp.asarray(draw.standard_normal((7, 1, memory.ends, len(memory.wants))), jnp.float32)
    values = jnp.asarray(draw.standard_normal((7, 1, memory.ends, 3)), jnp.float32)

    def last(steps: list[bool]) -> Any:
        state, read = memory.start(1, 7, 3), jnp.zeros(())
        moves = iter(list(zip(wanted, values, strict=True)))
        for time, is_step in enumerate(steps):
            here = next(moves) if is_step else (wanted[6] + 1, values[6] + 1)
            state, read = memory.step(state, time, jnp.array([is_step]), *here)
        return read

    between = last([True, False, True, False, False, True, True])
    np.testing.assert_allclose(between, last([True] * 4), atol=1e-6)


def test_there_are_four_and_no_other() -> None:
    assert memories.available() == ["deque", "queue", "stack", "superposition"]
    with pytest.raises(UnknownName, match="no memory named 'heap'"):
        memories.get("heap")
