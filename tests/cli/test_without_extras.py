"""What works without the optional packages, and the errors that name what is missing."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.report.test_analyses import right, run

from daxy.cli import main
from daxy.core.imports import PACKAGES

BARE = """
import contextlib, io, json, shlex, sys

requests, missing = json.loads(sys.stdin.read())


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())

from daxy.cli.main import main

answers = {}
for request in requests:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(shlex.split(request))
    answers[request] = code, err.getvalue()
try:
    import daxy
    daxy.train
except ImportError as error:
    answers["daxy.train"] = 2, f"daxy: {error}"
print(json.dumps(answers))
"""
"""A process without some packages, which prints the exit code and the errors of each request."""

WORK = (
    "interpret scan 'jump twice'",
    "show scan/simple_p1 --count 1",
    "show gscan/compositional --grid 4 --draw world.svg",
    "tasks",
    "tasks scan/simple_p1",
    "learners",
    "learners transducer",
    "papers",
    "papers bastings2018/table4",
    "export scan/simple_p1 --out exported/",
    "verify exported/train.txt",
    "score scan/simple_p1 --predictions RUN/predictions.parquet --partial",
    "augment scan/simple_p1",
    "analyse",
    "analyse by_construction RUN",
    "train scan/simple_p1 transducer --help",
    *(f"{verb} --help" for verb in main.verbs()),
)
NEED = {
    "train scan/simple_p1": "train",
    "demo": "train",
    "reproduce bastings2018/table4 --dry-run": "train",
    "sweep lake2018/grid --dry-run": "train",
    "score scan/simple_p1 --run RUN": "train",
    "analyse length_oracle RUN": "train",
    "daxy.train": "train",
    "papers bastings2018/table4 --draw table.png": "plot",
    "analyse by_construction RUN --draw bars.svg": "plot",
    "show gscan/compositional --draw world.png": "worlds",
    "augment gscan/compositional --draw worlds.png": "worlds",
}
"""Requests, with the extra that each is refused for."""

Answers = dict[str, tuple[int, str]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    folder = tmp_path_factory.mktemp("bare")
    name = str(run(folder, "scan/simple_p1", 0, right).path)
    requests = [each.replace("RUN", name) for each in (*WORK, *NEED) if each != "daxy.train"]
    answer = subprocess.run(
        [sys.executable, "-c", BARE],
        input=json.dumps([requests, [*PACKAGES, "scipy"]]),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (folder / "world.svg").read_text().startswith("<svg")
    yield {each.replace(name, "RUN"): given for each, given in json.loads(answer.stdout).items()}


@pytest.mark.parametrize("request_", WORK)
def test_data_scores_and_tables_need_no_extra(request_: str, answers: Answers) -> None:
    code, err = answers[request_]
    assert code == 0, err


@pytest.mark.parametrize("request_", NEED)
def test_the_error_names_the_command_that_installs_what_is_missing(
    request_: str, answers: Answers
) -> None:
    code, err = answers[request_]
    extra, last = NEED[request_], err.splitlines()[-1]
    assert code == 2
    assert last.startswith("daxy: ")
    assert last.endswith(f"pip install 'daxy[{extra}]' (from a clone, pip install '.[{extra}]')")
