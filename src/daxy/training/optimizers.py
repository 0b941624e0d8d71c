"""The rules that turn gradients into steps.

What bounds a step on a small batch is how often weights, gradients and moments pass through the
memory, and how much is computed for each number on the way. So all that is one number for a whole
network (clipping, bias correction, the learning rate, whether there is a step at all) is made into
a few factors first; each array then meets factors alone.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from daxy.training.protocol import Protocol

Weights: TypeAlias = Any
"""A nest of arrays."""

FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.999, 1e-8
"""Adam's, as Kingma & Ba (2015) suggest them and every library has them."""


SQUARE_DECAY = 0.99
"""RMSProp's decay, as Torch and PyTorch have it; Tieleman & Hinton (2012) had 0.9."""


class Moments(NamedTuple):
    """What Adam remembers: decaying means of the gradients and of their squares."""

    steps: Int[Array, ""]
    """Taken so far."""
    first: Weights
    second: Weights


class Squares(NamedTuple):
    """What RMSProp remembers: a decaying mean of the gradients' squares."""

    second: Weights


Remembered: TypeAlias = Moments | Squares | None


def start(protocol: Protocol, weights: Weights) -> Remembered:
    """Return what the protocol's rule remembers before the first step; None for SGD."""
    if protocol.optimizer == "sgd":
        return None
    first, second = (jax.tree.map(jnp.zeros_like, weights) for _ in range(2))
    if protocol.optimizer == "rmsprop":
        return Squares(second)
    return Moments(jnp.zeros((), jnp.int32), first, second)


def step(
    protocol: Protocol,
    weights: Weights,
    moments: Remembered,
    gradients: Weights,
    *,
    learning_rate: Float[Array, ""],
    active: Bool[Array, ""],
) -> tuple[Weights, Remembered]:
    """Return the weights and what is remembered after a step; the same, to the bit, if inactive.

    Gradients are clipped by their norm over all weights, then decayed, as in PyTorch.
    """
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(gradients)))
    clip = (
        jnp.minimum(1, protocol.max_grad_norm / norm)
        if protocol.max_grad_norm
        else jnp.ones((), norm.dtype)
    )
    decay = protocol.weight_decay
    if decay:
        gradients = jax.tree.map(lambda own, it: clip * own + decay * it, gradients, weights)
        clip = jnp.ones((), norm.dtype)
    rate = jnp.where(active, learning_rate, 0)
    if moments is None:
        return jax.tree.map(lambda it, own: it - rate * clip * own, weights, gradients), None
    if isinstance(moments, Squares):
        return _scaled(weights, moments, gradients, clip, rate, active)
    return _adapted(weights, moments, gradients, clip, rate, active)


def _scaled(
    weights: Weights, squares: Squares, gradients: Weights, clip: Array, rate: Array, active: Array
) -> tuple[Weights, Squares]:
    """Return the weights and the squares after a step of RMSProp (Tieleman & Hinton 2012)."""
    keep = jnp.where(active, SQUARE_DECAY, 1)
    add = jnp.where(active, 1 - SQUARE_DECAY, 0) * clip**2
    second = jax.tree.map(lambda old, own: keep * old + add * own**2, squares.second, gradients)

    def descend(weight: Array, own: Array, second: Array) -> Array:
        return weight - rate * clip * own / (jnp.sqrt(second) + EPSILON)

    return jax.tree.map(descend, weights, gradients, second), Squares(second)


def _adapted(
    weights: Weights, moments: Moments, gradients: Weights, clip: Array, rate: Array, active: Array
) -> tuple[Weights, Moments]:
    """Return the weights and the moments after a step of Adam (Kingma & Ba 2015, section 2)."""
    taken = moments.steps + active
    keep, add = jnp.where(active, FIRST_DECAY, 1), jnp.where(active, 1 - FIRST_DECAY, 0) * clip
    keep_square = jnp.where(active, SECOND_DECAY, 1)
    add_square = jnp.where(active, 1 - SECOND_DECAY, 0) * clip**2
    # Before the first step of all there is nothing to correct, and nothing to divide by.
    steps = jnp.maximum(taken, 1)
    rate = rate / _seen(FIRST_DECAY, steps)
    correction = jax.lax.rsqrt(_seen(SECOND_DECAY, steps))

    first = jax.tree.map(lambda old, own: keep * old + add * own, moments.first, gradients)
    second = jax.tree.map(
        lambda old, own: keep_square * old + add_square * own**2, moments.second, gradients
    )

    def descend(weight: Array, first: Array, second: Array) -> Array:
        return weight - rate * first / (jnp.sqrt(second) * correction + EPSILON)

    return jax.tree.map(descend, weights, first, second), Moments(taken, first, second)


def _seen(decay: float, steps: Array) -> Array:
    """Return 1 - decay^steps, the share of a decaying mean that is not its start of zero."""
    return -jnp.expm1(steps * math.log(decay))
