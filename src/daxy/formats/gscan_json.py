"""The official files of gSCAN: `dataset.txt`, one JSON object with every example of every split.

An example says most things more than once: the target stands beside the objects, of which it is the
first, every object has a vector beside its words, the command has a derivation. All of it has to
agree. Things are known by their words; in which order the bits of a vector stand for them differs
between files, and is found out.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, final

import msgspec
import numpy as np

from daxy.core.disagreement import Disagreement
from daxy.core.errors import UnknownName, WrongFile, in_one_line, quote
from daxy.core.examples import Examples, Sequences
from daxy.core.json_objects import NotJSON, decode
from daxy.core.split import Provenance
from daxy.formats import _gscan_writing
from daxy.formats._format import Format, Parts
from daxy.formats._gscan_vectors import Code, Vectors
from daxy.formats._gscan_words import WrongExample, direction, said
from daxy.formats._gscan_writing import PARTS, ColorOrder
from daxy.formats._json_stream import FILE, TYPES, Found, Stream
from daxy.languages import grounded
from daxy.languages.grounded import COLORS, SHAPES, SIZES
from daxy.worlds.columns import Worlds
from daxy.worlds.demonstrated import SYMBOLS

MOST = 10_000
"""Actions that an example has at most."""
WORDS = {
    "nouns": SHAPES,
    "color_adjectives": COLORS,
    "size_adjectives": grounded.SIZE_WORDS,
    "adverbs": grounded.MANNERS,
    "intransitive_verbs": grounded.VERBS,
    "transitive_verbs": grounded.VERBS,
}
"""The words of the header, each of which means itself."""
NUMBERS = {str(number): number for number in range(256)}
"""Numbers are written as strings."""
QUOTES, QUOTES_OF_A_THING = 86, 30
"""How many quotation marks an example has beside those of its objects, and each of these has."""


class _Position(msgspec.Struct, forbid_unknown_fields=True):
    row: str
    column: str


class _Words(msgspec.Struct, forbid_unknown_fields=True):
    shape: str
    color: str
    size: str


class _Object(msgspec.Struct, forbid_unknown_fields=True):
    vector: str
    position: _Position
    object: _Words


class _Situation(msgspec.Struct, forbid_unknown_fields=True):
    grid_size: int
    agent_position: _Position
    agent_direction: int
    target_object: _Object
    distance_to_target: str
    direction_to_target: str
    placed_objects: dict[str, _Object]
    carrying_object: None


class _Example(msgspec.Struct, forbid_unknown_fields=True):
    command: str
    meaning: str
    derivation: str
    situation: _Situation
    target_commands: str
    verb_in_command: str
    manner: str
    referred_target: str


class _Header(msgspec.Struct):
    grid_size: Annotated[int, msgspec.Meta(ge=1, le=255)]
    type_grammar: str = "adverb"
    percentage_train: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.9
    intransitive_verbs: dict[str, str] = {}
    transitive_verbs: dict[str, str] = {}
    nouns: dict[str, str] = {}
    adverbs: dict[str, str] = {}
    color_adjectives: dict[str, str] = {}
    size_adjectives: dict[str, str] = {}


@dataclass(frozen=True, eq=False)
class Dataset:
    """What an official file holds."""

    header: Mapping[str, Any]
    """Everything but the examples."""
    parts: Mapping[str, Examples]
    """By the official name; one may be empty."""
    numbers: Mapping[str, np.ndarray[Any, np.dtype[np.int64]]]
    """Of each part the numbers of these examples in the file."""
    counts: Mapping[str, int]
    """How many examples each part has in the file."""
    disagreements: Sequence[Disagreement]
    """What is wrong with examples in themselves; but for wrong vectors, they are left out."""


def read(path: Path) -> Dataset:
    """Return what a file holds.

    Raises:
        WrongFile: it is missing, cut off, or no official file, or an example of it is wrong.
    """
    found = examine(path)
    if found.disagreements:
        first, more = found.disagreements[0], len(found.disagreements) - 1
        others = f" (and {more:,} other examples; `daxy verify` lists them)" if more else ""
        raise WrongFile(path, f"{first}{others}")
    return found


def examine(path: Path) -> Dataset:
    """Return what a file holds, without the examples that are wrong in themselves.

    Raises:
        WrongFile: it is missing, cut off, or no official file.
    """
    stream = Stream(path)
    tables: dict[str, _Table] = {}
    counts = Counter[str]()
    wrong: list[Disagreement] = []
    decoder = msgspec.json.Decoder(_Example)
    vectors = Vectors()
    for found in stream:
        table = tables.setdefault(found.split, _Table())
        vectors.place = found.split, found.number
        counts[found.split] += 1
        try:
            table.add(found.number, _decoded(decoder, found), vectors)
        except WrongExample as problem:
            wrong.append(Disagreement(found.split, found.number, str(problem)))
    for name in stream.splits:
        tables.setdefault(name, _Table())
    _check_header(path, stream.header)
    odd = (Disagreement(*each) for each in vectors.oddities(stream.header))
    wrong = sorted({*wrong, *odd}, key=lambda each: (stream.splits.index(each.split), each.number))
    parts = {name: tables[name].examples for name in stream.splits}
    return Dataset(
        header=stream.header,
        parts=parts,
        numbers={name: np.array(tables[name].numbers) for name in parts},
        counts=counts,
        disagreements=wrong,
    )


def _check_header(path: Path, header: Mapping[str, Any]) -> None:
    """Refuse a file of another grammar, or in other words."""
    kind = header.get("type_grammar")
    if isinstance(kind, str) and kind not in TYPES:
        raise WrongFile(path, f"in its header: type_grammar is {quote(kind)}; expected {FILE}")
    try:
        known = msgspec.convert(header, _Header)
    except msgspec.ValidationError as error:
        raise WrongFile(
            path, f"in its header: {in_one_line(str(error))}; expected {FILE}"
        ) from None
    for name, words in WORDS.items():
        given: dict[str, str] = getattr(known, name)
        if odd := [word for word, meaning in given.items() if word != meaning or word not in words]:
            said = f"{name} are named {quote(', '.join(odd))}; expected {', '.join(words)}"
            sampled = ", as in files made without `--sample_vocabulary=sample`"
            raise WrongFile(path, f"in its header: {said}{sampled}")


def _decoded(decoder: msgspec.json.Decoder[_Example], found: Found) -> _Example:
    try:
        example = decoder.decode(found.text)
    except (ValueError, RecursionError) as error:
        _check_json(found.text)  # which says where it is wrong, if it is no JSON
        raise WrongExample(in_one_line(str(error))) from None
    quotes = QUOTES + QUOTES_OF_A_THING * len(example.situation.placed_objects)
    if found.text.count(b'"') != quotes:  # so that a key may be there twice
        _check_json(found.text)
    return example


def _check_json(text: bytes) -> None:
    try:
        decode(text)
    except NotJSON as error:
        of_line = f" of its line {error.line}" if error.line > 1 else ""
        raise WrongExample(f"{error}{of_line}") from None


@dataclass
class _Table:
    """The examples of one split as columns, one after another."""

    numbers: array[int] = field(default_factory=lambda: array("q"))
    commands: array[int] = field(default_factory=lambda: array("H"))
    actions: array[int] = field(default_factory=lambda: array("q"))
    """Places in `targets`."""
    targets: dict[str, int] = field(default_factory=dict[str, int])
    """The action sequences, as they are written."""
    agents: bytearray = field(default_factory=bytearray)
    """Four bytes an example: size, row, column, heading."""
    things: bytearray = field(default_factory=bytearray)
    """Five bytes a thing: shape, color, size, row, column."""
    counts: array[int] = field(default_factory=lambda: array("q"))

    def add(self, number: int, example: _Example, vectors: Vectors) -> None:
        """Add an example, unless it disagrees with itself."""
        words = said(example.command)
        _agree("meaning", example.meaning, example.command)
        _agree("derivation", example.derivation, words.derivation)
        _agree("verb_in_command", example.verb_in_command, words.verb)
        _agree("manner", example.manner, words.manner)
        _agree("referred_target", example.referred_target, words.referred)
        target = self.targets.get(example.target_commands)
        if target is None:
            _check_actions(example.target_commands)
            target = self.targets[example.target_commands] = len(self.targets)
        agent, things, count = _placed(example.situation, vectors)
        self.numbers.append(number)
        self.commands.append(words.place)
        self.actions.append(target)
        self.agents += agent
        self.things += things
        self.counts.append(count)

    @property
    def examples(self) -> Examples:
        """The examples."""
        commands = Sequences.of(map(grounded.say, grounded.commands())).take(
            np.array(self.commands)
        )
        actions = Sequences.of((_actions(each) for each in self.targets), SYMBOLS)
        agents = np.frombuffer(bytes(self.agents), np.uint8).reshape(-1, 4)
        things = np.frombuffer(bytes(self.things), np.uint8).reshape(-1, 5)
        worlds = Worlds(
            size=agents[:, 0],
            agent=agents[:, 1:3],
            heading=agents[:, 3],
            things=things[:, :3],
            cells=things[:, 3:],
            offsets=np.concatenate([[0], np.cumsum(self.counts, dtype=np.int64)]),
        )
        return Examples(commands, actions.take(np.array(self.actions)), worlds)


def _agree(name: str, given: str, expected: str) -> None:
    if given != expected:
        raise WrongExample(f"{name} is {quote(given)}; expected {quote(expected)}")


def _actions(written: str) -> tuple[str, ...]:
    return tuple(written.split(",")) if written else ()


def _check_actions(written: str) -> None:
    if written.count(",") > MOST:
        raise WrongExample(f"target_commands has more than {MOST:,} actions")
    for place, action in enumerate(_actions(written), 1):
        if action not in SYMBOLS:
            raise WrongExample(
                f"action {place} is {quote(action)}; expected one of {', '.join(SYMBOLS)}"
            )


def _placed(situation: _Situation, vectors: Vectors) -> tuple[bytes, bytes, int]:
    """Return the agent, the things, and how many they are."""
    size, heading = situation.grid_size, situation.agent_direction
    if not 0 < size < 256:
        raise WrongExample(f"grid_size is {size}; expected 1 to 255")
    if heading not in range(4):
        raise WrongExample(f"agent_direction is {heading}; expected 0 to 3")
    row, column = _cell(situation.agent_position, size, "the agent")
    objects = situation.placed_objects
    things, cells = bytearray(), set[tuple[int, int]]()
    for place, (number, thing) in enumerate(objects.items()):
        if number != str(place):
            raise WrongExample(
                f"placed_objects has {quote(number)} where {str(place)!r} is expected"
            )
        cell = _cell(thing.position, size, f"object {number}")
        if cell in cells:
            raise WrongExample(f"object {number} is on the cell {cell}, where another one is")
        cells.add(cell)
        code = _code(thing.object.shape, thing.object.color, thing.object.size)
        vectors.counts[code, thing.vector] += 1
        if (code, thing.vector) not in vectors.first:
            vectors.note(code, thing.vector)
        things += bytes((*code, *cell))
    target = objects.get("0")
    if target is None:
        raise WrongExample("placed_objects is empty: the target is missing")
    if situation.target_object != target:
        raise WrongExample("target_object is not object 0 of placed_objects")
    rows, columns = things[3] - row, things[4] - column
    if rows == columns == 0:
        raise WrongExample("the agent stands on the target")
    _agree("distance_to_target", situation.distance_to_target, str(abs(rows) + abs(columns)))
    _agree("direction_to_target", situation.direction_to_target, direction(rows, columns))
    return bytes((size, row, column, heading)), bytes(things), len(objects)


def _cell(position: _Position, size: int, of: str) -> tuple[int, int]:
    row, column = NUMBERS.get(position.row, 256), NUMBERS.get(position.column, 256)
    if row >= size or column >= size:
        said = f"row {quote(position.row, most=60)} and column {quote(position.column, most=60)}"
        raise WrongExample(f"{of} is at {said}, which is no cell of a grid of {size} by {size}")
    return row, column


@cache
def _code(shape: str, color: str, size: str) -> Code:
    for value, known, name in (
        (shape, SHAPES, "shape"),
        (color, COLORS, "color"),
        (size, tuple(map(str, SIZES)), "size"),
    ):
        if value not in known:
            raise WrongExample(f"no {name} {quote(value)}; expected one of {', '.join(known)}")
    return SHAPES.index(shape), COLORS.index(color), SIZES.index(int(size))


@final
@dataclass(frozen=True)
class GscanJson(Format):
    """The `dataset.txt` of gSCAN's authors."""

    vectors: ColorOrder = "generator"
    """In which order colors have their bits."""

    name = "gscan-json"
    suffix = ".txt"
    has_parts = True
    has_worlds = True
    owner = "gSCAN"

    def write(self, path: Path, parts: Parts, provenance: Provenance) -> None:
        """Write a split as the authors' generator writes one.

        Args:
            path: The file; it is complete or absent.
            parts: Parts of a split by daxy's names.
            provenance: That of the split, whose options the file says.

        Raises:
            UnknownName: gSCAN has no such part.
            RunFailed: the file cannot be written.
        """
        for name in parts:
            if name not in PARTS:
                raise UnknownName("part", name, PARTS)
        none = next(iter(parts.values()))[:0]
        named = {official: parts.get(name, none) for name, official in PARTS.items()}
        options: dict[str, Any] = dict(provenance.options)
        chosen = options["grid"], options["kind"], options["train_fraction"]
        header = _gscan_writing.header(*chosen, self.vectors)
        _gscan_writing.write(path, named, header, self.vectors)

    def read(self, path: Path) -> Parts:
        """Return the parts of a file by their official names; see `read`."""
        return read(path).parts


FORMAT = GscanJson()
