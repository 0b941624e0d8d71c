"""JSON lines: one object an example, tokens separated by single spaces.

{"split": "test", "key": "5f9c9d86f47b1dfb", "source": "jump left", "target": "I_TURN_LEFT I_JUMP"}

Where tokens have spaces in them, as `turn left` of gSCAN has, both are lists of tokens. An example
with a world has it as `world`; see `daxy.formats.world_json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import Any, final

from daxy.core import files, json_objects
from daxy.core.errors import WrongFile, WrongRequest
from daxy.core.examples import Examples, Sequences, Tokens
from daxy.core.files import write_atomically
from daxy.core.kinds import HEAD, check_kind
from daxy.core.split import Provenance
from daxy.formats import world_json
from daxy.formats._format import Parts, TextFormat
from daxy.worlds.columns import Worlds
from daxy.worlds.world import World

SIDES = ("source", "target")
EXPECTED = "one JSON object a line"


@dataclass
class _Part:
    """Examples of one part while a file is read."""

    pairs: list[tuple[Tokens, Tokens]] = field(default_factory=list[tuple[Tokens, Tokens]])
    worlds: list[World] = field(default_factory=list[World])

    @property
    def examples(self) -> Examples:
        plain = Examples.of(self.pairs)
        return replace(plain, worlds=Worlds.of(self.worlds)) if self.worlds else plain


def _tokens(value: Any, side: str, path: Path, number: int) -> Tokens:
    if isinstance(value, str):
        return tuple(value.split())
    if isinstance(value, list) and all(isinstance(token, str) for token in value):
        return tuple(value)
    raise WrongFile(path, f"expected {side!r} with a string or a list of strings", line=number)


def _world(value: Any, path: Path, number: int) -> World:
    try:
        return world_json.from_json(value)
    except WrongRequest as error:
        raise WrongFile(path, str(error), line=number) from error


def objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines with their line numbers, from 1.

    Raises:
        WrongFile: the file cannot be read, or a line is blank, not UTF-8 or no JSON object.
    """
    return _objects(files.lines(path, EXPECTED), path)


def objects_in(data: bytes, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects in the bytes of a file of JSON lines; see `objects`."""
    return _objects(data.removesuffix(b"\n").split(b"\n") if data else [], path)


def _objects(lines: Iterable[bytes], path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    number = 0
    for number, line in enumerate(lines, start=1):
        try:
            record = _object(line, path, number)
        except WrongFile:
            if number == 1:
                check_kind(line[:HEAD], path, EXPECTED, reads=("empty", "json", "json-lines"))
            raise
        yield number, record
    if number == 0:
        raise WrongFile(path, f"the file is empty; expected {EXPECTED}")


def _object(line: bytes, path: Path, number: int) -> dict[str, Any]:
    files.check_length(line, path, number)
    try:
        value = json_objects.decode(line, constants=True)  # in fields that daxy does not read
    except json_objects.NotJSON as error:
        problem = "blank line" if not line.strip() else str(error)
        raise WrongFile(path, f"{problem}; expected one JSON object a line", line=number) from None
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise WrongFile(path, f"a {kind}; expected one JSON object a line", line=number)
    return value


def lines(parts: Mapping[str, Examples]) -> Iterator[str]:
    """Yield the lines of a file with the parts one after another."""
    for name, examples in parts.items():
        worlds = examples.worlds
        columns = (examples.source, examples.target)
        sides = [as_json(side, listed=worlds is not None) for side in columns]
        worlds = repeat(None) if worlds is None else worlds
        for key, source, target, world in zip(examples.keys, *sides, worlds, strict=False):
            line = {"split": name, "key": key, "source": source, "target": target}
            if world is not None:
                line["world"] = world_json.to_json(world)
            yield json.dumps(line, ensure_ascii=False) + "\n"


def as_json(sequences: Sequences, *, listed: bool = False) -> Iterator[str | list[str]]:
    """Yield sequences as texts, or as lists if `listed` or if a token is not one word."""
    if listed or any(symbol.split() != [symbol] for symbol in sequences.symbols):
        return map(list, sequences)
    return map(" ".join, sequences)


def save(path: Path, parts: Parts) -> None:
    """Write a file with the parts one after another, line by line.

    Raises:
        RunFailed: the file cannot be written.
    """

    def fill(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines(parts))

    write_atomically(path, fill)


@final
class JsonLines(TextFormat):
    """JSON lines; see the head of this file."""

    name = "jsonl"
    suffix = ".jsonl"
    has_parts = True
    has_worlds = True

    def text(self, parts: Parts) -> str:
        """Return the text of a file."""
        return "".join(lines(parts))

    def write(self, path: Path, parts: Parts, provenance: Provenance) -> None:
        """Write a file line by line."""
        del provenance
        save(path, parts)

    def parse(self, data: bytes, path: Path) -> Parts:
        """Return the parts in the bytes of a file, in its order."""
        parts: dict[str, _Part] = {}
        for number, record in objects_in(data, path):
            if not isinstance(record.get("split"), str):
                raise WrongFile(path, "expected 'split' with a string", line=number)
            for side in SIDES:
                if "world" in record and isinstance(record.get(side), str):
                    problem = f"expected {side!r} with a list of strings beside a world"
                    raise WrongFile(path, problem, line=number)
            source, target = (_tokens(record.get(side), side, path, number) for side in SIDES)
            part = parts.setdefault(record["split"], _Part())
            part.pairs.append((source, target))
            if "world" in record:
                part.worlds.append(_world(record["world"], path, number))
            if len(part.worlds) not in (0, len(part.pairs)):
                problem = "some examples of this part have a `world`, and some have none"
                raise WrongFile(path, problem, line=number)
        return {name: part.examples for name, part in parts.items()}


FORMAT = JsonLines()
read, write = FORMAT.read, FORMAT.text
