"""Show the parse of a command and the actions it means.

An error says where the first wrong word stands and which words could stand there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import tyro

from daxy.cli._verb import Result, Verb
from daxy.languages import scan


@dataclass(frozen=True, kw_only=True)
class Interpret(Verb):
    """Show the parse of a command and the actions it means.

    Example:
        daxy interpret scan "jump around left twice"
    """

    language: tyro.conf.Positional[Annotated[Literal["scan"], tyro.conf.arg(metavar="LANGUAGE")]]
    """The language of the command."""
    command: tyro.conf.Positional[Annotated[tuple[str, ...], tyro.conf.arg(metavar="COMMAND")]]
    """Its words, in quotes or not."""

    def run(self) -> Result:
        """Return the parse as a tree, and the actions."""
        words = tuple(" ".join(self.command).split())
        command = scan.SCAN.parse(words)
        tree, actions = _tree(command), scan.denote(command)
        lines = [*_lines(tree), "", f"{len(actions)} actions: {' '.join(actions)}"]
        data = {"command": " ".join(words), "parse": tree, "actions": list(actions)}
        return Result(data=data, text="\n".join(lines))


def _tree(command: scan.Command) -> dict[str, Any]:
    """Return a node with its label and the nodes below it."""
    match command:
        case scan.Act(verb):
            return _node(verb)
        case scan.Toward(verb, direction):
            return _node(direction, _node(verb))
        case scan.Opposite(verb, direction):
            return _node(f"opposite {direction}", _node(verb))
        case scan.Around(verb, direction):
            return _node(f"around {direction}", _node(verb))
        case scan.Repeat(inner, times):
            return _node("twice" if times == 2 else "thrice", _tree(inner))
        case scan.And(first, second):
            return _node("and", _tree(first), _tree(second))
        case scan.After(first, second):
            return _node("after", _tree(first), _tree(second))


def _node(label: str, *below: dict[str, Any]) -> dict[str, Any]:
    return {"label": label, "below": list(below)}


def _lines(node: dict[str, Any], depth: int = 0) -> Iterator[str]:
    yield "  " * depth + node["label"]
    for below in node["below"]:
        yield from _lines(below, depth + 1)


VERB = Interpret
