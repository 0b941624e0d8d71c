"""Learning rates: PyTorch's rule, if it is installed, and cases calculated by hand."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import optax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.training.config import TrainingConfig
from daxy.training.schedule import has_converged, learning_rate, plateaus


@pytest.mark.parametrize(
    ("scores", "patience", "plateau"),
    [
        ([], 2, 0),
        ([0.5, 0.5, 0.5], 2, 0),
        ([0.5, 0.5, 0.5, 0.5], 2, 1),
        ([0.5, 0.4, 0.3, 0.2, 0.1, 0.2, 0.3], 2, 2),
        ([0.5, 0.5, 0.6, 0.5, 0.5], 2, 0),
        ([0.5, 0.50004, 0.50004, 0.50004], 2, 1),  # hardly better is not better
        ([0.0, 0.0, 0.0, 1e-9, 0.0], 2, 0),
        ([None] * 9, 2, 0),
        ([0.5, None, 0.5, None, 0.5, 0.5], 2, 1),
        ([0.5, 0.5], 0, 1),
    ],
)
def test_a_plateau_is_more_epochs_than_patience_without_a_better_score(
    scores: list[float | None], patience: int, plateau: int
) -> None:
    assert plateaus(scores, patience) == plateau


@pytest.mark.peer
@given(st.lists(st.integers(0, 20), max_size=60), st.integers(0, 4))
def test_it_is_the_rule_of_pytorch(twentieths: list[int], patience: int) -> None:
    torch = pytest.importorskip("torch", reason="no PyTorch: the extra `peers` installs it")
    scores = [each / 20 for each in twentieths]
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rule = torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, mode="max", factor=0.5, patience=patience, eps=0.0
        )
        for score in scores:
            rule.step(score)
    assert optimizer.param_groups[0]["lr"] == 0.5 ** plateaus(scores, patience)


def test_a_rate_decays_with_epochs_or_with_steps_and_at_plateaus() -> None:
    at: dict[str, Any] = {"epochs": 3, "total_steps": 900, "scores": [0.5] * 3}
    by_epochs = TrainingConfig().with_settings(learning_rate=0.1, lr_decay=0.5)
    assert learning_rate(by_epochs, steps=700, **at) == pytest.approx(0.1 * 0.5**3)
    by_steps = TrainingConfig().with_settings(
        learning_rate=0.1, lr_decay=0.5, lr_decay_steps=100, steps=900
    )
    assert learning_rate(by_steps, steps=250, **at) == pytest.approx(0.1 * 0.5**2.5)
    at_plateaus = TrainingConfig().with_settings(learning_rate=0.1, lr_factor=0.1, lr_patience=1)
    assert learning_rate(at_plateaus, steps=700, **at) == pytest.approx(0.01)


def optax_schedule(kind: str) -> tuple[Callable[[int], Any], dict[str, Any]]:
    """Return a schedule of Optax, and the settings of ours that are to be the same."""
    match kind:
        case "cosine":
            rule = optax.warmup_cosine_decay_schedule(0.0, 0.2, 10, 100, end_value=0.02)
            return rule, {"schedule": "cosine", "warmup_steps": 10, "lr_floor": 0.1}
        case "milestones":
            rule = optax.piecewise_constant_schedule(0.2, {30: 0.5, 60: 0.5})
            return rule, {"lr_milestones": (30, 60), "lr_gamma": 0.5}
        case _:
            rule = optax.linear_schedule(0.0, 0.2, 10)
            return rule, {"schedule": "constant", "warmup_steps": 10}


@pytest.mark.parametrize("kind", ["cosine", "milestones", "constant"])
def test_a_schedule_is_that_of_optax(kind: str) -> None:
    rule, settings = optax_schedule(kind)
    config = TrainingConfig().with_settings(**settings)
    warmup = config.schedule.warmup_steps
    for step in (0, 5, 9, 10, 11, 29, 31, 59, 61, 99):
        # Optax begins a warm-up with a rate of 0; here the first step has a share of it.
        other = step + 1 if step < warmup else step
        ours = learning_rate(config, epochs=0, steps=step, total_steps=100, scores=[])
        assert ours == pytest.approx(float(rule(other)), rel=1e-6)


def test_the_rate_of_vaswani_et_al_rises_and_falls_with_the_inverse_square_root() -> None:
    config = TrainingConfig().with_settings(schedule="inverse_sqrt", warmup_steps=4)
    rates = [
        learning_rate(config, epochs=0, steps=step, total_steps=100, scores=[])
        for step in (0, 3, 15, 99)
    ]
    # Equation 3: min(step^-0.5, step * warmup^-1.5), scaled to the peak of 0.2.
    assert rates == pytest.approx([0.05, 0.2, 0.1, 0.04])


@pytest.mark.parametrize(
    ("perplexities", "ends"),
    [
        ([], False),
        ([90.0, 90.0, 90.0], False),
        ([90.0, 90.0, 90.0, 90.0], True),
        ([90.0, 91.0, 89.0, 95.0, 95.0], False),
        ([90.0, 91.0, 89.0, 95.0, 95.0, 89.0], True),
        ([90.0, 89.998, 89.996, 89.994], True),  # hardly better is not better
        ([90.0, 89.98, 89.96, 89.94], False),
        # Of what is nearly nothing, a hundredth counts.
        ([1.0005, 1.0004, 1.0003, 1.0002], False),
        ([1.0005, 1.00049, 1.00048, 1.00047], False),
        ([1.0005, 1.000499, 1.000498, 1.000497], True),
        ([1.5, 1.00002], False),
        ([1.5, 1.000009], True),  # nothing is better than 1
        ([1.000009, 1.5], True),
        ([float("inf"), float("inf"), float("inf"), float("inf")], True),
    ],
)
def test_training_has_converged_when_its_perplexity_gets_no_better(
    perplexities: list[float], ends: bool
) -> None:
    assert has_converged(3, perplexities) == ends
    assert not has_converged(0, perplexities)
