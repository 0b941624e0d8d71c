"""From a recipe to runs, and from runs into the ledger."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from daxy import papers
from daxy.core.errors import RunFailed, WrongRequest
from daxy.core.files import write_bytes
from daxy.papers import TableCell
from daxy.reproduction import plan as reproduction
from daxy.reproduction import published
from daxy.reproduction.entry import entry
from daxy.reproduction.ledger import Ledger
from daxy.reproduction.sweep import Sweep
from daxy.runs import executors
from daxy.runs.folder import RunFolder
from daxy.runs.monitor import Monitor
from daxy.runs.run import Run
from daxy.runs.store import RunStore
from daxy.training.interrupt import Interrupted
from daxy.training.protocols import protocol

PAPER = papers.get("bastings2018")
TABLE = PAPER.table("table4")
CELLS = TABLE.select(["gru", "gru+attn"], ["length"])


def finish(store: RunStore, runs: Sequence[Run], **elsewhere: Any) -> None:
    """Make run folders as training would leave them, with scores of their own."""
    for run in runs:
        folder = run.within(store.folder)
        place = {"daxy": "0.1.0", "jax": "0.7", "device_kind": "cpu", "cores": 2, **elsewhere}
        folder.begin(run.config, place | {"started": "2026-01-01", "group": [run.config.name]})
        folder.write_log([])
        write_bytes(folder.path / "model.safetensors", b"weights")
        write_bytes(folder.predictions, b"predictions")
        score = 0.14 + run.seed / 100
        totals: dict[str, Any] = {"metric": "exact", "test": {"exact": score}}
        counts = {"test_examples": 3920, "best_epoch": 3, "epochs": 4, "steps": 40}
        held_out = {"validation": 0.9, "validation_scores": {"exact": 0.2}}
        folder.finish(totals | counts | held_out | {"statistics": {}})


def runs_of(cell: TableCell, seeds: Sequence[int]) -> list[Run]:
    assert cell.recipe is not None
    return [reproduction.run(cell.recipe, seed) for seed in seeds]


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Have training done at once, and written down by seeds."""
    log: list[list[int]] = []

    def complete(store: RunStore, runs: Sequence[Run], *_: object) -> None:
        log.append([run.seed for run in runs])
        finish(store, runs)

    monkeypatch.setattr(RunStore, "complete", complete)
    return log


def test_a_recipe_is_resolved_to_every_setting() -> None:
    recipe = TABLE.cell("LSTM +Attn-Dep", "turn_left").recipe
    assert recipe is not None
    asked = reproduction.run(recipe, 3)
    assert asked.seed == 3
    assert asked.task == "scan/addprim_turn_left"
    assert asdict(asked.learner.config) == {
        "cell": "lstm",
        "hidden": 256,
        "embedding": 64,
        "attention": True,
        "dependency": False,
        "pre_output_dropout": True,
    }
    assert asked.learner.training == protocol("bastings2018")


def test_a_plan_tells_measured_from_finished_from_missing(
    tmp_path: Path, entry_for: Callable
) -> None:
    ledger, runs = Ledger(tmp_path / "results"), tmp_path / "runs"
    gru, attention = CELLS
    ledger.add(TABLE, [entry_for(gru, 0.14, seed=1)])
    finish(RunStore(runs), runs_of(attention, [0, 2]))
    quoted = TABLE.cell("L&B best", "length")
    steps = reproduction.plan(PAPER, [*CELLS, quoted], 3, ledger, RunStore(runs))
    found = [(step.in_ledger, step.finished, step.missing) for step in steps]
    assert found == [((1,), (), (0, 2)), ((), (0, 2), (1,))]
    again = reproduction.plan(PAPER, CELLS, 3, ledger, RunStore(runs), restart=True)
    assert [step.missing for step in again] == [(0, 2), (0, 1, 2)]


def test_the_ledger_names_each_device_that_a_run_was_trained_on(tmp_path: Path) -> None:
    ledger, runs = Ledger(tmp_path / "results"), tmp_path / "runs"
    went_on = [{"device_kind": "H100", "started": "2026-01-02"}, {"jax": "0.8", "started": "later"}]
    finish(RunStore(runs), runs_of(CELLS[0], [0]), resumed=went_on)
    steps = reproduction.plan(PAPER, CELLS[:1], 1, ledger, RunStore(runs))
    assert list(reproduction.execute(steps, TABLE, ledger, Monitor()))
    (found,) = Ledger(tmp_path / "results").runs(PAPER).of(CELLS[0])
    assert (found.daxy, found.jax, found.device) == ("0.1.0", "0.7, 0.8", "cpu, H100")


def test_what_was_run_is_in_the_ledger_and_not_run_again(
    tmp_path: Path, trained: list[list[int]]
) -> None:
    ledger, runs = Ledger(tmp_path / "results"), tmp_path / "runs"
    steps = reproduction.plan(PAPER, CELLS, 3, ledger, RunStore(runs))
    assert len(list(reproduction.execute(steps, TABLE, ledger, Monitor()))) == 2
    assert trained == [[0, 1, 2], [0, 1, 2]]
    found = ledger.runs(PAPER).of(CELLS[0])
    assert [run.score for run in found] == pytest.approx([0.14, 0.15, 0.16])
    assert (found[2].best_epoch, found[2].epochs, found[2].steps) == (3, 4, 40)
    assert len({run.settings_digest for run in found}) == 1
    assert found[0].run == RunFolder(runs / found[0].run).config().name
    # Table 1 prints the same figures: nothing is left to run there.
    table1 = PAPER.table("table1")
    same = table1.select(["gru", "gru+attn"], ["length scan"])
    assert not any(step.seeds for step in reproduction.plan(PAPER, same, 3, ledger, RunStore(runs)))
    # The ledger alone is enough, wherever the run folders are.
    steps = reproduction.plan(PAPER, CELLS, 4, ledger, RunStore(tmp_path / "elsewhere"))
    assert [step.seeds for step in steps] == [[3], [3]]


def test_runs_that_count_for_several_cells_are_trained_once(
    tmp_path: Path, trained: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = papers.get("grefenstette2015")
    table = paper.table("table")
    cells = table.select(["Stack-LSTM"], ["reverse test coarse", "reverse train coarse"])
    ledger, store = Ledger(tmp_path / "results"), RunStore(tmp_path / "runs")
    cleared: list[list[int]] = []

    def clear(_: RunStore, runs: Sequence[Run]) -> None:
        cleared.append([run.seed for run in runs])

    monkeypatch.setattr(RunStore, "clear", clear)
    steps = reproduction.plan(paper, cells, 2, ledger, store, restart=True)
    sweep = Sweep(table=table, steps=steps, store=store)
    assert [run.seed for run in sweep.missing] == [0, 1]
    assert [[run.seed for run in program.runs] for program in sweep.programs] == [[0, 1]]
    assert len(list(reproduction.execute(steps, table, ledger, Monitor(), restart=True))) == 2
    assert (trained, cleared) == ([[0, 1]], [[0, 1]])
    found, (of_train, of_test) = ledger.runs(paper), cells
    assert of_test.recipe is not None
    assert [entry.score for entry in found.of(of_train)] == [0.2, 0.2]
    scores = [entry.score_of(of_test.recipe) for entry in found.of(of_test)]
    assert scores == pytest.approx([0.14, 0.15])


def test_each_cell_is_filed_before_the_next_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, runs = Ledger(tmp_path / "results"), tmp_path / "runs"

    def complete(store: RunStore, runs: Sequence[Run], *_: object) -> None:
        if runs[0].learner.config.attention:
            raise Interrupted("training was interrupted")
        finish(store, runs)

    monkeypatch.setattr(RunStore, "complete", complete)
    steps = reproduction.plan(PAPER, CELLS, 1, ledger, RunStore(runs))
    with pytest.raises(Interrupted):
        list(reproduction.execute(steps, TABLE, ledger, Monitor()))
    assert [run.row for run in ledger.entries(TABLE)] == ["GRU"]


def test_a_finished_run_without_an_evaluation_that_is_asked_for_is_refused(
    tmp_path: Path, trained: list[list[int]]
) -> None:
    store = RunStore(tmp_path / "runs")
    finish(store, (runs := runs_of(CELLS[0], [0])))
    record = {"epoch": 1, "steps": 10, "loss": 1.0, "validation": 0.5, "test": None}
    log = runs[0].within(store.folder).path / "log.jsonl"
    log.write_text(2 * f"{json.dumps(record)}\n")
    late = RunStore(tmp_path / "runs", test_every=2)
    with pytest.raises(WrongRequest, match="is finished and has no test scores"):
        reproduction.plan(PAPER, CELLS, 1, Ledger(tmp_path / "results"), late)


def test_a_figure_that_a_run_does_not_have_is_named(tmp_path: Path) -> None:
    store, (cell, *_) = RunStore(tmp_path), CELLS
    finish(store, (runs := runs_of(cell, [0])))
    assert cell.recipe is not None
    other = replace(cell, recipe=replace(cell.recipe, test="hard"))
    with pytest.raises(RunFailed, match="has no score of GRU, length .'hard' is not in"):
        entry(other, runs[0].within(tmp_path))


def failing(seed: int) -> Callable:
    """Return a training of all seeds but one, which fails."""

    def complete(store: RunStore, runs: Sequence[Run], *_: object) -> None:
        finish(store, [run for run in runs if run.seed != seed])
        raise RunFailed(f"seed {seed} diverged")

    return complete


def test_a_run_that_fails_keeps_no_other_out_of_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, store = Ledger(tmp_path / "results"), RunStore(tmp_path / "runs")
    monkeypatch.setattr(RunStore, "complete", failing(1))
    steps = reproduction.plan(PAPER, CELLS, 3, ledger, store)
    with pytest.raises(RunFailed, match="seed 1 diverged; 1 more failed"):
        list(reproduction.execute(steps, TABLE, ledger, Monitor()))
    assert [(run.row, run.seed) for run in ledger.entries(TABLE)] == [
        (row, seed) for row in ("GRU", "GRU +Attn") for seed in (0, 2)
    ]


def test_a_program_that_is_refused_keeps_no_other_from_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def complete(store: RunStore, runs: Sequence[Run], *_: object) -> None:
        if not runs[0].learner.config.attention:
            raise WrongRequest("nothing to add")
        finish(store, runs)

    ledger, store = Ledger(tmp_path / "results"), RunStore(tmp_path / "runs")
    monkeypatch.setattr(RunStore, "complete", complete)
    steps = reproduction.plan(PAPER, CELLS, 1, ledger, store)
    with pytest.raises(RunFailed, match="nothing to add; all others are finished"):
        list(reproduction.execute(steps, TABLE, ledger, Monitor()))
    assert [run.row for run in ledger.entries(TABLE)] == ["GRU +Attn"]


@pytest.mark.parametrize("is_sweep", [False, True])
def test_a_run_without_its_figure_keeps_no_other_out_of_the_ledger(
    is_sweep: bool, tmp_path: Path, trained: list[list[int]]
) -> None:
    ledger, store = Ledger(tmp_path / "results"), RunStore(tmp_path / "runs")
    finish(store, (runs := runs_of(CELLS[0], [0, 1])))
    folder = runs[0].within(store.folder)
    folder.finish(folder.scores() | {"test": {"other": 0.5}})
    steps = reproduction.plan(PAPER, CELLS, 2, ledger, store)
    sweep = Sweep(table=TABLE, steps=steps, store=store)
    with pytest.raises(RunFailed, match="has no score of 'exact'"):
        if is_sweep:
            going = executors.get("local").run(sweep.programs, store, Monitor())
            list(sweep.file_results(going, ledger))
        else:
            list(reproduction.execute(steps, TABLE, ledger, Monitor()))
    filed = [(run.row, run.seed) for run in ledger.entries(TABLE)]
    assert filed == [("GRU", 1), ("GRU +Attn", 0), ("GRU +Attn", 1)]


def test_what_a_restart_would_refuse_is_not_deleted_first(
    tmp_path: Path, trained: list[list[int]]
) -> None:
    finish(RunStore(tmp_path / "runs"), (runs := runs_of(CELLS[0], [0])))
    ledger, late = Ledger(tmp_path / "results"), RunStore(tmp_path / "runs", test_every=1000)
    with pytest.raises(WrongRequest, match="test-every 1000 is more than the 50 epochs"):
        steps = reproduction.plan(PAPER, CELLS, 1, ledger, late, restart=True)
        list(reproduction.execute(steps, TABLE, ledger, Monitor(), restart=True))
    assert runs[0].within(late.folder).is_done()
    assert trained == []


def interrupt(store: RunStore, runs: Sequence[Run]) -> RunFolder:
    """Leave what runs leave that were interrupted as a group; return where its state lies."""
    for run in runs:
        run.within(store.folder).begin(run.config, {"group": [each.config.name for each in runs]})
    first = runs[0].within(store.folder)
    write_bytes(first.workdir / "state.safetensors", b"state")
    return first


def test_a_restart_of_several_cells_begins_anew_what_was_interrupted_across_them(
    tmp_path: Path, trained: list[list[int]]
) -> None:
    ledger, store = Ledger(tmp_path / "results"), RunStore(tmp_path / "runs")
    first = interrupt(store, [run for cell in CELLS for run in runs_of(cell, [0])])
    alone = reproduction.plan(PAPER, CELLS[:1], 1, ledger, store, restart=True)
    with pytest.raises(WrongRequest, match="which was interrupted with it; restart that run too"):
        list(reproduction.execute(alone, TABLE, ledger, Monitor(), restart=True))
    assert first.has_state
    steps = reproduction.plan(PAPER, CELLS, 1, ledger, store, restart=True)
    assert len(list(reproduction.execute(steps, TABLE, ledger, Monitor(), restart=True))) == 2
    assert not first.has_state
    assert trained == [[0], [0]]


def test_a_restart_that_one_cell_refuses_deletes_nothing_of_another(
    tmp_path: Path, trained: list[list[int]]
) -> None:
    ledger, store = Ledger(tmp_path / "results"), RunStore(tmp_path / "runs")
    finish(store, (done := runs_of(CELLS[0], [0])))
    interrupt(store, runs_of(CELLS[1], [0, 7]))
    steps = reproduction.plan(PAPER, CELLS, 1, ledger, store, restart=True)
    with pytest.raises(WrongRequest, match="the state of .*seed7.*interrupted with it"):
        list(reproduction.execute(steps, TABLE, ledger, Monitor(), restart=True))
    assert done[0].within(store.folder).is_done()
    assert trained == []


def test_what_is_finished_of_a_program_that_fails_is_filed_by_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, store = Ledger(tmp_path / "results"), RunStore(tmp_path / "runs")
    monkeypatch.setattr(RunStore, "complete", failing(1))
    steps = reproduction.plan(PAPER, CELLS[:1], 3, ledger, store)
    sweep = Sweep(table=TABLE, steps=steps, store=store)
    going = executors.get("local").run(sweep.programs, store, Monitor())
    with pytest.raises(RunFailed, match="seed 1 diverged"):
        list(sweep.file_results(going, ledger))
    assert [run.seed for run in ledger.entries(TABLE)] == [0, 2]


def test_a_program_that_fails_is_filed_before_the_next_one_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, store = Ledger(tmp_path / "results"), RunStore(tmp_path / "runs")
    monkeypatch.setattr(RunStore, "complete", failing(1))
    steps = reproduction.plan(PAPER, CELLS, 3, ledger, store)
    sweep = Sweep(table=TABLE, steps=steps, store=store)
    ending = sweep.file_results(
        executors.get("local").run(sweep.programs, store, Monitor()), ledger
    )
    assert next(ending) is sweep.programs[0]
    assert [(run.row, run.seed) for run in ledger.entries(TABLE)] == [("GRU", 0), ("GRU", 2)]
    with pytest.raises(RunFailed, match="seed 1 diverged; 1 more failed"):
        list(ending)
    assert len(ledger.entries(TABLE)) == 4


def test_a_sweep_names_the_program_that_failed_and_the_figure_that_is_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, store = Ledger(tmp_path / "results"), RunStore(tmp_path / "runs")
    finish(store, (runs := runs_of(CELLS[1], [0])))
    folder = runs[0].within(store.folder)
    folder.finish(folder.scores() | {"test": {"other": 0.5}})
    monkeypatch.setattr(RunStore, "complete", failing(1))
    steps = reproduction.plan(PAPER, CELLS, 2, ledger, store)
    sweep = Sweep(table=TABLE, steps=steps, store=store)
    going = executors.get("local").run(sweep.programs, store, Monitor())
    with pytest.raises(RunFailed, match=r"seed 1 diverged.* has no score of .exact."):
        list(sweep.file_results(going, ledger))
    assert [(run.row, run.seed) for run in ledger.entries(TABLE)] == [("GRU", 0)]


@pytest.mark.parametrize(
    ("name", "runs"), [("bastings2018/table4", 3), ("lake2018/experiments", 5)]
)
def test_unless_told_otherwise_a_cell_is_to_have_as_many_runs_as_its_figure(
    name: str, runs: int, tmp_path: Path
) -> None:
    table = papers.table(name)
    ledger = Ledger(tmp_path / "results")
    cells = table.cells[:1]
    (step,) = reproduction.plan(
        papers.get(table.paper), cells, None, ledger, RunStore(tmp_path / "runs")
    )
    assert step.missing == tuple(range(runs))


def test_runs_on_repetitions_of_a_split_make_up_one_figure(
    tmp_path: Path, trained: list[list[int]]
) -> None:
    table = papers.table("lake2018/figure5")
    ledger, paper = Ledger(tmp_path / "results"), papers.get("lake2018")
    cell = table.cell("best overall", "8 composed")
    steps = reproduction.plan(paper, [cell], None, ledger, RunStore(tmp_path / "runs"))
    assert [run.task for run in steps[0].of([0, 1, 4, 5])] == [
        f"scan/addprim_complex_jump_num8_rep{repetition}" for repetition in (1, 2, 5, 1)
    ]
    list(reproduction.execute(steps, table, ledger, Monitor()))
    assert trained == [[0, 1, 2, 3, 4]]  # one program, of five splits
    found = ledger.runs(paper).of(cell)
    assert [entry.seed for entry in found] == [0, 1, 2, 3, 4]
    assert len({entry.digest for entry in found}) == 5
    assert len({entry.settings_digest for entry in found}) == 1


def test_a_network_on_one_repetition_has_the_published_figure_of_all() -> None:
    cell = papers.table("lake2018/figure5").cell("best overall", "16 composed")
    (run,) = runs_of(cell, [2])
    found = published.of_learner(run.task, run.learner.settings(), run.data.options)
    assert found == [cell]
