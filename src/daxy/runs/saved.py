"""Load the predictor of a finished run."""

from __future__ import annotations

from pathlib import Path

from daxy import learners
from daxy.core.errors import RunFailed, WrongRequest
from daxy.core.examples import Examples, Sequences
from daxy.core.files import usable
from daxy.core.settings import check_types
from daxy.formats import parquet
from daxy.learners import Predictor
from daxy.learners.neural.predictor import Predictor as NetworkPredictor
from daxy.runs.folder import RunFolder, corrupt


def load(path: Path | str) -> Predictor:
    """Return the predictor of a finished run folder.

    Raises:
        RunFailed: the run is not finished, or its files are damaged.
    """
    check_types(load, {"path": path})
    folder = RunFolder(usable(Path(path)))
    if not folder.is_done():
        raise RunFailed(folder.unfinished)
    settings = folder.config().learner
    try:
        return learners.get(learners.name_of(settings)).load(folder.path, settings)
    except WrongRequest as error:
        raise corrupt(folder.path, f"config.json: {error}") from error


def load_network(path: Path | str) -> NetworkPredictor:
    """Return the network of a finished run folder.

    Raises:
        RunFailed: the run is not finished, or its files are damaged.
        WrongRequest: the learner of the run is no network.
    """
    predictor = load(path)
    if not isinstance(predictor, NetworkPredictor):
        raise WrongRequest(f"{path}: the learner of this run is no network")
    return predictor


def predict_of_length(folder: RunFolder) -> tuple[Examples, Sequences]:
    """Return a run's test set, and its network's outputs given the length of each target.

    Where the network would end too early, it takes its second best token, until its output is as
    long as the target (Lake & Baroni 2018, Experiment 2).

    Raises:
        RunFailed: the folder is damaged.
        WrongRequest: the learner of the run is no network.
    """
    sides = "source", "target"
    table = parquet.load(folder.predictions, sides)
    sources, targets = (parquet.sequences(folder.predictions, table, it) for it in sides)
    network = load_network(folder.path)
    return Examples(sources, targets), network.predict_of_length(sources, targets.lengths)
