"""gSCAN's splits: the released sizes, and what each part holds and does not hold."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

import daxy
from daxy import tasks
from daxy.augmentation.geca import Geca
from daxy.augmentation.worlds import Rewriter, targets
from daxy.core.errors import WrongRequest
from daxy.core.examples import Examples, Sequences
from daxy.core.split import Split
from daxy.languages import grounded
from daxy.papers import ruis2020
from daxy.tasks import gscan
from daxy.tasks._gscan_examples import Demonstrations, generate_all
from daxy.tasks._gscan_options import CompositionalOptions, GscanOptions
from daxy.tasks._gscan_predicates import HELD_OUT, held_out
from daxy.worlds.placement import DIRECTIONS

SMALL = {"grid": 4, "resampling": 1}


@pytest.fixture(scope="module", autouse=True)
def made_once() -> Iterator[None]:
    """Make every example of the same worlds once, whatever is then held out."""
    made = dict[tuple[object, ...], Demonstrations]()

    def remembered(data: GscanOptions) -> Demonstrations:
        known = (data.grid, data.resampling, data.kind, data.spin, data.seed, data.workers)
        if known not in made:
            made[known] = generate_all(data)
        return made[known]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gscan, "generate_all", remembered)
        yield


@pytest.fixture(scope="module")
def everything(made_once: None) -> Demonstrations:
    """Every example there is for a set of the size of the released one."""
    return gscan.generate_all(CompositionalOptions())


@pytest.fixture(scope="module")
def released(made_once: None) -> Split:
    """The set that is made when nothing is chosen."""
    return daxy.load("gscan/compositional")


@pytest.fixture(scope="module")
def length(made_once: None) -> Split:
    return daxy.load("gscan/length")


def shown(split: Split, part: str) -> Demonstrations:
    examples = split.named[part]
    assert examples.worlds is not None
    return Demonstrations.of(examples)


# Ruis et al. 2020, Appendix C: the released set, a grid of 6 by 6 with 5 of each distance.
PUBLISHED = {
    "visual_easier": 18_718,
    "visual": 37_436,
    "situational_1": 88_642,
    "situational_2": 16_808,
    "contextual": 11_460,
    "adverb_1": 112_880 + 1,  # one of them is in train
    "adverb_2": 38_582,
}
DROPPED = 97_731


def test_the_paper_s_set_has_835200_examples(everything: Demonstrations) -> None:
    assert len(everything) == 835_200
    assert len(everything.actions) == len(everything.worlds) == len(everything)


def test_as_many_examples_are_held_out_as_published(everything: Demonstrations) -> None:
    flags = held_out(everything)
    times = flags.sum(axis=1)
    alone = dict(zip(HELD_OUT, flags[times == 1].sum(axis=0).tolist(), strict=True))
    assert alone == PUBLISHED
    assert (times > 1).sum() == DROPPED


def test_each_flag_is_what_its_test_says(everything: Demonstrations) -> None:
    rows = np.random.default_rng(0).choice(len(everything), 2000, replace=False)
    some = everything.take(rows)
    for n, flags in enumerate(held_out(some)):
        command, world = grounded.commands()[some.command[n]], some.worlds[n]
        target, cell = world.placed[0]
        verb, phrase, manner = command.verb, command.phrase, command.manner
        wanted = {
            "visual_easier": (target.shape, target.color, phrase.color)
            == ("square", "yellow", "yellow"),
            "visual": (target.shape, target.color) == ("square", "red"),
            "situational_1": cell.row > world.agent.row and cell.column < world.agent.column,
            "situational_2": (target.shape, target.size, phrase.size) == ("circle", 2, "small"),
            "contextual": (target.shape, target.size, verb) == ("square", 3, "push"),
            "adverb_1": manner == "cautiously",
            "adverb_2": (verb, manner) == ("pull", "while spinning"),
        }
        assert dict(zip(HELD_OUT, flags.tolist(), strict=True)) == wanted
        assert grounded.referent(phrase, world.things) == 0
        way = cell.row - world.agent.row, cell.column - world.agent.column
        signs = tuple(np.sign(way).tolist())
        assert list(DIRECTIONS.values())[some.directions[n]] == signs


def test_the_released_sizes_come_out(released: Split) -> None:
    sizes, published = released.provenance.sizes, tasks.get("gscan/compositional").sizes
    assert (sizes.train, sizes.validation) == (367_933, 3_716)
    assert sizes.train + sizes.validation == published.train
    drawn = "A"  # of the rest a draw decides, and so does what train happens to have
    assert {name: count for name, count in sizes.tests.items() if name != drawn} == {
        name: count for name, count in published.tests.items() if name != drawn
    }
    assert sizes.tests[drawn] == pytest.approx(published.tests[drawn], rel=0.02)


# How often words and actions occur in the released training set, as the authors' training logs say.
WORDS = {"a": 367_933, "cylinder": 149_787, "walk": 137_485, "to": 137_485, "circle": 134_813}
ACTIONS = {
    "turn left": 1_801_011,
    "walk": 1_722_358,
    "stay": 624_267,
    "pull": 362_529,
    "turn right": 272_628,
}


# The same of the authors' set with GECA, and targets (Table 4): placed, and called by color, before
# and after.
GECA_WORDS = {"a": 377_933, "walk": 141_237, "to": 141_237, "cylinder": 131_579}
GECA_ACTIONS = {
    "turn left": 1_854_712,
    "walk": 1_769_167,
    "stay": 641_373,
    "pull": 371_614,
    "turn right": 279_534,
}
TABLE_4 = {
    "blue square": (33_250, 16_630, 16_481, 5_601),
    "red square": (0, 0, 83_887, 0),
    "yellow square": (16_725, 0, 10_936, 0),
    "red circle": (33_670, 16_816, 16_854, 0),
}


def test_geca_makes_a_set_like_that_of_the_authors(released: Split) -> None:
    """What GECA's draw decides lies among what some draws come to.

    That no red square is called red is of the paper's table alone; see docs/howto/augment.md.
    """
    assert ruis2020.TABLE_4 == TABLE_4
    assert released.train.worlds is not None
    rewriter = Rewriter(released.train, Geca(count=10_000))
    draws = [rewriter.augment(seed).examples for seed in range(6)]
    sequences = ((draws[0].source, GECA_WORDS), (draws[0].target, GECA_ACTIONS))
    for found, published in sequences:
        counts = np.bincount(found.codes, minlength=len(found.symbols))
        ours = {symbol: counts[found.symbols.index(symbol)] for symbol in published}
        assert ours == pytest.approx(published, rel=0.01)
    before, after = targets(released.train), [targets(each) for each in draws]
    for kind, (*given, placed, referred) in TABLE_4.items():
        assert before[kind] == pytest.approx(tuple(given), rel=0.01)
        ours = np.array([each[kind] for each in after])
        if kind == "red circle":  # what becomes of these is certain
            assert ours == pytest.approx(np.array([(placed, referred)] * len(draws)), rel=0.01)
            continue
        assert ours[:, 0].min() < placed < ours[:, 0].max()
        if kind == "blue square":
            assert ours[:, 1].min() < referred < ours[:, 1].max()
        assert kind != "yellow square" or (ours[:, 1] == referred).all()


@pytest.mark.parametrize(("part", "published"), [("source", WORDS), ("target", ACTIONS)])
def test_words_and_actions_are_as_frequent_as_in_the_released_set(
    part: str, published: dict[str, int], released: Split
) -> None:
    column: Sequences = getattr(released.train, part)
    counts = np.bincount(column.codes, minlength=len(column.symbols)).tolist()
    found = dict(zip(column.symbols, counts, strict=True))
    common = sorted(found, key=lambda word: (-found[word], word))[:5]
    assert set(common) == set(published)
    for word, count in published.items():
        assert found[word] == pytest.approx(count, rel=0.005)


def test_the_released_sizes_of_the_length_split_come_out_nearly(length: Split) -> None:
    """How often something is pushed depends on what stands around, so no count is certain."""
    sizes, published = length.provenance.sizes, tasks.get("gscan/length").sizes
    assert sizes.train + sizes.validation == pytest.approx(published.train, rel=0.005)
    assert sizes.tests["A"] == pytest.approx(published.tests["A"], rel=0.01)
    assert sizes.tests["I"] == pytest.approx(published.tests["I"], rel=0.005)


@pytest.mark.parametrize("part", ["train", "A"])
def test_table_3_has_as_many_examples_and_fewer_unique_ones(part: str, released: Split) -> None:
    """See docs/benchmarks/gscan.md."""
    every, unique, by_command = ruis2020.TABLE_3["gscan/compositional", part]
    assert len(released.named[part]) == pytest.approx(every, rel=0.02)
    facts = tasks.get("gscan/compositional").facts(released.named[part])
    assert facts["unique"] > unique
    assert facts["unique per command"] > by_command


def test_only_the_long_test_is_long(length: Split) -> None:
    longest = {name: part.target.lengths.max() for name, part in length.named.items()}
    assert max(longest[name] for name in ("train", "validation", "A")) == 15
    assert length.named["I"].target.lengths.min() == 16


def test_no_command_of_the_length_split_has_a_manner(length: Split) -> None:
    assert not set(length.test.source.compact().symbols) & set(grounded.MANNERS)


def test_train_has_one_shot_of_g_and_nothing_else_that_is_held_out(released: Split) -> None:
    train = [*released.train.source, *released.validation.source]
    assert sum("cautiously" in said for said in train) == 1
    assert not any(said[0] == "pull" and said[-1] == "while spinning" for said in train)


def test_every_test_is_one_stretch_of_the_test_set(released: Split) -> None:
    assert list(released.tests) == list("ABCDEFGH")
    assert sum(len(part) for part in released.named.values()) == sum(
        map(len, released.parts.values())
    )
    assert released.named["D"][5] == released.test[released.tests["D"]][5]


def test_nothing_in_a_is_in_train_but_for_what_stands_around(released: Split) -> None:
    taught = np.concatenate(
        [shown(released, part).duplicate_ids for part in ("train", "validation")]
    )
    assert not np.isin(shown(released, "A").duplicate_ids, taught).any()


def cautious(examples: Examples) -> set[str]:
    """Return the keys of what is done cautiously."""
    rows = [row for row, said in enumerate(examples.source) if said[-1] == "cautiously"]
    return set(examples.take(rows).keys)


@pytest.fixture(scope="module")
def shots() -> dict[int, Split]:
    """Small splits by the number of shots."""
    return {n: daxy.load("gscan/compositional", **SMALL, shots=n) for n in (0, 5, 10)}


def test_shots_move_from_g_to_train(shots: dict[int, Split]) -> None:
    every = cautious(shots[0].named["G"])
    for count, split in shots.items():
        moved = cautious(split.train)
        assert len(moved) == count
        assert not cautious(split.validation)
        assert every - cautious(split.named["G"]) == moved


def test_more_shots_hold_the_fewer(shots: dict[int, Split]) -> None:
    assert cautious(shots[5].train) < cautious(shots[10].train)


def test_targets_longer_than_in_train_can_be_left_out_as_the_paper_says(
    shots: dict[int, Split],
) -> None:
    whole = shots[0]
    asked = daxy.load("gscan/compositional", **SMALL, shots=0, drop_longer=True)
    longest = max(whole.train.target.lengths.max(), whole.validation.target.lengths.max())
    for name, part in asked.named.items():
        if name in "GH":
            assert part.target.lengths.max() <= longest < whole.named[name].target.lengths.max()
        else:
            assert len(part) == len(whole.named[name])


def test_longer_than_in_train_is_longer_than_in_train_alone() -> None:
    choices = {"train_fraction": 0.001, "drop_longer": True}
    split = daxy.load("gscan/compositional", **SMALL, **choices)
    longest = split.train.target.lengths.max()
    assert longest < split.named["A"].target.lengths.max()
    assert max(split.named[name].target.lengths.max() for name in "GH") <= longest


def test_spinning_comes_after_a_step_where_the_paper_s_way_is_asked_for() -> None:
    choices = {**SMALL, "grid": 4, "shots": 0}
    before, after = (
        daxy.load("gscan/compositional", **choices, spin=spin).named["H"]
        for spin in ("before", "after")
    )
    spin = ("turn left",) * 4
    assert before.source.codes.tolist() == after.source.codes.tolist()
    for ours, theirs in zip(before.target[:200], after.target[:200], strict=True):
        assert theirs == (*ours[4:], *spin)
        assert ours[:4] == spin
    task = tasks.get("gscan/compositional")
    assert task.totals(after, after.target)["executes"] == 1.0
    assert task.totals(after, before.target)["executes"] == 0.0
    assert task.totals(before, after.target)["executes"] == 0.0


def test_the_other_way_round_executes_in_a_set_that_spins_after_a_step() -> None:
    train = daxy.load("gscan/compositional", **SMALL, shots=0, spin="after").train
    assert train.worlds is not None
    spin = ("turn left",) * 4
    diagonal = [
        (row, ("turn right", *("walk", *spin) * rows, "turn left", *("walk", *spin) * columns))
        for row, example in enumerate(train[:20_000])
        if (example.source[0], example.source[-1]) == ("walk", "while spinning")
        for rows, columns in [
            np.subtract(example.world.placed[0].cell, example.world.agent).tolist()
        ]
        if rows > 0 and columns > 0
    ]
    some = train.take([row for row, _ in diagonal])
    found = tasks.get("gscan/compositional").totals(some, Sequences.of(way for _, way in diagonal))
    assert len(some) > 20
    assert found == {"exact": 0.0, "executes": 1.0}


def test_the_rule_says_what_is_chosen() -> None:
    choices = {"kind": "simple_intrans", "max_length": 4, "train_fraction": 0.5}
    rule = daxy.load("gscan/length", **SMALL, **choices).provenance.rule
    assert rule.startswith("train: 50% of up to 4 actions; ")
    rule = daxy.load("gscan/compositional", **SMALL, shots=2).provenance.rule
    assert rule.startswith("train: 90% of what no test holds out, and 2 of G; A:")


def test_the_shot_that_nobody_chose_is_left_out_where_nothing_has_a_manner() -> None:
    split = daxy.load("gscan/compositional", **SMALL, kind="simple_trans")
    assert len(split.named["G"]) == 0
    assert "of what no test holds out; A:" in split.provenance.rule
    with pytest.raises(WrongRequest, match="shots must be at most 0, not 2"):
        daxy.load("gscan/compositional", **SMALL, kind="simple_trans", shots=2)


def test_a_larger_grid_asks_for_more_room() -> None:
    small, large = (
        daxy.load("gscan/length", grid=n, kind="simple_trans", resampling=1).test for n in (5, 7)
    )
    assert large.worlds is not None
    assert small.worlds is not None
    assert (large.worlds.size == 7).all()
    assert large.worlds.cells.max() == 6
    assert small.worlds.cells.max() == 4


def test_workers_change_nothing() -> None:
    one, two = (
        daxy.load("gscan/length", **SMALL, kind="simple_trans", max_length=6, workers=n)
        for n in (1, 2)
    )
    assert one.provenance == two.provenance


def test_each_part_is_described_as_the_authors_do(released: Split) -> None:
    task = tasks.get("gscan/compositional")
    part = released.named["F"]
    found = task.distributions(part)
    assert found["verb"] == {"walk": 0, "push": len(part), "pull": 0}
    assert found["size"] == {"3": len(part)}
    assert sum(found["distance"].values()) == sum(found["direction"].values()) == len(part)
    facts = task.facts(part)
    some = {(each.source, each.target, each.world.placed[0].cell) for each in part}
    assert facts["unique"] == len(some)
    assert facts["unique per command"] == len(some) / len(set(part.source))


def test_where_nothing_spins_nobody_can_say_when() -> None:
    for kind in ("normal", "simple_trans", "simple_intrans"):
        with pytest.raises(WrongRequest, match=f"{kind} has a manner; leave out --spin"):
            CompositionalOptions(kind=kind, spin="after")
    with pytest.raises(WrongRequest, match="normal has a manner; leave out --spin"):
        tasks.data("gscan/length", spin="after")


def test_choices_of_another_benchmark_are_refused() -> None:
    with pytest.raises(WrongRequest, match="chosen by LengthOptions, not by CompositionalOptions"):
        tasks.get("scan/length").split(CompositionalOptions())


def test_what_is_chosen_is_written_down() -> None:
    data = CompositionalOptions(grid=4, resampling=1, kind="normal", shots=0)
    options = dict(tasks.get("gscan/compositional").split(data).provenance.options)
    fields = {each.name for each in dataclasses.fields(data)}
    assert set(options) == fields - {"seed", "official", "workers"}
    assert (options["grid"], options["kind"]) == (4, "normal")
