"""New training examples from the old ones, whatever task they are of."""

from __future__ import annotations

from typing import NamedTuple

from daxy.augmentation.geca import Composer, Geca
from daxy.augmentation.worlds import Rewriter
from daxy.core.examples import Examples

__all__ = ["Augmenter", "Composer", "Geca", "AugmentedTrain"]


class AugmentedTrain(NamedTuple):
    """What is trained on after augmentation."""

    given: Examples
    """The training set; where there are worlds, some of it has been changed."""
    added: Examples
    changed: int = 0
    """How many of the training set are others now."""


class Augmenter:
    """What makes training sets of one, a seed each."""

    def __init__(self, train: Examples, geca: Geca) -> None:
        self._train = train
        self._made = Composer(train, geca) if train.worlds is None else Rewriter(train, geca)

    def taught(self, seed: int) -> AugmentedTrain:
        """Return what the run with this seed trains on.

        Raises:
            WrongRequest: nothing is to change in place where there are no worlds.
        """
        if isinstance(self._made, Rewriter):
            found = self._made.rewritten(seed)
            return AugmentedTrain(found.given, found.added, found.changed)
        return AugmentedTrain(self._train, self._made.augmented(seed).examples)
