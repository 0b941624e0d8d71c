"""The training step: gradients and update of the replicas on one device."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int
from numpy.typing import NDArray

from daxy.batching.epochs import Bucket
from daxy.models.api import Batch
from daxy.models.layers.dropout import Dropout
from daxy.training import optimizers
from daxy.training.backend import PRNG
from daxy.training.config import TrainingConfig
from daxy.training.devices import EXAMPLES
from daxy.training.objective import cross_entropy

COINS = zlib.crc32(b"teacher forcing")

Tree = TypeVar("Tree")
AnyArray: TypeAlias = Array | np.ndarray
"""On a device or not."""
Weights: TypeAlias = Any
"""A model whose every array has a leading replica axis."""


class State(NamedTuple):
    """Training state on the device; every array has a leading replica axis."""

    model: Weights
    optimizer: Any
    best: Weights
    """The selected weights so far."""


class Steps(NamedTuple):
    """Inputs of consecutive steps; time is the first axis, replicas the second."""

    bucket: Int[AnyArray, "steps parts"]
    """Index of the padded shape of each part of a batch."""
    rows: Int[AnyArray, "steps replicas parts size"]
    weights: Float[AnyArray, "steps replicas parts size"]
    number: Int[AnyArray, " steps"]
    """Steps since training began; dropout depends on it."""
    active: Bool[AnyArray, "steps replicas"]
    """False for a replica that has stopped, or has no batch left in this epoch."""
    learning_rate: Float[AnyArray, "steps replicas"]

    def of(self, group: slice) -> Steps:
        """Return the inputs of some of the replicas."""
        return self._replace(
            rows=self.rows[:, group],
            weights=self.weights[:, group],
            active=self.active[:, group],
            learning_rate=self.learning_rate[:, group],
        )


class DropoutParams(NamedTuple):
    """Random key and rate of each replica's dropout."""

    key: Array
    """Shape [replicas]."""
    rate: Float[Array, " replicas"]


@dataclass(frozen=True, eq=False)
class TrainingStep:
    """The steps of the replicas on one device of a mesh."""

    config: TrainingConfig
    buckets: tuple[Bucket, ...]
    has_dropout: bool
    cell_features: NDArray[np.uint8] | None
    """Features of each id of a grid cell; None without worlds."""

    def run(
        self,
        devices: int,
        state: State,
        steps: Steps,
        data: Batch,
        dropout: DropoutParams,
        first: Int[Array, ""],
        end: Int[Array, ""],
    ) -> tuple[State, Float[Array, "steps replicas"]]:
        """Return state and losses after the steps from `first` to before `end`.

        Args:
            devices: Devices over which each batch is divided.
            state: State of this device's replicas.
            steps: All steps, of this device's replicas and its examples of each batch.
            data: The encoded table.
            dropout: Dropout of this device's replicas.
            first: First step to take.
            end: Step after the last one to take.
        """

        def step(number: Array, carry: tuple[Weights, Any, Array]) -> tuple[Weights, Any, Array]:
            model, optimizer, losses = carry
            inputs = jax.tree.map(lambda field: field[number], steps)
            sums = self._batch_gradients(data, dropout, model, inputs)
            loss, gradients = sums if devices == 1 else jax.lax.psum(sums, EXAMPLES)
            update = for_each_replica(partial(optimizers.update, self.config))
            own = {"learning_rate": inputs.learning_rate, "active": inputs.active}
            model, optimizer = update(model, optimizer, gradients, **own)
            return model, optimizer, losses.at[number].set(jnp.where(inputs.active, loss, 0))

        losses = jnp.zeros(steps.active.shape, jnp.float32)
        carry = state.model, state.optimizer, losses
        model, optimizer, losses = jax.lax.fori_loop(first, end, step, carry)
        return State(model, optimizer, state.best), losses

    def _batch_gradients(
        self, data: Batch, dropout: DropoutParams, model: Weights, inputs: Steps
    ) -> tuple[Array, Weights]:
        """Return the losses and gradients of a step, summed over the parts of its batch."""

        # Only gradients come out of the switch: weights that passed through it would be copied.
        def idle(model: Weights, inputs: Steps, part: Array) -> tuple[Array, Weights]:
            del part
            return jnp.zeros(inputs.active.shape, jnp.float32), jax.tree.map(jnp.zeros_like, model)

        branches = [partial(self._gradients, bucket, data, dropout) for bucket in self.buckets]

        def of(part: Array) -> tuple[Array, Weights]:
            branch = jnp.where(inputs.active.any(), inputs.bucket[part], len(branches))
            return jax.lax.switch(branch, [*branches, idle], model, inputs, part)

        def add(part: Array, sums: tuple[Array, Weights]) -> tuple[Array, Weights]:
            return jax.tree.map(jnp.add, sums, of(part))

        first, parts = jnp.int32(0), len(inputs.bucket)
        if parts == 1:
            return of(first)
        return jax.lax.fori_loop(0, parts, add, idle(model, inputs, first))

    def _gradients(
        self,
        bucket: Bucket,
        data: Batch,
        dropout: DropoutParams,
        model: Weights,
        inputs: Steps,
        part: Array,
    ) -> tuple[Float[Array, " replicas"], Weights]:
        """Return every replica's loss and gradients on a part of its batch, padded to a bucket."""
        devices, size = jax.lax.axis_size(EXAMPLES), inputs.rows.shape[-1]
        first_slot = (part * devices + jax.lax.axis_index(EXAMPLES)) * size

        def of_replica(
            model: Any, dropout: DropoutParams, rows: AnyArray, weights: AnyArray
        ) -> tuple[Array, Any]:
            batch = Batch(
                data.source[rows, : bucket.source].astype(jnp.int32),
                data.target[rows, : bucket.target].astype(jnp.int32),
                self._worlds(data, rows),
            )
            key = jax.random.fold_in(dropout.key, inputs.number)
            masks = Dropout(key, dropout.rate, first_slot)
            share = self.config.loss.teacher_forcing
            return jax.value_and_grad(cross_entropy)(
                model,
                batch,
                weights,
                masks if self.has_dropout else None,
                forced=None if share == 1 else coins(inputs.number, share, size, first_slot),
                loss=self.config.loss,
            )

        rows, weights = inputs.rows[:, part], inputs.weights[:, part]
        return for_each_replica(of_replica)(model, dropout, rows, weights)

    def _worlds(self, data: Batch, rows: AnyArray) -> Array | None:
        """Return the features of each grid cell of these rows, if there are worlds."""
        if self.cell_features is None:
            return None
        assert data.world is not None
        features = self.cell_features
        return jnp.asarray(features, features.dtype)[data.world[rows]]


def for_each_replica(function: Callable[..., Tree]) -> Callable[..., Tree]:
    """Return a function of one replica as one of all that a device trains.

    For a single replica arrays have no replica axis: with one, a loop that changes a large array,
    such as a memory, would copy it at every step.
    """

    def run(*arguments: Tree, **named: Tree) -> Tree:
        if jax.tree.leaves(arguments)[0].shape[0] > 1:
            return jax.vmap(function)(*arguments, **named)
        single, named = jax.tree.map(lambda leaf: leaf[0], (arguments, named))
        return jax.tree.map(lambda leaf: leaf[None], function(*single, **named))

    return run


def coins(
    number: Int[AnyArray, ""], share: float, count: int, first_slot: Array
) -> Bool[Array, " count"]:
    """Return True with probability `share` for each example, by the step and its slot in the batch.

    All replicas share the coins of a step, so that they take the same branch.
    """
    key = jax.random.fold_in(jax.random.key(COINS, impl=PRNG), number)
    fold = jax.vmap(partial(jax.random.fold_in, key))
    keys = fold(first_slot + jnp.arange(count, dtype=jnp.int32))
    return jax.vmap(partial(jax.random.uniform, dtype=jnp.float32))(keys) < share
