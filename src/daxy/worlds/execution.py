"""Whether actions do what a command says, as it says, whichever way they go.

A demonstration goes along the row first; the paper holds either way to be right. So actions are
right here if the agent reaches what the command speaks of by a shortest way, pushes or pulls it as
far as it goes, and does each of that in the manner that is asked for, without anything besides:

- with no manner, a way may turn where it likes; `while zigzagging` it turns at each step until in
  line, whichever direction is first;
- a spin may go either way round, and so may a half turn; a look may begin on either side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from daxy.core.errors import quote
from daxy.languages.grounded import Command, Thing, referent
from daxy.worlds.demonstration import LOOK, SPIN, Actions, room, spun_before
from daxy.worlds.grid import ACTIONS, LEFT, MOVES, PUSH, RIGHT, STAY, WALK, GridCell, World

SPINS = (SPIN, (RIGHT,) * 4)
LOOKS = (LOOK, (RIGHT, LEFT, LEFT, RIGHT))
MINIMAL = ((), (LEFT,), (RIGHT,), (LEFT, LEFT), (RIGHT, RIGHT))
"""Turns that cannot be fewer for where they end."""


class Act(NamedTuple):
    """A step, a push or a pull, with what goes before and after it."""

    place: int
    """Of its action, from 1."""
    before: Actions
    action: str
    after: Actions
    """Stays, of which only the manner knows whether they belong to it."""


def spins_after(command: Command, demonstration: Sequence[str]) -> bool:
    """Whether a set spins after each step, by its demonstration of a command."""
    return command.manner == "while spinning" and tuple(demonstration[-len(SPIN) :]) == SPIN


def executes(
    command: Command, world: World, actions: Sequence[str], *, spin_after: bool = False
) -> bool:
    """Whether actions do what a command says; see `fault`.

    Args:
        command: What is said.
        world: Where.
        actions: What is done.
        spin_after: Whether what is to be done while spinning spins after each step, not before.

    Raises:
        NoReferent: what the command speaks of is not there, or not one thing.
    """
    return fault(command, world, spun_before(actions) if spin_after else actions) is None


def fault(command: Command, world: World, actions: Sequence[str]) -> str | None:
    """Return what keeps actions from doing what a command says; None if nothing does.

    Raises:
        NoReferent: what the command speaks of is not there, or not one thing.
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
    """Yield the acts; what follows the last of them, stays apart, is left out."""
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
    """Return what is wrong with the manner of an act."""
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
    command: Command, world: World, thing: Thing, target: GridCell, acts: Sequence[Act]
) -> str | None:
    """Return what is wrong with where acts lead to."""
    distances = abs(target.row - world.agent.row), abs(target.column - world.agent.column)
    steps, zigzags = sum(distances), 2 * min(distances)
    here, along = world, list[bool]()
    for act in acts[:steps]:
        if act.action != WALK:
            return f"action {act.place}, {act.action}: the agent is not there yet"
        here = _after(here, act)
        along.append(here.heading % 2 == 0)
    if here.agent != target:
        return f"after {len(along)} of {steps} steps the agent is at {tuple(here.agent)}, not there"
    straight = any(one == other for one, other in pairwise(along[:zigzags]))
    if straight and command.manner == "while zigzagging":
        return "the way does not zigzag"
    rest = acts[steps:]
    if command.verb == "walk":
        return f"action {rest[0].place}, {rest[0].action}: it is there already" if rest else None
    heading = here.heading if command.verb == PUSH else here.heading + 2
    wanted = thing.weight * room(world, target, heading)
    for act in rest:
        if act.action != command.verb:
            return f"action {act.place}, {act.action}: it is to {command.verb}"
        if (after := _after(here, act)).heading != here.heading:
            return f"action {act.place}, {act.action}: the agent has turned"
        here = after
    count = f"it has to {command.verb} {wanted} times, not {len(rest)}"
    return None if len(rest) == wanted else count


def _after(world: World, act: Act) -> World:
    *_, world = world.course((*act.before, act.action))
    return world
