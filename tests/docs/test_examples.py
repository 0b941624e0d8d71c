"""The examples run as they stand, and what they write is what daxy reads."""

import contextlib
import importlib.util
import io
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.docs.blocks import ROOT, Block, run

from daxy.models import seq2seq
from daxy.models.api import Batch, Sizes
from daxy.models.configs.seq2seq import Config
from daxy.training.objective import cross_entropy

OWN_MODEL = ROOT / "examples" / "bring_your_own_model.py"
FROM_SCRATCH = ROOT / "examples" / "train_from_scratch.py"

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs the extra `peers`"
)


@pytest.mark.peer
@needs_torch
def test_a_model_of_one_s_own_is_scored(
    tmp_path: Path, daxy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    every_step, few_steps = "range(1, 601)", "range(1, 21)"
    code = OWN_MODEL.read_text("utf-8")
    assert every_step in code
    run(Block("python", code.replace(every_step, few_steps), None), tmp_path)
    answer = daxy("score", "scan/simple", "--predictions", str(tmp_path / "predictions.jsonl"))
    assert answer.code == 0, answer.err
    assert "4,182 test examples" in answer.out


def test_it_takes_fewer_than_forty_lines() -> None:
    assert len(OWN_MODEL.read_text("utf-8").splitlines()) < 40


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    """What `train_from_scratch.py` holds after two steps, and what it printed."""
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setattr(sys, "argv", [str(FROM_SCRATCH), "--steps", "2"])
        return runpy.run_path(str(FROM_SCRATCH)) | {"printed": printed.getvalue()}


@pytest.mark.slow
def test_a_network_trained_from_scratch_is_scored(script: dict[str, Any]) -> None:
    assert len(script["answers"]) == 1_208
    assert re.search(
        r"step 2 of 2: loss \d+\.\d+\s+test exact match: \d+\.\d%\s$", script["printed"]
    )


def test_the_page_has_the_command_that_does_the_same() -> None:
    text = FROM_SCRATCH.read_text("utf-8").replace("\\\n", " ")
    command = next(line for line in text.splitlines() if line.startswith("    daxy train "))
    page = (ROOT / "docs" / "howto" / "load-data.md").read_text("utf-8")
    assert " ".join(command.split()) in page


@pytest.mark.slow
def test_its_loss_and_gradients_are_those_of_daxy(script: dict[str, Any]) -> None:
    config = Config(hidden=script["HIDDEN"], embedding=script["EMBEDDING"])
    sizes = Sizes(len(script["words"]), len(script["actions"]))
    model = seq2seq.Model(config, sizes, key=jax.random.key(1))
    sources, targets = (jnp.asarray(script[name][::1000]) for name in ("sources", "targets"))
    even = jnp.full(len(sources), 1 / len(sources))

    def ours(model: seq2seq.Model) -> jax.Array:
        return cross_entropy(model, Batch(sources, targets), even, None)

    def plain(model: seq2seq.Model) -> jax.Array:
        return script["loss"](weights_of(model), sources, targets).mean()

    expected, found = (eqx.filter_value_and_grad(each)(model) for each in (ours, plain))
    for one, other in zip(*map(jax.tree.leaves, (expected, found)), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-6)


def weights_of(model: seq2seq.Model) -> dict[str, Any]:
    """Return the weights of a network as `train_from_scratch.py` has them."""
    encoder = model.encoder
    gates = encoder.input_to_gates, encoder.input_bias, encoder.state_to_gates, encoder.state_bias
    inputs = jnp.concatenate([model.embedding_to_gates, model.context_to_gates])
    return {
        "words": encoder.embedding,
        "encoders": tuple(tuple(part[way] for part in gates) for way in (0, 1)),
        "bridge": (model.bridge[0], model.bridge_bias[0]),
        "actions": model.target_embedding,
        "query": model.query,
        "key": model.key,
        "energy": model.energy,
        "decoder": (inputs, model.gates_bias, model.state_to_gates, model.state_bias),
        "pre_output": model.pre_output,
        "output": model.output,
    }
