"""List the architectures, or show one's card."""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from daxy.cli._verb import Result, Verb
from daxy.core.settings import default


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
        from daxy import models
        from daxy.core import registry

        if self.model is not None:
            return _card(self.model, models.get(self.model))
        every = {name: registry.summary(models.__name__, name) for name in models.available()}
        width = max(map(len, every))
        lines = [f"{name:<{width}}  {summary}" for name, summary in every.items()]
        return Result(data={"models": every}, text="\n".join(lines))


def _card(name: str, module: Any) -> Result:
    defaults = {each.name: default(each) for each in dataclasses.fields(module.Config)}
    flags = [f"  {field} = {value}" for field, value in defaults.items()]
    text = [name, "", inspect.cleandoc(module.__doc__), "", "Configuration, with its defaults:"]
    data = {"model": name, "description": inspect.cleandoc(module.__doc__), "config": defaults}
    return Result(data=data, text="\n".join([*text, *flags]))


VERB = Models
