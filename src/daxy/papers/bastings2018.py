"""Bastings, Baroni, Weston, Cho & Kiela (2018): Tables 1 to 10.

Values are means over three runs (section 6.1) in per cent; ± is the population standard deviation.
Table 9 prints 66.7 ±5.9 over three runs of eight sentences. These can only be 62.5, 62.5 and 75.0,
whose sample deviation would be 7.2. Rows are named as printed; RNN is the simple recurrent network
of Elman (1990), `srn` in daxy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from daxy.papers._paper import Paper, RunSpec, Table, Value
from daxy.papers._printed import COUNTED, SpecOf, read_table

NAME = "bastings2018"
RUNS = 3
METRIC = {"scan": "exact", "nacs": "back_mapping"}
CELL = {"RNN": "srn", "GRU": "gru", "LSTM": "lstm"}
SPLIT = {
    "simple": "simple",
    "length": "length",
    "turn_left": "addprim_turn_left",
    "jump": "addprim_jump",
}
ADDED = ("0", "1", "2", "4", "8", "16", "32")


def network(row: str) -> dict[str, Value] | None:
    """Return the configuration of a row such as `RNN +Attn-Dep`; None for rows of L&B."""
    if row.startswith("L&B"):
        return None
    return {
        "cell": CELL[row.partition(" ")[0]],
        "attention": "+Attn" in row,
        "dependency": "-Dep" not in row,
    }


def recipe(row: str, language: str, split: str) -> RunSpec | None:
    """Return the run specification of a row's network on a split of SCAN or NACS."""
    config = network(row)
    if config is None:
        return None
    return RunSpec(
        task=f"{language}/{split}",
        model="seq2seq",
        config=config,
        protocol=NAME,
        metric=METRIC[language],
    )


def on_splits(language: str) -> SpecOf:
    """Return the specifications of a table whose columns are splits (Tables 4 and 5)."""
    return lambda row, column: recipe(row, language, SPLIT[column])


def on_jumps(language: str) -> SpecOf:
    """Return the specifications of a table by number of composed commands (Tables 6 and 7)."""
    return lambda row, column: recipe(row, language, f"bastings_jump_num{column}")


def table_1(row: str, column: str) -> RunSpec | None:
    """Return the specification of a cell in a column such as `turn_left NACS`."""
    split, language = column.split()
    return recipe(row, language.lower(), SPLIT[split])


def table_2(row: str, column: str) -> RunSpec | None:
    """Return the specification of a cell in a row such as `GRU +Attn NACS`."""
    name, _, language = row.rpartition(" ")
    return on_jumps(language.lower())(name, column)


def _table(
    number: int,
    title: str,
    columns: tuple[str, ...],
    text: str,
    spec_of: SpecOf,
    *,
    note: str = "",
    differences: str = "",
) -> Table:
    path = f"{NAME}/table{number}"
    return read_table(
        path, title, columns, text, spec_of, runs=RUNS, note=note, differences=differences
    )


TABLE_1 = _table(
    1,
    "Test scores on the simple, length and primitive (turn left, jump) tasks",
    tuple(f"{split} {language}" for split in SPLIT for language in ("SCAN", "NACS")),
    """
    GRU              | 100.0 ±0.0 | 99.0 ±0.1 | 14.4 ±0.8 | 12.9 ±1.2 | 53.4 ±11.7 | 47.5 ±4.7 |  0.0 ±0.0 | 0.0 ±0.0
    RNN +Attn        | 100.0 ±0.0 | 99.8 ±0.1 |  9.6 ±0.9 | 19.4 ±0.7 | 81.1 ±14.7 | 44.1 ±0.9 |  1.9 ±1.2 | 0.3 ±0.3
    RNN +Attn -Dep   | 100.0 ±0.0 | 61.1 ±0.3 | 11.7 ±3.2 |  0.5 ±0.2 | 92.0 ±5.8  | 18.6 ±1.0 |  2.7 ±1.7 | 0.0 ±0.0
    GRU +Attn        | 100.0 ±0.0 | 99.8 ±0.1 | 18.1 ±1.1 | 17.2 ±1.9 | 59.1 ±16.8 | 55.9 ±3.5 | 12.5 ±6.6 | 0.0 ±0.0
    GRU +Attn -Dep   | 100.0 ±0.0 | 51.2 ±1.2 | 17.8 ±1.7 |  2.0 ±1.4 | 90.8 ±3.6  | 16.9 ±1.2 |  0.7 ±0.4 | 0.0 ±0.0
    L&B best         |  99.8      | -         | 20.8      | -         | 90.3       | -         |  1.2      | -
    L&B best overall |  99.7      | -         | 13.8      | -         | 90.0       | -         |  0.1      | -
    """,  # noqa: E501 - as wide as the page
    table_1,
    differences="On turn_left seeds vary widely, here and in the paper. The authors' loss ignores"
    " tokens after the network's first end symbol; here every token counts. The differences of RNN"
    " and of GRU +Attn -Dep are not explained yet.",
)

TABLE_2 = _table(
    2,
    "Test scores on the jump task with additional commands",
    ADDED[1:],
    """
    RNN +Attn SCAN      | 35.0 ±2.8  | 48.6 ±8.1  | 77.6 ±2.6 | 89.2 ±3.8 | 98.7 ±1.3 |  99.8 ±0.1
    RNN +Attn -Dep SCAN | 29.5 ±10.5 | 53.3 ±10.2 | 82.4 ±4.7 | 98.8 ±0.8 | 99.8 ±0.1 | 100.0 ±0.0
    GRU +Attn SCAN      | 58.2 ±12.0 | 67.8 ±3.4  | 80.3 ±7.0 | 88.0 ±6.0 | 98.3 ±1.8 |  99.6 ±0.2
    GRU +Attn -Dep SCAN | 70.9 ±11.5 | 61.3 ±13.5 | 83.5 ±6.1 | 99.0 ±0.4 | 99.7 ±0.2 | 100.0 ±0.0
    RNN +Attn NACS      |  2.8 ±0.8  |  9.3 ±7.3  | 24.7 ±4.2 | 43.7 ±4.4 | 57.1 ±5.2 |  69.1 ±2.1
    RNN +Attn -Dep NACS |  0.4 ±0.1  |  0.9 ±0.2  |  2.4 ±0.3 |  3.9 ±0.3 |  9.3 ±0.3 |  15.9 ±1.4
    GRU +Attn NACS      |  5.5 ±1.8  |  9.2 ±2.8  | 11.0 ±1.5 | 21.9 ±2.4 | 23.5 ±0.6 |  42.0 ±1.5
    GRU +Attn -Dep NACS |  0.1 ±0.1  |  0.6 ±0.2  |  2.0 ±0.2 |  3.2 ±0.2 |  5.8 ±1.1 |  10.9 ±0.8
    L&B SCAN            |  0.1       |  0.1       |  4.1      | 15.3      | 70.2      |  89.9
    """,
    table_2,
    note="The test set is the same in every column: all composed jump commands except the 32.",
)

TABLE_4 = _table(
    4,
    "SCAN test scores on the simple, length and primitive (turn left and jump) tasks",
    tuple(SPLIT),
    """
    RNN              |  75.6 ±5.4 |  0.2 ±0.0 | 26.7 ±12.8 |  0.0 ±0.0
    GRU              | 100.0 ±0.0 | 14.4 ±0.8 | 53.4 ±11.7 |  0.0 ±0.0
    LSTM             |  99.8 ±0.1 | 10.1 ±2.0 | 56.5 ±0.8  |  0.1 ±0.0
    RNN +Attn        | 100.0 ±0.0 |  9.6 ±0.9 | 81.1 ±14.7 |  1.9 ±1.2
    RNN +Attn-Dep    | 100.0 ±0.0 | 11.7 ±3.2 | 92.0 ±5.8  |  2.7 ±1.7
    GRU +Attn        | 100.0 ±0.0 | 18.1 ±1.1 | 59.1 ±16.8 | 12.5 ±6.6
    GRU +Attn-Dep    | 100.0 ±0.0 | 17.8 ±1.7 | 90.8 ±3.6  |  0.7 ±0.4
    LSTM +Attn       | 100.0 ±0.0 | 15.6 ±1.6 | 83.8 ±16.8 |  9.7 ±2.9
    LSTM +Attn-Dep   | 100.0 ±0.0 | 12.5 ±1.3 | 57.6 ±3.8  |  0.8 ±0.5
    L&B best         |  99.8      | 20.8      | 90.3       |  1.2
    L&B best overall |  99.7      | 13.8      | 90.0       |  0.1
    """,
    on_splits("scan"),
    note="The jump column has 7,706 test commands; column 0 of Table 6 has 7,674 of them. The two"
    " columns print different values for four networks: see Table 6.",
    differences="On turn_left seeds vary widely, here and in the paper. With the authors' loss,"
    " which ignores tokens after the network's first end symbol, the mean is within the published"
    " spread (`variants`). On simple each network misses a few short commands.",
)

TABLE_5 = _table(
    5,
    "NACS test scores on the simple, length and primitive (turn left and jump) tasks",
    tuple(SPLIT),
    """
    RNN            | 26.9 ±0.2 |  0.2 ±0.1 | 26.4 ±12.0 | 0.0 ±0.0
    GRU            | 99.0 ±0.1 | 12.9 ±1.2 | 47.5 ±4.7  | 0.0 ±0.0
    LSTM           | 99.1 ±0.1 | 10.9 ±1.3 | 42.9 ±2.9  | 0.0 ±0.0
    RNN +Attn      | 99.8 ±0.1 | 19.4 ±0.7 | 44.1 ±0.9  | 0.3 ±0.3
    RNN +Attn-Dep  | 61.1 ±0.3 |  0.5 ±0.2 | 18.6 ±1.0  | 0.0 ±0.0
    GRU +Attn      | 99.8 ±0.1 | 17.2 ±1.9 | 55.9 ±3.5  | 0.0 ±0.0
    GRU +Attn-Dep  | 51.2 ±1.2 |  2.0 ±1.4 | 16.9 ±1.2  | 0.0 ±0.0
    LSTM +Attn     | 99.1 ±0.2 | 17.1 ±2.0 | 48.3 ±1.7  | 0.0 ±0.0
    LSTM +Attn-Dep | 38.9 ±0.9 |  1.0 ±0.5 | 17.2 ±1.2  | 0.0 ±0.0
    """,
    on_splits("nacs"),
    differences="The networks were still improving after 50 epochs; the paper does not state how"
    " many it trained. After 150 epochs, without dropout before the output, GRU +Attn-Dep reaches"
    " the published value (`variants`).",
)

TABLE_6 = _table(
    6,
    "SCAN test scores for jump with additional composed commands",
    ADDED,
    """
    RNN            |  0.0 ±0.0 |  0.0 ±0.0  |  0.0 ±0.0  |  0.1 ±0.0  |  0.1 ±0.1 |  0.5 ±0.3 |   1.4 ±0.3
    GRU            |  0.1 ±0.0 |  0.2 ±0.1  |  0.6 ±0.2  |  2.5 ±1.1  |  3.3 ±0.9 | 13.1 ±2.4 |  42.4 ±2.5
    LSTM           |  0.1 ±0.0 |  0.3 ±0.2  |  1.3 ±0.2  |  3.8 ±1.8  |  2.5 ±1.1 |  6.5 ±2.7 |  21.3 ±1.4
    RNN +Attn      |  3.5 ±3.0 | 35.0 ±2.8  | 48.6 ±8.1  | 77.6 ±2.6  | 89.2 ±3.8 | 98.7 ±1.3 |  99.8 ±0.1
    RNN +Attn-Dep  |  2.7 ±1.7 | 29.5 ±10.5 | 53.3 ±10.2 | 82.4 ±4.7  | 98.8 ±0.8 | 99.8 ±0.1 | 100.0 ±0.0
    GRU +Attn      | 12.5 ±6.6 | 58.2 ±12.0 | 67.8 ±3.4  | 80.3 ±7.0  | 88.0 ±6.0 | 98.3 ±1.8 |  99.6 ±0.2
    GRU +Attn-Dep  |  0.7 ±0.4 | 70.9 ±11.5 | 61.3 ±13.5 | 83.5 ±6.1  | 99.0 ±0.4 | 99.7 ±0.2 | 100.0 ±0.0
    LSTM +Attn     |  7.8 ±0.9 | 40.2 ±9.3  | 37.7 ±10.7 | 50.3 ±13.9 | 62.2 ±7.7 | 94.0 ±2.7 |  98.6 ±1.0
    LSTM +Attn-Dep |  0.8 ±0.6 | 39.0 ±6.5  | 43.6 ±17.6 | 66.0 ±1.6  | 86.1 ±2.3 | 98.7 ±1.6 |  99.8 ±0.2
    L&B            |  0.1      |  0.1       |  0.1       |  4.1       | 15.3      | 70.2      |  89.9
    """,  # noqa: E501 - as wide as the page
    on_jumps("scan"),
    note="Column 0 is the jump column of Table 4 with 7,674 instead of 7,706 test commands."
    " The paper disagrees with itself there on GRU (0.1 here, 0.0 there), RNN +Attn"
    " (3.5 ±3.0, 1.9 ±1.2), LSTM +Attn (7.8 ±0.9, 9.7 ±2.9) and the spread of LSTM +Attn-Dep"
    " (0.6, 0.5). The test set is the same in every column.",
)

TABLE_7 = _table(
    7,
    "NACS test scores for jump with additional composed commands",
    ADDED,
    """
    RNN            | 0.0 ±0.0 | 0.1 ±0.0 | 0.1 ±0.1 |  0.2 ±0.0 |  0.7 ±0.2 |  0.4 ±0.0 |  0.8 ±0.1
    GRU            | 0.0 ±0.0 | 0.3 ±0.2 | 0.4 ±0.1 |  0.3 ±0.2 |  1.0 ±0.4 |  5.8 ±0.1 | 20.8 ±2.2
    LSTM           | 0.0 ±0.0 | 0.6 ±0.4 | 0.5 ±0.3 |  0.7 ±0.0 |  1.0 ±0.3 |  3.7 ±0.4 | 11.4 ±1.2
    RNN +Attn      | 0.3 ±0.3 | 2.8 ±0.8 | 9.3 ±7.3 | 24.7 ±4.2 | 43.7 ±4.4 | 57.1 ±5.2 | 69.1 ±2.1
    RNN +Attn-Dep  | 0.0 ±0.0 | 0.4 ±0.1 | 0.9 ±0.2 |  2.4 ±0.3 |  3.9 ±0.3 |  9.3 ±0.3 | 15.9 ±1.4
    GRU +Attn      | 0.0 ±0.0 | 5.5 ±1.8 | 9.2 ±2.8 | 11.0 ±1.5 | 21.9 ±2.4 | 23.5 ±0.6 | 42.0 ±1.5
    GRU +Attn-Dep  | 0.0 ±0.0 | 0.1 ±0.1 | 0.6 ±0.2 |  2.0 ±0.2 |  3.2 ±0.2 |  5.8 ±1.1 | 10.9 ±0.8
    LSTM +Attn     | 0.0 ±0.0 | 2.1 ±0.2 | 3.7 ±0.9 |  6.6 ±0.5 | 12.5 ±2.5 | 21.8 ±2.6 | 34.2 ±1.7
    LSTM +Attn-Dep | 0.0 ±0.0 | 0.4 ±0.2 | 0.9 ±0.1 |  1.5 ±0.2 |  1.9 ±0.3 |  3.2 ±0.6 |  7.4 ±0.9
    """,
    on_jumps("nacs"),
    note="The test set is the same in every column: all composed jump commands except the 32.",
)

PLAIN_READOUT: Mapping[str, Value] = {"pre_output_dropout": False}
VARIED: Mapping[str, tuple[Mapping[str, Value], Mapping[str, Value]]] = {
    "loss masked after own END": ({}, {"mask_loss_after_end": True}),
    "150 epochs": ({}, {"epochs": 150}),
    "150 epochs, loss masked": ({}, {"epochs": 150, "mask_loss_after_end": True}),
    "no dropout before the output": (PLAIN_READOUT, {}),
    "150 epochs, no dropout before the output": (PLAIN_READOUT, {"epochs": 150}),
}
"""Changes to model and training by row.

They are settings of the authors' code that the paper does not state, and settings that the
published runs may have had.
"""


def varied(row: str, column: str) -> RunSpec | None:
    """Return the specification of a cell in a row such as `GRU, 150 epochs`."""
    name, _, change = row.partition(", ")
    language, split = column.split()
    plain = recipe(name, language.lower(), SPLIT[split])
    config, changes = VARIED[change]
    return plain and replace(plain, config={**plain.config, **config}, protocol_changes=changes)


VARIANTS = read_table(
    f"{NAME}/variants",
    "Values of Tables 4 and 5 with settings that the paper does not state",
    ("SCAN turn_left", "NACS simple"),
    """
    GRU +Attn, loss masked after own END                    | 59.1 ±16.8 | -
    GRU, 150 epochs                                         | -          | 99.0 ±0.1
    GRU +Attn, 150 epochs                                   | -          | 99.8 ±0.1
    GRU +Attn-Dep, 150 epochs                               | -          | 51.2 ±1.2
    GRU, 150 epochs, loss masked                            | -          | 99.0 ±0.1
    GRU +Attn, 150 epochs, loss masked                      | -          | 99.8 ±0.1
    GRU +Attn-Dep, 150 epochs, loss masked                  | -          | 51.2 ±1.2
    GRU +Attn-Dep, no dropout before the output             | -          | 51.2 ±1.2
    GRU +Attn-Dep, 150 epochs, no dropout before the output | -          | 51.2 ±1.2
    """,
    varied,
    runs=RUNS,
    note="Not a table of the paper: it tests settings that may explain differences.",
    differences="Training for 150 epochs takes GRU above the published value and GRU +Attn-Dep a"
    " few points below. Neither the authors' loss nor the official draw closes that gap. Leaving"
    " out the dropout before the output does.",
    is_printed=False,
)

DIRECTIONS = {"En-Fr": "translation/daxy", "Fr-En": "translation/daxy_fr_en"}


def on_translation(test: str) -> SpecOf:
    """Return the specifications of a table on one test of the translation experiment."""

    def spec_of(row: str, column: str) -> RunSpec:
        return RunSpec(
            task=DIRECTIONS[column],
            model="seq2seq",
            config=network(row) or {},
            protocol=NAME,
            metric="bleu" if test == "sentences" else "exact",
            data={"sentences": "released"},
            test=test,
        )

    return spec_of


RELEASED = "Trained on the authors' selection of Tatoeba's sentences: --official DIR."
OTHER_TRANSLATIONS = (
    "Most errors into French are other correct translations: `vous etes` where the test expects"
    " `tu es`."
)


def _translated(
    number: int, title: str, test: str, text: str, *, note: str = "", differences: str = ""
) -> Table:
    counted = COUNTED if test == "sentences" else ""
    return _table(
        number,
        title,
        tuple(DIRECTIONS),
        text,
        on_translation(test),
        note=" ".join(filter(None, (RELEASED, note, counted))),
        differences=differences,
    )


TABLE_3 = _translated(
    3,
    "BLEU on the machine translation experiment",
    "sentences",
    """
    GRU +Attn      | 32.1 ±0.3 | 37.5 ±0.6
    GRU +Attn -Dep | 30.2 ±0.3 | 35.9 ±0.3
    """,
)

TABLE_8 = _translated(
    8,
    "BLEU on the machine translation experiment, for every recurrent unit",
    "sentences",
    """
    RNN +Attn      | 29.1 ±0.4 | 34.9 ±0.8
    RNN +Attn-Dep  | 27.5 ±0.7 | 32.9 ±0.8
    GRU +Attn      | 32.1 ±0.3 | 37.5 ±0.6
    GRU +Attn-Dep  | 30.2 ±0.3 | 35.9 ±0.3
    LSTM +Attn     | 31.5 ±0.2 | 36.9 ±1.1
    LSTM +Attn-Dep | 28.7 ±0.2 | 34.0 ±0.1
    """,
    note="The paper does not state its tokenisation or its selection score. Here BLEU on the"
    " validation set selects.",
)

TABLE_9 = _translated(
    9,
    "Accuracy on eight new sentences with `daxy` (`daxiste`)",
    "new_word",
    """
    RNN +Attn      | 79.2 ±15.6 | 41.7 ±5.9
    RNN +Attn-Dep  | 66.7 ±5.9  | 41.7 ±5.9
    GRU +Attn      | 70.8 ±11.8 | 54.2 ±5.9
    GRU +Attn-Dep  | 58.3 ±5.9  | 45.8 ±11.8
    LSTM +Attn     | 75.0 ±10.2 | 41.7 ±15.6
    LSTM +Attn-Dep | 50.0 ±10.2 | 41.7 ±5.9
    """,
    differences=f"{OTHER_TRANSLATIONS} Into English, GRU +Attn says `you re` where the test"
    " expects `you are`; the short form is far more frequent in train. Some errors with the new"
    " word are real, such as a lost negation.",
)

TABLE_10 = _translated(
    10,
    "Accuracy on the same eight sentences with `tired` (`fatigue`)",
    "control",
    """
    RNN +Attn      | 66.7 ±5.9 | 20.8 ±5.9
    RNN +Attn-Dep  | 66.7 ±5.9 | 29.2 ±15.6
    GRU +Attn      | 62.5 ±0.0 | 33.3 ±5.9
    GRU +Attn-Dep  | 66.7 ±5.9 | 25.0 ±20.4
    LSTM +Attn     | 66.7 ±5.9 | 25.0 ±10.2
    LSTM +Attn-Dep | 62.5 ±0.0 | 25.0 ±17.7
    """,
    differences=f"{OTHER_TRANSLATIONS} Into English, GRU +Attn says `you re tired` in nearly every"
    " sentence; the test expects `you are tired`.",
)

PAPER = Paper(
    name=NAME,
    title="Jump to better conclusions: SCAN both left and right",
    authors=("Bastings", "Baroni", "Weston", "Cho", "Kiela"),
    year=2018,
    venue="EMNLP Workshop BlackboxNLP, 47-55",
    tables=(
        TABLE_1,
        TABLE_2,
        TABLE_3,
        TABLE_4,
        TABLE_5,
        TABLE_6,
        TABLE_7,
        TABLE_8,
        TABLE_9,
        TABLE_10,
        VARIANTS,
    ),
    differences="Seeds vary widely on turn_left; the published NACS values suggest more than 50"
    " epochs; most errors in translation are other correct sentences.",
)
