"""Parts of a training configuration: one choice a class. No JAX is imported here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, isfinite, pi, sqrt
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from daxy.core.errors import require
from daxy.core.settings import check_types

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LONGEST_OUTPUT = 1 << 16
"""The largest `max_decode_length`: memory for outputs of this length is allocated at once."""

POSITIVE = frozenset(
    {
        "learning_rate",
        "lr_decay",
        "lr_factor",
        "lr_gamma",
        "epsilon",
        "batch_size",
        "max_decode_length",
        "epochs",
        "samples",
        "steps",
    }
)
"""Settings that must be above 0; every other number must not be negative."""
AT_MOST: Mapping[str, float] = {
    "batch_size": 1 << 20,
    "max_decode_length": LONGEST_OUTPUT,
    "lr_factor": 1,
    "lr_floor": 1,
    "teacher_forcing": 1,
    "augmented_share": 1,
}
BELOW_ONE = frozenset({"dropout", "betas", "square_decay", "label_smoothing"})


def check(settings: DataclassInstance) -> None:
    """Refuse a value of another type, or out of its bounds."""
    check_types(type(settings), vars(settings))
    for name, value in vars(settings).items():
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, int | float) and not isinstance(number, bool):
                _check_number(name, number)


def _check_number(name: str, value: int | float) -> None:
    flag = flag_of(name)
    require(value > 0 or name not in POSITIVE, f"{flag} must be positive, not {value}")
    require(isfinite(value), f"{flag} must be finite, not {value}")
    require(value >= 0, f"{flag} must not be negative: {value}")
    require(value < 1 or name not in BELOW_ONE, f"{flag} must be in [0, 1), not {value}")
    most = AT_MOST.get(name, value)
    require(value <= most, f"{flag} must be at most {most:,}, not {value:,}")


def flag_of(name: str) -> str:
    """Return the flag of a setting, without its dashes."""
    return name.replace("_", "-")


@dataclass(frozen=True, kw_only=True)
class Part:
    """One choice of a training configuration."""

    kind: ClassVar[str]
    """Name of the choice: a value of the flag that selects it."""

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, kw_only=True)
class Optimizer(Part):
    """Settings of every optimizer."""

    learning_rate: float = 0.001
    """Learning rate; the schedule multiplies it."""
    weight_decay: float = 0.0
    """L2 penalty: this much of each weight is added to its gradient; with `adamw`, decoupled: this
    much of each weight, times the learning rate, is subtracted from it."""


@dataclass(frozen=True, kw_only=True)
class SGD(Optimizer):
    """Stochastic gradient descent."""

    kind: ClassVar[str] = "sgd"


@dataclass(frozen=True, kw_only=True)
class Adam(Optimizer):
    """Adam (Kingma & Ba 2015)."""

    kind: ClassVar[str] = "adam"
    betas: tuple[float, float] = (0.9, 0.999)
    """Decay of the mean of gradients and of the mean of their squares."""
    epsilon: float = 1e-8
    """Added to the denominator."""


@dataclass(frozen=True, kw_only=True)
class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov & Hutter 2019)."""

    kind: ClassVar[str] = "adamw"


@dataclass(frozen=True, kw_only=True)
class RMSProp(Optimizer):
    """RMSProp (Tieleman & Hinton 2012)."""

    kind: ClassVar[str] = "rmsprop"
    square_decay: float = 0.99
    """Decay of the mean of squared gradients, as in Torch and PyTorch; Tieleman & Hinton: 0.9."""
    epsilon: float = 1e-8
    """Added to the denominator."""


@dataclass(frozen=True, kw_only=True)
class Schedule(Part):
    """Settings of every learning-rate schedule."""

    warmup_steps: int = 0
    """Steps of linear warm-up; 0: none."""

    def factor(self, at: Moment) -> float:
        """Return the factor of the learning rate at a moment of training."""
        if at.steps < self.warmup_steps:
            return (at.steps + 1) / self.warmup_steps
        return self._after_warmup(at)

    def _after_warmup(self, at: Moment) -> float:
        del at
        return 1.0


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A moment of training, for schedules."""

    epochs: int
    """Epochs that have ended."""
    steps: int
    """Steps that have ended."""
    total_steps: int
    """Steps of the whole training."""
    plateaus: int = 0
    """Plateaus of the validation score so far; see `Plateau`."""


@dataclass(frozen=True, kw_only=True)
class Constant(Schedule):
    """The same learning rate throughout."""

    kind: ClassVar[str] = "constant"


@dataclass(frozen=True, kw_only=True)
class Exponential(Schedule):
    """Exponential decay."""

    kind: ClassVar[str] = "exponential"
    lr_decay: float = 0.96
    """Factor of the learning rate after each epoch; selects the schedule `exponential`."""
    lr_decay_steps: int = 0
    """Apply `lr-decay` once in so many steps, continuously; 0: after each epoch."""

    def _after_warmup(self, at: Moment) -> float:
        times = at.steps / self.lr_decay_steps if self.lr_decay_steps else at.epochs
        return self.lr_decay**times


@dataclass(frozen=True, kw_only=True)
class Plateau(Schedule):
    """A smaller learning rate whenever the validation score stops improving."""

    kind: ClassVar[str] = "plateau"
    lr_factor: float = 0.5
    """Factor of the learning rate after more than `lr-patience` epochs without a better validation
    score; selects the schedule `plateau`."""
    lr_patience: int = 10
    """Epochs without a better validation score before `lr-factor` applies."""

    def _after_warmup(self, at: Moment) -> float:
        return self.lr_factor**at.plateaus


@dataclass(frozen=True, kw_only=True)
class InverseSqrt(Schedule):
    """The inverse square root of the step, after the warm-up (Vaswani et al. 2017)."""

    kind: ClassVar[str] = "inverse_sqrt"

    def _after_warmup(self, at: Moment) -> float:
        return sqrt(max(self.warmup_steps, 1) / (at.steps + 1))


@dataclass(frozen=True, kw_only=True)
class Cosine(Schedule):
    """Half a cosine from the end of the warm-up to the end of training."""

    kind: ClassVar[str] = "cosine"
    lr_floor: float = 0.0
    """Factor of the learning rate at the end of training; selects the schedule `cosine`."""

    def _after_warmup(self, at: Moment) -> float:
        left = max(at.total_steps - self.warmup_steps, 1)
        share = min((at.steps - self.warmup_steps) / left, 1.0)
        return self.lr_floor + (1 - self.lr_floor) * (1 + cos(pi * share)) / 2


@dataclass(frozen=True, kw_only=True)
class Milestones(Schedule):
    """A factor at each of several steps."""

    kind: ClassVar[str] = "milestones"
    lr_milestones: tuple[int, ...] = ()
    """Steps at which the learning rate is multiplied by `lr-gamma`; selects the schedule
    `milestones`."""
    lr_gamma: float = 0.1
    """Factor of the learning rate at each milestone."""

    def _after_warmup(self, at: Moment) -> float:
        return self.lr_gamma ** sum(at.steps >= each for each in self.lr_milestones)


@dataclass(frozen=True, kw_only=True)
class Epochs(Part):
    """Passes over the training set, in batches of similar source lengths."""

    kind: ClassVar[str] = "epochs"
    epochs: int = 50
    """Passes over the training set, in batches of similar source lengths; or `samples`, or
    `steps`."""


@dataclass(frozen=True, kw_only=True)
class Samples(Part):
    """Examples drawn with replacement."""

    kind: ClassVar[str] = "samples"
    samples: int
    """Examples to draw with replacement, instead of `epochs`. An epoch in the log is 1,000 of them,
    or as `eval-every` says."""
    eval_every: int = 0
    """Steps in an epoch with `samples` or `steps`; 0: 1,000 samples or steps."""
    augmented_share: float = 0.0
    """With `samples`: probability that a sample is an augmented example; 0: in proportion to their
    number."""


@dataclass(frozen=True, kw_only=True)
class Steps(Part):
    """Batches of any lengths, drawn without replacement or from a stream."""

    kind: ClassVar[str] = "steps"
    steps: int
    """Training steps, instead of `epochs`: batches of any lengths from a shuffled training set,
    pass after pass, or from a stream. An epoch in the log is 1,000 steps, or `eval-every`."""
    eval_every: int = 0
    """Steps in an epoch with `samples` or `steps`; 0: 1,000 samples or steps."""
    online: bool = False
    """With `steps`: generate new training examples for each epoch, instead of training on a
    training set; for tasks with unlimited examples."""


@dataclass(frozen=True, kw_only=True)
class Loss(Part):
    """The training loss: a cross-entropy."""

    kind: ClassVar[str] = "cross_entropy"
    token_mean_loss: bool = False
    """Average the loss over all tokens of a batch, instead of summing it over the tokens of an
    example and averaging over examples."""
    label_smoothing: float = 0.0
    """Probability mass that targets give to all symbols evenly."""
    teacher_forcing: float = 1.0
    """Probability of teacher forcing, drawn for each example; other examples are decoded from the
    model's own best tokens, up to its own end token."""
    mask_loss_after_end: bool = False
    """Ignore the loss of tokens after the model's own first end token, as the code of Bastings et
    al. does."""

    @property
    def is_perplexity(self) -> bool:
        """Whether the loss is the mean cross-entropy of all target tokens with teacher forcing."""
        is_whole = self.teacher_forcing == 1 and not self.mask_loss_after_end
        return self.token_mean_loss and is_whole and not self.label_smoothing


@dataclass(frozen=True, kw_only=True)
class Selection(Part):
    """Selection of weights, and early stopping."""

    kind: ClassVar[str] = "selection"
    select: Literal["best", "last", "perplexity"] = "best"
    """Weights to keep: those with the best validation score, the last ones, or those of the epoch
    with the lowest training perplexity."""
    validation_examples: int = 0
    """Validation examples to score after an epoch, drawn once; 0: all."""
    early_stopping: int = 0
    """Stop after so many epochs without a lower training loss: by 0.0001 nats a token, or by 1% if
    that is less. Also stop when the loss is nearly zero. 0: never stop early."""


Budget: TypeAlias = Epochs | Samples | Steps

PARTS: Mapping[str, Mapping[str, type[Part]]] = {
    role: {each.kind: each for each in kinds}
    for role, kinds in {
        "optimizer": (SGD, Adam, AdamW, RMSProp),
        "schedule": (Constant, Exponential, Plateau, InverseSqrt, Cosine, Milestones),
        "budget": (Epochs, Samples, Steps),
        "loss": (Loss,),
        "selection": (Selection,),
    }.items()
}
"""The parts of a training configuration, and the kinds of each by name."""
SELECTABLE = ("optimizer", "schedule")
"""Parts whose kind has a flag; that of a budget follows from its settings."""
