"""Parts of pages that the program writes, so that they cannot differ from it.

A page with the line `<!-- fill: NAME ARGUMENT -->` gets what the function of that name returns
when the site is built; `FILLED` lists them.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from daxy import papers, tasks
from daxy.cli import main as command_line
from daxy.core.errors import WrongRequest
from daxy.report import results
from daxy.reproduction import references
from daxy.reproduction.ledger import Ledger
from daxy.tasks import Task, in_one_line, typical

ROOT = Path(__file__).parent.parent
LEDGER = Ledger(ROOT / "results")
WIDTH = "80"
"""Columns of the help texts."""


def on_config(config: Any, **_: object) -> Any:
    """Leave out of the navigation what does not exist; called by mkdocs."""
    config["nav"] = list(_existing(config["nav"], Path(config["docs_dir"])))
    return config


def on_page_markdown(markdown: str, **_: object) -> str:
    """Fill in one page; called by mkdocs."""
    return re.sub(
        r"^<!-- fill: (\w+) ?(\S*) -->$",
        lambda match: FILLED[match[1]](*filter(None, [match[2]])),
        markdown,
        flags=re.MULTILINE,
    )


def _existing(entries: Sequence[Any], folder: Path) -> Iterator[Any]:
    for entry in entries:
        if isinstance(entry, str):
            yield entry
            continue
        ((title, value),) = entry.items()
        if isinstance(value, list):
            yield {title: list(_existing(value, folder))}
        elif (folder / value).is_file():
            yield entry


def cards(benchmark: str) -> str:
    """Return a card with two examples for every family of a benchmark's tasks."""
    return "\n".join(_card(members) for members in _families(benchmark))


def sizes(benchmark: str) -> str:
    """Return the number of examples of every family of a benchmark's tasks."""
    lines = ["| task | train | test | what the test asks |", "|---|---:|---:|---|"]
    for task, *_ in _families(benchmark):
        name = f"[`{task.family}`](#{_anchor(task)})"
        train, test = (f"{size:,}" if size else "" for size in (task.sizes.train, task.sizes.test))
        lines.append(f"| {name} | {train} | {test} | {task.summary} |")
    return "\n".join(lines)


def help_of_verbs() -> str:
    """Return what `daxy VERB --help` prints, verb by verb."""
    parts = [f"```text\n{_printed('--help')}```\n"]
    parts += [
        f"## daxy {verb}\n\n```text\n{_printed(verb, '--help')}```\n"
        for verb in command_line.verbs()
    ]
    return "\n".join(parts)


def quoted(benchmark: str) -> str:
    """Return the scores that other papers report on a benchmark, task by task."""
    parts = list[str]()
    known = [each for each in references.references() if each.task.startswith(f"{benchmark}/")]
    for task in dict.fromkeys(each.task for each in known):
        rows = [each for each in known if each.task == task]
        tested = any(each.test for each in rows)
        heads = ("test", "learner", "score", "source", "note")
        parts += [f"### `{task}` {{ #{task.replace('/', '-')} }}\n"]
        parts += [f"| {' | '.join(heads[not tested :])} |"]
        parts += [f"|{'|'.join(('---', '---', '---:', '---', '---')[not tested :])}|"]
        for each in rows:
            source = f"[{each.source.citation}](#sources)"
            cells = (each.test, each.learner, each.printed, source, each.note)
            parts.append(f"| {' | '.join(cells[not tested :])} |")
        parts.append("")
    return "\n".join(parts)


def sources() -> str:
    """Return where the quoted scores were read."""
    every = sorted(references.SOURCES.values(), key=lambda source: source.citation)
    return "\n".join(f"- {source.citation}: {source.place}." for source in every)


def growth() -> str:
    """Return all networks' samples a second by units and by networks that train together."""
    kept = json.loads((ROOT / "benchmarks" / "growth.json").read_text())
    rates = kept["samples a second"]
    counts = list(next(iter(rates.values())))
    lines = [f"| units | {' | '.join(counts)} |", f"|---:|{'---:|' * len(counts)}"]
    for hidden, row in rates.items():
        lines.append(f"| {hidden} | {' | '.join(f'{row[count]:,.0f}' for count in counts)} |")
    place = f"{kept['what']}, daxy {kept['daxy']}, jax {kept['jax']}, {kept['started'][:10]}."
    return "\n".join([*lines, "", place, ""])


def speed() -> str:
    """Return what each benchmark that was kept printed, and where and when."""
    parts = list[str]()
    for path in sorted((ROOT / "benchmarks" / "kept").glob("*.json")):
        kept = json.loads(path.read_text())
        command = f"python -m benchmarks.{path.stem} {kept['arguments']}".rstrip()
        place = f"a machine of {kept['cores']} cores ({kept['processor']}), {kept['started'][:10]}"
        parts += [f"## {path.stem}", "", kept["what"], ""]
        parts += ["```text", f"$ {command}", *kept["lines"], "```", ""]
        parts += [f"daxy {kept['daxy']}, jax {kept['jax']}, {kept['device_kind']}, {place}.", ""]
    return "\n".join(parts)


def _families(benchmark: str) -> list[list[Task[Any]]]:
    every = [tasks.get(name) for name in tasks.available() if name.startswith(f"{benchmark}/")]
    families = dict.fromkeys(task.family for task in every)
    return [[task for task in every if task.family == family] for family in families]


def _anchor(task: Task[Any]) -> str:
    return task.name.replace("/", "-")


def _card(members: Sequence[Task[Any]]) -> str:
    """Return the card of a family, by its first task."""
    first, *others = members
    _, _, about = first.card.partition("\n")
    lines = [f"### `{first.family}` {{ #{_anchor(first)} }}\n"]
    if others:
        lines.append(f"{len(members)} tasks; the first of them, `{first.name}`:\n")
    lines.append(about.strip())
    if not first.grounded:
        with contextlib.suppress(WrongRequest):  # a task that needs a file has no example here
            examples = map(in_one_line, typical(first.split()))
            lines += ["", "```text", *examples, "```"]
    return "\n".join(lines) + "\n"


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


FILLED: dict[str, Callable[..., str]] = {
    "cards": cards,
    "commands": help_of_verbs,
    "growth": growth,
    "quoted": quoted,
    "results": lambda paper: results.page(papers.get(paper), LEDGER),
    "sizes": sizes,
    "sources": sources,
    "speed": speed,
    "summary": lambda: results.summary(LEDGER),
}
