"""Worlds from JSON, and what is said where there is none in it."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.worlds.made import worlds

from daxy.core.errors import DaxyError, WrongFile
from daxy.formats import world_json
from daxy.languages.grounded import Thing
from daxy.worlds.grid import SOUTH, GridCell, Placed
from daxy.worlds.world import World

THING = {"shape": "circle", "color": "red", "size": 2, "cell": [2, 0]}
GOOD = {"size": 4, "agent": [3, 0], "heading": "south", "things": [THING]}
OBJECT = {"shape": "circle", "color": "red", "size": "2"}
SITUATION = {
    "grid_size": 4,
    "agent_position": {"row": "3", "column": "0"},
    "agent_direction": 1,
    "placed_objects": {
        "0": {"vector": "x", "position": {"row": "2", "column": "0"}, "object": OBJECT}
    },
}


@pytest.mark.parametrize("value", [GOOD, SITUATION, {"command": "", "situation": SITUATION}])
def test_a_world_is_read_in_our_form_and_in_the_official_one(value: Any) -> None:
    wanted = World(4, GridCell(3, 0), (Placed(Thing("circle", "red", 2), GridCell(2, 0)),), SOUTH)
    assert world_json.from_json(value) == wanted


@given(worlds())
def test_a_world_that_is_written_is_read_back(world: World) -> None:
    assert world_json.from_json(json.loads(json.dumps(world_json.to_json(world)))) == world


WRONG = {
    "[]": "expected an object with `size`, `agent` and `things`, or an example",
    '{"size": 4}': "expected an object with `size`, `agent` and `things`",
    '{"size"': "no JSON",
    json.dumps(GOOD | {"agent": [3]}): "`agent` of the world is [3]; expected [row, column]",
    json.dumps(GOOD | {"agent": [9, 0]}): "the agent is at (9, 0), outside a grid of 4 by 4",
    json.dumps(GOOD | {"heading": "up"}): "heading is 'up'; expected one of east, south, west",
    json.dumps(GOOD | {"things": {}}): "`things` is not a list",
    json.dumps(GOOD | {"things": [THING, THING]}): "share the cell (2, 0)",
    json.dumps(GOOD | {"things": [THING | {"shape": "star"}]}): "no shape 'star'; there are circle",
    json.dumps(GOOD | {"things": [THING | {"size": True}]}): "is True; expected a whole number",
    json.dumps(GOOD | {"things": [{}]}): "a thing has no `shape`",
    json.dumps(GOOD | {"headin": "west"}): "no field of the world named 'headin'; did you mean",
    json.dumps(
        GOOD | {"things": [THING | {"colour": "red"}]}
    ): "no field of a thing named 'colour'",
    json.dumps(GOOD | {"things": [THING | {"shape": ["circle"]}]}): "expected words",
    json.dumps(GOOD | {"size": 300}): "expected a whole number below 256",
    '{"size": 4, "size": 5}': "the key 'size' is there twice",
    "[" * 100_000: "no JSON: ",
    '{"size": ' + "9" * 5_000 + "}": "no JSON: ",
    json.dumps({"situation": 3}): "`situation` is not an object",
    json.dumps(SITUATION | {"agent_position": 3}): "`agent_position` of the situation is 3; expect",
    json.dumps(SITUATION | {"placed_objects": {"0": {}}}): "object 0 has no `object`",
    json.dumps(SITUATION | {"grid_size": "x"}): "`grid_size` of the situation is 'x'",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items(), ids=range(len(WRONG)))
def test_what_is_wrong_is_said(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "world.json"
    path.write_text(text)
    with pytest.raises(WrongFile) as caught:
        world_json.read(path)
    assert str(caught.value).startswith(f"{path}")
    assert message in str(caught.value)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.sampled_from(["red", "circle", "2", "east"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*GOOD, *THING, *SITUATION, "situation", "row", "column", "object"]),
            inner,
        )
    ),
    max_leaves=20,
)


@given(json_values)
def test_nothing_but_a_world_or_an_error_comes_of_any_json(value: Any) -> None:
    with contextlib.suppress(DaxyError):
        assert isinstance(world_json.from_json(value), World)
