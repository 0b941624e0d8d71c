"""A network that reads and writes in one go, with a memory (Grefenstette et al. 2015, section 3).

A source and its target are one sequence, `<s> source ||| target`. A recurrent controller goes
through all of it; at each step it says what to push and how strongly to pop, and what is read from
the memory reaches it at the next. Without a memory it is the paper's deep LSTM, whose input
reaches every layer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import ceil, isfinite
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from daxy.core.errors import UnknownName, require
from daxy.core.settings import check_positive, later
from daxy.core.vocabulary import END, PAD
from daxy.models import memories
from daxy.models._model import Batch, Sizes
from daxy.models.layers import known_states, late_weights, retraced
from daxy.models.layers.cells import State, cell
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.embedding import embed, embed_previous, with_start
from daxy.models.layers.initial import normal, uniform
from daxy.models.layers.linear import times
from daxy.models.layers.recurrence import Recurrence, drawn
from daxy.models.memories import Foreseen, HandedOn, Memory, Moves

NONE = "none"
LSTM = cell("lstm")

STRETCH = 160
"""The most steps of which the way back has the states of a memory at once. The paper's training
sequences, of at most 130 steps, fit in one stretch: divided they would take a tenth more time."""

PROTOCOL = "grefenstette2015"
"""Protocol of the paper that the network is from."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """A controller with a memory; every field is a flag of `daxy train`."""

    memory: str = "stack"
    """stack, queue, deque, superposition (Joulin & Mikolov 2015), or none."""
    hidden: int = 256
    """Units of each layer of the controller."""
    layers: int = 1
    """Layers of the controller."""
    embedding: int = 64
    """Width of a token's embedding and, with a memory, of the vector that predicts the next
    token."""
    memory_width: int = 256
    """Width of a vector in the memory."""
    pop_bias: float = -1.0
    """Initial bias of pops; from 0 on, the memory often stays unused."""
    push_bias: float | None = later(None)
    """Initial bias of pushes; None: near 0, as other biases. For a deque with a bias of its own at
    the bottom, that of the top."""
    bottom_push_bias: float | None = later(None)
    """Initial bias of pushes at the bottom of a deque; None: as at the top. Well below the pop bias
    (-1.75 with 0.5 at the top, or -4 with 2), the bottom first reads the oldest push, as a
    queue."""

    def __post_init__(self) -> None:
        check_positive(self, "hidden", "layers", "embedding", "memory_width")
        known = [*memories.available(), NONE]
        if self.memory not in known:
            raise UnknownName("memory", self.memory, known)
        for name in ("memory_width", "pop_bias", "push_bias", "bottom_push_bias"):
            value, flag = getattr(self, name), name.replace("_", "-")
            require(value is None or isfinite(value), f"{flag} must be finite, not {value}")
            plain = value == getattr(type(self), name)
            said = f"without a memory there is no {flag}; leave it out"
            require(self.memory != NONE or plain, said)
        if self.kind is not None and "push" not in self.kind.wants:
            said = f"a {self.memory} has no pushes; leave push-bias out"
            require(self.push_bias is None and self.bottom_push_bias is None, said)
        if self.kind is not None and "bottom" not in self.kind.sides:
            said = f"a {self.memory} has no bottom; leave bottom-push-bias out"
            require(self.bottom_push_bias is None, said)

    @property
    def kind(self) -> Memory | None:
        """The memory, if there is one."""
        return None if self.memory == NONE else memories.get(self.memory)


class Heads(eqx.Module):
    """From the controller to the memory, and to the next token."""

    wants: Float[Array, "hidden wants"]
    wants_bias: Float[Array, " wants"]
    values: Float[Array, "hidden values"]
    values_bias: Float[Array, " values"]
    said: Float[Array, "hidden embedding"]
    said_bias: Float[Array, " embedding"]

    def __init__(self, config: Config, memory: Memory, *, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 6)
        hidden, wanted = config.hidden, memory.ends * len(memory.wants)
        self.wants = uniform(keys[0], (hidden, wanted), hidden)
        bias = uniform(keys[1], (wanted,), hidden).reshape(memory.ends, -1)
        for want, first in (("pop", config.pop_bias), ("push", config.push_bias)):
            if first is not None and want in memory.wants:
                bias = bias.at[:, memory.wants.index(want)].set(first)
        if config.bottom_push_bias is not None:
            place = memory.sides.index("bottom"), memory.wants.index("push")
            bias = bias.at[place].set(config.bottom_push_bias)
        self.wants_bias = bias.ravel()
        self.values = uniform(keys[2], (hidden, memory.ends * config.memory_width), hidden)
        self.values_bias = uniform(keys[3], (memory.ends * config.memory_width,), hidden)
        self.said = uniform(keys[4], (hidden, config.embedding), hidden)
        self.said_bias = uniform(keys[5], (config.embedding,), hidden)


class Carry(NamedTuple):
    """Where the network stands between two tokens."""

    states: tuple[State, ...]
    """Of each layer of the controller."""
    read: Float[Array, "batch read"]
    """What the last step read from the memory."""
    memory: tuple[Array, ...]


class Here(NamedTuple):
    """What a step is given, or, with time before the batch, what many steps are."""

    gates: tuple[Float[Array, "*time batch gates"], ...]
    """What the token adds to the gates of each layer of the controller, biases included."""
    is_token: Bool[Array, "*time batch"]
    time: Int[Array, " any"] | Int[Array, ""]
    """Steps before this one: of all rows, or of each."""


class Asked(NamedTuple):
    """What a controller asks of its memory."""

    wanted: Float[Array, "batch ends wants"]
    values: Float[Array, "batch ends width"]


class Inside(NamedTuple):
    """What a memory does while a network reads a source and writes a target.

    A push is a step's at one of the ends: push i is step i // ends's at end i % ends.
    """

    shares: Float[Array, "steps ends wants"]
    """How much of each operation each step does at each end."""
    reads: Float[Array, "steps ends pushes"]
    """How much of each push is read after a step."""
    held: Float[Array, "steps pushes"]
    """How much of each push is in the memory after a step."""


class Constants(NamedTuple):
    """What every step reads beside the weights."""

    wants_bias: Float[Array, " wants"] | None
    values_bias: Float[Array, " values"] | None


class DecoderState(NamedTuple):
    """Where a decoder stands between two tokens."""

    carry: Carry
    time: Int[Array, " batch"]
    """Steps done, those of the source among them."""

    @property
    def top(self) -> Float[Array, "batch hidden"]:
        """The hidden vector that the next token is made from."""
        return self.carry.states[-1][0]


@dataclass(frozen=True)
class Course(retraced.Course):
    """The way of a network through joint sequences, which gives its top hidden vectors.

    Its memory is kept where stretches begin, and of a memory of strengths no vectors.
    """

    config: Config

    def step(
        self,
        apply: late_weights.Apply,
        constants: Constants,
        state: Carry,
        here: Here,
        foreseen: Foreseen | None,
    ) -> tuple[Carry, Float[Array, "batch hidden"]]:
        """Return where the network stands after a token, and the top hidden vector."""
        carry = self.advance(apply, constants, state, here, foreseen)
        return carry, carry.states[-1][0]

    def kept(self, state: Carry) -> Carry:
        """Return all but the memory."""
        return state._replace(memory=())

    def kept_at_start(self, state: Carry) -> tuple[Array, ...]:
        """Return what is needed to have the memory again."""
        return () if self.config.kind is None else self.config.kind.kept_at_start(state.memory)

    def foresee(
        self, constants: Constants, stretch: retraced.Stretch, last: Carry, later: Carry
    ) -> tuple[Carry, Foreseen | None]:
        """Return where the network stood before each step, and what its memory does in all."""
        memory, kept, products = self.config.kind, stretch.kept, stretch.products
        if memory is None:
            return kept, None
        asked = jax.vmap(partial(self.asked, constants))(products["wants"], products["values"])
        moves = Moves(stretch.inputs.time, stretch.inputs.is_token, *asked)
        before, foreseen = memory.foresee(stretch.at_start, moves, last.memory, later.memory)
        return kept._replace(memory=before), foreseen

    def again(self, known: Carry, foreseen: Foreseen | None) -> Carry:
        """Return where the network stood, a memory of strengths as it is where all is foreseen."""
        return self.entering(known, foreseen)

    def entering(self, later: Carry, foreseen: Foreseen | None) -> Carry:
        """Return the gradient of where the network stood, none of any read handed on yet."""
        if foreseen is None:
            return later
        return later._replace(memory=foreseen.entering(later.memory[0]))

    def leaving(self, earlier: Carry, foreseen: Foreseen | None) -> Carry:
        """Return the gradient of where the network stood, of all that was handed on."""
        if foreseen is None:
            return earlier
        return earlier._replace(memory=foreseen.leaving(HandedOn(*earlier.memory)))

    def advance(
        self,
        apply: late_weights.Apply,
        known: Constants,
        carry: Carry,
        here: Here,
        foreseen: Foreseen | None = None,
    ) -> Carry:
        """Return where the network stands after a token; where there is none, where it stood."""
        return self.remembering(carry, here, *self.controlled(apply, known, carry, here), foreseen)

    def remembering(
        self,
        carry: Carry,
        here: Here,
        after: tuple[State, ...],
        asked: Asked | None,
        foreseen: Foreseen | None = None,
    ) -> Carry:
        """Return where the network stands once its memory has done what the controller asks."""
        memory = self.config.kind
        if memory is None or asked is None:
            return Carry(after, carry.read, ())
        kept, read = memory.step(carry.memory, here.time, here.is_token, *asked, foreseen)
        read = jnp.where(here.is_token[:, None], read.reshape(len(read), -1), carry.read)
        return Carry(after, read, kept)

    def controlled(
        self, apply: late_weights.Apply, known: Constants, carry: Carry, here: Here
    ) -> tuple[tuple[State, ...], Asked | None]:
        """Return the states of the controller after a token, and what it asks of its memory."""
        after, below = list[State](), carry.read
        for number, (state, gates) in enumerate(zip(carry.states, here.gates, strict=True)):
            met = apply(f"layer {number}", jnp.concatenate([state[0], below], axis=1))
            after.append(known_states.advanced(LSTM, here.is_token, state, gates, met))
            below = after[-1][0]
        if self.config.kind is None:
            return tuple(after), None
        top = after[-1][0]
        return tuple(after), self.asked(known, apply("wants", top), apply("values", top))

    def asked(
        self,
        known: Constants,
        wants: Float[Array, "batch wants"],
        values: Float[Array, "batch values"],
    ) -> Asked:
        """Return what a controller asks of its memory, of products with its top hidden vector."""
        assert self.config.kind and known.wants_bias is not None and known.values_bias is not None
        shape = len(wants), self.config.kind.ends, -1
        wanted, put = wants + known.wants_bias, jnp.tanh(values + known.values_bias)
        return Asked(wanted.reshape(shape), put.reshape(shape))


class Model(eqx.Module):
    """See the module; parameters are stored [incoming, outgoing], gates in PyTorch's order."""

    grows: ClassVar[bool] = True

    config: Config = eqx.field(static=True)
    source_embedding: Float[Array, "source_symbols_and_start embedding"]
    target_embedding: Float[Array, "target_symbols_and_start embedding"]
    """Its last row is of what stands between a source and its target."""
    first: Float[Array, "layers hidden"]
    """The hidden vectors before the first token; the LSTM's memory cells are 0."""
    controller: tuple[Recurrence, ...]
    heads: Heads | None
    output: Float[Array, "said target_symbols"]
    output_bias: Float[Array, " target_symbols"]

    def __init__(self, config: Config, sizes: Sizes, *, key: PRNGKeyArray) -> None:
        keys = iter(jax.random.split(key, 6 + config.layers))
        hidden, embedding, memory = config.hidden, config.embedding, config.kind
        read = 0 if memory is None else memory.ends * config.memory_width
        widths = [embedding + read, *[hidden + embedding] * (config.layers - 1)]
        said = hidden if memory is None else embedding
        self.config = config
        self.source_embedding = normal(next(keys), (sizes.source_symbols + 1, embedding))
        self.target_embedding = normal(next(keys), (sizes.target_symbols + 1, embedding))
        self.first = uniform(next(keys), (config.layers, hidden), hidden)
        self.controller = tuple(drawn(LSTM, each, hidden, key=next(keys)) for each in widths)
        self.heads = None if memory is None else Heads(config, memory, key=next(keys))
        self.output = uniform(next(keys), (said, sizes.target_symbols), said)
        self.output_bias = uniform(next(keys), (sizes.target_symbols,), said)

    def logits(
        self, batch: Batch, noise: Dropout | None = None
    ) -> Float[Array, "batch target symbols"]:
        """Return the scores of every next token under teacher forcing."""
        rows, is_token = self._source(batch.source)
        target = embed_previous(self.target_embedding, batch.before.T)
        rows = drop(noise, "embedding", jnp.concatenate([rows, target]), batch_axis=1)
        is_token = jnp.concatenate([is_token, jnp.ones(target.shape[:2], bool)])
        tops = self._tops(rows, is_token)[-len(target) :]
        return self._scores(tops).swapaxes(0, 1)

    def start(self, source: Int[Array, "batch source"], room: int) -> DecoderState:
        """Read the sources; the state before the first target token, of at most `room`."""
        rows, is_token = self._source(source)
        begin = self._before(len(source), len(rows) + room)
        carry = self._after(
            begin, Here(self._gates(rows), is_token, jnp.arange(len(rows), dtype=jnp.int32))
        )
        return DecoderState(carry, jnp.full(len(source), len(rows), jnp.int32))

    def step(
        self, state: DecoderState, token: Int[Array, " batch"]
    ) -> tuple[DecoderState, Float[Array, "batch symbols"]]:
        """Take the previous token (PAD before the first) in; return the scores of the next."""
        row = embed_previous(self.target_embedding, token)
        apply = late_weights.applied(self._weights())
        here = Here(self._gates(row), jnp.ones(len(token), bool), state.time)
        carry = self._course.advance(apply, self._constants(), state.carry, here)
        return DecoderState(carry, state.time + 1), self._scores(carry.states[-1][0])

    def inside(self, source: Int[Array, " source"], said: Int[Array, " target"]) -> Inside:
        """Return what the memory does at the start, at each token of a source and before each said.

        Neither has PAD, and the source no END. Beside the memory there is one like it, which is
        told the same, but given for each push a vector that is 1 in a place of its own: what is
        read from it says of which pushes.
        """
        memory = self.config.kind
        assert memory is not None
        rows = [
            embed(self.source_embedding, with_start(source[None], self.source_embedding).T),
            embed_previous(self.target_embedding, jnp.pad(said, (1, 0))[:-1, None]),
        ]
        gates = self._gates(jnp.concatenate(rows))
        apply, known = late_weights.applied(self._weights()), self._constants()
        steps = len(gates[0])
        pushes = steps * memory.ends

        def advance(carry: tuple[Carry, tuple[Array, ...]], here: Here) -> tuple[Any, Inside]:
            own, marked = carry
            after, asked = self._course.controlled(apply, known, own, here)
            assert asked is not None
            marks = jnp.eye(pushes, dtype=jnp.float32)[
                here.time * memory.ends + jnp.arange(memory.ends, dtype=jnp.int32)
            ]
            marked, reads = memory.step(marked, here.time, here.is_token, asked.wanted, marks[None])
            shares = memory.shares(asked.wanted)
            own = self._course.remembering(own, here, after, asked)
            return (own, marked), Inside(shares[0], reads[0], memory.held(marked)[0])

        begin = self._before(1, steps), memory.start(1, steps, pushes)
        here = Here(gates, jnp.ones((steps, 1), bool), jnp.arange(steps, dtype=jnp.int32))
        return jax.lax.scan(advance, begin, here)[1]

    def _source(
        self, source: Int[Array, "batch source"]
    ) -> tuple[Float[Array, "time batch embedding"], Bool[Array, "time batch"]]:
        """Return the embedded start and source, and where there is a token of them.

        What ends a source is said by what begins a target.
        """
        codes = with_start(source, self.source_embedding).T
        return embed(self.source_embedding, codes), (codes != PAD) & (codes != END)

    def _gates(
        self, rows: Float[Array, "*time batch embedding"]
    ) -> tuple[Float[Array, "*time batch gates"], ...]:
        """Return what embedded tokens add to the gates of each layer: many at once, where known."""
        embedding, hidden = self.config.embedding, self.config.hidden
        first, *others = self.controller
        weights = [first.input_to_gates[:embedding]]
        weights += [layer.input_to_gates[hidden:] for layer in others]
        pairs = zip(self.controller, weights, strict=True)
        return tuple(
            times(rows, weight) + (layer.input_bias + layer.state_bias) for layer, weight in pairs
        )

    def _before(self, batch: int, steps: int) -> Carry:
        """Return where the network stands before the first token."""
        zeros, memory = jnp.zeros((batch, self.config.hidden), jnp.float32), self.config.kind
        states = tuple((jnp.broadcast_to(own, zeros.shape), zeros) for own in self.first)
        if memory is None:
            return Carry(states, jnp.zeros((batch, 0), jnp.float32), ())
        read = jnp.zeros((batch, memory.ends * self.config.memory_width), jnp.float32)
        return Carry(states, read, memory.start(batch, steps, self.config.memory_width))

    def _tops(
        self, rows: Float[Array, "time batch embedding"], is_token: Bool[Array, "time batch"]
    ) -> Float[Array, "time batch hidden"]:
        """Return the top hidden vector after every step."""
        steps = len(rows)
        if self.heads is None:
            return self._layer_by_layer(
                Here(self._gates(rows), is_token, jnp.arange(steps, dtype=jnp.int32))
            )
        stretches = ceil(steps / STRETCH)
        missing = -steps % stretches
        rows = jnp.pad(rows, ((0, missing), (0, 0), (0, 0)))
        is_token = jnp.pad(is_token, ((0, missing), (0, 0)))
        begin = self._before(rows.shape[1], len(rows))
        here = Here(self._gates(rows), is_token, jnp.arange(len(rows), dtype=jnp.int32))
        given = self._weights(), self._constants(), begin, here
        return retraced.scan(self._course, *given, stretches=stretches)[:steps]

    def _layer_by_layer(self, here: Here) -> Float[Array, "time batch hidden"]:
        """Return the top hidden vector after every step of a network without a memory.

        There nothing goes from a step's top to the next one's bottom. So the layers go through the
        steps one after the other, and what each says meets the next one's weights at once: a loop
        reads the weights of one layer, which the cache of a core may hold.
        """
        course, hidden = Course(replace(self.config, layers=1)), self.config.hidden
        steps, batch = here.is_token.shape
        begin = self._before(batch, steps)
        below: Array | None = None
        for layer, state, gates in zip(self.controller, begin.states, here.gates, strict=True):
            met = gates if below is None else gates + times(below, layer.input_to_gates[:hidden])
            weights, own = {"layer 0": layer.state_to_gates}, begin._replace(states=(state,))
            there = here._replace(gates=(met,))
            below = retraced.scan(course, weights, self._constants(), own, there)
        assert below is not None
        return below

    def _after(self, carry: Carry, here: Here) -> Carry:
        """Return where the network stands after many steps."""
        apply, known = late_weights.applied(self._weights()), self._constants()

        def advance(carry: Carry, here: Here) -> tuple[Carry, None]:
            return self._course.advance(apply, known, carry, here), None

        return jax.lax.scan(advance, carry, here)[0]

    @property
    def _course(self) -> Course:
        return Course(self.config)

    def _constants(self) -> Constants:
        if self.heads is None:
            return Constants(None, None)
        return Constants(self.heads.wants_bias, self.heads.values_bias)

    def _weights(self) -> dict[str, Array]:
        """Return what each step multiplies by, by the name `Course` calls it."""
        first, *others = self.controller
        embedding, hidden = self.config.embedding, self.config.hidden
        below = [first.input_to_gates[embedding:], *(own.input_to_gates[:hidden] for own in others)]
        weights = {
            f"layer {number}": jnp.concatenate([layer.state_to_gates, weight])
            for number, (layer, weight) in enumerate(zip(self.controller, below, strict=True))
        }
        if self.heads is not None:
            weights |= {"wants": self.heads.wants, "values": self.heads.values}
        return weights

    def _scores(self, tops: Float[Array, "*rows hidden"]) -> Float[Array, "*rows symbols"]:
        if self.heads is not None:
            tops = jnp.tanh(times(tops, self.heads.said) + self.heads.said_bias)
        return times(tops, self.output) + self.output_bias
