"""The papers' protocols, and what no training configuration can be."""

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from daxy.core.errors import UnknownName, WrongRequest
from daxy.models.multimodal import Config
from daxy.training.config import TrainingConfig
from daxy.training.parts import PARTS, Adam, AdamW, Epochs, Plateau, Samples, Steps
from daxy.training.protocols import DEFAULT, PROTOCOLS, protocol, validation

CONFIG = TrainingConfig()
EXPECTED: dict[str, dict[str, Any]] = {
    # Section 6.1 and the authors' code.
    "bastings2018": {
        "optimizer": "sgd",
        "learning_rate": 0.2,
        "schedule": "exponential",
        "lr_decay": 0.96,
        "lr_decay_steps": 0,
        "weight_decay": 1e-8,
        "max_grad_norm": 5.0,
        "batch_size": 32,
        "epochs": 50,
        "dropout": 0.2,
        "mask_loss_after_end": False,
        "max_decode_length": 50,
    },
    # Section 3.
    "lake2018": {
        "optimizer": "adam",
        "learning_rate": 0.001,
        "betas": (0.9, 0.999),
        "schedule": "constant",
        "weight_decay": 0.0,
        "max_grad_norm": 5.0,
        "batch_size": 1,
        "dropout": 0.5,
        "samples": 100_000,
        "teacher_forcing": 0.5,
        "token_mean_loss": False,
    },
    # Section 4, appendix E and the authors' code.
    "ruis2020": {
        "optimizer": "adam",
        "learning_rate": 0.001,
        "schedule": "exponential",
        "lr_decay": 0.9,
        "lr_decay_steps": 20_000,
        "weight_decay": 0.0,
        "max_grad_norm": 0.0,
        "batch_size": 200,
        "steps": 200_000,
        "online": False,
        "dropout": 0.3,
        "token_mean_loss": True,
        "validation_examples": 2_000,
        "max_decode_length": 120,
    },
    # The author's logs and code.
    "andreas2020": {
        "optimizer": "adam",
        "learning_rate": 0.001,
        "schedule": "plateau",
        "lr_factor": 0.5,
        "lr_patience": 10,
        "weight_decay": 0.0,
        "max_grad_norm": 1.0,
        "batch_size": 64,
        "samples": 150 * 32 * 64,
        "eval_every": 32,
        "augmented_share": 0.3,
        "select": "last",
        "dropout": 0.5,
        "token_mean_loss": True,
        "deduplicate": True,
        "max_decode_length": 150,
    },
    # The paper, and what docs/reference/protocols/grefenstette2015.md adds.
    "grefenstette2015": {
        "optimizer": "rmsprop",
        "learning_rate": 0.001,
        "square_decay": 0.99,
        "schedule": "constant",
        "weight_decay": 0.0,
        "max_grad_norm": 1.0,
        "batch_size": 10,
        "steps": 30_000,
        "eval_every": 250,
        "online": True,
        "dropout": 0.0,
        "token_mean_loss": True,
        "validation_examples": 100,
        "select": "perplexity",
        "early_stopping": 10,
        "max_decode_length": 256,
    },
    # The authors' main.py, sweeps/scan_trafo_length_cutoff.yaml and layers.
    "csordas2021": {
        "optimizer": "adam",
        "learning_rate": 0.001,
        "betas": (0.9, 0.999),
        "schedule": "constant",
        "weight_decay": 0.0,
        "max_grad_norm": 5.0,
        "batch_size": 256,
        "samples": 50_000 * 256,
        "select": "last",
        "dropout": 0.1,
        "token_mean_loss": True,
    },
}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_is_that_of_its_paper(name: str) -> None:
    assert EXPECTED[name].items() <= protocol(name).settings().items()


def test_the_default_is_the_protocol_of_bastings_et_al() -> None:
    assert protocol(DEFAULT) == protocol("bastings2018") == CONFIG


def test_worlds_have_a_dropout_of_their_own_in_the_network_of_ruis_et_al() -> None:
    assert Config().world_dropout == 0.1


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_configuration_is_restored_from_json(name: str) -> None:
    config = protocol(name)
    stored = json.loads(json.dumps(config.to_dict()))
    assert stored == config.to_dict()
    assert TrainingConfig.from_dict(stored) == config


@pytest.mark.parametrize("name", PROTOCOLS)
def test_settings_by_name_make_up_the_configuration(name: str) -> None:
    config = protocol(name)
    assert CONFIG.with_settings(**config.settings()) == config


def test_every_setting_belongs_to_one_part() -> None:
    roles: dict[str, set[str]] = {}
    for role, kinds in PARTS.items():
        for kind in kinds.values():
            for setting in fields(kind):
                roles.setdefault(setting.name, set()).add(role)
    assert all(len(each) == 1 for each in roles.values())


def test_a_setting_of_another_budget_or_schedule_selects_it() -> None:
    assert CONFIG.with_settings(steps=9).budget == Steps(steps=9)
    assert CONFIG.with_settings(lr_factor=0.3).schedule == Plateau(lr_factor=0.3)
    assert protocol("lake2018").with_settings(epochs=3).budget == Epochs(epochs=3)
    samples = protocol("andreas2020").with_settings(samples=6_400).budget
    assert samples == Samples(samples=6_400, eval_every=32, augmented_share=0.3)
    assert protocol("andreas2020").with_settings(steps=7).budget == Steps(steps=7, eval_every=32)


def test_another_optimizer_keeps_what_both_have() -> None:
    adam = CONFIG.with_settings(optimizer="adam").optimizer
    assert adam == Adam(learning_rate=0.2, weight_decay=1e-8)
    decoupled = CONFIG.with_settings(optimizer="adamw", betas=(0.9, 0.98)).optimizer
    assert decoupled == AdamW(learning_rate=0.2, weight_decay=1e-8, betas=(0.9, 0.98))


@pytest.mark.parametrize(
    ("samples", "batch_size", "steps", "epochs"),
    [(100_000, 1, 100_000, 100), (2_500, 1, 2_500, 3), (10, 1, 10, 1), (9_000, 2_250, 4, 4)],
)
def test_an_epoch_of_draws_is_a_thousand_of_them(
    samples: int, batch_size: int, steps: int, epochs: int
) -> None:
    recipe = CONFIG.with_settings(samples=samples, batch_size=batch_size)
    assert (recipe.total_steps, recipe.max_epochs) == (steps, epochs)


def test_a_recipe_that_draws_nothing_passes_through_the_examples() -> None:
    config = CONFIG.with_settings(epochs=7)
    assert (config.total_steps, config.max_epochs) == (0, 7)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"learning_rate": 0.0}, "learning-rate must be positive, not 0.0"),
    ({"learning_rate": float("nan")}, "learning-rate must be positive, not nan"),
    ({"lr_decay": -0.5}, "lr-decay must be positive, not -0.5"),
    ({"max_grad_norm": -1.0}, "max-grad-norm must not be negative: -1.0"),
    ({"max_grad_norm": float("inf")}, "max-grad-norm must be finite, not inf"),
    ({"batch_size": 0}, "batch-size must be positive, not 0"),
    ({"epochs": 0}, "epochs must be positive, not 0"),
    ({"max_decode_length": -1}, "max-decode-length must be positive, not -1"),
    ({"max_decode_length": 10**9}, "max-decode-length must be at most 65,536, not 1,000,000,000"),
    ({"batch_size": 10**9}, "batch-size must be at most 1,048,576, not 1,000,000,000"),
    ({"weight_decay": -1e-9}, "weight-decay must not be negative: -1e-09"),
    ({"dropout": 1.0}, r"dropout must be in \[0, 1\), not 1.0"),
    ({"samples": -1}, "samples must be positive, not -1"),
    ({"epochs": 3, "samples": 64}, r"epochs \(3\) and samples \(64\) exclude each other"),
    ({"epochs": 3, "steps": 64}, r"epochs \(3\) and steps \(64\) exclude each other"),
    ({"steps": -1}, "steps must be positive, not -1"),
    ({"lr_decay_steps": -1}, "lr-decay-steps must not be negative: -1"),
    ({"validation_examples": -1}, "validation-examples must not be negative: -1"),
    ({"samples": 7, "batch_size": 2}, "samples must be a multiple of batch-size: 7, 2"),
    ({"teacher_forcing": 1.5}, "teacher-forcing must be at most 1, not 1.5"),
    ({"teacher_forcing": float("nan")}, "teacher-forcing must be finite, not nan"),
    ({"dropout": -0.1}, "dropout must not be negative: -0.1"),
    ({"augmented_share": 0.3}, "augmented-share needs samples"),
    ({"samples": 32, "augmented_share": 1.3}, "augmented-share must be at most 1, not 1.3"),
    ({"lr_factor": 0.0}, "lr-factor must be positive, not 0.0"),
    ({"betas": (0.9, 0.98)}, "betas needs optimizer adam or adamw"),
    ({"optimizer": "adam", "betas": (0.9, 1.0)}, r"betas must be in \[0, 1\), not 1.0"),
    ({"optimizer": "sgd", "square_decay": 0.9}, "square-decay needs optimizer rmsprop"),
    ({"schedule": "cosine", "lr_decay": 0.9}, "lr-decay needs schedule exponential"),
    ({"lr_decay": 0.9, "lr_factor": 0.5}, "exclude each other"),
    ({"label_smoothing": 1.0}, r"label-smoothing must be in \[0, 1\), not 1.0"),
    ({"lr_patience": -1}, "lr-patience must not be negative: -1"),
    ({"eval_every": 9}, "eval-every needs samples or steps"),
    ({"steps": 5, "eval_every": -1}, "eval-every must not be negative: -1"),
    ({"online": True}, "online needs steps"),
    (
        {"select": "perplexity"},
        "need token-mean-loss, teacher-forcing 1, no label-smoothing and no",
    ),
    ({"early_stopping": 3}, "need token-mean-loss, teacher-forcing 1, no label-smoothing and no"),
    ({"early_stopping": -1}, "early-stopping must not be negative: -1"),
    (
        {"early_stopping": 3, "token_mean_loss": True, "mask_loss_after_end": True},
        "need token-mean-loss, teacher-forcing 1, no label-smoothing and no",
    ),
    (
        {"online": True, "deduplicate": True, "steps": 5},
        "online examples are new each time; expected --no-deduplicate",
    ),
]


@pytest.mark.parametrize(("values", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_recipe_that_cannot_be_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongRequest, match=message):
        CONFIG.with_settings(**values)


def test_bastings_et_al_select_on_a_part_of_train_and_lake_and_baroni_do_not() -> None:
    assert (validation("bastings2018"), validation("lake2018")) == ("draw", "none")


def test_training_on_a_fixed_set_is_not_online() -> None:
    endless = protocol("grefenstette2015")
    assert endless.online
    fixed = protocol("grefenstette2015", is_stream=False)
    assert fixed == endless.with_settings(online=False)
    assert protocol("lake2018", is_stream=True) == protocol("lake2018", is_stream=False)


def test_an_unknown_recipe_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="did you mean bastings2018"):
        protocol("bastings2019")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("optimizer='adan'", "no optimizer named 'adan'; did you mean adam?"),
        (
            "larning_rate=1.0",
            "no training setting named 'larning_rate'; did you mean learning_rate?",
        ),
        ("epochs=2.5", "epochs must be a whole number, not 2.5"),
        ("max_grad_norm='5'", "max-grad-norm must be a number, not '5'"),
    ],
)
def test_a_wrong_type_is_refused_where_annotations_are_not_checked(
    setting: str, message: str, refusal: Callable[[str], str]
) -> None:
    made = f"TrainingConfig().with_settings({setting})"
    assert refusal(f"from daxy.training.config import TrainingConfig; {made}") == message
