"""Write a task's data as Parquet, JSON lines, or in the format of its authors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from daxy.cli._data import SampleVerb, TaskName
from daxy.cli._out import check_free
from daxy.cli._result import Result
from daxy.cli._table import say
from daxy.cli._verb import Switch
from daxy.core.errors import UnknownName, WrongRequest, require
from daxy.core.split import drawn
from daxy.formats import TextFormat

if TYPE_CHECKING:
    from daxy.core.examples import Examples
    from daxy.core.split import Split
    from daxy.formats import Format
    from daxy.tasks import Task


@dataclass(frozen=True, kw_only=True)
class Export(SampleVerb):
    """Write a task's data to a file, to a folder with a file for each part, or to stdout.

    Example:
        daxy export scan/addprim_jump --out addprim_jump/
        daxy export scan/addprim_jump --split test --sample 200 --out questions.jsonl
        daxy export nacs/length --format parallel --out nacs_length/
        daxy export scan/length --format hub --out scan_length/
    """

    task: TaskName
    split: str | None = None
    """The part to write: train, validation, test, one of several tests by its name, or all. By
    default all into a folder, and train into a file."""
    format: str = "auto"
    """Format of the file; `auto`: by the ending of --out, else scan-text, or jsonl with worlds.
    joint-text has a pair as one sequence, as Grefenstette et al. write them; tsv has a tab
    between; parallel has two files, .src and .trg; hub is a folder that `load_dataset` of the
    package `datasets` opens; gscan-json is the one file of the authors of
    gSCAN, `dataset.txt`, and takes --split all."""
    vectors: Literal["generator", "released"] = "generator"
    """In gscan-json, the order of the bits for colors: of the authors' generator or release."""
    out: Annotated[str | None, tyro.conf.arg(metavar="FILE|DIR/")] = None
    """The file to write, or a folder for one file per part; stdout by default, or for -."""
    force: Switch = False
    """Replace files that exist."""

    def run(self) -> Result:
        """Write the files, or return their text."""
        self.check_sample()
        form = self._format()
        shard = getattr(self.data, "shard", "1/1")
        part = f"--shard {shard} is a part of train; leave it out, or ask for --split train"
        require(shard == "1/1" or self._part == "train", part)
        split = self.data.load(self.task)
        parts = self._parts(split)
        files = self._files(form, parts)
        if not files:
            assert isinstance(form, TextFormat)
            return Result(data={}, text=form.text(parts))
        for path, some in files.items():
            form.write(path, some, split.provenance)
        if len(parts) > 1 and len(files) == 1 and not (form.owner or form.is_folder):
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
        source = split.provenance.source
        origin = "" if source == "generated" else f" ({source})"
        lines = [f"{self.out}: {counts} examples{origin}"]
        lines += [split.validation_note] if "train" in parts and split.validation_note else []
        return Result(data=data, text="\n".join(lines))

    def _files(
        self, form: Format, parts: Mapping[str, Examples]
    ) -> dict[Path, dict[str, Examples]]:
        """Return the parts of each file; no files for stdout."""
        if self._stdout:
            return {}
        assert self.out is not None
        out = Path(self.out)
        files = {out: dict(parts)}
        if self._folder:
            require(not out.is_file(), f"{out} is a file; expected a folder")
            by_part = {out / f"{name}{form.suffix}": {name: it} for name, it in parts.items()}
            files = files if form.is_folder else by_part
        for path in files:
            for written in form.files(path):
                check_free(written, force=self.force)
        return files

    @property
    def _stdout(self) -> bool:
        return self.out in (None, "-")

    @property
    def _folder(self) -> bool:
        """Whether --out is a folder, existing or new."""
        is_named = self.out is not None and self.out.endswith(("/", os.sep))
        return is_named or (not self._stdout and Path(str(self.out)).is_dir())

    @property
    def _part(self) -> str:
        return self.split or ("all" if self._folder else "train")

    def _parts(self, split: Split) -> dict[str, Examples]:
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

    def _format(self) -> Format:
        """Return the format; refuse data that it cannot hold."""
        from daxy import formats, tasks

        task = tasks.get(self.task)
        form = formats.get(self._by_ending(task) if self.format == "auto" else self.format)
        if form.is_folder:
            require(self._folder, f"{form.name} is a folder; expected --out DIR/")
        require(isinstance(form, TextFormat) or not self._stdout, f"{form.name} needs --out FILE")
        require(not (self.json and self._stdout), "--json needs --out FILE")
        if form.owner:
            other = f"{form.name} is for tasks of {form.owner}, not for {self.task}"
            require(task.own_format == form.name, other)
            require(self._part == "all", f"{form.name} holds every part; expected --split all")
            require(not self._folder, f"{form.name} is one file; expected --out FILE")
        if task.grounded and not form.has_worlds:
            raise WrongRequest(f"{form.name} has no worlds; expected --format {_with_worlds()}")
        together = f"{form.name} cannot say which part a line is of; expected --split of one part"
        one_file = self._part == "all" and not self._folder
        require(form.has_parts or not one_file, f"{together}, or --out DIR/")
        if self.vectors == "generator":
            return form
        from daxy.formats.gscan_json import GscanJson

        require(isinstance(form, GscanJson), "--vectors is for gscan-json")
        return GscanJson(self.vectors)

    def _by_ending(self, task: Task[Any]) -> str:
        from daxy import formats

        if self._folder:
            return "jsonl" if task.grounded else "scan-text"
        suffix = "" if self._stdout else Path(str(self.out)).suffix.lower()
        name = formats.of_suffix(suffix)
        if name is None:
            known = ", ".join(filter(None, formats.BY_SUFFIX))
            raise WrongRequest(
                f"{self.out}: no format has this name; expected {known}, or --format"
            )
        return name


def _with_worlds() -> str:
    from daxy import formats

    every = [it.name for it in formats.FORMATS.loaded().values() if it.has_worlds]
    return " or ".join([", ".join(every[:-1]), every[-1]])


VERB = Export
