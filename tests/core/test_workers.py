"""Rows are worked on by other processes, which end with this one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from daxy.core.errors import RunFailed, WrongRequest
from daxy.core.workers import map_in_processes


def difference(one: int, other: int) -> int:
    return one - other


def refuse(row: int) -> None:
    raise WrongRequest(f"no row {row}")


def end(row: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_results_come_in_order_from_fewer_processes_than_rows() -> None:
    rows = [(number, 1) for number in range(20)]
    assert map_in_processes(3, difference, rows) == list(range(-1, 19))
    assert map_in_processes(3, difference, []) == []


def test_an_error_of_a_worker_is_raised_here() -> None:
    with pytest.raises(WrongRequest, match="no row 0"):
        map_in_processes(1, refuse, [(0,), (1,)])


def test_a_worker_that_is_killed_is_no_defect() -> None:
    with pytest.raises(RunFailed, match="the workers did not start, or were killed"):
        map_in_processes(2, end, [(0,), (1,)])


ASLEEP = """
import os, sys, time
from pathlib import Path
sys.path.insert(0, {folder!r})
from asleep import sleep
from daxy.core.workers import map_in_processes
if __name__ == "__main__":
    map_in_processes(2, sleep, [(0,), (1,)])
"""
SLEEP = """
import os, time
def sleep(row):
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(60)
"""


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked for in /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_worker_stays_when_the_process_ends(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "asleep.py").write_text(SLEEP)
    (tmp_path / "main.py").write_text(ASLEEP.format(folder=str(tmp_path)))
    process = subprocess.Popen(
        [sys.executable, tmp_path / "main.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    workers = [int(process.stdout.readline()) for _ in range(2)]
    process.send_signal(number)
    process.communicate(timeout=10)
    until = time.monotonic() + 5
    while any(map(is_alive, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(is_alive, workers))
