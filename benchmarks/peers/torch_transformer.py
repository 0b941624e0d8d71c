"""Transformers in plain, eager PyTorch: an encoder-decoder and a decoder-only network.

A peer for benchmarks and side-by-side tests, written from the papers as a competent PyTorch user
would write it: Vaswani et al. (2017) for the layers, Dai et al. (2019, section 3.3) for relative
positions, Su et al. (2021, section 3.2) for rotary ones, and Csordás, Irie & Schmidhuber (2021) for
the scaling of embeddings and the places of dropout. Every position is a number: a relative score is
gathered by its distance, and a decoder-only network leaves padding between source and target.

Sequences are int64 arrays padded with PAD (0) at the end and closed by EOS (1); tokens start at 2.
The last row of the source embedding is of the symbol that begins a source.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

PAD = 0
EOS = 1


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """The choices of `daxy.models.configs.transformer`."""

    hidden: int = 128
    feedforward: int = 256
    heads: int = 8
    layers: int = 3
    positions: Literal["absolute", "relative", "rotary", "none"] = "relative"
    embedding_scaling: Literal["none", "up", "down"] = "none"
    shared_layers: bool = False
    norm: Literal["post", "pre"] = "post"
    tied_output: bool = True
    dropout: float = 0.1
    source_symbols: int
    """Source ids in use, PAD and EOS included."""
    target_symbols: int
    """Target ids in use, PAD and EOS included."""


class KeyValues(NamedTuple):
    """Keys and values [batch, heads, time, width] of one layer."""

    keys: Tensor
    values: Tensor


class Memory(NamedTuple):
    """A sequence as attention reads it."""

    layers: Sequence[KeyValues]
    positions: Tensor
    """Position of each key: [batch or 1, time]."""
    is_token: Tensor
    """False on padding: [batch or 1, time]."""


class Distances(NamedTuple):
    """Distances from queries back to keys."""

    waves: Tensor
    """The sinusoid of each distance: [distances, hidden]."""
    rows: Tensor
    """The row of `waves` for each query and key: [batch or 1, 1, queries, keys]."""


class State(NamedTuple):
    """What a network has read."""

    sequence: Memory
    """What self-attention reads."""
    source: Memory | None
    """What attention to the source reads; None in a decoder-only network."""


class Attention(nn.Module):
    """Attention with several heads, and with positions if it is self-attention."""

    def __init__(self, config: TransformerConfig, *, has_positions: bool) -> None:
        super().__init__()
        hidden, self.heads = config.hidden, config.heads
        self.is_rotary = has_positions and config.positions == "rotary"
        self.is_relative = has_positions and config.positions == "relative"
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.key_value = nn.Linear(hidden, 2 * hidden, bias=False)
        self.merge = nn.Linear(hidden, hidden, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        if self.is_relative:
            self.distance = nn.Linear(hidden, hidden, bias=False)
            self.content_bias = nn.Parameter(torch.zeros(config.heads, 1, hidden // config.heads))
            self.position_bias = nn.Parameter(torch.zeros(config.heads, 1, hidden // config.heads))

    def memory(self, rows: Tensor, positions: Tensor) -> KeyValues:
        """Return the keys and values of rows [batch, time, hidden]."""
        keys, values = self.key_value(rows).chunk(2, dim=-1)
        return KeyValues(self._rotated(self._split(keys), positions), self._split(values))

    def forward(
        self,
        rows: Tensor,
        positions: Tensor,
        memory: KeyValues,
        is_key: Tensor,
        distances: Distances | None = None,
    ) -> Tensor:
        """Return what rows [batch, queries, hidden] read.

        `is_key`, [batch or 1, 1, queries or 1, keys], is True where a query may read a key.
        """
        queries = self._rotated(self._split(self.query(rows)), positions)
        if self.is_relative:
            assert distances is not None
            by_content = (queries + self.content_bias) @ memory.keys.mT
            keys = self.distance(distances.waves).unflatten(-1, (self.heads, -1)).permute(1, 2, 0)
            by_distance = (queries + self.position_bias) @ keys
            index = distances.rows.expand(by_content.shape)
            scores = by_content + by_distance.gather(-1, index)
        else:
            scores = queries @ memory.keys.mT
        scores = scores / sqrt(queries.shape[-1])
        weights = torch.softmax(scores.masked_fill(~is_key, float("-inf")), dim=-1)
        read = self.dropout(weights) @ memory.values
        return self.merge(read.transpose(1, 2).flatten(2))

    def _split(self, rows: Tensor) -> Tensor:
        return rows.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def _rotated(self, heads: Tensor, positions: Tensor) -> Tensor:
        """Turn each pair of neighbouring features by its position times the pair's frequency."""
        if not self.is_rotary:
            return heads
        angles = positions[:, None, :, None] * frequencies(heads.shape[-1])
        turns = torch.polar(torch.ones_like(angles), angles)
        pairs = torch.view_as_complex(heads.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * turns).flatten(-2)


class Layer(nn.Module):
    """Self-attention, attention to a source if there is one, and a feed-forward layer."""

    def __init__(self, config: TransformerConfig, *, has_cross: bool) -> None:
        super().__init__()
        self.is_pre_norm = config.norm == "pre"
        self.attention = Attention(config, has_positions=True)
        self.cross = Attention(config, has_positions=False) if has_cross else None
        self.inner = nn.Linear(config.hidden, config.feedforward)
        self.outer = nn.Linear(config.feedforward, config.hidden)
        self.norms = nn.ModuleList(nn.LayerNorm(config.hidden) for _ in range(2 + has_cross))
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        rows: Tensor,
        positions: Tensor,
        is_key: Tensor,
        distances: Distances | None,
        past: KeyValues | None,
        source: tuple[KeyValues, Tensor] | None,
    ) -> tuple[Tensor, KeyValues]:
        """Return the rows after the layer, and the keys and values up to them.

        `past` has those of earlier rows; `source` has those of the source, and where it has tokens.
        """
        before = self._before(0, rows)
        memory = self.attention.memory(before, positions)
        if past is not None:
            pairs = zip(past, memory, strict=True)
            memory = KeyValues(*(torch.cat(pair, dim=2) for pair in pairs))
        read = self.attention(before, positions, memory, is_key, distances)
        rows = self._after(0, rows, read)
        if self.cross is not None:
            assert source is not None
            read = self.cross(self._before(1, rows), positions, *source)
            rows = self._after(1, rows, read)
        inner = self.dropout(functional.relu(self.inner(self._before(-1, rows))))
        return self._after(-1, rows, self.outer(inner)), memory

    def _before(self, number: int, rows: Tensor) -> Tensor:
        return self.norms[number](rows) if self.is_pre_norm else rows

    def _after(self, number: int, rows: Tensor, read: Tensor) -> Tensor:
        rows = rows + self.dropout(read)
        return rows if self.is_pre_norm else self.norms[number](rows)


class Stack(nn.Module):
    """Positions, all layers, and the last norm where norms come before sublayers."""

    def __init__(self, config: TransformerConfig, *, has_cross: bool, is_causal: bool) -> None:
        super().__init__()
        self.config, self.is_causal = config, is_causal
        count = 1 if config.shared_layers else config.layers
        self.layers = nn.ModuleList(Layer(config, has_cross=has_cross) for _ in range(count))
        self.norm = nn.LayerNorm(config.hidden) if config.norm == "pre" else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        embedded: Tensor,
        positions: Tensor,
        is_token: Tensor,
        past: Memory | None = None,
        source: Memory | None = None,
    ) -> tuple[Tensor, Memory]:
        """Return the rows after all layers, and the whole sequence as later rows read it.

        Args:
            embedded: Rows of an embedding: [batch, time, hidden].
            positions: Position of each row: [batch or 1, time].
            is_token: False on padding: [batch or 1, time].
            past: The sequence before these rows.
            source: The source, for its attention.
        """
        rows = self._placed(embedded, positions)
        key_positions = positions
        if past is not None:
            key_positions = torch.cat([past.positions, positions], dim=1)
            is_token = torch.cat([past.is_token, is_token], dim=1)
        gaps = positions[:, None, :, None] - key_positions[:, None, None, :]
        is_key = is_token[:, None, None, :]
        if self.is_causal:
            is_key, gaps = is_key & (gaps >= 0), gaps.clamp(min=0)
        distances = None
        if self.config.positions == "relative":
            nearest, furthest = (int(gap) for gap in gaps.aminmax())
            every = torch.arange(nearest, furthest + 1)
            distances = Distances(sinusoids(every, self.config.hidden), gaps - nearest)
        memories = list[KeyValues]()
        for number, layer in enumerate(self.repeated()):
            old = None if past is None else past.layers[number]
            read = None
            if source is not None:
                read = source.layers[number], source.is_token[:, None, None, :]
            rows, memory = layer(rows, positions, is_key, distances, old, read)
            memories.append(memory)
        return self.norm(rows), Memory(memories, key_positions, is_token)

    def repeated(self) -> list[Layer]:
        """Return the layers as they follow each other; shared ones are repeated."""
        layers = cast("list[Layer]", list(self.layers))
        return layers * (self.config.layers // len(layers))

    def _placed(self, embedded: Tensor, positions: Tensor) -> Tensor:
        """Return embedded tokens as scaled, with absolute positions if there are any."""
        root = sqrt(self.config.hidden)
        if self.config.embedding_scaling == "up":
            embedded = embedded * root
        if self.config.positions != "absolute":
            return embedded
        waves = sinusoids(positions, self.config.hidden)
        if self.config.embedding_scaling == "down":
            waves = waves / root
        return self.dropout(embedded + waves)


class Network(nn.Module, ABC):
    """What both networks have in common: the target's side."""

    first: int
    """The symbol before a target."""

    def __init__(self, config: TransformerConfig, *, target_rows: int, has_cross: bool) -> None:
        super().__init__()
        self.config = config
        self.source_embedding = nn.Embedding(config.source_symbols + 1, config.hidden)
        self.target_embedding = nn.Embedding(target_rows, config.hidden)
        self.stack = Stack(config, has_cross=has_cross, is_causal=True)
        self.output = nn.Linear(config.hidden, config.target_symbols)
        if config.tied_output:
            self.output.weight = self.target_embedding.weight

    @abstractmethod
    def start(self, source: Tensor) -> State:
        """Read sources [batch, source length]."""

    def logits(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the logits [batch, target length, symbols] under teacher forcing."""
        previous = functional.pad(target[:, :-1], (1, 0), value=self.first)
        return self.extend(self.start(source), previous)[0]

    def extend(self, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """Read target tokens [batch, time] and return the logits of those that follow."""
        past = state.sequence
        is_token = past.is_token.new_ones(len(past.is_token), tokens.shape[1])
        positions = past.is_token.sum(dim=1, keepdim=True) + torch.arange(tokens.shape[1])
        embedded = self.target_embedding(tokens)
        rows, sequence = self.stack(embedded, positions, is_token, past, state.source)
        # A tied matrix may have one row more: that of the symbol before a target.
        weight = self.output.weight[: self.config.target_symbols]
        return functional.linear(rows, weight, self.output.bias), State(sequence, state.source)

    def loss(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the summed cross-entropy of all target tokens divided by the batch size."""
        logits = self.logits(source, target).flatten(0, 1)
        total = functional.cross_entropy(
            logits, target.flatten(), ignore_index=PAD, reduction="sum"
        )
        return total / len(target)

    @torch.inference_mode()
    def greedy(self, source: Tensor, limit: int, *, has_cache: bool = True) -> Tensor:
        """Return the likeliest next tokens [batch, at most limit], EOS included, then PAD.

        Without a cache every step reads the whole output again. Decoding stops when every sequence
        has said EOS; PAD is never chosen. Dropout is off.
        """
        was_training = self.training
        self.eval()
        begin = state = self.start(source)
        tokens = torch.full((len(source), 1), self.first)
        ended = torch.zeros_like(tokens, dtype=torch.bool)
        while tokens.shape[1] <= limit and not ended.all():
            if has_cache:
                logits, state = self.extend(state, tokens[:, -1:])
            else:
                logits, _ = self.extend(begin, tokens)
            token = logits[:, -1:, PAD + 1 :].argmax(dim=2) + PAD + 1
            tokens = torch.cat([tokens, token.masked_fill(ended, PAD)], dim=1)
            ended |= token == EOS
        self.train(was_training)
        return tokens[:, 1:]

    def train_step(
        self, source: Tensor, target: Tensor, optimizer: torch.optim.Optimizer
    ) -> Tensor:
        """Take one step (gradient norm clipped at 5) and return the loss before it."""
        optimizer.zero_grad()
        loss = self.loss(source, target)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters(), 5.0)
        optimizer.step()
        return loss.detach()


class EncoderDecoder(Network):
    """An encoder of `<s> source EOS`, and a decoder that starts from EOS."""

    first = EOS

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config, target_rows=config.target_symbols, has_cross=True)
        self.encoder = Stack(config, has_cross=False, is_causal=False)

    def start(self, source: Tensor) -> State:
        """Encode sources [batch, source length]."""
        codes = functional.pad(source, (1, 0), value=self.config.source_symbols)
        positions, is_token = torch.arange(codes.shape[1])[None], codes != PAD
        rows, _ = self.encoder(self.source_embedding(codes), positions, is_token)
        crosses = [
            layer.cross.memory(rows, positions)
            for layer in self.stack.repeated()
            if layer.cross is not None
        ]
        none = torch.zeros(1, 0, dtype=torch.long)
        width = self.config.hidden // self.config.heads
        empty = KeyValues(*torch.zeros(2, len(source), self.config.heads, 0, width))
        before = Memory([empty] * self.config.layers, none, none.bool())
        return State(before, Memory(crosses, positions, is_token))


class DecoderOnly(Network):
    """A causal language model of `<s> source ||| target`.

    The last row of the target embedding is of the symbol between source and target.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config, target_rows=config.target_symbols + 1, has_cross=False)
        self.first = config.target_symbols

    def start(self, source: Tensor) -> State:
        """Read sources [batch, source length] without their EOS."""
        codes = functional.pad(source, (1, 0), value=self.config.source_symbols)
        is_token = (codes != PAD) & (codes != EOS)
        positions = is_token.cumsum(dim=1) - 1
        _, sequence = self.stack(self.source_embedding(codes), positions, is_token)
        return State(sequence, None)


def frequencies(width: int) -> Tensor:
    """Return the frequency of each pair of features, in radians per position."""
    return 10_000 ** (-torch.arange(0, width, 2) / width)


def sinusoids(positions: Tensor, hidden: int) -> Tensor:
    """Return the sine and cosine of each frequency in turn: [*positions, hidden]."""
    angles = positions[..., None] * frequencies(hidden)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def adam(network: Network) -> torch.optim.Adam:
    """Return the optimizer of Csordás et al. (2021) for SCAN."""
    return torch.optim.Adam(network.parameters(), lr=0.001)
