"""The file of a trained network: weights and vocabularies; loading it runs no code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import safetensors.numpy

from daxy.batching.table import Vocabularies
from daxy.core.errors import in_one_line
from daxy.core.files import write_bytes
from daxy.core.json_objects import NotJSON, decode
from daxy.core.vocabulary import RESERVED, Vocabulary
from daxy.learners.neural.network import Network
from daxy.training.backend import backend
from daxy.training.checkpoint import Arrays, damaged, read_arrays, restored

FILE = "model.safetensors"
MAX_TOKENS = (1 << 16) - RESERVED
"""Maximum size of a vocabulary: codes have 16 bits."""


class _Tokens(msgspec.Struct):
    """The tokens of the vocabularies in the file."""

    source: tuple[str, ...]
    target: tuple[str, ...]


def write(folder: Path, weights: Arrays, vocabularies: Vocabularies) -> str:
    """Write a network's weights and vocabularies into a folder; return the file's name."""
    sources, targets = vocabularies
    # One entry: safetensors writes several in any order.
    text = json.dumps({"source": sources.tokens, "target": targets.tokens})
    write_bytes(folder / FILE, safetensors.numpy.save(weights, {"vocabularies": text}))
    return FILE


@backend()
def read(folder: Path, network: Network) -> tuple[Any, Vocabularies]:
    """Return the model and the vocabularies that `write` wrote into a folder.

    Raises:
        RunFailed: the file is missing or damaged.
    """
    path = folder / FILE
    arrays, metadata = read_arrays(path)
    vocabularies = _vocabularies(path, metadata)
    model = restored(arrays, network.abstract_model(vocabularies), path)
    for name, weights in arrays.items():
        if not np.isfinite(weights).all():
            raise damaged(path, f"{name} has values that are not finite numbers")
    return model, vocabularies


def _vocabularies(path: Path, metadata: Mapping[str, str]) -> Vocabularies:
    """Return the vocabularies in the metadata of the file."""
    try:
        tokens = msgspec.convert(decode(metadata.get("vocabularies", "")), _Tokens)
    except (NotJSON, msgspec.ValidationError) as error:
        problem = in_one_line(str(error).replace("`$`", "it").replace("`$.", "`"))
        raise damaged(path, f"its vocabularies cannot be read ({problem})") from None
    for side in (tokens.source, tokens.target):
        if len({*side}) < len(side) or len(side) > MAX_TOKENS:
            expected = f"expected up to {MAX_TOKENS:,} tokens, each once"
            raise damaged(path, f"its vocabularies are wrong; {expected}")
    return Vocabulary(tokens.source), Vocabulary(tokens.target)
