"""Training protocols; the protocol of a paper has the paper's name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import Literal, TypeAlias

from daxy.core.errors import UnknownName, require
from daxy.core.settings import check_types, later

Optimizer: TypeAlias = Literal["sgd", "adam", "rmsprop"]

EPOCH = 1_000
"""Samples or steps in an epoch unless a protocol says otherwise; each epoch ends with a validation
and a line in the log."""
LONGEST_OUTPUT = 1 << 16
"""The largest `max_decode_length`: memory for outputs of this length is allocated at once."""


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How a network is trained, selected and decoded; every field is a flag of `daxy train`.

    The defaults are those of Bastings et al. (2018, section 6.1) and of the authors' code where the
    paper is silent. `--protocol` sets those of another paper.
    """

    optimizer: Optimizer = "sgd"
    """The optimizer."""
    learning_rate: float = 0.2
    """Learning rate of the first epoch."""
    lr_decay: float = 0.96
    """Factor of the learning rate after each epoch."""
    weight_decay: float = 1e-8
    """L2 penalty: this much of each weight is added to its gradient."""
    max_grad_norm: float = 5.0
    """Gradients are scaled down to this norm; 0: no clipping."""
    batch_size: int = 32
    """Examples in a step; with `epochs`, examples of a batch have similar source lengths."""
    epochs: int = 50
    """Passes over the training set (50 in the authors' README); 0 with `samples` or `steps`."""
    dropout: float = 0.2
    """Dropout: on both embeddings and the input of the pre-output layer (`seq2seq`), between layers
    (`stacked`), or on the fed-back and the output vector (`luong`); see also `world-dropout`
    (`multimodal`)."""
    mask_loss_after_end: bool = False
    """Ignore the loss of tokens after the model's own first end token, as the authors' code
    does."""
    max_decode_length: int = 50
    """Maximum tokens of an output; never taken from the target."""
    samples: int = later(0)
    """Examples to draw with replacement, instead of `epochs`. An epoch in the log is 1,000 of them,
    or as `eval-every` says."""
    teacher_forcing: float = later(1.0)
    """Probability of teacher forcing, drawn for each example; other examples are decoded from the
    model's own best tokens, up to its own end token."""
    steps: int = later(0)
    """Training steps, instead of `epochs`: batches of any lengths from a shuffled training set,
    pass after pass, or from a stream. An epoch in the log is 1,000 steps, or `eval-every`."""
    lr_decay_steps: int = later(0)
    """Apply `lr-decay` once in so many steps, continuously; 0: after each epoch."""
    token_mean_loss: bool = later(default=False)
    """Average the loss over all tokens of a batch, instead of summing it over the tokens of an
    example and averaging over examples."""
    validation_examples: int = later(0)
    """Validation examples to score after an epoch, drawn once; 0: all."""
    eval_every: int = later(0)
    """Steps in an epoch of a protocol with `samples` or `steps`; 0: 1,000 samples or steps."""
    lr_factor: float = later(1.0)
    """Factor of the learning rate after more than `lr-patience` epochs without a better validation
    score; 1: never reduce it."""
    lr_patience: int = later(10)
    """Epochs without a better validation score before `lr-factor` applies."""
    select: Literal["best", "last", "perplexity"] = later("best")
    """Weights to keep: those with the best validation score, the last ones, or those of the epoch
    with the lowest training perplexity."""
    deduplicate: bool = later(default=False)
    """Train on each distinct example once."""
    augmented_share: float = later(0.0)
    """Probability that a sample is an augmented example; 0: in proportion to their number."""
    online: bool = later(default=False)
    """Generate new training examples for each epoch, instead of training on a training set; for
    tasks with unlimited examples."""
    early_stopping: int = later(0)
    """Stop after so many epochs without a lower training loss: by 0.0001 nats a token, or by 1% if
    that is less. Also stop when the loss is nearly zero. 0: never stop early."""

    def __post_init__(self) -> None:
        check_types(Protocol, vars(self))
        for name in (*_POSITIVE, *_NOT_NEGATIVE):
            value, flag = getattr(self, name), name.replace("_", "-")
            require(value > 0 or name not in _POSITIVE, f"{flag} must be positive, not {value}")
            require(isfinite(value), f"{flag} must be finite, not {value}")
            require(value >= 0, f"{flag} must not be negative: {value}")
            most = _AT_MOST.get(name, value)
            require(value <= most, f"{flag} must be at most {most:,}, not {value:,}")
        lengths = {name: getattr(self, name) for name in ("epochs", "samples", "steps")}
        is_set = self.epochs > 0 or (self.epochs == 0 and any(lengths.values()))
        none = f"epochs must be positive, not {self.epochs}, without samples or steps"
        require(is_set, none)
        chosen = [f"{name} ({value})" for name, value in lengths.items() if value]
        one = "; set all but one of them to 0"
        require(len(chosen) == 1, f"{' and '.join(chosen)} exclude each other{one}")
        whole = self.samples % self.batch_size == 0
        multiple = f"samples must be a multiple of batch-size: {self.samples}, {self.batch_size}"
        require(whole, multiple)
        for name in ("teacher_forcing", "augmented_share"):
            share, flag = getattr(self, name), name.replace("_", "-")
            require(0 <= share <= 1, f"{flag} must be between 0 and 1, not {share}")
        require(0 < self.lr_factor <= 1, f"lr-factor must be in (0, 1], not {self.lr_factor}")
        drawn = self.samples > 0 or self.augmented_share == 0
        require(drawn, "augmented-share needs samples")
        counted = self.total_steps > 0 or self.eval_every == 0
        require(counted, "eval-every needs samples or steps")
        require(self.steps > 0 or not self.online, "online needs steps")
        needs_perplexity = self.select == "perplexity" or self.early_stopping > 0
        means = (
            "select perplexity and early-stopping need token-mean-loss, teacher-forcing 1 and no"
            " mask-loss-after-end"
        )
        require(self.measures_perplexity or not needs_perplexity, means)
        once = "online examples are new each time; expected --no-deduplicate"
        require(not (self.online and self.deduplicate), once)
        require(0 <= self.dropout < 1, f"dropout must be in [0, 1), not {self.dropout}")

    @property
    def measures_perplexity(self) -> bool:
        """Whether the training loss is a mean over all target tokens with teacher forcing."""
        is_whole = self.teacher_forcing == 1 and not self.mask_loss_after_end
        return self.token_mean_loss and is_whole

    @property
    def total_steps(self) -> int:
        """Steps of a protocol with `steps` or `samples`; 0 with `epochs`."""
        return self.steps or self.samples // self.batch_size

    @property
    def epoch_steps(self) -> int:
        """Steps in an epoch of such a protocol; the last epoch may have fewer."""
        default = EPOCH if self.steps else max(1, EPOCH // self.batch_size)
        return self.eval_every or default

    @property
    def max_epochs(self) -> int:
        """Number of epochs unless training stops early."""
        if not self.total_steps:
            return self.epochs
        return -(-self.total_steps // self.epoch_steps)


_POSITIVE = ("learning_rate", "lr_decay", "batch_size", "max_decode_length")
_AT_MOST = {"batch_size": 1 << 20, "max_decode_length": LONGEST_OUTPUT}
_NOT_NEGATIVE = (
    "weight_decay",
    "max_grad_norm",
    "samples",
    "steps",
    "lr_decay_steps",
    "validation_examples",
    "eval_every",
    "lr_patience",
    "early_stopping",
)

DEFAULT = "bastings2018"
PROTOCOLS = {
    DEFAULT: Protocol(),
    "lake2018": Protocol(
        optimizer="adam",
        learning_rate=0.001,
        lr_decay=1.0,
        weight_decay=0.0,
        batch_size=1,
        epochs=0,
        dropout=0.5,
        samples=100_000,
        teacher_forcing=0.5,
    ),
    "ruis2020": Protocol(
        optimizer="adam",
        learning_rate=0.001,
        lr_decay=0.9,
        lr_decay_steps=20_000,
        weight_decay=0.0,
        max_grad_norm=0.0,
        batch_size=200,
        epochs=0,
        steps=200_000,
        token_mean_loss=True,
        dropout=0.3,
        max_decode_length=120,
        validation_examples=2_000,
    ),
    "andreas2020": Protocol(
        optimizer="adam",
        learning_rate=0.001,
        lr_decay=1.0,
        weight_decay=0.0,
        max_grad_norm=1.0,
        batch_size=64,
        epochs=0,
        samples=4_800 * 64,
        eval_every=32,
        lr_factor=0.5,
        select="last",
        deduplicate=True,
        augmented_share=0.3,
        token_mean_loss=True,
        dropout=0.5,
        max_decode_length=150,
    ),
    "grefenstette2015": Protocol(
        optimizer="rmsprop",
        learning_rate=0.001,
        lr_decay=1.0,
        weight_decay=0.0,
        max_grad_norm=1.0,
        batch_size=10,
        epochs=0,
        steps=30_000,
        token_mean_loss=True,
        dropout=0.0,
        max_decode_length=256,
        validation_examples=100,
        eval_every=250,
        select="perplexity",
        online=True,
        early_stopping=10,
    ),
}
"""Of Lake & Baroni (2018, section 3) the dropout is that of the network that did best overall. Of
Ruis et al. (2020, section 4 and appendix E) what the text leaves out is as in the authors' code,
and of Andreas (2020) all is as in the author's logs and code. Grefenstette et al. (2015) try rates
of 5e-3, 1e-3, 5e-4, 1e-4 and 5e-5, train until convergence and say no more than the rule, the size
of a batch, the clipping and what selects models; what else there is to say was chosen here."""

WITHOUT_VALIDATION = frozenset({"lake2018"})
"""Protocols of papers that report the last weights and train on all examples."""


def protocol(name: str, *, endless: bool = True) -> Protocol:
    """Return the protocol with this name.

    Args:
        name: Name of the protocol.
        endless: Whether the task has unlimited examples; without them, training is not online.

    Raises:
        UnknownName: there is no such protocol.
    """
    if name not in PROTOCOLS:
        raise UnknownName("protocol", name, PROTOCOLS)
    return PROTOCOLS[name] if endless else replace(PROTOCOLS[name], online=False)


def validation(name: str) -> Literal["draw", "none"]:
    """Return how a paper's protocol makes a validation set: a draw from train, or none."""
    return "none" if name in WITHOUT_VALIDATION else "draw"
