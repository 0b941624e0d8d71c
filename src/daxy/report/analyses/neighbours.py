"""Nearest training sources by final decoder state (Lake & Baroni 2018, Table 1).

A command is represented by the decoder's top hidden vector after the network's output; similarity
is the cosine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy import tasks
from daxy.core.errors import WrongRequest, require
from daxy.core.examples import Sequences
from daxy.core.summary import Summary
from daxy.report.analysis import AnalysisResult, DataAnalysis, Row
from daxy.report.correctness import correctness
from daxy.report.run_data import split_of
from daxy.runs.folder import RunFolder
from daxy.runs.saved import load_network

NEAREST = 5
SOURCES = ("run", "jump", "run twice", "jump twice")
"""Sources in the paper's table."""


@final
class Neighbours(DataAnalysis):
    """The nearest of all training sources, by the cosine of final decoder states."""

    name = "neighbours"
    selects = "source"

    def run(self, folders: Sequence[RunFolder], selection: Sequence[str] = ()) -> AnalysisResult:
        """Return the five nearest of each source, by the mean cosine over runs."""
        task = correctness(folders).task
        self.refuse_worlds(task)
        others = f"{task} has other sources than the paper's choice; say which with --source"
        require(bool(selection) or _has_sources(task, SOURCES), others)
        chosen = list(dict.fromkeys(" ".join(text.split()) for text in selection or SOURCES))
        require(all(chosen), "--source has no words; expected a source")
        split = split_of(folders[0], self.official)
        train = Sequences.of(dict.fromkeys(map(tuple, split.train.source)))
        queries = Sequences.of([text.split() for text in chosen])
        cosines = np.stack([_cosines(folder, queries, train) for folder in folders], axis=1)
        names = [" ".join(source) for source in train]
        return AnalysisResult(
            title=f"{task}: nearest training sources",
            rows=tuple(
                row
                for text, own in zip(chosen, cosines, strict=True)
                for row in _nearest(text, names, own)
            ),
            measure="cosine",
            y_max=1.02,
        )


def _cosines(folder: RunFolder, queries: Sequences, train: Sequences) -> NDArray[np.float32]:
    """Return the cosine of each query with each training source: [queries, train]."""
    network = load_network(folder.path)
    # Queries first: they may be refused, and train takes long.
    own, others = (_unit(network.last_states(sources)) for sources in (queries, train))
    return own @ others.T


def _nearest(source: str, names: Sequence[str], cosines: NDArray[np.float32]) -> list[Row]:
    """Return the rows of the nearest sources; cosines are [runs, train]."""
    order: list[int] = np.argsort(-cosines.mean(axis=0), kind="stable").tolist()
    return [
        Row(group=source, name=names[at], value=Summary(runs=tuple(cosines[:, at].tolist())))
        for at in [at for at in order if names[at] != source][:NEAREST]
    ]


def _has_sources(task: str, sources: Sequence[str]) -> bool:
    """Whether the sources of a task are sentences of a language that has these."""
    language = tasks.get(task).language
    if language is None or tasks.get(task).is_mirrored:
        return False
    try:
        return all(language.parse(language.words(text)) for text in sources)
    except WrongRequest:
        return False


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


ANALYSIS = Neighbours()
