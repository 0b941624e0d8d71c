"""Write a task's data as Parquet, JSON lines or SCAN's official text."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from daxy.cli._data import Data, DataOptions, TaskName
from daxy.cli._verb import Result, Switch, Verb
from daxy.core.errors import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from daxy.core.examples import Examples
    from daxy.core.split import Split

Format = Literal["scan-text", "jsonl", "parquet"]
FORMAT_OF_SUFFIX: dict[str, Format] = {
    "": "scan-text",
    ".txt": "scan-text",
    ".jsonl": "jsonl",
    ".parquet": "parquet",
}


@dataclass(frozen=True, kw_only=True)
class Export(Verb):
    """Write a task's data to a file, or to stdout when it is text.

    Example:
        daxy export scan/addprim_jump --split all --out addprim_jump.parquet
    """

    task: TaskName
    """The task; `daxy tasks` lists them."""
    split: Literal["train", "validation", "test", "all"] = "train"
    """Which part."""
    format: Literal["auto", "scan-text", "jsonl", "parquet"] = "auto"
    """How to write it; `auto`: as the name of --out ends, else scan-text."""
    out: Path | None = None
    """The file to write; stdout unless given."""
    force: Switch = False
    """Replace the file if it exists."""
    data: Data = field(default_factory=DataOptions)

    def run(self) -> Result:
        """Write the file, or return its text."""
        form = self._check()
        split = self.data.load(self.task)
        parts = split.parts if self.split == "all" else {self.split: split.parts[self.split]}
        for name, examples in parts.items():
            empty = f"{self.task} has no {name} examples with --validation {self.data.validation}"
            require(len(examples) > 0 or self.split == "all", empty)
        if self.out is None:
            return Result(data={}, text=_text(parts, form))
        if form == "parquet":
            from daxy.formats import parquet

            parquet.write(self.out, parts, split.provenance)
        else:
            from daxy.core.files import write_text

            write_text(self.out, _text(parts, form))
        lines = {name: len(examples) for name, examples in parts.items()}
        said = ", ".join(f"{count:,} {name}" for name, count in lines.items())
        data = {"out": str(self.out), "lines": lines, "provenance": asdict(split.provenance)}
        return Result(data=data, text=f"{self.out}: {said} examples{_origin(split)}")

    def _check(self) -> Format:
        """Return the format, after refusing what cannot be written."""
        form = self._named() if self.format == "auto" else self.format
        require(self.out is not None or form != "parquet", "parquet needs --out FILE")
        require(self.out is not None or not self.json, "--json needs --out FILE")
        together = "scan-text cannot say which part a line is of; expected --split of one part"
        require(not (form == "scan-text" and self.split == "all"), together)
        if self.out is not None:
            require(not self.out.is_dir(), f"{self.out} is a folder; expected a file to write")
            exists = f"{self.out} exists; --force replaces it"
            require(self.force or not self.out.exists(), exists)
        return form

    def _named(self) -> Format:
        """Return the format that the name of --out asks for."""
        suffix = self.out.suffix.lower() if self.out else ""
        known = ", ".join(filter(None, FORMAT_OF_SUFFIX))
        said = f"{self.out}: no format has this name; expected {known}, or --format"
        require(suffix in FORMAT_OF_SUFFIX, said)
        return FORMAT_OF_SUFFIX[suffix]


def _origin(split: Split) -> str:
    """Return where the data came from, unless it was generated."""
    source = split.provenance.source
    return "" if source == "generated" else f" ({source})"


def _text(parts: Mapping[str, Examples], form: Format) -> str:
    if form == "jsonl":
        from daxy.formats import jsonl

        return jsonl.write(parts)
    from daxy.formats import scan_text

    return "".join(map(scan_text.write, parts.values()))


VERB = Export
