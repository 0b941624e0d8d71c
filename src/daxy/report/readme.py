"""The README's summary of measured against published values, written from the ledger alone.

`python -m daxy.report.readme README.md` writes it between the two marker lines of a Markdown file;
with `--check` it writes nothing and ends with 1 if the file says something else.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro

from daxy.core.errors import CheckFailed, DaxyError, WrongFile
from daxy.core.files import read_bytes, write_text
from daxy.report.results import summary
from daxy.reproduction.ledger import Ledger

BEGIN = "<!-- measured: begin; written by `python -m daxy.report.readme` from results/ -->"
END = "<!-- measured: end -->"


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
    return text, f"{before}{BEGIN}\n\n{summary(ledger)}\n{END}{after}"


def main(
    file: tyro.conf.Positional[Annotated[Path, tyro.conf.arg(metavar="FILE")]],
    results: Path = Path("results"),
    check: bool = False,
) -> None:
    """Write the summary of measured values into a Markdown file, between its two markers.

    Args:
        file: The Markdown file.
        results: Folder of the ledger.
        check: Write nothing; fail if the file is not as it would be written.
    """
    text, wanted = updated(file, Ledger(results))
    if check and text != wanted:
        command = f"python -m daxy.report.readme {file} --results {results}"
        raise CheckFailed(f"{file}: its summary is not that of {results}; `{command}` writes it")
    if text != wanted:
        write_text(file, wanted)


if __name__ == "__main__":
    try:
        tyro.cli(main, prog="python -m daxy.report.readme")
    except DaxyError as problem:
        sys.stderr.write(f"daxy: {problem}\n")
        sys.exit(problem.exit_code)
