"""The interface between an architecture, training and decoding.

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
    """Sizes that a task sets; symbols include PAD and END."""

    source_symbols: int
    target_symbols: int
    channels: int = 0
    """Features of a cell of a world; 0 where there are no worlds."""


class ModelInputs(NamedTuple):
    """A batch of sources as codes, with the world of each if the task has worlds.

    Codes are tokens, END, then PAD (see `core.vocabulary`).
    """

    source: Integer[Array | np.ndarray, "batch source"]
    world: Integer[Array | np.ndarray, "batch row column channel"] | None = None


class Batch(NamedTuple):
    """Source-target pairs as codes, with the worlds of their sources; see `ModelInputs`."""

    source: Int[Array, "batch source"]
    target: Int[Array, "batch target"]
    world: Integer[Array, "batch row column channel"] | None = None

    @property
    def inputs(self) -> ModelInputs:
        """The batch without its targets."""
        return ModelInputs(self.source, self.world)

    @property
    def decoder_inputs(self) -> Int[Array, "batch target"]:
        """The true token before each token of a target, PAD before the first."""
        return jnp.pad(self.target, ((0, 0), (1, 0)))[:, :-1]

    @property
    def is_target(self) -> Bool[Array, "batch target"]:
        """True where the target has a token or its END."""
        return jnp.not_equal(self.target, PAD)


@runtime_checkable
class Model(Protocol):
    """An encoder-decoder over one batch, constructed as `Model(config, sizes, key=key)`.

    It knows no task, no optimizer and no search. Without dropout `logits` is deterministic.
    Attention maps and analyses read two fields of the decoder's state, if it has them: `top`, the
    top hidden vector, and `attention_weights`, those of the last step.
    """

    def logits(
        self, batch: Batch, dropout: Dropout | None = None
    ) -> Float[Array, "batch target symbols"]:
        """Return the logits of every target token under teacher forcing."""
        ...

    def start(self, source: Int[Array, "batch source"]) -> Any:
        """Return the state before the first target token: a nest of arrays, batch first."""
        ...

    def step(
        self, state: Any, token: Int[Array, " batch"]
    ) -> tuple[Any, Float[Array, "batch symbols"]]:
        """Read the previous token (PAD before the first); return the logits of the next."""
        ...


@runtime_checkable
class FreeRunning(Model, Protocol):
    """A model that can also be trained on its own outputs."""

    def logits_free_running(
        self, batch: Batch, dropout: Dropout | None, teacher_forced: Bool[Array, " batch"]
    ) -> Float[Array, "batch target symbols"]:
        """Return `logits`, where an example not `teacher_forced` reads its own greedy tokens."""
        ...


@runtime_checkable
class Grounded(Protocol):
    """A model that sees worlds: its `Batch` has them, and `start` takes them."""

    sees_worlds: ClassVar[bool] = True

    def start(
        self, source: Int[Array, "batch source"], world: Integer[Array, "batch row column channel"]
    ) -> Any:
        """Return the state before the first target token: a nest of arrays, batch first."""
        ...


@runtime_checkable
class NeedsMaxLength(Protocol):
    """A model whose state has room for every target token: `start` takes how many there may be."""

    needs_max_length: ClassVar[bool] = True

    def start(self, source: Int[Array, "batch source"], max_length: int) -> Any:
        """Return the state before the first of at most `max_length` target tokens."""
        ...


def sees_worlds(model: Any) -> bool:
    """Whether a model, or a class of models, is `Grounded`."""
    return getattr(model, "sees_worlds", False)


def init_decoder_state(model: Model, inputs: ModelInputs, max_length: int) -> Any:
    """Return a model's state before the first of at most `max_length` target tokens."""
    arguments: list[Any] = [jnp.asarray(inputs.source, jnp.int32)]
    if sees_worlds(model):
        assert inputs.world is not None
        arguments.append(jnp.asarray(inputs.world, jnp.int32))
    if getattr(model, "needs_max_length", False):
        arguments.append(max_length)
    start: Callable[..., Any] = model.start
    return start(*arguments)


def greedy_token(logits: Float[Array, "batch symbols"]) -> Int[Array, " batch"]:
    """Return the most likely next token of each row; PAD is never chosen: no target has it."""
    return jnp.argmax(logits.at[:, PAD].set(-jnp.inf), axis=-1).astype(jnp.int32)
