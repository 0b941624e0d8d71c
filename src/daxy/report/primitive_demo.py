"""Result of Lake & Baroni (2018): a random split is easy, new combinations are not.

Two runs of one network are compared: one trained on a random part of SCAN, one trained on `jump`
alone and on everything without a combination of `jump`. Both are tested on commands with `jump`.
NACS is the mirror image: actions in, a command out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from daxy import tasks
from daxy.core.examples import Examples, Tokens
from daxy.core.summary import Summary
from daxy.report._figure import new_figure
from daxy.report.analyses.by_construction import Structure, structures_of
from daxy.report.correctness import Correctness, correctness
from daxy.report.mistakes import Mistakes, predictions_of
from daxy.runs.folder import RunFolder
from daxy.runs.saved import load_network

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRIMITIVE = "jump"
COMBINATION = "jump twice"
KNOWN = ("jump", "walk twice")
"""Commands of the training set that a learner could combine."""
CONSTRUCTIONS = ("twice", "thrice", "left", "right", "opposite", "around", "and", "after")
"""Words that combine with the primitive, in the order of the figure."""


@dataclass(frozen=True)
class Answer:
    """One example of a test set with a network's prediction."""

    source: Tokens
    target: Tokens
    prediction: Tokens
    is_right: bool


@dataclass(frozen=True, eq=False)
class CommandResults:
    """Results of one run, with its test set as commands."""

    folder: RunFolder
    results: Correctness
    commands: Sequence[Structure]
    """Structure of each example's command."""

    @classmethod
    def of(cls, folder: RunFolder) -> CommandResults:
        """Return the results of a finished run on SCAN or NACS.

        Raises:
            WrongRequest: the run is not finished, or is on another benchmark.
            RunFailed: the folder is damaged.
        """
        results = correctness([folder])
        return cls(folder, results, structures_of(results))

    def accuracy(self) -> Summary:
        """Return the accuracy on all examples, in per cent."""
        return self.results.accuracy(np.ones(len(self.commands), np.bool_))

    def with_part(self, part: str) -> NDArray[np.bool_]:
        """Return which commands are this one, or join it with another."""
        return np.array([part in command.parts for command in self.commands], np.bool_)

    def with_words(self, *words: str) -> NDArray[np.bool_]:
        """Return which commands have all of these words."""
        return np.array([it.words.issuperset(words) for it in self.commands], np.bool_)

    def by_construction(self) -> dict[str, float]:
        """Return the accuracy on commands with `jump`, by a further word that they have."""
        masks = {word: self.with_words(PRIMITIVE, word) for word in CONSTRUCTIONS}
        return {word: self.results.accuracy(it).mean for word, it in masks.items() if it.any()}

    def wrong_answers(self, count: int) -> list[Answer]:
        """Return wrong answers, the shortest command of each construction first."""
        predictions = predictions_of(self.folder)
        sources, targets = self.results.sources, self.results.targets
        order = Mistakes(sources, targets, [predictions], self.results.right).rows
        chosen = dict[int, None]()
        for word in CONSTRUCTIONS:
            chosen |= dict.fromkeys([row for row in order if word in self.commands[row].words][:1])
        rows = [*dict.fromkeys([*chosen, *order])][:count]
        return [Answer(sources[at], targets[at], predictions[at], is_right=False) for at in rows]

    def answers_to_known(self) -> list[Answer]:
        """Return the network's answers to training commands that it could combine.

        Raises:
            RunFailed: the run folder is damaged.
        """
        task = tasks.get(self.results.task)
        language = task.language
        assert language is not None
        commands = [language.words(text) for text in KNOWN]
        pairs = Examples.of((it, language.denote(language.parse(it))) for it in commands)
        pairs = pairs.swapped() if task.is_mirrored else pairs
        predictions = load_network(self.folder.path).predict(pairs.source)
        # Several commands of NACS mean the same actions.
        right = task.accepted(pairs, predictions).tolist()
        return list(map(Answer, pairs.source, pairs.target, predictions, right))


def draw(runs: Mapping[str, CommandResults], title: str) -> Figure:
    """Return a figure: accuracy on commands with `jump` by construction, a color a run.

    Args:
        runs: Runs by their labels in the legend.
        title: Title of the figure.
    """
    figure = new_figure(8, 3.6)
    axes = figure.subplots()
    width = 0.8 / len(runs)
    for number, (label, run) in enumerate(runs.items()):
        values = run.by_construction()
        at = np.array([CONSTRUCTIONS.index(word) for word in values]) + width * number
        bars = axes.bar(at, [*values.values()], width, label=label)
        axes.bar_label(bars, fmt="%.0f", fontsize="small", padding=1)
    middle = np.arange(len(CONSTRUCTIONS)) + width * (len(runs) - 1) / 2
    axes.set_xticks(middle, CONSTRUCTIONS)
    axes.set(title=title, xlabel="commands with jump and ...", ylabel="right (%)", ylim=(0, 110))
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=len(runs), frameon=False)
    return figure
