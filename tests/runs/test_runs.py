"""Runs are found, resumed to the same bits, or trained; what was interrupted together stays so."""

import errno
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

import jax
import numpy as np
import pytest
from benchmarks.kill_and_resume import kill_and_resume
from tests.jax_settings import setting
from tests.runs.small_runs import EPOCHS, Spy, experiment, split, weights

from daxy import papers
from daxy.core.errors import RunFailed, WrongRequest
from daxy.core.locks import exclusive_lock
from daxy.reproduction.filing import entry_of
from daxy.runs import store as runs_module
from daxy.runs.environment import describe, everywhere, resumed
from daxy.runs.folder import RunFolder
from daxy.runs.saved import load
from daxy.runs.store import RunStore
from daxy.tasks import Task
from daxy.training.checkpoint import Checkpoint, read_arrays
from daxy.training.interrupt import Interrupted
from daxy.training.loop import Training
from daxy.training.placement import ShardedState
from daxy.training.replicas import Replicas
from daxy.training.step import Steps

pytestmark = pytest.mark.usefixtures("one_shape")


def interrupt(folder: Path, seeds: list[int], at: int = 1, **options: bool) -> None:
    with pytest.raises(Interrupted):
        experiment(folder).run(seeds, monitor=Spy(at=at), **options)


@pytest.fixture(scope="module")
def halted(tmp_path_factory: pytest.TempPathFactory, one_shape: None) -> Path:
    """The group of seeds 0 and 1, interrupted after its first epoch; not to be changed."""
    folder = tmp_path_factory.mktemp("halted") / "runs"
    interrupt(folder, [0, 1], at=2)
    return folder


@pytest.fixture
def interrupted(halted: Path, tmp_path: Path) -> Path:
    """A copy of the interrupted group."""
    return Path(shutil.copytree(halted, tmp_path / "runs"))


def runs_in(folder: Path) -> list[RunFolder]:
    return [RunFolder(path) for path in sorted(folder.iterdir())]


def test_an_interrupted_run_leaves_a_checkpoint_and_no_results(interrupted: Path) -> None:
    first, second = runs_in(interrupted)
    assert first.has_state and not second.has_state
    for run in (first, second):
        names = {path.name for path in run.path.iterdir()}
        assert names - {"checkpoint"} == {"config.json", "environment.json", "log.jsonl"}
        assert run.environment()["group"] == [first.path.name, second.path.name]


def test_interrupted_at_every_stretch_the_runs_end_in_the_same_bits(
    tmp_path: Path, undisturbed: Path
) -> None:
    interruptions = 0
    while True:
        monitor = Spy(at=1)
        try:
            experiment(tmp_path / "runs").run([0, 1], monitor=monitor)
            break
        except Interrupted:
            interruptions += 1
            assert monitor.groups == [(0, 1)] and monitor.ends == 1
    assert interruptions == 2 * EPOCHS
    assert weights(tmp_path / "runs") == weights(undisturbed)


def test_an_interrupted_group_goes_on_as_that_group_whoever_is_asked_for(
    interrupted: Path, undisturbed: Path
) -> None:
    monitor = Spy()
    found = experiment(interrupted).run([1], monitor=monitor)
    assert monitor.groups == [(0, 1)]
    assert [folder.config().seed for folder in found] == [1]
    assert weights(interrupted) == weights(undisturbed)


def test_new_seeds_train_beside_a_group_that_goes_on(interrupted: Path) -> None:
    monitor = Spy(at=2 * EPOCHS - 1)
    with pytest.raises(Interrupted):
        experiment(interrupted).run([2, 1], monitor=monitor)
    assert monitor.groups == [(0, 1), (2,)]
    assert [run.is_done() for run in runs_in(interrupted)] == [True, True, False]


def test_a_group_whose_first_run_began_anew_alone_is_no_group_any_more(interrupted: Path) -> None:
    shutil.rmtree(runs_in(interrupted)[0].path)
    interrupt(interrupted, [0])
    monitor = Spy(at=1)
    with pytest.raises(Interrupted):
        experiment(interrupted).run([1], monitor=monitor)
    assert monitor.groups == [(1,)]


def test_a_restart_does_not_lose_the_state_of_a_run_that_is_not_asked_for(
    interrupted: Path,
) -> None:
    first, second = runs_in(interrupted)
    with pytest.raises(
        WrongRequest, match=f"has the state of {second.path.name}, which was interrupted"
    ):
        experiment(interrupted).run([0], restart=True)
    assert first.has_state
    interrupt(interrupted, [1], restart=True)
    assert second.has_state
    interrupt(interrupted, [0, 1], at=1, restart=True)
    assert not second.has_state


def test_only_what_is_there_is_locked_for_a_restart(
    interrupted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table can have more runs than a process can have files open."""
    locked = list[Path]()

    @contextmanager
    def locking(path: Path, *_: object) -> Iterator[None]:
        locked.append(path)
        yield

    monkeypatch.setattr(runs_module, "exclusive_lock", locking)
    there = [folder.path for folder in runs_in(interrupted)]
    RunStore(interrupted).clear([experiment(interrupted).of(seed) for seed in range(20)])
    assert locked == there
    assert not list(interrupted.iterdir())


def test_what_cannot_be_deleted_is_not_passed_off_as_new(
    interrupted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> NoReturn:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(shutil, "rmtree", refuse)
    with pytest.raises(RunFailed, match="cannot delete .*: Permission denied"):
        experiment(interrupted).run([0, 1], restart=True)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory"),
            "out of memory",
        ),
        (MemoryError("no room"), "out of memory"),
        (
            jax.errors.JaxRuntimeError("INTERNAL: driver"),
            "JAX failed on its device .*: INTERNAL: driver",
        ),
    ],
)
def test_a_device_or_memory_that_does_not_suffice_is_no_defect(
    error: Exception, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    monkeypatch.setattr(Training, "fit", fail)
    with pytest.raises(RunFailed, match=said):
        experiment(tmp_path).run([0])


def test_a_run_that_another_process_trains_is_left_to_it(interrupted: Path) -> None:
    second = runs_in(interrupted)[1].path
    for options in ({}, {"restart": True}):
        monitor = Spy()
        with (
            exclusive_lock(second),
            pytest.raises(RunFailed, match="another process trains this run"),
        ):
            experiment(interrupted).run([0, 1], monitor=monitor, **options)
        assert monitor.groups == []
    assert len(runs_in(interrupted)) == 2


def test_an_epoch_takes_as_long_as_all_that_was_done_for_it(interrupted: Path) -> None:
    interrupt(interrupted, [0, 1], at=1)
    checkpoint = runs_in(interrupted)[0].workdir / "state.safetensors"
    arrays, metadata = read_arrays(checkpoint)
    position = json.loads(metadata["position"])
    assert position["step"] > 0 and position["seconds"] > 0
    position["seconds"] = 1000.0
    Checkpoint(checkpoint).save(arrays, position)
    experiment(interrupted).run([0, 1])
    seconds = [record["seconds"] for record in runs_in(interrupted)[0].records()]
    assert [each > 1000 for each in seconds] == [False, True, False]


def test_a_checkpoint_of_a_later_version_is_refused(interrupted: Path) -> None:
    checkpoint = runs_in(interrupted)[0].workdir / "state.safetensors"
    arrays, metadata = read_arrays(checkpoint)
    later = json.loads(metadata["position"]) | {"later": 1}
    Checkpoint(checkpoint).save(arrays, later)
    with pytest.raises(RunFailed, match=r"damaged: it was written by another program .*later"):
        experiment(interrupted).run([0, 1])


def test_what_another_process_has_finished_meanwhile_is_not_trained_again(
    interrupted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entering = RunStore.locked

    @contextmanager
    def late(self: RunStore, folders: Sequence[RunFolder]) -> Iterator[None]:
        monkeypatch.setattr(RunStore, "locked", entering)
        experiment(interrupted).run([0, 1])
        with entering(self, folders):
            yield

    monkeypatch.setattr(RunStore, "locked", late)
    monitor = Spy()
    experiment(interrupted).run([0, 1], monitor=monitor)
    assert monitor.groups == []
    assert all(run.is_done() for run in runs_in(interrupted))


def test_a_state_that_another_process_has_left_of_other_runs_meanwhile_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two groups of as many runs of one shape: the state of either would fit the other."""
    entering = RunStore.locked

    @contextmanager
    def late(self: RunStore, folders: Sequence[RunFolder]) -> Iterator[None]:
        monkeypatch.setattr(RunStore, "locked", entering)
        interrupt(tmp_path, [0, 1])
        with entering(self, folders):
            yield

    monkeypatch.setattr(RunStore, "locked", late)
    monitor = Spy()
    meanwhile = "seed0.* was begun with other runs meanwhile; run the command again"
    with pytest.raises(RunFailed, match=meanwhile):
        experiment(tmp_path).run([0, 2], monitor=monitor)
    assert monitor.groups == []
    monitor = Spy(at=2 * EPOCHS)
    with pytest.raises(Interrupted):
        experiment(tmp_path).run([0, 2], monitor=monitor)
    assert monitor.groups == [(0, 1), (2,)]


def test_the_version_that_counted_bleu_is_in_the_scores(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "sacrebleu" not in runs_in(undisturbed)[0].scores()
    before = {"sacrebleu": "0.1"}  # of what was installed when the run began
    monkeypatch.setattr(runs_module, "describe", lambda *given: describe(*given) | before)
    totals = Task.totals
    monkeypatch.setattr(Task, "totals", lambda *given: totals(*given) | {"bleu": 0.5})
    (done,) = experiment(tmp_path).run([0])
    assert done.environment()["sacrebleu"] == "0.1"
    assert done.scores()["sacrebleu"] == version("sacrebleu")


def test_where_a_run_went_on_elsewhere_is_recorded(
    interrupted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = runs_in(interrupted)[0].environment()
    later = {"jax": "99.0", "started": "2099-01-01T00:00:00+00:00"}
    monkeypatch.setattr(runs_module, "describe", lambda *given: describe(*given) | later)
    for _ in range(2):
        interrupt(interrupted, [0, 1])
    for run in runs_in(interrupted):
        assert run.environment() == before | {"resumed": [later]}


def test_other_settings_of_jax_are_another_place() -> None:
    before = dict.fromkeys(("daxy", "jax", "device", "device_kind", "devices", "processor"), "1")
    before["started"] = "today"
    fast = {"settings": {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true"}, "started": "tomorrow"}
    usual = {"settings": {}, "started": "later"}
    assert resumed(before, before | usual) == before  # earlier versions recorded none
    once = resumed(before, before | fast)
    assert once == before | {"resumed": [fast]}
    assert resumed(once, before | usual)["resumed"] == [fast, usual]


def test_settings_of_jax_change_neither_a_runs_name_nor_its_weights(
    tmp_path: Path, undisturbed: Path
) -> None:
    with (
        setting("jax_enable_x64", True),
        setting("jax_default_prng_impl", "rbg"),
        setting("jax_numpy_dtype_promotion", "strict"),
        setting("jax_debug_nans", True),
    ):
        runs = experiment(tmp_path / "runs").run([0, 1])
        answers = load(runs[0].path).predict(split().test.source)
    assert weights(tmp_path / "runs") == weights(undisturbed)
    assert runs[0].environment()["settings"] == runs_in(undisturbed)[0].environment()["settings"]
    assert [*answers] == [*load(runs[0].path).predict(split().test.source)]


def test_each_place_that_is_not_the_last_one_is_recorded() -> None:
    here = {"daxy": "1", "jax": "1", "device": "cpu", "devices": 2, "started": "today"}
    here |= {"device_kind": "cpu", "processor": "arm"}
    assert resumed(here, here | {"started": "tomorrow"}) == here
    there = here | {"device": "gpu", "started": "tomorrow"}
    once = resumed(here, there)
    assert once == here | {"resumed": [{"device": "gpu", "started": "tomorrow"}]}
    assert resumed(once, there | {"started": "later"}) == once
    back = resumed(once, here | {"started": "at last"})
    assert back["resumed"][1:] == [{"device": "cpu", "started": "at last"}]
    assert [everywhere(back, name) for name in ("daxy", "device")] == ["1", "cpu, gpu"]


def test_a_run_killed_while_results_were_written_is_finished(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run of the group is done, the second one is not, the checkpoint is still there."""
    runs, real = tmp_path / "runs", RunFolder.finish
    finished: list[RunFolder] = []

    def die_at_the_second(folder: RunFolder, *results: Any) -> None:
        if finished:
            raise KeyboardInterrupt
        finished.append(folder)
        real(folder, *results)

    monkeypatch.setattr(RunFolder, "finish", die_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        experiment(runs).run([0, 1])
    monkeypatch.setattr(RunFolder, "finish", real)
    written = finished[0].path.joinpath("done").stat().st_mtime_ns
    monitor = Spy()
    experiment(runs).run([0, 1], monitor=monitor)
    assert monitor.stretches == 0
    assert weights(runs) == weights(undisturbed)
    assert finished[0].path.joinpath("done").stat().st_mtime_ns == written


def test_what_a_killed_process_was_writing_is_cleared_away(interrupted: Path) -> None:
    run = runs_in(interrupted)[0]
    for folder in (run.path, run.workdir):
        (folder / ".half.json.abc.tmp").write_text("{")
    experiment(interrupted).run([0, 1])
    assert not list(interrupted.rglob("*.tmp"))


@pytest.mark.parametrize("name", ["environment.json", "config.json"])
@pytest.mark.parametrize("content", ["", '{"task": "sc', "[]"])
def test_a_damaged_file_of_an_interrupted_run_is_reported(
    name: str, content: str, interrupted: Path
) -> None:
    run = runs_in(interrupted)[0]
    (run.path / name).write_text(content)
    with pytest.raises(RunFailed, match=f"{name} .*; train again with `--restart`"):
        experiment(interrupted).run([0, 1])


def test_a_run_that_was_begun_on_other_data_is_not_resumed(interrupted: Path) -> None:
    path = runs_in(interrupted)[1].path / "environment.json"
    environment = json.loads(path.read_text())
    assert environment["checksum"] == experiment(interrupted).of(0).split.provenance.checksum
    path.write_text(json.dumps(environment | {"checksum": "of other data"}))
    with pytest.raises(RunFailed, match="was begun on other data than .* has now"):
        experiment(interrupted).run([0, 1])


def test_a_finished_run_is_found_without_its_data(
    undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object) -> NoReturn:
        raise AssertionError("data was loaded")

    monkeypatch.setattr(Task, "split", forbidden)
    monkeypatch.setattr("daxy.runs.config.load", forbidden)
    assert len(experiment(undisturbed).run([0])) == 1


def test_an_environment_that_is_gone_is_reported_before_training(interrupted: Path) -> None:
    (runs_in(interrupted)[0].path / "environment.json").unlink()
    monitor = Spy()
    with pytest.raises(
        RunFailed, match=r"environment\.json is missing; train again with `--restart`"
    ):
        experiment(interrupted).run([0, 1], monitor=monitor)
    assert monitor.stretches == 0


def test_the_second_run_of_a_group_gets_its_environment_again(
    interrupted: Path, undisturbed: Path
) -> None:
    first, second = runs_in(interrupted)
    (second.path / "environment.json").unlink()
    experiment(interrupted).run([0, 1])
    assert second.environment() == first.environment()
    assert weights(interrupted) == weights(undisturbed)


def test_a_damaged_run_can_be_trained_alone(runs: Path, undisturbed: Path) -> None:
    damaged, intact = runs_in(runs)
    written = (intact.path / "done").stat().st_mtime_ns
    shutil.rmtree(damaged.path)
    experiment(runs).run([0, 1])
    assert (intact.path / "done").stat().st_mtime_ns == written
    assert set(weights(runs)) == set(weights(undisturbed))


def test_a_damaged_checkpoint_is_reported_and_a_restart_helps(
    interrupted: Path, undisturbed: Path
) -> None:
    checkpoint = runs_in(interrupted)[0].workdir / "state.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-9])
    with pytest.raises(RunFailed, match=r"state\.safetensors is damaged: .*--restart"):
        experiment(interrupted).run([0, 1])
    experiment(interrupted).run([0, 1], restart=True)
    assert weights(interrupted) == weights(undisturbed)


@pytest.mark.parametrize("seeds", [[], [3, 3]])
def test_seeds_have_to_differ_and_be_some(seeds: list[int], tmp_path: Path) -> None:
    with pytest.raises(WrongRequest, match="expected different seeds, at least one"):
        experiment(tmp_path).run(seeds)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of half a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small disk is not permitted here; another test pretends one")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Write until nothing more fits."""
    with (folder / "filler").open("wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError as error:
                assert error.errno == errno.ENOSPC


def test_a_full_disk_loses_nothing_and_with_space_the_run_goes_on(
    small_disk: Path, undisturbed: Path
) -> None:
    runs = small_disk / "runs"
    monitor = Spy(at=3, act=lambda: fill(small_disk))
    with pytest.raises(RunFailed, match=r"cannot write .*: No space left on device"):
        experiment(runs, seconds=0.0).run([0, 1], monitor=monitor)
    assert monitor.ends == 1
    (small_disk / "filler").unlink()
    monitor = Spy()
    experiment(runs, seconds=0.0).run([0, 1], monitor=monitor)
    assert monitor.stretches == 2 * EPOCHS - 2, "the two stretches before were not lost"
    assert weights(runs) == weights(undisturbed)


def test_a_disk_that_says_it_is_full_loses_nothing_either(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    runs, sync = tmp_path / "runs", os.fsync
    monitor = Spy(at=3, act=lambda: monkeypatch.setattr(os, "fsync", full))
    with pytest.raises(RunFailed, match=r"cannot write .*: No space left on device"):
        experiment(runs, seconds=0.0).run([0, 1], monitor=monitor)
    monkeypatch.setattr(os, "fsync", sync)
    experiment(runs).run([0, 1])
    assert weights(runs) == weights(undisturbed)


def test_killed_at_random_moments_a_training_ends_in_the_same_files() -> None:
    counts = kill_and_resume(kills=3, epochs=5)
    assert counts["kills"] == 3
    assert counts["different"] == 0


def test_evaluations_are_in_the_log_and_change_nothing(tmp_path: Path) -> None:
    (plain,) = experiment(tmp_path / "plain").run([0])
    (seen,) = replace(experiment(tmp_path / "seen"), test_every=1).run([0])
    assert [record["test"] for record in plain.records()] == [None] * EPOCHS
    tests = [record["test"] for record in seen.records()]
    assert all(isinstance(each, float) for each in tests)
    assert seen.evaluations() == seen.records()
    assert weights(tmp_path / "plain") == weights(tmp_path / "seen")
    validations = [record["validation"] for record in seen.records()]
    assert seen.scores()["best_epoch"] == 1 + validations.index(max(validations))


def test_it_is_too_late_to_evaluate_a_finished_run(tmp_path: Path) -> None:
    experiment(tmp_path).run([0])
    later = replace(experiment(tmp_path), test_every=1)
    with pytest.raises(WrongRequest, match="has no test scores in its log; `--restart`"):
        later.run([0, 1])
    assert len(later.run([0], restart=True)[0].evaluations()) == EPOCHS
    with pytest.raises(WrongRequest, match="test-every must not be negative: -1"):
        replace(later, test_every=-1).run([0])
    never = f"test-every {EPOCHS + 1} is more than the {EPOCHS} epochs that scan-"
    with pytest.raises(WrongRequest, match=never):
        replace(later, test_every=EPOCHS + 1).run([5])


def test_what_a_restart_would_refuse_is_not_deleted_first(tmp_path: Path) -> None:
    (done,) = experiment(tmp_path).run([0])
    with pytest.raises(WrongRequest, match="is more than the"):
        replace(experiment(tmp_path), test_every=EPOCHS + 1).run([0], restart=True)
    assert done.is_done()


def test_a_training_that_ended_before_its_first_evaluation_has_all_it_can_have(
    tmp_path: Path,
) -> None:
    (done,) = experiment(tmp_path).run([0])
    done.write_log([])
    assert replace(experiment(tmp_path), test_every=1).run([0]) == [done]


def test_a_log_that_was_lost_is_written_again(interrupted: Path, undisturbed: Path) -> None:
    """It is not flushed line by line, so that a power cut takes more of it than of the state."""
    with pytest.raises(KeyboardInterrupt), pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs_module, "finish", _no_power)
        experiment(interrupted).run([0, 1])
    for run in runs_in(interrupted):
        run.write_log([])
    for run in experiment(interrupted).run([0, 1]):
        assert len(run.records()) == EPOCHS
    assert weights(interrupted) == weights(undisturbed)


def _no_power(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def test_memory_that_does_not_suffice_for_the_test_set_is_no_defect(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Replicas.decode

    def decode(replicas: Replicas, *asked: Any) -> Any:
        if len(asked) < 3:  # not while it trains
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory")
        return real(replicas, *asked)

    with monkeypatch.context() as patch, pytest.raises(RunFailed, match="out of memory"):
        patch.setattr(Replicas, "decode", decode)
        experiment(tmp_path).run([0, 1])
    monitor = Spy()
    experiment(tmp_path).run([0, 1], monitor=monitor)
    assert monitor.stretches == 0, "it had been trained"
    assert weights(tmp_path) == weights(undisturbed)


def test_a_finished_run_keeps_no_state_of_a_group_that_it_left(tmp_path: Path) -> None:
    interrupt(tmp_path, [0, 1])
    interrupt(tmp_path, [1], restart=True)
    experiment(tmp_path).run([0, 1])
    assert not [*tmp_path.glob("*/checkpoint")]


def test_a_run_whose_companion_is_gone_says_what_helps(interrupted: Path) -> None:
    first, second = runs_in(interrupted)
    shutil.rmtree(second.path)
    gone = "was interrupted with .*seed1.*, whose folder is gone; train that run too"
    with pytest.raises(RunFailed, match=gone):
        experiment(interrupted).run([0])
    experiment(interrupted).run([0, 1])
    assert first.is_done() and second.is_done()


def test_a_run_that_diverges_is_named_and_the_others_of_its_group_are_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = Replicas.run

    def losing(
        replicas: Replicas, shares: ShardedState, steps: Steps, *on: Any
    ) -> tuple[ShardedState, Any]:
        shares, losses = trained(replicas, shares, steps, *on)
        losses[:, 1:] = np.nan
        return shares, losses

    with monkeypatch.context() as patched, pytest.raises(RunFailed) as caught:
        patched.setattr(Replicas, "run", losing)
        experiment(tmp_path).run([0, 1])
    assert str(caught.value) == (
        "the loss of seed 1 (epoch 1) is not finite; try a smaller learning rate;"
        " the other runs of the group are finished"
    )
    done = {folder.config().seed: folder.is_done() for folder in map(RunFolder, tmp_path.iterdir())}
    assert done == {0: True, 1: False}
    monitor = Spy()
    experiment(tmp_path).run([0, 1], monitor=monitor)
    assert monitor.groups == [(1,)]


def test_a_run_that_diverges_has_the_weights_that_were_selected_before(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = Replicas.run
    first = RunFolder(next(undisturbed.glob("*seed1*")))
    assert first.scores()["best_epoch"] == 1, "else the test says nothing"

    def losing(
        replicas: Replicas, shares: ShardedState, steps: Steps, *on: Any
    ) -> tuple[ShardedState, Any]:
        shares, losses = trained(replicas, shares, steps, *on)
        if steps.number[0] >= first.scores()["steps"] // EPOCHS:
            losses[:, 1:] = np.nan
        return shares, losses

    monkeypatch.setattr(Replicas, "run", losing)
    experiment(tmp_path).run([0, 1])
    assert weights(tmp_path) == weights(undisturbed)
    found = {folder.config().seed: folder.scores() for folder in runs_in(tmp_path)}
    assert "diverged" not in found[0]
    assert (found[1]["diverged"], found[1]["epochs"]) == (True, 1)
    assert found[1]["test"] == first.scores()["test"]
    cell = papers.table("bastings2018/table4").cell("GRU +Attn", "jump")
    assert [entry_of(cell, folder).diverged for folder in runs_in(tmp_path)] == [False, True]
    later = papers.table("ruis2020/curve").cell("Baseline", "20,000")
    why = rf"has no score of .*'20000' .*: it diverged after {found[1]['steps']} steps\)"
    with pytest.raises(RunFailed, match=why):
        entry_of(later, runs_in(tmp_path)[1])
