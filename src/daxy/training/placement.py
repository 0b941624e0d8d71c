"""Placement of replicas on devices: device groups, meshes and the sharding of arrays.

Replicas that can be vmapped together train as one group on all devices. Others train in groups,
each on its own mesh, in time slices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jaxtyping import Array

from daxy.batching.table import Table
from daxy.models.api import Batch
from daxy.training.devices import (
    EXAMPLES,
    REPLICAS,
    compiler_options,
    data_parallel_sizes,
    make_mesh,
    max_vmapped,
)
from daxy.training.step import AnyArray, DropoutParams, State, Steps

Tree = TypeVar("Tree")
ShardedState = list[State]
"""The state of each group of replicas, on the devices of the group; see `merged`."""
DeviceTables = list[Batch]
"""An encoded table on the devices of each mesh."""
Program = Callable[..., tuple[State, Array]]


@dataclass(frozen=True, eq=False)
class Placement:
    """The devices of some replicas."""

    replicas: int
    batch_part: int
    """Examples of a batch that are padded together."""
    weight_bytes: int
    """Bytes of one replica's weights."""

    @cached_property
    def _all_devices(self) -> Mesh:
        """The mesh on which all replicas train at a time."""
        return make_mesh(self.replicas, data_parallel_sizes(self.batch_part))

    @cached_property
    def groups(self) -> list[slice]:
        """The replicas of each vmapped group."""
        most = max_vmapped(self.replicas, self.weight_bytes, self.batch_part)
        if self.replicas <= most * self._all_devices.shape[REPLICAS]:
            return [slice(0, self.replicas)]
        firsts = range(0, self.replicas, most)
        return [slice(first, min(first + most, self.replicas)) for first in firsts]

    @cached_property
    def meshes(self) -> list[Mesh]:
        """The meshes on which groups train at the same time."""
        if len(self.groups) == 1:
            return [self._all_devices]
        parts = data_parallel_sizes(self.batch_part)
        mesh = make_mesh(len(self.groups), parts, in_time_slices=True)
        return [Mesh(row[None], mesh.axis_names) for row in mesh.devices]

    def place(self, state: State) -> ShardedState:
        """Return a state of all replicas with each group's on devices that train it."""
        count = len(self.groups)
        homes = [self.meshes[number * len(self.meshes) // count] for number in range(count)]
        return [
            jax.device_put(replicas_of(group, state), self.sharding(home))
            for group, home in zip(self.groups, homes, strict=True)
        ]

    def tables(self, table: Table) -> DeviceTables:
        """Return an encoded table on the devices of each mesh."""
        # Worlds have an id of one byte for each cell; features are looked up in the step.
        ids = None if table.observations is None else table.observations.cell_ids
        data = Batch(*jax.tree.map(jnp.asarray, (table.source, table.target, ids)))
        return [jax.device_put(data, NamedSharding(mesh, P())) for mesh in self.meshes]

    def sharding(self, mesh: Mesh) -> NamedSharding:
        """Return the sharding of a group's state on a mesh."""
        return NamedSharding(mesh, P(None if self._missing(mesh) else REPLICAS))

    def compile(self, run: Program, mesh: Mesh) -> Program:
        """Return the program of steps on a mesh, each device of which has its share.

        Args:
            run: The steps of one device; see `TrainingStep.run`.
            mesh: One of the meshes.
        """
        each, whole = P(REPLICAS), P()
        by_replica, by_example = P(None, REPLICAS), P(None, REPLICAS, None, EXAMPLES)
        specs = {"rows": by_example, "weights": by_example}
        specs |= {"active": by_replica, "learning_rate": by_replica}
        steps = Steps._make(specs.get(name, whole) for name in Steps._fields)
        sharded = jax.shard_map(
            run,
            mesh=mesh,
            in_specs=(each, steps, whole, each, whole, whole),
            out_specs=(each, by_replica),
            check_vma=False,
        )
        missing = self._missing(mesh)
        program = _padded(sharded, missing) if missing else sharded
        return jax.jit(program, donate_argnums=0, compiler_options=compiler_options())

    def _missing(self, mesh: Mesh) -> int:
        """Return how many replicas the last devices of a mesh have fewer than the first."""
        group = self.groups[0]
        return -(group.stop - group.start) % mesh.shape[REPLICAS]


def _padded(program: Program, missing: int) -> Program:
    """Return a program that adds inactive replicas, so that every device has as many."""

    def pad(leaf: AnyArray, axis: int = 0) -> Array:
        count = leaf.shape[axis]
        last = jax.lax.slice_in_dim(leaf, count - 1, count, axis=axis)
        return jnp.concatenate([leaf, *[last] * missing], axis=axis)

    def run(
        state: State, steps: Steps, data: Batch, dropout: DropoutParams, first: Array, end: Array
    ) -> tuple[State, Array]:
        padded = steps._replace(
            rows=pad(steps.rows, 1),
            weights=pad(steps.weights, 1),
            active=jnp.pad(steps.active, ((0, 0), (0, missing))),
            learning_rate=pad(steps.learning_rate, 1),
        )
        state, losses = program(
            jax.tree.map(pad, state), padded, data, jax.tree.map(pad, dropout), first, end
        )
        return jax.tree.map(lambda leaf: leaf[:-missing], state), losses[:, :-missing]

    return run


def merged(groups: Sequence[Tree]) -> Tree:
    """Return the arrays of each group as arrays of all replicas."""
    if len(groups) == 1:
        return groups[0]
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *groups)


def replicas_of(group: slice, tree: Tree) -> Tree:
    """Return the part of a nest of arrays that belongs to some replicas."""
    return jax.tree.map(lambda leaf: leaf[group], tree)


def bytes_of_one(model: Any) -> int:
    """Return the bytes of one replica's weights."""
    leaves = jax.tree.leaves(model)
    return sum(leaf.size * leaf.dtype.itemsize // len(leaf) for leaf in leaves)
