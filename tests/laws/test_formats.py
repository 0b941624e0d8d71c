"""What holds for every file format there is, and for every one that is added."""

from pathlib import Path

import pytest

import daxy
from daxy import formats, testing
from daxy.core.errors import UnknownName
from daxy.core.split import Split
from daxy.formats import TextFormat

NAMES = formats.available()


@pytest.fixture(scope="module")
def split() -> Split:
    return daxy.load("scan/filler_num0")


@pytest.fixture(scope="module")
def grounded() -> Split:
    choices = {"grid": 4, "resampling": 1, "kind": "simple_trans", "max_length": 5}
    return daxy.load("gscan/length", **choices)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read_again(
    name: str, split: Split, grounded: Split, tmp_path: Path
) -> None:
    form = formats.get(name)
    assert formats.FORMATS.summary(name.replace("-", "_"))
    testing.written_and_read(form, grounded if form.owner else split, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_worlds_are_kept_or_refused(name: str, grounded: Split, tmp_path: Path) -> None:
    testing.written_and_read(formats.get(name), grounded, tmp_path)


def test_a_name_asks_for_its_format() -> None:
    assert {formats.of_suffix(formats.get(name).suffix) for name in NAMES} >= {"tsv", "jsonl"}
    assert formats.of_suffix(".csv") is None
    with pytest.raises(UnknownName, match="no format named 'scan-tex'; did you mean scan-text?"):
        formats.get("scan-tex")
    assert {name for name in NAMES if not isinstance(formats.get(name), TextFormat)} == {
        "gscan-json",
        "hub",
        "parallel",
        "parquet",
    }
