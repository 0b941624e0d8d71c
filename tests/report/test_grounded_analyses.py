"""What analyses of gSCAN find in runs whose every prediction is known."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from daxy import papers, tasks
from daxy.core.errors import UnknownName, WrongRequest
from daxy.core.examples import Example, Examples, Sequences, Tokens
from daxy.core.files import write_bytes
from daxy.formats import gscan_json, predictions
from daxy.languages import grounded
from daxy.learners.neural import Neural
from daxy.papers import ruis2020
from daxy.report import analyses
from daxy.report.analyses.destinations import destinations
from daxy.report.analysis import AnalysisResult
from daxy.reproduction import plan as reproduction
from daxy.reproduction.trained import Trained
from daxy.runs.config import RunConfig, run_config
from daxy.runs.experiment import Experiment
from daxy.runs.folder import RunFolder
from daxy.tasks import DatasetOptions
from daxy.training.protocols import protocol
from daxy.worlds.grid import GridCell

pytestmark = pytest.mark.usefixtures("one_shape")

TASK = "gscan/compositional"
DATA = tasks.data(TASK, grid=4, resampling=1, kind="simple_trans", shots=0)
Does = Callable[[Example], Tokens]


def asked_of() -> Examples:
    test = tasks.get(TASK).split(DATA).test
    assert test.worlds is not None
    return test


def run(folder: Path, seed: int, does: Does, data: DatasetOptions = DATA) -> RunFolder:
    """Leave a finished run that does what a function does."""
    split, task = tasks.get(TASK).split(data), tasks.get(TASK)
    config = run_config(TASK, data, {"model": "multimodal", "config": {}, "training": {}}, seed)
    made = RunFolder(folder / config.name)
    made.begin(config, {"group": [config.name], "checksum": split.provenance.checksum})
    write_bytes(made.path / "model.safetensors", b"weights")
    assert split.test.worlds is not None
    done = Sequences.of([does(example) for example in split.test])
    predictions.write(made.predictions, split.test, done, task.scores(split.test, done))
    made.finish(
        {
            "metric": task.metric,
            "test": task.totals(split.test, done),
            "test_examples": len(split.test),
            "validation": None,
            "best_epoch": 1,
            "epochs": 1,
            "steps": 1,
            "statistics": {},
        }
    )
    return made


def right(example: Example) -> Tokens:
    return example.target


def knows_no_color(example: Example) -> Tokens:
    """Right about phrases without a color."""
    named = grounded.parse(example.source).phrase.color
    return example.target if named is None else ()


def stays_in_its_row(example: Example) -> Tokens:
    """Goes as far as a right agent until that would change the row."""
    done = list[str]()
    for action in example.target:
        if len({cell.row for cell in example.world.path([*done, action])}) > 1:
            break
        done.append(action)
    return tuple(done)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[RunFolder]:
    folder = tmp_path_factory.mktemp("known")
    return [run(folder, seed, does) for seed, does in enumerate((right, knows_no_color))]


def rows(findings: AnalysisResult, group: str) -> dict[str, tuple[float, ...]]:
    return {row.name: row.value.runs for row in findings.rows if row.group == group}


def test_accuracy_by_referent_is_each_phrase_s_own(folders: list[RunFolder]) -> None:
    found = analyses.get("by_referent").run(folders, selection=("C",))
    shares = rows(found, "C")
    assert {row.group for row in found.rows} == {"C"}
    assert shares == {name: (100, 0 if "red" in name else 100) for name in shares}
    assert set(shares) == {"square", "red square", "small square", "big square"}
    sizes = tasks.get(TASK).split(DATA).provenance.sizes.tests
    assert sum(row.examples or 0 for row in found.rows) == sizes["C"]


def test_chance_is_to_choose_any_thing(folders: list[RunFolder]) -> None:
    """Of the things that stand around for a phrase there are 2, 6 or 12 (the facts of gSCAN)."""
    found = analyses.get("by_referent").run(folders, selection=("C",))
    chances = {row.name: round(row.chance or 0, 2) for row in found.rows}
    assert set(chances) == {"square", "red square", "small square", "big square"}
    assert chances == {name: ruis2020.CHANCE[name] for name in chances}


def test_every_grouping_by_situation_has_every_example_once(folders: list[RunFolder]) -> None:
    found = analyses.get("by_situation").run(folders)
    groups = {row.group for row in found.rows}
    assert groups == {"test", "verb", "manner", "direction of the target", "cells to the target"}
    for group in groups:
        assert sum(row.examples or 0 for row in found.rows if row.group == group) == len(asked_of())
    assert rows(found, "test")["C"][0] == 100 > rows(found, "test")["C"][1] > 0
    assert set(rows(found, "verb")) == {"walk", "push", "pull"}
    south_west = analyses.get("by_situation").run(folders, selection=("D",))
    assert set(rows(south_west, "direction of the target")) == {"sw"}


def goes_south_first(example: Example) -> Tokens:
    """Walks to what is in the south east, but along the column first; does nothing else."""
    target, agent = target_of(example), example.world.agent
    rows, columns = target.row - agent.row, target.column - agent.column
    if example.source[0] != "walk" or rows <= 0 or columns <= 0:
        return ()
    return ("turn right", *["walk"] * rows, "turn left", *["walk"] * columns)


def test_what_executes_stands_beside_what_is_exact(tmp_path: Path) -> None:
    folder = run(tmp_path, 0, goes_south_first)
    test = asked_of()
    done = Sequences.of([goes_south_first(example) for example in test])
    executes = tasks.get(TASK).scores(test, done)["executes"]
    lengths = np.array([len(actions) for actions in test.target])
    for name, group in (("by_length", "tokens in the target"), ("by_situation", "test")):
        found = [row for row in analyses.get(name).run([folder]).rows if row.group == group]
        assert {row.value.runs for row in found} == {(0,)}
        whole = sum((row.examples or 0) * row.others["executes"].mean for row in found)
        assert whole / len(test) == pytest.approx(100 * executes.mean())
        assert whole > 0
        if name == "by_length":
            for row in found:
                own = 100 * executes[lengths == int(row.name)].mean()
                assert row.others["executes"].runs == pytest.approx((own,))


def test_accuracy_by_length_of_some_tests_is_of_them_alone(folders: list[RunFolder]) -> None:
    found = analyses.get("by_length").run(folders, selection=("D",))
    sizes = tasks.get(TASK).split(DATA).provenance.sizes.tests
    by_target = [row for row in found.rows if row.group == "tokens in the target"]
    assert sum(row.examples or 0 for row in by_target) == sizes["D"]
    assert all(row.value.runs[0] == 100 for row in by_target)


def test_an_agent_that_keeps_to_its_row_ends_in_line_with_the_target(tmp_path: Path) -> None:
    found = analyses.get("destinations").run([run(tmp_path, 0, stays_in_its_row)], selection=("D",))
    shares = {name: share for name, (share,) in rows(found, "D").items()}
    asked = [each for each in tasks.get(TASK).split(DATA).named["D"] if each.world is not None]
    ends = [each.world.path(stays_in_its_row(each))[-1] for each in asked]
    places = {
        "target's": [target_of(each) for each in asked],
        "right": [each.world.path(each.target)[-1] for each in asked],
    }
    for whose, cells in places.items():
        pairs = list(zip(ends, cells, strict=True))
        found_in = {
            "row": [one.row == other.row for one, other in pairs],
            "column": [one.column == other.column for one, other in pairs],
            "row or column": [
                one.row == other.row or one.column == other.column for one, other in pairs
            ],
        }
        for line, same in found_in.items():
            assert shares[f"{whose} {line}"] == pytest.approx(100 * np.mean(same))
        assert 0 < shares[f"{whose} column"] <= shares[f"{whose} row or column"]
    assert shares["right row"] != shares["target's row"]
    same = [one == other for one, other in zip(ends, places["right"], strict=True)]
    assert shares["right cell"] == pytest.approx(100 * np.mean(same))


def target_of(example: Example) -> GridCell:
    """Return the cell of what a command speaks of."""
    phrase = grounded.parse(example.source).phrase
    return example.world.placed[grounded.referent(phrase, example.world.things)].cell


def test_what_is_right_ends_where_it_should(folders: list[RunFolder]) -> None:
    found = analyses.get("destinations").run(folders[:1])
    shares = {row.name: row.value.runs for row in found.rows if row.group == "A"}
    assert {share for name, share in shares.items() if name.startswith("right")} == {(100,)}
    assert 0 < shares["target's row"][0] < 100  # what is pushed moves on


def test_a_destination_is_the_last_cell_of_the_path() -> None:
    test = asked_of()[:50]
    ends = destinations(test.worlds, test.target)
    paths = [each.world.path(each.target)[-1] for each in test]
    np.testing.assert_array_equal(ends, [tuple(cell) for cell in paths])
    odd = Sequences.of([("fly", "walk")] * 50)
    plain = Sequences.of([("walk",)] * 50)
    np.testing.assert_array_equal(destinations(test.worlds, odd), destinations(test.worlds, plain))


@pytest.mark.parametrize("name", ["by_referent", "by_situation", "destinations", "by_length"])
def test_an_unknown_test_is_refused(name: str, folders: list[RunFolder]) -> None:
    with pytest.raises(UnknownName, match="no test named 'Z'; known: A, B"):
        analyses.get(name).run(folders, selection=("Z",))


def test_a_test_without_examples_is_refused_and_otherwise_left_out(
    folders: list[RunFolder],
) -> None:
    assert not tasks.get(TASK).split(DATA).provenance.sizes.tests["G"]
    with pytest.raises(WrongRequest, match="test G has no examples"):
        analyses.get("by_situation").run(folders, selection=("G",))
    assert "G" not in rows(analyses.get("by_situation").run(folders), "test")


def test_runs_on_other_data_than_is_made_here_are_refused(
    folders: list[RunFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tasks.data(TASK, grid=4, resampling=1, kind="simple_trans", shots=0, seed=1)
    monkeypatch.setattr(tasks, "data", lambda *_, **__: other)
    with pytest.raises(WrongRequest, match="other data than is made for it here"):
        analyses.get("by_referent").run(folders)


def test_runs_on_official_files_are_looked_at_beside_the_files(
    tmp_path: Path, folders: list[RunFolder], daxy: Callable
) -> None:
    split, file = tasks.get(TASK).split(DATA), tmp_path / "dataset.txt"
    gscan_json.FORMAT.write(file, split.named, split.provenance)
    folder = run(tmp_path, 0, knows_no_color, tasks.data(TASK, official=file))
    on_file = analyses.get("by_referent").with_official(file)
    found, made = on_file.run([folder]), analyses.get("by_referent").run(folders[1:])
    for test in "ABCDEF":
        assert rows(found, test) == rows(made, test)
    answer = daxy("analyse", "by_length", str(folder.path), "--test", "C", "--official", str(file))
    assert (answer.code, answer.err) == (0, "")
    for asked, given, message in (
        (folder, None, "was trained on official files; expected --official PATH"),
        (folders[0], file, "was trained on generated data; leave out --official"),
    ):
        flags = [] if given is None else ["--official", str(given)]
        answer = daxy("analyse", "by_situation", str(asked.path), *flags)
        assert (answer.code, answer.err) == (2, f"daxy: {asked.path} {message}\n")
    for name, said in (
        ("over_training", "reads run folders alone"),
        ("by_length", "reads official files for --test alone"),
    ):
        answer = daxy("analyse", name, str(folder.path), "--official", str(file))
        assert answer.err == f"daxy: {name} {said}; leave out --official\n"


def test_papers_say_nothing_of_tests_that_are_not_looked_at(tmp_path: Path) -> None:
    folder = begun(tmp_path)
    nothing = AnalysisResult(title="", rows=())
    for name, of, groups in (
        ("by_referent", (), {"C"}),
        ("by_referent", ("C", "D"), {"C"}),
        ("by_referent", ("D",), set[str]()),
        ("attention", ("B", "E"), {"B", "E"}),
    ):
        found = analyses.get(name).with_published(nothing, [folder], of)
        assert {group for group, _ in found.published} == groups
    (note,) = analyses.get("by_referent").with_published(nothing, [folder], ("E",)).notes
    assert "In E" in note


def test_published_figures_stand_beside_a_shorter_training_and_say_so(tmp_path: Path) -> None:
    nothing, shorter = AnalysisResult(title="", rows=()), begun(tmp_path, "ruis2020/short")
    found = analyses.get("by_referent").with_published(nothing, [shorter])
    whole = analyses.get("by_referent").with_published(nothing, [begun(tmp_path)])
    said = "Published: after 200,000 steps; these runs: 20,000."
    assert found.published == whole.published != {}
    assert found.notes == (said, *whole.notes)
    assert said not in whole.notes


def begun(folder: Path, table: str = "ruis2020/table1", **choices: Any) -> RunFolder:
    """Leave the folder of a run of the baseline of Ruis et al. (2020), on data so chosen."""
    recipe = papers.table(table).cells[0].recipe
    assert recipe is not None
    data = {
        **reproduction.data_of(recipe).choices,
        **choices,
        "source": "generated",
        "version": 1,
    }
    settings = reproduction.learner_of(recipe).settings()
    config = RunConfig(task=TASK, data=data, learner=settings, seed=0)
    made = RunFolder(folder / config.name)
    made.begin(config, {"group": [config.name]})
    return made


def test_published_figures_are_of_what_official_files_tell(tmp_path: Path) -> None:
    network = Neural.named("multimodal", {}, protocol("ruis2020"))
    experiment = Experiment(task=TASK, learner=network, data=tasks.data(TASK))
    for shots, rows in ((1, {"G: Adverb k = 1"}), (5, {"G: Adverb k = 5"}), (7, set[str]())):
        trained = Trained(experiment, (begun(tmp_path, shots=shots),))
        assert {cell.row for cell in trained.published if "k = " in cell.row} == rows
