"""Many runs of one shape as one program: the only code that trains.

A replica has its own weights, order of examples, noise and learning rate; the padded shape of each
step is shared. One run is the case of one replica.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

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
from daxy.models.api import Batch, ModelInputs, Sizes
from daxy.models.decoding.greedy import greedy_replicas
from daxy.models.layers.dropout import Dropout
from daxy.training import optimizers
from daxy.training.backend import PRNG, backend, pinned
from daxy.training.compilation import one_after_another
from daxy.training.config import TrainingConfig
from daxy.training.devices import EXAMPLES, REPLICAS, compiler_options, cuts, grid, side_by_side
from daxy.training.objective import cross_entropy
from daxy.training.sampler import BatchSampler
from daxy.training.time_slices import TimeSlice, execute, schedule

COINS = zlib.crc32(b"teacher forcing")

Tree = TypeVar("Tree")
AnyArray: TypeAlias = Array | np.ndarray
"""On a device or not."""
Weights: TypeAlias = Any
"""A model whose every array has a leading replica axis."""


class State(NamedTuple):
    """All that training changes on the device, every array with a leading replica axis."""

    model: Weights
    optimizer: Any
    best: Weights
    """The weights that are selected so far."""


Shares: TypeAlias = list[State]
"""The state of each team of replicas, where the team trains; see `merged`."""


Placed: TypeAlias = list[Batch]
"""An encoded table on the devices of each lane."""


class Steps(NamedTuple):
    """What a run of consecutive steps reads; time first, then the replicas."""

    bucket: Int[AnyArray, "steps parts"]
    """Which padded shape each part of a batch has."""
    rows: Int[AnyArray, "steps replicas parts size"]
    weights: Float[AnyArray, "steps replicas parts size"]
    number: Int[AnyArray, " steps"]
    """Steps done before this one since training began: it makes the noise."""
    active: Bool[AnyArray, "steps replicas"]
    """False for a replica that has stopped, or has no batch left in this epoch."""
    learning_rate: Float[AnyArray, "steps replicas"]

    def of(self, team: slice) -> Steps:
        """Return the steps as some of the replicas take them."""
        return self._replace(
            rows=self.rows[:, team],
            weights=self.weights[:, team],
            active=self.active[:, team],
            learning_rate=self.learning_rate[:, team],
        )


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
    training: TrainingConfig
    table: Table
    buckets: tuple[Bucket, ...]
    seeds: tuple[int, ...]
    dropout: tuple[float, ...] = ()
    """Each replica's own rate; unless given all have the configuration's."""
    learning_rates: tuple[float, ...] = ()
    """What each replica's learning rate begins with; unless given all have the
    configuration's."""

    @cached_property
    def configs(self) -> list[TrainingConfig]:
        """The configuration with each replica's own learning rate."""
        rates = self.learning_rates or [self.training.optimizer.learning_rate] * len(self.seeds)
        return [self.training.with_settings(learning_rate=rate) for rate in rates]

    @backend()
    def start(self) -> Shares:
        """Return the state before the first step; each replica's weights come from its seed."""
        return self.placed(jax.jit(self._start)())

    @backend()
    def placed(self, state: State) -> Shares:
        """Return a state of all replicas with each team's on the devices that train it."""
        count = len(self._teams)
        homes = [self._lanes[place * len(self._lanes) // count] for place in range(count)]
        return [
            jax.device_put(_of(team, state), self._sharding(home))
            for team, home in zip(self._teams, homes, strict=True)
        ]

    @property
    @pinned()
    def shapes(self) -> State:
        """The state of all replicas as shapes."""
        return jax.eval_shape(self._start)

    @backend()
    def run(
        self, shares: Shares, steps: Steps, placed: Placed | None = None
    ) -> tuple[Shares, Float[np.ndarray, "steps replicas"]]:
        """Return the state after these steps, and each replica's loss at each; consumes `shares`.

        Programs are compiled for a number of steps; those at the end at which no replica is active
        are not taken. The rows are of the table that is `placed`, the replicas' own unless given.
        """
        shares, active = list(shares), np.asarray(steps.active)
        losses = np.zeros(active.shape, np.float32)
        programs, data, noises = self._programs, placed or self._own, self._noises
        places = np.flatnonzero(active.any(axis=1))
        busy = [place for place, team in enumerate(self._teams) if active[:, team].any()]

        @backend()  # a lane has a thread of its own
        def train(lane: int, own: TimeSlice) -> None:
            team, taken = self._teams[own.group], slice(own.first, own.end)
            state = jax.device_put(shares[own.group], self._sharding(self._lanes[lane]))
            inputs = steps.of(team), data[lane], _of(team, noises)
            shares[own.group], found = programs[lane](state, *inputs, own.first, own.end)
            losses[taken, team] = np.asarray(found)[taken]

        if busy:
            # Every other time the other way round: a cut team begins where it ended before.
            way = 1 if int(steps.number[0]) // len(active) % 2 else -1
            slices = schedule(busy[::way], len(self._lanes), int(places[-1]) + 1)
            execute(slices[::way], train)
        return shares, losses

    @backend()
    def keep_best(self, shares: Shares, improved: NDArray[np.bool_]) -> Shares:
        """Return the state with the weights of the replicas that improved as their best."""
        return [
            _keep_best(state, jnp.asarray(improved[team], jnp.bool_))
            for state, team in zip(shares, self._teams, strict=True)
        ]

    @backend()
    def finite(self, shares: Shares) -> NDArray[np.bool_]:
        """Return of which replicas all weights are numbers."""
        return np.concatenate([np.asarray(_finite(state.model)) for state in shares])

    @backend()
    def decode(
        self, model: Weights, rows: Sequence[Rows], between: Callable[[], None] = lambda: None
    ) -> list[NDArray[np.uint16]]:
        """Return each replica's greedy outputs for its own rows: [count, limit] codes each.

        Rows are decoded by the length of their source, in few padded widths; `between` is called
        before the program of each width, and may raise.
        """
        table, limit = self.table, self.training.max_decode_length
        devices = grid(len(self.seeds), range(1, jax.device_count() + 1))
        model = jax.device_put(model, NamedSharding(devices, P(REPLICAS)))
        outputs = [np.zeros((len(own), limit), np.uint16) for own in rows]
        widths = [_widths(table.source_lengths[own], table.source.shape[1]) for own in rows]
        for width in np.unique(np.concatenate(widths)).tolist():
            between()
            chosen = [np.flatnonzero(own == width) for own in widths]
            asked = [
                self._given(own[places], width) for own, places in zip(rows, chosen, strict=True)
            ]
            found = greedy_replicas(model, asked, limit, devices)
            for output, places, codes in zip(outputs, chosen, found, strict=True):
                output[places] = codes
        return outputs

    def _given(self, rows: Rows, width: int) -> ModelInputs:
        views = self.table.views
        world = None if views is None else views.cell_features[views.cell_ids[rows]]
        return ModelInputs(self.table.source[rows, :width], world)

    def _start(self) -> State:
        build = models.get(self.architecture).Model
        views = self.table.views
        channels = 0 if views is None else views.cell_features.shape[1]
        sizes = Sizes(len(self.table.sources), len(self.table.targets), channels)

        def one(key: Array) -> State:
            model = build(self.config, sizes, key=key)
            moments = optimizers.init(self.training, model)
            return State(model, moments, jax.tree.map(jnp.copy, model))

        return jax.vmap(one)(self._keys("initial weights"))

    @property
    def _part(self) -> int:
        """How many examples of a batch are padded together."""
        return self.training.batch_size // BatchSampler(self.training, self.table).parts

    @cached_property
    def _whole(self) -> Mesh:
        """The devices if all replicas train at a time."""
        return grid(len(self.seeds), cuts(self._part))

    @cached_property
    def _teams(self) -> list[slice]:
        """The replicas that train at a time: all of them, or those side by side on one device."""
        count = len(self.seeds)
        most = side_by_side(count, _bytes(self.shapes.model), self._part)
        if count <= most * self._whole.shape[REPLICAS]:
            return [slice(0, count)]
        return [slice(place, min(place + most, count)) for place in range(0, count, most)]

    @cached_property
    def _lanes(self) -> list[Mesh]:
        """The devices that a team trains on, and those that others can train on meanwhile."""
        if len(self._teams) == 1:
            return [self._whole]
        every = grid(len(self._teams), cuts(self._part), in_turns=True)
        return [Mesh(row[None], every.axis_names) for row in every.devices]

    @cached_property
    def _own(self) -> Placed:
        return self._on_lanes(self.table)

    @backend()
    def on_lanes(self, table: Table) -> Placed:
        """Return an encoded table on the devices that train, where batches are gathered from it."""
        return self._own if table is self.table else self._on_lanes(table)

    def _on_lanes(self, table: Table) -> Placed:
        # Its worlds are maps still, of a byte a cell.
        maps = None if table.views is None else table.views.cell_ids
        data = Batch(*jax.tree.map(jnp.asarray, (table.source, table.target, maps)))
        return [jax.device_put(data, NamedSharding(lane, P())) for lane in self._lanes]

    @cached_property
    def _noises(self) -> Noises:
        rates = self.dropout or (self.training.dropout,) * len(self.seeds)
        return Noises(self._keys("dropout"), jnp.array(rates, jnp.float32))

    @property
    def _is_quiet(self) -> bool:
        """Whether no replica has any dropout."""
        return not any(self.dropout or [self.training.dropout])

    def _keys(self, purpose: str) -> Array:
        numbers = [int(stream(seed, purpose).integers(2**31)) for seed in self.seeds]
        return jnp.stack([jax.random.key(number, impl=PRNG) for number in numbers])

    @cached_property
    def _programs(self) -> list[Callable[..., tuple[State, Array]]]:
        """The program of a run of steps for each lane, every device of it with its share."""
        return one_after_another([self._program(lane) for lane in self._lanes])

    def _program(self, lane: Mesh) -> Callable[..., tuple[State, Array]]:
        each, whole = P(REPLICAS), P()
        own, cut = P(None, REPLICAS), P(None, REPLICAS, None, EXAMPLES)
        split = {"rows": cut, "weights": cut, "active": own, "learning_rate": own}
        steps = Steps._make(split.get(name, whole) for name in Steps._fields)
        spread = jax.shard_map(
            partial(self._run_share, lane.shape[EXAMPLES]),
            mesh=lane,
            in_specs=(each, steps, whole, each, whole, whole),
            out_specs=(each, P(None, REPLICAS)),
            check_vma=False,
        )
        missing = self._missing(lane)
        run = _filled_up(spread, missing) if missing else spread
        return jax.jit(run, donate_argnums=0, compiler_options=compiler_options())

    def _sharding(self, lane: Mesh) -> NamedSharding:
        return NamedSharding(lane, P(None if self._missing(lane) else REPLICAS))

    def _missing(self, lane: Mesh) -> int:
        """Return how many replicas the last devices of a lane have fewer than the first."""
        team = self._teams[0]
        return -(team.stop - team.start) % lane.shape[REPLICAS]

    def _run_share(
        self,
        parts: int,
        state: State,
        steps: Steps,
        data: Batch,
        noises: Noises,
        first: Int[Array, ""],
        end: Int[Array, ""],
    ) -> tuple[State, Float[Array, "steps replicas"]]:
        """Run the steps from `first` to before `end` of the replicas that a device has."""

        # Only gradients come out of the switch: weights that passed through it would be copied.
        def idle(model: Weights, here: Steps, part: Array) -> tuple[Array, Weights]:
            del part
            return jnp.zeros(here.active.shape, jnp.float32), jax.tree.map(jnp.zeros_like, model)

        branches = [partial(self._gradients, bucket, data, noises) for bucket in self.buckets]

        def whole(model: Weights, here: Steps) -> tuple[Array, Weights]:
            """Return the losses and gradients of a step, summed over the parts of its batch."""

            def of(part: Array) -> tuple[Array, Weights]:
                branch = jnp.where(here.active.any(), here.bucket[part], len(branches))
                return jax.lax.switch(branch, [*branches, idle], model, here, part)

            def add(part: Array, sums: tuple[Array, Weights]) -> tuple[Array, Weights]:
                return jax.tree.map(jnp.add, sums, of(part))

            first, parts = jnp.int32(0), len(here.bucket)
            if parts == 1:
                return of(first)
            return jax.lax.fori_loop(0, parts, add, idle(model, here, first))

        def step(number: Array, carry: tuple[Weights, Any, Array]) -> tuple[Weights, Any, Array]:
            model, optimizer, losses = carry
            here = jax.tree.map(lambda field: field[number], steps)
            found = whole(model, here)
            update = partial(optimizers.update, self.training)
            loss, gradients = found if parts == 1 else jax.lax.psum(found, EXAMPLES)
            own = {"learning_rate": here.learning_rate, "active": here.active}
            model, optimizer = _for_each(update)(model, optimizer, gradients, **own)
            return model, optimizer, losses.at[number].set(jnp.where(here.active, loss, 0))

        nothing = jnp.zeros(steps.active.shape, jnp.float32)
        begin = state.model, state.optimizer, nothing
        model, optimizer, losses = jax.lax.fori_loop(first, end, step, begin)
        return State(model, optimizer, state.best), losses

    def _gradients(
        self, bucket: Bucket, data: Batch, noises: Noises, model: Weights, here: Steps, part: Array
    ) -> tuple[Float[Array, " replicas"], Weights]:
        """Return every replica's loss and gradients on a part of its batch, padded so."""
        several, size = jax.lax.axis_size(EXAMPLES), here.rows.shape[-1]
        first_slot = (part * several + jax.lax.axis_index(EXAMPLES)) * size

        def one(model: Any, noise: Noises, rows: AnyArray, weights: AnyArray) -> tuple[Array, Any]:
            batch = Batch(
                data.source[rows, : bucket.source].astype(jnp.int32),
                data.target[rows, : bucket.target].astype(jnp.int32),
                self._seen(data, rows),
            )
            key = jax.random.fold_in(noise.key, here.number)
            dropout = Dropout(key, noise.rate, first_slot)
            share = self.training.loss.teacher_forcing
            return jax.value_and_grad(cross_entropy)(
                model,
                batch,
                weights,
                None if self._is_quiet else dropout,
                forced=None if share == 1 else _coins(here.number, share, size, first_slot),
                loss=self.training.loss,
            )

        return _for_each(one)(model, noises, here.rows[:, part], here.weights[:, part])

    def _seen(self, data: Batch, rows: AnyArray) -> Array | None:
        """Return what is on each cell of these rows' worlds, if they have any."""
        if self.table.views is None:
            return None
        assert data.world is not None
        cells = self.table.views.cell_features
        return jnp.asarray(cells, cells.dtype)[data.world[rows]]


def _for_each(function: Callable[..., Tree]) -> Callable[..., Tree]:
    """Return the function of each replica as one of all that a device trains side by side.

    Where that is one, its arrays have no axis for it: a loop that changes a large array, as a
    memory is, would copy it at every step for the sake of such an axis.
    """

    def run(*given: Tree, **named: Tree) -> Tree:
        if jax.tree.leaves(given)[0].shape[0] > 1:
            return jax.vmap(function)(*given, **named)
        alone, named = jax.tree.map(lambda leaf: leaf[0], (given, named))
        return jax.tree.map(lambda leaf: leaf[None], function(*alone, **named))

    return run


def merged(shares: Sequence[Tree]) -> Tree:
    """Return nests of arrays of one team each as a nest of all replicas' arrays."""
    if len(shares) == 1:
        return shares[0]
    return jax.tree.map(lambda *own: np.concatenate(own), *shares)


@partial(jax.jit, donate_argnums=0)
def _keep_best(state: State, improved: Bool[Array, " replicas"]) -> State:
    def better(new: Array, old: Array) -> Array:
        return jnp.where(improved.reshape(-1, *[1] * (new.ndim - 1)), new, old)

    return state._replace(best=jax.tree.map(better, state.model, state.best))


@jax.jit
def _finite(model: Weights) -> Bool[Array, " replicas"]:
    leaves = jax.tree.leaves(model)
    found = [jnp.isfinite(leaf).reshape(len(leaf), -1).all(axis=1) for leaf in leaves]
    return jnp.stack(found).all(axis=0)


def _coins(
    number: Int[AnyArray, ""], share: float, count: int, first_slot: Array
) -> Bool[Array, " count"]:
    """Return True with probability `share` for each example, by the step and its slot in the batch.

    A step's coins are the same for all replicas, so that all take the same way through it.
    """
    key = jax.random.fold_in(jax.random.key(COINS, impl=PRNG), number)
    own = jax.vmap(partial(jax.random.fold_in, key))
    keys = own(first_slot + jnp.arange(count, dtype=jnp.int32))
    return jax.vmap(partial(jax.random.uniform, dtype=jnp.float32))(keys) < share


def _filled_up(program: Callable[..., tuple[State, Array]], missing: int) -> Callable[..., Any]:
    """Return a program with replicas that never train beside those there are.

    Every device has to have as many as any other.
    """

    def fill(leaf: AnyArray, axis: int = 0) -> Array:
        count = leaf.shape[axis]
        last = jax.lax.slice_in_dim(leaf, count - 1, count, axis=axis)
        return jnp.concatenate([leaf, *[last] * missing], axis=axis)

    def run(
        state: State, steps: Steps, data: Batch, noises: Noises, first: Array, end: Array
    ) -> tuple[State, Array]:
        here = steps._replace(
            rows=fill(steps.rows, 1),
            weights=fill(steps.weights, 1),
            active=jnp.pad(steps.active, ((0, 0), (0, missing))),
            learning_rate=fill(steps.learning_rate, 1),
        )
        state, losses = program(
            jax.tree.map(fill, state), here, data, jax.tree.map(fill, noises), first, end
        )
        return jax.tree.map(lambda leaf: leaf[:-missing], state), losses[:, :-missing]

    return run


def _of(team: slice, tree: Tree) -> Tree:
    """Return the part of a nest of arrays that is some of the replicas'."""
    return jax.tree.map(lambda leaf: leaf[team], tree)


def _bytes(model: Weights) -> int:
    """Return the size of one replica's weights."""
    return sum(leaf.size * leaf.dtype.itemsize // len(leaf) for leaf in jax.tree.leaves(model))


def _widths(lengths: NDArray[np.integer], longest: int) -> NDArray[np.integer]:
    """Return the padded width of each source: a power of two from 16 on, at most the longest."""
    return np.minimum(np.maximum(2 ** np.ceil(np.log2(lengths)).astype(int), 16), longest)
