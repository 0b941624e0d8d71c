"""Checkpoints: the state of a training on disk, written atomically and verified when read.

A checkpoint is one safetensors file (loading it runs no code) with the arrays of a `State`, the
position as JSON, and a digest of both.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from daxy.core.errors import RunFailed, quote
from daxy.core.files import other_kind, write_bytes
from daxy.core.json_objects import NotJSON, decode

Arrays = dict[str, NDArray[Any]]
Tree = TypeVar("Tree")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The checkpoint of a group of runs."""

    path: Path
    runs: tuple[str, ...] = ()
    """Names of the group's runs; saved with the state."""

    @classmethod
    def within(cls, folder: Path, runs: tuple[str, ...] = ()) -> Checkpoint:
        """Return the checkpoint in a group's working folder."""
        return cls(folder / "state.safetensors", runs)

    def save(self, state: Any, position: dict[str, Any]) -> None:
        """Write the state and its position; replace an earlier checkpoint atomically.

        Raises:
            RunFailed: the folder cannot be written or the disk is full.
        """
        arrays = named_arrays(state)
        text = json.dumps(position)
        runs = json.dumps(self.runs)
        metadata = {"position": text, "runs": runs, "digest": _digest(arrays, text + runs)}
        write_bytes(self.path, save(arrays, metadata))

    def load(self, like: Tree) -> tuple[Tree, dict[str, Any]] | None:
        """Return the state, with the structure of `like`, and its position; None without a file.

        Raises:
            RunFailed: the file is damaged or belongs to another program.
        """
        if not self.path.exists():
            return None
        arrays, metadata = read_arrays(self.path)
        text = metadata.get("position", "")
        runs = metadata.get("runs", "")  # Earlier versions did not name them.
        if metadata.get("digest") != _digest(arrays, text + runs):
            raise damaged(self.path, "its content does not match its digest")
        try:
            position = decode(text, constants=True)
        except NotJSON as error:
            raise damaged(self.path, f"its position is not JSON ({error})") from None
        if not isinstance(position, dict):
            raise damaged(self.path, f"its position is {quote(position)}; expected an object")
        return restored(arrays, like, self.path), position

    def position(self) -> dict[str, Any] | None:
        """Return the position without reading the arrays; None if missing or damaged."""
        try:
            with _open(self.path) as file:
                position = decode((file.metadata() or {})["position"], constants=True)
        except (SafetensorError, OSError, ValueError, KeyError):
            return None
        return position if isinstance(position, dict) else None

    def owners(self) -> tuple[str, ...]:
        """Return the names of the runs in the file; () if unknown."""
        try:
            with _open(self.path) as file:
                names = decode((file.metadata() or {})["runs"])
        except (SafetensorError, OSError, ValueError, KeyError):
            return ()
        are_names = isinstance(names, list) and all(isinstance(name, str) for name in names)
        return tuple(names) if are_names else ()

    def remove(self) -> None:
        """Delete the checkpoint, if there is one."""
        self.path.unlink(missing_ok=True)


def named_arrays(tree: Any) -> Arrays:
    """Return the arrays of a pytree by path, such as `model.encoder.embedding`."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {_name(path): np.asarray(leaf) for path, leaf in leaves}


def _open(path: Path) -> safe_open:
    if kind := other_kind(path):
        raise OSError(f"is {kind}; expected a file")
    return safe_open(path, framework="numpy")


def read_arrays(path: Path) -> tuple[Arrays, dict[str, str]]:
    """Return the arrays and the metadata of a safetensors file.

    Raises:
        RunFailed: the file is damaged or cannot be read.
    """
    try:
        with _open(path) as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise damaged(path, str(error)) from error
    except (AttributeError, TypeError) as error:
        raise damaged(path, "it has numbers of a type that NumPy does not know") from error


def restored(arrays: Arrays, like: Tree, path: Path) -> Tree:
    """Return the pytree `like` with these arrays.

    Raises:
        RunFailed: a name, a shape or a type is not that of `like`.
    """
    leaves, structure = jax.tree_util.tree_flatten_with_path(like)
    names = [_name(keys) for keys, _ in leaves]
    if set(names) != set(arrays):
        odd = sorted(set(names) ^ set(arrays))
        raise damaged(path, f"it was written by another program (it differs in {odd[0]})")
    for name, (_, leaf) in zip(names, leaves, strict=True):
        array = arrays[name]
        if (array.dtype, array.shape) != (leaf.dtype, leaf.shape):
            kinds = f"{name} is {array.dtype} {array.shape}, expected {leaf.dtype} {leaf.shape}"
            raise damaged(path, f"it was written by another program ({kinds})")
    ordered = [arrays[name] for name in names]
    return jax.tree.unflatten(structure, [jnp.asarray(array, array.dtype) for array in ordered])


def _name(path: tuple[Any, ...]) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")


def _digest(arrays: Arrays, text: str) -> str:
    digest = hashlib.blake2b(text.encode(), digest_size=16)
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def damaged(path: Path, reason: str) -> RunFailed:
    """Return the error of a damaged file."""
    return RunFailed(f"{path} is damaged: {reason}; train again with `--restart`")
