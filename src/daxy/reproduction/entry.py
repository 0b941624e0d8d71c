"""One run in the ledger: its figures, what it was a run of, and where it happened.

Scores are shares between 0 and 1, to full precision, as `scores.json` of the run has them; a table
prints them in per cent, as papers do. A perplexity is neither.
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
"""The field of a filed entry that holds a digest of its other fields."""
PLACES: Mapping[Part, str] = {
    "test": "test",
    "validation": "validation_scores",
    "length_oracle": "length_oracle",
}
"""Where an entry has the scores on a part."""
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Perplexity: TypeAlias = Annotated[float, Meta(ge=1)]
Scores: TypeAlias = Mapping[str, float]
"""A score, or a fact of the data, by its name."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One run of one cell."""

    row: str
    column: str
    """With the row: the cell that the run was made for."""
    seed: Count
    recipe: RunSpec
    """What was run, as the paper's table had it then."""
    score: float
    """The figure of the recipe: a share of one, unless it is a perplexity."""
    test: Scores
    """Every metric on the test set."""
    test_examples: Count
    statistics: Scores
    """Facts of the data that belong beside the score."""
    validation: Share | None
    """The validation score of the selected epoch; None where there is none."""
    best_epoch: Count
    epochs: Count
    """How many were trained; a perfect validation score, or having converged, ends training."""
    steps: Count
    run: str
    """Name of the run folder."""
    digest: str
    """Of the complete configuration with its seed: what makes the run this one and no other."""
    settings_digest: str
    """Of the complete configuration with seed 0: what runs have in common that may be averaged.
    Where each has a repetition of the split, neither its name nor its checksum counts."""
    daxy: str
    jax: str
    device: str
    """The kind of device; where a training went on elsewhere, of each, as with versions."""
    cores: Count
    date: str
    group: tuple[str, ...]
    """The runs that were trained as one program, on which the bits depend."""
    tests: Mapping[str, Scores] = added_mapping()
    """Every metric on each of several tests, by name."""
    validation_curve: Scores = added_mapping()  # noqa: RUF009
    """Validation scores by training step, of protocols with `steps`."""
    validation_scores: Scores = added_mapping()  # noqa: RUF009
    """Every metric on the validation set, of the selected weights."""
    length_oracle: Scores = added_mapping()  # noqa: RUF009
    """Every metric on the test set, decoded with the length of each target given; empty if it was
    not measured."""
    perplexity: Perplexity | None = added_field(None)  # noqa: RUF009 - a number
    """Of a target token in the selected epoch, as training met it; None where the loss is no mean
    over tokens."""
    sacrebleu: str = added_field("")
    """The version of what counted BLEU; empty where there is none, or it was not kept."""
    diverged: bool = added_field(False)
    """Whether the loss was no number any more, after the epoch of the weights."""

    @property
    def training(self) -> tuple[str, str]:
        """What makes it this training of the run: a run can be trained again, elsewhere."""
        return self.digest, self.date

    def has(self, recipe: RunSpec) -> bool:
        """Whether it has the figure of a recipe that it is a run of."""
        try:
            self.score_of(recipe)
        except KeyError:
            return False
        return True

    def score_of(self, recipe: RunSpec) -> float:
        """Return the figure of a recipe that this is a run of.

        Raises:
            KeyError: it has no such figure; says which.
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
        """Return the validation score after so many steps; training ends once it is perfect."""
        last = max(map(int, self.validation_curve), default=0)
        if last < steps and self.validation_curve.get(str(last)) == 1:
            return 1.0
        return self.validation_curve[str(steps)]


def entry(cell: TableCell, folder: RunFolder, length_oracle: Scores | None = None) -> Entry:
    """Return the entry of a finished run of a cell.

    Args:
        cell: The cell.
        folder: The folder of the run.
        length_oracle: Every metric on the test set, decoded with the length of each target given.

    Raises:
        RunFailed: a file of the run is damaged, or it has no such figure.
    """
    assert cell.recipe is not None, cell
    scores, config, place = folder.scores(), folder.config(), folder.environment()
    common = replace(config, seed=0)
    if cell.recipe.repetitions > 1:
        data = {name: value for name, value in config.data.items() if name != "checksum"}
        common = replace(common, task=cell.recipe.task, data=data)
    budget = config.learner.get("training", {}).get("budget", {})
    records = folder.records() if budget.get("kind") == "steps" else []
    found = Entry(
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
        daxy=everywhere(place, "daxy"),
        jax=everywhere(place, "jax"),
        device=everywhere(place, "device_kind"),
        cores=place["cores"],
        date=place["started"],
        group=tuple(place["group"]),
        tests=scores.get("tests", {}),
        validation_curve={
            str(each["steps"]): each["validation"]
            for each in records
            if each["validation"] is not None
        },
        validation_scores=scores.get("validation_scores", {}),
        length_oracle=length_oracle or {},
        perplexity=scores.get("perplexity"),
        sacrebleu=_sacrebleu(scores, place),
        diverged=scores.get("diverged", False),
    )
    try:
        return replace(found, score=found.score_of(cell.recipe))
    except KeyError as error:
        why = f"{error} is not in its scores or its log"
        if found.diverged:
            why += f": it diverged after {found.steps:,} steps"
        figure = f"of {cell.row}, {cell.column} ({why})"
        raise RunFailed(f"{folder.path} has no score {figure}") from None


def _sacrebleu(scores: Mapping[str, Any], place: Mapping[str, Any]) -> str:
    """Return the version that counted BLEU; earlier runs kept the one where they began."""
    here = place.get("sacrebleu", "") if "bleu" in scores["test"] else ""
    return scores.get("sacrebleu", here)


def to_json(entry: Entry) -> dict[str, Any]:
    """Return the JSON object that holds an entry."""
    value = to_dict(entry) | {"recipe": to_dict(entry.recipe)}
    return value | {CHECKSUM: _checksum(value)}


def _checksum(value: Mapping[str, Any]) -> str:
    """Return 16 hexadecimal digits of everything else that an entry says."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def from_json(value: Any) -> Entry:
    """Return the entry that a JSON object holds.

    Raises:
        ValueError: a field is missing, unknown or not what it should be; says which.
    """
    found = check(value, Entry)
    for given, kind in ((value, Entry), (value["recipe"], RunSpec)):
        known = {each.name for each in fields(kind)} | {CHECKSUM}
        if unknown := sorted(given.keys() - known):
            raise ValueError(f"unknown field `{unknown[0]:.100}`")
    _check_score(found)
    _check_facts(found)
    return found


def _check_score(entry: Entry) -> None:
    """Refuse an entry whose score is not the figure of its recipe."""
    recipe = entry.recipe
    scale: Any = Share if recipe.unit > 1 else Perplexity
    check(entry.score, scale, "`score`: ")
    where = "tests" if recipe.test else "test"
    if recipe.after_steps or recipe.part != "test":
        where = "validation_curve" if recipe.after_steps else PLACES[recipe.part]
    try:
        known = entry.score_of(recipe)
    except KeyError as error:
        raise ValueError(f"`{where}` has no {error}") from None
    if known != entry.score:
        raise ValueError(f"`score` is {entry.score}, `{where}` has another {recipe.metric}")


def is_whole(value: Mapping[str, Any]) -> bool:
    """Whether the checksum of a filed entry is that of its other fields."""
    others = {name: each for name, each in value.items() if name != CHECKSUM}
    return value.get(CHECKSUM) == _checksum(others)


def _check_facts(entry: Entry) -> None:
    """Refuse an entry whose fields contradict each other, or would move a terminal's cursor."""
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
        of = f"seed {entry.seed} and digest {quote(entry.digest)}"
        raise ValueError(f"`run` is {quote(entry.run)}, which does not end with {of}")
    if entry.run not in entry.group:
        raise ValueError(f"`group` lacks the run itself, {quote(entry.run)}")


def _is_date(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True
