"""Programs of one training compile one at a time and run in parallel."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import pytest

from daxy.training import compilation
from daxy.training.compilation import compile_one_at_a_time


def in_threads(programs: list[Callable[..., bool]], barrier: Barrier) -> list[bool]:
    with ThreadPoolExecutor(len(programs)) as threads:
        return [each.result() for each in [threads.submit(own, barrier) for own in programs]]


def meets_the_other(barrier: Barrier) -> bool:
    """Return whether another program is under way at the same time."""
    try:
        barrier.wait()
    except BrokenBarrierError:
        return False
    return True


def test_first_calls_never_overlap_and_later_ones_do() -> None:
    programs = compile_one_at_a_time([meets_the_other, meets_the_other])
    assert in_threads(programs, Barrier(2, timeout=0.2)) == [False, False]
    assert in_threads(programs, Barrier(2, timeout=30)) == [True, True]


def test_a_program_that_failed_to_compile_lets_the_others_compile() -> None:
    def fails() -> str:
        raise MemoryError

    failing, fine = compile_one_at_a_time([fails, lambda: "compiled"])
    with pytest.raises(MemoryError):
        failing()
    assert fine() == "compiled"


@pytest.mark.skipif(sys.platform != "linux", reason="it asks Linux how much memory is resident")
def test_memory_goes_back_to_the_system() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1])

    compilation.release_memory()
    # Blocks too small to be mapped one by one, between others that stay.
    blocks = [bytearray(64 * 1024) for _ in range(2_000)]
    del blocks[::2]
    kept = resident()
    compilation.release_memory()
    assert resident() < kept - 5_000
