"""Splits: training, validation and test sets with their provenance."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from daxy.core.display import Brief, table
from daxy.core.errors import UnknownName, require
from daxy.core.examples import Examples
from daxy.core.random import stream
from daxy.core.settings import check_types
from daxy.version import __version__

Option = str | int | float | bool | None

PARTS = ("train", "validation", "test")

NO_VALIDATION = "no validation set is published; training splits one off train"
"""Note on the sizes of a split as published."""
NO_OWN_VALIDATION = "there is no validation set; training splits one off train"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Number of lines of each part, repeats included."""

    train: int
    validation: int = 0
    test: int
    tests: Mapping[str, int] = field(default_factory=dict[str, int])
    """Lines of each of several consecutive tests, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Provenance of a split: enough to generate it again and to compare it."""

    task: str
    rule: str
    """The rule or draw in words."""
    seed: int
    """Seed of the draws; a fixed rule uses it for the validation set only."""
    sizes: Sizes
    checksum: str
    """Digest of the content and order of all three parts."""
    source: str = "generated"
    """`generated`, or the official files."""
    options: Mapping[str, Option] = field(default_factory=dict[str, Option])
    generator: str = f"daxy {__version__}"
    part: Mapping[str, Option] = field(default_factory=dict[str, Option])
    """Part of the test set after `Split.only`: `test`, the name of one of several tests, or a
    `sample` with its `seed`. Empty for the whole."""


class ExampleStream(Protocol):
    """Unlimited examples with random access, numbered from 0."""

    def pairs(self, rows: range) -> Examples:
        """Return the examples with these consecutive numbers."""
        ...


@dataclass(frozen=True, eq=False)
class Split(Brief):
    """The three parts of a task's data; validation is split off train, never off test."""

    train: Examples
    validation: Examples
    test: Examples
    provenance: Provenance
    stream: ExampleStream | None = None
    """The unlimited examples that train is a part of, if any."""

    @classmethod
    def of(
        cls,
        *,
        train: Examples,
        validation: Examples,
        test: Examples,
        task: str,
        rule: str,
        seed: int,
        source: str = "generated",
        options: Mapping[str, Option],
        tests: Mapping[str, int] | None = None,
        stream: ExampleStream | None = None,
    ) -> Split:
        """Build a split with its provenance; its parts have common dictionaries.

        Raises:
            WrongRequest: there are more than 65,536 distinct tokens.
        """
        train, validation, test = Examples.with_common_symbols((train, validation, test))
        parts = (train, validation, test)
        each = dict(tests or {})
        assert not each or sum(each.values()) == len(test), (each, len(test))
        provenance = Provenance(
            task=task,
            rule=rule,
            seed=seed,
            sizes=Sizes(train=len(train), validation=len(validation), test=len(test), tests=each),
            checksum=checksum(parts),
            source=source,
            options=options,
        )
        split = cls(*parts, provenance, stream)
        split.__dict__["is_as_described"] = True
        return split

    @property
    def _brief(self) -> str:
        about = self.provenance
        sizes = [f"{len(rows):,} {name}" for name, rows in self.parts.items() if len(rows)]
        replaced = "" if self.is_as_described else "; a part was replaced"
        tests = f" ({len(about.sizes.tests)} tests)" if about.sizes.tests else ""
        source = f"; {about.source}" if about.source != "generated" else ""
        seed = f"; seed {about.seed}" if about.seed else ""
        return f"{about.task}: {', '.join(sizes)}{tests}{source}{seed}{replaced}"

    def _repr_html_(self) -> str:
        about = self.provenance
        parts = self.named if self.is_as_described else self.parts
        rows = [(name, len(part), *(part[0].texts if part else ())) for name, part in parts.items()]
        facts = [about.rule, f"source: {about.source}, seed {about.seed}", self.validation_note]
        note = "; ".join(filter(None, facts))
        head = ("part", "examples", "first source", "first target")
        return table(head, rows, title=about.task, note=note)

    @property
    def validation_note(self) -> str:
        """Note that the authors published no validation set; empty otherwise."""
        about = self.provenance
        if about.options.get("validation") != "published" or len(self.validation):
            return ""
        is_published = about.source.startswith(("generated", "official"))
        return NO_VALIDATION if is_published else NO_OWN_VALIDATION

    @cached_property
    def is_as_described(self) -> bool:
        """Whether the parts match the checksum of the provenance."""
        return checksum((self.train, self.validation, self.test)) == self.provenance.checksum

    @property
    def parts(self) -> dict[str, Examples]:
        """The three parts by name, in the order train, validation, test."""
        return {"train": self.train, "validation": self.validation, "test": self.test}

    @property
    def tests(self) -> dict[str, slice]:
        """Rows of each of several tests in the test set, by name; empty for a single test.

        Raises:
            WrongRequest: a part was replaced.
        """
        counts = self.provenance.sizes.tests
        known = not counts or self.is_as_described
        require(
            known,
            "a part of this split was replaced, and its tests are not known; "
            "expected `split.only(test=...)`, which takes one of them",
        )
        ends = itertools.accumulate(counts.values())
        return {
            name: slice(end - count, end)
            for (name, count), end in zip(counts.items(), ends, strict=True)
        }

    def only(self, *, test: str | None = None, sample: int | None = None, seed: int = 0) -> Split:
        """Return the split with a part of its test set: one of several tests, a draw, or both.

        Args:
            test: Name of one of several tests; None for all of them.
            sample: Number of examples to draw without replacement; None for all.
            seed: Seed of this draw.

        Raises:
            UnknownName: there is no such test.
            WrongRequest: the sample is too large, or an argument has a wrong type.
        """
        check_types(Split.only, {"test": test, "sample": sample, "seed": seed})
        if test is not None and test not in self.tests:
            raise UnknownName("test", test, self.tests)
        places = self.tests if test is None else {test: self.tests[test]}
        rows = np.arange(len(self.test))[slice(None) if test is None else places[test]]
        part = {} if test is None else {"test": test}
        if sample is not None:
            part |= {"sample": sample, "of": len(rows), "seed": seed}
            rows = rows[drawn(len(rows), sample, seed)]
        bounds = {name: np.searchsorted(rows, (at.start, at.stop)) for name, at in places.items()}
        counts = {name: int(end - start) for name, (start, end) in bounds.items()}
        parts = self.train, self.validation, self.test.take(rows)
        about = replace(
            self.provenance,
            sizes=replace(self.provenance.sizes, test=len(rows), tests=counts),
            checksum=checksum(parts),
            part={**self.provenance.part, **part},
        )
        split = Split(*parts, about, self.stream)
        split.__dict__["is_as_described"] = True
        return split

    @property
    def named(self) -> dict[str, Examples]:
        """The parts by name, with several tests in place of the test set."""
        learned = {"train": self.train, "validation": self.validation}
        each = {name: self.test[rows] for name, rows in self.tests.items()}
        return learned | (each or {"test": self.test})


def drawn(count: int, sample: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Draw `sample` of `count` rows without replacement, in ascending order.

    Raises:
        WrongRequest: the sample is empty or too large, or the seed is negative.
    """
    known = f"sample must be from 1 to the {count:,} examples that there are, not {sample:,}"
    require(0 < sample <= count, known)
    return np.sort(stream(seed, "sample").permutation(count)[:sample])


def checksum(parts: tuple[Examples, ...]) -> str:
    """Return a digest of the examples and their order: 32 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=16)
    for examples in parts:
        for content in examples.content:
            digest.update(content)
    return digest.hexdigest()
