"""What analyses find in runs whose every prediction is known."""

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks.kill_and_resume import Few
from matplotlib.patches import Rectangle
from tests.runs.small_runs import experiment

from daxy import papers, tasks
from daxy.core.errors import UnknownName, WrongRequest
from daxy.core.examples import Example, Examples, Predictions, Sequences, Tokens
from daxy.core.files import write_bytes
from daxy.core.summary import Summary
from daxy.formats import parquet, predictions
from daxy.learners.neural.predictor import Predictor
from daxy.metrics import METRICS, Metric, Rules, Scores
from daxy.papers import Finding
from daxy.report import analyses
from daxy.report.analyses import neighbours
from daxy.report.analyses.neighbours import SOURCES
from daxy.report.analysis import AnalysisResult, Row
from daxy.report.analysis_plot import draw
from daxy.reproduction import plan as reproduction
from daxy.reproduction import published
from daxy.reproduction.filing import entry_of
from daxy.runs.config import run_config
from daxy.runs.folder import RunFolder
from daxy.tasks import ScanOptions

pytestmark = pytest.mark.usefixtures("one_shape")

Says = Callable[[Example], Tokens]


SOME, AS_LAKE = Few(), Few(validation="none")
LEARNER = {"model": "seq2seq", "config": {"hidden": 4}, "training": {}}


def run(
    folder: Path,
    task: str,
    seed: int,
    says: Says,
    learner: dict[str, Any] = LEARNER,
    data: ScanOptions = SOME,
) -> RunFolder:
    """Leave a finished run that says what a function says."""
    split = data.load(task)
    config = run_config(task, data, learner, seed)
    made = RunFolder(folder / config.name)
    made.begin(config, {"group": [config.name], "checksum": split.provenance.checksum})
    write_bytes(made.path / "model.safetensors", b"weights")
    said = Sequences.of([says(example) for example in split.test])
    values = tasks.get(task).scores(split.test, said)
    predictions.write(made.predictions, split.test, said, values)
    made.finish(
        {
            "metric": tasks.get(task).metric,
            "test": tasks.get(task).totals(split.test, said, values),
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


def short(example: Example) -> Tokens:
    """Right about targets of up to 14 tokens."""
    return example.target if len(example.target) <= 14 else example.target[:-1]


def most(example: Example) -> Tokens:
    """Say all but the last token."""
    return example.target[:-1]


def no_around(example: Example) -> Tokens:
    """Right about commands without `around`."""
    return ("I_WALK", "I_RUN") if "around" in example.source else example.target


def other_way_round(example: Example) -> Tokens:
    """Say `y after x` for `x and y`, and the other way round: it means the same."""
    for word, other in (("and", "after"), ("after", "and")):
        if word in example.target:
            place = example.target.index(word)
            return (*example.target[place + 1 :], other, *example.target[:place])
    return example.target


class First(Metric):
    """The share of predictions that begin as their targets do."""

    name = "first"
    summary = "the first token is right"

    def score(self, task: Rules, examples: Examples, predictions: Predictions) -> Scores:
        pairs = zip(examples.target, predictions, strict=True)
        return np.array([target[:1] == given[:1] for target, given in pairs], np.bool_)


def test_a_metric_that_a_run_does_not_have_is_scored_from_its_predictions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, daxy: Callable
) -> None:
    folders = [
        run(tmp_path, "scan/simple_p1", seed, says) for seed, says in enumerate((most, right))
    ]
    before = analyses.get("by_length").run(folders)
    task = tasks.get("scan/simple_p1")
    monkeypatch.setitem(
        tasks.BENCHMARKS.get("scan"), task.name, replace(task, metrics=("exact", "first"))
    )
    monkeypatch.setitem(sys.modules, "daxy.metrics.first", SimpleNamespace(METRIC=First()))
    monkeypatch.setattr(METRICS, "built_in", [*METRICS.built_in, "first"])
    after = analyses.get("by_length").run(folders)
    assert [row.value for row in after.rows] == [row.value for row in before.rows]
    assert not any(row.others for row in before.rows)
    longest = max(after.rows, key=lambda row: int(row.name))
    assert longest.value.runs == (0.0, 100.0)
    assert longest.others["first"].runs == (100.0, 100.0)
    answer = daxy("analyse", "by_length", *(str(folder.path) for folder in folders), "--json")
    assert answer.code == 0


def test_likelihoods_are_kept_with_predictions(tmp_path: Path) -> None:
    examples = Examples.of([("a", "x y"), ("b", "z")])
    said = Predictions.of_sequences(examples.target)
    for known in (None, np.log([0.5, 0.25])):
        path = tmp_path / "predictions.parquet"
        given = replace(said, log_likelihood=known)
        predictions.write(path, examples, given, {"exact": np.array([True, True])})
        found = predictions.stored(path)
        assert list(found) == list(said)
        np.testing.assert_array_equal(found.log_likelihood, known)
    predictions.write(tmp_path / "a.jsonl", examples, given, {})
    assert '"log_likelihood": -0.69' in (tmp_path / "a.jsonl").read_text()


def said(analysis: str) -> list[Finding]:
    """Return what papers say that an analysis found."""
    every = [each for name in papers.available() for each in papers.get(name).findings]
    return [each for each in every if each.analysis == analysis]


def rows(findings: AnalysisResult, group: str) -> dict[str, tuple[float, ...]]:
    return {row.name: row.value.runs for row in findings.rows if row.group == group}


def test_accuracy_by_length_is_each_length_s_own(tmp_path: Path) -> None:
    folders = [run(tmp_path, "scan/simple_p1", n, says) for n, says in enumerate((right, short))]
    found = analyses.get("by_length").run(folders)
    by_target = rows(found, "tokens in the target")
    assert by_target == {length: (100, 100 if int(length) <= 14 else 0) for length in by_target}
    test = Few().load("scan/simple_p1").test
    assert set(by_target) == {str(len(example.target)) for example in test}
    for group in ("tokens in the target", "tokens in the source"):
        assert sum(row.examples for row in found.rows if row.group == group) == len(test)


def test_accuracy_by_construction_finds_the_word_that_is_not_known(tmp_path: Path) -> None:
    found = analyses.get("by_construction").run([run(tmp_path, "scan/simple_p1", 0, no_around)])
    built = rows(found, "built with")
    assert built["around"] == (0,)
    assert 0 < built["and"][0] < 100
    assert set(built) == {*"and after twice thrice around opposite turn".split(), "no conjunction"}
    parts = rows(found, "has the part")
    assert "around" in next(iter(parts))
    assert parts[next(iter(parts))] == (0,)


def test_constructions_of_the_mirror_are_those_of_its_targets(tmp_path: Path) -> None:
    found = analyses.get("by_construction").run([run(tmp_path, "nacs/simple_p1", 0, right)])
    assert set(rows(found, "built with").values()) == {(100,)}


def test_the_mirror_is_judged_by_what_is_meant(tmp_path: Path) -> None:
    folder = run(tmp_path, "nacs/simple_p1", 0, other_way_round)
    assert {row.value.runs for row in analyses.get("by_length").run([folder]).rows} == {(100,)}
    asked = replace(experiment(tmp_path), task="nacs/simple_p1").run([0])
    built = analyses.get("by_construction").run([folder]).rows
    assert {row.value.runs for row in built} == {(100,)}
    assert all(row.others["exact"].mean < 100 for row in built if row.name == "and")
    ways = rows(analyses.get("length_oracle").run(asked), "length of the output")
    assert ways["predicted"] == (100 * asked[0].scores()["test"]["back_mapping"],)


def test_a_picture_has_a_panel_a_group_and_a_bar_a_row(tmp_path: Path) -> None:
    found = analyses.get("by_length").run([run(tmp_path, "scan/simple_p1", 0, short)])
    panels = draw(found).axes
    assert [panel.get_xlabel() for panel in panels] == [
        "tokens in the target",
        "tokens in the source",
    ]
    assert sum(len(panel.patches) for panel in panels) == len(found.rows)


def test_runs_of_different_learners_are_not_taken_together(tmp_path: Path) -> None:
    other = LEARNER | {"config": {"hidden": 5}}
    folders = [run(tmp_path, "scan/simple_p1", 0, right, learner) for learner in (LEARNER, other)]
    with pytest.raises(WrongRequest, match="is of other learner than"):
        analyses.get("by_length").run(folders)


def test_what_is_not_looked_at_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [run(tmp_path, "nacs/simple_p1", seed, right) for seed in range(3)]
    load, read = parquet.load, list[tuple[Path, set[str]]]()

    def reading(path: Path, *columns: Any, **how: Any) -> Any:
        table = load(path, *columns, **how)
        read.append((path, set(table.column_names)))
        return table

    monkeypatch.setattr(parquet, "load", reading)
    analyses.get("by_length").run(folders)
    scores = {"exact", "back_mapping"}
    wanted = [{"source", "target"} | scores, scores, scores]
    assert read == [(each.predictions, own) for each, own in zip(folders, wanted, strict=True)]


def test_a_run_counts_once(tmp_path: Path) -> None:
    folder = run(tmp_path, "scan/simple_p1", 0, right)
    with pytest.raises(WrongRequest, match="is the same run as"):
        analyses.get("by_length").run([folder, RunFolder(folder.path)])


def test_runs_on_different_data_are_not_taken_together(tmp_path: Path) -> None:
    folders = [run(tmp_path, "scan/simple_p1", 0, right, data=Few(seed=n)) for n in (0, 1)]
    with pytest.raises(WrongRequest, match="is of other data than"):
        analyses.get("by_length").run(folders)


def test_a_run_that_is_not_finished_is_refused(tmp_path: Path) -> None:
    folder = run(tmp_path, "scan/simple_p1", 0, right)
    (folder.path / "done").unlink()
    with pytest.raises(WrongRequest, match="no finished run"):
        analyses.get("by_length").run([folder])


def test_an_unknown_analysis_gets_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="by_length"):
        analyses.get("by_lenght")


def test_grades_stand_beside_what_is_entirely_right_by_length(tmp_path: Path) -> None:
    """All but the last token: of n and the end, n - 1 are right before the first error."""
    task = "transduction/copy"
    data = tasks.data(
        task, train_pairs=20, validation_pairs=1, test_pairs=200, min_length=3, max_length=6
    )
    folders = [
        run(tmp_path, task, seed, says, data=data) for seed, says in enumerate((right, most))
    ]
    findings = analyses.get("by_length").run(folders)
    of_target = [row for row in findings.rows if row.group == "tokens in the target"]
    assert [row.value.runs for row in of_target] == [(100.0, 0.0)] * len(of_target)
    for row in of_target:
        length = int(row.name)
        assert row.others["fine"].runs == pytest.approx((100, 100 * (length - 1) / (length + 1)))
    (panel, _) = draw(findings).axes
    (marks,) = panel.lines
    assert list(marks.get_ydata()) == pytest.approx([r.others["fine"].mean for r in of_target])


@pytest.mark.parametrize("name", analyses.available())
def test_every_analysis_has_its_name_and_a_line(name: str) -> None:
    found = analyses.get(name)
    assert found.name == name
    assert analyses.summary(name)


def test_the_command_line_prints_and_draws(tmp_path: Path, daxy: Callable) -> None:
    folders = [run(tmp_path, "scan/simple_p1", n, says) for n, says in enumerate((right, short))]
    picture = tmp_path / "length.png"
    request = ["analyse", "by_length", *[str(each.path) for each in folders]]
    answer = daxy(*request, "--draw", str(picture))
    assert answer.code == 0, answer.err
    head = "tokens in the target examples right (%) SEM min max each run"
    assert head in " ".join(answer.out.split())
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert daxy(*request, "--json").json["rows"][0]["group"] == "tokens in the target"
    assert "by_construction" in daxy("analyse").out


def test_wrong_answers_are_grouped_counted_and_listed(tmp_path: Path, daxy: Callable) -> None:
    says = (right, short, no_around)
    folders = [run(tmp_path, "scan/simple_p1", n, each) for n, each in enumerate(says)]
    test = SOME.load("scan/simple_p1").test
    long = [example for example in test if len(example.target) > 14]
    around = [example for example in test if "around" in example.source]
    both = {*long} & {*around}
    request = ["analyse", "errors", *[str(each.path) for each in folders]]
    found = daxy(*request, "--json").json
    assert found["title"].startswith(f"scan/simple_p1: 0, {len(long):,} and {len(around):,} of ")
    rows = {row["name"]: row for row in found["rows"]}
    assert rows["2 of 3"]["examples"] == len(both)
    assert rows["1 of 3"]["examples"] == len({*long} ^ {*around})
    assert rows["too short"]["runs"][:2] == [0, 100]
    listed = [each for kind in found["errors"].values() for each in kind]
    assert sorted(" ".join(each["source"]) for each in listed) == sorted(
        " ".join(example.source) for example in {*long} | {*around}
    )
    first = listed[0]
    assert first["wrong_runs"] == 2, "what most runs err on comes first"
    places = {it["first_wrong"] for each in listed for it in each["predictions"]}
    assert {15, 1} <= places
    text = daxy(*request, "--word", "around", "--word", "walk", "--count", "1").out
    having = [each for each in around if "walk" in each.source]
    assert "test examples with around walk are wrong" in text
    shown = [line for line in text.splitlines() if line.startswith("    target ")]
    assert 0 < len(shown) <= 4 < len(having)
    assert "(1 of 3 runs)" in text or "(2 of 3 runs)" in text
    near = daxy(*request, "--word", "arround").err
    assert "no word of a source named 'arround'; did you mean around?" in near
    assert "--count is for errors" in daxy("analyse", "by_length", request[2], "--count", "3").err


WRONG = {
    "no run folder is given": ("by_length",),
    "nowhere: no such folder": ("by_length", "nowhere"),
    "expected a name that ends in .png, .svg, .pdf": ("by_length", "--draw", "a.txt"),
    "no analysis named 'by_size'": ("by_size",),
}


@pytest.mark.parametrize("name", analyses.available())
def test_a_folder_without_a_finished_run_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(WrongRequest, match=f"{tmp_path}: no finished run"):
        analyses.get(name).run([RunFolder(tmp_path)])


@pytest.mark.parametrize(("message", "request_"), WRONG.items(), ids=WRONG)
def test_a_wrong_request_is_refused(
    message: str, request_: tuple[str, ...], daxy: Callable
) -> None:
    answer = daxy("analyse", *request_)
    assert answer.code == 2
    assert message in answer.err


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, one_shape: None) -> list[RunFolder]:
    """Two small networks that were trained; not to be changed."""
    return experiment(tmp_path_factory.mktemp("trained")).run([0, 1])


def test_the_length_oracle_says_as_many_tokens_as_the_target_has(trained: list[RunFolder]) -> None:
    """A network that was never trained is as right as it can be by chance, with both lengths."""
    folders = trained[:1]
    found = analyses.get("length_oracle").run(folders)
    ways = rows(found, "length of the output")
    assert ways["predicted"] == (100 * folders[0].scores()["test"]["exact"],)
    assert set(ways) == {"predicted", "of the target"}
    by_length = [row for row in found.rows if row.group.startswith("tokens")]
    assert {group for each in said("length_oracle") for group, _ in each.values} <= {
        row.group for row in found.rows
    }
    total = sum(row.examples * row.value.mean for row in by_length)
    assert total / sum(row.examples for row in by_length) == pytest.approx(*ways["of the target"])


def test_what_is_told_the_length_is_filed_as_the_analysis_finds_it(
    trained: list[RunFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = trained[:1]
    targets = {example.source: example.target for example in Few().load("scan/simple_p1").test}

    def says(target: Tokens) -> Tokens:
        return target if len(target) % 2 else ("I_JUMP",) * len(target)

    def predict(_: Predictor, sources: Sequences, lengths: np.ndarray) -> Sequences:
        assert [len(targets[source]) for source in sources] == lengths.tolist()
        return Sequences.of(says(targets[source]) for source in sources)

    monkeypatch.setattr(Predictor, "predict_of_length", predict)
    found = rows(analyses.get("length_oracle").run(folders), "length of the output")
    share = np.mean([says(target) == target for target in targets.values()])
    cell = papers.table("lake2018/experiments").cell("best", "length, oracle")
    filed = entry_of(cell, folders[0])
    assert 0 < share < 1
    assert filed.score == filed.length_oracle["exact"] == pytest.approx(share)
    assert found["of the target"] == pytest.approx((100 * share,))
    assert filed.test == folders[0].scores()["test"]


def test_neighbours_are_training_commands_from_the_nearest_on(
    trained: list[RunFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = trained
    monkeypatch.setattr(neighbours, "split_of", lambda *_: Few().load("scan/simple_p1"))
    found, *alone = (
        analyses.get("neighbours").run(some, ("walk", "look twice"))
        for some in (folders, folders[:1], folders[1:])
    )
    for place, own in enumerate(alone):
        cosines = {(row.group, row.name): row.value.mean for row in own.rows}
        shared = [row for row in found.rows if (row.group, row.name) in cosines]
        assert shared
        for row in shared:
            assert row.value.runs[place] == pytest.approx(cosines[row.group, row.name], abs=1e-6)
    groups = list(dict.fromkeys(row.group for row in found.rows))
    assert groups == ["walk", "look twice"]
    again = analyses.get("neighbours").run(folders, ("walk", "look  twice", "walk", "look twice"))
    assert again == found
    train = {" ".join(source) for source in Few().load("scan/simple_p1").train.source}
    for group in groups:
        near = [row for row in found.rows if row.group == group]
        cosines = [row.value.mean for row in near]
        assert len(near) == 5
        assert cosines == sorted(cosines, reverse=True)
        assert {row.name for row in near} <= train - {group}
        assert max(cosines) <= 1 + 1e-6


IN_WORLDS = {"attention", "by_length", "by_referent", "by_situation", "destinations"}
"""Analyses that look at some of several tests, where there are several."""


@pytest.mark.parametrize("name", sorted({*analyses.available()} - {"neighbours", "errors"}))
def test_what_looks_at_the_whole_test_set_takes_no_commands(name: str, tmp_path: Path) -> None:
    said = "is not about worlds" if name in IN_WORLDS else "analyses the whole test set, not"
    said = "has one test; leave out --test" if name in ("by_length", "over_training") else said
    said = "analyses the whole validation set" if name == "learning_curves" else said
    with pytest.raises(WrongRequest, match=said):
        analyses.get(name).run([run(tmp_path, "scan/simple_p1", 0, right)], ("jump",))


@pytest.mark.parametrize("name", ["neighbours", "length_oracle", "by_construction"])
def test_what_looks_at_words_alone_refuses_worlds(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = run(tmp_path, "scan/simple_p1", 0, right)
    monkeypatch.setattr(
        type(tasks.get("scan/simple_p1")), "grounded", property(lambda _: True), raising=False
    )
    with pytest.raises(WrongRequest, match=f"{name} is for sources of words alone"):
        analyses.get(name).run([folder])


def test_neighbours_of_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongRequest, match="--source has no words"):
        analyses.get("neighbours").run([run(tmp_path, "scan/simple_p1", 0, right)], ("walk", " "))


def test_neighbours_of_the_paper_s_choice_are_for_its_task(tmp_path: Path) -> None:
    with pytest.raises(WrongRequest, match="other sources than the paper's choice; .* --source"):
        analyses.get("neighbours").run([run(tmp_path, "nacs/simple_p1", 0, right)])


@pytest.mark.parametrize(("rows", "inches"), [(3, 5.0), (40, 10.0)])
def test_a_panel_is_as_wide_as_its_bars_need(rows: int, inches: float) -> None:
    names = [f"row {n}" for n in range(rows)]
    some = tuple(Row(group="one", name=name, value=Summary(runs=(1.0,))) for name in names)
    for is_curve in (False, True):
        shown = tuple(replace(row, name=row.name[4:]) for row in some) if is_curve else some
        figure = draw(AnalysisResult(title="made up", rows=shown, is_curve=is_curve))
        assert figure.get_figwidth() == pytest.approx(5.0 if is_curve else inches)


def test_of_many_lengths_some_are_written_at_their_places() -> None:
    lengths = [*range(65, 110), *range(111, 129)]
    one = Summary(runs=(1.0,))
    rows = tuple(Row(group="tokens", name=str(n), value=one, others={"fine": one}) for n in lengths)
    figure = draw(AnalysisResult(title="made up", rows=rows))
    figure.canvas.draw()
    (axes,) = figure.axes
    assert figure.get_figwidth() < 8
    written = axes.get_xticklabels()
    boxes = [label.get_window_extent() for label in written]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
    for tick, label in zip(axes.get_xticks(), written, strict=True):
        assert label.get_text() == str(lengths[int(tick)])
    bars = [patch.get_bbox() for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [bar.x0 + bar.width / 2 for bar in bars] == pytest.approx([*range(len(lengths))])


def test_long_names_take_nothing_from_their_panels() -> None:
    (table_1,) = said("neighbours")
    some = [(*place, value) for place, value in table_1.values.items()]
    found = tuple(Row(group=g, name=name, value=Summary(runs=(it,))) for g, name, it in some)
    drawn = draw(AnalysisResult(title="made up", rows=found, published=table_1.values))
    drawn.canvas.draw()
    for axes in drawn.axes:
        assert axes.get_window_extent().height / drawn.dpi > 2  # inches


@pytest.mark.parametrize("chance", [None, 50.0])
@pytest.mark.parametrize("printed", [{}, {("one", "a"): 3.0}])
def test_a_picture_explains_its_marks(
    chance: float | None, printed: dict[tuple[str, str], float]
) -> None:
    row = Row(group="one", name="a", value=Summary(runs=(1.0,)), chance=chance)
    figure = draw(AnalysisResult(title="made up", rows=(row,), published=printed))
    said = {text.get_text() for key in figure.legends for text in key.get_texts()}
    marks = {"chance"} if chance is not None else set[str]()
    marks |= {"published"} if printed else set()
    assert said == (marks and {"measured", *marks}), "one run has no SEM"


def test_neighbours_among_official_files_need_the_files(tmp_path: Path) -> None:
    folder = run(tmp_path, "scan/simple_p1", 0, right)
    config = folder.path / "config.json"
    config.write_text(config.read_text().replace('"generated"', '"official", "checksum": "0"'))
    folder.finish(folder.scores())
    with pytest.raises(WrongRequest, match="was trained on official files; expected --official"):
        analyses.get("neighbours").run([folder])


def test_neighbours_among_data_that_cannot_be_made_any_more_are_refused(tmp_path: Path) -> None:
    folder = run(tmp_path, "scan/simple_p1", 0, right)
    environment = folder.path / "environment.json"
    environment.write_text(environment.read_text().replace(folder.checksum, "0" * 32))
    folder.finish(folder.scores())
    with pytest.raises(WrongRequest, match="other data than is made for it here"):
        analyses.get("neighbours").run([folder])


def test_every_finding_of_a_paper_is_of_an_analysis_that_there_is() -> None:
    found = {each.analysis for name in papers.available() for each in papers.get(name).findings}
    assert found <= set(analyses.available())


def test_published_neighbours_are_training_commands_of_the_paper_s_own_choice() -> None:
    (table_1,) = said("neighbours")
    train = tasks.get(table_1.recipe.task).split(ScanOptions(validation="none")).train
    known = {" ".join(source) for source in train.source}
    assert {group for group, _ in table_1.values} == set(SOURCES)
    assert {name for _, name in table_1.values} <= known


def test_what_a_paper_says_of_the_same_network_stands_beside_what_was_found(
    tmp_path: Path, daxy: Callable
) -> None:
    printed = next(each for each in said("length_oracle") if len(each.values) == 4)
    learner = reproduction.learner_of(printed.recipe).settings()
    folders = [run(tmp_path, "scan/length", 0, short, learner, AS_LAKE)]
    analysis = analyses.get("length_oracle")
    group = "tokens in the target, with the length given"
    own = (Row(group=group, name="24", value=Summary(runs=(50.0,))),)
    found = analysis.with_published(AnalysisResult(title="made up", rows=own), folders)
    assert found.published[group, "24"] == 95.76
    assert found.groups[group] == {"24": own[0], "48": None}
    assert len(draw(found).axes) == 2
    other = [run(tmp_path, "scan/length", 1, short)]
    assert not analysis.with_published(AnalysisResult(title="made up", rows=own), other).published
    assert printed in published.findings(
        "length_oracle", "scan/length", learner, ScanOptions(validation="none").options
    )
    assert not published.findings("length_oracle", "scan/length", learner, ScanOptions().options)

    paths = [str(each.path) for each in folders]
    assert daxy("analyse", "by_construction", *paths, "--json").json["notes"] == []
    overall = next(each for each in said("by_length"))
    learner = reproduction.learner_of(overall.recipe).settings()
    folder = run(tmp_path, "scan/length", 2, short, learner, AS_LAKE)
    assert overall.note in " ".join(daxy("analyse", "by_length", str(folder.path)).out.split())


def test_the_course_of_training_is_that_of_the_log(tmp_path: Path) -> None:
    folders = replace(experiment(tmp_path), test_every=2).run([0, 1])
    found = analyses.get("over_training").run(folders)
    records = [folder.records() for folder in folders]
    assert [row.name for row in found.rows] == [str(records[0][1]["steps"])]
    assert found.rows[0].value.runs == tuple(100 * own[1]["test"] for own in records)
    (axes,) = draw(found).axes
    assert len(axes.lines) == 3  # a run each, and their mean

    log = folders[1].path / "log.jsonl"
    steps = records[0][1]["steps"]
    log.write_text(log.read_text().replace(f'"steps": {steps},', f'"steps": {steps + 1},'))
    with pytest.raises(WrongRequest, match="evaluated after different numbers of steps"):
        analyses.get("over_training").run(folders)


def test_learning_curves_are_those_of_the_log(tmp_path: Path) -> None:
    folders = experiment(tmp_path).run([0, 1])
    logs = [folder.records() for folder in folders]
    found = analyses.get("learning_curves").run(folders)
    assert [row.name for row in found.rows] == [str(each["steps"]) for each in logs[0]]
    assert [row.value.runs for row in found.rows] == [
        tuple(100 * each["validation"] for each in both) for both in zip(*logs, strict=True)
    ]
    (axes,) = draw(found).axes
    assert axes.get_ylabel() == found.measure == "validation, right (%)"

    for folder in folders:
        log = folder.path / "log.jsonl"
        log.write_text(re.sub(r'"validation": [^,]+', '"validation": null', log.read_text()))
    found = analyses.get("learning_curves").run(folders)
    assert found.measure == "training loss"
    assert found.rows[0].value.runs == tuple(log[0]["loss"] for log in logs)


def test_many_courses_stand_in_rows() -> None:
    value = Summary(runs=(1.0,))
    groups = "ABCDE"
    rows = tuple(Row(group=group, name=name, value=value) for group in groups for name in "12")
    figure = draw(AnalysisResult(title="made up", rows=rows, is_curve=True))
    shown = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_xlabel() for axes in shown] == list(groups)
    assert figure.get_figwidth() == pytest.approx(4 * 5.0)


def test_the_key_of_one_panel_has_room(tmp_path: Path) -> None:
    value = Summary(runs=(50.0, 60.0))
    row = Row(group="phrase", name="square", value=value, chance=8.0, others={"executes": value})
    printed = {("phrase", "square"): 9.0}
    figure = draw(AnalysisResult(title="made up", rows=(row,), published=printed))
    figure.savefig(tmp_path / "key.png")
    (key,) = figure.legends
    box = key.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


def test_runs_that_were_not_evaluated_have_no_course(trained: list[RunFolder]) -> None:
    folders = trained[:1]
    with pytest.raises(WrongRequest, match="has no test scores in its log"):
        analyses.get("over_training").run(folders)
