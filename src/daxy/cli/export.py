"""Write a task's data as Parquet, JSON lines, or in the format of its authors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from daxy.cli._data import OfSample, TaskName, with_data
from daxy.cli._out import check_free
from daxy.cli._result import Result
from daxy.cli._table import say
from daxy.cli._verb import Switch
from daxy.core.errors import UnknownName, WrongRequest, require
from daxy.core.split import drawn

if TYPE_CHECKING:
    from daxy.core.examples import Examples
    from daxy.core.split import Split
    from daxy.tasks.gscan import GscanTask

Format = Literal["scan-text", "joint-text", "tsv", "parallel", "jsonl", "parquet", "gscan-json"]
TEXTS = ("scan-text", "joint-text", "tsv", "parallel")
SUFFIX: Mapping[Format, str] = {
    "scan-text": ".txt",
    "joint-text": ".txt",
    "tsv": ".tsv",
    "parallel": ".src",
    "jsonl": ".jsonl",
    "parquet": ".parquet",
}
"""By format, how the name of a file ends in a folder of them."""
FORMAT_OF_SUFFIX: Mapping[str, Format] = {
    "": "scan-text",
    ".txt": "scan-text",
    ".tsv": "tsv",
    ".src": "parallel",
    ".trg": "parallel",
    ".jsonl": "jsonl",
    ".parquet": "parquet",
}


@dataclass(frozen=True, kw_only=True)
class Export(OfSample):
    """Write a task's data to a file, to a folder with a file for each part, or to stdout.

    Example:
        daxy export scan/addprim_jump --out addprim_jump/
        daxy export scan/addprim_jump --split test --sample 200 --out questions.jsonl
        daxy export nacs/length --format parallel --out nacs_length/
    """

    task: TaskName
    """The task; `daxy tasks` lists them."""
    split: str | None = None
    """Which part: train, validation, test, one of several tests by its name, or all. Unless given,
    all of them into a folder, and train into a file."""
    format: Literal[
        "auto", "scan-text", "joint-text", "tsv", "parallel", "jsonl", "parquet", "gscan-json"
    ] = "auto"
    """How to write it; `auto`: as the name of --out ends, else scan-text, or jsonl where there are
    worlds. joint-text has a pair as one sequence, as Grefenstette et al. write them; tsv has a tab
    between; parallel has two files, .src and .trg; gscan-json is the one file of the authors of
    gSCAN, `dataset.txt`, and takes --split all."""
    vectors: Literal["generator", "released"] = "generator"
    """In gscan-json, the order of the bits for colors: of the authors' generator or release."""
    out: Annotated[str | None, tyro.conf.arg(metavar="FILE|DIR/")] = None
    """The file to write, or a folder, which gets a file for each part; stdout unless given, or for
    -."""
    force: Switch = False
    """Replace files that exist."""

    def run(self) -> Result:
        """Write the files, or return their text."""
        self.check_sample()
        form = self._check()
        shard = getattr(self.data, "shard", "1/1")
        part = f"--shard {shard} is a part of train; leave it out, or ask for --split train"
        require(shard == "1/1" or self._part == "train", part)
        split = self.data.load(self.task)
        parts = self._parts(split)
        files = self._files(form, parts)
        if not files:
            return Result(data={}, text=_text(parts, form))
        for path, some in files.items():
            self._write(path, some, split, form)
        if len(parts) > 1 and len(files) == 1 and form != "gscan-json":
            say(f"note: {self.out} is one file of {', '.join(parts)}; a program that takes it for")
            say("  a training set trains on the test. --out DIR/ writes a file for each part")
        lengths = {name: len(examples) for name, examples in parts.items()}
        counts = ", ".join(f"{count:,} {name}" for name, count in lengths.items())
        data = {
            "out": self.out,
            "files": {name: str(path) for path, some in files.items() for name in some},
            "lines": lengths,
            "provenance": asdict(split.provenance),
        }
        said = [f"{self.out}: {counts} examples{_origin(split)}"]
        said += [split.validation_note] if "train" in parts and split.validation_note else []
        return Result(data=data, text="\n".join(said))

    def _write(self, path: Path, parts: Mapping[str, Examples], split: Split, form: Format) -> None:
        """Write one file, or two of a side each."""
        if form == "gscan-json":
            self._grounded().save(path, split, self.vectors)
        elif form == "parquet":
            from daxy.formats import parquet

            parquet.write(path, parts, split.provenance)
        elif form == "jsonl":
            from daxy.formats import jsonl

            jsonl.save(path, parts)
        elif form == "parallel":
            from daxy.formats import parallel_text

            parallel_text.write(path, *parts.values())
        else:
            from daxy.core.files import write_text

            write_text(path, _text(parts, form))

    def _files(
        self, form: Format, parts: Mapping[str, Examples]
    ) -> dict[Path, dict[str, Examples]]:
        """Return what goes into which file; nothing for stdout."""
        if self._stdout:
            return {}
        assert self.out is not None
        out = Path(self.out)
        files = {out: dict(parts)}
        if self._folder:
            require(not out.is_file(), f"{out} is a file; expected a folder")
            files = {out / f"{name}{SUFFIX[form]}": {name: some} for name, some in parts.items()}
        for path in files:
            written = [path]
            if form == "parallel":
                from daxy.formats.parallel_text import files_of

                written = [*files_of(path)]
            for each in written:
                check_free(each, force=self.force)
        return files

    @property
    def _has_worlds(self) -> bool:
        from daxy import tasks

        return tasks.get(self.task).grounded

    @property
    def _stdout(self) -> bool:
        return self.out in (None, "-")

    @property
    def _folder(self) -> bool:
        """Whether --out is a folder, there or to be made."""
        is_named = self.out is not None and self.out.endswith(("/", os.sep))
        return is_named or (not self._stdout and Path(str(self.out)).is_dir())

    @property
    def _part(self) -> str:
        """The part that is asked for."""
        return self.split or ("all" if self._folder else "train")

    def _parts(self, split: Split) -> dict[str, Examples]:
        """Return the parts that are asked for, of which there is something to write."""
        if self._part == "all":
            require(self.sample is None, "--sample is of one part; expected --split PART")
            return {name: some for name, some in split.named.items() if len(some)}
        known = split.parts | split.named
        if self._part not in known:
            raise UnknownName("part", self._part, [*known, "all"])
        empty = f"{self.task} has no {self._part} examples, as its data is chosen"
        carved = " (--validation draw carves some from train)" * bool(split.validation_note)
        require(len(known[self._part]) > 0, empty + carved)
        if self.sample is None:
            return {self._part: known[self._part]}
        if self._part == "test" or self._part in split.tests:
            test = None if self._part == "test" else self._part
            return {self._part: split.only(test=test, sample=self.sample, seed=self.seed).test}
        rows = drawn(len(known[self._part]), self.sample, self.seed)
        return {self._part: known[self._part].take(rows)}

    def _check(self) -> Format:
        """Return the format, after refusing what cannot be written."""
        form = self._named() if self.format == "auto" else self.format
        for alone in ("parquet", "gscan-json", "parallel"):
            require(not (form == alone and self._stdout), f"{alone} needs --out FILE")
        require(not (self.json and self._stdout), "--json needs --out FILE")
        if form == "gscan-json":
            self._grounded()
            require(self._part == "all", "gscan-json holds every part; expected --split all")
            require(not self._folder, "gscan-json is one file; expected --out FILE")
        elif self._has_worlds:
            said = f"{form} has no worlds; expected --format gscan-json, jsonl or parquet"
            require(form not in TEXTS, said)
        bits = "--vectors is for gscan-json"
        require(form == "gscan-json" or self.vectors == "generator", bits)
        together = f"{form} cannot say which part a line is of; expected --split of one part"
        one_file = self._part == "all" and not self._folder
        require(not (form in TEXTS and one_file), f"{together}, or --out DIR/")
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
        if self._folder:
            return "jsonl" if self._has_worlds else "scan-text"
        suffix = "" if self._stdout else Path(str(self.out)).suffix.lower()
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
