"""All runs of a folder as rows: finished, interrupted and damaged ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from daxy.core.errors import DaxyError, require
from daxy.report.run_groups import groups_of
from daxy.runs.config import RunConfig
from daxy.runs.folder import RunFolder

Status = Literal["finished", "diverged", "interrupted", "damaged"]


@dataclass(frozen=True, kw_only=True)
class ListedRun:
    """One run of a folder."""

    path: str
    task: str
    learner: str
    """Name of the learner, and the settings that distinguish it from others in the folder."""
    seed: int
    status: Status
    metric: str = ""
    score: float | None = None
    """Primary test score, from 0 to 1 for a share; None of an unfinished run."""
    validation: float | None = None
    epochs: int = 0
    """Epochs that are in the log or, of a finished run, in its scores."""
    steps: int = 0
    started: str = ""
    """Date and time in UTC."""
    problem: str = ""
    """Problem of a damaged folder."""


def run_list(folder: Path) -> list[ListedRun]:
    """Return the runs of a folder, by task, learner and seed; damaged ones come last.

    The digests of files are not checked, so that a list of many runs is fast.

    Raises:
        WrongRequest: there is no such folder.
    """
    require(folder.is_dir(), f"{folder}: no such folder")
    runs, damaged = list[tuple[RunFolder, RunConfig]](), list[ListedRun]()
    for run in _folders(folder):
        try:
            runs.append((run, run.config()))
        except DaxyError as error:
            damaged.append(_damaged(run, error))
    listed = list[ListedRun]()
    for group in groups_of(runs):
        for run in group.folders:
            try:
                listed.append(_listed(run, group.label))
            except DaxyError as error:
                damaged.append(_damaged(run, error))
    return [*listed, *damaged]


def _folders(folder: Path) -> Iterator[RunFolder]:
    """Yield the run folders in a folder; it may be one itself."""
    paths = [folder] if (folder / "config.json").exists() else sorted(folder.iterdir())
    for path in paths:
        if not path.name.startswith(".") and (path / "config.json").exists():
            yield RunFolder(path)


def _listed(run: RunFolder, label: str) -> ListedRun:
    config, environment = run.config(), run.environment()
    facts: dict[str, Any] = {"status": "interrupted"}
    if run.has_ended:
        scores = run.scores()
        facts = {
            "status": "diverged" if scores.get("diverged") else "finished",
            "metric": scores["metric"],
            "score": scores["test"][scores["metric"]],
            "validation": scores["validation"],
            "epochs": scores.get("epochs", 0),
            "steps": scores.get("steps", 0),
        }
    elif (run.path / "log.jsonl").exists() and (records := run.records()):
        facts |= {name: records[-1][key] for name, key in (("epochs", "epoch"), ("steps", "steps"))}
    return ListedRun(
        path=str(run.path),
        task=config.task,
        learner=label,
        seed=config.seed,
        started=environment.get("started", ""),
        **facts,
    )


def _damaged(run: RunFolder, error: DaxyError) -> ListedRun:
    problem = str(error).removeprefix(f"{run.path}: ")
    path = str(run.path)
    return ListedRun(path=path, task="", learner="", seed=0, status="damaged", problem=problem)


def sorted_by(runs: Sequence[ListedRun], column: str, *, descending: bool) -> list[ListedRun]:
    """Return runs in the order of a column; those without a value come last."""
    known = [run for run in runs if getattr(run, column) not in (None, "")]
    rest = [run for run in runs if getattr(run, column) in (None, "")]
    return [*sorted(known, key=lambda run: getattr(run, column), reverse=descending), *rest]
