"""Validation sets, split off train, never off test (Bastings et al. 2018, section 6.1).

`draw`: each training line, repeats included, goes to validation with the same probability. The
released sets are such draws, but have `jump` itself in validation once (13236 + 1278).

`length`: the training lines with the most actions, for the same kind of generalisation as in the
test. The threshold is the number of actions whose share of longer lines is nearest to the fraction.

`dab`: a proxy for the held-out primitive, learned in the same way and validated in composed
commands. Train has a twin of each line with the held-out phrase, with `dab` in its place (`jump`
x1467 gives `dab` x1467), as in the released set. Validation is a draw of the twins of the test
commands, of the fraction of the training lines; the released set has all of them.
"""

from __future__ import annotations

import numpy as np

from daxy.core.errors import require
from daxy.core.examples import Examples, Tokens
from daxy.core.random import stream
from daxy.languages import scan
from daxy.tasks._predicates import Contains
from daxy.tasks._rules import HoldOut, Rows, command_table


def draw(train: Rows, fraction: float, seed: int, purpose: str) -> tuple[Rows, Rows]:
    """Return train and validation; the fraction is the probability of each line."""
    chosen = stream(seed, f"{purpose}/validation").random(len(train)) < fraction
    return train[~chosen], train[chosen]


def longest(train: Rows, fraction: float) -> tuple[Rows, Rows]:
    """Return train and validation, which has the lines with the most actions."""
    lengths = command_table().target.lengths[train]
    thresholds = np.unique(lengths)
    shares = np.array([(lengths > threshold).mean() for threshold in thresholds])
    above = lengths > thresholds[np.abs(shares - fraction).argmin()]
    return train[~above], train[above]


def proxy(train: Rows, rule: HoldOut, fraction: float, seed: int) -> tuple[Examples, Examples]:
    """Return train with the twins of the held-out phrase, and validation."""
    held_out, test = rule.oversample, rule.test
    assert held_out is not None
    known = list(scan.meanings().items())
    lines = [known[row] for row in train]
    twins = [twin(command, held_out) for command, _ in lines if Contains(held_out)(command)]
    meaning = scan.meanings(scan.SCAN_WITH_DAB)
    tested = (twin(command, held_out) for command, _ in known if test(command))
    pool = sorted(set(tested) - set(twins))
    count = min(round(fraction * len(train)), len(pool))
    chosen = stream(seed, f"scan/dab {held_out}").choice(len(pool), count, replace=False)
    order = stream(0, "scan/order").permutation(len(lines) + len(twins))
    lines += [(command, meaning[command]) for command in twins]
    validation = [(pool[row], meaning[pool[row]]) for row in chosen]
    return Examples.of(lines[row] for row in order), Examples.of(validation)


def twin(command: Tokens, held_out: str) -> Tokens:
    """Return the command with `dab` in place of the held-out phrase."""
    return tuple(f" {' '.join(command)} ".replace(f" {held_out} ", f" {scan.PROXY} ").split())


def check_sizes(train: int, held_out: int, *, is_requested: bool) -> None:
    """Refuse an empty training set, and an empty validation set if one is requested."""
    require(train > 0, "the validation fraction leaves nothing to train on")
    require(
        held_out > 0 or not is_requested, "the validation fraction leaves the validation set empty"
    )
