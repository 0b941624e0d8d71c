"""Where many predictions do what their commands say; `daxy.worlds.execution` judges one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import require
from daxy.core.examples import Examples, Sequences
from daxy.languages import grounded
from daxy.worlds.columns import Worlds, worlds_of
from daxy.worlds.execution import executes, spins_after
from daxy.worlds.grid import LEFT, RIGHT, STEPS, WALK


def executed(examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
    """Return where a prediction does what the command says in its world.

    The target does. Of the other predictions only those that walk to the target are executed.

    Raises:
        WrongRequest: the examples have no worlds.
    """
    require(examples.worlds is not None, "only examples with worlds execute")
    right, worlds = examples.target.matches(predictions), worlds_of(examples)
    commands, places = grounded.commands(), grounded.places()
    for row in np.flatnonzero(~right & _arrives(examples.target, predictions, worlds)).tolist():
        command = commands[places[examples.source[row]]]
        after = spins_after(command, examples.target[row])
        right[row] = executes(command, worlds[row], predictions[row], spin_after=after)
    return right


def _arrives(targets: Sequences, predictions: Sequences, worlds: Worlds) -> NDArray[np.bool_]:
    """Return where a prediction walks as the target does from beginning to end: as far, that way.

    Only such a prediction can do what the command says.
    """
    taken, wanted = (_walked(each, worlds) for each in (predictions, targets))
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
