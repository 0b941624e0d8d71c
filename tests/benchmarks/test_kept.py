"""Benchmarks can be run, and what they printed is there to be read."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.__main__ import KEPT, available, main, run
from tests.docs.blocks import ROOT

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs the extra `peers`"
)


@pytest.mark.peer
@needs_torch
@pytest.mark.parametrize("name", available())
def test_a_benchmark_can_be_loaded(name: str) -> None:
    """In a process of its own: some take one core for themselves before anything counts cores."""
    code = f"from benchmarks.{name} import main; assert callable(main)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_what_is_kept_is_of_a_benchmark_that_there_is(path: Path) -> None:
    kept = json.loads(path.read_text())
    assert kept["what"] == available()[path.stem]
    assert kept["lines"] and kept["cores"] > 0 and kept["started"]


def test_without_a_name_they_are_listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks"])
    assert main() == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(available())
    assert {"geca", "multimodal", "training"} <= set(listed)


def test_a_wrong_name_is_refused_before_anything_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "memory", "gecca"])
    assert main() == 2
    assert "no benchmark named 'gecca'; did you mean geca?" in capsys.readouterr().err


def test_what_fails_is_not_kept() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        run("geca", ["--few", "many"])
