"""Recurrences with a way back of their own are `lax.scan`, in values and in gradients."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from daxy.kernels import checkpointed_scan, deferred_weight_grad

TIME, BATCH, WIDTH = 5, 3, 4


class Case(NamedTuple):
    """A body and what it is run on."""

    body: deferred_weight_grad.Body
    weights: dict[str, Array]
    constants: Any
    state: Any
    inputs: Any
    reverse: bool = False

    @property
    def arguments(self) -> tuple[Any, Any, Any, Any]:
        return self.weights, self.constants, self.state, self.inputs


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    """Compute in float64, so that a wrong term cannot hide behind rounding."""
    with jax.enable_x64(True):
        yield


def one_weight() -> Case:
    """A simple recurrent network with a bias as its constant."""

    def body(apply: Any, bias: Any, state: Any, inputs: Any) -> tuple[Any, Any]:
        state = jnp.tanh(inputs + apply("state", state) + bias)
        return state, state**2

    return Case(body, {"state": draw(4, 4)}, draw(4), draw(3, 4), draw(5, 3, 4))


def two_weights_in_a_row() -> Case:
    """The second weight meets what the first has made, and is not square."""

    def body(apply: Any, constants: Any, state: Any, inputs: Any) -> tuple[Any, Any]:
        scale, shift = constants
        wide = jnp.sin(apply("widen", state) * scale)
        state = jnp.tanh(apply("narrow", wide) + inputs["in"] * shift)
        return state, (wide, state)

    weights = {"widen": draw(4, 7), "narrow": draw(7, 4)}
    return Case(body, weights, (draw(7), draw(4)), draw(3, 4), {"in": draw(5, 3, 4)})


def state_of_two_parts() -> Case:
    """A tuple of states of which one meets no weight, as in an LSTM."""

    def body(apply: Any, constants: None, state: Any, inputs: Any) -> tuple[Any, Any]:
        hidden, memory = state
        memory = jax.nn.sigmoid(inputs) * memory + apply("state", hidden)
        hidden = jnp.tanh(memory) * inputs
        return (hidden, memory), hidden + memory

    return Case(body, {"state": draw(4, 4)}, None, (draw(3, 4), draw(3, 4)), draw(5, 3, 4))


def a_weight_for_each_row() -> Case:
    """What meets a row of the batch is its own, as the outputs that attention sums."""

    def body(apply: Any, constants: None, state: Any, inputs: Any) -> tuple[Any, Any]:
        summed = apply("values", jax.nn.softmax(apply("query", state)))
        state = jnp.tanh(summed + inputs)
        return state, summed

    weights = {"values": draw(3, 6, 4), "query": draw(4, 6)}
    return Case(body, weights, None, draw(3, 4), draw(5, 3, 4))


def from_the_end() -> Case:
    """The last input comes first."""
    return one_weight()._replace(reverse=True)


def a_single_row() -> Case:
    """A batch of one example."""
    return two_weights_in_a_row()._replace(state=draw(1, 4), inputs={"in": draw(5, 1, 4)})


BODIES = (
    one_weight,
    two_weights_in_a_row,
    state_of_two_parts,
    a_weight_for_each_row,
    from_the_end,
    a_single_row,
)
CASES = {case.__name__: case for case in BODIES}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def draw(*shape: int) -> Array:
    draws = np.random.default_rng(shape)
    return jnp.asarray(draws.normal(size=shape))


def late(case: Case) -> Callable[..., Any]:
    return lambda *arguments: deferred_weight_grad.scan(case.body, *arguments, reverse=case.reverse)


Way = Callable[[Case], Callable[..., Any]]


class Plain:
    """A recurrence that saves nothing of segments, with cotangents in the form of its states."""

    def checkpoint(self, state: Any) -> Any:
        return ()

    def precompute(
        self, constants: Any, segment: checkpointed_scan.Segment, last: Any, cotangent: Any
    ) -> Any:
        return segment.residuals, None

    def restore(self, own: Any, precomputed: Any) -> Any:
        return own

    def enter_segment(self, cotangent: Any, precomputed: Any) -> Any:
        return cotangent

    def leave_segment(self, cotangent: Any, precomputed: Any) -> Any:
        return cotangent


@dataclass(frozen=True)
class Whole(Plain):
    """What a body does, with all of each state kept."""

    body: deferred_weight_grad.Body

    def step(self, apply: Any, constants: Any, state: Any, inputs: Any, precomputed: Any) -> Any:
        return self.body(apply, constants, state, inputs)

    def residuals(self, state: Any) -> Any:
        return state


class InSegments(Whole):
    """The same, with a state saved where a segment begins, from which the others are computed."""

    def residuals(self, state: Any) -> Any:
        return ()

    def checkpoint(self, state: Any) -> Any:
        return state

    def precompute(
        self, constants: Any, segment: checkpointed_scan.Segment, last: Any, cotangent: Any
    ) -> Any:
        def step(state: Any, here: Any) -> tuple[Any, Any]:
            products, inputs = here

            def apply(name: str, rows: Array, /) -> Array:
                return products[name]

            return self.body(apply, constants, state, inputs)[0], state

        steps = segment.products, segment.inputs
        return jax.lax.scan(step, segment.checkpoint, steps)[1], None


def again(case: Case) -> Callable[..., Any]:
    return lambda *arguments: checkpointed_scan.scan(Whole(case.body), *arguments)


def in_segments(case: Case) -> Callable[..., Any]:
    """Return a recurrence in two segments, or in one a step."""
    steps = len(jax.tree.leaves(case.arguments[3])[0])
    segments = 2 if steps % 2 == 0 else steps
    return lambda *arguments: checkpointed_scan.scan(
        InSegments(case.body), *arguments, segments=segments
    )


RUNS = {
    **{name: (case, late) for name, case in CASES.items()},
    **{
        f"{name}, {way.__name__}": (case, way)
        for name, case in CASES.items()
        for way in (again, in_segments)
        if not case().reverse
    },
}
every_run = pytest.mark.parametrize(("case", "way"), RUNS.values(), ids=RUNS)


def plain(case: Case) -> Callable[..., Any]:
    """Return the same recurrence as `lax.scan` has it."""

    def run(weights: Any, constants: Any, state: Any, inputs: Any) -> Any:
        def apply(name: str, rows: Array, /) -> Array:
            weight = weights[name]
            return rows @ weight if weight.ndim == 2 else (rows[:, None] @ weight)[:, 0]

        def step(state: Any, here: Any) -> tuple[Any, Any]:
            return case.body(apply, constants, state, here)

        return jax.lax.scan(step, state, inputs, reverse=case.reverse)[1]

    return run


def scalar(run: Callable[..., Any]) -> Callable[..., Array]:
    """Return a number that depends on every output of every step, each in its own way."""

    def total(*arguments: Any) -> Array:
        outputs = jax.tree.leaves(run(*arguments))
        return sum(jnp.sum(jnp.cos(output) * draw(*output.shape)) for output in outputs)

    return total


def assert_same(one: Any, other: Any) -> None:
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for left, right in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert left.dtype == np.float64
        np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-10)


@every_run
def test_values_are_those_of_a_plain_scan(case: Callable[[], Case], way: Way) -> None:
    made = case()
    assert_same(way(made)(*made.arguments), plain(made)(*made.arguments))


@every_run
def test_every_gradient_is_that_of_a_plain_scan(case: Callable[[], Case], way: Way) -> None:
    made = case()
    every = (0, 1, 2, 3)
    found = jax.jit(jax.grad(scalar(way(made)), every))(*made.arguments)
    assert_same(found, jax.grad(scalar(plain(made)), every)(*made.arguments))


@every_case
def test_the_gradients_are_those_of_finite_differences(case: Callable[[], Case]) -> None:
    made = case()
    step = 1e-6
    total = jax.jit(scalar(late(made)))
    for name, weight in made.weights.items():
        place = (0, 1, 2)[-weight.ndim :]
        found = jax.grad(total)(*made.arguments)[name][place]
        moved = [
            total(made.weights | {name: weight.at[place].add(by)}, *made.arguments[1:])
            for by in (step, -step)
        ]
        np.testing.assert_allclose(found, (moved[0] - moved[1]) / (2 * step), rtol=1e-6, atol=1e-8)


@every_run
def test_replicas_under_vmap_have_the_gradients_of_each_alone(
    case: Callable[[], Case], way: Way
) -> None:
    made = case()
    every = (0, 1, 2, 3)
    stacked = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf * 0.5, -leaf]), made.arguments)
    together = jax.vmap(jax.grad(scalar(way(made)), every))(*stacked)
    plainly = jax.jit(jax.grad(scalar(plain(made)), every))
    for replica in range(3):
        alone = jax.tree.map(lambda leaf, replica=replica: leaf[replica], stacked)
        expected = plainly(*alone)
        assert_same(jax.tree.map(lambda leaf, replica=replica: leaf[replica], together), expected)


def test_replicas_may_share_their_inputs() -> None:
    made = one_weight()
    weights = {"state": jnp.stack([draw(4, 4), draw(4, 4) * 2])}
    axes = ({"state": 0}, None, None, None)
    together = jax.vmap(jax.grad(scalar(late(made))), axes)(weights, *made.arguments[1:])
    for replica in range(2):
        own = {"state": weights["state"][replica]}
        expected = jax.grad(scalar(plain(made)))(own, *made.arguments[1:])
        assert_same({"state": together["state"][replica]}, expected)


class Sums(Plain):
    """Running sums of the states of a network, of which the way back needs none."""

    def step(self, apply: Any, bias: Any, state: Any, inputs: Any, precomputed: Any) -> Any:
        (sums, state), (row, is_there) = state, inputs
        state = jnp.tanh(apply("state", state) + jnp.where(is_there, row, 0) + bias)
        return (sums + state, state), sums + state

    def residuals(self, state: Any) -> Any:
        return state[1]

    def precompute(
        self, constants: Any, segment: checkpointed_scan.Segment, last: Any, cotangent: Any
    ) -> Any:
        return segment.residuals, last[0]

    def restore(self, own: Any, precomputed: Any) -> Any:
        return jnp.full_like(precomputed, jnp.nan), own


def test_what_is_not_needed_is_not_kept_and_marks_are_passed_by() -> None:
    marks = jnp.arange(5) % 2 == 0
    arguments = {"state": draw(4, 4)}, draw(4), (draw(3, 4), draw(3, 4)), draw(5, 3, 4)

    def found(weights: Any, bias: Any, state: Any, rows: Any) -> Any:
        return checkpointed_scan.scan(Sums(), weights, bias, state, (rows, marks))

    def body(apply: Any, bias: Any, state: Any, rows: Any) -> Any:
        return Sums().step(apply, bias, state, rows, None)

    def expected(weights: Any, bias: Any, state: Any, rows: Any) -> Any:
        case = Case(body, weights, bias, state, (rows, marks))
        return plain(case)(*case.arguments)

    assert_same(found(*arguments), expected(*arguments))
    every = (0, 1, 2, 3)
    gradients = [jax.grad(scalar(run), every)(*arguments) for run in (found, expected)]
    assert_same(*gradients)


def test_a_weight_that_meets_two_rows_in_one_step_is_refused() -> None:
    def twice(apply: Any, constants: None, state: Any, inputs: Any) -> tuple[Any, Any]:
        state = apply("state", state) + apply("state", inputs)
        return state, state

    with pytest.raises(AssertionError, match="state is applied twice"):
        deferred_weight_grad.scan(twice, {"state": draw(4, 4)}, None, draw(3, 4), draw(5, 3, 4))
