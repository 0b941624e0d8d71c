"""The tutorial does what it says, block by block, as somebody would type it in."""

import os
import shutil
from pathlib import Path

import pytest
from tests.docs.blocks import OPTIMIZED, ROOT, blocks, run


@pytest.mark.slow
def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    if trained := os.environ.get("DEMO_RUNS"):
        shutil.copytree(trained, tmp_path / "runs")
    for block in blocks(ROOT / "docs" / "start" / "tutorial.md"):
        run(block, tmp_path, OPTIMIZED)
