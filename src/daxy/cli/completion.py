"""Print a script that completes verbs, flags and names in a shell."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from daxy.cli._flags import arguments
from daxy.cli._parse import resolve
from daxy.cli._result import Result
from daxy.cli._verb import Verb
from daxy.core.errors import WrongFile

Choices = Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Completion(Verb):
    """Print a script that completes verbs, flags, tasks, models and tables in a shell.

    For bash, add the line `source <(daxy completion bash)` to ~/.bashrc. For zsh, add the same with
    `zsh` to ~/.zshrc, after `compinit`. For fish, write the script to
    ~/.config/fish/completions/daxy.fish.

    Example:
        source <(daxy completion bash)
        daxy completion fish > ~/.config/fish/completions/daxy.fish
    """

    shell: tyro.conf.Positional[
        Annotated[Literal["bash", "zsh", "fish"], tyro.conf.arg(metavar="SHELL")]
    ]
    """The shell: bash, zsh or fish."""

    def run(self) -> Result:
        """Return the script."""
        from daxy.cli.main import verbs

        names, summaries = _names(), verbs()
        known = {verb: Words(verb, names) for verb in summaries}
        lines = _fish(known, summaries) if self.shell == "fish" else _bash(known)
        head = ["autoload -Uz bashcompinit && bashcompinit"] if self.shell == "zsh" else []
        script = "\n".join([f"# {self.shell} completion for daxy", *head, *lines])
        return Result(data={"shell": self.shell, "script": script}, text=script)


class Words:
    """Words that may follow a verb, over all tasks and learners that its flags depend on.

    Args:
        verb: The verb.
        names: Names that a flag, or an argument by its metavar, takes.
    """

    def __init__(self, verb: str, names: Choices) -> None:
        self.arguments = dict[str, None]()
        self.switches: dict[str, None] = {"--help": None}
        self.values = dict[str, dict[str, None]]()
        """Choices of each flag with a value; none where any value fits."""
        for argument in (it for variant in _variants(verb, names) for it in arguments(variant)):
            # The choices of a flag may depend on the task.
            choices = dict.fromkeys(argument.choices or names.get(argument.name, ()))
            if argument.is_positional:
                self.arguments |= choices
            elif argument.is_switch:
                self.switches |= dict.fromkeys(argument.names)
            else:
                for flag in argument.names:
                    self.values[flag] = self.values.get(flag, {}) | choices


def _names() -> dict[str, list[str]]:
    """Return the names that a flag takes, or an argument by its metavar."""
    from daxy import formats, languages, learners, papers, tasks, trackers
    from daxy.report import analyses

    tables = [table.path for paper in papers.PAPERS.loaded().values() for table in paper.tables]
    return {
        "TASK": tasks.available(),
        "--task": tasks.available(),
        "--log": trackers.available(),
        "--format": ["auto", *formats.available()],
        "LANGUAGE": languages.available(),
        "LEARNER": learners.available(),
        "ANALYSIS": analyses.available(),
        "PAPER/TABLE": tables,
        "PAPER[/TABLE]": [*papers.available(), *tables],
    }


def _variants(verb: str, names: Choices) -> Iterator[type[Verb]]:
    """Yield the variants of a verb that differ in their flags."""
    from daxy import tasks
    from daxy.cli.main import VERBS

    kind = VERBS.get(verb)
    by_options = {tasks.get(name).options: name for name in names["TASK"]}
    yield resolve(kind, []).verb
    leading = resolve(kind, [*by_options.values()][:1]).verb.leading
    some = list(by_options.values())[: None if leading else 1]
    yield from (resolve(kind, [task]).verb for task in some)
    for name in names["LEARNER"] if "learner" in leading else ():
        with contextlib.suppress(WrongFile):  # a broken package has no flags to complete
            yield resolve(kind, [some[0], name, "--augment", "geca"]).verb


def _bash(known: Mapping[str, Words]) -> Iterator[str]:
    """Yield a function for bash, which zsh reads too; without an answer, files are completed."""
    yield from BASH_HEAD.splitlines()
    yield f"    '') words='{' '.join(known)} --help --version' ;;"
    for verb, words in known.items():
        yield f"    {verb})"
        yield "      case $before in"
        free = [flag for flag, choices in words.values.items() if not choices]
        for flag, choices in words.values.items():
            if choices:
                yield f"        {flag}) words='{' '.join(choices)}' ;;"
        if free:
            yield f"        {'|'.join(free)}) ;;"
        flags = " ".join((*words.values, *words.switches))
        yield f"        *) flags='{flags}' words='{' '.join(words.arguments)}' ;;"
        yield "      esac ;;"
    yield from BASH_TAIL.splitlines()


BASH_HEAD = """\
_daxy() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= flags= words= at
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    if [[ ${COMP_WORDS[at]} != -* ]]; then
      verb=${COMP_WORDS[at]}
      break
    fi
  done
  case $verb in"""
BASH_TAIL = """\
  esac
  if [[ $word == -* && -n $flags ]]; then
    words=$flags
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _daxy daxy"""


def _fish(known: Mapping[str, Words], summaries: Mapping[str, str]) -> Iterator[str]:
    for verb, words in known.items():
        summary = summaries[verb].replace("'", "\\'")
        yield f"complete -c daxy -f -n __fish_use_subcommand -a {verb} -d '{summary}'"
        after = f"complete -c daxy -n '__fish_seen_subcommand_from {verb}'"
        if words.arguments:
            yield f"{after} -f -a '{' '.join(words.arguments)}'"
        for flag in words.switches:
            yield f"{after} -l {flag[2:]}"
        for flag, choices in words.values.items():
            yield f"{after} -l {flag[2:]} " + (f"-x -a '{' '.join(choices)}'" if choices else "-r")


VERB = Completion
