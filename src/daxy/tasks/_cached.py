"""Splits with worlds, kept in the cache: generating one takes seconds."""

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
"""Seconds of generation from which on a split is kept."""
ROOMS = ("core", "languages", "worlds", "tasks")
"""Folders of the code that data depends on."""
PART = 4 + len(fields(Worlds))
"""Columns of a part."""


def cached(task: str, data: DatasetOptions, make: Callable[[], Split]) -> Split:
    """Return a generated split from the cache, or generate it and keep it.

    Args:
        task: The task's name.
        data: The choices that the split depends on; no files.
        make: Generates the split.
    """
    name, key = task.replace("/", "-"), {"task": task, "data": dict(data.choices), **_versions()}
    found = disk.read(name, key)
    if found is not None:
        return _split(*found)
    began = time.monotonic()
    split = make()
    if time.monotonic() - began >= SLOW:
        disk.write(name, key, _facts(split), _columns(split))
    return split


@cache
def _versions() -> dict[str, str]:
    """Return what data depends on beside its choices: the code, and NumPy's draws."""
    code = hashlib.blake2b(digest_size=16)
    root = Path(__file__).parent.parent
    for path in sorted(path for room in ROOMS for path in root.joinpath(room).rglob("*.py")):
        code.update(f"{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes())
    versions = {"daxy": __version__, "numpy": np.__version__}
    return {**versions, "code": code.hexdigest()}


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
        own = columns[PART * first : PART * (first + 1)]
        sides = Sequences(tuple(source), *own[:2]), Sequences(tuple(target), *own[2:4])
        parts.append(Examples(*sides, worlds=Worlds(*own[4:])))
    train, validation, test = parts
    split = Split(train, validation, test, Provenance(**about))
    # The checksum of the entry holds: these are the bytes of the split that was described.
    split.__dict__["is_as_described"] = True
    return split
