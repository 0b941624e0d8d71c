"""Completion: a real bash completes what the help lists."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from daxy import learners, tasks
from daxy.cli import _parse, completion, main

ASK = """
source completion.bash
COMP_WORDS=({words}) COMP_CWORD={at}
_daxy
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def completed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    """Return what bash completes the last word of a line to."""
    folder = tmp_path_factory.mktemp("completion")
    script = completion.Completion(shell="bash").run().data["script"]
    (folder / "completion.bash").write_text(script)

    def ask(line: str) -> list[str]:
        words = re.sub("=", " = ", line).split(" ")  # as bash splits them
        said = ASK.format(words=" ".join(word or "''" for word in words), at=len(words) - 1)
        answer = subprocess.run(
            ["bash", "-uc", said], cwd=folder, capture_output=True, text=True, check=True
        )
        assert not answer.stderr
        return answer.stdout.split()

    return ask


def test_bash_completes_verbs_names_and_flags(completed: Callable[[str], list[str]]) -> None:
    assert {*completed("daxy ")} == {*main.verbs(), "--help", "--version"}
    assert completed("daxy --json train scan/addprim_j") == ["scan/addprim_jump"]
    assert {*tasks.available(), *learners.available()} == {*completed("daxy train ")}
    assert "bastings2018/table4" in completed("daxy reproduce b")
    assert completed("daxy learners st") == ["stacked"]
    assert {*completed("daxy train --cell ")} == {"srn", "gru", "lstm"}
    assert completed("daxy train --cell=g") == ["gru"]
    assert completed("daxy train gscan/compositional multimodal --world") == ["--world-dropout"]
    # bash completes the names of files where there is no answer.
    assert completed("daxy score scan/simple --predictions ") == []
    assert completed("daxy verify ") == []


@pytest.mark.parametrize("verb", main.verbs())
def test_bash_completes_every_flag_that_the_help_lists(
    verb: str,
    completed: Callable[[str], list[str]],
    daxy: Callable,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")  # a wide terminal has two columns of flags
    shown = daxy(verb, "--help").out
    lines = re.findall(r"^[│ ]*((?:--?[a-z0-9.-]+(?:, )?)+)", shown, re.MULTILINE)
    listed = {flag for line in lines for flag in re.findall(r"--[a-z0-9][a-z0-9.-]*", line)}
    assert listed <= {*completed(f"daxy {verb} --")}
    mentioned = {*re.findall(r"--[a-z0-9][a-z0-9.-]*[a-z0-9]", shown)}
    assert mentioned >= {*_parse.flags(_parse.resolve(main.VERBS.get(verb), []).verb)}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_their_script(shell: str, daxy: Callable, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(daxy("completion", shell).out)
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    subprocess.run([shell, "--no-execute", str(script)], check=True)
