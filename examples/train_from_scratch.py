r"""Train a sequence-to-sequence network on SCAN in JAX and Optax, in minutes, and score it.

The network is that of Bastings et al. (2018): a GRU reads the command in both directions, another
GRU writes the actions and attends to the words. Functions are for one example; `vmap` makes the
batch. `daxy train` does the same, several seeds at once:

    daxy train scan/addprim_turn_left --hidden 64 --embedding 32 --dropout 0 --validation none \
        --optimizer adam --learning-rate 0.002 --schedule constant --weight-decay 0 \
        --batch-size 64 --steps 3000 --seeds 3
"""

import argparse
from functools import partial
from itertools import takewhile

import jax
import jax.numpy as jnp
import numpy as np
import optax

import daxy

HIDDEN, EMBEDDING, BATCH, MAX_LENGTH = 64, 32, 64, 50
PAD, END = 0, 1  # PAD fills rows up, and stands before the first action
optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adam(0.002))


def initial_weights(key, words, actions):
    """Draw weights from PyTorch's default distributions."""
    keys = iter(jax.random.split(key, 32))

    def uniform(*shape, fan=HIDDEN):
        return jax.random.uniform(next(keys), shape, minval=-(fan**-0.5), maxval=fan**-0.5)

    def gru(inputs):
        gates = 3 * HIDDEN
        return uniform(inputs, gates), uniform(gates), uniform(HIDDEN, gates), uniform(gates)

    both, features = 2 * HIDDEN, EMBEDDING + 3 * HIDDEN
    return {
        "words": jax.random.normal(next(keys), (words, EMBEDDING)),
        "encoders": (gru(EMBEDDING), gru(EMBEDDING)),
        "bridge": (uniform(both, HIDDEN, fan=both), uniform(HIDDEN, fan=both)),
        "actions": jax.random.normal(next(keys), (actions, EMBEDDING)),
        "query": uniform(HIDDEN, HIDDEN),
        "key": uniform(both, HIDDEN, fan=both),
        "energy": uniform(HIDDEN),
        "decoder": gru(EMBEDDING + both),
        "pre_output": uniform(features, HIDDEN, fan=features),
        "output": uniform(HIDDEN, actions),
    }


def gru(weights, state, inputs):
    """Return the next state of a gated recurrent unit (Cho et al. 2014)."""
    from_inputs, inputs_bias, from_state, state_bias = weights
    reset, update, new = jnp.split(inputs @ from_inputs + inputs_bias, 3)
    state_reset, state_update, state_new = jnp.split(state @ from_state + state_bias, 3)
    update = jax.nn.sigmoid(update + state_update)
    new = jnp.tanh(new + jax.nn.sigmoid(reset + state_reset) * state_new)
    return update * state + (1 - update) * new


def encode(weights, source):
    """Return what the decoder attends to, and its first state."""

    def read(direction, reverse):
        def step(state, word):
            state = jnp.where(word == PAD, state, gru(direction, state, weights["words"][word]))
            return state, state

        return jax.lax.scan(step, jnp.zeros(HIDDEN), source, reverse=reverse)

    forward, backward = weights["encoders"]
    (last, forwards), (first, backwards) = read(forward, False), read(backward, True)
    outputs, (weight, bias) = jnp.concatenate([forwards, backwards], axis=1), weights["bridge"]
    state = jnp.tanh(jnp.concatenate([last, first]) @ weight + bias)
    return (outputs, outputs @ weights["key"], source != PAD), state


def decode(weights, memory, state, action):
    """Read the previous action; return the next state and the logits of the next action."""
    outputs, keys, is_word = memory
    scores = jnp.tanh(state @ weights["query"] + keys) @ weights["energy"]  # Bahdanau et al. (2015)
    context = jax.nn.softmax(scores, where=is_word) @ outputs
    embedded = jnp.where(action == PAD, 0, weights["actions"][action])
    state = gru(weights["decoder"], state, jnp.concatenate([embedded, context]))
    features = jnp.concatenate([embedded, state, context])
    return state, features @ weights["pre_output"] @ weights["output"]


@partial(jax.vmap, in_axes=(None, 0, 0))
def loss(weights, source, target):
    """Return the cross-entropy of a target, summed over its tokens, with teacher forcing."""
    memory, state = encode(weights, source)
    previous = jnp.concatenate([jnp.array([PAD]), target[:-1]])
    _, logits = jax.lax.scan(partial(decode, weights, memory), state, previous)
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, target)
    return jnp.where(target == PAD, 0, losses).sum()


@jax.jit
@partial(jax.vmap, in_axes=(None, 0))
def predict(weights, source):
    """Return the actions of greedy decoding; those after END mean nothing."""
    memory, state = encode(weights, source)

    def step(carry, _):
        state, logits = decode(weights, memory, *carry)
        action = logits[END:].argmax() + END
        return (state, action), action

    return jax.lax.scan(step, (state, PAD), length=MAX_LENGTH)[1]


@jax.jit
def train_step(weights, moments, sources, targets):
    """Return the weights and the optimizer's moments after a batch, and its loss."""
    value, gradients = jax.value_and_grad(lambda it: loss(it, sources, targets).mean())(weights)
    updates, moments = optimizer.update(gradients, moments)
    return optax.apply_updates(weights, updates), moments, value


def codes(sequences, symbols):
    """Return sequences as rows of codes, each with END, filled up with PAD."""
    rows = np.zeros((len(sequences), max(map(len, sequences)) + 1), np.int32)
    for row, sequence in zip(rows, sequences, strict=True):
        row[: len(sequence) + 1] = [*map(symbols.index, sequence), END]
    return rows


parser = argparse.ArgumentParser()
parser.add_argument("--task", default="scan/addprim_turn_left")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=3000)
given = parser.parse_args()

split = daxy.load(given.task)
words = ["<pad>", "<end>", *sorted({word for pair in split.train for word in pair.source})]
actions = ["<pad>", "<end>", *sorted({action for pair in split.train for action in pair.target})]
sources = codes([pair.source for pair in split.train], words)
targets = codes([pair.target for pair in split.train], actions)

weights = initial_weights(jax.random.key(given.seed), len(words), len(actions))
moments, random = optimizer.init(weights), np.random.default_rng(given.seed)
passes = given.steps * BATCH // len(sources) + 1
order = np.concatenate([random.permutation(len(sources)) for _ in range(passes)])
for step in range(given.steps):
    rows = order[step * BATCH : (step + 1) * BATCH]
    weights, moments, value = train_step(weights, moments, sources[rows], targets[rows])
    print(f"step {step + 1} of {given.steps}: loss {value:.3f}", end="\r", flush=True)

rows = predict(weights, codes([pair.source for pair in split.test], words)).tolist()
answers = [[actions[code] for code in takewhile(lambda it: it != END, row)] for row in rows]
print(f"\ntest exact match: {daxy.score(given.task, answers, split=split).accuracy:.1%}")
