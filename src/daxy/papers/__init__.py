"""Papers: one paper's tables a file. The folder is the registry.

To add a paper, add a file that exposes `PAPER`, a `Paper`: each figure as printed, and for each
that can be reproduced here the recipe that does it. The tests in tests/papers hold it
to the tasks, metrics, architectures and protocols that there are. Papers are data: nothing here
imports an ML framework.
"""

from __future__ import annotations

from daxy.core.errors import UnknownName
from daxy.core.registry import Registry
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


PAPERS = Registry(__name__, "PAPER", "paper", Paper)
available, get = PAPERS.available, PAPERS.get


def table(name: str) -> Table:
    """Return a table by the name that users type, as `bastings2018/table4`.

    Raises:
        UnknownName: there is no such paper, or no such table in it.
        WrongRequest: another command shows what is in it.
    """
    paper, _, number = name.partition("/")
    known = [each.path for each in get(paper).tables]
    if name not in known and number not in get(paper).elsewhere:
        raise UnknownName("table", name, known, listing=f"daxy papers {paper}")
    return get(paper).table(number)
