"""Wrong answers by kind of error, with examples; --word for sources with a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import UnknownName, require
from daxy.core.examples import Sequences
from daxy.core.summary import Summary
from daxy.report.analysis import Analysis, AnalysisResult, Row
from daxy.report.correctness import correctness
from daxy.report.mistakes import KINDS, Mistakes, predictions_of
from daxy.runs.folder import RunFolder


@final
class Errors(Analysis):
    """Wrong answers by kind, and over several seeds by the number of seeds that err."""

    name = "errors"
    selects = "word"

    def run(self, folders: Sequence[RunFolder], selection: Sequence[str] = ()) -> AnalysisResult:
        """Return counts by kind and the wrong answers, for sources with all selected words."""
        results = correctness(folders)
        words = [word for text in selection for word in text.split()]
        rows = np.flatnonzero(_have_words(results.sources, words))
        require(len(rows) > 0, f"no source of the test set has all of {', '.join(words)}")
        results = results.take(rows)
        predictions = [predictions_of(folder).take(rows) for folder in folders]
        mistakes = Mistakes(results.sources, results.targets, predictions, results.right)
        with_words = f" with {' '.join(words)}" if words else ""
        *counts, last = (f"{count:,}" for count in (~results.right).sum(axis=1))
        number = f"{', '.join(counts)} and {last}" if counts else last
        return AnalysisResult(
            title=f"{results.task}: {number} of {len(rows):,} test examples{with_words} are wrong",
            rows=(*_by_kind(mistakes), *_by_seeds(mistakes)),
            measure="share (%)",
            mistakes=mistakes,
        )


def _have_words(sources: Sequences, words: Sequence[str]) -> NDArray[np.bool_]:
    """Return which sources have all of these words."""
    owners = np.repeat(np.arange(len(sources)), sources.lengths)
    have_all = np.ones(len(sources), np.bool_)
    for word in words:
        if word not in sources.symbols:
            raise UnknownName("word of a source", word, sources.symbols)
        have_word = np.zeros(len(sources), np.bool_)
        have_word[owners[sources.codes == sources.symbols.index(word)]] = True
        have_all &= have_word
    return have_all


def _by_kind(mistakes: Mistakes) -> Iterator[Row]:
    """Yield a row for each kind: the share of each run's errors."""
    wrong = np.maximum((~mistakes.right).sum(axis=1), 1)
    for number, kind in enumerate(KINDS):
        counts = (mistakes.kinds == number).sum(axis=1)
        shares = Summary(runs=tuple((100 * counts / wrong).tolist()))
        count = round(float(counts.mean()))
        yield Row(group="kind of error", name=kind, examples=count, value=shares)


def _by_seeds(mistakes: Mistakes) -> Iterator[Row]:
    """Yield a row for each number of runs that err: the share of all examples."""
    runs, count = mistakes.right.shape
    errors = (~mistakes.right).sum(axis=0)
    for number in range(runs, -1, -1) if runs > 1 else ():
        examples = int((errors == number).sum())
        share = Summary(runs=(100 * examples / count,))
        name = f"{number} of {runs}"
        yield Row(group="runs that err", name=name, examples=examples, value=share)


ANALYSIS = Errors()
