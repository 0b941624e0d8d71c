"""Files of one's own that a benchmark's rules check; tests/laws has what holds for each of them."""

import json
from pathlib import Path
from typing import Any

import pytest

import daxy
from daxy import tasks
from daxy.core.errors import WrongFile
from daxy.core.examples import Sequences
from daxy.core.split import Split
from daxy.formats import jsonl
from daxy.formats.gscan_json import GscanJson
from daxy.learners.nearest import Nearest
from daxy.report.analyses.by_construction import ByConstruction
from daxy.runs.run import Run, data_of

TRAIN = (("jump twice", "I_JUMP I_JUMP"), ("walk", "I_WALK"), ("turn left", "I_TURN_LEFT"))
TEST = (("walk twice", "I_WALK I_WALK"), ("jump and walk", "I_JUMP I_WALK"))
WRONG = ("walk thrice", "I_WALK I_WALK")


def write(path: Path, *pairs: tuple[str, str], header: bool = False) -> Path:
    lines = [("command", "actions"), *pairs] if header else pairs
    path.write_text("".join(f"{source}\t{target}\n" for source, target in lines))
    return path


def test_wrong_lines_of_all_files_are_counted_and_the_first_ones_named(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", *TRAIN, WRONG, *TRAIN, *[WRONG] * 3, header=True)
    test = write(tmp_path / "test.tsv", TEST[0], ("walk backwards", "I_WALK"), WRONG)
    with pytest.raises(WrongFile) as refused:
        daxy.load("scan/files", train=train, test=test)
    assert str(refused.value) == (
        f"{train}:5: 'walk thrice' means I_WALK I_WALK I_WALK, not 'I_WALK I_WALK'"
        f" (and 5 other examples: {train}:9, {train}:10, {train}:11, {test}:2, ...)"
    )
    assert refused.value.line == 5
    with pytest.raises(WrongFile, match=f"{test}:2: .*'backwards'.* other example: {test}:3"):
        daxy.load("scan/files", train=write(train, *TRAIN), test=test)


def test_the_line_of_a_pair_does_not_depend_on_its_part(tmp_path: Path) -> None:
    parts = ("train", "test", "train", "test")
    rows = zip(parts, (*TRAIN, WRONG), strict=True)
    path = tmp_path / "all.jsonl"
    lines = [json.dumps({"split": it, "input": a, "output": b}) for it, (a, b) in rows]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(WrongFile, match=f"{path}:4: 'walk thrice' means"):
        daxy.load("scan/files", train=path)


def test_other_spellings_of_actions_are_read_and_said(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", *TRAIN, ("turn right", "RTURN"), ("jump", "JUMP"))
    test = write(tmp_path / "test.tsv", *TEST, ("turn opposite left", "TURN_LEFT LTURN"))
    split = daxy.load("scan/files", train=train, test=test)
    assert split.train.target[3] == ("I_TURN_RIGHT",)
    assert split.test.target[2] == ("I_TURN_LEFT",) * 2
    assert "; 3 examples in another spelling, as " in split.provenance.source
    swapped = [(target, source) for source, target in (*TRAIN, ("turn right", "RTURN"))]
    reversed_train = write(tmp_path / "nacs.tsv", *swapped)
    nacs = daxy.load("nacs/files", train=reversed_train, test=reversed_train)
    assert nacs.train.source[3] == ("I_TURN_RIGHT",)


def test_nacs_accepts_each_command_that_means_the_source(tmp_path: Path) -> None:
    swapped = [(target, source) for source, target in TRAIN]
    path = write(tmp_path / "nacs.tsv", *swapped)
    split = daxy.load("nacs/files", train=path, test=path)
    predictions = Sequences.of([("jump", "and", "jump"), ("walk",), ("turn", "right")])
    totals = tasks.get("nacs/files").totals(split.test, predictions)
    assert totals["back_mapping"] == pytest.approx(2 / 3)


def files(folder: Path) -> dict[str, Any]:
    train, test = write(folder / "train.tsv", *TRAIN), write(folder / "test.tsv", *TEST)
    return {"train": train, "test": (f"new={test}", f"known={train}")}


def test_a_run_is_named_by_content_and_finds_its_files_again(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    kind = tasks.get("scan/files").options
    one, other = (kind(**files(folder)) for folder in (tmp_path, tmp_path / "copy"))
    runs = [Run(task="scan/files", learner=Nearest(), data=data, seed=0) for data in (one, other)]
    assert runs[0].name == runs[1].name
    again = data_of(runs[0].config, one.located)
    assert again.load("scan/files").provenance == one.load("scan/files").provenance


def test_a_split_of_files_is_trained_on_as_its_task_and_analysed(tmp_path: Path) -> None:
    train, known = write(tmp_path / "train.tsv", *TRAIN * 10), write(tmp_path / "known.tsv", *TRAIN)
    new = write(tmp_path / "test.tsv", *TEST)
    split = daxy.load("scan/files", train=train, test={"new": new, "known": known})
    (folder,) = daxy.train(split, "nearest", runs=tmp_path / "runs").folders
    assert folder.config().task == "scan/files"
    assert set(folder.scores()["tests"]) == {"new", "known"}
    rows = {row.name: row.examples for row in ByConstruction().run([folder]).rows}
    assert rows["twice"] == 2  # one of each test
    assert rows["and"] == 1


def test_training_examples_in_the_test_set_are_said(tmp_path: Path) -> None:
    path = write(tmp_path / "train.tsv", *TRAIN)
    split = daxy.load("scan/files", train=path, test=write(tmp_path / "test.tsv", *TEST, TRAIN[0]))
    facts = tasks.get("scan/files").statistics(split)
    assert facts["test examples that are in train too"] == pytest.approx(1 / 3)


@pytest.fixture(scope="module")
def worlds() -> Split:
    data = tasks.data("gscan/compositional", grid=4, resampling=1, kind="simple_trans", shots=0)
    return data.load("gscan/compositional")


def test_a_dataset_of_the_authors_generator_is_read_and_checked(
    worlds: Split, tmp_path: Path
) -> None:
    parts = {"train": worlds.train[:40], "validation": worlds.train[40:50], "A": worlds.test[:9]}
    path = tmp_path / "dataset.txt"
    GscanJson().write(path, parts, worlds.provenance)
    split = daxy.load("gscan/files", train=path)
    assert {name: part.keys for name, part in split.parts.items()} == {
        name: part.keys for name, part in zip(split.parts, parts.values(), strict=True)
    }
    value = json.loads(path.read_text())
    value["examples"]["dev"][3]["target_commands"] += ",walk"
    value["examples"]["train"][2]["referred_target"] = "red nothing"
    path.write_text(json.dumps(value))
    with pytest.raises(WrongFile, match=r"train\[2\]: .*other example: .*dataset.txt dev\[3\]"):
        daxy.load("gscan/files", train=path)


def test_examples_of_one_s_own_split_need_not_be_held_out(worlds: Split, tmp_path: Path) -> None:
    held_out = worlds.named["C"]
    path = tmp_path / "own.jsonl"
    path.write_text(jsonl.write({"train": held_out[:30], "red": worlds.named["A"][:20]}))
    split = daxy.load("gscan/files", train=path)
    assert split.train.keys == held_out[:30].keys
    assert not tasks.get("gscan/files").check(split.parts).wrong


def test_a_command_of_no_grammar_is_refused_with_its_example(worlds: Split, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    lines = jsonl.write({"train": worlds.train[:4], "test": worlds.train[:2]}).splitlines()
    lines[2] = lines[2].replace('"walk"', '"hop"', 1)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(WrongFile, match=r"own.jsonl: train\[2\]: not a command: '\[hop\] to"):
        daxy.load("gscan/files", train=path)
    checked = tasks.get("gscan/compositional").check(jsonl.read(path))
    assert [it.number for it in checked.wrong if "not a command" in it.problem] == [2]


def test_files_without_worlds_are_no_files_of_gscan(tmp_path: Path) -> None:
    with pytest.raises(WrongFile, match="the file has no worlds; expected JSON lines or Parquet"):
        daxy.load("gscan/files", train=write(tmp_path / "train.tsv", *TRAIN))
