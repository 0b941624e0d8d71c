"""Benchmarks can be run, and what they printed is there to be read."""

import importlib.util
import json
import re
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
    found = json.loads(path.read_text())
    assert found["what"] == available()[path.stem]
    assert found["lines"] and found["cores"] > 0 and found["started"]


def kept(name: str) -> str:
    return "\n".join(json.loads((KEPT / f"{name}.json").read_text())["lines"])


def figures(name: str, pattern: str, least: int) -> list[float]:
    """Return the figures that a benchmark printed somewhere, of which there are some at least."""
    found = [float(figure.replace(",", "")) for figure in re.findall(pattern, kept(name))]
    assert len(found) >= least
    return found


def test_what_is_kept_is_within_what_the_benchmarks_are_for() -> None:
    """Seconds and bytes that users are promised, as they were last measured on one core."""
    assert max(figures("geca", r"(?:scan|nacs)/[ajt].* added: ([\d.]+) s", 3)) < 5
    assert max(figures("geca", r"gscan/.* added: ([\d.]+) s", 1)) < 5 * 60
    assert max(figures("geca", r"([\d,]+) MiB in all", 4)) < 4 * 1024
    assert max(figures("transduction", r"([\d.]+) s of (?:train|test) lengths", 10)) < 10
    assert min(figures("memory_networks", r"^stack, .*: ([\d.]+)x \(rounds", 1)) >= 2
    assert max(figures("memory", r": ([\d.]+) GiB at most", 1)) < 3


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
