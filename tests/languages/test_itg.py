"""Inversion transduction grammars: notation, lengths, samples and derivations."""

import itertools
import math
import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from daxy.core.errors import UnknownName, WrongFile, WrongRequest
from daxy.core.examples import Sequences, Tokens
from daxy.core.vocabulary import Vocabulary
from daxy.languages import itg
from daxy.languages.itg import Grammar, Rule, Sampler

SVO = """
1   A -> S1 VT2 O3 | S1 O3 VT2
1/5 S -> S1 S2 | S1 S2        1/5 S -> S1 rpi S2 VT3 | S1 rpo S2 VT3      3/5 S -> ST1
1/5 O -> O1 O2 | O1 O2        1/5 O -> S1 rpi S2 VT3 | S1 rpo S2 VT3      3/5 O -> OT1
1/33 ST_i -> si_i | so_i      1/33 OT_i -> oi_i | oo_i                    1/33 VT_i -> vi_i | vo_i
"""
GENDER = """
1   A -> B1
1/4 B -> B1 or B2 | B1 oder B2    1/4 B -> S1 and S2 | S1 und S2    1/2 B -> B1 V2
3/4 V -> W1 B2                    1/4 V -> W1
1/6 each  S -> the M | der M,  the F | die F,  the N | das N,  a M | ein M,  a F | eine F,  a N | ein N
1/25 W_i -> we_i | wg_i   M_i -> me_i | mg_i   F_i -> fe_i | fg_i   N_i -> ne_i | ng_i
"""  # noqa: E501 - as the paper's table is set
TABLE_1 = {"svo_sov": SVO, "gender": GENDER}
VOCABULARIES = {"svo_sov": (100, 100), "gender": (104, 107)}
"""3 x 33 words and a relative pronoun; 4 x 25 words, two conjunctions and two or five articles."""

TANGLED = itg.read(
    """
    1/5 A -> B1 A2 | A2 B1
    1/5 A -> x A1 b | A1 c        # tokens that only one side has
    1/5 A -> B1
    1/5 A -> A1 B2 A3 | A3 A1 B2
    1/5 A -> x | y z
    1/2 B -> A1                   # A and B may become each other for ever
    1/2 B -> b | y
    """,
    "tangled",
)

TWOS = [*itertools.product("ab", repeat=2)]

each_grammar = pytest.mark.parametrize("name", itg.GRAMMARS)


@each_grammar
def test_the_papers_table_reads_as_the_grammar_that_daxy_has(name: str) -> None:
    read = itg.read(TABLE_1[name], "table 1")
    assert set(read.rules) == set(itg.grammar(name).rules)
    assert read.root == itg.grammar(name).root == "A"


@each_grammar
def test_a_grammar_has_the_papers_words(name: str) -> None:
    grammar = itg.grammar(name)
    assert (len(grammar.source_symbols), len(grammar.target_symbols)) == VOCABULARIES[name]


def test_an_index_counts_from_one_to_what_makes_the_sum() -> None:
    grammar = itg.read("1/2 A -> a | b\n1/6 A_i -> a_i | b_i", "x")
    half, sixth = Fraction(1, 2), Fraction(1, 6)
    more = [Rule("A", sixth, (), (f"a{i}",), (f"b{i}",)) for i in (1, 2, 3)]
    assert grammar.rules == (Rule("A", half, (), ("a",), ("b",)), *more)


def test_one_side_alone_stands_for_two_that_are_alike() -> None:
    grammar = itg.read("1/2 A -> a A1\n.5 A -> c", "x")
    assert grammar == itg.read("1/2 A -> a A | a A, c | c", "x")
    assert [str(rule) for rule in grammar.rules] == ["1/2 A -> a A1 | a A1", "1/2 A -> c | c"]


def test_a_remark_begins_no_word_and_ends_none() -> None:
    grammar = itg.read("# of a sharp\n1/2 A -> a# A1 | c A1  # and so on\n1/2 A -> d#e", "x")
    said = [str(rule) for rule in grammar.rules]
    assert said == ["1/2 A -> a# A1 | c A1", "1/2 A -> d#e | d#e"]
    assert str(itg.read("1 A -> a #b | c", "x").rules[0]) == "1 A -> a | a"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.itg: a grammar needs a rule"),
        ("\nA -> a", "x.itg:2: expected a probability before the first rule"),
        ("# a\vb\u2028c\nnonsense", "x.itg:2: expected `probability LEFT -> source | target`"),
        ("nonsense", "x.itg:1: expected `probability LEFT -> source | target`, not 'nonsense'"),
        ("1 A -> a | b | c", "x.itg:1: expected `source | target`"),
        ("1 A ->", "x.itg:1: expected `source | target`"),
        ("1 A -> a |", "x.itg:1: expected `source | target`"),
        ("1 A -> B -> b", "x.itg:1: expected `source | target` between two `->`, not ''"),
        ("1 A -> a |# b", "x.itg:1: expected a space before the remark '#', or another token"),
        ("1 A ->-> b", "x.itg:1: expected one `->` between spaces after LEFT, not '->' among"),
        ("3/2 A -> a", "x.itg:1: expected a probability above 0 and up to 1"),
        ("0 A -> a", "x.itg:1: expected a probability above 0 and up to 1"),
        ("1/0 A -> a", "x.itg:1: expected a probability above 0 and up to 1"),
        ("1 a -> a", "x.itg:1: expected a nonterminal of letters, the first a capital"),
        ("1 A_x -> a", "x.itg:1: expected a nonterminal of letters, the first a capital"),
        ("1 A -> I_WALK | x", "x.itg:1: expected a nonterminal of letters and perhaps a number"),
        ("1/2 A_i -> W_i | x_i", "x.itg:1: expected a nonterminal of letters and perhaps a number"),
        ("1/2 A -> a | b 5e-1 A -> c", "x.itg:1: expected a probability as 1/5 or 0.2 before"),
        ("1/2 A -> a | b 50% A -> c", "x.itg:1: expected a probability as 1/5 or 0.2 before"),
        ("1/70000 A_i -> a_i", "x.itg:1: A_i would stand for 70,000 rules; expected at most"),
        ("1/2 A -> a\n1/2 A -> a", "x.itg: a rule is said more than once: 1/2 A -> a | a"),
        ("1/2 A -> a", "x.itg: the probabilities of A sum to 1/2, not to 1"),
        ("1 A -> B1", "x.itg: B is not defined: 1 A -> B1 | B1"),
        ("1 A -> a\n1 B -> b", "x.itg: A never becomes B"),
        ("1 A -> A1 a", "x.itg: no derivation of A ever ends"),
        ("0.999 A -> A\n0.001 A -> a", "x.itg: A can become 10,000 nonterminals one after"),
        ("1 A -> B | c B\n0.999 B -> A\n0.001 B -> b", "x.itg: A can become 10,000 nonterminals"),
        (f"{1 - Fraction(1, 10**20)} A -> A\n1/{10**20} A -> a", "x.itg: A can become 10,000"),
        ("1 A -> B B\n1 B -> b", "x.itg:1: expected the same nonterminals on both sides"),
        ("1 A -> B1 C2 | B2 C1\n1 B -> b\n1 C -> c", "x.itg:1: expected the same nonterminals"),
        ("1 A -> B | b\n1 B -> b", "x.itg:1: expected the same nonterminals on both sides"),
        ("1 A -> a_i", "x.itg:1: a_i has an index and A has none; expected A_i"),
        ("2/5 A_i -> a_i", "x.itg:1: no number of A_i makes the probabilities of A sum to 1"),
        (
            "1/65535 A_i -> a_i",
            "x.itg:1: A_i would stand for 65,535 rules; expected at most 65,5",
        ),
        (f"1/{10**307} A_i -> a_i", "x.itg:1: A_i would stand for 1e+307 rules; expected at most"),
        (
            f"\n1/{10**308} A -> a",
            "x.itg:2: expected a probability of at least 2.225e-308, not '1",
        ),
        (f"\n1/{10**800} A -> a", "x.itg:2: expected a probability of at most 801 characters, not"),
        (
            "\n".join(f"1/{10**300 + number} A -> a{number}" for number in range(20)),
            "x.itg: the probabilities of A sum to about 2e-299, not to 1",
        ),
    ],
)
def test_what_is_no_grammar_is_refused(text: str, message: str) -> None:
    with pytest.raises(WrongFile) as raised:
        itg.read(text, "x.itg")
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("probability", "message"),
    [
        (Fraction(1, 10**310), "a probability of A is below 2.225e-308"),
        (Fraction(1, 10**5000), "a probability of A has more than 400 digits"),
        (Fraction(10**5000 + 1, 2), "a probability of A has more than 400 digits"),
    ],
)
def test_a_probability_that_no_machine_can_hold_is_refused(
    probability: Fraction, message: str
) -> None:
    with pytest.raises(WrongRequest, match=message):
        Grammar((Rule("A", probability, (), ("a",), ("b",)),))


def test_a_side_has_as_many_tokens_as_a_network_has_codes() -> None:
    def grammar(count: int) -> Grammar:
        tokens = tuple(f"a{number}" for number in range(count))
        return Grammar((Rule("A", Fraction(1), (), ("a",), tokens),))

    tokens = grammar((1 << 16) - 2).target_symbols
    codes = Vocabulary(tokens).encode(Sequences.of([tokens]))
    assert len(np.unique(codes)) == len(tokens) + 1  # and the end
    with pytest.raises(WrongRequest, match="more than 65,534 distinct tokens: 65,535"):
        grammar((1 << 16) - 1)


def test_rules_of_one_nonterminal_may_follow_each_other_for_long() -> None:
    grammar = itg.read("0.99 A -> B | x B\n0.01 A -> c\n0.5 B -> A\n0.5 B -> b b", "mine")
    sampler = Sampler.of(grammar, 2)
    # A becomes B and B becomes A with probability 0.99 / 2; at last either ends.
    odds = np.array([0, 0.01, 0.99 / 2]) / (1 - 0.99 / 2)
    assert sampler.lengths() == pytest.approx(odds, abs=1e-12)
    long = itg.read("0.99 A -> A | x A\n0.01 A -> a", "mine")
    pairs = Sampler.of(long, 1).pairs(np.ones(2_000, np.int64), np.random.default_rng(0))
    added = [len(target) - 1 for target in pairs.target]
    assert np.mean(added) == pytest.approx(99, abs=5 * 99.5 / len(added) ** 0.5)


def test_lengths_that_one_nonterminal_hardly_ever_has_are_exact_beside_those_of_another() -> None:
    rare = Fraction(1, 10**6)
    text = f"{rare} A -> a a A, b D\n{1 - 2 * rare} A -> a\n1/2 D -> d d D, d"
    weights = Sampler.of(itg.read(text, "mine"), 127).weights.whole
    # Odd sources of A have its first and its third rule alone.
    expected = [n * math.log(rare) + math.log(1 - 2 * rare) for n in range(64)]
    assert weights["A"][1::2] == pytest.approx(expected, rel=1e-12)
    assert weights["D"][127] == pytest.approx(64 * math.log(0.5))


def test_what_chains_of_nonterminals_never_become_has_no_chance() -> None:
    text = """
    3/4 A -> A | x A    1/8 A -> a    1/8 A -> c c C
    15/64 C -> C | y C  1/2 C -> A    17/64 C -> d d
    """
    sampler = Sampler.of(itg.read(text, "mine"), 4)
    assert sampler.possible().tolist() == [1, 3, 4]
    assert np.exp(sampler.weights.whole["A"][1:3]) == pytest.approx([0.5, 0])
    # Of length 1 a C is an A, and of length 2 it is `d d`.
    assert np.exp(sampler.weights.whole["C"][1:3]) == pytest.approx([16 / 49, 17 / 49])


def test_an_unknown_grammar_is_named() -> None:
    with pytest.raises(UnknownName, match="no grammar named 'svo'"):
        itg.grammar("svo")


def test_a_side_may_end_with_what_looks_like_a_number() -> None:
    grammar = itg.read("1/2 A -> he sleeps . | il dort .  1/2 A -> at 5 | à 5", "mine")
    assert [rule.target[-1] for rule in grammar.rules] == [".", "5"]


def test_a_file_that_is_not_there_is_named(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("grammars") / "x.itg"
    with pytest.raises(WrongFile, match="x.itg: no such file"):
        itg.load(path)
    for content, message in (
        (b"\xef\xbb\xbf1 A -> a", "x.itg:1: the file starts with a byte order mark"),
        (b"1/2 A -> a\n1/2 A -> \xff", "x.itg:2: byte 0xff at column 10 is not UTF-8"),
    ):
        path.write_bytes(content)
        with pytest.raises(WrongFile, match=message):
            itg.load(path)
    path.write_text(SVO)
    assert set(itg.load(path).rules) == set(itg.grammar("svo_sov").rules)


def test_expected_lengths_are_those_of_the_branching_process() -> None:
    # S = .8 S + 1 = 5 and O = .4 O + 3 = 5, and a verb between them.
    assert itg.grammar("svo_sov").expected_length == pytest.approx(11)
    assert itg.grammar("gender").expected_length == float("inf")
    assert itg.read("1/4 A -> a A1, A1\n1/2 A -> b", "x").expected_length == pytest.approx(1.5)


def likelihoods(grammar: Grammar, longest: int) -> dict[str, np.ndarray]:
    """Return how likely each source length is, by putting the rules in again and again."""
    found = {name: np.zeros(longest + 1) for name in grammar.nonterminals}
    for _ in range(400):
        new = {name: np.zeros(longest + 1) for name in grammar.nonterminals}
        for rule in grammar.rules:
            ways = np.eye(longest + 1)[0] * float(rule.probability)
            for symbol in rule.source:
                step = np.eye(longest + 1)[1]
                part = step if isinstance(symbol, str) else found[rule.children[symbol]]
                ways = np.convolve(ways, part)[: longest + 1]
            new[rule.left] += ways
        found = new
    return found


@pytest.mark.parametrize("name", [*itg.GRAMMARS, "tangled"])
def test_inside_weights_are_the_likelihoods_of_lengths(name: str) -> None:
    grammar = TANGLED if name == "tangled" else itg.grammar(name)
    weights = Sampler.of(grammar, 24).weights.whole
    for left, expected in likelihoods(grammar, 24).items():
        np.testing.assert_allclose(np.exp(weights[left]), expected, atol=1e-12)


def test_the_shortest_sentences_are_as_likely_as_by_hand() -> None:
    weights = np.exp(Sampler.of(itg.grammar("svo_sov"), 8).weights.whole["A"])
    # A subject of one word has 3/5, of two 1/5 x 9/25; so has an object.
    np.testing.assert_allclose(weights[:5], [0, 0, 0, 9 / 25, 2 * 3 / 5 * 9 / 125], rtol=1e-12)


def joined(rule: Rule, below: Sequence[tuple[Tokens, Tokens]]) -> tuple[Tokens, Tokens]:
    """Return the pair that a rule makes of its children's."""

    def side(number: int, symbols: tuple[str | int, ...]) -> Tokens:
        parts = ([s] if isinstance(s, str) else below[s][number] for s in symbols)
        return tuple(itertools.chain(*parts))

    return side(0, rule.source), side(1, rule.target)


def test_lengths_that_are_hardly_ever_reached_are_as_likely_as_they_are() -> None:
    """A source of n tokens has p^(n-1) (1-p), which no number can hold long before 300."""
    sampler = Sampler.of(itg.read("1/1000 A -> a A1\n999/1000 A -> b", "rare"), 300)
    expected = np.arange(300) * np.log(1 / 1000) + np.log(999 / 1000)
    np.testing.assert_allclose(sampler.weights.whole["A"][1:], expected, rtol=1e-12)
    np.testing.assert_array_equal(sampler.possible(200), np.arange(200, 301))
    odds = sampler.lengths(200)
    assert odds[200] == pytest.approx(0.999)
    (pair,) = sampler.pairs(np.array([300]), np.random.default_rng(0))
    assert pair.source == ("a",) * 299 + ("b",)


def ancestral(grammar: Grammar, draw: np.random.Generator, longest: int) -> int | None:
    """Return the length of a derivation from the root down; None if it grows too long."""
    waiting, length = [grammar.root], 0
    odds = {
        left: [float(rule.probability) for rule in own] for left, own in grammar.rules_of.items()
    }
    while waiting:
        left = waiting.pop()
        (rule,) = draw.multinomial(1, odds[left]).nonzero()[0]
        chosen = grammar.rules_of[left][rule]
        length += len(chosen.source) - len(chosen.children)
        if length + len(waiting) > longest:
            return None
        waiting += chosen.children[::-1]
    return length


@pytest.mark.slow
@each_grammar
def test_lengths_are_as_likely_as_rejection_makes_them(name: str) -> None:
    grammar, draw = itg.grammar(name), np.random.default_rng(1)
    found = (ancestral(grammar, draw, 64) for _ in range(20_000))
    lengths = np.array([length for length in found if length and length >= 8])
    expected = Sampler.of(grammar, 64).lengths(8)
    check_frequencies(np.bincount(lengths, minlength=65), expected)


def check_frequencies(counts: np.ndarray, odds: np.ndarray) -> None:
    """Compare counts with probabilities: chi-square, the rarest outcomes together."""
    expected = odds * counts.sum()
    common = expected >= 5
    assert not counts[odds == 0].any()
    observed = [*counts[common], counts[~common].sum()]
    wanted = [*expected[common], expected[~common].sum()]
    pairs = [(o, w) for o, w in zip(observed, wanted, strict=True) if w > 0]
    if len(pairs) == 1:
        return
    statistic = sum((o - w) ** 2 / w for o, w in pairs)
    assert chi2.sf(statistic, len(pairs) - 1) > 1e-4


@each_grammar
def test_rules_are_as_frequent_as_in_all_derivations_that_end(name: str) -> None:
    """A branching process that is known to end is one whose rules are so much more likely."""
    grammar, draw = itg.grammar(name), np.random.default_rng(2)
    ends = dict.fromkeys(grammar.nonterminals, 0.0)
    for _ in range(2_000):
        ends = {
            left: sum(float(r.probability) * np.prod([ends[c] for c in r.children]) for r in rules)
            for left, rules in grammar.rules_of.items()
        }
    sampler = Sampler.of(grammar, 500)
    assert np.exp(sampler.weights.whole["A"]).sum() == pytest.approx(ends["A"], abs=1e-4)
    lengths = draw.choice(501, 20_000, p=sampler.lengths())
    used = np.concatenate([each.rule for each in sampler.derivations(lengths, draw)])
    counts = dict(zip(grammar.rules, np.bincount(used, minlength=len(grammar.rules)), strict=True))
    for left, rules in grammar.rules_of.items():
        odds = [float(r.probability) * np.prod([ends[c] for c in r.children]) for r in rules]
        check_frequencies(np.array([counts[r] for r in rules]), np.array(odds) / ends[left])


def verb_last(source: Tokens) -> Tokens:
    """Return the target of an SVO sentence: its main verb is that of no relative clause."""
    opened = np.cumsum([(word == "rpi") - word.startswith("v") for word in source])
    place = int((opened < 0).argmax())
    moved = [*source[:place], *source[place + 1 :], source[place]]
    return tuple("rpo" if word == "rpi" else f"{word[0]}o{word[2:]}" for word in moved)


ARTICLES = {"the": {"m": "der", "f": "die", "n": "das"}, "a": {"m": "ein", "f": "eine", "n": "ein"}}


def gendered(source: Tokens) -> Tokens:
    """Return the target of a sentence without gender: articles wait for their noun."""
    said = list[str]()
    for word, following in itertools.zip_longest(source, source[1:]):
        plain = {"and": "und", "or": "oder"}.get(word, f"{word[0]}g{word[2:]}")
        said.append(ARTICLES[word][following[0]] if word in ARTICLES else plain)
    return tuple(said)


@pytest.mark.parametrize(
    ("min_length", "max_length"), [(8, 64), pytest.param(65, 128, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(("name", "oracle"), [("svo_sov", verb_last), ("gender", gendered)])
def test_samples_mean_what_an_oracle_says(
    name: str, oracle: Callable[[Tokens], Tokens], min_length: int, max_length: int
) -> None:
    draw = np.random.default_rng(3)
    sampler = Sampler.of(itg.grammar(name), max_length)
    lengths = draw.choice(sampler.possible(min_length), 20_000)
    pairs = sampler.pairs(lengths, draw)
    np.testing.assert_array_equal(pairs.source.lengths, lengths)
    assert all(map(lambda s, t: oracle(s) == t, pairs.source, pairs.target))


def test_what_is_no_length_or_no_tokens_is_refused() -> None:
    grammar = itg.read("1/2 A -> a A1 | a A1\n1/2 A -> c | c", "x")
    for longest in (0, -1, 2.5):
        with pytest.raises(WrongRequest, match="max-length must be"):
            Sampler.of(grammar, longest)  # pyright: ignore[reportArgumentType]
    sampler, draw = Sampler.of(grammar, 20), np.random.default_rng(0)
    some: list[int] = [3, 5]
    drawn = sampler.pairs(some, draw)  # pyright: ignore[reportArgumentType]
    assert drawn.source.lengths.tolist() == some
    with pytest.raises(WrongRequest, match="lengths must be whole numbers, not float64"):
        sampler.pairs(np.array([3.5]), draw)
    for sides in (("ac",), (("a", "c"), "ac")):
        with pytest.raises(WrongRequest, match="expected the tokens of a side, .* not 'ac'"):
            itg.parse(grammar, *sides)


def test_a_file_may_be_named_by_a_text(tmp_path: Path) -> None:
    path = tmp_path / "x.itg"
    path.write_text("1 A -> a | b")
    assert itg.load(str(path)) == itg.load(path)


def test_a_length_without_sources_is_refused() -> None:
    sampler = Sampler.of(itg.grammar("gender"), 20)
    draw = np.random.default_rng(0)
    for length in (0, -1, 4, 21):
        with pytest.raises(WrongRequest, match=f"the grammar has no source of {length} tokens"):
            sampler.pairs(np.array([8, length]), draw)
    with pytest.raises(WrongRequest, match="no source of 2 to 4 tokens"):
        Sampler.of(itg.grammar("gender"), 4).lengths(2)
    assert len(sampler.pairs(np.zeros(0, int), draw)) == 0


def test_a_rule_with_more_tokens_than_the_longest_source_is_never_drawn() -> None:
    grammar = itg.read("1/2 A -> a b c d e f\n1/4 A -> g A1, h", "long")
    pairs = Sampler.of(grammar, 3).pairs(np.full(50, 3), np.random.default_rng(0))
    assert set(pairs.source) == {("g", "g", "h")}


def test_rules_with_and_without_nonterminals_share_a_length_as_they_should() -> None:
    grammar = itg.read("1/4 A -> a, b\n1/4 A -> A1 A2 | A2 A1\n1/4 A -> c d", "mixed")
    pairs = Sampler.of(grammar, 3).pairs(np.full(20_000, 2), np.random.default_rng(4))
    # `c d` has 1/4, and each of four pairs of `a` and `b` has 1/4 x 1/4 x 1/4.
    counts = Counter(pairs.source)
    assert set(counts) == {("c", "d"), *TWOS}
    odds = np.array([4 / 5, *[1 / 20] * 4])
    check_frequencies(np.array([counts["c", "d"], *map(counts.get, TWOS)]), odds)


def test_a_large_vocabulary_needs_no_place_at_other_lengths_than_its_own() -> None:
    """At all lengths 10,000 words would need 10,000 x 513 numbers, 41 MB, several times over."""
    grammar = itg.read("1/2 A -> W1 A2, W\n1/10000 W_i -> e_i | g_i", "large")
    tracemalloc.start()
    try:
        pairs = Sampler.of(grammar, 512).pairs(np.full(9, 512), np.random.default_rng(0))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert set(pairs.source.lengths) == {512}
    assert most < 40_000_000


def everything(grammar: Grammar, longest: int, *, targets: bool) -> set[tuple[Tokens, Tokens]]:
    """Return all pairs up to a length, by putting the rules in; without targets if so asked."""
    found = {name: set[tuple[Tokens, Tokens]]() for name in grammar.nonterminals}
    while True:
        new = {name: set(pairs) for name, pairs in found.items()}
        for rule in grammar.rules:
            for below in itertools.product(*(found[child] for child in rule.children)):
                source, target = joined(rule, below)
                pair = (source, target if targets else ())
                if max(map(len, pair)) <= longest:
                    new[rule.left].add(pair)
        if new == found:
            return found[grammar.root]
        found = new


def assert_exactly_these_are_derived(grammar: Grammar, known: set[tuple[Tokens, Tokens]]) -> None:
    """Parse every source with every target."""
    sources, targets = (sorted({*side}) for side in zip(*known, strict=True))
    for source, target in itertools.product(sources, targets):
        if (source, target) in known:
            found = itg.parse(grammar, source, target)
            assert (found.source, found.target) == (source, target)
        else:
            with pytest.raises(WrongRequest, match="not derived together"):
                itg.parse(grammar, source, target)


def test_exactly_the_pairs_of_a_grammar_have_a_derivation() -> None:
    known = everything(TANGLED, 4, targets=True)
    sources, targets = ({*side} for side in zip(*known, strict=True))
    assert len(sources) < len(known) < len(sources) * len(targets) / 2
    assert_exactly_these_are_derived(TANGLED, known)


def test_exactly_the_sources_of_a_grammar_have_a_target() -> None:
    known = {source for source, _ in everything(TANGLED, 5, targets=False)}
    for length in range(1, 6):
        for source in itertools.product("xb", repeat=length):
            if source in known:
                assert itg.parse(TANGLED, source).source == source
            else:
                with pytest.raises(WrongRequest, match="the source is none of the grammar"):
                    itg.parse(TANGLED, source)


@settings(deadline=None, max_examples=20)
@given(name=st.sampled_from(itg.GRAMMARS), length=st.integers(8, 60), seed=st.integers(0, 2**32))
def test_what_is_drawn_is_parsed(name: str, length: int, seed: int) -> None:
    grammar = itg.grammar(name)
    sampler, draw = Sampler.of(grammar, 64), np.random.default_rng(seed)
    generations = list(sampler.derivations(sampler.possible(length)[:1], draw))
    (pair,) = sampler.written(generations)
    found = itg.parse(grammar, pair.source, pair.target)
    assert (found.source, found.target) == (pair.source, pair.target)
    assert itg.parse(grammar, pair.source).target == pair.target
    drawn = Counter(grammar.rules[number] for each in generations for number in each.rule.tolist())
    lexical = {rule for rule in grammar.rules if not rule.children}
    assert {r: n for r, n in Counter(found.rules).items() if r in lexical} == {
        r: n for r, n in drawn.items() if r in lexical
    }


def test_exactly_the_pairs_of_a_rule_of_four_nonterminals_have_a_derivation() -> None:
    grammar = itg.read("1 A -> B1 B2 B3 B4 | B3 B1 B4 B2\n1/3 B -> a, b, b a | a b", "four")
    known = everything(grammar, 8, targets=True)
    assert len(known) == 3**4
    assert_exactly_these_are_derived(grammar, known)


def test_children_are_placed_one_by_one_and_not_in_all_combinations() -> None:
    """Sixty words can be cut into four in 32,509 ways: those of both sides make 10^9 pairs."""
    grammar = itg.read("1/2 A -> A1 A2 A3 A4 | A4 A3 A2 A1\n1/8 A -> a, b, a a, b b", "back")
    source = tuple("abbabaabbaababba" * 4)[:60]
    assert itg.parse(grammar, source, source[::-1]).target == source[::-1]
    with pytest.raises(WrongRequest, match="not derived together"):
        itg.parse(grammar, source, source[::-1][1:] + source[-1:])


@pytest.mark.parametrize("rule", ["a A1 | a A1", "A1 a | A1 a", "a A1 | A1 a"])
def test_a_derivation_may_be_as_deep_as_a_sequence_is_long(rule: str) -> None:
    grammar = itg.read(f"1/2 A -> {rule}\n1/2 A -> b", "deep")
    source, target = (("b", *["a"] * 999), (*["a"] * 999, "b"))
    source = source if rule.startswith("A1") else target
    target = target if rule.endswith("a A1") else ("b", *["a"] * 999)
    found = itg.parse(grammar, source, target)
    assert (found.source, found.target) == (source, target)
    assert len([*found.rules]) == 1_000


def test_a_side_may_have_a_thousand_symbols() -> None:
    tokens, places = ["x"] * 1_000, range(1, 1_001)
    children = [f"B{place}" for place in places]
    text = f"1/2 A -> {' '.join(tokens)} | y\n1/2 A -> {' '.join(children)} | {' '.join(children)}"
    grammar = itg.read(f"{text} z\n1/2 B -> b, b b", "wide")
    assert itg.parse(grammar, ("x",) * 1_000, ("y",)).target == ("y",)
    assert itg.parse(grammar, ("b",) * 1_001, (*["b"] * 1_001, "z")).source == ("b",) * 1_001


def test_sides_without_a_rule_in_common_are_not_derived_together() -> None:
    grammar = itg.read("1/2 A -> a | b\n1/2 A -> c | d", "two")
    assert itg.parse(grammar, ("a",), ("b",)).rule.source == ("a",)
    with pytest.raises(WrongRequest, match="both sides are of the grammar, but not derived toge"):
        itg.parse(grammar, ("a",), ("d",))


def test_a_vocabulary_may_be_large() -> None:
    """Of its rules only those whose words are there are looked at; all would take hours."""
    grammar = itg.read("1 A -> the W1 W2 | W2 der W1\n1/20000 W_i -> e_i | g_i", "large")
    found = itg.parse(grammar, ("the", "e7", "e19999"), ("g19999", "der", "g7"))
    assert [str(rule) for rule in found.rules][1:] == [
        "1/20000 W -> e7 | g7",
        "1/20000 W -> e19999 | g19999",
    ]
    with pytest.raises(WrongRequest, match="not derived together"):
        itg.parse(grammar, ("the", "e7", "e19999"), ("g7", "der", "g19999"))


def test_a_derivation_is_as_likely_as_its_rules() -> None:
    found = itg.parse(itg.grammar("svo_sov"), ("si1", "vi2", "oi3"), ("so1", "oo3", "vo2"))
    assert [str(rule) for rule in found.rules] == [
        "1 A -> S1 VT2 O3 | S1 O3 VT2",
        "3/5 S -> ST1 | ST1",
        "1/33 ST -> si1 | so1",
        "1/33 VT -> vi2 | vo2",
        "3/5 O -> OT1 | OT1",
        "1/33 OT -> oi3 | oo3",
    ]
    assert np.exp(found.log_probability) == pytest.approx(9 / 25 / 33**3)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("si1 xx oi3", "so1", "word 2 of the source, 'xx', is not the grammar's"),
        ("si1 vi2 oi3", "so1 oo3", "the target is none of the grammar: 'so1 oo3'"),
        ("si1 oi3", "so1 oo3", "the source is none of the grammar: 'si1 oi3'"),
        ("si1 vi2 oi3", "so1 oo3 vo3", "both sides are of the grammar, but not derived together"),
        ("", "", "the source is none of the grammar"),
    ],
)
def test_what_has_no_derivation_is_refused(source: str, target: str, message: str) -> None:
    with pytest.raises(WrongRequest, match=message):
        itg.parse(itg.grammar("svo_sov"), tuple(source.split()), tuple(target.split()))
