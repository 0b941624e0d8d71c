"""Killed at each step of finishing and asked again, nothing differs and nothing strays."""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
from benchmarks.kill_and_resume import OPERATIONS
from tests.runs.small_runs import Spy, experiment, weights

from daxy.core.errors import RunFailed
from daxy.core.locks import exclusive_lock
from daxy.runs import store as runs_module
from daxy.runs.folder import RunFolder

pytestmark = pytest.mark.usefixtures("one_shape")


class Killed(BaseException):
    """This process is as good as dead: it changes no file any more."""


class _Killer:
    """An audit hook, which stays for good, that may kill at a file operation in a folder."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.left = 0
        self.operations = 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.folder is None or event not in OPERATIONS:
            return
        if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR):
            return
        if str(self.folder) in str(arguments[0]):
            self.operations += 1
            if self.operations > self.left:
                raise Killed


KILLER = _Killer()
sys.addaudithook(KILLER)


@contextmanager
def killed_after(operations: int, folder: Path) -> Generator[None]:
    """Kill at the operation after so many of them; nothing changes the folder from there on."""
    KILLER.folder, KILLER.left, KILLER.operations = folder, operations, 0
    try:
        yield
    except Killed:
        pass
    finally:
        KILLER.folder = None


def names_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, one_shape: None) -> Path:
    """A group that is trained, and nothing of it is written but its state."""

    def no_power(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    folder = tmp_path_factory.mktemp("trained") / "runs"
    with pytest.raises(KeyboardInterrupt), pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs_module, "finish", no_power)
        experiment(folder).run([0, 1])
    return folder


def test_killed_at_each_step_of_finishing_nothing_differs_and_nothing_strays(
    trained: Path, undisturbed: Path, tmp_path: Path
) -> None:
    expected, steps = names_in(undisturbed), 0
    while True:
        folder = tmp_path / str(steps)
        shutil.copytree(trained, folder)
        with killed_after(steps, folder):
            experiment(folder).run([0, 1])
        gc.collect()  # What the dead held, locks above all, is let go of.
        if steps == KILLER.operations:
            break  # it came to its end
        found = experiment(folder).run([1] if steps % 2 else [0, 1])
        assert all(run.is_done() for run in found)
        assert names_in(folder) == expected, f"killed after {steps} operations"
        assert weights(folder) == weights(undisturbed)
        steps += 1
    # Locks, four files a run that are made and named, the state and its folder.
    assert steps > 2 * 4 * 2 + 2 + 2


@pytest.fixture
def untidy(runs: Path) -> Path:
    """Finished runs, and everything that processes that were killed can leave beside them."""
    for run in sorted(runs.iterdir()):
        (runs / f".{run.name}.lock").touch()
        (run / ".scores.json.1234abcd.tmp").write_text("{")
        shutil.copytree(run, runs / f".{run.name}.1234abcd.tmp")
    first = min(runs.glob("[!.]*")) / "checkpoint"
    first.mkdir()
    (first / "state.safetensors").write_text("")
    (first / ".state.safetensors.1234abcd.tmp").write_text("")
    return runs


@pytest.mark.parametrize("seeds", [[0, 1], [0], [1]])
def test_what_killed_processes_left_goes_away_when_the_runs_are_asked_for(
    seeds: list[int], untidy: Path, undisturbed: Path
) -> None:
    monitor = Spy()
    experiment(untidy).run(seeds, monitor=monitor)
    assert names_in(untidy) == names_in(undisturbed)
    assert monitor.groups == []


def test_a_state_stays_while_a_run_of_its_group_is_not_finished(untidy: Path) -> None:
    first, second = (RunFolder(path) for path in sorted(untidy.glob("[!.]*")))
    (second.path / "done").unlink()
    experiment(untidy).run([0])
    assert first.has_state
    assert list(first.path.glob(".*.tmp")) == []


def test_what_another_process_holds_stays(untidy: Path) -> None:
    first = min(untidy.glob("[!.]*"))
    code = f"""
from pathlib import Path
from daxy.core.locks import exclusive_lock
with exclusive_lock(Path({str(first)!r})):
    print("in", flush=True)
    input()
"""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"in\n"
        before = [name for name in names_in(untidy) if first.name in name]
        experiment(untidy).run([0, 1])
        assert [name for name in names_in(untidy) if first.name in name] == before
        other.communicate(b"\n")
    experiment(untidy).run([0, 1])
    assert not (first / "checkpoint").exists()
    with exclusive_lock(first, "it is still held"):
        pass


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def runs_in(folder: Path) -> list[RunFolder]:
    return [RunFolder(path) for path in sorted(folder.iterdir())]


@pytest.fixture
def interrupted(trained: Path, tmp_path: Path) -> Path:
    """A copy of the group whose state alone is there."""
    return Path(shutil.copytree(trained, tmp_path / "runs"))


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("seeds", [[0, 1], [0], [1]])
@pytest.mark.parametrize(
    "changes", [{"seed": 7}, {"task": "scan/simple"}, {"task": 3}, {"learner": {}}, {"format": 1}]
)
def test_an_edited_config_is_refused(
    place: int, seeds: list[int], changes: dict[str, Any], interrupted: Path
) -> None:
    folder = runs_in(interrupted)[place]
    edit(folder.path / "config.json", **changes)
    refused = rf"{folder.path.name}: (config.json .*; train again|.*; train the run again)"
    if changes == {"format": 1}:
        refused = "run folder of format 1, written by daxy .*: train the run again"
    with pytest.raises(RunFailed, match=refused):
        experiment(interrupted).run(seeds)
    assert len(runs_in(interrupted)) == 2


def test_another_runs_config_is_refused(interrupted: Path) -> None:
    first, second = runs_in(interrupted)
    shutil.copy(second.path / "config.json", first.path / "config.json")
    with pytest.raises(
        RunFailed, match=f"config.json was changed: it is that of '{second.path.name}"
    ):
        experiment(interrupted).run([0, 1])


def test_a_copy_of_another_finished_run_does_not_count(runs: Path) -> None:
    first, second = runs_in(runs)
    shutil.rmtree(first.path)
    shutil.copytree(second.path, first.path)
    with pytest.raises(RunFailed, match=f"{first.path.name}: config.json was changed"):
        experiment(runs).run([0])
    with pytest.raises(RunFailed, match="config.json was changed"):
        experiment(runs).finished([0])


def test_another_runs_done_is_refused(interrupted: Path, undisturbed: Path) -> None:
    first, _ = runs_in(interrupted)
    shutil.copy(undisturbed / first.path.name / "done", first.path / "done")
    with pytest.raises(RunFailed, match="is missing|was changed after training"):
        experiment(interrupted).run([0])


@pytest.mark.parametrize(
    ("group", "problem"),
    [
        (["../x", "OWN"], r"has '\.\./x' in `group`; expected a run's name"),
        (["/tmp/x", "OWN"], "has '/tmp/x' in `group`"),
        (["", "OWN"], "has '' in `group`"),
        (["..", "OWN"], r"has '\.\.' in `group`"),
        (["OTHER"], "has a `group` without this run"),
        (["OWN", "OWN"], "has a run twice in `group`"),
        (["OWN", "nobody"], "is the state of OWN, OTHER"),
        (["OWN"], "is the state of OWN, OTHER"),
    ],
)
def test_an_edited_group_is_refused(group: list[str], problem: str, interrupted: Path) -> None:
    first, second = runs_in(interrupted)
    names = {"OWN": first.path.name, "OTHER": second.path.name}
    given = [names.get(name, name) for name in group]
    edit(first.path / "environment.json", group=given)
    for name, real in names.items():
        problem = problem.replace(name, real)
    with pytest.raises(RunFailed, match=problem):
        experiment(interrupted).run([0])


def test_a_state_is_not_taken_for_another_runs(interrupted: Path) -> None:
    """The group is said to have had seed 2 in the place of seed 1; all files are valid."""
    with pytest.raises(KeyboardInterrupt), pytest.MonkeyPatch.context() as patch:
        patch.setattr(Spy, "begin", _interrupt)
        experiment(interrupted).run([2], monitor=Spy())
    first, _, third = runs_in(interrupted)
    names = [first.path.name, third.path.name]
    for folder in (first, third):
        edit(folder.path / "environment.json", group=names)
    with pytest.raises(RunFailed, match="is damaged: it is the state of "):
        experiment(interrupted).run([0, 2])


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
