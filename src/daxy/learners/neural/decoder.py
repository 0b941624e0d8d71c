"""Greedy decoding of a trained network, for any source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import jax
import numpy as np
from numpy.typing import NDArray

from daxy.core.display import Brief
from daxy.core.errors import WrongRequest, quote, require
from daxy.core.examples import Examples, Sequences
from daxy.core.vocabulary import Vocabulary
from daxy.learners.neural.model_file import write
from daxy.models.api import Model, ModelInputs, sees_worlds
from daxy.models.decoding.greedy import greedy
from daxy.models.decoding.inspect import greedy_of_length
from daxy.training.backend import backend
from daxy.training.checkpoint import named_arrays
from daxy.training.parts import LONGEST_OUTPUT
from daxy.worlds.columns import Worlds
from daxy.worlds.world import World

TokenRows: TypeAlias = Iterable[Sequence[str]]
"""Token sequences: columns of them, or any others."""
WorldRows: TypeAlias = Iterable[World]
"""Worlds: a table of them (`Worlds`), or any others."""


@dataclass(frozen=True, eq=False)
class Decoder(Brief):
    """A network with the vocabularies that it was trained with."""

    model: Model
    sources: Vocabulary
    targets: Vocabulary
    max_decode_length: int
    """Maximum tokens of an output, from the training configuration."""

    @property
    def _brief(self) -> str:
        name = type(self.model).__module__.rpartition(".")[2]
        leaves = jax.tree.leaves(self.model)
        weights = sum(leaf.size for leaf in leaves if isinstance(leaf, jax.Array | np.ndarray))
        tokens = f"{len(self.sources.tokens):,} source tokens, {len(self.targets.tokens):,} target"
        return f"{name}: {weights:,} weights, {tokens} tokens"

    @backend()
    def predict(
        self,
        sources: Examples | TokenRows,
        worlds: WorldRows | None = None,
        *,
        max_decode_length: int | None = None,
    ) -> Sequences:
        """Return the greedy output for each source.

            >>> network.predict([("jump", "twice"), "turn left".split()])

        Args:
            sources: Examples, or the tokens of each source.
            worlds: The world of each source, if the network sees worlds; examples have their own.
            max_decode_length: Maximum tokens of an output; by default that of the training
                configuration.

        Raises:
            WrongRequest: a source is a text, not tokens, or has a token that the network does not
                know; or a network that sees worlds gets none, or not one for each source; or
                `max_decode_length` is not positive or beyond `LONGEST_OUTPUT`.
        """
        if isinstance(sources, Examples):
            sources, worlds = sources.source, getattr(sources, "worlds", worlds)
        length = self.max_decode_length if max_decode_length is None else max_decode_length
        bounds = f"positive and at most {LONGEST_OUTPUT:,}, not {length:,}"
        require(0 < length <= LONGEST_OUTPUT, f"max-decode-length must be {bounds}")
        inputs = self._inputs(sources, worlds)
        return self.targets.decode(greedy(self.model, inputs, length))

    @backend()
    def predict_of_length(
        self, sources: TokenRows, lengths: NDArray[np.integer], worlds: WorldRows | None = None
    ) -> Sequences:
        """Return the greedy output of a given length for each source (length oracle).

        Raises:
            WrongRequest: see `predict`.
        """
        inputs = self._inputs(sources, worlds)
        check_counts(inputs, np.asarray(lengths), "lengths")
        return self.targets.decode(greedy_of_length(self.model, inputs, lengths))

    def save(self, folder: Path) -> list[str]:
        """Write the weights and the vocabularies; return the file's name."""
        return [write(folder, named_arrays(self.model), (self.sources, self.targets))]

    def _inputs(self, sources: TokenRows, worlds: WorldRows | None) -> ModelInputs:
        inputs = ModelInputs(self.sources.encode(columns(sources)), None)
        if not sees_worlds(self.model):
            return inputs
        if worlds is None:
            raise WrongRequest("this network needs worlds")
        table = worlds if isinstance(worlds, Worlds) else Worlds.of(worlds)
        check_counts(inputs, table, "worlds")
        return inputs._replace(world=table.tensors)


def check_counts(inputs: ModelInputs, values: Sized, named: str) -> None:
    """Refuse values that are not one for each source."""
    count = len(inputs.source)
    require(len(values) == count, f"{count} sources and {len(values)} {named}; expected one each")


def columns(sequences: TokenRows) -> Sequences:
    """Return token sequences as columns."""
    if isinstance(sequences, Sequences):
        return sequences
    rows = list(sequences)
    text = next((row for row in [sequences, *rows] if isinstance(row, str)), None)
    form = "expected the tokens of each sequence, as a tuple or list"
    require(text is None, f"{form}, not {quote(text)}")
    return Sequences.of(rows)
