"""Flags that choose cells of a published table."""

from __future__ import annotations

from typing import Annotated

import tyro

Rows = tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="ROW")]]
"""Rows as printed; none means all."""
Columns = tyro.conf.UseAppendAction[Annotated[tuple[str, ...], tyro.conf.arg(metavar="COLUMN")]]
"""Columns as printed; none means all."""
