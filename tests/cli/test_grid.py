"""`daxy sweep TASK LEARNER --grid`: all combinations of a learner's settings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from daxy.core.errors import DaxyError
from daxy.learners.nearest import Nearest
from daxy.learners.neural import Neural
from daxy.runs.grid import parse
from daxy.training.config import TrainingConfig

TRAIN = "walk\tW\nwalk twice\tW W\njump\tJ\nrun twice\tR R\n" * 5
TEST = "jump twice\tJ J\nwalk\tW\n"


@pytest.fixture
def flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    monkeypatch.chdir(tmp_path)
    Path("train.tsv").write_text(TRAIN)
    Path("test.tsv").write_text(TEST)
    return "--train", "train.tsv", "--test", "test.tsv"


def test_each_combination_is_trained_once(daxy: Callable[..., Any], flags: tuple[str, ...]) -> None:
    request = ("sweep", "pairs", "nearest", "--grid", "substitute=true,false", *flags)
    found = daxy(*request, "--json").json
    assert [point["settings"] for point in found["points"]] == [
        {"substitute": True},
        {"substitute": False},
    ]
    assert [point["test"] for point in found["points"]] == [[1.0], [0.5]]
    assert Path(found["out"]).read_bytes().startswith(b"\x89PNG")
    again = daxy(*request)
    assert "2 of 2 runs finished, 0 to train" in again.err
    assert len([path for path in Path("runs").iterdir() if path.is_dir()]) == 2


def test_a_plan_trains_nothing(daxy: Callable[..., Any], flags: tuple[str, ...]) -> None:
    grid = ("--grid", "hidden=4,8", "learning-rate=0.1,0.2")
    plan = daxy("sweep", "pairs", "seq2seq", *grid, *flags, "--seeds", "2", "--dry-run", "--json")
    assert len(plan.json["runs"]) == len({*plan.json["runs"]}) == 8
    assert [len(program) for program in plan.json["programs"]] == [4, 4]
    assert not Path("runs").exists()


@pytest.mark.slow
def test_a_grid_of_networks_has_a_row_each(
    daxy: Callable[..., Any], flags: tuple[str, ...]
) -> None:
    request = ("sweep", "pairs", "seq2seq", "--grid", "hidden=4,8", "--embedding", "4")
    found = daxy(*request, "--epochs", "1", "--seeds", "2", *flags, "--json").json
    assert [len(point["runs"]) for point in found["points"]] == [2, 2]
    table = daxy(*request, "--epochs", "1", "--seeds", "2", *flags).out
    assert table.split()[:5] == ["hidden", "runs", "validation", "test", "exact"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "a sweep of a task needs --grid"),
        (("--grid", "hidden"), "'hidden' is no setting of a grid; expected NAME=VALUE,VALUE"),
        (("--grid", "hidden=4,"), "expected NAME=VALUE,VALUE"),
        (("--grid", "hidden=4,4"), "has a value twice"),
        (("--grid", "hidden=4", "hidden=8"), "hidden is there twice"),
        (("--grid", "hiden=4"), "no setting of seq2seq named 'hiden'; did you mean hidden"),
        (("--grid", "hidden=x"), "hidden must be a whole number, not 'x'"),
        (("--grid", "hidden=4", "--cpus", "2"), "--cpus needs --executor ray"),
        (("--grid", "hidden=4", "--learning-rates", "0.1"), "no meaning in a grid"),
    ],
)
def test_wrong_grids_are_refused(
    words: tuple[str, ...], message: str, daxy: Callable[..., Any], flags: tuple[str, ...]
) -> None:
    answer = daxy("sweep", "pairs", "seq2seq", *flags, *words)
    assert answer.code == 2
    assert message in answer.err
    assert not Path("runs").exists()


def test_values_are_numbers_words_or_truth() -> None:
    assert parse(["a=1,2.5,1e-3", "b-c=true,false", "cell=gru,lstm"]) == {
        "a": [1, 2.5, 0.001],
        "b_c": [True, False],
        "cell": ["gru", "lstm"],
    }


def test_a_learner_takes_settings_by_the_names_of_their_flags() -> None:
    network = Neural.named("seq2seq", {"hidden": 4}, TrainingConfig())
    changed = network.with_settings({"hidden": 8, "steps": 10, "optimizer": "adam"})
    assert changed.config.hidden == 8
    assert changed.training == TrainingConfig().with_settings(steps=10, optimizer="adam")
    assert Nearest().with_settings({"substitute": True}) == Nearest(substitute=True)
    with pytest.raises(DaxyError, match="hiden"):
        network.with_settings({"hiden": 8})
