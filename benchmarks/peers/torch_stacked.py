"""The encoder-decoder of Lake & Baroni (2018) in plain, eager PyTorch, one example at a time.

A peer for benchmarks and side-by-side tests, written as a competent PyTorch user would write it: a
library recurrence over the whole sequence wherever its inputs are known, a loop where they are not.

Sequences are int64 arrays closed by EOS (1); tokens start at 2; 0 is the decoder's start symbol.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

START = 0
EOS = 1

LAYERS = {"srn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}

State = Tensor | tuple[Tensor, Tensor]
"""Of every layer: [layers, hidden]; for an LSTM, states and cells."""


@dataclass(frozen=True, kw_only=True)
class StackedConfig:
    """The networks of Lake & Baroni (2018), section 3 and appendix."""

    cell: Literal["srn", "gru", "lstm"] = "lstm"
    layers: int = 2
    hidden: int = 200
    attention: bool = False
    dropout: float = 0.5
    source_symbols: int
    target_symbols: int


class Stacked(nn.Module):
    """Embedding, encoder, decoder and output, with PyTorch's default initialisation."""

    def __init__(self, config: StackedConfig) -> None:
        super().__init__()
        self.config = config
        hidden, layers = config.hidden, config.layers
        between = config.dropout if layers > 1 else 0.0
        kind, features = LAYERS[config.cell], hidden * (2 if config.attention else 1)
        self.dropout = nn.Dropout(config.dropout)
        self.source_embedding = nn.Embedding(config.source_symbols, hidden)
        self.target_embedding = nn.Embedding(config.target_symbols, hidden)
        self.encoder = kind(hidden, hidden, layers, dropout=between)
        self.decoder = kind(features, hidden, layers, dropout=between)
        if config.attention:
            self.query = nn.Linear(hidden, hidden, bias=False)
            self.key = nn.Linear(hidden, hidden, bias=False)
            self.energy = nn.Linear(hidden, 1, bias=False)
        self.output = nn.Linear(features, config.target_symbols)

    def logits(self, source: Tensor, target: Tensor, *, forced: bool) -> Tensor:
        """Return the logits [length, symbols]; up to the network's own EOS if it is not forced."""
        values, state = self.encoder(self.dropout(self.source_embedding(source)))
        previous = functional.pad(target[:-1], (1, 0), value=START)
        if forced and not self.config.attention:
            states, _ = self.decoder(self.dropout(self.target_embedding(previous)), state)
            return self.output(states)
        keys = self.key(values) if self.config.attention else None
        token, found = previous[:1], list[Tensor]()
        for place in range(len(target)):
            here = previous[place : place + 1] if forced else token
            logits, state = self._step(here, state, values, keys)
            found.append(logits)
            token = logits[:, 1:].argmax(dim=1) + 1
            if not forced and token.item() == EOS:
                break
        return torch.cat(found)

    def loss(self, source: Tensor, target: Tensor, *, forced: bool) -> Tensor:
        """Return the summed cross-entropy of the target tokens that there are logits for."""
        logits = self.logits(source, target, forced=forced)
        return functional.cross_entropy(logits, target[: len(logits)], reduction="sum")

    def train_step(
        self, source: Tensor, target: Tensor, optimizer: torch.optim.Optimizer, *, forced: bool
    ) -> Tensor:
        """Take one step (gradient norm clipped at 5) and return the loss before it."""
        optimizer.zero_grad()
        loss = self.loss(source, target, forced=forced)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters(), 5.0)
        optimizer.step()
        return loss.detach()

    def _step(
        self, token: Tensor, state: State, values: Tensor, keys: Tensor | None
    ) -> tuple[Tensor, State]:
        """Return the logits [1, symbols] after a token [1], and the state."""
        inputs = self.dropout(self.target_embedding(token))
        if keys is None:
            states, state = self.decoder(inputs, state)
            return self.output(states), state
        top = (state[0] if isinstance(state, tuple) else state)[-1:]
        weights = torch.softmax(self.energy(torch.tanh(self.query(top) + keys)), dim=0)
        context = weights.T @ values
        states, state = self.decoder(torch.cat([inputs, context], dim=1), state)
        return self.output(torch.cat([states, context], dim=1)), state


def adam(model: Stacked) -> torch.optim.Adam:
    """Return the paper's optimiser."""
    return torch.optim.Adam(model.parameters(), lr=0.001)
