"""Reader of grammars in the notation of `daxy.languages.itg`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from daxy.core.errors import DaxyError, WrongFile, quote
from daxy.languages._itg_grammar import LEAST, MOST, MOST_DIGITS, SHORT, Grammar, Rule, Side

REMARK = re.compile(r"(?<!\S)#")
"""Beginning of a comment."""
HEAD = re.compile(
    r"(?:(?<!\S)(?P<probability>[\d./]+)\s+(?:each\s+)?)?(?<!\S)(?P<left>[^\s|,#]+)\s*->"
)
NONTERMINAL = re.compile(r"(?P<name>[A-Z][A-Za-z]*)(?P<link>\d*)")
LEFT = re.compile(r"(?P<name>[A-Z][A-Za-z]*)(?P<index>_i)?")
INDEX = "_i"
NUMBER = re.compile(r"[-+]?[.\d]")


@dataclass(frozen=True, slots=True)
class _Line:
    """A written pair of sides, of one rule or one for each index."""

    number: int
    probability: Fraction
    left: str
    indexed: bool
    sides: tuple[list[str], list[str]]


def read(text: str, name: Path | str) -> Grammar:
    """Return the grammar of a text.

    Args:
        text: Rules in the notation of `daxy.languages.itg`.
        name: Name of the text in errors.

    Raises:
        WrongFile: a line is no rule, or the rules are no grammar.
    """
    lines = [
        line
        for number, content in enumerate(text.split("\n"), 1)
        for line in _lines(REMARK.split(content, maxsplit=1)[0], number, name)
    ]
    copies = {line.left: _copies(line.left, lines, name) for line in lines if line.indexed}
    rules = list[Rule]()
    for line in lines:
        for index in range(1, copies[line.left] + 1) if line.indexed else [None]:
            rules.append(_rule(line, index, name))
    try:
        return Grammar(tuple(rules))
    except DaxyError as error:
        raise WrongFile(name, str(error)) from error


def _lines(content: str, number: int, name: Path | str) -> Iterator[_Line]:
    """Return the pairs of sides of a line."""
    heads = list(HEAD.finditer(content))
    if not content.strip():
        return
    if not heads or content[: heads[0].start()].strip():
        form = "expected `probability LEFT -> source | target`"
        raise WrongFile(name, f"{form}, not {quote(content.strip())}", line=number)
    probability: Fraction | None = None
    ends = [*(head.start() for head in heads[1:]), len(content)]
    for head, following, end in zip(heads, [*heads[1:], None], ends, strict=True):
        probability = _probability(head["probability"], probability, name, number)
        left = LEFT.fullmatch(head["left"])
        if left is None:
            letters = f"expected a nonterminal of letters, the first a capital, or with {INDEX}"
            raise WrongFile(name, f"{letters}, not {quote(head['left'])}", line=number)
        *_, last = content[head.end() : end].split() or [""]
        if following and not following["probability"] and NUMBER.match(last):
            wrong = f"expected a probability as 1/5 or 0.2 before the next rule, not {quote(last)}"
            raise WrongFile(name, wrong, line=number)
        for pair in content[head.end() : end].split(","):
            source, bar, target = pair.partition("|")
            sides = source.split(), (target if bar else source).split()
            if "|" in target or not all(sides):
                between = " between two `->`" if following else ""
                told = f"expected `source | target`{between}, not {quote(pair.strip())}"
                raise WrongFile(name, told, line=number)
            for symbol in (*sides[0], *sides[1]):
                _check_symbol(symbol, name, number)
            yield _Line(number, probability, left["name"], bool(left["index"]), sides)


def _check_symbol(symbol: str, name: Path | str, line: int) -> None:
    """Refuse malformed nonterminals, comments and arrows."""
    if "->" in symbol:
        arrow = (
            f"expected one `->` between spaces after LEFT, not {quote(symbol)} among its symbols"
        )
        raise WrongFile(name, arrow, line=line)
    if symbol.startswith("#"):
        remark = f"expected a space before the remark {quote(symbol)}, or another token"
        raise WrongFile(name, remark, line=line)
    if symbol[0].isupper() and not NONTERMINAL.fullmatch(symbol):
        form = "expected a nonterminal of letters and perhaps a number, as S1, or a token that"
        form += f" begins with no capital letter, not {quote(symbol)}"
        raise WrongFile(name, form, line=line)


def _probability(
    text: str | None, before: Fraction | None, name: Path | str, line: int
) -> Fraction:
    if text is None:
        if before is None:
            raise WrongFile(name, "expected a probability before the first rule", line=line)
        return before
    most = 2 * MOST_DIGITS + 1  # a numerator, a stroke, a denominator
    if len(text) > most:
        long = f"expected a probability of at most {most} characters, not of {len(text):,}"
        raise WrongFile(name, long, line=line)
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        value = Fraction(-1)
    if not 0 < value <= 1:
        expected = f"expected a probability above 0 and up to 1, as 1/5 or 0.2, not {quote(text)}"
        raise WrongFile(name, expected, line=line)
    if value < LEAST:
        least = f"expected a probability of at least {LEAST:.4g}, not {quote(text)}"
        raise WrongFile(name, least, line=line)
    return value


def _copies(left: str, lines: Sequence[_Line], name: Path | str) -> int:
    """Return the number of rules of each line with an index."""
    own = [line for line in lines if line.left == left]
    plain = sum((line.probability for line in own if not line.indexed), Fraction(0))
    each = sum((line.probability for line in own if line.indexed), Fraction(0))
    copies = (1 - plain) / each
    first = next(line.number for line in own if line.indexed)
    if copies > MOST:
        count = f"{int(copies):,}" if copies < SHORT else f"{float(copies):.4g}"
        many = f"{left}_i would stand for {count} rules; expected at most {MOST:,}"
        raise WrongFile(name, many, line=first)
    if copies.denominator != 1 or copies < 1:
        whole = f"no number of {left}_i makes the probabilities of {left} sum to 1"
        raise WrongFile(name, whole, line=first)
    return int(copies)


def _rule(line: _Line, index: int | None, name: Path | str) -> Rule:
    number = "" if index is None else str(index)

    def named(symbol: str) -> str:
        if not symbol.endswith(INDEX):
            return symbol
        if index is None:
            told = f"{symbol} has an index and {line.left} has none; expected {line.left}{INDEX}"
            raise WrongFile(name, told, line=line.number)
        return symbol.removesuffix(INDEX) + number

    source, target = line.sides
    children = [symbol for symbol in source if NONTERMINAL.fullmatch(symbol)]
    others = [symbol for symbol in target if NONTERMINAL.fullmatch(symbol)]
    if sorted(children) != sorted(others) or len({*children}) < len(children):
        alike = "expected the same nonterminals on both sides, told apart by numbers"
        sides = f"{' '.join(source)} | {' '.join(target)}"
        raise WrongFile(name, f"{alike}, not {quote(sides)}", line=line.number)

    def side(symbols: list[str]) -> Side:
        return tuple(
            children.index(symbol) if symbol in children else named(symbol) for symbol in symbols
        )

    names = [NONTERMINAL.fullmatch(child) for child in children]
    plain = tuple(match["name"] for match in names if match)
    return Rule(line.left, line.probability, plain, side(source), side(target))
