"""What holds for every metric there is, and for every one that is added."""

import pytest

from daxy import metrics, tasks, testing

SMALL = {
    "gscan": tasks.data("gscan/length", grid=4, resampling=1, kind="simple_trans", max_length=5),
    "transduction": tasks.data("transduction/copy", test_pairs=20),
}
TASKS = {
    "accepted": ("translation/daxy", None),
    "back_mapping": ("nacs/addprim_jump", None),
    "bleu": ("translation/daxy", None),
    "executes": ("gscan/length", SMALL["gscan"]),
}
"""A task for each metric; copies are enough for the others."""


@pytest.mark.parametrize("name", metrics.available())
def test_a_metric_keeps_the_laws(name: str) -> None:
    testing.check_metric(name, *TASKS.get(name, ("transduction/copy", SMALL["transduction"])))
