"""The footer of a Parquet file is read as PyArrow reads it, and a damaged one ends no process."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from daxy.formats import _parquet_footer

TABLE = pa.table(
    {
        "split": ["test"] * 5,
        "source": [["a", "b"], [], ["c"], ["a"], ["b"]],
        "n": [1, None, 3, 4, 5],
    }
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pq.write_table(TABLE, tmp_path / "a.parquet", row_group_size=2)
    return tmp_path / "a.parquet"


def test_the_footer_says_what_pyarrow_says(path: Path) -> None:
    groups, metadata = _parquet_footer.groups(path), pq.read_metadata(path)
    assert [group.rows for group in groups] == [2, 2, 1]
    for place, group in enumerate(groups):
        columns = [metadata.row_group(place).column(number) for number in range(3)]
        values = {each.path_in_schema: each.num_values for each in columns}
        assert {name: column.values for name, column in group.columns.items()} == values
        assert group.columns["split"].only == "test"


@pytest.mark.parametrize(
    ("texts", "only"),
    [(["a", "a"], "a"), (["a", "b"], None), (["a", None], None), (["x" * 5000] * 2, None)],
)
def test_one_text_is_told_from_several(
    texts: list[str | None], only: str | None, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"split": texts}), tmp_path / "a.parquet")
    (group,) = _parquet_footer.groups(tmp_path / "a.parquet")
    assert group.columns["split"].only == only


def test_columns_of_numbers_and_bytes_have_no_text(tmp_path: Path) -> None:
    """A score that every prediction has is a constant column: 1.0 has bytes that are no UTF-8."""
    columns = {"fine": [1.0, 1.0], "exact": [True, True], "raw": [b"\xf0?", b"\xf0?"]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    (group,) = _parquet_footer.groups(tmp_path / "a.parquet")
    assert {name: column.only for name, column in group.columns.items()} == dict.fromkeys(columns)


EVERY_BYTE = """
import sys
from pathlib import Path
from daxy.core.errors import DaxyError
from daxy.formats import parquet

path = Path(sys.argv[1])
whole = path.read_bytes()
for at in range(len(whole) - 8 - int.from_bytes(whole[-8:-4], "little"), len(whole)):
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 5]) + whole[at + 1 :])
    for read in (lambda path: parquet.load(path, ("split",)), parquet.Stored):
        try:
            read(path)
        except DaxyError:
            pass
print("alive")
"""


@pytest.mark.parametrize(("rows", "is_number"), [(b"\x26\x02", True), (b"\x28\x01x", False)])
def test_a_count_that_is_no_number_is_refused(rows: bytes, is_number: bool, tmp_path: Path) -> None:
    """Field 4 is a list of one struct: no columns (field 1), and how many rows (field 3)."""
    footer = b"\x49\x1c" + b"\x19\x0c" + rows + b"\x00" + b"\x00"
    file = tmp_path / "a.parquet"
    file.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    if is_number:
        assert [group.rows for group in _parquet_footer.groups(file)] == [1]
    else:
        with pytest.raises(ValueError, match="the footer is damaged"):
            _parquet_footer.groups(file)


def test_no_damaged_byte_of_a_footer_ends_the_process(path: Path) -> None:
    words = [sys.executable, "-c", EVERY_BYTE, str(path)]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "alive\n"), ended.stderr[-500:]
