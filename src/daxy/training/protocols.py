"""Training protocols of the papers, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from daxy.core.errors import UnknownName
from daxy.training.config import TrainingConfig
from daxy.training.parts import (
    Adam,
    Constant,
    Exponential,
    Loss,
    Plateau,
    RMSProp,
    Samples,
    Selection,
    Steps,
)

DEFAULT = "bastings2018"
PROTOCOLS: Mapping[str, TrainingConfig] = {
    DEFAULT: TrainingConfig(),
    "lake2018": TrainingConfig(
        optimizer=Adam(learning_rate=0.001),
        schedule=Constant(),
        budget=Samples(samples=100_000),
        loss=Loss(teacher_forcing=0.5),
        batch_size=1,
        dropout=0.5,
    ),
    "ruis2020": TrainingConfig(
        optimizer=Adam(learning_rate=0.001),
        schedule=Exponential(lr_decay=0.9, lr_decay_steps=20_000),
        budget=Steps(steps=200_000),
        loss=Loss(token_mean_loss=True),
        selection=Selection(validation_examples=2_000),
        batch_size=200,
        max_grad_norm=0.0,
        dropout=0.3,
        max_decode_length=120,
    ),
    "andreas2020": TrainingConfig(
        optimizer=Adam(learning_rate=0.001),
        schedule=Plateau(lr_factor=0.5),
        budget=Samples(samples=4_800 * 64, eval_every=32, augmented_share=0.3),
        loss=Loss(token_mean_loss=True),
        selection=Selection(select="last"),
        batch_size=64,
        max_grad_norm=1.0,
        dropout=0.5,
        deduplicate=True,
        max_decode_length=150,
    ),
    "grefenstette2015": TrainingConfig(
        optimizer=RMSProp(learning_rate=0.001),
        schedule=Constant(),
        budget=Steps(steps=30_000, eval_every=250, online=True),
        loss=Loss(token_mean_loss=True),
        selection=Selection(select="perplexity", validation_examples=100, early_stopping=10),
        batch_size=10,
        max_grad_norm=1.0,
        dropout=0.0,
        max_decode_length=256,
    ),
    "csordas2021": TrainingConfig(
        optimizer=Adam(learning_rate=0.001),
        schedule=Constant(),
        budget=Samples(samples=50_000 * 256, eval_every=1_000),
        loss=Loss(token_mean_loss=True),
        selection=Selection(select="last"),
        batch_size=256,
        max_grad_norm=5.0,
        dropout=0.1,
        max_decode_length=60,
    ),
}
"""Of Lake & Baroni (2018, section 3) the dropout is that of the network that did best overall. Of
Ruis et al. (2020, section 4 and appendix E) what the text leaves out is as in the authors' code,
and of Andreas (2020) all is as in the author's logs and code. Grefenstette et al. (2015) try rates
of 5e-3, 1e-3, 5e-4, 1e-4 and 5e-5, train until convergence and say no more than the rule, the size
of a batch, the clipping and what selects models; what else there is to say was chosen here. Of
Csordás et al. (2021) all is as in the authors' code for SCAN, but for the longest output: theirs is
the longest target of a batch."""

WITHOUT_VALIDATION = frozenset({"lake2018"})
"""Protocols of papers that report the last weights and train on all examples."""


def protocol(name: str, *, is_stream: bool = True) -> TrainingConfig:
    """Return the protocol with this name.

    Args:
        name: Name of the protocol.
        is_stream: Whether the task has unlimited examples; without them, training is not online.

    Raises:
        UnknownName: there is no such protocol.
    """
    if name not in PROTOCOLS:
        raise UnknownName("protocol", name, PROTOCOLS)
    config = PROTOCOLS[name]
    return config if is_stream or not config.online else config.with_settings(online=False)


def validation(name: str) -> Literal["draw", "none"]:
    """Return how a paper's protocol makes a validation set: a draw from train, or none."""
    return "none" if name in WITHOUT_VALIDATION else "draw"
