"""Progress of training: in a notebook, in a terminal, and nowhere else."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree

import pytest
from tests.runs.small_runs import EPOCHS, TASK, experiment

from daxy.reproduction import trained
from daxy.runs import progress
from daxy.runs.monitor import Monitor
from daxy.runs.progress import Display, NotebookDisplay

pytestmark = pytest.mark.usefixtures("one_shape")


class Notebook(ModuleType):
    """Stands for IPython in a notebook, and keeps each content of the cell's output."""

    def __init__(self) -> None:
        super().__init__("IPython")
        self.display = ModuleType("IPython.display")
        self.display.__dict__.update(HTML=str, display=self._display)
        self.shown: list[str] = []
        self.shell = SimpleNamespace(kernel="a kernel")

    def get_ipython(self) -> SimpleNamespace:
        return self.shell

    def _display(self, content: str, *, display_id: bool) -> SimpleNamespace:
        assert display_id
        self.shown.append(content)
        return SimpleNamespace(update=self.shown.append)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    made = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", made)
    monkeypatch.setitem(sys.modules, "IPython.display", made.display)
    return made


def test_a_notebook_shows_each_epoch_and_a_bar_while_it_trains(
    notebook: Notebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PAUSE", -1.0)
    experiment(tmp_path).run([0, 1], monitor=progress.default())
    lines, bars = list[str](), list[bool]()
    for content in notebook.shown:
        root = ElementTree.fromstring(f"<div>{content.replace('></progress>', '/>')}</div>")
        lines.append(root.findtext("pre") or "")
        bars.append(root.find("progress") is not None)
    assert any(bars)
    assert not bars[-1], "the bar is gone at the end"
    assert f"training {TASK}, seeds 0, 1" in lines[-1]
    assert all(f"epoch {epoch}/{EPOCHS}  loss " in lines[-1] for epoch in range(1, EPOCHS + 1))
    assert "scoring: " in lines[-1].splitlines()[-1]


def test_only_a_notebook_and_a_terminal_show_progress_by_default(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(progress.default(), NotebookDisplay)
    notebook.shell = SimpleNamespace()  # IPython in a terminal
    assert isinstance(progress.default(), Monitor)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert type(progress.default()) is Display
    monkeypatch.delitem(sys.modules, "IPython")
    assert type(progress.default()) is Display


def test_a_watcher_of_one_s_own_is_heard_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = list[object]()
    monkeypatch.setattr(trained, "Trained", lambda experiment, folders: None)
    monkeypatch.setattr(
        trained.Experiment,
        "run",
        lambda self, seeds, *, monitor, restart: heard.append(monitor) or (),
    )
    own = Monitor()
    trained.train(TASK, monitor=own)
    trained.train(TASK)
    assert heard[0] is own
    assert heard[1] is not own
