"""The commonest target: what a learner that ignores its input can do."""

from collections import Counter
from dataclasses import dataclass

from daxy.core.examples import Sequences
from daxy.learners import Fit, Learner


@dataclass(frozen=True, kw_only=True)
class Commonest(Learner):
    """The commonest target of the training set, for every source."""

    kind = "commonest"

    def fit(self, jobs, callbacks):
        for job in jobs:
            ((target, _),) = Counter(job.split.train.target).most_common(1)
            yield Fit(predictor=Constant(target))

    @classmethod
    def load(cls, folder, settings):
        return Constant(tuple((folder / "target.txt").read_text().splitlines()))


@dataclass(frozen=True)
class Constant:
    target: tuple[str, ...]

    def predict(self, examples):
        return Sequences.of([self.target] * len(examples))

    def save(self, folder):
        (folder / "target.txt").write_text("\n".join(self.target))
        return ["target.txt"]


LEARNER = Commonest
