"""Nearest training sources by final decoder state (Lake & Baroni 2018, Table 1).

A command is represented by the decoder's top hidden vector after the network has said what it says
of it; two are as near as the cosine between them.
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
from daxy.report.analyses._analysis import Findings, Row
from daxy.report.analyses._data import OfData, split_of
from daxy.report.analyses._judged import judged
from daxy.runs.folder import RunFolder
from daxy.runs.saved import load_network

NEAREST = 5
OF = ("run", "jump", "run twice", "jump twice")
"""The paper's own choice."""


@final
class Neighbours(OfData):
    """The nearest of all training sources, by the cosine of final decoder states."""

    name = "neighbours"
    selects = "source"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return the five nearest of each command, by the mean of the runs' cosines."""
        found = judged(folders)
        self.refuse_worlds(found.task)
        others = f"{found.task} has other sources than the paper's choice; say which with --source"
        require(bool(of) or _has_sources(found.task, OF), others)
        chosen = list(dict.fromkeys(" ".join(words.split()) for words in of or OF))
        require(all(chosen), "--source has no words; expected a source")
        asked = Sequences.of([words.split() for words in chosen])
        split = split_of(folders[0], self.official)
        train = Sequences.of(dict.fromkeys(map(tuple, split.train.source)))
        cosines = list[NDArray[np.float32]]()
        for folder in folders:
            network = load_network(folder.path)
            # What is asked comes first: it may be refused, and train takes long.
            own, every = (_unit(network.last_states(each)) for each in (asked, train))
            cosines.append(own @ every.T)
        trained = [" ".join(source) for source in train]
        rows = list[Row]()
        for words, each in zip(chosen, np.stack(cosines, axis=1), strict=True):
            order = np.argsort(-each.mean(axis=0), kind="stable").tolist()
            nearest = [n for n in order if trained[n] != words][:NEAREST]
            rows += [
                Row(group=words, name=trained[n], value=Summary(runs=tuple(each[:, n].tolist())))
                for n in nearest
            ]
        title = f"{found.task}: nearest training sources"
        return Findings(title=title, rows=tuple(rows), measure="cosine", top=1.02)


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
