"""One causal Transformer over source and target: a decoder-only language model.

A source and its target are one sequence, `<s> source ||| target`, as for the networks of
Grefenstette et al. (2015, `daxy.models.transducer`). Only target tokens count in the loss. Sources
stand at the right of their padding, so that tokens are as far from each other as in the sequence.
The blocks are those of `daxy.models.transformer`.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from daxy.core.vocabulary import END, PAD
from daxy.models.api import Batch, Sizes
from daxy.models.configs.decoder_only import Config
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.embedding import embed, embed_previous, with_start
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
"""Protocol of the paper whose blocks these are."""


class DecoderState(NamedTuple):
    """The state between two tokens."""

    caches: tuple[KeyValues, ...]
    """Keys and values of the sequence so far, of each layer."""
    padding: Int[Array, " batch"]
    """Places before the sequence."""
    time: Int[Array, " batch"]
    """Place of the next token."""
    top: Float[Array, "batch hidden"]
    """The hidden vector that the next token is made from."""


class Model(eqx.Module):
    """See the module; parameters are stored [incoming, outgoing]."""

    needs_max_length: ClassVar[bool] = True

    config: Config = eqx.field(static=True)
    source_embedding: Float[Array, "source_symbols_and_start hidden"]
    target_embedding: Float[Array, "target_symbols_and_start hidden"]
    """The last row is of the symbol between a source and its target."""
    layers: tuple[Layer, ...]
    norm: Norm | None
    """After the layers, where norms come before sublayers."""
    output: Float[Array, "hidden target_symbols"] | None
    """None where it is the target embedding."""
    output_bias: Float[Array, " target_symbols"]

    def __init__(self, config: Config, sizes: Sizes, *, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 4)
        hidden, symbols = config.hidden, sizes.target_symbols
        self.config = config
        self.source_embedding = init_embedding(config, sizes.source_symbols + 1, key=keys[0])
        self.target_embedding = init_embedding(config, symbols + 1, key=keys[1])
        self.layers = init_layers(config, has_cross=False, key=keys[2])
        self.norm = Norm(hidden) if config.norm == "pre" else None
        fan = (hidden + symbols) / 6
        self.output = None if config.tied_output else uniform(keys[3], (hidden, symbols), fan)
        self.output_bias = jnp.zeros(symbols, jnp.float32)

    def logits(
        self, batch: Batch, dropout: Dropout | None = None
    ) -> Float[Array, "batch target symbols"]:
        """Return the logits of every target token under teacher forcing."""
        source, padding = self._embed_source(batch.source)
        target = embed_previous(self.target_embedding, batch.decoder_inputs)
        rows = jnp.concatenate([source, target], axis=1)
        rows, _ = self._run(rows, padding, dropout)
        return self._output_logits(rows[:, source.shape[1] :])

    def start(self, source: Int[Array, "batch source"], max_length: int) -> DecoderState:
        """Read the sources; the state before the first of at most `max_length` target tokens."""
        rows, padding = self._embed_source(source)
        rows, caches = self._run(rows, padding, None)
        room = (0, 0), (0, 0), (0, max_length), (0, 0)
        return DecoderState(
            caches=jax.tree.map(lambda cache: jnp.pad(cache, room), caches),
            padding=padding,
            time=jnp.full(len(source), rows.shape[1], jnp.int32),
            top=rows[:, -1],
        )

    def step(
        self, state: DecoderState, token: Int[Array, " batch"]
    ) -> tuple[DecoderState, Float[Array, "batch symbols"]]:
        """Read the previous token (PAD before the first); return the logits of the next."""
        embedded = embed_previous(self.target_embedding, token[:, None])
        row = with_positions(self.config, embedded, state.time - state.padding)
        places = jnp.arange(state.caches[0].keys.shape[2], dtype=jnp.int32)
        is_key = (places <= state.time[:, None]) & (places >= state.padding[:, None])
        caches = list[KeyValues]()
        for number, old in enumerate(state.caches):
            row, cache, _ = self._layer(number).step(
                row, old, state.time, is_key[:, None], first=-state.padding
            )
            caches.append(cache)
        after = state._replace(caches=tuple(caches), time=state.time + 1, top=row[:, 0])
        return after, self._output_logits(row)[:, 0]

    def _embed_source(
        self, source: Int[Array, "batch source"]
    ) -> tuple[Float[Array, "batch places hidden"], Int[Array, " batch"]]:
        """Return the embedded start symbol and source, at the right of the padding, and its size.

        END is left out: the symbol before the target says that the source has ended.
        """
        codes = with_start(source, self.source_embedding)
        is_token = (codes != PAD) & (codes != END)
        places = codes.shape[1]
        padding = places - is_token.sum(axis=1, dtype=jnp.int32)
        before = jnp.arange(places, dtype=jnp.int32) - padding[:, None]
        moved = jnp.take_along_axis(codes, jnp.maximum(before, 0), axis=1)
        codes = jnp.where(before >= 0, moved, PAD)
        return embed(self.source_embedding, codes), padding

    def _run(
        self,
        embedded: Float[Array, "batch places hidden"],
        padding: Int[Array, " batch"],
        dropout: Dropout | None,
    ) -> tuple[Float[Array, "batch places hidden"], tuple[KeyValues, ...]]:
        """Return the rows after all layers, and the keys and values of each."""
        rows = with_positions(self.config, embedded, -padding)
        if self.config.positions == "absolute":
            rows = drop(dropout, "embedding", rows)
        places = jnp.arange(rows.shape[1], dtype=jnp.int32)
        is_key = (places <= places[:, None]) & (places >= padding[:, None, None])
        caches = list[KeyValues]()
        for number in range(self.config.layers):
            rows, cache = self._layer(number)(
                rows,
                # Padding reads itself, so that it has a weight to share out.
                is_key | (places == places[:, None]),
                is_causal=True,
                first=-padding,
                dropout=dropout,
                place=f"layer {number}",
            )
            caches.append(cache)
        return rows, tuple(caches)

    def _layer(self, number: int) -> Layer:
        return self.layers[0 if self.config.shared_layers else number]

    def _output_logits(
        self, rows: Float[Array, "batch time hidden"]
    ) -> Float[Array, "batch time symbols"]:
        rows = rows if self.norm is None else self.norm(rows)
        weight = self.target_embedding[:-1].T if self.output is None else self.output
        return matmul(rows, weight) + self.output_bias
