"""A folder and entry points are a registry; an error names the file or the package at fault."""

import importlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from daxy import metrics, tasks
from daxy.core.errors import DaxyWarning, UnknownName, WrongFile, WrongRequest
from daxy.core.registry import Registry

Add = Callable[[str, str], str]
Install = Callable[[str, Mapping[str, str]], None]

ONE = '"""One."""\nBEST = 1\n'


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Add:
    """Add a module to a folder; return the name of its package."""
    package = f"folder_{re.sub(r'[^a-z0-9]', '_', tmp_path.name.lower())}"
    (tmp_path / package).mkdir()
    monkeypatch.syspath_prepend(tmp_path)

    def added(name: str, content: str) -> str:
        (tmp_path / package / f"{name}.py").write_text(content)
        importlib.invalidate_caches()
        return package

    return added


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package without modules whose entry points are of a folder's group."""

    def installed(package: str, points: Mapping[str, str], group: str = "") -> None:
        about = tmp_path / "site" / f"{package}-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Name: {package}\nVersion: 1.0\n")
        folder = next(tmp_path.glob("folder_*")).name
        lines = [f"[daxy.{group or folder}]", *(f"{name} = {it}" for name, it in points.items())]
        (about / "entry_points.txt").write_text("\n".join(lines))
        monkeypatch.syspath_prepend(tmp_path / "site")

    return installed


def bests(package: str) -> Registry[int]:
    return Registry(package, "BEST", "model")


def test_a_file_is_an_entry_with_its_first_line(add: Add) -> None:
    add("_helper", "")
    found = bests(add("votes", '"""Votes of words.\n\nMore."""\nBEST = 3\n'))
    assert found.available() == ["votes"]
    assert found.summary("votes") == "Votes of words"
    assert found.get("votes") == 3
    with pytest.raises(UnknownName, match="no model named 'vots'; did you mean votes?"):
        found.get("vots")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("BEST = 3\ndef Model(:\n", r"broken\.py:2: "),
        ("BEST = 3\n\nimport nothing_of_that_name\n", r"broken\.py:3: ModuleNotFoundError: No mod"),
        ("BEST = 3\nraise SystemExit(3)\n", r"broken\.py:2: SystemExit: 3"),
        (
            "def made():\n    return missing\n\nBEST = made()\n",
            r"broken\.py:2: NameError: name",
        ),
    ],
)
def test_a_file_that_cannot_be_imported_is_named_with_its_line(
    content: str, message: str, add: Add
) -> None:
    found = bests(add("broken", content))
    with pytest.raises(WrongFile, match=message):
        found.get("broken")
    assert isinstance(found.summary("broken"), str)


def test_a_file_without_what_its_folder_asks_for_is_named(add: Add) -> None:
    package = add("half", "Config = 1\n")
    assert Registry[int](package, "Config", "model").get("half") == 1
    with pytest.raises(WrongFile, match=r"half\.py: there is no Model in it"):
        Registry[int](package, ("Config", "Model"), "model").get("half")


def test_an_entry_of_another_class_or_with_a_problem_is_refused(add: Add) -> None:
    package = add("half", "BEST = 'x'\n")
    with pytest.raises(WrongFile, match=r"half\.py: its BEST is no int"):
        Registry(package, "BEST", "model", int).get("half")
    found = Registry(package, "BEST", "model", str, problem=lambda name, it: f"{name} is {it}")
    with pytest.raises(WrongFile, match=r"half\.py: half is x"):
        found.get("half")


def test_another_package_adds_an_entry(add: Add, install: Install) -> None:
    package = add("one", ONE)
    add("_two", '"""Two."""\nBEST = 2\n')
    install("more", {"two": f"{package}._two"})
    found = bests(package)
    assert found.available() == ["one", "two"]
    assert (found.get("two"), found.summary("two")) == (2, "Two")
    assert (found.package_of("one"), found.package_of("two")) == ("daxy", "more 1.0")
    assert "two" not in Registry[int](package, "BEST", "model", is_open=False)


def test_a_built_in_name_reads_no_entry_point(add: Add, monkeypatch: pytest.MonkeyPatch) -> None:
    found = bests(add("one", ONE))
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: 1 / 0)
    assert "one" in found
    assert found.get("one") == 1
    assert metrics.get("exact").name == "exact"
    assert tasks.get("scan/simple").name == "scan/simple"
    with pytest.raises(ZeroDivisionError):
        bests(add("one", ONE)).available()


def test_a_name_that_several_packages_have_is_refused(add: Add, install: Install) -> None:
    package = add("one", ONE)
    add("_two", "BEST = 2\n")
    install("more", {"two": f"{package}._two", "three": f"{package}._two"})
    install("other", {"two": f"{package}._two"})
    found = bests(package)
    message = r"2 packages have a model named 'two': (more|other) 1.0 and (more|other) 1.0"
    with pytest.raises(WrongRequest, match=message):
        found.get("two")
    assert found.get("three") == 2
    for listed in (found.available, found.usable, found.loaded):
        with pytest.warns(DaxyWarning, match=f"left out: {message}"):
            assert list(listed()) == ["one", "three"]


def test_a_name_of_daxy_stays_daxys(add: Add, install: Install) -> None:
    package = add("one", ONE)
    install("more", {"one": f"{package}._two"})
    found = bests(package)
    assert found.get("one") == 1
    message = r"left out: 2 packages .* 'one': daxy and more 1.0; uninstall or"
    with pytest.warns(DaxyWarning, match=message):
        assert found.available() == ["one"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("BEST = missing\n", r"^more 1\.0: .*_two\.py:1: NameError: name 'missing'"),
        ("BEST =\n", r"^more 1\.0: .*_two\.py:1: invalid syntax"),
        ("Best = 2\n", r"^more 1\.0: .*_two\.py: there is no BEST in it"),
        ("raise ModuleNotFoundError(name='jax')", r"^more 1\.0: .*_two.*ModuleNotFound"),
    ],
)
def test_a_broken_package_is_named_and_breaks_nothing_else(
    content: str, message: str, add: Add, install: Install
) -> None:
    package = add("one", ONE)
    add("_two", content)
    install("more", {"two": f"{package}._two", "gone": "no_module_of_that_name.two"})
    found = bests(package)
    assert found.available() == ["gone", "one", "two"]
    assert found.get("one") == 1
    with pytest.raises(WrongFile, match=message):
        found.get("two")
    with pytest.raises(WrongFile, match=r"^more 1\.0: no_module_of_that_name\.two: ModuleNotFound"):
        found.get("gone")
    assert "no_module_of_that_name" in found.summary("gone")
    with pytest.warns(DaxyWarning, match=r"left out: more 1\.0: "):
        assert found.usable() == ["one"]
    with pytest.warns(DaxyWarning, match=r"left out: more 1\.0: "):
        assert found.loaded() == {"one": 1}
