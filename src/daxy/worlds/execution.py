"""Execution of commands: whether actions have the effect of a command, in its manner.

A demonstration goes along the row first, but the paper accepts any shortest path. Actions are right
if the agent reaches the target by a shortest path, pushes or pulls it as far as possible, and does
all of this in the manner of the command, without other actions:

- Without a manner a path may turn anywhere. `while zigzagging` turns at each step until in line,
  with either direction first.
- A spin and a half turn may go either way round; a look may begin on either side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import quote, require
from daxy.core.examples import Examples, Sequences
from daxy.languages import grounded
from daxy.languages.grounded import Command, Thing, referent
from daxy.worlds.columns import Worlds, worlds_of
from daxy.worlds.demonstration import LOOK, SPIN, Actions, free_cells, spin_before_steps
from daxy.worlds.grid import (
    ACTIONS,
    LEFT,
    MOVES,
    PUSH,
    RIGHT,
    STAY,
    STEPS,
    WALK,
    Grid,
    GridCell,
)

SPINS = (SPIN, (RIGHT,) * 4)
LOOKS = (LOOK, (RIGHT, LEFT, LEFT, RIGHT))
MINIMAL = ((), (LEFT,), (RIGHT,), (LEFT, LEFT), (RIGHT, RIGHT))
"""Shortest sequences of turns."""


class Act(NamedTuple):
    """A step, push or pull with the actions around it."""

    place: int
    """Position of the action, from 1."""
    before: Actions
    action: str
    after: Actions
    """The stays that follow."""


def spins_after(command: Command, demonstration: Sequence[str]) -> bool:
    """Whether a demonstration spins after each step."""
    return command.manner == "while spinning" and tuple(demonstration[-len(SPIN) :]) == SPIN


def executes(
    command: Command, world: Grid, actions: Sequence[str], *, spin_after: bool = False
) -> bool:
    """Whether actions execute a command; see `fault`.

    Args:
        command: The command.
        world: The initial world.
        actions: The actions.
        spin_after: Whether spins have to come after each step, not before.

    Raises:
        NoReferent: the command has no referent, or several.
    """
    return fault(command, world, spin_before_steps(actions) if spin_after else actions) is None


def fault(command: Command, world: Grid, actions: Sequence[str]) -> str | None:
    """Return the first error of actions as an execution of a command; None without errors.

    Raises:
        NoReferent: the command has no referent, or several.
    """
    thing, target = world.placed[referent(command.phrase, world.things)]
    for place, action in enumerate(actions, 1):
        if action not in ACTIONS:
            return f"action {place} is {quote(action)}, which is none"
    acts = list(_acts(actions))
    moved = sum(len(act.before) + len(act.after) + 1 for act in acts)
    if moved < len(actions):
        return f"action {moved + 1} and what follows it does nothing"
    for act in acts:
        if wrong := _manner(command.manner, act):
            return f"action {act.place}, {act.action}: {wrong}"
    return _effect(command, world, thing, target, acts)


def _acts(actions: Sequence[str]) -> Iterator[Act]:
    """Yield the acts, without the actions after the last one and its stays."""
    place, before = 0, list[str]()
    while place < len(actions):
        action = actions[place]
        place += 1
        if action not in MOVES:
            before.append(action)
            continue
        end = place
        while end < len(actions) and actions[end] == STAY:
            end += 1
        yield Act(place, tuple(before), action, tuple(actions[place:end]))
        place, before = end, []


def _manner(manner: str | None, act: Act) -> str | None:
    turns, stays = act.before, len(act.after)
    if manner == "while spinning":
        if turns[:4] not in SPINS:
            return "no spin goes before it"
        turns = turns[4:]
    elif manner == "cautiously":
        if turns[-4:] not in LOOKS:
            return "no look to both sides goes before it"
        turns = turns[:-4]
    if stays != (manner == "hesitantly"):
        return f"{stays} stays follow it" if stays else "no stay follows it"
    return None if turns in MINIMAL else f"{quote(' '.join(turns))} before it is more than a turn"


def _effect(
    command: Command, world: Grid, thing: Thing, target: GridCell, acts: Sequence[Act]
) -> str | None:
    distances = abs(target.row - world.agent.row), abs(target.column - world.agent.column)
    steps, zigzags = sum(distances), 2 * min(distances)
    state, along = world, list[bool]()
    for act in acts[:steps]:
        if act.action != WALK:
            return f"action {act.place}, {act.action}: the agent is not there yet"
        state = _after(state, act)
        along.append(state.heading % 2 == 0)
    if state.agent != target:
        return (
            f"after {len(along)} of {steps} steps the agent is at {tuple(state.agent)}, not there"
        )
    straight = any(one == other for one, other in pairwise(along[:zigzags]))
    if straight and command.manner == "while zigzagging":
        return "the way does not zigzag"
    rest = acts[steps:]
    if command.verb == "walk":
        return f"action {rest[0].place}, {rest[0].action}: it is there already" if rest else None
    heading = state.heading if command.verb == PUSH else state.heading + 2
    wanted = thing.weight * free_cells(world, target, heading)
    for act in rest:
        if act.action != command.verb:
            return f"action {act.place}, {act.action}: it is to {command.verb}"
        if (after := _after(state, act)).heading != state.heading:
            return f"action {act.place}, {act.action}: the agent has turned"
        state = after
    count = f"it has to {command.verb} {wanted} times, not {len(rest)}"
    return None if len(rest) == wanted else count


def _after(world: Grid, act: Act) -> Grid:
    *_, world = world.course((*act.before, act.action))
    return world


def executed_rows(examples: Examples, predictions: Sequences) -> NDArray[np.bool_]:
    """Return where a prediction executes the command in its world: [count].

    Targets do. Of other predictions, only those that walk to the target can, and are checked.

    Raises:
        WrongRequest: the examples have no worlds.
    """
    require(examples.worlds is not None, "only examples with worlds execute")
    right, worlds = examples.target.matches(predictions), worlds_of(examples)
    commands, index = grounded.commands(), grounded.command_indices()
    for row in np.flatnonzero(~right & _arrives(examples.target, predictions, worlds)).tolist():
        command = commands[index[examples.source[row]]]
        after = spins_after(command, examples.target[row])
        right[row] = executes(command, worlds[row], predictions[row], spin_after=after)
    return right


def _arrives(targets: Sequences, predictions: Sequences, worlds: Worlds) -> NDArray[np.bool_]:
    """Return where a prediction has as many steps and the same displacement as the target."""
    taken, wanted = (_walked(each, worlds) for each in (predictions, targets))
    return (taken == wanted).all(axis=1)


def _walked(actions: Sequences, worlds: Worlds) -> NDArray[np.int64]:
    """Return the number of steps and the displacement in rows and columns: [count, 3]."""
    owners = np.repeat(np.arange(len(actions)), actions.lengths)
    turns = np.array([{LEFT: -1, RIGHT: 1}.get(symbol, 0) for symbol in actions.symbols], np.int64)
    turned = np.cumsum(turns[actions.codes]) if len(actions.codes) else np.zeros(0, np.int64)
    before = np.concatenate([[0], turned])[actions.offsets[:-1]]
    heading = (worlds.heading[owners] + turned - before[owners]) % 4
    walks = np.array([symbol == WALK for symbol in actions.symbols], np.bool_)[actions.codes]
    steps = np.column_stack([np.ones(4, np.int64), STEPS])[heading[walks]]
    sums = np.zeros((len(actions), 3), np.int64)
    np.add.at(sums, owners[walks], steps)
    return sums
