"""Learning rates and convergence tests, from the records of training."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from daxy.training.config import TrainingConfig
from daxy.training.parts import Moment, Plateau

IMPROVEMENT = 1e-4
"""By how much of itself the best score must be exceeded to count as better; or the lowest loss, in
nats."""
RELATIVE_IMPROVEMENT = 0.01
"""Or by how much of itself a loss must be lower, where that is less."""
PERFECT = 1e-5
"""Nats a token: of a thousand sequences of 128 tokens one or two have a wrong one."""


def learning_rate(
    config: TrainingConfig,
    *,
    epochs: int,
    steps: int,
    total_steps: int,
    scores: Sequence[float | None],
) -> float:
    """Return the learning rate at a moment of training.

    Args:
        config: The training configuration.
        epochs: Epochs that have ended.
        steps: Steps that have ended.
        total_steps: Steps of the whole training.
        scores: The validation scores of those epochs; None where there was none.
    """
    schedule = config.schedule
    waits = isinstance(schedule, Plateau)
    at = Moment(
        epochs=epochs,
        steps=steps,
        total_steps=total_steps,
        plateaus=plateaus(scores, schedule.lr_patience) if waits else 0,
    )
    return config.optimizer.learning_rate * schedule.factor(at)


def plateaus(scores: Sequence[float | None], patience: int) -> int:
    """Return how often more than `patience` scores in a row were no better than the best before.

    After each such time the count begins anew; the best stays. PyTorch's `ReduceLROnPlateau` has
    the same rule. An epoch without a score does not count.
    """
    best, waiting, count = float("-inf"), 0, 0
    for score in (each for each in scores if each is not None):
        if score > best * (1 + IMPROVEMENT):
            best, waiting = score, 0
        else:
            waiting += 1
        if waiting > patience:
            count, waiting = count + 1, 0
    return count


def has_converged(patience: int, perplexities: Sequence[float]) -> bool:
    """Whether training stops early by its own perplexity; see `Selection.early_stopping`.

    The loss, in nats a token, is better if it is lower by `IMPROVEMENT`, or by a hundredth of
    itself if that is less: a network that is nearly perfect still improves.

    Args:
        patience: Epochs without a better loss; 0: never stop.
        perplexities: Training perplexity of each epoch so far.
    """
    if not patience:
        return False
    best, waiting = float("inf"), 0
    for nats in map(log, perplexities):
        if nats < best - min(IMPROVEMENT, RELATIVE_IMPROVEMENT * best):
            best, waiting = nats, 0
        else:
            waiting += 1
        if best <= PERFECT or waiting >= patience:
            return True
    return False
