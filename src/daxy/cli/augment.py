"""Show, write or draw the examples that GECA makes from a task's training set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import tyro

from daxy.augmentation.geca import Geca
from daxy.cli._data import OfTask, TaskName, after, field_of, named, options_of
from daxy.cli._out import check_free
from daxy.cli._picture import Picture, check
from daxy.cli._result import Result
from daxy.cli._verb import Switch, Verb
from daxy.core.errors import require

if TYPE_CHECKING:
    from PIL.Image import Image

    from daxy.augmentation.geca import Composition
    from daxy.core.examples import Example, Examples, Tokens
    from daxy.core.split import Split

BEFORE = ("target", "color_named")
COUNTED = (*BEFORE, "target_after", "color_named_after")
"""Of each kind of thing: how often it is the target, and is called by its color."""
Counts: TypeAlias = tuple[int, ...]
"""By `COUNTED`, or by its beginning."""
DRAWN = 3
"""New examples to draw, unless some are chosen."""


@dataclass(frozen=True, kw_only=True)
class Augment(OfTask):
    """Show, write or draw the examples that GECA makes from a task's training set (Andreas 2020).

    `daxy train --augment geca` trains on them too. The same seed makes the same examples. In gSCAN
    a command and its target object change together; a table counts targets before and after (Ruis
    et al. 2020, Table 4).

    Example:
        daxy augment scan/addprim_jump --show 5
        daxy augment gscan/compositional --count 10000 --draw augmented.png
    """

    task: TaskName
    """The task; `daxy tasks` lists them."""
    seed: int = 0
    """Seed of the augmentation: a run with this seed, data and flags has the same examples."""
    show: int = 3
    """Number of new examples to show, with their templates and fragments."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write all new examples to this file, as JSON lines (.jsonl); in gSCAN, the changed training
    set too."""
    draw: Picture = None
    """Draw new examples, each beside its original, as .png; for tasks with worlds."""
    example: tyro.conf.UseAppendAction[tuple[int, ...]] = ()
    """Number of a new example to draw, from 1; repeat for more. The first three unless given."""
    force: Switch = False
    """Replace that file if it exists."""

    def run(self) -> Result:
        """Return how many there are, and some of them."""
        from daxy.augmentation.geca import Composer
        from daxy.core.console import working

        chosen: Any = self
        self._check(chosen.geca.count)
        with working(f"making {self.task}"):
            split = self.data.for_training().load(self.task)
        train = split.train
        if train.worlds is not None:
            published = self._published(split, chosen.geca)
            return self._in_worlds(train, chosen.geca, published)
        with working(f"cutting {len(train):,} training examples into fragments"):
            found = Composer(train, chosen.geca).augment(self.seed)
        data = {
            "train": len(train),
            "augmented": len(found.compositions),
            "fragments": found.fragments,
            "templates": found.templates,
            "fillable": found.fillable,
        }
        made = f"{len(found.compositions):,} new examples from {len(train):,} training examples"
        known = f"{found.templates:,} templates, {found.fillable:,} of them fillable"
        lines = [made, f"{found.fragments:,} fragments; {known}"]
        return self._answer(data, lines, {"augmented": found.examples}, found.compositions)

    def _check(self, count: int) -> None:
        """Refuse what cannot be shown, drawn or written of so many, before the work is done."""
        from daxy import tasks

        require(self.show >= 0, f"--show must not be negative: {self.show}")
        require(self.seed >= 0, f"--seed must not be negative: {self.seed}")
        check(self.draw, [".png"], force=self.force, by="PIL")
        drawn = "--example needs --draw"
        require(self.draw is not None or not self.example, drawn)
        if self.draw is not None:
            unseen = f"examples of {self.task} have no world to draw"
            require(tasks.get(self.task).grounded, unseen)
            require(count > 0, "--draw needs new examples; expected a positive --count")
        wrong = [each for each in self.example if not 0 < each <= count]
        require(not wrong, f"there are examples 1 to {count:,}, not {', '.join(map(str, wrong))}")
        if self.out is not None:
            check_free(self.out, force=self.force)
            named = f"{self.out}: expected a name that ends in .jsonl"
            require(self.out.suffix.lower() == ".jsonl", named)

    def _in_worlds(self, train: Examples, geca: Geca, published: Mapping[str, Counts]) -> Result:
        """Return what becomes of a training set with worlds."""
        from daxy.augmentation.worlds import Rewriter, targets
        from daxy.core.console import working
        from daxy.languages.grounded import COLORS, SHAPES

        with working(f"cutting {len(train):,} training examples into fragments"):
            found = Rewriter(train, geca).augment(self.seed)
        before, after = targets(train), targets(found.examples)
        kinds = [f"{color} {shape}" for shape in SHAPES for color in COLORS]
        counts = {
            kind: dict(zip(COUNTED, (*before[kind], *after[kind]), strict=True)) for kind in kinds
        }
        data: dict[str, Any] = {
            "train": len(train),
            "changed": found.changed,
            "augmented": len(found.added),
            "targets": counts,
        }
        changed = f"{found.changed:,} of {len(train):,} training examples changed"
        lines = [f"{changed}; {len(found.added):,} new examples", ""]
        lines += [f"{'target':<17}" + "".join(f"{name.replace('_', ' '):>19}" for name in COUNTED)]
        for kind, own in counts.items():
            theirs = {"  in the paper": published[kind]} if kind in published else {}
            for name, values in ({kind: own.values()} | theirs).items():
                lines.append(f"{name:<17}" + "".join(f"{value:>19,}" for value in values))
        data["published"] = {
            kind: dict(zip(COUNTED, own, strict=False)) for kind, own in published.items()
        }
        if self.draw is not None:
            pairs = [
                (found.added[place], train[int(found.made_of[place])])
                for place in self._to_draw(len(found.added))
            ]
            _draw(self.draw, pairs)
            lines += ["", f"{self.draw}:"]
            said = [[" ".join(each.source) for each in pair] for pair in pairs]
            lines += [f"  {now}; was: {was}" for now, was in said]
            data["drawn"] = str(self.draw)
        parts = {"train": found.original, "augmented": found.added}
        return self._answer(data, lines, parts, found.compositions)

    def _to_draw(self, count: int) -> Sequence[int]:
        """Return the places of those to draw among so many."""
        require(count > 0, "GECA made no new examples to draw")
        return [each - 1 for each in self.example] or range(min(DRAWN, count))

    def _published(self, split: Split, geca: Geca) -> Mapping[str, Counts]:
        """Return what the paper counts of its own training set, if this one was made so.

        Without the paper's GECA it is what it counts before.
        """
        from daxy.papers import ruis2020

        usual = type(self.data)().options
        is_theirs = self.task == ruis2020.BASELINE.task and dict(split.provenance.options) == usual
        counts = ruis2020.TABLE_4 if is_theirs else {}
        known = COUNTED if geca == Geca(**ruis2020.GECA) else BEFORE
        return {kind: own[: len(known)] for kind, own in counts.items()}

    def _answer(
        self,
        data: dict[str, Any],
        lines: list[str],
        parts: Mapping[str, Examples],
        compositions: Sequence[Composition],
    ) -> Result:
        """Write what is to be written, and return what is said of it."""
        from daxy.formats import jsonl

        if self.out is not None:
            jsonl.save(self.out, parts)
        shown = compositions[: self.show]
        whole = {
            "task": self.task,
            **data,
            "out": None if self.out is None else str(self.out),
            "shown": [_said(each) for each in shown],
        }
        return Result(data=whole, text="\n".join([*lines, *_described(shown)]))


def _said(composition: Composition) -> dict[str, Any]:
    source, target = (" ".join(each) for each in (composition.source, composition.target))
    return {
        "source": source,
        "target": target,
        "template": list(map(" ".join, composition.template)),
        "fragment": list(map(" ".join, composition.fragment)),
    }


def _described(shown: Sequence[Composition]) -> Iterator[str]:
    for each in shown:
        gaps = ", ".join(f"_{place} = {' '.join(it)}" for place, it in enumerate(each.fragment, 1))
        yield ""
        yield _pair(each.source, each.target)
        yield f"  from  {_pair(*each.template)}"
        yield f"  with  {gaps}"


def _draw(path: Path, pairs: Sequence[tuple[Example, Example]]) -> None:
    """Draw pairs of examples: before augmentation and after."""
    import io

    from daxy.core.files import write_bytes
    from daxy.worlds import drawing, raster

    def shown(example: Example) -> Image:
        world = example.world
        caption = drawing.Caption(command=" ".join(example.source), actions=example.target)
        path = world.path(example.target)
        return raster.image(world, marked=world.target.cell, path=path, caption=caption)

    drawn = io.BytesIO()
    raster.in_rows([[shown(before), shown(now)] for now, before in pairs]).save(drawn, "PNG")
    write_bytes(path, drawn.getvalue())


def _pair(source: Tokens, target: Tokens) -> str:
    return f"{' '.join(source)} -> {' '.join(target)}"


def verb(arguments: Sequence[str]) -> type[Verb]:
    """Return the verb with the flags of the data of the task that is named, and of GECA."""
    task = named(arguments)
    options = options_of(task)
    # Where both have a setting of one name, those of GECA are called as `daxy train` calls them.
    both = {each.name for each in fields(Geca)} & {each.name for each in fields(options)}
    kind: Any = Geca if both else tyro.conf.OmitArgPrefixes[Geca]
    flags: list[Any] = [("geca", kind, field(default_factory=Geca)), field_of(options)]
    made = make_dataclass("Augment", flags, bases=(Augment,), frozen=True, kw_only=True)
    made.__doc__ = Augment.__doc__
    made.after = after(task)
    return made


VERB = verb
