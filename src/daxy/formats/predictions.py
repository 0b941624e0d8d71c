"""Predictions: anybody's, as JSON lines or Parquet.

A row has `prediction` and says what it is a prediction for: by `key`, or by `source`; where it has
both, both have to be of the same example. Each of these is a string of tokens separated by spaces,
or a list of tokens; other fields are left alone. Where tokens have spaces in them, as gSCAN's have,
strings separate them by commas: "turn left,walk".

{"key": "5f9c9d86f47b1dfb", "prediction": "I_TURN_LEFT I_JUMP"}
{"source": "jump left", "prediction": ["I_TURN_LEFT", "I_JUMP"]}

Every distinct key (or source) must be there, once: in NACS several test examples can have the same
source, whose one prediction counts for all of them. Where a test repeats an example, its prediction
may be repeated as often, as in what daxy writes. A gSCAN command means something else in each
world, so there a row needs a key.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daxy.core.errors import WrongFile
from daxy.core.examples import Examples, Sequences, Tokens
from daxy.core.files import write_text
from daxy.core.tokens import odd, spaced, split
from daxy.formats import jsonl
from daxy.metrics import Scores
from daxy.worlds.examples import GroundedExamples

FEW = 3
"""How many offenders an error names."""


@dataclass(frozen=True, slots=True)
class Given:
    """One row of a file of predictions."""

    line: int
    """Line of a text file or row of a table, from 1."""
    of: str | Tokens
    """The key, or the tokens of the source."""
    prediction: Tokens
    source: Tokens | None = None
    """What a row with a key says of the source, if it does."""


def read(
    path: Path, examples: Examples, *, source_spelling: Callable[[str], str] = str
) -> Sequences:
    """Return the predictions of a file in the order of the examples.

    Args:
        path: The file.
        examples: What the predictions are for.
        source_spelling: Gives a token of a row's source as the examples spell it.

    Raises:
        WrongFile: the file cannot be read, a row of it is wrong, or rows are missing, for no
            example, or given again; see `align`.
    """
    rows = list(_rows(path, source_spelling, spaced(examples.source, examples.target)))
    by_source = bool(rows) and not isinstance(rows[0].of, str)
    if by_source and isinstance(examples, GroundedExamples):
        raise WrongFile(path, "no `key`; a command alone does not say in which world", line=1)
    wanted: Sequence[str | Tokens] = list(examples.source) if by_source else examples.keys
    predictions = align(path, rows, wanted)
    _check_sources(path, rows, examples)
    return predictions


def align(path: Path, rows: Sequence[Given], wanted: Sequence[str | Tokens]) -> Sequences:
    """Return one prediction for each of the wanted keys or sources.

    Raises:
        WrongFile: some are missing, not wanted, given more often than they are wanted, or twice and
            not alike.
    """
    given: dict[Hashable, Given] = {}
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
    if missing := [of for of in dict.fromkeys(wanted) if of not in given]:
        few = ", ".join(map(_named, missing[:FEW]))
        raise WrongFile(path, f"{len(missing)} of {len(known)} predictions are missing: {few}")
    return Sequences.of(given[of].prediction for of in wanted)


def write(
    path: Path, examples: Examples, predictions: Sequences, scores: Mapping[str, Scores]
) -> None:
    """Write each example with its prediction and scores, as Parquet or by the name `.jsonl`.

    Raises:
        RunFailed: the file cannot be written.
    """
    if path.suffix.lower() == ".jsonl":
        write_text(path, "".join(_lines(examples, predictions, scores)))
        return
    import pyarrow as pa

    from daxy.formats import parquet

    columns = {
        "key": pa.array(examples.keys, pa.string()),
        "source": parquet.tokens(examples.source),
        "target": parquet.tokens(examples.target),
        "prediction": parquet.tokens(predictions),
    }
    values = {name: pa.array(value) for name, value in scores.items()}
    parquet.save(path, pa.table(columns | values))


def _rows(
    path: Path, source_spelling: Callable[[str], str], spaced: frozenset[str]
) -> Iterator[Given]:
    records = _table(path) if path.suffix.lower() == ".parquet" else jsonl.objects(path)
    by_key: bool | None = None
    for line, record in records:
        by_key = "key" in record if by_key is None else by_key
        if "key" in record and not by_key:
            raise WrongFile(path, "has a `key`, and line 1 has none", line=line)
        prediction = _tokens(path, line, record, "prediction", spaced)
        source: Tokens = ()
        if says_source := not by_key or record.get("source") is not None:
            source = tuple(map(source_spelling, _tokens(path, line, record, "source", spaced)))
        of = " ".join(_tokens(path, line, record, "key", frozenset())) if by_key else source
        yield Given(line, of, prediction, source if says_source else None)


def _check_sources(path: Path, rows: Sequence[Given], examples: Examples) -> None:
    """Refuse a row whose source is not that of the example with its key."""
    source_of = dict(zip(examples.keys, examples.source, strict=True))
    for row in rows:
        if isinstance(row.of, str) and row.source not in (None, source_of[row.of]):
            theirs = f"the source of {row.of!r} is {_named(source_of[row.of])}"
            raise WrongFile(path, f"{theirs}, not {_named(row.source)}", line=row.line)


def _table(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    from daxy.formats import parquet

    return enumerate(parquet.load(path, ("prediction",)).to_pylist(), start=1)


def _tokens(
    path: Path, line: int, record: Mapping[str, Any], field: str, spaced: frozenset[str]
) -> Tokens:
    value = record.get(field)
    if isinstance(value, str):
        value = list(split(value, spaced))
    if isinstance(value, list) and all(isinstance(token, str) for token in value):
        if wrong := odd(value, spaced):
            commas = "; commas stand between tokens here" if spaced else ""
            problem = f"{field!r} has {wrong[0]!r}, which is not one token{commas}"
            raise WrongFile(path, problem, line=line)
        return tuple(value)
    if field not in record:
        wanted = "`key` or `source`" if field == "source" else f"`{field}`"
        raise WrongFile(path, f"no {wanted} in {_named(record)}", line=line)
    problem = f"{field!r} is {_named(value)}; expected a string or a list of strings"
    raise WrongFile(path, problem, line=line)


def _lines(
    examples: Examples, predictions: Sequences, scores: Mapping[str, Scores]
) -> Iterator[str]:
    values = zip(*(value.tolist() for value in scores.values()), strict=True)
    sides = map(jsonl.as_json, (examples.source, examples.target, predictions))
    for key, source, target, prediction, value in zip(examples.keys, *sides, values, strict=True):
        texts = {"source": source, "target": target, "prediction": prediction}
        record = {"key": key, **texts, **dict(zip(scores, value, strict=True))}
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _named(value: object) -> str:
    text = " ".join(map(str, value)) if isinstance(value, tuple) else value
    shown = repr(text)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."
