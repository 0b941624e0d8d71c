"""List the learners, or show one's card."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from daxy.cli._flags import flag
from daxy.cli._result import Result
from daxy.cli._verb import Verb
from daxy.core.settings import default, field_docs, is_required


@dataclass(frozen=True, kw_only=True)
class Learners(Verb):
    """List the learners that `daxy train` takes; with a name, show one and its settings.

    Architectures of networks are learners, and so are methods without a network.

    Example:
        daxy learners
        daxy learners seq2seq
    """

    learner: tyro.conf.Positional[Annotated[str | None, tyro.conf.arg(metavar="LEARNER")]] = None
    """The learner to show."""

    def run(self) -> Result:
        """Return the list, or the card."""
        from daxy import learners

        if self.learner is not None:
            return _card(self.learner)
        every = learners.usable()
        width = max(map(len, every))
        lines = [f"{name:<{width}}  {summary}" for name, summary in every.items()]
        return Result(data={"learners": every}, text="\n".join(lines))


def _card(name: str) -> Result:
    from rich.console import Group
    from rich.table import Table

    from daxy import learners, models

    registry = learners.registry_of(name)
    is_network = registry is models.ARCHITECTURES
    kind: Any = models.config(name) if is_network else registry.get(name)
    settings = dataclasses.fields(kind)
    defaults = {each.name: default(each) for each in settings if not is_required(each)}
    texts = field_docs(kind)
    table = Table(box=None, pad_edge=False)
    table.add_column("flag and default", no_wrap=True)
    table.add_column("description", overflow="fold")
    for each in settings:
        shown = flag(each.name, defaults.get(each.name, "(required)"))
        table.add_row(shown, texts.get(each.name, ""))
    description = registry.docstring(name)
    how = f"Settings, as flags of `daxy train TASK {name}` and `config` of `daxy.train`:"
    data = {"learner": name, "description": description, "config": defaults, "descriptions": texts}
    return Result(data=data, text=Group(f"{name}\n\n{description}\n\n{how}", table))


VERB = Learners
