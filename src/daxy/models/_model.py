"""What training and decoding ask of an architecture, and nothing else.

A module of `daxy.models` is an architecture: it has a frozen dataclass `Config`, whose fields
become flags of `daxy train`, and an Equinox module `Model` that satisfies the protocol below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from daxy.core.vocabulary import PAD
from daxy.models.layers.dropout import Dropout


@dataclass(frozen=True)
class Sizes:
    """What an architecture has to know of a task; symbols include PAD and END."""

    source_symbols: int
    target_symbols: int


class Batch(NamedTuple):
    """Source-target pairs as codes: tokens, END, then PAD (see `core.vocabulary`)."""

    source: Int[Array, "batch source"]
    target: Int[Array, "batch target"]

    @property
    def is_target(self) -> Bool[Array, "batch target"]:
        """True where the target has a token or its END."""
        return jnp.not_equal(self.target, PAD)


@runtime_checkable
class Model(Protocol):
    """An encoder-decoder over one batch; it knows no task, no optimiser and no search.

    Constructed as `Model(config, sizes, key=key)`. `logits` is deterministic without noise.
    """

    def logits(
        self, batch: Batch, noise: Dropout | None = None
    ) -> Float[Array, "batch target symbols"]:
        """Return the scores of every next token, given the true ones before it."""
        ...

    def start(self, source: Int[Array, "batch source"]) -> Any:
        """Return the state before the first target token: a nest of arrays, batch first."""
        ...

    def step(
        self, state: Any, token: Int[Array, " batch"]
    ) -> tuple[Any, Float[Array, "batch symbols"]]:
        """Take the previous token (PAD before the first) in; return the scores of the next."""
        ...


@runtime_checkable
class SelfFed(Model, Protocol):
    """A model that can also be trained on its own outputs."""

    def fed(
        self, batch: Batch, noise: Dropout | None, forced: Bool[Array, " batch"]
    ) -> Float[Array, "batch target symbols"]:
        """Return `logits`, where an example that is not `forced` is given its own best tokens."""
        ...


def best(logits: Float[Array, "batch symbols"]) -> Int[Array, " batch"]:
    """Return the best next token of each row; PAD is never chosen: no target has it."""
    return jnp.argmax(logits.at[:, PAD].set(-jnp.inf), axis=-1).astype(jnp.int32)
