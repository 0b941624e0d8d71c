"""Ask the network of a finished run about commands of your own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._picture import FIGURES, WORLDS, Picture, check, save, save_world
from daxy.cli._result import Result
from daxy.cli._run import finished
from daxy.cli._verb import Switch, Verb
from daxy.core.errors import WrongRequest, require

if TYPE_CHECKING:
    from daxy.core.examples import Tokens
    from daxy.learners.neural.predictor import Answer
    from daxy.tasks import Task
    from daxy.worlds.world import World

MOST = 12
"""Maximum answers in one picture of attention."""
NAMED = 3
"""Maximum right answers in the text."""


@dataclass(frozen=True, kw_only=True)
class Ask(Verb):
    """Ask the network of a finished run about commands of your own.

    Where the task's language has rules, the right answer is shown too. With --draw, a picture shows
    the attention of the network at each step, or its path in a world.

    Example:
        daxy ask runs/RUN "jump left twice" "walk twice"
        daxy ask runs/RUN "jump twice" --draw attention.png
        daxy ask runs/RUN "walk to a red circle" --world world.json --draw world.gif
    """

    run_folder: tyro.conf.Positional[Annotated[Path, tyro.conf.arg(metavar="RUN")]]
    """Folder of a finished run."""
    sources: tyro.conf.Positional[Annotated[tuple[str, ...], tyro.conf.arg(metavar="SOURCE")]]
    """Source sequences, each in quotes."""
    world: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """World of gSCAN commands as JSON, or an example of an official file."""
    draw: Picture = None
    """Picture of the attention, as .png, .svg or .pdf; of a world, as .svg, .png or .gif."""
    force: Switch = False
    """Replace that file if it exists."""

    def run(self) -> Result:
        """Return the network's answers, each with the right one."""
        from daxy import tasks
        from daxy.formats import world_json
        from daxy.runs.saved import load_network

        folder = finished(self.run_folder)
        task = tasks.get(folder.config().task)
        require(bool(self.sources), 'expected at least one source, as "jump twice"')
        check(self.draw, WORLDS if task.grounded else FIGURES, force=self.force)
        needs = f"{task.name} needs a world; expected --world FILE"
        unused = "--world is for runs on gSCAN; leave it out"
        require(task.grounded == (self.world is not None), needs if task.grounded else unused)
        world = None if self.world is None else world_json.read(self.world)
        sources = [task.read(text) for text in self.sources]
        require(all(sources), "a source is empty; expected its tokens")
        network = load_network(folder.path)
        if self.draw is not None:
            require(network.attends, f"{folder.path}: its network has no attention to draw")
            most = 1 if task.grounded else MOST
            require(len(sources) <= most, f"--draw shows {most} at most, not {len(sources)}")
        replies = [_Reply.of(task, answer) for answer in network.answers(sources, world)]
        data: dict[str, Any] = {"run": str(folder.path), "task": task.name}
        has_attention = self.json or self.draw is not None  # it costs a compilation
        data["answers"] = [it.as_json | (it.attention if has_attention else {}) for it in replies]
        lines = [line for reply in replies for line in ("", *reply.lines)][1:]
        if self.draw is not None:
            _draw(replies, world, self.draw)
            data |= {"out": str(self.draw)}
            lines += ["", str(self.draw)]
        return Result(data=data, text="\n".join(lines))


@dataclass(frozen=True)
class _Reply:
    """An answer of the network, and the right answers."""

    answer: Answer
    targets: tuple[Tokens, ...]
    """All right answers; none where the task has no rules."""
    note: str
    """Reason why no right answer is known."""

    @classmethod
    def of(cls, task: Task[Any], answer: Answer) -> _Reply:
        try:
            return cls(answer, task.targets(answer.source, answer.world), "")
        except WrongRequest as error:
            return cls(answer, (), str(error))

    @property
    def is_right(self) -> bool | None:
        """Whether the answer is right; None without right answers."""
        return self.answer.tokens in self.targets if self.targets else None

    @property
    def first_wrong(self) -> int | None:
        """Position of the first wrong token, from 1, by the nearest right answer."""
        from daxy.core.tokens import first_difference

        wrong = [first_difference(self.answer.tokens, target) for target in self.targets]
        positions = [position for position in wrong if position is not None]
        return max(positions) + 1 if positions and not self.is_right else None

    @property
    def as_json(self) -> dict[str, Any]:
        """The reply as JSON values."""
        answer = self.answer
        return {
            "source": list(answer.source),
            "prediction": list(answer.tokens),
            "right": self.is_right,
            "targets": [list(target) for target in self.targets],
            "first_wrong": self.first_wrong,
            "note": self.note,
        }

    @property
    def attention(self) -> dict[str, Any]:
        """The attention at each step as JSON values."""
        steps = self.answer.attention
        if steps is None:
            return {"attention": None}
        return {"attention": [[round(float(share), 4) for share in step] for step in steps]}

    @property
    def lines(self) -> Iterator[str]:
        """The reply as text."""
        answer = self.answer
        between = ", " if any(" " in token for it in self.targets for token in it) else " "
        yield " ".join(answer.source)
        right = " (right)" if self.is_right else ""
        wrong = f" (wrong from token {self.first_wrong} on)" if self.first_wrong else ""
        yield f"  network  {answer or '(nothing)'}{right}{wrong}"
        if self.is_right is False:
            for index, target in enumerate(self.targets[:NAMED]):
                yield f"  {'right' if index == 0 else 'or':<7}  {between.join(target)}"
            if len(self.targets) > NAMED:
                yield f"  {'':<7}  and {len(self.targets) - NAMED:,} more"
        if self.note:
            yield f"  note     {self.note}"


def _draw(replies: Sequence[_Reply], world: World | None, path: Path) -> None:
    """Draw the attention of each answer, or the one answer in its world."""
    from daxy.languages.grounded import parse
    from daxy.report.alignment import Alignment, draw
    from daxy.worlds.drawing import prediction_look

    if world is not None:
        (reply,) = replies
        answer = reply.answer
        require(bool(reply.targets), reply.note)
        shades = [] if answer.attention is None else answer.attention.mean(axis=0).tolist()
        actions, command = answer.tokens, parse(answer.source)
        look = prediction_look(world, command, actions, reply.targets[0], shades=shades)
        save_world(path, world, actions, look)
        return
    answers = [(reply.answer, reply.answer.attention) for reply in replies]
    save(
        draw(
            [Alignment.of(it.source, it.tokens, rows) for it, rows in answers if rows is not None]
        ),
        path,
    )


VERB = Ask
