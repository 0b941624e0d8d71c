import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import daxy as daxy_package
from daxy import learners, models
from daxy.cli import demo
from daxy.runs.folder import RESULTS
from daxy.training.protocols import PROTOCOLS

pytestmark = pytest.mark.usefixtures("one_shape")

TINY = ("--hidden", "8", "--embedding", "4", "--epochs", "2", "--max-decode-length", "8")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


def train(daxy: Callable, runs: Path, *more: str, seeds: int = 2):
    flags = (*TINY, "--seeds", str(seeds), "--runs", str(runs), *more)
    return daxy("train", "scan/simple_p1", "seq2seq", *flags)


def test_train_makes_a_run_folder_a_seed_and_scores_every_test_example(
    daxy: Callable, runs: Path
) -> None:
    answer = train(daxy, runs, "--json")
    assert answer.code == 0
    assert [run["seed"] for run in answer.json["runs"]] == [0, 1]
    for run in answer.json["runs"]:
        folder = Path(run["folder"])
        assert {path.name for path in folder.iterdir()} == {
            *RESULTS,
            "model.safetensors",
            "log.jsonl",
            "done",
        }
        assert run["test_examples"] == 20_910 - 209
        assert len((folder / "log.jsonl").read_text().splitlines()) == 2
    assert "epoch 2/2" in answer.err
    outputs = 2 * (20_701 + len(daxy_package.load("scan/simple_p1", validation="draw").validation))
    assert f"scoring: {outputs:,} outputs" in answer.err


def test_a_note_names_the_protocol_of_the_network(daxy: Callable, tmp_path: Path) -> None:
    request = ("train", "scan/simple_p1", "stacked", "--hidden", "4", "--epochs", "1",
               "--max-decode-length", "8", "--runs", str(tmp_path))  # fmt: skip
    note = "note: stacked was published with another protocol, --protocol lake2018; this is the def"
    assert note in daxy(*request).err
    again = daxy(*request, "--protocol", "bastings2018")
    assert (again.code, "note: stacked" in again.err) == (0, False)


def test_the_protocol_of_every_architecture_exists(daxy: Callable) -> None:
    own = {getattr(models.get(name), "PROTOCOL", None) for name in models.available()}
    assert own - {None} <= set(PROTOCOLS)
    assert "note:" not in daxy("train", "--help").err


def test_help_lists_every_protocol(daxy: Callable) -> None:
    shown = "".join(daxy("train", "scan/simple_p1", "--help").out.split())
    assert f"--protocol{{{','.join(PROTOCOLS)}}}" in shown


def test_the_same_command_reuses_finished_runs(daxy: Callable, runs: Path) -> None:
    first = train(daxy, runs, "--json")
    again = train(daxy, runs, "--json")
    assert again.json == first.json
    assert "training" not in again.err


def test_train_prints_a_table_with_the_folders(daxy: Callable, runs: Path) -> None:
    answer = train(daxy, runs)
    assert "test exact" in answer.out
    assert "(2 seeds, 20,701 test examples)" in answer.out
    assert all(path.name in answer.out for path in runs.iterdir())


def test_an_analysis_names_its_picture(daxy: Callable, runs: Path, tmp_path: Path) -> None:
    answer = train(daxy, runs, "--json", seeds=1)
    picture = tmp_path / "a.png"
    request = ("analyse", "by_length", answer.json["runs"][0]["folder"])
    assert "out" not in daxy(*request, "--json").json
    assert daxy(*request, "--draw", str(picture), "--json").json["out"] == str(picture)
    drawn = daxy(*request, "--draw", str(picture), "--force")
    assert drawn.out.splitlines()[-1].startswith(f"{picture}: ")


def tried(daxy: Callable, runs: Path, *more: str):
    """Train two small networks for a moment."""
    sizes = ("--hidden", "6", "--memory-width", "4", "--embedding", "4", "--batch-size", "4")
    lengths = (
        "--min-length",
        "2",
        "--max-length",
        "4",
        "--test-min-length",
        "5",
        "--test-max-length",
        "6",
    )
    pairs = (
        "--train-pairs",
        "40",
        "--validation-pairs",
        "5",
        "--test-pairs",
        "5",
        "--symbols",
        "5",
    )
    steps = ("--protocol", "grefenstette2015", "--steps", "12", "--eval-every", "6")
    flags = (*sizes, *lengths, *pairs, *steps, "--max-decode-length", "8", "--runs", str(runs))
    return daxy("train", "transduction/copy", "transducer", *flags, "--seeds", "2", *more)


def test_one_of_several_learning_rates_is_selected_and_all_are_shown(
    daxy: Callable, tmp_path: Path
) -> None:
    rates = ("--learning-rates", "1e-9", "0.01", "1e38")
    answer = tried(daxy, tmp_path, *rates, "--json")
    assert (answer.code, answer.json["selected"]) == (0, 0.01)
    assert answer.json["selected_by"] == "lowest training perplexity"
    each = {rate["learning_rate"]: rate["runs"] for rate in answer.json["learning_rates"]}
    assert {rate: len(found) for rate, found in each.items()} == {1e-9: 2, 0.01: 2, 1e38: 0}
    assert answer.json["runs"] == each[0.01]
    assert answer.json["learner"]["training"]["optimizer"]["learning_rate"] == 0.01
    said = tried(daxy, tmp_path, "--learning-rates", "1e-9", "0.01").out
    assert "selected   0.01, by lowest training perplexity" in said
    for run in (*each[1e-9], *each[0.01]):
        assert f"{run['perplexity']:.4g}" in said


def test_tied_learning_rates_are_named(daxy: Callable, tmp_path: Path) -> None:
    """Nobody has anything right after so few updates."""
    answer = tried(daxy, tmp_path, "--learning-rates", "0.02", "0.01", "--select", "best")
    said = "selected   0.02, by best mean score on the validation set; as good: 0.01\n"
    assert said in answer.out


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (
            ("--learning-rates", "0.1", "--learning-rate=0.2"),
            "all learning rates; leave out --learning-",
        ),
        (("--learning-rates",), "missing: a value after --learning-rates"),
    ],
)
def test_missing_or_contradictory_learning_rates_are_refused(
    flags: tuple[str, ...], said: str, daxy: Callable, tmp_path: Path
) -> None:
    answer = tried(daxy, tmp_path, *flags)
    assert (answer.code, [*tmp_path.iterdir()]) == (2, [])
    assert said in answer.err


def test_other_settings_are_other_runs(daxy: Callable, runs: Path) -> None:
    before = len(list(runs.iterdir()))
    first = train(daxy, runs, "--json").json["runs"][0]["digest"]
    other = train(daxy, runs, "--json", "--learning-rate", "0.1").json["runs"][0]["digest"]
    assert first != other
    assert len(list(runs.iterdir())) == before + 2


def test_a_folder_may_be_named_like_a_network(
    daxy: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = daxy("train", "scan/simple_p1", "--runs", "luong", "--help").out
    assert shown == daxy("train", "scan/simple_p1", "--help").out
    assert shown != daxy("train", "scan/simple_p1", "--json", "luong", "--help").out
    other = daxy("train", "scan/simple_p1", "--attention", "luong")
    wrong = "daxy: no flag '--attention'; see `daxy train scan/simple_p1 luong --help`\n"
    assert (other.code, other.err) == (2, wrong)


def test_the_protocol_of_lake_and_baroni_draws_and_keeps_the_last_weights(
    daxy: Callable, tmp_path: Path
) -> None:
    network = ("--hidden", "8", "--layers", "2", "--cell", "gru", "--attention")
    recipe = ("--protocol", "lake2018", "--samples", "1100", "--max-decode-length", "8")
    asked = ("scan/simple_p1", "stacked", *network, *recipe, "--runs", str(tmp_path))
    answer = daxy("train", *asked, "--json")
    assert answer.code == 0
    assert answer.json["data"]["validation"] == "none"
    (run,) = answer.json["runs"]
    assert run["validation"] is None
    lines = (Path(run["folder"]) / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["steps"] for line in lines] == [1000, 1100]
    first, last = (json.loads(line)["loss"] for line in lines)
    assert last < first


def test_predictions_of_a_run_get_the_score_that_the_run_reports(
    daxy: Callable, runs: Path
) -> None:
    run = train(daxy, runs, "--json").json["runs"][0]
    file = Path(run["folder"]) / "predictions.parquet"
    scored = daxy("score", "scan/simple_p1", "--predictions", str(file), "--json").json
    assert scored["accuracy"] == run["test"]["exact"]


def test_train_shows_published_scores(
    daxy: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from daxy import papers

    cell = papers.table("bastings2018/table4").cell("GRU +Attn", "length")
    monkeypatch.setattr("daxy.reproduction.published.of_learner", lambda *_: [cell])
    answer = train(daxy, tmp_path, seeds=1)
    assert "published  18.1 ±1.1 (bastings2018/table4, GRU +Attn, length)" in answer.out


def test_learners_are_listed_and_shown(daxy: Callable) -> None:
    assert daxy("learners", "--json").json["learners"].keys() == {*learners.available()}
    card = daxy("learners", "seq2seq", "--json").json
    assert card["config"]["hidden"] == 256
    assert "Bastings" in card["description"]


@pytest.mark.parametrize("model", learners.available())
def test_the_card_of_a_learner_describes_each_setting(model: str, daxy: Callable) -> None:
    card = daxy("learners", model, "--json").json
    assert card["descriptions"].keys() == card["config"].keys()
    shown = " ".join(daxy("learners", model).out.split())
    for field, meaning in card["descriptions"].items():
        assert field.replace("_", "-") in shown
        assert meaning in shown


def test_the_demo_shows_scores_and_wrong_answers(
    daxy: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "SMALL", {"hidden": 8, "embedding": 4})
    brief = {
        "batch_size": 8,
        "samples": 64,
        "eval_every": 8,
        "validation_examples": 8,
        "max_decode_length": 4,
    }
    monkeypatch.setattr(demo, "BRIEF", demo.BRIEF | brief)
    command = ["demo", "--runs", str(tmp_path), "--nacs"]
    answer = daxy(*command)
    assert answer.code == 0
    for printed in ("12.5 ±6.6", "99.8 ±0.1", "What to try next"):
        assert printed in answer.out
    shown = daxy(*command, "--json").json
    for picture in shown["pictures"]:
        assert Path(picture).read_bytes().startswith(b"\x89PNG")
    # As `runs/*`, with the picture beside the runs.
    page = tmp_path / "report.html"
    reported = daxy("report", *map(str, sorted(tmp_path.iterdir())), "--out", str(page))
    assert reported.code == 0, reported.err
    assert f"note: {tmp_path / 'demo.png'} is a file, not the folder of a run" in reported.err
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    page.unlink()
    for benchmark in ("scan", "nacs"):
        simple, jump, part = (row for row in shown["rows"] if row["task"].startswith(benchmark))
        assert (simple["examples"], jump["examples"]) == (4182, 7706)
        # `jump twice` alone, and joined with each of 102 simple commands, before or after it.
        assert part["examples"] == 1 + 2 * (2 * 102 - 1)
        task = f"{benchmark}/addprim_jump"
        known, wrong = shown["answers"][task][:2], shown["answers"][task][2:]
        sides = ("source", "target") if benchmark == "scan" else ("target", "source")
        assert [" ".join(each[sides[0]]) for each in known] == ["jump", "walk twice"]
        assert [" ".join(each[sides[1]]) for each in known] == ["I_JUMP", "I_WALK I_WALK"]
        assert len(wrong) == 3
        assert all(each["prediction"] != each["target"] for each in wrong)


def test_a_device_that_jax_does_not_know_is_a_wrong_request(tmp_path: Path) -> None:
    words = "train scan/simple_p1 --hidden 4 --embedding 4 --epochs 1 --runs".split()
    answer = subprocess.run(
        [sys.executable, "-m", "daxy", *words, str(tmp_path / "runs")],
        env={**os.environ, "JAX_PLATFORMS": "nonsense"},
        check=False,
        capture_output=True,
        text=True,
    )
    said = answer.stderr.splitlines()[-1]
    assert said.startswith("daxy: JAX cannot use 'nonsense', which JAX_PLATFORMS asks for: ")
    assert said.endswith("or unset it")
    assert answer.returncode == 2
    assert not (tmp_path / "runs").exists()
