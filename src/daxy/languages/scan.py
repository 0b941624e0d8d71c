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
from typing import TYPE_CHECKING

from daxy.core.errors import WrongRequest

if TYPE_CHECKING:
    from daxy.core.examples import Examples, Tokens

DIRECTIONS = ("left", "right")
TIMES = {"twice": 2, "thrice": 3}
TURN = "turn"


@dataclass(frozen=True, slots=True)
class Act:
    """`walk`: a primitive on its own."""

    verb: str


@dataclass(frozen=True, slots=True)
class Toward:
    """`walk left`; with the verb `turn`, only the turn."""

    verb: str
    direction: str


@dataclass(frozen=True, slots=True)
class Opposite:
    """`walk opposite left`."""

    verb: str
    direction: str


@dataclass(frozen=True, slots=True)
class Around:
    """`walk around left`."""

    verb: str
    direction: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """`... twice` or `... thrice`."""

    inner: Act | Toward | Opposite | Around
    times: int


@dataclass(frozen=True, slots=True)
class And:
    """`first and second`."""

    first: Sentence
    second: Sentence


@dataclass(frozen=True, slots=True)
class After:
    """`first after second`: the second is done first."""

    first: Sentence
    second: Sentence


VerbPhrase = Act | Toward | Opposite | Around
Sentence = VerbPhrase | Repeat
Command = Sentence | And | After


def denote(command: Command) -> Tokens:
    """Return the actions that a command means (Lake & Baroni 2018, Fig. 7)."""
    match command:
        case Act(verb):
            return _act(verb)
        case Toward(verb, direction):
            return _turn(direction) + _act(verb)
        case Opposite(verb, direction):
            return _turn(direction) * 2 + _act(verb)
        case Around(verb, direction):
            return (_turn(direction) + _act(verb)) * 4
        case Repeat(inner, times):
            return denote(inner) * times
        case And(first, second):
            return denote(first) + denote(second)
        case After(first, second):
            return denote(second) + denote(first)


def say(command: Command) -> Tokens:
    """Return the words of a command; parsing them gives the command back."""
    match command:
        case Act(verb):
            return (verb,)
        case Toward(verb, direction):
            return (verb, direction)
        case Opposite(verb, direction):
            return (verb, "opposite", direction)
        case Around(verb, direction):
            return (verb, "around", direction)
        case Repeat(inner, times):
            return (*say(inner), "twice" if times == 2 else "thrice")
        case And(first, second):
            return (*say(first), "and", *say(second))
        case After(first, second):
            return (*say(first), "after", *say(second))


def _act(verb: str) -> Tokens:
    return () if verb == TURN else (f"I_{verb.upper()}",)


def _turn(direction: str) -> Tokens:
    return (f"I_TURN_{direction.upper()}",)


def official_spelling(action: str) -> str:
    """Return the official spelling of an action that may be in the papers': LTURN -> I_TURN_LEFT.

    A token that is no action in either spelling comes back as it is.
    """
    turns = {"LTURN": "I_TURN_LEFT", "RTURN": "I_TURN_RIGHT"}
    if action in turns:
        return turns[action]
    return f"I_{action}" if action in ("WALK", "LOOK", "RUN", "JUMP", "DAB") else action


class NotACommand(WrongRequest):
    """Words outside the grammar: where the first wrong one stands, and what could stand there."""

    def __init__(self, words: Tokens, position: int, expected: Tokens, *, may_end: bool) -> None:
        choices = [*expected, *(["the end of the command"] if may_end else [])]
        wanted = " or ".join([", ".join(choices[:-1]), choices[-1]] if choices[1:] else choices)
        if position > len(words):
            said = f"{' '.join(words)!r} ends too early: word {position} is missing"
        else:
            before, wrong, after = words[: position - 1], words[position - 1], words[position:]
            marked = " ".join([*before, f"[{wrong}]", *after])
            said = f"not a command: {marked!r}, word {position} cannot be {wrong!r}"
        super().__init__(f"{said}; expected {wanted}")
        self.words = words
        self.position = position
        """Where the first wrong word stands, from 1; one past the last for an early end."""
        self.expected = expected
        """The words that could stand there, in the grammar's order."""
        self.may_end = may_end
        """Whether the command could have ended before this word."""


@dataclass(frozen=True)
class Grammar:
    """SCAN's grammar over some primitives; the papers' four unless said otherwise."""

    primitives: Tokens = ("walk", "look", "run", "jump")

    def parse(self, words: Sequence[str]) -> Command:
        """Return the one parse of a command.

        Raises:
            NotACommand: the words are no command of this grammar.
        """
        return _Parser(tuple(words), (*self.primitives, TURN)).command()

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
SCAN_WITH_DAB = Grammar((*SCAN.primitives, "dab"))
"""SCAN with a proxy primitive for validation (Bastings et al. 2018)."""


@cache
def pairs(grammar: Grammar = SCAN) -> Examples:
    """Return every command with its meaning, in the canonical order.

    Each sentence is said and interpreted once, and pairs of them are put together from that.
    """
    from daxy.core.examples import Examples  # NumPy is not needed to interpret one command

    known = [(say(sentence), denote(sentence)) for sentence in grammar.sentences()]
    every = list(known)
    every += [((*a, "and", *b), (*x, *y)) for a, x in known for b, y in known]
    every += [((*a, "after", *b), (*y, *x)) for a, x in known for b, y in known]
    return Examples.of(every)


@cache
def meanings(grammar: Grammar = SCAN) -> dict[Tokens, Tokens]:
    """Return the actions of every command by its words, in the canonical order."""
    every = pairs(grammar)
    return dict(zip(every.source, every.target, strict=True))


def disagreement(words: Tokens, actions: Tokens) -> str | None:
    """Return what is wrong with a pair, if its words are no command or mean other actions."""
    try:
        wanted = denote(SCAN.parse(words))
    except NotACommand as error:
        return str(error)
    if actions == wanted:
        return None
    return f"{' '.join(words)!r} means {' '.join(wanted)}, not {' '.join(actions)!r}"


class _Parser:
    """Reads words from the left; what it asked for in vain is what could have stood there."""

    def __init__(self, words: Tokens, verbs: Tokens) -> None:
        self._words, self._verbs = words, verbs
        self._position = 0
        self._asked: Tokens = ()

    def command(self) -> Command:
        first = self._sentence()
        link = self._optional("and", "after")
        if link is None:
            return self._end(first)
        form = And if link == "and" else After
        return self._end(form(first, self._sentence()))

    def _sentence(self) -> Sentence:
        phrase = self._verb_phrase()
        times = self._optional(*TIMES)
        return phrase if times is None else Repeat(phrase, TIMES[times])

    def _verb_phrase(self) -> VerbPhrase:
        verb = self._required(*self._verbs)
        choices = (*DIRECTIONS, "opposite", "around")
        word = self._required(*choices) if verb == TURN else self._optional(*choices)
        if word is None:
            return Act(verb)
        if word in DIRECTIONS:
            return Toward(verb, word)
        form = Opposite if word == "opposite" else Around
        return form(verb, self._required(*DIRECTIONS))

    def _optional(self, *choices: str) -> str | None:
        word = self._words[self._position] if self._position < len(self._words) else None
        if word in choices:
            self._position += 1
            self._asked = ()
            return word
        self._asked += choices
        return None

    def _required(self, *choices: str) -> str:
        word = self._optional(*choices)
        if word is None:
            raise NotACommand(self._words, self._position + 1, self._asked, may_end=False)
        return word

    def _end(self, command: Command) -> Command:
        if self._position < len(self._words):
            raise NotACommand(self._words, self._position + 1, self._asked, may_end=True)
        return command
