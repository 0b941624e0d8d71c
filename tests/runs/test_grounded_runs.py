"""A network that sees worlds is trained, judged on each test, found again and asked."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.runs.small_runs import Stopped, group_of, shapes

from daxy import tasks
from daxy.core.errors import UnknownName, WrongRequest
from daxy.core.examples import Sequences
from daxy.formats import parquet, world_json
from daxy.languages import grounded
from daxy.learners.neural import Neural
from daxy.report import analyses
from daxy.runs.experiment import Experiment
from daxy.runs.folder import RunFolder
from daxy.runs.saved import load
from daxy.runs.store import RunStore
from daxy.training.config import TrainingConfig
from daxy.training.interrupt import Interrupted
from daxy.worlds.grid import GridCell

TASK = "gscan/compositional"
DATA = tasks.data(TASK, grid=4, resampling=1, kind="simple_intrans", shots=0)
RECIPE = TrainingConfig().with_settings(
    optimizer="adam",
    learning_rate=0.01,
    max_grad_norm=0.0,
    batch_size=24,
    steps=40,
    lr_decay_steps=20,
    token_mean_loss=True,
    validation_examples=5,
    max_decode_length=12,
)
CONFIG = {"hidden": 8, "embedding": 4, "channels": 3, "kernel_sizes": "1,3"}


def experiment(folder: Path) -> Experiment:
    network = Neural.named("multimodal", CONFIG, RECIPE)
    return Experiment(
        task=TASK,
        learner=network,
        data=DATA,
        folder=folder,
        checkpoint_seconds=0.0,
        test_every=1,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = tmp_path_factory.mktemp("grounded")
    with shapes(1):
        (found,) = experiment(folder).run([0])
    return found


def test_a_training_set_is_on_the_device_a_byte_a_token_and_a_cell() -> None:
    network = Neural.named("multimodal", {"kernel_sizes": "1,3"}, RECIPE)
    run = Experiment(task=TASK, learner=network, data=DATA).of(0)
    replicas = group_of([run]).training.replicas
    (placed, *_) = replicas.tables(replicas.table)
    sides = {"source": replicas.table.source, "target": replicas.table.target}
    for name, codes in sides.items():
        assert (getattr(placed, name).dtype, getattr(placed, name).shape) == (np.uint8, codes.shape)
    assert placed.world is not None and placed.world.dtype == np.uint8
    assert placed.world.shape == (len(replicas.table.source), 4, 4)


def test_networks_side_by_side_say_what_each_says_alone(trained: RunFolder, tmp_path: Path) -> None:
    with shapes(1):
        runs = experiment(tmp_path).run([0, 1])
    assert [run.scores()["tests"].keys() for run in runs] == [trained.scores()["tests"].keys()] * 2
    test = tasks.get(TASK).split(DATA).test[:40]
    assert test.worlds is not None
    alone, beside, other = (
        load(run.path).last_states(test.source, test.worlds) for run in (trained, *runs)
    )
    np.testing.assert_allclose(beside, alone, atol=1e-5)
    assert np.abs(other - alone).max() > 1e-2


def test_with_geca_in_worlds_it_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    data = replace(DATA, kind="normal")
    network = Neural.named("multimodal", CONFIG, RECIPE.with_settings(steps=70), {"count": 30})

    def asked(folder: str) -> Experiment:
        whole = replace(experiment(tmp_path / folder), data=data)
        return replace(whole, learner=network)

    with shapes(1):
        (undisturbed,) = asked("whole").run([0])
        with pytest.raises(Interrupted):
            asked("parts").run([0], monitor=Stopped(at=1))
        (resumed,) = asked("parts").run([0])
    assert (resumed.path / "model.safetensors").read_bytes() == (
        undisturbed.path / "model.safetensors"
    ).read_bytes()
    assert resumed.scores()["tests"] == undisturbed.scores()["tests"]


def test_it_is_judged_on_each_test(trained: RunFolder) -> None:
    scores, split = trained.scores(), tasks.get(TASK).split(DATA)
    held = {name: part for name, part in split.named.items() if name not in ("train", "validation")}
    assert scores["tests"].keys() == {name for name, part in held.items() if len(part)}
    weighted = sum(scores["tests"][name]["exact"] * len(held[name]) for name in scores["tests"])
    assert weighted / len(split.test) == pytest.approx(scores["test"]["exact"])
    assert scores["steps"] == 40
    (record,) = trained.records()
    assert record["learning_rate"] == pytest.approx(0.01 * 0.96**2)


def test_its_network_says_of_a_world_what_it_said_when_it_was_judged(trained: RunFolder) -> None:
    test = tasks.get(TASK).split(DATA).test[:40]
    assert test.worlds is not None
    said = parquet.load(trained.predictions, ("prediction",))["prediction"].to_pylist()[:40]
    network = load(trained.path)
    assert list(network.predict(test.source, test.worlds)) == [tuple(each) for each in said]
    assert list(network.predict(test.source[:2], [test.worlds[0], test.worlds[1]])) == [
        tuple(each) for each in said[:2]
    ]
    known = Sequences.of([["walk", "to", "a", "circle"]] * 2)
    states = network.last_states(known, test.worlds[:2])
    assert np.abs(states[0] - states[1]).max() > 0


def test_its_network_is_asked_of_a_world_for_each_source_and_of_nothing_else(
    trained: RunFolder,
) -> None:
    test = tasks.get(TASK).split(DATA).test[:3]
    assert test.worlds is not None
    network, asked = load(trained.path), test.source
    said = network.predict(asked, test.worlds)
    world, some = test.worlds[:1], said[:2]
    for ask, message in (
        (lambda: network.predict(asked), "needs worlds"),
        (lambda: network.predict(asked, world), "3 sources and 1 worlds; expected one each"),
        (lambda: network.predict(asked, ["red"]), "expected worlds, not 'red'"),
        (lambda: network.attention_to_cells(asked, some, test.worlds), "3 sources and 2 outputs"),
        (lambda: network.predict_of_length(asked, np.ones(1, int), test.worlds), "and 1 lengths"),
    ):
        with pytest.raises(WrongRequest, match=message):
            ask()
    none = test.worlds[:0]
    assert list(network.predict([], none)) == []
    assert network.last_states([], none).shape[0] == 0
    assert network.attention_to_cells([], [], none).shape[0] == 0
    assert list(network.predict_of_length([], np.zeros(0, int), none)) == []


def test_each_of_its_tests_has_its_own_course(trained: RunFolder) -> None:
    course = analyses.get("over_training")
    (record,), scores = trained.records(), trained.scores()["tests"]
    # One look, at the end: at what is judged then.
    assert record["tests"] == {name: own["exact"] for name, own in scores.items()}
    found = course.run([trained])
    assert [row.group for row in found.rows] == [f"test {name}, by steps" for name in scores]
    (row,) = course.run([trained], ("D",)).rows
    assert (row.group, row.name) == ("test D, by steps", str(record["steps"]))
    assert row.value.mean == pytest.approx(100 * scores["D"]["exact"])
    with pytest.raises(UnknownName, match="no test named 'K'; known: A, B, C, D, E"):
        course.run([trained], ("K",))


def test_a_finished_run_is_found_again(trained: RunFolder) -> None:
    asked = experiment(trained.path.parent)
    assert RunStore(trained.path.parent).missing([asked.of(0)]) == []


def test_what_its_network_attends_to_is_a_share_of_the_cells(trained: RunFolder) -> None:
    test = tasks.get(TASK).split(DATA).test[:30]
    assert test.worlds is not None
    network = load(trained.path)
    said = network.predict(test.source, test.worlds)
    looks = network.attention_to_cells(test.source, said, test.worlds)
    assert looks.shape == (30, 16)
    np.testing.assert_allclose(looks.sum(axis=1), 1, rtol=1e-5)
    # Alone each is followed as beside the others, which may say more.
    one = network.attention_to_cells(test.source[:1], said[:1], test.worlds[:1])
    np.testing.assert_allclose(one[0], looks[0], rtol=1e-5)


def test_whether_it_attends_to_the_target_is_counted(trained: RunFolder) -> None:
    found = analyses.get("attention").run([trained], selection=("A",))
    test = tasks.get(TASK).split(DATA).named["A"]
    assert test.worlds is not None
    kept = parquet.load(trained.predictions, ("key", "prediction")).to_pydict()
    said = dict(zip(kept["key"], kept["prediction"], strict=True))
    network = load(trained.path)
    answers = Sequences.of([said[key] for key in test.keys])
    looks = network.attention_to_cells(test.source, answers, test.worlds)
    finds = list[bool]()
    for example, look in zip(test, looks, strict=True):
        world = example.world
        most = GridCell(*divmod(int(look.argmax()), world.size))
        phrase = grounded.parse(example.source).phrase
        finds.append(most == world.placed[grounded.referent(phrase, world.things)].cell)
    every = next(row for row in found.rows if row.name == "all episodes")
    assert 0 < every.value.mean < 100
    assert every.value.mean == pytest.approx(100 * np.mean(finds))
    examples = {row.name: row.examples or 0 for row in found.rows}
    shares = {row.name: row.value.mean / 100 for row in found.rows}
    assert examples["all episodes"] == tasks.get(TASK).split(DATA).provenance.sizes.tests["A"]
    parts = sum(examples[name] * shares[name] for name in examples if name != "all episodes")
    assert parts == pytest.approx(examples["all episodes"] * shares["all episodes"], abs=1e-6)


def test_what_it_does_is_drawn(trained: RunFolder, tmp_path: Path, daxy: Callable) -> None:
    out = tmp_path / "world.svg"
    example = ("show", TASK, "--grid", "4", "--resampling", "1", "--kind", "simple_intrans")
    request = (*example, "--shots", "0", "--example", "A:1", "--run", str(trained.path))
    found = daxy(*request, "--draw", str(out), "--json").json
    test = tasks.get(TASK).split(DATA).named["A"][:1]
    assert test.worlds is not None
    (said,) = load(trained.path).predict(test.source, test.worlds)
    assert found["prediction"] == ", ".join(said)
    assert np.sum(found["attention"]) == pytest.approx(1, abs=1e-2)
    for share in np.ravel(found["attention"]):
        level = round(255 - 135 * float(np.sqrt(share)))
        assert f"#{level:02x}{level:02x}{level:02x}" in out.read_text()
    caption = " ".join(text.text or "" for text in ElementTree.parse(out).iterfind("{*}text"))
    assert f"{found['source']} network: {found['prediction'] or '(no actions)'}" in caption
    assert ("right" if found["prediction"] == found["target"] else found["target"]) in caption
    told = daxy(*request).out
    assert f"prediction: {found['prediction']}" in told
    shares = told.partition("in per cent:\n")[2].split()
    assert [int(share) for share in shares] == [
        round(100 * x) for row in found["attention"] for x in row
    ]
    assert "no such folder" in daxy(*request[:-1], str(tmp_path / "nowhere")).err
    assert "no finished run" in daxy(*request[:-1], str(tmp_path)).err
    learned = ["train:1" if each == "A:1" else each for each in request]
    other = daxy(*learned, "--split-seed", "1")
    assert (other.code, "another choice of" in other.err) == (2, True)
    other = daxy("show", "scan/simple_p1", "--run", str(trained.path))
    assert f"is a run on {TASK}, not on scan/simple_p1" in other.err
    assert "note:" not in other.err


def test_its_network_is_asked_in_a_world_of_one_s_own(
    trained: RunFolder, tmp_path: Path, daxy: Callable
) -> None:
    example = tasks.get(TASK).split(DATA).named["A"][0]
    file, picture = tmp_path / "world.json", tmp_path / "world.svg"
    file.write_text(json.dumps(world_json.to_json(example.world)))
    command = " ".join(example.source)
    asked = ("ask", str(trained.path), command, "--world", str(file))
    (found,) = daxy(*asked, "--draw", str(picture), "--json").json["answers"]
    answer = load(trained.path)(command, example.world)
    assert (found["prediction"], answer) == (list(answer.tokens), ", ".join(answer.tokens))
    assert found["targets"] == [list(example.target)]
    np.testing.assert_allclose(np.mean(found["attention"], axis=0).sum(), 1, atol=1e-3)
    said = " ".join(text.text or "" for text in ElementTree.parse(picture).iterfind("{*}text"))
    assert f"{command} network: {answer or '(no actions)'}" in said
    assert "expected --world FILE" in daxy(*asked[:3]).err
    none = daxy("ask", str(trained.path), "walk to a thing", "--world", str(file))
    assert (none.code, "'thing' is not in" in none.err) == (2, True)
