"""What holds for every task there is, and for every one that is added."""

from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests import tiny

import daxy.languages
from daxy import tasks, testing
from daxy.core.errors import WrongFile, WrongRequest
from daxy.core.examples import Examples, Sequences
from daxy.core.settings import is_added_field
from daxy.core.split import Split
from daxy.formats import jsonl, parquet, scan_text
from daxy.learners.nearest import Nearest
from daxy.report import baselines
from daxy.reproduction import published
from daxy.runs.run import Run
from daxy.tasks import DatasetOptions, ScanOptions, Task
from daxy.tasks._own_files import OwnFilesTask

EVERY = tasks.available()
NAMES = [name for name in EVERY if tasks.get(name).is_generated]
"""Those that generate their data."""
# One of each family: the others differ in the numbers of a draw alone.
FAMILIES = list({tasks.get(name).family: name for name in NAMES}.values())

GRAMMAR = Path(daxy.languages.__path__[0]) / "grammars" / "svo_sov.itg"

SMALL = {
    "gscan/compositional": {"grid": 4, "resampling": 1, "kind": "simple_trans", "shots": 0},
    "gscan/length": {"grid": 4, "resampling": 1, "kind": "simple_trans", "max_length": 5},
    "transduction/grammar": {"grammar": GRAMMAR, "train_pairs": 500},
}
"""What is chosen of benchmarks whose published data is large."""
CARVED = [name for name in FAMILIES if tasks.get(name).options.has_validation_option]
"""Those whose validation set is carved from a train set that is there without one, too."""

every_task = pytest.mark.parametrize("name", EVERY)
every_family = pytest.mark.parametrize("name", FAMILIES)
COMMANDS = [name for name in CARVED if issubclass(tasks.get(name).options, ScanOptions)]
OVERSAMPLED = [name for name in COMMANDS if "addprim" in name or "bastings_jump" in name]
"""Those that repeat a command in train."""

EXPORTED = ("scan/simple", "nacs/addprim_jump", "gscan/length", "transduction/gender")
"""One of each kind of example; the other families are slow tests."""
WHOLE = {next(name for name in COMMANDS if name.startswith(kind)) for kind in ("scan/", "nacs/")}
WHOLE |= {OVERSAMPLED[0], OVERSAMPLED[-1]}
"""Families of commands that are exported whole: all are of the same 20,910 pairs."""

NUMBERS = [
    (name, field.name)
    for name in COMMANDS
    for field in fields(tasks.get(name).options)
    if is_added_field(field)
]
"""Tasks whose rule has a number, and the option of it."""
OTHER_NUMBERS: dict[str, Any] = {
    "max_length": 26,
    "oversample_fraction": 0.2,
    "shots": 3,
    "train_fraction": 0.5,
}

every_carved = pytest.mark.parametrize("name", CARVED)


OWN_FILES = [name for name in EVERY if isinstance(tasks.get(name), OwnFilesTask)]
"""Those that check files of a user."""


def chosen(name: str, **choices: object) -> DatasetOptions:
    """Return the choice of a task's data that is tested: without a validation set, or small."""
    plain = {"validation": "none"} if tasks.get(name).options.has_validation_option else {}
    return tasks.data(name, **plain | SMALL.get(name, {}) | choices)


@cache
def split_of(name: str) -> Split:
    """Return the split of that choice."""
    return tasks.get(name).split(chosen(name))


@every_task
def test_a_task_is_found_by_the_name_it_has_and_its_card_has_the_facts(name: str) -> None:
    testing.card(tasks.get(name))


@every_task
def test_a_task_is_generated_or_says_where_its_files_are(name: str) -> None:
    task = tasks.get(name)
    if files := task.files():
        with pytest.raises(WrongRequest, match=f"expected --official DIR, a clone of {files.home}"):
            task.split()


@pytest.mark.parametrize(
    "name",
    [name if name in FAMILIES else tiny.slow(name) for name in NAMES if name not in SMALL],
)
def test_a_split_has_the_published_sizes(name: str) -> None:
    task = tasks.get(name)
    testing.published_sizes(task, task.split(chosen(name)))


@every_family
@pytest.mark.parametrize("law", testing.TASK_LAWS, ids=lambda law: law.__name__)
def test_a_law_holds(law: Callable[[Task[Any], DatasetOptions, Split], None], name: str) -> None:
    law(tasks.get(name), chosen(name), split_of(name))


@every_carved
def test_validation_is_carved_from_train(name: str) -> None:
    task = tasks.get(name)
    none, draw = (tasks.data(name, validation=each) for each in ("none", "draw"))
    whole, carved = task.split(none), task.split(draw)
    assert len(carved.validation) > 0
    assert sorted(carved.train.keys + carved.validation.keys) == sorted(whole.train.keys)
    assert carved.test.keys == whole.test.keys


@every_carved
def test_data_is_as_published_until_it_is_trained_on(name: str) -> None:
    published = tasks.data(name)
    assert len(tasks.get(name).split(published).validation) == 0
    assert published.for_training() == tasks.data(name, validation="draw")
    assert published.for_training("none") == tasks.data(name, validation="none")


@pytest.mark.parametrize("name", OVERSAMPLED)
def test_without_oversampling_no_line_is_repeated(name: str) -> None:
    train = tasks.get(name).split(ScanOptions(validation="none", oversample=False)).train
    assert len(set(train.keys)) == len(train)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in OVERSAMPLED])
def test_where_nothing_is_repeated_nobody_can_ask_for_less(name: str) -> None:
    with pytest.raises(WrongRequest, match="repeats no command; leave out --no-oversample"):
        tasks.get(name).split(ScanOptions(validation="none", oversample=False))
    train = tasks.get(name).split(ScanOptions(validation="none")).train
    assert len(set(train.source)) == len(train) or name.startswith("nacs/")


@pytest.mark.parametrize(("name", "option"), NUMBERS)
def test_a_number_of_a_rule_at_its_published_value_changes_nothing(name: str, option: str) -> None:
    task, usual = tasks.get(name), tasks.data(name)
    published_value = getattr(usual, option)
    assert tasks.data(name, **{option: published_value}).choices == usual.choices
    data = tasks.data(name, **{option: OTHER_NUMBERS[option]})
    names = {Run(task=name, learner=Nearest(), data=it, seed=0).name for it in (usual, data)}
    assert len(names) == 2
    about = data.load(name).provenance
    assert about.options[option] == OTHER_NUMBERS[option]
    assert about.rule != task.rule
    assert not published.of_test(name, about.options)
    assert not baselines.has_default_test(name, about.options)


def own_parts(name: str) -> dict[str, Examples]:
    """Return some examples with the rules of a task of own files."""
    task = tasks.get(name)
    assert isinstance(task, OwnFilesTask)
    split = split_of(task.rules.name)
    return {"train": split.train[:20], "test": split.test[:10]}


@pytest.mark.parametrize("name", OWN_FILES)
def test_examples_of_a_benchmark_are_taken_as_files_of_one_s_own(name: str, tmp_path: Path) -> None:
    task, parts, path = tasks.get(name), own_parts(name), tmp_path / "own.jsonl"
    path.write_text(jsonl.write(parts), encoding="utf-8")
    split = task.split(task.options(train=path))
    assert {part: split.parts[part].keys for part in parts} == {
        part: examples.keys for part, examples in parts.items()
    }
    assert task.totals(split.test, split.test.target)[task.metric] == 1.0
    assert not task.check(split.parts).wrong


@pytest.mark.parametrize("name", OWN_FILES)
def test_a_wrong_example_among_one_s_own_is_refused_with_its_place(
    name: str, tmp_path: Path
) -> None:
    task, parts, path = tasks.get(name), own_parts(name), tmp_path / "own.jsonl"
    *right, last = parts["test"]
    wrong = Sequences.of([*(each.target for each in right), (*last.target, last.target[-1])])
    parts["test"] = replace(parts["test"], target=wrong)
    path.write_text(jsonl.write(parts), encoding="utf-8")
    place = r"own.jsonl: test\[9\]: " if task.grounded else "own.jsonl:30: "
    with pytest.raises(WrongFile, match=place):
        task.split(task.options(train=path))


@every_family
def test_saying_nothing_is_always_wrong(name: str) -> None:
    task = tasks.get(name)
    test = split_of(name).test
    silence = Sequences.of([()] * len(test))
    assert task.totals(test, silence)[task.metric] == 0.0


@pytest.mark.parametrize(
    "name", [name if name in EXPORTED else tiny.slow(name) for name in FAMILIES]
)
def test_export_then_load_is_the_identity(name: str, tmp_path: Path) -> None:
    split = tasks.get(name).split(tasks.data(name, **SMALL.get(name, {})))
    every = 10 if name in COMMANDS and name not in WHOLE else 1
    named = {part: rows[::every] for part, rows in split.named.items()}
    parquet.write(tmp_path / "a.parquet", named, split.provenance)
    (tmp_path / "a.jsonl").write_text(jsonl.write(named), encoding="utf-8")
    stored = parquet.Stored(tmp_path / "a.parquet")
    for loaded in (parquet.read(stored.path), stored, jsonl.read(tmp_path / "a.jsonl")):
        assert {part: rows.keys for part, rows in loaded.items()} == {
            part: rows.keys for part, rows in named.items() if len(rows)
        }
    if name in CARVED:
        text = scan_text.write(split.test).encode()
        assert Examples.of(scan_text.parse(text, "a.txt")).keys == split.test.keys
    assert parquet.provenance(tmp_path / "a.parquet")["checksum"] == split.provenance.checksum


def test_a_grammar_of_a_file_has_no_rules() -> None:
    with pytest.raises(WrongRequest, match="no rules say which targets of"):
        tasks.get("transduction/grammar").targets(("a",))
