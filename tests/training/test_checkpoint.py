"""A checkpoint is whole, or it is refused with the name of its file."""

import errno
import os
from pathlib import Path
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file
from tests.tiny_training import Listener, bits, training

from daxy.core.errors import RunFailed
from daxy.models.seq2seq import Config
from daxy.training.checkpoint import Checkpoint, named_arrays

STATE = {
    "weights": (jnp.arange(6.0).reshape(2, 3), jnp.array([1.5, -2.5, 0.1])),
    "count": jnp.array([3], "int32"),
    "flags": jnp.array([True, False]),
}
POSITION = {"epoch": 3, "losses": [0.1, 1e-17], "history": [[{"validation": None}]]}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    checkpoint = Checkpoint(tmp_path_factory.mktemp("whole") / "state.safetensors")
    checkpoint.save(STATE, POSITION)
    return checkpoint.path.read_bytes()


def zeros(tree: Any) -> Any:
    return jax.tree.map(jnp.zeros_like, tree)


def test_what_was_saved_is_loaded_to_the_bit(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "made" / "state.safetensors")
    checkpoint.save(STATE, POSITION)
    loaded = checkpoint.load(zeros(STATE))
    assert loaded is not None
    assert bits(loaded[0]) == bits(STATE)
    assert jax.tree.structure(loaded[0]) == jax.tree.structure(STATE)
    assert loaded[1] == POSITION


def test_nothing_saved_is_nothing_loaded(tmp_path: Path) -> None:
    assert Checkpoint(tmp_path / "state.safetensors").load(STATE) is None


def test_the_newer_state_replaces_the_older_and_leaves_nothing_else(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    checkpoint.save(zeros(STATE), {"epoch": 1})
    checkpoint.save(STATE, {"epoch": 2})
    loaded = checkpoint.load(zeros(STATE))
    assert loaded is not None and loaded[1] == {"epoch": 2}
    assert [path.name for path in tmp_path.iterdir()] == ["state.safetensors"]
    checkpoint.remove()
    checkpoint.remove()
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_the_checkpoint_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    checkpoint.save(STATE, POSITION)

    def full(_: int) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunFailed, match=r"cannot write .*state\.safetensors: No space left"):
        checkpoint.save(zeros(STATE), {"epoch": 9})
    loaded = checkpoint.load(zeros(STATE))
    assert loaded is not None and bits(loaded[0]) == bits(STATE)
    assert [path.name for path in tmp_path.iterdir()] == ["state.safetensors"]


def test_a_truncated_checkpoint_is_refused(tmp_path: Path, written: bytes) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    for length in (0, 1, 7, 8, 50, len(written) // 2, len(written) - 1):
        checkpoint.path.write_bytes(written[:length])
        with pytest.raises(RunFailed, match=r"state\.safetensors is damaged: .*--restart"):
            checkpoint.load(STATE)


@given(position=st.integers(0, 10_000), change=st.integers(1, 255))
def test_no_byte_can_change_unnoticed(
    tmp_path_factory: pytest.TempPathFactory, written: bytes, position: int, change: int
) -> None:
    checkpoint = Checkpoint(tmp_path_factory.mktemp("changed") / "state.safetensors")
    damaged = bytearray(written)
    damaged[position % len(written)] ^= change
    checkpoint.path.write_bytes(damaged)
    with pytest.raises(RunFailed, match=r"state\.safetensors is damaged"):
        checkpoint.load(STATE)


def test_a_state_of_another_type_is_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    wide = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), STATE["weights"])
    checkpoint.save(STATE | {"weights": wide}, POSITION)
    types = r"weights\.0 is float64 \(2, 3\), expected float32 \(2, 3\)"
    with pytest.raises(RunFailed, match=types):
        checkpoint.load(STATE)


def test_numbers_read_as_another_kind_of_number_are_noticed(tmp_path: Path, written: bytes) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    assert written.count(b'"F32"') == 2
    checkpoint.path.write_bytes(written.replace(b'"F32"', b'"I32"'))
    with pytest.raises(RunFailed, match=r"state\.safetensors is damaged"):
        checkpoint.load(STATE)


def test_a_file_without_a_digest_is_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    save_file(named_arrays(STATE), checkpoint.path)
    with pytest.raises(RunFailed, match="its content does not match its digest"):
        checkpoint.load(STATE)


@pytest.mark.parametrize("text", ["[1, 2]", '"epoch"', "null", "3"])
def test_a_position_or_owners_of_another_type_are_none(text: str, tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    save_file(named_arrays(STATE), checkpoint.path, {"position": text, "runs": text})
    assert checkpoint.position() is None
    assert checkpoint.owners() == ()


def test_owners_nested_without_end_are_none(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    save_file(named_arrays(STATE), checkpoint.path, {"runs": "[" * 100_000})
    assert checkpoint.owners() == ()


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    checkpoint.path.mkdir()
    with pytest.raises(RunFailed, match=r"state\.safetensors is damaged"):
        checkpoint.load(STATE)


def test_a_pipe_in_its_place_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "state")
    with pytest.raises(RunFailed, match="is a pipe or a device; expected a file"):
        Checkpoint(tmp_path / "state").load(STATE)
    assert Checkpoint(tmp_path / "state").owners() == ()


def test_the_file_is_one_that_other_programs_can_read(tmp_path: Path) -> None:
    path = tmp_path / "state.safetensors"
    Checkpoint(path).save(STATE, POSITION)
    loaded = load_file(path)
    assert set(loaded) == {"weights.0", "weights.1", "count", "flags"}
    np.testing.assert_array_equal(loaded["weights.0"], [[0, 1, 2], [3, 4, 5]])


def test_a_checkpoint_of_a_wider_network_is_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    training(epochs=1, checkpoint=checkpoint).fit(Listener())
    wider = training(epochs=2, checkpoint=checkpoint, config=Config(hidden=7, embedding=4))
    with pytest.raises(RunFailed, match=r"state\.safetensors .*another program .*expected"):
        wider.fit(Listener())


def test_a_checkpoint_of_another_kind_of_network_is_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    training(epochs=1, checkpoint=checkpoint).fit(Listener())
    other = Config(cell="lstm", hidden=6, embedding=4)
    with pytest.raises(RunFailed, match=r"state\.safetensors .*another program .*differs in"):
        training(epochs=2, checkpoint=checkpoint, config=other).fit(Listener())


def test_a_checkpoint_of_another_number_of_replicas_is_refused(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    training([0], epochs=1, checkpoint=checkpoint).fit(Listener())
    with pytest.raises(RunFailed, match=r"state\.safetensors .*another program"):
        training([0, 1], epochs=2, checkpoint=checkpoint).fit(Listener())
