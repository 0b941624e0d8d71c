"""From the words after a verb to the verb, with errors in one line.

A word is a flag, a value of the flag before it, or an argument. `Reading` tells them apart by the
verb's fields, so that flags and arguments may stand in any order. Tyro builds the verb from the
sorted words, and prints the help.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import tyro

from daxy.cli._flags import Argument, arguments, dashed
from daxy.cli._verb import Verb
from daxy.core.errors import WrongRequest, nearest, quote, require
from daxy.core.settings import check_size

HELP = ("-h", "--help")


def parse(verb: type[Verb], name: str, words: Sequence[str]) -> Verb:
    """Return the verb with its fields filled from the words after it.

    Raises:
        WrongRequest: an argument is missing, unknown, or has a wrong value.
        SystemExit: the words asked for help, which has been printed.
    """
    reading = resolve(verb, verb.expanded(words))
    verb = reading.verb
    if reading.asks_for_help:
        return _fill(verb, name, ["--help"])
    reading.check()
    problem = next(reading.problems(), "")
    if not problem:
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                return _fill(verb, name, reading.sorted_words, console_outputs=False)
        except SystemExit:  # a type of another package's settings, which `Argument` does not know
            problem = "wrong value for a flag"
    raise WrongRequest(f"{problem}; see `{' '.join(('daxy', name, *verb.help_names, '--help'))}`")


def _fill(verb: type[Verb], name: str, words: Sequence[str], **options: Any) -> Verb:
    description = inspect.cleandoc(verb.__doc__ or "")
    return tyro.cli(verb, prog=f"daxy {name}", description=description, args=words, **options)


def resolve(verb: type[Verb], words: Sequence[str]) -> Reading:
    """Return the words as read by the variant of the verb that they name.

    Raises:
        UnknownName: the words name no task, or no learner.
    """
    readings = list[Reading]()
    for variant in verb.variants(words):
        readings.append(Reading(variant, words))
        if readings[-1].misfits == (False, 0):
            return readings[-1]
    best = min(readings, key=lambda reading: reading.misfits)
    if best.misfits[0]:
        for kind, value in zip(verb.leading, best.free, strict=False):
            importlib.import_module(f"daxy.{kind}s").get(value)
    return best


def flags(verb: type[Verb]) -> list[str]:
    """Return the flags of a verb, or of one of its variants."""
    return [*(name for it in arguments(verb) if not it.is_positional for name in it.names), HELP[1]]


@dataclass
class Use:
    """One use of a flag."""

    flag: str
    """The flag as typed."""
    argument: Argument | None
    """None where the verb has no such flag."""
    values: list[str] = field(default_factory=list[str])
    refused: str = ""
    """The word after several values that is of another type."""


class Reading:
    """The words of a request as flags with values, and arguments.

    Args:
        verb: The verb, or a variant of it, whose flags they are.
        words: The words after the verb.
    """

    def __init__(self, verb: type[Verb], words: Sequence[str]) -> None:
        self.verb = verb
        self.uses: list[Use] = []
        self.free: list[str] = []
        self.asks_for_help = False
        every = list(arguments(verb))
        self._positionals = [it for it in every if it.is_positional]
        self._flags = {name: it for it in every if not it.is_positional for name in it.names}
        self._words = deque(words)
        while self._words:
            self._read(self._words.popleft())
        self._known = [(it.argument, it) for it in self.uses if it.argument is not None]
        takes_all = any(it.is_variadic for it in self._positionals)
        self._surplus = [] if takes_all else self.free[len(self._positionals) :]

    def _read(self, word: str) -> None:
        if word == "--":
            self.free += self._words
            self._words.clear()
        elif word in HELP:
            self.asks_for_help = True
        elif word.startswith("--"):
            flag, equals, value = word.partition("=")
            use = Use(flag, self._flags.get(dashed(flag)), [value] * bool(equals))
            self.uses.append(use)
            if use.argument is None or not use.argument.is_switch:
                self._read_values(use, use.argument)
        else:
            self.free.append(word)

    def _read_values(self, use: Use, argument: Argument | None) -> None:
        """Take one value of a flag off the words, or several that have its type."""
        is_variadic = argument is not None and argument.is_variadic
        while self._words and (is_variadic or not use.values):
            word = self._words[0]
            # A task or a learner is no value, unless it can be the one value of a flag.
            may_be = argument is not None and not (is_variadic or argument.expected(word))
            is_name = word in self.verb.names and not may_be
            if word.startswith("--") or word in HELP or is_name:
                return
            if use.values and argument and argument.expected(word):
                use.refused = word
                return
            use.values.append(self._words.popleft())

    @property
    def flags(self) -> frozenset[str]:
        """Flags that were used."""
        return frozenset(dashed(use.flag) for use in self.uses)

    def value(self, flag: str) -> str | None:
        """Return the first value of a flag; None where it has none."""
        return next((use.values[0] for use in self.uses if use.flag == flag and use.values), None)

    @property
    def misfits(self) -> tuple[bool, int]:
        """Whether the words name another variant, and the number of surplus flags and arguments."""
        is_other = tuple(self.free[: len(self.verb.leading)]) != self.verb.names
        return is_other, len(self.uses) - len(self._known) + len(self._surplus)

    @property
    def sorted_words(self) -> list[str]:
        """The words in one order: flags, then arguments."""
        words = list[str]()
        for argument, use in self._known:
            if argument.is_switch or argument.is_variadic:
                words += [dashed(use.flag) if argument.is_switch else argument.name, *use.values]
            else:
                words.append(f"{argument.name}={use.values[0]}")
        return [*words, "--", *self.free] if self.free else words

    def check(self) -> None:
        """Refuse flags that exclude each other, and values that would count as none.

        Raises:
            WrongRequest: a switch has a value, a flag is used twice, or a value is None.
        """
        used = dict[str, str]()
        for argument, use in self._known:
            name, flag, several = argument.name, dashed(use.flag), argument.is_variadic
            is_first = name not in used
            first = used.setdefault(name, flag)
            if argument.is_switch:
                value = "".join(use.values)
                require(not use.values, f"{use.flag} takes no value, not {quote(value)}")
                require(flag == first, f"{first} and {flag} contradict each other")
            elif not argument.is_repeatable:
                once = f"{name} once{', with all values after it' * several}"
                require(is_first, f"{name} is given twice; expected {once}")
            is_none = argument.is_optional and "None" in use.values
            require(not is_none, f"wrong value for {use.flag}: 'None'; leave the flag out")
        is_none = "None" in self.free and any(it.is_optional for it in self._positionals)
        require(not is_none, "nothing is named 'None'; leave it out")

    def problems(self) -> Iterator[str]:
        """Yield what is unknown, wrong or missing."""
        yield from (self._unknown(dashed(it.flag)) for it in self.uses if it.argument is None)
        for argument, use in self._known:
            if not (use.values or argument.is_switch):
                yield f"missing: a value after {argument.name}"
            yield from (it for value in use.values for it in _wrong(argument, value))
        for argument, value in zip(self._positionals, self.free, strict=False):
            yield from _wrong(argument, value)
        used = [argument for argument, _ in self._known]
        for argument in (*self._positionals[len(self.free) :], *self._flags.values()):
            if argument.is_required and not argument.is_variadic and argument not in used:
                yield f"missing: {argument.name}"
        if self._surplus:
            refused = [(argument, it.refused) for argument, it in self._known if it.refused]
            yield from (it for argument, value in refused for it in _wrong(argument, value))
            yield f"unexpected argument: {' '.join(self._surplus) or quote('')}"

    def _unknown(self, flag: str) -> str:
        """Return what is wrong with a flag that the verb does not have."""
        known = [*self._flags, "--help"]
        for prefix, other in self.verb.conditional.items():
            if flag.startswith(prefix) and not any(name.startswith(prefix) for name in known):
                return f"no flag {quote(flag)} without {other}"
        below = [name for name in known if name.endswith(f".{flag[2:]}")]
        # Compared without the hyphens, in which all flags are alike.
        near = below or [f"--{name}" for name in nearest(flag[2:], [it[2:] for it in known])]
        return f"no flag {quote(flag)}" + (f"; did you mean {near[0]}?" if near else "")


def _wrong(argument: Argument, value: str) -> Iterator[str]:
    """Yield what is wrong with a value.

    Raises:
        WrongRequest: it is a whole number that is too large for any setting.
    """
    if expected := argument.expected(value):
        yield f"wrong value for {argument.name}: {quote(value)}; expected {expected}"
    elif argument.is_whole:
        check_size(argument.name, int(value))
