"""Results of a learner, checked: a package of anybody's can add one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from daxy import learners
from daxy.core.display import counted
from daxy.core.errors import DaxyError, quote
from daxy.core.examples import Examples, Sequences
from daxy.learners import Callbacks, Fit, Job, Learner, Predictor


def fits(jobs: Sequence[Job], callbacks: Callbacks) -> Iterator[Fit | DaxyError]:
    """Fit a group of jobs; see `Learner.fit`.

    Raises:
        WrongFile: the learner yields something else than one `Fit` or error for each job.
    """
    learner = jobs[0].learner
    results: Any = learner.fit(jobs, callbacks)  # checks the jobs before the first `next`
    return _checked(learner, iter(results or ()), len(jobs))


def _checked(learner: Learner, results: Iterator[Any], count: int) -> Iterator[Fit | DaxyError]:
    for number in range(count):
        result = next(results, None)
        if not isinstance(result, Fit | DaxyError):
            problem = f"`fit` gave {quote(result)} for job {number + 1} of {count}"
            raise learners.fault(learner, f"{problem}; expected a Fit")
        yield result
    if next(results, None) is not None:
        raise learners.fault(learner, f"`fit` gave more results than {counted(count, 'job')}")


def outputs(learner: Learner, predictor: Predictor, examples: Examples) -> Sequences:
    """Return the outputs of a predictor.

    Raises:
        WrongFile: they are no `Sequences`, or not one for each example.
    """
    result: Any = predictor.predict(examples)
    count = counted(len(result), "output") if isinstance(result, Sequences) else quote(result)
    if not isinstance(result, Sequences) or len(result) != len(examples):
        expected = f"expected Sequences of {len(examples):,}, one for each example"
        raise learners.fault(learner, f"`predict` gave {count}; {expected}")
    return result


def save(learner: Learner, predictor: Predictor, folder: Path) -> Sequence[str]:
    """Write the files of a predictor into a run folder; return their names.

    Raises:
        WrongFile: the names are not those of files in the folder.
    """
    names: Any = predictor.save(folder)
    is_list = isinstance(names, list | tuple)
    if not is_list or not all(isinstance(it, str) and (folder / it).is_file() for it in names):
        expected = "expected the names of the files that it wrote"
        raise learners.fault(learner, f"`save` gave {quote(names)}; {expected}")
    return names
