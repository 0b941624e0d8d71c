"""Teams that train in turns, spread over the devices so that none of these waits.

A team is one replica, or several that train side by side. Five teams on two devices: one device
would have three turns while the other has two and then nothing. So one team's turn is cut: its
first steps are the first thing that one device does, its last steps the last thing that the other
does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple


class Turn(NamedTuple):
    """A team's steps from `first` to before `end`."""

    team: int
    first: int
    end: int


def spread(teams: Sequence[int], devices: int, steps: int) -> list[list[Turn]]:
    """Return the turns of each device: every team's steps, in order and never two at a time.

    It is the wrap-around rule of McNaughton (1959, "Scheduling with deadlines and loss functions"):
    the teams' steps in a row, cut into equal parts, one for each device. A team's steps run
    backwards along that row, so that where a cut divides them the later device, which begins with
    them, has the earlier ones.

    Args:
        teams: Those that have something to do.
        devices: Of the same speed.
        steps: Of each team.
    """
    share = max(steps, -(-len(teams) * steps // devices))
    turns: list[list[Turn]] = [[] for _ in range(devices)]
    for place, team in enumerate(teams):
        begin, end = place * steps, (place + 1) * steps
        for device in range(begin // share, (end - 1) // share + 1):
            own = max(begin, device * share), min(end, (device + 1) * share)
            turns[device].append(Turn(team, end - own[1], end - own[0]))
    return turns


def take(turns: Sequence[Sequence[Turn]], run: Callable[[int, Turn], None]) -> None:
    """Call `run(device, turn)` for every turn, each device in a thread of its own.

    A turn that goes on with a team begins when the one before it has ended.
    """
    begun = {turn.team: Future[None]() for own in turns for turn in own if turn.first == 0}

    def work(device: int) -> None:
        for turn in turns[device]:
            if turn.first:
                begun[turn.team].result()
                run(device, turn)
                continue
            try:
                run(device, turn)
            except BaseException as error:
                begun[turn.team].set_exception(error)
                raise
            begun[turn.team].set_result(None)

    busy = [device for device, own in enumerate(turns) if own]
    if len(busy) < 2:
        for device in busy:
            work(device)
        return
    with ThreadPoolExecutor(len(busy)) as threads:
        for done in [threads.submit(work, device) for device in busy]:
            done.result()
