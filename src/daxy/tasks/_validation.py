"""How a validation set is carved from train, never from test (Bastings et al. 2018, section 6.1).

`draw`: each training line, repeats included, goes to validation with the same probability. The
authors' released sets are such draws, but have `jump` itself in validation once (13236 + 1278).

`length`: the training lines with the most actions, so that choosing a model asks for the same kind
of generalisation as the length test. The threshold is the number of actions that brings the share
of the lines above it nearest to the fraction.

`dab`: a proxy for the held-out primitive. `dab` (I_DAB) is learned as that primitive is, and
validation asks for it in composed commands. Train has the twin of each line with the held-out
phrase, `dab` in its place (`jump` x1467 brings `dab` x1467), as the authors' released set does.
Validation is a draw, as large as the fraction of the training lines, of the twins of the test
commands; the released set has all of them.
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
    """Return train and validation: each line is drawn with the fraction as its probability."""
    chosen = stream(seed, f"{purpose}/validation").random(len(train)) < fraction
    return train[~chosen], train[chosen]


def longest(train: Rows, fraction: float) -> tuple[Rows, Rows]:
    """Return train and validation: the lines whose number of actions is above a threshold."""
    lengths = command_table().target.lengths[train]
    thresholds = np.unique(lengths)
    shares = np.array([(lengths > threshold).mean() for threshold in thresholds])
    above = lengths > thresholds[np.abs(shares - fraction).argmin()]
    return train[~above], train[above]


def proxy(train: Rows, rule: HoldOut, fraction: float, seed: int) -> tuple[Examples, Examples]:
    """Return train with the twins of its lines with the held-out phrase, and validation."""
    held_out, test = rule.oversample, rule.test
    assert held_out is not None
    known = list(scan.meanings().items())
    lines = [known[row] for row in train]
    twins = [twin(command, held_out) for command, _ in lines if Contains(held_out)(command)]
    meaning = scan.meanings(scan.SCAN_WITH_DAB)
    asked = (twin(command, held_out) for command, _ in known if test(command))
    pool = sorted(set(asked) - set(twins))
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
    """Refuse a validation set that leaves nothing to train on, or is asked for and empty."""
    require(train > 0, "the validation fraction leaves nothing to train on")
    require(
        held_out > 0 or not is_requested, "the validation fraction leaves the validation set empty"
    )
