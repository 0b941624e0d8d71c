"""Equations of papers in NumPy, one example at a time, to compare networks with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def sigmoid(values: Array) -> Array:
    return 1 / (1 + np.exp(-values))


def softmax(values: Array) -> Array:
    powers = np.exp(values - values.max())
    return powers / powers.sum()


def lstm(row: Array, state: tuple[Array, Array], *weights: Array) -> tuple[Array, Array]:
    """Return the state after a row; gates stand in the order input, forget, new, output."""
    to_input, to_state, input_bias, state_bias = weights
    gates = row @ to_input + input_bias + state[0] @ to_state + state_bias
    entry, forget, new, leave = np.split(gates, 4)
    memory = sigmoid(forget) * state[1] + sigmoid(entry) * np.tanh(new)
    return sigmoid(leave) * np.tanh(memory), memory
