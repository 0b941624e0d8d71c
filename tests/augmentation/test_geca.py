"""What good-enough compositional data augmentation makes, and of what."""

from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import daxy
from daxy import tasks
from daxy.augmentation.geca import BORDER, GAPS, Augmented, Composer, Geca, cuts, filled, near_gaps
from daxy.core.errors import DaxyError
from daxy.core.examples import Examples
from daxy.languages import scan

KNOWN = [
    ("walk", "WALK"),
    ("walk twice", "WALK WALK"),
    ("run", "RUN"),
    ("run twice", "RUN RUN"),
    ("jump", "JUMP"),
]


def made(pairs: list[tuple[str, str]], seed: int = 0, **choices: Any) -> Augmented:
    examples = Examples.of((source.split(), target.split()) for source, target in pairs)
    return Composer(examples, Geca(**choices)).augment(seed)


def said(found: Augmented) -> set[tuple[str, str]]:
    return {(" ".join(each.source), " ".join(each.target)) for each in found.compositions}


def test_what_is_known_of_two_verbs_is_concluded_of_a_third() -> None:
    found = made(KNOWN)
    assert said(found) == {("jump twice", "JUMP JUMP")}
    (jump,) = found.compositions
    assert jump.template == (("_1", "twice"), ("_2", "_2"))
    assert jump.fragment == (("jump",), ("JUMP",))
    assert next(iter(found.examples)).target == ("JUMP", "JUMP")


def test_without_a_common_environment_nothing_is_concluded() -> None:
    assert said(made([pair for pair in KNOWN if pair[0] != "jump"])) == set()


def test_a_window_makes_environments_of_what_is_near() -> None:
    pairs = [
        ("please walk twice now", "WALK WALK"),
        ("jump twice", "JUMP JUMP"),
        ("walk", "WALK"),
        ("walk thrice", "WALK WALK WALK"),
    ]
    assert ("jump thrice", "JUMP JUMP JUMP") not in said(made(pairs))
    near = [("go walk", "WALK a b"), ("go jump", "JUMP a c"), ("walk thrice", "WALK WALK WALK")]
    assert ("jump thrice", "JUMP JUMP JUMP") not in said(made(near))
    assert ("jump thrice", "JUMP JUMP JUMP") in said(made(near, window=1))


def test_a_piece_may_be_of_several_tokens() -> None:
    pairs = [
        ("pick up", "P"),
        ("put down", "D"),
        ("pick up twice", "P P"),
    ]
    assert said(made(pairs)) == set()
    assert ("put down twice", "D D") in said(made(pairs, max_piece_length=2))


def test_what_shares_a_token_with_every_fragment_of_a_template_never_fills_it() -> None:
    alike = [("walk now", "W"), ("run now", "W"), ("walk twice", "W W")]
    assert said(made(alike, novel="pair")) == set()
    apart = [("walk now", "W"), ("run now", "R"), ("walk twice", "W W")]
    assert said(made(apart, novel="pair")) == {("run twice", "R R")}
    one_apart = [*alike, ("look twice", "L L")]
    assert ("run twice", "W W") in said(made(one_apart, novel="pair"))


def test_what_has_to_be_new_is_chosen() -> None:
    pairs = [*KNOWN, ("hop twice", "JUMP JUMP")]
    assert ("jump twice", "JUMP JUMP") not in said(made(pairs))
    assert ("jump twice", "JUMP JUMP") in said(made(pairs, novel="pair"))


def test_long_examples_are_not_taken_apart_but_are_known() -> None:
    assert said(made(KNOWN, max_length=3)) == set()
    assert said(made([*KNOWN, ("jump twice", "JUMP JUMP")])) == set()


def test_there_are_at_most_as_many_as_asked_for() -> None:
    pairs = [*KNOWN, ("walk thrice", "WALK WALK WALK"), ("look", "LOOK")]
    assert len(said(made(pairs))) > 2
    assert len(said(made(pairs, count=2))) == 2
    with pytest.raises(DaxyError, match="count must be positive where there are no worlds"):
        made(pairs, count=0)


TIMES = ("twice", "thrice", "often", "seldom", "again")
VERBS = ("walk", "run")
HERE = ("run here", "R h"), ("jump here", "J h")


def test_a_fragment_lets_fill_as_many_templates_as_it_may() -> None:
    pairs = [("walk", "W"), ("jump", "J"), *((f"walk {each}", f"W {each}!") for each in TIMES)]
    sets = [said(made(pairs, seed, max_templates=2)) for seed in range(9)]
    assert {len(each) for each in sets} <= {1, 2}  # of the template of `walk` comes nothing new
    assert len(set(map(frozenset, sets))) > 1
    assert len(said(made(pairs))) == len(TIMES)


def test_a_fragment_is_as_likely_as_environments_are_many_that_it_shares() -> None:
    pairs = [("go walk", "W"), ("go run", "R"), ("go jump", "J"), ("walk here", "W h")]
    pairs += [(f"{when} {verb}", f"{when}! {verb[0].upper()}") for when in TIMES for verb in VERBS]
    for sampling, share in (("environments", 6 / 7), ("uniform", 1 / 2)):
        sets = [said(made(pairs, seed, draws=1, sampling=sampling)) for seed in range(200)]
        runs, jumps = (sum(pair in own for own in sets) for pair in HERE)
        assert runs + jumps == len(sets)
        # Chance would be as far off once in a thousand.
        assert abs(runs / len(sets) - share) < 3.3 * (share * (1 - share) / len(sets)) ** 0.5


def test_repeats_of_an_example_change_nothing_and_neither_does_the_order() -> None:
    assert made(KNOWN) == made(KNOWN[::-1] * 3)


tokens = st.lists(st.sampled_from("abcx"), min_size=1, max_size=4)
sets = st.lists(st.tuples(tokens, tokens), min_size=1, max_size=12)


@given(sets, st.integers(1, 2), st.integers(1, 3), st.integers(0, 2), st.integers(0, 9))
def test_every_new_example_is_a_template_of_one_filled_with_a_fragment_of_another(
    pairs: list[tuple[list[str], list[str]]], size: int, gaps: int, window: int, seed: int
) -> None:
    geca = Geca(max_piece_length=size, max_pieces=gaps, window=window)
    examples = Examples.of(pairs)
    found = Composer(examples, geca).augment(seed)
    assert found == Composer(examples, geca).augment(seed)
    known = {(tuple(source), tuple(target)) for source, target in pairs}
    made = [(each.source, each.target) for each in found.compositions]
    assert len(set(made)) == len(made)
    assert not {source for source, _ in made} & {source for source, _ in known}
    assert not {target for _, target in made} & {target for _, target in known}
    for each in found.compositions:
        pieces = {f"_{number}": piece for number, piece in enumerate(each.fragment, 1)}
        for side, template in zip((each.source, each.target), each.template, strict=True):
            assert set(template) & set(pieces)
            assert side == tuple(chain.from_iterable(pieces.get(it, (it,)) for it in template))


@given(tokens, tokens, st.integers(1, 3), st.integers(1, 3))
def test_every_choice_of_pieces_that_have_no_token_in_common_makes_a_template(
    source: list[str], target: list[str], size: int, gaps: int
) -> None:
    sides = "".join(source), "".join(target)
    sequence = BORDER.join(sides)
    pieces = {
        side[first : first + length]
        for side in sides
        for first in range(len(side))
        for length in range(1, size + 1)
    }
    expected = set[tuple[str, tuple[str, ...]]]()
    for count in range(1, gaps + 1):
        for chosen in combinations(sorted(pieces), count):
            distinct = sum(len(set(piece)) for piece in chosen)
            is_apart = len(set("".join(chosen))) == distinct
            if is_apart and all(any(piece in side for piece in chosen) for side in sides):
                fragment = tuple(sorted(chosen, key=sequence.index))
                template = sequence
                for gap, piece in zip(GAPS, fragment, strict=False):
                    template = template.replace(piece, gap)
                expected.add((template, fragment))
    assert set(cuts(sequence, size, gaps)) == expected


@given(tokens, tokens, st.integers(1, 3), st.integers(1, 3))
def test_a_template_filled_with_its_own_fragment_is_what_it_was_cut_from(
    source: list[str], target: list[str], size: int, gaps: int
) -> None:
    sequence = "".join([*source, BORDER, *target])
    found = list(cuts(sequence, size, gaps))
    assert len(set(found)) == len(found)
    for template, fragment in found:
        assert filled(template, fragment) == sequence
        assert 1 <= len(fragment) <= gaps
        assert max(map(len, fragment)) <= size
        border = template.index(BORDER)
        assert min(template[:border]) < BORDER
        assert min(template[border:]) < BORDER


def test_an_environment_is_what_is_near_a_gap() -> None:
    one, two = GAPS[:2]
    template = f"ab{one}c{BORDER}d{two}"
    assert near_gaps(template, 0) == template
    assert near_gaps(template, 1) == f"b{one}cd{two}"


LOGGED = {"scan/addprim_jump": 395, "scan/template_around_right": 333}
"""Examples that were added to the training set of the author's first run, by its log."""


@pytest.mark.slow
@pytest.mark.parametrize("task", LOGGED)
def test_of_scan_as_many_are_concluded_as_the_author_logged_and_all_of_them_right(
    task: str,
) -> None:
    split = daxy.load(task, validation="draw", validation_fraction=0.0436)
    found = Composer(split.train, Geca()).augment(seed=0)
    count = len(found.compositions)
    assert count == pytest.approx(LOGGED[task], rel=0.1)
    meanings = [scan.disagreement(each.source, each.target) for each in found.compositions]
    assert meanings == [None] * count
    held_out = set(split.test.source)
    assert sum(each.source in held_out for each in found.compositions) > 0.75 * count


@pytest.mark.slow
def test_of_scan_jump_another_verb_hardly_ever_stands_beside_it() -> None:
    """As in the sets that the author published: each verb has been where the other two have."""
    split = daxy.load("scan/addprim_jump")
    others = {"walk", "look", "run"}
    shares = {}
    for sampling in ("environments", "uniform"):
        found = Composer(split.train, Geca(sampling=sampling)).augment(seed=0)
        jumps = [set(each.source) for each in found.compositions if "jump" in each.source]
        shares[sampling] = sum(bool(words & others) for words in jumps) / len(jumps)
    assert shares["environments"] < 0.02
    assert shares["uniform"] > 0.3


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"max_piece_length": 0}, "max-piece-length must be positive, not 0"),
        ({"max_pieces": 0}, "max-pieces must be positive"),
        ({"max_pieces": 33}, "max-pieces must be at most 32: 33"),
        ({"count": -1}, "count must not be negative"),
        ({"novel": "all"}, "novel must be one of"),
        ({"sampling": "even"}, "sampling must be one of"),
        ({"max_templates": 0}, "max-templates must be positive"),
    ],
)
def test_wrong_choices_are_refused(choices: dict[str, Any], said: str) -> None:
    with pytest.raises(DaxyError, match=said):
        Geca(**choices)


def test_nothing_is_made_of_nothing() -> None:
    found = Composer(Examples.of([]), Geca()).augment(0)
    assert (found.compositions, found.templates) == ((), 0)


@pytest.mark.parametrize(
    ("task", "choices"),
    [
        ("scan/simple_p1", {}),
        ("nacs/simple_p1", {}),
        ("translation/daxy", {}),
        ("transduction/copy", {"train_pairs": 2_000, "min_length": 1, "max_length": 2}),
    ],
)
def test_examples_of_any_task_are_put_together_anew(task: str, choices: dict[str, int]) -> None:
    train = tasks.data(task, **choices).load(task).train
    made = Composer(train, Geca(count=20)).augment(0).examples
    assert len(made) == 20
    for side in ("source", "target"):
        known, new = getattr(train, side), getattr(made, side)
        assert set(new.symbols) <= set(known.symbols)
        assert not set(new) & set(known), "both sides of each are new"
