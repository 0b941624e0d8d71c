"""Base class of languages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from daxy.core.display import counted
from daxy.core.errors import WrongRequest

if TYPE_CHECKING:
    from pathlib import Path

    from daxy.core.examples import Tokens

Tree: TypeAlias = dict[str, Any]
"""A node of a parse: its `label`, and its `children`, which are nodes."""
MOST_SHOWN = 12
"""Parses that one picture shows."""
Phrase = TypeVar("Phrase")
"""A sentence as a parser returns it."""


@dataclass(frozen=True)
class Reading:
    """The output of `daxy interpret`."""

    data: dict[str, Any]
    """As JSON values."""
    lines: Sequence[str]
    """As text."""
    trees: Sequence[tuple[Tree, str]]
    """Parses, each with the text below its picture."""


class Language(ABC, Generic[Phrase]):
    """Sentences, their parses and their meanings; named by its module."""

    is_grounded: ClassVar[bool] = False
    """Whether the meaning of a sentence depends on a world."""
    constructions: ClassVar[tuple[str, ...]] = ()
    """Words of constructions, in the order of analyses."""

    @abstractmethod
    def parse(self, words: Tokens) -> Phrase:
        """Return the parse of a sentence.

        Raises:
            WrongRequest: the words are no sentence of this language.
        """

    @abstractmethod
    def denote(self, phrase: Phrase, world: Any = None) -> Tokens:
        """Return the meaning of a sentence, in a world if grounded.

        Raises:
            WrongRequest: the sentence has no meaning there.
        """

    @abstractmethod
    def say(self, phrase: Phrase) -> Tokens:
        """Return the words of a sentence; `parse` returns the sentence again."""

    @abstractmethod
    def tree(self, phrase: Phrase) -> Tree:
        """Return the parse as a tree of labels; see `node`."""

    def words(self, text: str) -> Tokens:
        """Return the words of a typed sentence."""
        return tuple(text.split())

    def parts(self, phrase: Phrase) -> tuple[Phrase, ...]:
        """Return the sentences that a conjunction joins, or the sentence itself."""
        return (phrase,)

    def interpret(self, text: str, world: Any = None) -> Reading:
        """Return the parse and the meaning of a sentence for `daxy interpret`.

        Raises:
            WrongRequest: the text is no sentence of this language.
        """
        phrase = self.parse(self.words(text))
        tree, meaning = self.tree(phrase), self.denote(phrase, world)
        data = {"command": " ".join(self.say(phrase)), "parse": tree, "actions": list(meaning)}
        return Reading(data, [*lines(tree), "", listed(meaning)], [(tree, " ".join(meaning))])

    def of_file(self, grammar: Path) -> Language[Any]:
        """Return the language of the grammar of a file.

        Raises:
            WrongRequest: this language has a grammar of its own.
        """
        del grammar
        raise WrongRequest("--grammar is for itg")


def node(label: str, *children: Tree) -> Tree:
    """Return a node of a parse."""
    return {"label": label, "children": list(children)}


def lines(tree: Tree) -> Iterator[str]:
    """Yield a line for each node, indented by its depth."""
    waiting = [(tree, 0)]
    while waiting:
        this, depth = waiting.pop()
        yield "  " * depth + this["label"]
        waiting += [(child, depth + 1) for child in reversed(this["children"])]


def listed(actions: Tokens) -> str:
    """Return the number of actions and the actions as text."""
    between = ", " if any(" " in action for action in actions) else " "
    return f"{counted(len(actions), 'action')}: {between.join(actions)}"
