"""TensorBoard: event files in the run folder, which `tensorboard --logdir runs` shows.

Each process writes the whole series again, so that a resumed run has every step once.
"""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Mapping
from typing import Any, final

from tensorboard.compat.proto.event_pb2 import (
    Event,  # pyright: ignore[reportAttributeAccessIssue]
    SessionLog,  # pyright: ignore[reportAttributeAccessIssue]
)
from tensorboard.compat.proto.summary_pb2 import Summary  # pyright: ignore[reportAttributeAccessIssue]
from tensorboard.plugins.hparams.summary_v2 import hparams_pb
from tensorboard.summary.writer.record_writer import RecordWriter

from daxy.trackers._tracker import TrackedRun, Tracker

FOLDER = "tensorboard"


@final
class TensorBoard(Tracker):
    """The event file of one run."""

    def __init__(self, run: TrackedRun) -> None:
        self.id = run.name
        folder = run.folder / FOLDER
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        name = f"events.out.tfevents.{time.time():.0f}.{socket.gethostname()}.{os.getpid()}"
        # `EventFileWriter` has a thread for each run, which prints a traceback on a full disk.
        self._file = (folder / name).open("wb")
        self._records = RecordWriter(self._file)
        self._write(0, file_version="brain.Event:2")
        # A TensorBoard that has read the file of an interrupted process forgets its steps.
        self._write(0, session_log=SessionLog(status=SessionLog.START))
        self._write(0, summary=hparams_pb(dict(run.settings), trial_id=run.name))

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Write scalars; see `Tracker.log`."""
        scalars = [Summary.Value(tag=name, simple_value=it) for name, it in values.items()]
        self._write(step, summary=Summary(value=scalars))

    def finish(self, step: int, scores: Mapping[str, float]) -> None:
        """Write the final scores; see `Tracker.finish`."""
        self.log(step, scores)
        self.close()

    def close(self) -> None:
        """Close the file; see `Tracker.close`."""
        self._file.close()

    def _write(self, step: int, **content: Any) -> None:
        event = Event(wall_time=time.time(), step=step, **content)
        self._records.write(event.SerializeToString())
        self._records.flush()


TRACKER = TensorBoard
