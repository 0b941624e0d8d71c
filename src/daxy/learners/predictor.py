"""One trained network, loaded from its run folder, asked about any source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from daxy import models
from daxy.core.examples import Sequences
from daxy.core.vocabulary import Vocabulary
from daxy.models._decoding import greedy, greedy_of_length, last_states
from daxy.models._model import Model, Sizes


@dataclass(frozen=True, eq=False)
class Predictor:
    """A network with the vocabularies that it was trained with."""

    model: Model
    sources: Vocabulary
    targets: Vocabulary
    limit: int

    def predict(self, sources: Sequences) -> Sequences:
        """Return the greedy output for each source.

        Raises:
            WrongRequest: a source has a token that the network does not know.
        """
        return self.targets.decode(greedy(self.model, self.sources.encode(sources), self.limit))

    def predict_of_length(self, sources: Sequences, lengths: NDArray[np.integer]) -> Sequences:
        """Return the greedy output for each source, given how many tokens it is to have.

        Raises:
            WrongRequest: a source has a token that the network does not know.
        """
        codes = self.sources.encode(sources)
        return self.targets.decode(greedy_of_length(self.model, codes, lengths))

    def last_states(self, sources: Sequences) -> NDArray[np.float32]:
        """Return the decoder's top hidden vector after each source's output: [count, hidden].

        Raises:
            WrongRequest: a source has a token that the network does not know.
        """
        return last_states(self.model, self.sources.encode(sources), self.limit)


def empty_model(
    architecture: str, config: dict[str, Any], sources: Vocabulary, targets: Vocabulary
) -> Any:
    """Return a model of this shape without weights, to be filled with loaded ones."""
    module = models.get(architecture)
    sizes = Sizes(len(sources), len(targets))
    settings = module.Config(**config)
    return jax.eval_shape(lambda key: module.Model(settings, sizes, key=key), jax.random.key(0))
