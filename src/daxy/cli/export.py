"""Write a task's data as Parquet, JSON lines, or in the format of its authors."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from daxy.cli._data import OfTask, TaskName, with_data
from daxy.cli._out import check_free
from daxy.cli._verb import Result, Switch
from daxy.core.errors import UnknownName, WrongRequest, require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from daxy.core.examples import Examples
    from daxy.core.split import Split
    from daxy.tasks.gscan import GscanTask

Format = Literal["scan-text", "joint-text", "tsv", "jsonl", "parquet", "gscan-json"]
TEXTS = ("scan-text", "joint-text", "tsv")
FORMAT_OF_SUFFIX: dict[str, Format] = {
    "": "scan-text",
    ".txt": "scan-text",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".parquet": "parquet",
}


@dataclass(frozen=True, kw_only=True)
class Export(OfTask):
    """Write a task's data to a file, or to stdout when it is text.

    Example:
        daxy export scan/addprim_jump --split all --out addprim_jump.parquet
    """

    task: TaskName
    """The task; `daxy tasks` lists them."""
    split: str = "train"
    """Which part: train, validation, test, one of several tests by its name, or all."""
    format: Literal["auto", "scan-text", "joint-text", "tsv", "jsonl", "parquet", "gscan-json"] = (
        "auto"
    )
    """How to write it; `auto`: as the name of --out ends, else scan-text. joint-text has a pair as
    one sequence, as Grefenstette et al. write them; tsv has a tab between; gscan-json is the one
    file of the authors of gSCAN, `dataset.txt`, and takes --split all."""
    vectors: Literal["generator", "released"] = "generator"
    """In gscan-json, the order of the bits for colors: of the authors' generator or release."""
    out: Path | None = None
    """The file to write; stdout unless given."""
    force: Switch = False
    """Replace the file if it exists."""

    def run(self) -> Result:
        """Write the file, or return its text."""
        form = self._check()
        shard = getattr(self.data, "shard", "1/1")
        part = f"--shard {shard} is a part of train; leave it out, or ask for --split train"
        require(shard == "1/1" or self.split == "train", part)
        split = self.data.load(self.task)
        parts = self._parts(split)
        if self.out is None:
            return Result(data={}, text=_text(parts, form))
        if form == "gscan-json":
            self._grounded().save(self.out, split, self.vectors)
        elif form == "parquet":
            from daxy.formats import parquet

            parquet.write(self.out, parts, split.provenance)
        elif form == "jsonl":
            from daxy.formats import jsonl

            jsonl.save(self.out, parts)
        else:
            from daxy.core.files import write_text

            write_text(self.out, _text(parts, form))
        lines = {name: len(examples) for name, examples in parts.items()}
        said = ", ".join(f"{count:,} {name}" for name, count in lines.items())
        data = {"out": str(self.out), "lines": lines, "provenance": asdict(split.provenance)}
        return Result(data=data, text=f"{self.out}: {said} examples{_origin(split)}")

    def _parts(self, split: Split) -> dict[str, Examples]:
        """Return the parts that are asked for, of which there is something to write."""
        if self.split == "all":
            return split.named
        known = split.parts | split.named
        if self.split not in known:
            raise UnknownName("part", self.split, [*known, "all"])
        found = known[self.split]
        empty = f"{self.task} has no {self.split} examples, as its data is chosen"
        require(len(found) > 0, empty)
        return {self.split: found}

    def _check(self) -> Format:
        """Return the format, after refusing what cannot be written."""
        form = self._named() if self.format == "auto" else self.format
        require(self.out is not None or form != "parquet", "parquet needs --out FILE")
        require(self.out is not None or not self.json, "--json needs --out FILE")
        if form == "gscan-json":
            self._grounded()
            require(self.out is not None, "gscan-json needs --out FILE")
            require(self.split == "all", "gscan-json holds every part; expected --split all")
        elif self.task.startswith("gscan/"):
            said = f"{form} has no worlds; expected --format gscan-json, jsonl or parquet"
            require(form not in TEXTS, said)
        bits = "--vectors is for gscan-json"
        require(form == "gscan-json" or self.vectors == "generator", bits)
        together = f"{form} cannot say which part a line is of; expected --split of one part"
        require(not (form in TEXTS and self.split == "all"), together)
        if self.out is not None:
            check_free(self.out, force=self.force)
        return form

    def _grounded(self) -> GscanTask[Any]:
        """Return the task, of which gscan-json is the format."""
        from daxy import tasks
        from daxy.tasks.gscan import GscanTask

        task = tasks.get(self.task)
        if not isinstance(task, GscanTask):
            raise WrongRequest(f"gscan-json is for tasks of gSCAN, not for {self.task}")
        return task

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
    from daxy.formats import joint_text, scan_text, tsv

    formats = {"scan-text": scan_text, "joint-text": joint_text, "tsv": tsv}
    return "".join(map(formats[form].write, parts.values()))


VERB = with_data(Export)
