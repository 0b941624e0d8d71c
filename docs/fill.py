"""Pages that the program writes itself, so that they cannot differ from it.

A page with the line `<!-- fill: tasks -->` gets, when the site is built, a card for every family of
tasks there; `commands` is the help of every verb, `measured` the table of measured figures,
`growth` the table that `python -m benchmarks.throughput --grow` measured, `speed` what other
benchmarks printed, and `targets` what GECA makes of gSCAN.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import daxy
from daxy import tasks
from daxy.augmentation import Geca
from daxy.augmentation.worlds import Rewriter
from daxy.augmentation.worlds import targets as count
from daxy.cli import main as command_line
from daxy.experiments.ledger import Ledger
from daxy.experiments.papers import ruis2020
from daxy.report import readme
from daxy.worlds.examples import GroundedExamples

ROOT = Path(__file__).parent.parent
MARK = re.compile(r"^<!-- fill: (\w+) -->$", re.MULTILINE)
WIDTH = "100"


def on_page_markdown(markdown: str, **_: object) -> str:
    """Fill in one page; called by mkdocs."""
    return re.sub(
        r"^<!-- fill: (\w+) -->$", lambda match: FILLED[match[1]](), markdown, flags=re.MULTILINE
    )


def cards() -> str:
    """Return a card for every family of tasks, benchmark by benchmark."""
    return "\n".join(_cards())


def help_of_verbs() -> str:
    """Return what `daxy VERB --help` prints, verb by verb."""
    parts = [f"```text\n{_printed('--help')}```\n"]
    parts += [
        f"## daxy {verb}\n\n```text\n{_printed(verb, '--help')}```\n"
        for verb in command_line.verbs()
    ]
    return "\n".join(parts)


def measured() -> str:
    """Return the measured figures beside the published ones."""
    return readme.render(Ledger(ROOT / "results"))


def growth() -> str:
    """Return all networks' samples a second by units and by networks that train together."""
    kept = json.loads((ROOT / "benchmarks" / "growth.json").read_text())
    rates = kept["samples a second"]
    counts = list(next(iter(rates.values())))
    lines = [f"| units | {' | '.join(counts)} |", f"|---:|{'---:|' * len(counts)}"]
    for hidden, own in rates.items():
        lines.append(f"| {hidden} | {' | '.join(f'{own[count]:,.0f}' for count in counts)} |")
    place = f"{kept['what']}, daxy {kept['daxy']}, jax {kept['jax']}, {kept['started'][:10]}."
    return "\n".join([*lines, "", place, ""])


def speed() -> str:
    """Return what each benchmark that was kept printed, and where and when."""
    parts = list[str]()
    for path in sorted((ROOT / "benchmarks" / "kept").glob("*.json")):
        kept = json.loads(path.read_text())
        asked = f"python -m benchmarks.{path.stem} {kept['arguments']}".rstrip()
        place = f"a machine of {kept['cores']} cores ({kept['processor']}), {kept['started'][:10]}"
        parts += [f"## {path.stem}", "", kept["what"], ""]
        parts += ["```text", f"$ {asked}", *kept["lines"], "```", ""]
        parts += [f"daxy {kept['daxy']}, jax {kept['jax']}, {kept['device_kind']}, {place}.", ""]
    return "\n".join(parts)


def _cards() -> Iterator[str]:
    every = [tasks.get(name) for name in tasks.available()]
    benchmark = ""
    for family in dict.fromkeys(task.family for task in every):
        kin = [task for task in every if task.family == family]
        if family.partition("/")[0] != benchmark:
            benchmark = family.partition("/")[0]
            yield f"## {benchmark}\n"
        _, _, card = kin[0].card.partition("\n")
        yield f"### {family}\n"
        if len(kin) > 1:
            yield f"{len(kin)} tasks; the first of them, `{kin[0].name}`:\n"
        yield card.strip() + "\n"


def _printed(*arguments: str) -> str:
    out = io.StringIO()
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = WIDTH
    try:
        with contextlib.redirect_stdout(out):
            command_line.main(arguments)
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    return out.getvalue().rstrip("\n") + "\n"


def targets() -> str:
    """Return how often some things are targets of gSCAN after GECA, as published and as made."""
    split = daxy.load("gscan/compositional")
    assert isinstance(split.train, GroundedExamples)
    made = Rewriter(split.train, Geca(**ruis2020.GECA)).rewritten(0)
    counted = count(made.examples)
    lines = ["| target | published: target | color named | measured: target | color named |"]
    lines.append(f"|---|{'---:|' * 4}")
    for kind, (_, _, *published) in ruis2020.TABLE_4.items():
        figures = "".join(f" {each:,} |" for each in (*published, *counted[kind]))
        lines.append(f"| {kind}s |{figures}")
    return "\n".join(lines)


FILLED = {
    "tasks": cards,
    "commands": help_of_verbs,
    "measured": measured,
    "growth": growth,
    "speed": speed,
    "targets": targets,
}
