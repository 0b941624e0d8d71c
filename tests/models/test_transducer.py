"""The controller with a memory: its size, and its equations one by one."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests import tiny
from tests.models.memories.test_memories import Numbers, equations, sigmoid

from daxy.core.errors import DaxyError
from daxy.core.vocabulary import END, PAD
from daxy.kernels import checkpointed_scan, deferred_weight_grad
from daxy.models import memories, transducer
from daxy.models.api import Batch, Sizes
from daxy.models.decoding.memory_trace import memory_trace
from daxy.models.layers.controller import Controller
from daxy.models.transducer import Config, Model
from daxy.papers import grefenstette2015 as paper

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


@pytest.mark.parametrize("name", memories.available())
@pytest.mark.parametrize(("choices", "bias"), [({}, -1), ({"pop_bias": 0.5}, 0.5)], ids=str)
def test_pops_begin_held_back_or_as_is_asked(
    name: str, choices: dict[str, float], bias: float
) -> None:
    memory = memories.get(name)
    config = Config(memory=name, hidden=100, embedding=2, memory_width=2, **choices)
    model = Model(config, Sizes(5, 5), key=jax.random.key(0))
    assert model.heads is not None
    biases = np.asarray(model.heads.wants_bias).reshape(memory.ends, -1)
    place = memory.actions.index("pop")
    np.testing.assert_array_equal(biases[:, place], bias)
    assert (np.abs(np.delete(biases, place, axis=1)) <= 0.1).all()  # 1 / sqrt(100)


@pytest.mark.parametrize(
    ("memory", "choices", "places"),
    [
        ("stack", {"push_bias": 2.0}, {1: 2.0}),  # pop, push
        ("superposition", {"push_bias": 2.0}, {0: 2.0}),  # push, pop, keep
        ("deque", {"push_bias": 2.0}, {1: 2.0, 3: 2.0}),  # of the top, then of the bottom
        ("deque", {"bottom_push_bias": -4.0}, {3: -4.0}),
        ("deque", {"push_bias": 2.0, "bottom_push_bias": -4.0}, {1: 2.0, 3: -4.0}),
    ],
    ids=str,
)
def test_pushes_begin_as_is_asked_and_nothing_else_changes(
    memory: str, choices: dict[str, float], places: dict[int, float]
) -> None:
    small = Config(memory=memory, hidden=100, embedding=2, memory_width=2)
    plain, changed = (
        Model(config, Sizes(5, 5), key=jax.random.key(0))
        for config in (small, replace(small, **choices))
    )
    assert plain.heads is not None and changed.heads is not None
    expected = np.array(plain.heads.wants_bias)
    for place, bias in places.items():
        expected[place] = bias
    np.testing.assert_array_equal(changed.heads.wants_bias, expected)


def read_of_each(model: Any, source: Any) -> Any:
    """Return how much of each token is read of a copy: [steps, ends, tokens], `<s>` the first."""
    steps = 2 * len(source) + 1
    reads = memory_trace(model, source, source).reads  # [steps, ends, pushes], two pushes a step
    return reads.reshape(steps, 2, steps, 2).sum(axis=3)


def of_what_is_to_be_said(reads: Any, length: int) -> Any:
    """Return how much is read at each end of each token where it is to be said: [ends, tokens]."""
    tokens = np.arange(length)
    # What is read at one step reaches what is said at the next: token 1 at step length + 1.
    return reads[length + tokens, :, 1 + tokens].T


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", paper.DEQUES)
def test_a_deque_has_what_is_to_be_copied_within_reach_unless_it_begins_plainly(
    name: str, seed: int
) -> None:
    """A plain one reads nothing of it, and no gradient says that it might.

    The others do at their bottom, which goes on from token to token; for these the gradient of how
    much is read leads somewhere. Each reads at its top what `reverse` has to say first.
    """
    length = 36
    source = jax.random.randint(jax.random.key(1), (length,), 3, 131)
    model = Model(Config(**paper.DEQUES[name]), Sizes(131, 131), key=jax.random.key(seed))
    reads = read_of_each(model, source)
    gradients = eqx.filter_grad(
        lambda own: of_what_is_to_be_said(read_of_each(own, source), length).sum()
    )(model)
    steepest = max(float(np.abs(leaf).max()) for leaf in jax.tree.leaves(gradients))
    top, bottom = of_what_is_to_be_said(reads, length)
    assert (top == 0).all()
    assert reads[length, 0, length] > 0.4
    if name == paper.PLAIN:
        assert (bottom == 0).all()
        assert steepest == 0
    else:
        assert bottom.sum() > 1
        assert (bottom > 0.1).sum() > 2
        assert steepest > 0.01


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"memory": "heap"}, "no memory named 'heap'"),
        ({"layers": 0}, "layers must be positive, not 0"),
        ({"memory_width": -1}, "memory-width must be positive, not -1"),
        ({"memory": "stack", "bottom_push_bias": -4.0}, "a stack has no bottom"),
        ({"memory": "none", "bottom_push_bias": -4.0}, "there is no bottom-push-bias"),
        ({"memory": "none", "push_bias": 2.0}, "there is no push-bias"),
        ({"memory": "deque", "bottom_push_bias": np.inf}, "bottom-push-bias must be finite"),
        ({"memory": "queue", "push_bias": np.nan}, "^push-bias must be finite, not nan"),
    ],
)
def test_what_cannot_be_built_is_refused(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(DaxyError, match=message):
        Config(**choices)


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
    read, moves, scores = np.zeros(ends * model.config.memory_width), list[Any](), list[Any]()
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
            read = equations(name, wants, put)[0][-1].ravel()
            said = np.tanh(said @ w.heads.said + w.heads.said_bias)
        scores.append(said @ w.output + w.output_bias)
    return np.stack(scores[len(source) + 1 :]), moves


@pytest.mark.parametrize("name", KINDS)
def test_scores_are_those_of_the_equations(name: str) -> None:
    model = tiny.model("transducer", KINDS[name])
    pairs = tiny.batch(6, 7, count=3)
    found = np.asarray(tiny.logits(model, pairs))
    for row, (source, target) in enumerate(zip(pairs.source, pairs.target, strict=True)):
        said = [int(code) for code in source if code not in (PAD, END)]
        meant = [int(code) for code in target if code != PAD]
        expected, _ = transcribed(model, said, meant)
        np.testing.assert_allclose(found[row, : len(meant)], expected, atol=1e-5)


@pytest.mark.parametrize("name", memories.available())
def test_a_look_inside_sees_what_the_equations_do(name: str) -> None:
    model = tiny.model("transducer", replace(KINDS["deque x1"], memory=name))
    source, said = [2, 3, 4, 2], [3, 2, 4, END]
    look = memory_trace(model, jnp.asarray(source), jnp.asarray(said))
    _, moves = transcribed(model, source, said)
    wants = np.stack([wanted for wanted, _ in moves])
    steps, ends, _ = wants.shape
    marks = np.eye(steps * ends).reshape(steps, ends, -1)
    assert steps == len(look.action_probs) == 1 + len(source) + len(said)
    if name == "superposition":
        shares = np.exp(wants) / np.exp(wants).sum(axis=-1, keepdims=True)
    else:
        shares = sigmoid(wants)
    reads, held = equations(name, wants, marks)
    np.testing.assert_allclose(look.action_probs, shares, atol=1e-5)
    np.testing.assert_allclose(look.reads, reads, atol=1e-5)
    np.testing.assert_allclose(look.contents, held, atol=1e-5)


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
    """Save the vectors of each step for the way back, and precompute nothing."""
    patch.setattr(Controller, "residuals", lambda _, state: state)
    patch.setattr(Controller, "checkpoint", lambda *_: ())
    patch.setattr(Controller, "precompute", lambda _, __, segment, *___: (segment.residuals, None))


@pytest.mark.slow
@pytest.mark.parametrize("memory", memories.available())
@pytest.mark.parametrize("segment", [5, 1])
def test_going_back_in_segments_with_precomputed_reads_changes_nothing(
    memory: str, segment: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 14 steps in one segment, in three, which takes a step more to fill up, and in 14."""
    model: Any = tiny.model("transducer", replace(KINDS["deque x1"], memory=memory))
    pairs = tiny.batch(4, 9)
    with monkeypatch.context() as patch:
        keep_everything(patch)
        kept = gradients(model, 9)(model, pairs), model.logits(pairs)
    monkeypatch.setattr(transducer, "SEGMENT", segment)
    found = gradients(model, 9)(model, pairs), model.logits(pairs)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(kept), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("memory", memories.available())
@pytest.mark.parametrize("segments", [tiny.slow(1), 2, tiny.slow(3)])
def test_gradients_of_where_a_network_stands_are_those_of_a_plain_scan(
    memory: str, segments: int
) -> None:
    """Of a memory that has something in it too: three steps were done before."""
    model: Any = tiny.model("transducer", replace(KINDS["deque x1"], memory=memory))
    recurrence, weights, biases = model.recurrence, model.step_weights(), model.head_biases()
    rows = np.random.default_rng(0).standard_normal((9, 4, model.config.embedding))
    inputs = model.step_inputs(jnp.asarray(rows, jnp.float32), jnp.ones((9, 4), bool))
    done = jax.tree.map(lambda own: own[:3], inputs)
    ahead = jax.tree.map(lambda own: own[3:], inputs)

    def step(carry: Any, inputs: Any) -> Any:
        return recurrence.step(
            deferred_weight_grad.undeferred(weights), biases, carry, inputs, None
        )

    def total(scan: Any) -> Any:
        return jax.grad(lambda begin: jnp.square(scan(begin)).sum())(begin)

    begin, _ = jax.lax.scan(step, model.initial_state(4, 9), done)
    plain = total(lambda begin: jax.lax.scan(step, begin, ahead)[1])
    arguments = recurrence, weights, biases
    found = total(lambda begin: checkpointed_scan.scan(*arguments, begin, ahead, segments=segments))
    assert max(np.abs(leaf).max() for leaf in jax.tree.leaves(plain.memory)) > 1e-3
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(plain), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("memory", memories.available())
def test_what_the_way_back_needs_grows_as_the_length_does(
    memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of four times the steps four times as much; in one segment, nearly sixteen times."""
    model: Any = tiny.model("transducer", replace(KINDS["deque x1"], memory=memory))

    def grown() -> float:
        used = (gradients(model, width).memory_analysis() for width in (315, 1275))
        short, long = (each.temp_size_in_bytes for each in used)
        return long / short

    assert grown() < 5
    monkeypatch.setattr(transducer, "SEGMENT", 2000)
    assert grown() > 8


def test_the_way_back_keeps_no_vectors_of_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    model: Any = tiny.model("transducer", replace(KINDS["deque x1"], memory_width=64))
    found = gradients(model, 60).memory_analysis().temp_size_in_bytes
    keep_everything(monkeypatch)
    steps, batch, slots = 65, 5, 130
    kept = gradients(model, 60).memory_analysis().temp_size_in_bytes
    assert kept - found > 0.8 * steps * batch * slots * 64 * 4
