"""Sizes and rules as published; see tests/official for membership against the official files."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from daxy import tasks
from daxy.core.errors import UnknownName, WrongRequest
from daxy.core.examples import Examples
from daxy.languages import scan
from daxy.tasks import ScanOptions
from daxy.tasks.scan import SPLITS

# Lines of the official files: train, test.
PUBLISHED = {
    "simple": (16728, 4182),
    "simple_p1": (209, 20701),
    "simple_p2": (418, 20492),
    "simple_p4": (836, 20074),
    "simple_p8": (1672, 19238),
    "simple_p16": (3345, 17565),
    "simple_p32": (6691, 14219),
    "simple_p64": (13382, 7528),
    "length": (16990, 3920),
    "addprim_jump": (14670, 7706),
    "addprim_turn_left": (21890, 1208),
    "addprim_complex_jump_num1_rep1": (14671, 7705),
    "addprim_complex_jump_num2_rep2": (14670, 7704),
    "addprim_complex_jump_num4_rep3": (14668, 7702),
    "addprim_complex_jump_num8_rep4": (14670, 7698),
    "addprim_complex_jump_num16_rep5": (14665, 7690),
    "addprim_complex_jump_num32_rep1": (14655, 7674),
    "template_jump_around_right": (18528, 1173),
    "template_around_right": (15225, 4476),
    "template_opposite_right": (15225, 4476),
    "template_right": (15225, 4476),
    "filler_num0": (15225, 1173),
    "filler_num1": (16290, 1173),
    "filler_num2": (17391, 1173),
    "filler_num3": (18528, 1173),
    "fewshot_num1_rep1": (15226, 1173),
    "fewshot_num64_rep5": (15289, 1173),
    "fewshot_num1024_rep2": (16249, 1173),
    "bastings_jump_num0": (14670, 7674),
    "bastings_jump_num32": (14655, 7674),
}


def commands(examples: Examples) -> set[str]:
    return {" ".join(source) for source in examples.source}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_split_has_the_published_sizes(name: str) -> None:
    split = tasks.get(f"scan/{name}").split(ScanOptions(validation="none"))
    assert (len(split.train), len(split.test)) == PUBLISHED[name]


def test_there_is_a_task_for_every_official_file() -> None:
    names = list(SPLITS)
    # 8 simple, length, 2 primitives, 30 with additions, 4 templates, 4 fillers, 55 few-shot; and
    # the 7 of Bastings et al. and the 11 of Csordás et al.
    assert len(names) == 8 + 1 + 2 + 30 + 4 + 4 + 55 + 7 + 11


@pytest.mark.parametrize(
    ("name", "phrase", "copies"),
    [
        ("addprim_jump", "jump", 1467),
        ("addprim_turn_left", "turn left", 2189),
        ("addprim_complex_jump_num1_rep1", "jump", 734),
        ("addprim_complex_jump_num2_rep1", "jump", 489),
        ("addprim_complex_jump_num4_rep1", "jump", 293),
        ("addprim_complex_jump_num8_rep1", "jump", 163),
        ("addprim_complex_jump_num16_rep1", "jump", 86),
        ("addprim_complex_jump_num32_rep1", "jump", 44),
    ],
)
def test_the_primitive_is_repeated_as_often_as_published(
    name: str, phrase: str, copies: int
) -> None:
    train = tasks.get(f"scan/{name}").split(ScanOptions(validation="none")).train
    assert list(train.source).count(tuple(phrase.split())) == copies


def test_oversampling_can_be_turned_off() -> None:
    split = tasks.get("scan/addprim_jump").split(ScanOptions(validation="none", oversample=False))
    assert len(split.train) == len(commands(split.train)) == 13_204


def test_length_trains_on_22_actions_at_most() -> None:
    split = tasks.get("scan/length").split()
    assert split.train.target.lengths.max() == 22
    assert split.test.target.lengths.min() == 24  # no command means 23 actions


VERB = "(walk|look|run|jump)"
# facts/scan.md, as patterns over whole commands: in neither part, in test, in neither part either.
NOTHING = "(?!)"
MEMBERS = {
    "template_jump_around_right": ("turn around right", "jump around right", NOTHING),
    "template_around_right": ("turn around right", f"{VERB} around right", NOTHING),
    "template_opposite_right": ("turn opposite right", f"{VERB} opposite right", NOTHING),
    "template_right": ("turn right", f"{VERB} right", NOTHING),
    "filler_num0": ("turn around right", "jump around right", "(look|walk|run) around right"),
    "filler_num1": ("turn around right", "jump around right", "(walk|run) around right"),
    "filler_num2": ("turn around right", "jump around right", "run around right"),
    "filler_num3": ("turn around right", "jump around right", NOTHING),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_a_template_or_filler_holds_out_what_it_is_named_for(name: str) -> None:
    dropped, tested, withheld = (re.compile(rf"\b{pattern}\b") for pattern in MEMBERS[name])
    split = tasks.get(f"scan/{name}").split(ScanOptions(validation="none"))
    universe = [" ".join(words) for words in scan.meanings()]
    kept = [command for command in universe if not dropped.search(command)]
    test = {command for command in kept if tested.search(command)}
    train = {command for command in kept if command not in test and not withheld.search(command)}
    assert {" ".join(example.source) for example in split.test} == test
    assert {" ".join(example.source) for example in split.train} == train


def test_smaller_proportions_lie_in_larger_ones_and_all_in_simple() -> None:
    names = [*(f"simple_p{percent}" for percent in (1, 2, 4, 8, 16, 32, 64)), "simple"]
    trains = [
        commands(tasks.get(f"scan/{name}").split(ScanOptions(seed=5, validation="none")).train)
        for name in names
    ]
    assert all(small < large for small, large in itertools.pairwise(trains))


def test_bastings_additions_are_nested_and_the_test_set_is_fixed() -> None:
    splits = [
        tasks.get(f"scan/bastings_jump_num{count}").split(ScanOptions(seed=2, validation="none"))
        for count in (0, 1, 2, 4, 8, 16, 32)
    ]
    trains = [commands(split.train) for split in splits]
    assert all(small < large for small, large in itertools.pairwise(trains))
    assert len({frozenset(commands(split.test)) for split in splits}) == 1


def test_repetitions_are_draws_of_their_own() -> None:
    tests = {
        frozenset(commands(tasks.get(f"scan/addprim_complex_jump_num8_rep{r}").split().test))
        for r in range(1, 6)
    }
    assert len(tests) == 5


def test_few_shots_come_from_what_the_first_filler_adds() -> None:
    none = commands(tasks.get("scan/filler_num0").split(ScanOptions(validation="none")).train)
    first = commands(tasks.get("scan/filler_num1").split(ScanOptions(validation="none")).train)
    shots = commands(
        tasks.get("scan/fewshot_num32_rep4").split(ScanOptions(validation="none")).train
    )
    assert len(first - none) == 1065
    assert len(shots - none) == 32
    assert shots < first


def test_a_rule_does_not_depend_on_the_seed() -> None:
    one, other = (
        tasks.get("scan/addprim_jump").split(ScanOptions(seed=seed, validation="none"))
        for seed in (0, 1)
    )
    assert one.provenance.checksum == other.provenance.checksum


def test_a_draw_depends_on_the_seed() -> None:
    one, other = (
        tasks.get("scan/simple").split(ScanOptions(seed=seed, validation="none")) for seed in (0, 1)
    )
    assert one.provenance.checksum != other.provenance.checksum


def own_lengths() -> list[int]:
    """The numbers of actions of all commands, counted by hand from Figures 6 and 7."""
    primitives = 4
    phrases = [1] * primitives  # `walk`
    phrases += [2, 3, 8] * 2 * primitives  # `walk left`, `walk opposite left`, `walk around left`
    phrases += [1, 2, 4] * 2  # the same with `turn`
    sentences = [times * phrase for phrase in phrases for times in (1, 2, 3)]
    return sentences + 2 * [a + b for a in sentences for b in sentences]


@pytest.mark.parametrize("longest", [1, 22, 26, 47])
def test_the_length_split_of_another_length_has_the_commands_of_the_grammar(longest: int) -> None:
    short = sum(length <= longest for length in own_lengths())
    split = tasks.data("scan/length", max_length=longest).load("scan/length")
    assert (len(split.train), len(split.test)) == (short, 20_910 - short)
    assert split.train.target.lengths.max() <= longest < split.test.target.lengths.min()


@pytest.mark.parametrize(
    ("general", "number", "name"),
    [
        ("simple", {"train_fraction": 0.04}, "simple_p4"),
        ("addprim_jump", {"shots": 8}, "addprim_complex_jump_num8_rep1"),
        ("filler_num0", {"shots": 1024}, "fewshot_num1024_rep1"),
    ],
)
def test_a_number_that_a_published_task_has_gives_its_split(
    general: str, number: dict[str, Any], name: str
) -> None:
    for seed in (0, 3):
        one = tasks.data(f"scan/{general}", seed=seed, **number).load(f"scan/{general}")
        other = tasks.data(f"scan/{name}", seed=seed).load(f"scan/{name}")
        assert one.provenance.checksum == other.provenance.checksum
        assert one.provenance.rule == other.provenance.rule


def test_added_commands_leave_the_test_set() -> None:
    task = "scan/addprim_turn_left"
    split = tasks.data(task, shots=5, oversample=False).load(task)
    assert len(split.test) == 1_208 - 5
    assert len(split.train) == 20_910 - len(split.test)


@pytest.mark.parametrize("fraction", [0.01, 0.5, 0.99])
def test_repetitions_have_the_share_of_the_lines_that_is_asked_for(fraction: float) -> None:
    task = "scan/addprim_jump"
    train = tasks.data(task, oversample_fraction=fraction).load(task).train
    repeated = sum(source == ("jump",) for source in train.source)
    assert len(train) - repeated == 20_910 - 7_706 - 1
    assert repeated / len(train) == pytest.approx(fraction, abs=1e-4)


WRONG_NUMBERS: dict[str, tuple[str, dict[str, Any], str]] = {
    "no test": ("length", {"max_length": 60}, "from 1 to 47, not 60: no command .* more than 48"),
    "no length": ("length", {"max_length": 0}, "max-length must be positive"),
    "no train": ("simple", {"train_fraction": 1e-6}, "leaves nothing to train on"),
    "all of it": ("simple", {"train_fraction": 1.0}, "train fraction must be between 0 and 1"),
    "too many shots": ("addprim_jump", {"shots": 7_706}, "at most 7,705, not 7,706"),
    "more than the filler has": ("filler_num0", {"shots": 1_066}, "at most 1,065, not 1,066"),
    "less than a line": ("addprim_jump", {"oversample_fraction": 1e-6}, "leaves no line of `jump`"),
    "nothing else": ("addprim_jump", {"oversample_fraction": 1.0}, "at most 0.99, not 1"),
    "no repetition": (
        "addprim_jump",
        {"oversample_fraction": 0.2, "oversample": False},
        "leave out --oversample-fraction",
    ),
    "official files": (
        "length",
        {"max_length": 26, "official": Path("SCAN")},
        "have the published number; leave out --max-length",
    ),
}


@pytest.mark.parametrize("case", WRONG_NUMBERS)
def test_a_number_that_no_split_can_have_is_refused(case: str) -> None:
    name, number, problem = WRONG_NUMBERS[case]
    with pytest.raises(WrongRequest, match=problem):
        tasks.data(f"scan/{name}", **number).load(f"scan/{name}")


def test_an_unknown_task_suggests_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean scan/addprim_jump"):
        tasks.get("scan/addprim_jmp")
