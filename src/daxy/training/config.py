"""Training configuration of a network: the sum of its parts. No JAX is imported here.

Each part is one choice: the optimizer, the learning-rate schedule, the budget, the loss, the
selection of weights. A part has only the settings that mean something with it, so that most
impossible combinations cannot be written. Every setting has a name of its own, which is its flag
of `daxy train`; `TrainingConfig.with_settings` sets them by that name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

from daxy.core.errors import UnknownName, WrongRequest, quote, require
from daxy.core.settings import from_dict, to_dict
from daxy.training.parts import (
    PARTS,
    SELECTABLE,
    SGD,
    Budget,
    Epochs,
    Exponential,
    Loss,
    Optimizer,
    Part,
    Samples,
    Schedule,
    Selection,
    Steps,
    check,
    flag_of,
)

EPOCH = 1_000
"""Samples or steps in an epoch unless a protocol says otherwise; each epoch ends with a validation
and a line in the log."""


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """Settings by which a network is trained, selected and decoded.

    The defaults are those of Bastings et al. (2018, section 6.1) and of the authors' code where the
    paper is silent.
    """

    optimizer: Optimizer = SGD(learning_rate=0.2, weight_decay=1e-8)
    schedule: Schedule = Exponential()
    budget: Budget = Epochs()
    loss: Loss = Loss()
    selection: Selection = Selection()
    batch_size: int = 32
    """Examples in a step; with `epochs`, examples of a batch have similar source lengths."""
    max_grad_norm: float = 5.0
    """Gradients are scaled down to this norm; 0: no clipping."""
    dropout: float = 0.2
    """Dropout: on both embeddings and the input of the pre-output layer (`seq2seq`), between layers
    (`stacked`), or on the fed-back and the output vector (`luong`); see also `world-dropout`
    (`multimodal`)."""
    deduplicate: bool = False
    """Train on each distinct example once."""
    max_decode_length: int = 50
    """Maximum tokens of an output; never taken from the target."""

    def __post_init__(self) -> None:
        check(self)
        if isinstance(self.budget, Samples):
            samples, size = self.budget.samples, self.batch_size
            multiple = f"samples must be a multiple of batch-size: {samples}, {size}"
            require(samples % size == 0, multiple)
        needs_perplexity = self.selection.select == "perplexity" or self.selection.early_stopping
        means = (
            "select perplexity and early-stopping need token-mean-loss, teacher-forcing 1, no"
            " label-smoothing and no mask-loss-after-end"
        )
        require(self.loss.is_perplexity or not needs_perplexity, means)
        once = "online examples are new each time; expected --no-deduplicate"
        require(not (self.online and self.deduplicate), once)

    @property
    def online(self) -> bool:
        """Whether each epoch has new training examples."""
        return isinstance(self.budget, Steps) and self.budget.online

    @property
    def total_steps(self) -> int:
        """Steps of a budget of steps or samples; 0 with epochs."""
        match self.budget:
            case Steps(steps=steps):
                return steps
            case Samples(samples=samples):
                return samples // self.batch_size
            case Epochs():
                return 0

    @property
    def epoch_steps(self) -> int:
        """Steps in an epoch of such a budget; the last epoch may have fewer. 0 with epochs."""
        match self.budget:
            case Steps(eval_every=steps):
                return steps or EPOCH
            case Samples(eval_every=steps):
                return steps or max(1, EPOCH // self.batch_size)
            case Epochs():
                return 0

    @property
    def max_epochs(self) -> int:
        """Number of epochs unless training stops early."""
        if isinstance(self.budget, Epochs):
            return self.budget.epochs
        return -(-self.total_steps // self.epoch_steps)

    def settings(self) -> dict[str, Any]:
        """Return every setting by its name, and the kinds of `optimizer` and `schedule`."""
        values = {name: getattr(self, name).kind for name in SELECTABLE}
        for role in PARTS:
            values |= vars(getattr(self, role))
        return values | {name: getattr(self, name) for name in OWN}

    def with_settings(self, **settings: Any) -> TrainingConfig:
        """Return the configuration with other settings, each by its name.

        A setting of another budget or schedule selects it: `steps=100` replaces `epochs`. What two
        kinds of a part have in common stays.

        Raises:
            UnknownName: there is no such setting.
            WrongRequest: a value is wrong, or settings exclude each other.
        """
        for name in settings:
            if name not in SETTINGS:
                raise UnknownName("training setting", name, SETTINGS, listing="daxy train --help")
        changes = {name: value for name, value in settings.items() if name in OWN}
        for role in PARTS:
            own = {name: value for name, value in settings.items() if ROLES.get(name) == role}
            kind = settings.get(role) if role in SELECTABLE else None
            if own or kind:
                changes[role] = _changed(role, getattr(self, role), kind, own)
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON values, every setting of every part."""
        parts = {role: getattr(self, role) for role in PARTS}
        values = {role: _named(role, part) for role, part in parts.items()}
        own = to_dict(self)
        return values | {name: own[name] for name in OWN if name in own}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainingConfig:
        """Return the configuration that `to_dict` returned.

        Raises:
            UnknownName: there is no such part or setting.
            WrongRequest: a value is wrong.
        """
        parts = {role: _part(role, values[role]) for role in PARTS if role in values}
        return from_dict(cls, {**values, **parts}, of="the training configuration")


def _names(kind: type[Part]) -> frozenset[str]:
    return frozenset(each.name for each in fields(kind))


OWN = tuple(each.name for each in fields(TrainingConfig) if each.name not in PARTS)
"""Settings of no part."""
ROLES: Mapping[str, str] = {
    each.name: role
    for role, kinds in PARTS.items()
    for kind in kinds.values()
    for each in fields(kind)
}
"""The part of each setting."""
SETTINGS = (*SELECTABLE, *ROLES, *OWN)
"""The names of all settings."""


def _named(role: str, part: Part) -> dict[str, Any]:
    """Return the settings of a part, with its kind where there are several."""
    kind = {"kind": part.kind} if len(PARTS[role]) > 1 else {}
    settings = to_dict(part).items()
    return kind | {name: [*it] if isinstance(it, tuple) else it for name, it in settings}


def _part(role: str, values: Any) -> Part:
    require(isinstance(values, Mapping), f"{role} must be an object, not {quote(values)}")
    kind = _kind(role, values.get("kind", next(iter(PARTS[role]))))
    rest = {name: value for name, value in values.items() if name != "kind"}
    return from_dict(kind, rest, of=f"{role} {kind.kind}")


def _kind(role: str, name: str) -> type[Part]:
    if name not in PARTS[role]:
        raise UnknownName(role, name, PARTS[role])
    return PARTS[role][name]


def _changed(role: str, part: Part, kind: str | None, settings: Mapping[str, Any]) -> Part:
    """Return a part with other settings, of another kind where these need it."""
    chosen = type(part) if kind is None else _kind(role, kind)
    if kind is None and not settings.keys() <= _names(chosen):
        chosen = _fitting(role, settings)
    for name in settings:
        if name not in _names(chosen):
            raise WrongRequest(f"{flag_of(name)} needs {role} {_having(role, name)}")
    shared = {name: value for name, value in vars(part).items() if name in _names(chosen)}
    return chosen(**{**shared, **settings})


def _fitting(role: str, settings: Mapping[str, Any]) -> type[Part]:
    """Return the one kind of a part that has these settings."""
    kinds = PARTS[role].values()
    fitting = [each for each in kinds if settings.keys() <= _names(each)]
    if not fitting:
        chosen = [f"{flag_of(name)} ({value})" for name, value in settings.items()]
        raise WrongRequest(f"{' and '.join(chosen)} exclude each other")
    if len(fitting) > 1 or role == "optimizer" or not settings.keys() >= _required(fitting[0]):
        kind = "" if role == "budget" else f"{role} "
        raise WrongRequest(
            f"{flag_of(next(iter(settings)))} needs {kind}{' or '.join(e.kind for e in fitting)}"
        )
    return fitting[0]


def _required(kind: type[Part]) -> set[str]:
    return {each.name for each in fields(kind) if each.default is MISSING}


def _having(role: str, name: str) -> str:
    return " or ".join(each.kind for each in PARTS[role].values() if name in _names(each))
