"""The finding of Lake & Baroni (2018): a random split is easy, new combinations are not.

Two runs of one network are compared: one trained on a random part of SCAN, one trained on
everything without a combination of `jump`, and on `jump` alone. Both are asked for commands with
`jump`. NACS is the mirror image: actions in, a command out.
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
from daxy.report.analyses._judged import Judged, judged
from daxy.report.analyses.by_construction import Built, commands
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
"""Words that combine with the primitive, in the order of the picture."""


@dataclass(frozen=True)
class Answer:
    """One example of a test set with a network's prediction."""

    source: Tokens
    target: Tokens
    prediction: Tokens
    is_right: bool


@dataclass(frozen=True, eq=False)
class Tested:
    """The test set of one run, as commands."""

    folder: RunFolder
    examples: Judged
    commands: Sequence[Built]
    """What the command of each example is built of."""

    @classmethod
    def of(cls, folder: RunFolder) -> Tested:
        """Return the test set of a finished run on SCAN or NACS.

        Raises:
            WrongRequest: the run is not finished, or is on another benchmark.
            RunFailed: the folder is damaged.
        """
        examples = judged([folder])
        return cls(folder, examples, commands(examples))

    def accuracy(self) -> Summary:
        """Return the accuracy on all examples, in per cent."""
        return self.examples.over(np.ones(len(self.commands), np.bool_))

    def with_part(self, part: str) -> NDArray[np.bool_]:
        """Return which commands are this one, or join it with another."""
        return np.array([part in command.parts for command in self.commands], np.bool_)

    def with_words(self, *words: str) -> NDArray[np.bool_]:
        """Return which commands have all of these words."""
        return np.array([it.words.issuperset(words) for it in self.commands], np.bool_)

    def by_construction(self) -> dict[str, float]:
        """Return the accuracy on commands with `jump`, by a further word that they have."""
        masks = {word: self.with_words(PRIMITIVE, word) for word in CONSTRUCTIONS}
        return {word: self.examples.over(mask).mean for word, mask in masks.items() if mask.any()}

    def wrong(self, count: int) -> list[Answer]:
        """Return wrong answers, the shortest command of each construction first."""
        predictions = predictions_of(self.folder)
        sources, targets = self.examples.sources, self.examples.targets
        order = Mistakes(sources, targets, [predictions], self.examples.right).rows
        chosen = dict[int, None]()
        for word in CONSTRUCTIONS:
            chosen |= dict.fromkeys([row for row in order if word in self.commands[row].words][:1])
        rows = [*dict.fromkeys([*chosen, *order])][:count]
        return [Answer(sources[at], targets[at], predictions[at], is_right=False) for at in rows]

    def known(self) -> list[Answer]:
        """Ask the network for the commands that it should combine.

        Raises:
            RunFailed: the run folder is damaged.
        """
        task = tasks.get(self.examples.task)
        language = task.language
        assert language is not None
        commands = [language.words(text) for text in KNOWN]
        pairs = Examples.of((it, language.denote(language.parse(it))) for it in commands)
        pairs = pairs.swapped() if task.is_mirrored else pairs
        predictions = load_network(self.folder.path).predict(pairs.source)
        # Several commands of NACS mean the same actions.
        right = task.accepted(pairs, predictions).tolist()
        return list(map(Answer, pairs.source, pairs.target, predictions, right))


def draw(tested: Mapping[str, Tested], title: str) -> Figure:
    """Return a picture: accuracy on commands with `jump` by construction, a color a run.

    Args:
        tested: By a label for the legend.
        title: Above the bars.
    """
    figure = new_figure(8, 3.6)
    axes = figure.subplots()
    width = 0.8 / len(tested)
    for place, (label, run) in enumerate(tested.items()):
        values = run.by_construction()
        at = np.array([CONSTRUCTIONS.index(word) for word in values]) + width * place
        bars = axes.bar(at, [*values.values()], width, label=label)
        axes.bar_label(bars, fmt="%.0f", fontsize="small", padding=1)
    middle = np.arange(len(CONSTRUCTIONS)) + width * (len(tested) - 1) / 2
    axes.set_xticks(middle, CONSTRUCTIONS)
    axes.set(title=title, xlabel="commands with jump and ...", ylabel="right (%)", ylim=(0, 110))
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=len(tested), frameon=False)
    return figure
