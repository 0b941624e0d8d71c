"""A network that reads and writes in one go, with a memory (Grefenstette et al. 2015, section 3).

A source and its target are one sequence, `<s> source ||| target`. A recurrent controller reads all
of it. At each step it pushes to and pops from its memory, and gets what is read there at the next
(`daxy.models.layers.controller`; the memories' equations are in `daxy.models.memories`). Without a
memory it is the paper's deep LSTM, whose input reaches every layer.
"""

from __future__ import annotations

from math import ceil
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from daxy.core.vocabulary import END, PAD
from daxy.kernels import checkpointed_scan
from daxy.kernels.deferred_weight_grad import undeferred
from daxy.models.api import Batch, Sizes
from daxy.models.configs.transducer import Config
from daxy.models.layers.cells import LSTM
from daxy.models.layers.controller import (
    Controller,
    ControllerState,
    HeadBiases,
    Heads,
    StepInputs,
)
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.embedding import embed, embed_previous, with_start
from daxy.models.layers.initial import normal, uniform
from daxy.models.layers.linear import matmul
from daxy.models.layers.recurrence import RecurrentLayer, init_layer

SEGMENT = 160
"""Maximum steps of which the way back has the states of a memory at once. The paper's training
sequences, of at most 130 steps, fit in one segment: divided they would take a tenth more time."""

PROTOCOL = "grefenstette2015"
"""Protocol of the paper that the network is from."""


class DecoderState(NamedTuple):
    """The state between two tokens."""

    state: ControllerState
    time: Int[Array, " batch"]
    """Steps so far, those of the source among them."""

    @property
    def top(self) -> Float[Array, "batch hidden"]:
        """The hidden vector that the next token is made from."""
        return self.state.states[-1][0]


class Model(eqx.Module):
    """See the module; parameters are stored [incoming, outgoing], gates in PyTorch's order."""

    needs_max_length: ClassVar[bool] = True

    config: Config = eqx.field(static=True)
    source_embedding: Float[Array, "source_symbols_and_start embedding"]
    target_embedding: Float[Array, "target_symbols_and_start embedding"]
    """The last row is of the symbol between a source and its target."""
    first: Float[Array, "layers hidden"]
    """The hidden vectors before the first token; the LSTM's memory cells are 0."""
    controller: tuple[RecurrentLayer, ...]
    heads: Heads | None
    output: Float[Array, "features target_symbols"]
    output_bias: Float[Array, " target_symbols"]

    def __init__(self, config: Config, sizes: Sizes, *, key: PRNGKeyArray) -> None:
        keys = iter(jax.random.split(key, 6 + config.layers))
        hidden, embedding, memory = config.hidden, config.embedding, config.kind
        read = 0 if memory is None else memory.ends * config.memory_width
        widths = [embedding + read, *[hidden + embedding] * (config.layers - 1)]
        features = hidden if memory is None else embedding
        self.config = config
        self.source_embedding = normal(next(keys), (sizes.source_symbols + 1, embedding))
        self.target_embedding = normal(next(keys), (sizes.target_symbols + 1, embedding))
        self.first = uniform(next(keys), (config.layers, hidden), hidden)
        self.controller = tuple(init_layer(LSTM, width, hidden, key=next(keys)) for width in widths)
        self.heads = None if memory is None else Heads(config, memory, key=next(keys))
        self.output = uniform(next(keys), (features, sizes.target_symbols), features)
        self.output_bias = uniform(next(keys), (sizes.target_symbols,), features)

    def logits(
        self, batch: Batch, dropout: Dropout | None = None
    ) -> Float[Array, "batch target symbols"]:
        """Return the logits of every target token under teacher forcing."""
        rows, is_token = self.embed_source(batch.source)
        target = embed_previous(self.target_embedding, batch.decoder_inputs.T)
        rows = drop(dropout, "embedding", jnp.concatenate([rows, target]), batch_axis=1)
        is_token = jnp.concatenate([is_token, jnp.ones(target.shape[:2], bool)])
        run = self._layer_by_layer if self.heads is None else self._in_segments
        tops = run(rows, is_token)[-len(target) :]
        return self._output_logits(tops).swapaxes(0, 1)

    def start(self, source: Int[Array, "batch source"], max_length: int) -> DecoderState:
        """Read the sources; the state before the first of at most `max_length` target tokens."""
        rows, is_token = self.embed_source(source)
        inputs = self.step_inputs(rows, is_token)
        apply, biases = undeferred(self.step_weights()), self.head_biases()

        def read(state: ControllerState, inputs: StepInputs) -> tuple[ControllerState, None]:
            return self.recurrence.step(apply, biases, state, inputs)[0], None

        start = self.initial_state(len(source), len(rows) + max_length)
        state, _ = jax.lax.scan(read, start, inputs)
        return DecoderState(state, jnp.full(len(source), len(rows), jnp.int32))

    def step(
        self, state: DecoderState, token: Int[Array, " batch"]
    ) -> tuple[DecoderState, Float[Array, "batch symbols"]]:
        """Read the previous token (PAD before the first); return the logits of the next."""
        row = embed_previous(self.target_embedding, token)
        inputs = StepInputs(self._gates(row), jnp.ones(len(token), bool), state.time)
        apply, biases = undeferred(self.step_weights()), self.head_biases()
        after, top = self.recurrence.step(apply, biases, state.state, inputs)
        return DecoderState(after, state.time + 1), self._output_logits(top)

    @property
    def recurrence(self) -> Controller:
        """A step of the controller with its memory."""
        return Controller(self.config.kind)

    def embed_source(
        self, source: Int[Array, "batch source"]
    ) -> tuple[Float[Array, "time batch embedding"], Bool[Array, "time batch"]]:
        """Return the embedded start symbol and source, and where they have a token.

        END is none: the symbol before the target says that the source has ended.
        """
        codes = with_start(source, self.source_embedding).T
        return embed(self.source_embedding, codes), (codes != PAD) & (codes != END)

    def step_inputs(
        self, rows: Float[Array, "time batch embedding"], is_token: Bool[Array, "time batch"]
    ) -> StepInputs:
        """Return the inputs of the first steps, from embedded tokens."""
        return StepInputs(self._gates(rows), is_token, jnp.arange(len(rows), dtype=jnp.int32))

    def initial_state(self, batch: int, steps: int) -> ControllerState:
        """Return the state before the first of at most `steps` tokens."""
        zeros, memory = jnp.zeros((batch, self.config.hidden), jnp.float32), self.config.kind
        states = tuple((jnp.broadcast_to(own, zeros.shape), zeros) for own in self.first)
        if memory is None:
            return ControllerState(states, jnp.zeros((batch, 0), jnp.float32), ())
        width = self.config.memory_width
        read = jnp.zeros((batch, memory.ends * width), jnp.float32)
        return ControllerState(states, read, memory.start(batch, steps, width))

    def step_weights(self) -> dict[str, Array]:
        """Return the matrices that a step multiplies by, by the names `Controller` uses."""
        first, *others = self.controller
        embedding, hidden = self.config.embedding, self.config.hidden
        below = [first.input_to_gates[embedding:], *(own.input_to_gates[:hidden] for own in others)]
        weights = {
            f"layer {number}": jnp.concatenate([layer.state_to_gates, weight])
            for number, (layer, weight) in enumerate(zip(self.controller, below, strict=True))
        }
        if self.heads is not None:
            weights |= {"wants": self.heads.wants, "values": self.heads.values}
        return weights

    def head_biases(self) -> HeadBiases:
        """Return the biases that a step adds."""
        if self.heads is None:
            return HeadBiases(None, None)
        return HeadBiases(self.heads.wants_bias, self.heads.values_bias)

    def _gates(
        self, rows: Float[Array, "*time batch embedding"]
    ) -> tuple[Float[Array, "*time batch gates"], ...]:
        """Return what embedded tokens add to the gates of each layer."""
        embedding, hidden = self.config.embedding, self.config.hidden
        first, *others = self.controller
        weights = [first.input_to_gates[:embedding]]
        weights += [layer.input_to_gates[hidden:] for layer in others]
        pairs = zip(self.controller, weights, strict=True)
        return tuple(
            matmul(rows, weight) + (layer.input_bias + layer.state_bias) for layer, weight in pairs
        )

    def _in_segments(
        self, rows: Float[Array, "time batch embedding"], is_token: Bool[Array, "time batch"]
    ) -> Float[Array, "time batch hidden"]:
        """Return the top hidden vector after every step."""
        steps = len(rows)
        segments = ceil(steps / SEGMENT)
        missing = -steps % segments
        rows = jnp.pad(rows, ((0, missing), (0, 0), (0, 0)))
        is_token = jnp.pad(is_token, ((0, missing), (0, 0)))
        start, inputs = (
            self.initial_state(rows.shape[1], len(rows)),
            self.step_inputs(rows, is_token),
        )
        arguments = self.step_weights(), self.head_biases(), start, inputs
        return checkpointed_scan.scan(self.recurrence, *arguments, segments=segments)[:steps]

    def _layer_by_layer(
        self, rows: Float[Array, "time batch embedding"], is_token: Bool[Array, "time batch"]
    ) -> Float[Array, "time batch hidden"]:
        """Return the top hidden vector after every step of a network without a memory.

        Without a memory no layer waits for the one above it, so each runs through all steps before
        the next. A loop then reads the weights of one layer, which a core's cache may hold.
        """
        start, inputs = (
            self.initial_state(rows.shape[1], len(rows)),
            self.step_inputs(rows, is_token),
        )
        hidden, below = self.config.hidden, None
        for layer, state, from_token in zip(
            self.controller, start.states, inputs.gates, strict=True
        ):
            gates = from_token
            if below is not None:
                gates = gates + matmul(below, layer.input_to_gates[:hidden])
            weights = {"layer 0": layer.state_to_gates}
            own = start._replace(states=(state,)), inputs._replace(gates=(gates,))
            below = checkpointed_scan.scan(self.recurrence, weights, self.head_biases(), *own)
        assert below is not None
        return below

    def _output_logits(self, tops: Float[Array, "*rows hidden"]) -> Float[Array, "*rows symbols"]:
        if self.heads is not None:
            tops = jnp.tanh(matmul(tops, self.heads.said) + self.heads.said_bias)
        return matmul(tops, self.output) + self.output_bias
