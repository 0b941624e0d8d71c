"""Blocks of Transformers (Vaswani et al. 2017): attention, feed-forward layers, norms, caches.

Initial weights and dropout are placed as in the code of Csordás, Irie & Schmidhuber (2021).
Attention has no biases. Relative positions are those of Transformer-XL (Dai et al. 2019, section
3.3): the score of a query q for a key k at distance i is (q + u) k + (q + v) W r_i, with a sinusoid
r_i and learned u, v and W. Rotary positions are those of Su et al. (2021).
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from daxy.models.configs._transformer import TransformerConfig
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.initial import uniform
from daxy.models.layers.linear import matmul

PERIOD = 10_000.0
"""Ratio of the longest period of the sinusoids to the shortest."""
EPSILON = 1e-5
"""Added to the variance of a norm, as in PyTorch."""

Rows: TypeAlias = Float[Array, "batch time hidden"]
Heads: TypeAlias = Float[Array, "batch heads time width"]


class KeyValues(NamedTuple):
    """Keys and values of a sequence."""

    keys: Heads
    values: Heads


class Norm(eqx.Module):
    """Layer normalization."""

    scale: Float[Array, " hidden"]
    shift: Float[Array, " hidden"]

    def __init__(self, hidden: int) -> None:
        self.scale = jnp.ones(hidden, jnp.float32)
        self.shift = jnp.zeros(hidden, jnp.float32)

    def __call__(self, rows: Float[Array, "*rows hidden"]) -> Float[Array, "*rows hidden"]:
        """Return rows with mean 0 and variance 1, scaled and shifted."""
        centered = rows - rows.mean(axis=-1, keepdims=True)
        variance = jnp.square(centered).mean(axis=-1, keepdims=True)
        return centered * jax.lax.rsqrt(variance + EPSILON) * self.scale + self.shift


class RelativePositions(eqx.Module):
    """Weights of relative positions."""

    weight: Float[Array, "hidden hidden"]
    content_bias: Float[Array, "heads width"]
    position_bias: Float[Array, "heads width"]

    def __init__(self, config: TransformerConfig, *, key: PRNGKeyArray) -> None:
        width = config.hidden // config.heads
        self.weight = uniform(key, (config.hidden, config.hidden), config.hidden)
        self.content_bias = jnp.zeros((config.heads, width), jnp.float32)
        self.position_bias = jnp.zeros((config.heads, width), jnp.float32)

    def keys(self, distances: Float[np.ndarray, " distances"]) -> Float[Array, "heads width dist"]:
        """Return the keys of distances from a query back to a key."""
        heads, width = self.content_bias.shape
        rows = jnp.asarray(sinusoids(distances, heads * width)) @ self.weight
        return rows.reshape(-1, heads, width).transpose(1, 2, 0)


class Attention(eqx.Module):
    """Attention with several heads; weights are stored [incoming, outgoing]."""

    heads: int = eqx.field(static=True)
    is_rotary: bool = eqx.field(static=True)
    query: Float[Array, "hidden hidden"]
    key: Float[Array, "hidden hidden"]
    value: Float[Array, "hidden hidden"]
    merge: Float[Array, "hidden hidden"]
    relative: RelativePositions | None

    def __init__(
        self, config: TransformerConfig, *, has_positions: bool, key: PRNGKeyArray
    ) -> None:
        keys = jax.random.split(key, 5)
        square = config.hidden, config.hidden
        self.heads = config.heads
        self.is_rotary = has_positions and config.positions == "rotary"
        is_relative = has_positions and config.positions == "relative"
        # The authors' relative attention starts from PyTorch's defaults.
        fan = config.hidden if is_relative else config.hidden / 3
        self.query, self.key, self.value, self.merge = (
            uniform(own, square, fan) for own in keys[:4]
        )
        self.relative = RelativePositions(config, key=keys[4]) if is_relative else None

    def queries(self, rows: Rows, first: Int[Array, " batch"] | int = 0) -> Heads:
        """Return the queries of rows, the first of which is at position `first`."""
        return self._rotated(self._split(matmul(rows, self.query)), first)

    def memory(self, rows: Rows, first: Int[Array, " batch"] | int = 0) -> KeyValues:
        """Return the keys and values of rows, the first of which is at position `first`."""
        both = matmul(rows, jnp.concatenate([self.key, self.value], axis=1))
        keys, values = jnp.split(both, 2, axis=-1)
        return KeyValues(self._rotated(self._split(keys), first), self._split(values))

    def attend(
        self,
        queries: Heads,
        memory: KeyValues,
        is_key: Bool[Array, "#batch #time keys"],
        from_positions: Float[Array, "batch heads time keys"] | None = None,
        dropout: Dropout | None = None,
        place: str = "",
    ) -> tuple[Rows, Float[Array, "batch time keys"]]:
        """Return what queries read, and the mean attention weights over the heads.

        Args:
            queries: The queries.
            memory: Keys and values.
            is_key: Keys that each query may read.
            from_positions: Scores of relative positions.
            dropout: Dropout of the attention weights.
            place: Name of this place, for dropout.
        """
        if self.relative is not None:
            queries = queries + self.relative.content_bias[:, None]
        scores = queries @ memory.keys.swapaxes(-1, -2)
        if from_positions is not None:
            scores = scores + from_positions
        scale = 1 / sqrt(queries.shape[-1])
        weights = jax.nn.softmax(scores * scale, axis=-1, where=is_key[:, None])
        dropped = weights
        if dropout is not None:
            dropped = dropout(place, weights, padded=(2, 3))
        read = (dropped @ memory.values).swapaxes(1, 2)
        return matmul(read.reshape(*read.shape[:2], -1), self.merge), weights.mean(axis=1)

    def position_scores(
        self, queries: Heads, *, is_causal: bool
    ) -> Float[Array, "batch heads time time"] | None:
        """Return the scores of relative positions within one sequence; None without these.

        With `is_causal` those of later keys are undefined.
        """
        if self.relative is None:
            return None
        count = queries.shape[2]
        last = -1 if is_causal else -count
        keys = self.relative.keys(np.arange(count - 1, last, -1, dtype=np.float32))
        scores = (queries + self.relative.position_bias[:, None]) @ keys
        # Row t begins at distance `count - 1`, which is that of key `t - count + 1`: shift it.
        flat = jnp.pad(scores, ((0, 0), (0, 0), (0, 0), (0, 1))).reshape(*scores.shape[:2], -1)
        width = scores.shape[-1]
        flat = flat[..., count - 1 : count - 1 + count * width]
        return flat.reshape(*scores.shape)[..., :count]

    def cached_position_scores(
        self, queries: Heads, time: Int[Array, " batch"], room: int
    ) -> Float[Array, "batch heads 1 room"] | None:
        """Return the scores of relative positions for a query at `time` of each sequence."""
        if self.relative is None:
            return None
        keys = self.relative.keys(np.arange(room, dtype=np.float32))
        scores = (queries + self.relative.position_bias[:, None]) @ keys
        distances = jnp.maximum(time[:, None] - jnp.arange(room, dtype=jnp.int32), 0)
        return jnp.take_along_axis(scores, distances[:, None, None], axis=-1)

    def _split(self, rows: Rows) -> Heads:
        return rows.reshape(*rows.shape[:2], self.heads, -1).swapaxes(1, 2)

    def _rotated(self, heads: Heads, first: Int[Array, " batch"] | int) -> Heads:
        if not self.is_rotary:
            return heads
        count, half = heads.shape[2], heads.shape[3] // 2
        times = jnp.arange(count, dtype=jnp.int32) + jnp.asarray(first, jnp.int32)[..., None]
        angles = times[..., None].astype(jnp.float32) * _frequencies(2 * half)
        cos, sin = (part.reshape(-1, 1, count, half) for part in (jnp.cos(angles), jnp.sin(angles)))
        one, other = heads[..., :half], heads[..., half:]
        return jnp.concatenate([one * cos - other * sin, one * sin + other * cos], axis=-1)


class Layer(eqx.Module):
    """Self-attention, attention to an encoded source if there is one, and a feed-forward layer."""

    is_pre_norm: bool = eqx.field(static=True)
    attention: Attention
    cross: Attention | None
    inner: Float[Array, "hidden inner"]
    inner_bias: Float[Array, " inner"]
    outer: Float[Array, "inner hidden"]
    outer_bias: Float[Array, " hidden"]
    norms: tuple[Norm, ...]

    def __init__(self, config: TransformerConfig, *, has_cross: bool, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 6)
        hidden, inner = config.hidden, config.feedforward
        self.is_pre_norm = config.norm == "pre"
        self.attention = Attention(config, has_positions=True, key=keys[0])
        self.cross = Attention(config, has_positions=False, key=keys[1]) if has_cross else None
        # Xavier-uniform weights, the first with the gain of ReLU, and PyTorch's default biases.
        self.inner = uniform(keys[2], (hidden, inner), (hidden + inner) / 12)
        self.inner_bias = uniform(keys[3], (inner,), hidden)
        self.outer = uniform(keys[4], (inner, hidden), (hidden + inner) / 6)
        self.outer_bias = uniform(keys[5], (hidden,), inner)
        self.norms = tuple(Norm(hidden) for _ in range(2 + has_cross))

    def __call__(
        self,
        rows: Rows,
        is_key: Bool[Array, "#batch #time time"],
        encoded: tuple[KeyValues, Bool[Array, "batch 1 source"]] | None = None,
        *,
        is_causal: bool,
        first: Int[Array, " batch"] | int = 0,
        dropout: Dropout | None = None,
        place: str = "",
    ) -> tuple[Rows, KeyValues]:
        """Return the rows after the layer, and the keys and values of its self-attention.

        Args:
            rows: A vector for each position.
            is_key: Positions that each position may read.
            encoded: Keys and values of a source, and the positions that are its tokens.
            is_causal: Whether no position reads a later one.
            first: Position of the first row, for rotary positions.
            dropout: Dropout.
            place: Name of this layer, for dropout.
        """
        made = list[KeyValues]()

        def attend(rows: Rows) -> Rows:
            queries = self.attention.queries(rows, first)
            made.append(self.attention.memory(rows, first))
            scores = self.attention.position_scores(queries, is_causal=is_causal)
            own = f"{place} attention weights"
            return self.attention.attend(queries, made[0], is_key, scores, dropout, own)[0]

        after, _ = self._sublayers(rows, attend, encoded, dropout, place)
        return after, made[0]

    def step(
        self,
        row: Float[Array, "batch 1 hidden"],
        cache: KeyValues,
        time: Int[Array, " batch"],
        is_key: Bool[Array, "batch 1 room"],
        encoded: tuple[KeyValues, Bool[Array, "batch 1 source"]] | None = None,
        first: Int[Array, " batch"] | int = 0,
    ) -> tuple[Float[Array, "batch 1 hidden"], KeyValues, Float[Array, "batch source"] | None]:
        """Return the row after the layer, the cache with its key, and weights of the source.

        Args:
            row: Vector of one position of each sequence.
            cache: Keys and values of earlier positions, with room for this one.
            time: Place of the position in the cache.
            is_key: Places in the cache that it may read.
            encoded: See `__call__`.
            first: Position of the first place of the cache, for rotary positions.
        """
        made = list[KeyValues]()

        def attend(row: Rows) -> Rows:
            queries = self.attention.queries(row, time + first)
            own = self.attention.memory(row, time + first)
            made.append(jax.tree.map(lambda old, new: _put(old, time, new), cache, own))
            scores = self.attention.cached_position_scores(queries, time, cache.keys.shape[2])
            return self.attention.attend(queries, made[0], is_key, scores)[0]

        after, weights = self._sublayers(row, attend, encoded, None, "")
        return after, made[0], None if weights is None else weights[:, 0]

    def _sublayers(
        self,
        rows: Rows,
        attend: Callable[[Rows], Rows],
        encoded: tuple[KeyValues, Bool[Array, "batch 1 source"]] | None,
        dropout: Dropout | None,
        place: str,
    ) -> tuple[Rows, Float[Array, "batch time source"] | None]:
        weights = list[Array]()

        def attend_to_source(rows: Rows) -> Rows:
            assert self.cross is not None and encoded is not None
            own = f"{place} attention weights of the source"
            queries = self.cross.queries(rows)
            read, shares = self.cross.attend(queries, *encoded, dropout=dropout, place=own)
            weights.append(shares)
            return read

        def feed(rows: Rows) -> Rows:
            inner = jax.nn.relu(matmul(rows, self.inner) + self.inner_bias)
            inner = drop(dropout, f"{place} inner", inner)
            return matmul(inner, self.outer) + self.outer_bias

        sublayers = [attend, *([attend_to_source] if self.cross is not None else []), feed]
        for number, (norm, sublayer) in enumerate(zip(self.norms, sublayers, strict=True)):
            read = sublayer(norm(rows) if self.is_pre_norm else rows)
            rows = rows + drop(dropout, f"{place} sublayer {number}", read)
            rows = rows if self.is_pre_norm else norm(rows)
        return rows, weights[0] if weights else None


def init_layers(
    config: TransformerConfig, *, has_cross: bool, key: PRNGKeyArray
) -> tuple[Layer, ...]:
    """Return the layers of a stack; one if they are shared."""
    count = 1 if config.shared_layers else config.layers
    keys = jax.random.split(key, count)
    return tuple(Layer(config, has_cross=has_cross, key=own) for own in keys)


def init_embedding(
    config: TransformerConfig, symbols: int, *, key: PRNGKeyArray
) -> Float[Array, "symbols hidden"]:
    """Return an embedding table with the initial weights that belong to its scaling."""
    shape = symbols, config.hidden
    if config.embedding_scaling == "down":
        return jax.random.normal(key, shape, jnp.float32) * sqrt(2 / config.hidden)
    if config.embedding_scaling == "none" and config.positions == "absolute":
        return jax.random.normal(key, shape, jnp.float32)
    return uniform(key, shape, (symbols + config.hidden) / 6)


def with_positions(
    config: TransformerConfig,
    embedded: Float[Array, "batch time hidden"],
    first: Int[Array, " batch"] | int = 0,
) -> Rows:
    """Return embedded tokens as scaled, with absolute positions from `first` on if there are any.

    Args:
        config: Settings of the Transformer.
        embedded: Rows of the embedding table.
        first: Position of the first row; negative ones are padding.
    """
    hidden = config.hidden
    if config.embedding_scaling == "up":
        embedded = embedded * sqrt(hidden)
    if config.positions != "absolute":
        return embedded
    times = jnp.arange(embedded.shape[1], dtype=jnp.int32)
    times = times + jnp.asarray(first, jnp.int32)[..., None]
    angles = times[..., None].astype(jnp.float32) * _frequencies(hidden)
    waves = jnp.stack([jnp.sin(angles), jnp.cos(angles)], axis=-1)
    waves = waves.reshape(*angles.shape[:-1], hidden)
    return embedded + (waves / sqrt(hidden) if config.embedding_scaling == "down" else waves)


def sinusoids(
    positions: Float[np.ndarray, " positions"], hidden: int
) -> Float[np.ndarray, "positions hidden"]:
    """Return the sine and cosine of each frequency in turn at these positions."""
    angles = positions[:, None] * _frequencies(hidden)
    waves = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return waves.reshape(len(positions), hidden).astype(np.float32)


def _frequencies(width: int) -> Float[np.ndarray, " half"]:
    return (PERIOD ** -(np.arange(0, width, 2) / width)).astype(np.float32)


def _put(
    old: Float[Array, "batch heads room width"],
    time: Int[Array, " batch"],
    new: Float[Array, "batch heads 1 width"],
) -> Float[Array, "batch heads room width"]:
    """Return a cache with a row at one place of each sequence."""
    return old.at[jnp.arange(len(time), dtype=jnp.int32), :, time].set(new[:, :, 0])
