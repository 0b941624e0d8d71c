"""What trackers have of a run, as their own readers say, is what the run's folder has."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Answer
from tests.runs.small_runs import Spy, experiment, weights

from daxy import trackers
from daxy.core.errors import DaxyWarning
from daxy.runs.experiment import Experiment
from daxy.runs.folder import RunFolder
from daxy.runs.tracking import FILE
from daxy.training.interrupt import Interrupted

NAMES = ("tensorboard", "wandb", "mlflow")
for _name in NAMES:
    pytest.importorskip(_name, reason=f"the extra `{_name}` installs it")

pytestmark = [
    pytest.mark.tracker,
    pytest.mark.usefixtures("one_shape", "local"),
    # What the clients warn of and leave open is theirs.
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.filterwarnings("error::daxy.DaxyWarning"),
]
SEEDS = [0, 1]

Values = dict[str, dict[int, float]]
"""Values by name and step."""
Content = tuple[Values, Mapping[str, Any]]
"""Values and settings."""


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what the clients write in a folder, and the clients off the network."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.chdir(tmp_path)


def tracked(folder: Path, *names: str, seconds: float = 1e9) -> Experiment:
    """Return a small training that logs to these trackers, or to all."""
    return replace(experiment(folder, seconds), trackers=names or NAMES)


def of_tensorboard(folder: RunFolder) -> Content:
    """Read event files as TensorBoard does, with all events of a repeated step."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams import metadata

    reader = EventAccumulator(str(folder.path / "tensorboard"), purge_orphaned_data=False)
    reader.Reload()
    names = reader.Tags()["scalars"]
    values = {tag: points((it.step, it.value) for it in reader.Scalars(tag)) for tag in names}
    about = reader.SummaryMetadata(metadata.SESSION_START_INFO_TAG).plugin_data.content
    parameters = metadata.parse_session_start_info_plugin_data(about).hparams
    return values, {name: getattr(it, it.WhichOneof("kind")) for name, it in parameters.items()}


def of_mlflow(folder: RunFolder) -> Content:
    """Read the one run of this name by MLflow's client."""
    from mlflow import MlflowClient

    client = MlflowClient()
    shown = client.get_experiment_by_name("daxy")
    runs = client.search_runs([shown.experiment_id])
    (run,) = (run for run in runs if run.info.run_name == folder.path.name)
    assert run.info.status == "FINISHED"
    histories = {it: client.get_metric_history(run.info.run_id, it) for it in run.data.metrics}
    values = {tag: points((it.step, it.value) for it in all_) for tag, all_ in histories.items()}
    return values, run.data.params


def of_wandb(folder: RunFolder) -> Content:
    """Read the file of the one offline run; its summary has the final scores."""
    (file,) = folder.path.glob("wandb/offline-run-*/*.wandb")
    values, settings, summary = Values(), dict[str, Any](), dict[str, Any]()
    for record in wandb_records(file.read_bytes()):
        if record.HasField("history"):
            row = by_name(record.history.item)
            for name, value in row.items():
                points_of = values.setdefault(name, {})
                assert row["_step"] not in points_of
                points_of[row["_step"]] = value
        elif record.HasField("run"):
            settings |= by_name(record.run.config.update)
        elif record.HasField("summary"):
            summary |= by_name(record.summary.update)
    last = max(values.get("epoch", [0]))
    values |= {name: {last: it} for name, it in summary.items() if name.startswith("scores/")}
    return {name: it for name, it in values.items() if not name.startswith("_")}, settings


def wandb_records(data: bytes) -> Iterator[Any]:
    """Yield the records of a LevelDB log, whose blocks of 32 KiB begin with the file's head."""
    from wandb.proto.wandb_internal_pb2 import Record

    head, content, begin = 7, b"", 7
    while begin + head <= len(data):
        left = 32_768 - begin % 32_768
        if left < head:
            begin += left
            continue
        _, length, kind = struct.unpack_from("<IHB", data, begin)
        content += data[begin + head : begin + head + length]
        begin += head + length
        if kind in (1, 4):  # whole, or the last part
            yield Record.FromString(content)
            content = b""


def by_name(items: Any) -> dict[str, Any]:
    return {it.key or "/".join(it.nested_key): json.loads(it.value_json) for it in items}


READERS = {"tensorboard": of_tensorboard, "wandb": of_wandb, "mlflow": of_mlflow}


def points(pairs: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Return values by step; no step is there twice."""
    known = list(pairs)
    assert len({step for step, _ in known}) == len(known), known
    return dict(known)


def of_folder(folder: RunFolder) -> Values:
    """Return the values of a run's own files."""
    log, scores, values = folder.records(), folder.scores(), Values()
    for record in log:
        for name, value in record.items():
            if isinstance(value, int | float) and name != "steps":
                values.setdefault(name, {})[record["steps"]] = value
    last = log[-1]["steps"] if log else 0
    final = {f"test/{name}": value for name, value in scores["test"].items()}
    final |= {f"validation_scores/{it}": value for it, value in scores["validation_scores"].items()}
    final |= {name: scores[name] for name in ("best_epoch", "perplexity") if scores.get(name)}
    return values | {f"scores/{name}": {last: value} for name, value in final.items()}


def check(folder: RunFolder, *names: str, is_resumed: bool = False) -> None:
    """Check that trackers, or all, have the values and the settings of a run.

    The seconds of an epoch that was trained again differ.
    """
    for name in names or NAMES:
        values, settings = READERS[name](folder)
        expected = of_folder(folder)
        if is_resumed:
            assert values.pop("seconds").keys() == expected.pop("seconds").keys()
        kind = np.float32 if name == "tensorboard" else float  # as TensorBoard keeps them
        rounded = {
            tag: {step: kind(value) for step, value in points_of.items()}
            for tag, points_of in expected.items()
        }
        assert values == rounded, name
        config = folder.config()
        assert settings["task"] == config.task
        assert float(settings["seed"]) == config.seed
        flags = config.learner["config"]
        assert float(settings["learner.config.hidden"]) == flags["hidden"]


def test_each_seed_is_a_run_of_its_own_and_the_weights_are_the_same(
    tmp_path: Path, undisturbed: Path
) -> None:
    for folder in tracked(tmp_path / "runs").run(SEEDS):
        check(folder)
    assert weights(tmp_path / "runs") == weights(undisturbed)


def test_a_resumed_run_has_each_step_once(tmp_path: Path) -> None:
    training = tracked(tmp_path / "runs", seconds=0.0)
    with pytest.raises(Interrupted):
        training.run(SEEDS, monitor=Spy(at=3))
    for folder in training.run(SEEDS):
        check(folder, is_resumed=True)


def test_a_killed_run_that_resumes_from_an_earlier_state_has_each_step_once(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trackers have two epochs, and there is no state: training begins again."""

    class Killed(BaseException):
        pass

    def kill() -> None:
        raise Killed

    training = tracked(tmp_path / "runs")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        for name in ("tensorboard", "mlflow"):  # wandb's own process would see the kill
            patch.setattr(trackers.get(name), "close", lambda _: None)
        training.run(SEEDS, monitor=Spy(at=4, act=kill))
    assert [len(folder.records()) for folder in folders(training)] == [2, 2]
    for folder in training.run(SEEDS):
        check(folder, is_resumed=True)
    assert weights(tmp_path / "runs") == weights(undisturbed)


def folders(training: Experiment) -> list[RunFolder]:
    return [training.of(seed).within(training.folder) for seed in SEEDS]


def test_finished_runs_are_sent_once(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training = tracked(runs)
    for folder in training.run(SEEDS):
        check(folder)
    for name in NAMES:
        tracker = trackers.get(name)
        monkeypatch.setattr(tracker, "__init__", lambda *_: pytest.fail("sent again"))
    training.run(SEEDS)


def test_a_run_that_was_deleted_in_mlflow_is_sent_again(runs: Path) -> None:
    from mlflow import MlflowClient

    (folder,) = tracked(runs, "mlflow").run([0])
    states = json.loads((folder.path / FILE).read_text())
    MlflowClient().delete_run(states["mlflow"]["id"])
    states["mlflow"]["finished"] = False
    (folder.path / FILE).write_text(json.dumps(states))
    tracked(runs, "mlflow").run([0])
    check(folder, "mlflow")


def fail(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("method", ["__init__", "log", "finish"])
def test_a_tracker_that_fails_is_left_out_and_gets_the_rest_later(
    method: str, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = tracked(runs, "tensorboard", "mlflow")
    with monkeypatch.context() as patch:
        patch.setattr(trackers.get("tensorboard"), method, fail)
        with pytest.warns(DaxyWarning, match=r"tensorboard lacks .*No space .*later") as warned:
            training.run(SEEDS)
    assert [it.category for it in warned].count(DaxyWarning) == 1
    for folder in folders(training):
        check(folder, "mlflow")
    for folder in training.run(SEEDS):
        check(folder, "tensorboard", "mlflow")


def test_a_tracker_that_fails_in_training_stops_nothing_and_gets_all_at_the_end(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training, tensorboard = tracked(tmp_path / "runs", "tensorboard"), trackers.get("tensorboard")
    log, calls = tensorboard.log, list[int]()

    def fail_once(*arguments: Any) -> None:
        calls.append(0)
        if len(calls) == 3:
            fail()
        log(*arguments)

    monkeypatch.setattr(tensorboard, "log", fail_once)
    with pytest.warns(DaxyWarning, match="tensorboard lacks"):
        training.run(SEEDS)
    assert weights(tmp_path / "runs") == weights(undisturbed)
    for folder in folders(training):
        check(folder, "tensorboard")


def test_a_damaged_file_of_trackers_is_named(runs: Path) -> None:
    training = tracked(runs, "tensorboard")
    (folders(training)[0].path / FILE).write_text("{")
    with pytest.warns(DaxyWarning, match=FILE):
        training.run([0])


def test_the_command_line_takes_several_trackers_and_learners_without_epochs(
    daxy: Callable[..., Answer], tmp_path: Path
) -> None:
    words = "train scan/simple_p1 nearest --log tensorboard,mlflow --log wandb --runs there"
    answer = daxy(*words.split())
    assert answer.code == 0, answer.err
    (path,) = (tmp_path / "there").iterdir()
    exact = RunFolder(path).scores()["test"]["exact"]
    for read in READERS.values():
        values, settings = read(RunFolder(path))
        assert values["scores/test/exact"] == {0: pytest.approx(exact)}
        assert settings["learner.learner"] == "nearest"
