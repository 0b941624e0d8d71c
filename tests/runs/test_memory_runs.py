"""Networks with a memory are trained on tasks whose examples end, and several side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.kill_and_resume import TEST_EXAMPLES, Few

from daxy.core.errors import WrongRequest
from daxy.core.examples import Sequences
from daxy.formats import parquet
from daxy.learners.neural import Neural
from daxy.models import memories
from daxy.models.transducer import Config
from daxy.runs.experiment import Experiment
from daxy.runs.folder import RunFolder
from daxy.runs.saved import load
from daxy.training.checkpoint import read_arrays
from daxy.training.protocols import protocol

pytestmark = pytest.mark.usefixtures("one_shape")

RECIPE = protocol("grefenstette2015", is_stream=False).with_settings(
    steps=20, eval_every=10, max_decode_length=12
)


def experiment(folder: Path, memory: str, task: str = "scan/simple_p1") -> Experiment:
    config = Config(memory=memory, hidden=6, memory_width=4, embedding=4)
    learner = Neural(model="transducer", config=config, training=RECIPE)
    return Experiment(task=task, learner=learner, data=Few(), folder=folder)


def check(run: RunFolder, metrics: set[str]) -> None:
    """Its weights are those of the epoch of least perplexity, and say what was judged."""
    scores, records = run.scores(), run.records()
    assert (scores["steps"], scores["epochs"]) == (20, 2)
    assert scores["perplexity"] == min(record["perplexity"] for record in records)
    assert scores["test"].keys() >= metrics
    table = parquet.load(run.predictions, ("source", "prediction")).to_pydict()
    assert len(table["source"]) == TEST_EXAMPLES
    said = load(run.path).predict([tuple(each) for each in table["source"][:9]])
    assert [list(each) for each in said] == table["prediction"][:9]


@pytest.mark.parametrize("memory", memories.available())
def test_any_memory_learns_from_scan(memory: str, tmp_path: Path) -> None:
    (run,) = experiment(tmp_path, memory).run([0])
    check(run, {"exact"})
    first, last = (record["loss"] for record in run.records())
    assert last < first


def test_and_from_nacs(tmp_path: Path) -> None:
    (run,) = experiment(tmp_path, "queue", "nacs/simple_p1").run([0])
    check(run, {"exact", "back_mapping"})


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory, one_shape: None) -> list[RunFolder]:
    """Two networks with a stack, trained side by side."""
    return experiment(tmp_path_factory.mktemp("stacks"), "stack").run([0, 1])


def test_a_network_is_asked_in_tokens(stacks: list[RunFolder]) -> None:
    run = stacks[0]
    network, asked = load(run.path), [["jump", "twice"], ("turn", "left")]
    known = Sequences.of(asked)
    assert list(network.predict(asked)) == list(network.predict(known))
    assert list(network.predict(iter(asked))) == list(network.predict(known))
    for text in ("jump twice", ["jump twice"]):
        with pytest.raises(WrongRequest, match="tokens of each sequence.*not 'jump twice'"):
            network.predict(text)
    with pytest.raises(WrongRequest, match="'crawl'"):
        network.predict([("crawl", "twice")])


def test_beside_another_one_it_learns_what_it_learns_alone(
    stacks: list[RunFolder], tmp_path: Path
) -> None:
    (alone,) = experiment(tmp_path, "stack").run([1])
    (one, _), (other, _) = (
        read_arrays(run.path / "model.safetensors") for run in (alone, stacks[1])
    )
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_allclose(one[name], other[name], rtol=0, atol=1e-5)
