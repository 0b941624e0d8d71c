"""Files in and out: one format a file. A registry.

To add one, write a file that exposes `FORMAT`, a `Format`. `daxy export` writes it, and
`daxy verify` and `daxy score --order` read it. The format of `scan_text.py` is called scan-text.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from daxy.core.errors import UnknownName
from daxy.core.registry import Registry, named_by
from daxy.formats._format import Format, Parts, TextFormat

if TYPE_CHECKING:
    from daxy.formats import foreign, pairs

__all__ = [
    "BY_SUFFIX",
    "FORMATS",
    "Format",
    "Parts",
    "TextFormat",
    "available",
    "foreign",
    "get",
    "of_suffix",
    "pairs",
]

FORMATS = Registry(
    __name__,
    "FORMAT",
    "format",
    Format,
    problem=lambda name, form: named_by("name")(name.replace("_", "-"), form),
    without=("columns", "foreign", "layout", "pairs", "predictions", "tatoeba", "world_json"),
)
BY_SUFFIX: Mapping[str, str] = {
    "": "scan-text",
    ".txt": "scan-text",
    ".tsv": "tsv",
    ".src": "parallel",
    ".trg": "parallel",
    ".jsonl": "jsonl",
    ".parquet": "parquet",
}
"""daxy's formats by suffix."""


def available() -> list[str]:
    """Return the names of all formats."""
    return [name.replace("_", "-") for name in FORMATS.available()]


def get(name: str) -> Format:
    """Return a format.

    Raises:
        UnknownName: there is no such format.
    """
    file = name if name in FORMATS else name.replace("-", "_")
    if file not in FORMATS:
        raise UnknownName("format", name, available())
    return FORMATS.get(file)


def of_suffix(suffix: str) -> str | None:
    """Return the format with a suffix, also of other packages; None without one."""
    if suffix in BY_SUFFIX:
        return BY_SUFFIX[suffix]
    others = (name for name in FORMATS.available() if name not in FORMATS.built_in)
    return next((name for name in others if FORMATS.get(name).suffix == suffix), None)


def __getattr__(name: str) -> Any:
    if name in ("foreign", "pairs"):  # load PyArrow, which takes 0.2 s
        return importlib.import_module(f"daxy.formats.{name}")
    raise AttributeError(f"module 'daxy.formats' has no attribute {name!r}")
