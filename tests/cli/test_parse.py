"""Flags and arguments may stand in any order."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daxy.cli import main
from daxy.cli._parse import parse
from daxy.core.errors import WrongRequest

REQUESTS = [
    "train | scan/addprim_jump | stacked | --no-oversample | --layers 1 | --seeds 2 | --json",
    "train | gscan/length | multimodal | --grid 4 | --protocol ruis2020 | --restart | --runs luong",
    "train | scan/simple | luong | --augment geca | --geca.count 5 | --geca.in-place | --hidden=9",
    "train | scan/simple | predictions | --file a.jsonl b.jsonl | --name stacked | --normalize",
    "train | transduction/copy | --learning-rates 0.1 0.2 | --train-pairs 9 | --no-attention",
    "sweep | lake2018/grid | --cells lstm gru | --layers 1 2 | --dropout 0 0.5 | --no-estimate",
    "show | gscan/length | --grid 4 | --draw world.svg | --example I:3 | --split_seed 1 | --force",
    "export | transduction/copy | --shard 1/3 | --split train | --out - | --sample 2 | --seed 1",
    "score | nacs/length | --predictions p.jsonl | --partial | --no-oversample | --test length",
    "reproduce | bastings2018/table4 | --row GRU | --column simple | --dry-run | --no-estimate",
    "interpret | scan | jump | left twice | --draw tree.svg | --force",
]
"""Requests; each part is an argument, or a flag with its values."""


def read(verb: str, parts: Sequence[str]) -> dict[str, Any]:
    words = [word for part in parts for word in part.split(" ")]
    request = parse(main.VERBS.get(verb), verb, words)
    return {"names": type(request).names, **asdict(request)}


def in_order(parts: Sequence[str], shuffled: Sequence[str]) -> list[str]:
    """Return shuffled parts with the arguments in their own order."""
    free = iter([part for part in parts if not part.startswith("-")])
    return [part if part.startswith("-") else next(free) for part in shuffled]


@pytest.mark.parametrize("request_", REQUESTS)
@given(data=st.data())
@settings(max_examples=3)
def test_every_order_of_the_same_words_is_the_same_request(
    request_: str, data: st.DataObject
) -> None:
    verb, *parts = request_.split(" | ")
    shuffled = data.draw(st.permutations(parts))
    assert read(verb, in_order(parts, shuffled)) == read(verb, parts)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (
            "train scan/simple --hiden 4 stacked",
            "no flag '--hiden'; did you mean --hidden?;"
            " see `daxy train scan/simple stacked --help`",
        ),
        (
            "train --no-oversampel scan/addprim_jump stacked",
            "no flag '--no-oversampel'; did you mean --no-oversample?;"
            " see `daxy train scan/addprim_jump stacked --help`",
        ),
        (
            "train --seeds 3 scan/simple stakced",
            "no learner named 'stakced'; did you mean stacked?",
        ),
        (
            "show --grid 4 gscan/lenght",
            "no task named 'gscan/lenght'; did you mean gscan/length or scan/length?",
        ),
        (
            "sweep --cell lstm gur lake2018/grid",
            "wrong value for --cell: 'gur'; expected one of 'srn', 'gru', 'lstm';"
            " see `daxy sweep --help`",
        ),
        (
            "sweep lake2018/grid --layers 1 two",
            "wrong value for --layers: 'two'; expected a whole number; see `daxy sweep --help`",
        ),
        (
            "train --seeds scan/simple stacked",
            "missing: a value after --seeds; see `daxy train scan/simple stacked --help`",
        ),
    ],
)
def test_an_error_names_the_task_and_the_learner_wherever_they_stand(
    request_: str, message: str
) -> None:
    verb, *words = request_.split(" ")
    with pytest.raises(WrongRequest) as error:
        parse(main.VERBS.get(verb), verb, words)
    assert str(error.value) == message
