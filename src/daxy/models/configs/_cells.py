"""Names of the recurrent cells."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from daxy.core.errors import UnknownName

CellName: TypeAlias = Literal["srn", "gru", "lstm"]


def check_cell(name: str) -> None:
    """Refuse the name of a cell that does not exist.

    Raises:
        UnknownName: there is no such cell.
    """
    if name not in get_args(CellName):
        raise UnknownName("cell", name, get_args(CellName))
