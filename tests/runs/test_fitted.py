"""A learner's results are checked: another package may return anything."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import daxy
from daxy.core.errors import WrongFile
from daxy.core.examples import Sequences
from daxy.learners.nearest import Memory, Nearest
from daxy.runs.experiment import Experiment

DATA = daxy.data("transduction/copy", train_pairs=20, validation_pairs=4, test_pairs=4, symbols=4)
FIT = Nearest.fit


def twice(self: Nearest, jobs: Any, callbacks: Any) -> Any:
    yield from FIT(self, jobs, callbacks)
    yield from FIT(self, jobs, callbacks)


@pytest.mark.parametrize(
    ("owner", "method", "replacement", "problem"),
    [
        (Nearest, "fit", lambda *_: None, "`fit` gave None for job 1 of 1; expected a Fit"),
        (Nearest, "fit", lambda *_: [1], "`fit` gave 1 for job 1 of 1; expected a Fit"),
        (Nearest, "fit", twice, "`fit` gave more results than 1 job"),
        (
            Memory,
            "predict",
            lambda *_: [("a",)],
            "`predict` gave [('a',)]; expected Sequences of 4",
        ),
        (
            Memory,
            "predict",
            lambda *_: Sequences.of([()]),
            "`predict` gave 1 output; expected Seq",
        ),
        (Memory, "save", lambda *_: None, "`save` gave None; expected the names of the files that"),
        (Memory, "save", lambda *_: ["x"], "`save` gave ['x']; expected the names of the files th"),
    ],
)
def test_a_result_that_breaks_the_interface_names_the_learner(
    owner: type,
    method: str,
    replacement: Callable[..., Any],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owner, method, replacement)
    experiment = Experiment(task="transduction/copy", learner=Nearest(), data=DATA, folder=tmp_path)
    with pytest.raises(WrongFile, match=rf"learners/nearest\.py: {re.escape(problem)}"):
        experiment.run([0])
