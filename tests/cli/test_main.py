import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.table import Table

from daxy.api import load
from daxy.cli import _parse, interpret, main
from daxy.version import __version__

VERBS = list(main.verbs())


def test_help_lists_every_verb_with_what_it_does(daxy: Callable) -> None:
    answer = daxy("--help")
    assert answer.code == 0
    for name, summary in main.verbs().items():
        assert f"{name}" in answer.out
        assert summary in answer.out
    assert 'daxy interpret scan "jump around left twice"' in answer.out
    assert daxy().out == answer.out
    assert daxy("--help", "--json").json == {"verbs": main.verbs()}


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_keeps_the_contract(name: str, daxy: Callable) -> None:
    verb = _parse.resolve(main.VERBS.get(name), []).verb
    assert "Example:" in (verb.__doc__ or "")
    answer = daxy(name, "--help")
    assert answer.code == 0
    assert "Example:" in answer.out
    assert f"daxy {name}" in answer.out
    assert {"--json", "--debug", "--help"} <= set(_parse.flags(verb))


def test_the_version_is_printed(daxy: Callable) -> None:
    assert daxy("--version").out == f"daxy {__version__}\n"
    assert daxy("--version", "--json").json == {"version": __version__}


def test_brackets_in_a_table_are_text(daxy: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def bracketed(_: object) -> main.Result:
        table = Table("[red]folder")
        table.add_row("[red]x/[/red]")
        return main.Result(data={}, text=table)

    monkeypatch.setattr(interpret.Interpret, "run", bracketed)
    answer = daxy("interpret", "scan", "jump")
    assert "[red]folder" in answer.out
    assert "[red]x/[/red]" in answer.out


def test_ctrl_c_ends_with_a_line_and_130(daxy: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(interpret.Interpret, "run", interrupted)
    answer = daxy("interpret", "scan", "jump")
    said = "interrupted; run the command again: no file is left half written"
    assert (answer.code, answer.err) == (130, f"daxy: {said}\n")
    assert daxy("interpret", "scan", "jump", "--json").json == {"error": said, "exit_code": 130}


def test_a_defect_is_one_line_and_debug_shows_where(
    daxy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defective(_: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(interpret.Interpret, "run", defective)
    answer = daxy("interpret", "scan", "jump")
    assert answer.code == 1
    assert answer.err == (
        "daxy: a defect in daxy, please report it: ZeroDivisionError: by nothing"
        " (--debug shows where)\n"
    )
    assert "Traceback" in daxy("interpret", "scan", "jump", "--debug").err


def test_debug_shows_the_traceback_of_a_wrong_request_too(daxy: Callable) -> None:
    answer = daxy("tasks", "scan/x", "--debug")
    assert answer.code == 2
    assert "Traceback" in answer.err


@pytest.mark.parametrize("request_", ["--help", "interpret scan jump", "interpret scan up"])
def test_commands_without_data_import_neither_jax_nor_numpy(request_: str) -> None:
    code = (
        "import sys; from daxy.cli.main import main; main(sys.argv[1:]);"
        "print({'jax', 'numpy', 'pyarrow', 'rich.table'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, *request_.split()]
    asked = subprocess.run(command, capture_output=True, text=True, check=True)
    assert asked.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize(
    "request_",
    [
        *("tasks", "learners", "tasks nacs/length", "show scan/length", "export scan/length"),
        "score scan/length --predictions all.jsonl",
    ],
)
def test_no_verb_of_the_data_side_imports_jax(
    request_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    test = load("scan/length").test
    rows = zip(test.keys, test.target, strict=True)
    lines = [json.dumps({"key": key, "prediction": target}) for key, target in rows]
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    code = (
        "import sys; from daxy.cli.main import main; main(sys.argv[1:]);"
        "print({'jax', 'equinox'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, *request_.split()]
    asked = subprocess.run(command, capture_output=True, text=True, check=True)
    assert asked.stdout.splitlines()[-1] == "set()"


def test_a_reader_may_stop_early() -> None:
    command = f"{sys.executable} -m daxy.cli.main export scan/simple | head -n 1"
    asked = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert asked.stderr == ""
    assert asked.stdout.count("\n") == 1


@pytest.mark.parametrize("request_", ["tasks", "interpret scan jump", "tasks --json"])
def test_a_closed_pipe_is_exit_code_141(request_: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "daxy", *request_.split()]
    asked = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (asked.returncode, asked.stderr) == (141, b"")


IN_SHELL = f"{sys.executable} -m daxy.cli.main"


@pytest.mark.parametrize(
    ("command", "code", "out"),
    [
        (f"{IN_SHELL} nope 2>&-", 2, ""),
        (f"{IN_SHELL} tasks scan/length >&-", 0, ""),
        (f"PYTHONIOENCODING=ascii {IN_SHELL} papers bastings2018/table4 --row gru", 0, "?0.8"),
    ],
)
def test_closed_or_narrow_outputs_are_no_defect(command: str, code: int, out: str) -> None:
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert ran.returncode == code
    assert out in ran.stdout
    assert "daxy: " not in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_an_error_that_cannot_be_written_as_json_is_one_line_on_stderr() -> None:
    command = f"{IN_SHELL} tasks nope --json > /dev/full"
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr.startswith("daxy: no task named 'nope'")
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_behind_stdout_is_one_line() -> None:
    command = f"{sys.executable} -m daxy.cli.main export scan/simple > /dev/full"
    asked = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert asked.returncode == 1
    assert asked.stderr == "daxy: output: No space left on device\n"


def test_errors_of_the_system_are_json_too(daxy: Callable, tmp_path: Path) -> None:
    answer = daxy("export", "scan/simple", "--out", str(tmp_path / f"{'a' * 300}.jsonl"), "--json")
    assert answer.json["exit_code"] == answer.code == 2
    assert answer.json["error"].endswith("File name too long")


def test_json_is_one_object_whatever_the_verb(daxy: Callable, tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("IN: jump OUT: I_JUMP\n")
    for request in (
        ["tasks"],
        ["tasks", "nacs/length"],
        ["interpret", "scan", "jump"],
        ["show", "scan/length"],
        ["verify", str(text)],
        ["export", "scan/length", "--out", str(tmp_path / "b.jsonl")],
    ):
        answer = daxy(*request, "--json")
        assert answer.code == 0
        assert answer.out.count("\n") == 1
        assert isinstance(json.loads(answer.out), dict)
        assert answer.err == ""
