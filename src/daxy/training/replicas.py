"""Many runs of one shape as one program: the only code that trains.

A replica has its own weights, order of examples, noise and learning rate; the padded shape of each
step is shared. One run is the case of one replica.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int
from numpy.typing import NDArray

from daxy import models
from daxy.batching.epochs import Bucket
from daxy.batching.table import Rows, Table
from daxy.core.random import stream
from daxy.models._decoding import greedy_replicas
from daxy.models._model import Batch, Sizes
from daxy.models.layers.dropout import Dropout
from daxy.training.objective import cross_entropy
from daxy.training.protocol import Protocol

Weights: TypeAlias = Any
"""A model whose every array has a leading replica axis."""


class State(NamedTuple):
    """All that training changes on the device, every array with a leading replica axis."""

    model: Weights
    optimizer: Any
    best: Weights
    """The weights with the best validation score so far."""


class Steps(NamedTuple):
    """What a run of consecutive steps reads; time first, then the replicas."""

    bucket: Int[Array, " steps"]
    """Which padded shape; one past the last means nothing is left to do."""
    rows: Int[Array, "steps replicas batch"]
    weights: Float[Array, "steps replicas batch"]
    number: Int[Array, " steps"]
    """Steps done before this one since training began: it makes the noise."""
    active: Bool[Array, "steps replicas"]
    """False for a replica that has stopped, or has no batch left in this epoch."""
    learning_rate: Float[Array, " steps"]


@dataclass(frozen=True, eq=False)
class Replicas:
    """The programs of one group of runs, compiled when first used."""

    architecture: str
    config: Any
    protocol: Protocol
    table: Table
    buckets: tuple[Bucket, ...]
    seeds: tuple[int, ...]

    def start(self) -> State:
        """Return the state before the first step; each replica's weights come from its seed."""
        build = models.get(self.architecture).Model
        sizes = Sizes(len(self.table.sources), len(self.table.targets))
        keys = self._keys("initial weights")
        model = jax.jit(jax.vmap(lambda key: build(self.config, sizes, key=key)))(keys)
        optimizer = jax.jit(jax.vmap(self._optimizer.init))(model)
        return State(model, optimizer, jax.tree.map(jnp.copy, model))

    def run(self, state: State, steps: Steps) -> tuple[State, Float[Array, "steps replicas"]]:
        """Return the state after these steps, and each replica's loss at each; consumes `state`."""
        return self._run(state, steps, self._data, self._noise_keys)

    def keep_best(self, state: State, improved: NDArray[np.bool_]) -> State:
        """Return the state with the weights of the replicas that improved as their best."""
        return _keep_best(state, jnp.asarray(improved))

    def decode(self, model: Weights, rows: Sequence[Rows]) -> list[NDArray[np.uint16]]:
        """Return each replica's greedy outputs for its own rows: [count, limit] codes each.

        Rows are decoded by the length of their source, in few padded widths.
        """
        table, limit = self.table, self.protocol.limit
        outputs = [np.zeros((len(own), limit), np.uint16) for own in rows]
        widths = [_widths(table.source_lengths[own], table.source.shape[1]) for own in rows]
        for width in np.unique(np.concatenate(widths)).tolist():
            chosen = [np.flatnonzero(own == width) for own in widths]
            sources = [
                table.source[own[places], :width] for own, places in zip(rows, chosen, strict=True)
            ]
            found = greedy_replicas(model, sources, limit)
            for output, places, codes in zip(outputs, chosen, found, strict=True):
                output[places] = codes
        return outputs

    @cached_property
    def _data(self) -> Batch:
        """The encoded table on the device, where batches are gathered from it."""
        return Batch(jnp.asarray(self.table.source), jnp.asarray(self.table.target))

    @cached_property
    def _noise_keys(self) -> Array:
        return self._keys("dropout")

    def _keys(self, purpose: str) -> Array:
        numbers = [int(stream(seed, purpose).integers(2**31)) for seed in self.seeds]
        return jnp.stack([jax.random.key(number) for number in numbers])

    @cached_property
    def _optimizer(self) -> optax.GradientTransformation:
        """Gradients to steps of rate 1: clipped, decayed as PyTorch does, scaled by the rule."""
        rule = {"sgd": optax.identity, "adam": optax.scale_by_adam}[self.protocol.optimizer]
        return optax.chain(
            optax.clip_by_global_norm(self.protocol.clip),
            optax.add_decayed_weights(self.protocol.weight_decay),
            rule(),
        )

    @cached_property
    def _run(self) -> Any:
        def run(
            state: State, steps: Steps, data: Batch, keys: Array
        ) -> tuple[State, Float[Array, "steps replicas"]]:
            # Only gradients come out of the switch: weights that passed through it would be copied.
            def idle(model: Weights, here: Steps) -> tuple[Array, Weights]:
                return jnp.zeros(here.active.shape), jax.tree.map(jnp.zeros_like, model)

            branches = [partial(self._gradients, bucket, data, keys) for bucket in self.buckets]

            def step(carry: tuple[Weights, Any], here: Steps) -> tuple[tuple[Weights, Any], Array]:
                model, optimizer = carry
                loss, gradients = jax.lax.switch(here.bucket, [*branches, idle], model, here)
                carry = jax.vmap(self._update, in_axes=(0, 0, 0, 0, None))(
                    model, optimizer, gradients, here.active, here.learning_rate
                )
                return carry, jnp.where(here.active, loss, 0)

            (model, optimizer), losses = jax.lax.scan(step, (state.model, state.optimizer), steps)
            return State(model, optimizer, state.best), losses

        return jax.jit(run, donate_argnums=0)

    def _gradients(
        self, bucket: Bucket, data: Batch, keys: Array, model: Weights, here: Steps
    ) -> tuple[Float[Array, " replicas"], Weights]:
        """Return every replica's loss and gradients on its batch, in this padded shape."""

        def one(model: Any, key: Array, rows: Array, weights: Array) -> tuple[Array, Any]:
            batch = Batch(
                data.source[rows, : bucket.source].astype(jnp.int32),
                data.target[rows, : bucket.target].astype(jnp.int32),
            )
            noise = Dropout(
                jax.random.fold_in(key, here.number), jnp.asarray(self.protocol.dropout)
            )
            return jax.value_and_grad(cross_entropy)(
                model,
                batch,
                weights,
                noise if self.protocol.dropout else None,
                mask_after_predicted_end=self.protocol.mask_after_predicted_end,
            )

        return jax.vmap(one)(model, keys, here.rows, here.weights)

    def _update(
        self, model: Any, optimizer: Any, gradients: Any, active: Array, learning_rate: Array
    ) -> tuple[Any, Any]:
        """Return one replica after a step; one that is not active stays as it is."""
        updates, advanced = self._optimizer.update(gradients, optimizer, model)
        rate = jnp.where(active, learning_rate, 0)
        model = jax.tree.map(lambda weight, update: weight - rate * update, model, updates)
        return model, jax.tree.map(partial(jnp.where, active), advanced, optimizer)


@partial(jax.jit, donate_argnums=0)
def _keep_best(state: State, improved: Bool[Array, " replicas"]) -> State:
    def better(new: Array, old: Array) -> Array:
        return jnp.where(improved.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    return state._replace(best=jax.tree.map(better, state.model, state.best))


def _widths(lengths: NDArray[np.integer], longest: int) -> NDArray[np.integer]:
    """Return the padded width of each source: a power of two from 16 on, at most the longest."""
    return np.minimum(np.maximum(2 ** np.ceil(np.log2(lengths)).astype(int), 16), longest)
