import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.core.errors import DaxyError, WrongFile
from daxy.core.examples import Examples, Sequences
from daxy.formats import predictions

# As in NACS, the first two have the same source.
EXAMPLES = Examples.of(
    [
        (["I_JUMP", "I_JUMP"], ["jump", "twice"]),
        (["I_JUMP", "I_JUMP"], ["jump", "and", "jump"]),
        (["I_WALK"], ["walk"]),
    ]
)
FIRST, SECOND, THIRD = EXAMPLES.keys
PARTIAL = "--partial scores those that are there"


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("p.jsonl")


def test_predictions_by_key_come_in_the_order_of_the_examples(path: Path) -> None:
    lines(
        path,
        {"key": THIRD, "prediction": "walk"},
        {"key": FIRST, "prediction": ["jump", "twice"]},
        {"key": SECOND, "prediction": ""},
    )
    assert list(predictions.read(path, EXAMPLES).predictions) == [("jump", "twice"), (), ("walk",)]


def test_one_prediction_by_source_counts_for_all_its_examples(path: Path) -> None:
    lines(
        path,
        {"source": "I_WALK", "prediction": "walk"},
        {"source": ["I_JUMP", "I_JUMP"], "prediction": "jump twice"},
    )
    assert list(predictions.read(path, EXAMPLES).predictions) == [("jump", "twice")] * 2 + [
        ("walk",)
    ]


@pytest.mark.parametrize("name", ["p.parquet", "p.jsonl"])
def test_what_is_written_of_a_test_with_repeats_is_read_again(name: str, tmp_path: Path) -> None:
    rows = [0, 2, 0, 1]
    examples = EXAMPLES.take(rows)
    said = Sequences.of([("a",), ("b", "c"), ("a",), ()])
    scores = {"exact": np.zeros(len(rows))}
    predictions.write(tmp_path / name, examples, said, scores)
    assert list(predictions.read(tmp_path / name, examples).predictions) == list(said)
    # More of it, or another prediction of the same example, is one too many.
    more = examples.take([*range(len(rows)), 0])
    longer = Sequences.of([*said, ("a",)])
    predictions.write(tmp_path / name, more, longer, {"exact": np.zeros(len(more))})
    with pytest.raises(WrongFile, match=":5: .* was already given on line 1; one row is for all"):
        predictions.read(tmp_path / name, examples)
    other = Sequences.of([("a",), ("b", "c"), ("x",), ()])
    predictions.write(tmp_path / name, examples, other, scores)
    with pytest.raises(WrongFile, match="was already given on line 1; one row is for all"):
        predictions.read(tmp_path / name, examples)


def test_a_parquet_file_is_read_as_well(tmp_path: Path) -> None:
    table = pa.table({"key": list(EXAMPLES.keys), "prediction": ["a", "b c", ""]})
    pq.write_table(table, tmp_path / "p.parquet")
    read = predictions.read(tmp_path / "p.parquet", EXAMPLES).predictions
    assert list(read) == [("a",), ("b", "c"), ()]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (
            [{"key": FIRST, "prediction": "x"}] * 2,
            f"p.jsonl:2: '{FIRST}' was already given on line 1",
        ),
        (
            [{"key": FIRST, "prediction": "x"}],
            f"p.jsonl: 2 of 3 predictions are missing: '{SECOND}', '{THIRD}'; {PARTIAL}",
        ),
        (
            [{"source": "I_JUMP I_JUMP", "prediction": "x"}],
            "p.jsonl: 1 of 2 predictions are missing: 'I_WALK'; " + PARTIAL,
        ),
        (
            [{"key": key, "prediction": "x"} for key in (FIRST, "a", "b", "c", "d")],
            "p.jsonl: 4 of 5 rows are for no test example: "
            "'a' (line 2), 'b' (line 3), 'c' (line 4);"
            " are these predictions for other choices of the data?",
        ),
        (
            [
                {"key": FIRST, "source": "I_JUMP I_JUMP", "prediction": "x"},
                {"key": SECOND, "source": "I_WALK", "prediction": "x"},
                {"key": THIRD, "prediction": "x"},
            ],
            f"p.jsonl:2: the source of '{SECOND}' is 'I_JUMP I_JUMP', not 'I_WALK'",
        ),
        ([{"prediction": "x"}], "p.jsonl:1: no `key` or `source` in {'prediction': 'x'}"),
        ([{"key": FIRST}], f"p.jsonl:1: no `prediction` in {{'key': '{FIRST}'}}"),
        (
            [{"key": FIRST, "prediction": "x"}, {"source": "I_WALK", "prediction": "x"}],
            "p.jsonl:2: no `key` in {'source': 'I_WALK', 'prediction': 'x'}",
        ),
        (
            [{"source": "I_WALK", "prediction": "x"}, {"key": FIRST, "source": "I_JUMP"}],
            "p.jsonl:2: has a `key`, and line 1 has none",
        ),
        (
            [{"key": FIRST, "prediction": 3}],
            "p.jsonl:1: 'prediction' is 3; expected a string or a list of strings",
        ),
        (
            [{"key": FIRST, "prediction": ["a", 3]}],
            "p.jsonl:1: 'prediction' is ['a', 3]; expected a string or a list of strings",
        ),
        (
            [{"key": FIRST, "prediction": ["a", "b c"]}],
            "p.jsonl:1: 'prediction' has 'b c', which is not one token",
        ),
        (
            [{"key": FIRST, "prediction": ["a", ""]}],
            "p.jsonl:1: 'prediction' has '', which is not one token",
        ),
    ],
)
def test_a_score_counts_every_example_exactly_once(
    records: list[dict[str, Any]], message: str, path: Path
) -> None:
    lines(path, *records)
    with pytest.raises(WrongFile) as caught:
        predictions.read(path, EXAMPLES)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["scored.jsonl", "scored.parquet"])
def test_scored_predictions_are_predictions_again(name: str, tmp_path: Path) -> None:
    given_ = Sequences.of([["jump", "twice"], [], ["walk", "twice"]])
    scores = {"exact": np.array([True, False, False])}
    predictions.write(tmp_path / name, EXAMPLES, given_, scores)
    assert list(predictions.read(tmp_path / name, EXAMPLES).predictions) == list(given_)
    if name.endswith("parquet"):
        table = pq.read_table(tmp_path / name)
        assert table.column("exact").to_pylist() == [True, False, False]
    else:
        first = json.loads((tmp_path / name).read_text().splitlines()[0])
        assert first["exact"] is True


def test_predictions_without_the_spaced_tokens_of_the_examples_are_read_back(path: Path) -> None:
    # A string of such a file has commas between tokens: "walk walk" would be one of them.
    examples = Examples.of([(["go"], ["turn left", "walk"])])
    said = Sequences.of([("walk", "walk")])
    predictions.write(path, examples, said, {"exact": np.zeros(1)})
    assert json.loads(path.read_text())["prediction"] == ["walk", "walk"]
    assert list(predictions.read(path, examples).predictions) == list(said)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=2)
)


@given(
    records=st.lists(
        st.dictionaries(st.sampled_from(["key", "source", "prediction"]), anything), max_size=3
    )
)
def test_any_objects_are_read_or_refused_in_one_line(
    records: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = lines(tmp_path_factory.getbasetemp() / "any.jsonl", *records)
    with pytest.raises(DaxyError) as caught:
        predictions.read(path, EXAMPLES)
    assert len(str(caught.value).splitlines()) == 1
