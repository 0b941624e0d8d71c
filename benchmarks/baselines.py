"""Scores of the nearest neighbour on SCAN and NACS, written to results/baselines.json.

    python -m benchmarks.baselines
    python -m benchmarks.baselines scan/addprim_jump scan/length

Without a task, all of SCAN and NACS but those with a number of examples or a repetition in their
names. Other tasks stay as they are.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from daxy import tasks
from daxy.core.files import write_json
from daxy.learners.nearest import Memory
from daxy.report.baselines import FILE, read
from daxy.version import __version__

RESULTS = Path(__file__).parents[1] / "results"
LEARNERS = {"nearest": False, "nearest --substitute": True}
"""Learners as `daxy train TASK` takes them, with their `substitute`."""


def main() -> None:
    """Measure the baselines, print them and write them."""
    parser = argparse.ArgumentParser(description="Measure the nearest neighbour.")
    parser.add_argument("tasks", nargs="*", help="see above if none is given")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    arguments = parser.parse_args()
    path = arguments.results / FILE
    measured = dict(read(path))
    for task in arguments.tasks or names():
        measured[task] = measure(task)
        for name, scores in measured[task].items():
            print(f"{task} {name}: {', '.join(f'{it} {100 * x:.1f}' for it, x in scores.items())}")
        write_json(path, {"daxy": __version__, "tasks": dict(sorted(measured.items()))})


def names() -> list[str]:
    """Return the tasks of SCAN and NACS without those by number of examples."""
    every = [name for name in tasks.available() if name.startswith(("scan/", "nacs/"))]
    return [name for name in every if "_num" not in name and tasks.get(name).is_generated]


def measure(task: str) -> dict[str, dict[str, float]]:
    """Return every metric of each baseline on a task, as shares."""
    split = tasks.data(task).for_training().load(task)
    return {
        name: tasks.get(task).totals(
            split.test, Memory.of(split.train, substitute=substitute).predict(split.test)
        )
        for name, substitute in LEARNERS.items()
    }


if __name__ == "__main__":
    main()
