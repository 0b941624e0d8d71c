from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from daxy import tasks
from daxy.formats import jsonl
from daxy.languages import scan
from daxy.worlds.drawing import PIXELS


def test_augment_shows_new_examples_with_templates_and_fragments(daxy: Callable) -> None:
    answer = daxy("augment", "scan/simple_p2", "--count", "20", "--show", "2", "--json")
    found = answer.json
    assert found["train"] > found["augmented"] == 20
    assert 0 < found["fillable"] < found["templates"]
    assert len(found["shown"]) == 2
    for each in found["shown"]:
        template, gaps = each["template"], each["fragment"]
        for side, whole in zip(template, (each["source"], each["target"]), strict=True):
            said = side
            for place, piece in enumerate(gaps, 1):
                said = said.replace(f"_{place}", piece)
            assert said == whole
    text = daxy("augment", "scan/simple_p2", "--count", "20", "--show", "2").out
    assert text.startswith("20 new examples from ")
    assert text.count("  with  _1 = ") == 2


def test_a_seed_makes_the_same_examples_and_another_one_others(daxy: Callable) -> None:
    def shown(*flags: str) -> list[dict[str, str]]:
        return daxy("augment", "scan/simple_p2", "--count", "9", *flags, "--json").json["shown"]

    assert shown() == shown("--seed", "0") != shown("--seed", "1")


def test_all_new_examples_are_written(daxy: Callable, tmp_path: Path) -> None:
    out = tmp_path / "new.jsonl"
    request = ("augment", "scan/addprim_jump", "--count", "50", "--out", str(out))
    assert daxy(*request).code == 0
    (examples,) = jsonl.read(out).values()
    meanings = scan.meanings()
    assert len(examples) == 50
    assert all(meanings[each.source] == each.target for each in examples)
    assert daxy(*request).code == 2
    assert daxy(*request, "--force").code == 0


SMALL = ("gscan/compositional", "--grid", "4", "--resampling", "1", "--kind", "normal")


def test_in_worlds_it_counts_targets_and_draws_some(daxy: Callable, tmp_path: Path) -> None:
    out, picture = tmp_path / "new.jsonl", tmp_path / "one.png"
    flags = ("--shots", "0", "--count", "30", "--out", str(out), "--draw", str(picture))
    found = daxy("augment", *SMALL, *flags, "--json").json
    assert found["augmented"] == 30
    assert found["changed"] > 0
    counts = found["targets"]
    assert counts["red square"]["target"] == 0 < counts["red square"]["target_after"]
    assert counts["red circle"]["color_named"] > counts["red circle"]["color_named_after"] == 0
    assert sum(each["target_after"] for each in counts.values()) == found["train"] + 30
    parts = jsonl.read(out)
    examples = parts["augmented"]
    assert len(examples) == 30
    assert len(parts["train"]) == found["train"]
    with Image.open(picture) as drawn:
        assert drawn.height > 3 * 4 * PIXELS
        assert drawn.width > 2 * 4 * PIXELS
    text = daxy("augment", *SMALL, *flags, "--force", "--example", "2").out
    with Image.open(picture) as drawn:
        below = drawn.convert("L").crop((0, 4 * PIXELS, drawn.width, drawn.height))
        assert 0 < below.height < 2 * PIXELS
    assert below.getextrema()[0] < 128, "the commands are not below"
    assert f"{found['changed']:,} of {found['train']:,} training examples changed" in text
    assert f"{picture}:\n  {' '.join(examples[1].source)}; was: " in text
    assert daxy("augment", *SMALL, *flags, "--force", "--example", "2", "--example", "31").code == 2
    assert found["published"] == {}
    assert "in the paper" not in text


def test_the_counts_of_the_paper_are_shown_for_its_augmentation(
    daxy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tasks.data("gscan/compositional", grid=4, resampling=1, kind="normal", shots=0)
    split = few.load("gscan/compositional")
    usual = {name: value for name, value in type(few)().choices.items() if name != "seed"}

    def load(data: Any, _: str) -> Any:
        """Return the small data, which say of themselves that they are what was asked for."""
        told = split.provenance
        sizes = replace(told.sizes, train=371_649 - told.sizes.validation)
        asked = {name: data.choices[name] for name in usual}
        return replace(split, provenance=replace(told, options=asked, sizes=sizes))

    monkeypatch.setattr(type(few), "load", load)
    request = ("augment", "gscan/compositional", "--count", "10000")
    # Table 4 of Ruis et al. (2020)
    found = daxy(*request, "--json").json
    printed = {"target": 0, "color_named": 0, "target_after": 83_887, "color_named_after": 0}
    assert found["published"]["red square"] == printed
    assert set(found["published"]) < set(found["targets"])
    lines = daxy(*request).out.splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("red square"))
    assert lines[place + 1].split() == ["in", "the", "paper", "0", "0", "83,887", "0"]
    for same in (("--split-seed", "1"), ("--workers", "2")):
        assert daxy(*request, *same, "--json").json["published"] == found["published"]
    assert daxy(*request, "--shots", "5", "--json").json["published"] == {}
    fewer = daxy(*request[:2], "--count", "30", "--json").json["published"]
    assert fewer["blue square"] == {"target": 33_250, "color_named": 16_630}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["scan/simple_p1", "--draw", "a.png"], "have no world to draw"),
        (["gscan/compositional", "--draw", "a.svg"], "expected a name that ends in .png"),
        (["scan/simple", "--max-pieces", "0"], "max-pieces must be positive"),
        (["scan/simple", "--show", "-1"], "--show must not be negative"),
        (["scan/simple_p2", "--no-in-place"], "no-in-place needs a task with worlds"),
        (["scan/simple_p2", "--count", "0"], "count must be positive where there are no worlds"),
        (["scan/simple_p2", "--count", "10000001"], "count must be at most 10,000,000: 10,000,001"),
        (
            ["gscan/compositional", "--count", "9" * 24],
            "count must be at most 2,147,483,647",
        ),
        (["scan/simple", "--example", "1"], "--example needs --draw"),
        (["scan/simpel"], "did you mean scan/simple"),
        (["scan/simple", "--out", "new.csv"], "expected a name that ends in .jsonl"),
    ],
)
def test_what_cannot_be_is_refused(daxy: Callable, flags: list[str], message: str) -> None:
    answer = daxy("augment", *flags)
    assert answer.code == 2
    assert message in answer.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["scan/simple_p1"], "have no world to draw"),
        (["gscan/compositional", "--example", "0"], "there are examples 1 to 1,000, not 0"),
        (
            ["gscan/compositional", "--count", "10", "--example", "11", "--example", "10"],
            "there are examples 1 to 10, not 11",
        ),
        (["gscan/compositional", "--count", "0"], "--draw needs new examples"),
    ],
)
def test_a_wrong_picture_is_refused_before_the_work(
    flags: list[str], message: str, daxy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*_: Any) -> None:
        raise AssertionError("data are made")

    monkeypatch.setattr(type(tasks.data(flags[0])), "load", load)
    answer = daxy("augment", *flags, "--draw", "a.png")
    assert answer.code == 2
    assert message in answer.err


@pytest.mark.parametrize("task", ["transduction/copy", "translation/daxy", "gscan/length"])
def test_flags_that_a_task_has_too_have_the_prefix_of_train(task: str, daxy: Callable) -> None:
    answer = daxy("augment", task, "--help")
    assert answer.code == 0, answer.err
    assert "--geca.max-length" in answer.out


def test_a_flag_is_known_in_a_wide_terminal_too(
    daxy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    answer = daxy("train", "scan/simple", "--augment", "geca", "--count", "5")
    assert "no flag '--count'; did you mean --geca.count?; see `daxy train scan" in answer.err


def test_train_refuses_the_same_augmentation_and_leaves_no_folder(
    daxy: Callable, tmp_path: Path
) -> None:
    network = ("seq2seq", "--hidden", "8", "--epochs", "1", "--runs", str(tmp_path / "runs"))
    request = ("train", "scan/simple_p2", *network, "--augment", "geca", "--geca.no-in-place")
    answer = daxy(*request)
    assert answer.code == 2
    assert "no-in-place needs a task" in answer.err
    assert not list(tmp_path.glob("runs/*"))
