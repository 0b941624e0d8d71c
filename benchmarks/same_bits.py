"""Train a short run of each protocol, and compare its weights and outputs with another commit's.

    python -m benchmarks same_bits > before.json      (at one commit)
    python -m benchmarks.same_bits --against before.json      (at another one, on the same machine)

A change of the code that trains is to change no bit of a result. Bits depend on the processor and
the version of JAX, so a comparison means something on one machine alone. The digests are of tensors
and of outputs, not of files, so a change of a file format does not count.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from safetensors.numpy import load_file

SCAN = "scan/simple_p64"
SMALL_WORLDS = "--grid 4 --resampling 1 --kind simple_intrans --shots 0"
SHORT = "--train-pairs 200 --validation-pairs 20 --test-pairs 40 --max-length 12"
SHORT_TEST = "--test-min-length 13 --test-max-length 16"
RUNS = {
    "bastings2018": f"{SCAN} seq2seq --cell gru --hidden 16 --embedding 8 --epochs 1",
    "bastings2018, no attention": f"{SCAN} seq2seq --no-attention --hidden 16 --epochs 1",
    "bastings2018, wide": f"{SCAN} seq2seq --hidden 300 --embedding 64 --epochs 1",
    "lake2018": f"{SCAN} stacked --protocol lake2018 --hidden 12 --layers 2 --samples 600",
    "lake2018, attention": f"{SCAN} stacked --attention --protocol lake2018 --hidden 12"
    " --samples 400",
    "andreas2020": f"{SCAN} luong --protocol andreas2020 --augment geca --hidden 16"
    " --samples 6400 --max-decode-length 48",
    "ruis2020": f"gscan/compositional multimodal --protocol ruis2020 --steps 30 --batch-size 16"
    f" --validation-examples 20 --eval-every 10 {SMALL_WORLDS}",
    **{
        f"grefenstette2015, {memory}": f"transduction/reverse transducer --memory {memory}"
        f" --protocol grefenstette2015 --hidden 16 --embedding 8 --steps 40 --eval-every 20 {width}"
        f" {SHORT} {SHORT_TEST} --max-decode-length 20"
        for memory, width in {
            "stack": "--memory-width 8",
            "queue": "--memory-width 8",
            "deque": "--memory-width 8",
            "superposition": "--memory-width 8",
            "none": "--layers 2",
        }.items()
    },
}
"""Flags of `daxy train` for each short run."""


def main() -> int:
    """Print the digests of every short run; with `--against`, those that differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_bits", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--against", type=Path, metavar="FILE", help="what another commit printed")
    parser.add_argument("--only", default="", help="runs whose name begins so")
    asked = parser.parse_args()
    measured = {name: digests(flags) for name, flags in RUNS.items() if name.startswith(asked.only)}
    print(json.dumps(measured, indent=2))
    if asked.against is None:
        return 0
    known = json.loads(asked.against.read_text(encoding="utf-8"))
    different = [name for name in measured if measured[name] != known.get(name)]
    sys.stderr.write(f"{len(different)} of {len(measured)} runs differ: {different}\n")
    return 1 if different else 0


def digests(flags: str) -> list[dict[str, str]]:
    """Return the digests of the weights and of the outputs of two seeds trained with these flags.

    Raises:
        CalledProcessError: training failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = ["train", *flags.split(), "--seeds", "2", "--runs", folder]
        program = [sys.executable, "-m", "daxy", *command]
        subprocess.run(program, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        return [_digests_of(run) for run in sorted(Path(folder).glob("*.seed*"))]


def _digests_of(run: Path) -> dict[str, str]:
    weights = hashlib.blake2b(digest_size=8)
    for name, array in sorted(load_file(run / "model.safetensors").items()):
        weights.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    outputs = pq.read_table(run / "predictions.parquet", columns=["prediction"])
    text = json.dumps(outputs.column("prediction").to_pylist())
    seed = run.name.split(".seed")[1].partition(".")[0]
    return {
        "seed": seed,
        "weights": weights.hexdigest(),
        "outputs": hashlib.blake2b(text.encode(), digest_size=8).hexdigest(),
    }


if __name__ == "__main__":
    sys.exit(main())
