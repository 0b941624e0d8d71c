"""Trackers without their clients; `tests/runs/test_tracking.py` has the real ones."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import Answer

from daxy import trackers
from daxy.core.errors import WrongRequest
from daxy.core.imports import PACKAGES

NAMES = trackers.available()


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_client_is_refused_before_training(
    name: str, daxy: Callable[..., Answer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trackers.TRACKERS, "_entries", {})
    monkeypatch.delitem(sys.modules, f"daxy.trackers.{name}", raising=False)
    for module in [*sys.modules]:
        if module.partition(".")[0] == name:
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    answer = daxy(*f"train scan/simple_p1 nearest --log {name} --runs {tmp_path / 'runs'}".split())
    assert answer.code == 2
    title, install = PACKAGES[name][1], f"pip install 'daxy[{name}]'"
    assert answer.err.startswith(f"daxy: `--log {name}` needs {title}; {install} ")
    assert not (tmp_path / "runs").exists()


def test_importing_daxy_imports_no_client() -> None:
    code = "import sys, daxy.cli.train, daxy.runs.store; print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert not {*NAMES} & {*printed.decode().split()}


def test_names_of_trackers_are_texts_between_commas() -> None:
    assert trackers.listed("wandb, mlflow") == trackers.listed(["wandb,mlflow", "wandb"])
    with pytest.raises(WrongRequest, match="log must be names of trackers, not"):
        trackers.listed([1])
