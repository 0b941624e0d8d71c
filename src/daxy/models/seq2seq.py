"""The recurrent encoder-decoders of Bastings et al. (2018), after Cho and Bahdanau.

A bidirectional encoder reads the source; its final states pass through a bridge, tanh(Linear), into
a decoder that sees the previous target token and, with attention, a context: a weighted sum of the
encoder's outputs. `dependency=False` (their -Dep) takes the previous token away.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from daxy.core.errors import require
from daxy.core.settings import check_positive, later
from daxy.core.vocabulary import PAD
from daxy.models._model import Batch, Sizes
from daxy.models.layers import late_weights
from daxy.models.layers.attention import attend, exponentials
from daxy.models.layers.cells import Cell, CellName, State, cell
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.embedding import embed
from daxy.models.layers.encoder import Encoder
from daxy.models.layers.initial import normal, uniform
from daxy.models.layers.linear import times


@dataclass(frozen=True, kw_only=True)
class Config:
    """A recurrent encoder-decoder; every field is a flag of `daxy train`."""

    cell: CellName = "gru"
    """Recurrent unit of the encoder and of the decoder."""
    hidden: int = 256
    """Hidden size of the decoder, and of the encoder in each direction."""
    embedding: int = 64
    """Width of the embeddings of source and target tokens."""
    attention: bool = True
    """Attention of the decoder over the encoder's outputs (+Attn)."""
    dependency: bool = True
    """Output dependency: the decoder reads the previous target token (without: -Dep)."""
    pre_output_dropout: bool = later(default=True)
    """Apply dropout to the input of the pre-output layer too, as in the authors' code."""

    def __post_init__(self) -> None:
        cell(self.cell)
        check_positive(self, "hidden", "embedding")
        require(
            self.attention or self.dependency,
            "without attention and without output dependency a decoder has no input at all",
        )


class Seen(NamedTuple):
    """What every step of the decoder reads of one batch of sources."""

    keys: Float[Array, "batch source hidden"]
    """The `exponentials` of the encoder's outputs times Wm."""
    is_token: Bool[Array, "batch source"]


class DecoderState(NamedTuple):
    """Where a decoder stands between two tokens."""

    state: State
    seen: Seen | None
    values: Float[Array, "batch source gates_and_onward"] | None
    """The encoder's outputs, times what a context vector meets."""
    attended: Float[Array, "batch source"] | None
    """How much the last step attended to each word; None without attention."""

    @property
    def top(self) -> Float[Array, "batch hidden"]:
        """The hidden vector that the next token is made from."""
        return self.state[0]


Constants: TypeAlias = tuple[Seen | None, Float[Array, " hidden"] | None, Float[Array, " gates"]]
"""What every step of the decoder reads: the source, the energy vector v, the state's bias."""


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
        self, batch: Batch, noise: Dropout | None = None
    ) -> Float[Array, "batch target symbols"]:
        """Return the scores of every next token under teacher forcing."""
        outputs, state = self._encode(batch.source, noise)
        embedded = self._embed(batch.before, noise)
        # A weighted sum commutes with a linear map: the fewer rows the map meets, the less work.
        early = batch.source.shape[1] <= batch.target.shape[1]
        weights: dict[str, Array] = {"state": self._state_weight()}
        if self.context_to_gates is not None and early:
            weights["values"] = times(outputs, self.context_to_gates)
        elif self.context_to_gates is not None:
            weights |= {"values": outputs, "context": self.context_to_gates}

        def advance(
            apply: late_weights.Apply, constants: Constants, state: State, gates: Array
        ) -> tuple[State, tuple[Array, Array | None]]:
            seen, energy, bias = constants
            weights, from_state = self._attend(apply("state", state[0]), seen, energy)
            if weights is not None:
                summed = apply("values", weights)
                gates = gates + (summed if early else apply("context", summed))
            state = self._cell.step(state, gates, from_state + bias)
            return state, (state[0], weights)

        constants = (self._seen(outputs, batch.source), self.energy, self.state_bias)
        earlier = None if embedded is None else embedded.swapaxes(0, 1)
        gates = self._gates(earlier, batch.target.T.shape)
        hidden, attended = late_weights.scan(advance, weights, constants, state, gates)
        hidden = hidden.swapaxes(0, 1)
        if attended is None:
            return times(hidden, self.output)
        contexts = jnp.einsum("bts,bsv->btv", attended.swapaxes(0, 1), outputs)
        features = [hidden, contexts]
        features = features if embedded is None else [embedded, *features]
        noise = noise if self.config.pre_output_dropout else None
        dropped = drop(noise, "pre-output", jnp.concatenate(features, axis=-1))
        onward, last = self._readout()
        return self._last(times(dropped, onward), last)

    def start(self, source: Int[Array, "batch source"]) -> DecoderState:
        """Encode the sources; the state before the first target token."""
        outputs, state = self._encode(source, None)
        if self.context_to_gates is None:
            return DecoderState(state, None, None, None)
        (onward, _), twice = self._readout(), 2 * self.config.hidden
        weight = jnp.concatenate([self.context_to_gates, onward[-twice:]], axis=1)
        nothing = jnp.zeros(source.shape, jnp.float32)
        return DecoderState(state, self._seen(outputs, source), times(outputs, weight), nothing)

    def step(
        self, state: DecoderState, token: Int[Array, " batch"]
    ) -> tuple[DecoderState, Float[Array, "batch symbols"]]:
        """Take the previous token (PAD before the first) in; return the scores of the next."""
        embedded = self._embed(token, None)
        gates = self._gates(embedded, token.shape)
        products = state.state[0] @ self._state_weight()
        weights, from_state = self._attend(products, state.seen, self.energy)
        from_state = from_state + self.state_bias
        if weights is None or state.values is None:
            after = self._cell.step(state.state, gates, from_state)
            return state._replace(state=after), after[0] @ self.output
        summed = jnp.einsum("bs,bsv->bv", weights, state.values)
        context_gates, context_onward = jnp.split(summed, [self.gates_bias.shape[0]], axis=1)
        after = self._cell.step(state.state, gates + context_gates, from_state)
        features = after[0] if embedded is None else jnp.concatenate([embedded, after[0]], axis=1)
        (onward, last), twice = self._readout(), 2 * self.config.hidden
        found = features @ onward[:-twice] + context_onward
        return state._replace(state=after, attended=weights), self._last(found, last)

    @property
    def _cell(self) -> Cell:
        return cell(self.config.cell)

    def _encode(
        self, source: Int[Array, "batch source"], noise: Dropout | None
    ) -> tuple[Float[Array, "batch source twice_hidden"], State]:
        """Return the encoder's outputs and, through the bridge, the decoder's first state."""
        outputs, final = self.encoder(self._cell, source, noise)
        bridges = zip(final, self.bridge, self.bridge_bias, strict=True)
        return outputs, tuple(jnp.tanh(part @ weight + bias) for part, weight, bias in bridges)

    def _embed(
        self, tokens: Int[Array, "*shape"], noise: Dropout | None
    ) -> Float[Array, "*shape embedding"] | None:
        if self.target_embedding is None:
            return None
        return drop(noise, "target embedding", embed(self.target_embedding, tokens))

    def _gates(
        self, embedded: Float[Array, "*shape embedding"] | None, shape: tuple[int, ...]
    ) -> Float[Array, "*shape gates"]:
        """Return what the previous token adds to the gates: only the bias under -Dep."""
        if embedded is None or self.embedding_to_gates is None:
            return jnp.broadcast_to(self.gates_bias, (*shape, *self.gates_bias.shape))
        return times(embedded, self.embedding_to_gates) + self.gates_bias

    def _seen(self, outputs: Array, source: Array) -> Seen | None:
        if self.key is None:
            return None
        return Seen(exponentials(times(outputs, self.key)), source != PAD)

    def _state_weight(self) -> Float[Array, "hidden products"]:
        """Return what the hidden state meets at each step: Wq beside the gates' weight."""
        if self.query is None:
            return self.state_to_gates
        return jnp.concatenate([self.query, self.state_to_gates], axis=1)

    def _attend(
        self, products: Float[Array, "batch products"], seen: Seen | None, energy: Array | None
    ) -> tuple[Float[Array, "batch source"] | None, Float[Array, "batch gates"]]:
        """Return the attention weights and the state's share of the gates."""
        if seen is None or energy is None:
            return None, products
        query, from_state = jnp.split(products, [self.config.hidden], axis=1)
        return attend(query, seen.keys, energy, seen.is_token), from_state

    def _readout(
        self,
    ) -> tuple[Float[Array, "features onward"], Float[Array, "onward symbols"] | None]:
        """Return what [embedding ; state ; context] meets, and what that meets, if anything.

        Nothing stands between pre-output and output, two linear maps: where there are fewer symbols
        than units, their product is the smaller one.
        """
        assert self.pre_output is not None
        if self.output.shape[1] <= self.output.shape[0]:
            return self.pre_output @ self.output, None
        return self.pre_output, self.output

    @staticmethod
    def _last(
        found: Float[Array, "*rows onward"], last: Array | None
    ) -> Float[Array, "*rows symbols"]:
        return found if last is None else times(found, last)
