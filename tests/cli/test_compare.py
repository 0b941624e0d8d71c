"""`daxy compare`: learners side by side on one test set."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.report.test_analyses import LEARNER, no_around, right, run, short

import daxy as package
from daxy.core.examples import Example, Tokens
from daxy.learners.nearest import Nearest

TASK = "scan/addprim_turn_left"
WIDER = {**LEARNER, "config": {"hidden": 8}}


def wrong(example: Example) -> Tokens:
    return (*example.target, "I_RUN")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with two runs of one learner, and one of another."""
    folder = tmp_path_factory.mktemp("compared")
    run(folder, TASK, 0, right)
    run(folder, TASK, 1, short)
    run(folder, TASK, 0, no_around, WIDER)
    run(folder / "others", "scan/simple_p1", 0, right)
    return folder


def test_learners_have_scores_a_difference_and_tables(daxy: Callable[..., Any], runs: Path) -> None:
    found = daxy("compare", *map(str, sorted(runs.glob("scan*"))), "--json").json
    assert [each["label"] for each in found["learners"]] == [
        "seq2seq, hidden 4",
        "seq2seq, hidden 8",
    ]
    narrow, wide = found["learners"]
    assert narrow["runs"] and narrow["max"] == 100 and wide["mean"] < 100
    (difference,) = found["differences"]
    assert difference["mean"] == pytest.approx(narrow["mean"] - wide["mean"])
    assert difference["over_seeds"] is None and difference["p"] is None
    assert found["tables"]["built with"]["around"][1]["mean"] == 0
    better = found["parted"][0]
    assert better["better"] == ["seq2seq, hidden 4", "seq2seq, hidden 8"]
    assert all("around" in each["source"] for each in better["examples"])
    assert len(better["examples"]) == 3


def test_two_single_runs_have_a_test(daxy: Callable[..., Any], runs: Path) -> None:
    chosen = [path for path in sorted(runs.glob("scan*")) if "seed0" in path.name]
    (difference,) = daxy("compare", *map(str, chosen), "--json").json["differences"]
    assert difference["only_first"] > 0 == difference["only_second"]
    assert difference["p"] < 0.001
    assert "McNemar" in daxy("compare", *map(str, chosen)).out


def test_a_comparison_is_drawn(daxy: Callable[..., Any], runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "compared.png"
    daxy("compare", *map(str, sorted(runs.glob("scan*"))), "--draw", str(out), "--count", "0")
    assert out.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("nothing", "missing: RUN"),
        ("scan*seed1*", "all runs are of one learner"),
        ("*/scan*", "all runs are of one learner"),
        ("**/scan*seed0*", "has another test set than"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    pattern: str, message: str, daxy: Callable[..., Any], runs: Path
) -> None:
    answer = daxy("compare", *map(str, sorted(runs.glob(pattern))))
    assert answer.code == 2
    assert message in answer.err


def test_several_tests_are_compared_one_by_one(daxy: Callable[..., Any], tmp_path: Path) -> None:
    pairs = [("walk", "W"), ("walk twice", "W W"), ("jump", "J"), ("run twice", "R R")] * 4
    split = package.pairs(pairs, {"new": [("jump twice", "J J")], "known": [("walk", "W")]})
    for substitute in (True, False):
        package.train(split, Nearest(substitute=substitute), runs=tmp_path)
    runs = [str(path) for path in sorted(tmp_path.glob("pairs*"))]
    whole = daxy("compare", *runs, "--json").json
    assert set(whole["tables"]["test"]) == {"new", "known"}
    assert abs(whole["differences"][0]["mean"]) == 50
    assert (
        abs(daxy("compare", *runs, "--test", "new", "--json").json["differences"][0]["mean"]) == 100
    )
    assert daxy("compare", *runs, "--test", "known", "--json").json["differences"][0]["mean"] == 0
    assert "no test named 'old'" in daxy("compare", *runs, "--test", "old").err
