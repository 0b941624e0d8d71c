"""Load the predictor of a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from daxy.core.errors import RunFailed, WrongRequest
from daxy.core.examples import Examples, Sequences
from daxy.core.files import usable
from daxy.core.json_objects import decode
from daxy.core.settings import check_types, stated
from daxy.core.vocabulary import RESERVED, Vocabulary
from daxy.formats import parquet
from daxy.learners.neural import of_settings
from daxy.learners.predictor import Predictor, empty_model
from daxy.runs.contents import Vocabularies, check
from daxy.runs.folder import RunFolder, corrupt
from daxy.training.backend import backend
from daxy.training.checkpoint import damaged, read_arrays, restored

MOST_TOKENS = (1 << 16) - RESERVED
"""Of a vocabulary: codes are of 16 bits."""


@backend()
def load(path: Path | str) -> Predictor:
    """Return the network of a finished run folder.

    Raises:
        RunFailed: the run is not finished, or its files are damaged.
        WrongRequest: its configuration is not one of a network.
    """
    check_types(load, {"path": path})
    folder = RunFolder(usable(Path(path)))
    if not folder.is_done():
        raise RunFailed(f"{folder.path}: no finished run")
    try:
        settings = of_settings(folder.config().learner)
    except WrongRequest as error:
        raise corrupt(folder.path, f"config.json: {error}") from error
    arrays, metadata = read_arrays(folder.model)
    sources, targets = _vocabularies(folder, metadata)
    empty = empty_model(settings.model, stated(settings.config), sources, targets)
    model = restored(arrays, empty, folder.model)
    for name, weights in arrays.items():
        if not np.isfinite(weights).all():
            raise damaged(folder.model, f"{name} has values that are not finite numbers")
    return Predictor(model, sources, targets, settings.protocol.max_decode_length)


def _vocabularies(folder: RunFolder, metadata: Mapping[str, str]) -> tuple[Vocabulary, Vocabulary]:
    """Return the tokens that a run's network knows, of sources and of targets."""
    name = f"the vocabularies in {folder.model.name}"
    try:
        found = check(decode(metadata.get("vocabularies", "")), Vocabularies, name)
    except ValueError as error:
        raise corrupt(folder.path, f"{name} cannot be read ({error})") from None
    for tokens in (found.source, found.target):
        if len({*tokens}) < len(tokens) or len(tokens) > MOST_TOKENS:
            expected = f"expected up to {MOST_TOKENS:,} tokens, each once"
            raise corrupt(folder.path, f"{name} are wrong; {expected}")
    return Vocabulary(tuple(found.source)), Vocabulary(tuple(found.target))


def told_lengths(folder: RunFolder) -> tuple[Examples, Sequences]:
    """Return a run's test set, and what its network says of it if it is told how long to speak.

    Where it would end too early it takes its second best token, until its output is as long as the
    target (Lake & Baroni 2018, Experiment 2).

    Raises:
        RunFailed: the folder is damaged.
    """
    sides = "source", "target"
    table = parquet.load(folder.predictions, sides)
    sources, targets = (parquet.sequences(folder.predictions, table, it) for it in sides)
    return Examples(sources, targets), load(folder.path).predict_of_length(sources, targets.lengths)
