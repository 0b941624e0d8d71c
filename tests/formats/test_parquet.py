from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import daxy
from daxy.core.errors import DaxyError, WrongFile
from daxy.core.examples import Examples
from daxy.core.split import Split
from daxy.formats import parquet

rows = st.lists(st.tuples(st.lists(st.text()), st.lists(st.text())))


@given(train=rows, test=rows)
def test_what_is_written_is_read_back(
    train: list[tuple[list[str], list[str]]],
    test: list[tuple[list[str], list[str]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.getbasetemp() / "written.parquet"
    parts = {"train": Examples.of(train), "test": Examples.of(test)}
    split = Split.of(
        train=parts["train"],
        validation=parts["train"][:0],
        test=parts["test"],
        task="t",
        rule="r",
        seed=0,
        options={},
    )
    parquet.write(path, parts, split.provenance)
    loaded = {name: list(examples) for name, examples in parquet.read(path).items()}
    assert loaded == {name: list(examples) for name, examples in parts.items() if len(examples)}


def test_anybody_can_read_the_columns(tmp_path: Path) -> None:
    split = daxy.load("scan/filler_num0")
    parquet.write(tmp_path / "a.parquet", split.parts, split.provenance)
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.column_names == ["split", "key", "source", "target"]
    assert table.schema.field("source").type == pa.list_(pa.string())
    last = table.slice(table.num_rows - 1).to_pylist()[0]
    example = split.test[-1]
    assert last == {
        "split": "test",
        "key": example.key,
        "source": list(example.source),
        "target": list(example.target),
    }


def test_a_file_says_where_it_came_from(tmp_path: Path) -> None:
    split = daxy.load("scan/filler_num0", seed=3)
    parquet.write(tmp_path / "a.parquet", split.parts, split.provenance)
    about = parquet.provenance(tmp_path / "a.parquet")
    assert (about["task"], about["seed"]) == ("scan/filler_num0", 3)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1]}, "has no column 'split'; it has 'a'"),
        (
            {"split": ["test"], "source": ["jump"], "target": [["I_JUMP"]]},
            "column 'source' is string; expected lists of strings without nulls",
        ),
        (
            {"split": ["test"], "source": [["jump", None]], "target": [["I_JUMP"]]},
            "column 'source' is list<element: string>; expected lists of strings without nulls",
        ),
    ],
)
def test_a_table_with_other_columns_is_refused(
    columns: dict[str, list[object]], message: str, tmp_path: Path
) -> None:
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(WrongFile) as caught:
        parquet.read(tmp_path / "a.parquet")
    assert str(caught.value) == f"{tmp_path / 'a.parquet'}: {message}"


@given(content=st.binary() | st.binary().map(lambda b: b"PAR1" + b + b"PAR1"))
def test_any_bytes_are_refused_in_one_line(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.parquet"
    path.write_bytes(content)
    for read in (parquet.read, parquet.provenance):
        with pytest.raises(DaxyError) as caught:
            read(path)
        assert len(str(caught.value).splitlines()) == 1
