"""Splits of SCAN as tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from daxy.core.errors import WrongRequest
from daxy.core.examples import Example, Examples, Tokens
from daxy.core.split import Sizes, Split
from daxy.languages import scan
from daxy.tasks import _official, _validation
from daxy.tasks import _released_validation as _released
from daxy.tasks._checked import Count
from daxy.tasks._official import NacsFiles
from daxy.tasks._predicates import LongerThan
from daxy.tasks._rules import Added, HoldOut, Partition, Rule, command_table
from daxy.tasks._scan_checks import counts, is_mirrored, is_scan
from daxy.tasks._scan_options import ScanOptions
from daxy.tasks._scan_variants import Shots, varied
from daxy.tasks._task import Task


@final
@dataclass(frozen=True, kw_only=True)
class ScanTask(Task[ScanOptions]):
    """One split of SCAN, scored by exact match."""

    how: Rule
    """The rule or draw behind train and test."""
    stem: str | None
    """Path of SCAN's files, with `{part}` for train or test; None where there are none."""
    nacs: NacsFiles | None = None
    """Files in the repository of Bastings et al. (2018); None where there are none."""

    kind: type[ScanOptions] = ScanOptions
    """Class of the options: with a field for each number of the rule."""
    shots: Shots | None = None
    """Commands for the option `shots`; None without this option."""

    language = scan.LANGUAGE
    shared_rules = "scan"
    aliases = scan.ALIASES

    @property
    def options(self) -> type[ScanOptions]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Class of the options of its data."""
        return self.kind

    @property
    def published_sizes(self) -> Sizes | None:
        """The published sizes, which may differ from the generated ones."""
        return (isinstance(self.how, Added) and self.how.released) or self.sizes

    def build(self, data: ScanOptions) -> Split:
        """Return the data of these options."""
        if self._primitive_rule is None:
            data.check_plain("oversample", f"{self.name} repeats no command")
        rule = varied(self.how, data, self.shots)
        train, held_out, test = self._parts(rule, data)
        is_requested = data.validation not in ("published", "none")
        _validation.check_sizes(len(train), len(held_out), is_requested=is_requested)
        generated = data.official is None
        fixed = isinstance(self.how, HoldOut)
        return Split.of(
            train=train,
            validation=held_out,
            test=test,
            task=self.name,
            rule=str(rule) if generated or fixed else "the draw of the official files",
            seed=data.seed,
            source="generated" if generated else f"official files in {data.official}",
            options=data.options,
        )

    def disagreement(self, source: Tokens, target: Tokens) -> str | None:
        """Return the error in a command or its actions."""
        return scan.disagreement(source, target, scan.grammar_of(source))

    def recognises(self, examples: Sequence[Example]) -> bool:
        """Whether most words are SCAN's, and most sources do not begin with an action."""
        return is_scan(examples) and not is_mirrored(examples)

    def counts(self, examples: Sequence[Example]) -> dict[str, Count]:
        """Return the numbers of repeated commands and of other spellings."""
        return counts(examples, [example.source for example in examples])

    def _parts(self, rule: Rule, data: ScanOptions) -> tuple[Examples, Examples, Examples]:
        if data.validation.startswith(_released.PREFIX):
            release = data.official, self.nacs, rule, data.validation, self.name
            train, chosen, test = _released.load(*release)
            return train if data.oversample else _released.distinct(train), chosen, test
        parts = self._partition(rule, data)
        return *self._carve(parts, data), command_table().take(parts.test)

    def _partition(self, rule: Rule, data: ScanOptions) -> Partition:
        if data.official is None:
            return rule.partition(data.seed, oversample=data.oversample)
        if self.stem is None and self.nacs is None:
            raise WrongRequest(f"{self.name} has no official files; leave out --official")
        parts = _official.load(data.official, self.stem, self.nacs, rule)
        if data.oversample:
            return parts
        _, first = np.unique(parts.train, return_index=True)
        return Partition(parts.train[np.sort(first)], parts.test)

    def _carve(self, parts: Partition, data: ScanOptions) -> tuple[Examples, Examples]:
        fraction = data.validation_fraction
        match data.validation:
            case "draw":
                train, chosen = _validation.draw(parts.train, fraction, data.seed, self.name)
            case "length":
                self._check_length()
                train, chosen = _validation.longest(parts.train, fraction)
            case "published" | "none":
                train, chosen = parts.train, parts.train[:0]
            case _:  # dab
                base = self._primitive_rule
                kind = "tasks that add a primitive, such as scan/addprim_jump"
                if base is None:
                    raise WrongRequest(f"validation by dab is for {kind}, not for {self.name}")
                return _validation.proxy(parts.train, base, fraction, data.seed)
        return command_table().take(train), command_table().take(chosen)

    def _check_length(self) -> None:
        if not (isinstance(self.how, HoldOut) and isinstance(self.how.test, LongerThan)):
            raise WrongRequest(f"validation by length is for scan/length, not for {self.name}")

    @property
    def _primitive_rule(self) -> HoldOut | None:
        rule = self.how.base if isinstance(self.how, Added) else self.how
        return rule if isinstance(rule, HoldOut) and rule.oversample is not None else None
