"""List the architectures, or show one's card."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated

import tyro

from daxy.cli._data import flag
from daxy.cli._result import Result
from daxy.cli._verb import Verb
from daxy.core.settings import default, described


@dataclass(frozen=True, kw_only=True)
class Models(Verb):
    """List the architectures; with a name, show what it is and what can be configured.

    Example:
        daxy models seq2seq
    """

    model: tyro.conf.Positional[Annotated[str | None, tyro.conf.arg(metavar="MODEL")]] = None
    """The architecture whose card to show."""

    def run(self) -> Result:
        """Return the list, or the card."""
        from daxy.models import ARCHITECTURES

        if self.model is not None:
            return _card(self.model)
        every = {name: ARCHITECTURES.summary(name) for name in ARCHITECTURES.available()}
        width = max(map(len, every))
        lines = [f"{name:<{width}}  {summary}" for name, summary in every.items()]
        return Result(data={"models": every}, text="\n".join(lines))


def _card(name: str) -> Result:
    from rich.console import Group
    from rich.table import Table

    from daxy import models

    config = models.config(name)
    defaults = {each.name: default(each) for each in dataclasses.fields(config)}
    said = described(config)
    table = Table(box=None, pad_edge=False)
    table.add_column("flag and default", no_wrap=True)
    table.add_column("description", overflow="fold")
    for field, value in defaults.items():
        table.add_row(flag(field, value), said.get(field, ""))
    description = models.ARCHITECTURES.docstring(name)
    how = f"Configuration, as flags of `daxy train TASK {name}` and settings of `daxy.train`:"
    data = {"model": name, "description": description, "config": defaults, "descriptions": said}
    return Result(data=data, text=Group(f"{name}\n\n{description}\n\n{how}", table))


VERB = Models
