"""The papers' recipes, and what no recipe can be."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from daxy.core.errors import UnknownName, WrongRequest
from daxy.models.multimodal import Config
from daxy.training.protocol import DEFAULT, Protocol, protocol, validation


def test_the_papers_recipe_is_the_default() -> None:
    assert DEFAULT == "bastings2018"
    assert protocol("bastings2018") == Protocol(
        optimizer="sgd",
        learning_rate=0.2,
        lr_decay=0.96,
        weight_decay=1e-8,
        max_grad_norm=5.0,
        batch_size=32,
        epochs=50,
        dropout=0.2,
        mask_loss_after_end=False,
        max_decode_length=50,
    )


def test_the_recipe_of_lake_and_baroni_is_theirs() -> None:
    assert protocol("lake2018") == Protocol(
        optimizer="adam",
        learning_rate=0.001,
        lr_decay=1.0,
        weight_decay=0.0,
        max_grad_norm=5.0,
        batch_size=1,
        epochs=0,
        dropout=0.5,
        max_decode_length=50,
        samples=100_000,
        teacher_forcing=0.5,
    )


def test_the_recipe_of_ruis_et_al_is_theirs() -> None:
    assert protocol("ruis2020") == Protocol(
        optimizer="adam",
        learning_rate=0.001,
        lr_decay=0.9,
        lr_decay_steps=20_000,
        weight_decay=0.0,
        max_grad_norm=0.0,
        batch_size=200,
        epochs=0,
        steps=200_000,
        dropout=0.3,
        token_mean_loss=True,
        validation_examples=2_000,
        max_decode_length=120,
    )
    assert Config().world_dropout == 0.1


def test_the_recipe_of_andreas_is_his() -> None:
    assert protocol("andreas2020") == Protocol(
        optimizer="adam",
        learning_rate=0.001,
        lr_decay=1.0,
        weight_decay=0.0,
        max_grad_norm=1.0,
        batch_size=64,
        epochs=0,
        samples=150 * 32 * 64,
        eval_every=32,
        lr_factor=0.5,
        lr_patience=10,
        select="last",
        dropout=0.5,
        token_mean_loss=True,
        deduplicate=True,
        augmented_share=0.3,
        max_decode_length=150,
    )


def test_the_recipe_of_grefenstette_et_al_is_theirs_and_what_the_docs_add() -> None:
    assert protocol("grefenstette2015") == Protocol(
        optimizer="rmsprop",
        learning_rate=0.001,
        lr_decay=1.0,
        weight_decay=0.0,
        max_grad_norm=1.0,
        batch_size=10,
        epochs=0,
        steps=30_000,
        dropout=0.0,
        token_mean_loss=True,
        online=True,
        validation_examples=100,
        eval_every=250,
        select="perplexity",
        early_stopping=10,
        max_decode_length=256,
    )


@pytest.mark.parametrize(
    ("samples", "batch_size", "steps", "epochs"),
    [(100_000, 1, 100_000, 100), (2_500, 1, 2_500, 3), (10, 1, 10, 1), (9_000, 2_250, 4, 4)],
)
def test_an_epoch_of_draws_is_a_thousand_of_them(
    samples: int, batch_size: int, steps: int, epochs: int
) -> None:
    recipe = Protocol(samples=samples, batch_size=batch_size, epochs=0)
    assert (recipe.total_steps, recipe.max_epochs) == (steps, epochs)


def test_a_recipe_that_draws_nothing_passes_through_the_examples() -> None:
    assert (Protocol(epochs=7).total_steps, Protocol(epochs=7).max_epochs) == (0, 7)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"learning_rate": 0.0}, "learning-rate must be positive, not 0.0"),
    ({"learning_rate": float("nan")}, "learning-rate must be positive, not nan"),
    ({"lr_decay": -0.5}, "lr-decay must be positive, not -0.5"),
    ({"max_grad_norm": -1.0}, "max-grad-norm must not be negative: -1.0"),
    ({"max_grad_norm": float("inf")}, "max-grad-norm must be finite, not inf"),
    ({"batch_size": 0}, "batch-size must be positive, not 0"),
    ({"epochs": 0}, "epochs must be positive, not 0, without samples or steps"),
    ({"max_decode_length": -1}, "max-decode-length must be positive, not -1"),
    ({"max_decode_length": 10**9}, "max-decode-length must be at most 65,536, not 1,000,000,000"),
    ({"batch_size": 10**9}, "batch-size must be at most 1,048,576, not 1,000,000,000"),
    ({"weight_decay": -1e-9}, "weight-decay must not be negative: -1e-09"),
    ({"dropout": 1.0}, r"dropout must be in \[0, 1\), not 1.0"),
    ({"samples": -1}, "samples must not be negative: -1"),
    ({"epochs": 3, "samples": 64}, r"epochs \(3\) and samples \(64\) exclude each other; set"),
    ({"epochs": 3, "steps": 64}, r"epochs \(3\) and steps \(64\) exclude each other"),
    ({"steps": -1}, "steps must not be negative: -1"),
    ({"lr_decay_steps": -1}, "lr-decay-steps must not be negative: -1"),
    ({"validation_examples": -1}, "validation-examples must not be negative: -1"),
    (
        {"samples": 7, "batch_size": 2, "epochs": 0},
        "samples must be a multiple of batch-size: 7, 2",
    ),
    ({"teacher_forcing": 1.5}, "teacher-forcing must be between 0 and 1, not 1.5"),
    ({"teacher_forcing": float("nan")}, "teacher-forcing must be between 0 and 1, not nan"),
    ({"dropout": -0.1}, r"dropout must be in \[0, 1\), not -0.1"),
    ({"augmented_share": 0.3}, "augmented-share needs samples"),
    ({"augmented_share": 1.3}, "augmented-share must be between 0 and 1, not 1.3"),
    ({"lr_factor": 0.0}, r"lr-factor must be in \(0, 1\], not 0.0"),
    ({"lr_patience": -1}, "lr-patience must not be negative: -1"),
    ({"eval_every": 9}, "eval-every needs samples or steps"),
    ({"eval_every": -1}, "eval-every must not be negative: -1"),
    ({"online": True}, "online needs steps"),
    (
        {"select": "perplexity"},
        "need token-mean-loss, teacher-forcing 1 and no mask-loss-after-end",
    ),
    ({"early_stopping": 3}, "need token-mean-loss, teacher-forcing 1 and no mask-loss-after-end"),
    ({"early_stopping": -1}, "early-stopping must not be negative: -1"),
    (
        {"early_stopping": 3, "token_mean_loss": True, "mask_loss_after_end": True},
        "need token-mean-loss, teacher-forcing 1 and no mask-loss-after-end",
    ),
    (
        {"online": True, "deduplicate": True, "steps": 5, "epochs": 0},
        "online examples are new each time; expected --no-deduplicate",
    ),
]


@pytest.mark.parametrize(("values", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_recipe_that_cannot_be_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongRequest, match=message):
        Protocol(**values)


def test_bastings_et_al_select_on_a_part_of_train_and_lake_and_baroni_do_not() -> None:
    assert (validation("bastings2018"), validation("lake2018")) == ("draw", "none")


def test_training_on_a_fixed_set_is_not_online() -> None:
    endless = protocol("grefenstette2015")
    assert endless.online
    assert protocol("grefenstette2015", endless=False) == replace(endless, online=False)
    assert protocol("lake2018", endless=True) == protocol("lake2018", endless=False)


def test_an_unknown_recipe_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="did you mean bastings2018"):
        protocol("bastings2019")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("optimizer='adamw'", "optimizer must be one of 'sgd', 'adam', 'rmsprop', not 'adamw'"),
        ("epochs=2.5", "epochs must be a whole number, not 2.5"),
        ("max_grad_norm='5'", "max-grad-norm must be a number, not '5'"),
    ],
)
def test_a_wrong_type_is_refused_where_annotations_are_not_checked(
    setting: str, message: str, refusal: Callable[[str], str]
) -> None:
    code = f"from daxy.training.protocol import Protocol; Protocol({setting})"
    assert refusal(code) == message
