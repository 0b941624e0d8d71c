"""Every command, referent and demonstration of the authors' own files is ours too."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import daxy
from daxy.languages import grounded
from daxy.languages.grounded import Thing
from daxy.tasks._gscan_official import examine
from daxy.worlds.demonstration import demonstrate
from daxy.worlds.execution import fault
from daxy.worlds.grid import GridCell, Placed
from daxy.worlds.world import World

SIZES = {"six_by_six_sample": 3030, "four_by_four": 3050}
"""Examples in all splits."""


@pytest.fixture(scope="session", params=SIZES)
def examples(request: pytest.FixtureRequest, gscan_folder: Path) -> list[dict[str, Any]]:
    splits = json.loads((gscan_folder / f"{request.param}.txt").read_text())["examples"]
    found = [example for split in splits.values() for example in split]
    assert len(found) == SIZES[request.param]
    return found


def cell(position: dict[str, str]) -> GridCell:
    return GridCell(int(position["row"]), int(position["column"]))


def world(situation: dict[str, Any]) -> World:
    placed = (
        Placed(
            Thing(each["object"]["shape"], each["object"]["color"], int(each["object"]["size"])),
            cell(each["position"]),
        )
        for each in situation["placed_objects"].values()
    )
    start = cell(situation["agent_position"])
    return World(situation["grid_size"], start, tuple(placed), situation["agent_direction"])


def cases(examples: list[dict[str, Any]]) -> Iterator[tuple[Any, grounded.Command, World]]:
    for example in examples:
        command = grounded.parse(example["command"].split(","))
        yield example, command, world(example["situation"])


def test_every_command_is_said_and_derived_as_there(examples: list[dict[str, Any]]) -> None:
    for example, command, _ in cases(examples):
        assert ",".join(grounded.say(command)) == example["command"]
        assert grounded.derivation(command) == example["derivation"]


def test_every_phrase_speaks_of_the_target(examples: list[dict[str, Any]]) -> None:
    for example, command, world in cases(examples):
        found = world.placed[grounded.referent(command.phrase, world.things)]
        assert found.cell == cell(example["situation"]["target_object"]["position"])


def test_every_demonstration_is_ours_and_does_what_is_said(examples: list[dict[str, Any]]) -> None:
    for example, command, world in cases(examples):
        shown = example["target_commands"].split(",")
        assert list(demonstrate(command, world)) == shown
        assert fault(command, world, shown) is None


@pytest.mark.parametrize("name", SIZES)
def test_every_rule_holds_of_every_example(name: str, gscan_folder: Path) -> None:
    dataset, wrong, _ = examine(gscan_folder / f"{name}.txt")
    assert wrong == []
    assert sum(map(len, dataset.parts.values())) == SIZES[name]


def test_the_sample_loads_in_place_of_generated_data(gscan_folder: Path) -> None:
    file = gscan_folder / "six_by_six_sample.txt"
    split = daxy.load("gscan/compositional", official=file)
    theirs = json.loads(file.read_text())["examples"]
    assert [",".join(each.source) for each in split.named["G"]] == [
        each["command"] for each in theirs["adverb_1"]
    ]
    assert [",".join(each.target) for each in split.train] == [
        each["target_commands"] for each in theirs["train"]
    ]
