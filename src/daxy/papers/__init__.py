"""Registry of papers: one file per paper, with its tables as data.

To add a paper, add a file that exposes `PAPER`, a `Paper`: each score as printed, and a `RunSpec`
for each score that daxy can reproduce. tests/papers checks it against the tasks, metrics, models
and protocols. No file here imports a machine-learning framework.
"""

from __future__ import annotations

from daxy.core.errors import UnknownName
from daxy.core.registry import Registry, named_by
from daxy.papers._paper import PERPLEXITY, Finding, Paper, Part, RunSpec, Table, TableCell

__all__ = [
    "PAPERS",
    "PERPLEXITY",
    "Finding",
    "Paper",
    "Part",
    "RunSpec",
    "Table",
    "TableCell",
    "available",
    "get",
    "table",
]


PAPERS = Registry(__name__, "PAPER", "paper", Paper, problem=named_by("name"))
available, get = PAPERS.available, PAPERS.get


def table(name: str) -> Table:
    """Return a table by its full name, such as `bastings2018/table4`.

    Raises:
        UnknownName: there is no such paper, or no such table in it.
        WrongRequest: another command shows the table.
    """
    paper, _, number = name.partition("/")
    names = [table.path for table in get(paper).tables]
    if name not in names and number not in get(paper).elsewhere:
        raise UnknownName("table", name, names, listing=f"daxy papers {paper}")
    return get(paper).table(number)
