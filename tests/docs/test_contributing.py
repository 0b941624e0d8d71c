"""The files that CONTRIBUTING shows are files that work: each is loaded as one and asked."""

import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.docs.blocks import ROOT, blocks

import daxy
from daxy import learners, tasks
from daxy.cli import _parse
from daxy.core.errors import DaxyError
from daxy.core.examples import Examples, Predictions
from daxy.models import transducer
from daxy.models.api import Batch, Sizes
from daxy.models.configs import transducer as configs
from daxy.models.decoding.memory_trace import memory_trace
from daxy.runs.monitor import Monitor
from daxy.tasks import ScanOptions


@pytest.fixture
def shown(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ModuleType]:
    """The file that CONTRIBUTING shows with this phrase in it, as a module."""
    document = blocks(ROOT / "CONTRIBUTING.md")
    (code,) = (b.code for b in document if b.language == "python" and request.param in b.code)
    path = tmp_path / "shown.py"
    path.write_text(code, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("shown", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["shown"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["shown"]


def test_every_file_that_is_shown_has_a_test_here() -> None:
    shown = [b for b in blocks(ROOT / "CONTRIBUTING.md") if b.language == "python"]
    tested = [name for name in globals() if name.startswith("test_the_")]
    assert len(shown) == len(tested)


@pytest.mark.parametrize("shown", ["TASKS ="], indirect=True)
def test_the_task_has_the_sizes_it_states(shown: ModuleType) -> None:
    (task,) = shown.TASKS.values()
    split = task.split(ScanOptions(validation="none"))
    assert split.provenance.sizes == task.sizes
    assert not set(split.train.keys) & set(split.test.keys)
    assert "conjunction/and" in task.card


@pytest.mark.parametrize("shown", ["METRIC ="], indirect=True)
def test_the_metric_judges_the_first_token(shown: ModuleType) -> None:
    examples = Examples.of([("a", "x y"), ("b", "x y"), ("c", "x y")])
    given = Examples.of([("a", "x x"), ("b", "y x"), ("c", "")]).target
    given, task = Predictions.of_sequences(given), tasks.get("scan/simple")
    assert shown.METRIC.score(task, examples, given).tolist() == [True, False, False]
    assert shown.METRIC.total(task, examples, given) == pytest.approx(1 / 3)


@pytest.mark.parametrize("shown", ["class Model"], indirect=True)
def test_the_model_steps_as_it_is_taught(shown: ModuleType) -> None:
    model = shown.Model(shown.Config(width=8), Sizes(6, 5), key=jax.random.key(0))
    source, target = jnp.array([[2, 3, 1], [4, 1, 0]]), jnp.array([[2, 3, 1], [4, 1, 0]])
    wanted = model.logits(Batch(source, target))
    state = model.start(source)
    for place in range(target.shape[1]):
        previous = target[:, place - 1] if place else jnp.zeros(2, int)
        state, scores = model.step(state, previous)
        np.testing.assert_allclose(scores, wanted[:, place], rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("shown", ["MEMORY ="], indirect=True)
def test_the_memory_is_one_that_a_network_can_have(
    shown: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "daxy.models.memories.last", shown)
    monkeypatch.setattr(configs.MEMORIES, "built_in", ["last"])
    config = transducer.Config(memory="last", hidden=8, memory_width=4)
    model = transducer.Model(config, Sizes(6, 5), key=jax.random.key(0))
    source, target = jnp.array([[2, 3, 1], [4, 1, 0]]), jnp.array([[2, 3, 1], [4, 1, 0]])
    wanted = model.logits(Batch(source, target))
    state, previous = model.start(source, target.shape[1]), jnp.zeros(2, int)
    for place in range(target.shape[1]):
        state, scores = model.step(state, previous)
        # What follows the end of a target does not matter.
        there = target[:, place] > 0
        np.testing.assert_allclose(scores[there], wanted[there, place], rtol=1e-4, atol=1e-6)
        previous = target[:, place]
    seen = memory_trace(model, jnp.array([2, 3]), jnp.array([2, 3, 1]))
    assert seen.action_probs.shape[1:] == (1, 1)
    assert np.all((seen.action_probs > 0) & (seen.action_probs < 1))
    with pytest.raises(DaxyError, match="a last has no pushes; leave push-bias out"):
        transducer.Config(memory="last", push_bias=2.0)


@pytest.mark.parametrize("shown", ["LEARNER ="], indirect=True)
def test_the_learner_predicts_the_commonest_target(
    shown: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "daxy.learners.commonest", shown)
    monkeypatch.setattr(learners.LEARNERS, "built_in", ["commonest"])
    trained = daxy.train("scan/simple_p1", "commonest", runs=tmp_path, monitor=Monitor())
    (target,) = {*trained.predictor(0).predict(trained.experiment.of(0).split.test[:5])}
    counts = Counter(trained.experiment.of(0).split.train.target)
    assert counts[target] == max(counts.values())


@pytest.mark.parametrize("shown", ["PAPER ="], indirect=True)
def test_the_paper_has_the_figures_it_prints(shown: ModuleType) -> None:
    table = shown.PAPER.table("table3")
    assert [cell.printed for cell in table.cells] == ["99.0 ±0.5", "14.2 ±1.0", "98.1"]
    assert {cell.recipe.task for cell in table.cells} == {"scan/simple", "scan/length"}


@pytest.mark.parametrize("shown", ["VERB ="], indirect=True)
def test_the_verb_greets(shown: ModuleType) -> None:
    result = _parse.parse(shown.VERB, "greet", ["World"]).run()
    assert result.text == "Hello World"
    assert result.data == {"greeting": "World"}
