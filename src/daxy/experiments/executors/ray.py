"""Programs as tasks of a Ray cluster: this machine's cores, or the cluster at an address.

A task gets what its runs are as JSON text and leaves run folders: in the workshop's own folder
where the machines share it, else at a storage from which the driver fetches them. A task whose
worker dies is given to another one, which goes on from the last checkpoint; a driver that is
started again goes on from what is finished.
"""

from __future__ import annotations

import importlib
import json
import os
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from daxy.core.errors import RunFailed, WrongRequest, require
from daxy.experiments.programs import Program
from daxy.experiments.request import RunConfig
from daxy.experiments.runs import Run, Silent, Watcher, Workshop
from daxy.experiments.storage import Storage
from daxy.training.interrupt import Interrupted
from daxy.training.loop import Position

RETRIES = 3
"""How often a program whose worker died is begun again."""
KEPT_SECONDS = 120.0
"""How often a checkpoint goes to the storage."""
PATIENCE = 60.0
"""Seconds that tasks have to save their state when the driver is interrupted."""


def run(
    programs: Sequence[Program],
    workshop: Workshop,
    watcher: Watcher,
    *,
    address: str | None = None,
    cpus: int = 1,
    gpus: float = 0,
    storage: str | None = None,
) -> Iterator[Program]:
    """Yield each program once its runs are finished and lie in the workshop's folder.

    Args:
        programs: What is to be run.
        workshop: Where run folders are found and made.
        watcher: Hears nothing: workers do not report before they are done.
        address: Of the cluster; this machine becomes one unless given.
        cpus: Cores of a task, each of which counts as a device.
        gpus: GPUs of a task.
        storage: A URL that fsspec knows, for machines that do not share the workshop's folder.

    Raises:
        Interrupted: by a signal; running the same programs again goes on from there.
        RunFailed: a task failed, or its run folders do not come back.
        WrongRequest: Ray is not installed, or there is no cluster at the address.
    """
    del watcher
    ray = _connected(address)
    kept = None if storage is None else Storage(storage)
    require(cpus > 0, f"--cpus must be positive, not {cpus}")
    available = ray.cluster_resources().get("CPU", 0)
    require(cpus <= available, f"--cpus {cpus} is more than the cluster's {available:g}")
    options = {"num_cpus": cpus, "num_gpus": gpus, "max_retries": RETRIES}
    task = ray.remote(train).options(**options)
    place = str(workshop.folder.resolve())
    pending = {
        task.remote(stated(program), place, workshop.checkpoint_seconds, cpus, storage): program
        for program in programs
    }
    try:
        while pending:
            (done, *_), _ = ray.wait(list(pending), num_returns=1)
            program = pending.pop(done)
            _outcome(ray, done)
            if kept is not None:
                kept.fetch([run.config.name for run in program.runs], workshop.folder)
            yield program
    except KeyboardInterrupt as stop:
        _stop(ray, list(pending))
        raise Interrupted("interrupted; the same request goes on from there") from stop
    finally:
        ray.shutdown()


def stated(program: Program) -> str:
    """Return what a program's runs are, as JSON text."""
    official = [run.data.official for run in program.runs]
    runs = [asdict(run.config) for run in program.runs]
    places = [None if each is None else str(each.resolve()) for each in official]
    return json.dumps(
        [{"config": one, "official": place} for one, place in zip(runs, places, strict=True)]
    )


def train(programs: str, folder: str, seconds: float, cores: int, storage: str | None) -> None:
    """Train a program's runs: what a task does, in a process of its own."""
    flag = "--xla_force_host_platform_device_count"
    if flag not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flag}={cores}"
    runs = [_run(RunConfig(**each["config"]), each["official"]) for each in json.loads(programs)]
    if storage is None:
        Workshop(Path(folder), seconds).complete(runs)
        return
    names = [run.config.name for run in runs]
    kept = Storage(storage)
    with tempfile.TemporaryDirectory() as scratch:
        kept.fetch(names, Path(scratch))
        try:
            Workshop(Path(scratch), seconds).complete(runs, _Keeping(kept, names, Path(scratch)))
        finally:
            kept.store(names, Path(scratch))


def _run(config: RunConfig, official: str | None) -> Run:
    run = Run.of(config, None if official is None else Path(official))
    if run.config != config:
        raise RunFailed(f"{config.name}: what this worker would train is {run.config.name}")
    return run


class _Keeping(Silent):
    """A watcher that brings what there is of its runs to the storage from time to time."""

    def __init__(self, storage: Storage, names: Sequence[str], folder: Path) -> None:
        self._what = storage, names, folder
        self._last = time.monotonic()

    def stepped(self, position: Position, steps: int, examples: int) -> None:
        """Bring everything there if it is time to."""
        del position, steps, examples
        if time.monotonic() - self._last >= KEPT_SECONDS:
            storage, names, folder = self._what
            storage.store(names, folder)
            self._last = time.monotonic()


def _connected(address: str | None) -> Any:
    """Return Ray, with a cluster."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise WrongRequest("Ray is not installed: pip install 'daxy[ray]'") from error
    own = {"include_dashboard": False} if address is None else {}
    try:
        with warnings.catch_warnings():
            # Ray starts its processes by a fork that runs another program at once.
            warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called")
            ray.init(address or "local", log_to_driver=False, logging_level="error", **own)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise WrongRequest(f"there is no Ray cluster at {address}: {error}") from error
    return ray


def _outcome(ray: Any, done: Any) -> None:
    try:
        ray.get(done)
    except ray.exceptions.RayTaskError as error:
        raise RunFailed(f"a task failed: {error.cause}") from error
    except ray.exceptions.RayError as error:
        again = "the same request goes on from the last checkpoints"
        raise RunFailed(f"a task was lost ({type(error).__name__}); {again}") from error


def _stop(ray: Any, tasks: list[Any]) -> None:
    """Let tasks save their state, and end."""
    for task in tasks:
        ray.cancel(task)
    ray.wait(tasks, num_returns=len(tasks), timeout=PATIENCE)
