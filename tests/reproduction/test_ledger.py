"""The ledger keeps every run once, finds it from every table, and says where a file is damaged."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from daxy import papers
from daxy.core.errors import WrongFile
from daxy.core.locks import exclusive_lock
from daxy.reproduction.entry import Entry
from daxy.reproduction.ledger import Ledger

PAPER = papers.get("bastings2018")
TABLE = PAPER.table("table4")
JUMP = TABLE.cell("GRU +Attn", "jump")
SIMPLE = TABLE.cell("GRU", "simple")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path)


def test_what_is_added_is_read_back(ledger: Ledger, entry_for: Callable) -> None:
    run = entry_for(JUMP, 0.125, statistics={"share": 0.5}, validation=None)
    assert ledger.add(TABLE, [run]) == 1
    assert ledger.entries(TABLE) == [run]


def test_a_recipes_changes_are_kept_and_those_of_none_leave_no_trace(
    ledger: Ledger, entry_for: Callable
) -> None:
    table = papers.table("lake2018/experiments")
    changed = entry_for(table.cell("best", "jump"), 0.5)
    ledger.add(table, [changed])
    ledger.add(TABLE, [entry_for(JUMP, 0.5)])
    assert ledger.entries(table) == [changed]
    assert changed.recipe.protocol_changes == {"dropout": 0.1}
    (run,) = json.loads(ledger.path(table).read_text())["runs"]
    assert run["recipe"]["protocol_changes"] == {"dropout": 0.1}
    (run,) = json.loads(ledger.path(TABLE).read_text())["runs"]
    assert "protocol_changes" not in run["recipe"]


def test_an_unknown_field_of_several_lines_is_named_in_one(
    ledger: Ledger, entry_for: Callable
) -> None:
    ledger.add(TABLE, [entry_for(JUMP, 0.5)])
    content = json.loads(ledger.path(TABLE).read_text())
    content["runs"][0]["be\u2028st\n"] = 1
    ledger.path(TABLE).write_text(json.dumps(content))
    with pytest.raises(WrongFile, match="run 1: .unknown field `be") as error:
        ledger.entries(TABLE)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("path", [t.path for n in papers.available() for t in papers.get(n).tables])
def test_a_run_of_every_recipe_there_is_can_be_filed_and_read_back(
    path: str, ledger: Ledger, entry_for: Callable
) -> None:
    table = papers.table(path)
    runs = list[Entry]()
    for cell in table.cells:
        if cell.recipe is None:
            continue
        is_perplexity = cell.recipe.metric == papers.PERPLEXITY
        figure, other = (1.5, {"perplexity": 1.5}) if is_perplexity else (0.5, {})
        share = {cell.recipe.metric: figure}
        tests = {cell.recipe.test: share} if cell.recipe.test else {}
        curve = {str(cell.recipe.after_steps): figure} if cell.recipe.after_steps else {}
        places = {"length_oracle": "length_oracle", "validation": "validation_scores"}
        other |= {places[cell.recipe.part]: share} if cell.recipe.part in places else {}
        runs.append(entry_for(cell, figure, tests=tests, validation_curve=curve, **other))
    ledger.add(table, runs)
    assert {str(run.recipe) for run in ledger.entries(table)} <= {str(run.recipe) for run in runs}
    assert len(ledger.entries(table)) == len({run.digest for run in runs})


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "results").glob("*/*.json")), ids=str
)
def test_what_the_project_has_measured_is_written_as_it_was_read(
    path: Path, ledger: Ledger
) -> None:
    table = papers.table(f"{path.parent.name}/{path.stem}")
    measured = Ledger(path.parent.parent).entries(table)
    assert measured
    ledger.add(table, measured)
    assert json.loads(ledger.path(table).read_text()) == json.loads(path.read_text())


def test_a_file_holds_one_table_and_one_entry_a_run(ledger: Ledger, entry_for: Callable) -> None:
    ledger.add(TABLE, [entry_for(JUMP, 0.125)])
    value = json.loads((ledger.folder / "bastings2018" / "table4.json").read_text())
    assert (value["paper"], value["table"], value["format"]) == ("bastings2018", "table4", 2)
    (run,) = value["runs"]
    assert run["score"] == 0.125
    assert run["recipe"]["task"] == "scan/addprim_jump"
    assert run["recipe"]["config"] == {"cell": "gru", "attention": True, "dependency": True}


def test_who_files_a_run_waits_until_another_process_has_filed_its_own(
    ledger: Ledger, entry_for: Callable
) -> None:
    entries = [entry_for(JUMP, 0.5, seed) for seed in (0, 1)]
    with ThreadPoolExecutor() as pool:
        with exclusive_lock(ledger.path(TABLE)):
            filing = pool.submit(ledger.add, TABLE, entries[:1])
            with pytest.raises(TimeoutError):
                filing.result(timeout=0.3)
        assert filing.result() == 1
    assert ledger.add(TABLE, entries) == 1
    assert [path.name for path in ledger.path(TABLE).parent.iterdir()] == [ledger.path(TABLE).name]


def test_what_is_perfect_stays_so_after_any_number_of_steps(entry_for: Callable) -> None:
    assert JUMP.recipe is not None
    after = replace(JUMP.recipe, after_steps=20_000)
    perfect = entry_for(JUMP, 0.5, validation_curve={"2000": 0.5, "10000": 1.0})
    assert perfect.score_of(after) == 1.0
    stopped = entry_for(JUMP, 0.5, validation_curve={"2000": 1.0, "10000": 0.5})
    with pytest.raises(KeyError, match="20000"):
        stopped.score_of(after)


def test_adding_a_run_again_changes_nothing(ledger: Ledger, entry_for: Callable) -> None:
    run = entry_for(JUMP, 0.125)
    ledger.add(TABLE, [run])
    before = ledger.path(TABLE).read_bytes()
    assert ledger.add(TABLE, [replace(run, score=0.9, test={"exact": 0.9})]) == 0
    assert ledger.path(TABLE).read_bytes() == before


def test_a_run_without_a_figure_gives_way_to_the_same_training_with_it(
    ledger: Ledger, entry_for: Callable
) -> None:
    table = papers.table("lake2018/experiments")
    plain, told = (table.cell("best", column) for column in ("length", "length, oracle"))
    runs = [entry_for(plain, 0.25, seed) for seed in (0, 1)]
    ledger.add(table, runs)
    assert ledger.runs(papers.get("lake2018")).of(told) == []
    fuller = entry_for(told, 0.5, test={"exact": 0.25}, length_oracle={"exact": 0.5})
    assert fuller.training == runs[0].training
    assert ledger.add(table, [fuller]) == 1
    known = ledger.runs(papers.get("lake2018"))
    assert known.of(told) == [fuller]
    assert known.of(plain) == [fuller, runs[1]]
    # And stays.
    assert ledger.add(table, runs) == 0
    assert ledger.runs(papers.get("lake2018")).of(told) == [fuller]


def test_a_run_that_is_trained_again_for_a_figure_leaves_the_others_as_they_were(
    ledger: Ledger, entry_for: Callable
) -> None:
    table = papers.table("lake2018/experiments")
    plain, told = (table.cell("best", column) for column in ("length", "length, oracle"))
    first = entry_for(plain, 0.25)
    scores = {"test": {"exact": 0.75}, "length_oracle": {"exact": 0.5}}
    second = replace(entry_for(told, 0.5, **scores), date="2999-01-01T00:00:00+00:00")
    assert second.digest == first.digest
    for order in ([first, second], [second, first]):
        for entry in order:
            ledger.add(table, [entry])
        known = ledger.runs(papers.get("lake2018"))
        assert known.of(told) == [second]
        assert known.again(told) == []
        filed = ledger.entries(table)
        assert known.of(plain) == filed[:1]
        assert known.again(plain) == filed[1:]
        ledger.path(table).unlink()


def test_the_order_of_adding_leaves_no_trace(tmp_path: Path, entry_for: Callable) -> None:
    runs = [entry_for(cell, 0.5, seed) for cell in (JUMP, SIMPLE) for seed in (2, 0, 1)]
    one, other = Ledger(tmp_path / "one"), Ledger(tmp_path / "other")
    one.add(TABLE, runs)
    for run in reversed(runs):
        other.add(TABLE, [run])
    assert one.path(TABLE).read_bytes() == other.path(TABLE).read_bytes()
    assert [(run.row, run.seed) for run in one.entries(TABLE)] == [
        *(("GRU", seed) for seed in range(3)),
        *(("GRU +Attn", seed) for seed in range(3)),
    ]


def test_a_run_counts_in_every_table_with_its_recipe(ledger: Ledger, entry_for: Callable) -> None:
    ledger.add(TABLE, [entry_for(JUMP, 0.125)])
    runs = ledger.runs(PAPER)
    assert runs.of(PAPER.table("table1").cell("GRU +Attn", "jump SCAN")) == runs.of(JUMP)
    assert len(runs.of(JUMP)) == 1
    assert not runs.of(PAPER.table("table6").cell("GRU +Attn", "0"))
    assert not runs.of(TABLE.cell("L&B best", "jump"))


def test_a_run_filed_under_two_tables_counts_once(ledger: Ledger, entry_for: Callable) -> None:
    table1 = PAPER.table("table1")
    cell = table1.cell("GRU +Attn", "jump SCAN")
    ledger.add(TABLE, [entry_for(JUMP, 0.125)])
    ledger.add(table1, [entry_for(cell, 0.125)])
    assert len(ledger.runs(PAPER).of(JUMP)) == 1


def test_a_figure_of_one_table_is_not_hidden_by_the_same_run_in_another(
    ledger: Ledger, entry_for: Callable
) -> None:
    paper = papers.get("lake2018")
    told = paper.table("experiments").cell("best", "length, oracle")
    plain = next(
        cell
        for cell in paper.table("grid").cells
        if cell.recipe and told.recipe and cell.recipe.identity == told.recipe.identity
    )
    grid, experiments = paper.table("grid"), paper.table("experiments")
    ledger.add(grid, [entry_for(plain, 0.2, seed) for seed in (0, 1)])
    assert ledger.runs(paper).of(told) == []
    fuller = [entry_for(told, 0.5, seed, length_oracle={"exact": 0.5}) for seed in (0, 1)]
    ledger.add(experiments, fuller)
    assert [entry.score for entry in ledger.runs(paper).of(told)] == [0.5, 0.5]
    assert [entry.seed for entry in ledger.runs(paper).of(plain)] == [0, 1]
    assert ledger.runs(paper).again(plain) == []


def test_runs_with_other_settings_are_not_averaged(ledger: Ledger, entry_for: Callable) -> None:
    old = [entry_for(JUMP, 0.1, seed, "old", date="2026-01-01") for seed in range(3)]
    new = [entry_for(JUMP, 0.2, seed, "new", date="2026-02-01") for seed in range(2)]
    ledger.add(TABLE, [*old, *new])
    assert len(ledger.entries(TABLE)) == 5
    assert [run.score for run in ledger.runs(PAPER).of(JUMP)] == [0.2, 0.2]


def _runs(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], object]:
    return lambda value: change(value["runs"][0])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_runs(lambda run: run.update(date="soon")), "run 1: `date` is 'soon'; expected one as"),
        (
            lambda v: v.pop("runs"),
            "expected an object with `paper`, `table`, `format`, `count` and `runs`",
        ),
        (lambda v: v.update(format=1), "`format` is 1; expected 2"),
        (lambda v: v.update(table="table5"), "`table` is 'table5'; expected 'table4'"),
        (lambda v: v.update(runs={}), "`runs` is not a list"),
        (lambda v: v.update(runs=[1]), "run 1: Expected `object`, got `int`"),
        (_runs(lambda run: run.pop("seed")), "run 1: Object missing required field `seed`"),
        (_runs(lambda run: run.update(best=1)), "run 1: unknown field `best`"),
        (
            _runs(lambda run: run.update(score=12.5)),
            "run 1: `score`: Expected `float` <= 1.0",
        ),
        (
            _runs(lambda run: run.update(score=0.1)),
            "run 1: `score` is 0.1, `test` has another exact",
        ),
        (
            _runs(lambda run: run.update(seed=True)),
            "run 1: Expected `int`, got `bool` - at `seed`",
        ),
        (_runs(lambda run: run.update(group=[1])), "Expected `str`, got `int` - at `group[0]`"),
        (
            _runs(lambda run: run["recipe"].pop("task")),
            "run 1: Object missing required field `task` - at `recipe`",
        ),
        (_runs(lambda run: run.update(row="GRO")), "run 1: no row named 'GRO'; did you mean GRU?"),
        (_runs(lambda run: run.update(test_examples=0)), "run 1: `test_examples` is 0"),
        (_runs(lambda run: run.update(best_epoch=8)), "run 1: `best_epoch` is 8, of 7 epochs"),
        (_runs(lambda run: run.update(seed=1)), "which does not end with seed 1 and digest"),
        (_runs(lambda run: run.update(group=[])), "run 1: `group` lacks the run itself"),
        (
            _runs(lambda run: run.update(device="\x1b[2J")),
            "`device` is '\\x1b[2J'; expected no control characters",
        ),
        (_runs(lambda run: run.update(steps=3001)), "run 1: the checksum is not of what"),
        (_runs(lambda run: run.pop("checksum")), "run 1: the checksum is not of what"),
        (lambda v: v.update(count=2), "`count` is 2, and there are 1 runs"),
        (lambda v: v["runs"].append(v["runs"][0]), "run 2 is run 1 again, of run.seed0"),
    ],
)
def test_a_damaged_file_says_where(
    damage: Callable, message: str, ledger: Ledger, entry_for: Callable
) -> None:
    ledger.add(TABLE, [entry_for(JUMP, 0.125)])
    path = ledger.path(TABLE)
    value = json.loads(path.read_text())
    damage(value)
    path.write_text(json.dumps(value))
    before = path.read_bytes()
    with pytest.raises(WrongFile) as caught:
        ledger.add(TABLE, [entry_for(SIMPLE, 1.0)])
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.slow
def test_every_changed_byte_is_refused(ledger: Ledger, entry_for: Callable) -> None:
    runs = [entry_for(JUMP, 0.125), entry_for(SIMPLE, 1.0, statistics={"shares": 0.5})]
    ledger.add(TABLE, runs)
    path = ledger.path(TABLE)
    whole, found = path.read_bytes(), ledger.entries(TABLE)
    path.write_bytes(whole.replace(b"\n", b"\r\n"))  # as Git writes texts on Windows
    assert ledger.entries(TABLE) == found
    for at in range(len(whole)):
        for other in {whole[at] ^ 1, whole[at] ^ 32, ord(" "), 0xFF} - {whole[at]}:
            path.write_bytes(whole[:at] + bytes([other]) + whole[at + 1 :])
            with pytest.raises(WrongFile):
                ledger.entries(TABLE)
    for damaged in (b"\xef\xbb\xbf" + whole, whole + b"\n", whole[:-1], whole[:-2] + b"\n"):
        path.write_bytes(damaged)
        with pytest.raises(WrongFile):
            ledger.entries(TABLE)


def test_a_file_cut_off_says_the_line(ledger: Ledger, entry_for: Callable) -> None:
    ledger.add(TABLE, [entry_for(JUMP, 0.125)])
    path = ledger.path(TABLE)
    path.write_text("\n".join(path.read_text().splitlines()[:6]))
    with pytest.raises(WrongFile, match=r"table4\.json:6: no JSON: "):
        ledger.entries(TABLE)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"runs": [], "runs": []}', "the key 'runs' is there twice"),
        ("[" * 100_000, "no JSON: "),
        ("1" * 5_000, "no JSON: "),
    ],
)
def test_what_only_json_readers_can_read_is_refused(
    content: str, message: str, ledger: Ledger
) -> None:
    path = ledger.path(TABLE)
    path.parent.mkdir(parents=True)
    path.write_text(content)
    with pytest.raises(WrongFile, match=message):
        ledger.entries(TABLE)
