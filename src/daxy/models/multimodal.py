"""The multimodal encoder-decoder of Ruis et al. (2020), which sees the world a command is said in.

A bidirectional LSTM reads the command and a convolutional network the world. An LSTM writes the
actions; before each it attends to the words and then, knowing what it found there, to the cells
(appendix D). `variant` chooses between the authors' code, which made their figures, and their text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Integer, PRNGKeyArray

from daxy.core.errors import quote, require
from daxy.core.settings import check_positive
from daxy.core.vocabulary import PAD
from daxy.models._model import Batch, Sizes
from daxy.models.layers import late_weights
from daxy.models.layers.attention import attend, exponentials
from daxy.models.layers.cells import State, cell
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.embedding import embed_previous, with_start
from daxy.models.layers.encoder import Encoder, summed
from daxy.models.layers.initial import normal, uniform
from daxy.models.layers.linear import times
from daxy.models.layers.recurrence import drawn
from daxy.models.layers.world import WorldEncoder

LSTM = cell("lstm")
WIDEST = 509
"""Cells along the side of a window that reaches from one edge of the largest grid to the other."""

PROTOCOL = "ruis2020"
"""Protocol of the paper that the network is from."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """A multimodal encoder-decoder; every field is a flag of `daxy train`."""

    variant: Literal["code", "paper"] = "code"
    """The network of the authors' code, or of the paper's equations."""
    hidden: int = 100
    """Hidden size of the decoder, and of the command encoder in each direction."""
    embedding: int = 25
    """Width of a word's embedding, and of an action's in the `paper` variant; an action's in the
    `code` variant has `hidden`."""
    channels: int = 50
    """Features of a cell per kernel."""
    kernel_sizes: str = "1,5,7"
    """Kernel sizes of the convolutions, in cells (1,5,13 for the paper's 12 x 12 grids)."""
    world_dropout: float = 0.1
    """Dropout on the features of cells; off if `dropout` is 0."""

    def __post_init__(self) -> None:
        check_positive(self, "hidden", "embedding", "channels")
        sides = self.kernel_sizes.split(",")
        odd = all(side.isascii() and side.isdigit() and int(side) % 2 for side in sides)
        require(
            odd,
            f"kernel-sizes must be odd numbers with commas between, not {quote(self.kernel_sizes)}",
        )
        wide = f"a kernel's side must be at most {WIDEST}, which reaches over the largest grid"
        require(max(map(int, sides)) <= WIDEST, f"{wide}; not {quote(self.kernel_sizes)}")
        rate = self.world_dropout
        require(0 <= rate < 1, f"world-dropout must be in [0, 1), not {rate}")

    @property
    def sides(self) -> tuple[int, ...]:
        """The sides of the windows."""
        return tuple(map(int, self.kernel_sizes.split(",")))


class Seen(NamedTuple):
    """What attention reads of some places, words or cells."""

    keys: Float[Array, "batch place hidden"]
    """Their `exponentials`."""
    values: Float[Array, "batch place width"]
    """What is summed."""
    is_word: Bool[Array, "batch place"] | None = None
    """Where there is a word and no padding; None for cells, which are all there."""


class Constants(NamedTuple):
    """What every step of the decoder reads beside the weights."""

    word_keys: Float[Array, "batch word hidden"]
    is_word: Bool[Array, "batch word"] | None
    cell_keys: Float[Array, "batch cell hidden"]
    word_energy: Float[Array, " hidden"]
    cell_energy: Float[Array, " hidden"]
    condition_bias: Float[Array, " hidden"] | None


class DecoderState(NamedTuple):
    """Where a decoder stands between two tokens."""

    state: State
    words: Seen
    cells: Seen
    attended: Float[Array, "batch cell"]
    """How much the last step attended to each cell, row after row."""

    @property
    def top(self) -> Float[Array, "batch hidden"]:
        """The hidden vector that the next token is made from."""
        return self.state[0]


class Step(NamedTuple):
    """What a step of the decoder gives."""

    hidden: Float[Array, "batch hidden"]
    context: Float[Array, "batch contexts"]
    """Of the words and of the cells, side by side."""
    attended: Float[Array, "batch cell"]


class Model(eqx.Module):
    """See the module; parameters are stored [incoming, outgoing], gates in PyTorch's order."""

    sees_worlds: ClassVar[bool] = True

    config: Config = eqx.field(static=True)
    encoder: Encoder
    world_encoder: WorldEncoder
    bridge: Float[Array, "hidden hidden"]
    bridge_bias: Float[Array, " hidden"]
    target_embedding: Float[Array, "target_symbols_and_start embedding"]
    input_to_gates: Float[Array, "inputs gates"]
    state_to_gates: Float[Array, "hidden gates"]
    input_bias: Float[Array, " gates"]
    state_bias: Float[Array, " gates"]
    word_key: Float[Array, "hidden hidden"]
    word_query: Float[Array, "hidden hidden"]
    word_energy: Float[Array, " hidden"]
    condition: Float[Array, "twice_hidden hidden"] | None
    condition_bias: Float[Array, " hidden"] | None
    cell_key: Float[Array, "features hidden"]
    cell_query: Float[Array, "queries hidden"]
    cell_energy: Float[Array, " hidden"]
    pre_output: Float[Array, "outputs hidden"] | None
    output: Float[Array, "last_width target_symbols_and_start"]

    def __init__(self, config: Config, sizes: Sizes, *, key: PRNGKeyArray) -> None:
        keys = iter(jax.random.split(key, 18))
        hidden, as_code, both = config.hidden, config.variant == "code", 2 * config.hidden
        # The symbol before the first word, and before the first action, is one of its own.
        words, symbols = sizes.source_symbols + 1, sizes.target_symbols + 1
        features = len(config.sides) * config.channels
        width = hidden if as_code else config.embedding
        contexts = both if as_code else hidden + features
        square = (hidden, hidden)
        self.config = config
        self.encoder = Encoder(LSTM, words, config.embedding, hidden, key=next(keys))
        kernels = config.sides, sizes.channels, config.channels
        self.world_encoder = WorldEncoder(*kernels, key=next(keys))
        self.bridge = uniform(next(keys), square, hidden)
        self.bridge_bias = uniform(next(keys), (hidden,), hidden)
        self.target_embedding = normal(next(keys), (symbols, width))
        layer = drawn(LSTM, width + contexts, hidden, key=next(keys))
        self.input_to_gates, self.state_to_gates = layer.input_to_gates, layer.state_to_gates
        self.input_bias, self.state_bias = layer.input_bias, layer.state_bias
        self.word_key = uniform(next(keys), square, hidden)
        self.word_query = uniform(next(keys), square, hidden)
        self.word_energy = uniform(next(keys), (hidden,), hidden)
        condition = uniform(next(keys), (both, hidden), both)
        condition_bias = uniform(next(keys), (hidden,), both)
        self.condition = condition if as_code else None
        self.condition_bias = condition_bias if as_code else None
        queries = hidden if as_code else both
        self.cell_key = uniform(next(keys), (features, hidden), features)
        self.cell_query = uniform(next(keys), (queries, hidden), queries)
        self.cell_energy = uniform(next(keys), (hidden,), hidden)
        outputs = width + hidden + contexts
        pre_output = uniform(next(keys), (outputs, hidden), outputs)
        self.pre_output = pre_output if as_code else None
        last = hidden if as_code else outputs
        self.output = uniform(next(keys), (last, symbols), last)

    def logits(
        self, batch: Batch, noise: Dropout | None = None
    ) -> Float[Array, "batch target symbols"]:
        """Return the scores of every next token under teacher forcing."""
        assert batch.world is not None
        words, cells, state = self._encode(batch.source, batch.world, noise)
        before = batch.before.T
        embedded = embed_previous(self.target_embedding, before)
        embedded = drop(noise, "target embedding", embedded, batch_axis=1)
        weights = self._weights(words, cells)

        def advance(
            apply: late_weights.Apply, constants: Constants, state: State, from_token: Array
        ) -> tuple[State, tuple[Array, Array]]:
            state, found = self._advance(apply, constants, state, from_token)
            return state, (found.hidden, found.context)

        constants, from_tokens = self._constants(words, cells), self._to_gates(embedded)
        found = late_weights.scan(advance, weights, constants, state, from_tokens)
        return self._scores(embedded, *found).swapaxes(0, 1)

    def start(
        self, source: Int[Array, "batch source"], world: Integer[Array, "batch row column channel"]
    ) -> DecoderState:
        """Encode commands and worlds; the state before the first action."""
        words, cells, state = self._encode(source, world, None)
        return DecoderState(state, words, cells, jnp.zeros(cells.keys.shape[:2], jnp.float32))

    def step(
        self, state: DecoderState, token: Int[Array, " batch"]
    ) -> tuple[DecoderState, Float[Array, "batch symbols"]]:
        """Take the previous token (PAD before the first) in; return the scores of the next."""
        apply = late_weights.applied(self._weights(state.words, state.cells))
        embedded = embed_previous(self.target_embedding, token)
        constants = self._constants(state.words, state.cells)
        from_token = embed_previous(self._to_gates(self.target_embedding), token)
        after, found = self._advance(apply, constants, state.state, from_token)
        scores = self._scores(embedded, found.hidden, found.context)
        return state._replace(state=after, attended=found.attended), scores

    @property
    def _is_code(self) -> bool:
        return self.config.variant == "code"

    def _encode(
        self, source: Array, world: Array, noise: Dropout | None
    ) -> tuple[Seen, Seen, State]:
        """Return what attention reads of the words and of the cells, and the first state."""
        source = with_start(source, self.encoder.embedding)
        outputs, final = self.encoder(LSTM, source, noise)
        read, last = summed(outputs), summed(final[0])
        features = self.world_encoder(world)
        features = jax.nn.relu(drop(self._quieter(noise), "cells", features))
        words = self._seen(read, self.word_key)._replace(is_word=source != PAD)
        cells = self._seen(features, self.cell_key)
        begin = last @ self.bridge + self.bridge_bias
        begin = jnp.tanh(begin) if self._is_code else begin
        return words, cells, (begin, begin)

    def _quieter(self, noise: Dropout | None) -> Dropout | None:
        """Return the noise at the rate that features of cells have, if it has any."""
        if noise is None:
            return None
        return replace(noise, rate=jnp.where(noise.rate > 0, self.config.world_dropout, 0))

    def _seen(self, rows: Array, key: Array) -> Seen:
        keys = times(rows, key)
        return Seen(exponentials(keys), keys if self._is_code else rows)

    def _weights(self, words: Seen, cells: Seen) -> dict[str, Array]:
        """Return what the decoder multiplies by at each step, by the name `_advance` calls it."""
        hidden, width = self.config.hidden, self.target_embedding.shape[1]
        asks = self.cell_query if self.condition is None else self.condition
        weights = {
            "state": jnp.concatenate([self.word_query, asks[:hidden]], axis=1),
            "words": words.values,
            "found words": asks[hidden:],
            "cells": cells.values,
            "gates": jnp.concatenate([self.input_to_gates[width:], self.state_to_gates]),
        }
        return weights if self.condition is None else weights | {"condition": self.cell_query}

    def _constants(self, words: Seen, cells: Seen) -> Constants:
        energies = self.word_energy, self.cell_energy
        keys = words.keys, words.is_word, cells.keys
        return Constants(*keys, *energies, self.condition_bias)

    def _to_gates(self, embedded: Float[Array, "*rows embedding"]) -> Float[Array, "*rows gates"]:
        """Return what tokens alone make of the gates, biases included."""
        weight = self.input_to_gates[: embedded.shape[-1]]
        return times(embedded, weight) + self.input_bias + self.state_bias

    def _advance(
        self, apply: late_weights.Apply, known: Constants, state: State, from_token: Array
    ) -> tuple[State, Step]:
        """Return the state after a token, and what it was made from."""
        ask_words, ask_cells = jnp.split(apply("state", state[0]), 2, axis=1)
        read = attend(ask_words, known.word_keys, known.word_energy, known.is_word)
        found = apply("words", read)
        ask_cells = ask_cells + apply("found words", found)
        if known.condition_bias is not None:
            ask_cells = apply("condition", jnp.tanh(ask_cells + known.condition_bias))
        looked = attend(ask_cells, known.cell_keys, known.cell_energy)
        context = jnp.concatenate([found, apply("cells", looked)], axis=1)
        gates = apply("gates", jnp.concatenate([context, state[0]], axis=1))
        after = LSTM.step(state, from_token, gates)
        return after, Step(after[0], context, looked)

    def _scores(self, *features: Float[Array, "*rows _"]) -> Float[Array, "*rows symbols"]:
        """Return the scores of the symbols: of the embedding, the hidden vector and the contexts.

        The start symbol is scored as every other, though it never comes; its score is made part of
        that of PAD, which never comes either: what is left has the same probabilities.
        """
        weight = self.output if self.pre_output is None else self.pre_output @ self.output
        ends = np.cumsum([part.shape[-1] for part in features])[:-1].tolist()
        parts = zip(features, jnp.split(weight, ends), strict=True)
        scores = sum((times(part, own) for part, own in parts), jnp.zeros((), jnp.float32))
        never = jnp.logaddexp(scores[..., PAD], scores[..., -1])
        return scores[..., :-1].at[..., PAD].set(never)
