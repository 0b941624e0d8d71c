"""The cache on disk: what was written is read or nothing is, whatever happens to the file."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as some

from daxy.core import cache
from daxy.core.cache import Column

KEY: dict[str, Any] = {"seed": 0}
FACTS = {"sizes": [3, 0], "title": "worlds"}
COLUMNS = [np.arange(300, dtype=np.uint16), np.zeros((0, 3), np.uint8), np.arange(6).reshape(2, 3)]


@pytest.fixture(autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("DAXY_CACHE", str(folder))
    return folder


def write(number: int = 0) -> Path:
    """Write an entry and return its file."""
    cache.write("worlds", KEY | {"number": number}, FACTS, COLUMNS)
    return cache.entries()[0].path


def is_whole(number: int = 0) -> bool:
    """Whether the entry is there; if it is, it is right."""
    found = cache.read("worlds", KEY | {"number": number})
    if found is None:
        return False
    facts, columns = found
    assert facts == FACTS
    for column, wanted in zip(columns, COLUMNS, strict=True):
        np.testing.assert_array_equal(column, wanted, strict=True)
    return True


@given(st.lists(some.arrays(st.sampled_from([np.uint8, np.uint16, np.int64]), some.array_shapes())))
def test_columns_are_read_as_they_were_written(columns: list[Column]) -> None:
    cache.write("any", KEY, FACTS, columns)
    found = cache.read("any", KEY)
    assert found is not None
    for column, wanted in zip(found[1], columns, strict=True):
        np.testing.assert_array_equal(column, wanted, strict=True)
        assert not column.flags.writeable
        assert column.ctypes.data % cache.ALIGNMENT == 0


def test_an_entry_is_of_one_key() -> None:
    write()
    assert is_whole()
    assert not is_whole(1)
    assert cache.read("worlds", KEY) is None


@given(st.data())
def test_a_damaged_entry_counts_as_absent_and_is_written_again(data: st.DataObject) -> None:
    path = write()
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[at] ^= data.draw(st.integers(1, 255))
    else:
        del content[at:]
    path.write_bytes(content)
    assert not is_whole()
    write()
    assert is_whole()


def test_a_folder_that_cannot_be_written_is_no_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "data").write_bytes(b"a file in the place of the folder")
    cache.write("worlds", KEY, FACTS, COLUMNS)
    assert not is_whole()
    (folder / "data").unlink()
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(full))
    cache.write("worlds", KEY, FACTS, COLUMNS)
    assert not is_whole()
    assert list((folder / "data").iterdir()) == []


def test_an_empty_variable_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    write()
    monkeypatch.setenv("DAXY_CACHE", "")
    assert cache.folder() is None
    assert not is_whole()
    cache.write("worlds", KEY, FACTS, COLUMNS)
    assert cache.entries() == []


def test_entries_that_were_not_read_for_longest_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    size = write().stat().st_size
    monkeypatch.setattr(cache, "MOST", 3 * size)
    for number in (1, 2):
        write(number)
    for age, entry in enumerate(cache.entries()):
        os.utime(entry.path, (0, 1_000 - age))
    (oldest, *_) = (number for number in (0, 1, 2) if _path(number) == cache.entries()[-1].path)
    assert is_whole(oldest)  # it is the newest now
    write(3)
    assert is_whole(oldest)
    assert is_whole(3)
    assert sum(is_whole(number) for number in (0, 1, 2)) == 2


def _path(number: int) -> Path | None:
    return cache._path("worlds", KEY | {"number": number})


def test_clearing_leaves_files_of_others(folder: Path) -> None:
    write()
    for name in ("jit_step-0a1b-cache", "notes.txt", "data/notes.txt"):
        (folder / name).write_text("content")
    cache.clear()
    assert not is_whole()
    left = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert left == {"notes.txt", "data/notes.txt"}


WRITER = """
import sys, numpy as np
from daxy.core import cache

print("begun", flush=True)
while True:
    cache.write("large", {}, {}, [np.full(5_000_000, 7, np.uint8)])
"""


def test_a_killed_writer_leaves_an_entry_that_is_whole_or_absent(folder: Path) -> None:
    for wait in (0.0, 0.02, 0.05, 0.1):
        with subprocess.Popen([sys.executable, "-c", WRITER], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"begun\n"
            time.sleep(wait)
            writer.send_signal(signal.SIGKILL)
        found = cache.read("large", {})
        assert found is None or (found[1][0] == 7).all()
    unfinished = folder / "data" / ".large.0123.columns.89ab.tmp"
    unfinished.write_bytes(b"half")
    os.utime(unfinished, (0, 0))
    write()
    assert not unfinished.exists()


def test_processes_that_write_and_read_at_once_do_not_disturb_each_other() -> None:
    words = [sys.executable, "-c", WRITER]
    writers = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        deadline = time.monotonic() + 60
        while cache.read("large", {}) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        for _ in range(20):
            found = cache.read("large", {})
            assert found is not None
            assert (found[1][0] == 7).all()
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
