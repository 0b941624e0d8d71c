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
        decay=0.96,
        weight_decay=1e-8,
        clip=5.0,
        batch_size=32,
        epochs=50,
        dropout=0.2,
        mask_after_predicted_end=False,
        limit=50,
    )


def test_the_recipe_of_lake_and_baroni_is_theirs() -> None:
    assert protocol("lake2018") == Protocol(
        optimizer="adam",
        learning_rate=0.001,
        decay=1.0,
        weight_decay=0.0,
        clip=5.0,
        batch_size=1,
        epochs=0,
        dropout=0.5,
        limit=50,
        trials=100_000,
        teacher_forcing=0.5,
    )


def test_the_recipe_of_ruis_et_al_is_theirs() -> None:
    assert protocol("ruis2020") == Protocol(
        optimizer="adam",
        learning_rate=0.001,
        decay=0.9,
        decay_steps=20_000,
        weight_decay=0.0,
        clip=0.0,
        batch_size=200,
        epochs=0,
        updates=200_000,
        dropout=0.3,
        token_mean=True,
        validated=2_000,
        limit=120,
    )
    assert Config().world_dropout == 0.1


def test_the_recipe_of_andreas_is_his() -> None:
    assert protocol("andreas2020") == Protocol(
        optimizer="adam",
        learning_rate=0.001,
        decay=1.0,
        weight_decay=0.0,
        clip=1.0,
        batch_size=64,
        epochs=0,
        trials=150 * 32 * 64,
        validate_every=32,
        plateau=0.5,
        patience=10,
        keep="last",
        dropout=0.5,
        token_mean=True,
        distinct=True,
        added_share=0.3,
        limit=150,
    )


def test_the_recipe_of_grefenstette_et_al_is_theirs_and_what_the_docs_add() -> None:
    assert protocol("grefenstette2015") == Protocol(
        optimizer="rmsprop",
        learning_rate=0.001,
        decay=1.0,
        weight_decay=0.0,
        clip=1.0,
        batch_size=10,
        epochs=0,
        updates=30_000,
        dropout=0.0,
        token_mean=True,
        streamed=True,
        validated=100,
        validate_every=250,
        keep="perplexity",
        converged=10,
        limit=256,
    )


@pytest.mark.parametrize(
    ("trials", "batch_size", "steps", "epochs"),
    [(100_000, 1, 100_000, 100), (2_500, 1, 2_500, 3), (10, 1, 10, 1), (9_000, 2_250, 4, 4)],
)
def test_an_epoch_of_draws_is_a_thousand_of_them(
    trials: int, batch_size: int, steps: int, epochs: int
) -> None:
    recipe = Protocol(trials=trials, batch_size=batch_size, epochs=0)
    assert (recipe.steps, recipe.most_epochs) == (steps, epochs)


def test_a_recipe_that_draws_nothing_passes_through_the_examples() -> None:
    assert (Protocol(epochs=7).steps, Protocol(epochs=7).most_epochs) == (0, 7)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"learning_rate": 0.0}, "learning-rate must be positive, not 0.0"),
    ({"learning_rate": float("nan")}, "learning-rate must be positive, not nan"),
    ({"decay": -0.5}, "decay must be positive, not -0.5"),
    ({"clip": -1.0}, "clip must not be negative: -1.0"),
    ({"clip": float("inf")}, "clip must be finite, not inf"),
    ({"batch_size": 0}, "batch-size must be positive, not 0"),
    ({"epochs": 0}, "epochs must be positive, not 0, unless trials or updates are"),
    ({"limit": -1}, "limit must be positive, not -1"),
    ({"weight_decay": -1e-9}, "weight-decay must not be negative: -1e-09"),
    ({"dropout": 1.0}, r"dropout must be in \[0, 1\), not 1.0"),
    ({"trials": -1}, "trials must not be negative: -1"),
    ({"epochs": 3, "trials": 64}, r"epochs \(3\) and trials \(64\) are asked for; set all but one"),
    ({"epochs": 3, "updates": 64}, r"epochs \(3\) and updates \(64\) are asked for"),
    ({"updates": -1}, "updates must not be negative: -1"),
    ({"decay_steps": -1}, "decay-steps must not be negative: -1"),
    ({"validated": -1}, "validated must not be negative: -1"),
    ({"trials": 7, "batch_size": 2, "epochs": 0}, "trials must be a multiple of batch-size: 7, 2"),
    ({"teacher_forcing": 1.5}, "teacher-forcing must be between 0 and 1, not 1.5"),
    ({"teacher_forcing": float("nan")}, "teacher-forcing must be between 0 and 1, not nan"),
    ({"dropout": -0.1}, r"dropout must be in \[0, 1\), not -0.1"),
    ({"added_share": 0.3}, "added-share is for recipes that draw examples"),
    ({"added_share": 1.3}, "added-share must be between 0 and 1, not 1.3"),
    ({"plateau": 0.0}, r"plateau must be in \(0, 1\], not 0.0"),
    ({"patience": -1}, "patience must not be negative: -1"),
    ({"validate_every": 9}, "validate-every is for recipes with trials or updates"),
    ({"validate_every": -1}, "validate-every must not be negative: -1"),
    ({"streamed": True}, "streamed is for recipes with updates"),
    ({"keep": "perplexity"}, "a perplexity is known where the loss is a mean over all tokens"),
    ({"converged": 3}, "a perplexity is known where the loss is a mean over all tokens"),
    ({"converged": -1}, "converged must not be negative: -1"),
    (
        {"converged": 3, "token_mean": True, "mask_after_predicted_end": True},
        "a perplexity is known where the loss is a mean over all tokens",
    ),
    (
        {"streamed": True, "distinct": True, "updates": 5, "epochs": 0},
        "streamed examples are new each time; expected --no-distinct",
    ),
]


@pytest.mark.parametrize(("values", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_recipe_that_cannot_be_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongRequest, match=message):
        Protocol(**values)


def test_bastings_et_al_select_on_a_part_of_train_and_lake_and_baroni_do_not() -> None:
    assert (validation("bastings2018"), validation("lake2018")) == ("draw", "none")


def test_what_ends_is_not_streamed() -> None:
    endless = protocol("grefenstette2015")
    assert endless.streamed
    assert protocol("grefenstette2015", endless=False) == replace(endless, streamed=False)
    assert protocol("lake2018", endless=True) == protocol("lake2018", endless=False)


def test_an_unknown_recipe_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="did you mean bastings2018"):
        protocol("bastings2019")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("optimizer='adamw'", "optimizer must be one of 'sgd', 'adam', 'rmsprop', not 'adamw'"),
        ("epochs=2.5", "epochs must be a whole number, not 2.5"),
        ("clip='5'", "clip must be a number, not '5'"),
    ],
)
def test_a_wrong_type_is_refused_where_annotations_are_not_checked(
    setting: str, message: str, refusal: Callable[[str], str]
) -> None:
    code = f"from daxy.training.protocol import Protocol; Protocol({setting})"
    assert refusal(code) == message
