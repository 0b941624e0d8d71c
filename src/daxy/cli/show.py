"""Show examples and statistics of a task's train, validation and test set, or draw one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from daxy.cli._data import OfTask, TaskName, flag, with_data
from daxy.cli._picture import FIGURES, WORLDS, Picture, check, save
from daxy.cli._result import Result
from daxy.cli._run import data_of, finished
from daxy.cli._verb import Switch
from daxy.core.errors import UnknownName, WrongRequest, quote, require

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from daxy.core.examples import Example, Examples, Tokens
    from daxy.core.split import Split
    from daxy.learners.neural.predictor import Predictor
    from daxy.runs.folder import RunFolder
    from daxy.tasks import Data, Task

BAR = 40
BIN = 5
"""Lengths that one row of a table is of, where parts stand side by side."""
DIGITS = 20
"""Of the number of an example, at most."""
MOST = 12
"""Examples whose attention is in one picture."""
GIVEN = {"official": "--official PATH", "file": "--pairs FILE"}
"""The flag that data of one's own files is given by, by where the data comes from."""


@dataclass(frozen=True, kw_only=True)
class Show(OfTask):
    """Show examples and statistics of a task's train, validation and test set.

    With --draw, draw an example of gSCAN: its world, the marked target and the agent's path; a .gif
    is a film. With --run, draw the pushes, pops and reads of a network's memory, or its attention.

    Example:
        daxy show scan/addprim_jump --count 5
        daxy show gscan/compositional --draw world.gif --example D:7
        daxy show transduction/reverse --run runs/RUN --example test:1 --draw inside.png
        daxy show translation/daxy --run runs/RUN --example new_word --draw attention.png
    """

    task: TaskName
    """The task; `daxy tasks` lists them."""
    count: int = 3
    """Number of examples of each part to show."""
    draw: Picture = None
    """Draw a world, as .svg, .png or .gif; a memory or attention, as .svg, .png or .pdf."""
    example: str | None = None
    """Part and number of the example, from 1; `train:1` unless given. For attention, a part alone
    stands for up to 12 of its examples. Without --draw it is shown as text."""
    run_folder: Annotated[Path | None, tyro.conf.arg(name="run", metavar="RUN")] = None
    """Folder of a finished run: show the prediction of its network with attention or memory, on the
    run's own data unless flags choose other lengths. Darker cells or words have more attention."""
    force: Switch = False
    """Replace that file if it exists."""

    def run(self) -> Result:
        """Return the first examples of each part, and what they are like."""
        from daxy import tasks

        require(self.count >= 0, f"--count must not be negative: {self.count}")
        one = self.example is not None or self.draw is not None or self.run_folder is not None
        idle = one and self.count != type(self).count
        require(not idle, "--count is not for --example, --draw or --run; leave it out")
        task = tasks.get(self.task)
        endings, by = (list(WORLDS), "PIL") if task.grounded else (FIGURES, "matplotlib")
        check(self.draw, endings, force=self.force, by=by)
        if self.run_folder is None:
            split = self.data.load(self.task)
        else:
            folder = finished(self.run_folder)
            was_learned = self._asked.partition(":")[0] in ("train", "validation")
            if was_learned:
                own = folder.config().task
                other = f"{folder.path} is a run on {own}, not on {self.task}"
                require(own == self.task, other)
            split = data_of(folder, self.task, self.data).load(self.task)
            if was_learned:
                _check_run(folder, split, self.data)
        if one:
            return self._drawn(split)
        statistics = task.statistics(split)
        parts = {name: _facts(task, rows, self.count) for name, rows in split.named.items()}
        lines = [f"{self.task}: {split.provenance.rule}", f"source: {split.provenance.source}"]
        lines += [f"{fact}: {value:.1%}" for fact, value in statistics.items()]
        lines += [f"note: {split.validation_note}"] if split.validation_note else []
        for name, facts in parts.items():
            lines += ["", *_described(name, facts)]
        data = {
            "task": self.task,
            "provenance": asdict(split.provenance),
            "statistics": statistics,
            "parts": parts,
        }
        tables = list(_distributions(parts))
        return Result(data=data, text=_together(lines, tables) if tables else "\n".join(lines))

    @property
    def _asked(self) -> str:
        """Which example, or which part's."""
        return self.example or "train:1"

    def _drawn(self, split: Split) -> Result:
        """Draw the example that is asked for, as text where there is no file for it."""
        asked = self._asked
        if self.run_folder is not None and split.test.worlds is None:
            return self._in_network(self.run_folder, split, asked)
        example = _chosen(split, asked)
        if example.world is not None:
            return self._in_world(example)
        if self.draw is not None:
            none = f"examples of {self.task} have no world to draw"
            raise WrongRequest(f"{none}; expected --run of a network with a memory or attention")
        data = _example(example, False)
        return Result(data=data, text=f"{data['source']}: {data['target']}")

    def _in_network(self, run: Path, split: Split, asked: str) -> Result:
        """Return what goes on in a run's network when it is asked about examples."""
        from daxy.runs.saved import load_network

        network = load_network(run)
        if network.has_memory:
            of = f"{asked} of {self.task}, {run.resolve().name}"
            return self._in_memory(network, _chosen(split, asked), of)
        neither = "this network has neither a memory nor attention"
        require(network.attends, neither)
        is_part = ":" not in asked and asked in split.named
        return self._attending(
            network, _first(split, asked) if is_part else [_chosen(split, asked)]
        )

    def _attending(self, network: Predictor, examples: Sequence[Example]) -> Result:
        """Return which words a network attends to."""
        from daxy.core.examples import Sequences
        from daxy.report.alignment import Alignment, draw

        answers = network.predict(Sequences.of([each.source for each in examples]))
        found = [
            Alignment.of(each.source, said, network.alignment(each.source, said))
            for each, said in zip(examples, answers, strict=True)
        ]
        data: dict[str, Any] = {
            "examples": [
                {**_example(each, False), "prediction": " ".join(said), **alignment.as_json}
                for each, said, alignment in zip(examples, answers, found, strict=True)
            ]
        }
        lines = list[str]()
        for each, alignment in zip(data["examples"], found, strict=True):
            lines += ["", f"{each['source']}: {each['target']}"]
            lines += [f"prediction: {each['prediction']}"]
            lines += [] if self.draw else ["", *alignment.lines]
        if self.draw is not None:
            save(draw(found), self.draw)
            data["out"] = str(self.draw)
            lines += ["", str(self.draw)]
        return Result(data=data, text="\n".join(lines[1:]))

    def _in_memory(self, network: Predictor, example: Example, of: str) -> Result:
        """Return what a network's memory does when it is asked about an example."""
        from daxy.core.examples import Sequences
        from daxy.report.memory_trace import MemoryTrace

        # Of a longer test than its own, it may say as much as is to be said, and one more.
        room = max(network.max_decode_length, len(example.target) + 1)
        (said,) = network.predict(Sequences.of([example.source]), max_decode_length=room)
        inside = network.inside(example.source, said)
        title = f"{of}: {'right' if said == example.target else 'wrong'}"
        trace = MemoryTrace.of(network.memory, example.source, said, inside, title)
        data = {**_example(example, False), "prediction": " ".join(said), **trace.as_json}
        if self.draw is not None:
            save(trace.figure, self.draw)
            data["out"] = str(self.draw)
        told = [f"{data['source']}: {data['target']}", f"prediction: {data['prediction']}"]
        if self.draw is not None:
            return Result(data=data, text="\n".join([f"{self.draw}: {told[0]}", told[1]]))
        return Result(data=data, text="\n".join([*told, "", *trace.lines]))

    def _in_world(self, example: Example) -> Result:
        """Return an example and its world, as a picture or as text."""
        from daxy.core.files import write_bytes
        from daxy.formats import world_json
        from daxy.languages.grounded import parse, referent
        from daxy.worlds.drawing import demonstration, prediction
        from daxy.worlds.text import as_text

        command = parse(example.source)
        data = {**_example(example, True), "world": world_json.to_json(example.world)}
        said = f"{data['source']}: {data['target']}"
        actions, shades = example.target, list[float]()
        if self.run_folder is not None:
            actions, shades = _answered(self.run_folder, example)
            size = example.world.size
            rows = [shades[first : first + size] for first in range(0, len(shades), size)]
            data |= {"prediction": ", ".join(actions), "attention": rows}
            said += f"\nprediction: {data['prediction']}"
        if self.draw is None:
            marked = example.world.placed[referent(command.phrase, example.world.things)].cell
            lines = [said, "", as_text(example.world, marked)]
            if shades:
                lines += ["", "attention to each cell, in per cent:"]
                lines += [
                    " ".join(f"{100 * share:3.0f}" for share in row) for row in data["attention"]
                ]
            return Result(data=data, text="\n".join(lines))
        kind = WORLDS[self.draw.suffix.lower()]
        asked = (example.world, command, actions)
        if self.run_folder is None:
            picture = demonstration(*asked, kind)
        else:
            picture = prediction(*asked, example.target, kind, shades=shades)
        write_bytes(self.draw, picture)
        return Result(data={"out": str(self.draw), **data}, text=f"{self.draw}: {said}")


def _chosen(split: Split, asked: str) -> Example:
    """Return the example with a part's name and a number in it, as `train:1`."""
    part, _, number = asked.partition(":")
    if part not in split.named:
        raise UnknownName("part", part, split.named)
    rows = split.named[part]
    require(len(rows) > 0, f"{part} has no examples, as the data is chosen")
    place = int(number) if number.isdecimal() and len(number) <= DIGITS else 0
    there = f"{part} has examples 1 to {len(rows)}, as {part}:1; not {quote(asked, most=60)}"
    require(0 < place <= len(rows), there)
    return rows[place - 1]


def _first(split: Split, part: str) -> list[Example]:
    """Return the first examples of a part."""
    require(len(split.named[part]) > 0, f"{part} has no examples, as the data is chosen")
    return list(split.named[part][:MOST])


def _check_run(folder: RunFolder, split: Split, data: Data) -> None:
    """Refuse a run that was trained on other data than this, where it is asked what it learned."""
    run, config, here = folder.path, folder.config(), split.provenance
    differing = {
        name: value
        for name, value in config.choices.items()
        if data.choices.get(name, value) != value
    }
    # What a file says is kept, and what tells that there is one; its name is not.
    files = ["--grammar FILE"] if differing.pop("grammar", None) else []
    source = config.data["source"]
    if source != data.origin and source in GIVEN:
        differing.pop("sentences", None)
        files.append(GIVEN[source])
    others = [flag(name, value) for name, value in differing.items()]
    flags = " ".join([*files, *others]) or "the same files"
    differs = f"{run} is a run on another choice of {here.task}'s data; expected {flags}"
    require(config.data["checksum"] == here.checksum, differs)


def _answered(run: Path, example: Example) -> tuple[Tokens, list[float]]:
    """Return what a run's network does, and how much it attends to each cell, row after row."""
    from daxy.core.examples import Sequences
    from daxy.runs.saved import load_network
    from daxy.worlds.columns import Worlds

    network = load_network(run)
    source, world = Sequences.of([example.source]), Worlds.of([example.world])
    said = network.predict(source, world)
    (attended,) = network.attended(source, said, world)
    return said[0], [round(float(each), 4) for each in attended]


def _facts(task: Task[Any], examples: Examples, count: int) -> dict[str, Any]:
    import numpy as np

    lengths, lines = np.unique(examples.target.lengths, return_counts=True)
    return {
        "count": len(examples),
        "distinct": len(set(examples.keys)),
        "facts": task.facts(examples),
        "source_lengths": _range(examples.source.lengths.tolist()),
        "target_lengths": dict(zip(map(str, lengths.tolist()), lines.tolist(), strict=True)),
        "distributions": task.distributions(examples),
        "examples": [_example(each, _has_spaces(examples)) for each in examples[:count]],
    }


def _example(example: Example, spaced: bool) -> dict[str, str]:
    target = (", " if spaced else " ").join(example.target)
    return {"key": example.key, "source": " ".join(example.source), "target": target}


def _has_spaces(examples: Examples) -> bool:
    """Whether actions have spaces in them, so that commas have to stand between them."""
    return any(" " in symbol for symbol in examples.target.symbols)


def _range(lengths: list[int]) -> list[int]:
    return [min(lengths), max(lengths)] if lengths else []


def _described(name: str, facts: dict[str, Any]) -> Iterator[str]:
    yield f"{name}: {facts['count']:,} examples, {facts['distinct']:,} distinct"
    if not facts["count"]:
        return
    for example in facts["examples"]:
        yield f"  {example['source']} -> {example['target']}"
    if facts["distributions"]:
        return  # of which the lengths are one: below, beside the other parts
    yield "  source lengths: {} to {} tokens; target lengths:".format(*facts["source_lengths"])
    most = max(facts["target_lengths"].values())
    for length, lines in facts["target_lengths"].items():
        yield f"  {length:>4} {lines:>6,} {'#' * -(-lines * BAR // most)}"


def _distributions(parts: Mapping[str, dict[str, Any]]) -> Iterator[Table]:
    """Yield tables of what the parts are like, side by side."""
    from rich.table import Table

    told = {name: facts for name, facts in parts.items() if facts["distributions"]}
    if not told:
        return
    first = next(iter(told.values()))
    counts = Table("examples", *told, box=None, pad_edge=False)
    counts.add_row("all", *(f"{facts['count']:,}" for facts in told.values()))
    for fact in first["facts"]:
        counts.add_row(fact, *(_number(facts["facts"][fact]) for facts in told.values()))
    yield counts
    every = {name: facts["distributions"] for name, facts in told.items()}
    lengths = {
        name: {"target length": _binned(facts["target_lengths"])} for name, facts in told.items()
    }
    for kind in (*first["distributions"], "target length"):
        table = Table(kind, *told, box=None, pad_edge=False)
        found = {name: (every[name] | lengths[name])[kind] for name in told}
        values = dict.fromkeys(value for counts in found.values() for value in counts)
        numbered = all(value[0].isdigit() for value in values)
        ordered = sorted(values, key=lambda v: int(v.split("-")[0])) if numbered else values
        for value in ordered:
            shares = (found[name].get(value, 0) / max(1, told[name]["count"]) for name in told)
            table.add_row(value, *(f"{share:.1%}" if share else "-" for share in shares))
        yield table


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def _binned(counts: Mapping[str, int]) -> dict[str, int]:
    """Return how many examples there are of lengths 1 to 5, 6 to 10, and so on."""
    found: dict[str, int] = {}
    for length, count in counts.items():
        first = (int(length) - 1) // BIN * BIN + 1
        name = f"{first}-{first + BIN - 1}"
        found[name] = found.get(name, 0) + count
    return found


def _together(lines: list[str], tables: list[Table]) -> RenderableType:
    from rich.console import Group

    return Group(*lines, *(each for table in tables for each in ("", table)))


VERB = with_data(Show)
