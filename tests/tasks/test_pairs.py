"""Pairs of one's own: the task, its options, and the function of the same name."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import daxy
from daxy.core.errors import DaxyError, RunFailed, WrongRequest
from daxy.core.examples import Examples
from daxy.core.split import Split
from daxy.learners.nearest import Nearest
from daxy.runs.folder import RunFolder
from daxy.runs.run import Run, data_of
from daxy.tasks._pairs_options import PairsOptions
from daxy.training.config import TrainingConfig

TRAIN = [("walk", "W"), ("walk twice", "W W"), ("jump", "J")] * 10
TEST = [("jump twice", "J J"), ("walk", "W")]
NEAREST = Nearest()
SMALL: dict[str, Any] = {
    "config": {"hidden": 4, "embedding": 4},
    "training": TrainingConfig().with_settings(epochs=1, max_decode_length=8),
}


def write(path: Path, pairs: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    return path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    parts = {"train": TRAIN, "validation": TRAIN[:3], "test": TEST, "other": TRAIN[1:2]}
    return {name: write(tmp_path / f"{name}.tsv", pairs) for name, pairs in parts.items()}


def test_files_of_parts_are_a_split(files: dict[str, Path]) -> None:
    split = daxy.pairs(files["train"], files["test"], validation=files["validation"])
    assert {name: len(part) for name, part in split.parts.items()} == {
        "train": 30,
        "validation": 3,
        "test": 2,
    }
    assert split.train[1].target == ("W", "W")


def test_several_tests_have_their_names(files: dict[str, Path]) -> None:
    data = PairsOptions(
        train=files["train"], test=(f"new={files['test']}", f"known={files['other']}")
    )
    split = data.load("pairs")
    assert {name: len(part) for name, part in split.named.items()} == {
        "train": 30,
        "validation": 0,
        "new": 2,
        "known": 1,
    }


def test_the_name_of_a_run_depends_on_content_and_not_on_the_file(
    files: dict[str, Path], tmp_path: Path
) -> None:
    def name(train: Path, *tests: str) -> str:
        data = PairsOptions(train=train, test=tests)
        return Run(task="pairs", learner=NEAREST, data=data, seed=0).name

    first = name(files["train"], str(files["test"]))
    copy = write(tmp_path / "copy.txt", TRAIN)
    changed = write(tmp_path / "changed.tsv", TRAIN[1:])
    assert name(copy, f"test={files['test']}") == first
    assert name(changed, str(files["test"])) != first
    both = f"{files['test']}", f"b={files['other']}"
    assert name(files["train"], *both) != name(files["train"], f"a={files['test']}", both[1])


def test_a_run_finds_its_files_again(files: dict[str, Path]) -> None:
    data = PairsOptions(
        train=files["train"], test=(str(files["test"]),), validation=str(files["validation"])
    )
    run = Run(task="pairs", learner=NEAREST, data=data, seed=0)
    again = data_of(run.config, data.located)
    assert again.load("pairs").provenance.checksum == run.split.provenance.checksum


MEMORY: dict[str, Callable[[], Split]] = {
    "lists": lambda: daxy.pairs(TRAIN, TEST),
    "tokens": lambda: daxy.pairs(
        *([(source.split(), target.split()) for source, target in it] for it in (TRAIN, TEST))
    ),
    "objects": lambda: daxy.pairs(
        *([{"input": source, "output": target} for source, target in it] for it in (TRAIN, TEST))
    ),
    "columns": lambda: daxy.pairs(
        *(
            dict(zip(("source", "target"), zip(*it, strict=True), strict=True))
            for it in (TRAIN, TEST)
        )
    ),
    "examples": lambda: daxy.pairs(Examples.of(TRAIN), Examples.of(TEST)),
    "parts": lambda: daxy.pairs({"train": TRAIN, "test": TEST}),
}


@pytest.mark.parametrize("kind", MEMORY)
def test_pairs_in_memory_are_those_of_files(kind: str, files: dict[str, Path]) -> None:
    wanted = daxy.pairs(files["train"], files["test"]).provenance.checksum
    assert MEMORY[kind]().provenance.checksum == wanted


@pytest.mark.parametrize("library", ["pandas", "datasets"])
def test_tables_of_other_libraries_are_those_of_files(
    library: str, files: dict[str, Path], tmp_path: Path
) -> None:
    module = pytest.importorskip(library)
    rows = [{"source": source, "target": target} for source, target in TRAIN]
    tests = [{"source": source, "target": target} for source, target in TEST]
    if library == "pandas":
        tables = {"train": module.DataFrame(rows), "test": module.DataFrame(tests)}
    else:
        tables = module.DatasetDict(
            train=module.Dataset.from_list(rows), test=module.Dataset.from_list(tests)
        )
    wanted = daxy.pairs(files["train"], files["test"]).provenance.checksum
    assert daxy.pairs(tables).provenance.checksum == wanted
    assert daxy.pairs(tables["train"], tables["test"]).provenance.checksum == wanted
    if library == "datasets":
        module.DatasetDict(tables).save_to_disk(str(tmp_path / "saved"))
        assert daxy.pairs(tmp_path / "saved").provenance.checksum == wanted


WRONG: dict[str, tuple[Callable[[], Split], str]] = {
    "no test": (lambda: daxy.pairs(TRAIN), "no test; expected --test FILE"),
    "nothing": (lambda: daxy.pairs([], TEST), "no pair|no column"),
    "three sides": (lambda: daxy.pairs([("a", "b", "c")], TEST), "expected pairs of a source"),
    "no sides": (lambda: daxy.pairs([("a",)], TEST), "expected pairs of a source"),
    "numbers": (lambda: daxy.pairs([(1, 2)], TEST), "train: column 'source' is int64"),
    "texts for pairs": (lambda: daxy.pairs(["ab", "cd"], TEST), "expected pairs of a source"),
    "pairs without an order": (lambda: daxy.pairs(set(TRAIN), TEST), "expected pairs of a source"),
    "a path as a name": (lambda: daxy.pairs(TRAIN, {"../a": TEST}), "a part is named '../a'"),
    "a part as a test": (lambda: daxy.pairs(TRAIN, {"dev": TEST}), "cannot be named 'dev'"),
    "two spellings": (
        lambda: daxy.pairs([("\xe9", "x")], [("e\u0301", "x")]),
        r"written in two ways, '\\xe9' and 'e\\u0301'|written in two ways, 'e\\u0301'",
    ),
    "a wrong option": (lambda: daxy.pairs(TRAIN, TEST, tokens="bytes"), "tokens must be one of"),  # pyright: ignore
    "an unknown option": (lambda: daxy.pairs(TRAIN, TEST, token="words"), "tokens"),  # pyright: ignore
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_pairs_are_refused(case: str) -> None:
    ask, message = WRONG[case]
    with pytest.raises(DaxyError, match=message):
        ask()


def test_spellings_are_normalized_on_request() -> None:
    split = daxy.pairs([("\xe9", "x")], [("e\u0301", "x")], normalize_unicode=True)
    assert split.test.source[0] == split.train.source[0] == ("\xe9",)


@pytest.mark.usefixtures("one_shape")
def test_a_split_is_trained_on_and_scored(tmp_path: Path) -> None:
    split = daxy.pairs(TRAIN, {"new": TEST[:1], "known": TEST[1:]})
    trained = daxy.train(split, runs=tmp_path, **SMALL)
    again = daxy.train(split, runs=tmp_path, **SMALL)
    assert again.folders == trained.folders
    assert set(trained.folders[0].scores()["tests"]) == {"new", "known"}
    assert daxy.score(split, ["J J", "W"]).accuracy == 1
    with pytest.raises(WrongRequest, match="leave out data"):
        daxy.train(split, data=PairsOptions(), runs=tmp_path)


def test_a_generated_split_is_its_task(tmp_path: Path) -> None:
    split = daxy.load("scan/addprim_turn_left", validation="draw")
    data = daxy.data("scan/addprim_turn_left", validation="draw")
    first = daxy.train(split, "nearest", runs=tmp_path)
    assert (
        first.folders
        == daxy.train(split.provenance.task, "nearest", data=data, runs=tmp_path).folders
    )


def validated(folder: RunFolder) -> tuple[str, float | None]:
    return str(folder.config().data["validation"]), folder.scores()["validation"]


def test_a_validation_part_of_the_files_is_used_in_training(tmp_path: Path) -> None:
    parts = {"train": TRAIN, "validation": TRAIN[:3], "test": TEST}
    (tmp_path / "data").mkdir()
    for name, pairs in parts.items():
        write(tmp_path / "data" / f"{name}.tsv", pairs)
    data = PairsOptions(train=tmp_path / "data")
    (run,) = daxy.train("pairs", "nearest", data=data, runs=tmp_path).folders
    assert validated(run) == ("auto", 1)
    assert len(Run.of(run.config(), run.environment()["files"]).split.train) == len(TRAIN)
    split = daxy.pairs(TRAIN, TEST, validation=TRAIN[:3])
    assert daxy.train(split, "nearest", runs=tmp_path).folders == (run,)
    none = daxy.pairs(TRAIN, TEST, validation="none")
    assert validated(daxy.train(none, "nearest", runs=tmp_path).folders[0]) == ("none", None)
    drawn = daxy.train(daxy.pairs(TRAIN, TEST), "nearest", runs=tmp_path).folders[0]
    assert len(TRAIN) - len(Run.of(drawn.config(), drawn.environment()["files"]).split.train) > 0


@pytest.mark.slow
@pytest.mark.usefixtures("one_shape")
def test_a_split_of_scan_as_files_gives_the_same_weights(tmp_path: Path) -> None:
    data = daxy.data("scan/addprim_turn_left", validation="draw")
    split = data.load("scan/addprim_turn_left")
    places = {
        name: write(tmp_path / f"{name}.tsv", [each.texts for each in part])
        for name, part in split.parts.items()
    }
    options = PairsOptions(
        train=places["train"],
        test=(str(places["test"]),),
        validation=str(places["validation"]),
    )
    task, own = (
        daxy.train(name, data=chosen, runs=tmp_path / "runs", **SMALL).folders[0].path
        for name, chosen in (("scan/addprim_turn_left", data), ("pairs", options))
    )
    (weights,) = (path.name for path in task.glob("*.safetensors"))
    assert (task / weights).read_bytes() == (own / weights).read_bytes()


def test_sources_with_several_targets_are_said() -> None:
    split = daxy.pairs([("a", "x"), ("a", "y"), ("b", "x")], [("c", "x")])
    statistics = daxy.tasks.get("pairs").statistics(split)
    assert statistics["training sources with several targets"] == 0.5


def test_seeds_on_other_data_of_one_version_are_not_averaged(tmp_path: Path) -> None:
    split = daxy.pairs(TRAIN, TEST)
    (first,) = daxy.train(split, "nearest", runs=tmp_path).folders
    environment = first.environment()
    first.begin(first.config(), {**environment, "checksum": "of other data"})
    digests = json.loads((first.path / "done").read_text())
    changed = hashlib.blake2b((first.path / "environment.json").read_bytes(), digest_size=16)
    digests["environment.json"] = changed.hexdigest()
    (first.path / "done").write_text(json.dumps(digests))
    with pytest.raises(RunFailed, match="is a run on other data than"):
        daxy.train(split, "nearest", seeds=2, runs=tmp_path)
