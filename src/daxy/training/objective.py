"""Training loss."""

from __future__ import annotations

from typing import cast

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from daxy.core.vocabulary import END
from daxy.models.api import Batch, FreeRunning, Model, greedy_token
from daxy.models.layers.dropout import Dropout
from daxy.training.parts import Loss


def cross_entropy(
    model: Model,
    batch: Batch,
    weights: Float[Array, " batch"],
    noise: Dropout | None,
    *,
    forced: Bool[Array, " batch"] | None = None,
    loss: Loss = Loss(),
) -> Float[Array, ""]:
    """Return the weighted sum over examples of the summed cross-entropy of their target tokens.

    With weights of 1 / (batch size) it is the loss of Bastings et al.: a sum over tokens, a mean
    over examples. END counts, padding does not. An example that is not `forced` (None: all are) is
    given the model's own best tokens, and counts up to the model's own END (Lake & Baroni).
    """
    if forced is None:
        logits = model.logits(batch, noise)
    else:
        logits = cast("FreeRunning", model).logits_free_running(batch, noise, forced)
    chosen = jnp.take_along_axis(logits, batch.target[..., None], axis=-1)[..., 0]
    normalizer, smoothing = jax.nn.logsumexp(logits, axis=-1), loss.label_smoothing
    if smoothing:
        chosen = (1 - smoothing) * chosen + smoothing * logits.mean(axis=-1)
    losses = normalizer - chosen
    counts = batch.is_target
    if loss.mask_loss_after_end:
        counts &= _until_predicted_end(logits.argmax(axis=-1))
    if forced is not None:
        counts &= forced[:, None] | _until_predicted_end(jax.vmap(greedy_token, 1, 1)(logits))
    return jnp.where(counts, losses, 0).sum(axis=1) @ weights


def _until_predicted_end(predicted: Int[Array, "batch target"]) -> Bool[Array, "batch target"]:
    """Return True up to and including the first END of each row."""
    ends = predicted == END
    return jnp.cumsum(ends, axis=1, dtype=jnp.int32) - ends == 0
