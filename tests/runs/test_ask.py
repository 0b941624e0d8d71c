"""The network of a finished run is asked about commands of one's own."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from daxy.core.errors import WrongRequest
from daxy.runs.saved import load

QUESTIONS = ("jump left twice", "turn jump", "walk")
RIGHT = "I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP"


def run_of(folder: Path) -> Path:
    return min(folder.iterdir())


def test_an_answer_stands_beside_the_right_one(undisturbed: Path, daxy: Callable) -> None:
    run = run_of(undisturbed)
    found = daxy("ask", str(run), *QUESTIONS, "--json").json["answers"]
    assert [" ".join(each["source"]) for each in found] == list(QUESTIONS)
    first, wrong, last = found
    assert first["targets"] == [RIGHT.split()]
    assert first["right"] == (first["prediction"] == RIGHT.split())
    assert (wrong["right"], wrong["targets"]) == (None, [])
    assert "not a command: 'turn [jump]'" in wrong["note"]
    assert last["targets"] == [["I_WALK"]]
    network = load(run)
    for each in found:
        (said,) = network.predict([each["source"]])
        assert list(said) == each["prediction"]
        rows = np.array(each["attention"])
        np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-3)
    text = daxy("ask", str(run), QUESTIONS[0]).out
    assert f"network  {' '.join(first['prediction']) or '(nothing)'}" in text
    place = first["first_wrong"]
    assert first["prediction"][: place - 1] == RIGHT.split()[: place - 1]
    assert f"(wrong from token {place} on)" in text
    assert f"right    {RIGHT}" in text


def test_a_network_is_called_with_a_text_or_with_tokens(undisturbed: Path) -> None:
    network = load(run_of(undisturbed))
    answer = network("jump left twice")
    assert answer == network(("jump", "left", "twice"))
    assert answer.tokens == network.predict([("jump", "left", "twice")])[0]
    assert answer == " ".join(answer.tokens)
    assert answer.attention is not None
    assert answer.attention.shape[1] == len("jump left twice </s>".split())
    with pytest.raises(WrongRequest, match=r"token 'twoce' is not .*; did you mean twice\?"):
        network("jump twoce")


def test_attention_is_drawn_and_wrong_requests_are_refused(
    undisturbed: Path, tmp_path: Path, daxy: Callable
) -> None:
    run, picture = str(run_of(undisturbed)), tmp_path / "attention.svg"
    found = daxy("ask", run, "jump twice", "--draw", str(picture), "--json").json
    assert found["out"] == str(picture)
    for token in ("jump", "twice"):
        assert f"<!-- {token} -->" in picture.read_text()
    for wrong, said in (
        (("ask", run), "expected at least one source"),
        (("ask", run, " "), "a source is empty"),
        (("ask", run, "jmp twice"), "did you mean jump?"),
        (("ask", run, "jump", "--world", "w.json"), "--world is for runs on gSCAN"),
        (("ask", run, "jump", "--draw", str(picture)), "--force replaces it"),
        (("ask", run, *["jump"] * 13, "--draw", "a.png"), "--draw shows 12 at most, not 13"),
        (("ask", str(tmp_path), "jump"), "no finished run"),
    ):
        answer = daxy(*wrong)
        assert (answer.code, said in answer.err) == (2, True), answer.err
