"""The three kinds of split that the authors' generator makes, laid out as it does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daxy as package
from daxy.core.errors import WrongFile
from daxy.core.examples import Examples
from daxy.formats._gscan_writing import header, write
from daxy.tasks._gscan_examples import generate_all
from daxy.tasks._gscan_official import ORDER, examine
from daxy.tasks._gscan_options import CompositionalOptions

Parts = dict[str, Examples]
SHARE = 0.7


@pytest.fixture(scope="module")
def made() -> Examples:
    """Every example of a small set, in an order of no meaning."""
    shown = generate_all(CompositionalOptions(grid=4, resampling=1, kind="simple_trans"))
    rows = np.random.default_rng(0).permutation(len(shown))[:1_000]
    return shown.take(rows).examples


@pytest.fixture
def save(tmp_path: Path) -> Callable[[Parts], Path]:
    def saved(parts: Parts) -> Path:
        empty = next(iter(parts.values())).take(np.zeros(0, np.int64))
        path = tmp_path / "dataset.txt"
        every_part = {name: parts.get(name, empty) for name in ORDER}
        write(path, every_part, header(4, "simple_trans", SHARE))
        return path

    return saved


def distinct(parts: Parts) -> Parts:
    """Return parts without what test has in common with train, which the generator discards."""
    known = {pair for name in ("train", "dev") if name in parts for pair in pairs(parts[name])}
    kept = [row for row, pair in enumerate(pairs(parts["test"])) if pair not in known]
    return parts | {"test": parts["test"].take(np.array(kept, np.int64))}


def pairs(examples: Examples) -> list[Any]:
    cells = [world.placed[0].cell for world in examples.worlds]
    return list(zip(examples.source, examples.target, cells, strict=True))


def uniform(made: Examples, *, dev: bool = False) -> Parts:
    train, test = made.take(np.arange(700)), made.take(np.arange(700, 1_000))
    parts = {"train": train, "test": test}
    if dev:
        parts |= {"train": train.take(np.arange(630)), "dev": train.take(np.arange(630, 700))}
    return distinct(parts)


def by_length(made: Examples, most: int = 5) -> Parts:
    lengths = made.target.lengths
    short, long = np.flatnonzero(lengths <= most), np.flatnonzero(lengths > most)
    return {"train": made.take(short[50:]), "dev": made.take(short[:50]), "test": made.take(long)}


@pytest.mark.parametrize("dev", [False, True])
def test_nothing_is_held_out_in_a_uniform_split(
    dev: bool, made: Examples, save: Callable[[Parts], Path], daxy: Callable[..., Any]
) -> None:
    path = save(uniform(made, dev=dev))
    assert examine(path).kind.kind == "uniform"
    answer = daxy("verify", str(path))
    assert answer.code == 0
    assert "taken for a `uniform` split: nothing is held out" in answer.out
    assert daxy("verify", str(path), "--json").json["kind"] == "uniform"
    for task, kind in (("compositional", "generalization"), ("length", "target_lengths")):
        expected = rf"is a `uniform` split: .* made with `--split={kind}`, and `daxy verify`"
        with pytest.raises(WrongFile, match=expected):
            package.load(f"gscan/{task}", official=path)


def test_what_is_wrong_in_a_uniform_split_is_found(
    made: Examples, save: Callable[[Parts], Path]
) -> None:
    parts = uniform(made)
    path = save(parts | {"test": Examples.joined([parts["test"], parts["train"][:1]])})
    value = json.loads(path.read_text())
    value["examples"]["train"][5]["target_commands"] += ",walk"
    path.write_text(json.dumps(value))
    found = examine(path)
    assert found.kind.kind == "uniform"
    assert [(each.split, each.number) for each in found.wrong] == [
        ("train", 5),
        ("test", len(parts["test"])),
    ]


def test_long_sequences_are_in_test_of_the_present_generator(
    made: Examples, save: Callable[[Parts], Path], daxy: Callable[..., Any]
) -> None:
    parts = by_length(made)
    path = save(parts)
    found = examine(path)
    assert (found.kind.kind, found.kind.long, found.kind.threshold, found.wrong) == (
        *("target_lengths", "test", 5),
        [],
    )
    said = "the longest action sequences are held out in 'test', with more than 5 actions"
    assert said in daxy("verify", str(path)).out
    split = package.load("gscan/length", official=path)
    assert split.named["I"].keys == parts["test"].keys
    assert len(split.named["A"]) == 0
    assert split.validation.keys == parts["dev"].keys
    assert split.provenance.options["max_length"] == 5
    with pytest.raises(WrongFile, match="is a `target_lengths` split: .*`--split=generalization`"):
        package.load("gscan/compositional", official=path)


def test_a_sequence_that_is_too_short_for_test_is_found(
    made: Examples, save: Callable[[Parts], Path]
) -> None:
    parts = by_length(made)
    path = save(parts | {"test": Examples.joined([parts["test"], parts["dev"][:1]])})
    length = int(parts["dev"].target.lengths[0])
    problems = [each.problem for each in examine(path).wrong if each.number == len(parts["test"])]
    assert problems == [f"{length} actions; test has those with more than 5"]


def test_parts_of_no_kind_are_said_to_be_that_once(
    made: Examples, save: Callable[[Parts], Path], daxy: Callable[..., Any]
) -> None:
    thirds = [made.take(np.arange(start, 1_000, 3)) for start in range(3)]
    path = save(dict(zip(("visual", "contextual", "adverb_2"), thirds, strict=True)))
    (found,) = examine(path).wrong
    assert "others of 1,000: the parts are of no split of gSCAN" in found.problem
    answer = daxy("verify", str(path))
    assert answer.code == 1
    assert answer.out.count("does not belong here") == 1
