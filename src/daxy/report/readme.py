"""The README's table of measured against published figures, written from the ledger alone.

`python -m daxy.report.readme README.md` writes it between the two marker lines of a Markdown file;
with `--check` it writes nothing and ends with 1 if the file says something else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import tyro

from daxy.core.errors import CheckFailed, DaxyError, WrongFile
from daxy.core.files import read_bytes, write_text
from daxy.experiments import papers
from daxy.experiments.ledger import Ledger
from daxy.experiments.papers import Cell, Paper, Table
from daxy.report.tables import RETRAINED, RULE, SELECTED, as_markdown, compare

BEGIN = "<!-- measured: begin; written by `python -m daxy.report.readme` from results/ -->"
END = "<!-- measured: end -->"


def render(ledger: Ledger) -> str:
    """Return the measured figures of every paper beside the published ones, as Markdown.

    Raises:
        WrongFile: a file of the ledger is damaged.
    """
    parts = [part for name in papers.available() for part in _paper(papers.get(name), ledger)]
    if not parts:
        return "Nothing has been measured yet.\n"
    return "\n".join(
        [*parts, f"In per cent. {RULE[0].upper()}{RULE[1:]}. {SELECTED} {RETRAINED}\n"]
    )


def updated(path: Path, ledger: Ledger) -> tuple[str, str]:
    """Return the text of a Markdown file as it is and as it should be.

    Raises:
        WrongFile: the file cannot be read or has not exactly one pair of markers; or the ledger's.
    """
    try:
        text = read_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise WrongFile(path, "not UTF-8 text") from error
    before, begin, rest = text.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in after or END in before + after:
        raise WrongFile(path, f"expected one line `{BEGIN}` and, below it, one line `{END}`")
    return text, f"{before}{BEGIN}\n\n{render(ledger)}\n{END}{after}"


def _paper(paper: Paper, ledger: Ledger) -> Iterator[str]:
    """Yield the measured cells of each table, and its note; of those not published, how many.

    What several tables have stands in the one that its runs are filed under; but what the paper
    prints in one of them never in those where it prints nothing.
    """
    runs = ledger.runs(paper)
    every = [cell for table in paper.tables for cell in table.cells]
    printed = {_figure(cell) for cell in every if cell.value is not None}
    own = {
        table.name: [
            each for each in table.cells if each.value is not None or _figure(each) not in printed
        ]
        for table in paper.tables
    }
    filed = {
        table.name: _filed(table, ledger) & set(map(_figure, own[table.name]))
        for table in paper.tables
    }
    for table in paper.tables:
        elsewhere = set[str]().union(*filed.values()) - filed[table.name]
        cells = [cell for cell in own[table.name] if _figure(cell) not in elsewhere]
        measured = [cell for cell in cells if runs.of(cell)]
        if not measured:
            continue
        yield f"**{table.path}**: {table.title}\n"
        if published := [cell for cell in measured if cell.value is not None]:
            yield as_markdown(compare(published, runs))
            if table.note:
                yield f"{table.note}\n"
        if others := len(measured) - len(published):
            shown = f"`daxy papers {table.path}` shows them"
            yield f"Measured without a published score: {others}; {shown}.\n"


def _filed(table: Table, ledger: Ledger) -> set[str]:
    """Return the figures of a table whose runs are filed under it."""
    runs = {entry.recipe.identity for entry in ledger.entries(table)}
    cells = (cell for cell in table.cells if cell.recipe and cell.recipe.identity in runs)
    return set(map(_figure, cells))


def _figure(cell: Cell) -> str:
    """Return a text that two cells share exactly when they print the same figure."""
    return repr(cell.recipe)


def main(
    file: tyro.conf.Positional[Annotated[Path, tyro.conf.arg(metavar="FILE")]],
    results: Path = Path("results"),
    check: bool = False,
) -> None:
    """Write the measured figures into a Markdown file, between its two markers.

    Args:
        file: The Markdown file.
        results: Folder of the ledger.
        check: Write nothing; fail if the file is not as it would be written.
    """
    text, wanted = updated(file, Ledger(results))
    if check and text != wanted:
        command = f"python -m daxy.report.readme {file} --results {results}"
        raise CheckFailed(f"{file}: its scores are not those of {results}; `{command}` writes them")
    if text != wanted:
        write_text(file, wanted)


if __name__ == "__main__":
    try:
        tyro.cli(main, prog="python -m daxy.report.readme")
    except DaxyError as problem:
        sys.stderr.write(f"daxy: {problem}\n")
        sys.exit(problem.exit_code)
