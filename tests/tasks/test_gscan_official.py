"""Files that agree with themselves and not with the rules are told so, example by example."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daxy as package
from daxy import tasks
from daxy.core.errors import WrongFile, WrongRequest
from daxy.core.split import Split
from daxy.formats import gscan_json
from daxy.reproduction import published
from daxy.runs.config import run_config
from daxy.tasks._gscan_official import examine, repeated, shots
from daxy.tasks.gscan import SPLITS, GscanTask

CHOICES: dict[str, Any] = {"grid": 4, "resampling": 1}
SHOT = "cautiously"
Change = Callable[[dict[str, list[dict[str, Any]]]], None]


def save(split: Split, folder: Path) -> Path:
    path = folder / "dataset.txt"
    gscan_json.FORMAT.write(path, split.named, split.provenance)
    return path


def thin(split: Split) -> Split:
    """Return a few examples of every part, and all shots."""
    train = split.train
    taught = [row for row, said in enumerate(train.source) if not row % 37 or said[-1] == SHOT]
    tests = {
        name: np.arange(*rows.indices(len(split.test)))[::37] for name, rows in split.tests.items()
    }
    return Split.of(
        train=train.take(taught),
        validation=split.validation[::37],
        test=split.test.take(np.concatenate(list(tests.values()))),
        task=split.provenance.task,
        rule=split.provenance.rule,
        seed=split.provenance.seed,
        options=split.provenance.options,
        tests={name: len(rows) for name, rows in tests.items()},
    )


@pytest.fixture(scope="module")
def made() -> Split:
    return package.load("gscan/compositional", **CHOICES, shots=2)


@pytest.fixture(scope="module")
def compositional(made: Split, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few examples of every part."""
    return save(thin(made), tmp_path_factory.mktemp("compositional"))


@pytest.fixture(scope="module")
def length(tmp_path_factory: pytest.TempPathFactory) -> Path:
    split = package.load("gscan/length", **CHOICES, kind="simple_trans", max_length=6)
    return save(split, tmp_path_factory.mktemp("length"))


def test_a_file_of_ours_agrees_and_its_shots_are_counted(
    made: Split, length: Path, tmp_path: Path
) -> None:
    for path, count in ((save(made, tmp_path), 2), (length, 0)):
        dataset, wrong, _ = examine(path)
        assert (shots(dataset), wrong) == (count, [])


def walk_on(examples: dict[str, list[dict[str, Any]]]) -> None:
    examples["dev"][3]["target_commands"] += ",walk"


def move_to_train(examples: dict[str, list[dict[str, Any]]]) -> None:
    examples["train"].append(examples["visual"][0])


def move_to_dev(examples: dict[str, list[dict[str, Any]]]) -> None:
    examples["situational_1"].append(examples["train"][0])


def repeat(examples: dict[str, list[dict[str, Any]]]) -> None:
    examples["test"].append(examples["train"][0])


def double(examples: dict[str, list[dict[str, Any]]]) -> None:
    """Put the target there once more, where nothing is."""
    situation = examples["train"][0]["situation"]
    objects = situation["placed_objects"]
    cells = [tuple(each["position"].values()) for each in objects.values()]
    free = next((r, c) for r in "0123" for c in "0123" if (r, c) not in cells)
    other = dict(zip(("row", "column"), free, strict=True))
    objects[str(len(objects))] = objects["0"] | {"position": other}


def grow(examples: dict[str, list[dict[str, Any]]]) -> None:
    examples["dev"][0]["situation"]["grid_size"] = 40


@pytest.mark.parametrize(
    ("change", "split", "problem"),
    [
        (grow, "dev", "grid_size is 40; the file's is 4"),
        (walk_on, "dev", "is 'walk'; the demonstration has 'the end'"),
        (move_to_train, "train", "does not belong here; held out by visual"),
        (move_to_dev, "situational_1", "does not belong here; held out by no test"),
        (repeat, "test", "train or dev has an example of this command, target cell and actions"),
        (double, "train", "more than one thing is a circle"),
    ],
)
def test_what_breaks_a_rule_is_found(
    change: Change, split: str, problem: str, compositional: Path, tmp_path: Path
) -> None:
    value = json.loads(compositional.read_text())
    change(value["examples"])
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(value))
    (found,) = examine(path)[1]
    assert found.split == split
    assert problem in found.problem
    with pytest.raises(WrongFile, match="dataset.txt: "):
        package.load("gscan/compositional", official=path)


def test_what_is_not_long_enough_is_found(length: Path, tmp_path: Path) -> None:
    value = json.loads(length.read_text())
    examples = value["examples"]
    examples["target_lengths"].append(examples["train"].pop())
    examples["dev"].append(examples["target_lengths"].pop(0))
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(value))
    found = examine(path)[1]
    assert [each.split for each in found] == ["dev", "target_lengths"]
    assert all("target_lengths has those with more than 6" in each.problem for each in found)


def test_a_file_without_a_part_that_is_asked_for_is_refused(
    compositional: Path, tmp_path: Path
) -> None:
    value = json.loads(compositional.read_text())
    del value["examples"]["contextual"]
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(value))
    with pytest.raises(WrongFile, match="has no examples of 'contextual'; it has those of train"):
        package.load("gscan/compositional", official=path)


def test_verify_says_what_disagrees_and_where(
    daxy: Callable[..., Any], compositional: Path, tmp_path: Path
) -> None:
    assert daxy("verify", str(compositional)).code == 0
    value = json.loads(compositional.read_text())
    walk_on(value["examples"])
    value["examples"]["visual"][1]["manner"] = "slowly"
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(value))
    answer = daxy("verify", str(path))
    assert answer.code == 1
    assert ", 2 disagreements, " in answer.out
    assert f"{path}: dev[3]: action " in answer.out
    assert f"{path}: visual[1]: manner is 'slowly'" in answer.out
    told = daxy("verify", str(path), "--json").json
    assert told["parts"] == {name: len(each) for name, each in value["examples"].items()}
    assert [each["split"] for each in told["first_disagreements"]] == ["dev", "visual"]


def test_a_part_that_is_none_is_refused(compositional: Path, tmp_path: Path) -> None:
    text = compositional.read_text().replace('"train": [', '"trian": [', 1)
    path = tmp_path / "dataset.txt"
    path.write_text(text)
    with pytest.raises(WrongFile, match="has a part 'trian'; expected train, dev"):
        examine(path)


@pytest.mark.parametrize(
    ("task", "problem"),
    [
        ("gscan/compositional", "has examples of 'target_lengths'; gscan/compositional has none"),
        ("gscan/length", "has examples of 'visual'; gscan/length has none"),
    ],
)
def test_the_file_of_another_task_is_refused(
    task: str, problem: str, compositional: Path, length: Path
) -> None:
    path = length if task == "gscan/compositional" else compositional
    with pytest.raises(WrongFile, match=problem):
        package.load(task, official=path)


def test_examples_that_are_there_again_are_counted(compositional: Path, tmp_path: Path) -> None:
    value = json.loads(compositional.read_text())
    value["examples"]["train"] += value["examples"]["train"][:3]
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(value))
    assert repeated(examine(path)[0]) == 3


def test_choices_beside_a_file_are_refused(length: Path) -> None:
    with pytest.raises(WrongRequest, match="takes --official without other choices"):
        package.load("gscan/length", official=length, seed=3)


def test_what_a_file_tells_of_its_choices_is_what_its_runs_are_of(compositional: Path) -> None:
    task, told = "gscan/compositional", {"grid": 4, "kind": "adverb", "shots": 2}
    data = tasks.data(task, official=compositional)
    split = tasks.get(task).split(data)
    assert told.items() <= dict(split.provenance.options).items()
    config = run_config(task, data, {}, seed=0)
    assert told.items() <= config.choices.items()
    # And so they are known again.
    again = tasks.get(task).split(tasks.data(task, **config.choices, official=compositional))
    assert again.provenance.checksum == config.data["checksum"]
    with pytest.raises(WrongRequest, match=r"dataset.txt has shots 2, not 3"):
        package.load(task, official=compositional, shots=3)


def test_what_a_file_says_nothing_of_is_not_recorded(compositional: Path, length: Path) -> None:
    """And so nothing that is published of the released set stands beside what is scored on it."""
    for task, path, shown in (
        ("gscan/compositional", compositional, {"grid", "kind", "spin", "train_fraction", "shots"}),
        ("gscan/length", length, {"grid", "kind", "spin", "train_fraction", "max_length"}),
    ):
        data = tasks.data(task, official=path)
        split = tasks.get(task).split(data)
        assert set(split.provenance.options) == shown
        config = run_config(task, data, {}, seed=0)
        assert set(config.options) == shown
        assert not published.of_test(task, config.options)
    assert split.provenance.options["max_length"] == 6


def test_a_file_of_the_published_sizes_is_held_to_be_the_published_set() -> None:
    task = SPLITS["gscan/compositional"]
    assert isinstance(task, GscanTask)
    usual = tasks.data(task.name).options
    counts = {"train": 367_933, "validation": 3_716, **task.sizes.tests}
    assert task.is_as_published(counts, usual)
    assert task.is_as_published(counts | {"A": 19_000}, usual), "what a draw leaves"
    assert not task.is_as_published(counts | {"F": 11_459}, usual)
    assert not task.is_as_published(counts | {"train": 367_932}, usual)
    more = counts | {"train": 367_943, "G": 112_870}
    assert task.is_as_published(more, usual | {"shots": 11})
    assert not task.is_as_published(more, usual)


def test_a_file_that_spins_after_each_step_is_read_as_one(tmp_path: Path) -> None:
    """Which it does is nowhere written; `daxy verify` holds it to be what most do."""
    task = "gscan/compositional"
    made = thin(package.load(task, **CHOICES, spin="after"))
    path = save(made, tmp_path)
    assert examine(path)[1] == []
    split = package.load(task, official=path)
    assert split.provenance.options["spin"] == "after"
    assert split.provenance.checksum == made.provenance.checksum
    value = json.loads(path.read_text())
    spinning = [each for each in value["examples"]["train"] if each["manner"] == "while spinning"]
    before = spinning[0]["target_commands"].split(",")
    spinning[0]["target_commands"] = ",".join(before[-4:] + before[:-4])
    path.write_text(json.dumps(value))
    (found,) = examine(path)[1]
    assert "the demonstration has" in found.problem


def test_a_file_that_does_not_say_its_share_is_written_as_the_usual_one(
    compositional: Path, tmp_path: Path
) -> None:
    path, again = tmp_path / "one.txt", tmp_path / "again.txt"
    value = json.loads(compositional.read_text())
    del value["percentage_train"]
    path.write_text(json.dumps(value))
    split = package.load("gscan/compositional", official=path)
    gscan_json.FORMAT.write(again, split.named, split.provenance)
    assert json.loads(again.read_text())["percentage_train"] == 0.9
    found = package.load("gscan/compositional", official=again)
    assert found.provenance.checksum == split.provenance.checksum
