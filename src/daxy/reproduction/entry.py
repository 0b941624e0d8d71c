"""One run in the ledger: its figures, what it was a run of, and where it happened.

Scores are shares between 0 and 1, to full precision, as `scores.json` of the run has them; a table
prints them in per cent, as papers do. A perplexity is neither.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from daxy.core.errors import DaxyError, RunFailed, quote
from daxy.core.settings import is_later, later, later_mapping, stated
from daxy.papers import PERPLEXITY, Cell, Part, Recipe
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
Figure: TypeAlias = float
Perplexity: TypeAlias = float | None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One run of one cell."""

    row: str
    column: str
    """With the row: the cell that the run was made for."""
    seed: int
    recipe: Recipe
    """What was run, as the paper's table had it then."""
    score: Figure
    """The figure of the recipe: a share of one, unless it is a perplexity."""
    test: Mapping[str, float]
    """Every metric on the test set."""
    test_examples: int
    statistics: Mapping[str, float]
    """Facts of the data that belong beside the score."""
    validation: float | None
    """The validation score of the selected epoch; None where there is none."""
    best_epoch: int
    epochs: int
    """How many were trained; a perfect validation score, or having converged, ends training."""
    steps: int
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
    cores: int
    date: str
    group: tuple[str, ...]
    """The runs that were trained as one program, on which the bits depend."""
    tests: Mapping[str, Mapping[str, float]] = later_mapping()
    """Every metric on each of several tests, by name."""
    validation_curve: Mapping[str, float] = later_mapping()
    """Validation scores by training step, of protocols with `steps`."""
    validation_scores: Mapping[str, float] = later_mapping()
    """Every metric on the validation set, of the selected weights."""
    length_oracle: Mapping[str, float] = later_mapping()
    """Every metric on the test set, decoded with the length of each target given; empty if it was
    not measured."""
    perplexity: Perplexity = later(None)  # noqa: RUF009 - a number
    """Of a target token in the selected epoch, as training met it; None where the loss is no mean
    over tokens."""
    sacrebleu: str = later("")
    """The version of what counted BLEU; empty where there is none, or it was not kept."""
    diverged: bool = later(False)
    """Whether the loss was no number any more, after the epoch of the weights."""

    @property
    def training(self) -> tuple[str, str]:
        """What makes it this training of the run: a run can be trained again, elsewhere."""
        return self.digest, self.date

    def has(self, recipe: Recipe) -> bool:
        """Whether it has the figure of a recipe that it is a run of."""
        try:
            self.score_of(recipe)
        except KeyError:
            return False
        return True

    def score_of(self, recipe: Recipe) -> float:
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


def entry(cell: Cell, folder: RunFolder) -> Entry:
    """Return the entry of a finished run of a cell.

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
        length_oracle=_with_length_oracle(folder) if cell.recipe.part == "length_oracle" else {},
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


def entries(folders: Iterable[tuple[Cell, RunFolder]], lacking: list[DaxyError]) -> list[Entry]:
    """Return the entries of finished runs of cells; why one has none is added to `lacking`."""
    found = list[Entry]()
    for cell, folder in folders:
        try:
            found.append(entry(cell, folder))
        except RunFailed as error:
            lacking.append(error)
    return found


def _sacrebleu(scores: Mapping[str, Any], place: Mapping[str, Any]) -> str:
    """Return the version that counted BLEU; earlier runs kept the one where they began."""
    here = place.get("sacrebleu", "") if "bleu" in scores["test"] else ""
    return scores.get("sacrebleu", here)


def _with_length_oracle(folder: RunFolder) -> dict[str, float]:
    """Return the scores of a run on its test set, decoded with the length of each target given."""
    from daxy import tasks
    from daxy.runs.saved import predict_of_length

    return tasks.get(folder.config().task).totals(*predict_of_length(folder))


def to_json(entry: Entry) -> dict[str, Any]:
    """Return the JSON object that holds an entry."""
    value = stated(entry) | {"recipe": stated(entry.recipe)}
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
    given = _object(value, Entry)
    given.pop(CHECKSUM, None)
    given["recipe"] = Recipe(**_object(given["recipe"], Recipe))
    given["group"] = tuple(given["group"])
    found, recipe = Entry(**given), given["recipe"]
    if not _is_date(found.date):
        raise ValueError(
            f"`date` is {quote(found.date)}; expected one as 2026-01-31T12:00:00+00:00"
        )
    fits, expected = _KINDS["float" if recipe.unit > 1 else "Perplexity"]
    if not fits(found.score):
        raise ValueError(f"`score` is {quote(found.score)}; expected {expected}")
    where = "tests" if recipe.test else "test"
    if recipe.after_steps or recipe.part != "test":
        where = "validation_curve" if recipe.after_steps else PLACES[recipe.part]
    try:
        known = found.score_of(recipe)
    except KeyError as error:
        raise ValueError(f"`{where}` has no {error}") from None
    if known != found.score:
        raise ValueError(f"`score` is {found.score}, `{where}` has another {recipe.metric}")
    _check_facts(found)
    return found


def is_whole(value: Mapping[str, Any]) -> bool:
    """Whether the checksum of a filed entry is that of its other fields."""
    others = {name: each for name, each in value.items() if name != CHECKSUM}
    return value.get(CHECKSUM) == _checksum(others)


def _check_facts(entry: Entry) -> None:
    """Refuse an entry whose fields contradict each other."""
    if not entry.test_examples:
        raise ValueError("`test_examples` is 0; expected some")
    if not entry.best_epoch <= entry.epochs:
        raise ValueError(f"`best_epoch` is {entry.best_epoch}, of {entry.epochs} epochs")
    if not entry.run.endswith(f".seed{entry.seed}.{entry.digest}"):
        of = f"seed {entry.seed} and digest {quote(entry.digest)}"
        raise ValueError(f"`run` is {quote(entry.run)}, which does not end with {of}")
    if entry.run not in entry.group:
        raise ValueError(f"`group` lacks the run itself, {quote(entry.run)}")


def _object(value: Any, kind: type[Entry | Recipe]) -> dict[str, Any]:
    """Return a JSON object whose fields are those of a dataclass, each of its type."""
    if not isinstance(value, dict):
        raise ValueError(f"{quote(value)} is not an object")
    types = {each.name: str(each.type) for each in fields(kind)}
    optional = {each.name for each in fields(kind) if is_later(each)}
    for name, wanted in types.items():
        if name not in value and name in optional:
            continue
        if name not in value:
            raise ValueError(f"no `{name}`")
        fits, expected = _KINDS[wanted]
        if not fits(value[name]):
            raise ValueError(f"`{name}` is {quote(value[name])}; expected {expected}")
    if unknown := sorted(value.keys() - types.keys() - {CHECKSUM}):
        raise ValueError(f"unknown field `{unknown[0]:.100}`")
    return dict(value)


def _is_date(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_object_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, dict) and all(map(_is_text, value)) and all(map(fits, value.values()))
    )


def _is_value(value: Any) -> bool:
    return value is None or _is_text(value) or isinstance(value, int | float)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()


_KINDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "str": (_is_text, "a text without control characters"),
    "int": (_is_count, "a whole number, not negative"),
    "float": (_is_share, "a number between 0 and 1"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "float | None": (lambda value: value is None or _is_share(value), "a number up to 1, or null"),
    "Figure": (_is_number, "a number"),
    "Perplexity": (
        lambda value: value is None or (_is_number(value) and value >= 1),
        "a number from 1 on, or null",
    ),
    "Part": (lambda value: value in get_args(Part), f"one of {', '.join(get_args(Part))}"),
    "Mapping[str, float]": (_is_object_of(_is_number), "an object of numbers"),
    "Mapping[str, Mapping[str, float]]": (
        _is_object_of(_is_object_of(_is_number)),
        "an object of objects of numbers",
    ),
    "Mapping[str, Value]": (_is_object_of(_is_value), "an object of plain values"),
    "Mapping[str, Value] | None": (
        lambda value: value is None or _is_object_of(_is_value)(value),
        "an object of plain values, or null",
    ),
    "tuple[str, ...]": (
        lambda value: isinstance(value, list) and all(map(_is_text, value)),
        "a list of texts",
    ),
    "Recipe": (lambda value: isinstance(value, dict), "an object"),
}
"""By the type of a field: what fits it in JSON, and how to say so."""
