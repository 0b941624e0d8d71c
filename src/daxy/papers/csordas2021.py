"""Csordás, Irie & Schmidhuber (2021): Transformers on longer SCAN commands.

The paper prints shares of one; values here are in per cent.
"""

from __future__ import annotations

from functools import partial

from daxy.papers._paper import Paper, RunSpec, Value
from daxy.papers._printed import read_table

NAME = "csordas2021"
RUNS = 5
CUTOFFS = ("22", "24", "25", "26", "27", "28", "30", "32", "33", "36", "40")
"""Maximum actions of a training command."""
NETWORKS: dict[str, dict[str, Value]] = {
    "Transformer": {"positions": "absolute", "embedding_scaling": "down"},
    "Universal": {"positions": "absolute", "embedding_scaling": "down", "shared_layers": True},
    "Relative": {"positions": "relative"},
    "Relative universal": {"positions": "relative", "shared_layers": True},
}
BATCH = 256
FEW = 5_000
"""Training steps of the shorter runs; the paper has 50,000."""
SPLITS = {
    "simple": "simple",
    "jump": "addprim_jump",
    "length": "length",
    "cutoff 26": "length_cutoff_26",
}


def spec_of(row: str, column: str) -> RunSpec:
    """Return the run specification of a cell of the paper."""
    return _spec(row, f"length_cutoff_{column}", {})


def spec_of_few(row: str, column: str) -> RunSpec:
    """Return the run specification of a cell with fewer steps."""
    return _spec(row, SPLITS[column], {"samples": FEW * BATCH})


def _spec(row: str, split: str, changes: dict[str, Value]) -> RunSpec:
    return RunSpec(
        task=f"scan/{split}",
        model="transformer",
        config=NETWORKS[row],
        protocol=NAME,
        protocol_changes=changes,
        metric="exact",
        data={"validation": "draw", "validation_fraction": 0.1},
    )


_table = partial(read_table, runs=RUNS)
LENGTH = _table(
    f"{NAME}/length",
    "SCAN by the maximum actions of a training command",
    CUTOFFS,
    """
    Transformer        | ? | ? | ? | 0.0       | ? | ? | ? | ? | ? | ? | ?
    Universal          | ? | ? | ? | ?         | ? | ? | ? | ? | ? | ? | ?
    Relative           | ? | ? | ? | ?         | ? | ? | ? | ? | ? | ? | ?
    Relative universal | ? | ? | ? | 100.0 ±0.0 | ? | ? | ? | ? | ? | ? | ?
    """,
    spec_of,
    note="Of the absolute Transformers the paper takes the best of several embedding scalings; the"
    " one here divides positions (`--embedding-scaling down`). Values that could not be checked"
    " are left out.",
    digits=1,
)
FEWER_STEPS = _table(
    f"{NAME}/fewer_steps",
    f"The same networks after {FEW:,} steps",
    tuple(SPLITS),
    """
    Transformer        | ? | ? | ? | ?
    Universal          | ? | ? | ? | ?
    Relative           | ? | ? | ? | ?
    Relative universal | ? | ? | ? | ?
    """,
    spec_of_few,
    note=f"Not in the paper, which trains for 50,000 steps: a tenth of that, {FEW:,}.",
    digits=1,
    is_printed=False,
)

PAPER = Paper(
    name=NAME,
    title="The devil is in the detail: Simple tricks improve systematic generalization of"
    " Transformers",
    authors=("Csordás", "Irie", "Schmidhuber"),
    year=2021,
    venue="EMNLP, 619-634",
    tables=(LENGTH, FEWER_STEPS),
    differences="No whole run is measured yet.",
)
