"""A sweep on a cluster ends as on one machine.

`benchmarks/cluster.py` also kills workers and drivers.
"""

import importlib
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from daxy.core.errors import RunFailed, WrongRequest
from daxy.learners import Progress
from daxy.learners.neural import Neural
from daxy.models.stacked import Config
from daxy.runs import executors
from daxy.runs.executors import ray as cluster
from daxy.runs.monitor import Monitor
from daxy.runs.programs import Program
from daxy.runs.run import Run
from daxy.runs.storage import Storage
from daxy.runs.store import RunStore
from daxy.tasks import ScanOptions
from daxy.training.checkpoint import Checkpoint
from daxy.training.interrupt import Interrupted
from daxy.training.protocols import protocol

pytestmark = pytest.mark.cluster

if not all(map(find_spec, ("ray", "fsspec"))):
    pytest.skip("no Ray: the extra `ray` installs it", allow_module_level=True)


def run(seed: int, dropout: float) -> Run:
    recipe = protocol("lake2018").with_settings(samples=64, dropout=dropout, max_decode_length=12)
    learner = Neural(
        model="stacked", config=Config(cell="gru", layers=1, hidden=4), training=recipe
    )
    data = ScanOptions(validation="none")
    return Run(task="scan/template_jump_around_right", learner=learner, data=data, seed=seed)


PROGRAMS = [Program((run(0, 0.0), run(0, 0.5))), Program((run(1, 0.0), run(1, 0.5)))]
RUNS = [each for program in PROGRAMS for each in program.runs]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the runs as one process leaves them; not to be changed."""
    folder = tmp_path_factory.mktemp("alone")
    for program in executors.get("local").run(PROGRAMS, RunStore(folder), Monitor()):
        assert all(each.within(folder).is_done() for each in program.runs)
    return folder


def assert_as_alone(folder: Path, alone: Path) -> None:
    for each in RUNS:
        assert each.within(folder).is_done()
        for name, own in load_file(each.within(folder).path / "model.safetensors").items():
            expected = load_file(each.within(alone).path / "model.safetensors")[name]
            np.testing.assert_allclose(own, expected, atol=1e-5, err_msg=name)


@pytest.fixture
def own_process() -> Iterator[None]:
    """What a worker sets in its environment is not for this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
        yield


def test_a_sweep_on_a_cluster_ends_as_in_one_process(alone: Path, tmp_path: Path) -> None:
    found = list(cluster.run(PROGRAMS, RunStore(tmp_path), Monitor(), cpus=1))
    assert {id(program) for program in found} == {id(program) for program in PROGRAMS}
    assert_as_alone(tmp_path, alone)


def test_a_task_that_failed_is_told_of_as_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take(*_: object) -> None:
        raise RunFailed("a task failed: seed 1 diverged")

    submitted = SimpleNamespace(options=lambda **_: SimpleNamespace(remote=lambda *_: object()))
    ray = SimpleNamespace(
        nodes=lambda: [{"Alive": True, "Resources": {"CPU": 1}}],
        remote=lambda _: submitted,
        wait=lambda tasks, num_returns, timeout: (tasks[:num_returns], tasks[num_returns:]),
        shutdown=lambda: None,
    )
    monkeypatch.setattr(cluster, "_connected", lambda _: ray)
    monkeypatch.setattr(cluster, "_collect", take)
    going = cluster.run(PROGRAMS, RunStore(tmp_path), Monitor())
    assert [next(going) for _ in PROGRAMS] == PROGRAMS
    with pytest.raises(RunFailed, match="seed 1 diverged; 1 more failed"):
        next(going)


def test_too_many_cores_for_a_task_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(WrongRequest, match="a task takes 1000 of CPU and 0 of GPU; no machine"):
        list(cluster.run(PROGRAMS, RunStore(tmp_path), Monitor(), cpus=1000))


WRONG = {
    "--cpus must be positive, not 0": {"cpus": 0},
    "--gpus must not be negative: -1": {"gpus": -1},
    "nosuchthing": {"storage": "nosuchthing://bucket"},
}


@pytest.mark.parametrize(("message", "options"), WRONG.items(), ids=WRONG)
def test_a_wrong_request_is_refused_before_a_cluster_starts(
    message: str, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_connected", lambda _: pytest.fail("a cluster started"))
    with pytest.raises(WrongRequest, match=message):
        list(cluster.run(PROGRAMS, RunStore(tmp_path), Monitor(), **options))
    with pytest.raises(WrongRequest, match=message):
        cluster.check(**options)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_an_address_where_nothing_answers_is_refused_at_once(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = importlib.import_module("ray")
    monkeypatch.setattr(ray, "init", lambda *_, **__: pytest.fail("Ray tries for minutes"))
    with pytest.raises(WrongRequest, match=f"there is no Ray cluster at {address}: .*refused"):
        cluster.check(address=address)


def test_a_group_that_was_interrupted_at_a_storage_goes_on_whole_there(
    alone: Path, tmp_path: Path, own_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked for one of its runs alone, a task fetches the others and their checkpoint."""
    url, stopping = (tmp_path / "storage").as_uri(), RunStore.complete
    program = PROGRAMS[0]

    def interrupted(self: RunStore, runs: Sequence[Run], monitor: Any) -> None:
        class Stopping(Monitor):
            heard = 0

            def stepped(self, progress: Progress, examples: int) -> None:
                self.heard += 1
                if self.heard == 2:
                    raise Interrupted("interrupted")

        stopping(replace(self, checkpoint_seconds=0.0), runs, Stopping())

    with monkeypatch.context() as patch:
        patch.setattr(RunStore, "complete", interrupted)
        with pytest.raises(Interrupted):
            cluster.train(cluster.to_json(program), RunStore(Path("nowhere"), 0.0), 2, url)
    cluster.train(
        cluster.to_json(Program(program.runs[1:])), RunStore(Path("nowhere"), 1.0), 2, url
    )
    Storage(url).fetch([each.config.name for each in program.runs], tmp_path / "runs")
    for each in program.runs:
        assert each.within(tmp_path / "runs").is_done()
    assert not list(tmp_path.glob("**/checkpoint"))


def test_a_task_leaves_its_runs_at_a_storage_and_goes_on_from_there(
    alone: Path, tmp_path: Path, own_process: None
) -> None:
    url = (tmp_path / "storage").as_uri()
    cluster.train(cluster.to_json(PROGRAMS[0]), RunStore(Path("nowhere"), 1.0), 2, url)
    Storage(url).fetch([each.config.name for each in PROGRAMS[0].runs], tmp_path / "runs")
    for each in PROGRAMS[0].runs:
        assert each.within(tmp_path / "runs").is_done()

    # What lies there already is found, and not trained again.
    done = each.within(tmp_path / "storage").path / "done"
    before = done.read_bytes()
    cluster.train(cluster.to_json(PROGRAMS[0]), RunStore(Path("nowhere"), 1.0), 2, url)
    assert done.read_bytes() == before


def test_what_a_task_finished_before_it_failed_comes_back(alone: Path, tmp_path: Path) -> None:
    class TaskError(Exception):
        cause = "seed 1 diverged"

    def get(_: object) -> None:
        raise TaskError

    errors = SimpleNamespace(RayTaskError=TaskError, RayError=RuntimeError)
    ray = SimpleNamespace(exceptions=errors, get=get)
    kept = Storage((tmp_path / "storage").as_uri())
    names = [each.config.name for each in PROGRAMS[0].runs]
    kept.store(names[:1], alone)
    with pytest.raises(RunFailed, match="seed 1 diverged"):
        cluster._collect(ray, None, PROGRAMS[0], RunStore(tmp_path / "runs"), kept)
    assert [(tmp_path / "runs" / name / "done").exists() for name in names] == [True, False]


def begin(asked: Run, folder: Path, epochs: int) -> None:
    """Leave what a run leaves that was interrupted after so many epochs."""
    own = asked.within(folder)
    own.begin(asked.config, {"group": [asked.config.name]})
    Checkpoint.within(own.workdir).save({}, {"epoch": epochs})
    (own.path / "log.jsonl").write_text("{}\n" * epochs)


def test_what_is_finished_at_a_storage_is_not_mixed_with_another_training(
    alone: Path, tmp_path: Path
) -> None:
    asked = PROGRAMS[0].runs[0]
    kept = Storage.at(str(tmp_path / "storage"))
    kept.store([asked.config.name], alone)
    begin(asked, tmp_path / "other", 3)
    kept.store([asked.config.name], tmp_path / "other")
    assert asked.within(tmp_path / "storage").is_done()
    assert not asked.within(tmp_path / "storage").has_state


def test_what_a_storage_has_is_never_there_before_what_it_needs(
    alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker can be killed between any two files."""
    first, second = PROGRAMS[0].runs
    names = [first.config.name, second.config.name]
    for asked in (first, second):
        begin(asked, tmp_path / "runs", 3)
    shutil.rmtree(second.within(tmp_path / "runs").workdir)
    storage = Storage.at("memory://ordered")
    files = importlib.import_module("fsspec").filesystem("memory")
    written, moved = list[str](), files.mv

    def moving(source: str, target: str) -> None:
        written.append(target.partition("/ordered/")[2])
        moved(source, target)

    monkeypatch.setattr(type(files), "mv", lambda _, *paths: moving(*paths))
    storage.store(names, tmp_path / "runs")
    assert len(written) == 7
    assert written[-1] == f"{names[0]}/checkpoint/state.safetensors"
    written.clear()
    storage.store(names, alone)
    assert written[-2:] == [f"{name}/done" for name in sorted(names)]


def test_a_restart_does_not_lose_a_state_at_a_storage_of_a_run_that_is_not_asked_for(
    tmp_path: Path,
) -> None:
    storage = Storage.at(f"memory://{tmp_path.name}/left")
    names = [asked.config.name for asked in PROGRAMS[0].runs]
    for asked in PROGRAMS[0].runs:
        asked.within(tmp_path).begin(asked.config, {"group": names})
    Checkpoint(PROGRAMS[0].runs[0].within(tmp_path).workdir / "state.safetensors").save(
        {}, {"epoch": 3}
    )
    storage.store(names, tmp_path)
    with pytest.raises(WrongRequest, match=f"left/{names[0]} has the state of {names[1]}, "):
        storage.check_left(names[:1])
    storage.check_left(names)
    storage.check_left(names[1:])  # no state lies there
    (tmp_path / names[1] / "done").write_text("{}")
    storage.store(names, tmp_path)
    storage.check_left(names[:1])


def test_what_is_damaged_at_a_storage_can_begin_anew(tmp_path: Path) -> None:
    storage, asked = Storage.at(f"memory://{tmp_path.name}/damaged"), RUNS[0]
    begin(asked, tmp_path, 3)
    (asked.within(tmp_path).path / "environment.json").write_text('{"group": [')
    storage.store([asked.config.name], tmp_path)
    storage.check_left([asked.config.name])


def test_a_storage_that_is_a_folder_is_the_same_from_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Storage.at("kept").url == str(tmp_path / "kept")
    assert Storage.at("memory://kept").url == "memory://kept"


def test_tasks_that_share_a_gpu_share_its_memory(
    tmp_path: Path, own_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunStore, "complete", lambda *_: None)
    share = "XLA_PYTHON_CLIENT_MEM_FRACTION"
    for gpus, expected in ((0, None), (1, None), (0.5, "0.450")):
        monkeypatch.delenv(share, raising=False)
        cluster.train(cluster.to_json(PROGRAMS[0]), RunStore(tmp_path), 2, None, gpus)
        assert os.environ.get(share) == expected


def test_a_driver_that_begins_again_leaves_what_tasks_have_left_at_the_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    further, behind, new = PROGRAMS[0].runs[0], PROGRAMS[0].runs[1], PROGRAMS[1].runs[0]
    begin(further, tmp_path / "storage", 40)
    begin(further, tmp_path / "runs", 3)
    begin(behind, tmp_path / "storage", 3)
    begin(behind, tmp_path / "runs", 40)
    begin(new, tmp_path / "runs", 0)

    def stop(_: object) -> None:
        raise WrongRequest("no tasks")

    machine = {"Alive": True, "Resources": {"CPU": 1}}
    ray = SimpleNamespace(nodes=lambda: [machine], remote=stop, shutdown=lambda: None)
    monkeypatch.setattr(cluster, "_connected", lambda _: ray)
    storage = (tmp_path / "storage").as_uri()
    with pytest.raises(WrongRequest, match="no tasks"):
        list(cluster.run(PROGRAMS, RunStore(tmp_path / "runs"), Monitor(), storage=storage))
    there = RunStore(tmp_path / "storage")
    assert [there.epochs_done([each]) for each in (further, behind, new)] == [40, 40, 0]
    assert new.within(there.folder).has_state


def test_a_worker_that_would_train_something_else_says_so(
    tmp_path: Path, own_process: None
) -> None:
    text = cluster.to_json(PROGRAMS[0])
    with pytest.raises(RunFailed, match="this worker would train"):
        other = text.replace('"version": 1', '"version": 2')
        cluster.train(other, RunStore(tmp_path, 1.0), 2, None)


@pytest.mark.parametrize("url", ["nosuchthing://bucket/runs"])
def test_a_storage_that_nobody_knows_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(WrongRequest, match="nosuchthing"):
        Storage(url).fetch(["run"], tmp_path)


def test_a_run_folder_comes_back_from_a_storage_as_it_went(alone: Path, tmp_path: Path) -> None:
    name = RUNS[0].config.name
    storage = Storage(f"memory://{tmp_path.name}/runs")
    storage.fetch([name], tmp_path)
    assert list(tmp_path.iterdir()) == []
    storage.store([name], alone)
    storage.fetch([name], tmp_path)
    files = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.glob("*/*")}
    assert files == {path.relative_to(alone): path.read_bytes() for path in alone.glob(f"{name}/*")}
    shutil.rmtree(tmp_path / name)
    storage.delete([name, "another"])
    storage.fetch([name], tmp_path)
    assert not (tmp_path / name).exists()
    storage.store([name], alone)
