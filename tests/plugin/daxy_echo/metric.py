"""First token: whether a prediction begins as its target does."""

import numpy as np

from daxy.core.examples import Examples, Predictions
from daxy.metrics import Metric, Rules, Scores


class FirstToken(Metric):
    name = "first_token"
    summary = "the first token of the prediction is the target's"

    def score(self, task: Rules, examples: Examples, predictions: Predictions) -> Scores:
        pairs = zip(examples.target, predictions, strict=True)
        return np.array([target[:1] == given[:1] for target, given in pairs], np.bool_)


METRIC = FirstToken()
