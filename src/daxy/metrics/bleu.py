"""BLEU (Papineni et al. 2002), by sacreBLEU (Post 2018).

Predictions and targets are compared as the words they are: nothing is tokenised again.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from daxy.core.examples import Examples, Sequences
from daxy.core.sequences import Predictions
from daxy.metrics._metric import Metric, Rules, Scores

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp"
"""sacreBLEU's signature without its version."""


@final
class Bleu(Metric):
    """BLEU of all predictions; the value of an example is its sentence BLEU."""

    name = "bleu"
    signature = f"sacreBLEU, {SIGNATURE}"
    summary = f"BLEU of all predictions together ({signature}), as a share"

    def score(
        self, task: Rules, examples: Examples, predictions: Predictions
    ) -> NDArray[np.float64]:
        """Return the sentence BLEU of each prediction, with effective order."""
        del task
        assert len(examples) == len(predictions), (len(examples), len(predictions))
        bleu = scorer(by_sentence=True)
        pairs = zip(_sentences(predictions), _sentences(examples.target), strict=True)
        scores = (bleu.sentence_score(text, [target]).score / 100 for text, target in pairs)
        return np.clip(np.fromiter(scores, np.float64, len(examples)), 0, 1)

    def total(
        self,
        task: Rules,
        examples: Examples,
        predictions: Predictions,
        scores: Scores | None = None,
    ) -> float:
        """Return the BLEU of all predictions; NaN for none."""
        del task, scores
        if not len(examples):
            return float("nan")
        texts, targets = _sentences(predictions), _sentences(examples.target)
        return min(1.0, scorer().corpus_score(texts, [targets]).score / 100)


@cache
def scorer(*, by_sentence: bool = False) -> BLEU:
    """Return sacreBLEU's scorer."""
    from sacrebleu.metrics.bleu import BLEU

    # `force` silences a warning about tokenised text.
    return BLEU(tokenize="none", force=True, effective_order=by_sentence)


def _sentences(sequences: Sequences) -> list[str]:
    return [" ".join(words) for words in sequences]


METRIC = Bleu()
