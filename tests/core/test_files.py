import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from daxy.core import files
from daxy.core.errors import RunFailed, WrongFile
from daxy.core.files import read_bytes, write_atomically, write_json, write_text


def test_a_written_file_has_the_text_and_no_temporary_stays(tmp_path: Path) -> None:
    write_text(tmp_path / "new" / "a.txt", "é\n")
    assert (tmp_path / "new" / "a.txt").read_bytes() == "é\n".encode()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.txt"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"old": True})

    def fail(temporary: Path) -> None:
        temporary.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(RunFailed, match="a.json: No space left on device"):
        write_atomically(path, fail)
    assert path.read_text() == '{\n  "old": true\n}\n'
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    """Set which permissions new files lack, for one test."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize(("lacking", "mode"), [(0o077, 0o600), (0o022, 0o644), (0o002, 0o664)])
def test_who_may_read_a_new_file_is_as_the_umask_says(
    lacking: int, mode: int, umask: Callable, tmp_path: Path
) -> None:
    umask(lacking)
    write_text(tmp_path / "a.txt", "a")
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == mode


@pytest.mark.parametrize("mode", [0o600, 0o444, 0o666])
def test_a_file_that_is_replaced_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    path, seen = tmp_path / "a.txt", list[int]()
    path.touch()
    path.chmod(mode)

    def fill(temporary: Path) -> None:
        temporary.write_text("new")
        seen.append(stat.S_IMODE(temporary.stat().st_mode))

    write_atomically(path, fill)
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert seen == [0o600]  # nobody else reads what is being written of a private file


def test_what_another_process_is_writing_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "token_hex", lambda _: "1")
    (tmp_path / ".a.txt.1.tmp").write_text("theirs")
    with pytest.raises(RunFailed, match="cannot write"):
        write_text(tmp_path / "a.txt", "mine")
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {
        ".a.txt.1.tmp": "theirs"
    }


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "link").symlink_to("below/file")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "below" / "file").read_text() == "new"


def test_a_file_is_no_folder_to_write_in(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    wanted = re.escape(f"{tmp_path / 'file'} is not a folder")
    with pytest.raises(RunFailed, match=wanted):
        write_text(tmp_path / "file" / "a.txt", "")


def test_a_folder_is_no_file_to_read(tmp_path: Path) -> None:
    with pytest.raises(WrongFile, match="is a folder; expected a file"):
        read_bytes(tmp_path)
    with pytest.raises(WrongFile, match="no such file"):
        read_bytes(tmp_path / "absent")


def test_a_file_is_flushed_before_its_name_and_new_folders_with_what_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power cut a file is there whole, and what was written before it too."""
    steps, sync, replace = list[str](), os.fsync, os.replace

    def synced(number: int) -> None:
        steps.append(f"flush {Path(f'/proc/self/fd/{number}').readlink()}")
        sync(number)

    def renamed(one: Path, other: Path) -> None:
        steps.append(f"name {other}")
        replace(one, other)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    write_text(tmp_path / "a" / "b" / "file", "new")
    assert [re.sub(r"\.file\..*", "temporary", step) for step in steps] == [
        f"flush {tmp_path}",
        f"flush {tmp_path / 'a'}",
        f"flush {tmp_path / 'a' / 'b' / 'temporary'}",
        f"name {tmp_path / 'a' / 'b' / 'file'}",
        f"flush {tmp_path / 'a' / 'b'}",
    ]


def test_a_line_or_file_that_is_too_long_is_refused_with_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LONGEST", 4)
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc\n\nabcd")
    assert list(files.lines(path)) == [b"abc", b"", b"abcd"]
    path.write_bytes(b"abc\nabcde\n")
    with pytest.raises(WrongFile, match=r"a\.txt:2: the line has more than 4 bytes"):
        list(files.lines(path))
    with pytest.raises(WrongFile, match="has more than 9 bytes"):
        read_bytes(path, most=9)


def test_a_name_that_no_file_can_have_is_a_wrong_file() -> None:
    with pytest.raises(WrongFile, match="cannot be read: File name too long"):
        read_bytes(Path("a" * 5000))
