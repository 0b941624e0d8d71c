"""A folder is a registry; what is wrong with a file that somebody adds is said with its place."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from daxy.core import registry
from daxy.core.errors import UnknownName, WrongFile

Add = Callable[[str, str], tuple[str, str]]


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Add:
    """Have files added to a folder; the package and the name of each are returned."""
    package = f"folder_{re.sub(r'[^a-z0-9]', '_', tmp_path.name.lower())}"
    (tmp_path / package).mkdir()
    monkeypatch.syspath_prepend(tmp_path)

    def added(name: str, content: str) -> tuple[str, str]:
        (tmp_path / package / f"{name}.py").write_text(content)
        return package, name

    return added


def test_a_file_is_an_entry_with_its_first_line(add: Add) -> None:
    package, name = add("votes", '"""Votes of words.\n\nMore."""\nBEST = 3\n')
    add("_helper", "")
    assert registry.entries(package) == ["votes"]
    assert registry.summary(package, name) == "Votes of words"
    assert registry.load(package, name, kind="model").BEST == 3
    with pytest.raises(UnknownName, match="no model named 'vots'; did you mean votes?"):
        registry.load(package, "vots", kind="model")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("BEST = 3\ndef Model(:\n", r"broken\.py:2: "),
        ("BEST = 3\n\nimport nothing_of_that_name\n", r"broken\.py:3: ModuleNotFoundError: No mod"),
        (
            "def made():\n    return missing\n\nBEST = made()\n",
            r"broken\.py:2: NameError: name",
        ),
    ],
)
def test_a_file_that_cannot_be_imported_is_named_with_its_line(
    content: str, message: str, add: Add
) -> None:
    package, name = add("broken", content)
    with pytest.raises(WrongFile, match=message):
        registry.load(package, name, kind="model")
    assert isinstance(registry.summary(package, name), str)


def test_a_file_without_what_its_folder_asks_for_is_named(add: Add) -> None:
    package, name = add("half", "Config = 1\n")
    assert registry.load(package, name, "Config", kind="model").Config == 1
    with pytest.raises(WrongFile, match=r"half\.py: there is no Model in it"):
        registry.load(package, name, "Config", "Model", kind="model")
