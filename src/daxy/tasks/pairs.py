"""A user's own pairs: any files of sources and targets as a task."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from unicodedata import normalize

import numpy as np

from daxy import formats
from daxy.core.errors import WrongRequest, quote, require
from daxy.core.examples import Examples, Sequences, Tokens
from daxy.core.split import Sizes, Split
from daxy.formats.layout import Layout, Parts, part_of
from daxy.tasks import _validation
from daxy.tasks._pairs_options import AUTO, DRAW, NONE, OwnFilesOptions, PairsOptions
from daxy.tasks._task import Task

NO_FILES = "pairs are in files of your own; expected --train FILE and --test FILE"
LEARNED = ("train", "validation")
NAME = re.compile(r"\w[\w .+-]*")
"""Names of parts, which are names of files too."""


class Reader:
    """Reads the files of a task, one after another.

    Args:
        layout: Names of the columns, and the form of tokens.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def read(self, path: Path) -> Parts:
        """Return the pairs of a file or folder, by part."""
        return formats.foreign.read(path, self.layout)

    def finish(self) -> str:
        """Return a note on the files, after all were read."""
        return ""


@dataclass(frozen=True, kw_only=True)
class PairsTask(Task[OwnFilesOptions]):
    """Pairs in files of the user."""

    options: ClassVar[type[Any]] = PairsOptions
    published = False
    is_generated = False
    source_name = "source"

    def reader(self, data: OwnFilesOptions) -> Reader:
        """Return a reader of files."""
        assert isinstance(data, PairsOptions)
        return Reader(data)

    def build(self, data: OwnFilesOptions) -> Split:
        """Return the data of the files."""
        if data.train is None:
            raise WrongRequest(NO_FILES)
        reader = self.reader(data)
        train = reader.read(data.train)
        validation = reader.read(Path(data.validation)) if data.has_validation_file else None
        tests = [(name, reader.read(path)) for name, path in data.tests]
        note = reader.finish()
        parts = combined(train, validation, tests, str(data.train))
        return self.of_parts(parts, data, f"files: {', '.join(_names(data))}{note}")

    def of_parts(self, parts: Parts, data: OwnFilesOptions, source: str) -> Split:
        """Return the split of these parts: train, validation if there is one, and the tests.

        Raises:
            WrongRequest: a token is written in two ways, or the validation set is empty.
        """
        is_normalized = isinstance(data, PairsOptions) and data.normalize_unicode
        parts = _written_once(parts, normalized=is_normalized)
        train = parts["train"]
        released = None if data.validation in (DRAW, NONE) else parts.get("validation")
        validation = train[:0] if released is None else released
        if data.validation == DRAW or (data.validation == AUTO and released is None):
            rows = np.arange(len(train))
            kept, drawn = _validation.draw(rows, data.validation_fraction, data.seed, self.name)
            _validation.check_sizes(len(kept), len(drawn), is_requested=True)
            train, validation = train.take(kept), train.take(drawn)
        tests = {name: part for name, part in parts.items() if name not in LEARNED}
        return Split.of(
            train=train,
            validation=validation,
            test=Examples.joined(list(tests.values())),
            tests={name: len(part) for name, part in tests.items()} if len(tests) > 1 else None,
            task=self.name,
            rule=self.rule,
            seed=data.seed,
            source=source,
            options=data.options,
        )

    def statistics(self, split: Split) -> dict[str, float]:
        """Return how many test examples are in train too, and how many sources."""
        sources, pairs = set(split.train.source), set(split.train.keys)
        count = max(1, len(split.test))
        known = dict[Tokens, Tokens]()
        several = (
            set()
            if split.train.worlds is not None
            else {
                source
                for source, target in zip(split.train.source, split.train.target, strict=True)
                if known.setdefault(source, target) != target
            }
        )
        ambiguous = {"training sources with several targets": len(several) / len(sources)}
        return {
            "test examples that are in train too": sum(it in pairs for it in split.test.keys)
            / count,
            "test sources that are in train too": sum(it in sources for it in split.test.source)
            / count,
            **(ambiguous if several else {}),
        }


def _names(data: OwnFilesOptions) -> list[str]:
    files = [str(data.train), *(f"{name}={path}" for name, path in data.tests)]
    return [*files, *([f"validation={data.validation}"] * data.has_validation_file)]


def combined(
    train: Parts, validation: Parts | None, tests: Sequence[tuple[str, Parts]], path: str
) -> Parts:
    """Return all parts by name: train, validation if there is one, and the tests.

    Args:
        train: The parts of the training file; without `tests`, the tests among them count.
        validation: The parts of the validation file, if there is one.
        tests: The name and the parts of each test file.
        path: Name of the training file, for errors.

    Raises:
        WrongRequest: a part is missing, has no pairs, or has the name of another.
    """
    is_single = len(train) == 1 and (bool(tests) or "" in train)
    parts = {"train": next(iter(train.values()))} if is_single else dict(train)
    if tests:
        parts = {name: parts[name] for name in LEARNED if name in parts}
    if validation is not None:
        parts["validation"] = _only(validation, "validation")
    for name, test in tests:
        twice = f"two parts are named {quote(name)}; expected --test NAME=FILE"
        learned = part_of(name) in LEARNED
        require(not learned, f"a test cannot be named {quote(name)}, which names another part")
        require(name not in parts, twice)
        parts[name] = _only(test, "test")
    for name in parts:
        odd = f"a part is named {quote(name)}; expected letters, digits, `_`, `-`, `.` or spaces"
        require(NAME.fullmatch(name) is not None, odd)
    has = f"{path} has {', '.join(map(quote, parts))}"
    require("train" in parts, f"{has} and no part 'train'")
    no_test = f"{has} and no test; expected --test FILE (in Python test=)"
    require(not set(parts) <= set(LEARNED), no_test)
    for name, part in parts.items():
        require(len(part) > 0, f"the part {quote(name)} has no pair")
    return parts


def _only(parts: Parts, wanted: str) -> Examples:
    """Return the only part of a file, or its part of this name."""
    if len(parts) == 1:
        return next(iter(parts.values()))
    names = ", ".join(map(quote, parts))
    require(wanted in parts, f"a file has the parts {names}; expected {quote(wanted)}, or one part")
    return parts[wanted]


def _written_once(parts: Parts, *, normalized: bool) -> Parts:
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
    paper="",
    rule="as the files have it",
    sizes=Sizes(train=0, test=0),
    metrics=("exact", "fine"),
)
TASKS = {TASK.name: TASK}
