"""Trace of a memory while a network reads a source and writes an output."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from daxy.kernels.deferred_weight_grad import undeferred
from daxy.models.layers.controller import ControllerState, StepInputs
from daxy.models.layers.embedding import embed, embed_previous, with_start
from daxy.models.transducer import Model


class MemoryTrace(NamedTuple):
    """Actions, reads and contents of a memory at each step.

    A push is of a step at one of the ends: push i is of step i // ends, at end i % ends.
    """

    action_probs: Float[Array, "steps ends actions"]
    """Strength of each action of a step at each end."""
    reads: Float[Array, "steps ends pushes"]
    """Share of each push that is read after a step."""
    contents: Float[Array, "steps pushes"]
    """Share of each push that is in the memory after a step."""


def memory_trace(
    model: Model, source: Int[Array, " source"], output: Int[Array, " target"]
) -> MemoryTrace:
    """Trace a memory at the start symbol, each token of a source and before each of an output.

    Neither has PAD, and the source no END. A second memory does the same actions, but each of its
    pushes is a unit vector of its own: its reads say how much is read of which push.
    """
    memory = model.config.kind
    assert memory is not None
    rows = [
        embed(model.source_embedding, with_start(source[None], model.source_embedding).T),
        embed_previous(model.target_embedding, jnp.pad(output, (1, 0))[:-1, None]),
    ]
    joint = jnp.concatenate(rows)
    steps, ends = len(joint), memory.ends
    apply, biases = undeferred(model.step_weights()), model.head_biases()
    units = jnp.eye(steps * ends, dtype=jnp.float32)
    end = jnp.arange(ends, dtype=jnp.int32)

    def advance(
        carry: tuple[ControllerState, Any], inputs: StepInputs
    ) -> tuple[tuple[ControllerState, Any], MemoryTrace]:
        state, marked = carry
        states, request = model.recurrence.run_layers(apply, biases, state, inputs)
        assert request is not None
        pushes = units[inputs.time * ends + end][None]
        marked, reads = memory.step(
            marked, inputs.time, inputs.is_token, request.action_logits, pushes
        )
        probs = memory.action_probs(request.action_logits)
        state = model.recurrence.use_memory(state, inputs, states, request)
        return (state, marked), MemoryTrace(probs[0], reads[0], memory.contents(marked)[0])

    start = model.initial_state(1, steps), memory.start(1, steps, steps * ends)
    inputs = model.step_inputs(joint, jnp.ones((steps, 1), bool))
    return jax.lax.scan(advance, start, inputs)[1]
