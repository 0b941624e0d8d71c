"""Only one process is in at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from daxy.core.errors import RunFailed
from daxy.core.locks import exclusive_lock

IN = """
import sys
from pathlib import Path
from daxy.core.locks import exclusive_lock
with exclusive_lock(Path(sys.argv[1])):
    print("in", flush=True)
    sys.stdin.read()
"""


def other(path: Path) -> subprocess.Popen[str]:
    """Return a process that is in until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", IN, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "in\n"
    return process


def test_another_process_is_told_who_is_in_until_it_has_left(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    process = other(path)
    with pytest.raises(RunFailed, match="somebody is in"), exclusive_lock(path, "somebody is in"):
        pytest.fail("two are in")
    process.communicate()
    with exclusive_lock(path, "somebody is in"):
        pass
    assert list(path.parent.iterdir()) == []


def test_a_process_that_is_killed_has_left(tmp_path: Path) -> None:
    with other(tmp_path / "file") as process:
        process.kill()
    with exclusive_lock(tmp_path / "file", "somebody is in"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(RunFailed, match="cannot write"),
        exclusive_lock(tmp_path / "file" / "inside"),
    ):
        pytest.fail("nobody can be in")
