"""Predictions of any program, as JSON lines, a JSON array, Parquet or plain lines.

A row has `prediction` and identifies its example by `key`, by `source`, or, in worlds, by `source`
and `world`. A key and a source have to belong to the same example. Each is a string of tokens
separated by spaces, or a list of tokens; other fields are ignored. Where tokens have spaces, as in
gSCAN, strings separate them by commas: "turn left,walk". The output of the program of gSCAN's
authors is read, too: an array of objects with `input` for the source and `situation` for the world.

{"key": "5f9c9d86f47b1dfb", "prediction": "I_TURN_LEFT I_JUMP"}
{"source": "jump left", "prediction": ["I_TURN_LEFT", "I_JUMP"]}

Every distinct key (or source) must occur exactly once. In NACS several test examples can have the
same source, whose prediction counts for all of them. The prediction of a repeated example may be
repeated as often, as in files of daxy.

Plain lines and arrays of strings have only predictions, in the order of another file of the same
examples, which has to be given.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daxy.core.conversions import tokens
from daxy.core.errors import WrongFile, WrongRequest, quote
from daxy.core.examples import Examples, Sequences, Tokens
from daxy.core.files import decoded, read_bytes, write_text
from daxy.core.json_objects import NotJSON, decode
from daxy.core.kinds import HEAD, check_kind
from daxy.core.sequences import Predictions
from daxy.core.tokens import odd, spaced, split
from daxy.formats import jsonl, pairs, world_json
from daxy.metrics import Scores
from daxy.worlds.columns import Worlds

COMMAS = "commas stand between tokens here; --normalize (in Python normalize=True) reads spaces too"
PREDICTIONS = "JSON lines with `prediction` and `key` (or `source`), a JSON array, or Parquet"
READ = ("json", "json-array", "json-lines")
"""Kinds of files with predictions; see `daxy.core.kinds`."""
LIKELIHOOD = "log_likelihood"
"""The column of `Predictions.log_likelihood`."""
FEW = 3
"""Number of rows that an error names."""
SOURCES = ("source", "input")
WORLDS = ("world", "situation")
"""Names of fields: of daxy, and of the program of gSCAN's authors."""
Grounded = tuple[Tokens, bytes]
"""A source and the content of its world."""


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """One row of a file of predictions."""

    line: int
    """Line of a text file, or row of a table or an array, from 1."""
    of: str | Tokens | Grounded
    """The key, or the source with its world, if any."""
    prediction: Tokens
    source: Tokens | None = None
    """The source of a row with a key, if it has one."""


@dataclass(frozen=True, eq=False)
class AlignedPredictions:
    """Predictions for some examples."""

    predictions: Sequences
    rows: NDArray[np.int64]
    """Row of the example of each, ascending."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options for reading a file of predictions."""

    source_spelling: Callable[[str], str] = str
    """Returns a source token in the spelling of the examples."""
    order: Path | None = None
    """File of the examples, whose order plain lines follow."""
    partial: bool = False
    """Whether predictions may be missing."""
    any_tokens: bool = False
    """Whether tokens may have spaces, for later normalisation."""


def read(path: Path, examples: Examples, how: ReadOptions | None = None) -> AlignedPredictions:
    """Return the predictions of a file in the order of the examples.

    Args:
        path: The file.
        examples: The examples of the predictions.
        how: Options.

    Raises:
        WrongFile: the file cannot be read, or rows are wrong, missing, unknown or repeated; see
            `align`.
    """
    how = how or ReadOptions()
    rows = list(_File(path, examples, how).rows())
    first = rows[0].of if rows else ""
    wanted: Sequence[str | Tokens | Grounded]
    if isinstance(first, str):
        wanted = examples.keys
    elif _has_world(first):
        wanted = list(_grounded(examples))
    else:
        wanted = list(examples.source)
    aligned = align(path, rows, wanted, partial=how.partial)
    _check_sources(path, rows, examples)
    return aligned


def align(
    path: Path,
    rows: Sequence[PredictionRow],
    wanted: Sequence[str | Tokens | Grounded],
    *,
    partial: bool = False,
) -> AlignedPredictions:
    """Return one prediction for each of the wanted keys or sources, or with `partial` for some.

    Raises:
        WrongFile: rows are missing, unknown, repeated too often or contradictory.
    """
    given: dict[Hashable, PredictionRow] = {}
    known, left = Counter(wanted), Counter(wanted)
    for row in rows:
        left[row.of] -= 1
        if row.of in given:
            before = given[row.of]
            if left[row.of] >= 0 and row.prediction == before.prediction:
                continue
            problem = f"{_named(row.of)} was already given on line {before.line}"
            if known[row.of] > 1:
                shared = "key" if isinstance(row.of, str) else "source"
                problem += f"; one row is for all examples with this {shared}"
                problem += "" if isinstance(row.of, str) else ", or each names a `key`"
            raise WrongFile(path, problem, line=row.line)
        given[row.of] = row
    if unknown := [row for row in rows if row.of not in known]:
        few = ", ".join(f"{_named(row.of)} (line {row.line})" for row in unknown[:FEW])
        problem = f"{len(unknown)} of {len(rows)} rows are for no test example: {few}"
        raise WrongFile(path, f"{problem}; are these predictions for other choices of the data?")
    missing = [of for of in dict.fromkeys(wanted) if of not in given]
    if missing and not partial:
        few = ", ".join(map(_named, missing[:FEW]))
        problem = f"{len(missing)} of {len(known)} predictions are missing: {few}"
        raise WrongFile(path, f"{problem}; --partial scores those that are there")
    if not given:
        raise WrongFile(path, "has no predictions")
    at = [row for row, of in enumerate(wanted) if of in given]
    return AlignedPredictions(
        Sequences.of(given[wanted[row]].prediction for row in at), np.array(at)
    )


def in_order(path: Path, count: int, examples: Examples) -> tuple[str, ...]:
    """Return the keys of examples in the order of a file.

    Args:
        path: A file of these examples, in any format that daxy writes.
        count: Number of predictions.
        examples: The examples of the predictions.

    Raises:
        WrongFile: no part of the file has this number of these examples.
    """
    known = set(examples.keys)
    parts = list(pairs.read(path).parts.values())
    if examples.worlds is None:
        parts += [part.swapped() for part in parts]  # NACS has the lines of SCAN the other way
    for part in parts:
        if len(part) == count and known.issuperset(part.keys):
            return part.keys
    expected = f"expected the {count:,} examples of the predictions"
    if alike := [part for part in parts if len(part) == count]:
        others = min(sum(key not in known for key in part.keys) for part in alike)
        problem = f"{others:,} of its examples are not in the test set"
        raise WrongFile(path, f"{problem}; {expected} (of official files with --official)")
    sizes = ", ".join(f"{len(part):,}" for part in pairs.read(path).parts.values())
    raise WrongFile(path, f"{expected}; it has {sizes}")


def write(
    path: Path, examples: Examples, predictions: Sequences, scores: Mapping[str, Scores]
) -> None:
    """Write each example with its prediction, its log-likelihood if known, and its scores.

    The file is Parquet, or JSON lines where its name ends in `.jsonl`.

    Raises:
        RunFailed: the file cannot be written.
    """
    likelihoods = Predictions.of_sequences(predictions).log_likelihood
    known = {} if likelihoods is None else {LIKELIHOOD: likelihoods}
    numbers: dict[str, NDArray[Any]] = {**known, **scores}
    if path.suffix.lower() == ".jsonl":
        write_text(path, "".join(_lines(examples, predictions, numbers)))
        return
    import pyarrow as pa

    from daxy.formats import parquet

    columns = {
        "key": pa.array(examples.keys, pa.string()),
        "source": tokens(examples.source),
        "target": tokens(examples.target),
        "prediction": tokens(predictions),
    }
    values = {name: pa.array(value) for name, value in numbers.items()}
    parquet.save(path, pa.table(columns | values))


def stored(path: Path) -> Predictions:
    """Return the predictions of a Parquet file that `write` wrote.

    Raises:
        WrongFile: the file is missing or damaged.
    """
    from daxy.formats import parquet

    has_likelihoods = LIKELIHOOD in parquet.columns(path)
    wanted = ("prediction", *[LIKELIHOOD] * has_likelihoods)
    table = parquet.load(path, wanted, alone=True)
    sequences = parquet.sequences(path, table, "prediction")
    likelihoods = parquet.numbers(path, table, LIKELIHOOD) if has_likelihoods else None
    return replace(Predictions.of_sequences(sequences), log_likelihood=likelihoods)


@dataclass(frozen=True, eq=False)
class _File:
    path: Path
    examples: Examples
    how: ReadOptions

    def rows(self) -> Iterator[PredictionRow]:
        """Yield the rows of the file."""
        named = self.path.suffix.lower() == ".parquet"
        data = b"PAR1" if named else read_bytes(self.path)
        if data.startswith(b"PAR1"):
            from daxy.formats import parquet

            table = parquet.load(self.path, ("prediction",))
            yield from self._records(enumerate(table.to_pylist(), start=1))
            return
        check_kind(data[:HEAD], self.path, PREDICTIONS, reads=READ)
        begin = data[:256].lstrip()
        if begin.startswith(b"["):
            yield from self._array(data)
        elif not begin or begin.startswith((b"{", b"PAR1")):
            yield from self._records(jsonl.objects_in(data, self.path))
        else:
            lines = data.removesuffix(b"\n").split(b"\n")
            texts = [
                decoded(line.removesuffix(b"\r"), self.path, number)
                for number, line in enumerate(lines, start=1)
            ]
            yield from self._plain(texts, "plain lines")

    def _array(self, data: bytes) -> Iterator[PredictionRow]:
        try:
            values = decode(data, constants=True)  # in fields that daxy does not read
        except NotJSON as error:
            raise WrongFile(self.path, str(error), line=error.line) from None
        if all(isinstance(value, dict) for value in values):
            yield from self._records(enumerate(values, start=1))
        elif any(isinstance(value, dict) for value in values):
            raise WrongFile(self.path, "an array of objects and of others; expected one of them")
        else:
            yield from self._plain(values, "an array of predictions alone")

    def _plain(self, values: Sequence[Any], form: str) -> Iterator[PredictionRow]:
        if self.how.order is None:
            need = "expected the file in whose order they are (--order FILE), or JSON lines with"
            raise WrongFile(self.path, f"{form}; {need} a `key` each")
        keys = in_order(self.how.order, len(values), self.examples)
        for line, (key, value) in enumerate(zip(keys, values, strict=True), start=1):
            yield PredictionRow(line, key, self._tokens(line, {"prediction": value}, "prediction"))

    def _records(self, records: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[PredictionRow]:
        """Yield the rows of objects, which all identify their examples in the same way."""
        by_key: bool | None = None
        for line, record in records:
            by_key = "key" in record if by_key is None else by_key
            if "key" in record and not by_key:
                raise WrongFile(self.path, "has a `key`, and line 1 has none", line=line)
            prediction = self._tokens(line, record, "prediction")
            name = next((name for name in SOURCES if record.get(name) is not None), "source")
            source: Tokens | None = None
            if not by_key or name in record:
                words = self._tokens(line, record, name, exact=True)
                source = tuple(map(self.how.source_spelling, words))
            yield PredictionRow(line, self._of(line, record, source, by_key), prediction, source)

    def _of(
        self, line: int, record: Mapping[str, Any], source: Tokens | None, by_key: bool
    ) -> str | Tokens | Grounded:
        if by_key:
            return " ".join(self._tokens(line, record, "key", exact=True))
        assert source is not None
        if self.examples.worlds is None:
            return source
        world = next((record[name] for name in WORLDS if name in record), None)
        if world is None:
            problem = "no `key`; a command alone does not say in which world"
            raise WrongFile(self.path, problem, line=line)
        single = world[0] if isinstance(world, list) and len(world) == 1 else world
        try:
            (content,) = Worlds.of([world_json.from_json(single)]).contents
        except WrongRequest as error:
            raise WrongFile(self.path, str(error), line=line) from error
        return source, content

    def _tokens(
        self, line: int, record: Mapping[str, Any], field: str, *, exact: bool = False
    ) -> Tokens:
        """Return the tokens of a field; `exact` for fields other than the prediction."""
        known = frozenset[str]() if field == "key" else self._spaced
        value = record.get(field)
        if isinstance(value, str):
            value = list(split(value, known))
        if isinstance(value, list) and all(isinstance(token, str) for token in value):
            wrong = odd(value, known)
            if wrong and (exact or not self.how.any_tokens):
                commas = f"; {COMMAS}" if known else ""
                problem = f"{field!r} has {_named(wrong[0])}, which is not one token{commas}"
                raise WrongFile(self.path, problem, line=line)
            return tuple(value)
        if field not in record:
            wanted = "`key` or `source`" if field == "source" else f"`{field}`"
            raise WrongFile(self.path, f"no {wanted} in {_named(record)}", line=line)
        problem = f"{field!r} is {_named(value)}; expected a string or a list of strings"
        raise WrongFile(self.path, problem, line=line)

    @cached_property
    def _spaced(self) -> frozenset[str]:
        return spaced(self.examples.source, self.examples.target)


def _has_world(of: Tokens | Grounded) -> bool:
    return any(isinstance(each, bytes) for each in of)


def _grounded(examples: Examples) -> Iterator[Grounded]:
    assert examples.worlds is not None
    return zip(examples.source, examples.worlds.contents, strict=True)


def _check_sources(path: Path, rows: Sequence[PredictionRow], examples: Examples) -> None:
    source_of = dict(zip(examples.keys, examples.source, strict=True))
    for row in rows:
        if isinstance(row.of, str) and row.source not in (None, source_of[row.of]):
            theirs = f"the source of {quote(row.of)} is {_named(source_of[row.of])}"
            raise WrongFile(path, f"{theirs}, not {_named(row.source)}", line=row.line)


def _lines(
    examples: Examples, predictions: Sequences, scores: Mapping[str, NDArray[Any]]
) -> Iterator[str]:
    values = zip(*(value.tolist() for value in scores.values()), strict=True)
    columns = (examples.source, examples.target, predictions)
    sides = [jsonl.as_json(side, listed=bool(spaced(*columns))) for side in columns]
    for key, source, target, prediction, value in zip(examples.keys, *sides, values, strict=True):
        texts = {"source": source, "target": target, "prediction": prediction}
        record = {"key": key, **texts, **dict(zip(scores, value, strict=True))}
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _named(value: object) -> str:
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], bytes):
        return f"{_named(value[0])} in its world"
    text = " ".join(map(str, value)) if isinstance(value, tuple) else value
    return quote(text, most=80)
