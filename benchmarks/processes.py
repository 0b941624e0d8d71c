"""One process per core, each with its share of the networks, against one program on all cores.

    python -m benchmarks processes

Both train the same networks on `scan/simple` for as many steps, in alternating rounds. A process
per core needs no meshes, device groups or time slices, but one network stays on one core, and five
networks on two cores take as long as six. The ratio is the time of the processes over the time of
the program: above 1, the program is faster.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection

from benchmarks.side_by_side import ROUNDS, warn_if_busy

STRETCHES = 12
"""Dispatches of 32 steps in a round."""
CELLS = (("lstm", 2, 200), ("gru", 1, 50), ("srn", 1, 100))
REPLICAS = (1, 2, 5, 20)


def work(pipe: Connection, size: tuple[str, int, int], replicas: int, cores: Sequence[int]) -> None:
    """Train on these cores: a round for each message, whose answer is its seconds."""
    os.sched_setaffinity(0, cores)
    from benchmarks.throughput import Size, ours, training_of
    from daxy.training.devices import use_every_core

    use_every_core()
    call = ours(training_of(Size(*size, replicas)))
    call()
    pipe.send(0.0)
    while pipe.recv():
        began = time.perf_counter()
        for _ in range(STRETCHES):
            call()
        pipe.send(time.perf_counter() - began)


class Team:
    """Processes that train networks at the same time."""

    def __init__(
        self, size: tuple[str, int, int], shares: Sequence[int], cores: Sequence[Sequence[int]]
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipes = list[Connection]()
        for count, own in zip(shares, cores, strict=False):
            if count:
                here, there = context.Pipe()
                context.Process(target=work, args=(there, size, count, own), daemon=True).start()
                self.pipes.append(here)
        for pipe in self.pipes:
            pipe.recv()

    def round(self) -> float:
        """Return the seconds until every process has taken its steps."""
        for pipe in self.pipes:
            pipe.send(True)
        return max(pipe.recv() for pipe in self.pipes)

    def end(self) -> None:
        """Let the processes end."""
        for pipe in self.pipes:
            pipe.send(False)


def main() -> None:
    """Print a line a size and number of networks."""
    warn_if_busy()
    cores = sorted(os.sched_getaffinity(0))
    print("network     networks  one program  processes  ratio")
    for size in CELLS:
        for replicas in REPLICAS:
            shares = [
                replicas // len(cores) + (n < replicas % len(cores)) for n in range(len(cores))
            ]
            program = Team(size, [replicas], [cores])
            processes = Team(size, shares, [[core] for core in cores])
            rounds = [(program.round(), processes.round()) for _ in range(ROUNDS)]
            program.end()
            processes.end()
            ratio = statistics.median(other / own for own, other in rounds)
            own, other = (statistics.median(column) for column in zip(*rounds, strict=True))
            name = f"{size[0]} {size[1]}x{size[2]}"
            print(f"{name:11} {replicas:8} {own:10.2f} s {other:8.2f} s {ratio:6.2f}", flush=True)


if __name__ == "__main__":
    main()
