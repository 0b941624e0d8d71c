"""gSCAN: making a set, opening it, a pass over its batches, and reading the authors' format.

    python -m benchmarks.gscan

Every measurement is a process of its own, whose time counts from after its imports and whose memory
is all that it ever held. Beside making a set stands a program that makes one example after another
with the same rules, as the reference does; beside reading the authors' format stands Python's json,
which parses and does nothing more.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.memory import UNIT
from benchmarks.side_by_side import warn_if_busy

TASK = "gscan/compositional"
SMALLER = {"resampling": 1}
"""About 172,000 examples: as many as the authors' file of 338 MB has."""


def make(choices: str, out: str) -> int:
    """Make the set and write it as Parquet; return how many examples it has."""
    import daxy
    from daxy.formats import parquet

    split = daxy.load(TASK, **json.loads(choices))
    parquet.write(Path(out), split.named, split.provenance)
    return sum(map(len, split.named.values()))


def every(choices: str) -> int:
    """Make every command in every situation, and neither split nor write it."""
    from daxy import tasks
    from daxy.tasks._gscan_examples import every

    return len(every(tasks.data(TASK, **json.loads(choices))))


def one_by_one(count: str) -> int:
    """Make so many examples one after another, as Python objects; return how many."""
    from daxy import tasks
    from daxy.core.random import stream
    from daxy.languages import grounded
    from daxy.tasks._gscan_examples import situations_of
    from daxy.worlds.demonstration import actions, demonstrate
    from daxy.worlds.placement import Situations, place_objects, possible_targets

    data, draw, made = tasks.data(TASK), stream(0, "one by one"), 0
    for command in grounded.commands():
        for target in possible_targets(command.phrase):
            where = situations_of(data.grid, data.resampling, data.seed, target)
            for row in range(0, len(where), 16):
                one = Situations(where.agent[row : row + 1], where.target[row : row + 1])
                world = place_objects(command.phrase, target, one, data.grid, draw)[0]
                actions.cache_clear()
                demonstrate(command, world)
                made += 1
                if made == int(count):
                    return made
    return made


def opened(path: str) -> int:
    """Open a set; return how many examples it has."""
    from daxy.formats.parquet import Stored

    return sum(Stored(Path(path)).counts.values())


def batches(path: str) -> int:
    """Read the training examples, encode them, and go once through all batches of 200."""
    from daxy.batching.table import Table
    from daxy.core.random import stream
    from daxy.formats.parquet import Stored

    train = Stored(Path(path))["train"]
    table, seen = Table.of([train]), 0
    assert table.observations is not None
    order = stream(0, "batches").permutation(len(train))
    for rows in np.split(order, range(200, len(order), 200)):
        columns = table.source[rows], table.target[rows], table.worlds(rows)
        seen += len(columns[0])
    return seen


def official(path: str) -> int:
    """Read the authors' format into columns; return how many examples it has."""
    from daxy.formats import gscan_json

    return sum(map(len, gscan_json.read(Path(path)).parts.values()))


def parsed(path: str) -> int:
    """Parse the authors' format with Python's json; return how many examples it has."""
    with Path(path).open(encoding="utf-8") as file:
        return sum(map(len, json.load(file)["examples"].values()))


MEASURED: dict[str, Callable[..., int]] = {
    each.__name__: each for each in (make, every, one_by_one, opened, batches, official, parsed)
}


def measure(name: str, *arguments: str) -> tuple[int, float, float]:
    """Return how many examples a measurement in its own process was of, its seconds and MiB."""
    words = [sys.executable, "-m", "benchmarks.gscan", "--only", name, *arguments]
    ran = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    count, seconds, most = json.loads(ran.stdout)
    return count, seconds, most


def only(name: str, arguments: list[str]) -> None:
    """Run one measurement in this process and print what it took."""
    for module in ("numpy", "pyarrow.parquet", "daxy.tasks.gscan"):
        importlib.import_module(module)  # which is not what is measured
    began = time.perf_counter()
    count = MEASURED[name](*arguments)
    seconds = time.perf_counter() - began
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT / 2**20
    print(json.dumps([count, seconds, most]))


def said(what: str, found: tuple[int, float, float]) -> None:
    """Print a measurement."""
    count, seconds, most = found
    rate = count / seconds
    print(f"{what:<52} {count:>9,} {seconds:>8.2f} s {rate:>11,.0f}/s {most:>7,.0f} MiB")


def main() -> None:
    """Measure everything, or one thing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=MEASURED, help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        only(given.only, given.arguments)
        return
    warn_if_busy()
    with tempfile.TemporaryDirectory() as folder:
        path, text = Path(folder) / "set.parquet", Path(folder) / "dataset.txt"
        said("make, split and write the released set", measure("make", "{}", str(path)))
        said("one example after another", measure("one_by_one", "20000"))
        said("open it", measure("opened", str(path)))
        said("a pass over encoded training batches", measure("batches", str(path)))
        chosen = [word for name, value in SMALLER.items() for word in (f"--{name}", str(value))]
        words = [sys.executable, "-m", "daxy", "export", TASK, "--split", "all", *chosen]
        words += ["--format", "gscan-json", "--out", str(text)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        print(f"the authors' format, {text.stat().st_size / 1e6:,.0f} MB:")
        said("  into columns, checked", measure("official", str(text)))
        said("  Python's json", measure("parsed", str(text)))
    for grid in (6, 9, 12, 18):
        choices = json.dumps({"grid": grid})
        said(f"every command, grid {grid} by {grid}", measure("every", choices))
    for workers in (1, 2):
        choices = json.dumps({"grid": 12, "workers": workers})
        said(f"every command, grid 12 by 12, {workers} workers", measure("every", choices))


if __name__ == "__main__":
    main()
