"""Show the parse of a command and the actions it means, or the commands that mean some actions.

A sentence of a transduction grammar has a derivation, and an English or French sentence has
meanings and translations. An error says where the first wrong word stands and which words could
stand there, or why a phrase refers to no one thing in a world.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from daxy.cli._picture import Picture, check, save
from daxy.cli._result import Result
from daxy.cli._verb import Switch, Verb
from daxy.cli._words import counted
from daxy.core.errors import require
from daxy.languages import grounded, scan

if TYPE_CHECKING:
    from daxy.languages.copular import Clause
    from daxy.languages.itg import Derivation

MOST = 12
"""Parses that one picture shows."""


@dataclass(frozen=True, kw_only=True)
class Interpret(Verb):
    """Show the parse of a command and the actions it means, or the commands that mean some actions.

    The meaning of a gSCAN command depends on the world: without one, only the parse is shown. A
    sentence of a transduction grammar has a derivation; with ||| and a target, it derives both. A
    sentence about somebody, English or French, has meanings and translations.

    Example:
        daxy interpret scan "jump around left twice" --draw tree.svg
        daxy interpret nacs "I_JUMP I_JUMP"
        daxy interpret svo_sov "si1 vi2 oi3 ||| so1 oo3 vo2"
        daxy interpret copular "I'm not very tired."
        daxy interpret gscan "walk to a red small circle while spinning" --world world.json
    """

    language: tyro.conf.Positional[
        Annotated[
            Literal["scan", "nacs", "gscan", "copular", "svo_sov", "gender", "itg"],
            tyro.conf.arg(metavar="LANGUAGE"),
        ]
    ]
    """Language of the command: scan or nacs for commands and actions, gscan, copular (English and
    French), the grammars svo_sov or gender, or itg for the grammar of a file (--grammar)."""
    command: tyro.conf.Positional[Annotated[tuple[str, ...], tyro.conf.arg(metavar="COMMAND")]]
    """Its words, in quotes or not; for scan and nacs also actions."""
    world: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """The world of a gSCAN command as JSON, or an example of an official file."""
    grammar: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """A transduction grammar, in the notation of `daxy.languages.itg`."""
    draw: Picture = None
    """Draw the parse, as .png, .svg or .pdf."""
    force: Switch = False
    """Replace that file if it exists."""

    def run(self) -> Result:
        """Return the parse as a tree, and the meaning."""
        check(self.draw, force=self.force)
        reading = self._reading()
        if self.draw is None:
            return Result(data=reading.data, text="\n".join(reading.lines))
        from daxy.report.trees import draw

        save(draw(reading.trees[:MOST]), self.draw)
        lines = [*reading.lines, "", str(self.draw)]
        return Result(data=reading.data | {"out": str(self.draw)}, text="\n".join(lines))

    def _reading(self) -> _Reading:
        said = " ".join(self.command)
        require(self.grammar is None or self.language == "itg", "--grammar is for itg")
        require(self.grammar is not None or self.language != "itg", "itg needs --grammar FILE")
        if self.language == "copular":
            require(self.world is None, "--world is for gscan")
            return _translated(said)
        if self.language not in ("scan", "nacs", "gscan"):
            require(self.world is None, "--world is for gscan")
            return _derived(self.language, self.grammar, said)
        if self.language == "gscan":
            return _grounded(grounded.parse(grounded.words(said)), self.world)
        require(self.world is None, "--world is for gscan: SCAN's commands mean the same anywhere")
        words = tuple(said.split())
        if words and scan.is_action(words[0]):
            return _backwards(words)
        return _scan(scan.grammar_of(words).parse(words))


@dataclass(frozen=True)
class _Reading:
    """The interpretation of a sentence."""

    data: dict[str, Any]
    lines: list[str]
    trees: Sequence[tuple[dict[str, Any], str]]
    """Parses, each with the text below its picture."""


def _scan(command: scan.Command) -> _Reading:
    tree, actions = _tree(command), scan.denote(command)
    said = " ".join(scan.say(command))
    data = {"command": said, "parse": tree, "actions": list(actions)}
    return _Reading(data, [*_lines(tree), "", _listed(actions)], [(tree, " ".join(actions))])


def _backwards(actions: tuple[str, ...]) -> _Reading:
    """Return the commands that mean some actions."""
    spelled = list(map(scan.official_spelling, actions))
    commands = scan.commands_for(actions)
    texts = [" ".join(words) for words in commands]
    data = {"actions": spelled, "commands": texts}
    count = "1 command means" if len(texts) == 1 else f"{len(texts):,} commands mean"
    trees = [(_tree(scan.grammar_of(it).parse(it)), " ".join(it)) for it in commands[:MOST]]
    return _Reading(data, [f"{count} {' '.join(spelled)}:", *texts], trees)


def _grounded(command: grounded.Command, file: Path | None) -> _Reading:
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
    below = ", ".join(data.get("actions", [])) or data["command"]
    return _Reading(data, lines, [(tree, below)])


def _derived(name: str, file: Path | None, said: str) -> _Reading:
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
    sides = f"{' '.join(found.source)} ||| {' '.join(found.target)}"
    return _Reading(data, [*_lines(tree), "", tokens, likely], [(tree, sides)])


def _power(logarithm: float) -> str:
    """Return a number as text by its natural logarithm, however small it is."""
    number = math.exp(logarithm)
    if number > sys.float_info.min:
        return f"{number:.3g}"
    exponent = math.floor(logarithm / math.log(10))
    return f"{math.exp(logarithm - exponent * math.log(10)):.3g}e{exponent}"


def _translated(said: str) -> _Reading:
    """Return the meanings of a sentence and its translations."""
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
    trees = [(tree, " ".join(sentence)) for tree in parses]
    return _Reading(data, [*lines, "", f"{count}:", *found], trees)


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
