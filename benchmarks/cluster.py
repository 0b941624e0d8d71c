"""A sweep on a local Ray cluster, a worker for each core, against the same sweep in one process.

Both run the same four programs of six small networks. Then a worker is killed in the middle of a
sweep, and a driver is, and the sweep is started again: every network has to end in the same
weights, and no finished run may be trained again. So it has in one process on one core, as tasks of
the cluster have one. (Where a program is spread over two, its networks are equal up to rounding at
first, which a hundred thousand steps make more of.) Needs the extra `ray`.

    python -m benchmarks.cluster
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.side_by_side import warn_if_busy
from daxy.runs.run import Run

TOGETHER = 6
TASKS, DROPOUT, SEEDS = ("scan/length", "scan/addprim_turn_left"), (0.0, 0.5), range(6)


def asked_for(samples: int) -> list[Run]:
    """Return the 24 runs of the sweep."""
    from daxy.learners.neural import Neural
    from daxy.models.stacked import Config
    from daxy.tasks import ScanOptions
    from daxy.training.protocols import protocol

    recipe = protocol("lake2018").with_settings(samples=samples, max_decode_length=2)
    config = Config(cell="gru", layers=1, hidden=25)
    return [
        Run(
            task=task,
            learner=Neural(
                model="stacked", config=config, training=replace(recipe, dropout=dropout)
            ),
            data=ScanOptions(validation="none"),
            seed=seed,
        )
        for task in TASKS
        for dropout in DROPOUT
        for seed in SEEDS
    ]


def sweep(folder: Path, samples: int, on: str) -> None:
    """Run what is missing of the sweep; say `ended` and the time after each program."""
    from daxy.runs import executors
    from daxy.runs.monitor import Monitor
    from daxy.runs.programs import programs
    from daxy.runs.store import RunStore

    store, runs = RunStore(folder, checkpoint_seconds=2.0), asked_for(samples)
    planned = programs(runs, store.missing(runs), store, TOGETHER)
    # As many programs at a time as there are cores, or all cores for one program at a time.
    options = {"cpus": 1} if on == "ray" else {}
    for _ in executors.get(on).run(planned, store, Monitor(), **options):
        print(f"ended {time.monotonic()}", flush=True)


def start(folder: Path, samples: int, on: str, devices: int | None = None) -> subprocess.Popen[str]:
    """Start a sweep in a process of its own, with a process group of its own."""
    flag = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
    command = [sys.executable, "-m", "benchmarks.cluster", "--sweep", str(folder), "--on", on]
    return subprocess.Popen(
        [*command, "--samples", str(samples)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent.parent,
        start_new_session=True,
        env=dict(os.environ) if devices is None else os.environ | {"XLA_FLAGS": flag},
    )


def finish(process: subprocess.Popen[str]) -> list[float]:
    """Wait for a sweep to end well; return when each of its programs ended."""
    assert process.stdout is not None
    lines = process.stdout.read().splitlines()
    if process.wait() != 0:
        raise SystemExit(f"a sweep failed with exit code {process.returncode}")
    return [float(line.split()[1]) for line in lines if line.startswith("ended")]


def left_by(folder: Path) -> dict[str, bytes]:
    """Return the weights and scores of each finished run by its name."""
    return {
        f"{run.name}/{name}": (run / name).read_bytes()
        for run in sorted(done.parent for done in folder.glob("*/done"))
        for name in ("model.safetensors", "predictions.parquet")
    }


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until something is so, while a sweep is running."""
    while not condition():
        if process.poll() is not None:
            raise SystemExit("a sweep ended before it could be disturbed")
        time.sleep(0.05)


def checkpoints(folder: Path) -> list[Path]:
    """Return the checkpoints that there are."""
    return list(folder.glob("*/checkpoint/state.safetensors"))


def workers() -> list[int]:
    """Return the processes in which tasks of a cluster are running."""
    listed = subprocess.run(
        ["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True
    ).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if "ray::train" in line]


def kill_a_worker(folder: Path, samples: int) -> None:
    """Kill a worker once it has saved its state; the sweep has to end all the same."""
    process = start(folder, samples, "ray")
    wait_for(lambda: bool(checkpoints(folder) and workers()), process)
    os.kill(workers()[0], signal.SIGKILL)
    finish(process)


def kill_the_driver(folder: Path, samples: int) -> None:
    """Kill the driver and its cluster once a program has ended, and start the sweep again."""
    process = start(folder, samples, "ray")
    wait_for(lambda: bool(left_by(folder)) and bool(checkpoints(folder)), process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    subprocess.run(["pkill", "-9", "-f", "ray::train"], check=False)
    before = {path: path.stat().st_mtime_ns for path in folder.glob("*/done")}
    finish(start(folder, samples, "ray"))
    again = [path for path, moment in before.items() if path.stat().st_mtime_ns != moment]
    if again or not before:
        raise SystemExit(f"of {len(before)} finished runs {len(again)} were trained again")


def compare(samples: int) -> dict[str, object]:
    """Return how long both sweeps took, and in how many files any sweep differs from the first."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        finish(start(folder / "first", samples, "ray"))  # compiles
        expected = left_by(folder / "first")
        seconds: dict[str, float] = {}
        for on in ("local", "ray"):
            began = time.monotonic()
            finish(start(folder / on, samples, on))
            seconds[on] = time.monotonic() - began
        finish(start(folder / "one core", samples, "local", devices=1))
        kill_a_worker(folder / "worker", samples)
        kill_the_driver(folder / "driver", samples)
        differences = {
            other: sum(left_by(folder / other).get(path) != own for path, own in expected.items())
            for other in ("one core", "ray", "worker", "driver")
        }
    files = {"files": len(expected), "different": differences}
    return {"seconds": seconds, "overhead": seconds["ray"] / seconds["local"] - 1, **files}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, or one of its sweeps."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--sweep", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--on", default="local", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.sweep:
        sweep(asked.sweep, asked.samples, asked.on)
        return 0
    warn_if_busy()
    found = compare(asked.samples)
    print(json.dumps(found))
    return int(any(found["different"].values()))  # pyright: ignore


if __name__ == "__main__":
    sys.exit(main())
