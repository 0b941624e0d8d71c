"""The official files of gSCAN: `dataset.txt`, one JSON object with every example of every split.

An example is redundant: it repeats the target, which is the first object; objects have vectors and
words; the command has a derivation. All of this has to agree. The order of the bits of vectors
differs between files, and is inferred.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, final

import msgspec
import numpy as np

from daxy.core.disagreement import Disagreement
from daxy.core.errors import UnknownName, WrongFile, in_one_line, quote
from daxy.core.examples import Examples, Sequences
from daxy.core.split import Provenance
from daxy.formats import _gscan_file, _gscan_writing
from daxy.formats._format import Format, Parts
from daxy.formats._gscan_file import FILE, TYPES, problem_of
from daxy.formats._gscan_situations import Situation, Situations, check_equal
from daxy.formats._gscan_words import WrongExample, command_words
from daxy.formats._gscan_writing import PARTS, ColorOrder
from daxy.languages import grounded
from daxy.languages.grounded import COLORS, SHAPES
from daxy.worlds.batch_demonstration import SYMBOLS
from daxy.worlds.columns import Worlds

LARGEST = 1 << 20
"""Maximum bytes of an example."""
MOST = 10_000
"""Maximum actions of an example."""
WORDS = {
    "nouns": SHAPES,
    "color_adjectives": COLORS,
    "size_adjectives": grounded.SIZE_WORDS,
    "adverbs": grounded.MANNERS,
    "intransitive_verbs": grounded.VERBS,
    "transitive_verbs": grounded.VERBS,
}
"""Words of the header, each of which means itself."""
QUOTES, QUOTES_OF_A_THING = 86, 30
"""Quotation marks of an example without its objects, and of an object."""


class _Example(msgspec.Struct, forbid_unknown_fields=True):
    command: str
    meaning: str
    derivation: str
    situation: Situation
    target_commands: str
    verb_in_command: str
    manner: str
    referred_target: str


EXAMPLE = msgspec.json.Decoder(_Example)


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
    """Content of an official file."""

    header: Mapping[str, Any]
    """All fields but the examples."""
    parts: Mapping[str, Examples]
    """Examples by official names of parts."""
    numbers: Mapping[str, np.ndarray[Any, np.dtype[np.int64]]]
    """Numbers of these examples in the file, by part."""
    counts: Mapping[str, int]
    """Number of examples of each part in the file."""
    disagreements: Sequence[Disagreement]
    """Inconsistent examples; only those with wrong vectors are in `parts`."""


def read(path: Path) -> Dataset:
    """Return the content of a file.

    Raises:
        WrongFile: the file is missing, cut off or no official file, or has a wrong example.
    """
    dataset = examine(path)
    if dataset.disagreements:
        first, more = dataset.disagreements[0], len(dataset.disagreements) - 1
        others = f" (and {more:,} other examples; `daxy verify` lists them)" if more else ""
        raise WrongFile(path, f"{first}{others}")
    return dataset


def examine(path: Path) -> Dataset:
    """Return the content of a file without inconsistent examples.

    Raises:
        WrongFile: the file is missing, cut off or no official file.
    """
    file = _gscan_file.read(path)
    _check_header(path, file.header)
    situations = Situations()
    tables, wrong = _tables(file.splits, situations)
    odd = (Disagreement(*each) for each in situations.vectors.oddities(file.header))
    order = list(file.splits)
    return Dataset(
        header=file.header,
        parts={split: table.examples for split, table in tables.items()},
        numbers={split: np.array(table.numbers) for split, table in tables.items()},
        counts=Counter({split: len(texts) for split, texts in file.splits.items()}),
        disagreements=sorted(
            {*wrong, *odd}, key=lambda each: (order.index(each.split), each.number)
        ),
    )


def _tables(
    splits: Mapping[str, Sequence[bytes]], situations: Situations
) -> tuple[dict[str, _Table], list[Disagreement]]:
    tables = {split: _Table() for split in splits}
    wrong: list[Disagreement] = []
    for split, texts in splits.items():
        for number, text in enumerate(texts):
            situations.vectors.place = split, number
            try:
                tables[split].add(number, bytes(text), situations)
            except WrongExample as problem:
                wrong.append(Disagreement(split, number, str(problem)))
    return tables, wrong


def _check_header(path: Path, header: Mapping[str, Any]) -> None:
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
            wrong = f"{name} are named {quote(', '.join(odd))}; expected {', '.join(words)}"
            sampled = ", as in files made without `--sample_vocabulary=sample`"
            raise WrongFile(path, f"in its header: {wrong}{sampled}")


def _decoded(text: bytes) -> _Example:
    if len(text) > LARGEST:
        raise WrongExample(f"has more than {LARGEST:,} bytes")
    try:
        example = EXAMPLE.decode(text)
    except (ValueError, RecursionError) as error:
        raise WrongExample(problem_of(text) or in_one_line(str(error))) from None
    quotes = QUOTES + QUOTES_OF_A_THING * len(example.situation.placed_objects)
    # msgspec accepts repeated keys, which have more quotes, and bytes in `Raw` that are not UTF-8.
    odd = text.count(b'"') != quotes or not text.isascii()
    if odd and (problem := problem_of(text)):
        raise WrongExample(problem)
    return example


@dataclass
class _Table:
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

    def add(self, number: int, text: bytes, situations: Situations) -> None:
        """Add a consistent example."""
        example = _decoded(text)
        words = command_words(example.command)
        check_equal("meaning", example.meaning, example.command)
        check_equal("derivation", example.derivation, words.derivation)
        check_equal("verb_in_command", example.verb_in_command, words.verb)
        check_equal("manner", example.manner, words.manner)
        check_equal("referred_target", example.referred_target, words.referred)
        target = self.targets.get(example.target_commands)
        if target is None:
            _check_actions(example.target_commands)
            target = self.targets[example.target_commands] = len(self.targets)
        agent, things = situations.read(example.situation)
        self.numbers.append(number)
        self.commands.append(words.number)
        self.actions.append(target)
        self.agents += agent
        self.things += b"".join([thing.data for thing in things])
        self.counts.append(len(things))

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


@final
@dataclass(frozen=True)
class GscanJson(Format):
    """The `dataset.txt` of gSCAN's authors."""

    vectors: ColorOrder = "generator"
    """Order of the bits of colors."""

    name = "gscan-json"
    suffix = ".txt"
    has_parts = True
    has_worlds = True
    owner = "gSCAN"

    def write(self, path: Path, parts: Parts, provenance: Provenance) -> None:
        """Write a split as the authors' generator does.

        Args:
            path: The file.
            parts: Parts of a split by daxy's names.
            provenance: Provenance of the split, for the header.

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
        """Return the parts of a file by their official names."""
        return read(path).parts


FORMAT = GscanJson()
