"""Predictions in other spellings, read as a task spells its targets.

A *word* is what stands between two spaces. A word, or up to three in a row, is read as the token of
the task with the same letters and digits: case, accents and punctuation do not count (`turn-left,`
is `I_TURN_LEFT`). A *mark* is what a toolkit adds around tokens: a padding, begin or end symbol, a
list number, or a label such as `Actions:`. Nothing is guessed: a word that is neither a token nor a
mark stays as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from daxy.core.examples import Sequences, Tokens

END = frozenset(
    ("s", "eos", "end", "endoftext", "imend", "eotid", "eot", "endofturn", "stop", "sep")
)
BEGIN = frozenset(
    ("s", "bos", "sos", "go", "start", "begin", "cls", "startoftext", "imstart", "beginoftext")
)
PADDING = frozenset(("pad", "padding", "blank", "null"))
"""Names of marks, as `_letters` gives them."""
MARK = re.compile(r"[<\[{(|_]+/?[\w|]+[>\]})|]*|(EOS|BOS|SOS|PAD|END)|(eos|bos|sos|pad)")
CLOSING = re.compile(r"[<\[]/\w+[>\]]")
NUMBER = re.compile(r"\(?\d+[.):]")
LABEL = re.compile(r"[^\W\d_][\w-]*:")
PIECES = re.compile(r"[^\W_]+|[^\w\s]|_+")
SUBWORD = re.compile("@@ |[▁Ġ]")
"""Marks that subword tokenizers leave between words."""
LONGEST = 3
"""Words that are read as one token at most: `I TURN LEFT`."""


@dataclass(frozen=True, eq=False)
class Normalizer:
    """Reads predictions in other spellings as tokens of a task."""

    vocabulary: frozenset[str]
    """The tokens of the task's targets."""
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    """Other names of tokens, such as `LTURN` of `I_TURN_LEFT`."""

    def read(self, predictions: Iterable[Sequence[str]]) -> tuple[Sequences, Counter[str]]:
        """Return predictions as tokens of the task, and how many of them each change changed.

        A prediction whose tokens are all of the task is left alone.
        """
        changes, rows = Counter[str](), list[Tokens]()
        for prediction in predictions:
            if self.vocabulary.issuperset(prediction):
                rows.append(tuple(prediction))
            else:
                changed = dict[str, None]()
                rows.append(tuple(self._read(" ".join(prediction), changed)))
                changes.update(list(changed))
        return Sequences.of(rows), changes

    @cached_property
    def _token_of(self) -> dict[str, str]:
        """The token by its letters and digits; none for letters that several tokens share."""
        letters = Counter(map(_letters, self.vocabulary))
        known = {_letters(name): token for name, token in self.aliases.items()}
        known |= {_letters(token): token for token in self.vocabulary}
        return {name: token for name, token in known.items() if name and letters[name] <= 1}

    def _read(self, text: str, changed: dict[str, None]) -> Iterator[str]:
        """Yield the tokens of a text, and write down what was changed."""
        plain = SUBWORD.sub(lambda mark: "" if "@" in mark[0] else " ", text)
        if plain != text:
            changed["joined subwords"] = None
        words = self._without_label(plain.split(), changed)
        place = 0
        while place < len(words):
            word = words[place]
            if word in self.vocabulary:
                yield word
                place += 1
            elif (mark := _mark(word, begins=place == 0)) and not self._is_token(word):
                if mark == "end":
                    changed[f"cut at {word}"] = None
                    return
                changed[f"removed {word}" if mark == "padding" else f"removed {mark}"] = None
                place += 1
            else:
                token, count = self._longest(words[place:], changed)
                yield from token
                place += count

    def _without_label(self, words: list[str], changed: dict[str, None]) -> list[str]:
        """Return the words after the last label, such as `Actions:`."""
        last = max((i for i, word in enumerate(words) if LABEL.fullmatch(word)), default=-1)
        if last >= 0 and not self._is_token(words[last]):
            changed[f"removed all up to {words[last]}"] = None
            return words[last + 1 :]
        return words

    def _is_token(self, word: str) -> bool:
        return word in self.vocabulary or _letters(word) in self._token_of

    def _longest(self, words: list[str], changed: dict[str, None]) -> tuple[list[str], int]:
        """Return the tokens that the first words are, and how many words these are."""
        signs = (piece for piece in PIECES.findall(words[0]) if not _letters(piece))
        token, count = self._first(words)
        if token is None or not self.vocabulary.isdisjoint(signs):
            return self._pieces(words[0], changed), 1
        spelling = " ".join(words[:count])
        if _bare(spelling) != token:
            changed[f"read {_bare(spelling)} as {token}"] = None
        elif spelling != token:
            changed["removed punctuation"] = None
        return [token], count

    def _first(self, words: Sequence[str]) -> tuple[str | None, int]:
        """Return the token that the first words are, as many as can be, and their number."""
        for count in range(min(LONGEST, len(words)), 0, -1):
            letters = [_letters(word) for word in words[:count]]
            token = self._token_of.get("".join(letters)) if all(letters) else None
            if token is not None:
                return token, count
        return (words[0] if words[0] in self.vocabulary else None), 1

    def _pieces(self, word: str, changed: dict[str, None]) -> list[str]:
        """Return the tokens in a word that has punctuation between them; else the word."""
        pieces = PIECES.findall(word)
        kept = [piece for piece in pieces if piece in self.vocabulary or _letters(piece)]
        if not kept:
            changed["removed punctuation"] = None
            return []
        tokens = list[str]()
        while kept:
            token, count = self._first(kept)
            if token is None:
                return [word]
            tokens.append(token)
            kept = kept[count:]
        changed["split words at punctuation"] = None
        return tokens


def _letters(text: str) -> str:
    """Return the letters and digits of a text, without case and accents."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(sign for sign in plain if sign.isalnum())


def _bare(text: str) -> str:
    return text.strip("\"'`*,;.:!()[]{}+|<>")


def _mark(word: str, *, begins: bool) -> str:
    """Return the kind of mark that a word is: end, begin, padding, list numbers; empty for none."""
    if NUMBER.fullmatch(word):
        return "list numbers"
    if not MARK.fullmatch(word):
        return ""
    name = _letters(word)
    if name in PADDING:
        return "padding"
    if CLOSING.fullmatch(word) or (name in END and not (begins and name in BEGIN)):
        return "end"
    return word if name in BEGIN else ""
