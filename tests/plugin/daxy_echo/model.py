"""A bag of words: the words of the source vote for the token at each place."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp

from daxy.core.vocabulary import PAD
from daxy.models.api import Batch, Sizes


@dataclass(frozen=True)
class Config:
    width: int = 8
    """Numbers that stand for a source."""


class Model(eqx.Module):
    words: jax.Array
    output: jax.Array

    def __init__(self, config: Config, sizes: Sizes, *, key: jax.Array) -> None:
        (first, second), width, places = jax.random.split(key), config.width, 16
        self.words = jax.random.normal(first, (sizes.source_symbols, width), jnp.float32)
        self.output = jax.random.normal(second, (places, width, sizes.target_symbols), jnp.float32)

    def logits(self, batch: Batch, dropout: object = None) -> jax.Array:
        output = self.output[: batch.target.shape[1]]
        return jnp.einsum("bw,lws->bls", self._bag(batch.source), output)

    def start(self, source: jax.Array) -> tuple:
        return jnp.zeros(source.shape[0], jnp.int32), self._bag(source)

    def step(self, state: tuple, token: jax.Array) -> tuple:
        return (state[0] + 1, state[1]), jnp.einsum("bw,bws->bs", state[1], self.output[state[0]])

    def _bag(self, source: jax.Array) -> jax.Array:
        return jnp.where((source != PAD)[..., None], self.words[source], 0).sum(axis=1)
