"""Show examples and statistics of a task's train, validation and test set, or draw one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._data import TaskName, TaskVerb
from daxy.cli._example import as_strings, show_attention, show_memory, show_world
from daxy.cli._picture import FIGURES, WORLDS, Picture, check
from daxy.cli._result import Result
from daxy.cli._run import check_same_data, data_of, finished
from daxy.cli._verb import Switch
from daxy.core.errors import UnknownName, WrongRequest, quote, require

if TYPE_CHECKING:
    from rich.table import Table

    from daxy.core.examples import Example, Examples
    from daxy.core.split import Split
    from daxy.tasks import Task

BAR = 40
BIN = 5
"""Lengths in one row of a table of several parts."""
DIGITS = 20
"""Maximum digits of the number of an example."""
MOST = 12
"""Maximum examples in one picture of attention."""


@dataclass(frozen=True, kw_only=True)
class Show(TaskVerb):
    """Show examples and statistics of a task's train, validation and test set.

    With --draw, draw an example of gSCAN: its world, the marked target and the agent's path; a .gif
    is a film. With --run, draw the pushes, pops and reads of a network's memory, or its attention.

    Example:
        daxy show scan/addprim_jump --count 5
        daxy show gscan/compositional --draw world.gif --example D:7
        daxy show transduction/reverse --run runs/RUN --example test:1 --draw inside.png
        daxy show translation/daxy --run runs/RUN --example new_word --draw attention.png
    """

    task: TaskName
    count: int = 3
    """Number of examples of each part to show."""
    draw: Picture = None
    """Draw a world, as .svg, .png or .gif; a memory or attention, as .svg, .png or .pdf."""
    example: str | None = None
    """Part and number of the example, from 1; by default `train:1`. For attention, a part alone
    stands for up to 12 of its examples. Without --draw it is shown as text."""
    run_folder: Annotated[Path | None, tyro.conf.arg(name="run", metavar="RUN")] = None
    """Folder of a finished run: show the prediction of its network with attention or memory, on the
    run's own data unless flags choose other lengths. Darker cells or words have more attention."""
    force: Switch = False
    """Replace that file if it exists."""

    def run(self) -> Result:
        """Return the first examples of each part with statistics, or one example."""
        from daxy import tasks

        require(self.count >= 0, f"--count must not be negative: {self.count}")
        is_one = any(it is not None for it in (self.example, self.draw, self.run_folder))
        idle = is_one and self.count != type(self).count
        require(not idle, "--count is not for --example, --draw or --run; leave it out")
        task = tasks.get(self.task)
        endings, by = (WORLDS, "PIL") if task.grounded else (FIGURES, "matplotlib")
        check(self.draw, endings, force=self.force, by=by)
        split = self._split()
        return self._example(split) if is_one else _overview(task, split, self.count)

    @property
    def _name(self) -> str:
        """Part and number of the example, or a part."""
        return self.example or "train:1"

    def _split(self) -> Split:
        """Return the data: of the run, where there is one."""
        if self.run_folder is None:
            return self.data.load(self.task)
        folder = finished(self.run_folder)
        is_known = self._name.partition(":")[0] in ("train", "validation")
        if is_known:
            task = folder.config().task
            require(task == self.task, f"{folder.path} is a run on {task}, not on {self.task}")
        split = data_of(folder, self.task, self.data).load(self.task)
        if is_known:
            check_same_data(folder, split, self.data)
        return split

    def _example(self, split: Split) -> Result:
        if self.run_folder is not None and split.test.worlds is None:
            return self._in_network(self.run_folder, split)
        example = _chosen(split, self._name)
        if example.world is not None:
            return show_world(example, self.run_folder, self.draw)
        if self.draw is not None:
            none = f"examples of {self.task} have no world to draw"
            raise WrongRequest(f"{none}; expected --run of a network with a memory or attention")
        data = as_strings(example)
        return Result(data=data, text=f"{data['source']}: {data['target']}")

    def _in_network(self, run: Path, split: Split) -> Result:
        from daxy.runs.saved import load_network

        network = load_network(run)
        if network.has_memory:
            title = f"{self._name} of {self.task}, {run.resolve().name}"
            return show_memory(network, _chosen(split, self._name), title, self.draw)
        require(network.attends, "this network has neither a memory nor attention")
        if self._name in split.named:
            return show_attention(network, _part(split, self._name)[:MOST], self.draw)
        return show_attention(network, [_chosen(split, self._name)], self.draw)


def _part(split: Split, part: str) -> Examples:
    if part not in split.named:
        raise UnknownName("part", part, split.named)
    require(len(split.named[part]) > 0, f"{part} has no examples, as the data is chosen")
    return split.named[part]


def _chosen(split: Split, name: str) -> Example:
    """Return an example by its part and its number from 1, as `train:1`."""
    part, _, number = name.partition(":")
    examples = _part(split, part)
    row = int(number) if number.isdecimal() and len(number) <= DIGITS else 0
    numbers = f"{part} has examples 1 to {len(examples)}, as {part}:1; not {quote(name, most=60)}"
    require(0 < row <= len(examples), numbers)
    return examples[row - 1]


def _overview(task: Task[Any], split: Split, count: int) -> Result:
    from rich.console import Group

    statistics = task.statistics(split)
    parts = {name: _facts(task, rows, count) for name, rows in split.named.items()}
    lines = [f"{task.name}: {split.provenance.rule}", f"source: {split.provenance.source}"]
    lines += [f"{fact}: {value:.1%}" for fact, value in statistics.items()]
    lines += [f"note: {split.validation_note}"] if split.validation_note else []
    for name, facts in parts.items():
        lines += ["", *_described(name, facts)]
    data = {
        "task": task.name,
        "provenance": asdict(split.provenance),
        "statistics": statistics,
        "parts": parts,
    }
    tables = [part for table in _distributions(parts) for part in ("", table)]
    return Result(data=data, text=Group(*lines, *tables) if tables else "\n".join(lines))


def _facts(task: Task[Any], examples: Examples, count: int) -> dict[str, Any]:
    import numpy as np

    lengths, counts = np.unique(examples.target.lengths, return_counts=True)
    sources = examples.source.lengths.tolist()
    # Commas separate actions that have spaces in them.
    separator = ", " if any(" " in symbol for symbol in examples.target.symbols) else " "
    return {
        "count": len(examples),
        "distinct": len(set(examples.keys)),
        "facts": task.facts(examples),
        "source_lengths": [min(sources), max(sources)] if sources else [],
        "target_lengths": dict(zip(map(str, lengths.tolist()), counts.tolist(), strict=True)),
        "distributions": task.distributions(examples),
        "examples": [as_strings(each, separator) for each in examples[:count]],
    }


def _described(name: str, facts: dict[str, Any]) -> Iterator[str]:
    yield f"{name}: {facts['count']:,} examples, {facts['distinct']:,} distinct"
    if not facts["count"]:
        return
    for example in facts["examples"]:
        yield f"  {example['source']} -> {example['target']}"
    if facts["distributions"]:
        return  # a table below has the lengths
    yield "  source lengths: {} to {} tokens; target lengths:".format(*facts["source_lengths"])
    most = max(facts["target_lengths"].values())
    for length, lines in facts["target_lengths"].items():
        yield f"  {length:>4} {lines:>6,} {'#' * -(-lines * BAR // most)}"


def _distributions(parts: Mapping[str, dict[str, Any]]) -> Iterator[Table]:
    """Yield tables of the distributions of the parts, side by side."""
    from rich.table import Table

    known = {name: facts for name, facts in parts.items() if facts["distributions"]}
    if not known:
        return
    first = next(iter(known.values()))
    counts = Table("examples", *known, box=None, pad_edge=False)
    counts.add_row("all", *(f"{facts['count']:,}" for facts in known.values()))
    for fact in first["facts"]:
        counts.add_row(fact, *(_number(facts["facts"][fact]) for facts in known.values()))
    yield counts
    for kind in first["distributions"]:
        yield _shares(kind, known, {n: facts["distributions"][kind] for n, facts in known.items()})
    lengths = {name: _binned(facts["target_lengths"]) for name, facts in known.items()}
    yield _shares("target length", known, lengths)


def _shares(
    kind: str, parts: Mapping[str, dict[str, Any]], counts: Mapping[str, Mapping[str, int]]
) -> Table:
    """Return a table of the share of each value in each part."""
    from rich.table import Table

    table = Table(kind, *parts, box=None, pad_edge=False)
    values = list(dict.fromkeys(value for part in counts.values() for value in part))
    if all(value[0].isdigit() for value in values):
        values.sort(key=lambda value: int(value.split("-")[0]))
    for value in values:
        shares = (counts[name].get(value, 0) / max(1, parts[name]["count"]) for name in parts)
        table.add_row(value, *(f"{share:.1%}" if share else "-" for share in shares))
    return table


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def _binned(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the number of examples of lengths 1 to 5, 6 to 10, and so on."""
    bins: dict[str, int] = {}
    for length, count in counts.items():
        first = (int(length) - 1) // BIN * BIN + 1
        name = f"{first}-{first + BIN - 1}"
        bins[name] = bins.get(name, 0) + count
    return bins


VERB = Show
