"""The recurrent encoder-decoders of Lake & Baroni (2018), after Sutskever and Bahdanau.

Every layer of the encoder hands its final state to the same layer of the decoder, as it is. With
attention, a weighted sum of the encoder's top states, the context, enters the decoder's first layer
beside the previous token and the output beside the top state. An embedding is as wide as a state.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from daxy.core.vocabulary import PAD
from daxy.kernels.deferred_weight_grad import Apply, scan, undeferred
from daxy.models.api import Batch, Sizes, greedy_token
from daxy.models.configs.stacked import Config
from daxy.models.layers.attention import AttentionKeys
from daxy.models.layers.cells import RNNCell, State, cell
from daxy.models.layers.decoder_stack import Constants, LayerStates, Masks, masked, stack_step
from daxy.models.layers.dropout import Dropout, drop
from daxy.models.layers.embedding import embed, look_up
from daxy.models.layers.initial import normal, uniform
from daxy.models.layers.linear import matmul
from daxy.models.layers.recurrence import RecurrentLayer, init_layer

PROTOCOL = "lake2018"
"""Protocol of the paper that the network is from."""


class DecoderState(NamedTuple):
    """The decoder's state between two tokens."""

    states: LayerStates
    keys: AttentionKeys | None
    values: Float[Array, "batch source hidden"] | None
    """The encoder's top states."""
    attention_weights: Float[Array, "batch source"] | None
    """Those of the last step; None without attention."""

    @property
    def top(self) -> Float[Array, "batch hidden"]:
        """The hidden vector that the next token is made from."""
        return self.states[-1][0]


class Model(eqx.Module):
    """See the module; parameters are stored [incoming, outgoing], gates in PyTorch's order."""

    config: Config = eqx.field(static=True)
    source_embedding: Float[Array, "source_symbols hidden"]
    target_embedding: Float[Array, "target_symbols hidden"]
    encoder: tuple[RecurrentLayer, ...]
    decoder: tuple[RecurrentLayer, ...]
    query: Float[Array, "hidden hidden"] | None
    key: Float[Array, "hidden hidden"] | None
    energy: Float[Array, " hidden"] | None
    output: Float[Array, "features target_symbols"]
    output_bias: Float[Array, " target_symbols"]

    def __init__(self, config: Config, sizes: Sizes, *, key: PRNGKeyArray) -> None:
        hidden, layers, kind = config.hidden, config.layers, cell(config.cell)
        keys = iter(jax.random.split(key, 7 + 2 * layers))
        self.config = config
        self.source_embedding = normal(next(keys), (sizes.source_symbols, hidden))
        self.target_embedding = normal(next(keys), (sizes.target_symbols, hidden))
        features = 2 * hidden if config.attention else hidden
        first = features, *[hidden] * (layers - 1)
        self.encoder = tuple(
            init_layer(kind, hidden, hidden, key=next(keys)) for _ in range(layers)
        )
        self.decoder = tuple(init_layer(kind, width, hidden, key=next(keys)) for width in first)
        square = (hidden, hidden)
        self.query = uniform(next(keys), square, hidden) if config.attention else None
        self.key = uniform(next(keys), square, hidden) if config.attention else None
        self.energy = uniform(next(keys), (hidden,), hidden) if config.attention else None
        self.output = uniform(next(keys), (features, sizes.target_symbols), features)
        self.output_bias = uniform(next(keys), (sizes.target_symbols,), features)

    def logits(
        self, batch: Batch, dropout: Dropout | None = None
    ) -> Float[Array, "batch target symbols"]:
        """Return the logits of every target token under teacher forcing."""
        encoded = self._encode(batch.source, dropout)
        tokens = batch.decoder_inputs.T
        return self._teacher_forced(
            batch.source, tokens, encoded, self._masks(dropout, tokens.shape)
        )

    def logits_free_running(
        self, batch: Batch, dropout: Dropout | None, teacher_forced: Bool[Array, " batch"]
    ) -> Float[Array, "batch target symbols"]:
        """Return the logits of every target token.

        An example that is not `teacher_forced` reads the decoder's own greedy tokens.
        """
        encoded = self._encode(batch.source, dropout)
        truth = batch.decoder_inputs.T
        masks = self._masks(dropout, truth.shape)
        mixed = partial(self._token_by_token, batch.source, truth, encoded, masks, teacher_forced)
        if len(teacher_forced) > 1:
            return mixed()
        forced = partial(self._teacher_forced, batch.source, truth, encoded, masks)
        return jax.lax.cond(teacher_forced[0], forced, mixed)

    def _teacher_forced(
        self,
        source: Int[Array, "batch source"],
        tokens: Int[Array, "target batch"],
        encoded: tuple[Array, LayerStates],
        masks: Masks,
    ) -> Float[Array, "batch target symbols"]:
        """Return the logits given these tokens; without attention, layer by layer."""
        outputs, states = encoded
        if not self.config.attention:
            return self._layer_by_layer(tokens, states, masks)

        def advance(
            apply: Apply,
            constants: Constants,
            states: LayerStates,
            inputs: tuple[Array, Array | None],
        ) -> tuple[LayerStates, Float[Array, "batch features"]]:
            states, features, _ = self._advance(apply, constants, states, *inputs)
            return states, features

        constants = self._constants(self._keys(outputs, source))
        inputs = self._from_tokens(tokens, masks.embedding), masks.layers
        features = scan(advance, self._weights(outputs), constants, states, inputs)
        return self._output_logits(features).swapaxes(0, 1)

    def _layer_by_layer(
        self,
        tokens: Int[Array, "target batch"],
        start: LayerStates,
        masks: Masks,
    ) -> Float[Array, "batch target symbols"]:
        """Return the logits given these tokens; each layer reads all its inputs at once."""
        rows = self._embedded(tokens, masks.embedding)
        for number, (layer, first) in enumerate(zip(self.decoder, start, strict=True)):
            if number > 0 and masks.layers is not None:
                rows = rows * masks.layers[:, :, number - 1]
            rows = layer.states(self._cell, rows, start=first)[0]
        return self._output_logits(rows).swapaxes(0, 1)

    def _token_by_token(
        self,
        source: Int[Array, "batch source"],
        truth: Int[Array, "target batch"],
        encoded: tuple[Array, LayerStates],
        masks: Masks,
        teacher_forced: Bool[Array, " batch"],
    ) -> Float[Array, "batch target symbols"]:
        """Return the logits, where a step may read the greedy token of the step before."""
        outputs, states = encoded
        weights = self._weights(outputs) | {
            "embedding": self.target_embedding,
            "token": self._token_to_gates,
            "output": self.output,
        }

        def advance(
            apply: Apply,
            constants: tuple[Constants, tuple[Array, Array], Bool[Array, " batch"]],
            carry: tuple[LayerStates, Int[Array, " batch"]],
            inputs: tuple[Int[Array, " batch"], Masks],
        ) -> tuple[tuple[LayerStates, Int[Array, " batch"]], Float[Array, "batch symbols"]]:
            (known, (input_bias, output_bias), teacher_forced) = constants
            (states, greedy), (true, masks) = carry, inputs
            token = jnp.where(teacher_forced, true, greedy)
            rows = apply("embedding", jax.nn.one_hot(token, len(output_bias), dtype=jnp.float32))
            from_token = apply("token", masked(rows, masks.embedding)) + input_bias
            states, features, _ = stack_step(
                self._cell, apply, known, states, from_token, masks.layers
            )
            logits = apply("output", features) + output_bias
            return (states, greedy_token(logits)), logits

        known = self._constants(self._keys(outputs, source))
        biases = self.decoder[0].input_bias, self.output_bias
        constants, carry = (known, biases, teacher_forced), (states, truth[0])
        return scan(advance, weights, constants, carry, (truth, masks)).swapaxes(0, 1)

    def start(self, source: Int[Array, "batch source"]) -> DecoderState:
        """Encode the sources; the state before the first target token."""
        outputs, states = self._encode(source, None)
        if not self.config.attention:
            return DecoderState(states, None, None, None)
        zeros = jnp.zeros(source.shape, jnp.float32)
        return DecoderState(states, self._keys(outputs, source), outputs, zeros)

    def step(
        self, state: DecoderState, token: Int[Array, " batch"]
    ) -> tuple[DecoderState, Float[Array, "batch symbols"]]:
        """Read the previous token (PAD before the first); return the logits of the next."""
        apply = undeferred(self._weights(state.values))
        known, from_token = self._constants(state.keys), self._from_tokens(token, None)
        states, features, weights = stack_step(
            self._cell, apply, known, state.states, from_token, None
        )
        after = state._replace(states=states, attention_weights=weights)
        return after, self._output_logits(features)

    @property
    def _cell(self) -> RNNCell:
        return cell(self.config.cell)

    @property
    def _advance(self) -> Callable[..., tuple[LayerStates, Array, Array | None]]:
        return partial(stack_step, self._cell)

    def _encode(
        self, source: Int[Array, "batch source"], dropout: Dropout | None
    ) -> tuple[Float[Array, "batch source hidden"], LayerStates]:
        """Return the top layer's states, and every layer's last one."""
        codes, ends = source.T, list[State]()
        rows = drop(dropout, "source embedding", embed(self.source_embedding, codes), batch_axis=1)
        for number, layer in enumerate(self.encoder):
            if number > 0:
                rows = drop(dropout, f"encoder, into layer {number}", rows, batch_axis=1)
            states = layer.states(self._cell, rows, codes != PAD)
            rows = states[0]
            ends.append(tuple(part[-1] for part in states))
        return rows.swapaxes(0, 1), tuple(ends)

    def _keys(self, outputs: Array, source: Array) -> AttentionKeys | None:
        return (
            None if self.key is None else AttentionKeys.of(matmul(outputs, self.key), source != PAD)
        )

    def _constants(self, keys: AttentionKeys | None) -> Constants:
        inputs = None, *(layer.input_bias for layer in self.decoder[1:])
        biases = zip(inputs, (layer.state_bias for layer in self.decoder), strict=True)
        return Constants(keys, self.energy, tuple(biases))

    def _weights(self, values: Array | None) -> dict[str, Array]:
        """Return the matrices that a step multiplies by, by the names `stack_step` uses."""
        hidden, weights = self.config.hidden, dict[str, Array]()
        for number, layer in enumerate(self.decoder):
            weights[f"state {number}"] = layer.state_to_gates
            if number > 0:
                weights[f"input {number}"] = layer.input_to_gates
        if self.query is not None and values is not None:
            context = self.decoder[0].input_to_gates[hidden:]
            weights |= {"query": self.query, "values": values, "context": context}
        return weights

    @property
    def _token_to_gates(self) -> Float[Array, "hidden gates"]:
        """The rows of the first layer's input weight that a token meets, without the context."""
        return self.decoder[0].input_to_gates[: self.config.hidden]

    def _embedded(
        self, tokens: Int[Array, "*shape"], mask: Float[Array, "*shape hidden"] | None
    ) -> Float[Array, "*shape hidden"]:
        # PAD before the first token is the start symbol, which has a row of its own.
        return masked(look_up(self.target_embedding, tokens), mask)

    def _from_tokens(
        self, tokens: Int[Array, "*shape"], mask: Float[Array, "*shape hidden"] | None
    ) -> Float[Array, "*shape gates"]:
        """Return what tokens add to the first layer's gates."""
        rows = self._embedded(tokens, mask)
        return matmul(rows, self._token_to_gates) + self.decoder[0].input_bias

    def _output_logits(
        self, features: Float[Array, "*shape features"]
    ) -> Float[Array, "*shape symbols"]:
        return matmul(features, self.output) + self.output_bias

    def _masks(self, dropout: Dropout | None, shape: tuple[int, ...]) -> Masks:
        return Masks.draw(dropout, shape, self.config.hidden, self.config.layers)
