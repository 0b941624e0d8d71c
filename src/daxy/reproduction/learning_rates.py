"""Learning-rate search: train all rates as one program and select the best.

Grefenstette et al. (2015) select among five by training perplexity. The criterion is the one that
selects the weights, never the test set.
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
    """Results of a learner with each learning rate."""

    seeds: tuple[int, ...]
    tried: Mapping[float, Trained]
    """Finished runs by rate; rates whose networks all diverged without weights are missing."""
    by_perplexity: bool
    """Whether training perplexity selects a rate, instead of the validation score."""

    @property
    def by(self) -> str:
        """Selection criterion, as text."""
        if self.by_perplexity:
            return "lowest training perplexity"
        return "best mean score on the validation set"

    @property
    def chosen(self) -> float:
        """Best rate; the first of several equally good ones."""
        return self.best[0]

    @property
    def best(self) -> list[float]:
        """Best rates: one, unless several are equally good.

        The perplexity is that of the best run, as some seeds may not learn a task at all. The
        validation score is the mean over seeds, with 0 for diverged networks.
        """
        scores = {rate: self._score(rate) for rate in self.tried}
        return [rate for rate, score in scores.items() if score == max(scores.values())]

    def _score(self, rate: float) -> float:
        scores = [folder.scores() for folder in self.tried[rate].folders]
        if self.by_perplexity:
            return 1 / min(run["perplexity"] for run in scores)
        return sum(run["validation"] for run in scores) / len(self.seeds)


def search_learning_rates(
    experiment: Experiment,
    rates: Sequence[float],
    seeds: Sequence[int],
    *,
    monitor: Monitor | None = None,
    restart: bool = False,
) -> LearningRateSearch:
    """Train each seed with each learning rate as one program, and return the results.

    Training perplexity selects the rate if it selects the weights; otherwise the validation score
    does.

    Raises:
        WrongRequest: a rate is repeated or not positive, or there is no validation set; or as
            `Experiment.run`.
        Interrupted: by a signal; the same call resumes.
        RunFailed: as `Experiment.run`, or all networks diverge.
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
    require(
        by_perplexity or is_validated,
        "there is no validation set to select a learning rate on;"
        " expected one, or --select perplexity",
    )
    configs = {rate: learner.training.with_settings(learning_rate=rate) for rate in rates}
    by_rate = {
        rate: replace(experiment, learner=replace(learner, training=config))
        for rate, config in configs.items()
    }
    runs = [variant.of(seed) for variant in by_rate.values() for seed in seeds]
    try:
        experiment.complete(runs, monitor=monitor, restart=restart)
    except Diverged:
        if not any(run.within(experiment.folder).is_done() for run in runs):
            raise
    finished = {rate: tuple(variant.finished(seeds)) for rate, variant in by_rate.items()}
    tried = {rate: Trained(by_rate[rate], folders) for rate, folders in finished.items() if folders}
    return LearningRateSearch(tuple(seeds), tried, by_perplexity)
