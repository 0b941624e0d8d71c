"""The data side in Python: load a split, score predictions. No machine-learning framework."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack, cast

from daxy import formats, tasks
from daxy.core.errors import require
from daxy.core.examples import Examples
from daxy.core.files import usable
from daxy.core.settings import check_types, from_dict
from daxy.core.split import Split
from daxy.formats.layout import SIDES, Layout, part_of
from daxy.tasks import Choices
from daxy.tasks._pairs_choices import PairsChoices
from daxy.tasks._pairs_options import CHOICES, PUBLISHED, PairsOptions
from daxy.tasks.pairs import TASK, combined


def load(
    task: str,
    *,
    seed: int = 0,
    official: Path | str | None = None,
    train: Path | str | None = None,
    test: Path | str | Mapping[str, Path | str] | None = None,
    **choices: Unpack[Choices],
) -> Split:
    """Return the data of a task, as `daxy.load("scan/addprim_jump", oversample=False)`.

    The split is whole, as published. It has a validation set if the benchmark publishes one;
    otherwise `validation="draw"` carves one from train, as `daxy train` does.

    Args:
        task: The task's name.
        seed: Seed of a random split, and of the validation set.
        official: Official files, to load instead of generating.
        train: Training examples, for a task of your own files, as `scan/files`.
        test: Their test examples; several tests by their names.
        choices: Other options of the data; `daxy show TASK --help` lists them.

    Raises:
        UnknownName: there is no such task, or it has no such choice.
        WrongRequest: a choice that does not go with the task, or has a wrong value.
        WrongFile: an official file is missing, or a line of it is wrong.
    """
    check_types(load, {"task": task, "official": official, "train": train, "test": test})
    files = None if official is None else usable(Path(official))
    options: dict[str, Any] = {**choices}
    if train is not None:
        options["train"] = usable(Path(train))
    if isinstance(test, Mapping):
        options["test"] = tuple(f"{name}={path}" for name, path in test.items())
    elif test is not None:
        options["test"] = (str(test),)
    return tasks.data(task, seed=seed, official=files, **options).load(task)


def pairs(
    train: Any,
    test: Any = None,
    *,
    validation: Any = PUBLISHED,
    seed: int = 0,
    **choices: Unpack[PairsChoices],
) -> Split:
    """Return pairs of your own as a split, as `daxy.pairs("train.tsv", "test.tsv")`.

    Each argument is the path of a file, a table of pandas, PyArrow or `datasets`, columns by name,
    or an iterable of pairs. A source or a target is a text, or a sequence of tokens.

    Args:
        train: Training pairs; without `test`, of all parts: a table with a column `split`, a
            folder, or a table for each part by its name.
        test: Test pairs; several tests by their names.
        validation: Validation pairs, `draw` for random training pairs, or `none`.
        seed: Seed of the random training pairs.
        choices: Names of the columns and the like; `daxy show pairs --help` lists them.

    Raises:
        WrongRequest: a part is missing or has no pairs, or an option has a wrong value.
        WrongFile: a file cannot be read, or a row of it is wrong.
    """
    validation = PUBLISHED if validation is None else validation
    is_option = isinstance(validation, str) and validation in CHOICES
    options: dict[str, Any] = {**choices, "seed": seed}
    options["validation"] = validation if is_option else PUBLISHED
    data = from_dict(PairsOptions, options, of="the data of pairs")
    learned = None if is_option else _parts(validation, "validation", data)
    tests = {} if test is None else _by_part(test, data) or {"test": test}
    parts = combined(
        _parts(train, "train", data),
        learned,
        [(name, _parts(values, name, data)) for name, values in tests.items()],
        "train",
    )
    return TASK.of_parts(parts, data, _origin(train, test, validation))


def _parts(values: Any, name: str, layout: Layout) -> dict[str, Examples]:
    """Return the pairs of an argument by part; the name is empty where it names none."""
    if isinstance(values, Examples):
        has_worlds = f"{name} has worlds, which pairs do not have"
        require(values.worlds is None, has_worlds)
        return {"": values}
    if isinstance(values, str | Path):
        return formats.foreign.read(usable(Path(values)), layout)
    if tables := _by_part(values, layout):
        named = {part: _parts(table, part, layout) for part, table in tables.items()}
        return {
            part or part_of(name): examples
            for name, parts in named.items()
            for part, examples in parts.items()
        }
    return formats.foreign.of_values(values, name, layout)


def _by_part(values: Any, layout: Layout) -> Mapping[str, Any] | None:
    """Return tables by part; None for another argument, as columns by name."""
    if not isinstance(values, Mapping):
        return None
    tables = cast("Mapping[str, Any]", values)
    sides = [*SIDES, (layout.source_column, layout.target_column)]
    return None if any(set(names) <= tables.keys() for names in sides) else tables


def _origin(*values: Any) -> str:
    files = [str(value) for value in values if isinstance(value, str | Path)]
    files = [name for name in files if name not in CHOICES]
    return f"files: {', '.join(files)}" if files else "memory"
