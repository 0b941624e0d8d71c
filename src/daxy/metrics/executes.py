"""Execution: actions are right when they do in the world what the command says, as it says.

The paper calls going along the column first "okay at test" (Ruis et al. 2020, section 3), and
scores by exact match all the same; this is the other score.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import require
from daxy.core.examples import Examples, Sequences
from daxy.languages import grounded
from daxy.metrics._metric import Metric
from daxy.metrics.exact import METRIC as EXACT
from daxy.worlds.columns import Worlds, worlds_of
from daxy.worlds.execution import executes, spins_after
from daxy.worlds.grid import LEFT, RIGHT, STEPS, WALK


@final
class Executes(Metric):
    """The share of predictions that bring about the command's effect in its manner."""

    name = "executes"
    summary = "the actions have the command's effect, in its manner, on any path"

    def score(self, examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
        """Return where the prediction does what the command says.

        The target does, so only what differs from it is carried out, if it walks to the target.

        Raises:
            WrongRequest: the examples have no worlds.
        """
        require(examples.worlds is not None, "only examples with worlds execute")
        right = EXACT.score(examples, predictions)
        worlds, commands, places = worlds_of(examples), grounded.commands(), grounded.places()
        for row in np.flatnonzero(~right & _arrives(examples, predictions)).tolist():
            command = commands[places[examples.source[row]]]
            after = spins_after(command, examples.target[row])
            done = predictions[row]
            right[row] = executes(command, worlds[row], done, spin_after=after)
        return right


def _arrives(examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
    """Return where a prediction walks as the target does from beginning to end: as far, that way.

    Whatever else it does, only such a prediction can do what is said.
    """
    taken, wanted = (_walked(each, worlds_of(examples)) for each in (predictions, examples.target))
    return (taken == wanted).all(axis=1)


def _walked(actions: Sequences, worlds: Worlds) -> NDArray[np.int64]:
    """Return steps walked, and by how many rows and columns they lead on: [count, 3]."""
    owners = np.repeat(np.arange(len(actions)), actions.lengths)
    turns = np.array([{LEFT: -1, RIGHT: 1}.get(symbol, 0) for symbol in actions.symbols], np.int64)
    turned = np.cumsum(turns[actions.codes]) if len(actions.codes) else np.zeros(0, np.int64)
    before = np.concatenate([[0], turned])[actions.offsets[:-1]]
    heading = (worlds.heading[owners] + turned - before[owners]) % 4
    walks = np.array([symbol == WALK for symbol in actions.symbols], np.bool_)[actions.codes]
    steps = np.column_stack([np.ones(4, np.int64), STEPS])[heading[walks]]
    found = np.zeros((len(actions), 3), np.int64)
    np.add.at(found, owners[walks], steps)
    return found


METRIC = Executes()
