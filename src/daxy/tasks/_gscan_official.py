"""gSCAN's official files: whether they are what the rules say, and in place of generated data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from daxy.core.disagreement import Disagreement
from daxy.core.errors import WrongFile, quote
from daxy.core.examples import Examples
from daxy.formats import gscan_json
from daxy.formats._gscan_writing import PARTS
from daxy.formats.gscan_json import Dataset
from daxy.languages import grounded
from daxy.languages.grounded import NoReferent
from daxy.tasks._gscan_examples import Demonstrations
from daxy.tasks._gscan_kinds import LEARNED, LONG, RANDOM, TRAIN, WORDS, Taken, kind_of
from daxy.tasks._gscan_predicates import HELD_OUT, Flags, held_out
from daxy.worlds.columns import worlds_of
from daxy.worlds.demonstrated import demonstrations
from daxy.worlds.execution import spins_after
from daxy.worlds.referents import referents

ORDER = tuple(PARTS.values())
"""The official names of all parts, in the order of the files."""
FEW_SHOT = "adverb_1"
"""What is held out so far as it has not been moved to train: the shots."""
FEW = 10
"""Examples in a wrong part that are listed one by one, however small the file is."""

Problem = tuple[int, str]
"""A row of a part, and what is wrong with it."""


def load(path: Path, names: Collection[str], task: str) -> Dataset:
    """Return what a file holds.

    Args:
        path: The file, or the folder that holds it as `dataset.txt`.
        names: The official names of the parts that it has to have, and has nothing beside.
        task: What they are the parts of.

    Raises:
        WrongFile: the file is missing, damaged, lacks one of them, or disagrees with the rules.
    """
    file = path / "dataset.txt" if path.is_dir() else path
    dataset, wrong, taken = examine(file)
    _check_kind(file, taken, names, task)
    if taken.long == RANDOM:
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
        empty = name in names and not dataset.counts[name]
        if empty:
            raise WrongFile(file, f"has no examples of {quote(name)}, which {task} needs")
    return dataset


def _check_kind(file: Path, taken: Taken, names: Collection[str], task: str) -> None:
    """Refuse a file of a kind of split that a task cannot be loaded from."""
    kind = "target_lengths" if LONG in names else "generalization"
    other = taken.kind == "uniform" or (taken.long == RANDOM and kind != taken.kind)
    if other:
        expected = f"{task} takes one made with `--split={kind}`"
        raise WrongFile(file, f"is {taken}; {expected}, and `daxy verify` checks this one")


def _with_long_part(dataset: Dataset) -> Dataset:
    """Return a file of the present generator with the long examples where the release has them."""
    long = dataset.parts[RANDOM]
    parts = {**dataset.parts, RANDOM: long.take(np.zeros(0, np.int64)), LONG: long}
    counts = Counter({**dataset.counts, RANDOM: 0, LONG: dataset.counts[RANDOM]})
    return replace(dataset, parts=parts, counts=counts)


class Examined(NamedTuple):
    """What an official file holds."""

    dataset: Dataset
    wrong: list[Disagreement]
    """What of it disagrees with itself or the rules."""
    taken: Taken
    """The kind of split that it is taken for."""


def examine(path: Path) -> Examined:
    """Return what an official file holds, and what of it disagrees with itself or the rules.

    Raises:
        WrongFile: it is missing, cut off, or no official file.
    """
    dataset = gscan_json.examine(path)
    if unknown := [name for name in dataset.parts if name not in ORDER]:
        raise WrongFile(path, f"has a part {quote(unknown[0])}; expected {', '.join(ORDER)}")
    if not sum(dataset.counts.values()):
        raise WrongFile(path, "has no examples")
    return check(dataset)


def of_parts(parts: Mapping[str, Examples]) -> Dataset:
    """Return the same as a file of parts by daxy's names: train, validation, A to I."""
    first = worlds_of(next(iter(parts.values())))
    return Dataset(
        header={"grid_size": int(first.size[0])} if len(first) else {},
        parts=parts,
        numbers={name: np.arange(len(part)) for name, part in parts.items()},
        counts={name: len(part) for name, part in parts.items()},
        disagreements=(),
    )


def check(dataset: Dataset) -> Examined:
    """Return examples with what of them disagrees with itself or the rules."""
    tables = _tables(dataset)
    flags = {name: held_out(shown) for name, shown in tables.items()}
    taken = kind_of(tables, flags, dataset.header)
    misplaced, after = _all_memberships(tables, flags, taken), _spin_after(tables)
    taught = np.concatenate(
        [np.zeros(0, np.int64), *(tables[name].alike for name in LEARNED if name in tables)]
    )
    wrong = list(dataset.disagreements)
    for name, shown in tables.items():
        found = dict[int, str]()
        for row, problem in (
            *_grids(shown, dataset.header),
            *_meanings(shown, spin_after=after),
            *misplaced[name],
            *(_repeated(shown, taught) if name == RANDOM else ()),
        ):
            found.setdefault(row, problem)
        numbers = dataset.numbers[name]
        wrong += [Disagreement(name, int(numbers[row]), found[row]) for row in sorted(found)]
    order = list(dataset.parts)
    each_once = {(each.split, each.number): each for each in reversed(wrong)}.values()
    found = sorted(each_once, key=lambda each: (order.index(each.split), each.number))
    return Examined(dataset, found, taken)


def repeated(dataset: Dataset) -> int:
    """Return how many examples are there again, in the same or in another part."""
    keys = [key for examples in dataset.parts.values() for key in examples.keys]
    return len(keys) - len(set(keys))


def shots(dataset: Dataset) -> int:
    """Return how many examples that the few-shot test holds out are in train."""
    tables = (Demonstrations.of(dataset.parts[name]) for name in LEARNED if name in dataset.parts)
    place = list(HELD_OUT).index(FEW_SHOT)
    return sum(int(held_out(shown)[:, place].sum()) for shown in tables)


def spin(dataset: Dataset) -> str:
    """Return whether spinning comes before a step or after it, as most demonstrations have it."""
    return "after" if _spin_after(_tables(dataset)) else "before"


def longest(dataset: Dataset, usual: int) -> int:
    """Return how many actions there are at most in what is not too long.

    Args:
        dataset: Of both.
        usual: What it is where the lengths that there are leave it open.
    """
    lengths = {name: part.target.lengths for name, part in dataset.parts.items() if len(part)}
    short = max(int(each.max()) for name, each in lengths.items() if name != LONG)
    return max(short, min(usual, int(lengths[LONG].min()) - 1))


def _tables(dataset: Dataset) -> dict[str, Demonstrations]:
    return {name: Demonstrations.of(examples) for name, examples in dataset.parts.items()}


def _grids(shown: Demonstrations, header: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the examples whose grid is not of the size that the file says."""
    size = header.get("grid_size")
    for row in np.flatnonzero(shown.worlds.size != size).tolist():
        yield row, f"grid_size is {shown.worlds.size[row]}; the file's is {size!r}"


def _meanings(shown: Demonstrations, *, spin_after: bool) -> Iterator[Problem]:
    """Yield the examples whose command does not speak of the target, or asks for other actions."""
    commands = grounded.commands()
    clear = referents(shown.command, shown.worlds) == 0
    for row in np.flatnonzero(~clear).tolist():
        phrase = commands[shown.command[row]].phrase
        things = shown.worlds[row].things
        try:
            place = grounded.referent(phrase, things)
        except NoReferent as error:
            yield row, str(error)
        else:
            yield row, f"{phrase} is the {things[place]}, object {place}, not the target"
    rows = np.flatnonzero(clear)
    worlds = shown.worlds.take(rows)
    ours = demonstrations(shown.command[rows], worlds, spin_after=spin_after)
    theirs = shown.actions.take(rows)
    right = ours.matches(theirs)
    for place in np.flatnonzero(~right).tolist():
        yield int(rows[place]), _difference(ours[place], theirs[place])


def _difference(ours: Sequence[str], theirs: Sequence[str]) -> str:
    """Return where actions begin to differ from a demonstration."""
    pairs = zip((*ours, "the end"), (*theirs, "the end"), strict=False)
    place, (expected, given) = next(
        (place, pair) for place, pair in enumerate(pairs, 1) if pair[0] != pair[1]
    )
    return f"action {place} is {quote(given)}; the demonstration has {quote(expected)}"


def _memberships(name: str, shown: Demonstrations, flags: Flags, taken: Taken) -> Iterator[Problem]:
    """Yield the examples that do not belong to their part."""
    if taken.kind == "target_lengths":
        lengths, most = shown.actions.lengths, taken.threshold
        wrong = (lengths <= most) if name == taken.long else (lengths > most)
        for row in np.flatnonzero(wrong).tolist():
            yield row, f"{lengths[row]} actions; {taken.long} has those with more than {most}"
    if taken.kind != "generalization":
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
    tables: Mapping[str, Demonstrations], flags: Mapping[str, Flags], taken: Taken
) -> dict[str, list[Problem]]:
    """Return the examples of each part that do not belong there, or one where most do not."""
    found = {
        name: list(_memberships(name, shown, flags[name], taken)) for name, shown in tables.items()
    }
    count, wrong = sum(map(len, tables.values())), sum(map(len, found.values()))
    if 2 * wrong <= count or wrong < FEW:
        return found
    name = next(name for name, problems in found.items() if problems)
    row, problem = found[name][0]
    known = ", ".join(WORDS)
    more = f"nor do {wrong - 1:,} others of {count:,}: the parts are of no split of gSCAN ({known})"
    return {part: [(row, f"{problem}; {more}")] if part == name else [] for part in tables}


def _spin_after(tables: Mapping[str, Demonstrations]) -> bool:
    """Return whether spinning comes after a step; it is what most demonstrations have."""
    commands = grounded.commands()
    spinning = np.array([each.manner == "while spinning" for each in commands])
    after = count = 0
    for shown in tables.values():
        rows = np.flatnonzero(spinning[shown.command])
        pairs = zip(shown.command[rows], shown.actions.take(rows), strict=True)
        after += sum(spins_after(commands[place], actions) for place, actions in pairs)
        count += len(rows)
    return 2 * after > count


def _repeated(shown: Demonstrations, taught: NDArray[np.int64]) -> Iterator[Problem]:
    """Yield the examples that train has too, but for what stands around."""
    for row in np.flatnonzero(np.isin(shown.alike, taught)).tolist():
        yield row, "train or dev has an example of this command, target cell and actions"
