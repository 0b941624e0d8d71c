"""Score a fitted run, and write the results into its folder."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from daxy import tasks
from daxy.formats import predictions as prediction_files
from daxy.learners import Fit
from daxy.runs.fitted import outputs, save
from daxy.runs.folder import RunFolder
from daxy.runs.run import Run


def finish(run: Run, folder: RunFolder, fit: Fit) -> None:
    """Write the predictor, predictions, log and scores of a run, and `done` last."""
    files = save(run.learner, fit.predictor, folder.path)
    folder.write_log(fit.log)
    scores = evaluate(run, folder, fit)
    folder.finish(scores, files)


def evaluate(run: Run, folder: RunFolder, fit: Fit) -> dict[str, Any]:
    """Write the test predictions, and return the content of `scores.json`."""
    task, split = tasks.get(run.task), run.split
    predictions = outputs(run.learner, fit.predictor, split.test)
    values = task.scores(split.test, predictions)
    prediction_files.write(folder.predictions, split.test, predictions, values)
    totals = task.totals(split.test, predictions, values)
    by_test = task.by_test(split.test, split.tests, predictions, values)
    scores: dict[str, Any] = {"metric": task.metric, "test": totals}
    if "bleu" in totals:
        # The version at scoring time; a resumed run may have begun with another.
        scores["sacrebleu"] = version("sacrebleu")
    scores["test_examples"] = len(split.test)
    if by_test:
        scores["tests"] = by_test
    validation: dict[str, float] = {}
    if len(split.validation) and not run.learner.test_only:
        validation = task.totals(
            split.validation, outputs(run.learner, fit.predictor, split.validation)
        )
        scores["validation_scores"] = validation
    scores["validation"] = validation.get(task.metric)
    return {**scores, **fit.facts, "statistics": task.statistics(split)}


def primary_score(scores: dict[str, Any]) -> float:
    """Return the test score of the task's main metric."""
    return scores["test"][scores["metric"]]
