"""Every reader of a file or a command ends any input in a value or in one line, soon and small.

What is accepted obeys an invariant, and is the same once it is written and read again. An input is
known by its reader and number: `damaged(READERS["world"], 17)` returns it.
"""

from __future__ import annotations

import resource
import signal
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.fuzz.mutations import mutated
from tests.fuzz.readers import READERS, Reader

from daxy.core.errors import DaxyError

SECONDS = 20
MOST_MEMORY = 1 << 20
"""KiB by which one input may raise the most that the process ever took."""


def damaged(reader: Reader, number: int) -> bytes:
    return mutated(reader.inputs, reader.name, number)


@contextmanager
def within_limits() -> Generator[None]:
    def late(*_: object) -> None:
        raise AssertionError(f"took more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    assert taken < MOST_MEMORY or sys.platform != "linux", f"took {taken >> 10} MiB"


def outcome(reader: Reader, data: bytes, folder: Path) -> str:
    """Read an input; return whether it was accepted or refused, after all checks."""
    try:
        with within_limits():
            value = reader.read(data, folder)
    except DaxyError as error:
        assert len(str(error).splitlines()) == 1, f"not one line: {error}"
        return "refused"
    reader.check(value)
    if reader.write is not None:
        try:
            written = reader.write(value, folder)
        except DaxyError as error:
            assert len(str(error).splitlines()) == 1, f"not one line: {error}"
            return "accepted, not writable"
        assert reader.plain(reader.read(written, folder)) == reader.plain(value), "round trip"
    return "accepted"


@pytest.mark.fuzz
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_any_input_is_read_or_refused(reader: Reader, fuzz_inputs: int, tmp_path: Path) -> None:
    for data in reader.inputs:
        assert outcome(reader, data, tmp_path) == "accepted"
    counts, wrong = Counter[str](), list[str]()
    for number in range(max(1, fuzz_inputs // reader.cost)):
        try:
            counts[outcome(reader, damaged(reader, number), tmp_path)] += 1
        except Exception as error:  # all of them, not the first alone
            counts["wrong"] += 1
            wrong.append(f"{reader.name} {number}: {type(error).__name__}: {str(error)[:300]}")
    print(f"{reader.name}: {counts.total():,} inputs, {dict(counts)}")
    assert not wrong, "\n".join(wrong[:20])
