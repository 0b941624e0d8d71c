"""The controller with a memory: its size, and its equations one by one."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests import tiny
from tests.models.memories.test_memories import RECURSIONS, Numbers, popped, superposed

from daxy.core.errors import DaxyError
from daxy.core.vocabulary import END, PAD
from daxy.models import memories
from daxy.models._model import Batch, Sizes
from daxy.models.transducer import Config, Course, Model

KINDS = tiny.transducers()
PUBLISHED = {
    ("none", 1): 3.3e5,
    ("none", 2): 9.1e5,
    ("none", 4): 2.1e6,
    ("none", 8): 4.5e6,
    ("stack", 1): 6.7e5,
    ("queue", 1): 6.7e5,
    ("deque", 1): 1.0e6,
}
"""Parameters with 256 units, embeddings and softmax not counted (Grefenstette et al. 2015)."""


@pytest.mark.parametrize(("memory", "layers"), PUBLISHED, ids=str)
def test_a_network_has_as_many_parameters_as_the_paper_says(memory: str, layers: int) -> None:
    config = Config(memory=memory, layers=layers)
    model = jax.eval_shape(lambda key: Model(config, Sizes(130, 130), key=key), jax.random.key(0))
    counted = jax.tree.leaves((model.controller, model.heads, model.first))
    found = sum(leaf.size for leaf in counted)
    assert found == pytest.approx(PUBLISHED[memory, layers], rel=0.03)


def test_pops_begin_held_back() -> None:
    for name in memories.available():
        memory = memories.get(name)
        model = Model(Config(memory=name), Sizes(5, 5), key=jax.random.key(0))
        assert model.heads is not None
        biases = np.asarray(model.heads.wants_bias).reshape(memory.ends, -1)
        place = memory.wants.index("pop")
        np.testing.assert_array_equal(biases[:, place], -1)
        assert (np.abs(np.delete(biases, place, axis=1)) < 0.1).all()


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"memory": "heap"}, "no memory named 'heap'"),
        ({"layers": 0}, "layers must be positive, not 0"),
        ({"width": -1}, "width must be positive, not -1"),
    ],
)
def test_what_cannot_be_built_is_refused(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(DaxyError, match=message):
        Config(**choices)


def sigmoid(values: Any) -> Any:
    return 1 / (1 + np.exp(-values))


def transcribed(
    model: Any, source: list[int], target: list[int]
) -> tuple[Numbers, list[tuple[Numbers, Numbers]]]:
    """Return the scores of each next token, from the paper's equations and no batch.

    And what the controller asks of its memory at each step: what it wants, and its values.
    """
    w = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), model)
    name = model.config.memory
    inputs = [w.source_embedding[-1], *(w.source_embedding[code] for code in source)]
    inputs += [w.target_embedding[-1], *(w.target_embedding[code] for code in target[:-1])]
    hiddens, cells = list(w.first), [0 * first for first in w.first]
    ends = 0 if name == "none" else memories.get(name).ends
    read, moves, scores = np.zeros(ends * model.config.width), list[Any](), list[Any]()
    for row in inputs:
        x = np.concatenate([row, read])
        for number, layer in enumerate(w.controller):
            gates = x @ layer.input_to_gates + layer.input_bias
            gates = gates + hiddens[number] @ layer.state_to_gates + layer.state_bias
            i, f, g, o = np.split(gates, 4)
            cells[number] = sigmoid(f) * cells[number] + sigmoid(i) * np.tanh(g)
            hiddens[number] = sigmoid(o) * np.tanh(cells[number])
            x = np.concatenate([hiddens[number], row])
        said = hiddens[-1]
        if ends:
            wanted = (said @ w.heads.wants + w.heads.wants_bias).reshape(ends, -1)
            values = np.tanh(said @ w.heads.values + w.heads.values_bias).reshape(ends, -1)
            moves.append((wanted, values))
            wants, put = (np.stack(each) for each in zip(*moves, strict=True))
            if name == "superposition":
                read = superposed(wants[:, 0], put[:, 0])[-1]
            else:
                pop, push = sigmoid(wants[..., 0]), sigmoid(wants[..., 1])
                read = RECURSIONS[name](pop, push, put)[-1].ravel()
            said = np.tanh(said @ w.heads.said + w.heads.said_bias)
        scores.append(said @ w.output + w.output_bias)
    return np.stack(scores[len(source) + 1 :]), moves


@pytest.mark.parametrize("name", [*KINDS, "queue x1"])
def test_scores_are_those_of_the_equations(name: str) -> None:
    queue = replace(KINDS["deque x1"], memory="queue")
    model = tiny.model("transducer", KINDS.get(name, queue))
    pairs = tiny.batch(6, 7, count=3)
    found = np.asarray(tiny.logits(model, pairs))
    for row, (source, target) in enumerate(zip(pairs.source, pairs.target, strict=True)):
        said = [int(code) for code in source if code not in (PAD, END)]
        meant = [int(code) for code in target if code != PAD]
        expected, _ = transcribed(model, said, meant)
        np.testing.assert_allclose(found[row, : len(meant)], expected, atol=1e-5)


def held(name: str, pop: Numbers, push: Numbers) -> Numbers:
    """Return how much of what each step put in is left after each step: [steps, steps]."""
    strengths, steps, found = np.zeros(0), list[int](), np.zeros((len(pop), len(pop)))
    for now, (u, d) in enumerate(zip(pop, push, strict=True)):
        for end, amount in enumerate(u):
            strengths = popped(strengths, amount, from_end=end == 0 and name != "queue")
        strengths, steps = np.append(strengths, d[0]), [*steps, now]
        if len(d) > 1:
            strengths, steps = np.append(d[1], strengths), [now, *steps]
        np.add.at(found[now], steps, strengths)
    return found


@pytest.mark.parametrize("name", memories.available())
def test_a_look_inside_sees_what_the_equations_do(name: str) -> None:
    model = tiny.model("transducer", replace(KINDS["deque x1"], memory=name))
    source, said = [2, 3, 4, 2], [3, 2, 4, END]
    look = model.inside(jnp.asarray(source), jnp.asarray(said))
    _, moves = transcribed(model, source, said)
    wants, values = (np.stack(each) for each in zip(*moves, strict=True))
    steps, ends, _ = values.shape
    marks = np.eye(steps * ends).reshape(steps, ends, -1)
    assert steps == len(look.shares) == 1 + len(source) + len(said)
    if name == "superposition":
        shares = np.exp(wants) / np.exp(wants).sum(axis=-1, keepdims=True)
        reads = superposed(wants[:, 0], marks[:, 0])[:, None]
        np.testing.assert_array_less(look.held.sum(axis=1), np.arange(1, steps + 1))
    else:
        shares = sigmoid(wants)
        reads = RECURSIONS[name](shares[..., 0], shares[..., 1], marks)
        found = np.asarray(look.held).reshape(steps, steps, ends).sum(axis=-1)
        np.testing.assert_allclose(found, held(name, shares[..., 0], shares[..., 1]), atol=1e-5)
    np.testing.assert_allclose(look.shares, shares, atol=1e-5)
    np.testing.assert_allclose(look.reads, reads, atol=1e-5)


def test_a_place_without_a_token_leaves_the_memory_as_it_was() -> None:
    model = tiny.model("transducer", KINDS["deque x1"])
    source = jnp.asarray(tiny.codes(0, 4, 5, 11))
    short, long = (model.start(each, 3) for each in (source, jnp.pad(source, ((0, 0), (0, 4)))))
    token = jnp.zeros(4, jnp.int32)
    for _ in range(3):
        (short, one), (long, other) = model.step(short, token), model.step(long, token)
        np.testing.assert_allclose(one, other, atol=1e-6)
        token = jnp.argmax(one, axis=1).astype(jnp.int32)


def gradients(model: Model, width: int) -> Any:
    """Return the compiled gradients of a loss for targets of some width."""

    def loss(model: Model, pairs: Batch) -> Any:
        return jnp.square(model.logits(pairs)).mean()

    return jax.jit(jax.grad(loss)).lower(model, tiny.batch(4, width)).compile()


def keep_everything(patch: pytest.MonkeyPatch) -> None:
    """Let the way back have the vectors of each step, and foresee nothing."""
    patch.setattr(Course, "kept", lambda _, state: state)
    patch.setattr(Course, "foresee", lambda *_: None)


@pytest.mark.parametrize("memory", ["stack", "queue", "deque"])
def test_going_back_with_what_is_foreseen_changes_no_gradient(
    memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = tiny.model("transducer", replace(KINDS["deque x1"], memory=memory))
    pairs = tiny.batch(4, 9)
    found = gradients(model, 9)(model, pairs)
    keep_everything(monkeypatch)
    kept = gradients(model, 9)(model, pairs)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(kept), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_the_way_back_keeps_no_vectors_of_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    model: Any = tiny.model("transducer", replace(KINDS["deque x1"], width=64))
    found = gradients(model, 60).memory_analysis().temp_size_in_bytes
    keep_everything(monkeypatch)
    steps, batch, slots = 65, 5, 130
    kept = gradients(model, 60).memory_analysis().temp_size_in_bytes
    assert kept - found > 0.8 * steps * batch * slots * 64 * 4
