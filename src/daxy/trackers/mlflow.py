"""MLflow: a run of the experiment `daxy`, on the server or in the file of MLFLOW_TRACKING_URI.

MLFLOW_EXPERIMENT_NAME or MLFLOW_EXPERIMENT_ID chooses another experiment. A resumed run continues;
of each metric it sends the steps that MLflow lacks.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from collections.abc import Mapping
from typing import final

from mlflow import MlflowClient
from mlflow.entities import Metric, Param
from mlflow.exceptions import MlflowException

from daxy.trackers._tracker import TrackedRun, Tracker

EXPERIMENT = "daxy"
MOST_PARAMETERS = 100
"""Maximum number of parameters in a request to MLflow."""
FORBIDDEN = re.compile(r"[^A-Za-z0-9_\-. /]")
"""Characters that a name in MLflow has not."""

# MLflow tries for minutes to reach a server; training would wait for it.
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")


@final
class MLflow(Tracker):
    """One run of MLflow."""

    def __init__(self, run: TrackedRun) -> None:
        self._client = MlflowClient()
        self._last: dict[str, int] = {}
        """Last step of each metric that MLflow has."""
        if run.id and self._exists(run.id):
            self.id = run.id
            self._continue()
        else:
            self.id = self._begin(run)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Log values that MLflow lacks; see `Tracker.log`."""
        named = {FORBIDDEN.sub("_", name): value for name, value in values.items()}
        new = {name: value for name, value in named.items() if step > self._last.get(name, -1)}
        now = int(time.time() * 1000)
        metrics = [Metric(name, value, now, step) for name, value in new.items()]
        self._client.log_batch(self.id, metrics=metrics)
        self._last |= dict.fromkeys(new, step)

    def finish(self, step: int, scores: Mapping[str, float]) -> None:
        """Log the final scores; see `Tracker.finish`."""
        self.log(step, scores)
        self._client.set_terminated(self.id)

    def close(self) -> None:
        """Mark the run as killed; see `Tracker.close`."""
        self._client.set_terminated(self.id, status="KILLED")

    def _exists(self, name: str) -> bool:
        """Whether MLflow has the run: it may be deleted, or on another server."""
        try:
            return self._client.get_run(name).info.lifecycle_stage == "active"
        except MlflowException as error:
            if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                return False
            raise

    def _begin(self, run: TrackedRun) -> str:
        tags = {"daxy.group": run.group}
        begun = self._client.create_run(self._experiment(), run_name=run.name, tags=tags)
        settings = iter(Param(name, str(value)) for name, value in run.settings.items())
        while params := list(itertools.islice(settings, MOST_PARAMETERS)):
            self._client.log_batch(begun.info.run_id, params=params)
        return begun.info.run_id

    def _continue(self) -> None:
        self._client.update_run(self.id, status="RUNNING")
        for name in self._client.get_run(self.id).data.metrics:
            history = self._client.get_metric_history(self.id, name)
            self._last[name] = max(metric.step for metric in history)

    def _experiment(self) -> str:
        """Return the identifier of the experiment, which is created at first."""
        if chosen := os.environ.get("MLFLOW_EXPERIMENT_ID"):
            return chosen
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", EXPERIMENT)
        if existing := self._client.get_experiment_by_name(name):
            return existing.experiment_id
        try:
            return self._client.create_experiment(name)
        except MlflowException:
            # Another process may have created it meanwhile.
            if existing := self._client.get_experiment_by_name(name):
                return existing.experiment_id
            raise


TRACKER = MLflow
