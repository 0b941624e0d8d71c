"""Greedy search over networks whose every word is written down beforehand."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh
from jaxtyping import Array, Float, Int
from tests import tiny

from daxy.core.vocabulary import END, PAD
from daxy.models import memories
from daxy.models.api import Batch, Model, ModelInputs, Sizes
from daxy.models.decoding.greedy import FRESH, SLOTS, greedy, greedy_replicas
from daxy.models.decoding.inspect import greedy_of_length, last_states
from daxy.models.transducer import Config

SYMBOLS = 6
ENTRY, FORGET, NEW, EXIT = range(4)
"""The order of an LSTM's gates."""


class Parrot(eqx.Module):
    """Says the source with each code raised by one, whatever it is told; ends where that ends."""

    favour_padding: bool = eqx.field(static=True, default=False)

    def logits(self, batch: Batch, dropout: None = None) -> Float[Array, "batch target symbols"]:
        raise NotImplementedError

    def start(self, source: Int[Array, "batch source"]) -> tuple[Array, Array]:
        return source, jnp.zeros(len(source), int)

    def step(self, state: tuple[Array, Array], token: Array) -> tuple[tuple[Array, Array], Array]:
        source, place = state
        here = jnp.take_along_axis(source, place[:, None], axis=1)[:, 0]
        best = jnp.where(here == END, END, here + 1)
        logits = jax.nn.one_hot(best, SYMBOLS)
        if self.favour_padding:
            logits = logits.at[:, PAD].set(9.0)
        return (source, (place + 1) % source.shape[1]), logits


class Counter(Parrot):
    """Says 2, 3, 4, 5 and so on from 2 again, as long as the source is: after each what follows."""

    def step(self, state: tuple[Array, Array], token: Array) -> tuple[tuple[Array, Array], Array]:
        source, place = state
        following = jnp.where((token == PAD) | (token == SYMBOLS - 1), 2, token + 1)
        best = jnp.where(place == (source != PAD).sum(axis=1) - 1, END, following)
        return (source, place + 1), jax.nn.one_hot(best, SYMBOLS)


SOURCE = jnp.array([[2, 3, 4, END], [4, END, PAD, PAD], [END, PAD, PAD, PAD], [3, 3, END, PAD]])
SAID = [[3, 4, 5, END], [5, END, PAD, PAD], [END, PAD, PAD, PAD], [4, 4, END, PAD]]


@pytest.mark.parametrize("favour_padding", [False, True])
def test_the_best_token_but_never_padding_is_said_until_the_end(favour_padding: bool) -> None:
    found = greedy(Parrot(favour_padding), ModelInputs(SOURCE), 4)
    np.testing.assert_array_equal(found, SAID)


def test_nothing_is_said_after_the_end() -> None:
    np.testing.assert_array_equal(greedy(Parrot(), ModelInputs(SOURCE), 7)[:, 4:], np.zeros((4, 3)))


def test_the_limit_cuts_what_has_not_ended() -> None:
    np.testing.assert_array_equal(greedy(Parrot(), ModelInputs(SOURCE), 2), np.array(SAID)[:, :2])


def test_a_length_that_is_given_is_the_length_of_what_is_said() -> None:
    found = greedy_of_length(Parrot(), ModelInputs(SOURCE), np.array([5, 3, 0, 1]))
    expected = [[3, 4, 5, 2, 3], [5, 2, 2, PAD, PAD], [PAD] * 5, [4, PAD, PAD, PAD, PAD]]
    np.testing.assert_array_equal(found, expected)


def test_a_network_told_the_length_that_it_chose_says_the_same() -> None:
    model = tiny.model("seq2seq", tiny.seq2seqs()["gru+attn"])
    sources = sentences(np.random.default_rng(0), SLOTS + 3)
    said = greedy(model, ModelInputs(sources), 12)
    ends = (said == END).any(axis=1)
    assert ends.sum() > 0
    lengths = np.where(ends, (said == END).argmax(axis=1), 12)
    told = greedy_of_length(model, ModelInputs(sources), lengths)
    kept = np.where(np.arange(12) < lengths[:, None], said, PAD)
    np.testing.assert_array_equal(told, kept[:, : told.shape[1]])


def grid(rows: int, columns: int) -> Mesh:
    """Return so many of the devices that tests/conftest.py asks for."""
    devices = jax.devices()[: rows * columns]
    if len(devices) < rows * columns:
        pytest.skip(f"needs {rows * columns} devices")
    return Mesh(np.array(devices).reshape(rows, columns), ("replicas", "examples"))


GRIDS = [(1, 1), (1, 4), (2, 1), (2, 2)]


@pytest.mark.parametrize("shape", GRIDS)
def test_each_replica_says_its_own_sources(shape: tuple[int, int]) -> None:
    codes = np.asarray(SOURCE)
    found = greedy_replicas(
        Parrot(), [ModelInputs(codes), ModelInputs(codes[::-1][:3])], 4, grid(*shape)
    )
    np.testing.assert_array_equal(found[0], SAID)
    np.testing.assert_array_equal(found[1], SAID[::-1][:3])


@pytest.mark.parametrize("shape", GRIDS)
@pytest.mark.parametrize("limit", [1, tiny.slow(5), tiny.slow(7), 40])
def test_more_sources_than_slots_are_all_said_in_their_places(
    limit: int, shape: tuple[int, int]
) -> None:
    draw = np.random.default_rng(0)
    counts = [3 * SLOTS + 17, FRESH // 2]
    sources = [sentences(draw, count) for count in counts]
    said_by_each = greedy_replicas(Parrot(), list(map(ModelInputs, sources)), limit, grid(*shape))
    for codes, found in zip(sources, said_by_each, strict=True):
        expected = np.zeros((len(codes), limit), int)
        for row, source in enumerate(codes):
            said = [code + 1 if code != END else END for code in source if code != PAD][:limit]
            expected[row, : len(said)] = said
        np.testing.assert_array_equal(found, expected)


def test_each_slot_is_told_what_was_said_in_it() -> None:
    sources = sentences(np.random.default_rng(0), 3 * SLOTS)
    found = greedy(Counter(), ModelInputs(sources), 40)
    for said, length in zip(found, (sources != PAD).sum(axis=1) - 1, strict=True):
        expected = [*(place % (SYMBOLS - 2) + 2 for place in range(length)), END]
        np.testing.assert_array_equal(said, np.pad(expected, (0, 39 - length)))


def clerk(name: str) -> Model:
    """Return a network that fills its memory with its source and then says what comes out of it.

    Instead of each word that it says it puts the next higher one in, if there is one; a
    superposition stack cannot take and put at once. A DeQue is filled at the top and emptied at the
    bottom. The units are the word that is met, the word that was read, and whether it speaks.
    """
    memory, words, much = memories.get(name), np.eye(SYMBOLS), 100.0
    config = Config(
        memory=name, hidden=2 * SYMBOLS + 1, embedding=SYMBOLS + 1, memory_width=SYMBOLS
    )
    shaped = tiny.model("transducer", config, sizes=Sizes(SYMBOLS, SYMBOLS))
    own: Any = jax.tree.map(lambda weight: np.zeros(weight.shape, np.float32), shaped)
    met, known, speaks = slice(SYMBOLS), slice(SYMBOLS, 2 * SYMBOLS), -1
    own.source_embedding[met, met] = words
    own.target_embedding[:, speaks] = 1
    gates = own.controller[0].input_to_gates.reshape(-1, 4, config.hidden)
    gates[met, NEW, met] = gates[-SYMBOLS:, NEW, known] = much * words
    gates[SYMBOLS, NEW, speaks], gates[SYMBOLS, ENTRY, known] = much, 2 * much
    biases = own.controller[0].input_bias.reshape(4, config.hidden)
    biases[[ENTRY, FORGET, EXIT]] = [[much], [-much], [much]]
    biases[ENTRY, known] = -much  # what is read has no part in what is put in before it speaks
    wants = own.heads.wants.reshape(config.hidden, memory.ends, -1)
    values = own.heads.values.reshape(config.hidden, memory.ends, -1)
    push, pop = map(memory.actions.index, ("push", "pop"))
    own.heads.wants_bias.reshape(memory.ends, -1)[:, [push, pop]] = -much
    wants[met, 0, push] = wants[speaks, -1, pop] = 3 * much
    values[met, 0] = much * words
    if name != "superposition":
        wants[known, 0, push], values[known, 0] = 3 * much, much * np.eye(SYMBOLS, k=1)
        wants[2 * SYMBOLS - 1, 0, push] = 0  # there is no higher word
    own.heads.said[known, met] = much * words
    own.output[met], own.output_bias[END] = words, 0.5
    return jax.tree.map(jnp.asarray, own)


@pytest.mark.parametrize(
    "name", [tiny.slow("stack"), tiny.slow("queue"), "deque", tiny.slow("superposition")]
)
def test_each_slot_has_a_memory_that_is_as_old_as_what_is_in_it(name: str) -> None:
    sources = sentences(np.random.default_rng(0), 2 * SLOTS, 9)
    found = greedy(clerk(name), ModelInputs(sources), 40)
    for said, source in zip(found, sources, strict=True):
        left, expected = [int(code) for code in source if code > END], list[int]()
        while left:
            word = left.pop(0 if name in ("queue", "deque") else -1)
            expected.append(word)
            if word < SYMBOLS - 1 and name != "superposition":
                left.append(word + 1)
        np.testing.assert_array_equal(said, np.pad([*expected, END], (0, 39 - len(expected))))


def sentences(draw: np.random.Generator, count: int, width: int = 33) -> np.ndarray:
    """Return sources of all lengths from 0 on, END included in the width."""
    codes = np.zeros((count, width), int)
    for row, length in zip(codes, draw.integers(width, size=count), strict=True):
        row[:length] = draw.integers(2, SYMBOLS - 1, size=length)
        row[length] = END
    return codes


def test_no_sources_are_said_at_once() -> None:
    assert greedy(Parrot(), ModelInputs(np.zeros((0, 4), int)), 7).shape == (0, 7)


@pytest.mark.parametrize("name", ["gru+attn", tiny.slow("lstm"), tiny.slow("srn+attn-dep")])
def test_what_is_said_is_what_teacher_forcing_with_it_finds_best(name: str) -> None:
    network = tiny.model("seq2seq", tiny.seq2seqs()[name])
    source = tiny.batch(6, 9).source
    said = greedy(network, ModelInputs(source), 9)
    forced = tiny.logits(network, Batch(source, jnp.asarray(said, int))).at[:, :, PAD].set(-jnp.inf)
    expected = np.where(np.asarray(said) != PAD, np.argmax(forced, axis=-1), PAD)
    np.testing.assert_array_equal(said, expected)


@pytest.mark.slow
def test_the_last_state_is_the_one_that_says_the_end() -> None:
    model = tiny.model("stacked", tiny.stackeds()["gru x2+attn"])
    sources = sentences(np.random.default_rng(1), SLOTS + 2)[[0, 1, -1]]
    said, found = (
        greedy(model, ModelInputs(sources), 9),
        last_states(model, ModelInputs(sources), 9),
    )
    assert found.shape == (3, 6)
    for row, own in enumerate(sources):
        state, token = model.start(jnp.asarray(own[None])), jnp.zeros(1, jnp.int32)
        for code in said[row][said[row] != PAD]:
            state, _ = model.step(state, token)
            token = jnp.full(1, int(code), jnp.int32)
        np.testing.assert_allclose(found[row], state.states[-1][0][0], atol=1e-5)
