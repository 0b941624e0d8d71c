"""gSCAN as Gymnasium environments: execute a command in a world, step by step.

    import gymnasium
    env = gymnasium.make("daxy.worlds.environment:daxy/gSCAN-v0")

The reward is 1 when the actions execute the command (the metric `executes`), and 0 before. Examples
that spin after each step require that. Then the episode ends; it is truncated after more steps than
any demonstration has. Observations are the command as text and as word numbers, and the world as
the state tensor of the paper or as a picture.

The paper suggests this: "extend to reinforcement learning" (Ruis et al. 2020, section 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import quote, require
from daxy.core.examples import Examples, Tokens
from daxy.core.imports import MissingPackage
from daxy.languages import grounded
from daxy.languages.grounded import Command
from daxy.worlds.columns import CELL_FEATURES
from daxy.worlds.episodes import Episodes
from daxy.worlds.execution import executes
from daxy.worlds.grid import ACTIONS
from daxy.worlds.raster import image
from daxy.worlds.text import as_text
from daxy.worlds.world import World

try:
    import gymnasium
    from gymnasium import spaces
except ModuleNotFoundError as error:
    raise MissingPackage("gymnasium") from error

Observation = Literal["symbolic", "rgb"]
"""Observation of a world: the state tensor or a picture."""

WORDS: Tokens = tuple(sorted({word for each in grounded.commands() for word in grounded.say(each)}))
"""Words of all commands; `words` of an observation has their indices, from 1."""
LONGEST = max(len(grounded.say(each)) for each in grounded.commands())
LETTERS = "".join(sorted({letter for word in WORDS for letter in word} | {" "}))
PIXELS = 12
"""Pixels of a cell's side in an observation."""


@final
class GroundedEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """Environment of one command and world per episode, with `daxy.worlds.grid.ACTIONS`."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "ansi"], "render_fps": 3}  # noqa: RUF012

    def __init__(
        self,
        *,
        size: int = 6,
        observation: Observation = "symbolic",
        examples: Examples | None = None,
        max_steps: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Make the environment.

        Args:
            size: Cells along a side of the grid.
            observation: The state tensor, or a picture.
            examples: Source of the episodes, as `split.train`; by default, random ones.
            max_steps: Steps until truncation; by default, `steps_for(size)`.
            render_mode: `rgb_array` or `ansi`.

        Raises:
            WrongRequest: the examples cannot be played, or an option is wrong.
        """
        modes = self.metadata["render_modes"]
        require(render_mode in (None, *modes), f"no render mode {quote(render_mode)}")
        self.render_mode = render_mode
        self._episodes = Episodes(size, examples)
        self.observation_space = observation_space(size, observation)
        self.action_space = spaces.Discrete(len(ACTIONS))
        self._observation = observation
        self._steps = steps_for(size) if max_steps is None else max_steps
        require(self._steps > 0, f"max_steps must be positive, not {max_steps}")
        self._command = grounded.commands()[0]
        self._begun: World | None = None
        self._spin_after = False
        self._world: World | None = None
        self._actions: list[str] = []

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; the option `example` is the number of an example.

        Raises:
            WrongRequest: there is no such example.
        """
        super().reset(seed=seed)
        given = dict(options or {})
        number = given.pop("example", None)
        require(not given, f"no option {' or '.join(map(repr, given))}; there is `example`")
        whole = number is None or isinstance(number, int)
        require(whole, f"example must be a whole number, not {quote(number)}")
        self._command, self._begun, self._spin_after = self._episodes(self.np_random, number)
        self._world, self._actions = self._begun, []
        return self._seen(self._world), {"success": False}

    def step(self, action: np.int64) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Take an action.

        Raises:
            WrongRequest: no episode has begun.
        """
        world, begun = self._world, self._begun
        require(world is not None and begun is not None, "no episode has begun; call reset first")
        assert world is not None and begun is not None
        numbered = f"an action is a number from 0 to {len(ACTIONS) - 1}, not {quote(action)}"
        require(action in range(len(ACTIONS)), numbered)
        self._actions.append(ACTIONS[int(action)])
        self._world = world.after(self._actions[-1])
        success = executes(self._command, begun, self._actions, spin_after=self._spin_after)
        late = not success and len(self._actions) >= self._steps
        return self._seen(self._world), float(success), success, late, {"success": success}

    def render(self) -> Any:
        """Return the world as pixels or as text.

        Raises:
            WrongRequest: no episode has begun.
        """
        require(self._world is not None, "no episode has begun; call reset first")
        assert self._world is not None
        if self.render_mode == "ansi":
            return f"{' '.join(grounded.say(self._command))}\n{as_text(self._world)}\n"
        return np.asarray(image(self._world)) if self.render_mode == "rgb_array" else None

    def _seen(self, world: World) -> dict[str, Any]:
        state = world.tensor() if self._observation == "symbolic" else picture(world)
        return {**instruction(self._command), "state": state}


def observation_space(size: int, observation: Observation) -> spaces.Dict:
    """Return the observation space.

    Raises:
        WrongRequest: there is no such observation.
    """
    known = ("symbolic", "rgb")
    wrong = f"no observation {quote(observation)}; there are {', '.join(known)}"
    require(observation in known, wrong)
    channels = CELL_FEATURES.shape[1]
    shape, most = (size * PIXELS, size * PIXELS, 3), 255
    if observation == "symbolic":
        shape, most = (size, size, channels), 1
    return spaces.Dict(
        {
            "instruction": spaces.Text(100, charset=LETTERS),
            "words": spaces.MultiDiscrete([1 + len(WORDS)] * LONGEST),
            "state": spaces.Box(0, most, shape, np.uint8),
        }
    )


def instruction(command: Command) -> dict[str, Any]:
    """Return the observation of a command: its text, and the padded numbers of its words."""
    tokens = grounded.say(command)
    words = np.zeros(LONGEST, np.int64)
    words[: len(tokens)] = [1 + WORDS.index(word) for word in tokens]
    return {"instruction": " ".join(tokens), "words": words}


def picture(world: World) -> NDArray[np.uint8]:
    """Return the picture of a world: [row, column, color]."""
    return np.asarray(image(world, pixels=PIXELS), np.uint8)


def steps_for(size: int) -> int:
    """Return more steps than any demonstration on a grid of this size has.

    The longest path has 2 (size - 1) steps, and a heavy thing takes at most as many pushes; each
    takes five actions while spinning.
    """
    return 24 * (size - 1) + 8


SIZES = {"": 6, "-12x12": 12}
"""Grid sizes by the suffix of the environment's name."""
for name, size in SIZES.items():
    for looks, observation in (("", "symbolic"), ("-RGB", "rgb")):
        if (identifier := f"daxy/gSCAN{name}{looks}-v0") not in gymnasium.registry:
            gymnasium.register(
                identifier,
                entry_point="daxy.worlds.environment:GroundedEnv",
                vector_entry_point="daxy.worlds.vector_environment:GroundedVectorEnv",
                kwargs={"size": size, "observation": observation},
            )
