"""Two finished runs, trained once for all tests of run folders."""

import shutil
from pathlib import Path

import pytest
from tests.runs.small_runs import experiment, shapes


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of seeds 0 and 1, trained as one group; not to be changed."""
    folder = tmp_path_factory.mktemp("undisturbed") / "runs"
    with shapes(1):
        experiment(folder).run([0, 1])
    return folder


@pytest.fixture
def runs(undisturbed: Path, tmp_path: Path, one_shape: None) -> Path:
    """A copy of the finished runs."""
    return Path(shutil.copytree(undisturbed, tmp_path / "runs"))
