"""Show the parse of a command and the actions it means, or the commands that mean some actions.

A sentence of a transduction grammar has a derivation, and an English or French sentence has
meanings and translations. An error names the first wrong word and the words that are possible in
its place, or says why a phrase does not refer to one object of a world.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from daxy import languages
from daxy.cli._picture import Picture, check, save
from daxy.cli._result import Result
from daxy.cli._verb import Switch, Verb
from daxy.core.errors import require
from daxy.languages import MOST_SHOWN, Reading


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

    language: tyro.conf.Positional[Annotated[str, tyro.conf.arg(metavar="LANGUAGE")]]
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

        save(draw(reading.trees[:MOST_SHOWN]), self.draw)
        lines = [*reading.lines, "", str(self.draw)]
        return Result(data=reading.data | {"out": str(self.draw)}, text="\n".join(lines))

    def _reading(self) -> Reading:
        language = languages.get(self.language)
        if self.grammar is not None:
            language = language.of_file(self.grammar)
        text = " ".join(self.command)
        if self.world is None:
            return language.interpret(text)
        require(language.is_grounded, f"--world is for {_grounded()}")
        language.parse(language.words(text))  # before the world, which may take long to read
        from daxy.formats import world_json

        return language.interpret(text, world_json.read(self.world))


def _grounded() -> str:
    every = languages.LANGUAGES.loaded()
    return " or ".join(name for name, language in every.items() if language.is_grounded)


VERB = Interpret
