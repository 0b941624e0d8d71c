"""Compare learners by their finished runs on one test set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._picture import Picture, check, save
from daxy.cli._result import Result
from daxy.cli._run import run_folders
from daxy.cli._verb import Switch, Verb
from daxy.core.errors import require

if TYPE_CHECKING:
    from rich.table import Table

    from daxy.report.difference import Difference
    from daxy.report.run_comparison import Parted, RunComparison


@dataclass(frozen=True, kw_only=True)
class Compare(Verb):
    """Compare learners by their finished runs on one test set.

    Runs of one learner with several seeds are a group. Each pair of groups has a difference with
    two 95% intervals: over seeds (Welch) and over test examples (paired). Two single runs have
    McNemar's exact test.

    Example:
        daxy compare runs/scan-length.*
        daxy compare runs/pairs.seq2seq.* runs/pairs.nearest.* --draw compared.png
    """

    run_folders: tyro.conf.Positional[
        Annotated[tuple[Path, ...], tyro.conf.arg(metavar="RUN")]
    ] = ()
    """Folders of finished runs of several learners."""
    test: str | None = None
    """Compare on one of several tests, by its name."""
    count: int = 3
    """Examples to list, in each direction, where the first two learners part."""
    draw: Picture = None
    """Draw accuracy by learner and by length, as .png, .svg or .pdf."""
    force: Switch = False
    """Replace that file if it exists."""

    def run(self) -> Result:
        """Return the comparison."""
        from rich.console import Group

        from daxy.report.run_comparison import RunComparison
        from daxy.runs.folder import RunFolder

        require(bool(self.run_folders), "missing: RUN; expected folders of finished runs")
        require(self.count >= 0, f"--count must not be negative, not {self.count}")
        check(self.draw, force=self.force)
        folders = [RunFolder(path) for path in run_folders(self.run_folders)]
        comparison = RunComparison.of(folders, self.test)
        data = comparison.as_json
        name = data["task"] if self.test is None else f"{data['task']}, test {self.test}"
        parts: list[Any] = [f"{name}, {data['metric']}:", "", _learners(comparison), ""]
        parts += [_differences(comparison.differences), ""]
        for name in comparison.tables:
            parts += [_by(comparison, name), ""]
        data["parted"] = []
        for first, second in _directions(len(comparison.groups)):
            examples = comparison.parted(first, second, self.count)
            names = [comparison.groups[index].label for index in (first, second)]
            data["parted"].append({"better": names, "examples": [asdict(it) for it in examples]})
            parts += _parted(names, examples)
        if self.draw is not None:
            save(comparison.draw(), self.draw)
            data["out"] = str(self.draw)
            parts.append(f"{self.draw}: accuracy by learner and by length")
        return Result(data=data, text=Group(*parts))


def _parted(names: Sequence[str], examples: Sequence[Parted]) -> Iterator[str]:
    """Yield lines on the examples that the first learner gets right more often."""
    if not examples:
        return
    yield f"{names[0]} is right more often than {names[1]}:"
    for example in examples:
        yield f"  {example.source}"
        yield f"    target  {example.target}"
        for share, prediction in zip(example.shares, example.predictions, strict=True):
            yield f"    {share:.0%} right  {prediction or '(nothing)'}"
    yield ""


def _directions(count: int) -> Iterator[tuple[int, int]]:
    """Yield the first two groups, in both orders."""
    first, second = next(combinations(range(count), 2))
    yield from ((first, second), (second, first))


def _learners(comparison: RunComparison) -> Table:
    from rich.table import Table

    table = Table("learner", box=None, pad_edge=False)
    for name in ("runs", "right (%)", "min", "max", "examples"):
        table.add_column(name, justify="right")
    for group, summary, right in zip(
        comparison.groups, comparison.summaries, comparison.right, strict=True
    ):
        extremes = f"{summary.min:.1f}", f"{summary.max:.1f}"
        count = f"{right.shape[1]:,}"
        table.add_row(group.label, str(len(right)), summary.text(unit=1), *extremes, count)
    return table


def _differences(differences: list[Difference]) -> Table:
    from rich.table import Table

    table = Table("difference", box=None, pad_edge=False)
    for name in ("points", "95% over seeds", "95% over examples", "only right", "McNemar p"):
        table.add_column(name, justify="right")
    for it in differences:
        alone = "" if it.p is None else f"{it.only_first:,} : {it.only_second:,}"
        test = "" if it.p is None else "< 1e-16" if it.p < 1e-16 else f"{it.p:.2g}"
        intervals = _interval(it.over_seeds), _interval(it.over_examples)
        name = f"{it.first} - {it.second}"
        table.add_row(name, f"{it.mean:+.1f}", *intervals, alone, test)
    return table


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{interval[0]:+.1f} to {interval[1]:+.1f}"


def _by(comparison: RunComparison, criterion: str) -> Table:
    from rich.table import Table

    table = Table(criterion, box=None, pad_edge=False)
    table.add_column("examples", justify="right")
    for group in comparison.groups:
        table.add_column(group.label, justify="right", overflow="fold")
    for name, rows in comparison.tables[criterion].items():
        counts = [row.examples or 0 for row in rows if row is not None]
        values = ["" if row is None else row.value.text(unit=1) for row in rows]
        table.add_row(name, f"{max(counts):,}", *values)
    return table


VERB = Compare
