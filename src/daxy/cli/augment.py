"""Show, write or draw the examples that GECA makes from a task's training set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import tyro

from daxy.augmentation.geca import Geca
from daxy.cli._data import TaskName, TaskVerb
from daxy.cli._out import check_free
from daxy.cli._picture import Picture, check
from daxy.cli._result import Result
from daxy.cli._verb import Switch
from daxy.core.errors import require

if TYPE_CHECKING:
    from PIL.Image import Image

    from daxy.augmentation.geca import Composition
    from daxy.core.examples import Example, Examples, Tokens
    from daxy.core.split import Split
    from daxy.tasks import DatasetOptions

BEFORE = ("target", "color_named")
COUNTED = (*BEFORE, "target_after", "color_named_after")
"""Counts of each kind of object: as the target, and named by its color."""
Counts: TypeAlias = tuple[int, ...]
"""Counts in the order of `COUNTED`; the first of them without GECA."""
DRAWN = 3
"""Default number of new examples to draw."""


@dataclass(frozen=True, kw_only=True)
class Augment(TaskVerb):
    """Show, write or draw the examples that GECA makes from a task's training set (Andreas 2020).

    `daxy train --augment geca` trains on them too. The same seed makes the same examples. In gSCAN
    a command and its target object change together; a table counts targets before and after (Ruis
    et al. 2020, Table 4).

    Example:
        daxy augment scan/addprim_jump --show 5
        daxy augment gscan/compositional --count 10000 --draw augmented.png
    """

    task: TaskName
    seed: int = 0
    """Seed of the augmentation: a run with this seed, data and flags has the same examples."""
    show: int = 3
    """Number of new examples to show, with their templates and fragments."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write all new examples to this file, as JSON lines (.jsonl); in gSCAN, the changed training
    set too."""
    draw: Picture = None
    """Draw new examples, each next to its original, as .png; for tasks with worlds."""
    example: tyro.conf.UseAppendAction[tuple[int, ...]] = ()
    """Number of a new example to draw, from 1; repeat for more. By default the first three."""
    force: Switch = False
    """Replace that file if it exists."""

    @classmethod
    def fields_of(cls, options: type[DatasetOptions]) -> list[Any]:
        """Return the fields of GECA and of a task's data."""
        # Settings of the same name: those of GECA have the names that `daxy train` has.
        both = {each.name for each in fields(Geca)} & {each.name for each in fields(options)}
        kind: Any = Geca if both else tyro.conf.OmitArgPrefixes[Geca]
        return [("geca", kind, field(default_factory=Geca)), *super().fields_of(options)]

    def run(self) -> Result:
        """Return the number of new examples, and some of them."""
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
            new = Composer(train, chosen.geca).augment(self.seed)
        data = {
            "train": len(train),
            "augmented": len(new.compositions),
            "fragments": new.fragments,
            "templates": new.templates,
            "fillable": new.fillable,
        }
        count = f"{len(new.compositions):,} new examples from {len(train):,} training examples"
        templates = f"{new.templates:,} templates, {new.fillable:,} of them fillable"
        lines = [count, f"{new.fragments:,} fragments; {templates}"]
        return self._answer(data, lines, {"augmented": new.examples}, new.compositions)

    def _check(self, count: int) -> None:
        """Refuse wrong numbers and output files before the work begins."""
        from daxy import tasks

        require(self.show >= 0, f"--show must not be negative: {self.show}")
        require(self.seed >= 0, f"--seed must not be negative: {self.seed}")
        check(self.draw, [".png"], force=self.force, by="PIL")
        require(self.draw is not None or not self.example, "--example needs --draw")
        if self.draw is not None:
            no_world = f"examples of {self.task} have no world to draw"
            require(tasks.get(self.task).grounded, no_world)
            require(count > 0, "--draw needs new examples; expected a positive --count")
        wrong = [each for each in self.example if not 0 < each <= count]
        require(not wrong, f"there are examples 1 to {count:,}, not {', '.join(map(str, wrong))}")
        if self.out is not None:
            check_free(self.out, force=self.force)
            named = f"{self.out}: expected a name that ends in .jsonl"
            require(self.out.suffix.lower() == ".jsonl", named)

    def _in_worlds(self, train: Examples, geca: Geca, published: Mapping[str, Counts]) -> Result:
        from daxy.augmentation.worlds import Rewriter, targets
        from daxy.core.console import working
        from daxy.languages.grounded import COLORS, SHAPES

        with working(f"cutting {len(train):,} training examples into fragments"):
            new = Rewriter(train, geca).augment(self.seed)
        before, after = targets(train), targets(new.examples)
        kinds = [f"{color} {shape}" for shape in SHAPES for color in COLORS]
        counts = {
            kind: dict(zip(COUNTED, (*before[kind], *after[kind]), strict=True)) for kind in kinds
        }
        data: dict[str, Any] = {
            "train": len(train),
            "changed": new.changed,
            "augmented": len(new.added),
            "targets": counts,
        }
        changed = f"{new.changed:,} of {len(train):,} training examples changed"
        lines = [f"{changed}; {len(new.added):,} new examples", ""]
        lines += [f"{'target':<17}" + "".join(f"{name.replace('_', ' '):>19}" for name in COUNTED)]
        for kind, count in counts.items():
            rows: dict[str, Iterable[int]] = {kind: count.values()}
            rows |= {"  in the paper": published[kind]} if kind in published else {}
            for name, values in rows.items():
                lines.append(f"{name:<17}" + "".join(f"{value:>19,}" for value in values))
        data["published"] = {
            kind: dict(zip(COUNTED, count, strict=False)) for kind, count in published.items()
        }
        if self.draw is not None:
            pairs = [
                (new.added[index], train[int(new.made_of[index])])
                for index in self._to_draw(len(new.added))
            ]
            _draw(self.draw, pairs)
            lines += ["", f"{self.draw}:"]
            sources = [[" ".join(example.source) for example in pair] for pair in pairs]
            lines += [f"  {now}; was: {was}" for now, was in sources]
            data["drawn"] = str(self.draw)
        parts = {"train": new.original, "augmented": new.added}
        return self._answer(data, lines, parts, new.compositions)

    def _to_draw(self, count: int) -> Sequence[int]:
        require(count > 0, "GECA made no new examples to draw")
        return [each - 1 for each in self.example] or range(min(DRAWN, count))

    def _published(self, split: Split, geca: Geca) -> Mapping[str, Counts]:
        """Return the paper's counts, if these are the paper's data.

        Without the paper's GECA they are the counts before augmentation.
        """
        from daxy.papers import ruis2020

        defaults = type(self.data)().options
        is_default = dict(split.provenance.options) == defaults
        counts = ruis2020.TABLE_4 if is_default and self.task == ruis2020.BASELINE.task else {}
        known = COUNTED if geca == Geca(**ruis2020.GECA) else BEFORE
        return {kind: count[: len(known)] for kind, count in counts.items()}

    def _answer(
        self,
        data: dict[str, Any],
        lines: list[str],
        parts: Mapping[str, Examples],
        compositions: Sequence[Composition],
    ) -> Result:
        """Write the output file, and return the answer."""
        from daxy.formats import jsonl

        if self.out is not None:
            jsonl.save(self.out, parts)
        shown = compositions[: self.show]
        whole = {
            "task": self.task,
            **data,
            "out": None if self.out is None else str(self.out),
            "shown": [_as_json(each) for each in shown],
        }
        return Result(data=whole, text="\n".join([*lines, *_described(shown)]))


def _as_json(composition: Composition) -> dict[str, Any]:
    return {
        "source": " ".join(composition.source),
        "target": " ".join(composition.target),
        "template": list(map(" ".join, composition.template)),
        "fragment": list(map(" ".join, composition.fragment)),
    }


def _described(shown: Sequence[Composition]) -> Iterator[str]:
    for each in shown:
        gaps = ", ".join(f"_{n} = {' '.join(words)}" for n, words in enumerate(each.fragment, 1))
        yield ""
        yield _pair(each.source, each.target)
        yield f"  from  {_pair(*each.template)}"
        yield f"  with  {gaps}"


def _draw(path: Path, pairs: Sequence[tuple[Example, Example]]) -> None:
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


VERB = Augment
