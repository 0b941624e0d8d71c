"""Rules of SCAN's splits with other numbers than the published ones."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction

from daxy.core.errors import require
from daxy.core.settings import is_added_field
from daxy.core.split import Sizes
from daxy.tasks._predicates import LongerThan, Predicate
from daxy.tasks._rules import Added, HoldOut, Proportion, Rule, command_table, select
from daxy.tasks._scan_options import (
    LengthOptions,
    OversamplingOptions,
    ProportionOptions,
    ScanOptions,
    ShotsOptions,
)

UNKNOWN = Sizes(train=0, test=0)
"""Sizes of a rule that is not published."""


@dataclass(frozen=True, kw_only=True)
class Shots:
    """Commands that the option `shots` adds to train."""

    pool: Predicate
    """The commands to draw from."""
    published: str
    """Name of the published tasks with some of them: `addprim_complex_jump`."""


def varied(rule: Rule, data: ScanOptions, shots: Shots | None) -> Rule:
    """Return a published rule with the numbers of the options.

    Args:
        rule: The published rule.
        data: The options; each number that a rule has is one.
        shots: Commands for the option `shots`; None without this option.

    Raises:
        WrongRequest: a number leaves a part empty, or the official files have another one.
    """
    changed = [name for name in _numbers(data) if getattr(data, name) != getattr(type(data), name)]
    if not changed:
        return rule
    if data.official is not None:
        for name in changed:
            data.check_plain(name, "the official files have the published number")
    match rule:
        case Proportion():
            assert isinstance(data, ProportionOptions)
            return _proportion(data)
        case Added():
            return replace(rule, base=_held_out(rule.base, data), sizes=UNKNOWN, released=None)
        case HoldOut():
            rule = _held_out(rule, data)
            return rule if shots is None else _with_shots(rule, data, shots)
        case _:
            return rule


def _numbers(data: ScanOptions) -> list[str]:
    """Return the names of the options that are numbers of the rule."""
    return [field.name for field in fields(data) if is_added_field(field)]


def _proportion(data: ProportionOptions) -> Proportion:
    rule = Proportion(share=Fraction(str(data.train_fraction)))
    none = f"a train fraction of {data.train_fraction:g} leaves nothing to train on"
    require(rule.sizes.train > 0, none)
    return rule


def _held_out(rule: HoldOut, data: ScanOptions) -> HoldOut:
    if isinstance(data, LengthOptions):
        longest = int(command_table().target.lengths.max())
        bounds = f"max-length must be from 1 to {longest - 1}, not {data.max_length}"
        longer = f"no command of SCAN has more than {longest} actions"
        require(data.max_length < longest, f"{bounds}: {longer}")
        rule = replace(rule, test=LongerThan(data.max_length))
    if isinstance(data, OversamplingOptions):
        rule = replace(rule, share=Fraction(str(data.oversample_fraction)))
    return replace(rule, sizes=UNKNOWN)


def _with_shots(rule: HoldOut, data: ScanOptions, shots: Shots) -> Rule:
    """Return a rule with the drawn commands in train.

    The draw of a published number is that of its first repetition.
    """
    if not isinstance(data, ShotsOptions) or not data.shots:
        return rule
    is_tested = shots.pool is rule.test  # by one command at least
    most = len(select(shots.pool)) - is_tested
    require(data.shots <= most, f"shots must be at most {most:,}, not {data.shots:,}")
    draw = f"scan/{shots.published}_num{data.shots}_rep1"
    return Added(base=rule, pool=shots.pool, count=data.shots, draw=draw, sizes=UNKNOWN)
