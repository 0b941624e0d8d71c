"""gSCAN: commands about a world, of the grammar in `daxy.languages.grounded`."""

from __future__ import annotations

from typing import Any, final

from daxy.core.errors import WrongRequest
from daxy.core.tokens import Tokens
from daxy.languages import grounded
from daxy.languages._language import Language, Reading, Tree, lines, listed, node
from daxy.languages.grounded import Command


@final
class Gscan(Language[Command]):
    """Commands about the things of a world."""

    is_grounded = True

    def words(self, text: str) -> Tokens:
        """Return the words of a command; `while spinning` is one."""
        return grounded.words(text)

    def parse(self, words: Tokens) -> Command:
        """Return the parse of a command."""
        return grounded.parse(words)

    def denote(self, phrase: Command, world: Any = None) -> Tokens:
        """Return the demonstration of a command in a `daxy.worlds.world.World`."""
        if world is None:
            raise WrongRequest("a command of gSCAN means nothing without a world")
        return world.demonstrate(phrase)

    def say(self, phrase: Command) -> Tokens:
        """Return the words of a command."""
        return grounded.say(phrase)

    def tree(self, phrase: Command) -> Tree:
        """Return a command as a tree, the thing at the bottom."""
        thing = phrase.phrase
        tree = node(thing.shape)
        for word in (thing.size, thing.color):
            tree = node(word, tree) if word else tree
        tree = node("walk to" if phrase.verb == "walk" else phrase.verb, tree)
        return node(phrase.manner, tree) if phrase.manner else tree

    def interpret(self, text: str, world: Any = None) -> Reading:
        """Return the parse of a command and, in a world, its referent and its actions."""
        command = self.parse(self.words(text))
        tree = self.tree(command)
        data: dict[str, Any] = {"command": " ".join(self.say(command)), "parse": tree}
        if world is None:
            return Reading(data, list(lines(tree)), [(tree, data["command"])])
        thing, cell = world.placed[grounded.referent(command.phrase, world.things)]
        actions = self.denote(command, world)
        data["referent"] = {**thing._asdict(), "cell": list(cell)}
        data["actions"] = list(actions)
        spoken = f"{command.phrase}: the {thing} at {tuple(cell)}"
        shown = [*lines(tree), "", world.as_text(cell), "", spoken, listed(actions)]
        return Reading(data, shown, [(tree, ", ".join(actions) or data["command"])])


LANGUAGE = Gscan()
