import re
from pathlib import Path

import pytest

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
