"""Ledger entry: scores, specification and environment of one run.

Scores are shares between 0 and 1 at full precision, as in the run's `scores.json`. Tables print
them in per cent. A perplexity is printed as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from msgspec import Meta

from daxy.core.errors import RunFailed, quote
from daxy.core.schema import check
from daxy.core.settings import added_field, added_mapping, to_dict
from daxy.papers import PERPLEXITY, Part, RunSpec, TableCell
from daxy.runs.environment import everywhere

if TYPE_CHECKING:
    from daxy.runs.folder import RunFolder


CHECKSUM = "checksum"
"""JSON field with the digest of the other fields."""
SCORE_FIELDS: Mapping[Part, str] = {
    "test": "test",
    "validation": "validation_scores",
    "length_oracle": "length_oracle",
}
"""Entry field with the scores of each part."""
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Perplexity: TypeAlias = Annotated[float, Meta(ge=1)]
Scores: TypeAlias = Mapping[str, float]
"""Scores or data statistics by name."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One run of one cell."""

    row: str
    column: str
    """Column of the cell that the run was trained for."""
    seed: Count
    recipe: RunSpec
    """Run specification, as the table had it at that time."""
    score: float
    """Score of the specification: a share of one, or a perplexity."""
    test: Scores
    """Every metric on the test set."""
    test_examples: Count
    statistics: Scores
    """Data statistics."""
    validation: Share | None
    """Validation score of the selected epoch; None without a validation set."""
    best_epoch: Count
    epochs: Count
    """Number of trained epochs; a perfect validation score or convergence ends training."""
    steps: Count
    run: str
    """Name of the run folder."""
    digest: str
    """Digest of the complete configuration, with the seed."""
    settings_digest: str
    """Digest of the complete configuration with seed 0; runs that are averaged share it. For runs
    on repetitions of a split, it omits the repetition and the checksum."""
    daxy: str
    jax: str
    device: str
    """Kind of device; if training resumed on another one, all of them, as for versions."""
    cores: Count
    date: str
    group: tuple[str, ...]
    """Runs that were trained as one program; the bits depend on them."""
    tests: Mapping[str, Scores] = added_mapping()
    """Every metric by test, where there are several tests."""
    validation_curve: Scores = added_mapping()  # noqa: RUF009
    """Validation scores by training step, for protocols with `steps`."""
    validation_scores: Scores = added_mapping()  # noqa: RUF009
    """Every metric on the validation set, with the selected weights."""
    length_oracle: Scores = added_mapping()  # noqa: RUF009
    """Every metric on the test set, decoded with the gold output length given; empty if not
    measured."""
    perplexity: Perplexity | None = added_field(None)  # noqa: RUF009 - a number
    """Training perplexity per target token in the selected epoch; None if the loss is no mean over
    tokens."""
    sacrebleu: str = added_field("")
    """Version of sacreBLEU; empty without BLEU or if unknown."""
    diverged: bool = added_field(False)
    """Whether the loss became NaN or infinite after the selected epoch."""

    @property
    def training(self) -> tuple[str, str]:
        """Key of this training: digest and date, as a run may be trained more than once."""
        return self.digest, self.date

    def has(self, recipe: RunSpec) -> bool:
        """Whether the entry has the score of a specification of this run."""
        try:
            self.score_of(recipe)
        except KeyError:
            return False
        return True

    def score_of(self, recipe: RunSpec) -> float:
        """Return the score of a specification of this run.

        Raises:
            KeyError: the entry has no such score.
        """
        if recipe.metric == PERPLEXITY:
            return self._perplexity()
        if recipe.after_steps:
            return self._after(recipe.after_steps)
        if recipe.part == "validation":
            return self.validation_scores[recipe.metric]
        if recipe.part == "length_oracle":
            return self.length_oracle[recipe.metric]
        return (self.tests[recipe.test] if recipe.test else self.test)[recipe.metric]

    def _perplexity(self) -> float:
        if self.perplexity is None:
            raise KeyError(PERPLEXITY)
        return self.perplexity

    def _after(self, steps: int) -> float:
        """Return the validation score after this number of steps.

        Training ends at a perfect score, so later scores are perfect too.
        """
        last = max(map(int, self.validation_curve), default=0)
        if last < steps and self.validation_curve.get(str(last)) == 1:
            return 1.0
        return self.validation_curve[str(steps)]


def entry(cell: TableCell, folder: RunFolder, length_oracle: Scores | None = None) -> Entry:
    """Return the entry of a finished run of a cell.

    Args:
        cell: The cell.
        folder: The folder of the run.
        length_oracle: Every metric on the test set, decoded with the gold output length given.

    Raises:
        RunFailed: a file of the run is damaged, or the run has no such score.
    """
    assert cell.recipe is not None, cell
    scores, config, environment = folder.scores(), folder.config(), folder.environment()
    common = replace(config, seed=0)
    if cell.recipe.repetitions > 1:
        data = {name: value for name, value in config.data.items() if name != "checksum"}
        common = replace(common, task=cell.recipe.task, data=data)
    budget = config.learner.get("training", {}).get("budget", {})
    records = folder.records() if budget.get("kind") == "steps" else []
    result = Entry(
        row=cell.row,
        column=cell.column,
        seed=config.seed,
        recipe=cell.recipe,
        score=0.0,
        test=scores["test"],
        test_examples=scores["test_examples"],
        statistics=scores["statistics"],
        validation=scores["validation"],
        best_epoch=scores.get("best_epoch", 0),
        epochs=scores.get("epochs", 0),
        steps=scores.get("steps", 0),
        run=config.name,
        digest=config.digest,
        settings_digest=common.digest,
        daxy=everywhere(environment, "daxy"),
        jax=everywhere(environment, "jax"),
        device=everywhere(environment, "device_kind"),
        cores=environment["cores"],
        date=environment["started"],
        group=tuple(environment["group"]),
        tests=scores.get("tests", {}),
        validation_curve={
            str(record["steps"]): record["validation"]
            for record in records
            if record["validation"] is not None
        },
        validation_scores=scores.get("validation_scores", {}),
        length_oracle=length_oracle or {},
        perplexity=scores.get("perplexity"),
        sacrebleu=_sacrebleu(scores, environment),
        diverged=scores.get("diverged", False),
    )
    try:
        return replace(result, score=result.score_of(cell.recipe))
    except KeyError as error:
        why = f"{error} is not in its scores or its log"
        if result.diverged:
            why += f": it diverged after {result.steps:,} steps"
        name = f"of {cell.row}, {cell.column} ({why})"
        raise RunFailed(f"{folder.path} has no score {name}") from None


def _sacrebleu(scores: Mapping[str, Any], environment: Mapping[str, Any]) -> str:
    """Return the version of sacreBLEU; earlier run folders have it in their environment."""
    version = environment.get("sacrebleu", "") if "bleu" in scores["test"] else ""
    return scores.get("sacrebleu", version)


def to_json(entry: Entry) -> dict[str, Any]:
    """Return the JSON object of an entry."""
    value = to_dict(entry) | {"recipe": to_dict(entry.recipe)}
    return value | {CHECKSUM: _checksum(value)}


def _checksum(value: Mapping[str, Any]) -> str:
    """Return the digest of the other fields: 16 hexadecimal digits."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def from_json(value: Any) -> Entry:
    """Return the entry in a JSON object.

    Raises:
        ValueError: a field is missing, unknown or invalid.
    """
    entry = check(value, Entry)
    for item, kind in ((value, Entry), (value["recipe"], RunSpec)):
        names = {field.name for field in fields(kind)} | {CHECKSUM}
        if unknown := sorted(item.keys() - names):
            raise ValueError(f"unknown field `{unknown[0]:.100}`")
    _check_score(entry)
    _check_consistency(entry)
    return entry


def _check_score(entry: Entry) -> None:
    """Check that the score is that of the specification."""
    recipe = entry.recipe
    scale: Any = Share if recipe.unit > 1 else Perplexity
    check(entry.score, scale, "`score`: ")
    where = "tests" if recipe.test else "test"
    if recipe.after_steps or recipe.part != "test":
        where = "validation_curve" if recipe.after_steps else SCORE_FIELDS[recipe.part]
    try:
        score = entry.score_of(recipe)
    except KeyError as error:
        raise ValueError(f"`{where}` has no {error}") from None
    if score != entry.score:
        raise ValueError(f"`score` is {entry.score}, `{where}` has another {recipe.metric}")


def has_valid_checksum(value: Mapping[str, Any]) -> bool:
    """Whether the checksum of a JSON object fits its other fields."""
    others = {name: item for name, item in value.items() if name != CHECKSUM}
    return value.get(CHECKSUM) == _checksum(others)


def _check_consistency(entry: Entry) -> None:
    """Check that fields agree with each other and have no control characters."""
    for name, value in vars(entry).items():
        if isinstance(value, str) and not value.isprintable():
            raise ValueError(f"`{name}` is {quote(value)}; expected no control characters")
    if not _is_date(entry.date):
        expected = "expected one as 2026-01-31T12:00:00+00:00"
        raise ValueError(f"`date` is {quote(entry.date)}; {expected}")
    if not entry.test_examples:
        raise ValueError("`test_examples` is 0; expected some")
    if not entry.best_epoch <= entry.epochs:
        raise ValueError(f"`best_epoch` is {entry.best_epoch}, of {entry.epochs} epochs")
    if not entry.run.endswith(f".seed{entry.seed}.{entry.digest}"):
        ending = f"seed {entry.seed} and digest {quote(entry.digest)}"
        raise ValueError(f"`run` is {quote(entry.run)}, which does not end with {ending}")
    if entry.run not in entry.group:
        raise ValueError(f"`group` lacks the run itself, {quote(entry.run)}")


def _is_date(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True
