"""Folder of one run: files are written atomically, `done` last.

| file | holds |
|---|---|
| config.json | complete, resolved configuration |
| environment.json | versions, device, date, group, and environments of resumes |
| log.jsonl | one line per epoch |
| checkpoint/ | during training: state of the group, in the folder of its first run |
| model.safetensors | selected weights of a network; other learners write other files |
| predictions.parquet | each test example with its prediction and scores |
| scores.json | scores |
| done | digests of the other files; the run is finished |
| trackers.json | with `--log`: the run's name in each tracker |
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from msgspec import Struct

from daxy.core import json_objects
from daxy.core.errors import RunFailed, WrongFile, quote, require
from daxy.core.files import lines, other_kind, write_json, write_text
from daxy.core.schema import check
from daxy.runs.config import FORMAT, RunConfig
from daxy.runs.contents import (
    Config,
    Done,
    Environment,
    Record,
    Scores,
    check_shares,
    read,
)

CHECKPOINT = "checkpoint"
"""Folder of a group's state, inside the folder of its first run."""

RESULTS = (  # and what the predictor wrote
    "config.json",
    "environment.json",
    "predictions.parquet",
    "scores.json",
)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Folder of one run, which may not exist."""

    path: Path

    @property
    def workdir(self) -> Path:
        """Working folder of the learner; the first run of a group has the group's state."""
        return self.path / CHECKPOINT

    @property
    def has_state(self) -> bool:
        """Whether there is a state to resume from."""
        folder = self.workdir
        return folder.is_dir() and any(not path.name.endswith(".tmp") for path in folder.iterdir())

    @property
    def predictions(self) -> Path:
        """File of the test set with predictions and scores."""
        return self.path / "predictions.parquet"

    def begin(self, config: RunConfig, environment: Mapping[str, Any]) -> None:
        """Write the configuration and the environment."""
        write_json(self.path / "config.json", asdict(config))
        write_json(self.path / "environment.json", dict(environment))

    @property
    def has_ended(self) -> bool:
        """Whether `done` exists; `is_done` also checks the files."""
        return (self.path / "done").exists()

    @property
    def has_begun(self) -> bool:
        """Whether a run began here that is not finished."""
        return not self.has_ended and (self.path / "config.json").exists()

    @property
    def unfinished(self) -> str:
        """The message that there is no finished run, with the command that resumes it."""
        resume = f"`daxy train --config {self.path} --runs {self.path.parent}` resumes it"
        return f"{self.path}: no finished run{f'; {resume}' * self.has_begun}"

    def is_done(self) -> bool:
        """Whether the run is finished; checks the digests of its files.

        Raises:
            RunFailed: a file of a finished run is missing or has changed.
        """
        if not self.has_ended:
            return False
        digests = self._content("done", Done)
        for name in dict.fromkeys([*RESULTS, *digests]):
            file = self._file(name)
            if not file.exists():
                raise corrupt(self.path, f"{name} is missing")
            if digests.get(name) != _digest(file):
                raise corrupt(self.path, f"{name} was changed after training")
        return True

    def finish(self, scores: Mapping[str, Any], files: Sequence[str] = ()) -> None:
        """Write the scores, delete unfinished files, and write `done`.

        Args:
            scores: The content of `scores.json`.
            files: Names of the files that the predictor wrote.
        """
        write_json(self.path / "scores.json", dict(scores))
        self.drop_unfinished_files()
        write_json(
            self.path / "done", {name: _digest(self.path / name) for name in [*RESULTS, *files]}
        )

    def drop_unfinished_files(self) -> None:
        """Delete files that a killed process was writing; the caller holds the lock."""
        for unfinished in self.path.glob(".*.tmp"):
            unfinished.unlink(missing_ok=True)

    @property
    def has_strays(self) -> bool:
        """Whether there is a state or an unfinished file, which a finished run has not."""
        return self.workdir.exists() or any(self.path.glob(".*.tmp"))

    def delete(self) -> None:
        """Delete the folder atomically, by renaming it first.

        Raises:
            OSError: the folder cannot be deleted.
        """
        doomed = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.tmp")
        if self.path.is_symlink():
            doomed = self.path  # `rmtree` refuses a symbolic link.
        else:
            self.path.rename(doomed)
        shutil.rmtree(doomed)

    def scores(self) -> dict[str, Any]:
        """Return the scores of a finished run.

        Raises:
            RunFailed: the file is missing or damaged.
        """
        scores = self._content("scores.json", Scores, constants=True)
        if scores["metric"] not in scores["test"]:
            metric = quote(scores["metric"])
            raise corrupt(self.path, f"scores.json has no score of {metric} in `test`")
        tests, validation = scores.get("tests", {}), scores.get("validation_scores", {})
        try:
            check_shares("scores.json", scores["test"], validation, *tests.values())
            check_shares("scores.json", {"validation": scores["validation"]})
        except ValueError as error:
            raise corrupt(self.path, str(error)) from None
        return scores

    def _file(self, name: str) -> Path:
        """Return the path of a file of the folder, which may be missing."""
        path = self.path / name
        if kind := other_kind(path):
            raise corrupt(self.path, f"{name} is {kind}; expected a file")
        return path

    def _content(self, name: str, kind: type[Struct], *, constants: bool = False) -> dict[str, Any]:
        """Return the JSON object of a file, checked against a schema."""
        try:
            return read(self._file(name), kind, constants=constants)
        except ValueError as error:
            raise corrupt(self.path, str(error)) from None

    def config(self) -> RunConfig:
        """Return the configuration of the run.

        Raises:
            RunFailed: the file is missing or damaged, or has another format version.
        """
        value = self._content("config.json", Config)
        names = {field.name for field in fields(RunConfig)}
        if unknown := sorted(value.keys() - names):
            raise corrupt(self.path, f"config.json has the unknown field {quote(unknown[0])}")
        if value["format"] != FORMAT:
            raise self._other_format(value["format"])
        data = value["data"]
        is_generated = data.get("source") == "generated"
        name, kind = ("version", int) if is_generated else ("checksum", str)
        if not isinstance(data.get("source"), str) or not isinstance(data.get(name), kind):
            raise corrupt(self.path, f"config.json: `data` has no `source` or no `{name}`")
        return RunConfig(**value)

    def _other_format(self, number: int) -> RunFailed:
        """Return the error of a run folder with another format version."""
        daxy = self.environment().get("daxy") or "of unknown version"
        advice = "train the run again" if number < FORMAT else "update daxy"
        written = f"run folder of format {number}, written by daxy {daxy}"
        return RunFailed(f"{self.path}: {written}; this daxy reads format {FORMAT}: {advice}")

    def checked_config(self) -> RunConfig:
        """Return the configuration, checked against the digest in the folder's name.

        Raises:
            RunFailed: the file is missing, damaged, edited, or of another run.
        """
        config = self.config()
        if config.name != self.path.name:
            problem = f"config.json was changed: it is that of {quote(config.name)}"
            raise corrupt(self.path, problem)
        return config

    def environment(self) -> dict[str, Any]:
        """Return the environment of the run; empty if it never began.

        Raises:
            RunFailed: the file is damaged, or missing next to a state.
        """
        path = self.path / "environment.json"
        if not path.exists() and self.has_state:
            raise corrupt(self.path, "environment.json is missing")
        return self._content(path.name, Environment) if path.exists() else {}

    @property
    def checksum(self) -> str:
        """Checksum of the data; empty if the run never began.

        Raises:
            RunFailed: see `environment`.
        """
        return self.environment().get("checksum", "")

    @property
    def group(self) -> tuple[str, ...]:
        """Names of the runs in its last training group, with its own; empty before training.

        Raises:
            RunFailed: see `environment`.
        """
        names = self.environment().get("group", [])
        for name in names:
            if not name or name != Path(name).name or name == "..":
                problem = f"environment.json has {quote(name)} in `group`; expected a run's name"
                raise corrupt(self.path, problem)
        if names and self.path.name not in names:
            raise corrupt(self.path, "environment.json has a `group` without this run")
        if len(set(names)) != len(names):
            raise corrupt(self.path, "environment.json has a run twice in `group`")
        return tuple(names)

    def write_log(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Replace the log by these records."""
        write_text(self.path / "log.jsonl", "".join(_line(record) for record in records))

    def log(self, record: Mapping[str, Any]) -> None:
        """Append one record to the log.

        Raises:
            RunFailed: the disk is full or the folder is gone.
        """
        path = self.path / "log.jsonl"
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(_line(record))
        except OSError as error:
            raise RunFailed(f"cannot write {path}: {error.strerror}") from error

    def records(self) -> list[dict[str, Any]]:
        """Return the log: one record per epoch.

        Raises:
            RunFailed: the file is missing or damaged.
        """
        records = list[dict[str, Any]]()
        try:
            for number, line in enumerate(lines(self._file("log.jsonl")), 1):
                record = json_objects.decode(line, constants=True)
                check(record, Record, f"line {number} of log.jsonl is not an epoch's record: ")
                scores = {name: record.get(name) for name in ("validation", "test")}
                check_shares(f"line {number} of log.jsonl", scores, record.get("tests", {}))
                records.append(record)
        except json_objects.NotJSON as error:
            problem = f"log.jsonl cannot be read (line {len(records) + 1}: {error})"
            raise corrupt(self.path, problem) from None
        except (WrongFile, ValueError) as error:
            raise corrupt(self.path, str(error)) from None
        return records

    def was_evaluated(self, every: int) -> bool:
        """Whether the log has test scores, or ended before the first evaluation.

        Raises:
            RunFailed: see `records`.
        """
        return bool(self.evaluations()) or len(self.records()) < every

    def evaluations(self) -> list[dict[str, Any]]:
        """Return the records with a test score (`--test-every`).

        Raises:
            RunFailed: see `records`.
        """
        return [record for record in self.records() if record.get("test") is not None]


def check_left(path: Path | str, left: Sequence[str]) -> None:
    """Check that deleting a run folder deletes no state of remaining runs.

    Args:
        path: The run folder.
        left: Names of the remaining runs whose state is in it.

    Raises:
        WrongRequest: there is such a run.
    """
    problem = f"{path} has the state of {left and left[0]}, which was interrupted with it"
    require(not left, f"{problem}; restart that run too, or finish it first")


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record) + "\n"


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def corrupt(folder: Path, problem: str) -> RunFailed:
    """Return the error of a damaged run folder."""
    advice = "train again with `--restart`, or delete this folder first to train this run alone"
    return RunFailed(f"{folder}: {problem}; {advice}")
