"""What holds for every paper, and how papers, tables, rows and columns are found by name."""

import subprocess
import sys
from dataclasses import fields

import pytest

from daxy import metrics, models, papers, tasks
from daxy.core.errors import UnknownName, WrongRequest
from daxy.papers import TableCell
from daxy.reproduction import plan as reproduction
from daxy.reproduction import published
from daxy.tasks import ScanOptions
from daxy.training.config import SETTINGS
from daxy.training.protocols import PROTOCOLS

CELLS = [cell for name in papers.available() for t in papers.get(name).tables for cell in t.cells]
RECIPES = {str(cell.recipe): cell.recipe for cell in CELLS if cell.recipe}
TABLE = papers.table("bastings2018/table4")


@pytest.mark.parametrize("name", papers.available())
def test_every_table_is_named_and_numbered_as_its_cells_say(name: str) -> None:
    paper = papers.get(name)
    assert paper.name == name
    for table in paper.tables:
        assert papers.table(table.path) is table
        places = [(cell.row, cell.column) for cell in table.cells]
        assert len(set(places)) == len(places)
        assert places == [(r, c) for r in table.rows for c in table.columns if (r, c) in places]
        assert {(cell.paper, cell.table) for cell in table.cells} == {(name, table.name)}


def test_every_recipe_names_what_there_is() -> None:
    for recipe in RECIPES.values():
        if recipe.metric == papers.PERPLEXITY:
            assert reproduction.learner_of(recipe).training.loss.is_perplexity
        else:
            assert recipe.metric in metrics.available()
            assert all(recipe.metric in tasks.get(name).metrics for name in recipe.tasks)
        assert len(set(recipe.tasks)) == recipe.repetitions
        assert recipe.model in models.available()
        assert set(recipe.config) <= {f.name for f in fields(models.get(recipe.model).Config)}
        assert recipe.protocol in PROTOCOLS
        assert set(recipe.data) <= {f.name for f in fields(tasks.get(recipe.tasks[0]).options)}
        assert not recipe.test or recipe.test in tasks.get(recipe.tasks[0]).sizes.tests
        assert set(recipe.protocol_changes) <= set(SETTINGS)


@pytest.mark.slow
def test_every_recipe_can_be_resolved() -> None:
    for recipe in RECIPES.values():
        learner = reproduction.learner_of(recipe)
        assert dict(recipe.config).items() <= learner.settings()["config"].items()
        assert dict(recipe.protocol_changes).items() <= learner.training.settings().items()


def test_papers_are_read_without_the_framework_and_without_numpy() -> None:
    code = (
        "import sys; from daxy.cli.main import main;"
        "main(['papers']); main(['papers', 'bastings2018/table4']);"
        "print({'jax', 'equinox', 'numpy'} & set(sys.modules))"
    )
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert asked.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("row", ["GRU +Attn-Dep", "gru+attn-dep", "GRU +Attn -Dep", "gru attn dep"])
def test_case_spaces_and_punctuation_of_a_row_do_not_count(row: str) -> None:
    assert TABLE.row(row) == "GRU +Attn-Dep"
    assert TABLE.cell(row, "Turn left") == TABLE.cell("GRU +Attn-Dep", "turn_left")


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(UnknownName, match="no row named 'LSTM \\+Atn'; did you mean LSTM \\+Attn"):
        TABLE.row("LSTM +Atn")
    with pytest.raises(UnknownName, match="no column named 'simpel'; did you mean simple\\?"):
        TABLE.column("simpel")
    with pytest.raises(UnknownName, match="did you mean bastings2018/table4"):
        papers.table("bastings2018/tabel4")
    with pytest.raises(UnknownName, match="no paper named 'bastings18'; did you mean bastings2018"):
        papers.table("bastings18/table4")


def test_a_selection_is_in_the_printed_order() -> None:
    found = TABLE.select(["lstm", "gru"], ["jump", "simple"])
    assert [(cell.row, cell.column) for cell in found] == [
        ("GRU", "simple"),
        ("GRU", "jump"),
        ("LSTM", "simple"),
        ("LSTM", "jump"),
    ]
    assert TABLE.select([], []) == list(TABLE.cells)


def test_where_nothing_is_printed_there_is_no_cell() -> None:
    with pytest.raises(WrongRequest, match="prints nothing for L&B best and simple NACS"):
        papers.table("bastings2018/table1").cell("L&B best", "simple nacs")


def settings_of(cell: TableCell) -> dict[str, object]:
    assert cell.recipe is not None
    return reproduction.learner_of(cell.recipe).settings()


def test_a_figure_is_found_by_what_was_run_in_every_table_that_prints_it() -> None:
    cell = TABLE.cell("GRU +Attn", "jump")
    found = published.of_learner("scan/addprim_jump", settings_of(cell))
    assert [str(each) for each in found] == [
        "bastings2018/table1, GRU +Attn, jump SCAN",
        "bastings2018/table4, GRU +Attn, jump",
    ]


def test_all_that_is_published_of_a_test_is_found_once_whoever_learned() -> None:
    found = published.of_test("scan/addprim_jump")
    printed = [(cell.paper, cell.row, cell.printed) for cell in found]
    assert ("lake2018", "best", "1.2") in printed
    assert ("andreas2020", "GECA", "86.7 ±5.2") in printed
    assert printed.count(("bastings2018", "GRU +Attn", "12.5 ±6.6")) == 1, "of two tables"
    assert not [cell for cell in found if cell.recipe and cell.recipe.part != "test"]


def test_what_several_names_begin_with_stands_for_all_of_them() -> None:
    table = papers.table("grefenstette2015/table")
    found = table.select(["queue"], ["Copy"])
    assert {cell.row for cell in found} == {"Queue-LSTM"}
    assert [cell.column for cell in found] == [
        f"copy {part} {score}" for part in ("train", "test") for score in ("coarse", "fine")
    ]
    # A name is itself alone, and ends where a word does.
    rows = {cell.row for cell in papers.table("bastings2018/table4").select(["gru"], [])}
    assert rows == {"GRU"}
    for wrong in ("cop", "", "train coarse"):
        with pytest.raises(UnknownName):
            table.select([], [wrong])
    with pytest.raises(UnknownName, match="no column named 'copy'"):
        table.cell("Queue-LSTM", "copy")


def test_what_is_tried_out_beside_a_paper_is_not_published() -> None:
    """`variants` repeats figures of Table 5, to compare other runs with them."""
    tried = papers.table("bastings2018/variants").cell("GRU, 150 epochs", "NACS simple")
    assert tried.value == 99.0 and tried.recipe is not None
    settings = reproduction.learner_of(tried.recipe).settings()
    assert published.of_learner("nacs/simple", settings) == []
    assert {cell.table for cell in published.of_test("nacs/simple")} == {"table1", "table5"}


def test_what_is_published_is_of_the_published_test() -> None:
    def rows(task: str, **choices: object) -> list[str]:
        options = tasks.data(task, **choices).options
        return [cell.row for cell in published.of_test(task, options)]

    assert rows("scan/addprim_jump") == rows("scan/addprim_jump", seed=3, oversample=False)
    assert rows("transduction/copy") and not rows("transduction/copy", test_max_length=100)
    shots = {row for row in rows("gscan/compositional", shots=11) if row.startswith("G")}
    assert shots == {"G: Adverb k = 10"}
    assert "G: Adverb k = 1" in rows("gscan/compositional")


def test_another_task_setting_or_training_set_has_no_published_figure() -> None:
    settings = settings_of(TABLE.cell("GRU +Attn", "jump"))
    task = "scan/addprim_jump"
    other = settings | {"config": settings["config"] | {"hidden": 100}}
    assert not published.of_learner(task, other)
    assert not published.of_learner("scan/template_right", settings)
    assert not published.of_learner(task, settings, ScanOptions(oversample=False).options)
    assert (
        len(published.of_learner(task, settings, ScanOptions(seed=3, validation="draw").options))
        == 2
    )
