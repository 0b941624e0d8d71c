"""JSON lines: one object an example, tokens separated by single spaces.

{"split": "test", "key": "5f9c9d86f47b1dfb", "source": "jump left", "target": "I_TURN_LEFT I_JUMP"}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from daxy.core.errors import WrongFile
from daxy.core.examples import Examples, Tokens
from daxy.core.files import read_bytes

FIELDS = ("split", "source", "target")


def write(parts: Mapping[str, Examples]) -> str:
    """Return the text of a file with the parts one after another."""
    return "".join(_lines(parts))


def read(path: Path) -> dict[str, Examples]:
    """Return the parts of a file by name, in its order.

    Raises:
        WrongFile: the file cannot be read, or a line of it is wrong.
    """
    parts: dict[str, list[tuple[Tokens, Tokens]]] = {}
    for number, record in objects(path):
        for field in FIELDS:
            if not isinstance(record.get(field), str):
                raise WrongFile(path, f"expected {field!r} with a string", line=number)
        pair = tuple(record["source"].split()), tuple(record["target"].split())
        parts.setdefault(record["split"], []).append(pair)
    return {name: Examples.of(pairs) for name, pairs in parts.items()}


def objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of any file of JSON lines with their line numbers, from 1.

    Raises:
        WrongFile: the file cannot be read, or a line is blank, not UTF-8, or no JSON object.
    """
    data = read_bytes(path)
    if not data:
        raise WrongFile(path, "the file is empty; expected one JSON object a line")
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), start=1):
        yield number, _object(line, path, number)


def _object(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line.decode())
        if b"\\u" in line:
            json.dumps(value, ensure_ascii=False).encode()  # refuses half of a surrogate pair
    except UnicodeDecodeError as error:
        raise WrongFile(path, f"not UTF-8 at column {error.start + 1}", line=number) from None
    except UnicodeEncodeError:
        raise WrongFile(path, "half of a surrogate pair is no text", line=number) from None
    except (ValueError, RecursionError) as error:
        problem = _complaint(line, error)
        raise WrongFile(path, f"{problem}; expected one JSON object a line", line=number) from None
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise WrongFile(path, f"a {kind}; expected one JSON object a line", line=number)
    return value


def _complaint(line: bytes, error: Exception) -> str:
    if not line.strip():
        return "blank line"
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON: {error.msg} at column {error.colno}"
    return f"no JSON: {error}"


def _lines(parts: Mapping[str, Examples]) -> Iterator[str]:
    for name, examples in parts.items():
        columns = zip(examples.keys, examples.source, examples.target, strict=True)
        for key, source, target in columns:
            pair = {"source": " ".join(source), "target": " ".join(target)}
            yield json.dumps({"split": name, "key": key, **pair}, ensure_ascii=False) + "\n"
