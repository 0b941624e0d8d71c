"""The loss, against sums done by hand."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from daxy.core.vocabulary import END, PAD
from daxy.models.api import Batch
from daxy.training.objective import cross_entropy
from daxy.training.parts import Loss

A, B = 2, 3
SYMBOLS = 4


class Fixed(eqx.Module):
    """A network that always has the same logits."""

    values: Array

    def logits(self, batch: Batch, dropout: Any = None) -> Array:
        return self.values

    def logits_free_running(self, batch: Batch, dropout: Any, teacher_forced: Array) -> Array:
        return jnp.where(teacher_forced[:, None, None], self.values, self.values[::-1])

    def start(self, source: Array) -> None:
        raise NotImplementedError

    def step(self, state: Any, token: Array) -> None:
        raise NotImplementedError


def probabilities(*rows: list[float]) -> Array:
    return jnp.log(jnp.array(rows))


def loss(targets: list[list[int]], logits: Array, weights: list[float], **options: Any) -> float:
    batch = Batch(jnp.ones((len(targets), 1), int), jnp.array(targets))
    forced = options.pop("forced", None)
    settings = Loss(**options)
    model, shares = Fixed(logits), jnp.array(weights)
    return float(cross_entropy(model, batch, shares, None, forced=forced, loss=settings))


SURE_OF_A = [0.1, 0.1, 0.7, 0.1]
SURE_OF_END = [0.1, 0.6, 0.2, 0.1]
UNIFORM = [0.25] * SYMBOLS


def test_the_loss_is_the_sum_over_tokens_and_the_end_counts() -> None:
    logits = probabilities(SURE_OF_A, UNIFORM, SURE_OF_END)[None]
    assert np.isclose(loss([[A, B, END]], logits, [1.0]), -np.log(0.7 * 0.25 * 0.6))


def test_logits_need_not_be_normalised() -> None:
    logits = probabilities(SURE_OF_A, SURE_OF_END)[None] + 7.0
    assert np.isclose(loss([[A, END]], logits, [1.0]), -np.log(0.7 * 0.6))


def test_padding_does_not_count() -> None:
    logits = probabilities(SURE_OF_A, SURE_OF_END, [0.97, 0.01, 0.01, 0.01])[None]
    assert np.isclose(loss([[A, END, PAD]], logits, [1.0]), -np.log(0.7 * 0.6))


def test_with_weights_of_one_over_the_batch_it_is_the_papers_mean_over_examples() -> None:
    logits = probabilities(SURE_OF_A, SURE_OF_END)
    targets, expected = [[A, END], [END, PAD]], [-np.log(0.7 * 0.6), -np.log(0.1)]
    assert np.isclose(loss(targets, jnp.stack([logits] * 2), [0.5, 0.5]), np.mean(expected))


def test_an_example_of_weight_zero_does_not_count() -> None:
    logits = probabilities(SURE_OF_A, SURE_OF_END)
    value = loss([[A, END], [B, END]], jnp.stack([logits] * 2), [1.0, 0.0])
    assert np.isclose(value, -np.log(0.7 * 0.6))


def test_what_follows_a_predicted_end_can_be_left_out_as_the_authors_code_does() -> None:
    logits = probabilities(SURE_OF_A, SURE_OF_END, UNIFORM, SURE_OF_END)[None]
    targets = [[A, B, A, END]]
    whole = loss(targets, logits, [1.0])
    masked = loss(targets, logits, [1.0], mask_loss_after_end=True)
    assert np.isclose(whole, -np.log(0.7 * 0.1 * 0.25 * 0.6))
    assert np.isclose(masked, -np.log(0.7 * 0.1))


def test_a_predicted_end_in_the_right_place_or_none_leaves_everything_in() -> None:
    for rows in ([SURE_OF_A, SURE_OF_A, SURE_OF_END], [SURE_OF_A, SURE_OF_A, SURE_OF_A]):
        logits = probabilities(*rows)[None]
        value = loss([[A, B, END]], logits, [1.0], mask_loss_after_end=True)
        assert np.isclose(value, loss([[A, B, END]], logits, [1.0]))


def test_an_example_that_is_given_its_own_outputs_counts_up_to_its_own_end() -> None:
    logits = jnp.stack(
        [
            probabilities(SURE_OF_A, UNIFORM, SURE_OF_A, SURE_OF_END),
            probabilities(SURE_OF_A, SURE_OF_END, SURE_OF_A, SURE_OF_END),
        ]
    )
    targets = [[A, B, A, END]] * 2
    forced = loss(targets, logits, [1.0, 1.0], forced=jnp.array([True, True]))
    one = -np.log(0.7 * 0.25 * 0.7 * 0.6)
    other = -np.log(0.7 * 0.1 * 0.7 * 0.6)
    assert np.isclose(forced, one + other)
    # The first is fed what the second was, and stops at the END that it likes best there.
    free = loss(targets, logits, [1.0, 0.0], forced=jnp.array([False, True]))
    assert np.isclose(free, -np.log(0.7 * 0.1))


def test_smoothed_targets_are_those_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    logits = probabilities(SURE_OF_A, SURE_OF_END)[None] + 7.0
    peer = torch.nn.CrossEntropyLoss(label_smoothing=0.1, reduction="sum")
    theirs = peer(torch.tensor(np.asarray(logits[0])), torch.tensor([A, END]))
    assert np.isclose(loss([[A, END]], logits, [1.0], label_smoothing=0.1), float(theirs))


def test_half_of_a_smoothed_target_is_spread_evenly() -> None:
    logits = probabilities(SURE_OF_A)[None]
    even = -np.log(SURE_OF_A).mean()
    expected = 0.5 * -np.log(0.7) + 0.5 * even
    assert np.isclose(loss([[A]], logits, [1.0], label_smoothing=0.5), expected)
