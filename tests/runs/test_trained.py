"""A run folder that somebody else made is whole by its digests, and may be wrong all the same."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save
from tests.runs.small_runs import experiment, split

from daxy.core.errors import DaxyError
from daxy.reproduction.trained import Trained, load

Arrays = dict[str, np.ndarray[Any, Any]]
OUTPUT = "output"
"""The name of one of the network's arrays."""


def first(runs: Path) -> Path:
    return min(runs.iterdir())


def seal(run: Path) -> None:
    """Make the digests those of the files as they are."""
    digests = json.loads((run / "done").read_text("ascii"))
    for name in digests:
        digests[name] = hashlib.blake2b((run / name).read_bytes(), digest_size=16).hexdigest()
    (run / "done").write_text(json.dumps(digests), "ascii")


def rewrite(
    run: Path,
    change: Callable[[Arrays], object] = lambda _: None,
    metadata: Mapping[str, str] | None = None,
) -> None:
    file = run / "model.safetensors"
    arrays = load_file(file)
    with safe_open(file, "numpy") as reader:
        known = reader.metadata() if metadata is None else dict(metadata)
    change(arrays)
    file.write_bytes(save(arrays, known))
    seal(run)


def test_a_folder_with_digests_of_its_own_is_loaded(runs: Path) -> None:
    rewrite(first(runs))
    assert len(load(first(runs)).predict(split().test.source.take(np.arange(2)))) == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda own: own.astype(np.int8), f"{OUTPUT} is int8 .*, expected float32"),
        (lambda own: own.astype(np.float64), f"{OUTPUT} is float64 .*, expected float32"),
        (lambda own: own[:1], rf"{OUTPUT} is float32 \(1, .*, expected float32"),
        (lambda own: own * np.nan, f"{OUTPUT} has values that are not finite"),
        (lambda own: own * np.inf, f"{OUTPUT} has values that are not finite"),
    ],
)
def test_weights_that_are_no_networks_are_refused(
    change: Callable[[Any], Any], said: str, runs: Path
) -> None:
    rewrite(first(runs), lambda arrays: arrays.update({OUTPUT: change(arrays[OUTPUT])}))
    with pytest.raises(DaxyError, match=rf"model\.safetensors is damaged: .*{said}"):
        load(first(runs))


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"vocabularies": "null"},
        {"vocabularies": "[" * 100_000},
        {"vocabularies": '{"source": ["a"]}'},
        {"vocabularies": '{"source": ["a", "a"], "target": ["b"]}'},
        {"vocabularies": '{"source": [["a"]], "target": ["b"]}'},
        {"vocabularies": '{"source": [1], "target": ["b"]}'},
    ],
)
def test_a_model_without_vocabularies_is_refused(metadata: dict[str, str], runs: Path) -> None:
    rewrite(first(runs), metadata=metadata)
    with pytest.raises(DaxyError, match="its vocabularies (cannot be read|are wrong)"):
        load(first(runs))


@pytest.mark.parametrize("name", [b"F8_E4M3", b"F8_E5M2"])
def test_numbers_that_numpy_has_not_are_refused(name: bytes, runs: Path) -> None:
    file = first(runs) / "model.safetensors"
    length = int.from_bytes(file.read_bytes()[:8], "little")
    header = json.loads(file.read_bytes()[8 : 8 + length])
    for entry in (own for key, own in header.items() if key != "__metadata__"):
        begin, end = entry["data_offsets"]
        entry |= {"dtype": name.decode(), "shape": [end - begin]}
    text = json.dumps(header).encode()
    content = file.read_bytes()[8 + length :]
    file.write_bytes(len(text).to_bytes(8, "little") + text + content)
    seal(first(runs))
    with pytest.raises(DaxyError, match="of a type that NumPy does not know"):
        load(first(runs))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"format": 99},
            "run folder of format 99, written by daxy .*; this daxy reads format 4: upd",
        ),
        (
            {"format": 2},
            "run folder of format 2, written by daxy .*; .* format 4: train the run ag",
        ),
        ({"format": None}, "config.json is not a run's: Expected `int`, got `null` - at `format`"),
        (
            {"learner": None},
            "Expected `object`, got `null` - at `learner`",
        ),
        (
            {"learner": {"model": None, "config": {}}},
            "Expected `str`, got `null` - at",
        ),
        (
            {"learner": {"model": "seq2seq", "config": {"hidden": None}, "training": {}}},
            "hidden must be",
        ),
    ],
)
def test_a_config_that_is_no_networks_is_refused(
    change: dict[str, Any], said: str, runs: Path
) -> None:
    file = first(runs) / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | change), "utf-8")
    seal(first(runs))
    with pytest.raises(DaxyError, match=said):
        load(first(runs))


def test_trained_runs_and_a_network_show_themselves_in_a_line(runs: Path) -> None:
    asked = experiment(runs)
    trained = Trained(asked, tuple(asked.finished([0, 1])))
    measured = trained.summary.text()
    assert repr(trained) == f"Trained(scan/simple_p1, seq2seq: exact {measured}%, 2 seeds)"
    html = ElementTree.fromstring(trained._repr_html_())
    rows = [[cell.text for cell in row] for row in html.iterfind(".//tbody/tr")]
    assert [row[0] for row in rows] == ["0", "1"]
    assert [row[1] for row in rows] == [f"{score:.1%}" for score in trained.scores]
    known = repr(trained.predictor(0))
    assert "seq2seq: 2," in known and "13 source tokens, 6 target tokens" in known
    shutil.rmtree(runs)
    assert repr(trained) == "Trained(scan/simple_p1, seq2seq: 2 seeds)"
