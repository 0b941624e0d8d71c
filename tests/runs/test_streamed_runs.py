"""Runs that train on examples without end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from tests.runs.small_runs import Stopped, group_of
from tests.tiny_training import Listener

from daxy import tasks
from daxy.augmentation.geca import Geca
from daxy.core.errors import WrongRequest
from daxy.core.examples import Examples, Sequences
from daxy.core.split import Split
from daxy.learners.neural import Neural
from daxy.models.api import Batch
from daxy.models.transducer import Config
from daxy.runs.experiment import Experiment
from daxy.runs.folder import RunFolder
from daxy.runs.run import Run
from daxy.runs.saved import load
from daxy.tasks import ScanOptions
from daxy.tasks._transduction_options import SymbolOptions
from daxy.training.config import TrainingConfig
from daxy.training.interrupt import Interrupted
from daxy.training.loop import one_replica
from daxy.training.objective import cross_entropy
from daxy.training.protocols import protocol
from daxy.training.sampler import EpochData

pytestmark = pytest.mark.usefixtures("one_shape")

EACH = 6
"""Updates in an epoch."""
RECIPE = protocol("grefenstette2015").with_settings(
    steps=14, eval_every=EACH, batch_size=4, max_decode_length=8
)
LENGTHS = {"min_length": 2, "max_length": 4, "test_min_length": 5, "test_max_length": 6}
DATA = SymbolOptions(symbols=5, train_pairs=40, validation_pairs=5, test_pairs=5, **LENGTHS)


def experiment(folder: Path, recipe: TrainingConfig = RECIPE) -> Experiment:
    learner = Neural(
        model="transducer", config=Config(hidden=6, memory_width=4, embedding=4), training=recipe
    )
    return Experiment(
        task="transduction/copy", learner=learner, data=DATA, folder=folder, checkpoint_seconds=0.0
    )


def supplies(*seeds: int, epochs: int = 3) -> list[EpochData]:
    asked = experiment(Path("runs"))
    training = group_of([asked.of(seed) for seed in seeds]).training
    return [training.data(number) for number in range(epochs)]


def pairs(supply: EpochData, replica: int) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return what a replica meets in an epoch."""
    table, rows = supply.table, supply.train[replica].rows
    source, target = (
        table.sources.decode(table.source[rows]),
        table.targets.decode(table.target[rows]),
    )
    return list(zip(source, target, strict=True))


def test_a_run_meets_a_stretch_of_the_stream_one_after_another() -> None:
    stream = tasks.get("transduction/copy").split(DATA).stream
    assert stream is not None
    met = [pair for supply in supplies(0) for pair in pairs(supply, 0)]
    known = stream.pairs(range(14 * 4))
    assert met == list(zip(known.source, known.target, strict=True))


def test_each_epoch_and_each_seed_has_pairs_of_its_own() -> None:
    found = supplies(0, 1)
    assert [len(supply.train[0].rows) for supply in found] == [24, 24, 8]
    met = [pairs(supply, replica) for supply in found for replica in (0, 1)]
    assert len({tuple(each) for each in met}) == len(met)
    alone = [pairs(supply, 0) for supply in supplies(1)]
    assert [pairs(supply, 1) for supply in found] == alone


def test_an_interrupted_run_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    undisturbed = experiment(tmp_path / "whole").run([0, 1])
    with pytest.raises(Interrupted):
        experiment(tmp_path / "parts").run([0, 1], monitor=Stopped(at=3))
    resumed = experiment(tmp_path / "parts").run([0, 1])
    for one, other in zip(undisturbed, resumed, strict=True):
        assert (one.path / "model.safetensors").read_bytes() == (
            other.path / "model.safetensors"
        ).read_bytes()
    scores = resumed[0].scores()
    assert (scores["steps"], scores["epochs"]) == (14, 3)
    records = resumed[0].records()
    best = min(record["perplexity"] for record in records)
    assert scores["perplexity"] == best == records[scores["best_epoch"] - 1]["perplexity"]
    assert set(scores["validation_scores"]) == {"exact", "fine"}


@dataclass(frozen=True)
class Lengthening:
    """Pairs of which those after the first epoch have longer targets than any before."""

    def pairs(self, rows: range) -> Examples:
        symbols = ("a1", "a2", "a3", "a4", "a5")
        sources = [symbols[:2] for _ in rows]
        targets = [symbols[: 2 if row < EACH * 4 else 5] for row in rows]
        return Examples(Sequences.of(sources, symbols), Sequences.of(targets, symbols))


@dataclass(frozen=True, kw_only=True)
class Longer(SymbolOptions):
    """Such pairs."""

    def load(self, task: str) -> Split:
        return replace(super().load(task), stream=Lengthening())


def test_an_epoch_with_longer_pairs_than_those_before_is_trained_on_whole(tmp_path: Path) -> None:
    asked = experiment(tmp_path, RECIPE.with_settings(learning_rate=1e-9))
    data = Longer(**DATA.choices)
    run = Run(task=asked.task, learner=asked.learner, data=data, seed=0)
    group = group_of([run])
    first, second = map(group.training.data, (0, 1))
    assert int(first.table.target_lengths.max()) == 3
    assert int(second.table.target_lengths.max()) == 6
    fitted = group.train(Listener())
    rows, model = second.train[0].rows, one_replica(fitted.state.model, 0)
    source, target = (side[rows].astype(int) for side in (second.table.source, second.table.target))
    weights = jnp.full(len(rows), 1 / np.count_nonzero(target))
    whole = cross_entropy(model, Batch(jnp.asarray(source), jnp.asarray(target)), weights, None)
    assert fitted.trainer.history[0][1].loss == pytest.approx(float(whole), rel=1e-4)


def test_what_ends_cannot_be_streamed(tmp_path: Path) -> None:
    asked = replace(experiment(tmp_path), task="scan/simple_p1", data=ScanOptions())
    with pytest.raises(WrongRequest, match="scan/simple_p1 has a fixed number of examples"):
        asked.run([0])


def test_a_stream_is_not_augmented() -> None:
    with pytest.raises(WrongRequest, match="GECA needs a training set"):
        Neural(model="transducer", config=Config(), training=RECIPE, geca=Geca())


FLAGS = [
    *("--symbols", "5", "--train-pairs", "40", "--validation-pairs", "5", "--test-pairs", "5"),
    *("--min-length", "2", "--max-length", "4", "--test-min-length", "5", "--test-max-length", "6"),
]


def test_an_example_is_told_without_a_run_and_cannot_be_drawn(daxy: Callable[..., Any]) -> None:
    asked = ("show", "transduction/copy", *FLAGS, "--example", "test:2")
    source, _, target = daxy(*asked).out.strip().partition(": ")
    assert source == target != ""
    assert "expected --run of" in daxy(*asked, "--draw", "in.png").err


def test_what_a_memory_does_is_shown(tmp_path: Path, daxy: Callable[..., Any]) -> None:
    (run,) = experiment(tmp_path).run([0])
    asked = ("show", "transduction/copy", *FLAGS, "--run", str(run.path), "--example", "test:2")
    found = daxy(*asked, "--json").json
    source = found["source"].split()
    assert found["tokens"] == ["<s>", *source, "|||", *found["prediction"].split()]
    assert set(found["strengths"]) == {"pop", "push"}
    assert {len(each) for each in found["strengths"].values()} == {len(found["tokens"])}
    assert np.shape(found["reads"]["read"]) == (len(found["tokens"]),) * 2
    lines = daxy(*asked).out.splitlines()
    assert lines[-1].split()[:2] == [str(len(found["tokens"]) - 1), found["tokens"][-1]]
    head, *rows = lines[-len(found["tokens"]) - 1 :]
    for name in ("pop", "push", "contents"):  # its figures end where it does
        end = head.index(name) + len(name)
        assert all(row[end - 1].isdigit() and row[end] == " " for row in rows)
    picture = tmp_path / "inside.svg"
    assert str(picture) in daxy(*asked, "--draw", str(picture)).out
    assert "|||" in picture.read_text()
    assert "--force replaces it" in daxy(*asked, "--draw", str(picture)).err
    assert "expected a name that ends in .png, .svg, .pdf" in daxy(*asked, "--draw", "in.gif").err


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A finished run."""
    (found,) = experiment(tmp_path_factory.mktemp("runs")).run([0])
    return found


def test_a_run_is_looked_at_with_its_own_data_unless_other_is_chosen(
    run: RunFolder, daxy: Callable[..., Any]
) -> None:
    asked = ("show", "transduction/copy", "--run", str(run.path), "--example", "test:2")
    assert daxy(*asked, "--json").json == daxy(*asked, *FLAGS, "--json").json
    learned = (*asked[:-1], "train:1", "--symbols", "4")
    other = daxy(*learned)
    assert (other.code, "another choice of transduction/copy's data" in other.err) == (2, True)


def test_a_run_is_looked_at_with_shorter_and_longer_sequences_than_its_own_test(
    run: RunFolder, daxy: Callable[..., Any]
) -> None:
    asked = ("show", "transduction/copy", "--run", str(run.path), "--example", "test:1")
    limit = run.config().learner["training"]["max_decode_length"]
    for length in (3, limit + 2):
        given = (
            "--symbols",
            "5",
            "--test-min-length",
            str(length),
            "--test-max-length",
            str(length),
        )
        found = daxy(*asked, *given, "--json").json
        data = SymbolOptions(symbols=5, test_min_length=length, test_max_length=length)
        test = tasks.get("transduction/copy").split(data).test[0]
        assert found["source"] == " ".join(test.source)
        said = load(run.path).predict([test.source], max_decode_length=max(limit, length + 1))
        assert found["prediction"] == " ".join(said[0])
    unknown = daxy(*asked, "--symbols", "9")
    assert (unknown.code, "not in the network's vocabulary" in unknown.err) == (2, True)


def test_the_network_of_a_run_is_scored_on_its_own_test_and_on_longer_ones(
    run: RunFolder, tmp_path: Path, daxy: Callable[..., Any]
) -> None:
    asked = ("score", "transduction/copy", "--run", str(run.path))
    scores = run.scores()
    assert daxy(*asked, "--json").json["scores"] == pytest.approx(scores["test"])
    own = tasks.get("transduction/copy").split(DATA)
    longer = [*FLAGS]
    longer[longer.index("--test-max-length") + 1] = "40"
    limit = run.config().learner["training"]["max_decode_length"]
    assert limit < 40
    picture, out = tmp_path / "lengths.svg", tmp_path / "said.jsonl"
    found = daxy(*asked, *longer, "--draw", str(picture), "--out", str(out), "--json")
    assert f"longer than --max-decode-length {limit}:" in found.err
    assert max(map(int, found.json["by_target_length"])) > own.test.target.lengths.max()
    assert "tokens in the target" in picture.read_text()
    assert str(picture) == found.json["drawn"]
    test = replace(DATA, test_max_length=40).load("transduction/copy").test
    for most in (limit, 60):
        flags = () if most == limit else ("--max-decode-length", str(most))
        daxy(*asked, *longer, *flags, "--out", str(out), "--force")
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        said = load(run.path).predict(test.source, max_decode_length=most)
        assert [row["prediction"].split() for row in rows] == [list(each) for each in said]


SHAPE = (
    "--hidden",
    "6",
    "--memory-width",
    "4",
    "--embedding",
    "4",
    "--batch-size",
    "4",
    "--max-decode-length",
    "8",
)


def test_a_table_says_what_chose_the_weights_and_whether_training_had_converged(
    run: RunFolder, daxy: Callable[..., Any]
) -> None:
    asked = ("train", "transduction/copy", "transducer", "--protocol", "grefenstette2015", *FLAGS,
             *SHAPE, "--eval-every", str(EACH), "--runs", str(run.path.parent))  # fmt: skip
    found = daxy(*asked, "--steps", "14")
    assert "training" not in found.err
    assert f"{run.scores()['perplexity']:.4g}" in found.out.split()
    assert "perplexity" in found.out
    assert "stopped early" not in found.out
    still = ("--learning-rate", "1e-30", "--early-stopping", "1", "--steps", "60")
    assert ", stopped early" in daxy(*asked, *still).out


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "expected either --predictions FILE or --run RUN"),
        (("--run", "RUN", "--predictions", "said.jsonl"), "expected either"),
        (
            ("--predictions", "said.jsonl", "--max-decode-length", "3"),
            "--max-decode-length is for --run",
        ),
        (("--run", "RUN", "--max-decode-length", "0"), "max-decode-length must be positive, not 0"),
        (("--run", "RUN", "--max-decode-length", "1"), "so none can be right"),
        (("--run", "RUN", "--symbols", "99", *FLAGS[2:]), "not in the network's vocabulary"),
        (("--run", "."), "no finished run"),
        (("--run", "RUN", "--draw", "lengths.txt"), "expected a name that ends in"),
    ],
)
def test_what_cannot_be_scored_is_refused(
    flags: tuple[str, ...], said: str, run: RunFolder, daxy: Callable[..., Any]
) -> None:
    given = [str(run.path) if word == "RUN" else word for word in flags]
    answer = daxy("score", "transduction/copy", *given)
    assert (answer.code, said in " ".join(answer.err.split())) == (2, True), answer.err


def test_the_network_of_another_task_is_scored_and_it_is_said(
    run: RunFolder, daxy: Callable[..., Any]
) -> None:
    note = f"{run.path} is a run on transduction/copy"
    assert note not in daxy("score", "transduction/copy", "--run", str(run.path)).err
    other = daxy("score", "transduction/reverse", *FLAGS, "--run", str(run.path))
    assert (other.code, note in " ".join(other.err.split())) == (0, True)


def test_an_end_that_is_written_out_is_told(tmp_path: Path, daxy: Callable[..., Any]) -> None:
    """What ends every prediction and no target makes all of them wrong."""
    test, file = tasks.get("transduction/copy").split(DATA).test, tmp_path / "said.jsonl"
    for end, told in ((" </s>", True), ("", False)):
        said = (" ".join(own) + end for own in test.target)
        pairs = zip(test.keys, said, strict=True)
        rows = ({"key": key, "prediction": own} for key, own in pairs)
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        request = ["score", "transduction/copy", *FLAGS, "--predictions", str(file), "--json"]
        answer = daxy(*request, "--allow-unknown-tokens")
        assert ("no target of transduction/copy has: '</s>'" in answer.err) is told
        assert answer.json["scores"]["exact"] == (not told)
        assert daxy(*request, "--normalize").json["scores"]["exact"] == 1


def test_a_network_without_a_memory_is_not_looked_into(
    tmp_path: Path, daxy: Callable[..., Any]
) -> None:
    plain = experiment(tmp_path)
    config = Config(memory="none", hidden=6, embedding=4)
    (run,) = replace(plain, learner=replace(plain.learner, config=config)).run([0])
    answer = daxy("show", "transduction/copy", *FLAGS, "--run", str(run.path))
    assert (answer.code, "this network has neither a memory" in answer.err) == (2, True)
