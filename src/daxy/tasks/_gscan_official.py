"""gSCAN's official files: whether they are what the rules say, and in place of generated data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import WrongFile, quote
from daxy.core.examples import Examples
from daxy.core.split import Split
from daxy.formats import gscan_json
from daxy.formats._gscan_writing import Vectors, header, write
from daxy.formats.gscan_json import Dataset, Disagreement
from daxy.languages import grounded
from daxy.languages.grounded import NoReferent
from daxy.metrics.exact import METRIC as EXACT
from daxy.tasks._gscan_examples import Shown
from daxy.tasks._gscan_predicates import HELD_OUT, held_out
from daxy.worlds.demonstrated import demonstrations
from daxy.worlds.examples import GroundedExamples
from daxy.worlds.execution import spins_after
from daxy.worlds.referents import referents

TRAIN, VALIDATION, RANDOM, LONG = "train", "dev", "test", "target_lengths"
"""The official names of parts that no predicate of things and commands makes."""
LEARNED = (TRAIN, VALIDATION)
ORDER = (
    *(TRAIN, VALIDATION, RANDOM, "visual", "situational_1", "situational_2", "contextual"),
    *("adverb_1", "adverb_2", "visual_easier", LONG),
)
"""The official names of all parts, in the order of the files."""
FEW_SHOT = "adverb_1"
"""What is held out so far as it has not been moved to train: the shots."""

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
    dataset, wrong = examine(file)
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


def save(path: Path, split: Split, names: Mapping[str, str], vectors: Vectors) -> None:
    """Write a split as the authors' generator writes one.

    Args:
        path: The file.
        split: The split.
        names: The official names of its parts by ours.
        vectors: The order of the bits for colors.

    Raises:
        RunFailed: the file cannot be written.
    """
    ours = {official: split.named[name] for name, official in names.items()}
    parts = {name: _grounded(ours.get(name, split.test[:0])) for name in ORDER}
    options: dict[str, Any] = dict(split.provenance.options)
    about = header(options["grid"], options["kind"], options["train_fraction"], vectors)
    write(path, parts, about, vectors)


def _grounded(examples: Examples) -> GroundedExamples:
    assert isinstance(examples, GroundedExamples)
    return examples


def examine(path: Path) -> tuple[Dataset, list[Disagreement]]:
    """Return what an official file holds, and what of it disagrees with itself or the rules.

    Raises:
        WrongFile: it is missing, cut off, or no official file.
    """
    dataset = gscan_json.examine(path)
    if unknown := [name for name in dataset.parts if name not in ORDER]:
        raise WrongFile(path, f"has a part {quote(unknown[0])}; expected {', '.join(ORDER)}")
    if not sum(dataset.counts.values()):
        raise WrongFile(path, "has no examples")
    tables = _tables(dataset)
    threshold, after = _threshold(tables), _spin_after(tables)
    taught = np.concatenate(
        [np.zeros(0, np.int64), *(tables[name].alike for name in LEARNED if name in tables)]
    )
    wrong = list(dataset.disagreements)
    for name, shown in tables.items():
        found = dict[int, str]()
        for row, problem in (
            *_grids(shown, dataset.header),
            *_meanings(shown, spin_after=after),
            *_memberships(name, shown, threshold),
            *(_repeated(shown, taught) if name == RANDOM else ()),
        ):
            found.setdefault(row, problem)
        numbers = dataset.numbers[name]
        wrong += [Disagreement(name, int(numbers[row]), found[row]) for row in sorted(found)]
    order = list(dataset.parts)
    each_once = {(each.split, each.number): each for each in reversed(wrong)}.values()
    return dataset, sorted(each_once, key=lambda each: (order.index(each.split), each.number))


def repeated(dataset: Dataset) -> int:
    """Return how many examples are there again, in the same or in another part."""
    keys = [key for examples in dataset.parts.values() for key in examples.keys]
    return len(keys) - len(set(keys))


def shots(dataset: Dataset) -> int:
    """Return how many examples that the few-shot test holds out are in train."""
    tables = (Shown.of(dataset.parts[name]) for name in LEARNED if name in dataset.parts)
    return sum(int(_held_out(shown)[FEW_SHOT].sum()) for shown in tables)


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


def _tables(dataset: Dataset) -> dict[str, Shown]:
    return {name: Shown.of(examples) for name, examples in dataset.parts.items()}


def _grids(shown: Shown, header: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the examples whose grid is not of the size that the file says."""
    size = header.get("grid_size")
    for row in np.flatnonzero(shown.worlds.size != size).tolist():
        yield row, f"grid_size is {shown.worlds.size[row]}; the file's is {size!r}"


def _meanings(shown: Shown, *, spin_after: bool) -> Iterator[Problem]:
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
    right = EXACT.score(Examples(ours, ours), theirs)
    for place in np.flatnonzero(~right).tolist():
        yield int(rows[place]), _difference(ours[place], theirs[place])


def _difference(ours: Sequence[str], theirs: Sequence[str]) -> str:
    """Return where actions begin to differ from a demonstration."""
    pairs = zip((*ours, "the end"), (*theirs, "the end"), strict=False)
    place, (expected, given) = next(
        (place, pair) for place, pair in enumerate(pairs, 1) if pair[0] != pair[1]
    )
    return f"action {place} is {quote(given)}; the demonstration has {quote(expected)}"


def _held_out(shown: Shown) -> dict[str, NDArray[np.bool_]]:
    return dict(zip(HELD_OUT, held_out(shown).T, strict=True))


def _memberships(name: str, shown: Shown, threshold: int | None) -> Iterator[Problem]:
    """Yield the examples that do not belong to their part."""
    if threshold is not None:
        lengths = shown.actions.lengths
        wrong = (lengths <= threshold) if name == LONG else (lengths > threshold)
        for row in np.flatnonzero(wrong).tolist():
            yield row, f"{lengths[row]} actions; {LONG} has those with more than {threshold}"
        return
    flags = _held_out(shown)
    times = sum(each.astype(np.int64) for each in flags.values())
    own = flags.get(name, np.zeros(len(shown), np.bool_))
    if name in LEARNED:
        allowed = flags[FEW_SHOT] & (times == 1)
        wrong = (times > 0) & ~allowed
    else:
        wrong = (times != 1) | ~own if name in flags else times > 0
    for row in np.flatnonzero(wrong).tolist():
        belongs = [test for test, each in flags.items() if each[row]]
        yield row, f"does not belong here; held out by {', '.join(belongs) or 'no test'}"


def _threshold(tables: Mapping[str, Shown]) -> int | None:
    """Return the number of actions above which `target_lengths` has what there is; None without.

    It is nowhere written: it is what the fewest examples disagree with.
    """
    if not len(tables.get(LONG, ())):
        return None
    long = tables[LONG].actions.lengths
    short = np.concatenate([each.actions.lengths for name, each in tables.items() if name != LONG])
    asked = np.unique(np.concatenate([long - 1, short]))
    wrong = [(long <= each).sum() + (short > each).sum() for each in asked]
    return int(asked[int(np.argmin(wrong))])


def _spin_after(tables: Mapping[str, Shown]) -> bool:
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


def _repeated(shown: Shown, taught: NDArray[np.int64]) -> Iterator[Problem]:
    """Yield the examples that train has too, but for what stands around."""
    for row in np.flatnonzero(np.isin(shown.alike, taught)).tolist():
        yield row, "train or dev has an example of this command, target cell and actions"
