import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

import daxy
from daxy import tasks
from daxy.core.errors import WrongFile, WrongRequest
from daxy.core.examples import Sequences
from daxy.tasks import Choices


def test_importing_daxy_imports_nothing_heavy() -> None:
    code = "import daxy, sys; print({'numpy', 'jax', 'pyarrow', 'tyro'} & set(sys.modules))"
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert asked.stdout == "set()\n"


def test_the_data_side_never_imports_jax() -> None:
    code = (
        "import daxy, sys; split = daxy.load('nacs/length');"
        "daxy.score('nacs/length', list(split.test.target));"
        "import daxy.formats.parquet, daxy.formats.predictions;"
        "print({'jax', 'equinox'} & set(sys.modules))"
    )
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert asked.stdout == "set()\n"


def test_perfect_predictions_score_one_however_they_are_given(tmp_path: Path) -> None:
    test = daxy.load("scan/filler_num0").test
    by_key = {example.key: " ".join(example.target) for example in test}
    scored = daxy.score("scan/filler_num0", by_key)
    assert scored.accuracy == 1.0
    assert scored.right.all()
    assert sum(count for count, _ in scored.by_length().values()) == 1173
    assert daxy.score("scan/filler_num0", [example.target for example in test]).accuracy == 1.0
    assert daxy.score("scan/filler_num0", test.target).accuracy == 1.0


def test_a_figure_of_a_whole_corpus_is_that_by_length_too() -> None:
    task, test = "translation/daxy", daxy.load("translation/daxy").test
    said = [example.target[:-2] + example.target[-1:] for example in test]
    scored = daxy.score(task, said)
    assert scored.metric == "bleu"
    rows = np.flatnonzero(test.target.lengths == 5)
    bleu = tasks.get(task).total("bleu", test.take(rows), Sequences.of(said).take(rows))
    assert scored.by_length()[5] == (len(rows), bleu)
    assert bleu != pytest.approx(scored.right[rows].mean())


def test_one_wrong_prediction_costs_one_example() -> None:
    test = daxy.load("scan/filler_num0").test
    given = [*list(test.target)[:-1], "I_JUMP"]
    assert daxy.score("scan/filler_num0", given).accuracy == pytest.approx(1172 / 1173)


def test_a_split_of_another_seed_can_be_scored() -> None:
    split = daxy.load("scan/simple", seed=9)
    assert daxy.score("scan/simple", list(split.test.target), split=split).accuracy == 1.0
    assert daxy.score("scan/simple", list(split.test.target)).accuracy < 1.0


def test_predictions_that_do_not_fit_the_test_set_are_refused() -> None:
    with pytest.raises(WrongRequest, match="2 predictions for 1,173 test examples"):
        daxy.score("scan/filler_num0", ["", ""])
    with pytest.raises(WrongRequest, match="1 predictions are for no test example: 'x'"):
        daxy.score("scan/filler_num0", {"x": ""})
    with pytest.raises(WrongRequest, match="1173 predictions are missing"):
        daxy.score("scan/filler_num0", {})


def test_a_table_is_no_list_of_predictions() -> None:
    """Iterating over a data frame gives the names of its columns."""

    class Frame(list[str]):
        columns = ("prediction",)

    with pytest.raises(WrongRequest, match="are a table; expected a column of it"):
        daxy.score("scan/filler_num0", Frame(["prediction"]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("daxy.load('scan/simple', seed='x')", "seed must be a whole number, not 'x'"),
        ("daxy.load('scan/simple', oversample=1)", "oversample must be True or False, not 1"),
        (
            "daxy.load('scan/simple', validation='random')",
            "validation must be one of 'published', 'draw', 'dab', 'length', 'none',"
            " 'released-random', 'released-dab', 'released-length', not 'random'",
        ),
        (
            "daxy.train('scan/simple', config={'hiden': 3})",
            "no setting of model seq2seq named 'hiden'; did you mean hidden?",
        ),
        (
            "daxy.train('scan/simple', config={'hidden': 3.5})",
            "hidden must be a whole number, not 3.5",
        ),
        ("daxy.train('scan/simple', seeds=0)", "seeds must be positive, not 0"),
        (
            "daxy.score('scan/filler_num0', [['I_JUMP', 3]] * 1173)",
            "a prediction has 3; expected tokens as texts; decode token ids with the"
            " model's vocabulary",
        ),
        (
            "daxy.score('scan/filler_num0', [['I_JUMP I_JUMP']] * 1173)",
            "a prediction has 'I_JUMP I_JUMP', which is not one token",
        ),
        ("daxy.score('scan/filler_num0', [3] * 1173)", "a prediction is 3; expected tokens"),
        (
            "daxy.score('scan/filler_num0', None)",
            "predictions must be a Mapping or a Iterable or a Sequences or a path or a text,"
            " not None",
        ),
        (
            "daxy.score('scan/filler_num0', {}, split='test')",
            "split must be a Split or None, not 'test'",
        ),
        (
            "daxy.score('scan/length', [], split=daxy.load('scan/filler_num0'))",
            "this split is of scan/filler_num0; expected one of scan/length",
        ),
        ("daxy.load(5)", "task must be a text, not 5"),
        (
            "daxy.load('scan/length', official=5)",
            "official must be a path or a text or None, not 5",
        ),
        (
            "daxy.train('scan/simple', seeds='3')",
            "seeds must be a whole number or several, not '3'",
        ),
        (
            "daxy.train('scan/simple', training=5)",
            "training must be a TrainingConfig or a text or None, not 5",
        ),
        (
            "daxy.train('scan/simple', config=4)",
            "config must be a Mapping or None, not 4",
        ),
    ],
)
def test_a_wrong_value_is_refused_where_annotations_are_not_checked(
    call: str, message: str, refusal: Callable[[str], str]
) -> None:
    assert refusal(f"import daxy; {call}") == message


def test_predictions_may_come_one_by_one() -> None:
    test = daxy.load("scan/filler_num0").test
    assert daxy.score("scan/filler_num0", (example.target for example in test)).accuracy == 1.0


def test_a_seed_may_be_a_number_of_numpy() -> None:
    seed: Any = np.int64(3)
    ours = daxy.load("scan/simple", seed=3)
    assert daxy.load("scan/simple", seed=seed).provenance == ours.provenance


def test_an_unknown_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        daxy.lode  # noqa: B018


@pytest.mark.parametrize(
    "ask",
    [
        lambda: daxy.load("scan/simple", official="x" * 5_000),
        lambda: daxy.score("scan/simple", "x" * 5_000),
        lambda: daxy.score("scan/simple", [], order="x" * 5_000),
    ],
)
def test_a_path_that_no_file_can_have_is_refused_in_a_short_line(ask: Callable[[], Any]) -> None:
    with pytest.raises(WrongFile, match="File name too long") as refused:
        ask()
    assert len(str(refused.value)) < 300


def test_the_types_of_choices_are_those_of_every_benchmark() -> None:
    # Type checkers read `Choices` for `load` and `data`; values are checked by the data classes.
    known = dict[str, set[Any]]()
    generated = [name for name in daxy.tasks.available() if daxy.tasks.get(name).is_generated]
    for task in generated:  # `daxy.pairs` has arguments of its own
        kind = daxy.tasks.get(task).options
        hints = get_type_hints(kind)
        for each in fields(kind):
            known.setdefault(each.name, set()).update(_alternatives(hints[each.name]))
    assert known.pop("seed") == {int}
    assert known.pop("official") == {Path, NoneType}
    typed = {name: _alternatives(hint) for name, hint in get_type_hints(Choices).items()}
    assert typed == known


def _alternatives(hint: Any) -> set[Any]:
    """The types of a union, or the values of a `Literal`, or the type alone."""
    return set(get_args(hint)) or {hint}
