"""Optional packages, and errors that name the extra of a missing one."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from importlib.util import find_spec

from daxy.core.errors import DaxyError, RunFailed, WrongRequest

NETWORKS = "training or running a network"
PACKAGES = {
    "jax": (NETWORKS, "JAX", "train"),
    "jaxlib": (NETWORKS, "JAX", "train"),
    "equinox": (NETWORKS, "Equinox", "train"),
    "jaxtyping": (NETWORKS, "jaxtyping", "train"),
    "safetensors": (NETWORKS, "safetensors", "train"),
    "scipy": ("comparing runs", "SciPy", "train"),
    "rapidfuzz": ("the learner nearest", "RapidFuzz", "train"),
    "matplotlib": ("drawing a figure", "Matplotlib", "plot"),
    "PIL": ("a PNG or GIF picture of a world", "Pillow", "worlds"),
    "gymnasium": ("an environment", "Gymnasium", "worlds"),
    "pandas": ("a `DataFrame`", "pandas", "hub"),
    "datasets": ("a `Dataset`", "the package `datasets`", "hub"),
    "torch": ("a `DataLoader`", "PyTorch", "peers"),
    "tensorboard": ("`--log tensorboard`", "TensorBoard", "tensorboard"),
    "wandb": ("`--log wandb`", "Weights & Biases", "wandb"),
    "mlflow": ("`--log mlflow`", "MLflow", "mlflow"),
    "ray": ("`--on ray`", "Ray", "ray"),
    "fsspec": ("a shared storage", "fsspec", "ray"),
}
"""Purpose, name and extra of each optional package, by its module."""


class MissingPackage(WrongRequest, ImportError):  # noqa: N818
    """An optional package that is not installed, with the command that installs it."""

    def __init__(self, module: str) -> None:
        purpose, name, extra = PACKAGES[module]
        clone = f"from a clone, pip install '.[{extra}]'"
        super().__init__(f"{purpose} needs {name}; pip install 'daxy[{extra}]' ({clone})")
        self.name = module


def need(module: str) -> None:
    """Require an optional package.

    Raises:
        MissingPackage: the package is not installed.
    """
    if not _is_installed(module):
        raise MissingPackage(module)


def import_failure(error: BaseException) -> DaxyError | None:
    """Return the message for a failed import of an optional package; None for any other error.

    JAX reads its environment variables when it is imported, and refuses a wrong value there.
    """
    if isinstance(error, MissingPackage):
        return error
    if isinstance(error, ModuleNotFoundError):
        module = _package(error.name or "")
        purpose = PACKAGES[module][0] if module in PACKAGES else ""
        alike = (name for name, facts in PACKAGES.items() if facts[0] == purpose)
        # JAX's companions are missing where JAX is: that one is named.
        for missing in itertools.filterfalse(_is_installed, alike):
            return MissingPackage(missing)
    if "jax" in sys.modules or not any(map(_is_of_jax, _modules(error))):
        return None
    advice = "correct or unset that variable, or install JAX again"
    return RunFailed(f"JAX cannot be imported: {error}; {advice}")


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # another finder refuses it, or it has no spec
        return False


def _package(module: str) -> str:
    return module.partition(".")[0]


def _is_of_jax(module: str) -> bool:
    return _package(module) in ("jax", "jaxlib")


def _modules(error: BaseException) -> Iterator[str]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame.f_globals.get("__name__", "")
        trace = trace.tb_next
