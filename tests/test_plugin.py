"""A package of one's own adds to daxy by entry points: `tests/plugin`, installed and used."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

PLUGIN = Path(__file__).parent / "plugin"
MODULES = sorted((PLUGIN / "daxy_echo").glob("*.py"))

REQUESTS = """
import contextlib, io, json, shlex, sys, warnings
from daxy.cli.main import main, show_warning

warnings.showwarning = show_warning
answers = []
for request in json.loads(sys.stdin.read()):
    out, err = io.StringIO(), io.StringIO()
    warnings.simplefilter("default")  # forgets which warnings were shown: a request is a process
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(shlex.split(request))
    answers.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(answers))
"""

TRAINING = """
from pathlib import Path
from daxy import tasks
from daxy.learners.neural import Neural
from daxy.runs.experiment import Experiment
from daxy.training.config import TrainingConfig

bag = Neural.named("bag", {}, TrainingConfig().with_settings(epochs=300))
options = {"data": tasks.data("echo/thrice"), "folder": Path("killed"), "checkpoint_seconds": 0}
Experiment(task="echo/thrice", learner=bag, **options).run([0, 1])
"""
"""Train as the command line does, and save the state after every epoch."""


ECHO = "from daxy_echo"
IMPORTS = "from dataclasses import dataclass\nfrom daxy.learners import Learner\n"
PLAIN = "class LEARNER(Learner): pass"


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Ask = Callable[..., list[Answer]]


def install(folder: Path, site: Path) -> None:
    """Install a package as pip does: its modules, and its entry points in a `dist-info`."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    for package in folder.glob("daxy_*"):
        shutil.copytree(package, site / package.name)
    about = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    about.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (about / "METADATA").write_text(metadata)
    lines = list[str]()
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {module}" for name, module in points.items())]
    (about / "entry_points.txt").write_text("\n".join(lines))


def add(content: str, group: str, site: Path, folder: Path) -> None:
    """Install another package, whose one module is the entry `bad` of a group."""
    module = folder / "wrong" / "daxy_wrong"
    module.mkdir(parents=True)
    point = f'[project.entry-points."daxy.{group}"]\nbad = "daxy_wrong.it"'
    project = f'[project]\nname = "daxy-wrong"\nversion = "3.0"\n{point}\n'
    (folder / "wrong" / "pyproject.toml").write_text(project)
    (module / "it.py").write_text(content)
    install(folder / "wrong", site)


def write_predictions(path: Path) -> None:
    """Write predictions for `echo/thrice` that begin as their targets do."""
    rows = [
        {"source": f"say {a} {b} thrice", "prediction": f"{a} {b}"} for a in "abcd" for b in "abcd"
    ]
    path.write_text("\n".join(map(json.dumps, rows)))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the package."""
    install(PLUGIN, tmp_path / "site")
    return tmp_path / "site"


@pytest.fixture
def ask(site: Path, tmp_path: Path) -> Ask:
    """Ask the command line where the package is installed."""

    def asked(*requests: str, code: str = REQUESTS) -> list[Answer]:
        path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
        answer = subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(requests),
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": path},
        )
        assert answer.returncode == 0, answer.stderr
        return [Answer(*each) for each in json.loads(answer.stdout.splitlines()[-1])]

    return asked


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_a_module_of_the_package_is_short(module: Path) -> None:
    assert len(module.read_text().splitlines()) < 40


def test_what_the_package_adds_is_listed_and_shown(ask: Ask) -> None:
    listed, card, files, learners, bag, parse, shown = ask(
        "tasks",
        "tasks echo/thrice",
        "tasks letters/released --json",
        "learners",
        "learners bag",
        "interpret echo say a b twice",
        "show echo/thrice --example test:1",
    )
    assert all(name in listed.out for name in ("echo/thrice", "letters/released", "scan/simple"))
    assert "first_token: the first token of the prediction is the target's" in card.out
    released = json.loads(files.out)
    assert released["files"]["licence"] == "CC0-1.0"
    assert "letters/released does not come with daxy" in released["not_loaded"]
    assert "A bag of words" in learners.out
    assert "The commonest target" in learners.out
    assert "--width 8" in bag.out
    assert parse.out.splitlines() == ["twice", "  say", "    a", "    b", "", "4 actions: a b a b"]
    assert shown.out == "say a a thrice: a a a a a a\n"


def test_its_data_is_exported_verified_and_scored(ask: Ask, tmp_path: Path) -> None:
    write_predictions(tmp_path / "p.jsonl")
    exported, verified, again, wrong, scored, official = ask(
        "export echo/thrice --split test --out test.arrows",
        "verify test.arrows",
        "verify test.arrows --task echo/thrice --json",
        "export echo/thrice --format arows",
        "score echo/thrice --predictions p.jsonl --json",
        "show echo/thrice --official data",
    )
    assert official.err == "daxy: echo/thrice has no official files; leave out --official\n"
    assert exported.code == 0
    lines = (tmp_path / "test.arrows").read_text().splitlines()
    assert len(lines) == 16
    assert "say d c thrice => d c d c d c" in lines
    assert "test.arrows: 16 examples, 0 disagreements, 0 duplicates" in verified.out
    assert json.loads(again.out)["checked_as"] == "echo/thrice"
    assert wrong.err == "daxy: no format named 'arows'; did you mean arrows?\n"
    assert json.loads(scored.out)["scores"] == {"exact": 0.0, "first_token": 1.0}


def test_a_task_of_files_is_loaded_from_them(ask: Ask, tmp_path: Path) -> None:
    shutil.copytree(PLUGIN / "data", tmp_path / "data")
    rows = [{"source": "a b c", "prediction": "A B C"}, {"source": "c b a", "prediction": "C"}]
    (tmp_path / "p.jsonl").write_text("\n".join(map(json.dumps, rows)))
    without, shown, scored, verified = ask(
        "show letters/released",
        "show letters/released --official data --example test:1",
        "score letters/released --official data --predictions p.jsonl --json",
        "verify data/test.tsv --task letters/released --official data",
    )
    where = "a clone of example.org/letters (licence CC0-1.0)"
    message = f"letters/released does not come with daxy; expected --official DIR, {where}"
    assert without.err == f"daxy: {message}\n"
    assert shown.out == "a b c: A B C\n"
    assert json.loads(scored.out)["scores"] == {"exact": 0.5}
    assert "2 examples, 0 disagreements" in verified.out


def test_python_loads_and_scores_it(ask: Ask) -> None:
    code = """
import json, daxy
split = daxy.load("echo/thrice")
scored = daxy.score("echo/thrice", split.test.target)
print(json.dumps([(len(split.train), repr(daxy.tasks.get("echo/thrice")), str(scored.totals))]))
"""
    ((count, task, totals),) = ask(code=code)
    assert count == 35
    assert "echo/thrice: two letters thrice" in task
    assert "'first_token': 1.0" in totals


def test_its_learner_is_trained_scored_and_analysed(ask: Ask, tmp_path: Path) -> None:
    (trained,) = ask("train echo/thrice commonest --seeds 2 --runs runs --json")
    assert trained.code == 0, trained.err
    first, second = sorted((tmp_path / "runs").iterdir())
    assert (first / "target.txt").read_text() == "a\na"
    again, analysed, reported = ask(
        "train echo/thrice commonest --seeds 2 --runs runs --json",
        f"analyse by_length {first} {second} --json",
        f"report {first} {second} --out page.html",
    )
    (errors,) = ask(f"analyse errors {first} {second}")
    assert errors.out.startswith("echo/thrice: 16 and 16 of 16 test examples are wrong\n")
    assert trained.err.startswith("training echo/thrice, seeds 0, 1\n")
    assert json.loads(again.out)["runs"] == json.loads(trained.out)["runs"]
    assert analysed.code == reported.code == 0
    (first / "target.txt").write_text("x")
    (changed,) = ask("train echo/thrice commonest --seeds 2 --runs runs")
    assert "target.txt" in changed.err


@pytest.mark.slow
def test_its_model_continues_after_a_kill_to_the_same_bits(
    ask: Ask, site: Path, tmp_path: Path
) -> None:
    request = "train echo/thrice bag --epochs 300 --seeds 2 --runs"
    (whole,) = ask(f"{request} whole")
    assert whole.code == 0, whole.err
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, "-c", TRAINING], cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}
    )
    while not any(
        len(log.read_text().splitlines()) > 2 for log in tmp_path.glob("killed/*/log.jsonl")
    ):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert not list((tmp_path / "killed").glob("*/done"))
    (resumed,) = ask(f"{request} killed")
    assert resumed.code == 0, resumed.err
    assert resumed.err.startswith(
        "note: resuming from the saved state\ntraining echo/thrice, seeds"
    )
    assert "epoch 1/300" not in resumed.err
    for folder in (tmp_path / "whole").iterdir():
        weights = (folder / "model.safetensors").read_bytes()
        assert weights == (tmp_path / "killed" / folder.name / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_its_model_is_trained_and_its_runs_are_analysed(ask: Ask, tmp_path: Path) -> None:
    (trained,) = ask("train echo/thrice bag --epochs 2 --seeds 2 --runs runs --json")
    assert trained.code == 0, trained.err
    assert set(json.loads(trained.out)["runs"][0]["test"]) == {"exact", "first_token"}
    folders = " ".join(str(path) for path in sorted((tmp_path / "runs").iterdir()))
    for analysis, shown in (("by_construction", "thrice"), ("by_length", "first_token")):
        (found,) = ask(f"analyse {analysis} {folders} --json")
        assert found.code == 0, found.err
        assert shown in found.out


def test_a_broken_package_is_named_and_breaks_nothing_else(
    ask: Ask, site: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    (broken / "daxy_broken").mkdir(parents=True)
    groups = ("tasks", "metrics", "models", "learners", "formats", "languages", "papers")
    points = [f'[project.entry-points."daxy.{each}"]\nbad = "daxy_broken.it"' for each in groups]
    project = '[project]\nname = "daxy-broken"\nversion = "2.0"'
    (broken / "pyproject.toml").write_text("\n".join([project, *points]))
    (broken / "daxy_broken" / "it.py").write_text("TASKS = missing\n")
    install(broken, site)
    listed, learners, asked, shown, interpreted, card = ask(
        "tasks",
        "learners",
        "show bad/task",
        "show echo/thrice --example test:1",
        "interpret bad say a",
        "tasks scan/simple_p1",
    )
    place = f"daxy-broken 2.0: {site / 'daxy_broken' / 'it.py'}:1: NameError: name 'missing'"
    assert listed.code == 0
    assert "echo/thrice" in listed.out
    assert listed.err == f"daxy: left out: {place} is not defined\n"
    assert "bag" in learners.out
    assert "bad" not in learners.out
    assert (learners.code, learners.err) == (0, f"daxy: left out: {place} is not defined\n")
    assert (asked.code, asked.err) == (2, f"daxy: {place} is not defined\n")
    assert shown.err == ""
    assert interpreted.err == f"daxy: {place} is not defined\n"
    assert (card.code, card.err) == (0, f"daxy: left out: {place} is not defined\n")


@pytest.mark.parametrize(
    ("group", "content", "request_", "problem"),
    [
        ("metrics", "METRIC = max", "tasks echo/thrice", "its METRIC is no Metric"),
        ("metrics", f"{ECHO}.metric import METRIC", "tasks echo/thrice", "its name is 'first_tok"),
        ("tasks", "TASKS = {'x': 1}", "show bad/x", "its TASKS has 'x'; expected tasks by th"),
        ("tasks", "TASKS = 1", "tasks bad/x", "its TASKS is no Mapping"),
        ("formats", "FORMAT = 1", "export scan/simple_p1 --format bad", "its FORMAT is no Format"),
        (
            "formats",
            f"{ECHO}.format import FORMAT",
            "export scan/simple_p1 --format bad",
            "its name is 'arrows'; expected 'bad', the name of its entry",
        ),
        ("models", "Config = 1", "train echo/thrice bad", "there is no Model in it"),
        ("learners", "LEARNER = 1", "learners bad", "its LEARNER is no subclass of Learner"),
        ("learners", IMPORTS + PLAIN, "learners bad", "its LEARNER is no dataclass; expected"),
        (
            "learners",
            f"{IMPORTS}@dataclass(frozen=True)\n{PLAIN}",
            "learners bad",
            "its LEARNER lacks the method fit and load",
        ),
        (
            "learners",
            f"{ECHO}.learner import LEARNER",
            "train echo/thrice bad",
            "its kind is 'commonest'; expected 'bad', the name of its entry",
        ),
    ],
)
def test_a_wrong_entry_is_named_with_its_package(
    group: str, content: str, request_: str, problem: str, ask: Ask, site: Path, tmp_path: Path
) -> None:
    add(content, group, site, tmp_path)
    if group == "metrics":
        task = (site / "daxy_echo" / "task.py").read_text()
        (site / "daxy_echo" / "task.py").write_text(task.replace("first_token", "bad"))
    (answer,) = ask(request_)
    assert answer.code == 2
    place = f"daxy: daxy-wrong 3.0: {site / 'daxy_wrong' / 'it.py'}: "
    assert answer.err.startswith(f"{place}{problem}")
    assert answer.err.count("\n") == 1


def test_a_name_of_two_packages_is_left_out_of_lists_and_refused(
    ask: Ask, site: Path, tmp_path: Path
) -> None:
    learner = (PLUGIN / "daxy_echo" / "learner.py").read_text().replace("commonest", "bag")
    other = tmp_path / "other"
    (other / "daxy_other").mkdir(parents=True)
    (other / "daxy_other" / "it.py").write_text(learner)
    points = {"tasks": "echo", "learners": "commonest"}
    lines = [
        f'[project.entry-points."daxy.{group}"]\n{name} = "daxy_other.it"'
        for group, name in points.items()
    ]
    lines[-1] += '\nbag = "daxy_other.it"'
    project = '[project]\nname = "daxy-other"\nversion = "2.0"'
    (other / "pyproject.toml").write_text("\n".join([project, *lines]))
    install(other, site)
    tasks, learners, help_, task, commonest, bag = ask(
        "tasks",
        "learners",
        "train scan/simple_p1 nearest --help",
        "show echo/thrice",
        "train scan/simple_p1 commonest",
        "learners bag",
    )
    assert (tasks.code, learners.code, help_.code) == (0, 0, 0)
    assert "letters/released" in tasks.out
    assert "echo" not in tasks.out
    assert tasks.err.count("\n") == 1
    assert "nearest" in learners.out
    assert not {"bag", "commonest"} & {*learners.out.split()}
    assert learners.err.count("\n") == 2
    advice = "; uninstall or rename one\n"
    for answer, name in (
        (task, "benchmark named 'echo'"),
        (commonest, "learner named 'commonest'"),
    ):
        assert answer.code == 2
        assert answer.err.startswith(f"daxy: 2 packages have a {name}: daxy-")
        assert answer.err.endswith(advice)
    assert (
        bag.err
        == f"daxy: 2 packages have a learner named 'bag': daxy-echo 1.0 and daxy-other 2.0{advice}"
    )


REQUIRED = """
from dataclasses import dataclass, field
from daxy_echo.learner import Commonest

@dataclass(frozen=True, kw_only=True)
class Bad(Commonest):
    kind = "bad"
    top: int
    \"\"\"How many.\"\"\"
    names: tuple[str, ...] = field(default_factory=lambda: ("a", "b"))

LEARNER = Bad
"""


def test_a_setting_without_a_default_is_a_required_flag(
    ask: Ask, site: Path, tmp_path: Path
) -> None:
    add(REQUIRED, "learners", site, tmp_path)
    card, data, missing, trained = ask(
        "learners bad",
        "learners bad --json",
        "train echo/thrice bad",
        "train echo/thrice bad --top 3",
    )
    assert re.search(r"--top \(required\) +How many\.", card.out)
    assert "--names a b" in card.out
    assert json.loads(data.out)["config"] == {"names": ["a", "b"]}
    assert missing.err == "daxy: missing: --top; see `daxy train echo/thrice bad --help`\n"
    assert trained.err.startswith("training echo/thrice, seed 0\n")


DEFECT = "; a defect in that package (--debug shows the traceback)"


@pytest.mark.parametrize(
    ("module", "function", "request_"),
    [
        ("task", "build", "show echo/thrice"),
        ("language", "denote", "show echo/thrice"),
        ("metric", "score", "score echo/thrice --predictions p.jsonl"),
        ("learner", "fit", "train echo/thrice commonest"),
        ("learner", "predict", "train echo/thrice commonest"),
        ("format", "text", "export echo/thrice --split test --format arrows"),
        ("format", "parse", "verify data.arrows"),
        pytest.param("model", "logits", "train echo/thrice bag", marks=pytest.mark.slow),
    ],
)
def test_an_exception_names_the_package_and_its_line(
    module: str, function: str, request_: str, ask: Ask, site: Path, tmp_path: Path
) -> None:
    file = site / "daxy_echo" / f"{module}.py"
    lines = file.read_text().splitlines()
    (at,) = [number for number, line in enumerate(lines, 1) if f"def {function}(" in line]
    lines.insert(at, "        return {}['x']")
    file.write_text("\n".join(lines))
    write_predictions(tmp_path / "p.jsonl")
    (tmp_path / "data.arrows").write_text("say a => a\n")
    plain, debugged = ask(request_, f"{request_} --debug")
    assert plain.code == 1
    (named,) = [line for line in plain.err.splitlines() if line.startswith("daxy: ")]
    # After training there is advice, too.
    assert named.startswith(f"daxy: daxy-echo 1.0: {file}:{at + 1}: KeyError: 'x'{DEFECT}")
    assert f'{file}", line {at + 1}, in {function}\n' in debugged.err


NAN = "return np.full(len(predictions), np.nan)"


@pytest.mark.parametrize(
    ("learner", "advice"),
    [
        ("commonest", "correct this and run the same command again"),
        pytest.param(
            "bag --epochs 2",
            "correct this and run the same command again: the weights are kept, and only the "
            "scores are missing",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_score_that_is_no_number_loses_no_training(
    learner: str, advice: str, ask: Ask, site: Path, tmp_path: Path
) -> None:
    file = site / "daxy_echo" / "metric.py"
    right = file.read_text()
    file.write_text(right.replace("pairs = zip", f"{NAN}\n        pairs = zip"))
    request = f"train echo/thrice {learner} --runs runs"
    (failed,) = ask(request)
    problem = "`score` gave nan for example 0; expected a number from 0 to 1"
    assert failed.code == 2
    line = failed.err.splitlines()[-1]
    assert line == f"daxy: daxy-echo 1.0: {file}: {problem}; {advice}"
    file.write_text(right)
    (again,) = ask(request)
    assert again.code == 0, again.err
    assert "epoch 1/" not in again.err
