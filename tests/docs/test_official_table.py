"""The table of official files says what daxy loads, and from where."""

import re
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

import daxy
from daxy import tasks
from daxy.tasks._scan_options import Validation
from daxy.tasks._scan_task import ScanTask
from daxy.tasks.nacs import NacsTask
from daxy.tasks.scan import SPLITS

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = ROOT / "docs/reference/official-files.md"


class Row(NamedTuple):
    repository: str
    folder: str
    task: str
    validation: str
    sizes: str
    checksum: str


def table() -> list[Row]:
    lines = DOCUMENT.read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [Row(*each) for each in cells if re.fullmatch(r"\w+/\w+", each[0])]


ROWS = table()
NAMES = ["/".join((each.repository, each.task, each.validation)) for each in ROWS]


def files(row: Row) -> set[str]:
    """Return the folders in which daxy looks for a task's files in a repository."""
    task = tasks.get(row.task)
    if isinstance(task, NacsTask):
        task = task.mirrored
    if not isinstance(task, ScanTask):
        return {"data/scan/mt_data"}
    if row.repository == "brendenlake/SCAN":
        assert task.stem is not None
        return {str(Path(task.stem).parent)}
    assert task.nacs is not None
    names = [task.nacs.train, task.nacs.test]
    if row.validation != "none":
        held = task.nacs.validation[row.validation.removeprefix("released-")]
        names += [held.train, held.validation]
    return {f"data/scan/{Path(name).parent}" for name in names}


def test_there_is_a_row_for_every_set_of_the_two_repositories() -> None:
    known = {(row.repository, row.task, row.validation) for row in ROWS}
    for name, task in SPLITS.items():
        if task.nacs is None:
            continue
        assert ("facebookresearch/NACS", name, "none") in known
        if "bastings" not in name:
            sets = {f"released-{kind}" for kind in task.nacs.validation}
            assert {each[2] for each in known if each[1] == name} == {"none", *sets}


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_row_names_what_there_is(row: Row) -> None:
    assert row.folder in files(row)
    assert row.validation in get_args(Validation)
    assert re.fullmatch("[0-9a-f]{32}", row.checksum)
    train, validation, test = (int(each.replace(",", "")) for each in row.sizes.split(", "))
    sizes = tasks.get(row.task).published_sizes
    if row.validation == "none":
        assert sizes is not None
        assert (train, validation, test) == (sizes.train, 0, sizes.test)
    assert test == tasks.get(row.task).sizes.test


def test_sets_of_two_repositories_are_the_same() -> None:
    kinds = {(row.task, row.validation): row.checksum for row in ROWS}
    assert all(kinds[row.task, row.validation] == row.checksum for row in ROWS)


def is_at_hand(row: Row) -> bool:
    """Whether the archives beside the project hold the files, or the same ones."""
    copied = ("simple", "length", "addprim_jump", "addprim_turn_left")
    is_copied = row.task.partition("/")[2] in copied and row.validation == "none"
    return is_copied or row.task.startswith("translation/")


@pytest.mark.parametrize("row", list(filter(is_at_hand, ROWS)), ids="/".join)
def test_checksums_are_those_of_the_official_files(
    row: Row, scan_archive: Path, translation_archive: Path
) -> None:
    """Copies of SCAN's splits in NACS are held to SCAN's own files."""
    archive = translation_archive if row.task.startswith("translation/") else scan_archive
    split = daxy.load(row.task, official=archive, validation=row.validation)
    sizes = split.provenance.sizes
    counts = (sizes.train, sizes.validation, sizes.test)
    assert ", ".join(f"{each:,}" for each in counts) == row.sizes
    assert split.provenance.checksum == row.checksum
