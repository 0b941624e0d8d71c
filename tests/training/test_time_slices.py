"""Every group takes each of its steps once and in order, and no device has more than its share."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.training.time_slices import TimeSlice, execute, schedule

groups = st.lists(st.integers(0, 99), unique=True, min_size=1, max_size=9)


@given(groups, st.integers(1, 5), st.integers(1, 33))
def test_every_step_of_every_group_is_taken_once(
    groups: list[int], devices: int, steps: int
) -> None:
    taken: dict[int, list[int]] = defaultdict(list)
    for own in schedule(groups, devices, steps):
        for each in own:
            taken[each.group] += range(each.first, each.end)
    assert {group: sorted(own) for group, own in taken.items()} == {
        group: list(range(steps)) for group in groups
    }


@given(groups, st.integers(1, 5), st.integers(1, 33))
def test_no_device_does_more_than_there_must_be_and_no_group_is_in_two_places(
    groups: list[int], devices: int, steps: int
) -> None:
    """A schedule in which every step lasts as long: step n of a group is over before step n + 1."""
    times: dict[int, dict[int, int]] = defaultdict(dict)
    lasts = list[int]()
    for own in schedule(groups, devices, steps):
        now = 0
        for each in own:
            for step in range(each.first, each.end):
                times[each.group][step] = now
                now += 1
        lasts.append(now)
    assert max(lasts) == max(steps, -(-len(groups) * steps // devices))
    for own in times.values():
        assert all(own[step] < own[step + 1] for step in range(steps - 1))


def test_a_cut_slice_waits_for_its_beginning() -> None:
    heard = list[TimeSlice]()
    slices = schedule([0, 1, 2, 3, 4], 2, 4)
    execute(slices, lambda device, each: heard.append(each))
    assert sorted(heard) == sorted(each for own in slices for each in own)
    assert heard.index(TimeSlice(2, 0, 2)) < heard.index(TimeSlice(2, 2, 4))


def test_what_goes_wrong_in_a_each_is_raised_and_nobody_waits_for_ever() -> None:
    def run(device: int, each: TimeSlice) -> None:
        if each == TimeSlice(1, 0, 2):
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        execute(schedule([0, 1, 2], 2, 4), run)
