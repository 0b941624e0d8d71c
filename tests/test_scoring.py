import json
import random
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daxy
from daxy.core.errors import DaxyWarning, WrongFile, WrongRequest
from daxy.core.examples import Examples
from daxy.core.split import Split
from daxy.formats import jsonl, scan_text
from daxy.scoring import Scored

TASK = "scan/filler_num0"
GRID = {"grid": 4, "resampling": 1, "kind": "simple_trans"}


@pytest.fixture(scope="module")
def test() -> Examples:
    return daxy.load(TASK).test


@pytest.fixture(scope="module")
def worlds() -> Split:
    return daxy.load("gscan/compositional", **GRID)


def judge(task: str, predictions: Any, **options: Any) -> Scored:
    """Return the scores of predictions that warn, or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DaxyWarning)
        return daxy.score(task, predictions, **options)


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


SPELLINGS: dict[str, Callable[[list[str]], str]] = {
    "no prefix": lambda said: " ".join(said).replace("I_", ""),
    "the paper's": lambda said: " ".join(said).replace("I_TURN_LEFT", "LTURN").replace("I_", ""),
    "lower case": lambda said: " ".join(said).lower(),
    "commas": ", ".join,
    "padding": lambda said: " ".join([*said, "<eos>", "<pad>"]),
    "a label": lambda said: "Actions: " + " ".join(said),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_right_answers_in_another_spelling_are_refused_and_read_when_asked(
    spelling: str, test: Examples
) -> None:
    said = [SPELLINGS[spelling](list(target)) for target in test.target]
    with pytest.raises(WrongRequest, match="have a token that no target of scan/filler_num0 has"):
        daxy.score(TASK, said)
    scored = daxy.score(TASK, said, normalize=True)
    assert scored.accuracy == 1
    assert max(scored.normalized.values()) > 0
    as_they_are = judge(TASK, said, allow_unknown_tokens=True)
    assert as_they_are.accuracy < 0.1
    assert as_they_are.unknown_tokens.predictions > 0.9 * len(test)


def test_the_commonest_unknown_tokens_are_named_with_their_counts(test: Examples) -> None:
    said = [" ".join(target) for target in test.target]
    for row in range(100):
        said[row] += " </s>"
    said[0] += " <pad>"
    with pytest.warns(DaxyWarning) as caught:
        scored = daxy.score(TASK, said)
    assert str(caught[0].message) == scored.notes[0]
    assert scored.notes[0].startswith(
        "100 of 1,173 predictions have a token that no target of scan/filler_num0 has: "
        "'</s>' (100 times), '<pad>' (1 time); --normalize"
    )
    assert scored.unknown_tokens.counts == {"</s>": 100, "<pad>": 1}
    assert scored.accuracy == pytest.approx(1073 / 1173)


def test_what_no_spelling_explains_is_said_too(test: Examples) -> None:
    with pytest.raises(WrongRequest, match="'foo' .* no common other spelling .* is known"):
        daxy.score(TASK, ["foo"] * len(test))


def test_answers_in_the_order_of_another_file_are_recognised(
    test: Examples, tmp_path: Path
) -> None:
    order = np.random.default_rng(0).permutation(len(test))
    shuffled = list(test.target.take(order))
    with pytest.warns(DaxyWarning, match="1,173 of 1,173 predictions are targets of the test set"):
        assert daxy.score(TASK, shuffled).accuracy < 0.1
    file = tmp_path / "other.txt"
    file.write_text(scan_text.write(test.take(order)))
    assert daxy.score(TASK, shuffled, order=file).accuracy == 1
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(" ".join(said) + "\n" for said in shuffled))
    with pytest.raises(WrongFile, match="plain lines; expected the file in whose order they are"):
        daxy.score(TASK, lines)
    assert daxy.score(TASK, lines, order=file).accuracy == 1


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_half_right_answers_in_another_order_are_recognised_too(
    share: float, test: Examples
) -> None:
    rng = np.random.default_rng(0)
    answers = [target if rng.random() < share else ("I_RUN",) for target in test.target]
    in_place, shuffled = (
        judge(TASK, answers),
        judge(TASK, list(rng.permuted(np.array([" ".join(answer) for answer in answers], object)))),
    )
    assert not in_place.notes
    assert "they may be in the order of another file" in shuffled.notes[0]


def test_a_file_of_other_examples_is_no_order(test: Examples, tmp_path: Path) -> None:
    train = daxy.load(TASK).train
    file = tmp_path / "train.txt"
    file.write_text(scan_text.write(train.take(np.arange(len(test)))))
    with pytest.raises(WrongFile, match="1,173 of its examples are not in the test set"):
        daxy.score(TASK, list(test.target), order=file)


@pytest.mark.parametrize("normalize", [False, True])
def test_a_token_that_is_no_text_is_refused(normalize: bool, test: Examples) -> None:
    said: Any = [[["I_JUMP"]]] * len(test)
    with pytest.raises(WrongRequest, match=r"a prediction has \['I_JUMP'\]"):
        daxy.score(TASK, said, normalize=normalize)


def test_a_list_in_a_mirrored_order_is_read_by_the_official_file(tmp_path: Path) -> None:
    mirrored = daxy.load("nacs/filler_num0").test
    file = tmp_path / "official.txt"
    file.write_text(scan_text.write(mirrored.swapped()[::-1]))
    said = [" ".join(command) for command in mirrored.target[::-1]]
    assert daxy.score("nacs/filler_num0", said, order=file).accuracy == 1


def test_empty_and_copied_predictions_are_noted(test: Examples) -> None:
    empty = judge(TASK, [""] * len(test))
    assert empty.notes == ("1,173 of 1,173 predictions are empty",)
    copied = judge(TASK, list(test.source), allow_unknown_tokens=True)
    assert copied.notes[-1] == "100% of the predictions are the sources of their examples"


def test_a_part_of_a_test_set_is_scored_when_asked_for(test: Examples) -> None:
    some = {key: " ".join(target) for key, target in zip(test.keys, test.target, strict=True)}
    some = dict(list(some.items())[10:20])
    with pytest.raises(WrongRequest, match="1163 predictions are missing.*partial=True"):
        daxy.score(TASK, some)
    some[test.keys[12]] = "I_JUMP"
    scored = daxy.score(TASK, some, partial=True)
    assert (scored.accuracy, len(scored.examples), scored.test_examples) == (0.9, 10, 1173)
    assert scored.is_partial
    # Wilson's interval of 9 of 10 (Brown, Cai & DasGupta 2001, equation 4).
    assert scored.interval == pytest.approx((0.5958, 0.9821), abs=1e-3)
    with pytest.raises(WrongRequest, match="predictions are missing"):
        daxy.score(TASK, {}, partial=True)


def test_a_sample_is_scored_against_the_same_draw(test: Examples) -> None:
    split = daxy.load(TASK).only(sample=50, seed=3)
    scored = daxy.score(TASK, split.test.target, split=split)
    assert (scored.accuracy, len(scored.examples), scored.test_examples) == (1, 50, 1173)
    assert set(split.test.keys) <= set(test.keys)


def test_one_of_several_tests_is_scored_under_its_own_name(worlds: Split) -> None:
    only = worlds.only(test="D")
    said = list(only.test.target)
    said[0] = ("walk",)
    scored = daxy.score("gscan/compositional", said, split=only)
    assert list(scored.tests) == ["D"]
    assert scored.tests["D"]["exact"] == pytest.approx(1 - 1 / len(said))
    assert not scored.is_partial
    by_key = dict(zip(only.test.keys, said, strict=True))
    partial = daxy.score("gscan/compositional", by_key, split=worlds, partial=True)
    assert partial.tests == scored.tests
    assert partial.counts["A"] == 0
    replaced = replace(worlds, test=worlds.named["D"])
    with pytest.raises(WrongRequest, match=r"was replaced.*split\.only\(test=\.\.\.\)"):
        daxy.score("gscan/compositional", said, split=replaced)


def test_a_row_may_say_its_world_in_place_of_a_key(worlds: Split, tmp_path: Path) -> None:
    only = worlds.only(test="D").only(sample=20)
    rows = [json.loads(line) for line in jsonl.lines({"D": only.test})]
    ours = [
        {"source": row["source"], "world": row["world"], "prediction": row["target"]}
        for row in rows
    ]
    random.Random(0).shuffle(ours)
    file = write(tmp_path / "ours.jsonl", ours)
    assert daxy.score("gscan/compositional", file, split=only).accuracy == 1
    theirs = [
        {"input": row["source"], "situation": [situation(row["world"])], "prediction": ["walk"]}
        for row in ours
    ]
    array = tmp_path / "situational_1_predict.json"
    array.write_text(json.dumps(theirs, indent=4))
    assert len(daxy.score("gscan/compositional", array, split=only).examples) == 20
    del theirs[0]["situation"]
    array.write_text(json.dumps(theirs))
    with pytest.raises(WrongFile, match="a command alone does not say in which world"):
        daxy.score("gscan/compositional", array, split=only)


def situation(world: dict[str, object]) -> dict[str, object]:
    """Return a world as the authors' program writes it, with numbers as text."""

    def position(cell: list[int]) -> dict[str, str]:
        return {"row": str(cell[0]), "column": str(cell[1])}

    headings = ["east", "south", "west", "north"]
    return {
        "grid_size": world["size"],
        "agent_position": position(world["agent"]),
        "agent_direction": headings.index(world["heading"]),
        "placed_objects": {
            str(place): {
                "position": position(thing["cell"]),
                "object": {
                    "shape": thing["shape"],
                    "color": thing["color"],
                    "size": str(thing["size"]),
                },
            }
            for place, thing in enumerate(world["things"])
        },
    }


def test_the_order_of_a_json_array_needs_a_file_too(test: Examples, tmp_path: Path) -> None:
    array = tmp_path / "a.json"
    array.write_text(json.dumps([" ".join(target) for target in test.target]))
    with pytest.raises(
        WrongFile, match="an array of predictions alone; expected the file in whose"
    ):
        daxy.score(TASK, array)
    file = tmp_path / "test.txt"
    file.write_text(scan_text.write(test))
    assert daxy.score(TASK, array, order=file).accuracy == 1


@pytest.mark.parametrize("metric", ["bleu", "fine"])
def test_an_interval_of_another_figure_is_around_it(metric: str) -> None:
    task = {"bleu": "translation/daxy", "fine": "transduction/copy"}[metric]
    test = daxy.load(task).only(sample=40).test
    said = {
        key: " ".join(target[: len(target) // (1 + row % 3)])
        for row, (key, target) in enumerate(zip(test.keys, test.target, strict=True))
    }
    scored: Scored = replace(judge(task, said, partial=True), metric=metric)
    low, high = scored.interval
    assert 0 < low < scored.accuracy < high < 1


@pytest.mark.slow
def test_a_message_quotes_no_more_of_a_token_than_one_can_read(test: Examples) -> None:
    with pytest.raises(WrongRequest) as error:
        daxy.score(TASK, ["x" * 10_000] * len(test))
    assert len(re.sub(r"\s", "", str(error.value))) < 400
