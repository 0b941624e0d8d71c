"""The recurrent encoder-decoders of Bastings et al. (2018), after Cho and Bahdanau.

A bidirectional encoder reads the source; its final states pass through a bridge, tanh(Linear), into
a decoder that sees the previous target token and, with attention, a context: a weighted sum of the
encoder's outputs. `dependency=False` (their -Dep) takes the previous token away.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from daxy.core.vocabulary import PAD
from daxy.kernels import deferred_weight_grad
from daxy.models.api import Batch, Sizes
from daxy.models.configs.seq2seq import Config
from daxy.models.layers.attention import AttentionKeys, attend
from daxy.models.layers.cells import RNNCell, State, cell
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.embedding import embed
from daxy.models.layers.encoder import Encoder
from daxy.models.layers.initial import normal, uniform
from daxy.models.layers.linear import matmul


class DecoderState(NamedTuple):
    """The decoder's state between two tokens."""

    state: State
    keys: AttentionKeys | None
    values: Float[Array, "batch source gates_and_readout"] | None
    """The encoder's outputs, already multiplied by the weights of a context vector."""
    attention_weights: Float[Array, "batch source"] | None
    """Those of the last step; None without attention."""

    @property
    def top(self) -> Float[Array, "batch hidden"]:
        """The hidden vector that the next token is made from."""
        return self.state[0]


Constants: TypeAlias = tuple[
    AttentionKeys | None, Float[Array, " hidden"] | None, Float[Array, " gates"]
]
"""Arrays that every step of the decoder reads: keys, score vector v, bias of the state."""


class Model(eqx.Module):
    """See the module; parameters are stored [incoming, outgoing], gates in PyTorch's order."""

    config: Config = eqx.field(static=True)
    encoder: Encoder
    target_embedding: Float[Array, "target_symbols embedding"] | None
    bridge: tuple[Float[Array, "twice_hidden hidden"], ...]
    bridge_bias: tuple[Float[Array, " hidden"], ...]
    embedding_to_gates: Float[Array, "embedding gates"] | None
    context_to_gates: Float[Array, "twice_hidden gates"] | None
    gates_bias: Float[Array, " gates"]
    state_to_gates: Float[Array, "hidden gates"]
    state_bias: Float[Array, " gates"]
    query: Float[Array, "hidden hidden"] | None
    key: Float[Array, "twice_hidden hidden"] | None
    energy: Float[Array, " hidden"] | None
    """The score vector v of attention."""
    pre_output: Float[Array, "features hidden"] | None
    output: Float[Array, "hidden target_symbols"]

    def __init__(self, config: Config, sizes: Sizes, *, key: PRNGKeyArray) -> None:
        keys = iter(jax.random.split(key, 16))
        kind, hidden, twice = cell(config.cell), config.hidden, 2 * config.hidden
        gates = kind.gates * hidden
        attention, dependency = config.attention, config.dependency
        draw = partial(uniform, fan=hidden)
        self.config = config
        self.encoder = Encoder(kind, sizes.source_symbols, config.embedding, hidden, key=next(keys))
        embedding_shape = (sizes.target_symbols, config.embedding)
        self.target_embedding = normal(next(keys), embedding_shape) if dependency else None
        parts = range(kind.parts)
        self.bridge = tuple(uniform(next(keys), (twice, hidden), twice) for _ in parts)
        self.bridge_bias = tuple(uniform(next(keys), (hidden,), twice) for _ in parts)
        into_gates = draw(next(keys), (config.embedding, gates))
        self.embedding_to_gates = into_gates if dependency else None
        self.context_to_gates = draw(next(keys), (twice, gates)) if attention else None
        self.gates_bias = draw(next(keys), (gates,))
        self.state_to_gates = draw(next(keys), (hidden, gates))
        self.state_bias = draw(next(keys), (gates,))
        self.query = uniform(next(keys), (hidden, hidden), hidden) if attention else None
        self.key = uniform(next(keys), (twice, hidden), twice) if attention else None
        self.energy = uniform(next(keys), (hidden,), hidden) if attention else None
        features = dependency * config.embedding + hidden + twice
        self.pre_output = uniform(next(keys), (features, hidden), features) if attention else None
        self.output = uniform(next(keys), (hidden, sizes.target_symbols), hidden)

    def logits(
        self, batch: Batch, dropout: Dropout | None = None
    ) -> Float[Array, "batch target symbols"]:
        """Return the logits of every target token under teacher forcing."""
        outputs, state = self._encode(batch.source, dropout)
        embedded = self._embed(batch.decoder_inputs, dropout)
        # A linear map of a weighted sum is the weighted sum of the mapped rows: map the fewer rows.
        early = batch.source.shape[1] <= batch.target.shape[1]
        weights: dict[str, Array] = {"state": self._state_weight()}
        if self.context_to_gates is not None and early:
            weights["values"] = matmul(outputs, self.context_to_gates)
        elif self.context_to_gates is not None:
            weights |= {"values": outputs, "context": self.context_to_gates}

        def advance(
            apply: deferred_weight_grad.Apply, constants: Constants, state: State, gates: Array
        ) -> tuple[State, tuple[Array, Array | None]]:
            keys, score_vector, bias = constants
            weights, from_state = self._attend(apply("state", state[0]), keys, score_vector)
            if weights is not None:
                summed = apply("values", weights)
                gates = gates + (summed if early else apply("context", summed))
            state = self._cell.step(state, gates, from_state + bias)
            return state, (state[0], weights)

        constants = (self._keys(outputs, batch.source), self.energy, self.state_bias)
        time_first = None if embedded is None else embedded.swapaxes(0, 1)
        gates = self._gates(time_first, batch.target.T.shape)
        hidden, attention = deferred_weight_grad.scan(advance, weights, constants, state, gates)
        hidden = hidden.swapaxes(0, 1)
        if attention is None:
            return matmul(hidden, self.output)
        contexts = jnp.einsum("bts,bsv->btv", attention.swapaxes(0, 1), outputs)
        features = [hidden, contexts]
        features = features if embedded is None else [embedded, *features]
        dropout = dropout if self.config.pre_output_dropout else None
        dropped = drop(dropout, "pre-output", jnp.concatenate(features, axis=-1))
        first, second = self._readout()
        return self._last(matmul(dropped, first), second)

    def start(self, source: Int[Array, "batch source"]) -> DecoderState:
        """Encode the sources; the state before the first target token."""
        outputs, state = self._encode(source, None)
        if self.context_to_gates is None:
            return DecoderState(state, None, None, None)
        (readout, _), twice = self._readout(), 2 * self.config.hidden
        weight = jnp.concatenate([self.context_to_gates, readout[-twice:]], axis=1)
        zeros = jnp.zeros(source.shape, jnp.float32)
        return DecoderState(state, self._keys(outputs, source), matmul(outputs, weight), zeros)

    def step(
        self, state: DecoderState, token: Int[Array, " batch"]
    ) -> tuple[DecoderState, Float[Array, "batch symbols"]]:
        """Read the previous token (PAD before the first); return the logits of the next."""
        embedded = self._embed(token, None)
        gates = self._gates(embedded, token.shape)
        products = state.state[0] @ self._state_weight()
        weights, from_state = self._attend(products, state.keys, self.energy)
        from_state = from_state + self.state_bias
        if weights is None or state.values is None:
            after = self._cell.step(state.state, gates, from_state)
            return state._replace(state=after), after[0] @ self.output
        summed = jnp.einsum("bs,bsv->bv", weights, state.values)
        context_gates, context_readout = jnp.split(summed, [self.gates_bias.shape[0]], axis=1)
        after = self._cell.step(state.state, gates + context_gates, from_state)
        features = after[0] if embedded is None else jnp.concatenate([embedded, after[0]], axis=1)
        (first, second), twice = self._readout(), 2 * self.config.hidden
        read = features @ first[:-twice] + context_readout
        return state._replace(state=after, attention_weights=weights), self._last(read, second)

    @property
    def _cell(self) -> RNNCell:
        return cell(self.config.cell)

    def _encode(
        self, source: Int[Array, "batch source"], dropout: Dropout | None
    ) -> tuple[Float[Array, "batch source twice_hidden"], State]:
        """Return the encoder's outputs and, through the bridge, the decoder's first state."""
        outputs, final = self.encoder(self._cell, source, dropout)
        bridges = zip(final, self.bridge, self.bridge_bias, strict=True)
        return outputs, tuple(jnp.tanh(part @ weight + bias) for part, weight, bias in bridges)

    def _embed(
        self, tokens: Int[Array, "*shape"], dropout: Dropout | None
    ) -> Float[Array, "*shape embedding"] | None:
        if self.target_embedding is None:
            return None
        return drop(dropout, "target embedding", embed(self.target_embedding, tokens))

    def _gates(
        self, embedded: Float[Array, "*shape embedding"] | None, shape: tuple[int, ...]
    ) -> Float[Array, "*shape gates"]:
        """Return what the previous token adds to the gates: only the bias under -Dep."""
        if embedded is None or self.embedding_to_gates is None:
            return jnp.broadcast_to(self.gates_bias, (*shape, *self.gates_bias.shape))
        return matmul(embedded, self.embedding_to_gates) + self.gates_bias

    def _keys(self, outputs: Array, source: Array) -> AttentionKeys | None:
        return (
            None if self.key is None else AttentionKeys.of(matmul(outputs, self.key), source != PAD)
        )

    def _state_weight(self) -> Float[Array, "hidden products"]:
        """Return the weights of the hidden state at each step: Wq beside that of the gates."""
        if self.query is None:
            return self.state_to_gates
        return jnp.concatenate([self.query, self.state_to_gates], axis=1)

    def _attend(
        self,
        products: Float[Array, "batch products"],
        keys: AttentionKeys | None,
        score_vector: Array | None,
    ) -> tuple[Float[Array, "batch source"] | None, Float[Array, "batch gates"]]:
        """Return the attention weights and the state's share of the gates."""
        if keys is None or score_vector is None:
            return None, products
        query, from_state = jnp.split(products, [self.config.hidden], axis=1)
        return attend(query, keys, score_vector), from_state

    def _readout(
        self,
    ) -> tuple[Float[Array, "features readout"], Float[Array, "readout symbols"] | None]:
        """Return the weights from [embedding ; state ; context] to the logits: one or two matrices.

        Pre-output and output are two linear maps in a row: with fewer symbols than units, their
        product is smaller than the two.
        """
        assert self.pre_output is not None
        if self.output.shape[1] <= self.output.shape[0]:
            return self.pre_output @ self.output, None
        return self.pre_output, self.output

    @staticmethod
    def _last(
        values: Float[Array, "*rows readout"], last: Array | None
    ) -> Float[Array, "*rows symbols"]:
        return values if last is None else matmul(values, last)
