"""Time slices: groups of replicas share devices so that no device waits.

A group is one replica, or several that train as one vmapped program. With five groups on two
devices, one device would train three groups while the other trains two and then waits. So one
group is cut: its first steps are the first slice of one device, its last steps the last slice of
the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple


class TimeSlice(NamedTuple):
    """A group's steps from `first` to before `end`."""

    group: int
    first: int
    end: int


def schedule(groups: Sequence[int], devices: int, steps: int) -> list[list[TimeSlice]]:
    """Return the slices of each device: every group's steps, in order and never two at a time.

    This is the wrap-around rule of McNaughton (1959, "Scheduling with deadlines and loss
    functions"): the groups' steps in a row, cut into equal parts, one for each device. A group's
    steps run backwards along that row, so that where a cut divides them the later device, which
    begins with them, has the earlier ones.

    Args:
        groups: Groups with steps to take.
        devices: Number of devices of the same speed.
        steps: Steps of each group.
    """
    share = max(steps, -(-len(groups) * steps // devices))
    slices: list[list[TimeSlice]] = [[] for _ in range(devices)]
    for position, group in enumerate(groups):
        begin, end = position * steps, (position + 1) * steps
        for device in range(begin // share, (end - 1) // share + 1):
            left, right = max(begin, device * share), min(end, (device + 1) * share)
            slices[device].append(TimeSlice(group, end - right, end - left))
    return slices


def execute(slices: Sequence[Sequence[TimeSlice]], run: Callable[[int, TimeSlice], None]) -> None:
    """Call `run(device, slice)` for every slice, each device in its own thread.

    A slice that continues a group begins when the group's slice before it has ended.
    """
    first = {part.group: Future[None]() for parts in slices for part in parts if part.first == 0}

    def work(device: int) -> None:
        for part in slices[device]:
            if part.first:
                first[part.group].result()
                run(device, part)
                continue
            try:
                run(device, part)
            except BaseException as error:
                first[part.group].set_exception(error)
                raise
            first[part.group].set_result(None)

    busy = [device for device, parts in enumerate(slices) if parts]
    if len(busy) < 2:
        for device in busy:
            work(device)
        return
    with ThreadPoolExecutor(len(busy)) as threads:
        for done in [threads.submit(work, device) for device in busy]:
            done.result()
