"""A recurrence that is differentiated from its states is a plain scan, in values and gradients."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from daxy.models.layers.cells import CELLS, cell
from daxy.models.layers.known_states import Course, Trace, advanced, followed, found

TIME, HIDDEN = 6, 4
MASK = jnp.array([True, True, False, True, False, False])[:, None]


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    """Compute in float64, so that a wrong term cannot hide behind rounding."""
    with jax.enable_x64(True):
        yield


def course(name: str, is_token: jax.Array | None) -> Course:
    draws, kind = np.random.default_rng(0), cell(name)
    gates = kind.gates * HIDDEN
    start = tuple(jnp.asarray(draws.normal(size=(1, HIDDEN))) for _ in range(kind.parts))
    shapes = (TIME, 1, gates), (HIDDEN, gates), (gates,)
    return Course(start, *(jnp.asarray(draws.normal(size=shape)) for shape in shapes), is_token)


def plain(name: str, course: Course, reverse: bool) -> Trace:
    def step(state, here):  # pyright: ignore
        from_input, is_token = here
        from_state = state[0] @ course.weight + course.bias
        after = advanced(cell(name), is_token, state, from_input, from_state)
        return after, after

    steps = course.from_input, course.is_token
    return jax.lax.scan(step, course.start, steps, reverse=reverse)[1]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("is_token", [None, MASK], ids=["every", "some"])
@pytest.mark.parametrize("name", CELLS)
def test_values_and_gradients_are_those_of_a_scan(
    name: str, is_token: jax.Array | None, reverse: bool
) -> None:
    begun = course(name, is_token)
    weights = jnp.asarray(np.random.default_rng(1).normal(size=(TIME, 1, HIDDEN)))

    def outcome(states: Trace) -> jax.Array:
        return sum((weights * jnp.sin(part)).sum() * (n + 1) for n, part in enumerate(states))

    def differentiable(parts: Course) -> Course:
        return parts._replace(is_token=is_token)

    def ours(parts: Course) -> jax.Array:
        return outcome(found(cell(name), differentiable(parts), reverse=reverse))

    def known(parts: Course) -> jax.Array:
        states = plain(name, begun, reverse)
        return outcome(followed(cell(name), differentiable(parts), states, reverse=reverse))

    def theirs(parts: Course) -> jax.Array:
        return outcome(plain(name, differentiable(parts), reverse))

    parts = begun._replace(is_token=None)
    value, gradient = jax.value_and_grad(theirs)(parts)
    assert all((abs(leaf) > 1e-3).any() for leaf in jax.tree.leaves(gradient))
    for way in (ours, known):
        own_value, own_gradient = jax.value_and_grad(way)(parts)
        np.testing.assert_allclose(own_value, value, rtol=1e-12)
        for own, leaf in zip(*map(jax.tree.leaves, (own_gradient, gradient)), strict=True):
            np.testing.assert_allclose(own, leaf, rtol=1e-10, atol=1e-12)
