"""The recurrent controller of a memory (Grefenstette et al. 2015, section 3.4).

At each step the input is the token beside the vector that the last step read from the memory. Each
layer also reads the layer below it. Of its top hidden vector o the heads make, for each end of the
memory, logits of the actions (pop and push for strengths) and a vector to push, tanh(W_v o + b_v).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from daxy.kernels import checkpointed_scan, memory_reads
from daxy.kernels.deferred_weight_grad import Apply
from daxy.kernels.memory_reads import MemoryInputs, PrecomputedReads, ReadCotangents
from daxy.models.configs.transducer import Config
from daxy.models.layers.cells import LSTM, State
from daxy.models.layers.initial import uniform
from daxy.models.memories import Memory, SlotState, StrengthMemory

MemoryState: TypeAlias = Any
"""The arrays of a memory."""


class Heads(eqx.Module):
    """Linear maps from the controller to the memory, and to the next token."""

    wants: Float[Array, "hidden actions"]
    """To the logits of the actions at all ends."""
    wants_bias: Float[Array, " actions"]
    values: Float[Array, "hidden values"]
    """To the vectors to push at all ends."""
    values_bias: Float[Array, " values"]
    said: Float[Array, "hidden embedding"]
    """To the vector that predicts the next token."""
    said_bias: Float[Array, " embedding"]

    def __init__(self, config: Config, memory: Memory, *, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 6)
        hidden, actions = config.hidden, memory.ends * len(memory.actions)
        self.wants = uniform(keys[0], (hidden, actions), hidden)
        bias = uniform(keys[1], (actions,), hidden).reshape(memory.ends, -1)
        for action, first in (("pop", config.pop_bias), ("push", config.push_bias)):
            if first is not None and action in memory.actions:
                bias = bias.at[:, memory.actions.index(action)].set(first)
        if config.bottom_push_bias is not None:
            place = memory.sides.index("bottom"), memory.actions.index("push")
            bias = bias.at[place].set(config.bottom_push_bias)
        self.wants_bias = bias.ravel()
        self.values = uniform(keys[2], (hidden, memory.ends * config.memory_width), hidden)
        self.values_bias = uniform(keys[3], (memory.ends * config.memory_width,), hidden)
        self.said = uniform(keys[4], (hidden, config.embedding), hidden)
        self.said_bias = uniform(keys[5], (config.embedding,), hidden)


class ControllerState(NamedTuple):
    """The state of controller and memory between two tokens."""

    states: tuple[State, ...]
    """Of each layer of the controller."""
    read: Float[Array, "batch read"]
    """Vectors that the last step read from the memory, at all ends."""
    memory: MemoryState


class StepInputs(NamedTuple):
    """The inputs of a step, or, with time before the batch, of many."""

    gates: tuple[Float[Array, "*time batch gates"], ...]
    """Contribution of the token to the gates of each layer, biases included."""
    is_token: Bool[Array, "*time batch"]
    time: Int[Array, " any"] | Int[Array, ""]
    """Steps before this one: of all rows, or of each."""


class Request(NamedTuple):
    """Output of a controller for its memory."""

    action_logits: Float[Array, "batch ends actions"]
    values: Float[Array, "batch ends width"]


class HeadBiases(NamedTuple):
    """The biases of the heads; None without a memory."""

    actions: Float[Array, " actions"] | None
    values: Float[Array, " values"] | None


@dataclass(frozen=True)
class Controller(checkpointed_scan.Recurrence):
    """Steps of a controller with its memory; the output of a step is its top hidden vector.

    For the way back it saves the controller's states, and of the memory only checkpoints. Those of
    a memory with strengths are sums of strengths, without any vectors.
    """

    memory: Memory | None

    def step(
        self,
        apply: Apply,
        constants: HeadBiases,
        state: ControllerState,
        inputs: StepInputs,
        precomputed: PrecomputedReads | None = None,
    ) -> tuple[ControllerState, Float[Array, "batch hidden"]]:
        """Return the state after a token, and the top hidden vector."""
        states, request = self.run_layers(apply, constants, state, inputs)
        return self.use_memory(state, inputs, states, request, precomputed), states[-1][0]

    def run_layers(
        self, apply: Apply, biases: HeadBiases, state: ControllerState, inputs: StepInputs
    ) -> tuple[tuple[State, ...], Request | None]:
        """Return the states of all layers after a token, and the request to the memory."""
        states, below = list[State](), state.read
        for number, (before, gates) in enumerate(zip(state.states, inputs.gates, strict=True)):
            product = apply(f"layer {number}", jnp.concatenate([before[0], below], axis=1))
            states.append(LSTM.masked_step(inputs.is_token, before, gates, product))
            below = states[-1][0]
        if self.memory is None:
            return tuple(states), None
        products = apply("wants", below), apply("values", below)
        return tuple(states), self.request(biases, *products)

    def request(
        self,
        biases: HeadBiases,
        actions: Float[Array, "batch actions"],
        values: Float[Array, "batch values"],
    ) -> Request:
        """Return the request to the memory, of products of the top hidden vector."""
        assert self.memory and biases.actions is not None and biases.values is not None
        shape = len(actions), self.memory.ends, -1
        logits, pushed = actions + biases.actions, jnp.tanh(values + biases.values)
        return Request(logits.reshape(shape), pushed.reshape(shape))

    def use_memory(
        self,
        state: ControllerState,
        inputs: StepInputs,
        states: tuple[State, ...],
        request: Request | None,
        precomputed: PrecomputedReads | None = None,
    ) -> ControllerState:
        """Return the state once the memory has done what is requested."""
        if self.memory is None or request is None:
            return ControllerState(states, state.read, ())
        at = inputs.time, inputs.is_token
        if precomputed is None:
            memory, read = self.memory.step(state.memory, *at, *request)
        else:
            assert isinstance(self.memory, StrengthMemory)
            memory, read = memory_reads.step(
                self.memory, state.memory, *at, request.action_logits, request.values, precomputed
            )
        read = jnp.where(inputs.is_token[:, None], read.reshape(len(read), -1), state.read)
        return ControllerState(states, read, memory)

    def residuals(self, state: ControllerState) -> ControllerState:
        """Return all but the memory."""
        return state._replace(memory=())

    def checkpoint(self, state: ControllerState) -> MemoryState:
        """Return what is needed to compute the states of the memory again."""
        return state.memory.sums if isinstance(self.memory, StrengthMemory) else state.memory

    def precompute(
        self,
        constants: HeadBiases,
        segment: checkpointed_scan.Segment,
        last: ControllerState,
        cotangent: ControllerState,
    ) -> tuple[ControllerState, PrecomputedReads | None]:
        """Return the state before each step, and the reads of a memory with strengths."""
        memory, states, products = self.memory, segment.residuals, segment.products
        if memory is None:
            return states, None
        requests = jax.vmap(partial(self.request, constants))(products["wants"], products["values"])
        inputs = MemoryInputs(segment.inputs.time, segment.inputs.is_token, *requests)
        if not isinstance(memory, StrengthMemory):
            before, reads = _memory_states(memory, segment.checkpoint, inputs), None
        else:
            vectors = last.memory.vectors, cotangent.memory.vectors
            before, reads = memory_reads.precompute(memory, segment.checkpoint, inputs, *vectors)
        return states._replace(memory=before), reads

    def restore(
        self, own: ControllerState, precomputed: PrecomputedReads | None
    ) -> ControllerState:
        """Return the state before a step, without the vectors where reads are precomputed."""
        return own if precomputed is None else own._replace(memory=precomputed.enter(own.memory))

    def enter_segment(
        self, cotangent: ControllerState, precomputed: PrecomputedReads | None
    ) -> ControllerState:
        """Return the cotangent of the state after a segment, of which no read is known yet."""
        if precomputed is None:
            return cotangent
        return cotangent._replace(memory=precomputed.enter(cotangent.memory.sums))

    def leave_segment(
        self, cotangent: ControllerState, precomputed: PrecomputedReads | None
    ) -> ControllerState:
        """Return the cotangent of the state before a segment, with that of the vectors."""
        if precomputed is None:
            return cotangent
        reads = ReadCotangents(*cotangent.memory)
        return cotangent._replace(memory=SlotState(*precomputed.leave(reads)))


def _memory_states(memory: Memory, start: MemoryState, inputs: MemoryInputs) -> MemoryState:
    """Return a memory before each of some steps, time first."""

    def step(state: MemoryState, inputs: MemoryInputs) -> tuple[MemoryState, MemoryState]:
        return memory.step(state, *inputs)[0], state

    return jax.lax.scan(step, start, inputs)[1]
