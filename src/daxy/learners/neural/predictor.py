"""A trained network that predicts for any source, and its file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self, TypeAlias, cast

import jax
import msgspec
import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from daxy import models
from daxy.batching.table import Words
from daxy.core.display import Brief
from daxy.core.errors import WrongRequest, in_one_line, quote, require
from daxy.core.examples import Examples, Sequences, Tokens
from daxy.core.files import write_bytes
from daxy.core.json_objects import NotJSON, decode
from daxy.core.vocabulary import RESERVED, Vocabulary
from daxy.learners.neural.network import Network
from daxy.models.api import Model, ModelInputs, Sizes, init_decoder_state, sees_worlds
from daxy.models.decoding.greedy import greedy
from daxy.models.decoding.inspect import alignments, greedy_of_length, last_states, mean_attention
from daxy.models.decoding.memory_trace import MemoryTrace, memory_trace
from daxy.models.memories import Memory
from daxy.models.transducer import Model as Transducer
from daxy.training.backend import PRNG, backend, pinned
from daxy.training.checkpoint import Arrays, damaged, named_arrays, read_arrays, restored
from daxy.training.parts import LONGEST_OUTPUT
from daxy.worlds.columns import Worlds
from daxy.worlds.grid import CHANNELS
from daxy.worlds.world import World

Tokenized: TypeAlias = Iterable[Sequence[str]]
"""Token sequences: columns of them, or any others."""
Seen: TypeAlias = Iterable[World]
"""Worlds: a table of them (`Worlds`), or any others."""
FILE = "model.safetensors"
"""Name of a network's file."""
MOST_TOKENS = (1 << 16) - RESERVED
"""Tokens of a vocabulary at most: codes have 16 bits."""
NO_MEMORY = "this network has no memory"


@dataclass(frozen=True, eq=False)
class Predictor(Brief):
    """A network with the vocabularies that it was trained with."""

    model: Model
    sources: Vocabulary
    targets: Vocabulary
    max_decode_length: int
    """Maximum tokens of an output, from its protocol."""

    @property
    def _brief(self) -> str:
        name = type(self.model).__module__.rpartition(".")[2]
        leaves = jax.tree.leaves(self.model)
        weights = sum(leaf.size for leaf in leaves if isinstance(leaf, jax.Array | np.ndarray))
        tokens = f"{len(self.sources.tokens):,} source tokens, {len(self.targets.tokens):,} target"
        return f"{name}: {weights:,} weights, {tokens} tokens"

    @backend()
    def predict(
        self,
        sources: Examples | Tokenized,
        worlds: Seen | None = None,
        *,
        max_decode_length: int | None = None,
    ) -> Sequences:
        """Return the greedy output for each source, said in its world if the network sees worlds.

            >>> network.predict([("jump", "twice"), "turn left".split()])

        Args:
            sources: Examples, or the tokens of each source.
            worlds: The world of each source, if the network sees worlds; examples have their own.
            max_decode_length: Maximum tokens of an output; that of the protocol unless given.

        Raises:
            WrongRequest: a source is a text, not tokens, or has a token that the network does not
                know; or a network that sees worlds is given none, or not one for each source; or
                `max_decode_length` is not positive or beyond `LONGEST_OUTPUT`.
        """
        if isinstance(sources, Examples):
            sources, worlds = sources.source, getattr(sources, "worlds", worlds)
        length = self.max_decode_length if max_decode_length is None else max_decode_length
        bounds = f"positive and at most {LONGEST_OUTPUT:,}, not {length:,}"
        require(0 < length <= LONGEST_OUTPUT, f"max-decode-length must be {bounds}")
        given = self._given(sources, worlds)
        return self.targets.decode(greedy(self.model, given, length))

    def save(self, folder: Path) -> list[str]:
        """Write the weights and the vocabularies; return the file's name."""
        return [save(folder, named_arrays(self.model), (self.sources, self.targets))]

    def __call__(self, source: str | Sequence[str], world: World | None = None) -> Answer:
        """Return the output for one source as text.

            >>> predictor("jump left twice")
            'I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP'

        Args:
            source: A text with spaces between its tokens, or the tokens.
            world: The world of the source, if the network sees worlds.

        Raises:
            WrongRequest: see `predict`.
        """
        tokens = self.sources.split(source) if isinstance(source, str) else tuple(source)
        (answer,) = self.answers([tokens], world)
        return answer

    def answers(self, sources: Sequence[Tokens], world: World | None = None) -> list[Answer]:
        """Return the output for each source as text, all in one world if the network sees worlds.

        Raises:
            WrongRequest: see `predict`.
        """
        worlds = None if world is None else [world] * len(sources)
        outputs = self.predict(sources, worlds)
        pairs = zip(sources, outputs, strict=True)
        return [Answer.of(self, source, output, world) for source, output in pairs]

    @backend()
    def predict_of_length(
        self, sources: Tokenized, lengths: NDArray[np.integer], worlds: Seen | None = None
    ) -> Sequences:
        """Return the greedy output for each source, given how many tokens it is to have.

        Raises:
            WrongRequest: see `predict`.
        """
        given = self._given(sources, worlds)
        _check_counts(given, np.asarray(lengths), "lengths")
        return self.targets.decode(greedy_of_length(self.model, given, lengths))

    @backend()
    def last_states(self, sources: Tokenized, worlds: Seen | None = None) -> NDArray[np.float32]:
        """Return the decoder's top hidden vector after each source's output: [count, hidden].

        Raises:
            WrongRequest: see `predict`.
        """
        return last_states(self.model, self._given(sources, worlds), self.max_decode_length)

    @backend()
    def attended(
        self, sources: Tokenized, said: Tokenized, worlds: Seen | None = None
    ) -> NDArray[np.float32]:
        """Return how much each place is attended to while something is said: [count, places].

        Places are words, or the cells of a world row after row; the mean over the steps.

        Args:
            sources: What the network is asked.
            said: What it says to each, as `predict` returns it.
            worlds: Where each source is said, if the network sees worlds.

        Raises:
            WrongRequest: the network does not say what it attends to; and see `predict`.
        """
        given, outputs = self._attending(sources, worlds), _columns(said)
        _check_counts(given, outputs, "outputs")
        return mean_attention(self.model, given, self.targets.encode(outputs))

    @backend()
    def alignment(
        self, source: Tokens, said: Tokens, world: Seen | None = None
    ) -> NDArray[np.float32]:
        """Return how much each place is attended to at each step: [steps, places].

        Steps are the tokens that are said, and the end, which does not come where the limit does;
        places as in `attended`, words with the end of the source, and with a start before them
        where the network has one.

        Raises:
            WrongRequest: see `attended`.
        """
        given = self._attending([source], world)
        codes = self.targets.encode(_columns([said]))[:, : self.max_decode_length]
        return alignments(self.model, given, codes)[0]

    def _attending(self, sources: Tokenized, worlds: Seen | None) -> ModelInputs:
        """Return what is asked, of a network that says what it attends to."""
        require(self.attends, "this network has no attention")
        return self._given(sources, worlds)

    @property
    @backend()
    def attends(self) -> bool:
        """Whether the network says what it attends to."""
        world = np.zeros((1, 1, 1, len(CHANNELS)), np.int32) if sees_worlds(self.model) else None
        nothing = ModelInputs(np.zeros((1, 1), np.int32), world)
        begins = jax.eval_shape(partial(init_decoder_state, max_length=1), self.model, nothing)
        return getattr(begins, "attention_weights", None) is not None

    @property
    def has_memory(self) -> bool:
        """Whether the network has a memory that can be looked into."""
        return isinstance(self.model, Transducer) and self.model.config.kind is not None

    @property
    def memory(self) -> Memory:
        """The network's memory.

        Raises:
            WrongRequest: it has none.
        """
        kind = self.model.config.kind if isinstance(self.model, Transducer) else None
        if kind is None:
            raise WrongRequest(NO_MEMORY)
        return kind

    @backend()
    def inside(self, source: Tokens, said: Tokens) -> MemoryTrace:
        """Return what the network's memory does while it reads a source and says something.

        Raises:
            WrongRequest: the network has no memory, or does not know a token.
        """
        require(self.has_memory, NO_MEMORY)
        read = self.sources.encode(_columns([source]))[0, :-1].astype(np.int32)
        written = self.targets.encode(_columns([said]))[0].astype(np.int32)
        found = jax.jit(memory_trace)(cast("Transducer", self.model), read, written)
        return jax.tree.map(np.asarray, found)

    def _given(self, sources: Tokenized, worlds: Seen | None) -> ModelInputs:
        given = ModelInputs(self.sources.encode(_columns(sources)), None)
        if not sees_worlds(self.model):
            return given
        if worlds is None:
            raise WrongRequest("this network needs worlds")
        table = worlds if isinstance(worlds, Worlds) else Worlds.of(worlds)
        _check_counts(given, table, "worlds")
        return given._replace(world=table.tensors)


class Answer(str):
    """A network's output as text."""

    source: Tokens
    tokens: Tokens
    """The output."""
    world: World | None
    _network: Predictor

    @classmethod
    def of(cls, network: Predictor, source: Tokens, tokens: Tokens, world: World | None) -> Self:
        """Return the output of a network for a source."""
        answer = cls(network.targets.joined(tokens))
        answer.source, answer.tokens = source, tokens
        answer.world, answer._network = world, network
        return answer

    @cached_property
    def attention(self) -> NDArray[np.float32] | None:
        """Attention to each place at each step, see `Predictor.alignment`; None without any."""
        if not self._network.attends:
            return None
        worlds = None if self.world is None else [self.world]
        return self._network.alignment(self.source, self.tokens, worlds)


def _check_counts(given: ModelInputs, beside: Sized, named: str) -> None:
    """Refuse what is not one for each source."""
    count = len(given.source)
    require(len(beside) == count, f"{count} sources and {len(beside)} {named}; expected one each")


def _columns(sequences: Tokenized) -> Sequences:
    """Return token sequences as columns, whatever holds them."""
    if isinstance(sequences, Sequences):
        return sequences
    rows = list(sequences)
    text = next((row for row in [sequences, *rows] if isinstance(row, str)), None)
    form = "expected the tokens of each sequence, as a tuple or list"
    require(text is None, f"{form}, not {quote(text)}")
    return Sequences.of(rows)


def save(folder: Path, weights: Arrays, words: Words) -> str:
    """Write a network's weights and vocabularies into a folder; return the file's name."""
    sources, targets = words
    # One entry: several would be written in any order.
    vocabularies = json.dumps({"source": sources.tokens, "target": targets.tokens})
    write_bytes(folder / FILE, safetensors.numpy.save(weights, {"vocabularies": vocabularies}))
    return FILE


@backend()
def load(folder: Path, network: Network) -> Predictor:
    """Return the network that `save` wrote into a folder.

    Raises:
        RunFailed: the file is missing or damaged.
    """
    path = folder / FILE
    arrays, metadata = read_arrays(path)
    sources, targets = _vocabularies(path, metadata)
    model = restored(arrays, _empty_model(network, sources, targets), path)
    for name, weights in arrays.items():
        if not np.isfinite(weights).all():
            raise damaged(path, f"{name} has values that are not finite numbers")
    return Predictor(model, sources, targets, network.training.max_decode_length)


def _vocabularies(path: Path, metadata: Mapping[str, str]) -> Words:
    """Return the tokens that a network knows, of sources and of targets."""
    try:
        words = msgspec.convert(decode(metadata.get("vocabularies", "")), _Vocabularies)
    except (NotJSON, msgspec.ValidationError) as error:
        problem = in_one_line(str(error).replace("`$`", "it").replace("`$.", "`"))
        raise damaged(path, f"its vocabularies cannot be read ({problem})") from None
    for tokens in (words.source, words.target):
        if len({*tokens}) < len(tokens) or len(tokens) > MOST_TOKENS:
            expected = f"expected up to {MOST_TOKENS:,} tokens, each once"
            raise damaged(path, f"its vocabularies are wrong; {expected}")
    return Vocabulary(words.source), Vocabulary(words.target)


class _Vocabularies(msgspec.Struct):
    """The vocabularies in a network's file."""

    source: tuple[str, ...]
    target: tuple[str, ...]


@pinned()
def _empty_model(network: Network, sources: Vocabulary, targets: Vocabulary) -> Any:
    """Return a model of this shape without weights, to be filled with loaded ones."""
    build = models.get(network.model).Model
    channels = len(CHANNELS) if network.sees_worlds else 0
    sizes = Sizes(len(sources), len(targets), channels)
    key = partial(jax.random.key, 0, impl=PRNG)
    return jax.eval_shape(lambda: build(network.config, sizes, key=key()))
