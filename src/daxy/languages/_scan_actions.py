"""SCAN's actions and their other names."""

from __future__ import annotations

from collections.abc import Iterator


def official_spelling(action: str) -> str:
    """Return the official spelling of an action: LTURN -> I_TURN_LEFT; other tokens unchanged."""
    turns = {"LTURN": "I_TURN_LEFT", "RTURN": "I_TURN_RIGHT"}
    if action in turns:
        return turns[action]
    return f"I_{action}" if f"I_{action}" in ACTIONS else action


def turn_names(direction: str) -> tuple[str, ...]:
    """Return other names of a turn: `LTURN`, `LEFT_TURN`, `TURN_L`, `LEFT`."""
    first = direction[0]
    return f"{first}TURN", f"{direction}_TURN", f"TURN_{first}", direction


def _names(action: str) -> Iterator[str]:
    """Yield other names of an action: without `I_`, and those of turns that toolkits print."""
    name = action.removeprefix("I_")
    yield name
    if name.startswith("TURN_"):
        for turn in turn_names(name.removeprefix("TURN_")):
            yield from (turn, f"I_{turn}")


ACTIONS = tuple(
    f"I_{name}" for name in ["TURN_LEFT", "TURN_RIGHT", "WALK", "LOOK", "RUN", "JUMP", "DAB"]
)
ALIASES = {name: action for action in ACTIONS for name in _names(action)}
"""Other names of actions: `LTURN` of the paper, `TURN_LEFT`, `JUMP`."""


def is_action(token: str) -> bool:
    """Whether a token is an action in either spelling."""
    return official_spelling(token) in ACTIONS
