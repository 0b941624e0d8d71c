"""Data augmentation: new training examples from the training set of any task."""

from __future__ import annotations

from typing import NamedTuple

from daxy.augmentation.geca import Composer, Geca
from daxy.augmentation.worlds import Rewriter
from daxy.core.examples import Examples

__all__ = ["AugmentedTrain", "Augmenter", "Composer", "Geca"]


class AugmentedTrain(NamedTuple):
    """A training set after augmentation."""

    original: Examples
    """The training set; in tasks with worlds, with some changed examples."""
    added: Examples
    changed: int = 0
    """Number of changed examples of the training set."""


class Augmenter:
    """Augmentation of one training set, for several seeds."""

    def __init__(self, train: Examples, geca: Geca) -> None:
        self._train = train
        self._method = Composer(train, geca) if train.worlds is None else Rewriter(train, geca)

    def augment(self, seed: int) -> AugmentedTrain:
        """Return the training set of the run with this seed.

        Raises:
            WrongRequest: the settings are not for this training set.
        """
        if isinstance(self._method, Rewriter):
            result = self._method.augment(seed)
            return AugmentedTrain(result.original, result.added, result.changed)
        return AugmentedTrain(self._train, self._method.augment(seed).examples)
