"""The peak memory of a training run, programs compiled anew: its largest share is compilation.

    python -m benchmarks.memory nacs/simple --seeds 3

Unix only: `getrusage` says what the children of this process held at most.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile

from benchmarks.side_by_side import warn_if_busy

UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in what `getrusage` counts."""


def main() -> None:
    """Print the peak of importing JAX, then that of a training from the first to the last step."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("task", nargs="?", default="scan/simple")
    parser.add_argument("--seeds", default="3")
    parser.add_argument("--epochs", default="1")
    given = parser.parse_args()
    warn_if_busy()
    imported = peak(["-c", "import jax; jax.devices()"])
    with tempfile.TemporaryDirectory() as runs:
        flags = ["--seeds", given.seeds, "--epochs", given.epochs, "--runs", runs]
        trained = peak(["-m", "daxy", "train", given.task, *flags])
    print(f"{given.task}, seeds {given.seeds}: {trained:.2f} GiB at most; JAX alone {imported:.2f}")


def peak(arguments: list[str]) -> float:
    """Run Python with these arguments; return the GiB that the largest child so far has held."""
    environment = os.environ | {"DAXY_CACHE": ""}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    subprocess.run([sys.executable, *arguments], env=environment, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * UNIT / 2**30


if __name__ == "__main__":
    main()
