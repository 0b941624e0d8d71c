import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from daxy import papers
from daxy.core.errors import RunFailed
from daxy.papers import Paper, RunSpec, Table, TableCell
from daxy.reproduction import plan as reproduction
from daxy.reproduction.ledger import Ledger
from daxy.runs import executors
from daxy.runs.store import RunStore
from daxy.training.interrupt import Interrupted
from daxy.training.protocols import PROTOCOLS, protocol

pytestmark = pytest.mark.usefixtures("one_shape")


def made_up() -> Paper:
    """A paper that tried one small network with and without dropout on two splits."""
    rows, columns = {"quiet": 0.0, "noisy": 0.5}, ("p1", "p2")
    cells = tuple(
        TableCell(
            paper="made_up",
            table="grid",
            row=row,
            column=column,
            value=None,
            spread=None,
            runs=2,
            recipe=RunSpec(
                task=f"scan/simple_{column}",
                model="stacked",
                config={"cell": "gru", "layers": 1, "hidden": 4},
                protocol="tiny",
                metric="exact",
                data={"validation": "none"},
                protocol_changes={"dropout": dropout},
            ),
        )
        for row, dropout in rows.items()
        for column in columns
    )
    table = Table(
        paper="made_up", name="grid", title="A grid", rows=tuple(rows), columns=columns, cells=cells
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
        PROTOCOLS, "tiny", protocol("lake2018").with_settings(samples=64, max_decode_length=2)
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def entries(folder: Path) -> list[tuple[str, str, int]]:
    found = Ledger(folder / "results").entries(made_up().table("grid"))
    return [(each.row, each.column, each.seed) for each in found]


def test_a_sweep_plans_trains_and_records_a_grid_once(folder: Path, daxy: Callable) -> None:
    planned = daxy("sweep", "made_up/grid", "--dry-run", "--json")
    assert planned.code == 0, planned.err
    (program,) = planned.json["programs"]
    assert (planned.json["missing"], program["samples"]) == (8, 8 * 64)
    assert program["tasks"] == ["scan/simple_p1", "scan/simple_p2"]
    assert planned.json["seconds"] == program["seconds"] > 0
    assert planned.json["table"] == "made_up/grid"
    assert len(planned.json["cells"]) == 4
    assert planned.json["cells"][1] == {"row": "quiet", "column": "p2", "task": "scan/simple_p2"}
    assert not (folder / "runs").exists()

    answer = daxy("sweep", "made_up/grid", "--no-estimate")
    assert answer.code == 0, answer.err
    assert "8 to train in 1 program" in answer.err
    assert "1 of 1 programs, 8 of 8 networks" in answer.err
    assert entries(folder) == [
        (row, column, seed)
        for row in ("quiet", "noisy")
        for column in ("p1", "p2")
        for seed in (0, 1)
    ]
    assert answer.out.count("not printed") == 4

    again = daxy("sweep", "made_up/grid", "--json")
    assert (again.json["in_results"], again.json["programs"]) == (8, [])
    assert [len(each["measured"]["runs"]) for each in again.json["cells"]] == [2] * 4


def test_flags_select_a_part_of_the_grid(folder: Path, daxy: Callable) -> None:
    request = ["sweep", "made_up/grid", "--dropout", "0.5", "--column", "p2", "--seeds", "1"]
    answer = daxy(*request, "--dry-run", "--no-estimate", "--json")
    assert [len(each["runs"]) for each in answer.json["programs"]] == [1]
    assert answer.json["seconds"] is None


def test_a_cell_goes_by_two_names(daxy: Callable) -> None:
    network = ("--layers", "2", "--hidden", "200", "--column", "simple", "--seeds", "1")
    rest = (*network, "--dry-run", "--no-estimate")

    def planned(*cell: str) -> list[tuple[str, str]]:
        found = daxy("sweep", "lake2018/grid", *cell, *rest, "--json")
        assert found.code == 0, found.err
        return [(each["shape"], run) for each in found.json["programs"] for run in each["runs"]]

    several = planned("--cells", "lstm", "srn")
    assert several == planned("--cell", "lstm", "srn")
    lstms = [each for each in several if "cell lstm" in each[0]]
    assert 0 < len(lstms) < len(several)
    assert sorted(planned("--cells=lstm")) == sorted(lstms)


def test_a_stopped_sweep_keeps_its_finished_runs(
    folder: Path, daxy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ["sweep", "made_up/grid", "--no-estimate", "--max-group-size", "4"]
    complete, groups = RunStore.complete, list[int]()

    def stopping(self: RunStore, runs: Any, monitor: Any) -> None:
        if groups:
            raise Interrupted("interrupted")
        groups.append(len(runs))
        complete(self, runs, monitor)

    with monkeypatch.context() as patch:
        patch.setattr(RunStore, "complete", stopping)
        assert daxy(*request).code == 130
    assert groups == [4]
    assert len(entries(folder)) == 4

    answer = daxy(*request, "--json")
    assert (answer.json["in_results"], answer.json["missing"]) == (4, 4)
    assert len(entries(folder)) == 8


def test_finished_runs_are_recorded_without_training(folder: Path, daxy: Callable) -> None:
    request = ["sweep", "made_up/grid", "--no-estimate", "--row", "quiet", "--seeds", "1"]
    assert daxy(*request).code == 0
    (folder / "results" / "made_up" / "grid.json").unlink()
    answer = daxy(*request, "--json")
    assert (answer.json["finished"], answer.json["programs"]) == (2, [])
    assert len(json.loads((folder / "results" / "made_up" / "grid.json").read_text())["runs"]) == 2

    # What is refused has deleted nothing.
    (folder / "results" / "made_up" / "grid.json").unlink()
    refused = daxy(*request, "--restart", "--executor", "ray", "--cpus", "0")
    assert "--cpus must be positive, not 0" in refused.err
    (folder / "results" / "made_up").rmdir()
    (folder / "results" / "made_up").write_text("in the way")
    assert "cannot write results/made_up" in daxy(*request, "--restart").err
    (folder / "results" / "made_up").unlink()
    assert daxy(*request, "--json").json["finished"] == 2


def test_a_restart_deletes_only_selected_runs_in_the_storage(
    folder: Path, daxy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupted sweep with a storage: the driver's folder has no state, the storage has."""
    pytest.importorskip("fsspec")
    ray = executors.get("ray")
    monkeypatch.setattr(ray, "check", lambda **_: None)
    monkeypatch.setattr(ray, "run", lambda programs, *_, **__: iter(programs))
    group = [
        reproduction.run(cell.recipe, 0)
        for cell in made_up().table("grid").select([], ["p1"])
        if cell.recipe is not None
    ]
    for place in ("runs", "storage"):
        for run in group:
            names = [each.config.name for each in group]
            run.within(folder / place).begin(run.config, {"group": names})
    state = group[0].within(folder / "storage").workdir / "state.safetensors"
    state.parent.mkdir()
    state.write_bytes(b"state")
    request = ["sweep", "made_up/grid", "--column", "p1", "--seeds", "1", "--restart"]
    request += ["--executor", "ray", "--storage", "storage"]
    refused = daxy(*request, "--dropout", "0.0")
    assert refused.code == 2
    assert f"has the state of {group[1].config.name}, which was interrupted with it" in refused.err
    assert state.exists()
    assert group[0].within(folder / "runs").path.exists()
    assert daxy(*request).code == 0
    assert not state.exists()
    assert not group[0].within(folder / "runs").path.exists()


def test_a_failed_network_does_not_count_as_done(
    folder: Path, daxy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete = RunStore.complete

    def losing(self: RunStore, runs: Any, monitor: Any) -> None:
        complete(self, runs[:-1], monitor)
        raise RunFailed("the loss of seed 1 is not finite")

    monkeypatch.setattr(RunStore, "complete", losing)
    answer = daxy("sweep", "made_up/grid", "--row", "quiet", "--column", "p1", "--no-estimate")
    assert answer.code == 1
    assert "1 of 1 programs, 1 of 2 networks; " in answer.err
    assert entries(folder) == [("quiet", "p1", 0)]


def test_runs_that_cannot_be_recorded_are_not_trained(folder: Path, daxy: Callable) -> None:
    (folder / "results").mkdir()
    (folder / "results" / "made_up").write_text("in the way")
    for verb in ("sweep", "reproduce"):
        plain = ("--no-estimate",) if verb == "sweep" else ()
        answer = daxy(verb, "made_up/grid", "--seeds", "1", *plain)
        assert "cannot write results/made_up" in answer.err, verb
        assert answer.code == 1, answer
        assert not (folder / "runs").exists()


WRONG = {
    "hidden: 7 is not among 4": ("--hidden", "7"),
    "--max-group-size must be positive, not 0": ("--max-group-size", "0"),
    "seeds must be positive, not -1": ("--seeds", "-1"),
    "no column named 'p3'": ("--column", "p3"),
}


@pytest.mark.parametrize(("message", "flags"), WRONG.items(), ids=WRONG)
def test_a_wrong_request_is_refused_before_anything_runs(
    folder: Path, daxy: Callable, message: str, flags: tuple[str, ...]
) -> None:
    answer = daxy("sweep", "made_up/grid", *flags)
    assert answer.code == 2
    assert message in answer.err
    assert not (folder / "runs").exists()
