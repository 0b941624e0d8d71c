"""What holds for every file format there is, and for every one that is added."""

from pathlib import Path

import pytest

import daxy
from daxy import formats
from daxy.core.errors import UnknownName, WrongRequest
from daxy.core.split import Split
from daxy.formats import Format, TextFormat, pairs

NAMES = formats.available()


@pytest.fixture(scope="module")
def split() -> Split:
    return daxy.load("scan/filler_num0")


@pytest.fixture(scope="module")
def grounded() -> Split:
    choices = {"grid": 4, "resampling": 1, "kind": "simple_trans", "max_length": 5}
    return daxy.load("gscan/length", **choices)


def given(form: Format, split: Split, grounded: Split) -> Split:
    return grounded if form.owner else split


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_read_again(
    name: str, split: Split, grounded: Split, tmp_path: Path
) -> None:
    form = formats.get(name)
    assert form.name == name
    assert formats.FORMATS.summary(name.replace("-", "_"))
    asked = given(form, split, grounded)
    path = tmp_path / f"file{form.suffix}"
    parts = {"test": asked.test} if not form.has_parts else asked.named
    form.write(path, parts, asked.provenance)
    assert all(file.is_file() for file in form.files(path))
    read = pairs.read(path)
    assert read.form == name
    wanted = [key for part in parts.values() for key in part.keys]
    found = [key for part in form.read(path).values() for key in part.keys]
    assert sorted(found) == sorted(wanted)
    assert found == [key for part in read.parts.values() for key in part.keys]
    if form.has_parts:
        assert len([part for part in read.parts.values() if len(part)]) > 1


@pytest.mark.parametrize("name", NAMES)
def test_worlds_are_kept_or_refused(
    name: str, split: Split, grounded: Split, tmp_path: Path
) -> None:
    form, path = formats.get(name), tmp_path / "file"
    some = {"train": grounded.train[:50]}
    if form.has_worlds:
        form.write(path, some, grounded.provenance)
        (found,) = [part for part in form.read(path).values() if len(part)]
        assert found.keys == some["train"].keys
    else:
        with pytest.raises(WrongRequest):
            form.write(path, some, grounded.provenance)


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
