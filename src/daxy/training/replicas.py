"""Replicas: many runs of one shape as one program.

A replica has its own weights, order of examples, dropout and learning rate; the padded shape of
each step is shared. A single run is the case of one replica.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxtyping import Array, Bool, Float
from numpy.typing import NDArray

from daxy import models
from daxy.batching.epochs import Bucket
from daxy.batching.table import Rows, Table
from daxy.core.random import stream
from daxy.models.api import ModelInputs, Sizes
from daxy.models.decoding.greedy import greedy_replicas
from daxy.training import optimizers
from daxy.training.backend import PRNG, backend, pinned
from daxy.training.compilation import compile_one_at_a_time
from daxy.training.config import TrainingConfig
from daxy.training.devices import EXAMPLES, REPLICAS, make_mesh
from daxy.training.placement import (
    DeviceTables,
    Placement,
    Program,
    ShardedState,
    bytes_of_one,
    replicas_of,
)
from daxy.training.sampler import BatchSampler
from daxy.training.step import DropoutParams, State, Steps, TrainingStep, Weights
from daxy.training.time_slices import TimeSlice, execute, schedule


@dataclass(frozen=True, eq=False)
class Replicas:
    """The programs of one group of runs, compiled when first used."""

    architecture: str
    config: Any
    training: TrainingConfig
    table: Table
    buckets: tuple[Bucket, ...]
    seeds: tuple[int, ...]
    dropout: tuple[float, ...] = ()
    """Dropout rate of each replica; by default that of the training configuration."""
    learning_rates: tuple[float, ...] = ()
    """Learning rate of each replica; by default that of the training configuration."""

    @cached_property
    def configs(self) -> list[TrainingConfig]:
        """The training configuration with each replica's own learning rate."""
        rates = self.learning_rates or [self.training.optimizer.learning_rate] * len(self.seeds)
        return [self.training.with_settings(learning_rate=rate) for rate in rates]

    @backend()
    def start(self) -> ShardedState:
        """Return the state before the first step; each replica's weights come from its seed."""
        return self.placed(jax.jit(self._start)())

    @backend()
    def placed(self, state: State) -> ShardedState:
        """Return a state of all replicas with each group's on devices that train it."""
        return self.placement.place(state)

    @cached_property
    @pinned()
    def shapes(self) -> State:
        """The state of all replicas as shapes."""
        return jax.eval_shape(self._start)

    @cached_property
    def placement(self) -> Placement:
        """The devices of the replicas."""
        parts = BatchSampler(self.training, self.table).parts
        weights = bytes_of_one(self.shapes.model)
        return Placement(len(self.seeds), self.training.batch_size // parts, weights)

    @backend()
    def tables(self, table: Table) -> DeviceTables:
        """Return an encoded table on the devices that gather batches from it."""
        return self._tables if table is self.table else self.placement.tables(table)

    @cached_property
    def _tables(self) -> DeviceTables:
        return self.placement.tables(self.table)

    @backend()
    def run(
        self, state: ShardedState, steps: Steps, tables: DeviceTables | None = None
    ) -> tuple[ShardedState, Float[np.ndarray, "steps replicas"]]:
        """Return the state after these steps, and each replica's loss at each; consumes `state`.

        Programs are compiled for a number of steps; inactive ones at the end are not taken. Rows
        are those of `tables`, by default of the replicas' own table.
        """
        state, active = list(state), np.asarray(steps.active)
        losses = np.zeros(active.shape, np.float32)
        groups, meshes, data = self.placement.groups, self.placement.meshes, tables or self._tables
        numbers = np.flatnonzero(active.any(axis=1))
        busy = [number for number, group in enumerate(groups) if active[:, group].any()]

        @backend()  # each mesh has a thread
        def train(mesh: int, part: TimeSlice) -> None:
            group, taken = groups[part.group], slice(part.first, part.end)
            before = jax.device_put(state[part.group], self.placement.sharding(meshes[mesh]))
            inputs = steps.of(group), data[mesh], replicas_of(group, self.dropout_params)
            state[part.group], group_losses = self._programs[mesh](
                before, *inputs, part.first, part.end
            )
            losses[taken, group] = np.asarray(group_losses)[taken]

        if busy:
            # Every other dispatch in reverse: a cut group begins where it ended before.
            way = 1 if int(steps.number[0]) // len(active) % 2 else -1
            slices = schedule(busy[::way], len(meshes), int(numbers[-1]) + 1)
            execute(slices[::way], train)
        return state, losses

    @backend()
    def keep_best(self, state: ShardedState, improved: NDArray[np.bool_]) -> ShardedState:
        """Return the state with the weights of the replicas that improved as their best."""
        return [
            _keep_best(group_state, jnp.asarray(improved[group], jnp.bool_))
            for group_state, group in zip(state, self.placement.groups, strict=True)
        ]

    @backend()
    def finite(self, state: ShardedState) -> NDArray[np.bool_]:
        """Return for which replicas all weights are finite."""
        return np.concatenate([np.asarray(_finite(group_state.model)) for group_state in state])

    @backend()
    def decode(
        self, model: Weights, rows: Sequence[Rows], between: Callable[[], None] = lambda: None
    ) -> list[NDArray[np.uint16]]:
        """Return each replica's greedy outputs for its own rows: codes of shape [count, length].

        Rows are decoded by the length of their source, in few padded widths; `between` is called
        before the program of each width, and may raise.
        """
        table, length = self.table, self.training.max_decode_length
        devices = make_mesh(len(self.seeds), range(1, jax.device_count() + 1))
        model = jax.device_put(model, NamedSharding(devices, P(REPLICAS)))
        outputs = [np.zeros((len(examples), length), np.uint16) for examples in rows]
        widths = [
            _widths(table.source_lengths[examples], table.source.shape[1]) for examples in rows
        ]
        for width in np.unique(np.concatenate(widths)).tolist():
            between()
            chosen = [np.flatnonzero(column == width) for column in widths]
            pairs = zip(rows, chosen, strict=True)
            inputs = [self._inputs(examples[positions], width) for examples, positions in pairs]
            decoded = greedy_replicas(model, inputs, length, devices)
            for output, positions, codes in zip(outputs, chosen, decoded, strict=True):
                output[positions] = codes
        return outputs

    def _inputs(self, rows: Rows, width: int) -> ModelInputs:
        return ModelInputs(self.table.source[rows, :width], self.table.worlds(rows))

    def _start(self) -> State:
        build = models.get(self.architecture).Model
        features = self._cell_features
        channels = 0 if features is None else features.shape[1]
        sizes = Sizes(len(self.table.sources), len(self.table.targets), channels)

        def of_replica(key: Array) -> State:
            model = build(self.config, sizes, key=key)
            optimizer = optimizers.init(self.training, model)
            return State(model, optimizer, jax.tree.map(jnp.copy, model))

        return jax.vmap(of_replica)(self._keys("initial weights"))

    @property
    def _cell_features(self) -> NDArray[np.uint8] | None:
        return None if self.table.observations is None else self.table.observations.cell_features

    @cached_property
    def dropout_params(self) -> DropoutParams:
        """Random key and rate of each replica's dropout."""
        return DropoutParams(self._keys("dropout"), jnp.array(self._rates, jnp.float32))

    @property
    def _rates(self) -> tuple[float, ...]:
        return self.dropout or (self.training.dropout,) * len(self.seeds)

    def _keys(self, purpose: str) -> Array:
        numbers = [int(stream(seed, purpose).integers(2**31)) for seed in self.seeds]
        return jnp.stack([jax.random.key(number, impl=PRNG) for number in numbers])

    @cached_property
    def _programs(self) -> list[Program]:
        return compile_one_at_a_time([self.program(mesh) for mesh in self.placement.meshes])

    def program(self, mesh: Mesh) -> Program:
        """Return the program of steps on a mesh of the placement."""
        step = TrainingStep(self.training, self.buckets, any(self._rates), self._cell_features)
        return self.placement.compile(partial(step.run, mesh.shape[EXAMPLES]), mesh)


@partial(jax.jit, donate_argnums=0)
def _keep_best(state: State, improved: Bool[Array, " replicas"]) -> State:
    def better(new: Array, old: Array) -> Array:
        return jnp.where(improved.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    return state._replace(best=jax.tree.map(better, state.model, state.best))


@jax.jit
def _finite(model: Weights) -> Bool[Array, " replicas"]:
    leaves = jax.tree.leaves(model)
    finite = [jnp.isfinite(leaf).reshape(len(leaf), -1).all(axis=1) for leaf in leaves]
    return jnp.stack(finite).all(axis=0)


def _widths(lengths: NDArray[np.integer], longest: int) -> NDArray[np.integer]:
    """Return the padded width of each source: a power of two from 16 on, at most the longest."""
    return np.minimum(np.maximum(2 ** np.ceil(np.log2(lengths)).astype(int), 16), longest)
