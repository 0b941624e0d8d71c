"""The encoder-decoder of Bastings et al. (2018) in plain, eager PyTorch.

A peer for benchmarks and side-by-side tests, written as a competent PyTorch user would write it:
library recurrences wherever they apply, and after the decoder's loop one matrix product for all
steps.

Sequences are int64 arrays padded with PAD (0) at the end and closed by EOS (1); tokens start at 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

PAD = 0
EOS = 1

LAYERS = {"srn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
# For one step at a time, measured on a CPU: a cell takes 0.4 to 0.95 of a layer's time.
CELLS = {"srn": nn.RNNCell, "gru": nn.GRUCell, "lstm": nn.LSTMCell}

State = tuple[Tensor, ...]
"""The decoder's state [batch, hidden]; for an LSTM, state and cell."""


@dataclass(frozen=True, kw_only=True)
class Seq2SeqConfig:
    """The networks of Bastings et al. (2018), Section 4."""

    cell: Literal["srn", "gru", "lstm"] = "gru"
    hidden: int = 256
    """Units of the decoder, and of the encoder in each direction."""
    embedding: int = 64
    attention: bool = True
    dependency: bool = True
    """Whether the decoder sees its previous output; False is the paper's -Dep."""
    dropout: float = 0.2
    source_symbols: int
    """Source ids in use, PAD and EOS included."""
    target_symbols: int
    """Target ids in use, PAD and EOS included."""

    def __post_init__(self) -> None:
        if self.cell not in LAYERS:
            raise ValueError(f"cell must be one of {', '.join(LAYERS)}, not {self.cell!r}")
        if not (self.attention or self.dependency):
            raise ValueError("a decoder without attention needs dependency: it has no other input")


class Batch(NamedTuple):
    """Sources [batch, source length] and targets [batch, target length], as the module says."""

    source: Tensor
    target: Tensor


class Memory(NamedTuple):
    """What attention reads: the encoder's states, their projections, and where tokens are."""

    values: Tensor
    """[batch, source length, 2 * hidden]."""
    keys: Tensor
    """[batch, source length, hidden]."""
    is_token: Tensor
    """[batch, source length], False on padding."""


class Encoder(nn.Module):
    """A bidirectional recurrent layer, and the bridge to the decoder's first state."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        hidden = config.hidden
        self.embedding = nn.Embedding(config.source_symbols, config.embedding, padding_idx=PAD)
        self.dropout = nn.Dropout(config.dropout)
        self.recurrence = LAYERS[config.cell](
            config.embedding, hidden, batch_first=True, bidirectional=True
        )
        states = 2 if config.cell == "lstm" else 1
        self.bridges = nn.ModuleList(nn.Linear(2 * hidden, hidden) for _ in range(states))

    def forward(self, source: Tensor) -> tuple[Tensor, State]:
        """Return all states [batch, source length, 2 * hidden] and the decoder's first state."""
        lengths = (source != PAD).sum(dim=1).cpu()
        embedded = self.dropout(self.embedding(source))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        packed_states, last = self.recurrence(packed)
        states, _ = pad_packed_sequence(
            packed_states, batch_first=True, total_length=source.shape[1]
        )
        finals = last if isinstance(last, tuple) else (last,)
        bridged = (
            torch.tanh(bridge(torch.cat([final[0], final[1]], dim=-1)))
            for bridge, final in zip(self.bridges, finals, strict=True)
        )
        return states, tuple(bridged)


class Attention(nn.Module):
    """Additive attention without biases: v . tanh(Wq s + Wm h) (Bahdanau et al. 2015)."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.key = nn.Linear(2 * hidden, hidden, bias=False)
        self.score = nn.Linear(hidden, 1, bias=False)

    def forward(self, state: Tensor, memory: Memory) -> Tensor:
        """Return the context [batch, 2 * hidden] that a state [batch, hidden] asks for."""
        query = self.query(state).unsqueeze(1)
        scores = self.score(torch.tanh(query + memory.keys)).squeeze(2)
        scores = scores.masked_fill(~memory.is_token, float("-inf"))
        weights = torch.softmax(scores, dim=1)
        return torch.bmm(weights.unsqueeze(1), memory.values).squeeze(1)


class AttentionDecoder(nn.Module):
    """Reads [previous target; context], says Linear(Linear([previous target; state; context]))."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        hidden = config.hidden
        width = 2 * hidden + (config.embedding if config.dependency else 0)
        self.dependency = config.dependency
        self.attention = Attention(hidden)
        self.recurrence = CELLS[config.cell](width, hidden)
        self.dropout = nn.Dropout(config.dropout)
        self.pre_output = nn.Linear(width + hidden, hidden, bias=False)
        self.output = nn.Linear(hidden, config.target_symbols, bias=False)

    def forward(self, embedded: Tensor, state: State, memory: Memory) -> tuple[Tensor, State]:
        """Return the logits [batch, length, symbols] after each embedding, and the last state."""
        states, contexts = [], []
        for previous in embedded.unbind(1):
            context = self.attention(state[0], memory)
            inputs = torch.cat([previous, context], dim=1) if self.dependency else context
            if len(state) == 1:
                state = (self.recurrence(inputs, state[0]),)
            else:
                state = self.recurrence(inputs, state)
            states.append(state[0])
            contexts.append(context)
        parts = [torch.stack(states, dim=1), torch.stack(contexts, dim=1)]
        if self.dependency:
            parts.insert(0, embedded)
        features = self.dropout(torch.cat(parts, dim=2))
        return self.output(self.pre_output(features)), state


class PlainDecoder(nn.Module):
    """Reads the previous target alone, says Linear(state): the network without attention."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.recurrence = LAYERS[config.cell](config.embedding, config.hidden, batch_first=True)
        self.output = nn.Linear(config.hidden, config.target_symbols, bias=False)

    def forward(self, embedded: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the logits [batch, length, symbols] after each embedding, and the last state."""
        first = tuple(part.unsqueeze(0) for part in state)
        states, last = self.recurrence(embedded, first[0] if len(first) == 1 else first)
        lasts = last if isinstance(last, tuple) else (last,)
        return self.output(states), tuple(part.squeeze(0) for part in lasts)


class Seq2Seq(nn.Module):
    """The encoder-decoder of Bastings et al. (2018), with PyTorch's default initialisation."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        # The start of a sequence is PAD, whose embedding PyTorch keeps at zero.
        self.embedding = nn.Embedding(config.target_symbols, config.embedding, padding_idx=PAD)
        self.dropout = nn.Dropout(config.dropout)
        self.decoder = AttentionDecoder(config) if config.attention else PlainDecoder(config)
        if not config.dependency:
            # The decoder reads how many steps to make from the embeddings, and nothing else.
            self.embedding.requires_grad_(False)

    def logits(self, batch: Batch) -> Tensor:
        """Return the logits [batch, target length, symbols] under full teacher forcing."""
        state, memory = self._start(batch.source)
        previous = functional.pad(batch.target[:, :-1], (1, 0), value=PAD)
        return self._decode(previous, state, memory)[0]

    def loss(self, batch: Batch) -> Tensor:
        """Return the summed cross-entropy of all target tokens divided by the batch size."""
        total = functional.cross_entropy(
            self.logits(batch).flatten(0, 1),
            batch.target.flatten(),
            ignore_index=PAD,
            reduction="sum",
        )
        return total / len(batch.target)

    @torch.inference_mode()
    def greedy(self, source: Tensor, limit: int = 50) -> Tensor:
        """Return the likeliest next tokens [batch, at most limit], EOS included, then PAD.

        Decoding stops when every sequence has said EOS. Dropout is off.
        """
        was_training = self.training
        self.eval()
        state, memory = self._start(source)
        token = source.new_full((len(source), 1), PAD)
        ended = torch.zeros_like(token, dtype=torch.bool)
        said: list[Tensor] = []
        while len(said) < limit and not ended.all():
            logits, state = self._decode(token, state, memory)
            token = logits.argmax(dim=2)
            said.append(token.masked_fill(ended, PAD))
            ended |= token == EOS
        self.train(was_training)
        return torch.cat(said, dim=1)

    def train_step(self, batch: Batch, optimizer: torch.optim.Optimizer) -> Tensor:
        """Take one step (gradient norm clipped at 5) and return the loss before it."""
        optimizer.zero_grad()
        loss = self.loss(batch)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters(), 5.0)
        optimizer.step()
        return loss.detach()

    def _start(self, source: Tensor) -> tuple[State, Memory | None]:
        """Encode: return the decoder's first state, and what attention reads if there is any."""
        values, state = self.encoder(source)
        if isinstance(self.decoder, PlainDecoder):
            return state, None
        return state, Memory(values, self.decoder.attention.key(values), source != PAD)

    def _decode(
        self, previous: Tensor, state: State, memory: Memory | None
    ) -> tuple[Tensor, State]:
        """Return the logits after each previous token [batch, length], and the last state."""
        embedded = self.dropout(self.embedding(previous))
        if memory is None:
            return self.decoder(embedded, state)
        return self.decoder(embedded, state, memory)


def sgd(model: Seq2Seq, learning_rate: float = 0.2) -> torch.optim.SGD:
    """Return the paper's optimiser; decaying its rate by 0.96 an epoch is left to the caller."""
    return torch.optim.SGD(model.parameters(), lr=learning_rate, weight_decay=1e-8)


def weights(model: Seq2Seq) -> dict[str, np.ndarray]:
    """Return copies of `parameters` as float32 arrays, for another implementation."""
    named = parameters(model)
    return {name: value.detach().cpu().float().numpy().copy() for name, value in named.items()}


def parameters(model: Seq2Seq) -> dict[str, Tensor]:
    """Return the parameters under plain names.

    A matrix [n, m] maps m inputs to n outputs. H = hidden, E = embedding, D = E, or 0 under -Dep;
    G = the number of gates, stacked in this order along the first axis:
    srn 1; gru 3: reset, update, new; lstm 4: input, forget, candidate, output.
    A recurrence has two biases, one with each matrix. In a GRU they cannot be merged: the new
    state is tanh(W_input x + b_input + reset * (W_recurrent h + b_recurrent)), and the next state
    is (1 - update) * new + update * h.

    ======================================  ======================  ===========================
    name                                    shape                   present
    ======================================  ======================  ===========================
    source_embedding                        [source_symbols, E]     always; row PAD is 0
    target_embedding                        [target_symbols, E]     unless -Dep; row PAD (which
                                                                    starts a sequence) is 0
    encoder_{forward,backward}_input        [G * H, E]              always
    encoder_{forward,backward}_recurrent    [G * H, H]              always
    encoder_{forward,backward}_input_bias   [G * H]                 always
    encoder_{forward,backward}_recurrent_bias  [G * H]              always
    bridge, bridge_bias                     [H, 2H], [H]            always
    bridge_cell, bridge_cell_bias           [H, 2H], [H]            lstm
    attention_query                         [H, H]                  attention
    attention_key                           [H, 2H]                 attention
    attention_score                         [H]                     attention
    decoder_input                           [G * H, D + 2H]         attention: [target; context]
                                            [G * H, E]              without: target
    decoder_recurrent                       [G * H, H]              always
    decoder_input_bias                      [G * H]                 always
    decoder_recurrent_bias                  [G * H]                 always
    pre_output                              [H, D + H + 2H]         attention: [target; state;
                                                                    context]
    output                                  [target_symbols, H]     always
    ======================================  ======================  ===========================

    2H is always [forward; backward].
    """
    encoder, decoder = model.encoder, model.decoder
    named = {"source_embedding": encoder.embedding.weight}
    if model.config.dependency:
        named["target_embedding"] = model.embedding.weight
    named |= _recurrence("encoder_forward", encoder.recurrence, "_l0")
    named |= _recurrence("encoder_backward", encoder.recurrence, "_l0_reverse")
    for name, bridge in zip(("bridge", "bridge_cell"), encoder.bridges, strict=False):
        named |= {name: bridge.weight, f"{name}_bias": bridge.bias}
    if isinstance(decoder, AttentionDecoder):
        named["attention_query"] = decoder.attention.query.weight
        named["attention_key"] = decoder.attention.key.weight
        named["attention_score"] = decoder.attention.score.weight[0]
        named |= _recurrence("decoder", decoder.recurrence, "")
        named["pre_output"] = decoder.pre_output.weight
    else:
        named |= _recurrence("decoder", decoder.recurrence, "_l0")
    named["output"] = decoder.output.weight
    return named


def _recurrence(name: str, module: nn.Module, suffix: str) -> dict[str, Tensor]:
    """Return one direction of a recurrent layer, or a cell, under plain names."""
    return {
        f"{name}_input": getattr(module, f"weight_ih{suffix}"),
        f"{name}_recurrent": getattr(module, f"weight_hh{suffix}"),
        f"{name}_input_bias": getattr(module, f"bias_ih{suffix}"),
        f"{name}_recurrent_bias": getattr(module, f"bias_hh{suffix}"),
    }
