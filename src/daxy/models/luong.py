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
count. What his paper leaves open is in docs/andreas2020.md, and `daxy reproduce andreas2020/scan`
measures the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from daxy.core.settings import check_positive
from daxy.core.vocabulary import END, PAD
from daxy.models._model import Batch, Sizes
from daxy.models.layers import late_weights
from daxy.models.layers.cells import State, cell
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.embedding import embed_previous, with_start
from daxy.models.layers.encoder import Encoder, summed
from daxy.models.layers.initial import normal, uniform
from daxy.models.layers.linear import times
from daxy.models.layers.recurrence import drawn

LSTM = cell("lstm")
LEAST = 1e-7
"""The author adds it to what can be copied, of which the logarithm is taken."""

PROTOCOL = "andreas2020"
"""Protocol of the paper that the network is from."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """An encoder-decoder with input feeding; every field is a flag of `daxy train`."""

    hidden: int = 512
    """Hidden size of the decoder, and of the encoder in each direction."""
    embedding: int = 64
    """Width of an embedding."""
    copy: bool = True
    """Let the decoder copy the source's end token."""

    def __post_init__(self) -> None:
        check_positive(self, "hidden", "embedding")


class Seen(NamedTuple):
    """What attention reads of one batch of sources."""

    keys: Float[Array, "batch hidden source"]
    values: Float[Array, "batch source hidden"]
    is_token: Bool[Array, "batch source"]
    is_end: Bool[Array, "batch source"]

    def ending(self, attended: Float[Array, "*time batch source"]) -> Float[Array, "*time batch"]:
        """Return how much of some attention is on a source's end."""
        return jnp.where(self.is_end, attended, 0).sum(axis=-1)


class Constants(NamedTuple):
    """What every step of the decoder reads beside the weights."""

    is_token: Bool[Array, "batch source"]
    gates_bias: Float[Array, " gates"]
    combined_bias: Float[Array, " hidden"]


class Carry(NamedTuple):
    """What one step of the decoder leaves to the next."""

    state: State
    fed: Float[Array, "batch hidden"]
    """What the last token was decided by."""


class Masks(NamedTuple):
    """What dropout multiplies the decoder's values by, time first; None for nothing."""

    fed: Float[Array, "*time batch hidden"] | None
    combined: Float[Array, "*time batch hidden"] | None


class DecoderState(NamedTuple):
    """Where a decoder stands between two tokens."""

    carry: Carry
    seen: Seen
    attended: Float[Array, "batch source"]
    """How much the last step attended to each word; the first is the symbol before them."""

    @property
    def top(self) -> Float[Array, "batch hidden"]:
        """The hidden vector that the next token is made from."""
        return self.carry.fed


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
        layer = drawn(LSTM, config.embedding + hidden, hidden, key=next(keys))
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
        self, batch: Batch, noise: Dropout | None = None
    ) -> Float[Array, "batch target symbols"]:
        """Return the scores of every next token under teacher forcing."""
        seen, carry = self._encode(batch.source, noise)
        before = batch.before.T
        embedded = embed_previous(self.target_embedding, before)
        embedded = drop(noise, "target embedding", embedded, batch_axis=1)

        def advance(
            apply: late_weights.Apply,
            known: Constants,
            carry: Carry,
            here: tuple[Array, Masks],
        ) -> tuple[Carry, tuple[Array, Array]]:
            after, attended = self._advance(apply, known, carry, *here)
            return after, (after.fed, attended)

        inputs = embedded, self._masks(before.shape, noise)
        known = self._constants(seen)
        found = late_weights.scan(advance, self._weights(seen), known, carry, inputs)
        combined, attended = found
        return self._scores(combined, seen.ending(attended)).swapaxes(0, 1)

    def start(self, source: Int[Array, "batch source"]) -> DecoderState:
        """Encode the sources; the state before the first target token."""
        seen, carry = self._encode(source, None)
        return DecoderState(carry, seen, jnp.zeros(seen.is_token.shape, jnp.float32))

    def step(
        self, state: DecoderState, token: Int[Array, " batch"]
    ) -> tuple[DecoderState, Float[Array, "batch symbols"]]:
        """Take the previous token (PAD before the first) in; return the scores of the next."""
        apply = late_weights.applied(self._weights(state.seen))
        embedded = embed_previous(self.target_embedding, token)
        known, quiet = self._constants(state.seen), Masks(None, None)
        carry, attended = self._advance(apply, known, state.carry, embedded, quiet)
        scores = self._scores(carry.fed, state.seen.ending(attended))
        return state._replace(carry=carry, attended=attended), scores

    def _encode(
        self, source: Int[Array, "batch source"], noise: Dropout | None
    ) -> tuple[Seen, Carry]:
        """Return what attention reads of the sources, and what the first step goes on from."""
        source = with_start(source, self.encoder.embedding)
        outputs, (hidden, memory) = self.encoder(LSTM, source, noise)
        values = times(outputs, self.read) + self.read_bias
        keys = times(values, self.key) + self.key_bias
        state = summed(hidden), summed(memory)
        seen = Seen(keys.swapaxes(1, 2), values, source != PAD, source == END)
        return seen, Carry(state, jnp.zeros_like(state[0]))

    def _masks(self, shape: tuple[int, ...], noise: Dropout | None) -> Masks:
        """Return the masks of every step, for targets of shape [time, batch]."""
        if noise is None:
            return Masks(None, None)
        ones = jnp.ones((*shape, self.config.hidden), jnp.float32)
        return Masks(*(noise(place, ones, batch_axis=1) for place in ("fed", "combined")))

    def _weights(self, seen: Seen) -> dict[str, Array]:
        """Return what the decoder multiplies by at each step, by the name `_advance` calls it."""
        return {
            "gates": jnp.concatenate([self.input_to_gates, self.state_to_gates]),
            "keys": seen.keys,
            "values": seen.values,
            "combine": self.combine,
        }

    def _constants(self, seen: Seen) -> Constants:
        return Constants(seen.is_token, self.input_bias + self.state_bias, self.combined_bias)

    def _advance(
        self,
        apply: late_weights.Apply,
        known: Constants,
        carry: Carry,
        embedded: Float[Array, "batch embedding"],
        masks: Masks,
    ) -> tuple[Carry, Float[Array, "batch source"]]:
        """Return what a token leaves to the next step, and how much it attended to each word."""
        (hidden, _), fed = carry
        fed = fed if masks.fed is None else fed * masks.fed
        gates = apply("gates", jnp.concatenate([embedded, fed, hidden], axis=1))
        state = LSTM.step(carry.state, gates, jnp.broadcast_to(known.gates_bias, gates.shape))
        attended = jax.nn.softmax(apply("keys", state[0]), axis=1, where=known.is_token)
        both = jnp.concatenate([state[0], apply("values", attended)], axis=1)
        combined = apply("combine", both) + known.combined_bias
        combined = combined if masks.combined is None else combined * masks.combined
        return Carry(state, combined), attended

    def _scores(
        self, combined: Float[Array, "*rows hidden"], ending: Float[Array, " *rows"]
    ) -> Float[Array, "*rows symbols"]:
        """Return the scores of the symbols, of which `ending` is attended to at a source's end.

        With copying they are logarithms of probabilities. What copies a word, or is the symbol for
        copying itself, is made part of PAD: none of these ever comes.
        """
        scores = times(combined, self.output) + self.output_bias
        if not self.config.copy:
            return scores
        scores = jax.nn.log_softmax(scores, axis=-1)
        said, copied = scores[..., :-1], scores[..., -1]
        not_copied = jax.nn.logsumexp(said, axis=-1)
        said += not_copied[..., None]
        ended = copied + jnp.log(ending + LEAST)
        never = copied + jnp.logaddexp(jnp.log(jnp.maximum(1 - ending, LEAST)), not_copied)
        said = said.at[..., END].set(jnp.logaddexp(said[..., END], ended))
        return said.at[..., PAD].set(jnp.logaddexp(said[..., PAD], never))
