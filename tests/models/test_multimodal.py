"""What is particular to the network of Ruis et al. (2020, appendix D and the authors' code)."""

from typing import Any

import jax
import numpy as np
import pytest
from numpy.typing import NDArray
from tests import tiny
from tests.transcribed import lstm, softmax

from daxy.core.errors import DaxyError
from daxy.core.vocabulary import END, PAD, RESERVED
from daxy.languages import grounded
from daxy.models.api import Sizes
from daxy.models.configs.multimodal import WIDEST
from daxy.models.decoding.inspect import alignments, mean_attention
from daxy.models.multimodal import Config, Model
from daxy.worlds.grid import ACTIONS, CHANNELS, LARGEST

KINDS = {
    variant: Config(variant=variant, hidden=6, embedding=5, channels=4, kernel_sizes="1,3")
    for variant in ("code", "paper")
}
every_kind = pytest.mark.parametrize("variant", KINDS)
Array = NDArray[np.float64]


def network(variant: str) -> Any:
    return tiny.model("multimodal", KINDS[variant])


def convolved(world: Array, kernel: Array, bias: Array) -> Array:
    """Return the features of each cell, row after row, of [row, column, channel]."""
    side, size = int((len(kernel) // world.shape[2]) ** 0.5), len(world)
    weights = kernel.reshape(side, side, world.shape[2], -1)
    found = np.tile(bias, (size, size, 1))
    for row, column, down, right in np.ndindex(size, size, side, side):
        y, x = row + down - side // 2, column + right - side // 2
        if 0 <= y < size and 0 <= x < size:
            found[row, column] += world[y, x] @ weights[down, right]
    return found.reshape(size * size, -1)


def transcribed(
    model: Model, source: list[int], target: list[int], world: Any
) -> tuple[Array, Array]:
    """Return the scores of every next token of one example, as the equations have them.

    Beside them, how much each of these steps attends to each cell, row after row. A probability
    that a symbol which never comes has is shared by two columns of ours; here PAD has both.
    """
    own = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), model)
    code, hidden = own.config.variant == "code", own.config.hidden
    encoder = own.encoder

    rows = encoder.embedding[[len(encoder.embedding) - 1, *source]]
    read = np.zeros((len(rows), hidden))
    last = np.zeros(hidden)
    for way, order in ((0, range(len(rows))), (1, range(len(rows))[::-1])):
        state = np.zeros(hidden), np.zeros(hidden)
        weights = encoder.input_to_gates, encoder.state_to_gates
        biases = encoder.input_bias, encoder.state_bias
        for place in order:
            state = lstm(rows[place], state, *(each[way] for each in (*weights, *biases)))
            read[place] += state[0]
        last += state[0]

    kernels = zip(own.world_encoder.kernels, own.world_encoder.biases, strict=True)
    features = np.maximum(0, np.hstack([convolved(world, *kernel) for kernel in kernels]))

    word_keys, cell_keys = read @ own.word_key, features @ own.cell_key
    words, cells = (word_keys, cell_keys) if code else (read, features)
    begin = last @ own.bridge + own.bridge_bias
    state = (np.tanh(begin),) * 2 if code else (begin,) * 2

    scores, looks = list[Array](), list[Array]()
    layer = own.input_to_gates, own.state_to_gates, own.input_bias, own.state_bias
    for token in [len(own.target_embedding) - 1, *target[:-1]]:
        energies = np.tanh(state[0] @ own.word_query + word_keys) @ own.word_energy
        found = softmax(energies) @ words
        query = np.concatenate([state[0], found])
        if code:
            query = np.tanh(query @ own.condition + own.condition_bias)
        energies = np.tanh(query @ own.cell_query + cell_keys) @ own.cell_energy
        looks.append(softmax(energies))
        seen = looks[-1] @ cells
        embedded = own.target_embedding[token]
        state = lstm(np.concatenate([embedded, found, seen]), state, *layer)
        row = np.concatenate([embedded, state[0], found, seen])
        row = row @ own.pre_output @ own.output if code else row @ own.output
        row[PAD] = np.logaddexp(row[PAD], row[-1])
        scores.append(row[:-1])
    return np.array(scores), np.array(looks)


@every_kind
def test_logits_are_those_of_the_equations(variant: str) -> None:
    model, pairs = network(variant), tiny.batch(6, 9)
    found = np.asarray(tiny.logits(model, pairs))
    for row in range(len(found)):
        source, target, world = (np.asarray(each)[row] for each in pairs)
        words, actions = (codes[codes != PAD].tolist() for codes in (source, target))
        wanted, _ = transcribed(model, words, actions, world)
        np.testing.assert_allclose(found[row, : len(actions)], wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("kernels", "manners", "weights"),
    # As the authors' training logs say: of all tests but I, and of the set of I.
    [("1,5,7", True, 440_275), ("1,5,13", False, 535_975)],
)
def test_it_has_as_many_weights_as_the_authors_network_at_the_released_vocabulary(
    kernels: str, manners: bool, weights: int
) -> None:
    commands = [each for each in grounded.commands() if manners or each.manner is None]
    words = {word for command in commands for word in grounded.say(command)}
    actions = [action for action in ACTIONS if manners or action != "stay"]
    sizes = Sizes(RESERVED + len(words), RESERVED + len(actions), len(CHANNELS))
    made = jax.eval_shape(lambda: Model(Config(kernel_sizes=kernels), sizes, key=jax.random.key(0)))
    assert sum(leaf.size for leaf in jax.tree.leaves(made)) == weights


@every_kind
def test_the_world_is_seen(variant: str) -> None:
    model, pairs = network(variant), tiny.batch(6, 9)
    assert pairs.world is not None
    elsewhere = pairs._replace(world=pairs.world.at[0, 1, 2].set(1 - pairs.world[0, 1, 2]))
    difference = np.abs(tiny.logits(model, pairs) - tiny.logits(model, elsewhere))
    assert difference[0].max() > 1e-4
    assert difference[1:].max() == 0


@every_kind
def test_cells_are_attended_to_as_the_equations_say(variant: str) -> None:
    """At each step, and in the mean over those that say an action, of which END is none."""
    model, pairs = network(variant), tiny.batch(6, 9)
    said = np.asarray(pairs.target).astype(np.uint16)
    found = alignments(model, pairs.inputs, said)
    means = mean_attention(model, pairs.inputs, said)
    assert found.shape == (5, 9, 9)
    assert any((row == END).argmax() > 1 for row in said)
    for row in range(len(said)):
        source, target, world = (np.asarray(each)[row] for each in pairs)
        words, actions = (codes[codes != PAD].tolist() for codes in (source, target))
        _, wanted = transcribed(model, words, actions, world)
        np.testing.assert_allclose(found[row, : len(actions)], wanted, atol=1e-6)
        steps = wanted[: max(1, len(actions) - 1)]
        np.testing.assert_allclose(means[row], steps.mean(axis=0), atol=1e-6)


def test_the_widest_window_reaches_over_the_largest_grid() -> None:
    """A model does not know what a grid is."""
    assert WIDEST == 2 * LARGEST - 1
    assert Config(kernel_sizes=f"1,{WIDEST}").sides == (1, WIDEST)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"hidden": 0}, "hidden must be positive"),
        ({"kernel_sizes": "1,4"}, "odd numbers"),
        ({"kernel_sizes": "1 5"}, "odd numbers"),
        ({"kernel_sizes": ""}, "odd numbers"),
        (
            {"kernel_sizes": "1,511"},
            "at most 509, which reaches over the largest grid; not '1,511'",
        ),
        ({"world_dropout": 1.0}, "world-dropout"),
    ],
)
def test_wrong_settings_are_refused(choices: dict[str, Any], said: str) -> None:
    with pytest.raises(DaxyError, match=said):
        Config(**choices)
