"""Flags from a file: TOML with the names of flags, or the configuration of a run.

A file has `task` and `learner`, or `table`, and flags by their names; tables only group them. What
the command line says comes before what the file says.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

import tyro

from daxy.cli._flags import Argument, arguments, dashed
from daxy.cli._parse import resolve
from daxy.cli._verb import Verb
from daxy.core.errors import UnknownName, WrongFile, require
from daxy.core.files import read_bytes

FLAG = "--config"
PLACES = {"task": 0, "table": 0, "learner": 1}
"""Names of arguments without a flag, with their places."""
EXPECTED = "a TOML file of flags, or the folder or the config.json of a run"


@dataclass(frozen=True, kw_only=True)
class Configured(Verb):
    """A verb whose flags can come from a file."""

    in_file: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Names, in a file, of the arguments without a flag; several choices of them."""

    config: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """A TOML file of flags, or the folder or config.json of a run. Typed flags come first."""

    @classmethod
    def expanded(cls, words: Sequence[str]) -> Sequence[str]:
        """Return the words with those of `--config FILE`."""
        return expanded(cls, words)


def expanded(verb: type[Configured], words: Sequence[str]) -> list[str]:
    """Return the words of a request with those of its file in index of `--config FILE`.

    Raises:
        WrongRequest: the flag has no value, or is there twice.
        WrongFile: the file cannot be read, or names an unknown flag.
    """
    rest, files = list[str](), list[str]()
    left = iter(words)
    for word in left:
        if word == FLAG:
            files.append(next(left, ""))
        elif word.startswith(f"{FLAG}="):
            files.append(word.partition("=")[2])
        else:
            rest.append(word)
    if not files:
        return rest
    require(len(files) == 1, f"{FLAG} is given twice; expected {FLAG} once")
    require(bool(files[0]), f"missing: a value after {FLAG}; expected {EXPECTED}")
    path = Path(files[0])
    values = dict(_content(path))
    given = [name for name in PLACES if name in values]
    if not any({*given} <= {*choice} for choice in verb.in_file):
        expected = ", or ".join(map(" and ".join, verb.in_file))
        raise WrongFile(path, f"has {' and '.join(given)}; expected {expected}")
    reading = resolve(verb, rest)
    named = reading.verb.names or reading.free[:1]
    index = rest.index(named[0]) + 1 if named else 0  # the learner follows the task
    rest[index:index] = [str(values[name]) for name in given if PLACES[name] >= len(named)]
    settings = {name: value for name, value in values.items() if name not in PLACES}
    for first in ("protocol", "augment"):  # flags depend on these
        if first in settings:
            rest += _words(verb, rest, {first: settings.pop(first)}, path)
    return [*rest, *_words(verb, rest, settings, path)]


def _words(
    verb: type[Configured], words: Sequence[str], settings: Mapping[str, Any], path: Path
) -> Iterator[str]:
    """Yield a file's settings as flags, without those that the words have."""
    reading = resolve(verb, words)
    known = {name: it for it in arguments(reading.verb) for name in it.names}
    used = {known[flag].name for flag in reading.flags if flag in known}
    for name, value in settings.items():
        flag = f"--{dashed(name)}"
        if flag not in known:
            raise WrongFile(path, str(UnknownName("flag", flag, known)))
        if known[flag].name not in used and value is not None:
            yield from _flag(known[flag], value)


def _flag(argument: Argument, value: Any) -> Iterator[str]:
    if argument.is_switch:
        yield argument.name if value else argument.name.replace("--", "--no-", 1)
    elif isinstance(value, Mapping):  # a grid
        yield argument.name
        for name, several in cast("Mapping[str, Any]", value).items():
            values: list[Any] = several if isinstance(several, list) else [several]
            yield f"{name}={','.join(map(_text, values))}"
    elif isinstance(value, list | tuple):
        texts = list(map(_text, cast("Sequence[Any]", value)))
        single = (f"{argument.name}={text}" for text in texts)
        yield from single if argument.is_repeatable else (argument.name, *texts)
    else:
        yield f"{argument.name}={_text(value)}"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _content(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield task, learner and flags of a file, or of a run."""
    if path.is_dir() or path.suffix == ".json":
        yield from _of_run(path if path.is_dir() else path.parent)
        return
    try:
        content = tomllib.loads(read_bytes(path, EXPECTED).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise WrongFile(path, f"is no TOML: {error}; expected {EXPECTED}") from None
    yield from _flat(content)


def _flat(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the entries of a file and of its tables, but a grid whole."""
    for name, value in content.items():
        if isinstance(value, Mapping) and name != "grid":
            inner = cast("Mapping[str, Any]", value)
            prefix = "geca." if name == "geca" else ""
            yield from ((f"{prefix}{key}", it) for key, it in _flat(inner))
        else:
            yield name, value


def _of_run(folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield task, learner and flags of a run."""
    from daxy import learners
    from daxy.runs.folder import RunFolder

    run = RunFolder(folder)
    if not (folder / "config.json").exists():
        raise WrongFile(folder, f"there is no config.json in it; expected {EXPECTED}")
    config = run.config()
    learner = learners.of_settings(config.learner)
    yield from (("task", config.task), ("learner", learners.name_of(config.learner)))
    choices = {"split-seed" if name == "seed" else name: it for name, it in config.choices.items()}
    yield from choices.items()
    yield "first-seed", config.seed
    yield from run.environment().get("files", {}).items()
    yield from learner.flags().items()
    geca = config.learner.get("geca")
    if geca:
        yield "augment", "geca"
        yield from ((f"geca.{name}", value) for name, value in geca.items())
