"""Run benchmarks by name, and keep what they print for the page on speed.

    python -m benchmarks
    python -m benchmarks geca transduction
    python -m benchmarks kill_and_resume --kills 200

The first lists them. The second runs some, one after another, each in a process of its own, and
writes what each prints to `benchmarks/kept/NAME.json`, with versions, machine and date;
other flags are for it, and `--arguments` too, as in
`python -m benchmarks memory --arguments "nacs/simple --seeds 3"`.
Most need PyTorch to compare with: `pip install '.[train,peers]'`, in the project's folder.
"""

from __future__ import annotations

import argparse
import ast
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from daxy.core.errors import UnknownName
from daxy.core.files import write_json

HERE = Path(__file__).parent
KEPT = HERE / "kept"


def main() -> int:
    """List what there is, or run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--arguments", default="", help="what each of them is given")
    given, own = parser.parse_known_args()
    known = available()
    if not given.names:
        print("\n".join(f"{name:16}{said}" for name, said in known.items()))
    for name in given.names:
        if name not in known:
            sys.stderr.write(f"{UnknownName('benchmark', name, known)}\n")
            return 2
    arguments = [*shlex.split(given.arguments), *own]
    for name in given.names:
        try:
            lines = run(name, arguments)
        except subprocess.CalledProcessError as error:
            sys.stderr.write(f"{name} ended with {error.returncode}; what it printed is not kept\n")
            return 1
        kept = {"what": known[name], "arguments": shlex.join(arguments), "lines": lines}
        write_json(KEPT / f"{name}.json", kept | place())
    return 0


def available() -> dict[str, str]:
    """Return the benchmarks, each with the first line of what it says of itself."""
    found = dict[str, str]()
    for path in sorted(HERE.glob("[a-z]*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        if any(isinstance(each, ast.FunctionDef) and each.name == "main" for each in tree.body):
            found[path.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return found


def run(name: str, arguments: list[str]) -> list[str]:
    """Run one, and return the lines that it prints, which are shown as they come.

    Raises:
        CalledProcessError: it failed.
    """
    lines, asked = list[str](), [sys.executable, "-m", f"benchmarks.{name}", *arguments]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(asked, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip("\n"))
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, asked)
    return lines


def place() -> dict[str, Any]:
    """Return with which versions, where and when."""
    from daxy.runs.environment import describe
    from daxy.training.backend import environment

    here = describe([], environment())
    names = ("daxy", "jax", "device_kind", "processor", "cores", "started")
    return {name: here[name] for name in names}


if __name__ == "__main__":
    sys.exit(main())
