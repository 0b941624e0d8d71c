"""The rules take the steps that Optax's take, which are PyTorch's."""

from collections.abc import Iterator
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from daxy.training import optimizers
from daxy.training.config import TrainingConfig


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    """Compute in float64, so that a wrong term cannot hide behind rounding."""
    with jax.enable_x64(True):
        yield


RULES = {
    "sgd": optax.identity,
    "adam": optax.scale_by_adam,
    "rmsprop": partial(optax.scale_by_rms, decay=0.99, eps=1e-8, eps_in_sqrt=False),
    "adamw": optax.scale_by_adam,
}


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
@pytest.mark.parametrize("size", [0.01, 100.0], ids=["within the clip", "clipped"])
@pytest.mark.parametrize("rule", RULES)
def test_steps_are_those_of_optax(rule: str, size: float, weight_decay: float) -> None:
    protocol = TrainingConfig().with_settings(
        optimizer=rule, weight_decay=weight_decay, max_grad_norm=1.0
    )  # pyright: ignore
    steps = [optax.add_decayed_weights(weight_decay), RULES[rule]()]
    # AdamW decays weights beside Adam's step, the others decay gradients before it.
    ordered = reversed(steps) if rule == "adamw" else steps
    peer = optax.chain(optax.clip_by_global_norm(1.0), *ordered)
    draws = np.random.default_rng(0)
    shapes = {"matrix": (4, 3), "bias": (3,)}
    ours = theirs = {name: jnp.asarray(draws.normal(size=shape)) for name, shape in shapes.items()}
    moments, state = optimizers.init(protocol, ours), peer.init(theirs)
    for rate in (0.1, 0.3, 0.2, 0.05):
        gradients = {
            name: jnp.asarray(size * draws.normal(size=shape)) for name, shape in shapes.items()
        }
        ours, moments = optimizers.update(
            protocol,
            ours,
            moments,
            gradients,
            learning_rate=jnp.asarray(rate),
            active=jnp.asarray(True),
        )
        updates, state = peer.update(gradients, state, theirs)
        theirs = jax.tree.map(
            lambda weight, update, rate=rate: weight - rate * update, theirs, updates
        )
        for name in shapes:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_a_gradient_of_zero_is_no_step(rule: str) -> None:
    protocol = TrainingConfig().with_settings(optimizer=rule, weight_decay=0.0)  # pyright: ignore
    weights = {"matrix": jnp.ones((2, 2))}
    nothing = {"matrix": jnp.zeros((2, 2))}
    moments = optimizers.init(protocol, weights)
    rate, active = jnp.asarray(0.1), jnp.asarray(True)
    after, _ = optimizers.update(
        protocol, weights, moments, nothing, learning_rate=rate, active=active
    )
    np.testing.assert_array_equal(after["matrix"], weights["matrix"])
