"""Kill a short training at random and at chosen moments, resume it, and compare what it leaves.

    python -m benchmarks kill_and_resume --kills 200

The command `daxy train` runs undisturbed first. Then the same command runs in a fresh folder and is
killed, again and again, until it ends; what it leaves is compared with the undisturbed run, and the
next folder begins. A quarter of the kills come at a file operation of finishing (writing results,
tidying), a quarter while the test set is decoded, the others at any moment from the first import
on. Half are SIGKILL, the others SIGINT, SIGTERM or SIGHUP, which have to end in one line.

`different` counts files with other bytes, times of day and durations aside; `stray` counts files
that the undisturbed run does not leave; `tracebacks` counts processes that ended otherwise than in
one line and with the code of their signal.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from daxy.core import interrupts
from daxy.core.split import Split
from daxy.tasks import ScanOptions

TASK = "scan/simple_p1"
SEEDS = (0, 1)
TEST_EXAMPLES = 200
BYTES = ("model.safetensors", "predictions.parquet", "config.json")
DURATIONS = ("seconds",)
SIGNALS = (*[signal.SIGKILL] * 3, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
OPERATIONS = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.unlink")
"""Events of Python's audit hooks that are steps of finishing."""


def few(whole: Split, task: str, seed: int) -> Split:
    """Return a split with the first examples of its test set alone."""
    return Split.of(
        train=whole.train,
        validation=whole.validation,
        test=whole.test[:TEST_EXAMPLES],
        task=task,
        rule=whole.provenance.rule,
        seed=seed,
        options={},
    )


@dataclass(frozen=True, kw_only=True)
class Few(ScanOptions):
    """The data of a task with a test set that is decoded in a moment."""

    def load(self, task: str) -> Split:
        """Return the split with the first examples of its test set alone."""
        return few(ScanOptions(**vars(self)).load(task), task, self.seed)


class Moment(NamedTuple):
    """When a process gets a signal, and which one."""

    number: signal.Signals
    after: str = "begun"
    """The line of the process after which `delay` begins."""
    delay: float = 0.0
    operation: int = 0
    """The file operation of finishing before which the process signals itself; 0 for none."""


class Undisturbed(NamedTuple):
    """How long a training takes when nobody kills it, in seconds."""

    starting: float
    """From the first import to the first stretch of training."""
    training: float
    scoring: float
    operations: int
    """File operations of finishing."""


def train(folder: Path, epochs: int, moment: Moment | None) -> int:
    """Run `daxy train` in this process, saying where it stands; resume if there is what to."""
    words = ["train", TASK, "seq2seq", "--hidden", "8", "--embedding", "4", "--batch-size", "2"]
    words += ["--epochs", str(epochs), "--seeds", str(len(SEEDS)), "--runs", str(folder), "--json"]
    for number in set(SIGNALS) - {signal.SIGKILL}:
        signal.signal(number, signal.SIG_DFL)  # A shell has some ignored in the background.
    interrupts.install(words)
    say("begun")
    from daxy.cli import main
    from daxy.learners.neural import group
    from daxy.runs import progress
    from daxy.runs.experiment import Experiment

    class Display(progress.Display):
        def stepped(self, *arguments: Any) -> None:
            super().stepped(*arguments)
            say("stretch")

        def scoring(self, examples: int) -> None:
            super().scoring(examples)
            say("scoring")
            count_operations(folder, moment)

    load = ScanOptions.load
    replaced: list[tuple[Any, str, Any]] = [
        # One padded shape: compiling for each is most of what a process does.
        (group, "BUCKETS", 1),
        (Experiment, "checkpoint_seconds", 0.0),
        (ScanOptions, "load", lambda data, task: few(load(data, task), task, data.seed)),
        (progress, "Display", Display),
    ]
    for place, name, value in replaced:
        setattr(place, name, value)
    code = main.main(words)
    say(f"operations {COUNTED['operations']}")
    return code


COUNTED = {"operations": 0}


def count_operations(folder: Path, moment: Moment | None) -> None:
    """Count file operations in a folder; send this process a signal before the chosen one."""

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        if event in OPERATIONS and str(folder) in str(arguments[0]):
            COUNTED["operations"] += 1
            if moment and COUNTED["operations"] == moment.operation:
                os.kill(os.getpid(), moment.number)

    sys.addaudithook(count)


def say(line: str) -> None:
    """Print a line past Python's streams, of which the command takes care."""
    os.write(1, f"{line}\n".encode())


def start(folder: Path, epochs: int, moment: Moment | None = None) -> subprocess.Popen[str]:
    """Start the training in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.kill_and_resume"]
    command += ["--train", str(folder), "--epochs", str(epochs)]
    if moment and moment.operation:
        command += ["--at", f"{moment.number.value} {moment.operation}"]
    root = Path(__file__).parent.parent
    piped = subprocess.PIPE
    return subprocess.Popen(command, stdout=piped, stderr=piped, text=True, cwd=root)


def read_until(process: subprocess.Popen[str], wanted: str) -> float:
    """Return when the process says a line, or ends."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == wanted:
            break
    return time.monotonic()


def undisturbed(folder: Path, epochs: int) -> Undisturbed:
    """Train to the end, and return how long everything took."""
    process = start(folder, epochs)
    times = [read_until(process, line) for line in ("begun", "stretch", "scoring")]
    said, errors = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"a training failed with exit code {process.returncode}: {errors}")
    times.append(time.monotonic())
    starting, training, scoring = (b - a for a, b in pairwise(times))
    return Undisturbed(starting, training, scoring, int(said.split()[-1]))


def chosen_moment(draws: random.Random, usual: Undisturbed) -> Moment:
    """Return a moment: half of them at steps of finishing and during decoding."""
    number, kind = draws.choice(SIGNALS), draws.random()
    if kind < 0.25:
        return Moment(number, operation=draws.randint(1, usual.operations))
    if kind < 0.5:
        return Moment(number, "scoring", draws.uniform(0, usual.scoring))
    if kind < 0.6:
        return Moment(number, "begun", draws.uniform(0, usual.starting))
    return Moment(number, "stretch", draws.uniform(0, usual.training))


def disturbed(folder: Path, epochs: int, moment: Moment) -> tuple[bool, bool]:
    """Run the training and signal it then; return whether that ended it, and ended it well."""
    process = start(folder, epochs, moment)
    if not moment.operation:
        read_until(process, moment.after)
        time.sleep(moment.delay)
        process.send_signal(moment.number)
    _, errors = process.communicate()
    code = process.returncode
    if code == 0:
        return False, "Traceback" not in errors
    if moment.number == signal.SIGKILL:
        return True, code == -signal.SIGKILL and "Traceback" not in errors
    ends = [line for line in errors.splitlines() if "daxy: " in line]
    is_well = code == 128 + moment.number and len(ends) == 1 and "daxy: interrupted; " in ends[0]
    if not is_well or "Traceback" in errors:
        print(f"{moment} ended with {code}: {errors}", file=sys.stderr)
    return True, is_well and "Traceback" not in errors


def left_by(folder: Path) -> dict[str, Any]:
    """Return what the runs in a folder left: bytes, and figures without their durations."""
    found: dict[str, Any] = {}
    for run in sorted(folder.glob("[!.]*")):
        found |= {f"{run.name}/{name}": (run / name).read_bytes() for name in BYTES}
        records = [json.loads((run / "scores.json").read_text())]
        records += map(json.loads, (run / "log.jsonl").read_text().splitlines())
        found[f"{run.name}/records"] = [
            {name: value for name, value in record.items() if name not in DURATIONS}
            for record in records
        ]
    return found


def files_in(folder: Path) -> set[str]:
    """Return the names of all files and folders, hidden ones too."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def kill_and_resume(kills: int, epochs: int, seed: int = 0) -> dict[str, int]:
    """Return how many kills and trainings there were, and what was not as it should be."""
    draws = random.Random(seed)
    counts = {"kills": 0, "trainings": 0, "different": 0, "stray": 0, "tracebacks": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        undisturbed(folder / "first", epochs)  # The one that compiles.
        usual = undisturbed(folder / "undisturbed", epochs)
        expected, files = left_by(folder / "undisturbed"), files_in(folder / "undisturbed")
        counts["different"] += differs(left_by(folder / "first"), expected)
        while counts["kills"] < kills:
            counts["trainings"] += 1
            own = folder / str(counts["trainings"])
            while counts["kills"] < kills:
                was_killed, is_well = disturbed(own, epochs, chosen_moment(draws, usual))
                counts["tracebacks"] += not is_well
                counts["kills"] += was_killed
                if not was_killed:
                    break
            else:
                finish(own, epochs)
            counts["different"] += differs(left_by(own), expected)
            for path in sorted(files_in(own) ^ files):
                print(f"stray or missing: {path}", file=sys.stderr)
                counts["stray"] += 1
            print(json.dumps(counts), file=sys.stderr, flush=True)
    return counts


def finish(folder: Path, epochs: int) -> None:
    """Ask for the runs once more, which may be finished already."""
    process = start(folder, epochs)
    _, errors = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"a training failed with exit code {process.returncode}: {errors}")


def differs(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Say which files differ; return whether any do."""
    different = [name for name in expected | found if found.get(name) != expected.get(name)]
    for name in different:
        print(f"differs: {name}", file=sys.stderr)
    return bool(different)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark, or the training that it kills."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--train", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--at", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.train:
        at = [int(word) for word in (asked.at or "").split()]
        moment = Moment(signal.Signals(at[0]), operation=at[1]) if at else None
        return train(asked.train, asked.epochs, moment)
    counts = kill_and_resume(asked.kills, asked.epochs, asked.seed)
    print(json.dumps(counts))
    return int(any(counts[name] for name in ("different", "stray", "tracebacks")))


if __name__ == "__main__":
    sys.exit(main())
