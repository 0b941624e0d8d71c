"""A user's own pairs: any files of sources and targets as a task."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final
from unicodedata import normalize

import numpy as np

from daxy.core.errors import WrongRequest, quote, require
from daxy.core.examples import Examples, Sequences
from daxy.core.split import Sizes, Split
from daxy.formats import columns
from daxy.tasks import _validation
from daxy.tasks._pairs_options import DRAW, PUBLISHED, PairsOptions
from daxy.tasks._task import Task

NO_FILES = "pairs are in files of your own; expected --train FILE and --test FILE"
LEARNED = ("train", "validation")


@final
@dataclass(frozen=True, kw_only=True)
class PairsTask(Task[PairsOptions]):
    """Pairs in files of the user."""

    options = PairsOptions
    published = False
    source_name = "source"

    def build(self, data: PairsOptions) -> Split:
        """Return the data of the files."""
        parts = _written_once(_parts(data), normalized=data.normalize_unicode)
        train = parts["train"]
        validation = parts.get("validation", train[:0])
        if data.validation == DRAW:
            rows = np.arange(len(train))
            kept, drawn = _validation.draw(rows, data.validation_fraction, data.seed, self.name)
            _validation.check_sizes(len(kept), len(drawn), is_requested=True)
            train, validation = train.take(kept), train.take(drawn)
        tests = {name: part for name, part in parts.items() if name not in LEARNED}
        return Split.of(
            train=train,
            validation=validation,
            test=columns.joined(list(tests.values())),
            tests={name: len(part) for name, part in tests.items()} if len(tests) > 1 else None,
            task=self.name,
            rule=self.rule,
            seed=data.seed,
            source=f"files: {', '.join(_names(data))}",
            options=data.options,
        )

    def statistics(self, split: Split) -> dict[str, float]:
        """Return how many test examples are in train too, and how many sources."""
        sources, pairs = set(split.train.source), set(split.train.keys)
        count = max(1, len(split.test))
        return {
            "test examples that are in train too": sum(it in pairs for it in split.test.keys)
            / count,
            "test sources that are in train too": sum(it in sources for it in split.test.source)
            / count,
        }


def _names(data: PairsOptions) -> list[str]:
    files = [str(data.train), *(f"{name}={path}" for name, path in data.tests)]
    return [*files, *([f"validation={data.validation}"] * data.has_validation_file)]


def _parts(data: PairsOptions) -> dict[str, Examples]:
    """Return all parts by name: train, validation if there is one, and the tests.

    Raises:
        WrongRequest: a part is missing, or has no pairs.
        WrongFile: a file cannot be read or has a wrong line.
    """
    if data.train is None:
        raise WrongRequest(NO_FILES)
    parts = _read(data.train, data)
    if "" in parts or (len(parts) == 1 and data.test):
        parts = {"train": next(iter(parts.values()))}
    if data.has_validation_file:
        path = Path(data.validation)
        parts["validation"] = _only(_read(path, data), "validation", path)
    elif data.validation != PUBLISHED:
        parts.pop("validation", None)
    if data.test:
        parts = {name: parts[name] for name in LEARNED if name in parts}
    for name, path in data.tests:
        twice = f"two parts are named {quote(name)}; expected --test NAME=FILE"
        require(name not in parts, twice)
        parts[name] = _only(_read(path, data), "test", path)
    has = f"{data.train} has {', '.join(map(quote, parts))}"
    require("train" in parts, f"{has} and no part 'train'")
    require(not set(parts) <= set(LEARNED), f"{has} and no test; expected --test FILE")
    for name, part in parts.items():
        require(len(part) > 0, f"the part {quote(name)} has no pair")
    return parts


def _read(place: Path, data: PairsOptions) -> dict[str, Examples]:
    return columns.read(Path("/dev/stdin") if str(place) == "-" else place, data.layout)


def _only(parts: dict[str, Examples], wanted: str, place: Path) -> Examples:
    """Return the only part of a file, or its part of this name."""
    if len(parts) == 1:
        return next(iter(parts.values()))
    names = ", ".join(map(quote, parts))
    require(
        wanted in parts, f"{place} has the parts {names}; expected {quote(wanted)}, or one part"
    )
    return parts[wanted]


def _written_once(parts: dict[str, Examples], *, normalized: bool) -> dict[str, Examples]:
    """Return the parts with each token written in one way.

    Raises:
        WrongRequest: a token is written in two ways that look the same.
    """
    spellings: dict[str, str] = {}
    for name, part in parts.items():
        for symbol in {*part.source.compact().symbols, *part.target.compact().symbols}:
            first = spellings.setdefault(normalize("NFC", symbol), symbol)
            if first != symbol and not normalized:
                both = f"{first!a} and {symbol!a}"
                problem = f"the token {quote(symbol)} is written in two ways, {both}, in {name}"
                raise WrongRequest(f"{problem}; expected --normalize-unicode, or one of them")
    if not normalized:
        return parts
    return {
        name: Examples(_normalized(part.source), _normalized(part.target))
        for name, part in parts.items()
    }


def _normalized(side: Sequences) -> Sequences:
    return Sequences.of([normalize("NFC", token) for token in tokens] for tokens in side)


TASK = PairsTask(
    name="pairs",
    family="pairs",
    summary="pairs of your own, in files",
    paper="none",
    rule="as the files have it",
    sizes=Sizes(train=0, test=0),
    metrics=("exact", "fine"),
)
TASKS = {TASK.name: TASK}
