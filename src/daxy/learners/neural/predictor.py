"""A trained network: answers in text, attention, hidden states and the trace of its memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Self, cast

import jax
import numpy as np
from numpy.typing import NDArray

from daxy.core.errors import WrongRequest, require
from daxy.core.examples import Tokens
from daxy.learners.neural.decoder import Decoder, TokenRows, WorldRows, check_counts, columns
from daxy.models.api import ModelInputs, init_decoder_state, sees_worlds
from daxy.models.decoding.inspect import alignments, last_states, mean_attention
from daxy.models.decoding.memory_trace import MemoryTrace, memory_trace
from daxy.models.memories import Memory
from daxy.models.transducer import Model as Transducer
from daxy.training.backend import backend
from daxy.worlds.grid import CHANNELS
from daxy.worlds.world import World

NO_MEMORY = "this network has no memory"


class Predictor(Decoder):
    """A network with the vocabularies that it was trained with."""

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
    def last_states(
        self, sources: TokenRows, worlds: WorldRows | None = None
    ) -> NDArray[np.float32]:
        """Return the decoder's top hidden vector after each source's output: [count, hidden].

        Raises:
            WrongRequest: see `predict`.
        """
        return last_states(self.model, self._inputs(sources, worlds), self.max_decode_length)

    @backend()
    def attention_to_cells(
        self, sources: TokenRows, outputs: TokenRows, worlds: WorldRows | None = None
    ) -> NDArray[np.float32]:
        """Return the mean attention to each cell over the steps of an output: [count, cells].

        Cells are in row-major order. A network without worlds attends to source tokens instead.

        Args:
            sources: Tokens of each source.
            outputs: Tokens of each output, as `predict` returns them.
            worlds: The world of each source, if the network sees worlds.

        Raises:
            WrongRequest: the network has no attention; and see `predict`.
        """
        inputs, targets = self._attention_inputs(sources, worlds), columns(outputs)
        check_counts(inputs, targets, "outputs")
        return mean_attention(self.model, inputs, self.targets.encode(targets))

    @backend()
    def alignment(
        self, source: Tokens, output: Tokens, world: WorldRows | None = None
    ) -> NDArray[np.float32]:
        """Return the attention weights at each decoding step: [steps, keys].

        Steps are the tokens of the output, and END unless the output has the maximum length. Keys
        are cells as in `attention_to_cells`, or source tokens with END, after a start token if the
        network has one.

        Raises:
            WrongRequest: see `attention_to_cells`.
        """
        inputs = self._attention_inputs([source], world)
        codes = self.targets.encode(columns([output]))[:, : self.max_decode_length]
        return alignments(self.model, inputs, codes)[0]

    def _attention_inputs(self, sources: TokenRows, worlds: WorldRows | None) -> ModelInputs:
        require(self.attends, "this network has no attention")
        return self._inputs(sources, worlds)

    @property
    @backend()
    def attends(self) -> bool:
        """Whether the network has attention weights."""
        world = np.zeros((1, 1, 1, len(CHANNELS)), np.int32) if sees_worlds(self.model) else None
        inputs = ModelInputs(np.zeros((1, 1), np.int32), world)
        state = jax.eval_shape(partial(init_decoder_state, max_length=1), self.model, inputs)
        return getattr(state, "attention_weights", None) is not None

    @property
    def has_memory(self) -> bool:
        """Whether the network has a memory whose trace can be shown."""
        return self._memory is not None

    @property
    def memory(self) -> Memory:
        """The network's memory.

        Raises:
            WrongRequest: it has none.
        """
        if self._memory is None:
            raise WrongRequest(NO_MEMORY)
        return self._memory

    @property
    def _memory(self) -> Memory | None:
        return self.model.config.kind if isinstance(self.model, Transducer) else None

    @backend()
    def memory_trace(self, source: Tokens, output: Tokens) -> MemoryTrace:
        """Return the states of the memory while the network reads a source and writes an output.

        Raises:
            WrongRequest: the network has no memory, or does not know a token.
        """
        require(self.has_memory, NO_MEMORY)
        read = self.sources.encode(columns([source]))[0, :-1].astype(np.int32)
        written = self.targets.encode(columns([output]))[0].astype(np.int32)
        trace = jax.jit(memory_trace)(cast("Transducer", self.model), read, written)
        return jax.tree.map(np.asarray, trace)


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
        """Attention weights at each step, see `Predictor.alignment`; None without attention."""
        if not self._network.attends:
            return None
        worlds = None if self.world is None else [self.world]
        return self._network.alignment(self.source, self.tokens, worlds)
