"""English and French: does a network use a word from a single training sentence?

Experiment 4 of Lake & Baroni (2018), in both directions as in Bastings et al. (2018). Train has
short sentences that begin with `i am`, `he is` and so on, and many copies of `i am daxy .`. There
are three tests: other sentences, the new word in eight constructions, and the known word `tired`
in the same eight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from daxy.core.errors import WrongRequest, quote, require
from daxy.core.examples import Example, Examples, Sequences, Tokens
from daxy.core.random import stream
from daxy.core.split import Sizes, Split
from daxy.languages import copular
from daxy.tasks import _translation_released as released
from daxy.tasks._by_rules import NoRules
from daxy.tasks._task import Task
from daxy.tasks._translation_options import PREFIXES, TranslationOptions
from daxy.tasks._translation_pairs import Pair, draw_pairs, hold_out, of_file, without
from daxy.tasks._validation import check_sizes
from daxy.worlds.world import World

PAPER = "Lake & Baroni 2018, Experiment 4; Bastings et al. 2018, section 6.2"
METRICS = ("bleu", "exact", "accepted")
SENTENCES, NEW_WORD, CONTROL = "sentences", "new_word", "control"
"""The three tests."""
TIRED = next(each for each in copular.predicates() if each.english == ("tired",))


@final
@dataclass(frozen=True, kw_only=True)
class TranslationTask(Task[TranslationOptions]):
    """Sentences of one language and their translations."""

    is_reversed: bool
    """Whether it goes from French to English."""

    options = TranslationOptions
    language = copular.LANGUAGE
    published = False

    def build(self, data: TranslationOptions) -> Split:
        """Return the data of these options."""
        train, validation, test = _parts(data)
        check_sizes(len(train), len(validation), is_requested=data.is_validated)
        new, known = (copular.constructions(each).values() for each in (data.added, TIRED))
        _check_new(data, [*train, *validation, *test, *known])
        copies = [copular.introduction(data.added)] * data.repetitions
        held_back = _copies_in_validation(data)
        rule = self.rule if data.sentences != "released" else "the draws of the released files"
        if not any("tired" in english for english, _ in train):
            rule += "; no sentence of train has `tired`, which the control asks for"
        return Split.of(
            train=self._examples([*train, *copies[held_back:]]),
            validation=self._examples([*validation, *copies[:held_back]]),
            test=self._examples([*test, *new, *known]),
            tests={SENTENCES: len(test), NEW_WORD: len(new), CONTROL: len(known)},
            task=self.name,
            rule=rule,
            seed=data.seed,
            source={
                "grammar": "generated",
                "file": f"the sentences of {data.pairs}",
                "released": f"official files in {data.official}",
            }[data.sentences],
            options=data.options,
        )

    def targets(self, source: Tokens, world: World | None = None) -> tuple[Tokens, ...]:
        """Return all translations of a sentence."""
        del world
        return copular.translations(source)

    def accepts(self, example: Example, prediction: Tokens) -> bool:
        """Whether a prediction is as right as the given translation."""
        return prediction in copular.accepted(example.source, example.target)

    def disagreement(self, source: Tokens, target: Tokens) -> str | None:
        """Refuse: the grammar lacks most sentences of the papers."""
        del source, target
        raise NoRules(f"no rules say which pairs of {self.name} are right")

    def facts(self, examples: Examples) -> dict[str, float]:
        """Return the counts of Lake & Baroni (2018) for the tested constructions.

        A construction has a single word in its slot: `you are X .`
        """
        pairs = set(zip(*self._sides(examples), strict=True))
        english = {sentence for sentence, _ in pairs}
        eight = {sentence for sentence, _ in copular.constructions(TIRED).values()}
        return {
            "sentences with tired": sum("tired" in sentence for sentence in english),
            "of its eight constructions": len(english & eight),
            "predicates a construction": _mean(_constructed(english)),
            "pairs a construction": _mean(_constructed(sentence for sentence, _ in pairs)),
        }

    def distributions(self, examples: Examples) -> dict[str, dict[str, int]]:
        """Return the number of lines of each of the eight constructions."""
        english, _ = self._sides(examples)
        counts = _constructed(english)
        return {"construction": {f"{name} X": count for name, count in counts.items()}}

    def _examples(self, pairs: Sequence[Pair]) -> Examples:
        examples = Examples.of(pairs)
        return examples.swapped() if self.is_reversed else examples

    def _sides(self, examples: Examples) -> tuple[Sequences, Sequences]:
        english, french = examples.source, examples.target
        return (french, english) if self.is_reversed else (english, french)


def _constructed(english: Iterable[Tokens]) -> dict[str, int]:
    of_frame = dict.fromkeys(copular.CONSTRUCTIONS, 0)
    for *frame, word, end in (each for each in english if len(each) > 3):
        name = " ".join(frame)
        of_frame[name] = of_frame.get(name, 0) + (end == "." and word not in ("not", "very"))
    return {name: of_frame[name] for name in copular.CONSTRUCTIONS}


def _mean(counts: Mapping[str, int]) -> float:
    return sum(counts.values()) / len(counts)


def _parts(data: TranslationOptions) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Return train, validation and test without the sentences of the new and the known word."""
    if data.sentences == "released":
        if data.official is None:
            raise WrongRequest(
                "the sentences that the papers trained on do not come with daxy;"
                " expected --official DIR, a clone of github.com/facebookresearch/NACS"
            )
        chosen = released.load(data.official)
        if not data.is_validated:
            return chosen.train, [], chosen.test
        return chosen.rest, chosen.validation, chosen.test
    hidden = list(copular.constructions(TIRED).values())
    if data.sentences == "file":
        if data.pairs is None:
            raise WrongRequest("the sentences of a file were asked for; expected --pairs FILE")
        selected = of_file(data.pairs, PREFIXES[data.prefixes], data.max_length)
        pairs = list(without(selected, hidden))
    else:
        pairs = draw_pairs(TIRED, data.max_length, data.seed, hidden)
    learned, test = hold_out(pairs, data.test_fraction, data.seed)
    if not data.is_validated:
        return learned, [], test
    draws = stream(data.seed, "translation/validation").random(len(learned))
    is_chosen = (draws < data.validation_fraction).tolist()
    train = [pair for pair, out in zip(learned, is_chosen, strict=True) if not out]
    return train, [pair for pair, out in zip(learned, is_chosen, strict=True) if out], test


def _copies_in_validation(data: TranslationOptions) -> int:
    """Return the number of copies of the new word's sentence in validation, never all."""
    if not data.is_validated or data.repetitions == 0:
        return 0
    share = released.SHARE if data.sentences == "released" else data.validation_fraction
    return min(round(share * data.repetitions), data.repetitions - 1)


def _check_new(data: TranslationOptions, pairs: Iterable[Pair]) -> None:
    (english,), (french, *_) = data.added.english, data.added.french[0]
    for pair in pairs:
        for word, sentence in zip((english, french), pair, strict=True):
            among = "the sentences" if data.pairs is None else f"those of {data.pairs}"
            known = f"{quote(word)} is no new word: {quote(' '.join(sentence))} is among {among}"
            require(word not in sentence, f"{known}; expected another --word")


def _all() -> Iterator[TranslationTask]:
    for name, way, is_reversed in (
        ("daxy", "English to French", False),
        ("daxy_fr_en", "French to English", True),
    ):
        yield TranslationTask(
            name=f"translation/{name}",
            family=f"translation/{name}",
            summary=f"{way}, with a word that is met in `i am daxy .` only",
            paper=PAPER,
            rule="a draw: no sentence of either language is in both parts; the new word and `tired`"
            " in eight constructions",
            sizes=Sizes(
                train=10_999, test=1_199, tests={SENTENCES: 1_183, NEW_WORD: 8, CONTROL: 8}
            ),
            metrics=METRICS,
            is_reversed=is_reversed,
        )


TASKS = {task.name: task for task in _all()}
