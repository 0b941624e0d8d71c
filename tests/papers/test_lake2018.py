"""The figures of Lake & Baroni (2018), and the networks that they are of."""

import pytest

from daxy import papers
from daxy.models.stacked import Config
from daxy.reproduction import plan as reproduction

EXPERIMENTS = papers.table("lake2018/experiments")
FIGURE_3 = papers.table("lake2018/figure3")
FIGURE_5 = papers.table("lake2018/figure5")

SMALL = Config(cell="gru", layers=1, hidden=50, attention=True)

# Section 4 of the paper, as printed, in the order of its experiments.
PRINTED = {
    ("best", "simple"): ("99.8", Config(cell="lstm", layers=2, hidden=200), 0.0),
    ("best overall", "simple"): ("99.7", Config(cell="lstm", layers=2, hidden=200), 0.5),
    ("best", "length"): ("20.8", SMALL, 0.5),
    ("best overall", "length"): ("13.8", Config(cell="lstm", layers=2, hidden=200), 0.5),
    ("best", "length, oracle"): ("60.2", SMALL, 0.5),
    ("best overall", "length, oracle"): ("23.6", Config(cell="lstm", layers=2, hidden=200), 0.5),
    ("best", "turn_left"): ("90.3", Config(cell="gru", layers=1, hidden=100, attention=True), 0.1),
    ("best overall", "turn_left"): ("90.0", Config(cell="lstm", layers=2, hidden=200), 0.5),
    ("best", "jump"): ("1.2", Config(cell="lstm", layers=1, hidden=100, attention=True), 0.1),
    ("best overall", "jump"): ("0.08", Config(cell="lstm", layers=2, hidden=200), 0.5),
}


@pytest.mark.parametrize(("place", "expected"), PRINTED.items(), ids=str)
def test_a_figure_is_as_printed_and_of_the_network_that_the_text_names(
    place: tuple[str, str], expected: tuple[str, Config, float]
) -> None:
    cell = EXPERIMENTS.cell(*place)
    assert cell.recipe is not None
    learner = reproduction.learner_of(cell.recipe)
    assert (cell.printed, learner.config, learner.training.dropout) == expected
    assert (learner.model, learner.training.budget.samples, cell.runs) == ("stacked", 100_000, 5)


@pytest.mark.parametrize("row", EXPERIMENTS.rows)
def test_what_is_told_the_length_is_what_is_not(row: str) -> None:
    own, told = (EXPERIMENTS.cell(row, column).recipe for column in ("length", "length, oracle"))
    assert own is not None
    assert told is not None
    assert own.identity == told.identity
    assert (own.part, told.part) == ("test", "length_oracle")


def test_no_weights_are_selected() -> None:
    for cell in (*EXPERIMENTS.cells, *FIGURE_3.cells, *FIGURE_5.cells):
        assert cell.recipe is not None
        assert reproduction.data_of(cell.recipe).validation == "none"


@pytest.mark.parametrize(
    ("share", "printed"), [("1%", "5"), ("2%", "54"), ("4%", "93"), ("8%", ""), ("64%", "")]
)
def test_a_part_of_the_commands_is_a_task_of_its_own(share: str, printed: str) -> None:
    cell = FIGURE_3.cell("best overall", share)
    assert cell.printed == printed
    assert cell.recipe is not None
    assert cell.recipe.task == f"scan/simple_p{share.rstrip('%')}"


@pytest.mark.parametrize(
    ("added", "printed"),
    [(1, "0.1"), (2, "0.1"), (4, "4.1"), (8, "15.3"), (16, "70.2"), (32, "89.9")],
)
def test_each_run_of_figure_5_has_its_own_draw_of_composed_commands(
    added: int, printed: str
) -> None:
    cell = FIGURE_5.cell("best overall", f"{added} composed")
    assert cell.printed == printed
    assert cell.recipe is not None
    split = f"scan/addprim_complex_jump_num{added}"
    assert cell.recipe.tasks == [f"{split}_rep{repetition}" for repetition in range(1, 6)]


TRANSLATION = papers.table("lake2018/translation")


@pytest.mark.parametrize(
    ("row", "column", "printed", "repetitions"),
    [
        ("without daxy", "BLEU", "28.6", 0),
        ("with daxy", "BLEU", "", 1_000),
        ("with daxy", "daxy", "12.5", 1_000),  # one of eight
        ("with daxy", "tired", "100.0", 1_000),
    ],
)
def test_experiment_4_is_of_the_network_that_the_text_names(
    row: str, column: str, printed: str, repetitions: int
) -> None:
    cell = TRANSLATION.cell(row, column)
    assert cell.recipe is not None
    learner, data = reproduction.learner_of(cell.recipe), reproduction.data_of(cell.recipe)
    assert cell.printed == printed
    assert learner.config == Config(cell="lstm", layers=2, hidden=400, attention=True)
    assert (learner.training.dropout, learner.training.budget.samples) == (0.05, 100_000)
    assert (data.choices["repetitions"], data.choices["validation"]) == (repetitions, "none")
    assert data.origin == "official"
