"""A signal ends the command in one line, whatever it is doing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from daxy.core.interrupts import ENDING

LINE = "daxy: interrupted; run the command again: no file is left half written\n"
BUSY = {
    "python": "while True: pass",
    "a wait": "import time; time.sleep(60)",
    # No instruction of Python comes in between, as while a compiled program runs.
    "a program": "import hashlib; hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)",
    "swallowed exceptions": "while True:\n try: raise KeyError\n except BaseException: pass",
}


def command(code: str, *words: str) -> subprocess.Popen[str]:
    """Return a process that is busy with some code as the command would be."""
    # Whoever runs the tests may have had some signals ignored, as `nohup` does.
    begin = "import os, signal\nfor each in (1, 2, 3, 15): signal.signal(each, signal.SIG_DFL)\n"
    begin += f"from daxy.core import interrupts\ninterrupts.install({list(words)})\n"
    ready = "os.write(1, b'ready\\n')\n"
    process = subprocess.Popen(
        [sys.executable, "-c", begin + code.replace("READY", ready)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    return process


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, errors = process.communicate(timeout=20)
    return process.returncode, out, errors


@pytest.mark.parametrize("number", ENDING)
def test_each_signal_ends_in_a_line_and_its_code(number: signal.Signals) -> None:
    process = command(f"READY{BUSY['a wait']}")
    process.send_signal(number)
    assert ended(process) == (128 + number, "", LINE)


@pytest.mark.parametrize("doing", BUSY)
@pytest.mark.parametrize("times", [1, 2])
def test_it_ends_whatever_it_is_busy_with(doing: str, times: int) -> None:
    process = command(f"READY{BUSY[doing]}")
    began = time.monotonic()
    for _ in range(times):
        process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "", LINE)
    assert time.monotonic() - began < 10


def test_a_signal_while_the_line_is_being_printed_does_not_lose_it() -> None:
    again = "interrupts.sweep_up = lambda: [os.kill(os.getpid(), 2), time.sleep(0.01)]"
    process = command(f"import time; {again}\nREADY{BUSY['a wait']}")
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "", LINE)


def test_json_gets_the_error_as_an_object() -> None:
    process = command(f"READY{BUSY['a wait']}", "--json")
    process.send_signal(signal.SIGTERM)
    code, out, errors = ended(process)
    assert json.loads(out) == {"error": LINE[6:-1], "exit_code": 143}
    assert (code, errors) == (143, LINE)


def test_a_half_written_file_is_deleted_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "whole").write_text("1")
    code = f"""
import time
from pathlib import Path
from daxy.core.files import write_atomically
def write(temporary):
    temporary.write_text("half")
    READY
    time.sleep(60)
write_atomically(Path({str(tmp_path)!r}) / "part", write)
"""
    process = command(code.replace("    READY", "    os.write(1, b'ready\\n')"))
    assert len(list(tmp_path.iterdir())) == 2
    process.send_signal(signal.SIGINT)
    assert ended(process)[0] == 130
    assert [path.name for path in tmp_path.iterdir()] == ["whole"]


WAITING = """
import time
from daxy.training.interrupt import stop_request
with interrupts.advice("the same command resumes"), stop_request(seconds={seconds}) as request:
    READY    while not request.received: time.sleep(0.01)
    {then}
"""


def waiting(then: str, seconds: int = 20) -> subprocess.Popen[str]:
    return command(
        WAITING.format(then=then, seconds=seconds).replace("READY", "os.write(1, b'ready\\n')\n")
    )


def test_training_has_time_to_end_by_itself() -> None:
    process = waiting("time.sleep(0.5); os.write(1, b'saved')")
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (0, "saved", "")


def test_training_that_takes_too_long_ends_and_says_how_to_go_on() -> None:
    process = waiting("time.sleep(60)", seconds=1)
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (143, "", "daxy: interrupted; the same command resumes\n")


def test_a_second_signal_after_a_while_ends_it_at_once() -> None:
    process = waiting("time.sleep(60)")
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    time.sleep(1.2)
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "", "daxy: interrupted; the same command resumes\n")
    assert time.monotonic() - began < 15


def test_what_was_ignored_stays_ignored() -> None:
    begin = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    code = "from daxy.core import interrupts; interrupts.install([])\n"
    code += "import os, time; os.kill(os.getpid(), signal.SIGHUP); time.sleep(0.5)"
    answer = subprocess.run([sys.executable, "-c", begin + code], capture_output=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, b"")


def test_an_answer_that_is_given_is_not_taken_back() -> None:
    process = command("interrupts.close()\nREADYimport time; time.sleep(1)")
    process.send_signal(signal.SIGINT)
    assert ended(process) == (0, "", "")


@pytest.mark.parametrize("module", ["daxy.cli", "tyro", "daxy.cli._verb", "numpy"])
def test_the_command_ends_in_a_line_while_it_imports(module: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "daxy", "show", "scan/simple"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.rpartition("|")[2].strip().startswith(module):
                process.send_signal(signal.SIGINT)
                break
        said = [line for line in process.stderr if not line.startswith("import time:")]
    assert (process.returncode, said) == (130, [LINE])
