"""Kill a short training with SIGKILL at random moments, resume it, and compare what it leaves.

    python -m benchmarks.kill_and_resume --kills 50

A training that is never disturbed comes first. Then the same training runs in a fresh folder, and
whenever it runs it is killed at a random moment, until enough kills were survived; one that ends
before its moment has come is compared with the undisturbed one, and the next begins. Every file a
run leaves has to be the same to the byte, times of day and durations aside.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daxy.core.split import Split
from daxy.tasks import ScanData

TASK = "scan/simple_p1"
SEEDS = (0, 1)
TEST_EXAMPLES = 200
BYTES = ("model.safetensors", "predictions.parquet", "config.json")
DURATIONS = ("seconds",)


@dataclass(frozen=True, kw_only=True)
class Few(ScanData):
    """The data of a task with a test set that is decoded in a moment."""

    def load(self, task: str) -> Split:
        """Return the split with the first examples of its test set alone."""
        whole = super().load(task)
        return Split.of(
            train=whole.train,
            validation=whole.validation,
            test=whole.test[:TEST_EXAMPLES],
            task=task,
            rule=whole.provenance.rule,
            seed=self.seed,
            options={},
        )


def train(folder: Path, epochs: int) -> None:
    """Train the group of runs, saying `stretch` after each stretch; resume if there is what to."""
    from daxy.experiments.runs import Experiment, Silent
    from daxy.learners import neural
    from daxy.learners.neural import Neural
    from daxy.models.seq2seq import Config
    from daxy.training.protocol import Protocol

    class Watcher(Silent):
        def stepped(self, *_: Any) -> None:
            print("stretch", flush=True)

    # One padded shape: to compile for each is most of what a process does before it can be killed.
    neural.BUCKETS = 1
    learner = Neural(
        model="seq2seq",
        config=Config(hidden=8, embedding=4),
        protocol=Protocol(epochs=epochs, batch_size=2),
    )
    asked = Experiment(task=TASK, learner=learner, data=Few(), folder=folder, checkpoint_seconds=0)
    asked.run(SEEDS, watcher=Watcher())


def start(folder: Path, epochs: int) -> subprocess.Popen[str]:
    """Start the training in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.kill_and_resume"]
    command += ["--train", str(folder), "--epochs", str(epochs)]
    root = Path(__file__).parent.parent
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)


def finish(process: subprocess.Popen[str]) -> float:
    """Wait for the process to end well; return how long it took from its first stretch on."""
    assert process.stdout is not None
    with process.stdout as said:
        said.readline()
        began = time.monotonic()
        said.read()
    if process.wait() != 0:
        raise SystemExit(f"a training failed with exit code {process.returncode}")
    return time.monotonic() - began


def killed(process: subprocess.Popen[str], delay: float, *, early: bool) -> bool:
    """Kill the process `delay` seconds after its first stretch, or `early`: after its start.

    Return whether it was still running then.
    """
    assert process.stdout is not None
    if not early:
        process.stdout.readline()
    try:
        process.wait(delay)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return True
    finally:
        process.stdout.close()
    if process.returncode != 0:
        raise SystemExit(f"a training failed with exit code {process.returncode}")
    return False


def left_by(folder: Path) -> dict[str, Any]:
    """Return what the runs in a folder left: bytes, and figures without their durations."""
    found: dict[str, Any] = {}
    for run in sorted(folder.iterdir()):
        found |= {f"{run.name}/{name}": (run / name).read_bytes() for name in BYTES}
        records = [json.loads((run / "scores.json").read_text())]
        records += map(json.loads, (run / "log.jsonl").read_text().splitlines())
        found[f"{run.name}/records"] = [
            {name: value for name, value in record.items() if name not in DURATIONS}
            for record in records
        ]
        found[f"{run.name}/files"] = sorted(str(path.relative_to(run)) for path in run.rglob("*"))
    return found


def kill_and_resume(kills: int, epochs: int, seed: int = 0) -> dict[str, int]:
    """Return how many kills and trainings there were, and how many left something else."""
    draws = random.Random(seed)
    counts = {"kills": 0, "trainings": 0, "different": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        finish(start(folder / "first", epochs))  # The one that compiles.
        seconds = finish(start(folder / "undisturbed", epochs))
        expected = left_by(folder / "undisturbed")
        counts["different"] += left_by(folder / "first") != expected
        while counts["kills"] < kills:
            counts["trainings"] += 1
            own = folder / str(counts["trainings"])
            while counts["kills"] < kills:
                early = draws.random() < 0.1
                if not killed(start(own, epochs), draws.uniform(0, seconds), early=early):
                    break
                counts["kills"] += 1
            else:
                finish(start(own, epochs))
            counts["different"] += differs(left_by(own), expected)
    return counts


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
    asked = parser.parse_args(arguments)
    if asked.train:
        train(asked.train, asked.epochs)
        return 0
    counts = kill_and_resume(asked.kills, asked.epochs, asked.seed)
    print(json.dumps(counts))
    return int(counts["different"] > 0)


if __name__ == "__main__":
    sys.exit(main())
