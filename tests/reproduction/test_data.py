"""Runs are named without their data, so the data of the filed runs must never change."""

import json
from pathlib import Path
from typing import Any

import pytest

from daxy import tasks

CHECKSUMS = [
    *json.loads(Path(__file__).with_name("checksums.json").read_text(encoding="utf-8")),
]
"""Task, options and checksum of the generated data of every run in results/, as it was trained."""


@pytest.mark.parametrize(
    ("task", "options", "checksum"),
    [
        pytest.param(task, *rest, marks=[pytest.mark.slow] if task.startswith("gscan") else [])
        for task, *rest in CHECKSUMS
    ],
)
def test_the_data_of_a_filed_run_is_what_its_name_says(
    task: str, options: dict[str, Any], checksum: str
) -> None:
    """A change of the data raises `Task.version`, which gives the runs another name."""
    if tasks.get(task).version == 1:
        assert tasks.data(task, **options).load(task).provenance.checksum == checksum
