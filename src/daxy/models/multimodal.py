"""The multimodal encoder-decoder of Ruis et al. (2020), which sees the world a command is said in.

A bidirectional LSTM reads the command and a convolutional network the world. An LSTM writes the
actions; before each it attends to the words and then, knowing what it found there, to the cells
(appendix D). `variant` chooses between the authors' code, which made their figures, and their text.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Integer, PRNGKeyArray

from daxy.core.vocabulary import PAD
from daxy.kernels import deferred_weight_grad
from daxy.models.api import Batch, Sizes
from daxy.models.configs.multimodal import Config
from daxy.models.layers.attention import AttentionKeys, attend
from daxy.models.layers.cells import LSTM, State
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.embedding import embed_previous, with_start
from daxy.models.layers.encoder import Encoder, summed
from daxy.models.layers.initial import normal, uniform
from daxy.models.layers.linear import matmul
from daxy.models.layers.recurrence import init_layer
from daxy.models.layers.world import WorldEncoder

PROTOCOL = "ruis2020"
"""Protocol of the paper that the network is from."""


class Attended(NamedTuple):
    """Words of a command, or cells of a world, to attend to."""

    keys: AttentionKeys
    values: Float[Array, "batch position width"]


class Constants(NamedTuple):
    """Arrays that every step of the decoder reads beside the weights."""

    word_keys: AttentionKeys
    cell_keys: AttentionKeys
    word_score_vector: Float[Array, " hidden"]
    cell_score_vector: Float[Array, " hidden"]
    condition_bias: Float[Array, " hidden"] | None


class DecoderState(NamedTuple):
    """The decoder's state between two tokens."""

    state: State
    words: Attended
    cells: Attended
    attention_weights: Float[Array, "batch cell"]
    """Those of the last step to the cells, row after row."""

    @property
    def top(self) -> Float[Array, "batch hidden"]:
        """The hidden vector that the next token is made from."""
        return self.state[0]


class StepOutputs(NamedTuple):
    """Outputs of a step of the decoder."""

    hidden: Float[Array, "batch hidden"]
    context: Float[Array, "batch contexts"]
    """Of the words and of the cells, side by side."""
    attention_weights: Float[Array, "batch cell"]


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
        layer = init_layer(LSTM, width + contexts, hidden, key=next(keys))
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
        self, batch: Batch, dropout: Dropout | None = None
    ) -> Float[Array, "batch target symbols"]:
        """Return the logits of every target token under teacher forcing."""
        assert batch.world is not None
        words, cells, state = self._encode(batch.source, batch.world, dropout)
        embedded = embed_previous(self.target_embedding, batch.decoder_inputs.T)
        embedded = drop(dropout, "target embedding", embedded, batch_axis=1)
        weights = self._weights(words, cells)

        def advance(
            apply: deferred_weight_grad.Apply, constants: Constants, state: State, from_token: Array
        ) -> tuple[State, tuple[Array, Array]]:
            state, outputs = self._advance(apply, constants, state, from_token)
            return state, (outputs.hidden, outputs.context)

        constants, from_tokens = self._constants(words, cells), self._to_gates(embedded)
        outputs = deferred_weight_grad.scan(advance, weights, constants, state, from_tokens)
        return self._output_logits(embedded, *outputs).swapaxes(0, 1)

    def start(
        self, source: Int[Array, "batch source"], world: Integer[Array, "batch row column channel"]
    ) -> DecoderState:
        """Encode commands and worlds; the state before the first action."""
        words, cells, state = self._encode(source, world, None)
        return DecoderState(state, words, cells, jnp.zeros(cells.values.shape[:2], jnp.float32))

    def step(
        self, state: DecoderState, token: Int[Array, " batch"]
    ) -> tuple[DecoderState, Float[Array, "batch symbols"]]:
        """Read the previous token (PAD before the first); return the logits of the next."""
        apply = deferred_weight_grad.undeferred(self._weights(state.words, state.cells))
        embedded = embed_previous(self.target_embedding, token)
        constants = self._constants(state.words, state.cells)
        from_token = embed_previous(self._to_gates(self.target_embedding), token)
        after, outputs = self._advance(apply, constants, state.state, from_token)
        logits = self._output_logits(embedded, outputs.hidden, outputs.context)
        return state._replace(state=after, attention_weights=outputs.attention_weights), logits

    @property
    def _is_code(self) -> bool:
        return self.config.variant == "code"

    def _encode(
        self, source: Array, world: Array, dropout: Dropout | None
    ) -> tuple[Attended, Attended, State]:
        """Return the words and cells to attend to, and the first state."""
        source = with_start(source, self.encoder.embedding)
        outputs, final = self.encoder(LSTM, source, dropout)
        read, last = summed(outputs), summed(final[0])
        features = self.world_encoder(world)
        features = jax.nn.relu(drop(self._world_dropout(dropout), "cells", features))
        words = self._attended(read, self.word_key, source != PAD)
        cells = self._attended(features, self.cell_key)
        start = last @ self.bridge + self.bridge_bias
        start = jnp.tanh(start) if self._is_code else start
        return words, cells, (start, start)

    def _world_dropout(self, dropout: Dropout | None) -> Dropout | None:
        """Return dropout at the rate of cells' features, unless its rate is 0."""
        if dropout is None:
            return None
        return replace(dropout, rate=jnp.where(dropout.rate > 0, self.config.world_dropout, 0))

    def _attended(self, rows: Array, key: Array, is_word: Array | None = None) -> Attended:
        keys = matmul(rows, key)
        return Attended(AttentionKeys.of(keys, is_word), keys if self._is_code else rows)

    def _weights(self, words: Attended, cells: Attended) -> dict[str, Array]:
        """Return the matrices that a step multiplies by, by the names `_advance` uses."""
        hidden, width = self.config.hidden, self.target_embedding.shape[1]
        query = self.cell_query if self.condition is None else self.condition
        weights = {
            "state": jnp.concatenate([self.word_query, query[:hidden]], axis=1),
            "words": words.values,
            "context of words": query[hidden:],
            "cells": cells.values,
            "gates": jnp.concatenate([self.input_to_gates[width:], self.state_to_gates]),
        }
        return weights if self.condition is None else weights | {"condition": self.cell_query}

    def _constants(self, words: Attended, cells: Attended) -> Constants:
        score_vectors = self.word_energy, self.cell_energy
        return Constants(words.keys, cells.keys, *score_vectors, self.condition_bias)

    def _to_gates(self, embedded: Float[Array, "*rows embedding"]) -> Float[Array, "*rows gates"]:
        """Return what embedded tokens add to the gates, biases included."""
        weight = self.input_to_gates[: embedded.shape[-1]]
        return matmul(embedded, weight) + self.input_bias + self.state_bias

    def _advance(
        self, apply: deferred_weight_grad.Apply, known: Constants, state: State, from_token: Array
    ) -> tuple[State, StepOutputs]:
        """Return the state after a token, and the outputs of the step."""
        word_query, cell_query = jnp.split(apply("state", state[0]), 2, axis=1)
        word_weights = attend(word_query, known.word_keys, known.word_score_vector)
        of_words = apply("words", word_weights)
        cell_query = cell_query + apply("context of words", of_words)
        if known.condition_bias is not None:
            cell_query = apply("condition", jnp.tanh(cell_query + known.condition_bias))
        cell_weights = attend(cell_query, known.cell_keys, known.cell_score_vector)
        context = jnp.concatenate([of_words, apply("cells", cell_weights)], axis=1)
        gates = apply("gates", jnp.concatenate([context, state[0]], axis=1))
        after = LSTM.step(state, from_token, gates)
        return after, StepOutputs(after[0], context, cell_weights)

    def _output_logits(self, *features: Float[Array, "*rows _"]) -> Float[Array, "*rows symbols"]:
        """Return the logits of the symbols, from embedding, hidden vector and contexts.

        The start symbol has a logit too, though it is never right. It is added to PAD, which is
        never right either: all other probabilities stay the same.
        """
        weight = self.output if self.pre_output is None else self.pre_output @ self.output
        ends = np.cumsum([part.shape[-1] for part in features])[:-1].tolist()
        pairs = zip(features, jnp.split(weight, ends), strict=True)
        scores = sum((matmul(*pair) for pair in pairs), jnp.zeros((), jnp.float32))
        wrong = jnp.logaddexp(scores[..., PAD], scores[..., -1])
        return scores[..., :-1].at[..., PAD].set(wrong)
