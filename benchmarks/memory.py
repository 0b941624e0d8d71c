"""The peak memory of a training run, programs compiled anew: its largest share is compilation.

    python -m benchmarks.memory
    python -m benchmarks.memory gscan/compositional multimodal --protocol ruis2020 --steps 100

What follows is what `daxy train` is asked for: unless given three networks on `scan/simple`, for an
epoch. The peak is that of the whole run, making the data and decoding the test set included.
Unix only: `getrusage` says what the children of this process held at most.
"""

from __future__ import annotations

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
    asked = sys.argv[1:] or ["scan/simple", "--seeds", "3", "--epochs", "1"]
    warn_if_busy()
    imported = peak(["-c", "import jax; jax.devices()"])
    with tempfile.TemporaryDirectory() as runs:
        trained = peak(["-m", "daxy", "train", *asked, "--runs", runs])
    print(f"{' '.join(asked)}: {trained:.2f} GiB at most; JAX alone {imported:.2f}")


def peak(arguments: list[str]) -> float:
    """Run Python with these arguments; return the GiB that the largest child so far has held."""
    environment = os.environ | {"DAXY_CACHE": ""}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    subprocess.run([sys.executable, *arguments], env=environment, stdout=sys.stderr, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * UNIT / 2**30


if __name__ == "__main__":
    main()
