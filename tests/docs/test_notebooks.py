"""The notebooks run from top to bottom, and each value that they show can be shown."""

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.docs.blocks import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
SHOWN = ("_repr_html_", "_repr_svg_", "_repr_png_")
"""How a notebook asks a value for its picture, before it takes the `repr`."""
BRIEF = {"scan_fails": ("epochs=6", "epochs=1"), "your_model": ("STEPS = 300", "STEPS = 100")}
"""Settings of notebooks that train, and those of the test: what is learned is not compared."""
LONGEST = 1_000
"""Characters of a `repr` that a notebook's cell may end with."""


def cells(notebook: Path, kind: str) -> list[str]:
    book: dict[str, Any] = json.loads(notebook.read_text("utf-8"))
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == kind]


def as_program(notebook: Path) -> str:
    """Return the code of a notebook; what a cell ends with is shown as a notebook shows it."""
    lines = ["def show(value):", f"    for name in {SHOWN}:"]
    lines += ["        if made := getattr(value, name, lambda: '')():"]
    lines += ["            print('shown:', type(value).__name__, len(made))", "            return"]
    lines += ["    print('shown:', repr(value))", f"    assert len(repr(value)) < {LONGEST}", ""]
    for code in cells(notebook, "code"):
        body = ast.parse(code).body
        if isinstance(last := body[-1], ast.Expr):
            call = ast.Call(ast.Name("show", ast.Load()), [last.value], [])
            body[-1] = ast.copy_location(ast.Expr(ast.copy_location(call, last)), last)
        lines.append(ast.unparse(ast.fix_missing_locations(ast.Module(body, []))))
    return "\n".join(lines)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[each.stem for each in NOTEBOOKS])
def test_a_notebook_has_no_outputs_and_says_what_it_is_about(notebook: Path) -> None:
    book = json.loads(notebook.read_text("utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    first, *_ = cells(notebook, "markdown")
    assert first.startswith("# ")
    assert "pip install" in first


@pytest.mark.notebook
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[each.stem for each in NOTEBOOKS])
def test_a_notebook_runs(notebook: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if "notebook" not in request.config.option.markexpr:
        pytest.skip("takes a minute; run it with -m notebook")
    code = as_program(notebook)
    usual, brief = BRIEF.get(notebook.stem, ("", ""))
    assert usual in code
    code = code.replace(usual, brief) if usual else code
    if "import torch" in code and importlib.util.find_spec("torch") is None:
        pytest.skip("needs the extra `peers`")
    program = tmp_path / "notebook.py"
    program.write_text(code, "utf-8")
    run = [sys.executable, program.name]
    # PyTorch's threads wait for each other.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "shown: Split" in done.stdout
