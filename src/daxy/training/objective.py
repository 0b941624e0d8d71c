"""What training makes small."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from daxy.core.vocabulary import END
from daxy.models._model import Batch, Model
from daxy.models.layers.dropout import Dropout


def cross_entropy(
    model: Model,
    batch: Batch,
    weights: Float[Array, " batch"],
    noise: Dropout | None,
    *,
    mask_after_predicted_end: bool = False,
) -> Float[Array, ""]:
    """Return the weighted sum over examples of the summed cross-entropy of their target tokens.

    With weights of 1 / (batch size) it is the loss of Bastings et al.: a sum over tokens, a mean
    over examples. END counts, padding does not.
    """
    logits = model.logits(batch, noise)
    chosen = jnp.take_along_axis(logits, batch.target[..., None], axis=-1)[..., 0]
    losses = jax.nn.logsumexp(logits, axis=-1) - chosen
    counts = batch.is_target
    if mask_after_predicted_end:
        counts &= _until_predicted_end(logits.argmax(axis=-1))
    return jnp.where(counts, losses, 0).sum(axis=1) @ weights


def _until_predicted_end(predicted: Int[Array, "batch target"]) -> Bool[Array, "batch target"]:
    """Return True up to and including the first END of each row."""
    ends = predicted == END
    return jnp.cumsum(ends, axis=1) - ends == 0
