"""What training and decoding ask of an architecture, and nothing else.

A module of `daxy.models` is an architecture: it has a frozen dataclass `Config`, whose fields
become flags of `daxy train`, and an Equinox module `Model` that satisfies the protocol below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Integer

from daxy.core.vocabulary import PAD
from daxy.models.layers.dropout import Dropout


@dataclass(frozen=True)
class Sizes:
    """What an architecture has to know of a task; symbols include PAD and END."""

    source_symbols: int
    target_symbols: int
    channels: int = 0
    """What a cell of a world is described by; 0 where there are no worlds."""


class Given(NamedTuple):
    """What a model is asked: sources as codes, and the worlds they are said in, if there are any.

    Codes are tokens, END, then PAD (see `core.vocabulary`). A world says what is on each cell.
    """

    source: Integer[Array | np.ndarray, "batch source"]
    world: Integer[Array | np.ndarray, "batch row column channel"] | None = None


class Batch(NamedTuple):
    """Source-target pairs as codes, with the worlds of their sources; see `Given`."""

    source: Int[Array, "batch source"]
    target: Int[Array, "batch target"]
    world: Integer[Array, "batch row column channel"] | None = None

    @property
    def given(self) -> Given:
        """What a model that writes the targets is asked."""
        return Given(self.source, self.world)

    @property
    def before(self) -> Int[Array, "batch target"]:
        """The true token before each token of a target, PAD before the first."""
        return jnp.pad(self.target, ((0, 0), (1, 0)))[:, :-1]

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


@runtime_checkable
class Grounded(Protocol):
    """A model that is shown the worlds too: its `Batch` has them, and so has its `start`."""

    sees_worlds: ClassVar[bool] = True

    def start(
        self, source: Int[Array, "batch source"], world: Integer[Array, "batch row column channel"]
    ) -> Any:
        """Return the state before the first target token: a nest of arrays, batch first."""
        ...


@runtime_checkable
class Growing(Protocol):
    """A model whose state has to have room for every target token: its `start` is told how many."""

    grows: ClassVar[bool] = True

    def start(self, source: Int[Array, "batch source"], room: int) -> Any:
        """Return the state before the first of at most `room` target tokens."""
        ...


def sees_worlds(model: Any) -> bool:
    """Whether a model, or a class of models, is `Grounded`."""
    return getattr(model, "sees_worlds", False)


def begun(model: Model, given: Given, room: int) -> Any:
    """Return a model's state before the first of at most `room` target tokens."""
    asked = [jnp.asarray(given.source, jnp.int32)]
    if sees_worlds(model):
        assert given.world is not None
        asked.append(jnp.asarray(given.world, jnp.int32))
    start: Callable[..., Any] = model.start
    return start(*asked, room) if getattr(model, "grows", False) else start(*asked)


def best(logits: Float[Array, "batch symbols"]) -> Int[Array, " batch"]:
    """Return the best next token of each row; PAD is never chosen: no target has it."""
    return jnp.argmax(logits.at[:, PAD].set(-jnp.inf), axis=-1).astype(jnp.int32)
