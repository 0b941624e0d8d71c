"""Normalisation of predictions to the spelling of a task's targets.

It respells tokens and removes what toolkits and people put around them, and never drops or adds an
action. In this order:

- *Labels* such as `Actions:` are removed, with the question before them. What follows the answer,
  as the next question of a prompt, is cut.
- *Numbers* of a list are removed if they count 1, 2, 3, ... and each stands before one token.
- *Marks* are the begin, end and padding symbols of toolkits. Those before the first token go, and
  the prediction ends at the first end symbol after it.
- A *word* between spaces is read as the tokens with the same letters and digits: case, accents and
  punctuation do not count (`turn-left,` is `I_TURN_LEFT`). Up to three words are read as one token
  if the token has these words (`TURN LEFT`).

Nothing is guessed: a word that is none of these stays as it is.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from daxy.core.examples import Sequences, Tokens

ENDS = frozenset(
    ("eos", "end", "endoftext", "im_end", "eot_id", "eot", "end_of_turn", "stop", "sep")
)
BEGINS = frozenset(
    ("bos", "sos", "go", "start", "begin", "cls", "startoftext", "im_start", "begin_of_text")
)
BRACKETS = frozenset(("s", "answer", "output", "actions", "response"))
"""Marks that end a prediction where they have a slash, as `</s>`, and begin it elsewhere."""
PADDING = frozenset(("pad", "padding", "blank", "null"))
NAMES = "|".join(sorted({*ENDS, *BEGINS, *BRACKETS, *PADDING, "inst"}, key=len, reverse=True))
MARK = re.compile(
    rf"<\|?(?P<slash>/?)(?P<angle>{NAMES})\|?>|\[(?P<slash2>/?)(?P<square>{NAMES})\]"
    rf"|@+(?P<at>end|start|padding)@+|(?<!\S)__(?P<under>{NAMES})__(?!\S)"
    r"|(?<!\S)(?P<bare>(?-i:EOS|BOS|SOS|PAD|END|eos|bos|sos|pad))[.,;]?(?!\S)",
    re.IGNORECASE,
)
QUESTION = frozenset(
    ("in", "input", "q", "question", "source", "src", "user", "human", "instruction", "prompt")
)
ANSWER = frozenset(
    (
        *("out", "output", "a", "answer", "prediction", "response", "result", "target", "is"),
        *("assistant", "action", "actions", "command", "commands", "translation"),
    )
)
"""Names of labels. A task's `source_name` is a question there."""
LABEL = re.compile(r"(?<!\S)[*#]*(?P<name>[^\W\d_]+)[*]*:[*]*")
NUMBER = re.compile(r"\(?(?P<number>\d+)[.)]")
FENCE = re.compile(r"```(?:json|python|text|txt|plaintext|plain|bash)?(?!\S)")
SUBWORD = re.compile("@@ |[▁Ġ]")
"""Marks that subword tokenizers leave between words."""
LEXEME = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")
SIGNS = "\"'`*,;.:!?()[]{}"
LONGEST = 3
"""Maximum words of one token: `I TURN LEFT`."""


@dataclass(frozen=True, eq=False)
class Normalizer:
    """Reads predictions in other spellings as tokens of a task."""

    vocabulary: frozenset[str]
    """The tokens of the task's targets."""
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    """Other names of tokens, such as `LTURN` of `I_TURN_LEFT`."""
    source_name: str = "command"
    """The task's word for a source; as a label it begins a question."""

    def read(self, predictions: Iterable[Sequence[str]]) -> tuple[Sequences, Counter[str]]:
        """Return normalised predictions, and the number of predictions with each change.

        Predictions with only tokens of the task are unchanged.
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
    def _spellings(self) -> dict[str, str]:
        """Tokens and their other names, by name; none that several tokens share."""
        letters = Counter(map(_letters, self.vocabulary))
        names = {**self.aliases, **{token: token for token in self.vocabulary}}
        return {name: token for name, token in names.items() if letters[_letters(name)] <= 1}

    @cached_property
    def _token_of(self) -> dict[str, str]:
        """The token by its letters and digits."""
        return {_letters(name): token for name, token in self._spellings.items() if _letters(name)}

    @cached_property
    def _phrases(self) -> dict[tuple[str, ...], str]:
        """The token by the letters of its words, of those that have several."""
        words = {tuple(map(_letters, _words(name))): it for name, it in self._spellings.items()}
        return {parts: token for parts, token in words.items() if 1 < len(parts) <= LONGEST}

    @cached_property
    def _signs(self) -> str:
        """Punctuation around words that is no token."""
        return "".join(sign for sign in SIGNS if sign not in self.vocabulary)

    def _read(self, text: str, changed: dict[str, None]) -> Iterator[str]:
        """Yield the tokens of a text, and record changes."""
        plain = SUBWORD.sub(lambda mark: "" if "@" in mark[0] else " ", text)
        if plain != text:
            changed["joined subwords"] = None
        unfenced = FENCE.sub(" ", plain)
        if unfenced != plain:
            changed["removed code fences"] = None
        plain = self._answer(unfenced, changed)
        marked = MARK.sub(lambda mark: f" {mark[0]} " if self._mark(mark[0]) else mark[0], plain)
        words = self._without_numbers(self._without_marks(marked.split(), changed), changed)
        place = 0
        while place < len(words):
            tokens, count = self._first(words[place:], changed)
            yield from tokens
            place += count

    def _answer(self, text: str, changed: dict[str, None]) -> str:
        """Return the text after the label of the answer, up to the next question.

        Text before an answer's label is dropped if it is a question or has no token.
        """
        if ":" in self.vocabulary:
            return text
        questions = QUESTION | {self.source_name, f"{self.source_name}s"}
        labels = [
            (label, label["name"].lower() in questions)
            for label in LABEL.finditer(text)
            if label["name"].lower() in questions | ANSWER
        ]
        answers = [label for label, is_question in labels if not is_question]
        first_question = next((each for each, is_question in labels if is_question), None)
        if first_question is not None:
            # A model that goes on with the next question has given its answer before it.
            words = text[: first_question.start()].split()
            is_first = not answers or first_question.start() < answers[0].start()
            if words and is_first and all(map(self._reads, words)):
                changed[f"cut at {first_question[0]}"] = None
                return " ".join(words)
        if not answers:
            return text
        first = answers[0]
        before = text[: first.start()]
        is_asked = first_question is not None and first_question.start() < first.start()
        if not is_asked and any(self._reads(word) for word in before.split()):
            return text
        later = (each.start() for each, is_question in labels if is_question)
        end = next((start for start in later if start >= first.end()), len(text))
        segment = text[first.end() : end]
        same = [each for each in answers if first.end() <= each.start() < end]
        if not segment.strip() or any(each["name"] != first["name"] for each in same):
            return text
        changed[f"removed all up to {first[0]}" if before.strip() else f"removed {first[0]}"] = None
        if end < len(text):
            changed["cut at the next question"] = None
        for each in reversed(same):
            start, stop = (at - first.end() for at in each.span())
            segment = f"{segment[:start]} {segment[stop:]}"
        return segment

    def _mark(self, word: str) -> str:
        """Return the kind of mark that a word is: end, begin or padding; empty for none."""
        mark = MARK.fullmatch(word)
        if mark is None or word in self.vocabulary:
            return ""
        if mark["bare"] and _letters(word) in self._token_of:
            return ""
        groups = ("angle", "square", "at", "under", "bare")
        name = next(mark[group] for group in groups if mark[group]).lower()
        if name in PADDING:
            return "padding"
        closes = name in BRACKETS and bool(mark["slash"] or mark["slash2"])
        return "end" if closes or name in ENDS else "begin"  # `[/INST]` is the end of a prompt

    def _without_marks(self, words: list[str], changed: dict[str, None]) -> list[str]:
        """Return the words from the first that is no mark to the first end symbol.

        An end symbol before all others begins a sequence, as in some toolkits; after a begin symbol
        it ends an empty one.
        """
        kinds = [self._mark(word) for word in words]
        start, begun = 0, False
        while start < len(words) and kinds[start] and not (begun and kinds[start] == "end"):
            changed[f"removed {words[start]}"] = None
            begun = begun or kinds[start] == "begin"
            start += 1
        end = next((at for at in range(start, len(words)) if kinds[at] == "end"), len(words))
        if end < len(words):
            changed[f"cut at {words[end]}"] = None
        while end > start and kinds[end - 1] == "padding":
            end -= 1
            changed[f"removed {words[end]}"] = None
        return words[start:end]

    def _without_numbers(self, words: list[str], changed: dict[str, None]) -> list[str]:
        """Return the words without the numbers of a list, if each is before one token."""
        numbers = {
            at: int(number["number"])
            for at, word in enumerate(words)
            if (number := NUMBER.fullmatch(word)) and word not in self.vocabulary
        }
        counted = list(numbers.values())
        if not numbers or counted[0] > 1 or counted != [*range(counted[0], counted[-1] + 1)]:
            return words
        places = [*numbers, len(words)]
        items = [words[at + 1 : end] for at, end in itertools.pairwise(places)]
        if places[0] != 0 or not all(item and self._is_one_token(item) for item in items):
            return words
        changed["removed list numbers"] = None
        return [word for item in items for word in item]

    def _is_one_token(self, words: list[str]) -> bool:
        tokens, count = self._first(words, {})
        return count == len(words) and len(tokens) == 1 and tokens[0] in self.vocabulary

    def _reads(self, word: str) -> bool:
        tokens, _ = self._first([word], {})
        return not self.vocabulary.isdisjoint(tokens)

    def _first(self, words: Sequence[str], changed: dict[str, None]) -> tuple[list[str], int]:
        """Return the tokens that the first word is, or the first words, and how many these are."""
        for count in range(min(LONGEST, len(words)), 1, -1):
            phrase = " ".join(words[:count]).strip(self._signs)
            token = self._phrases.get(tuple(map(_letters, phrase.split(" "))))
            is_plain = phrase.replace(" ", "").isalnum()
            if token and is_plain and not self.vocabulary.issuperset(words[:count]):
                changed[f"read {phrase} as {token}"] = None
                return [token], count
        word = words[0]
        if word in self.vocabulary:
            return [word], 1
        read = dict[str, None]()
        tokens = self._tokens(word, read)
        if tokens is None:
            return [word], 1
        changed.update(read)
        return tokens, 1

    def _tokens(self, word: str, changed: dict[str, None]) -> list[str] | None:
        tokens = list[str]()
        for lexeme in LEXEME.findall(unicodedata.normalize("NFKC", word)):
            if lexeme in self.vocabulary:
                if lexeme not in word:
                    changed[f"read {word} as {lexeme}"] = None
                tokens.append(lexeme)
            elif not _letters(lexeme):
                changed["removed punctuation"] = None
            else:
                known = self._pieces(lexeme, changed)
                if known is None:
                    return None
                tokens += known
        if len(tokens) > 1:
            changed["split words at punctuation"] = None
        return tokens

    def _pieces(self, lexeme: str, changed: dict[str, None]) -> list[str] | None:
        """Return the tokens that a lexeme is, whole or between its hyphens and underscores."""
        token = self._token_of.get(_letters(lexeme))
        has_apostrophe = "'" in lexeme or "’" in lexeme
        if token is not None and not has_apostrophe:
            changed[f"read {lexeme} as {token}"] = None
            return [token]
        pieces = [piece for piece in re.split(r"[-'’_]+", lexeme) if piece]
        tokens = list[str]()
        while pieces:
            for count in range(min(LONGEST, len(pieces)), 0, -1):
                letters = tuple(map(_letters, pieces[:count]))
                found = self._token_of.get(letters[0]) if count == 1 else self._phrases.get(letters)
                if found is not None:
                    tokens.append(found)
                    pieces = pieces[count:]
                    break
            else:
                return None if token is None else [token]
        return tokens


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[_ ]+", name) if word]


@lru_cache(maxsize=65_536)
def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(sign for sign in plain if sign.isalnum())
