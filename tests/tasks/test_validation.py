import re
from collections import Counter
from typing import Any

import pytest

from daxy import tasks
from daxy.core.errors import WrongRequest
from daxy.core.split import Split
from daxy.tasks import ScanOptions


def split(name: str, **options: Any) -> Split:
    return tasks.get(name).split(ScanOptions(**({"validation": "draw"} | options)))


# The authors' released draw: simple 15083+1645, length 15311+1679, turn_left 19719+2171,
# jump 13236+1278 lines. Ours draws the same number of lines on average.
@pytest.mark.parametrize("name", ["simple", "length", "addprim_turn_left", "addprim_jump"])
def test_a_draw_takes_a_tenth_of_the_training_lines(name: str) -> None:
    whole, drawn = split(f"scan/{name}", validation="none"), split(f"scan/{name}")
    assert Counter(drawn.train.keys) + Counter(drawn.validation.keys) == Counter(whole.train.keys)
    assert len(drawn.validation) == pytest.approx(0.1 * len(whole.train), rel=0.06)
    assert list(drawn.test) == list(whole.test)


def test_an_oversampled_line_can_be_in_both_train_and_validation() -> None:
    drawn = split("scan/addprim_jump")
    assert ("jump",) in set(drawn.train.source) & set(drawn.validation.source)


def test_seeds_draw_different_validation_sets_from_the_same_train() -> None:
    one, other = (split("scan/length", seed=seed) for seed in (0, 1))
    assert one.validation.keys != other.validation.keys
    assert one.test.keys == other.test.keys


def test_validation_by_length_holds_the_longest_tenth() -> None:
    longest = split("scan/length", validation="length")
    assert longest.train.target.lengths.max() < longest.validation.target.lengths.min()
    assert longest.validation.target.lengths.max() <= 22
    assert 0.05 < len(longest.validation) / 16_990 < 0.15
    assert len(longest.train) + len(longest.validation) == 16_990


def test_the_proxy_is_known_as_the_held_out_primitive_is() -> None:
    proxied = split("scan/addprim_jump", validation="dab")
    lines = Counter(proxied.train.source)
    assert lines["dab",] == lines["jump",] == 1_467
    assert not any("dab" in command for command in lines if command != ("dab",))
    assert all("I_DAB" in actions for actions in proxied.validation.target)
    assert all("dab" in command and len(command) > 1 for command in proxied.validation.source)
    assert not any("jump" in command for command in proxied.validation.source)
    assert len(proxied.validation) == 1_467


def test_the_proxy_has_the_twins_of_the_composed_commands_in_train() -> None:
    proxied = split("scan/bastings_jump_num4", validation="dab")
    lines = Counter(proxied.train.source)
    with_jump = {command: n for command, n in lines.items() if "jump" in command}
    twins = {
        tuple("dab" if word == "jump" else word for word in command): n
        for command, n in with_jump.items()
    }
    assert twins == {command: n for command, n in lines.items() if "dab" in command}
    assert len(twins) == 5
    assert not set(twins) & set(proxied.validation.source)


@pytest.mark.parametrize(
    ("name", "phrase"), [("addprim_jump", ("jump",)), ("addprim_turn_left", ("turn", "left"))]
)
def test_dab_asks_what_the_test_asks_of_the_primitive(name: str, phrase: tuple[str, ...]) -> None:
    proxied = split(f"scan/{name}", validation="dab")
    test = set(proxied.test.source)
    for command in proxied.validation.source:
        words = [part for word in command for part in (phrase if word == "dab" else (word,))]
        assert tuple(words) in test


def test_the_proxy_stands_for_a_phrase_of_two_words_too() -> None:
    proxied = split("nacs/addprim_turn_left", validation="dab")
    assert Counter(proxied.train.target)["dab",] == 2_189
    assert not any("turn left" in " ".join(command) for command in proxied.validation.target)


def test_proxy_commands_can_be_right_in_nacs() -> None:
    task = tasks.get("nacs/addprim_jump")
    validation = task.split(ScanOptions(validation="dab")).validation
    assert task.totals(validation, validation.target)["back_mapping"] == 1.0


def test_no_validation_leaves_all_of_train() -> None:
    assert len(split("scan/simple", validation="none").validation) == 0


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("scan/simple", {"validation": "length"}, "by length is for scan/length, not for scan/si"),
        ("scan/length", {"validation": "dab"}, "dab is for tasks that add a primitive, such as"),
        ("scan/length", {"validation_fraction": 0.0}, "must be between 0 and 1, not 0"),
        ("scan/length", {"validation_fraction": 1.5}, "must be between 0 and 1, not 1.5"),
        ("scan/length", {"validation": "drawn"}, "validation must be one of 'published', 'draw'"),
        ("scan/length", {"seed": -1}, "a seed must not be negative: -1"),
    ],
)
def test_an_option_that_a_task_does_not_have_is_refused(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(WrongRequest, match=re.escape(message)):
        split(name, **options)
