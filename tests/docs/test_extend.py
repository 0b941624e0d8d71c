"""The task that the page on extending shows keeps the laws, and its package can be built."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT, blocks

import daxy
from daxy import tasks, testing

PAGE = ROOT / "docs" / "howto" / "extend.md"
GROUPS = {"tasks", "languages", "metrics", "formats", "models", "learners", "papers"}


def test_the_task_keeps_the_laws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = (it.code for it in blocks(PAGE) if it.language == "python" and "TASKS =" in it.code)
    path = tmp_path / "backwards.py"
    path.write_text(code, encoding="utf-8")
    name = "daxy.tasks.backwards"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(tasks.BENCHMARKS, "built_in", [*tasks.BENCHMARKS.built_in, "backwards"])
    testing.check_task("backwards/longer")
    testing.check_task("backwards/longer", daxy.data("backwards/longer", letters=2))
    assert daxy.load("backwards/longer").test[0].target == ("a", "a", "a", "a")
    assert testing.check_learner("nearest", "backwards/longer") is None


@pytest.mark.parametrize("page", [PAGE, ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_a_package_that_is_shown_can_be_built(page: Path) -> None:
    (code,) = re.findall(r"^```toml\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    content = tomllib.loads(code)
    assert content["build-system"]["build-backend"] == "hatchling.build"
    assert {"name", "version", "dependencies"} <= content["project"].keys()
    groups = {name.removeprefix("daxy.") for name in content["project"]["entry-points"]}
    assert groups <= GROUPS
