"""Runs as arguments: `runs/*` also matches runs that are not finished."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

SIZES = "--train-pairs 20 --validation-pairs 4 --test-pairs 8 --symbols 4".split()


@pytest.fixture
def runs(tmp_path: Path, daxy: Callable) -> list[str]:
    """Two learners with two seeds each; the second seed of each is not finished."""
    for learner in (["nearest"], ["nearest", "--substitute"]):
        words = ["train", "transduction/copy", *learner, *SIZES, "--seeds", "2"]
        assert daxy(*words, "--runs", str(tmp_path / "runs")).code == 0
    folders = sorted((tmp_path / "runs").iterdir())
    for folder in folders:
        if ".seed1." in folder.name:
            (folder / "done").unlink()
    return list(map(str, folders))


@pytest.mark.parametrize(
    ("verb", "options"), [("compare", ()), ("report", ("--out", "{folder}/page.html"))]
)
def test_finished_runs_are_taken_and_the_others_named(
    verb: str, options: tuple[str, ...], runs: list[str], tmp_path: Path, daxy: Callable
) -> None:
    unfinished = [folder for folder in runs if ".seed1." in folder]
    answer = daxy(verb, *runs, *(it.format(folder=tmp_path) for it in options))
    assert answer.code == 0, answer.err
    note = f"note: 2 of 4 runs not finished; left out: {', '.join(unfinished)}\n"
    assert answer.err.count(note) == 1


def test_a_run_that_is_not_finished_is_refused_with_the_command_that_resumes_it(
    runs: list[str], daxy: Callable
) -> None:
    (first, *_) = unfinished = [folder for folder in runs if ".seed1." in folder]
    assert "2 of 3 runs not finished" in daxy("analyse", "by_length", runs[0], *unfinished).err
    refused = daxy("analyse", "by_length", *unfinished)
    assert refused.code == 2
    (command,) = re.findall(r"no finished run; `(daxy train .*)` resumes it\n", refused.err)
    assert refused.err.startswith(f"daxy: {first}: no finished run")
    resumed = daxy(*shlex.split(command)[1:])
    assert resumed.code == 0
    again = (
        "note: beginning again; the interrupted run saved no state\ntraining transduction/copy, "
    )
    assert resumed.err.startswith(again)
    assert daxy("analyse", "by_length", first).code == 0
