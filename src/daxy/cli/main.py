"""Entry point: find the verb, print its answer, report errors in one line."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from daxy.cli._result import Result
from daxy.core import interrupts
from daxy.core.errors import (
    DaxyError,
    DaxyWarning,
    UnknownName,
    WrongRequest,
    quote,
    require,
    visible,
    with_notes,
)
from daxy.core.imports import import_failure
from daxy.core.packages import fault_of
from daxy.core.registry import Registry
from daxy.version import __version__

if TYPE_CHECKING:
    from daxy.cli._verb import Verb

VERBS: Registry[type[Verb]] = Registry("daxy.cli", "VERB", "verb", is_open=False, without=("main",))
FLAGS = ("-h", "--help", "--version", "--json", "--debug")
MOST_OF_MESSAGE = 2_000
"""Maximum characters of an error; quoted values are cut before."""
WRONG_NAMES = (errno.ENAMETOOLONG, errno.ELOOP)
"""Errors of the operating system for names that no file can have."""
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Serve one request and return the exit code: 0, 1 a failed check or run, 2 a wrong request."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _prepare_streams()
    try:
        code = _serve(arguments)
        sys.stdout.flush()
        interrupts.close()
        return code
    except DaxyError as error:
        if error.exit_code == interrupts.EXIT_CODE:
            return _interrupted(str(error), arguments)
        return _report(with_notes(str(error), error), error.exit_code, arguments)
    except KeyboardInterrupt as stop:
        return _interrupted(str(stop) or interrupts.message(), arguments)
    except BrokenPipeError:
        _close_stdout()
        return BROKEN_PIPE
    except OSError as error:
        fault = fault_of(error)
        place = error.filename or ("" if fault else "output")
        if place == "output":
            _close_stdout()
        code = 2 if error.errno in WRONG_NAMES else 1
        message = ": ".join(filter(None, (fault, place, error.strerror or str(error))))
        return _report(message, code, arguments)
    except MemoryError as error:
        fewer = "ask for fewer or shorter examples, or for less at a time"
        return _report(f"out of memory; {fewer} ({error})", 1, arguments)
    except (Exception, SystemExit) as error:
        return _failed(error, arguments)


def _failed(error: Exception | SystemExit, arguments: Sequence[str]) -> int:
    """Report an error that nobody expected, and name the package that it came from."""
    if failure := import_failure(error):
        return _report(str(failure), failure.exit_code, arguments)
    name = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if fault := fault_of(error):
        message = f"{fault}: {name}; a defect in that package (--debug shows the traceback)"
        message = with_notes(message, error)
        return _report(message, 1, arguments)
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 0
    return _report(
        f"a defect in daxy, please report it: {name} (--debug shows where)", 1, arguments
    )


def _interrupted(message: str, arguments: Sequence[str]) -> int:
    interrupts.sweep_up()
    if "--restart" in arguments and "--restart" not in message:
        message = f"{message}; {interrupts.RESTARTED}"
    return _report(message, interrupts.exit_code(), arguments)


def _prepare_streams() -> None:
    """Open closed outputs, and print `?` for characters that the terminal's encoding lacks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed before the program started
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def verbs() -> dict[str, str]:
    """Return the summary of each verb, read from its file without importing it."""
    return {name: VERBS.summary(name) for name in VERBS.available()}


def _serve(arguments: list[str]) -> int:
    name = next((word for word in arguments if not word.startswith("-")), None)
    if name is None or arguments[0] in ("-h", "--help", "--version"):
        return _print(_overview(arguments), as_json="--json" in arguments)
    if name not in VERBS:
        raise UnknownName("verb", name, VERBS.available(), listing="daxy --help")
    arguments.remove(name)
    from daxy.cli._parse import parse

    verb = parse(VERBS.get(name), name, arguments)
    return _print(verb.run(), as_json=verb.json)


def _overview(arguments: Sequence[str]) -> Result:
    if unknown := [word for word in arguments if word.startswith("-") and word not in FLAGS]:
        raise UnknownName("flag", unknown[0], FLAGS[1:])
    if "--version" in arguments:
        more = [word for word in arguments if word not in ("--version", "--json", "--debug")]
        require(not more, f"--version stands alone, without {quote(' '.join(more))}")
        return Result(data={"version": __version__}, text=f"daxy {__version__}")
    every = verbs()
    width = max(map(len, every))
    lines = [f"  {name:<{width}}  {summary}" for name, summary in every.items()]
    text = "\n".join(
        [
            "usage: daxy VERB ... [--json] [--debug] [--help]",
            "",
            "A laboratory for systematic generalization.",
            "",
            *lines,
            "",
            "Each verb has --help; with a task and a network named, with their flags. Examples:",
            "  daxy train gscan/compositional multimodal --help",
            '  daxy interpret scan "jump around left twice"',
        ]
    )
    return Result(data={"verbs": every}, text=text)


def _print(result: Result, *, as_json: bool) -> int:
    interrupts.answering()
    if as_json:
        _print_json(result.data)
    elif isinstance(result.text, str):
        text = visible(result.text)
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    else:
        from daxy.core.console import write

        write(result.text)
    return result.exit_code


def _print_json(data: Mapping[str, Any]) -> None:
    try:
        line = json.dumps(data)
    except RecursionError:
        deep = "the answer is nested too deeply for JSON; leave out --json, or ask for less"
        raise WrongRequest(deep) from None
    sys.stdout.write(f"{line}\n")


def _close_stdout() -> None:
    """Drop the buffer of stdout, which nobody reads: exiting would write it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(message: str, code: int, arguments: Sequence[str]) -> int:
    """Write an error on stderr, in one line; with `--json` also as an object on stdout."""
    interrupts.close()
    if "--debug" in arguments:
        traceback.print_exc()
    line = _one_line(message)
    sys.stderr.write(f"daxy: {line}\n")
    if "--json" in arguments:
        try:
            _print_json({"error": line, "exit_code": code})
            sys.stdout.flush()
        except OSError:
            _close_stdout()
    return code


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Write a warning of daxy in one line, any other as Python does."""
    stderr = file or sys.stderr
    if issubclass(category, DaxyWarning):
        stderr.write(f"daxy: {_one_line(str(message))}\n")
    else:
        stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def _one_line(message: str) -> str:
    """Return a message in one line, escaped and of bounded length."""
    line = " ".join(visible(message).split("\n"))
    half = MOST_OF_MESSAGE // 2
    return line if len(line) <= MOST_OF_MESSAGE else f"{line[:half]}...{line[-half:]}"


if __name__ == "__main__":
    sys.exit(main())
