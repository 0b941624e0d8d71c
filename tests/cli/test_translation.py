"""English and French from the command line: a word of one's own, from data to pictures."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from daxy import papers
from daxy.reproduction.ledger import Ledger
from daxy.training.protocols import protocol

pytestmark = pytest.mark.usefixtures("one_shape")

WHO = ("I am", "I'm", "You are", "He is", "She's", "They're")
WHAT = {"ill": "malade", "calm": "calme", "here": "ici", "tired": "fatigué", "old": "vieux"}
FRENCH = ("Je suis", "Je suis", "Tu es", "Il est", "Elle est", "Ils sont")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of Tatoeba's sentences, all of them ours."""
    path = tmp_path_factory.mktemp("tatoeba") / "fra.txt"
    lines = [
        f"{who} {english}.\t{said} {french}.\tnobody's\r\n"
        for who, said in zip(WHO, FRENCH, strict=True)
        for english, french in WHAT.items()
    ]
    path.write_bytes("".join(lines).encode())
    return path


@pytest.fixture(scope="module")
def flags(pairs: Path) -> list[str]:
    return ["--pairs", str(pairs), "--word", "wug=wugue", "--repetitions", "10",
            "--test-fraction", "0.2"]  # fmt: skip


LIMIT = protocol("bastings2018").max_decode_length
NETWORKS = (
    ("translation/daxy", "seq2seq", ["--hidden", "6", "--embedding", "4"]),
    ("translation/daxy_fr_en", "stacked", ["--hidden", "6", "--attention"]),
)


@pytest.mark.parametrize(("task", "model", "shape"), NETWORKS)
def test_a_user_s_word_is_learned_scored_and_shown(
    task: str, model: str, shape: list[str], flags: list[str], tmp_path: Path, daxy: Callable
) -> None:
    answer = daxy("train", task, model, *flags, *shape, "--epochs", "2", "--batch-size", "8",
                  "--runs", str(tmp_path / "runs"), "--json")  # fmt: skip
    assert answer.code == 0, answer.err
    (run,) = answer.json["runs"]
    assert set(run["tests"]) == {"sentences", "new_word", "control"}
    assert set(run["tests"]["new_word"]) == {"bleu", "exact", "accepted"}

    looked = ("show", task, *flags, "--run", run["folder"])
    (alone,) = daxy(*looked, "--example", "new_word:1", "--json").json["examples"]
    assert "wug" in f"{alone['source']} {alone['target']}"
    assert alone["source_tokens"] == [*alone["source"].split(), "</s>"]
    said = alone["prediction"].split()
    # Of what is as long as an output can be the end never came.
    assert alone["output_tokens"] == [*said, "</s>"][:LIMIT]
    assert len(alone["attention"]) == len(alone["output_tokens"])
    for row in alone["attention"]:
        assert len(row) == len(alone["source_tokens"])
        assert sum(row) == pytest.approx(1, abs=1e-3)
    picture = tmp_path / "attention.svg"
    drawn = daxy(*looked, "--example", "new_word", "--draw", str(picture))
    assert drawn.code == 0, drawn.err
    assert picture.read_text().count("wug") >= 8
    assert daxy(*looked, "--example", "control:2").out.count("prediction:") == 1

    missed = daxy("show", task, "--word", "wug=wugue", "--run", run["folder"])
    assert "expected --pairs FILE --test-fraction 0.2 --repetitions 10" in missed.err
    grounded = daxy("analyse", "by_length", run["folder"], "--test", "new_word")
    assert "was trained on files of one's own, and no others can stand for them" in grounded.err

    found = daxy("analyse", "constructions", run["folder"], "--json").json
    groups = {row["group"] for row in found["rows"]}
    assert groups == {f"{word}, {metric}" for word in ("wug=wugue", "tired")
                      for metric in ("exact", "accepted")}  # fmt: skip
    means = {(row["group"], row["name"]): row["mean"] for row in found["rows"]}
    assert means["wug=wugue, exact", "all"] == 100 * run["tests"]["new_word"]["exact"]
    assert means["tired, accepted", "all"] == 100 * run["tests"]["control"]["accepted"]


def test_a_network_without_attention_has_no_picture(
    flags: list[str], tmp_path: Path, daxy: Callable
) -> None:
    answer = daxy("train", "translation/daxy", *flags, "--hidden", "6", "--no-attention",
                  "--epochs", "1", "--runs", str(tmp_path), "--json")  # fmt: skip
    folder = answer.json["runs"][0]["folder"]
    refused = daxy("show", "translation/daxy", *flags, "--run", folder)
    expected = "this network has neither a memory nor attention"
    assert (refused.code, expected in refused.err) == (2, True)
    other = daxy("show", "translation/daxy", *flags, "--validation", "none", "--run", folder)
    assert other.code == 2
    assert "run on another choice of translation/daxy's data; expected --validation draw" in (
        other.err
    )


def test_show_prints_the_counts_of_the_paper(flags: list[str], daxy: Callable) -> None:
    answer = daxy("show", "translation/daxy", *flags)
    assert answer.code == 0, answer.err
    for said in ("you are wug . -> tu es wugue .", "sentences with tired", "you are very X"):
        assert said in answer.out


def test_a_score_shows_its_signature(flags: list[str], tmp_path: Path, daxy: Callable) -> None:
    path, given = tmp_path / "test.jsonl", tmp_path / "p.jsonl"
    daxy("export", "translation/daxy", *flags, "--split", "test", "--out", str(path))
    rows = map(json.loads, path.read_text().splitlines())
    lines = [json.dumps({"key": row["key"], "prediction": row["target"]}) for row in rows]
    given.write_text("\n".join(lines))
    request = ("score", "translation/daxy", *flags, "--predictions", str(given))
    signatures = daxy(*request, "--json").json["signatures"]
    assert set(signatures) == {"bleu"}
    assert f"bleu 100.0% ({signatures['bleu']})" in " ".join(daxy(*request).out.split())


def test_exported_tsv_is_read_as_pairs(flags: list[str], tmp_path: Path, daxy: Callable) -> None:
    out = tmp_path / "train.tsv"
    assert daxy("export", "translation/daxy", *flags, "--out", str(out)).code == 0
    again = ["--pairs", str(out), "--word", "dax=daxe", "--test-fraction", "0.2"]
    assert daxy("show", "translation/daxy", *again, "--json").code == 0


def test_interpret_translates(daxy: Callable) -> None:
    answer = daxy("interpret", "copular", "She isn't very tired.")
    assert answer.out == (
        "not\n  very\n    tired\n      she/elle (a woman)\n\n"
        "1 translation:\nelle n est pas tres fatiguee .\n"
    )
    found = daxy("interpret", "copular", "Vous êtes fatigués.", "--json").json
    assert found["language"] == "french"
    assert found["translations"] == ["you are tired .", "you re tired ."]


def test_a_table_on_the_released_selection_asks_for_it(tmp_path: Path, daxy: Callable) -> None:
    asked = ("reproduce", "bastings2018/table9", "--runs", str(tmp_path / "runs"),
             "--results", str(tmp_path / "results"))  # fmt: skip
    refused = daxy(*asked)
    assert (refused.code, "expected --official DIR" in refused.err) == (2, True)


@pytest.mark.official
def test_a_table_whose_runs_are_all_measured_needs_no_files(
    tmp_path: Path, daxy: Callable, entry_for: Callable
) -> None:
    table = papers.table("lake2018/translation")
    cells = [cell for cell in table.cells if cell.row == "with daxy"]
    scores = {"bleu": 0.3, "exact": 0.5}
    tests = {each.recipe.test: scores for each in cells if each.recipe is not None}
    entries = [entry_for(cells[0], 0.3, seed, tests=tests) for seed in range(2)]
    Ledger(tmp_path).add(table, entries)
    request = ("reproduce", table.path, "--row", "with daxy", "--results", str(tmp_path))
    answer = daxy(*request, "--seeds", "2", "--dry-run")
    assert answer.code == 0, answer.err
    assert answer.out.endswith("3 cells; runs: 2 in results, 0 finished, 0 to train\n")


def test_a_table_is_planned_on_the_released_selection(
    translation_archive: Path, tmp_path: Path, daxy: Callable
) -> None:
    nothing = ("--runs", str(tmp_path / "runs"), "--results", str(tmp_path / "results"))
    official = ("--official", str(translation_archive), *nothing, "--dry-run", "--no-estimate")
    planned = daxy("reproduce", "bastings2018/table9", *official, "--json").json["plan"]
    assert {tuple(step["missing"]) for step in planned} == {(0, 1, 2)}
    swept = daxy("sweep", "lake2018/translation", *official)
    assert swept.code == 0, swept.err
