"""Pictures of runs, drawn from their folders alone."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from daxy.core.files import write_bytes
from daxy.experiments.run_folder import RunFolder
from daxy.formats import parquet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def learning(runs: Mapping[str, RunFolder], path: Path) -> None:
    """Draw validation score by epoch, and test score by target length, one line a run, as PNG.

    Raises:
        RunFailed: a run's file is damaged, or the picture cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    FigureCanvasAgg(figure)
    by_epoch, by_length = figure.subplots(1, 2)
    for label, run in runs.items():
        records = run.records()
        scores = [100 * record["validation"] for record in records]
        by_epoch.plot([record["epoch"] for record in records], scores, marker="o", label=label)
        _by_length(by_length, label, run)
    _label(by_epoch, "epoch", "validation accuracy (%)")
    _label(by_length, "tokens in the target", "test accuracy (%)")
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=120)
    write_bytes(path, drawn.getvalue())


def _by_length(axes: Axes, label: str, run: RunFolder) -> None:
    metric = run.scores()["metric"]
    table = parquet.load(run.predictions, ("target", metric))
    lengths = np.array([len(target) for target in table["target"].to_pylist()])
    right = np.array(table[metric].to_pylist(), float)
    present = np.unique(lengths)
    means = [100 * right[lengths == length].mean() for length in present]
    axes.plot(present, means, marker=".", label=label)


def _label(axes: Axes, across: str, up: str) -> None:
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.set_ylim(-2, 102)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
