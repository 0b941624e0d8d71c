"""SCAN: commands and the actions they mean (Lake & Baroni 2018, Figures 6 and 7).

    C -> S and S | S after S | S
    S -> V twice | V thrice | V
    V -> D[1] opposite D[2] | D[1] around D[2] | D | U
    D -> U left | U right | turn left | turn right
    U -> walk | look | run | jump

`jump around left twice` parses to `Repeat(Around("jump", "left"), 2)` and means eight times
`I_TURN_LEFT I_JUMP`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, final

from daxy.core.errors import UnknownName, WrongRequest, quote
from daxy.core.tokens import Tokens, first_difference
from daxy.languages._language import MOST_SHOWN, Language, Reading, Tree, node
from daxy.languages._reader import NotACommand
from daxy.languages._scan_actions import (
    ACTIONS,
    ALIASES,
    is_action,
    official_spelling,
    turn_names,
)
from daxy.languages._scan_commands import (
    TURN,
    Act,
    After,
    And,
    Around,
    Command,
    Opposite,
    Repeat,
    Sentence,
    Toward,
    VerbPhrase,
    denote,
    say,
)
from daxy.languages._scan_parser import DIRECTIONS, TIMES, Parser

__all__ = [
    "ACTIONS",
    "ALIASES",
    "LANGUAGE",
    "PROXY",
    "SCAN",
    "SCAN_WITH_DAB",
    "Act",
    "After",
    "And",
    "Around",
    "Command",
    "Grammar",
    "NotACommand",
    "Opposite",
    "Repeat",
    "Sentence",
    "Toward",
    "VerbPhrase",
    "commands_for",
    "denote",
    "disagreement",
    "grammar_of",
    "is_action",
    "is_word",
    "meanings",
    "official_spelling",
    "say",
    "turn_names",
]


@dataclass(frozen=True)
class Grammar:
    """SCAN's grammar over some primitives, by default the papers' four."""

    primitives: Tokens = ("walk", "look", "run", "jump")

    @property
    def size(self) -> int:
        """Number of commands: 20,910 with four primitives."""
        sentences = sum(1 for _ in self.sentences())
        return sentences + 2 * sentences**2

    def parse(self, words: Sequence[str]) -> Command:
        """Return the one parse of a command.

        Args:
            words: The command as words, or as a text with spaces between them.

        Raises:
            NotACommand: the words are no command of this grammar.
        """
        words = words.split() if isinstance(words, str) else words
        return Parser(tuple(words), (*self.primitives, TURN)).command()

    def sentences(self) -> Iterator[Sentence]:
        """Yield the 102 commands without `and` and `after`, each bare, twice and thrice."""
        phrases: list[VerbPhrase] = [Act(verb) for verb in self.primitives]
        for verb in (*self.primitives, TURN):
            for form in (Toward, Opposite, Around):
                phrases += [form(verb, direction) for direction in DIRECTIONS]
        for phrase in phrases:
            yield phrase
            yield from (Repeat(phrase, times) for times in TIMES.values())

    def commands(self) -> Iterator[Command]:
        """Yield all 20,910 commands in the canonical order.

        First the sentences, then `a and b`, then `a after b`, both in the order of a, then b.
        """
        sentences = list(self.sentences())
        yield from sentences
        for form in (And, After):
            yield from (form(a, b) for a in sentences for b in sentences)


SCAN = Grammar()
PROXY = "dab"
SCAN_WITH_DAB = Grammar((*SCAN.primitives, PROXY))
"""SCAN with a proxy primitive for validation (Bastings et al. 2018)."""


def meanings(grammar: Grammar = SCAN) -> dict[Tokens, Tokens]:
    """Return the actions of every command by its words, in the canonical order."""
    return _meanings(grammar)


@cache
def _meanings(grammar: Grammar) -> dict[Tokens, Tokens]:
    # Commands of two sentences are composed from the sentences' meanings.
    known = [(say(sentence), denote(sentence)) for sentence in grammar.sentences()]
    every = dict(known)
    every |= {(*a, "and", *b): (*x, *y) for a, x in known for b, y in known}
    every |= {(*a, "after", *b): (*y, *x) for a, x in known for b, y in known}
    return every


def commands_for(actions: Tokens) -> tuple[Tokens, ...]:
    """Return the commands that mean these actions, the shortest first.

    Raises:
        WrongRequest: no command means them.
    """
    spelled = tuple(map(official_spelling, actions))
    for action in spelled:
        if action not in ACTIONS:
            raise UnknownName("action", action, ACTIONS)
    grammar = SCAN_WITH_DAB if f"I_{PROXY.upper()}" in spelled else SCAN
    found = _commands_by_actions(grammar).get(spelled)
    if found is None:
        raise WrongRequest(f"no command of SCAN means {quote(' '.join(spelled), most=100)}")
    return found


@cache
def _commands_by_actions(grammar: Grammar) -> dict[Tokens, tuple[Tokens, ...]]:
    commands: dict[Tokens, list[Tokens]] = {}
    for words, actions in _meanings(grammar).items():
        commands.setdefault(actions, []).append(words)
    return {actions: tuple(sorted(each, key=len)) for actions, each in commands.items()}


def is_word(word: str) -> bool:
    """Whether a word belongs to a command, or is an action in either spelling."""
    return word in WORDS or is_action(word)


def grammar_of(words: Tokens) -> Grammar:
    """Return the grammar of a command: with the proxy primitive if the command has it."""
    return SCAN_WITH_DAB if PROXY in words else SCAN


def disagreement(words: Tokens, actions: Tokens, grammar: Grammar = SCAN) -> str | None:
    """Return the error in a pair: no command, or other actions; None for a right pair.

    Actions may be spelled as in the papers; see `official_spelling`.
    """
    if meanings(grammar).get(words) == tuple(map(official_spelling, actions)):
        return None
    try:
        wanted = denote(grammar.parse(words))
    except NotACommand as error:
        return str(error)
    given = tuple(map(official_spelling, actions))
    first = first_difference(wanted, given)
    assert first is not None
    command = quote(" ".join(words), most=100)
    return f"{command} means {_cut(wanted, first)}, not {quote(_cut(actions, first))}"


def _cut(actions: Tokens, first: int) -> str:
    begin = first - 4 if len(actions) > MOST_ACTIONS and first > 4 else 0
    end = begin + MOST_ACTIONS
    cut = ["..."] * (begin > 0), ["..."] * (end < len(actions))
    return " ".join([*cut[0], *actions[begin:end], *cut[1]])


MOST_ACTIONS = 12
"""Maximum actions of a side in an error."""


WORDS = frozenset(
    (*SCAN_WITH_DAB.primitives, TURN, *DIRECTIONS, *TIMES, "opposite", "around", "and", "after")
)
"""The words of commands."""


@final
class Scan(Language[Command]):
    """Commands and the actions that they mean; actions and the commands that mean them."""

    constructions = ("and", "after", "twice", "thrice", "around", "opposite", "turn")

    def parse(self, words: Tokens) -> Command:
        """Return the parse of a command, which may have the proxy primitive."""
        return grammar_of(words).parse(words)

    def denote(self, phrase: Command, world: Any = None) -> Tokens:
        """Return the actions that a command means, the same in any world."""
        del world
        return denote(phrase)

    def say(self, phrase: Command) -> Tokens:
        """Return the words of a command."""
        return say(phrase)

    def tree(self, phrase: Command) -> Tree:
        """Return a command as a tree, modifiers above what they modify."""
        match phrase:
            case Act(verb):
                return node(verb)
            case Toward(verb, direction):
                return node(direction, node(verb))
            case Opposite(verb, direction):
                return node(f"opposite {direction}", node(verb))
            case Around(verb, direction):
                return node(f"around {direction}", node(verb))
            case Repeat(inner, times):
                return node("twice" if times == 2 else "thrice", self.tree(inner))
            case And(first, second):
                return node("and", self.tree(first), self.tree(second))
            case After(first, second):
                return node("after", self.tree(first), self.tree(second))

    def parts(self, phrase: Command) -> tuple[Command, ...]:
        """Return a command, or the two that it joins by `and` or `after`."""
        return (phrase.first, phrase.second) if isinstance(phrase, And | After) else (phrase,)

    def interpret(self, text: str, world: Any = None) -> Reading:
        """Return the parse and the actions of a command, or the commands that mean some actions."""
        words = self.words(text)
        if not words or not is_action(words[0]):
            return super().interpret(text, world)
        spelled = list(map(official_spelling, words))
        commands = commands_for(words)
        texts = [" ".join(command) for command in commands]
        count = "1 command means" if len(texts) == 1 else f"{len(texts):,} commands mean"
        trees = [(self.tree(self.parse(it)), " ".join(it)) for it in commands[:MOST_SHOWN]]
        data = {"actions": spelled, "commands": texts}
        return Reading(data, [f"{count} {' '.join(spelled)}:", *texts], trees)


LANGUAGE = Scan()
