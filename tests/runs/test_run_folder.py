"""A finished run is whole, or it is reported with what is wrong and what helps."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runs.small_runs import EPOCHS, TASK, Spy, experiment, split, weights

import daxy
from daxy.core.errors import RunFailed
from daxy.formats import parquet
from daxy.runs.folder import RESULTS, RunFolder

every_file = pytest.mark.parametrize("name", RESULTS)


def first(runs: Path) -> RunFolder:
    return RunFolder(min(runs.iterdir()))


def test_a_finished_run_leaves_these_files_and_no_others(runs: Path) -> None:
    for run in runs.iterdir():
        assert {path.name for path in run.rglob("*")} == {
            *RESULTS,
            "model.safetensors",
            "log.jsonl",
            "done",
        }


def test_done_is_written_last(undisturbed: Path) -> None:
    for run in undisturbed.iterdir():
        newest = max(run.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        assert newest.name == "done"


def test_asking_again_finds_the_runs_without_training(runs: Path) -> None:
    monitor = Spy()
    found = experiment(runs).run([1, 0], monitor=monitor)
    assert monitor.groups == []
    assert [folder.config().seed for folder in found] == [1, 0]
    assert all(folder.is_done() for folder in found)


@every_file
def test_a_missing_file_of_a_finished_run_is_reported(name: str, runs: Path) -> None:
    (first(runs).path / name).unlink()
    with pytest.raises(RunFailed, match=f"{name} is missing; train again with `--restart`"):
        experiment(runs).run([0, 1])


@every_file
@pytest.mark.parametrize("keep", [0, 20])
def test_a_truncated_file_of_a_finished_run_is_reported(name: str, keep: int, runs: Path) -> None:
    file = first(runs).path / name
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(RunFailed, match=f"{name} .*; train again with `--restart`"):
        experiment(runs).run([0, 1])


@pytest.mark.parametrize("name", [*RESULTS, "done"])
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (os.mkfifo, "a pipe or a device"),
        (lambda path: path.symlink_to("/dev/zero"), "a pipe or a device"),
        (Path.mkdir, "a folder"),
    ],
    ids=["pipe", "device", "folder"],
)
def test_what_is_no_file_is_reported_and_not_read(
    name: str, make: Callable[[Path], None], kind: str, runs: Path
) -> None:
    file = first(runs).path / name
    file.unlink()
    make(file)
    with pytest.raises(RunFailed, match=f"{name} is {kind}; expected a file; train again"):
        experiment(runs).run([0, 1])


@every_file
def test_a_changed_byte_of_a_finished_run_is_reported(name: str, runs: Path) -> None:
    file = first(runs).path / name
    content = bytearray(file.read_bytes())
    # A digit of the group's names in JSON, any number in the others: all stay readable.
    place = content.rindex(b"0") if name.endswith(".json") else len(content) // 2
    content[place] ^= 1
    file.write_bytes(content)
    with pytest.raises(RunFailed, match=f"{name} was changed after training"):
        first(runs).is_done()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"config.json": 3}', "\x00"])
def test_a_damaged_done_is_reported(content: str, runs: Path) -> None:
    (first(runs).path / "done").write_text(content)
    with pytest.raises(RunFailed, match="--restart"):
        experiment(runs).run([0])


def test_a_config_that_is_no_runs_is_reported(runs: Path) -> None:
    (first(runs).path / "config.json").write_text('{"task": "scan/simple"}')
    with pytest.raises(RunFailed, match=r"config\.json is not a run's"):
        first(runs).config()


@pytest.mark.parametrize("line", ["", "3", "[]", '"epoch"', '{"epoch": 2}', "{"])
def test_a_log_with_a_line_that_is_no_record_is_reported(line: str, runs: Path) -> None:
    log = first(runs).path / "log.jsonl"
    log.write_text(f"{log.read_text().splitlines()[0]}\n{line}\n")
    with pytest.raises(RunFailed, match=r"log\.jsonl .*; train again with `--restart`"):
        first(runs).records()


@pytest.mark.parametrize("score", [1.5, -0.1, 2])
def test_a_score_that_is_no_share_is_reported(score: float, runs: Path) -> None:
    path = first(runs).path / "scores.json"
    scores = json.loads(path.read_text())
    scores["test"]["exact"] = score
    path.write_text(json.dumps(scores))
    with pytest.raises(RunFailed, match=r"scores\.json: 'exact' is .*between 0 and 1; train again"):
        first(runs).scores()


@pytest.mark.parametrize("group", ["3", '"run"', "[3]", '{"run": 1}', "null"])
def test_an_environment_whose_group_is_no_list_of_names_is_reported(group: str, runs: Path) -> None:
    (first(runs).path / "environment.json").write_text(f'{{"group": {group}}}')
    with pytest.raises(RunFailed, match=r"environment\.json is not a run's: .*`group"):
        _ = first(runs).group


def test_what_the_error_advises_helps(runs: Path, undisturbed: Path) -> None:
    (first(runs).path / "model.safetensors").write_bytes(b"")
    monitor = Spy()
    experiment(runs).run([0, 1], monitor=monitor, restart=True)
    assert monitor.groups == [(0, 1)]
    assert weights(runs) == weights(undisturbed)


def test_the_log_has_a_line_for_each_epoch(runs: Path) -> None:
    for run in runs.iterdir():
        lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
        assert [line["epoch"] for line in lines] == list(range(1, EPOCHS + 1))


def test_predictions_hold_every_test_example_once_with_its_score(runs: Path) -> None:
    for run in runs.iterdir():
        rows = parquet.load(run / "predictions.parquet", ()).to_pylist()
        assert [row["key"] for row in rows] == list(split().test.keys)
        scores = RunFolder(run).scores()
        exact = [row["prediction"] == row["target"] for row in rows]
        assert [bool(row["exact"]) for row in rows] == exact
        assert scores["test"]["exact"] == sum(exact) / len(rows)
        assert scores["test_examples"] == len(rows)


def test_scoring_the_predictions_gives_the_figure_of_the_run(runs: Path) -> None:
    for run in runs.iterdir():
        scored = daxy.score(TASK, run / "predictions.parquet", split=split())
        assert scored.totals == RunFolder(run).scores()["test"]
