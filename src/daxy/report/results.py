"""The ledger as Markdown: a page for each paper, and a summary with one row a paper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from daxy import papers
from daxy.papers import Paper, Table, TableCell
from daxy.report import baselines
from daxy.report.comparison import RULE, Comparison
from daxy.report.tables import compare, seed_notes
from daxy.reproduction.ledger import Ledger

HEAD = ("row", "column", "published", "measured", "n", "verdict")
"""The columns of a table of results; `n` counts seeds."""
OPEN = 20
"""Maximum rows of a table without published values that is not folded."""
BASELINES = (
    "The rows `nearest` are baselines: the nearest neighbour in the training set, without and with"
    " substituted words. daxy measured them; they are deterministic and have no seeds."
)
SUMMARY_HEAD = ("paper", "cells measured", "agree", "overlap", "differ", "why values differ")


def summary(ledger: Ledger) -> str:
    """Return one row for each paper: how many of its cells are measured, and how they compare.

    A value that several tables of a paper print counts once. Cells that the paper quotes from
    others, and values of daxy's own further runs, do not count.

    Raises:
        WrongFile: a file of the ledger is damaged.
    """
    rows = [_summary_row(paper, ledger) for paper in papers.PAPERS.loaded().values()]
    return f"{_table(SUMMARY_HEAD, 'lrrrrl', rows)}\n{RULE[0].upper()}{RULE[1:]}.\n"


def page(paper: Paper, ledger: Ledger) -> str:
    """Return the results of a paper, table by table, with the seeds folded.

    Raises:
        WrongFile: a file of the ledger is damaged.
    """
    runs = ledger.runs(paper)
    parts = [f"{paper.citation}\n", _table(SUMMARY_HEAD, "lrrrrl", [_summary_row(paper, ledger)])]
    unmeasured = list[str]()
    for table in paper.tables:
        comparisons = [it for it in compare(table.cells, runs) if it.summary is not None]
        if comparisons:
            parts += _section(table, comparisons, ledger)
        else:
            unmeasured.append(f"- `{table.path}`: {table.title}")
    if unmeasured:
        parts += ["## Not measured yet\n", *unmeasured, ""]
    return "\n".join(parts)


def heading(table: Table) -> str:
    """Return the heading of a table, which links can name: `## Table 4: ... { #table4 }`."""
    printed = re.fullmatch(r"(table|figure)(\d+)", table.name)
    number = f"{printed[1].capitalize()} {printed[2]}: " if printed else ""
    return f"## {number}{table.title} {{ #{table.name} }}"


def _summary_row(paper: Paper, ledger: Ledger) -> tuple[str, ...]:
    cells = _distinct(paper)
    compared = compare(cells, ledger.runs(paper))
    verdicts = Counter(each.verdict for each in compared if each.summary is not None)
    counts = (str(verdicts[verdict]) for verdict in ("agrees", "overlaps", "differs"))
    measured = f"{verdicts.total()} of {len(cells)}"
    return (paper.label, measured, *counts, paper.differences)


def _distinct(paper: Paper) -> list[TableCell]:
    """Return the cells of a paper with a published value of its own, each value once."""
    tables = (table for table in paper.tables if table.is_printed)
    cells = (cell for table in tables for cell in table.cells)
    return list(
        {repr(it.recipe): it for it in cells if it.recipe and it.value is not None}.values()
    )


def _section(table: Table, comparisons: Sequence[Comparison], ledger: Ledger) -> Iterator[str]:
    yield f"{heading(table)}\n"
    reproducible = sum(cell.recipe is not None for cell in table.cells)
    yield f"`{table.path}`: {len(comparisons)} of {reproducible} cells measured.\n"
    if table.note:
        yield f"{table.note}\n"
    rows = [
        (
            *it.texts[:3],
            it.measured,
            str(len(it.scores)),
            "" if it.cell.value is None else it.verdict,
        )
        for it in comparisons
    ]
    if any(each.cell.value is not None for each in comparisons):
        reference = _baseline_rows([each.cell for each in comparisons], ledger)
        yield _table(HEAD, "llrrrl", [*rows, *reference])
        if reference:
            yield f"{BASELINES}\n"
        if table.differences:
            yield f"**Why values differ.** {table.differences}\n"
    else:
        measured = _table(
            ("row", "column", "measured", "n"), "llrr", [row[:2] + row[3:5] for row in rows]
        )
        many = f"{len(rows)} measured values; the paper prints none"
        yield measured if len(rows) <= OPEN else _folded(many, measured)
    seeds = [f"- {it.cell.row}, {it.cell.column}: {it.seeds}" for it in comparisons]
    notes = [f"{note}\n" for note in seed_notes(comparisons)]
    yield _folded("Each seed", "\n".join([*seeds, "", *notes]))


def _baseline_rows(cells: Sequence[TableCell], ledger: Ledger) -> list[tuple[str, ...]]:
    """Return a row for each baseline on each test set of these cells."""
    rows = dict[tuple[str, ...], None]()
    for cell in cells:
        if cell.recipe is not None:
            in_column = {it.recipe.task for it in cells if it.recipe and it.column == cell.column}
            column = cell.column if len(in_column) == 1 else f"{cell.column}, {cell.recipe.task}"
            for name, score in baselines.of_recipe(ledger.folder, cell.recipe).items():
                rows[f"`{name}`", column, "", f"{score:.1f}", "", "baseline"] = None
    return list(rows)


def _folded(title: str, content: str) -> str:
    return f'<details markdown="1">\n<summary>{title}</summary>\n\n{content}\n</details>\n'


def _table(heads: Sequence[str], sides: str, rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; `sides` has `l` or `r` for each column."""
    rule = "|".join({"l": "---", "r": "---:"}[side] for side in sides)
    lines = [f"| {' | '.join(heads)} |", f"|{rule}|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"
