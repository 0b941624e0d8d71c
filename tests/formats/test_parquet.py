import contextlib
from collections.abc import Callable
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


@pytest.mark.parametrize(
    "read", [parquet.read, parquet.Stored, lambda path: parquet.load(path, ())]
)
def test_a_column_that_is_there_twice_is_refused(read: Callable, tmp_path: Path) -> None:
    columns = {"split": ["test"], "source": [["jump"]], "target": [["I_JUMP"]]}
    arrays = [pa.array(each) for each in (*columns.values(), [["walk"]])]
    table = pa.Table.from_arrays(arrays, names=[*columns, "source"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(WrongFile, match="has 2 columns 'source'; expected one"):
        read(tmp_path / "a.parquet")


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


@pytest.fixture(scope="module")
def grounded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    split = daxy.load("gscan/length", grid=4, resampling=1, kind="simple_intrans", max_length=5)
    path = tmp_path_factory.mktemp("grounded") / "a.parquet"
    parquet.write(path, split.named, split.provenance)
    return path


def test_a_part_is_read_without_the_others(grounded: Path) -> None:
    split = daxy.load("gscan/length", grid=4, resampling=1, kind="simple_intrans", max_length=5)
    stored = parquet.Stored(grounded)
    assert list(stored) == ["train", "validation", "A", "I"]
    assert stored.counts == {name: len(part) for name, part in split.named.items()}
    assert stored["I"].keys == split.named["I"].keys
    assert stored.provenance["checksum"] == split.provenance.checksum
    with pytest.raises(DaxyError, match="no part named 'J'"):
        _ = stored["J"]


def test_a_file_that_mixes_its_parts_is_read_at_once_alone(tmp_path: Path) -> None:
    columns = {"split": ["a", "b"], "source": [["x"], ["y"]], "target": [["z"], ["z"]]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    assert set(parquet.read(tmp_path / "a.parquet")) == {"a", "b"}
    with pytest.raises(WrongFile, match="mixes its parts; `read` reads it, all at once"):
        parquet.Stored(tmp_path / "a.parquet")


def test_anybody_can_read_the_worlds(grounded: Path) -> None:
    row = pq.read_table(grounded).to_pylist()[0]
    example = parquet.Stored(grounded)["train"][0]
    assert example.world is not None
    world = example.world
    assert (row["grid"], row["agent_row"], row["agent_column"]) == (world.size, *world.agent)
    assert row["heading"] == "east"
    assert row["things"] == [{**thing._asdict(), **cell._asdict()} for thing, cell in world.placed]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("things", {"color": "purple"}, "row 2: color is none of red, green, yellow, blue"),
        ("things", {"size": 5}, "row 2: a thing's size is none of 1 to 4"),
        ("things", {"row": 4}, "row 2: a thing is outside the grid"),
        ("things", {"row": -1}, "row 2: row of a thing is not from 0 to 255"),
        ("agent_row", 4, "row 2: the agent is outside the grid"),
        ("heading", "up", "row 2: heading is none of east, south, west, north"),
        ("heading", None, "heading has nulls"),
        ("grid", None, "grid is int64; expected whole numbers without nulls"),
    ],
)
def test_a_world_that_cannot_be_is_refused(
    column: str, value: object, message: str, grounded: Path, tmp_path: Path
) -> None:
    rows = pq.read_table(grounded).to_pylist()[:3]
    if isinstance(value, dict):
        rows[1]["things"][0].update(value)
    else:
        rows[1][column] = value
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    with pytest.raises(WrongFile, match=message):
        parquet.read(tmp_path / "a.parquet")


def test_two_things_on_a_cell_are_refused(grounded: Path, tmp_path: Path) -> None:
    rows = pq.read_table(grounded).to_pylist()[:3]
    rows[1]["things"].append(rows[1]["things"][0])
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    with pytest.raises(WrongFile, match="row 2: two things share a cell"):
        parquet.read(tmp_path / "a.parquet")


def test_things_that_say_twice_what_they_are_are_refused(grounded: Path, tmp_path: Path) -> None:
    table = pq.read_table(grounded).slice(0, 1)
    things = table.column("things").combine_chunks()
    flat = things.flatten()
    names = [field.name for field in flat.type]
    twice = pa.StructArray.from_arrays([*flat.flatten(), flat.field("shape")], [*names, "shape"])
    column = pa.ListArray.from_arrays(things.offsets, twice)
    place = table.column_names.index("things")
    pq.write_table(table.set_column(place, "things", column), tmp_path / "a.parquet")
    with pytest.raises(WrongFile, match="the structs of column 'things' have 2 'shape'"):
        parquet.read(tmp_path / "a.parquet")


def test_a_table_with_half_a_world_is_refused(grounded: Path, tmp_path: Path) -> None:
    table = pq.read_table(grounded)
    pq.write_table(table.drop_columns("agent_row"), tmp_path / "a.parquet")
    with pytest.raises(WrongFile, match="has no column 'agent_row' beside the other"):
        parquet.read(tmp_path / "a.parquet")


def test_a_byte_that_has_changed_is_found(grounded: Path, tmp_path: Path) -> None:
    """Pages have checksums, and what is around them is parsed: nothing changes unseen."""
    data = grounded.read_bytes()
    whole = {name: part.keys for name, part in parquet.read(grounded).items()}
    for place in range(4, len(data), len(data) // 40):
        path = tmp_path / f"{place}.parquet"
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :])
        with contextlib.suppress(WrongFile):
            assert {name: part.keys for name, part in parquet.read(path).items()} == whole


def test_lists_as_other_libraries_write_them_are_read(tmp_path: Path) -> None:
    kind = pa.large_list(pa.large_string())
    columns = {
        "source": pa.array([["jump", "left"]], kind),
        "target": pa.array([["I_TURN_LEFT", "I_JUMP"]], kind),
        "split": pa.array(["test"]),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    (example,) = parquet.Stored(tmp_path / "a.parquet")["test"]
    assert example.source == ("jump", "left")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"split": None}, "column 'split' has nulls"),
        ({"things": []}, "row 1: a world has no things"),
        ({"things": None}, "column 'things' has nulls"),
    ],
)
def test_a_row_without_what_it_needs_is_refused(
    change: dict[str, object], message: str, grounded: Path, tmp_path: Path
) -> None:
    rows = pq.read_table(grounded).to_pylist()[:3]
    rows[0].update(change)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    with pytest.raises(WrongFile, match=message):
        parquet.read(tmp_path / "a.parquet")


def test_a_part_of_several_groups_of_rows_is_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "ROWS", 100)
    path = tmp_path / "a.parquet"
    for name, choices in (
        ("gscan/length", {"grid": 4, "resampling": 1, "kind": "simple_trans", "max_length": 5}),
        ("scan/simple_p1", {"validation": "draw"}),
    ):
        split = daxy.load(name, **choices)
        parquet.write(path, split.named, split.provenance)
        assert pq.ParquetFile(path).metadata.num_row_groups > len(split.named)
        stored, whole = parquet.Stored(path), parquet.read(path)
        for part, examples in split.named.items():
            assert stored[part].keys == whole[part].keys == examples.keys


def repeated(values: pa.Array, rows: int) -> pa.Array:
    """Return one value that many rows have, which takes the room of one in a file."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), values)


@pytest.mark.parametrize("column", ["key", "prediction"])
def test_text_that_expands_to_too_much_is_refused_with_the_limit(
    column: str, tmp_path: Path
) -> None:
    rows = 2_000
    text = repeated(pa.array(["a" * 1_000_000]), rows)
    as_list = pa.ListArray.from_arrays(pa.array(range(rows + 1), pa.int32()), text)
    columns = {"key": pa.array(["a"] * rows), "prediction": pa.array([["a"]] * rows)}
    columns[column] = text if column == "key" else as_list
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 100_000
    expected = f"column '{column}' has more than 1,073,741,824 bytes of text; at most that many"
    with pytest.raises(WrongFile, match=expected):
        parquet.load(path, ("prediction",))


def test_too_many_rows_are_refused_with_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"prediction": [["a", "b"]] * 60}), path)
    monkeypatch.setattr(parquet, "MOST_VALUES", 120)
    assert len(parquet.load(path, ("prediction",))) == 60
    monkeypatch.setattr(parquet, "MOST_VALUES", 100)
    problem = "has 120 values in 'prediction.list.element'; at most 100 are read"
    with pytest.raises(WrongFile, match=problem):
        parquet.load(path, ("prediction",))


def test_text_is_given_as_it_was_written(tmp_path: Path) -> None:
    columns = {
        "key": ["a", None, "a"],
        "prediction": [["a", "é"], [], None],
        "more": [{"said": "a"}, {"said": None}, None],
    }
    table = pa.table(columns)
    pq.write_table(table, tmp_path / "a.parquet")
    loaded = parquet.load(tmp_path / "a.parquet", ("prediction",))
    assert loaded.to_pylist() == table.to_pylist()
    assert loaded.schema.equals(pq.read_schema(tmp_path / "a.parquet"))


@pytest.mark.parametrize(
    ("content", "noun"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", "a Git LFS pointer"),
        (b'{"key": "a", "prediction": "I_JUMP"}\n', "JSON lines"),
        (b"\x1f\x8b\x08\x00", "compressed by gzip"),
    ],
)
def test_another_kind_of_file_is_named(content: bytes, noun: str, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(content)
    for read in (parquet.read, parquet.Stored, parquet.provenance):
        with pytest.raises(WrongFile, match=f"a.parquet: is {noun}.*; expected a Parquet file"):
            read(tmp_path / "a.parquet")
