"""Additive attention (Bahdanau et al. 2015), over projected keys."""

from __future__ import annotations

from typing import NamedTuple

import jax
from jaxtyping import Array, Bool, Float

from daxy.kernels.additive_attention import additive_scores, exponentials


class AttentionKeys(NamedTuple):
    """Keys of one batch of sources, or of worlds."""

    exponentials: Float[Array, "batch source width"]
    """Of the projected keys; see `daxy.kernels.additive_attention`."""
    is_token: Bool[Array, "batch source"] | None = None
    """False at padding; None if there is none."""

    @classmethod
    def of(
        cls,
        keys: Float[Array, "batch source width"],
        is_token: Bool[Array, "batch source"] | None = None,
    ) -> AttentionKeys:
        """Prepare keys that are already multiplied by their weight."""
        return cls(exponentials(keys), is_token)


def attend(
    query: Float[Array, "batch width"], keys: AttentionKeys, score_vector: Float[Array, " width"]
) -> Float[Array, "batch source"]:
    """Return the attention weights softmax(v . tanh(query + key)); padding gets exactly 0.

    Args:
        query: Queries, already multiplied by Wq (Bastings et al. 2018, section 5).
        keys: The keys to compare them with.
        score_vector: The vector v.
    """
    scores = additive_scores(query, keys.exponentials, score_vector)
    return jax.nn.softmax(scores, axis=-1, where=keys.is_token)
