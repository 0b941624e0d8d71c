"""Show or write the examples that GECA makes of a task's training set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.augmentation.geca import Geca
from daxy.cli._data import OfTask, TaskName, field_of, named, options_of
from daxy.cli._verb import Result, Switch, Verb
from daxy.core.errors import require

if TYPE_CHECKING:
    from daxy.augmentation.geca import Augmented, Composition
    from daxy.core.examples import Tokens


@dataclass(frozen=True, kw_only=True)
class Augment(OfTask):
    """Show or write the examples that GECA makes of a task's training set (Andreas 2020).

    `daxy train --augment geca` trains on them too. The same seed makes the same examples.

    Example:
        daxy augment scan/addprim_jump --show 5
    """

    task: TaskName
    """The task; `daxy tasks` lists them."""
    seed: int = 0
    """Of what is filled with what; a run with this seed trains on the same examples."""
    show: int = 3
    """How many of them to show, with what they were made of."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write all of them to this file, as JSON lines."""
    force: Switch = False
    """Replace that file if it exists."""

    def run(self) -> Result:
        """Return how many there are, and some of them."""
        from daxy import tasks
        from daxy.augmentation.geca import Composer
        from daxy.formats import jsonl

        require(self.show >= 0, f"--show must not be negative: {self.show}")
        require(self.seed >= 0, f"--seed must not be negative: {self.seed}")
        if self.out is not None:
            exists = f"{self.out} exists; --force replaces it"
            require(self.force or not self.out.exists(), exists)
        grounded = tasks.get(self.task).grounded
        require(not grounded, f"GECA does not know worlds yet, and {self.task} has them")
        chosen: Any = self
        split = self.data.load(self.task)
        found = Composer(split.train, chosen.geca).augmented(self.seed)
        if self.out is not None:
            jsonl.save(self.out, {"augmented": found.examples})
        shown = found.compositions[: self.show]
        data = {
            "task": self.task,
            "train": len(split.train),
            "augmented": len(found.compositions),
            "fragments": found.fragments,
            "templates": found.templates,
            "fillable": found.fillable,
            "out": None if self.out is None else str(self.out),
            "shown": [_said(each) for each in shown],
        }
        return Result(data=data, text="\n".join(_lines(found, len(split.train), shown)))


def _said(composition: Composition) -> dict[str, Any]:
    source, target = (" ".join(each) for each in (composition.source, composition.target))
    return {
        "source": source,
        "target": target,
        "template": list(map(" ".join, composition.template)),
        "fragment": list(map(" ".join, composition.fragment)),
    }


def _lines(found: Augmented, count: int, shown: Sequence[Composition]) -> list[str]:
    made = f"{len(found.compositions):,} new examples from {count:,} training examples"
    known = f"{found.templates:,} templates, {found.fillable:,} of them fillable"
    lines = [made, f"{found.fragments:,} fragments; {known}"]
    for each in shown:
        gaps = ", ".join(f"_{place} = {' '.join(it)}" for place, it in enumerate(each.fragment, 1))
        lines += [
            "",
            _pair(each.source, each.target),
            f"  from  {_pair(*each.template)}",
            f"  with  {gaps}",
        ]
    return lines


def _pair(source: Tokens, target: Tokens) -> str:
    return f"{' '.join(source)} -> {' '.join(target)}"


def verb(arguments: Sequence[str]) -> type[Verb]:
    """Return the verb with the flags of the data of the task that is named, and of GECA."""
    flags: list[Any] = [
        ("geca", tyro.conf.OmitArgPrefixes[Geca], field(default_factory=Geca)),
        field_of(options_of(named(arguments))),
    ]
    made = make_dataclass("Augment", flags, bases=(Augment,), frozen=True, kw_only=True)
    made.__doc__ = Augment.__doc__
    return made


VERB = verb
