"""Many runs of one shape as one program: the only code that trains.

A replica has its own weights, order of examples, noise and learning rate; the padded shape of each
step is shared. One run is the case of one replica.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxtyping import Array, Bool, Float, Int
from numpy.typing import NDArray

from daxy import models
from daxy.batching.epochs import Bucket
from daxy.batching.table import Rows, Table
from daxy.core.random import stream
from daxy.models._decoding import greedy_replicas
from daxy.models._model import Batch, Sizes
from daxy.models.layers.dropout import Dropout
from daxy.training import optimizers
from daxy.training.devices import EXAMPLES, REPLICAS, compiler_options, cuts, grid, together
from daxy.training.objective import cross_entropy
from daxy.training.protocol import Protocol

COINS = zlib.crc32(b"teacher forcing")

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
    """Which padded shape."""
    rows: Int[Array, "steps replicas batch"]
    weights: Float[Array, "steps replicas batch"]
    number: Int[Array, " steps"]
    """Steps done before this one since training began: it makes the noise."""
    active: Bool[Array, "steps replicas"]
    """False for a replica that has stopped, or has no batch left in this epoch."""
    learning_rate: Float[Array, " steps"]


class Noises(NamedTuple):
    """What each replica's dropout depends on beside the step."""

    key: Array
    """Shape [replicas]."""
    rate: Float[Array, " replicas"]


@dataclass(frozen=True, eq=False)
class Replicas:
    """The programs of one group of runs, compiled when first used."""

    architecture: str
    config: Any
    protocol: Protocol
    table: Table
    buckets: tuple[Bucket, ...]
    seeds: tuple[int, ...]
    dropout: tuple[float, ...] = ()
    """Each replica's own rate; unless given all have the protocol's."""

    def start(self) -> State:
        """Return the state before the first step; each replica's weights come from its seed."""
        build = models.get(self.architecture).Model
        sizes = Sizes(len(self.table.sources), len(self.table.targets))

        def one(key: Array) -> State:
            model = build(self.config, sizes, key=key)
            moments = optimizers.start(self.protocol, model)
            return State(model, moments, jax.tree.map(jnp.copy, model))

        state = jax.jit(jax.vmap(one))(self._keys("initial weights"))
        return self.place(state)

    def place(self, state: State) -> State:
        """Return the state with each replica on the devices that train it."""
        axis = None if self._missing else REPLICAS
        return jax.device_put(state, NamedSharding(self._grid, P(axis)))

    def run(self, state: State, steps: Steps) -> tuple[State, Float[Array, "steps replicas"]]:
        """Return the state after these steps, and each replica's loss at each; consumes `state`."""
        return self._run(state, steps, self._data, self._noises)

    def keep_best(self, state: State, improved: NDArray[np.bool_]) -> State:
        """Return the state with the weights of the replicas that improved as their best."""
        return _keep_best(state, jnp.asarray(improved))

    def decode(self, model: Weights, rows: Sequence[Rows]) -> list[NDArray[np.uint16]]:
        """Return each replica's greedy outputs for its own rows: [count, limit] codes each.

        Rows are decoded by the length of their source, in few padded widths.
        """
        table, limit = self.table, self.protocol.limit
        devices = grid(len(self.seeds), range(1, jax.device_count() + 1))
        model = jax.device_put(model, NamedSharding(devices, P(REPLICAS)))
        outputs = [np.zeros((len(own), limit), np.uint16) for own in rows]
        widths = [_widths(table.source_lengths[own], table.source.shape[1]) for own in rows]
        for width in np.unique(np.concatenate(widths)).tolist():
            chosen = [np.flatnonzero(own == width) for own in widths]
            sources = [
                table.source[own[places], :width] for own, places in zip(rows, chosen, strict=True)
            ]
            found = greedy_replicas(model, sources, limit, devices)
            for output, places, codes in zip(outputs, chosen, found, strict=True):
                output[places] = codes
        return outputs

    @cached_property
    def _grid(self) -> Mesh:
        return grid(len(self.seeds), cuts(self.protocol.batch_size))

    @cached_property
    def _data(self) -> Batch:
        """The encoded table on the device, where batches are gathered from it."""
        return Batch(jnp.asarray(self.table.source), jnp.asarray(self.table.target))

    @cached_property
    def _noises(self) -> Noises:
        rates = self.dropout or (self.protocol.dropout,) * len(self.seeds)
        return Noises(self._keys("dropout"), jnp.array(rates, jnp.float32))

    @property
    def _is_quiet(self) -> bool:
        """Whether no replica has any dropout."""
        return not any(self.dropout or [self.protocol.dropout])

    def _keys(self, purpose: str) -> Array:
        numbers = [int(stream(seed, purpose).integers(2**31)) for seed in self.seeds]
        return jnp.stack([jax.random.key(number) for number in numbers])

    @cached_property
    def _run(self) -> Any:
        """The program of a run of steps, every device with its share of replicas or examples."""
        each, whole = P(REPLICAS), P()
        split = {"rows": P(None, REPLICAS, EXAMPLES), "active": P(None, REPLICAS)}
        split["weights"] = split["rows"]
        steps = Steps._make(split.get(name, whole) for name in Steps._fields)
        spread = jax.shard_map(
            self._run_share,
            mesh=self._grid,
            in_specs=(each, steps, whole, each),
            out_specs=(each, P(None, REPLICAS)),
            check_vma=False,
        )
        run = self._filled_up(spread) if self._missing else spread
        return jax.jit(run, donate_argnums=0, compiler_options=compiler_options())

    def _filled_up(self, spread: Callable[..., Any]) -> Callable[..., Any]:
        """Return the program with replicas that never train beside those there are.

        Every device has to have as many as any other.
        """
        missing, count = self._missing, len(self.seeds)

        def fill(leaf: Array, axis: int = 0) -> Array:
            last = jax.lax.slice_in_dim(leaf, count - 1, count, axis=axis)
            return jnp.concatenate([leaf, *[last] * missing], axis=axis)

        def run(state: State, steps: Steps, data: Batch, noises: Noises) -> tuple[State, Array]:
            here = steps._replace(
                rows=fill(steps.rows, 1),
                weights=fill(steps.weights, 1),
                active=jnp.pad(steps.active, ((0, 0), (0, missing))),
            )
            state, losses = spread(
                jax.tree.map(fill, state), here, data, jax.tree.map(fill, noises)
            )
            return jax.tree.map(lambda leaf: leaf[:count], state), losses[:, :count]

        return run

    @property
    def _missing(self) -> int:
        """How many replicas the last devices have fewer than the first."""
        return -len(self.seeds) % self._grid.shape[REPLICAS]

    def _run_share(
        self, state: State, steps: Steps, data: Batch, noises: Noises
    ) -> tuple[State, Float[Array, "steps replicas"]]:
        """Run the steps of a device's replicas: as many side by side as its cache has room for."""
        replicas = len(noises.rate)
        count = together(replicas, _bytes(state.model))
        run = partial(self._run_together, data)
        if count == replicas:
            return run(state, steps, noises)

        def turn(group: tuple[State, Steps, Noises]) -> tuple[State, Array]:
            state, steps, _ = group
            nothing = jnp.zeros(steps.active.shape)
            going = steps.active.any()
            return jax.lax.cond(going, lambda: run(*group), lambda: (state, nothing))

        split = partial(_split, count=count)
        own = jax.tree.map(split, (state, noises))
        groups = own[0], _over_groups(steps, split), own[1]
        state, losses = jax.lax.map(turn, groups)
        merged = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), state)
        return merged, losses.swapaxes(0, 1).reshape(losses.shape[1], -1)

    def _run_together(
        self, data: Batch, state: State, steps: Steps, noises: Noises
    ) -> tuple[State, Float[Array, "steps replicas"]]:
        # Only gradients come out of the switch: weights that passed through it would be copied.
        def idle(model: Weights, here: Steps) -> tuple[Array, Weights]:
            return jnp.zeros(here.active.shape), jax.tree.map(jnp.zeros_like, model)

        branches = [partial(self._gradients, bucket, data, noises) for bucket in self.buckets]

        def step(carry: tuple[Weights, Any], here: Steps) -> tuple[tuple[Weights, Any], Array]:
            model, optimizer = carry
            branch = jnp.where(here.active.any(), here.bucket, len(branches))
            found = jax.lax.switch(branch, [*branches, idle], model, here)
            update = partial(optimizers.step, self.protocol, learning_rate=here.learning_rate)
            alone = self._grid.shape[EXAMPLES] == 1
            loss, gradients = found if alone else jax.lax.psum(found, EXAMPLES)
            carry = jax.vmap(update)(model, optimizer, gradients, active=here.active)
            return carry, jnp.where(here.active, loss, 0)

        (model, optimizer), losses = jax.lax.scan(step, (state.model, state.optimizer), steps)
        return State(model, optimizer, state.best), losses

    def _gradients(
        self, bucket: Bucket, data: Batch, noises: Noises, model: Weights, here: Steps
    ) -> tuple[Float[Array, " replicas"], Weights]:
        """Return every replica's loss and gradients on its batch, in this padded shape."""

        def one(model: Any, noise: Noises, rows: Array, weights: Array) -> tuple[Array, Any]:
            batch = Batch(
                data.source[rows, : bucket.source].astype(jnp.int32),
                data.target[rows, : bucket.target].astype(jnp.int32),
            )
            key = jax.random.fold_in(noise.key, here.number)
            first_slot = jax.lax.axis_index(EXAMPLES) * len(rows)
            dropout = Dropout(key, noise.rate, first_slot)
            share = self.protocol.teacher_forcing
            return jax.value_and_grad(cross_entropy)(
                model,
                batch,
                weights,
                None if self._is_quiet else dropout,
                forced=None if share == 1 else _coins(here.number, share, len(rows), first_slot),
                mask_after_predicted_end=self.protocol.mask_after_predicted_end,
            )

        return jax.vmap(one)(model, noises, here.rows, here.weights)


@partial(jax.jit, donate_argnums=0)
def _keep_best(state: State, improved: Bool[Array, " replicas"]) -> State:
    def better(new: Array, old: Array) -> Array:
        return jnp.where(improved.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    return state._replace(best=jax.tree.map(better, state.model, state.best))


def _coins(
    number: Int[Array, ""], share: float, count: int, first_slot: Array
) -> Bool[Array, " count"]:
    """Return True with probability `share` for each example, by the step and its slot in the batch.

    A step's coins are the same for all replicas, so that all take the same way through it.
    """
    own = jax.vmap(partial(jax.random.fold_in, jax.random.fold_in(jax.random.key(COINS), number)))
    return jax.vmap(jax.random.uniform)(own(first_slot + jnp.arange(count))) < share


def _bytes(model: Weights) -> int:
    """Return the size of one replica's weights."""
    return sum(leaf.size * leaf.dtype.itemsize // len(leaf) for leaf in jax.tree.leaves(model))


def _split(leaf: Array, count: int) -> Array:
    """Return an array of replicas as groups of `count` of them."""
    return leaf.reshape(-1, count, *leaf.shape[1:])


def _over_groups(steps: Steps, split: Callable[[Array], Array]) -> Steps:
    """Return the steps with a leading axis for groups of replicas; each reads the shared fields."""
    groups = len(split(steps.active.T))

    def own(field: Array) -> Array:
        return jnp.moveaxis(split(field.swapaxes(0, 1)), 2, 1)

    def shared(field: Array) -> Array:
        return jnp.broadcast_to(field, (groups, *field.shape))

    return Steps(
        bucket=shared(steps.bucket),
        rows=own(steps.rows),
        weights=own(steps.weights),
        number=shared(steps.number),
        active=own(steps.active),
        learning_rate=shared(steps.learning_rate),
    )


def _widths(lengths: NDArray[np.integer], longest: int) -> NDArray[np.integer]:
    """Return the padded width of each source: a power of two from 16 on, at most the longest."""
    return np.minimum(np.maximum(2 ** np.ceil(np.log2(lengths)).astype(int), 16), longest)
