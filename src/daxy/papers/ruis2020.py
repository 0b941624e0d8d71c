"""Ruis et al. (2020): Table 1, and the validation scores of the authors' training logs.

Values are means and standard deviations over three runs, in per cent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from daxy.papers._paper import Finding, Paper, RunSpec, Value
from daxy.papers._printed import read_table

NAME = "ruis2020"
RUNS = 3
SHOTS = {1: 1, 5: 5, 10: 11, 50: 51}
"""Number of `cautiously` examples in the authors' training sets, by the paper's k."""
STEPS = ("1,000", "2,000", "5,000", "10,000", "15,000", "20,000")
LONGER = ("30,000", "50,000", "100,000", "200,000")
SHORT = 20_000

NETWORK: dict[str, Value] = {"variant": "code"}
BASELINE = RunSpec(
    task="gscan/compositional", model="multimodal", config=NETWORK, protocol=NAME, metric="exact"
)
LENGTH = replace(BASELINE, task="gscan/length", config={**NETWORK, "kernel_sizes": "1,5,13"})
SHORTER = replace(BASELINE, protocol_changes={"steps": SHORT})
"""The first tenth of the training."""
GECA: dict[str, Any] = {"count": 10_000}
AUGMENTED = {"Baseline": None, "GECA": GECA}


def of_split(row: str, column: str = "Baseline") -> RunSpec:
    """Return the run specification of a cell of Table 1."""
    return replace(_of_split(row), geca=AUGMENTED[column])


def _of_split(row: str) -> RunSpec:
    test, _, title = row.partition(":")
    if test == "I":
        return replace(LENGTH, test=test)
    shots = SHOTS[int(title.partition("k = ")[2])] if test == "G" else 1
    return replace(BASELINE, test=test, data={} if shots == 1 else {"shots": shots})


TABLE_1 = read_table(
    f"{NAME}/table1",
    "Exact match on each split",
    ("Baseline", "GECA"),
    """
    A: Random             | 97.69 ±0.22  | 87.60 ±1.19
    B: Yellow squares     | 54.96 ±39.39 | 34.92 ±39.30
    C: Red squares        | 23.51 ±21.82 | 78.77 ±6.63
    D: Novel direction    | 0.00 ±0.00   | 0.00 ±0.00
    E: Relativity         | 35.02 ±2.35  | 33.19 ±3.69
    F: Class inference    | 92.52 ±6.75  | 85.99 ±0.85
    G: Adverb k = 1       | 0.00 ±0.00   | 0.00 ±0.00
    G: Adverb k = 5       | 0.47 ±0.14   | -
    G: Adverb k = 10      | 2.04 ±0.95   | -
    G: Adverb k = 50      | 4.63 ±2.08   | -
    H: Adverb to verb     | 22.70 ±4.59  | 11.83 ±0.31
    I: Length             | 2.10 ±0.05   | -
    """,
    of_split,
    runs=RUNS,
    note="The authors' training sets for k = 5, 10 and 50 contain 5, 11 and 51 examples of"
    " `cautiously`. Test I has its own data set, with grids of 12 by 12 cells.",
)

SHORT_RUNS = read_table(
    f"{NAME}/short",
    "Exact match on each split after the first tenth of the training",
    tuple("ABCDEFGH"),
    """
    Baseline, 20,000 steps | ? | ? | ? | ? | ? | ? | ? | ?
    GECA, 20,000 steps     | ? | ? | ? | ? | ? | ? | ? | ?
    """,
    lambda row, test: replace(SHORTER, test=test, geca=AUGMENTED[row.partition(",")[0]]),
    runs=RUNS,
    note="Not in the paper: 20,000 of 200,000 steps, which a CPU finishes in hours.",
)

SHORT_LENGTH = read_table(
    f"{NAME}/short_length",
    "Exact match on the set of test I after the first tenth of the training",
    ("A", "I"),
    "Baseline, 20,000 steps | ? | ?",
    lambda _, test: replace(LENGTH, test=test, protocol_changes=SHORTER.protocol_changes),
    runs=RUNS,
    note="Not in the paper: 20,000 of 200,000 steps. Targets of A are as long as in training.",
)


def _after(row: str, steps: str) -> RunSpec:
    usual = LENGTH if row == "Length" else replace(BASELINE, geca=AUGMENTED[row])
    changes = SHORTER.protocol_changes if steps in STEPS else {}
    return replace(usual, protocol_changes=changes, after_steps=int(steps.replace(",", "")))


CURVE = read_table(
    f"{NAME}/curve",
    "Exact match on 2,000 validation examples as training goes on",
    (*STEPS, *LONGER),
    """
    Baseline | 6.9 ±0.7 | 11.9 ±0.7 | 29.2 ±4.9 | 69.2 ±3.0 | 81.2 ±1.6 | 86.5 ±1.2 \
| 91.3 ±1.1 | 95.3 ±0.7 | 97.4 ±0.5 | 98.5 ±0.3
    GECA     | 6.5 ±0.8 | 11.4 ±0.1 | 29.8 ±2.6 | 64.0 ±1.6 | 75.5 ±0.9 | 79.9 ±0.2 \
| 84.6 ±0.6 | 88.8 ±0.3 | 90.5 ±0.4 | 91.1 ±1.0
    Length   | 7.0 ±2.4 | 11.8 ±2.0 | 22.7 ±2.0 | 36.4 ±4.7 | 43.6 ±11.1 | 47.9 ±12.0 \
| 75.6 ±6.3 | 90.4 ±1.6 | 94.5 ±1.2 | 95.9 ±0.6
    """,
    _after,
    runs=RUNS,
    note="Not from the paper: mean and standard deviation over the authors' published training"
    " logs. Baseline averages twelve logs: three for each set with 1, 5, 11 and 51 examples of"
    " `cautiously`, which hardly differ. GECA and Length average three each; Length is the network"
    " of test I. The measured runs are those of `short` and `short_length`.",
    differences="Networks start to use the world at about 5,000 steps, and seeds differ in when, as"
    " in the authors' logs. The same network in PyTorch starts as late. On training batches, loss"
    " and accuracy match the logs.",
)

TABLE_2 = {
    "red small square": ((13.09, 14.07), (78.64, 1.10)),
    "red big square": ((11.03, 10.29), (77.88, 0.95)),
    "red square": ((8.48, 0.90), (97.95, 0.14)),
    "small square": ((27.13, 41.38), (66.26, 13.60)),
    "big square": ((22.96, 32.20), (68.09, 20.90)),
    "square": ((52.92, 36.81), (95.09, 7.42)),
}
"""Accuracy on test C by referent, without and with GECA: mean and standard deviation."""
CHANCE = {
    "red small square": 8.33,
    "red big square": 8.33,
    "red square": 16.67,
    "small square": 8.33,
    "big square": 8.33,
    "square": 50.0,
}
"""Chance level in Table 2: a random object, with the correct path to it."""
TABLE_3 = {
    ("gscan/compositional", "train"): (367_933, 76_033, 177),
    ("gscan/compositional", "A"): (19_282, 16_381, 38),
    ("gscan/length", "train"): (180_301, 80_865, 599),
    ("gscan/length", "I"): (37_784, 31_000, 230),
    ("GECA", "train"): (377_933, 64_527, 186),
}
"""Number of examples, of unique examples, and of unique examples by command."""
TABLE_4 = {
    "blue square": (33_250, 16_630, 16_481, 5_601),
    "red square": (0, 0, 83_887, 0),
    "yellow square": (16_725, 0, 10_936, 0),
    "red circle": (33_670, 16_816, 16_854, 0),
}
"""Number of training examples with this target, and of those that name its color, without and
with GECA."""
WITH_GECA = replace(BASELINE, geca=GECA)


def _table_2(column: int) -> dict[str, dict[tuple[str, str], float]]:
    printed = {("C", phrase): numbers[column] for phrase, numbers in TABLE_2.items()}
    return {
        "values": {key: value for key, (value, _) in printed.items()},
        "spreads": {key: spread for key, (_, spread) in printed.items()},
    }


IN_LINE = ("D", "right row or column")
LENGTH_16, LENGTH_17 = (("tokens in the target", length) for length in ("16", "17"))
ATTENDS = {
    ("A", "all episodes"): 94.0,
    ("B", "errors"): 0.08,
    ("C", "errors"): 47.0,
    ("E", "errors"): 4.0,
}
BY_REFERENT = "Table 2 says the size before the color."


def _of_network(
    recipe: RunSpec, column: int, *, in_line: tuple[float, float], sized: str, pushed: str
) -> tuple[Finding, ...]:
    """Return the findings that the paper has for both networks, with and without GECA.

    Args:
        recipe: Run specification of the network.
        column: Column of the network in Table 2.
        in_line: Per cent of test D that end in the target's row or column, and its spread.
        sized: Accuracy on test E for commands with color and size.
        pushed: Accuracy on test A for commands with `push`.
    """
    value, spread = in_line
    return (
        Finding(
            analysis="by_referent", recipe=recipe, test="C", **_table_2(column), note=BY_REFERENT
        ),
        Finding(
            analysis="by_referent",
            recipe=recipe,
            test="E",
            note=f"In E, with a color and a size: {sized}.",
        ),
        Finding(
            analysis="by_situation",
            recipe=recipe,
            test="A",
            note=f"With `push` in test A (--test A): {pushed}.",
        ),
        Finding(
            analysis="destinations",
            recipe=recipe,
            test="D",
            values={IN_LINE: value},
            spreads={IN_LINE: spread},
        ),
    )


FINDINGS = (
    *_of_network(BASELINE, 0, in_line=(63.10, 3.90), sized="53.00 ±1.36", pushed="96.64 ±0.52"),
    *_of_network(WITH_GECA, 1, in_line=(58.85, 3.45), sized="47.51 ±12.59", pushed="86.72 ±1.23"),
    Finding(
        analysis="by_length",
        recipe=LENGTH,
        test="I",
        values={LENGTH_16: 19.32, LENGTH_17: 1.71},
        spreads={LENGTH_16: 0.02, LENGTH_17: 0.38},
        note="Of targets of 18 tokens and more less than 1% are right.",
    ),
    Finding(
        analysis="by_length",
        recipe=LENGTH,
        test="A",
        note="Of the examples of test A, whose targets are as long as those in train, 94.98 ±0.1.",
    ),
    *(
        Finding(analysis="attention", recipe=BASELINE, test=test, values={(test, name): value})
        for (test, name), value in ATTENDS.items()
    ),
)

PAPER = Paper(
    name=NAME,
    title="A benchmark for systematic generalization in grounded language understanding",
    authors=("Ruis", "Andreas", "Baroni", "Bouchacourt", "Lake"),
    year=2020,
    venue="NeurIPS, 19861-19872",
    tables=(TABLE_1, SHORT_RUNS, SHORT_LENGTH, CURVE),
    findings=FINDINGS,
    differences="Table 1 needs 200,000 steps and is not measured yet; the first 20,000 steps are"
    " compared with the authors' training logs, and seeds differ in when they start to improve.",
    elsewhere={
        "table2": "daxy analyse by_referent RUN --test C",
        "table3": "daxy show gscan/compositional",
        "table4": "daxy augment gscan/compositional --count 10000",
        "figure8": "daxy show gscan/compositional --example D:7 --run RUN --draw FILE",
        "figure9": "daxy analyse by_length RUN_WITH_51_SHOTS --test G",
        "figure10": "daxy analyse by_length RUN --test H",
    },
)
