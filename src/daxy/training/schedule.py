"""How large a step is: the learning rate, from what training has come to so far."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from daxy.training.protocol import Protocol

MARGIN = 1e-4
"""By how much of itself the best score has to be beaten to count as better; or the best loss, in
nats."""
SHARE = 0.01
"""Or by how much of itself a loss has to be, where that is less."""
PERFECT = 1e-5
"""Nats a token: of a thousand sequences of 128 tokens one or two have a wrong one."""


def learning_rate(
    protocol: Protocol, epochs: int, steps: int, scores: Sequence[float | None]
) -> float:
    """Return the learning rate after so many epochs, and steps of all.

    Args:
        protocol: The recipe.
        epochs: Epochs that have ended.
        steps: Steps that were taken.
        scores: The validation scores of those epochs; None where there was none.
    """
    times = steps / protocol.lr_decay_steps if protocol.lr_decay_steps else epochs
    rate = protocol.learning_rate * protocol.lr_decay**times
    if protocol.lr_factor == 1:
        return rate
    return rate * protocol.lr_factor ** plateaus(scores, protocol.lr_patience)


def plateaus(scores: Sequence[float | None], patience: int) -> int:
    """Return how often more than `patience` scores in a row were no better than the best before.

    After each such time the count begins anew; the best stays. PyTorch's `ReduceLROnPlateau` has
    the same rule. An epoch without a score does not count.
    """
    best, waiting, found = float("-inf"), 0, 0
    for score in (each for each in scores if each is not None):
        if score > best * (1 + MARGIN):
            best, waiting = score, 0
        else:
            waiting += 1
        if waiting > patience:
            found, waiting = found + 1, 0
    return found


def has_converged(protocol: Protocol, perplexities: Sequence[float]) -> bool:
    """Whether a recipe's training ends here by its own perplexity; see `Protocol.early_stopping`.

    What counts is the loss, in nats a token. It is better where it is lower by `MARGIN`, or by a
    hundredth of itself if that is less: a network that is nearly perfect still becomes better.
    """
    if not protocol.early_stopping:
        return False
    best, waiting = float("inf"), 0
    for nats in map(log, perplexities):
        if nats < best - min(MARGIN, SHARE * best):
            best, waiting = nats, 0
        else:
            waiting += 1
        if best <= PERFECT or waiting >= protocol.early_stopping:
            return True
    return False
