"""Show the parse of a command and the actions it means, in a world where it needs one.

Of a sentence of a transduction grammar, show how it and its target are derived; of an English or
French sentence, what is meant and how the other language says it. An error says where
the first wrong word stands and which words could stand there, or why nothing in the world, or more
than one thing, is what the command speaks of.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from daxy.cli._verb import Result, Verb
from daxy.cli._words import counted
from daxy.core.errors import require
from daxy.languages import grounded, scan

if TYPE_CHECKING:
    from daxy.languages.copular import Clause
    from daxy.languages.itg import Derivation


@dataclass(frozen=True, kw_only=True)
class Interpret(Verb):
    """Show the parse of a command and the actions it means.

    What a command of gSCAN means depends on the world: without one, only its parse is shown. Of a
    sentence of a transduction grammar, a derivation is shown; with ||| and a target after it, one
    of both. Of a sentence about somebody, English or French, what it can mean and its translations.

    Example:
        daxy interpret scan "jump around left twice"
        daxy interpret svo_sov "si1 vi2 oi3 ||| so1 oo3 vo2"
        daxy interpret copular "I'm not very tired."
        daxy interpret gscan "walk to a red small circle while spinning" --world world.json
    """

    language: tyro.conf.Positional[
        Annotated[
            Literal["scan", "gscan", "copular", "svo_sov", "gender", "itg"],
            tyro.conf.arg(metavar="LANGUAGE"),
        ]
    ]
    """Language of the command: scan, gscan, copular (English and French), the grammars svo_sov or
    gender, or itg for the grammar of a file (--grammar)."""
    command: tyro.conf.Positional[Annotated[tuple[str, ...], tyro.conf.arg(metavar="COMMAND")]]
    """Its words, in quotes or not."""
    world: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """The world of a gSCAN command as JSON, or an example of an official file."""
    grammar: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """A transduction grammar, in the notation of `daxy.languages.itg`."""

    def run(self) -> Result:
        """Return the parse as a tree, and the actions."""
        said = " ".join(self.command)
        require(self.grammar is None or self.language == "itg", "--grammar is for itg")
        require(self.grammar is not None or self.language != "itg", "itg needs --grammar FILE")
        if self.language == "copular":
            require(self.world is None, "--world is for gscan")
            return _translated(said)
        if self.language not in ("scan", "gscan"):
            require(self.world is None, "--world is for gscan")
            return _derived(self.language, self.grammar, said)
        if self.language == "gscan":
            return _grounded(grounded.parse(grounded.words(said)), self.world)
        require(self.world is None, "--world is for gscan: SCAN's commands mean the same anywhere")
        return _scan(scan.SCAN.parse(tuple(said.split())))


def _scan(command: scan.Command) -> Result:
    tree, actions = _tree(command), scan.denote(command)
    said = " ".join(scan.say(command))
    data = {"command": said, "parse": tree, "actions": list(actions)}
    return Result(data=data, text="\n".join([*_lines(tree), "", _listed(actions)]))


def _grounded(command: grounded.Command, file: Path | None) -> Result:
    from daxy.formats import world_json
    from daxy.worlds.demonstration import demonstrate
    from daxy.worlds.text import as_text

    tree = _grounded_tree(command)
    data: dict[str, Any] = {"command": " ".join(grounded.say(command)), "parse": tree}
    lines = list(_lines(tree))
    if file is not None:
        world = world_json.read(file)
        thing, cell = world.placed[grounded.referent(command.phrase, world.things)]
        actions = demonstrate(command, world)
        data["referent"] = {**thing._asdict(), "cell": list(cell)}
        data["actions"] = list(actions)
        spoken = f"{command.phrase}: the {thing} at {tuple(cell)}"
        lines += ["", as_text(world, cell), "", spoken, _listed(actions)]
    return Result(data=data, text="\n".join(lines))


def _derived(name: str, file: Path | None, said: str) -> Result:
    """Return how a source, or a pair, is derived."""
    from daxy.languages import itg

    grammar = itg.grammar(name) if file is None else itg.load(file)
    inner = said.removeprefix("<s> ").removesuffix(" </s>")
    source, bars, target = inner.partition("|||")
    require(bool(source.split()), "expected a sentence of the grammar, as si1 vi2 oi3 of svo_sov")
    given = tuple(target.split()) if bars else None
    found = itg.parse(grammar, tuple(source.split()), given)
    tree = _derivation_tree(found)
    data = {
        "source": list(found.source),
        "target": list(found.target),
        "derivation": tree,
        "log_probability": found.log_probability,
    }
    count = len(found.target)
    tokens = f"{counted(count, 'token')}: {' '.join(found.target)}"
    likely = f"probability of this derivation: {_power(found.log_probability)}"
    return Result(data=data, text="\n".join([*_lines(tree), "", tokens, likely]))


def _power(logarithm: float) -> str:
    """Return a number as text by its natural logarithm, however small it is."""
    number = math.exp(logarithm)
    if number > sys.float_info.min:
        return f"{number:.3g}"
    exponent = math.floor(logarithm / math.log(10))
    return f"{math.exp(logarithm - exponent * math.log(10)):.3g}e{exponent}"


def _translated(said: str) -> Result:
    """Return what can be meant by a sentence, and how the other language says it."""
    from daxy.languages import copular, spelling

    sentence = spelling.words(said)
    language, meant = copular.parse(sentence)
    found = [" ".join(each) for each in copular.translations(sentence)]
    parses = list({str(tree): tree for tree in map(_clause_tree, meant)}.values())
    data = {
        "sentence": " ".join(sentence),
        "language": language,
        "meanings": parses,
        "translations": found,
    }
    lines = [line for tree in parses for line in _lines(tree)]
    count = counted(len(found), "translation")
    return Result(data=data, text="\n".join([*lines, "", f"{count}:", *found]))


def _clause_tree(clause: Clause) -> dict[str, Any]:
    """Return who is spoken of, below what is said of them."""
    tree = _node(" ".join(clause.predicate.english), _node(clause.subject.name))
    for label, applies in (("very", clause.is_very), ("not", clause.is_negated)):
        tree = _node(label, tree) if applies else tree
    return tree


def _derivation_tree(derivation: Derivation) -> dict[str, Any]:
    """Return the rules, each without its probability, as a tree, however deep it is."""
    root: dict[str, Any] = _node("")
    waiting = [(derivation, root)]
    while waiting:
        this, above = waiting.pop()
        _, _, rule = str(this.rule).partition(" ")
        node = _node(rule)
        above["children"].append(node)
        waiting += [(child, node) for child in reversed(this.children)]
    return root["children"][0]


def _listed(actions: tuple[str, ...]) -> str:
    separator = ", " if any(" " in action for action in actions) else " "
    return f"{counted(len(actions), 'action')}: {separator.join(actions)}"


def _grounded_tree(command: grounded.Command) -> dict[str, Any]:
    phrase = command.phrase
    tree = _node(phrase.shape)
    for word in (phrase.size, phrase.color):
        tree = _node(word, tree) if word else tree
    tree = _node("walk to" if command.verb == "walk" else command.verb, tree)
    return _node(command.manner, tree) if command.manner else tree


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
    return {"label": label, "children": list(below)}


def _lines(tree: dict[str, Any]) -> Iterator[str]:
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield "  " * depth + node["label"]
        waiting += [(below, depth + 1) for below in reversed(node["children"])]


VERB = Interpret
