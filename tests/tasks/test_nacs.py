import json
from pathlib import Path

import pytest

import daxy
from daxy import tasks
from daxy.tasks import ScanOptions

SHARE = "share of test inputs whose actions occur in train"


def test_nacs_is_scan_line_by_line_reversed() -> None:
    forward = tasks.get("scan/addprim_turn_left").split(ScanOptions(seed=4))
    mirrored = tasks.get("nacs/addprim_turn_left").split(ScanOptions(seed=4))
    for name, part in forward.parts.items():
        assert list(part.swapped()) == list(mirrored.parts[name])


# Measured on the files that the authors released; simple is our own draw of the same kind.
@pytest.mark.parametrize(
    ("name", "share", "within"),
    [
        ("length", 0.0, 0.0),
        ("addprim_jump", 0.0, 0.0),
        ("addprim_turn_left", 0.410, 0.0005),
        ("simple", 0.853, 0.015),
    ],
)
def test_the_share_of_known_inputs_is_as_measured(name: str, share: float, within: float) -> None:
    task = tasks.get(f"nacs/{name}")
    assert task.statistics(task.split())[SHARE] == pytest.approx(share, abs=within)


def test_another_command_of_the_same_meaning_is_right() -> None:
    task = tasks.get("nacs/length")
    test = task.split().test
    # `a and b` means what `b after a` does.
    swapped = [
        (*command[command.index("and") + 1 :], "after", *command[: command.index("and")])
        if "and" in command
        else command
        for command in test.target
    ]
    totals = task.totals(test, type(test.target).of(swapped))
    assert totals["back_mapping"] == 1.0
    assert totals["exact"] < 1.0
    assert task.metric == "back_mapping"


def test_predictions_may_name_their_sources_in_the_papers_spelling(tmp_path: Path) -> None:
    test = daxy.load("nacs/filler_num0").test
    spelled = {"I_TURN_LEFT": "LTURN", "I_TURN_RIGHT": "RTURN"}
    rows = {
        " ".join(spelled.get(action, action.removeprefix("I_")) for action in source): command
        for source, command in zip(test.source, test.target, strict=True)
    }
    path = tmp_path / "predictions.jsonl"
    lines = [json.dumps({"source": key, "prediction": value}) for key, value in rows.items()]
    path.write_text("\n".join(lines) + "\n")
    assert daxy.score("nacs/filler_num0", path).accuracy == 1.0
