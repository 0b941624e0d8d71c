"""The JAX backend: pinned settings, start of the device, errors in one line.

Training and decoding run inside `backend`. JAX's results depend on settings of the whole process:
environment variables, and `jax.config.update` in a notebook. daxy pins them for its own thread
while it computes, so that a run's digest determines its bits. The caller's settings do not change.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jax
from jax._src import config as jax_config

from daxy.core.errors import DaxyError, RunFailed, WrongRequest

PRNG = "threefry2x32"
"""The random number generator."""

PINNED: Mapping[str, Any] = MappingProxyType(
    {
        # Types and type promotion.
        "jax_enable_x64": False,
        "jax_explicit_x64_dtypes": "warn",
        "jax_numpy_dtype_promotion": "standard",
        "jax_numpy_rank_promotion": "allow",
        "jax_allow_f16_reductions": True,
        # Random numbers.
        "jax_default_prng_impl": PRNG,
        "jax_threefry_partitionable": True,
        "jax_threefry_gpu_kernel_lowering": False,
        "jax_random_seed_offset": 0,
        "jax_enable_custom_prng": False,
        "jax_legacy_prng_key": "allow",
        "jax_high_dynamic_range_gumbel": False,
        # The order and precision of arithmetic.
        "jax_default_matmul_precision": None,
        "jax_softmax_custom_jvp": False,
        "jax_use_direct_linearize": True,
        "jax_disable_bwd_checks": False,
        "jax_scan3": False,
        "jax_remat3": False,
        "jax_custom_vjp3": False,
        # Tracing, compilation and devices.
        "jax_disable_jit": False,
        "jax_no_tracing": False,
        "jax_no_execution": False,
        "jax_default_device": None,
        "jax_optimization_level": "UNKNOWN",
        "jax_memory_fitting_level": "O2",
        "jax_exec_time_optimization_effort": 0.0,
        "jax_memory_fitting_effort": 0.0,
        "jax_compiler_enable_remat_pass": True,
        "jax_use_shardy_partitioner": True,
        "jax_remove_size_one_mesh_axis_from_type": False,
        "jax_disallow_mesh_context_manager": False,
        "jax_disable_vmap_shmap_error": False,
        "jax_auto_pcast": True,
        "check_vma": False,
        "jax_use_simplified_jaxpr_constants": False,
        "jax_embedded_constants_max_bytes": 32,
        "eager_constant_folding": False,
        "jax_mutable_array_checks": True,
        "jax_refs_to_pins": False,
        "jax_enable_pgle": False,
        "jax_compilation_cache_expect_pgle": False,
        "jax_raise_persistent_cache_errors": False,
        # Debugging checks, which may stop or change a correct program.
        "jax_debug_nans": False,
        "jax_debug_infs": False,
        "jax_debug_key_reuse": False,
        "jax_check_tracer_leaks": False,
        "jax_check_static_indices": False,
        "jax_enable_checks": False,
        "jax_error_checking_behavior_nan": "ignore",
        "jax_error_checking_behavior_divide": "ignore",
        "jax_error_checking_behavior_oob": "ignore",
        "jax_experimental_unsafe_xla_runtime_errors": False,
        "jax_transfer_guard_host_to_device": "allow",
        "jax_transfer_guard_device_to_host": "allow",
        "jax_transfer_guard_device_to_device": "allow",
        "jax_array_garbage_collection_guard": "allow",
    }
)
"""Pinned settings, with JAX's default values."""

RECORDED: Mapping[str, Any] = MappingProxyType(
    {"jax_disable_most_optimizations": False, "jax_pjrt_client_create_options": None}
)
"""Settings of the process that cannot be pinned, with their defaults."""

VARIABLES = ("LIBTPU_INIT_ARGS", "NVIDIA_TF32_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG")
"""Environment variables of libraries below JAX that change results."""

WITHOUT_INFLUENCE = ("--xla_force_host_platform_device_count", "--xla_dump_")
"""Prefixes of XLA flags that do not change results or are recorded as the number of devices."""

EXHAUSTED = "RESOURCE_EXHAUSTED"
"""JAX's error code for too little memory."""

STATES: Mapping[str, Any] = getattr(jax_config, "config_states", {})
"""JAX's context managers by setting; most have no public name."""

_entered = threading.local()


@contextmanager
def pinned() -> Generator[None]:
    """Give every setting of `PINNED` its value, in this thread.

    A new thread has the caller's settings, and needs its own context.
    """
    if getattr(_entered, "is_pinned", False):
        yield
        return
    with ExitStack() as settings:
        for name, value in PINNED.items():
            # A version of JAX without a setting behaves like the default of others.
            if name in STATES:
                settings.enter_context(STATES[name](value))
        settings.enter_context(jax.set_mesh(None))  # the caller's mesh; daxy passes its own
        _entered.is_pinned = True
        settings.callback(setattr, _entered, "is_pinned", False)
        yield


@contextmanager
def backend() -> Generator[None]:
    """Compute with pinned settings on the device; report errors of JAX in one line.

    Raises:
        WrongRequest: JAX cannot start the device that its settings ask for.
        RunFailed: JAX cannot start any device, its memory does not suffice, or it fails.
    """
    if getattr(_entered, "is_started", False):
        yield
        return
    with pinned():
        _start()
        _entered.is_started = True
        try:
            yield
        except (MemoryError, jax.errors.JaxRuntimeError) as error:
            raise _failed(error) from error
        finally:
            _entered.is_started = False


@backend()
def environment() -> dict[str, Any]:
    """Return the version of JAX, the devices, and settings that change results."""
    device = jax.devices()[0]
    return {
        "jax": jax.__version__,
        "device": device.platform,
        "device_kind": device.device_kind,
        "devices": jax.device_count(),
        "settings": recorded(),
    }


def recorded() -> dict[str, str]:
    """Return settings that change results and are not pinned, if they are not the default."""
    unpinned = {name: value for name, value in PINNED.items() if name not in STATES}
    values, defaults = jax.config.values, {**RECORDED, **unpinned}
    current = {name: str(values[name]) for name in defaults if name in values}
    changed = {name: value for name, value in current.items() if value != str(defaults[name])}
    flags = [flag for flag in _xla_flags() if not flag.startswith(WITHOUT_INFLUENCE)]
    if flags:
        changed["XLA_FLAGS"] = " ".join(sorted(flags))
    return changed | {name: os.environ[name] for name in VARIABLES if os.environ.get(name)}


def _xla_flags() -> list[str]:
    """Return XLA's flags; $XLA_FLAGS that does not begin with a flag is the path of a file."""
    words = os.environ.get("XLA_FLAGS", "").split()
    if words and not words[0].startswith("-"):
        return Path(words[0]).read_text(encoding="utf-8", errors="replace").split()
    return words


def _start() -> None:
    """Start the device, if it is not running."""
    try:
        jax.devices()
    except Exception as error:  # plugins raise any exception, JAX also AssertionError
        raise _not_started(error) from error


def _not_started(error: Exception) -> DaxyError:
    text = str(error) or "no such device is installed"
    reason = _line(text.partition(" (")[0]).rstrip(".")
    for name in ("jax_platforms", "jax_platform_name"):
        platform = str(jax.config.values.get(name) or "")
        if platform and platform != "cpu":
            gpu = "cuda" in platform or "gpu" in platform
            install = "on an NVIDIA GPU `pip install '.[gpu]'`" if gpu else "install JAX for it"
            problem = f"JAX cannot use {platform!r}, which {name.upper()} asks for: {reason}"
            return WrongRequest(f"{problem}; {install}; or unset it")
    advice = "update the driver, or say JAX_PLATFORMS=cpu to compute on the CPU"
    return RunFailed(f"JAX cannot start a device: {reason}; {advice}")


def _failed(error: Exception) -> RunFailed:
    if isinstance(error, MemoryError) or EXHAUSTED in str(error):
        less = "fewer or smaller networks, smaller batches, fewer examples at a time or a smaller"
        return RunFailed(f"out of memory; use {less} max-decode-length ({_line(str(error))})")
    kind = jax.devices()[0].device_kind
    return RunFailed(f"JAX failed on its device ({kind}): {_line(str(error))}")


def _line(text: str) -> str:
    """Return a text in one line of at most 200 characters."""
    words = " ".join(text.split())
    return words if len(words) <= 200 else f"{words[:197]}..."
