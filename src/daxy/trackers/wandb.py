"""Weights & Biases: a run of the project `daxy`; its environment variables choose another.

A run that resumes online sends the steps that the server lacks. Offline, each process writes the
whole series again, into a folder of its own that replaces that of the interrupted process.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from typing import final

import wandb

from daxy.trackers._tracker import TrackedRun, Tracker

PROJECT = "daxy"
SECONDS = 30.0
"""Time for the server to begin a run, and to end one, before daxy goes on without it."""


@final
class WeightsAndBiases(Tracker):
    """One run of Weights & Biases."""

    def __init__(self, run: TrackedRun) -> None:
        self.id = run.id or secrets.token_hex(4)
        for folder in run.folder.glob(f"wandb/offline-run-*-{self.id}"):
            shutil.rmtree(folder)
        self._run = wandb.init(
            id=self.id,
            resume="allow",
            reinit="create_new",  # Seeds that train together are runs at the same time.
            name=run.name,
            group=os.environ.get("WANDB_RUN_GROUP", run.group),
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            dir=os.environ.get("WANDB_DIR", str(run.folder.resolve())),
            config=dict(run.settings),
            settings=wandb.Settings(
                console="off",
                init_timeout=SECONDS,
                finish_timeout=SECONDS,
                finish_timeout_raises=True,
            ),
        )

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Log values, unless the server has the step; see `Tracker.log`."""
        if step >= self._run.step:
            self._run.log(dict(values), step=step, commit=True)

    def finish(self, step: int, scores: Mapping[str, float]) -> None:
        """Add the final scores to the summary; see `Tracker.finish`."""
        del step
        self._run.summary.update(dict(scores))
        self._run.finish()

    def close(self) -> None:
        """Mark the run as failed; see `Tracker.close`."""
        self._run.finish(exit_code=1)


TRACKER = WeightsAndBiases
