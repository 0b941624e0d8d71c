"""A split: what a learner may see, what it is chosen by, what it is judged by, and where from."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from daxy.core.examples import Examples
from daxy.version import __version__

Option = str | int | float | bool | None

PARTS = ("train", "validation", "test")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How many lines each part has, repeats included."""

    train: int
    validation: int = 0
    test: int
    tests: Mapping[str, int] = field(default_factory=dict[str, int])
    """Where test is several tests, one after another: how many lines each has, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How a split came about: enough to make it again and to see that it is the same one."""

    task: str
    rule: str
    """The predicate or the draw, in words."""
    seed: int
    """Seed of the draws; a rule without a draw uses it for the validation set alone."""
    sizes: Sizes
    checksum: str
    """Digest of the content and order of all three parts."""
    source: str = "generated"
    """`generated`, or the official files that were loaded in place of it."""
    options: Mapping[str, Option] = field(default_factory=dict[str, Option])
    generator: str = f"daxy {__version__}"


class Endless(Protocol):
    """Examples without end, numbered from 0, of which any stretch can be made alone."""

    def pairs(self, rows: range) -> Examples:
        """Return the examples with these consecutive numbers."""
        ...


@dataclass(frozen=True, eq=False)
class Split:
    """The three parts of a task's data. Validation is carved from train, never from test."""

    train: Examples
    validation: Examples
    test: Examples
    provenance: Provenance
    stream: Endless | None = None
    """Where train is a stretch of examples without end: those."""

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
        stream: Endless | None = None,
    ) -> Split:
        """Build a split and write down its sizes and checksum."""
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
        return cls(*parts, provenance, stream)

    @property
    def parts(self) -> dict[str, Examples]:
        """The three parts by name, in the order train, validation, test."""
        return {"train": self.train, "validation": self.validation, "test": self.test}

    @property
    def tests(self) -> dict[str, slice]:
        """Where in the test set each of several tests is, by name; none where it is one test."""
        counts = self.provenance.sizes.tests
        ends = itertools.accumulate(counts.values())
        return {
            name: slice(end - count, end)
            for (name, count), end in zip(counts.items(), ends, strict=True)
        }

    @property
    def named(self) -> dict[str, Examples]:
        """The parts by name, in their order, with each of several tests in place of all."""
        learned = {"train": self.train, "validation": self.validation}
        each = {name: self.test[rows] for name, rows in self.tests.items()}
        return learned | (each or {"test": self.test})


def checksum(parts: tuple[Examples, ...]) -> str:
    """Return 32 hexadecimal digits that depend on the examples and their order, nothing else."""
    digest = hashlib.blake2b(digest_size=16)
    for examples in parts:
        for content in examples.content:
            digest.update(content)
    return digest.hexdigest()
