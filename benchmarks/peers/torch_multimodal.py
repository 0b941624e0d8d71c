"""The network of Ruis et al. (2020) in plain, eager PyTorch, as their code has it.

A peer for benchmarks, written as a competent PyTorch user would write it: library layers wherever
they apply, and one matrix product for the scores of all steps.

Sequences are int64 arrays padded with PAD (0) at the end and closed by EOS (1); tokens start at 2,
and the last code is the start symbol. Worlds are [batch, channel, row, column].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

PAD = 0
EOS = 1


@dataclass(frozen=True, kw_only=True)
class MultimodalConfig:
    """The hyperparameters of Ruis et al. (2020, appendix E)."""

    hidden: int = 100
    embedding: int = 25
    channels: int = 50
    kernels: tuple[int, ...] = (1, 5, 7)
    dropout: float = 0.3
    world_dropout: float = 0.1
    source_symbols: int
    """Source ids in use, PAD and EOS included, the start symbol not."""
    target_symbols: int
    """Target ids in use, likewise."""
    world_channels: int = 16
    """What a cell is described by."""


class Batch(NamedTuple):
    """Commands, actions and worlds, as the module says."""

    source: Tensor
    target: Tensor
    world: Tensor


class Memory(NamedTuple):
    """What a step of the decoder attends to, projected."""

    words: Tensor
    """[batch, source length, hidden]."""
    is_word: Tensor
    """[batch, source length], False on padding."""
    cells: Tensor
    """[batch, cells, hidden]."""


class Attention(nn.Module):
    """Additive attention without biases over projected keys, which are the values too."""

    def __init__(self, incoming: int, hidden: int) -> None:
        super().__init__()
        self.key = nn.Linear(incoming, hidden, bias=False)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.energy = nn.Linear(hidden, 1, bias=False)

    def forward(self, query: Tensor, keys: Tensor, is_there: Tensor | None = None) -> Tensor:
        """Return the context [batch, hidden] that a query [batch, hidden] finds."""
        energies = self.energy(torch.tanh(self.query(query).unsqueeze(1) + keys)).squeeze(2)
        if is_there is not None:
            energies = energies.masked_fill(~is_there, float("-inf"))
        weights = torch.softmax(energies, dim=1)
        return torch.bmm(weights.unsqueeze(1), keys).squeeze(1)


class Multimodal(nn.Module):
    """The whole network."""

    def __init__(self, config: MultimodalConfig) -> None:
        super().__init__()
        self.config = config
        hidden, width = config.hidden, len(config.kernels) * config.channels
        self.source_embedding = nn.Embedding(config.source_symbols + 1, config.embedding, PAD)
        self.encoder = nn.LSTM(config.embedding, hidden, batch_first=True, bidirectional=True)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(config.world_channels, config.channels, size, padding=size // 2)
            for size in config.kernels
        )
        self.bridge = nn.Linear(hidden, hidden)
        self.word_attention = Attention(hidden, hidden)
        self.condition = nn.Linear(2 * hidden, hidden)
        self.cell_attention = Attention(width, hidden)
        self.target_embedding = nn.Embedding(config.target_symbols + 1, hidden, PAD)
        self.cell = nn.LSTMCell(3 * hidden, hidden)
        self.pre_output = nn.Linear(4 * hidden, hidden, bias=False)
        self.output = nn.Linear(hidden, config.target_symbols + 1, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        self.world_dropout = nn.Dropout(config.world_dropout)

    def encode(self, source: Tensor, world: Tensor) -> tuple[Memory, tuple[Tensor, Tensor]]:
        """Return what there is to attend to, and the decoder's first state."""
        first = source.new_full((len(source), 1), self.config.source_symbols)
        source = torch.cat([first, source], dim=1)
        lengths = (source != PAD).sum(dim=1)
        embedded = self.dropout(self.source_embedding(source))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        outputs, (last, _) = self.encoder(packed)
        states, _ = pad_packed_sequence(outputs, batch_first=True, total_length=source.shape[1])
        forwards, backwards = states.chunk(2, dim=2)
        seen = torch.cat([convolution(world) for convolution in self.convolutions], dim=1)
        features = torch.relu(self.world_dropout(seen)).flatten(2).transpose(1, 2)
        begin = torch.tanh(self.bridge(last.sum(dim=0)))
        words = self.word_attention.key(forwards + backwards)
        memory = Memory(words, source != PAD, self.cell_attention.key(features))
        return memory, (begin, begin)

    def step(
        self, embedded: Tensor, state: tuple[Tensor, Tensor], memory: Memory
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return what the scores are made from, [batch, 4 hidden], and the next state."""
        found = self.word_attention(state[0], memory.words, memory.is_word)
        query = torch.tanh(self.condition(torch.cat([state[0], found], dim=1)))
        looked = self.cell_attention(query, memory.cells)
        state = self.cell(torch.cat([embedded, found, looked], dim=1), state)
        return torch.cat([embedded, state[0], found, looked], dim=1), state

    def logits(self, batch: Batch) -> Tensor:
        """Return the scores of every next token under teacher forcing."""
        memory, state = self.encode(batch.source, batch.world)
        first = batch.target.new_full((len(batch.target), 1), self.config.target_symbols)
        before = torch.cat([first, batch.target[:, :-1]], dim=1)
        embedded = self.dropout(self.target_embedding(before))
        rows = list[Tensor]()
        for place in range(before.shape[1]):
            row, state = self.step(embedded[:, place], state, memory)
            rows.append(row)
        return self.output(self.pre_output(torch.stack(rows, dim=1)))

    def loss(self, batch: Batch) -> Tensor:
        """Return the mean cross-entropy of the target's tokens, EOS included."""
        logits = self.logits(batch).flatten(0, 1)
        return functional.cross_entropy(logits, batch.target.flatten(), ignore_index=PAD)

    @torch.no_grad()
    def greedy(self, source: Tensor, world: Tensor, limit: int) -> Tensor:
        """Return the best tokens [batch, limit] until EOS, PAD after it."""
        memory, state = self.encode(source, world)
        token = source.new_full((len(source),), self.config.target_symbols)
        ended = torch.zeros(len(source), dtype=torch.bool)
        said = list[Tensor]()
        for _ in range(limit):
            row, state = self.step(self.target_embedding(token), state, memory)
            scores = self.output(self.pre_output(row))[:, :-1]
            scores[:, PAD] = float("-inf")
            token = scores.argmax(dim=1)
            said.append(token.masked_fill(ended, PAD))
            ended |= token == EOS
            if ended.all():
                break
        found = torch.stack(said, dim=1)
        return functional.pad(found, (0, limit - found.shape[1]))
