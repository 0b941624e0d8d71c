"""Write one HTML page about finished runs: scores, learning curves, errors, attention."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from daxy.cli._out import check_free
from daxy.cli._result import Result
from daxy.cli._run import run_folders
from daxy.cli._table import say
from daxy.cli._verb import Switch, Verb
from daxy.core.display import counted
from daxy.core.errors import require


@dataclass(frozen=True, kw_only=True)
class Report(Verb):
    """Write one HTML page about finished runs: scores, learning curves, errors, attention.

    The runs may differ in task, learner and seed. The page is one file that works offline. It
    compares scores with published values and shows learning curves, accuracy by length and
    construction, every test example with its predictions, attention and worlds for some examples,
    settings and environment.

    Example:
        daxy report runs/* --out report.html
        daxy report runs/scan-length.* --title "SCAN, longer commands" --out length.html
    """

    run_folders: tyro.conf.Positional[
        Annotated[tuple[Path, ...], tyro.conf.arg(metavar="RUN")]
    ] = ()
    """Folders of finished runs."""
    out: Annotated[Path, tyro.conf.arg(metavar="FILE")] = Path("report.html")
    """File to write."""
    title: str = "Report of runs"
    """Heading of the page."""
    results: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Folder of the measured runs; by default `results` here, else the results that come with
    daxy."""
    official: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """Official files, if the runs were trained on such files: for worlds and single tests."""
    examples: int = 4
    """Number of examples with attention or worlds per learner and task, but at least two per test.
    0 is fastest."""
    force: Switch = False
    """Replace the page if it exists."""

    def run(self) -> Result:
        """Write the page and return its scores."""
        require(bool(self.run_folders), "missing: RUN; expected folders of finished runs")
        require(self.examples >= 0, f"--examples must not be negative, got {self.examples}")
        endings = ".html", ".htm"
        named = f"{self.out}: expected a name that ends in {' or '.join(endings)}"
        require(self.out.suffix.lower() in endings, named)
        check_free(self.out, force=self.force)
        folders = run_folders(self.run_folders)
        exists = self.results is None or self.results.exists()
        require(exists, f"{self.results}: no such folder")

        from daxy.core.console import Visible
        from daxy.core.files import write_text
        from daxy.report.page import page
        from daxy.reproduction.ledger import Ledger, measured_folder
        from daxy.runs.folder import RunFolder

        with Visible(sys.stderr).status("reading runs") as status:
            made = page(
                [RunFolder(path) for path in folders],
                title=self.title,
                ledger=Ledger(self.results or measured_folder()),
                official=self.official,
                examples=self.examples,
                progress=status.update,
            )
        write_text(self.out, made.html)
        for note in made.notes:
            say(f"note: {note}")
        size = len(made.html.encode())
        text = f"{self.out}: {counted(made.runs, 'run')}, {size / 1e6:.1f} MB"
        return Result(data={"out": str(self.out), "bytes": size, **made.as_json}, text=text)


VERB = Report
