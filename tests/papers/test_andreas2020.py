"""The figures of Andreas (2020), and the learner that they are of."""

import pytest

from daxy import papers
from daxy.reproduction import plan as reproduction
from daxy.training.protocols import protocol

TABLE = papers.table("andreas2020/scan")

PRINTED = {
    "SCAN jump": ("86.7 ±5.2", "scan/addprim_jump", "exact"),
    "SCAN around right": ("82.1 ±10.7", "scan/template_around_right", "exact"),
    "NACS jump": ("67.2 ±3.7", "nacs/addprim_jump", "back_mapping"),
    "NACS around right": ("82.2 ±9.2", "nacs/template_around_right", "back_mapping"),
}


@pytest.mark.parametrize("column", PRINTED)
def test_a_figure_is_that_of_the_logs_and_of_its_task(column: str) -> None:
    cell = TABLE.cell("GECA", column)
    assert cell.recipe is not None
    assert (cell.printed, cell.recipe.task, cell.recipe.metric) == PRINTED[column]
    learner = reproduction.learner_of(cell.recipe)
    assert (learner.config.hidden, learner.config.embedding) == (512, 64)
    assert learner.geca is not None
    assert (learner.geca.max_piece_length, learner.geca.max_pieces, cell.runs) == (1, 2, 10)


def test_the_protocol_is_that_of_the_logs() -> None:
    found = protocol("andreas2020")
    assert found.total_steps == 150 * 32
    assert (found.epoch_steps, found.max_epochs, found.batch_size) == (32, 150, 64)
    own = found.settings()
    assert (own["learning_rate"], own["max_grad_norm"], own["dropout"]) == (0.001, 1.0, 0.5)
    assert (own["augmented_share"], own["lr_factor"], own["lr_patience"]) == (0.3, 0.5, 10)
    assert found.deduplicate
    assert found.selection.select == "last"
