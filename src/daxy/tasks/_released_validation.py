"""The validation sets that Bastings et al. (2018) released with their splits of SCAN.

`random`: a draw of training lines. An oversampled command may be in both parts, and is in the
validation sets of jump once.

`length`: the training lines with more than 18 of up to 22 actions.

`dab`: the twins of all test commands, with `dab` in place of the held-out phrase. Train has the
twins of its lines with that phrase.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from daxy.core.errors import WrongFile, WrongRequest
from daxy.core.examples import Examples
from daxy.languages import scan
from daxy.tasks import _official
from daxy.tasks._official import NACS_CLONE, Commands, NacsFiles, ReleasedValidation
from daxy.tasks._predicates import Contains
from daxy.tasks._rules import Added, HoldOut, Rows, Rule, command_table, words
from daxy.tasks._validation import twin

PREFIX = "released-"
"""Prefix of the values of `--validation` for released sets."""


def load(
    official: Path | None, nacs: NacsFiles | None, rule: Rule, validation: str, task: str
) -> tuple[Examples, Examples, Examples]:
    """Return train, validation and test as released.

    Args:
        official: A clone of NACS, a folder in it, or an archive.
        nacs: Its files for the task; None without files.
        rule: The rule that the files have to follow.
        validation: The value of `--validation`.
        task: Name of the task.

    Raises:
        WrongRequest: the task has no such validation set, or no folder is given.
        WrongFile: a file is missing, wrong or against the rule.
    """
    known = {} if nacs is None else nacs.validation
    kind = validation.removeprefix(PREFIX)
    if nacs is None or kind not in known:
        names = ", ".join(f"{PREFIX}{each}" for each in known) or "none"
        raise WrongRequest(f"no {validation} set was published for {task}; it has {names}")
    held = known[kind]
    if official is None:
        file = f"{_official.nacs_path(held.validation)}{_official.SIDES[0]}"
        raise WrongRequest(
            "the authors' validation sets do not come with daxy; expected --official DIR,"
            f" a clone of {NACS_CLONE} with {file}"
        )
    names = [_official.nacs_path(each) for each in (held.train, held.validation, nacs.test)]
    grammar = scan.SCAN_WITH_DAB if kind == "dab" else scan.SCAN
    files = _official.load_commands(official, names, NACS_CLONE, grammar)
    _official.check_present(official, names, files)
    train, chosen, test = (files[name] for name in names)
    _check_sizes(held, train, chosen)
    check = {"random": _check_random, "length": _check_length, "dab": _check_dab}[kind]
    check(rule, train, chosen, test)
    return _examples(train), _examples(chosen), _examples(test)


def _examples(file: Commands) -> Examples:
    meaning = scan.meanings(scan.SCAN_WITH_DAB)
    return Examples.of((command, meaning[command]) for command in file.commands)


def _check_sizes(held: ReleasedValidation, *files: Commands) -> None:
    for file, size in zip(files, held.sizes, strict=True):
        if len(file.commands) != size:
            problem = f"{len(file.commands):,} lines; expected {size:,}"
            raise WrongFile(file.place, problem)


def _check_random(rule: Rule, train: Commands, validation: Commands, test: Commands) -> None:
    learned, chosen = (_official.rows_of(each) for each in (train, validation))
    shared = np.intersect1d(learned, chosen)
    base = rule.base if isinstance(rule, Added) else rule
    phrase = base.oversample if isinstance(base, HoldOut) else None
    for row in shared.tolist():
        if phrase is None or not Contains(phrase)(words()[row]):
            problem = f"{' '.join(words()[row])!r} is in {train.place} too"
            raise WrongFile(validation.place, problem)
    _check_rule(rule, np.union1d(learned, chosen), train, test)


def _check_length(rule: Rule, train: Commands, validation: Commands, test: Commands) -> None:
    _check_random(rule, train, validation, test)
    lengths = command_table().target.lengths
    longest = lengths[_official.rows_of(train)].max()
    shortest = lengths[_official.rows_of(validation)].min()
    if shortest <= longest:
        problem = f"a command has {shortest} actions, and train has up to {longest}"
        raise WrongFile(validation.place, f"{problem}; expected more than that in all")


def _check_dab(rule: Rule, train: Commands, validation: Commands, test: Commands) -> None:
    """Refuse commands with `dab` other than the twins of those with the held-out phrase."""
    base = rule.base if isinstance(rule, Added) else rule
    assert isinstance(base, HoldOut)
    phrase = base.oversample
    assert phrase is not None
    plain = [command for command in train.commands if scan.PROXY not in command]
    learned = Counter(twin(each, phrase) for each in plain if Contains(phrase)(each))
    given = Counter(command for command in train.commands if scan.PROXY in command)
    tested = Counter(twin(each, phrase) for each in test.commands)
    for file, actual, wanted in (
        (train, given, learned),
        (validation, Counter(validation.commands), tested),
    ):
        if actual != wanted:
            odd = next(iter((actual - wanted) | (wanted - actual)))
            problem = f"{actual[odd]} lines `{' '.join(odd)}`; expected {wanted[odd]}"
            raise WrongFile(file.place, problem)
    _check_rule(rule, _official.rows_of(Commands(train.place, plain)), train, test)


def _check_rule(rule: Rule, learned: Rows, train: Commands, test: Commands) -> None:
    problems = _official.disagreements(rule, learned, _official.rows_of(test))
    for file, problem in zip((train, test), problems, strict=True):
        if problem:
            raise WrongFile(file.place, problem)


def distinct(examples: Examples) -> Examples:
    """Return examples without repeats."""
    _, first = np.unique(np.array(examples.keys), return_index=True)
    return examples.take(np.sort(first))
