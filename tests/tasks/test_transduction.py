"""The transduction suite: what pairs are, and that a stream is the same however it is cut."""

import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from scipy.stats import chisquare

from daxy import tasks
from daxy.core.errors import DaxyError
from daxy.core.examples import Examples, Tokens
from daxy.core.split import Split
from daxy.languages import itg
from daxy.tasks._streams import BLOCK, TOKENS, Copy, PairGenerator, Stream
from daxy.tasks._transduction_options import GrammarFileOptions

MEANINGS: dict[str, Callable[[Tokens], Tokens]] = {
    "copy": lambda source: source,
    "reverse": lambda source: source[::-1],
    "bigram_flip": lambda source: tuple(
        token for pair in zip(source[1::2], source[::2], strict=True) for token in pair
    ),
}
NAMES = [*MEANINGS, *itg.GRAMMARS]
each_task = pytest.mark.parametrize("name", NAMES)


def split(name: str, **choices: Any) -> Split:
    task = f"transduction/{name}"
    return tasks.get(task).split(tasks.data(task, **choices))


def same(one: Examples, other: Examples) -> bool:
    return list(one) == list(other)


@pytest.mark.parametrize("name", MEANINGS)
def test_targets_are_what_the_paper_says(name: str) -> None:
    for part in split(name).parts.values():
        for source, target in zip(part.source, part.target, strict=True):
            assert target == MEANINGS[name](source)


@each_task
def test_lengths_are_the_papers(name: str) -> None:
    made = split(name)
    for part, (least, most) in {"train": (8, 64), "validation": (8, 64), "test": (65, 128)}.items():
        lengths = made.parts[part].source.lengths
        assert least <= lengths.min() <= lengths.max() <= most
    assert [len(part) for part in made.parts.values()] == [20_000, 1_000, 1_000]


@pytest.mark.parametrize("name", MEANINGS)
def test_lengths_and_symbols_are_uniform(name: str) -> None:
    source = split(name, train_pairs=2 * BLOCK).train.source
    step = 2 if name == "bigram_flip" else 1
    counts = np.bincount(source.lengths, minlength=65)[8:65:step]
    assert counts.sum() == len(source)
    assert chisquare(counts).pvalue > 1e-4
    symbols = np.bincount(source.codes, minlength=128)
    assert len(symbols) == 128
    assert chisquare(symbols).pvalue > 1e-4


@pytest.mark.parametrize("name", itg.GRAMMARS)
def test_lengths_of_a_grammar_are_as_likely_as_in_it_or_all_alike(name: str) -> None:
    sampler = itg.Sampler.of(itg.grammar(name), 64)
    odds = sampler.lengths(8)
    for lengths, expected in (("grammar", odds), ("uniform", (odds > 0) / (odds > 0).sum())):
        found = split(name, lengths=lengths, train_pairs=2 * BLOCK).train.source.lengths
        counts = np.bincount(found, minlength=65)
        common = expected * len(found) >= 5
        rare = [counts[~common].sum()], [expected[~common].sum() * len(found)]
        wanted = [*(expected[common] * len(found)), *(rare[1] if rare[1][0] > 1 else [])]
        seen = [*counts[common], *(rare[0] if rare[1][0] > 1 else [])]
        assert not counts[expected == 0].any()
        assert chisquare(seen, np.array(wanted) * sum(seen) / sum(wanted)).pvalue > 1e-4


@each_task
def test_shards_are_the_whole(name: str) -> None:
    whole = split(name, train_pairs=1_000, test_pairs=5, validation_pairs=5).train
    shards = [
        split(name, train_pairs=1_000, test_pairs=5, validation_pairs=5, shard=f"{number}/3").train
        for number in (1, 2, 3)
    ]
    assert [len(shard) for shard in shards] == [333, 333, 334]
    assert [example for shard in shards for example in shard] == list(whole)


def test_another_process_makes_the_same_shard() -> None:
    """Sets are in another order there."""
    made = "from tests.tasks.test_transduction import checksums; print(*checksums())"
    there = subprocess.run(
        [sys.executable, "-c", made],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.split() == checksums()


def checksums() -> list[str]:
    """Return those of a shard of each task."""
    few = {"train_pairs": 600, "test_pairs": 5, "validation_pairs": 5, "shard": "2/3"}
    return [split(name, **few).provenance.checksum for name in NAMES]


@each_task
def test_a_longer_train_set_begins_like_a_shorter_one(name: str) -> None:
    shorter, longer = (split(name, train_pairs=count).train for count in (10, BLOCK + 10))
    assert same(shorter, longer[:10])


def test_any_stretch_of_a_stream_is_found_where_it_is() -> None:
    stream = Stream(Copy(128, 8, 64), 0, "test")
    whole = stream.pairs(range(3 * BLOCK))
    long = Stream(Copy(128, TOKENS // 2, TOKENS // 2), 0, "test")
    assert same(long.pairs(range(1, 4)), long.pairs(range(5))[1:4])
    for rows in (
        range(5),
        range(BLOCK - 3, BLOCK + 3),
        range(BLOCK, 3 * BLOCK),
        range(7, 7),
        range(0),
    ):
        assert same(stream.pairs(rows), whole[rows.start : rows.stop])


def test_what_is_long_is_drawn_a_few_at_a_time() -> None:
    """And what has lengths of the paper in blocks as ever."""

    class Counted(PairGenerator):
        longest = 0

        def pairs(self, count: int, draw: np.random.Generator) -> Examples:
            counts.append(count)
            return Copy(2, 1, 1).pairs(count, draw)

    maker, counts = Counted(), list[int]()
    for longest, block in ((1, BLOCK), (128, BLOCK), (65_536, 16), (10 * TOKENS, 1)):
        maker.longest = longest
        assert len(Stream(maker, 0, "test").pairs(range(3))) == 3
        assert set(counts) == {block}
        counts.clear()


@each_task
def test_parts_and_seeds_have_streams_of_their_own(name: str) -> None:
    choices = {
        "train_pairs": 50,
        "validation_pairs": 50,
        "test_min_length": 8,
        "test_max_length": 64,
    }
    one, other = split(name, **choices), split(name, seed=1, **choices)
    parts = [*one.parts.values(), *other.parts.values()]
    assert len({tuple(part.source[:20]) for part in parts}) == len(parts)


def test_a_probability_may_be_written_at_any_length_that_is_read_again() -> None:
    """It is kept as a fraction, which is up to twice as long."""
    third = f"0.{'3' * 300}"
    rules = f"{third} A -> a A1 | A1 b\n{1 - Fraction(third)} A -> c | d"
    data = GrammarFileOptions(grammar=rules, train_pairs=5, validation_pairs=5, test_pairs=5)
    known = data.rules
    assert known is not None and known.rules[0].probability == Fraction(third)
    assert len(tasks.get("transduction/grammar").split(data).train) == 5


def test_choices_of_another_grammar_are_refused() -> None:
    other = GrammarFileOptions(grammar="1/2 A -> a A1 | A1 b\n1/2 A -> c | d")
    with pytest.raises(DaxyError, match="chosen by GrammarOptions, not by GrammarFileOptions"):
        other.load("transduction/svo_sov")


def test_a_grammar_of_ones_own_is_a_task(tmp_path: Path) -> None:
    file = tmp_path / "mine.itg"
    file.write_text("1/2 A -> a A1 | A1 b\n1/4 A -> c | d\n1/4 A -> B1 c | c B1\n1 B -> b | e\n")
    made = split(
        "grammar", grammar=file, min_length=1, max_length=6, test_min_length=7, test_max_length=9
    )
    for source, target in zip(made.test.source, made.test.target, strict=True):
        last = source[-2:] == ("b", "c")
        assert target == (("c", "e") if last else ("d",)) + ("b",) * (len(source) - 1 - last)
    said = made.provenance.options["grammar"]
    assert isinstance(said, str)
    again = split(
        "grammar", grammar=said, min_length=1, max_length=6, test_min_length=7, test_max_length=9
    )
    assert again.provenance == made.provenance


def test_a_grammar_is_what_its_file_held_when_it_was_chosen(tmp_path: Path) -> None:
    file = tmp_path / "mine.itg"
    file.write_text("1/2 A -> a A1\n1/2 A -> c | d\n")
    chosen = tasks.data("transduction/grammar", grammar=file)
    file.unlink()
    assert chosen.choices["grammar"] == "1/2 A -> a A1 | a A1\n1/2 A -> c | d"
    assert tasks.get("transduction/grammar").split(chosen).test.source[0][-1] == "c"


def test_a_grammar_is_the_same_however_it_is_written(tmp_path: Path) -> None:
    written = "1/2  A -> a A7 | a A7,  c | d   # a remark"
    file = tmp_path / "mine.itg"
    file.write_text(written)
    said = [tasks.data("transduction/grammar", grammar=each).choices for each in (file, written)]
    assert said[0] == said[1]
    assert said[0]["grammar"] == "1/2 A -> a A1 | a A1\n1/2 A -> c | d"
    again = tasks.data("transduction/grammar", grammar=said[0]["grammar"])
    assert again.choices == said[0]


def test_a_grammar_is_read_once_however_often_it_is_asked_for() -> None:
    chosen = tasks.data(
        "transduction/grammar", grammar="1/2 A -> b A1\n1/2 A -> once", train_pairs=5
    )
    with mock.patch.object(itg, "read", wraps=itg.read) as read:
        assert len(tasks.get("transduction/grammar").split(chosen).train) == 5
        assert len(tasks.get("transduction/grammar").split(chosen).train) == 5
    read.assert_called_once()


def test_test_sources_that_train_has_are_counted_where_there_can_be_any() -> None:
    task = tasks.get("transduction/copy")
    assert task.statistics(split("copy")) == {}
    # Of one symbol there is one source of each length, and lengths up to 3 are in train.
    lengths = {"min_length": 1, "max_length": 3, "test_min_length": 3, "test_max_length": 5}
    made = split("copy", symbols=1, **lengths)
    share = task.statistics(made)["share of test sources that occur in train"]
    assert share == pytest.approx((made.test.source.lengths == 3).mean())
    assert 0.2 < share < 0.5


@pytest.mark.parametrize(
    ("name", "choices", "message"),
    [
        ("copy", {"train_pairs": 0}, "train-pairs must be positive, not 0"),
        ("copy", {"min_length": 0}, r"min-length must be from 1 to max-length \(64\), not 0"),
        (
            "copy",
            {"test_max_length": 5},
            "test-min-length must be from 1 to test-max-length",
        ),
        ("copy", {"symbols": 0}, "symbols must be from 1 to 65,534, not 0"),
        ("copy", {"symbols": 65535}, "symbols must be from 1 to 65,534, not 65535"),
        (
            "copy",
            {"shard": "0/3"},
            "shard must say which of how many, as 3/10, of up to 20000 pairs, not '0/3'",
        ),
        ("copy", {"shard": "4/3"}, "shard must say which of how many"),
        ("copy", {"shard": "1/3", "train_pairs": 2}, "of up to 2 pairs"),
        ("bigram_flip", {"min_length": 9, "max_length": 9}, "no length from 9 to 9 is even"),
        (
            "gender",
            {"min_length": 2, "max_length": 4},
            "the grammar has no source of 2 to 4 tokens; expected other lengths",
        ),
        ("gender", {"lengths": "normal"}, "lengths must be one of 'grammar', 'uniform'"),
        ("gender", {"official": Path("x")}, "has no official files; leave out --official"),
        ("grammar", {}, "is of a grammar of yours; expected --grammar FILE"),
        ("grammar", {"grammar": "nope.itg"}, "grammar must be the Path of a file or a grammar's"),
        ("grammar", {"grammar": Path("nope.itg")}, "nope.itg: no such file"),
        ("grammar", {"grammar": "1/2 A -> a"}, "the grammar: the probabilities of A sum to 1/2"),
        ("grammar", {"grammar": "1 A -> a\n1 B <- b"}, "the grammar:2: expected `probability LEFT"),
    ],
)
def test_what_cannot_be_made_is_refused(name: str, choices: dict[str, Any], message: str) -> None:
    with pytest.raises(DaxyError, match=message):
        split(name, **choices)
