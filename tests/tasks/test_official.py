"""Loading files laid out as the official ones are; here they hold our own splits."""

import tarfile
from pathlib import Path

import pytest

import daxy
from daxy.core.errors import WrongFile
from daxy.formats import scan_text

TASK = "scan/addprim_turn_left"
FILES = "add_prim_split/tasks_{part}_addprim_turn_left.txt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    (folder / "add_prim_split").mkdir()
    split = daxy.load(TASK, validation="none")
    for part in ("train", "test"):
        path = folder / FILES.format(part=part)
        path.write_text(scan_text.write(split.parts[part]))
    return folder


def packed(folder: Path, archive: Path, root: str) -> Path:
    with tarfile.open(archive, "w:xz") as members:
        members.add(folder, root)
    return archive


def test_the_folder_loads_line_by_line(folder: Path) -> None:
    loaded = daxy.load(TASK, validation="none", official=folder)
    assert loaded.provenance.checksum == daxy.load(TASK, validation="none").provenance.checksum
    assert loaded.provenance.source == f"official files in {folder}"


@pytest.mark.parametrize("root", [".", "SCAN-master"])
def test_an_archive_may_keep_its_files_below_one_more_folder(
    root: str, folder: Path, tmp_path: Path
) -> None:
    archive = packed(folder, tmp_path / "scan.tar.xz", root)
    loaded = daxy.load(TASK, official=archive)
    assert loaded.provenance.checksum == daxy.load(TASK).provenance.checksum


@pytest.mark.parametrize("validation", ["draw", "dab", "none"])
def test_the_options_act_on_official_lines_too(validation: str, folder: Path) -> None:
    options = {"validation": validation, "seed": 2, "oversample": True}
    ours, official = (daxy.load(TASK, **options, official=place) for place in (None, folder))
    assert ours.provenance.checksum == official.provenance.checksum


def test_the_papers_spelling_is_read_and_the_official_one_given(tmp_path: Path) -> None:
    for part, line in (
        ("train", "turn left OUT: LTURN"),
        ("test", "turn left twice OUT: LTURN LTURN"),
    ):
        path = tmp_path / FILES.format(part=part)
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"IN: {line}\n")
    loaded = daxy.load(TASK, validation="none", official=tmp_path)
    assert loaded.train[0].target == ("I_TURN_LEFT",)


def test_a_truncated_archive_is_refused_in_one_line(folder: Path, tmp_path: Path) -> None:
    whole = packed(folder, tmp_path / "whole.tar.xz", ".").read_bytes()
    archive = tmp_path / "scan.tar.xz"
    for length in (0, 10, len(whole) // 2):
        archive.write_bytes(whole[:length])
        with pytest.raises(WrongFile, match=r"scan\.tar\.xz: cannot be read as a \.tar\.xz: ") as e:
            daxy.load(TASK, official=archive)
        assert len(str(e.value).splitlines()) == 1
