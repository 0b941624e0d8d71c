"""Training recipes as values; a paper's own recipe has the paper's name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Literal, TypeAlias

from daxy.core.errors import UnknownName, require
from daxy.core.settings import check_types, later

Optimizer: TypeAlias = Literal["sgd", "adam", "rmsprop"]

EPOCH = 1_000
"""Trials or updates that make up an epoch unless a recipe says otherwise, after which there is a
validation and a line in the log."""


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How a network is trained, selected and decoded; every field is a flag of `daxy train`.

    Unless `protocol` names another paper, whose values are the defaults then, they are those of
    Bastings et al. (2018, section 6.1), and where the paper is silent those of the authors' code.
    """

    optimizer: Optimizer = "sgd"
    """The rule that turns gradients into steps."""
    learning_rate: float = 0.2
    """Of the first epoch."""
    decay: float = 0.96
    """The learning rate is multiplied by this after each epoch."""
    weight_decay: float = 1e-8
    """This much of each weight is added to its gradient."""
    clip: float = 5.0
    """Gradients with a larger norm than this are scaled down to it; 0: never."""
    batch_size: int = 32
    """Examples in a step; batches of `epochs` hold examples of similar source length."""
    epochs: int = 50
    """Passes over the training set (the paper is silent; the authors' README says 50); 0 where
    there are `trials`."""
    dropout: float = 0.2
    """On both embeddings, and on what the pre-output reads (`seq2seq`), between layers (`stacked`),
    or on what is fed back and what decides a token (`luong`); see also `world-dropout`
    (`multimodal`)."""
    mask_after_predicted_end: bool = False
    """Leave out the loss of what follows the model's own first END, as the authors' code does."""
    limit: int = 50
    """The most tokens of an output, which needs no END then; never taken from the target."""
    trials: int = later(0)
    """Examples drawn with replacement, instead of `epochs`, which is 0 then; an epoch in the log is
    a thousand of them, or as `validate-every` says."""
    teacher_forcing: float = later(1.0)
    """The share of examples whose decoder is given the true tokens; a coin decides for each, and
    the others are given its own best tokens, up to its own END."""
    updates: int = later(0)
    """Batches of a shuffled training set, pass after pass, or of a stream, instead of `epochs`,
    which is 0 then; an epoch in the log is a thousand of them, or as `validate-every` says. Batches
    hold examples of any length."""
    decay_steps: int = later(0)
    """The learning rate is multiplied by `decay` once in so many steps, a little at each of them,
    instead of after each epoch."""
    token_mean: bool = later(default=False)
    """The loss is a mean over the tokens of a batch, instead of a sum over those of each example
    and a mean over examples."""
    validated: int = later(0)
    """Examples of the validation set, drawn once, that are scored after an epoch, and that weights
    are selected by where the best are kept; 0: all."""
    validate_every: int = later(0)
    """Steps in an epoch of a recipe that counts trials or updates; 0: a thousand of those."""
    plateau: float = later(1.0)
    """The learning rate is multiplied by this when the validation score has not become better for
    more than `patience` epochs; 1: it never is."""
    patience: int = later(10)
    """See `plateau`."""
    keep: Literal["best", "last", "perplexity"] = later("best")
    """Which weights a run ends with: those with the best validation score, the last ones, or those
    after the epoch with the least training perplexity."""
    distinct: bool = later(default=False)
    """Train on each example once, however often the training set has it."""
    added_share: float = later(0.0)
    """How likely a draw is one of the examples that an augmentation added; 0: as likely as they are
    many among all."""
    streamed: bool = later(default=False)
    """Train on examples that are drawn anew for each epoch, in batches as they come, instead of on
    a training set; for tasks whose examples never end."""
    converged: int = later(0)
    """Stop when so many epochs in a row had a training loss, in nats a token, that was not lower
    than the lowest before by 0.0001, or by a hundredth of it if that is less; or when it is as good
    as nothing; 0: do not."""

    def __post_init__(self) -> None:
        check_types(Protocol, vars(self))
        for name in (*_POSITIVE, *_NOT_NEGATIVE):
            value, flag = getattr(self, name), name.replace("_", "-")
            require(value > 0 or name not in _POSITIVE, f"{flag} must be positive, not {value}")
            require(isfinite(value), f"{flag} must be finite, not {value}")
            require(value >= 0, f"{flag} must not be negative: {value}")
        asked = {name: getattr(self, name) for name in ("epochs", "trials", "updates")}
        some = self.epochs > 0 or (self.epochs == 0 and any(asked.values()))
        none = f"epochs must be positive, not {self.epochs}, unless trials or updates are"
        require(some, none)
        lengths = [f"{name} ({value})" for name, value in asked.items() if value]
        one = "; set all but one of them to 0"
        require(len(lengths) == 1, f"{' and '.join(lengths)} are asked for{one}")
        whole = self.trials % self.batch_size == 0
        require(whole, f"trials must be a multiple of batch-size: {self.trials}, {self.batch_size}")
        for name in ("teacher_forcing", "added_share"):
            share, flag = getattr(self, name), name.replace("_", "-")
            require(0 <= share <= 1, f"{flag} must be between 0 and 1, not {share}")
        require(0 < self.plateau <= 1, f"plateau must be in (0, 1], not {self.plateau}")
        drawn = self.trials > 0 or self.added_share == 0
        require(drawn, "added-share is for recipes that draw examples, which have trials")
        counted = self.steps > 0 or self.validate_every == 0
        require(counted, "validate-every is for recipes with trials or updates")
        counted = self.updates > 0 or not self.streamed
        require(counted, "streamed is for recipes with updates")
        is_perplexity = self.keep == "perplexity" or self.converged > 0
        means = (
            "a perplexity is known where the loss is a mean over all tokens, each after the true"
            " ones: with token-mean and teacher-forcing 1, without mask-after-predicted-end"
        )
        require(self.measures_perplexity or not is_perplexity, means)
        once = "streamed examples are new each time; expected --no-distinct"
        require(not (self.streamed and self.distinct), once)
        require(0 <= self.dropout < 1, f"dropout must be in [0, 1), not {self.dropout}")

    @property
    def measures_perplexity(self) -> bool:
        """Whether the loss is a mean over all target tokens, each after the true ones."""
        is_whole = self.teacher_forcing == 1 and not self.mask_after_predicted_end
        return self.token_mean and is_whole

    @property
    def steps(self) -> int:
        """Steps of a recipe that counts them or its trials; 0 for one that counts epochs."""
        return self.updates or self.trials // self.batch_size

    @property
    def epoch_steps(self) -> int:
        """Steps in an epoch of such a recipe; the last one may have fewer."""
        thousand = EPOCH if self.updates else max(1, EPOCH // self.batch_size)
        return self.validate_every or thousand

    @property
    def most_epochs(self) -> int:
        """How many epochs there are if nothing stops training earlier."""
        return -(-self.steps // self.epoch_steps) if self.steps else self.epochs


_POSITIVE = ("learning_rate", "decay", "batch_size", "limit")
_NOT_NEGATIVE = (
    "weight_decay",
    "clip",
    "trials",
    "updates",
    "decay_steps",
    "validated",
    "validate_every",
    "patience",
    "converged",
)

DEFAULT = "bastings2018"
PROTOCOLS = {
    DEFAULT: Protocol(),
    "lake2018": Protocol(
        optimizer="adam",
        learning_rate=0.001,
        decay=1.0,
        weight_decay=0.0,
        batch_size=1,
        epochs=0,
        dropout=0.5,
        trials=100_000,
        teacher_forcing=0.5,
    ),
    "ruis2020": Protocol(
        optimizer="adam",
        learning_rate=0.001,
        decay=0.9,
        decay_steps=20_000,
        weight_decay=0.0,
        clip=0.0,
        batch_size=200,
        epochs=0,
        updates=200_000,
        token_mean=True,
        dropout=0.3,
        limit=120,
        validated=2_000,
    ),
    "andreas2020": Protocol(
        optimizer="adam",
        learning_rate=0.001,
        decay=1.0,
        weight_decay=0.0,
        clip=1.0,
        batch_size=64,
        epochs=0,
        trials=4_800 * 64,
        validate_every=32,
        plateau=0.5,
        keep="last",
        distinct=True,
        added_share=0.3,
        token_mean=True,
        dropout=0.5,
        limit=150,
    ),
    "grefenstette2015": Protocol(
        optimizer="rmsprop",
        learning_rate=0.001,
        decay=1.0,
        weight_decay=0.0,
        clip=1.0,
        batch_size=10,
        epochs=0,
        updates=30_000,
        token_mean=True,
        dropout=0.0,
        limit=256,
        validated=100,
        validate_every=250,
        keep="perplexity",
        streamed=True,
        converged=10,
    ),
}
"""Of Lake & Baroni (2018, section 3) the dropout is that of the network that did best overall. Of
Ruis et al. (2020, section 4 and appendix E) what the text leaves out is as in the authors' code,
and of Andreas (2020) all is as in the author's logs and code. Grefenstette et al. (2015) try rates
of 5e-3, 1e-3, 5e-4, 1e-4 and 5e-5, train until convergence and say no more than the rule, the size
of a batch, the clipping and what selects models; what else there is to say was chosen here."""

WITHOUT_VALIDATION = frozenset({"lake2018"})
"""The recipes of papers that report the last weights, and train on all lines."""


def protocol(name: str, *, endless: bool = True) -> Protocol:
    """Return the recipe of that name.

    Args:
        name: The recipe's.
        endless: Whether there are always more examples; where there are not, none are streamed.

    Raises:
        UnknownName: there is none.
    """
    if name not in PROTOCOLS:
        raise UnknownName("protocol", name, PROTOCOLS)
    found = PROTOCOLS[name]
    return found if endless else replace(found, streamed=False)


def validation(name: str) -> Literal["draw", "none"]:
    """Return how a recipe's paper carves a validation set: by a draw from train, or not at all."""
    return "none" if name in WITHOUT_VALIDATION else "draw"
