"""Cache of splits with worlds, which take seconds to generate."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from daxy.core import cache as disk
from daxy.core.examples import Examples, Sequences
from daxy.core.split import Provenance, Sizes, Split
from daxy.tasks._dataset_options import DatasetOptions
from daxy.version import __version__
from daxy.worlds.columns import Worlds, worlds_of

SLOW = 1.0
"""Seconds of generation from which a split is cached."""
ROOMS = ("core", "languages", "worlds", "tasks")
"""Folders of code that data depends on."""
PART = 4 + len(fields(Worlds))
"""Number of columns of a part."""


def cached(task: str, data: DatasetOptions, make: Callable[[], Split]) -> Split:
    """Return a split from the cache, or generate and cache it.

    Args:
        task: The task's name.
        data: The options that the split depends on.
        make: Generates the split.
    """
    name, key = task.replace("/", "-"), {"task": task, "data": dict(data.choices), **_versions()}
    entry = disk.read(name, key)
    if entry is not None:
        return _split(*entry)
    start = time.monotonic()
    split = make()
    if time.monotonic() - start >= SLOW:
        disk.write(name, key, _facts(split), _columns(split))
    return split


@cache
def _versions() -> dict[str, str]:
    """Return what data depends on besides its options: the code and NumPy's draws."""
    code = hashlib.blake2b(digest_size=16)
    root = Path(__file__).parent.parent
    for path in sorted(path for room in ROOMS for path in root.joinpath(room).rglob("*.py")):
        code.update(f"{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes())
    return {"daxy": __version__, "numpy": np.__version__, "code": code.hexdigest()}


def _facts(split: Split) -> dict[str, Any]:
    symbols = [(part.source.symbols, part.target.symbols) for part in split.parts.values()]
    return {"provenance": asdict(split.provenance), "symbols": symbols}


def _columns(split: Split) -> Iterator[disk.Column]:
    for part in split.parts.values():
        for side in (part.source, part.target):
            yield from (side.codes, side.offsets)
        yield from (getattr(worlds_of(part), each.name) for each in fields(Worlds))


def _split(facts: dict[str, Any], columns: list[disk.Column]) -> Split:
    about = dict(facts["provenance"])
    about["sizes"] = Sizes(**about["sizes"])
    parts = list[Examples]()
    for first, (source, target) in enumerate(facts["symbols"]):
        part = columns[PART * first : PART * (first + 1)]
        sides = Sequences(tuple(source), *part[:2]), Sequences(tuple(target), *part[2:4])
        parts.append(Examples(*sides, worlds=Worlds(*part[4:])))
    train, validation, test = parts
    split = Split(train, validation, test, Provenance(**about))
    # The checksum of the entry holds: these are the bytes of the split that was described.
    split.__dict__["is_as_described"] = True
    return split
