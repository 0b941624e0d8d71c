"""`daxy runs`: all runs of a folder."""

import csv
import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.report.test_analyses import LEARNER, right, run, short

TASK = "scan/addprim_turn_left"
WIDER = {**LEARNER, "config": {"hidden": 8}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with three finished runs, an interrupted one, a damaged one, and a file."""
    runs = (
        tmp_path_factory.mktemp("runs") / "a-folder-whose-name-is-long-enough-for-two-lines" / "r"
    )
    run(runs, TASK, 0, right)
    run(runs, TASK, 1, short)
    run(runs, TASK, 0, short, WIDER)
    interrupted = run(runs, TASK, 2, right).path
    (interrupted / "done").unlink()
    damaged = run(runs, TASK, 3, right).path
    (damaged / "scores.json").write_text("{")
    (runs / "notes.txt").write_text("not a run")
    return runs


def listed(daxy: Callable[..., Any], folder: Path, *flags: str) -> list[tuple[str, int, str]]:
    runs = daxy("runs", str(folder), *flags, "--json").json["runs"]
    return [(each["learner"], each["seed"], each["status"]) for each in runs]


def test_every_run_is_listed_once(daxy: Callable[..., Any], folder: Path) -> None:
    assert listed(daxy, folder) == [
        ("seq2seq, hidden 4", 0, "finished"),
        ("seq2seq, hidden 4", 1, "finished"),
        ("seq2seq, hidden 4", 2, "interrupted"),
        ("seq2seq, hidden 8", 0, "finished"),
        ("", 0, "damaged"),
    ]
    text = daxy("runs", str(folder)).out
    assert "scores.json cannot be read" in " ".join(text.split())
    assert "5 of 5 runs" in text


@pytest.mark.parametrize(
    ("flags", "seeds"),
    [
        (("--status", "interrupted"), [2]),
        (("--learner", "*hidden 8"), [0]),
        (("--task", "nacs/*"), []),
        (("--task", "scan/*", "--sort", "score"), [0, 1, 0, 2]),
        (("--task", "scan/*", "--sort", "score", "--descending"), [0, 1, 0, 2]),
        (("--task", "scan/*", "--sort", "seed", "--descending"), [2, 1, 0, 0]),
    ],
)
def test_runs_are_chosen_and_sorted(
    flags: tuple[str, ...], seeds: list[int], daxy: Callable[..., Any], folder: Path
) -> None:
    runs = daxy("runs", str(folder), *flags, "--json").json["runs"]
    if "score" in flags:
        scores = [each["score"] for each in runs if each["score"] is not None]
        assert scores == sorted(scores, reverse="--descending" in flags)
        assert runs[-1]["score"] is None
        assert len(runs) == len(seeds)
    else:
        assert [each["seed"] for each in runs] == seeds


def test_csv_has_a_line_for_each_run(daxy: Callable[..., Any], folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(daxy("runs", str(folder), "--csv").out)))
    wanted = daxy("runs", str(folder), "--json").json["runs"]
    assert [row["path"] for row in rows] == [each["path"] for each in wanted]
    assert [row["score"] for row in rows[:2]] == [str(each["score"]) for each in wanted[:2]]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("nowhere",), "nowhere: no such folder"),
        (("--descending",), "needs --sort"),
        (("--csv", "--json"), "two formats"),
    ],
)
def test_wrong_requests_are_refused(
    flags: tuple[str, ...], message: str, daxy: Callable[..., Any]
) -> None:
    answer = daxy("runs", *flags)
    assert answer.code == 2
    assert message in answer.out + answer.err


def test_a_single_run_folder_is_listed(daxy: Callable[..., Any], folder: Path) -> None:
    one = next(path for path in sorted(folder.iterdir()) if ".seed0." in path.name)
    assert len(listed(daxy, one)) == 1


def test_copies_of_one_run_are_listed_each(
    daxy: Callable[..., Any], folder: Path, tmp_path: Path
) -> None:
    one = next(path for path in sorted(folder.iterdir()) if ".seed0." in path.name)
    for name in ("first", "second"):
        shutil.copytree(one, tmp_path / name)
    assert len(listed(daxy, tmp_path)) == 2
