"""Predictions from files, as runs of a learner."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from daxy.core.errors import DaxyError, WrongRequest, require
from daxy.core.examples import Examples, Sequences, Tokens
from daxy.core.files import read_bytes, usable
from daxy.core.split import Split
from daxy.formats import parquet
from daxy.learners._learner import Callbacks, Fit, Job, Learner
from daxy.scoring import score


@dataclass(frozen=True, kw_only=True)
class FromFile(Learner):
    """Predictions for the test set, from a file; several files are several seeds."""

    kind: ClassVar[str] = "predictions"
    test_only: ClassVar[bool] = True
    file: tuple[Path, ...] = ()
    """Files of predictions, in any format that `daxy score` reads; the first is seed 0."""
    name: str = "predictions"
    """Name of the model, for tables and pictures."""
    order: Path | None = None
    """A file of the test examples in whose order plain predictions are."""
    normalize: bool = False
    """Read common other spellings as the task's tokens."""
    allow_unknown_tokens: bool = False
    """Accept predictions of which nearly all have a token that no target of the task has."""

    def settings(self) -> dict[str, Any]:
        """Return the name, and digests of the files and of how they are read."""
        return {"learner": self.kind, "config": {"name": self.name, "sha256": self._digests}}

    @cached_property
    def _digests(self) -> list[str]:
        reading = f"{self.normalize} {self.allow_unknown_tokens} {self.order is not None}"
        contents = (read_bytes(usable(path)) + reading.encode() for path in self.file)
        return [hashlib.sha256(content).hexdigest() for content in contents]

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Return the learner with these settings; from those of a run, it can only predict.

        Raises:
            UnknownName: there is no such setting.
            WrongRequest: a setting has a wrong value.
        """
        config = dict(settings["config"])
        digests = config.pop("sha256", None)
        learner = super().of({"config": config})
        if digests is not None:
            vars(learner)["_digests"] = digests
        return learner

    @property
    def count(self) -> int:
        """The number of files."""
        require(len(self.file) > 0, "predictions needs --file FILE, one for each seed")
        return len(self.file)

    def fit(self, jobs: Sequence[Job], callbacks: Callbacks) -> Iterator[Fit | DaxyError]:
        """Read the files, with the checks of `daxy score`."""
        del callbacks
        for job in jobs:
            missing = f"there is no file for seed {job.seed}: --file has {self.count}"
            require(job.seed < self.count, missing)
            yield Fit(predictor=self._outputs(self.file[job.seed], job.split))

    def _outputs(self, file: Path, split: Split) -> Outputs:
        """Return the outputs of a file for the test set of a split."""
        scored = score(
            split.provenance.task,
            file,
            split=split,
            order=self.order,
            normalize=self.normalize,
            allow_unknown_tokens=self.allow_unknown_tokens,
        )
        return Outputs.of(split.test, scored.predictions)

    @classmethod
    def load(cls, folder: Path, settings: Mapping[str, Any]) -> Outputs:
        """Return the predictions of a run folder.

        Raises:
            WrongFile: the file is missing or damaged.
        """
        del settings
        path = folder / "predictions.parquet"
        columns = "key", "prediction"
        table = parquet.load(path, columns)
        outputs = parquet.sequences(path, table, "prediction")
        return Outputs(dict(zip(table.column("key").to_pylist(), outputs, strict=True)))


@dataclass(frozen=True, eq=False)
class Outputs:
    """Outputs by the key of an example."""

    by_key: Mapping[str, Tokens]

    @classmethod
    def of(cls, examples: Examples, outputs: Sequences) -> Outputs:
        """Return the outputs for some examples."""
        return cls(dict(zip(examples.keys, outputs, strict=True)))

    def predict(self, examples: Examples) -> Sequences:
        """Return the outputs for examples of the test set.

        Raises:
            WrongRequest: there is none for an example.
        """
        try:
            return Sequences.of(self.by_key[key] for key in examples.keys)
        except KeyError as error:
            missing = examples[list(examples.keys).index(error.args[0])]
            source = " ".join(missing.source)
            raise WrongRequest(f"the file has no prediction for `{source}`") from None

    def save(self, folder: Path) -> list[str]:
        """Write nothing: the run folder has the predictions already."""
        del folder
        return []


LEARNER = FromFile
