"""A grid of learning rates: all are tried at once, and one is chosen.

Grefenstette et al. (2015) choose among five by training perplexity. What a recipe selects weights
by is what a rate is chosen by; the test set has no say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from daxy.core.errors import Diverged, WrongRequest, require
from daxy.learners.neural import Neural
from daxy.reproduction.trained import Trained
from daxy.runs.config import load
from daxy.runs.experiment import Experiment
from daxy.runs.monitor import Monitor
from daxy.runs.run import check_seeds


@dataclass(frozen=True, eq=False)
class LearningRateSearch:
    """What a learner came to with each learning rate."""

    seeds: tuple[int, ...]
    tried: Mapping[float, Trained]
    """By rate; of networks that diverged before they had any weights there are none."""
    by_perplexity: bool
    """Whether rates are judged by training perplexity, or else on the validation set."""

    @property
    def by(self) -> str:
        """What one is chosen by, for people."""
        own = "lowest training perplexity", "best mean score on the validation set"
        return own[not self.by_perplexity]

    @property
    def chosen(self) -> float:
        """The best rate; of several that are as good the first."""
        return self.best[0]

    @property
    def best(self) -> list[float]:
        """The best rates: one, unless several are as good.

        By perplexity what counts is the best run, as seeds may differ in whether they learn a task
        at all; on the validation set it is the mean, a network that diverged having 0.
        """
        merits = {rate: self._merit(rate) for rate in self.tried}
        return [rate for rate, merit in merits.items() if merit == max(merits.values())]

    def _merit(self, rate: float) -> float:
        scores = [folder.scores() for folder in self.tried[rate].folders]
        if self.by_perplexity:
            return 1 / min(own["perplexity"] for own in scores)
        return sum(own["validation"] for own in scores) / len(self.seeds)


def search_learning_rates(
    experiment: Experiment,
    rates: Sequence[float],
    seeds: Sequence[int],
    *,
    monitor: Monitor | None = None,
    restart: bool = False,
) -> LearningRateSearch:
    """Train each seed with each learning rate, all as one program, and return what they came to.

    A recipe that keeps the weights of least training perplexity chooses a rate by it, any other on
    the validation set.

    Raises:
        WrongRequest: a rate is given twice or not positive, or there is nothing to choose by; or as
            `Experiment.run`.
        Interrupted: by a signal; asking again resumes.
        RunFailed: as `Experiment.run`, or every network diverges.
    """
    require(
        len(set(rates)) == len(rates) > 0,
        f"expected different learning rates, at least one, not {[*rates]}",
    )
    check_seeds(seeds)
    learner = experiment.learner
    if not isinstance(learner, Neural):
        raise WrongRequest(f"{learner.label} has no learning rate")
    by_perplexity = learner.training.selection.select == "perplexity"
    is_validated = len(load(experiment.task, experiment.data).validation) > 0
    nothing = "there is no validation set to select a learning rate on"
    require(by_perplexity or is_validated, f"{nothing}; expected one, or --select perplexity")
    configs = {rate: learner.training.with_settings(learning_rate=rate) for rate in rates}
    of_rate = {
        rate: replace(experiment, learner=replace(learner, training=config))
        for rate, config in configs.items()
    }
    runs = [own.of(seed) for own in of_rate.values() for seed in seeds]
    try:
        experiment.complete(runs, monitor=monitor, restart=restart)
    except Diverged:
        if not any(run.within(experiment.folder).is_done() for run in runs):
            raise
    found = {rate: tuple(own.finished(seeds)) for rate, own in of_rate.items()}
    tried = {rate: Trained(of_rate[rate], folders) for rate, folders in found.items() if folders}
    return LearningRateSearch(tuple(seeds), tried, by_perplexity)
