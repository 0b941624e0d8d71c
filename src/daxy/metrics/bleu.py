"""BLEU (Papineni et al. 2002), by sacreBLEU (Post 2018).

Predictions and targets are compared as the words they are: nothing is tokenised again.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Examples, Predictions, Sequences
from daxy.metrics._metric import Metric, Rules, Scores

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp"
"""What sacreBLEU calls this way to count, without its version."""


@final
class Bleu(Metric):
    """BLEU of all predictions together; of each alone, that of its sentence."""

    name = "bleu"
    signature = f"sacreBLEU, {SIGNATURE}"
    summary = f"BLEU of all predictions together ({signature}), as a share"

    def score(
        self,
        task: Rules,
        examples: Examples,
        predictions: Predictions,
    ) -> NDArray[np.float64]:
        """Return the BLEU of each prediction alone: n-grams that it is too short for are left out.

        The mean of these is not the BLEU of all.
        """
        del task
        assert len(examples) == len(predictions), (len(examples), len(predictions))
        judge = scorer(by_sentence=True)
        pairs = zip(_sentences(predictions), _sentences(examples.target), strict=True)
        found = (judge.sentence_score(said, [wanted]).score / 100 for said, wanted in pairs)
        return np.clip(np.fromiter(found, np.float64, len(examples)), 0, 1)

    def total(
        self,
        task: Rules,
        examples: Examples,
        predictions: Predictions,
        scores: Scores | None = None,
    ) -> float:
        """Return the BLEU of all predictions together; not a number when there are none."""
        del task, scores  # it is no mean of them
        if not len(examples):
            return float("nan")
        said, wanted = _sentences(predictions), _sentences(examples.target)
        return min(1.0, scorer().corpus_score(said, [wanted]).score / 100)


@cache
def scorer(*, by_sentence: bool = False) -> BLEU:
    """Return what counts n-grams."""
    from sacrebleu.metrics.bleu import BLEU

    # `force` only silences a warning about text that is tokenised already, which this is.
    return BLEU(tokenize="none", force=True, effective_order=by_sentence)


def _sentences(sequences: Sequences) -> list[str]:
    return [" ".join(words) for words in sequences]


METRIC = Bleu()
