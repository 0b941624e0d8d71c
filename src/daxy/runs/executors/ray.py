"""Run programs as tasks of a Ray cluster: this machine's cores, or the cluster at an address.

A task receives its runs as JSON text and writes run folders: to the store's folder if the machines
share it, or to a storage from which the driver downloads them. If a worker dies, another one
resumes from the last checkpoint. A restarted driver resumes from the finished runs.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any

from daxy.core import interrupts
from daxy.core.errors import DaxyError, RunFailed, WrongRequest, require, with_notes
from daxy.core.imports import need
from daxy.learners import Progress
from daxy.runs import failures
from daxy.runs.config import RunConfig
from daxy.runs.folder import CHECKPOINT, RunFolder
from daxy.runs.monitor import Monitor
from daxy.runs.programs import Program
from daxy.runs.run import Run
from daxy.runs.storage import Storage
from daxy.runs.store import RunStore
from daxy.training.interrupt import Interrupted, stop_request

RETRIES = 3
"""Number of retries of a program whose worker died."""
UPLOAD_SECONDS = 120.0
"""Seconds between two uploads of checkpoints."""
ANSWER_SECONDS = 10.0
"""Seconds to wait for an answer of the cluster's address."""
PATIENCE = 60.0
"""Seconds that tasks have to save their state when the driver is interrupted."""
POLL_SECONDS = 0.5
"""Seconds between two checks for a signal while the driver waits for tasks."""
RESERVED = 0.9
"""Share of a GPU's memory that its tasks use together."""


def check(
    *, address: str | None = None, cpus: int = 1, gpus: float = 0, storage: str | None = None
) -> None:
    """Check that the cluster has these resources; see `run`.

    Raises:
        WrongRequest: as `run`.
        RunFailed: the storage cannot be read.
    """
    _ready(address, cpus, gpus, storage).shutdown()


def run(
    programs: Sequence[Program],
    store: RunStore,
    monitor: Monitor,
    *,
    address: str | None = None,
    cpus: int = 1,
    gpus: float = 0,
    storage: str | None = None,
) -> Iterator[Program]:
    """Run the programs; yield each one when its finished runs are in the store's folder.

    Args:
        programs: Programs to run.
        store: Store of the run folders.
        monitor: Not used: workers do not report progress.
        address: Address of the cluster; None starts one on this machine.
        cpus: Cores per task; each core counts as a device.
        gpus: GPUs per task.
        storage: URL that fsspec supports, for machines that do not share the store's folder.

    Raises:
        Interrupted: by a signal; running the same programs again resumes.
        RunFailed: a task failed or its run folders are missing; the others ran.
        WrongRequest: Ray is not installed, there is no cluster at the address, or no machine of it
            has what a task takes.
    """
    del monitor
    ray = _ready(address, cpus, gpus, storage)
    kept = None if storage is None else Storage.at(storage)
    pending: dict[Any, Program] = {}
    failed = list[RunFailed]()
    try:
        with stop_request(PATIENCE + interrupts.SAVING) as request:
            if kept is not None:
                _upload(kept, programs, store)
            options = {"num_cpus": cpus, "num_gpus": gpus, "max_retries": RETRIES}
            # An interrupted worker has saved its state; another one resumes.
            task = ray.remote(train).options(**options, retry_exceptions=[Interrupted])
            # A task of a killed driver may still be saving its state.
            there = replace(store, folder=store.folder.resolve(), patience=PATIENCE)
            place = kept and kept.url
            for program in programs:
                pending[task.remote(to_json(program), there, cpus, place, gpus)] = program
            while pending:
                if request.received:
                    raise KeyboardInterrupt
                done, _ = ray.wait(list(pending), num_returns=1, timeout=POLL_SECONDS)
                if not done:
                    continue
                program = pending.pop(done[0])
                try:
                    _collect(ray, done[0], program, store, kept)
                except RunFailed as error:
                    failed.append(error)
                yield program
    except (KeyboardInterrupt, SystemExit) as stop:
        raise Interrupted("interrupted; the same command resumes it") from stop
    finally:
        _stop(ray, list(pending))
        ray.shutdown()
    failures.end(failed)


def _upload(kept: Storage, programs: Sequence[Program], store: RunStore) -> None:
    """Upload interrupted groups, unless the storage has more epochs of them."""
    for program in programs:
        for group in store.plan(program.runs).resumed:
            names = [run.config.name for run in group]
            if kept.epochs(names[0]) < store.epochs_done(group):
                kept.store(names, store.folder)


def _collect(ray: Any, done: Any, program: Program, store: RunStore, kept: Storage | None) -> None:
    """Download the finished runs of an ended task, also after a failure.

    Raises:
        RunFailed: the task failed, or runs are missing.
    """
    try:
        ray.get(done)
    except ray.exceptions.RayTaskError as error:
        raise RunFailed(f"a task failed: {error.cause}") from error
    except ray.exceptions.RayError as error:
        again = "the same command resumes from the last checkpoints"
        raise RunFailed(f"a task was lost ({type(error).__name__}); {again}") from error
    finally:
        if kept is not None:
            names = [run.config.name for run in store.missing(program.runs)]
            kept.fetch(names, store.folder, skip=(CHECKPOINT,))
            store.tidy(program.runs)
    if left := store.missing(program.runs):
        place = f"{left[0].config.name} is finished, but not in {store.folder}"
        raise RunFailed(f"{place}; machines that do not share it need a --storage")


def to_json(program: Program) -> str:
    """Return a program's runs as JSON text."""
    return json.dumps(
        [{"config": asdict(run.config), "files": run.data.located} for run in program.runs]
    )


def train(programs: str, store: RunStore, cores: int, storage: str | None, gpus: float = 0) -> None:
    """Train a program's runs; the body of a Ray task."""
    flag = "--xla_force_host_platform_device_count"
    if flag not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flag}={cores}"
    if 0 < gpus < 1:
        # Tasks that share a GPU share its memory, of which JAX would take three quarters at once.
        os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", f"{RESERVED * gpus:.3f}")
    try:
        runs = [_run(RunConfig(**one["config"]), one["files"]) for one in json.loads(programs)]
        if storage is None:
            store.complete(runs)
        else:
            _train_elsewhere(runs, store, Storage.at(storage))
    except Interrupted:
        raise
    except DaxyError as error:
        # Errors with more than a text do not travel between processes.
        raise RunFailed(with_notes(str(error), error)) from None


def _train_elsewhere(runs: Sequence[Run], store: RunStore, kept: Storage) -> None:
    """Train runs in a temporary folder, from the state in the storage."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        names = [run.config.name for run in runs]
        kept.fetch(names, folder)
        # An interrupted group resumes whole, with runs outside the program.
        groups = (RunFolder(folder / name).group for name in names)
        names = list(dict.fromkeys([*names, *chain.from_iterable(groups)]))
        kept.fetch(names, folder)
        try:
            replace(store, folder=folder).complete(runs, _Uploader(kept, names, folder))
        finally:
            kept.store(names, folder)


def _run(config: RunConfig, files: Mapping[str, Any]) -> Run:
    run = Run.of(config, files)
    if run.config != config:
        raise RunFailed(f"{config.name}: this worker would train {run.config.name}")
    return run


class _Uploader(Monitor):
    """Monitor that uploads run folders at intervals."""

    def __init__(self, storage: Storage, names: Sequence[str], folder: Path) -> None:
        self._what = storage, names, folder
        self._last = time.monotonic()

    def stepped(self, progress: Progress, examples: int) -> None:
        """Upload the run folders if the interval has passed."""
        del progress, examples
        if time.monotonic() - self._last >= UPLOAD_SECONDS:
            storage, names, folder = self._what
            storage.store(names, folder)
            self._last = time.monotonic()


def _ready(address: str | None, cpus: int, gpus: float, storage: str | None) -> Any:
    """Connect to a cluster with the resources of a task; return Ray."""
    require(cpus > 0, f"--cpus must be positive, not {cpus}")
    require(gpus >= 0, f"--gpus must not be negative: {gpus:g}")
    if storage is not None:
        Storage.at(storage).check()
    ray = _connected(address)
    try:
        _check_machines(ray, {"CPU": cpus, "GPU": gpus})
    except WrongRequest:
        ray.shutdown()
        raise
    return ray


def _check_reached(address: str) -> None:
    """Check that the address answers, as Ray would retry for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not (host and port.isdecimal()):
        return  # `auto`, for one
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise WrongRequest(f"there is no Ray cluster at {address}: {error}") from error


def _connected(address: str | None) -> Any:
    """Connect to a cluster, or start one; return Ray."""
    need("ray")
    ray: Any = importlib.import_module("ray")
    if address is not None:
        _check_reached(address)
    own = {"include_dashboard": False} if address is None else {}
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with warnings.catch_warnings():
            # Ray starts its processes by a fork that runs another program at once.
            warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called")
            ray.init(address or "local", log_to_driver=False, logging_level="error", **own)
    except (ConnectionError, ValueError, RuntimeError) as error:
        where = f"there is no Ray cluster at {address}" if address else "Ray does not start"
        raise WrongRequest(f"{where}: {error}") from error
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)  # Ray has set one that says nothing.
    return ray


def _check_machines(ray: Any, wanted: Mapping[str, float]) -> None:
    """Check that a machine of the cluster fits a task, which would wait forever otherwise."""
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not any(all(has.get(it, 0) >= many for it, many in wanted.items()) for has in machines):
        most = {it: max((has.get(it, 0) for has in machines), default=0) for it in wanted}
        there = " and ".join(f"{many:g} of {it}" for it, many in most.items())
        asked = " and ".join(f"{many:g} of {it}" for it, many in wanted.items())
        raise WrongRequest(f"a task takes {asked}; no machine of the cluster has more than {there}")


def _stop(ray: Any, tasks: list[Any]) -> None:
    """Cancel tasks; wait until they have saved their state."""
    for task in tasks:
        ray.cancel(task)
    if tasks:
        ray.wait(tasks, num_returns=len(tasks), timeout=PATIENCE)
