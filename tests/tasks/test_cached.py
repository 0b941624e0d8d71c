"""A split from the cache is the split that is generated."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from daxy import tasks
from daxy.core import cache
from daxy.core.split import Split, checksum
from daxy.tasks import _cached, gscan
from daxy.tasks._gscan_options import CompositionalOptions

NAME = "gscan/compositional"
SMALL = CompositionalOptions(grid=4, resampling=1, kind="simple_intrans")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DAXY_CACHE", str(tmp_path))
    monkeypatch.setattr(_cached, "SLOW", 0.0)
    return tmp_path


@pytest.fixture
def generations(monkeypatch: pytest.MonkeyPatch) -> list[CompositionalOptions]:
    """The choices of each split that is generated."""
    found = list[CompositionalOptions]()
    generate_all = gscan.generate_all

    def noted(data: CompositionalOptions) -> object:
        found.append(data)
        return generate_all(data)

    monkeypatch.setattr(gscan, "generate_all", noted)
    return found


def load(data: CompositionalOptions = SMALL) -> Split:
    return tasks.get(NAME).split(data)


def assert_same(one: Split, other: Split) -> None:
    assert one.provenance == other.provenance
    for part, wanted in zip(one.parts.values(), other.parts.values(), strict=True):
        assert list(part.content) == list(wanted.content)
        assert part[:3].keys == wanted[:3].keys
    assert one.tests == other.tests


def test_it_is_the_split_that_was_generated(generations: list[CompositionalOptions]) -> None:
    made, kept = load(), load()
    assert len(generations) == 1
    assert_same(kept, made)
    assert kept.provenance.checksum == checksum((kept.train, kept.validation, kept.test))
    assert_same(kept.only(test="B", sample=5), made.only(test="B", sample=5))


def test_other_choices_or_other_code_are_other_data(
    generations: list[CompositionalOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    load()
    load(replace(SMALL, workers=2))  # how data is made is no choice of data
    assert len(generations) == 1
    load(replace(SMALL, seed=1))
    load(replace(SMALL, train_fraction=0.5))
    assert len(generations) == 3
    versions = _cached._versions()
    monkeypatch.setattr(_cached, "_versions", lambda: versions | {"code": "changed"})
    load()
    assert len(generations) == 4


def test_a_damaged_entry_is_generated_again(generations: list[CompositionalOptions]) -> None:
    made = load()
    (entry,) = cache.entries()
    content = bytearray(entry.path.read_bytes())
    content[len(content) // 2] ^= 1
    entry.path.write_bytes(content)
    assert_same(load(), made)
    assert_same(load(), made)
    assert len(generations) == 2


def test_what_is_generated_quickly_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_cached, "SLOW", 1e9)
    load()
    assert cache.entries() == []


def test_the_command_shows_and_clears_it(daxy: Callable, folder: Path) -> None:
    load()
    shown = daxy("cache", "--json").json
    assert shown["folder"] == str(folder)
    (entry,) = shown["data"]
    assert entry["name"] == "gscan-compositional"
    assert entry["bytes"] == shown["bytes"] > 0
    assert "gscan-compositional" in daxy("cache").out
    assert "deleted" in daxy("cache", "--clear").out
    assert json.loads(daxy("cache", "--json").out)["data"] == []
