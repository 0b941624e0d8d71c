"""Runs of one shape train as one program: whatever their split, dropout, learning rate and seed."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.kill_and_resume import Few
from safetensors.numpy import load_file
from tests.runs.small_runs import group_of

from daxy import papers
from daxy.core.errors import RunFailed, WrongRequest
from daxy.learners import Progress
from daxy.learners.neural import Neural
from daxy.learners.neural import group as group_module
from daxy.learners.neural.group import SAMPLE
from daxy.models.stacked import Config
from daxy.reproduction.sweep import select
from daxy.runs import executors, programs
from daxy.runs.monitor import Monitor
from daxy.runs.programs import Program, estimates
from daxy.runs.run import Run
from daxy.runs.store import RunStore
from daxy.training.loop import Training
from daxy.training.protocols import protocol
from daxy.training.replicas import Replicas

pytestmark = pytest.mark.usefixtures("one_shape")

TRIALS = 64
GRID = papers.table("lake2018/grid")


def run(task: str, seed: int, dropout: float, hidden: int = 6) -> Run:
    recipe = protocol("lake2018").with_settings(
        samples=TRIALS, dropout=dropout, max_decode_length=4
    )
    config = Config(cell="gru", layers=1, hidden=hidden)
    learner = Neural(model="stacked", config=config, training=recipe)
    return Run(task=f"scan/{task}", learner=learner, data=Few(validation="none"), seed=seed)


def in_epochs(count: int) -> Run:
    """A run of so many epochs of 32 steps."""
    asked = run("simple_p1", 0, 0.0)
    recipe = asked.learner.training.with_settings(samples=32 * count, eval_every=32)
    return replace(asked, learner=replace(asked.learner, training=recipe))


def at(rate: float, asked: Run) -> Run:
    """The run with another learning rate."""
    recipe = asked.learner.training.with_settings(learning_rate=rate)
    return replace(asked, learner=replace(asked.learner, training=recipe))


MIXED = [
    run("simple_p1", 0, 0.5),
    run("simple_p1", 1, 0.0),
    run("addprim_jump", 0, 0.0),
    at(0.01, run("simple_p1", 1, 0.0)),
]


def weights(folder: Path, asked: Run) -> dict[str, np.ndarray]:
    return load_file(asked.within(folder).path / "model.safetensors")


class Stopping(Monitor):
    """A monitor that ends a training at its second stretch."""

    heard = 0

    def stepped(self, progress: Progress, examples: int) -> None:
        self.heard += 1
        if self.heard == 2:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished group of runs on two tasks; not to be changed."""
    folder = tmp_path_factory.mktemp("mixed")
    RunStore(folder).complete(MIXED)
    return folder


def test_each_run_of_a_mixed_group_is_as_it_would_be_alone(mixed: Path, tmp_path: Path) -> None:
    for asked in MIXED:
        RunStore(tmp_path).complete([asked])
        together, alone = weights(mixed, asked), weights(tmp_path, asked)
        for name, own in together.items():
            np.testing.assert_allclose(own, alone[name], atol=1e-5, err_msg=name)
        folder, rate = asked.within(mixed), asked.learner.training.optimizer.learning_rate
        assert {record["learning_rate"] for record in folder.records()} == {rate}
        assert folder.scores()["test_examples"] == len(asked.split.test)
        assert set(folder.group) == {each.config.name for each in MIXED}


def test_an_interrupted_group_goes_on_whole_when_one_of_it_is_asked_for(
    mixed: Path, tmp_path: Path
) -> None:
    store = RunStore(tmp_path, checkpoint_seconds=0.0)

    with pytest.raises(KeyboardInterrupt):
        store.complete(MIXED, Stopping())
    assert store.missing(MIXED) == MIXED
    plan = store.plan(MIXED[1:2])
    assert [{each.config.name for each in group} for group in plan.resumed] == [
        {each.config.name for each in MIXED}
    ]
    assert plan.new == []
    store.complete(MIXED[1:2])
    for asked in MIXED:
        assert asked.within(tmp_path).is_done()
        for name, own in weights(mixed, asked).items():
            np.testing.assert_array_equal(own, weights(tmp_path, asked)[name])


def names(planned: Sequence[Program]) -> list[list[str]]:
    return [[each.config.name for each in program.runs] for program in planned]


def test_programs_hold_what_has_one_shape_and_stay_the_same_as_runs_are_finished(
    tmp_path: Path,
) -> None:
    store = RunStore(tmp_path)
    small = [run("simple_p1", seed, dropout) for seed in range(5) for dropout in (0.0, 0.5)]
    large = [run("addprim_jump", seed, 0.1, hidden=8) for seed in range(3)]
    small[5] = at(0.01, small[5])
    every = [*small[:4], *large, *small[4:]]
    planned = programs.programs(every, every, store, most=4)
    assert [len(program.runs) for program in planned] == [3, 4, 3, 3]
    assert names(planned) == [
        [each.config.name for each in part] for part in (small[:3], small[3:7], small[7:], large)
    ]
    assert {program.samples for program in planned} == {3 * TRIALS, 4 * TRIALS}
    left = [*small[5:], *large]
    again = names(programs.programs(every, left, store, most=4))
    assert again == [[each.config.name for each in part] for part in (small[5:7], small[7:], large)]


def passing(task: str, seed: int) -> Run:
    """A run that passes through its data instead of drawing from it."""
    drawn = run(task, seed, 0.0)
    recipe = drawn.learner.training.with_settings(epochs=1)
    return replace(drawn, learner=replace(drawn.learner, training=recipe))


def test_what_passes_through_other_data_is_another_shape(tmp_path: Path) -> None:
    runs = [passing(task, seed) for task in ("simple_p1", "simple_p2") for seed in (0, 1)]
    planned = programs.programs(runs, runs, RunStore(tmp_path))
    assert names(planned) == [[each.config.name for each in part] for part in (runs[:2], runs[2:])]


def test_a_group_goes_on_although_the_folder_of_one_of_it_is_gone(
    mixed: Path, tmp_path: Path
) -> None:
    store = RunStore(tmp_path, checkpoint_seconds=0.0)

    with pytest.raises(KeyboardInterrupt):
        store.complete(MIXED, Stopping())
    shutil.rmtree(MIXED[1].within(tmp_path).path)
    store.complete(MIXED)
    for asked in MIXED:
        for name, own in weights(mixed, asked).items():
            np.testing.assert_array_equal(own, weights(tmp_path, asked)[name])


def test_a_program_that_fails_does_not_keep_the_others_from_running(tmp_path: Path) -> None:
    diverging = run("simple_p1", 0, 0.0)
    recipe = diverging.learner.training.with_settings(learning_rate=1e30)
    diverging = replace(diverging, learner=replace(diverging.learner, training=recipe))
    planned = [Program((diverging,)), Program((run("simple_p1", 1, 0.0),))]
    going = executors.get("local").run(planned, RunStore(tmp_path), Monitor())
    assert [next(going) for _ in planned] == planned
    assert planned[1].runs[0].within(tmp_path).is_done()
    with pytest.raises(RunFailed, match="the loss of seed 0 .* is not finite.*; all others"):
        next(going)


def test_other_words_are_another_shape(tmp_path: Path) -> None:
    forwards = run("simple_p1", 0, 0.0)
    backwards = replace(forwards, task="nacs/simple_p1")
    planned = programs.programs([forwards, backwards], [forwards, backwards], RunStore(tmp_path))
    assert [len(program.runs) for program in planned] == [1, 1]


def test_what_was_not_tried_out_is_estimated_between_what_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = (4, 8, 16, 32, 64, 128, 256)
    planned = [Program((run("simple_p1", 0, 0.0, hidden=size),)) for size in sizes]
    tried: list[Program] = []

    def measured(program: Program) -> float:
        tried.append(program)
        return 3 * program.cost

    monkeypatch.setattr(Program, "measured", measured)
    found = dict(estimates(planned, 3))
    assert tried == [planned[0], planned[3], planned[6]]
    assert found == pytest.approx({n: 3 * program.cost for n, program in enumerate(planned)})
    assert dict(estimates(planned[:1], 3)) == {0: 3 * planned[0].cost}
    assert list(estimates([], 3)) == []


def test_what_only_has_to_be_judged_takes_no_time_to_speak_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trained, left = Program((in_epochs(3),), epochs_done=3), Program((in_epochs(3),))
    monkeypatch.setattr(Program, "measured", lambda _: 60.0)
    assert dict(estimates([trained, left])) == {0: 0.0, 1: 60.0}
    assert dict(estimates([trained])) == {0: 0.0}


def test_what_was_trained_already_is_not_estimated_again_and_looks_at_the_test_set_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = in_epochs(10)
    group = group_of([asked])
    monkeypatch.setattr(Training, "pace", lambda *_: (0.0, 1.0))
    monkeypatch.setattr(Replicas, "decode", lambda *_: None)
    assert group.seconds() == pytest.approx(320, rel=0.01)
    assert group.seconds(epochs_done=9) == pytest.approx(32, rel=0.01)
    program = Program((asked,), epochs_done=4)
    assert program.samples == 192
    assert program.measured() == pytest.approx(192, rel=0.01)
    # A clock that goes on while something is decoded, and stands still otherwise.
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(group_module, "time", clock)
    monkeypatch.setattr(Replicas, "decode", lambda *_: setattr(clock, "now", clock.now + 0.5))
    plain, looking = (
        group_of([asked], test_every=every).seconds(epochs_done=4) for every in (0, 3)
    )
    count = len(asked.split.test)
    test = 0.5 / min(SAMPLE, count) * count
    assert looking - plain == pytest.approx(2 * test)  # after 6 and 9 epochs


def test_an_interrupted_program_says_how_far_it_is(tmp_path: Path) -> None:
    store = RunStore(tmp_path, checkpoint_seconds=0.0)
    asked = in_epochs(3)
    with pytest.raises(KeyboardInterrupt):
        store.complete([asked], Stopping())
    (left,) = programs.programs([asked], [asked], store)
    assert (left.epochs_done, left.samples) == (1, 64)
    checkpoint = asked.within(tmp_path).workdir / "state.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    # That it is damaged is said by whoever reads it.
    assert store.epochs_done([asked]) == 0


def test_a_program_that_is_tried_out_leaves_nothing_behind(tmp_path: Path) -> None:
    asked = run("simple_p1", 0, 0.0)
    assert 0 < Program((asked,)).measured() < 3600
    assert not asked.within(tmp_path).path.exists()


def test_the_grid_has_every_network_of_the_paper_on_every_split() -> None:
    assert len(GRID.rows) == 180
    assert len(GRID.cells) == 4 * 180
    assert {cell.runs for cell in GRID.cells} == {5}
    assert len({cell.recipe.identity for cell in GRID.cells if cell.recipe}) == 4 * 180
    printed = {
        cell.recipe.identity for cell in papers.table("lake2018/experiments").cells if cell.recipe
    }
    assert printed < {cell.recipe.identity for cell in GRID.cells if cell.recipe}


def test_cells_are_chosen_by_settings_of_network_and_recipe() -> None:
    wanted = {"cell": ["lstm"], "layers": [2], "hidden": [200, 400], "attention": [False]}
    found = select(GRID.cells, wanted | {"dropout": [0.5]})
    assert [(cell.row, cell.column) for cell in found] == [
        (f"LSTM 2x{hidden} dropout 0.5", column)
        for hidden in (200, 400)
        for column in ("simple", "length", "turn_left", "jump")
    ]


WRONG = {
    "hidden: 60 is not among 25, 50, 100, 200, 400": {"hidden": [50, 60]},
    "none of these networks has a setting colour": {"colour": ["red"]},
}


@pytest.mark.parametrize(("message", "wanted"), WRONG.items(), ids=WRONG)
def test_a_setting_that_no_network_has_is_refused(message: str, wanted: dict) -> None:
    with pytest.raises(WrongRequest, match=message):
        select(GRID.cells, wanted)
