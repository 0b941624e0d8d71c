"""The figures of Grefenstette et al. (2015), and the learners that they are of."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from daxy import papers
from daxy.models.transducer import Config
from daxy.papers import TableCell
from daxy.papers import grefenstette2015 as paper
from daxy.report import pictures
from daxy.report.tables import compare
from daxy.reproduction import plan as reproduction
from daxy.reproduction.entry import Entry, from_json, to_json
from daxy.reproduction.ledger import Ledger
from daxy.training.protocols import protocol

TABLE = papers.table("grefenstette2015/table")
ROOT = Path(__file__).parents[2]

SCORE_FIELDS = ("train coarse", "train fine", "test coarse", "test fine")


@pytest.mark.parametrize("cell", TABLE.cells, ids=lambda cell: f"{cell.row} | {cell.column}")
def test_a_figure_is_of_its_network_and_part(cell: TableCell) -> None:
    network, (task, part, score) = cell.row, cell.column.rsplit(" ", 2)
    assert cell.digits == 0
    assert cell.recipe is not None
    assert cell.recipe.task == f"transduction/{task.lower().replace(' to ', '_').replace(' ', '_')}"
    assert cell.recipe.metric == {"coarse": "exact", "fine": "fine"}[score]
    assert cell.recipe.part == {"train": "validation", "test": "test"}[part]
    config = reproduction.learner_of(cell.recipe).config
    assert (config.hidden, config.embedding, config.memory_width) == (256, 64, 256)
    name = network.partition("-")[0]
    expected = ("none", int(name)) if name.isdecimal() else (name.lower(), 1)
    assert (config.memory, config.layers) == expected


BY_TASK = """
copy
    1-layer LSTM .62 .87 .00 .38
    2-layer LSTM .80 .95 .00 .47
    4-layer LSTM .98 .98 .01 .50
    8-layer LSTM .57 .83 .00 .31
    Stack-LSTM   .89 .94 .00 .22
    Queue-LSTM   1.0 1.0 1.0 1.0
    DeQue-LSTM   1.0 1.0 1.0 1.0
reverse
    1-layer LSTM .78 .87 .01 .09
    2-layer LSTM .91 .94 .02 .06
    4-layer LSTM .93 .96 .03 .15
    8-layer LSTM .95 .98 .04 .13
    Stack-LSTM   1.0 1.0 1.0 1.0
    Queue-LSTM   .44 .61 .00 .07
    DeQue-LSTM   1.0 1.0 1.0 1.0
bigram flip
    1-layer LSTM .53 .93 .01 .53
    2-layer LSTM .54 .93 .02 .52
    4-layer LSTM .52 .93 .01 .56
    8-layer LSTM .52 .93 .01 .53
    Stack-LSTM   .44 .90 .00 .48
    Queue-LSTM   .55 .94 .55 .98
    DeQue-LSTM   .55 .94 .53 .98
SVO to SOV
    1-layer LSTM .96 .98 .96 .99
    2-layer LSTM .97 .99 .96 .99
    4-layer LSTM .97 .99 .97 .99
    8-layer LSTM .98 .99 .98 .99
    Stack-LSTM   1.0 1.0 1.0 1.0
    Queue-LSTM   1.0 1.0 1.0 1.0
    DeQue-LSTM   1.0 1.0 1.0 1.0
gender
    1-layer LSTM .97 .99 .97 .99
    2-layer LSTM .98 .99 .98 .99
    4-layer LSTM .98 .99 .98 .99
    8-layer LSTM .98 .99 .99 .99
    Stack-LSTM   .93 .97 .93 .97
    Queue-LSTM   1.0 1.0 1.0 1.0
    DeQue-LSTM   1.0 1.0 1.0 1.0
"""
"""Train coarse, train fine, test coarse, test fine, as shares of one."""


def test_every_figure_is_the_printed_one() -> None:
    printed, task = dict[tuple[str, str], int](), ""
    for line in BY_TASK.strip().splitlines():
        if not line.startswith(" "):
            task = line
            continue
        *network, train, train_fine, test, test_fine = line.split()
        shares = (train, train_fine, test, test_fine)
        for place, share in zip(SCORE_FIELDS, shares, strict=True):
            printed[" ".join(network), f"{task} {place}"] = round(100 * float(share))
    assert printed == {(cell.row, cell.column): cell.value for cell in TABLE.cells}
    assert len(printed) == 140


def test_every_figure_of_a_row_and_a_task_is_of_the_same_runs() -> None:
    recipes = {(cell.row, cell.column.rsplit(" ", 2)[0]): set[str]() for cell in TABLE.cells}
    for cell in TABLE.cells:
        assert cell.recipe is not None
        recipes[cell.row, cell.column.rsplit(" ", 2)[0]].add(cell.recipe.identity)
    assert {len(found) for found in recipes.values()} == {1}
    assert len(set.union(*recipes.values())) == len(recipes) == 7 * 5


def test_the_protocol_is_the_papers() -> None:
    found = protocol("grefenstette2015").settings()
    assert (found["optimizer"], found["batch_size"], found["max_grad_norm"]) == ("rmsprop", 10, 1.0)
    assert (found["steps"], found["online"], found["select"]) == (30_000, True, "perplexity")
    assert found["dropout"] == found["weight_decay"] == 0
    assert list(map(float, paper.GRID)) == [5e-3, 1e-3, 5e-4, 1e-4, 5e-5]


@pytest.mark.parametrize(
    ("name", "biases"),
    [
        (paper.HELD, {"push_bias": 0.5, "bottom_push_bias": -1.75}),
        (paper.FIRM, {"push_bias": 2.0, "bottom_push_bias": -4.0}),
        (paper.SLOW, {"pop_bias": -2.0, "bottom_push_bias": -4.0}),
    ],
)
def test_deques_differ_in_two_biases_alone(name: str, biases: dict[str, float]) -> None:
    """One that begins as all else does, with the paper's bias of pops, is what others change."""
    table = papers.table("grefenstette2015/deques")
    assert table.columns == TABLE.columns
    for column in table.columns:
        plain, other = (table.cell(row, column) for row in (paper.PLAIN, name))
        assert plain.recipe is not None and other.recipe is not None
        assert plain.value is None and other.value is None
        (own, theirs) = map(reproduction.learner_of, (plain.recipe, other.recipe))
        assert own.config == Config(memory="deque")
        assert theirs.config == replace(own.config, **biases)
        same = [each.training.with_settings(learning_rate=1.0) for each in (own, theirs)]
        assert same[0] == same[1]
        if name == paper.SLOW:
            assert theirs.training.optimizer.learning_rate == 5e-4
        places = [(each.task, each.part, each.metric) for each in (plain.recipe, other.recipe)]
        assert places[0] == places[1]


def test_a_deque_of_the_table_begins_as_the_one_with_the_least_perplexity() -> None:
    table, runs = (
        papers.table("grefenstette2015/deques"),
        Ledger(ROOT / "results").runs(paper.PAPER),
    )
    compared, begins = dict[str, set[str]](), dict[str, str]()
    for task in paper.TASKS:
        tried = dict[str, dict[int, float]]()
        for row in paper.CANDIDATES:
            found = runs.of(table.cell(row, f"{task} test coarse"))
            if found:
                tried[row] = {run.seed: run.perplexity for run in found if run.perplexity}
        compared[task] = set(tried)
        best = the_one_of_least(tried) or paper.PLAIN
        if best != paper.PLAIN:
            begins[task] = best
        for column in paper.TABLE.columns:
            if column.startswith(task):
                assert TABLE.cell(paper.DEQUE, column).recipe == table.cell(best, column).recipe
    assert begins == paper.DEQUE_OF_TASK
    assert compared["copy"] == set(paper.CANDIDATES)
    assert compared["SVO to SOV"] == {paper.PLAIN, paper.HELD}


def test_a_split_of_scan_is_not_streamed() -> None:
    for cell in papers.table("grefenstette2015/scan").cells:
        assert cell.recipe is not None
        assert not reproduction.learner_of(cell.recipe).training.online


def test_the_rate_of_a_split_of_scan_is_chosen_and_used_as_those_of_the_papers_tasks_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = papers.table("grefenstette2015/rates")
    for cell in papers.table("grefenstette2015/scan").cells:
        assert cell.recipe is not None
        for rate in paper.GRID:
            attempt = tried.cell(f"{cell.row}, {cell.column}", rate).recipe
            assert attempt is not None
            ours = reproduction.learner_of(attempt)
            assert (attempt.task, ours.config) == (
                cell.recipe.task,
                reproduction.learner_of(cell.recipe).config,
            )
            assert (ours.training.optimizer.learning_rate, ours.training.online) == (
                float(rate),
                False,
            )
            monkeypatch.setitem(paper.RATES, (cell.row, cell.column), rate)
            used = reproduction.learner_of(paper.of_split(cell.row, cell.column))
            assert used.training.optimizer.learning_rate == float(rate)


def test_what_chooses_a_rate_is_shown_and_drawn_as_it_is(
    entry_for: Callable, daxy: Callable, tmp_path: Path
) -> None:
    table = papers.table("grefenstette2015/rates")
    found = {"5e-3": 129.0, "1e-3": 1.0625}
    entries = [
        entry_for(table.cell("Stack-LSTM, reverse", rate), value, perplexity=value, test={})
        for rate, value in found.items()
    ]
    Ledger(tmp_path).add(table, entries)
    assert Ledger(tmp_path).entries(table) == entries
    request = ("papers", table.path, "--row", "Stack-LSTM, reverse", "--results", str(tmp_path))
    lines = [line.split() for line in daxy(*request).out.splitlines() if "not printed" in line]
    # row (two words), column, measured, least, most, verdict (two words), each seed
    assert [(line[2], line[3], line[-1]) for line in lines] == [
        ("5e-3", "129.000", "129.000"),
        ("1e-3", "1.062", "1.062"),
    ]
    cells, runs = table.select(["Stack-LSTM, reverse"], []), Ledger(tmp_path).runs(paper.PAPER)
    (axes,) = pictures.published(table, compare(cells, runs)).axes
    assert axes.get_yscale() == "log"
    least, most = axes.get_ylim()
    assert least <= min(found.values())
    assert max(found.values()) <= most


def test_a_run_without_a_perplexity_has_no_such_figure(entry_for: Callable) -> None:
    cell = papers.table("grefenstette2015/rates").cell("Stack-LSTM, reverse", "5e-3")
    with pytest.raises(ValueError, match="`test` has no 'perplexity'"):
        from_json(json.loads(json.dumps(to_json(entry_for(cell, 2.0)))))


def the_one_of_least(tried: Mapping[str, Mapping[int, float]]) -> str | None:
    """Return the one with the run of least perplexity, of seeds that all of these have."""
    seeds = set[int].intersection(*map(set, tried.values())) if tried else set[int]()
    least = {name: min(found[seed] for seed in seeds) for name, found in tried.items() if seeds}
    return min(least, key=lambda name: least[name], default=None)


def whole_runs_say() -> dict[str, str]:
    """Return the best of several rates, where whole runs from the same seeds were made with all."""
    whole = papers.table(f"{paper.NAME}/whole_rates")
    runs = Ledger(ROOT / "results").runs(paper.PAPER)
    said = dict[str, str]()
    for place in dict.fromkeys(cell.row for cell in whole.cells):
        every = {
            cell.column: {
                run.seed: run.perplexity for run in runs.of(cell) if run.perplexity is not None
            }
            for cell in whole.select([place], [])
        }
        tried = {rate: found for rate, found in every.items() if found}
        if len(tried) > 1 and (rate := the_one_of_least(tried)):
            said[place.removesuffix(" train").removesuffix(" test")] = rate
    return said


def test_a_rate_is_the_one_with_the_least_perplexity_of_those_that_were_tried() -> None:
    best = dict[str, str]()
    for table, needed in (("rates", paper.GRID), ("longer_rates", paper.LARGE)):
        tried: dict[str, dict[str, dict[int, float]]] = {}
        for entry in Ledger(ROOT / "results").entries(papers.table(f"{paper.NAME}/{table}")):
            assert entry.perplexity is not None
            tried.setdefault(entry.row, {}).setdefault(entry.column, {})[entry.seed] = (
                entry.perplexity
            )
        for place, found in tried.items():
            if rate := the_one_of_least({rate: found.get(rate, {}) for rate in needed}):
                best[place] = rate
    best |= whole_runs_say()
    places = {", ".join(place): rate for place, rate in paper.RATES.items()}
    assert places == {place: rate for place, rate in best.items() if rate != "1e-3"}


def test_a_whole_training_with_the_chosen_rate_is_that_of_the_table() -> None:
    whole = papers.table("grefenstette2015/whole_rates")
    rate = paper.RATES["Stack-LSTM", "reverse"]
    for part in paper.PARTS:
        ours = papers.table(f"{paper.NAME}/table").cell("Stack-LSTM", f"reverse {part} coarse")
        same = whole.cell(f"Stack-LSTM, reverse {part}", rate).recipe
        other = whole.cell(f"Stack-LSTM, reverse {part}", "1e-3").recipe
        assert same == ours.recipe
        assert other is not None
        assert reproduction.learner_of(other).training.optimizer.learning_rate == 1e-3
    for cell in papers.table(f"{paper.NAME}/scan").cells:
        rate = paper.RATES.get((cell.row, cell.column), paper.USUAL)
        assert whole.cell(f"{cell.row}, {cell.column}", rate).recipe == cell.recipe


def test_a_run_that_was_filed_has_the_name_that_it_would_have_today() -> None:
    entries = dict[str, Entry]()
    for name in ("table", "scan"):
        for entry in Ledger(ROOT / "results").entries(papers.table(f"{paper.NAME}/{name}")):
            entries.setdefault(entry.recipe.task, entry)
    names = {f"transduction/{name}" for name in paper.TASKS.values()}
    assert names <= set(entries)
    for entry in entries.values():
        assert reproduction.run(entry.recipe, entry.seed).config.name == entry.run
