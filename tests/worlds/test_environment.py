"""The environments: the rules of worlds, rewards for what was said, and Gymnasium's own check."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import daxy
from daxy.core.errors import WrongRequest
from daxy.core.examples import Examples, Sequences
from daxy.languages import grounded
from daxy.languages.grounded import Thing
from daxy.worlds import environment
from daxy.worlds.columns import Worlds
from daxy.worlds.demonstration import demonstrate, spin_before_steps
from daxy.worlds.environment import GroundedEnv
from daxy.worlds.episodes import Episodes
from daxy.worlds.grid import ACTIONS, GridCell, Placed
from daxy.worlds.vector_environment import GroundedVectorEnv
from daxy.worlds.world import World

IDS = [name for name in gymnasium.registry if name.startswith("daxy/")]


@pytest.fixture(scope="module")
def examples() -> Examples:
    choices = {"grid": 4, "resampling": 1, "max_length": 6}
    found = daxy.load("gscan/length", **choices).test
    assert found.worlds is not None
    return found


def test_there_are_symbolic_and_rgb_environments() -> None:
    assert {"daxy/gSCAN-v0", "daxy/gSCAN-RGB-v0"} <= set(IDS)


@pytest.mark.parametrize("name", IDS)
@pytest.mark.filterwarnings("ignore::UserWarning")  # of Gymnasium's: no `human` rendering
def test_every_environment_passes_gymnasium_s_check(name: str) -> None:
    check_env(gymnasium.make(name).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", IDS)
def test_environments_that_step_together_are_in_their_spaces(name: str) -> None:
    together = gymnasium.make_vec(name, num_envs=3, vectorization_mode="vector_entry_point")
    seen, _ = together.reset(seed=5)
    assert seen in together.observation_space
    seen, *_ = together.step(together.action_space.sample())
    assert seen in together.observation_space


def test_the_demonstration_alone_earns_the_reward(examples: Examples) -> None:
    env = GroundedEnv(size=4, examples=examples)
    for number in range(0, len(examples), len(examples) // 40):
        seen, _ = env.reset(options={"example": number})
        assert seen["instruction"] == " ".join(examples[number].source)
        np.testing.assert_array_equal(seen["state"], examples.worlds[number].tensor())
        *before, last = examples[number].target
        for action in before:
            *_, reward, ended, _, _ = env.step(np.int64(ACTIONS.index(action)))
            assert (reward, ended) == (0.0, False)
        *_, reward, ended, _, info = env.step(np.int64(ACTIONS.index(last)))
        assert (reward, ended, info) == (1.0, True, {"success": True})


def rewards(env: GroundedEnv | GroundedVectorEnv, actions: Sequence[str]) -> list[float]:
    """Return the reward of each of some actions, in one environment or in the first of several."""
    found = list[float]()
    for action in actions:
        number = np.int64(ACTIONS.index(action))
        *_, reward, _, _, _ = env.step(number if isinstance(env, GroundedEnv) else [number])
        found += np.atleast_1d(reward).tolist()
    return found


def test_where_a_set_spins_after_each_step_its_demonstration_earns_the_reward() -> None:
    found = daxy.load("gscan/compositional", grid=4, resampling=1, spin="after").train
    assert found.worlds is not None
    spins = [row for row, source in enumerate(found.source) if source[-1] == "while spinning"]
    for row in spins[:: len(spins) // 40]:
        one = found.take([row])
        (example,) = one
        envs = GroundedEnv(size=4, examples=one), GroundedVectorEnv(1, size=4, examples=one)
        for env in envs:
            env.reset(seed=0)
            assert rewards(env, example.target) == [0.0] * (len(example.target) - 1) + [1.0]
            env.reset(seed=0)
            assert not any(rewards(env, spin_before_steps(example.target)))


def test_without_examples_any_command_is_said_where_it_has_a_meaning() -> None:
    episodes, draw = Episodes(6), np.random.default_rng(0)
    said = set()
    for _ in range(300):
        command, world, _ = episodes(draw)
        said.add(command)
        assert grounded.referent(command.phrase, world.things) == 0
        assert demonstrate(command, world)
    assert len(said) > 200


def test_together_they_step_as_one_alone_does(examples: Examples) -> None:
    """Random actions, with many pushes and pulls; what ends begins anew, which is not followed."""
    count, draw = 64, np.random.default_rng(1)
    together = GroundedVectorEnv(count, size=4, examples=examples, max_steps=60)
    seen, _ = together.reset(seed=3)
    worlds = list(together._begun)
    going = np.ones(count, np.bool_)
    followed = 0
    for _ in range(60):
        actions = draw.choice(len(ACTIONS), count, p=[0.3, 0.2, 0.15, 0.05, 0.15, 0.15])
        seen, rewards, ended, late, _ = together.step(actions)
        for row in np.flatnonzero(going).tolist():
            worlds[row] = worlds[row].after(ACTIONS[actions[row]])
            np.testing.assert_array_equal(seen["state"][row], worlds[row].tensor())
            followed += 1
        np.testing.assert_array_equal(rewards, ended.astype(float))
        going &= ~(ended | late)
    assert followed > 30 * count


def test_what_has_ended_begins_anew_at_the_next_step(examples: Examples) -> None:
    together = GroundedVectorEnv(4, size=4, examples=examples, max_steps=2)
    together.reset(seed=0)
    stay = np.full(4, ACTIONS.index("stay"))
    *_, late, _ = together.step(stay)
    assert not late.any()
    *_, late, _ = together.step(stay)
    assert late.all()
    seen, rewards, ended, late, _ = together.step(stay)
    assert not (rewards.any() or ended.any() or late.any())
    begun = [world.tensor() for world in together._begun]
    np.testing.assert_array_equal(seen["state"], begun)


def test_one_seed_gives_one_run() -> None:
    runs = []
    for _ in range(2):
        env, draw = GroundedEnv(), np.random.default_rng(0)
        seen, _ = env.reset(seed=7)
        states = [seen["state"]]
        states += [env.step(draw.integers(6))[0]["state"] for _ in range(5)]
        runs.append(np.stack(states))
    np.testing.assert_array_equal(*runs)


def test_a_world_is_rendered_as_pixels_and_as_text(examples: Examples) -> None:
    for mode in ("rgb_array", "ansi"):
        env = GroundedEnv(size=4, examples=examples, render_mode=mode)
        env.reset(seed=0)
        shown = env.render()
        if mode == "ansi":
            assert "0 " in shown
        else:
            assert shown.shape == (256, 256, 3)


def begun(env: Any) -> Any:
    env.reset(seed=0)
    return env


@pytest.mark.parametrize("size", [4, 6, 9])
def test_no_demonstration_is_cut_off(size: int) -> None:
    episodes, draw = Episodes(size), np.random.default_rng(0)
    longest = max(len(demonstrate(*episodes(draw)[:2])) for _ in range(1500))
    assert longest <= environment.steps_for(size)


def test_an_episode_is_cut_off_when_it_takes_too_long() -> None:
    env = begun(GroundedEnv(max_steps=3))
    stay = np.int64(ACTIONS.index("stay"))
    assert [env.step(stay)[3] for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda examples: GroundedEnv(size=5, examples=examples), "not all of 5 by 5"),
        (lambda examples: GroundedEnv(size=4, examples=examples[:0]), "no examples to draw from"),
        (lambda _: GroundedEnv(observation="smell"), "no observation 'smell'"),
        (lambda _: GroundedEnv(render_mode="human"), "no render mode 'human'"),
        (lambda _: GroundedEnv().step(np.int64(0)), "no episode has begun; call reset first"),
        (
            lambda _: GroundedEnv().reset(options={"example": 1}),
            "only an environment with",
        ),
        (lambda _: GroundedEnv().reset(options={"exmaple": 1}), "no option 'exmaple'"),
        (lambda _: begun(GroundedEnv()).step(np.int64(6)), "a number from 0 to 5, not"),
        (lambda _: begun(GroundedEnv()).step(np.int64(-1)), "a number from 0 to 5, not"),
        (lambda _: GroundedEnv(size=3), "has 4 to 255 cells along a side, not 3"),
        (lambda _: GroundedEnv(size=-1), "has 4 to 255 cells along a side, not -1"),
        (lambda _: GroundedVectorEnv(size=-1), "has 4 to 255 cells along a side, not -1"),
        (lambda _: GroundedEnv(max_steps=0), "max_steps must be positive, not 0"),
        (lambda _: GroundedVectorEnv(0), "num_envs must be positive, not 0"),
        (lambda _: GroundedVectorEnv(2).step(np.zeros(2, np.int64)), "no episode has begun"),
        (lambda _: begun(GroundedVectorEnv(2)).step(np.zeros(3, np.int64)), "expected 2 numbers"),
        (lambda _: begun(GroundedVectorEnv(2)).step(np.array([0, 6])), "expected 2 numbers"),
        (lambda _: GroundedVectorEnv(2).reset(seed=[1, 2]), "have one seed"),
        (
            lambda examples: GroundedEnv(size=4, examples=examples).reset(options={"example": -1}),
            "and no -1",
        ),
    ],
)
def test_what_cannot_be_is_refused(make: object, message: str, examples: Examples) -> None:
    with pytest.raises(WrongRequest, match=message):
        make(examples)  # type: ignore[operator]


def on_grids_of_4(*rows: tuple[str, Sequence[Thing]]) -> Examples:
    """Return examples of what is said, and of which things there are, from the north west on."""
    cells = [GridCell(*divmod(place, 4)) for place in range(16)]
    worlds = [World(4, GridCell(3, 3), tuple(map(Placed, things, cells))) for _, things in rows]
    said = Sequences.of(grounded.words(text) for text, _ in rows)
    return Examples(said, Sequences.of([()] * len(rows)), Worlds.of(worlds))


CIRCLE, SQUARE = Thing("circle", "red", 1), Thing("square", "blue", 2)
PLAYABLE = "push a circle", [CIRCLE, *[SQUARE] * 11]


@pytest.mark.parametrize("make", [GroundedEnv, GroundedVectorEnv])
@pytest.mark.parametrize(
    ("said", "things", "message"),
    [
        ("push a blue red square", [SQUARE], "not a command: 'push a blue \\[red\\] square'"),
        ("push a circle", [SQUARE], "nothing is a circle"),
        ("push a circle", [], "nothing is a circle"),
        ("push a square", [SQUARE, SQUARE], "more than one thing is a square"),
        ("push a big square", [SQUARE, CIRCLE], "nothing is a big square"),
    ],
)
def test_the_first_example_that_cannot_be_played_is_refused_at_once(
    make: Any, said: str, things: list[Thing], message: str
) -> None:
    wrong = said, things
    with pytest.raises(WrongRequest, match=f"example 2 cannot be played: {message}"):
        make(size=4, examples=on_grids_of_4(PLAYABLE, PLAYABLE, wrong, PLAYABLE, wrong))


def test_environments_that_step_together_have_worlds_of_twelve_things_at_most() -> None:
    examples = on_grids_of_4(PLAYABLE, ("push a circle", [CIRCLE, *[SQUARE] * 12]))
    GroundedEnv(size=4, examples=examples).reset(options={"example": 1})
    GroundedVectorEnv(2, size=4, examples=examples[:1]).reset(seed=0)
    with pytest.raises(WrongRequest, match="example 1 .* its world has 13 things; .* 12 here"):
        GroundedVectorEnv(2, size=4, examples=examples)


def test_the_words_are_those_of_the_language() -> None:
    assert len(environment.WORDS) == 18
