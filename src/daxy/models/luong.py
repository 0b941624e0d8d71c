"""The encoder-decoder of Andreas (2020): attention by products, and input feeding.

A bidirectional LSTM of one layer reads the source. After each step an LSTM's state is multiplied
with what was read to attend to it (Luong et al. 2015, "general" scores); the state and the context
are combined linearly, and what comes of it decides the next token and is fed to the next step
beside that token (section 3.3 there).

It can also copy the end of a source, as far as it attends to it: how likely it is to copy, is the
probability of a symbol of its own. The author's network copies words too, of which SCAN and NACS
have none on both sides; here that counts as never right. Where his encoder goes on over the padding
of a batch, this one stops at a source's end, so that an output does not depend on what else is in
the batch.

His table is of this network with GECA; of SCAN and of NACS:

    daxy train scan/addprim_jump luong --protocol andreas2020 --augment geca \
        --validation-fraction 0.0436
    daxy train nacs/addprim_jump luong --protocol andreas2020 --augment geca \
        --validation-fraction 0.0436

Of these 1,000 new examples are asked for, of at most 38 tokens; each training example counts once.
4,800 steps of Adam, 0.001, are of 64 draws, 0.3 of which are new examples; gradients are clipped to
1, dropout is 0.5, the rate is halved at plateaus of the validation accuracy, and the last weights
count. docs/reference/protocols/andreas2020.md says what his paper leaves open, and
`daxy reproduce andreas2020/scan` measures the table.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from daxy.core.vocabulary import END, PAD
from daxy.kernels import deferred_weight_grad
from daxy.models.api import Batch, Sizes
from daxy.models.configs.luong import Config
from daxy.models.layers.cells import LSTM, State
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.embedding import embed_previous, with_start
from daxy.models.layers.encoder import Encoder, summed
from daxy.models.layers.initial import normal, uniform
from daxy.models.layers.linear import matmul
from daxy.models.layers.recurrence import init_layer

LEAST = 1e-7
"""Added to probabilities of copies before their logarithm, as in the author's code."""

PROTOCOL = "andreas2020"
"""Protocol of the paper that the network is from."""


class EncodedSource(NamedTuple):
    """Keys and values of one batch of sources."""

    keys: Float[Array, "batch hidden source"]
    values: Float[Array, "batch source hidden"]
    is_token: Bool[Array, "batch source"]
    is_end: Bool[Array, "batch source"]

    def weight_of_end(
        self, attention_weights: Float[Array, "*time batch source"]
    ) -> Float[Array, "*time batch"]:
        """Return the attention weight of a source's end."""
        return jnp.where(self.is_end, attention_weights, 0).sum(axis=-1)


class Constants(NamedTuple):
    """Arrays that every step of the decoder reads beside the weights."""

    is_token: Bool[Array, "batch source"]
    gates_bias: Float[Array, " gates"]
    combined_bias: Float[Array, " hidden"]


class Carry(NamedTuple):
    """State of the decoder from one step to the next."""

    state: State
    combined: Float[Array, "batch hidden"]
    """State and context of the last step, combined; input of the next (input feeding)."""


class Masks(NamedTuple):
    """Factors of dropout in the decoder, time first; None without dropout."""

    input_feeding: Float[Array, "*time batch hidden"] | None
    combined: Float[Array, "*time batch hidden"] | None


class DecoderState(NamedTuple):
    """The decoder's state between two tokens."""

    carry: Carry
    encoded: EncodedSource
    attention_weights: Float[Array, "batch source"]
    """Those of the last step; the first is of the symbol before the words."""

    @property
    def top(self) -> Float[Array, "batch hidden"]:
        """The hidden vector that the next token is made from."""
        return self.carry.combined


class Model(eqx.Module):
    """See the module; parameters are stored [incoming, outgoing], gates in PyTorch's order."""

    config: Config = eqx.field(static=True)
    encoder: Encoder
    read: Float[Array, "twice_hidden hidden"]
    read_bias: Float[Array, " hidden"]
    target_embedding: Float[Array, "target_symbols_and_start embedding"]
    input_to_gates: Float[Array, "inputs gates"]
    state_to_gates: Float[Array, "hidden gates"]
    input_bias: Float[Array, " gates"]
    state_bias: Float[Array, " gates"]
    key: Float[Array, "hidden hidden"]
    key_bias: Float[Array, " hidden"]
    combine: Float[Array, "twice_hidden hidden"]
    combined_bias: Float[Array, " hidden"]
    output: Float[Array, "hidden target_symbols_and_copy"]
    output_bias: Float[Array, " target_symbols_and_copy"]

    def __init__(self, config: Config, sizes: Sizes, *, key: PRNGKeyArray) -> None:
        keys = iter(jax.random.split(key, 11))
        hidden, both = config.hidden, 2 * config.hidden
        # The symbol before the first word, and before the first token, is one of its own.
        words, symbols = sizes.source_symbols + 1, sizes.target_symbols
        self.config = config
        self.encoder = Encoder(LSTM, words, config.embedding, hidden, key=next(keys))
        self.read = uniform(next(keys), (both, hidden), both)
        self.read_bias = uniform(next(keys), (hidden,), both)
        self.target_embedding = normal(next(keys), (symbols + 1, config.embedding))
        layer = init_layer(LSTM, config.embedding + hidden, hidden, key=next(keys))
        self.input_to_gates, self.state_to_gates = layer.input_to_gates, layer.state_to_gates
        self.input_bias, self.state_bias = layer.input_bias, layer.state_bias
        self.key = uniform(next(keys), (hidden, hidden), hidden)
        self.key_bias = uniform(next(keys), (hidden,), hidden)
        self.combine = uniform(next(keys), (both, hidden), both)
        self.combined_bias = uniform(next(keys), (hidden,), both)
        scored = symbols + config.copy
        self.output = uniform(next(keys), (hidden, scored), hidden)
        self.output_bias = uniform(next(keys), (scored,), hidden)

    def logits(
        self, batch: Batch, dropout: Dropout | None = None
    ) -> Float[Array, "batch target symbols"]:
        """Return the logits of every target token under teacher forcing."""
        encoded, carry = self._encode(batch.source, dropout)
        tokens = batch.decoder_inputs.T
        embedded = embed_previous(self.target_embedding, tokens)
        embedded = drop(dropout, "target embedding", embedded, batch_axis=1)

        def advance(
            apply: deferred_weight_grad.Apply,
            constants: Constants,
            carry: Carry,
            inputs: tuple[Array, Masks],
        ) -> tuple[Carry, tuple[Array, Array]]:
            after, weights = self._advance(apply, constants, carry, *inputs)
            return after, (after.combined, weights)

        inputs = embedded, self._masks(tokens.shape, dropout)
        arguments = self._weights(encoded), self._constants(encoded), carry, inputs
        combined, weights = deferred_weight_grad.scan(advance, *arguments)
        return self._output_logits(combined, encoded.weight_of_end(weights)).swapaxes(0, 1)

    def start(self, source: Int[Array, "batch source"]) -> DecoderState:
        """Encode the sources; the state before the first target token."""
        encoded, carry = self._encode(source, None)
        return DecoderState(carry, encoded, jnp.zeros(encoded.is_token.shape, jnp.float32))

    def step(
        self, state: DecoderState, token: Int[Array, " batch"]
    ) -> tuple[DecoderState, Float[Array, "batch symbols"]]:
        """Read the previous token (PAD before the first); return the logits of the next."""
        apply = deferred_weight_grad.undeferred(self._weights(state.encoded))
        embedded = embed_previous(self.target_embedding, token)
        constants, no_masks = self._constants(state.encoded), Masks(None, None)
        carry, weights = self._advance(apply, constants, state.carry, embedded, no_masks)
        logits = self._output_logits(carry.combined, state.encoded.weight_of_end(weights))
        return state._replace(carry=carry, attention_weights=weights), logits

    def _encode(
        self, source: Int[Array, "batch source"], dropout: Dropout | None
    ) -> tuple[EncodedSource, Carry]:
        """Return the keys and values of the sources, and the state before the first step."""
        source = with_start(source, self.encoder.embedding)
        outputs, (hidden, memory) = self.encoder(LSTM, source, dropout)
        values = matmul(outputs, self.read) + self.read_bias
        keys = matmul(values, self.key) + self.key_bias
        state = summed(hidden), summed(memory)
        encoded = EncodedSource(keys.swapaxes(1, 2), values, source != PAD, source == END)
        return encoded, Carry(state, jnp.zeros_like(state[0]))

    def _masks(self, shape: tuple[int, ...], dropout: Dropout | None) -> Masks:
        """Return the masks of every step, for targets of shape [time, batch]."""
        if dropout is None:
            return Masks(None, None)
        ones = jnp.ones((*shape, self.config.hidden), jnp.float32)
        return Masks(*(dropout(place, ones, batch_axis=1) for place in ("fed", "combined")))

    def _weights(self, encoded: EncodedSource) -> dict[str, Array]:
        """Return the matrices that a step multiplies by, by the names `_advance` uses."""
        return {
            "gates": jnp.concatenate([self.input_to_gates, self.state_to_gates]),
            "keys": encoded.keys,
            "values": encoded.values,
            "combine": self.combine,
        }

    def _constants(self, encoded: EncodedSource) -> Constants:
        return Constants(encoded.is_token, self.input_bias + self.state_bias, self.combined_bias)

    def _advance(
        self,
        apply: deferred_weight_grad.Apply,
        constants: Constants,
        carry: Carry,
        embedded: Float[Array, "batch embedding"],
        masks: Masks,
    ) -> tuple[Carry, Float[Array, "batch source"]]:
        """Return the state after a token, and the attention weights."""
        (hidden, _), fed = carry
        fed = fed if masks.input_feeding is None else fed * masks.input_feeding
        gates = apply("gates", jnp.concatenate([embedded, fed, hidden], axis=1))
        state = LSTM.step(carry.state, gates, jnp.broadcast_to(constants.gates_bias, gates.shape))
        weights = jax.nn.softmax(apply("keys", state[0]), axis=1, where=constants.is_token)
        both = jnp.concatenate([state[0], apply("values", weights)], axis=1)
        combined = apply("combine", both) + constants.combined_bias
        combined = combined if masks.combined is None else combined * masks.combined
        return Carry(state, combined), weights

    def _output_logits(
        self, combined: Float[Array, "*rows hidden"], weight_of_end: Float[Array, " *rows"]
    ) -> Float[Array, "*rows symbols"]:
        """Return the logits of the symbols, given the attention weight of a source's end.

        With copying they are log-probabilities. Copies of words, and the symbol for copying itself,
        count as PAD: none of these is ever right.
        """
        scores = matmul(combined, self.output) + self.output_bias
        if not self.config.copy:
            return scores
        scores = jax.nn.log_softmax(scores, axis=-1)
        written, copied = scores[..., :-1], scores[..., -1]
        not_copied = jax.nn.logsumexp(written, axis=-1)
        written += not_copied[..., None]
        end = copied + jnp.log(weight_of_end + LEAST)
        wrong = copied + jnp.logaddexp(jnp.log(jnp.maximum(1 - weight_of_end, LEAST)), not_copied)
        written = written.at[..., END].set(jnp.logaddexp(written[..., END], end))
        return written.at[..., PAD].set(jnp.logaddexp(written[..., PAD], wrong))
