"""Files laid out as Bastings et al. (2018) released theirs; here a draw of our own is in them.

Sizes are those of the released files, as the authors' repository has them.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import daxy
from daxy import tasks
from daxy.core.errors import WrongFile, WrongRequest
from daxy.core.examples import Tokens
from daxy.languages import scan

Commands = list[Tokens]
MEANING = scan.meanings(scan.SCAN_WITH_DAB)


def write(root: Path, name: str, commands: Commands) -> None:
    """Write a pair of files."""
    path = root / "data/scan" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    for suffix, lines in (
        (".src", commands),
        (".trg", [MEANING[command] for command in commands]),
    ):
        text = "".join(f"{' '.join(line)}\n" for line in lines)
        path.with_name(f"{path.name}{suffix}").write_text(text)


def shuffled(commands: Commands) -> Commands:
    return [commands[row] for row in np.random.default_rng(0).permutation(len(commands))]


def dab(commands: Commands) -> Commands:
    return [tuple("dab" if word == "jump" else word for word in each) for each in commands]


# Lines of each of the m commands with `jump`, and of train and validation of the released draw.
RELEASED = {1: (726, 13_224, 1_276), 4: (290, 13_222, 1_279), 32: (44, 13_224, 1_307)}
FOLDER = "add_jump_additional"


def jumps(root: Path, count: int) -> Path:
    """Lay out a set with so many composed commands in train."""
    copies, in_train, in_validation = RELEASED[count]
    every = shuffled(list(scan.meanings()))
    composed = [each for each in every if "jump" in each and len(each) > 1]
    others = [each for each in every if "jump" not in each]
    learned = [("jump",), *composed[:count]]
    test = composed[32:]
    name = f"{FOLDER}/train.num{count:02}"
    write(root, name, others + learned * copies)
    write(root, f"{FOLDER}/test", test)
    drawn = in_validation - len(learned)
    write(root, f"{FOLDER}/valid.num{count:02}.random", learned + others[:drawn])
    repeated = learned * copies
    rest = others[drawn:] + repeated[: in_train - len(others) + drawn]
    write(root, f"{name}.wo_valid_random", rest)
    write(root, f"{name}.withdab", others + learned * copies + dab(learned * copies))
    write(root, f"{FOLDER}/valid.dab", dab(test))
    return root


@pytest.fixture(scope="module", params=RELEASED)
def count(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture(scope="module")
def clone(count: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return jumps(tmp_path_factory.mktemp("nacs"), count)


def load(clone: Path, count: int, validation: str, **options: bool) -> daxy.Split:
    name = f"scan/bastings_jump_num{count}"
    return daxy.load(name, official=clone, validation=validation, **options)


def test_a_released_set_is_loaded_whole(count: int, clone: Path) -> None:
    copies, *_ = RELEASED[count]
    split = load(clone, count, "none")
    with_jump = Counter(source for source in split.train.source if "jump" in source)
    assert sorted(with_jump.values()) == [copies] * (count + 1)
    assert (len(split.train), len(split.test)) == (13_203 + copies * (count + 1), 7_674)


def test_the_released_draw_is_the_validation_set(count: int, clone: Path) -> None:
    _, *sizes = RELEASED[count]
    split = load(clone, count, "released-random")
    assert [len(split.train), len(split.validation), len(split.test)] == [*sizes, 7_674]
    assert split.provenance.options["validation"] == "released-random"
    mirrored = daxy.load(
        f"nacs/bastings_jump_num{count}", official=clone, validation="released-random"
    )
    assert list(mirrored.validation.source) == list(split.validation.target)


def test_dab_stands_in_for_jump(count: int, clone: Path) -> None:
    copies, *_ = RELEASED[count]
    split = load(clone, count, "released-dab")
    assert list(split.validation.source) == dab(list(split.test.source))
    lines = Counter(source for source in split.train.source if "dab" in source)
    assert sorted(lines.values()) == [copies] * (count + 1)
    once = load(clone, count, "released-dab", oversample=False)
    assert len(once.train) == len(set(split.train.source)) == len(set(once.train.source))


@pytest.mark.parametrize("ends", [slice(None, -1), slice(1, None)])
@pytest.mark.parametrize("name", ["valid.num04.random", "train.num04.wo_valid_random"])
def test_a_line_that_is_missing_is_noticed(name: str, ends: slice, tmp_path: Path) -> None:
    clone = jumps(tmp_path, 4)
    for suffix in (".src", ".trg"):
        path = clone / "data/scan" / FOLDER / f"{name}{suffix}"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[ends]))
    with pytest.raises(WrongFile, match=rf"{name}.src: [\d,]+ lines; expected 1"):
        load(clone, 4, "released-random")


def replaced(name: str, old: Tokens, new: Tokens) -> Callable[[Path], None]:
    """Return what puts a command in the place of another one."""

    def change(clone: Path) -> None:
        path = clone / "data/scan" / FOLDER / f"{name}.src"
        commands = [tuple(line.split(" ")) for line in path.read_text().splitlines()]
        commands[commands.index(old)] = new
        write(clone, f"{FOLDER}/{name}", commands)

    return change


def test_a_validation_set_with_a_line_of_train_is_refused(tmp_path: Path) -> None:
    clone = jumps(tmp_path, 4)
    split = load(clone, 4, "released-random")
    old = next(each for each in split.validation.source if "jump" not in each)
    new = next(each for each in split.train.source if "jump" not in each)
    replaced("valid.num04.random", old, new)(clone)
    with pytest.raises(WrongFile, match="valid.num04.random.src: .* is in .*wo_valid_random.src"):
        load(clone, 4, "released-random")


def test_dab_in_a_command_that_the_test_has_not_is_refused(tmp_path: Path) -> None:
    clone = jumps(tmp_path, 4)
    old = load(clone, 4, "released-dab").validation[0].source
    replaced("valid.dab", old, ("dab",))(clone)
    with pytest.raises(WrongFile, match="valid.dab.src: 1 lines `dab`; expected 0"):
        load(clone, 4, "released-dab")


def test_the_longest_commands_are_the_validation_set_of_length(tmp_path: Path) -> None:
    """The released sets have 15,438 and 1,552 lines: up to 18 actions, and 19 to 22."""
    lengths = {command: len(actions) for command, actions in scan.meanings().items()}
    parts = {
        "train_wo_valid_length": [each for each, length in lengths.items() if length <= 18],
        "valid.length": [each for each, length in lengths.items() if 18 < length <= 22],
        "test": [each for each, length in lengths.items() if length > 22],
    }
    for name, commands in parts.items():
        write(tmp_path, f"length/{name}", shuffled(commands))
    split = daxy.load("scan/length", official=tmp_path, validation="released-length")
    sizes = split.provenance.sizes
    assert (sizes.train, sizes.validation, sizes.test) == (15_438, 1_552, 3_920)
    ours = daxy.load("scan/length", validation="length")
    assert sorted(ours.validation.keys) == sorted(split.validation.keys)


@pytest.mark.parametrize("name", ["scan/filler_num0", "nacs/fewshot_num1_rep1"])
def test_other_splits_have_no_released_validation_set(name: str, tmp_path: Path) -> None:
    with pytest.raises(WrongRequest, match="no released-random set was published .* it has none"):
        daxy.load(name, official=tmp_path, validation="released-random")


@pytest.mark.parametrize("count", RELEASED)
def test_a_card_says_what_is_published_and_what_is_generated(count: int) -> None:
    copies, *_ = RELEASED[count]
    for kind in ("scan", "nacs"):
        card = tasks.get(f"{kind}/bastings_jump_num{count}").card
        assert f"Published sizes: {13_203 + copies * (count + 1)} train lines, 7674" in card
        made = len(load_generated(count).train)
        both = f"Sizes as generated: {made} train lines, 7674 test lines" in card
        assert both == (count != 32)


def load_generated(count: int) -> daxy.Split:
    return daxy.load(f"scan/bastings_jump_num{count}", validation="none")
