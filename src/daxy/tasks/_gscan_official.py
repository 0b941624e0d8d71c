"""Official files of gSCAN: checked by the rules, loaded in place of generated data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from daxy.core.disagreement import Disagreement
from daxy.core.errors import WrongFile, WrongRequest, quote
from daxy.core.examples import Examples, Tokens
from daxy.core.tokens import mismatch
from daxy.formats import gscan_json
from daxy.formats._gscan_writing import PARTS
from daxy.formats.gscan_json import Dataset
from daxy.languages import grounded, gscan
from daxy.languages.grounded import NoReferent
from daxy.tasks._gscan_examples import Demonstrations
from daxy.tasks._gscan_kinds import LEARNED, LONG, RANDOM, TRAIN, WORDS, SplitKind, kind_of
from daxy.tasks._gscan_predicates import HELD_OUT, Flags, held_out
from daxy.worlds.batch_demonstration import demonstrate_all
from daxy.worlds.columns import worlds_of
from daxy.worlds.execution import spins_after
from daxy.worlds.referents import referents

ORDER = tuple(PARTS.values())
"""Official names of all parts, in the order of the files."""
FEW_SHOT = "adverb_1"
"""The test with few-shot examples in train."""
FEW = 10
"""Number of misplaced examples that is always listed one by one."""

Problem = tuple[int, str]
"""A row of a part and its error."""


def load(path: Path, names: Collection[str], task: str) -> Dataset:
    """Return the content of a file.

    Args:
        path: The file, or the folder of its `dataset.txt`.
        names: Official names of exactly the parts that the file must have.
        task: Name of the task of these parts.

    Raises:
        WrongFile: the file is missing, damaged, lacks a part or disagrees with the rules.
    """
    file = path / "dataset.txt" if path.is_dir() else path
    dataset, wrong, kind = examine(file)
    _check_kind(file, kind, names, task)
    if kind.long == RANDOM:
        dataset = _with_long_part(dataset)
    if wrong:
        more = f" (and {len(wrong) - 1:,} others; `daxy verify` lists them)"
        raise WrongFile(file, f"{wrong[0]}{more if len(wrong) > 1 else ''}")
    if missing := [name for name in names if name not in dataset.parts]:
        there = ", ".join(dataset.parts) or "none"
        raise WrongFile(file, f"has no examples of {quote(missing[0])}; it has those of {there}")
    if others := [name for name in ORDER if name not in names and dataset.counts[name]]:
        raise WrongFile(file, f"has examples of {quote(others[0])}; {task} has none")
    for name in (TRAIN, LONG):
        if name in names and not dataset.counts[name]:
            raise WrongFile(file, f"has no examples of {quote(name)}, which {task} needs")
    return dataset


def _check_kind(file: Path, kind: SplitKind, names: Collection[str], task: str) -> None:
    expected_kind = "target_lengths" if LONG in names else "generalization"
    if kind.kind == "uniform" or (kind.long == RANDOM and expected_kind != kind.kind):
        expected = f"{task} takes one made with `--split={expected_kind}`"
        raise WrongFile(file, f"is {kind}; {expected}, and `daxy verify` checks this one")


def _with_long_part(dataset: Dataset) -> Dataset:
    """Return a file of the current generator with the part names of the released file."""
    long = dataset.parts[RANDOM]
    parts = {**dataset.parts, RANDOM: long.take(np.zeros(0, np.int64)), LONG: long}
    counts = Counter({**dataset.counts, RANDOM: 0, LONG: dataset.counts[RANDOM]})
    return replace(dataset, parts=parts, counts=counts)


class Examined(NamedTuple):
    """An official file, checked by the rules."""

    dataset: Dataset
    wrong: list[Disagreement]
    """Examples that are inconsistent or against the rules."""
    kind: SplitKind


def examine(path: Path) -> Examined:
    """Return the content of an official file, checked by the rules.

    Raises:
        WrongFile: the file is missing, cut off or no official file.
    """
    dataset = gscan_json.examine(path)
    if unknown := [name for name in dataset.parts if name not in ORDER]:
        raise WrongFile(path, f"has a part {quote(unknown[0])}; expected {', '.join(ORDER)}")
    if not sum(dataset.counts.values()):
        raise WrongFile(path, "has no examples")
    return check(dataset)


def of_parts(parts: Mapping[str, Examples]) -> Dataset:
    """Return parts by name as the content of a file; those of no command disagree."""
    first = worlds_of(next(iter(parts.values())))
    index = grounded.command_indices()
    numbers = {
        name: np.array([row for row, words in enumerate(part.source) if words in index], np.int64)
        for name, part in parts.items()
    }
    return Dataset(
        header={"grid_size": int(first.size[0])} if len(first) else {},
        parts={name: part.take(numbers[name]) for name, part in parts.items()},
        numbers=numbers,
        counts={name: len(part) for name, part in parts.items()},
        disagreements=[
            Disagreement(name, row, _no_command(words))
            for name, part in parts.items()
            for row, words in enumerate(part.source)
            if words not in index
        ],
    )


def _no_command(words: Tokens) -> str:
    """Return why words are no command."""
    try:
        gscan.LANGUAGE.parse(words)
    except WrongRequest as error:
        return str(error)
    return f"{quote(' '.join(words), most=100)} is no command of gSCAN"


def check(dataset: Dataset) -> Examined:
    """Return a file with the examples that are inconsistent or against the rules."""
    tables = _tables(dataset)
    flags = {name: held_out(table) for name, table in tables.items()}
    kind = kind_of(tables, flags, dataset.header)
    misplaced, after = _all_memberships(tables, flags, kind), _spin_after(tables)
    learned = [tables[name].duplicate_ids for name in LEARNED if name in tables]
    learned_ids = np.concatenate([np.zeros(0, np.int64), *learned])
    problems = {
        name: [
            *_inconsistent(table, dataset.header, spin_after=after),
            *misplaced[name],
            *(_repeated(table, learned_ids) if name == RANDOM else ()),
        ]
        for name, table in tables.items()
    }
    return Examined(dataset, _disagreements(dataset, problems), kind)


def inconsistent(dataset: Dataset) -> list[Disagreement]:
    """Return the examples whose command, world and actions do not agree, whatever their part."""
    tables = _tables(dataset)
    after = _spin_after(tables)
    problems = {
        name: list(_inconsistent(table, dataset.header, spin_after=after))
        for name, table in tables.items()
    }
    return _disagreements(dataset, problems)


def _inconsistent(
    table: Demonstrations, header: Mapping[str, Any], *, spin_after: bool
) -> Iterator[Problem]:
    yield from _grids(table, header)
    yield from _meanings(table, spin_after=spin_after)


def _disagreements(
    dataset: Dataset, problems: Mapping[str, Sequence[Problem]]
) -> list[Disagreement]:
    """Return the first problem of each example, in the order of the file."""
    wrong = {(each.split, each.number): each.problem for each in reversed(dataset.disagreements)}
    for name, rows in problems.items():
        for row, problem in rows:
            wrong.setdefault((name, int(dataset.numbers[name][row])), problem)
    order = list(dataset.parts)
    disagreements = [Disagreement(*key, problem) for key, problem in wrong.items()]
    return sorted(disagreements, key=lambda each: (order.index(each.split), each.number))


def repeated(dataset: Dataset) -> int:
    """Return the number of repeated examples, across all parts."""
    keys = [key for examples in dataset.parts.values() for key in examples.keys]
    return len(keys) - len(set(keys))


def shots(dataset: Dataset) -> int:
    """Return the number of examples of the few-shot test in train."""
    tables = (Demonstrations.of(dataset.parts[name]) for name in LEARNED if name in dataset.parts)
    test = list(HELD_OUT).index(FEW_SHOT)
    return sum(int(held_out(table)[:, test].sum()) for table in tables)


def spin(dataset: Dataset) -> str:
    """Return whether most demonstrations spin before or after a step."""
    return "after" if _spin_after(_tables(dataset)) else "before"


def longest(dataset: Dataset, usual: int) -> int:
    """Return the maximum number of actions of examples outside the long part.

    Args:
        dataset: The content of a file.
        usual: The default, preferred where the lengths leave the maximum open.
    """
    lengths = {name: part.target.lengths for name, part in dataset.parts.items() if len(part)}
    short = max(int(each.max()) for name, each in lengths.items() if name != LONG)
    return max(short, min(usual, int(lengths[LONG].min()) - 1))


def _tables(dataset: Dataset) -> dict[str, Demonstrations]:
    return {name: Demonstrations.of(examples) for name, examples in dataset.parts.items()}


def _grids(table: Demonstrations, header: Mapping[str, Any]) -> Iterator[Problem]:
    size = header.get("grid_size")
    for row in np.flatnonzero(table.worlds.size != size).tolist():
        yield row, f"grid_size is {table.worlds.size[row]}; the file's is {size!r}"


def _meanings(table: Demonstrations, *, spin_after: bool) -> Iterator[Problem]:
    """Yield the examples whose command refers to another thing or asks for other actions."""
    commands = grounded.commands()
    clear = referents(table.command, table.worlds) == 0
    for row in np.flatnonzero(~clear).tolist():
        phrase = commands[table.command[row]].phrase
        things = table.worlds[row].things
        try:
            index = grounded.referent(phrase, things)
        except NoReferent as error:
            yield row, str(error)
        else:
            yield row, f"{phrase} is the {things[index]}, object {index}, not the target"
    rows = np.flatnonzero(clear)
    worlds = table.worlds.take(rows)
    ours = demonstrate_all(table.command[rows], worlds, spin_after=spin_after)
    theirs = table.actions.take(rows)
    right = ours.matches(theirs)
    for index in np.flatnonzero(~right).tolist():
        place, expected, actual = mismatch(ours[index], theirs[index])
        yield int(rows[index]), f"action {place} is {actual}; the demonstration has {expected}"


def _memberships(
    name: str, table: Demonstrations, flags: Flags, kind: SplitKind
) -> Iterator[Problem]:
    if kind.kind == "target_lengths":
        lengths, most = table.actions.lengths, kind.threshold
        wrong = (lengths <= most) if name == kind.long else (lengths > most)
        for row in np.flatnonzero(wrong).tolist():
            yield row, f"{lengths[row]} actions; {kind.long} has those with more than {most}"
    if kind.kind != "generalization":
        return
    times, tests = flags.sum(axis=1), list(HELD_OUT)
    if name in LEARNED:
        allowed = flags[:, tests.index(FEW_SHOT)] & (times == 1)
        wrong = (times > 0) & ~allowed
    else:
        wrong = (times != 1) | ~flags[:, tests.index(name)] if name in tests else times > 0
    for row in np.flatnonzero(wrong).tolist():
        belongs = [test for test, held in zip(tests, flags[row], strict=True) if held]
        yield row, f"does not belong here; held out by {', '.join(belongs) or 'no test'}"


def _all_memberships(
    tables: Mapping[str, Demonstrations], flags: Mapping[str, Flags], kind: SplitKind
) -> dict[str, list[Problem]]:
    """Return the misplaced examples of each part; only the first where most are misplaced."""
    misplaced = {
        name: list(_memberships(name, table, flags[name], kind)) for name, table in tables.items()
    }
    count, wrong = sum(map(len, tables.values())), sum(map(len, misplaced.values()))
    if 2 * wrong <= count or wrong < FEW:
        return misplaced
    name = next(name for name, problems in misplaced.items() if problems)
    row, problem = misplaced[name][0]
    known = ", ".join(WORDS)
    more = f"nor do {wrong - 1:,} others of {count:,}: the parts are of no split of gSCAN ({known})"
    return {part: [(row, f"{problem}; {more}")] if part == name else [] for part in tables}


def _spin_after(tables: Mapping[str, Demonstrations]) -> bool:
    """Return whether most demonstrations spin after a step."""
    commands = grounded.commands()
    spinning = np.array([each.manner == "while spinning" for each in commands])
    after = count = 0
    for table in tables.values():
        rows = np.flatnonzero(spinning[table.command])
        pairs = zip(table.command[rows], table.actions.take(rows), strict=True)
        after += sum(spins_after(commands[place], actions) for place, actions in pairs)
        count += len(rows)
    return 2 * after > count


def _repeated(table: Demonstrations, learned_ids: NDArray[np.int64]) -> Iterator[Problem]:
    """Yield the examples that differ from a training example only in distractors."""
    for row in np.flatnonzero(np.isin(table.duplicate_ids, learned_ids)).tolist():
        yield row, "train or dev has an example of this command, target cell and actions"
