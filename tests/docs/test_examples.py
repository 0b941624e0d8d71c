"""The examples run as they stand, and what they write is what daxy reads."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT, Block, run

EXAMPLE = ROOT / "examples" / "bring_your_own_model.py"

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs the extra `peers`"),
]


def test_a_model_of_one_s_own_is_scored(
    tmp_path: Path, daxy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    every_step, few_steps = "range(1, 601)", "range(1, 21)"
    code = EXAMPLE.read_text("utf-8")
    assert every_step in code
    run(Block("python", code.replace(every_step, few_steps), None), tmp_path)
    answer = daxy("score", "scan/simple", "--predictions", str(tmp_path / "predictions.jsonl"))
    assert answer.code == 0, answer.err
    assert "4,182 test examples" in answer.out


def test_it_takes_fewer_than_forty_lines() -> None:
    assert len(EXAMPLE.read_text("utf-8").splitlines()) < 40
