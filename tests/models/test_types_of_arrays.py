"""Every array that a network or its training makes, and every draw, states its type."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import daxy

MAKERS = {
    **dict.fromkeys(("jnp.zeros", "jnp.ones", "jnp.empty", "jnp.array", "jnp.asarray"), 1),
    **dict.fromkeys(("jnp.full", "jax.random.normal", "jax.random.uniform", "jax.random.bits"), 2),
    **dict.fromkeys(("jnp.arange", "jnp.eye", "jnp.linspace", "jnp.cumsum", "jax.nn.one_hot"), 9),
    **dict.fromkeys(("jax.random.truncated_normal", "jax.random.randint"), 4),
}
"""The functions, with the place of the type among their arguments; 9: by its name alone."""
ROOMS = ("models", "training", "learners")
FOLDER = Path(daxy.__file__).parent


def untyped(code: str) -> Iterator[str]:
    """Yield each call that makes an array of whatever type is the default."""
    for call in ast.walk(ast.parse(code)):
        if isinstance(call, ast.Call) and (place := MAKERS.get(ast.unparse(call.func))):
            named = any(keyword.arg == "dtype" for keyword in call.keywords)
            if not named and len(call.args) <= place:
                yield ast.unparse(call)


def test_a_call_without_a_type_is_found() -> None:
    code = "jnp.zeros(3, int), jnp.zeros((3, 4)), jnp.eye(3), jnp.eye(3, dtype=int)"
    assert [*untyped(code)] == ["jnp.zeros((3, 4))", "jnp.eye(3)"]


@pytest.mark.parametrize("room", ROOMS)
def test_every_array_states_its_type(room: str) -> None:
    files = [*(FOLDER / room).rglob("*.py")]
    found = {path.name: [*untyped(path.read_text("utf-8"))] for path in files}
    assert {name: calls for name, calls in found.items() if calls} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_every_key_states_its_generator(room: str) -> None:
    for path in (FOLDER / room).rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "jax.random.key":
                assert "impl" in [keyword.arg for keyword in call.keywords], path
