"""The controller with a neural stack of Grefenstette et al. (2015) in plain, eager PyTorch.

A peer for benchmarks and side-by-side tests, written as a competent PyTorch user would write it:
a cell of the library at each step, and the equations of the stack over all slots and rows at once.

Sequences are int64 tensors [batch, time], all sources of a batch of one length without what ends
them; in targets END is 1 and padding 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

PAD = 0


@dataclass(frozen=True, kw_only=True)
class TransducerConfig:
    """The network with a stack of section 4.4."""

    hidden: int = 256
    embedding: int = 64
    width: int = 256
    source_symbols: int
    target_symbols: int


class StackTransducer(nn.Module):
    """Of a joint sequence `<s> source ||| target`, whose marks have the embeddings' last rows."""

    def __init__(self, config: TransducerConfig) -> None:
        super().__init__()
        self.config = config
        self.source_embedding = nn.Embedding(config.source_symbols + 1, config.embedding)
        self.target_embedding = nn.Embedding(config.target_symbols + 1, config.embedding)
        self.first = nn.Parameter(torch.zeros(config.hidden))
        self.controller = nn.LSTMCell(config.embedding + config.width, config.hidden)
        self.wants = nn.Linear(config.hidden, 2)
        self.values = nn.Linear(config.hidden, config.width)
        self.said = nn.Linear(config.hidden, config.embedding)
        self.output = nn.Linear(config.embedding, config.target_symbols)

    def logits(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the logits of every next token, [batch, time, symbols]."""
        batch, length = len(source), source.shape[1] + 1
        begin = functional.pad(source, (1, 0), value=self.config.source_symbols)
        before = functional.pad(target, (1, 0), value=self.config.target_symbols)[:, :-1]
        rows = torch.cat([self.source_embedding(begin), self.target_embedding(before)], dim=1)
        hidden = self.first.expand(batch, -1)
        cell = torch.zeros_like(hidden)
        read = torch.zeros(batch, self.config.width)
        strengths = torch.zeros(batch, 0)
        vectors = torch.zeros(batch, 0, self.config.width)
        tops = list[Tensor]()
        for row in rows.unbind(dim=1):
            hidden, cell = self.controller(torch.cat([row, read], dim=1), (hidden, cell))
            pop, push = torch.sigmoid(self.wants(hidden)).split(1, dim=1)
            value = torch.tanh(self.values(hidden))
            strengths = functional.relu(strengths - functional.relu(pop - _above(strengths)))
            strengths = torch.cat([strengths, push], dim=1)
            vectors = torch.cat([vectors, value[:, None]], dim=1)
            weights = torch.minimum(strengths, functional.relu(1 - _above(strengths)))
            read = torch.einsum("bs,bsw->bw", weights, vectors)
            tops.append(hidden)
        said = torch.tanh(self.said(torch.stack(tops[length:], dim=1)))
        return self.output(said)

    def loss(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the mean cross-entropy of the target tokens."""
        logits = self.logits(source, target).flatten(0, 1)
        return functional.cross_entropy(logits, target.flatten(), ignore_index=PAD)

    def train_step(
        self, source: Tensor, target: Tensor, optimizer: torch.optim.Optimizer
    ) -> Tensor:
        """Take one step (gradient norm clipped at 1) and return the loss before it."""
        optimizer.zero_grad()
        loss = self.loss(source, target)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters(), 1.0)
        optimizer.step()
        return loss.detach()


def _above(strengths: Tensor) -> Tensor:
    """Return the sum of the strengths above each slot."""
    return strengths.sum(dim=1, keepdim=True) - strengths.cumsum(dim=1)


def rmsprop(network: StackTransducer) -> torch.optim.RMSprop:
    """Return the paper's optimiser."""
    return torch.optim.RMSprop(network.parameters(), lr=0.001)
