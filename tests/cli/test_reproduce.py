import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from daxy import papers
from daxy.papers import Paper, RunSpec, Table, TableCell
from daxy.reproduction import plan as reproduction
from daxy.reproduction.ledger import Ledger
from daxy.runs.store import RunStore
from daxy.training.config import TrainingConfig
from daxy.training.interrupt import Interrupted
from daxy.training.protocols import PROTOCOLS

pytestmark = pytest.mark.usefixtures("one_shape")

TABLE = papers.table("bastings2018/table4")


def made_up() -> Paper:
    """A paper whose one table has a network that learns nothing in a second, and a quoted row."""
    config = {"hidden": 4, "embedding": 4, "attention": False}
    recipe = RunSpec(
        task="scan/simple_p1", model="seq2seq", config=config, protocol="tiny", metric="exact"
    )
    place = {"paper": "made_up", "table": "table1", "column": "p1", "value": 0.0}
    own = TableCell(**place, row="GRU", spread=0.0, runs=3, recipe=recipe)
    quoted = TableCell(**place, row="Others", spread=None, runs=None, recipe=None)
    table = Table(
        paper="made_up",
        name="table1",
        title="A table",
        rows=("GRU", "Others"),
        columns=("p1",),
        cells=(own, quoted),
    )
    authors = ("Somebody",)
    return Paper(
        name="made_up", title="A paper", authors=authors, year=2026, venue="-", tables=(table,)
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh folder to work in, and a paper that takes seconds."""
    monkeypatch.setattr(papers, "get", lambda _: made_up())
    monkeypatch.setitem(
        PROTOCOLS, "tiny", TrainingConfig().with_settings(epochs=1, max_decode_length=2)
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_reproduce_trains_and_records_a_cell_and_compares_it(
    folder: Path, daxy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ["reproduce", "made_up/table1", "--seeds", "2"]
    answer = daxy(*request)
    assert answer.code == 0, answer.err
    lines = [line.rstrip() for line in answer.out.splitlines()]
    figures = "0.0 ±0.0 0.0 ±0.0 0.0 0.0 0.0 +0.0 agrees 0.0 0.0; 2 of 3 runs"
    assert lines[3].split() == ["GRU", "p1", *figures.split()]
    assert lines[4].split() == "Others p1 0.0 quoted".split()
    assert "made_up/table1: 1 cell; runs: 0 in results, 0 finished, 2 to train" in answer.err
    assert "GRU, p1: 0.0 ±0.0 (2 seeds), agrees: 0.0 ±0.0" in answer.err

    runs = Ledger(folder / "results").entries(made_up().table("table1"))
    assert [run.seed for run in runs] == [0, 1]
    for run in runs:
        scores = json.loads((folder / "runs" / run.run / "scores.json").read_text())
        assert run.score == scores["test"]["exact"]
        assert run.test_examples == 20910 - 209
        assert run.validation == scores["validation"]
        assert run.group == tuple(each.run for each in runs)

    # Asked again, nothing is trained and nothing changes.
    monkeypatch.setattr(RunStore, "_fit", lambda *_, **__: pytest.fail("trained again"))
    before = (folder / "results" / "made_up" / "table1.json").read_bytes()
    again = daxy(*request, "--json")
    assert again.json["cells"][0]["verdict"] == "agrees"
    assert again.json["plan"][0]["in_results"] == [0, 1]
    assert (folder / "results" / "made_up" / "table1.json").read_bytes() == before

    # Without the ledger, the run folders are found.
    plan = daxy(*request, "--results", "elsewhere", "--dry-run", "--no-estimate", "--json").json[
        "plan"
    ]
    assert (plan[0]["finished"], plan[0]["missing"]) == ([0, 1], [])


def test_a_dry_run_shows_missing_runs_and_an_estimate_and_writes_nothing(
    folder: Path, daxy: Callable
) -> None:
    request = ("reproduce", "made_up/table1", "--seeds", "3", "--dry-run")
    answer = daxy(*request)
    lines = [line.split() for line in answer.out.splitlines()]
    assert lines[1] == "GRU p1 scan/simple_p1 - - 0 1 2".split()
    assert (
        "1 cell; runs: 0 in results, 0 finished, 3 to train, about " in answer.out.splitlines()[-1]
    )
    assert not list(folder.iterdir())
    steps = daxy(*request, "--no-estimate", "--json").json["plan"]
    assert [step["missing"] for step in steps] == [[0, 1, 2]]


def test_rows_and_columns_of_a_published_table_are_chosen(daxy: Callable) -> None:
    request = "reproduce bastings2018/table4 --row gru --row gru+attn --column jump --dry-run"
    lines = daxy(*request.split(), "--no-estimate", "--results", "none").out.splitlines()
    assert lines[1].split() == "GRU jump scan/addprim_jump - - 0 1 2".split()
    assert lines[2].split() == "GRU +Attn jump scan/addprim_jump - - 0 1 2".split()


def test_the_whole_table_is_every_cell_that_is_not_quoted(daxy: Callable) -> None:
    answer = daxy(
        "reproduce", "bastings2018/table5", "--seeds", "1", "--dry-run", "--no-estimate", "--json"
    )
    assert len(answer.json["plan"]) == 36


def test_ctrl_c_names_finished_results_and_how_to_resume(
    folder: Path, daxy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = reproduction.execute

    def interrupted(*arguments: Any, **options: Any) -> Any:
        yield from execute(*arguments, **options)
        raise Interrupted("interrupted; its state is saved")

    monkeypatch.setattr(reproduction, "execute", interrupted)
    answer = daxy("reproduce", "made_up/table1")
    assert answer.code == 130
    filed = "finished cells are in results/made_up/table1.json"
    assert answer.err.endswith(f"daxy: interrupted; its state is saved; {filed}\n")


def test_ctrl_c_before_anything_is_finished_names_no_results(
    folder: Path, daxy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise Interrupted("interrupted; its state is saved")

    monkeypatch.setattr(RunStore, "complete", interrupted)
    answer = daxy("reproduce", "made_up/table1")
    assert answer.err.endswith("daxy: interrupted; its state is saved\n")
    again = daxy("reproduce", "made_up/table1", "--restart")
    assert again.err.endswith("its state is saved; leave out --restart to resume\n")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ("", "missing: PAPER/TABLE; see `daxy reproduce --help`"),
        ("bastings2018/table4 --seeds 0", "seeds must be positive, not 0"),
        (
            "bastings2018/table4 --row l&b_best --column jump",
            "bastings2018/table4 quotes these scores from elsewhere: there is nothing to train",
        ),
        (
            "bastings2018/table4 --column jmp",
            "no column named 'jmp'; did you mean jump?",
        ),
        ("bastings2018", "no table named 'bastings2018'; did you mean "),
    ],
)
def test_a_wrong_request_gets_one_line(request_: str, message: str, daxy: Callable) -> None:
    answer = daxy("reproduce", *request_.split())
    assert answer.code == 2
    assert answer.err.startswith(f"daxy: {message}")
    assert answer.err.count("\n") == 1


def test_runs_that_several_cells_share_are_counted_once(
    daxy: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = daxy("reproduce", "grefenstette2015/table", "--dry-run", "--no-estimate")
    # Five benchmarks, seven networks, three seeds; each network is scored in four ways.
    assert answer.out.endswith("140 cells; runs: 0 in results, 0 finished, 105 to train\n")
