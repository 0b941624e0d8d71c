"""Finished runs, grouped by learner and task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from daxy import learners, tasks
from daxy.core.errors import WrongFile, WrongRequest, require
from daxy.core.split import Split
from daxy.formats import parquet
from daxy.papers import TableCell
from daxy.report import run_data
from daxy.report.correctness import Correctness, correctness
from daxy.reproduction import published
from daxy.runs.config import RunConfig
from daxy.runs.folder import RunFolder

Settings = Mapping[tuple[str, str], Any]
"""Every resolved setting of a run, by section and name."""


@dataclass(frozen=True, eq=False)
class Group:
    """Finished runs of one learner on one task, one per seed."""

    folders: tuple[RunFolder, ...]
    """By seed."""
    config: RunConfig
    """Configuration of the first run."""
    label: str
    """Architecture, and the settings that distinguish the learner from others."""
    official: Path | None = None
    """Official files that the runs were trained on; None for generated data."""
    test_set: str = ""
    """Name of the test set among several of the task; empty for the only one."""

    @property
    def title(self) -> str:
        """Name of the task, with the test set where it has several."""
        return f"{self.task} ({self.test_set})" if self.test_set else self.task

    @property
    def task(self) -> str:
        """Name of the task."""
        return self.config.task

    @cached_property
    def scores(self) -> list[dict[str, Any]]:
        """Content of each run's `scores.json`."""
        return [folder.scores() for folder in self.folders]

    @cached_property
    def seeds(self) -> list[int]:
        """Seed of each run."""
        return [folder.config().seed for folder in self.folders]

    @cached_property
    def published(self) -> list[TableCell]:
        """Published values for this learner on this task's data, in per cent."""
        return published.of_learner(self.task, self.config.learner, self.config.options)

    @cached_property
    def correctness(self) -> Correctness:
        """Test set with the mask of right predictions of each run."""
        return correctness(self.folders)

    @cached_property
    def settings(self) -> Settings:
        """Every resolved setting."""
        return settings(self.config)


def settings(config: RunConfig) -> Settings:
    """Return the settings of a run by section: data, learner, and the learner's own sections."""
    plain = {name: it for name, it in config.learner.items() if not isinstance(it, Mapping)}
    nested = {name: it for name, it in config.learner.items() if isinstance(it, Mapping)}
    sections: dict[str, Mapping[str, Any]] = {"data": config.data, "learner": plain, **nested}
    return {
        (section, name): value
        for section, each in sections.items()
        for name, value in _flat(each).items()
    }


def _flat(section: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a section and of its parts; a part's kind has the name of the part."""
    found = dict[str, Any]()
    for name, value in section.items():
        if isinstance(value, Mapping):
            part = cast("Mapping[str, Any]", value)
            found |= {(name if key == "kind" else key): it for key, it in part.items()}
        else:
            found[name] = value
    return found


def grouped(folders: Sequence[RunFolder], official: Path | None = None) -> list[Group]:
    """Return finished runs as groups, by test set in the order of its first run, then by label.

    Args:
        folders: Folders of the runs.
        official: Official files, for runs on official files.
    """
    require(bool(folders), "no run folder is given")
    runs: dict[str, tuple[RunFolder, RunConfig]] = {}
    for folder in folders:
        require(folder.is_done(), folder.unfinished)
        config = folder.config()
        first = runs.get(config.name, (folder, config))[0].path
        require(config.name not in runs, f"{folder.path} is the same run as {first}")
        runs[config.name] = folder, config
    return _labelled(_with_test_sets(_groups(list(runs.values()), official)))


def groups_of(runs: Sequence[tuple[RunFolder, RunConfig]]) -> list[Group]:
    """Return runs with their configurations as groups, without looking at their test sets."""
    return _labelled(_groups(runs))


def _groups(
    runs: Sequence[tuple[RunFolder, RunConfig]], official: Path | None = None
) -> list[Group]:
    members: dict[str, list[tuple[RunFolder, RunConfig]]] = {}
    for folder, config in runs:
        members.setdefault(replace(config, seed=0).digest, []).append((folder, config))
    groups = list[Group]()
    for each in members.values():
        each.sort(key=lambda pair: pair[1].seed)
        config = each[0][1]
        files = official if config.data["source"] == "official" else None
        folders_of_group = tuple(folder for folder, _ in each)
        groups.append(Group(folders_of_group, config, learners.title_of(config.learner), files))
    return groups


def _with_test_sets(groups: Sequence[Group]) -> list[Group]:
    """Return the groups with a name for each test set of a task that has several."""
    data: dict[str, list[Group]] = {}
    for group in groups:
        data.setdefault(group.task, []).append(group)
    names = dict[int, str]()
    for alike in data.values():
        if all(group.config.data == alike[0].config.data for group in alike):
            continue
        sets: dict[bytes, list[Group]] = {}
        for group in alike:
            sets.setdefault(_test_content(group.folders[0]), []).append(group)
        titles = Counter[str]()
        for members in sets.values() if len(sets) > 1 else ():
            title = _test_title(members[0], alike)
            titles[title] += 1
            count = f" {titles[title]}" if titles[title] > 1 else ""
            names |= {id(group): f"{title}{count}" for group in members}
    return [replace(group, test_set=names.get(id(group), "")) for group in groups]


def _test_content(folder: RunFolder) -> bytes:
    """Return a digest of the sources and targets of a run's test set."""
    sides = ("source", "target")
    table = parquet.load(folder.predictions, sides, alone=True)
    content = (parquet.sequences(folder.predictions, table, side).content for side in sides)
    return blake2b(b"".join(part for side in content for part in side)).digest()


def _test_title(group: Group, groups: Sequence[Group]) -> str:
    """Return the names of a group's test files, or the choices of data in which groups differ."""
    files = group.folders[0].environment().get("files", {}).get("test", ())
    keys = [key for key in differing(groups) if key[0] == "data" and key[1] != "checksum"]
    choices = [_setting(group.settings[key], key) for key in keys if key in group.settings]
    names = [Path(file.rpartition("=")[2]).name for file in files]
    return ", ".join(names or choices) or "test set"


def _labelled(groups: Sequence[Group]) -> list[Group]:
    """Return the groups with a distinct label for each learner of a task, sorted by label."""
    keys = {group.label: _distinguishing(groups, group.label) for group in groups}
    labelled, known = list[Group](), Counter[tuple[str, str]]()
    for group in groups:
        own = [key for key in keys[group.label] if key in group.settings]
        shown = [_setting(group.settings[key], key) for key in own]
        label = ", ".join([group.label, *shown])
        known[group.title, label] += 1
        # Learners can differ in what a label does not show, as a setting that one of them lacks.
        count = known[group.title, label]
        labelled.append(replace(group, label=f"{label} ({count})" if count > 1 else label))
    titles = list(dict.fromkeys(group.title for group in groups))
    return sorted(labelled, key=lambda group: (titles.index(group.title), group.label))


def _distinguishing(groups: Sequence[Group], model: str) -> list[tuple[str, str]]:
    """Return the settings in which groups of one architecture and one test set differ."""
    keys: dict[tuple[str, str], None] = {}
    for title in {group.title for group in groups}:
        alike = [each for each in groups if (each.title, each.label) == (title, model)]
        keys |= dict.fromkeys(differing(alike))
    named = {key: None for key in keys if key not in (("data", "checksum"), ("data", "tests"))}
    return list(named or keys)


def differing(groups: Sequence[Group]) -> list[tuple[str, str]]:
    """Return the settings in which groups differ, in order."""
    every = dict.fromkeys(key for group in groups for key in group.settings)
    return [
        key
        for key in every
        if any(group.settings.get(key) != groups[0].settings.get(key) for group in groups)
    ]


def _setting(value: Any, key: tuple[str, str]) -> str:
    """Return a setting as a label shows it: `gru`, `hidden 64`, `attention`, `no attention`."""
    name = "split seed" if key == ("data", "seed") else key[1].replace("_", " ")
    if isinstance(value, bool):
        return name if value else f"no {name}"
    if value is None:
        return f"no {name}"
    return value if isinstance(value, str) else f"{name} {value}"


def split_of(group: Group, notes: list[str]) -> Split | None:
    """Return the data of a group if its test set has several tests or worlds, else None.

    Args:
        group: The runs.
        notes: List to which the reason is appended if the data cannot be loaded.
    """
    has_tests = bool(group.scores[0].get("tests"))
    if not (tasks.get(group.task).grounded or has_tests):
        return None
    try:
        return run_data.split_of(group.folders[0], group.official)
    except (WrongRequest, WrongFile) as error:
        notes.append(f"No worlds and no single tests of {group.task}: {error}.")
        return None
