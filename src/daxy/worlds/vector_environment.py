"""Vector environment of gSCAN: the dynamics of `World.after` in columns.

import gymnasium
envs = gymnasium.make_vec("daxy.worlds.environment:daxy/gSCAN-v0", num_envs=256,
vectorization_mode="vector_entry_point")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from daxy.core.errors import require
from daxy.core.examples import Examples
from daxy.languages.grounded import Command, commands
from daxy.worlds.columns import CELL_FEATURES, THINGS, code_number
from daxy.worlds.environment import (
    LONGEST,
    Observation,
    instruction,
    observation_space,
    picture,
    steps_for,
)
from daxy.worlds.episodes import Episodes
from daxy.worlds.execution import executes
from daxy.worlds.grid import ACTIONS, LEFT, PULL, PUSH, RIGHT, STEPS, WALK, GridCell
from daxy.worlds.world import World

MOST = 12
"""Maximum number of things in a world."""
NOWHERE = -1
STEP_OF: NDArray[np.int64] = np.array(STEPS)
"""Rows and columns by heading."""


@final
class GroundedVectorEnv(VectorEnv[dict[str, Any], NDArray[np.int64], NDArray[Any]]):
    """Many environments as `GroundedEnv`; one that has ended begins anew at the next step."""

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        *,
        size: int = 6,
        observation: Observation = "symbolic",
        examples: Examples | None = None,
        max_steps: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Make the environments; see `GroundedEnv`.

        Raises:
            WrongRequest: the examples cannot be played, or an option is wrong.
        """
        require(num_envs > 0, f"num_envs must be positive, not {num_envs}")
        require(render_mode is None, "environments that step together render nothing")
        self.num_envs = num_envs
        self.render_mode = None
        self._episodes = Episodes(size, examples, MOST)
        self.single_observation_space = observation_space(size, observation)
        self.single_action_space = spaces.Discrete(len(ACTIONS))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._observation = observation
        self._size = size
        self._steps = steps_for(size) if max_steps is None else max_steps
        require(self._steps > 0, f"max_steps must be positive, not {max_steps}")
        self._has_begun = False
        self._ended = np.ones(num_envs, np.bool_)
        self._commands: list[Command] = [commands()[0]] * num_envs
        self._begun: list[World] = [World(size, GridCell(0, 0))] * num_envs
        self._spin_after = np.zeros(num_envs, np.bool_)
        self._words = np.zeros((num_envs, LONGEST), np.int64)
        self._texts = [""] * num_envs
        self._done = np.zeros((num_envs, self._steps), np.uint8)
        """Numbers of the actions so far."""
        self._count = np.zeros(num_envs, np.int64)
        self._agent = np.zeros((num_envs, 2), np.int64)
        self._heading = np.zeros(num_envs, np.int64)
        self._cells = np.full((num_envs, MOST, 2), NOWHERE)
        self._things = np.zeros((num_envs, MOST), np.int64)
        """Cell ids of things; the first is not always the target."""
        self._heavy = np.zeros((num_envs, MOST), np.bool_)
        self._effort = np.full(num_envs, NOWHERE)
        """Heading of one push or pull of a heavy thing; see `daxy.worlds.grid.Effort`."""

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode in each environment.

        Raises:
            WrongRequest: an option is given, or a seed for each environment.
        """
        require(not options, f"no options are known here: {options}")
        require(not isinstance(seed, list), "environments that step together have one seed")
        super().reset(seed=None if isinstance(seed, list) else seed)
        self._has_begun = True
        for row in range(self.num_envs):
            self._begin(row)
        return self._seen(), {"success": np.zeros(self.num_envs, np.bool_)}

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[dict[str, Any], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Take an action in each running environment; ended ones begin anew.

        Raises:
            WrongRequest: no episode has begun, or the number of actions is wrong.
        """
        require(self._has_begun, "no episode has begun; call reset first")
        chosen = np.asarray(actions)
        numbered = f"expected {self.num_envs} numbers from 0 to {len(ACTIONS) - 1}, an action each"
        require(bool(np.isin(chosen, range(len(ACTIONS))).all()), numbered)
        require(chosen.shape == (self.num_envs,), numbered)
        chosen = chosen.astype(np.int64)
        going = ~self._ended
        for row in np.flatnonzero(~going).tolist():
            self._begin(row)
        rows = np.flatnonzero(going)
        self._done[rows, self._count[rows]] = chosen[rows]
        self._count[rows] += 1
        self._turn(rows, chosen[rows])
        self._walk(rows[chosen[rows] == ACTIONS.index(WALK)])
        for action, back in ((PUSH, 0), (PULL, 2)):
            self._move(rows[chosen[rows] == ACTIONS.index(action)], back)
        success = np.zeros(self.num_envs, np.bool_)
        for row in rows[self._may_have_ended(rows)].tolist():
            done = [ACTIONS[each] for each in self._done[row, : self._count[row]]]
            success[row] = executes(
                self._commands[row], self._begun[row], done, spin_after=bool(self._spin_after[row])
            )
        late = going & (self._count >= self._steps) & ~success
        self._ended = success | late
        return self._seen(), success.astype(np.float64), success, late, {"success": success}

    def _begin(self, row: int) -> None:
        command, world, self._spin_after[row] = self._episodes(self.np_random)
        self._commands[row], self._begun[row] = command, world
        seen = instruction(command)
        self._texts[row], self._words[row] = seen["instruction"], seen["words"]
        self._count[row], self._effort[row], self._ended[row] = 0, NOWHERE, False
        self._agent[row], self._heading[row] = world.agent, world.heading
        self._cells[row], self._things[row], self._heavy[row] = NOWHERE, 0, False
        for place, (thing, cell) in enumerate(world.placed):
            self._cells[row, place], self._things[row, place] = cell, code_number(thing)
            self._heavy[row, place] = thing.weight > 1

    def _turn(self, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        by = np.zeros(len(ACTIONS), np.int64)
        by[[ACTIONS.index(LEFT), ACTIONS.index(RIGHT)]] = -1, 1
        self._heading[rows] = (self._heading[rows] + by[actions]) % 4

    def _walk(self, rows: NDArray[np.int64]) -> None:
        cells = self._agent[rows] + STEP_OF[self._heading[rows]]
        free = self._holds(cells)
        self._agent[rows[free]] = cells[free]
        self._effort[rows[free]] = NOWHERE

    def _move(self, rows: NDArray[np.int64], back: int) -> None:
        headings = (self._heading[rows] + back) % 4
        cells = self._agent[rows] + STEP_OF[headings]
        here = self._on(rows, self._agent[rows])
        free = here.any(axis=1) & self._holds(cells) & ~self._on(rows, cells).any(axis=1)
        rows, headings, cells, here = rows[free], headings[free], cells[free], here[free]
        places = here.argmax(axis=1)
        waits = self._heavy[rows, places] & (self._effort[rows] != headings)
        self._effort[rows] = np.where(waits, headings, NOWHERE)
        rows, cells, places = rows[~waits], cells[~waits], places[~waits]
        self._cells[rows, places] = cells
        self._agent[rows] = cells

    def _holds(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        inside = (cells == cells.clip(0, self._size - 1)).sum(axis=1)
        return np.equal(inside, 2)

    def _on(self, rows: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        away = np.abs(self._cells[rows] - cells[:, None]).sum(axis=2)
        return np.equal(away, 0)

    def _may_have_ended(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return where the agent is on a thing: no command is executed elsewhere."""
        return self._on(rows, self._agent[rows]).max(axis=1)

    def _seen(self) -> dict[str, Any]:
        if self._observation == "symbolic":
            maps = np.zeros((self.num_envs, self._size, self._size), np.uint8)
            owners, places = np.nonzero(self._things)
            maps[owners, *self._cells[owners, places].T] = self._things[owners, places]
            maps[np.arange(self.num_envs), *self._agent.T] += (THINGS * (1 + self._heading)).astype(
                np.uint8
            )
            state = CELL_FEATURES[maps]
        else:
            state = np.stack([picture(world) for world in map(self._world, range(self.num_envs))])
        return {"instruction": tuple(self._texts), "words": self._words.copy(), "state": state}

    def _world(self, row: int) -> World:
        done = [ACTIONS[each] for each in self._done[row, : self._count[row]]]
        *_, world = self._begun[row].course(done)
        return world
