"""The Transformer encoder-decoder, with the choices of Csordás, Irie & Schmidhuber (2021).

`--positions` and `--embedding-scaling` name their variants:

    --positions absolute                             no scaling
    --positions absolute --embedding-scaling up      token embedding up-scaling
    --positions absolute --embedding-scaling down    position embedding down-scaling
    --positions relative                             relative
    ... --shared-layers                              universal

As in their code, a symbol of its own stands before a source, the decoder starts from END, and
absolute variants have dropout after the positions too. Initial embeddings are N(0, 1) without
scaling, Kaiming-normal for `down`, and Xavier-uniform for all others. Rotary positions, and norms
before the sublayers, are not in the paper.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from daxy.core.vocabulary import END, PAD
from daxy.models.api import Batch, Sizes
from daxy.models.configs.transformer import Config
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.embedding import embed, with_start
from daxy.models.layers.initial import uniform
from daxy.models.layers.linear import matmul
from daxy.models.layers.transformer import (
    KeyValues,
    Layer,
    Norm,
    init_embedding,
    init_layers,
    with_positions,
)

PROTOCOL = "csordas2021"
"""Protocol of the paper that the network is from."""


class Source(NamedTuple):
    """Keys and values of the sources for each layer of the decoder."""

    layers: tuple[KeyValues, ...]
    is_token: Bool[Array, "batch 1 source"]


class DecoderState(NamedTuple):
    """The decoder's state between two tokens."""

    caches: tuple[KeyValues, ...]
    """Keys and values of the tokens so far, of each layer."""
    source: Source
    time: Int[Array, " batch"]
    """Tokens so far."""
    top: Float[Array, "batch hidden"]
    """The hidden vector that the next token is made from."""
    attention_weights: Float[Array, "batch source"]
    """Those of the last step in the last layer, averaged over the heads."""


class Model(eqx.Module):
    """See the module; parameters are stored [incoming, outgoing]."""

    needs_max_length: ClassVar[bool] = True

    config: Config = eqx.field(static=True)
    source_embedding: Float[Array, "source_symbols_and_start hidden"]
    target_embedding: Float[Array, "target_symbols hidden"]
    encoder: tuple[Layer, ...]
    decoder: tuple[Layer, ...]
    norms: tuple[Norm, Norm] | None
    """After the encoder and after the decoder, where norms come before sublayers."""
    output: Float[Array, "hidden target_symbols"] | None
    """None where it is the target embedding."""
    output_bias: Float[Array, " target_symbols"]

    def __init__(self, config: Config, sizes: Sizes, *, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 5)
        hidden, symbols = config.hidden, sizes.target_symbols
        self.config = config
        self.source_embedding = init_embedding(config, sizes.source_symbols + 1, key=keys[0])
        self.target_embedding = init_embedding(config, symbols, key=keys[1])
        self.encoder = init_layers(config, has_cross=False, key=keys[2])
        self.decoder = init_layers(config, has_cross=True, key=keys[3])
        self.norms = (Norm(hidden), Norm(hidden)) if config.norm == "pre" else None
        fan = (hidden + symbols) / 6
        self.output = None if config.tied_output else uniform(keys[4], (hidden, symbols), fan)
        self.output_bias = jnp.zeros(symbols, jnp.float32)

    def logits(
        self, batch: Batch, dropout: Dropout | None = None
    ) -> Float[Array, "batch target symbols"]:
        """Return the logits of every target token under teacher forcing."""
        source = self._encode(batch.source, dropout)
        rows = self._embed_target(batch.decoder_inputs, 0, dropout)
        count = rows.shape[1]
        is_earlier = jnp.tril(jnp.ones((1, count, count), bool))
        for number, encoded in enumerate(source.layers):
            rows, _ = self._layer(self.decoder, number)(
                rows,
                is_earlier,
                (encoded, source.is_token),
                is_causal=True,
                dropout=dropout,
                place=f"decoder {number}",
            )
        return self._output_logits(rows)

    def start(self, source: Int[Array, "batch source"], max_length: int) -> DecoderState:
        """Encode the sources; the state before the first of at most `max_length` target tokens."""
        config, batch = self.config, len(source)
        width = config.hidden // config.heads
        encoded = self._encode(source, None)
        room = jnp.zeros((batch, config.heads, max_length, width), jnp.float32)
        return DecoderState(
            caches=(KeyValues(room, room),) * config.layers,
            source=encoded,
            time=jnp.zeros(batch, jnp.int32),
            top=jnp.zeros((batch, config.hidden), jnp.float32),
            attention_weights=jnp.zeros(encoded.is_token.shape[::2], jnp.float32),
        )

    def step(
        self, state: DecoderState, token: Int[Array, " batch"]
    ) -> tuple[DecoderState, Float[Array, "batch symbols"]]:
        """Read the previous token (PAD before the first); return the logits of the next."""
        row = self._embed_target(token[:, None], state.time, None)
        places = jnp.arange(state.caches[0].keys.shape[2], dtype=jnp.int32)
        is_key = (places <= state.time[:, None])[:, None]
        caches, weights = list[KeyValues](), None
        for number, encoded in enumerate(state.source.layers):
            layer, source = self._layer(self.decoder, number), (encoded, state.source.is_token)
            row, cache, weights = layer.step(row, state.caches[number], state.time, is_key, source)
            caches.append(cache)
        assert weights is not None
        after = state._replace(
            caches=tuple(caches), time=state.time + 1, top=row[:, 0], attention_weights=weights
        )
        return after, self._output_logits(row)[:, 0]

    def _encode(self, source: Int[Array, "batch source"], dropout: Dropout | None) -> Source:
        """Return the keys and values of the sources for each layer of the decoder."""
        codes = with_start(source, self.source_embedding)
        is_token = (codes != PAD)[:, None]
        rows = self._dropped(embed(self.source_embedding, codes), 0, "source", dropout)
        for number in range(self.config.layers):
            layer, place = self._layer(self.encoder, number), f"encoder {number}"
            rows, _ = layer(rows, is_token, is_causal=False, dropout=dropout, place=place)
        rows = rows if self.norms is None else self.norms[0](rows)
        crosses = [self._layer(self.decoder, n).cross for n in range(self.config.layers)]
        return Source(tuple(own.memory(rows) for own in crosses if own is not None), is_token)

    def _embed_target(
        self,
        tokens: Int[Array, "batch time"],
        first: Int[Array, " batch"] | int,
        dropout: Dropout | None,
    ) -> Float[Array, "batch time hidden"]:
        """Return the embedded tokens before each token; PAD, before the first, counts as END."""
        embedded = embed(self.target_embedding, jnp.where(tokens == PAD, END, tokens))
        return self._dropped(embedded, first, "target", dropout)

    def _dropped(
        self,
        embedded: Float[Array, "batch time hidden"],
        first: Int[Array, " batch"] | int,
        place: str,
        dropout: Dropout | None,
    ) -> Float[Array, "batch time hidden"]:
        """Return embedded tokens with their positions."""
        rows = with_positions(self.config, embedded, first)
        return drop(dropout, place, rows) if self.config.positions == "absolute" else rows

    def _layer(self, layers: tuple[Layer, ...], number: int) -> Layer:
        return layers[0 if self.config.shared_layers else number]

    def _output_logits(
        self, rows: Float[Array, "batch time hidden"]
    ) -> Float[Array, "batch time symbols"]:
        rows = rows if self.norms is None else self.norms[1](rows)
        weight = self.target_embedding.T if self.output is None else self.output
        return matmul(rows, weight) + self.output_bias
