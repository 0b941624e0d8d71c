"""Every team takes each of its steps once and in order, and no device has more than its share."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.training.turns import Turn, spread, take

teams = st.lists(st.integers(0, 99), unique=True, min_size=1, max_size=9)


@given(teams, st.integers(1, 5), st.integers(1, 33))
def test_every_step_of_every_team_is_taken_once(teams: list[int], devices: int, steps: int) -> None:
    taken: dict[int, list[int]] = defaultdict(list)
    for own in spread(teams, devices, steps):
        for turn in own:
            taken[turn.team] += range(turn.first, turn.end)
    assert {team: sorted(own) for team, own in taken.items()} == {
        team: list(range(steps)) for team in teams
    }


@given(teams, st.integers(1, 5), st.integers(1, 33))
def test_no_device_does_more_than_there_must_be_and_no_team_is_in_two_places(
    teams: list[int], devices: int, steps: int
) -> None:
    """A schedule in which every step lasts as long: step n of a team is over before step n + 1."""
    times: dict[int, dict[int, int]] = defaultdict(dict)
    lasts = list[int]()
    for own in spread(teams, devices, steps):
        now = 0
        for turn in own:
            for step in range(turn.first, turn.end):
                times[turn.team][step] = now
                now += 1
        lasts.append(now)
    assert max(lasts) == max(steps, -(-len(teams) * steps // devices))
    for own in times.values():
        assert all(own[step] < own[step + 1] for step in range(steps - 1))


def test_a_cut_turn_waits_for_its_beginning() -> None:
    heard = list[Turn]()
    turns = spread([0, 1, 2, 3, 4], 2, 4)
    take(turns, lambda device, turn: heard.append(turn))
    assert sorted(heard) == sorted(turn for own in turns for turn in own)
    assert heard.index(Turn(2, 0, 2)) < heard.index(Turn(2, 2, 4))


def test_what_goes_wrong_in_a_turn_is_raised_and_nobody_waits_for_ever() -> None:
    def run(device: int, turn: Turn) -> None:
        if turn == Turn(1, 0, 2):
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        take(spread([0, 1, 2], 2, 4), run)
