"""`--config FILE`: flags from a TOML file or from a run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from daxy.cli._config_file import Configured, expanded
from daxy.cli._parse import resolve
from daxy.cli.reproduce import Reproduce
from daxy.cli.sweep import Sweep
from daxy.cli.train import Train

FILE = """
task = "scan/length"
learner = "seq2seq"
seeds = 2
oversample = false

[network]
hidden = 32
attention = false

[training]
optimizer = "adam"
learning-rate = 1e-3
betas = [0.9, 0.98]
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "experiment.toml"
    file.write_text(FILE)
    return str(file)


WORDS = [
    ("--seeds=2", "--no-oversample", "--hidden=32", "--no-attention", "--optimizer=adam"),
    ("--learning-rate=0.001", "--betas", "0.9", "0.98"),
]


def test_a_file_has_task_learner_and_flags(path: str) -> None:
    words = expanded(Train, ["--config", path])
    assert words == ["scan/length", "seq2seq", *WORDS[0], *WORDS[1]]
    assert not list(resolve(Train, words).problems())


@pytest.mark.parametrize(
    ("words", "missing", "names"),
    [
        (["--hidden", "64"], "--hidden=32", ["scan/length", "seq2seq"]),
        (["--attention"], "--no-attention", ["scan/length", "seq2seq"]),
        (["scan/simple"], "", ["scan/simple", "seq2seq"]),
        (["scan/simple", "luong", "--hidden=64"], "--hidden=32", ["scan/simple", "luong"]),
    ],
)
def test_the_command_line_comes_first(
    words: list[str], missing: str, names: list[str], path: str, tmp_path: Path
) -> None:
    Path(path).write_text(FILE.replace("attention = false\n", "") if "luong" in words else FILE)
    found = expanded(Train, [*words, "--config", path])
    assert missing not in found
    assert resolve(Train, found).free == names


def test_a_file_can_have_a_grid(path: str) -> None:
    Path(path).write_text(f"{FILE}\n[grid]\nhidden = [32, 64]\ncell = 'gru'\n")
    found = expanded(Sweep, ["--config", path])
    assert found[-3:] == ["--grid", "hidden=32,64", "cell=gru"]


@pytest.mark.parametrize("verb", [Reproduce, Sweep])
def test_a_file_can_have_a_table(verb: type[Configured], path: str) -> None:
    Path(path).write_text("table = 'lake2018/grid'\nrow = ['lstm']\nseeds = 3\n")
    words = expanded(verb, ["--config", path, "--seeds", "1"])
    assert words == ["lake2018/grid", "--seeds", "1", "--row=lstm"]
    assert expanded(verb, ["bastings2018/table1", "--config", path])[0] == "bastings2018/table1"


@pytest.mark.parametrize(
    ("verb", "content", "message"),
    [
        ("train", "table = 'lake2018/grid'", "has table; expected task and learner"),
        ("reproduce", "task = 'scan/length'", "has task; expected table"),
        ("sweep", "task = 'a'\ntable = 'b'", "has task and table; expected table, or task and"),
    ],
)
def test_a_file_for_another_verb_is_refused(
    verb: str, content: str, message: str, daxy: Callable[..., Any], path: str
) -> None:
    Path(path).write_text(content)
    assert message in daxy(verb, "--config", path).err


@pytest.mark.slow
@pytest.mark.usefixtures("one_shape")
def test_a_run_is_the_configuration_of_itself(
    daxy: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.tsv").write_text("walk\tW\njump twice\tJ J\n" * 10)
    Path("test.tsv").write_text("walk twice\tW W\n")
    request = ("train", "pairs", "--train", "train.tsv", "--test", "new=test.tsv", "--hidden", "4")
    flags = ("--embedding", "4", "--epochs", "1", "--first-seed", "3", "--optimizer", "adam")
    (run,) = daxy(*request, *flags, "--json").json["runs"]
    for given in (run["folder"], f"{run['folder']}/config.json"):
        (again,) = daxy("train", "--config", given, "--json").json["runs"]
        assert again["digest"] == run["digest"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hiden = 3", "no flag named '--hiden'; did you mean --hidden?"),
        ("hidden = ", "is no TOML"),
        ("hidden = 'x'", "wrong value for --hidden: 'x'"),
        (None, "no such file"),
    ],
)
def test_wrong_files_are_refused(
    content: str | None, message: str, daxy: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "wrong.toml"
    if content is not None:
        file.write_text(content)
    answer = daxy("train", "scan/length", "--config", str(file))
    assert answer.code == 2
    assert message in answer.err


def test_a_missing_or_second_file_is_refused(daxy: Callable[..., Any], path: str) -> None:
    assert "missing: a value after --config" in daxy("train", "--config").err
    assert "--config is given twice" in daxy("train", "--config", path, "--config", path).err
