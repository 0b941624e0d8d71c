"""Under any settings of JAX training gives the same bits, and JAX's faults are one line."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import pytest
from tests.jax_settings import setting
from tests.tiny_training import Listener, bits, training

from daxy.core.errors import RunFailed, WrongRequest
from daxy.core.imports import import_failure
from daxy.models.layers.dropout import Dropout
from daxy.training import placement
from daxy.training.backend import PINNED, RECORDED, STATES, backend, pinned, recorded
from daxy.training.checkpoint import Checkpoint
from daxy.training.interrupt import Interrupted

OTHER = {
    "jax_explicit_x64_dtypes": ("error", "allow"),
    "jax_numpy_dtype_promotion": ("strict",),
    "jax_numpy_rank_promotion": ("raise",),
    "jax_default_prng_impl": ("rbg", "unsafe_rbg"),
    "jax_random_seed_offset": (7,),
    "jax_legacy_prng_key": ("error",),
    "jax_default_matmul_precision": ("bfloat16", "highest"),
    "jax_default_device": ("cpu",),
    "jax_optimization_level": ("O0",),
    "jax_memory_fitting_level": ("O0",),
    "jax_exec_time_optimization_effort": (-1.0,),
    "jax_memory_fitting_effort": (-1.0,),
    "jax_embedded_constants_max_bytes": (0,),
    "jax_error_checking_behavior_nan": ("raise",),
    "jax_error_checking_behavior_divide": ("raise",),
    "jax_error_checking_behavior_oob": ("raise",),
    "jax_transfer_guard_host_to_device": ("disallow",),
    "jax_transfer_guard_device_to_host": ("disallow",),
    "jax_transfer_guard_device_to_device": ("disallow",),
    "jax_array_garbage_collection_guard": ("log",),
}
"""Other values of the settings that are more than a switch."""

CHANGES = [
    (name, value)
    for name, usual in PINNED.items()
    if name in STATES
    for value in OTHER.get(name, (not usual,))
]

HARMLESS = {
    # What is written, and where: logs, messages, dumps, names of files in programs.
    *("jax_log_compiles", "jax_log_checkpoint_residuals", "jax_logging_level"),
    *("jax_debug_log_modules", "jax_explain_cache_misses", "jax_distributed_debug"),
    *("jax_compiler_detailed_logging_min_ops", "jax_dump_ir_modes", "jax_dump_ir_to"),
    *("jax_include_debug_info_in_dumps", "jax_pprint_use_color", "jax_source_url_schema"),
    *("jax_traceback_filtering", "jax_traceback_in_locations_limit"),
    *("jax_tracer_error_num_traceback_frames", "jax_send_traceback_to_runtime"),
    *("jax_include_full_tracebacks_in_locations", "jax_hlo_source_file_canonicalization_regex"),
    *("jax_captured_constants_report_frames", "jax_captured_constants_warn_bytes"),
    *("jax_pallas_verbose_errors", "jax_debug_leaked_clients_on_clear_backends"),
    # Where compiled programs are kept.
    *("jax_compilation_cache_check_contents", "jax_compilation_cache_dir"),
    *("jax_compilation_cache_include_metadata_in_key", "jax_compilation_cache_max_size"),
    *("jax_enable_compilation_cache", "jax_persistent_cache_enable_xla_caches"),
    *("jax_persistent_cache_min_compile_time_secs", "jax_persistent_cache_min_entry_size_bytes"),
    *("jax_remove_custom_partitioning_ptr_from_cache_key", "jax_xla_profile_version"),
    *("jax_pgle_profiling_runs", "jax_pgle_aggregation_percentile"),
    # Which devices there are: environment.json has the device and how many.
    *("jax_platforms", "jax_platform_name", "jax_backend_target", "jax_xla_backend"),
    *("jax_num_cpu_devices", "jax_cuda_visible_devices", "jax_rocm_visible_devices"),
    *("jax_oneapi_visible_devices", "jax_mock_gpu_topology", "mock_num_gpu_processes"),
    *("jax_sort_devices_by_process_index", "jax_cpu_enable_async_dispatch"),
    # Several processes that compute together, which daxy has not.
    *("jax_check_proxy_envs", "jax_cpu_collectives_implementation", "jax_thread_guard"),
    *("jax_cpu_get_global_topology_timeout_minutes", "jax_cpu_get_local_topology_timeout_minutes"),
    *("jax_cross_host_transfer_socket_address", "jax_cross_host_transfer_timeout_seconds"),
    *("jax_cross_host_transfer_transfer_size", "jax_cross_host_transport_addresses"),
    *("jax_force_dcn_cross_host_transfers", "jax_enable_preemption_service"),
    *("jax_enable_recoverability", "jax_share_binary_between_hosts"),
    "jax_share_binary_between_hosts_timeout_ms",
    # What daxy does not use: exports, sparse and ragged arrays, Pallas, eigenvalues.
    *("jax2tf_associative_scan_reductions", "jax2tf_default_native_serialization"),
    *("jax_serialization_version", "jax_export_calling_convention_version"),
    *("jax_export_ignore_forward_compatibility", "jax_bcoo_cusparse_lowering"),
    *("jax_ragged_dot_use_gpu_pallas_triton_lowering", "jax_use_magma", "jax_mosaic_allow_hlo"),
    *("jax_ragged_dot_use_ragged_dot_instruction", "jax_use_emit_pipeline_primitive"),
    *("jax_pallas_enable_debug_checks", "jax_pallas_poison_buffers", "jax_pallas_use_mosaic_gpu"),
    # Sets the three guards of each direction, which are pinned.
    "jax_transfer_guard",
}


def learned(seeds: tuple[int, ...] = (0, 1), checkpoint: Checkpoint | None = None) -> list[bytes]:
    """Return the bits of a training from its first draw, and of what its networks answer."""
    fitting = training(seeds, epochs=1, dropout=0.2, checkpoint=checkpoint)
    state, position = fitting.fit(Listener())
    answers = fitting.replicas.decode(state.best, fitting.validation.rows)
    return [*bits(state), repr([[r.loss for r in own] for own in position.history]).encode()] + [
        own.tobytes() for own in answers
    ]


@cache
def usual() -> list[bytes]:
    return learned()


def test_every_setting_of_this_jax_is_pinned_or_recorded_or_harmless() -> None:
    if jax.__version__.startswith("0.10."):
        assert {*jax.config.values} <= {*PINNED, *RECORDED, *HARMLESS}
    assert not HARMLESS & {*PINNED, *RECORDED}


@pytest.mark.parametrize(("name", "value"), CHANGES)
def test_a_setting_changes_no_bit(name: str, value: Any) -> None:
    before = usual()
    with setting(name, value):
        assert learned() == before


def test_a_mesh_of_the_caller_changes_no_bit() -> None:
    before, mesh = usual(), jax.make_mesh((2,), ("x",))
    with jax.set_mesh(mesh):
        assert learned() == before
        assert jax.sharding.get_abstract_mesh() == mesh.abstract_mesh


def test_a_setting_changes_no_bit_of_replicas_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "max_vmapped", lambda *_: 1)
    seeds = (3, 4, 5)
    without = learned(seeds)
    with setting("jax_enable_x64", True), setting("jax_default_matmul_precision", "bfloat16"):
        assert learned(seeds) == without


def test_training_that_stops_under_a_setting_goes_on_to_the_same_bits_without_it(
    tmp_path: Path,
) -> None:
    checkpoint = Checkpoint(tmp_path / "state.safetensors")
    fitting = training((0, 1), epochs=1, dropout=0.2, checkpoint=checkpoint)
    x64, rbg = setting("jax_enable_x64", True), setting("jax_default_prng_impl", "rbg")
    with x64, rbg, pytest.raises(Interrupted):
        fitting.fit(Listener(stop_at=2))
    assert learned(checkpoint=checkpoint) == usual()


def test_the_callers_settings_are_as_before_afterwards() -> None:
    with setting("jax_enable_x64", True), jax.default_matmul_precision("highest"):
        with backend(), pinned():
            assert jnp.ones(()).dtype == jnp.float32
        with pytest.raises(ZeroDivisionError), backend():
            raise ZeroDivisionError
        assert jnp.ones(()).dtype == jnp.float64
        assert jax.config.jax_default_matmul_precision == "highest"
    assert jnp.ones(()).dtype == jnp.float32


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("jax_enable_x64", True),
        ("jax_threefry_partitionable", False),
        ("jax_numpy_dtype_promotion", "standard"),
    ],
)
def test_dropout_drops_as_often_as_it_says(name: str, value: Any) -> None:
    with setting(name, value):
        noise = Dropout(key=jax.random.key(0), rate=jnp.float32(0.2))
        dropped = noise("place", jnp.ones((1000, 64), jnp.float32))
        assert dropped.dtype == jnp.float32
        # Six standard deviations of 64,000 draws.
        assert abs(float((dropped == 0).mean()) - 0.2) < 6 * (0.2 * 0.8 / 64_000) ** 0.5


def test_flags_of_xla_are_recorded_but_for_those_without_influence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    assert recorded() == {}
    devices, fast = "--xla_force_host_platform_device_count=2", "--xla_cpu_enable_fast_math=true"
    monkeypatch.setenv("XLA_FLAGS", devices)
    assert recorded() == {}
    monkeypatch.setenv("XLA_FLAGS", f"{fast} {devices} --xla_a=1")
    assert recorded() == {"XLA_FLAGS": f"--xla_a=1 {fast}"}
    file = tmp_path / "flags"
    file.write_text(f"{devices}\n{fast}\n", "ascii")
    monkeypatch.setenv("XLA_FLAGS", str(file))
    assert recorded() == {"XLA_FLAGS": fast}
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "0")
    assert recorded()["NVIDIA_TF32_OVERRIDE"] == "0"
    with setting("jax_disable_most_optimizations", True):
        assert recorded()["jax_disable_most_optimizations"] == "True"


@pytest.mark.parametrize(
    ("platform", "error", "message"),
    [
        ("cuda", AssertionError(), "'cuda', which JAX_PLATFORMS asks for: .*'.\\[gpu\\]'.*unset"),
        ("tpu", RuntimeError("Unable to\ninitialize"), "'tpu', .*: Unable to initialize; .*unset"),
        ("cuda,cpu", jax.errors.JaxRuntimeError("INTERNAL: driver too old"), "driver too old"),
    ],
)
def test_a_device_that_cannot_be_had_is_a_wrong_request(
    platform: str, error: Exception, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jax, "devices", raising(error))
    with setting("jax_platforms", platform), pytest.raises(WrongRequest, match=message), backend():
        pytest.fail("computed without a device")


def test_a_machine_without_any_device_that_starts_is_no_defect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jax, "devices", raising(RuntimeError("no driver (set X)")))
    with setting("jax_platforms", None), pytest.raises(RunFailed, match="no driver; .*=cpu"):
        training((0,)).fit(Listener())


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory"), "out of memory"),
        (MemoryError(), "out of memory"),
        (jax.errors.JaxRuntimeError("INTERNAL: CUDA_ERROR_ILLEGAL_ADDRESS"), "ILLEGAL_ADDRESS"),
    ],
)
def test_a_device_that_fails_is_no_defect(error: Exception, message: str) -> None:
    with pytest.raises(RunFailed, match=message), backend(), backend():
        raise error


def raising(error: Exception) -> Any:
    def fail(*_: object) -> NoReturn:
        raise error

    return fail


def test_a_value_that_jax_refuses_when_it_is_imported_is_no_defect() -> None:
    code = """
import daxy
try:
    daxy.train
except daxy.core.errors.DaxyError as error:
    print(error)
"""
    words, there = [sys.executable, "-c", code], {**os.environ, "JAX_ENABLE_X64": "maybe"}
    answer = subprocess.run(words, check=True, env=there, capture_output=True, text=True)
    assert answer.stdout.startswith("JAX cannot be imported: "), answer.stderr
    assert "'maybe'" in answer.stdout
    assert "'JAX_ENABLE_X64'" in answer.stdout


def test_an_error_of_something_else_is_not_the_import_of_jax() -> None:
    try:
        jnp.ones(-1)
    except Exception as error:
        assert import_failure(error) is None
