"""Wrong answers by kind of error, with examples; --word for sources with a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import UnknownName, require
from daxy.core.examples import Sequences
from daxy.core.summary import Summary
from daxy.report.analyses._analysis import Analysis, Findings, Row
from daxy.report.analyses._judged import judged
from daxy.report.mistakes import KINDS, Mistakes, predictions_of
from daxy.runs.folder import RunFolder


@final
class Errors(Analysis):
    """Wrong answers by kind, and over several seeds by the number of seeds that err."""

    name = "errors"
    selects = "word"

    def run(self, folders: Sequence[RunFolder], of: Sequence[str] = ()) -> Findings:
        """Return counts by kind and the wrong answers; of sources with all of these words."""
        found = judged(folders)
        words = [word for text in of for word in text.split()]
        rows = np.flatnonzero(_with_words(found.sources, words))
        require(len(rows) > 0, f"no source of the test set has all of {', '.join(words)}")
        chosen = found.at(rows)
        predictions = [predictions_of(folder).take(rows) for folder in folders]
        mistakes = Mistakes(chosen.sources, chosen.targets, predictions, chosen.right)
        wrong = (~chosen.right).sum(axis=1)
        having = f" with {' '.join(words)}" if words else ""
        counts = " ".join(f"{count:,}" for count in wrong)
        return Findings(
            title=f"{found.task}: {counts} of {len(rows):,} test examples{having} are wrong",
            rows=(*_by_kind(mistakes), *_by_seeds(mistakes)),
            measure="share (%)",
            mistakes=mistakes,
        )


def _with_words(sources: Sequences, words: Sequence[str]) -> NDArray[np.bool_]:
    """Return which sources have all of these words."""
    owners = np.repeat(np.arange(len(sources)), sources.lengths)
    chosen = np.ones(len(sources), np.bool_)
    for word in words:
        if word not in sources.symbols:
            raise UnknownName("word of a source", word, sources.symbols)
        has = np.zeros(len(sources), np.bool_)
        has[owners[sources.codes == sources.symbols.index(word)]] = True
        chosen &= has
    return chosen


def _by_kind(mistakes: Mistakes) -> Iterator[Row]:
    """Yield a row for each kind: the share of each run's errors."""
    wrong = np.maximum((~mistakes.right).sum(axis=1), 1)
    for place, kind in enumerate(KINDS):
        counts = (mistakes.kinds == place).sum(axis=1)
        shares = (100 * counts / wrong).tolist()
        count = round(float(counts.mean()))
        yield Row(group="kind of error", name=kind, examples=count, value=Summary(runs=(*shares,)))


def _by_seeds(mistakes: Mistakes) -> Iterator[Row]:
    """Yield a row for each number of runs that err: the share of all examples."""
    runs, count = mistakes.right.shape
    often = (~mistakes.right).sum(axis=0)
    for errs in range(runs, -1, -1) if runs > 1 else ():
        examples = int((often == errs).sum())
        share = Summary(runs=(100 * examples / count,))
        yield Row(group="runs that err", name=f"{errs} of {runs}", examples=examples, value=share)


ANALYSIS = Errors()
