"""The script for SLURM's job arrays, under the variables, the signal and the command of SLURM."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT

SCRIPT = ROOT / "examples" / "slurm_array.sh"
TRAINING = "scan/simple_p1 --cell gru --hidden 8 --embedding 4 --epochs 8".split()
TRAINING += ["--max-decode-length", "4"]
PATIENCE = 120
"""Most seconds that a job may take."""


def job(folder: Path, task: int) -> subprocess.Popen[str]:
    """Start a task of a job array, with a `scontrol` that writes down its arguments."""
    commands = folder / "bin"
    commands.mkdir(exist_ok=True)
    scontrol = commands / "scontrol"
    scontrol.write_text(f'#!/bin/bash\necho "$@" >> {folder}/scontrol.log\n')
    scontrol.chmod(0o755)
    path = os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = {
        "SLURM_SUBMIT_DIR": str(folder),
        "SLURM_ARRAY_JOB_ID": "71",
        "SLURM_ARRAY_TASK_ID": str(task),
    }
    return subprocess.Popen(
        ["bash", str(SCRIPT), *TRAINING],
        env={**os.environ, **variables, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def weights(folder: Path) -> dict[str, bytes]:
    """Return the weights of the finished runs of a folder, by the run's name."""
    files = (folder / "runs").glob("*/model.safetensors")
    return {it.parent.name: it.read_bytes() for it in files if (it.parent / "done").exists()}


def test_a_job_at_its_time_limit_is_queued_again_and_ends_in_the_same_bits(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    whole.mkdir()
    cut.mkdir()
    for task in (0, 1):
        undisturbed = job(whole, task)
        said, _ = undisturbed.communicate(timeout=PATIENCE)
        assert undisturbed.returncode == 0, said

    first = job(cut, 1)
    until = time.monotonic() + PATIENCE
    while not any(log.stat().st_size for log in (cut / "runs").glob("*/log.jsonl")):
        assert time.monotonic() < until
        assert first.poll() is None
        time.sleep(0.02)
    first.send_signal(signal.SIGTERM)
    said, _ = first.communicate(timeout=PATIENCE)
    assert first.returncode == 0, said
    assert not weights(cut)
    assert (cut / "scontrol.log").read_text() == "requeue 71_1\n"
    again = job(cut, 1)
    said, _ = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0, said

    wanted = weights(whole)
    assert sorted(name.split(".")[2] for name in wanted) == ["seed0", "seed1"]
    assert weights(cut).items() <= wanted.items()
    assert len(weights(cut)) == 1


@pytest.mark.parametrize("missing", ["SLURM_ARRAY_TASK_ID", "SLURM_SUBMIT_DIR"])
def test_outside_of_an_array_it_says_so(missing: str, tmp_path: Path) -> None:
    variables = {"SLURM_ARRAY_TASK_ID": "0", "SLURM_SUBMIT_DIR": str(tmp_path)}
    del variables[missing]
    ran = subprocess.run(
        ["bash", str(SCRIPT), *TRAINING],
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode != 0
    assert missing in ran.stderr
