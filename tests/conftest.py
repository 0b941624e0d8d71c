"""What several rooms' tests need: the official files, and the command line as a function."""

from __future__ import annotations

import atexit
import gc
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from tests.archives import unpacked

from daxy.cli.main import main
from daxy.papers import TableCell
from daxy.reproduction.entry import Entry

settings.register_profile("daxy", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("daxy")

ROOT = Path(__file__).parent.parent

# A shell starts what is in the background with Ctrl-C ignored, and tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Networks here are tiny: compiling them costs more than running them. JAX reads these when it is
# imported, here and in the processes that tests start.
CACHE = tempfile.TemporaryDirectory(prefix="daxy-tests-")
atexit.register(CACHE.cleanup)
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", CACHE.name)
# Tests generate their data, but those of the cache.
os.environ["DAXY_CACHE"] = ""
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
# Four devices are simulated, however many cores there are, for what spreads over them.
FLAGS = [
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_force_host_platform_device_count=4",
]
if version("jaxlib").startswith("0.10."):
    # This halves the time to compile. A version that does not know a flag ends the process.
    FLAGS.append("--xla_cpu_use_fusion_emitters=false")
os.environ.setdefault("XLA_FLAGS", " ".join(FLAGS))


@pytest.fixture(scope="module", autouse=True)
def forget_programs() -> Iterator[None]:
    """Let each module's compiled programs go: a thousand of them use up a process's mappings."""
    yield
    if jax := sys.modules.get("jax"):
        jax.clear_caches()


@pytest.fixture(scope="module")
def one_shape() -> Iterator[None]:
    """Pad all batches alike: one program to compile instead of several."""
    from tests.runs.small_runs import shapes

    with shapes(1):
        yield


SLOW = (
    *("cli/test_train.py", "cli/test_reproduce.py", "cli/test_sweep.py", "cli/test_translation.py"),
    *("docs/test_documents.py", "docs/test_tutorial.py", "docs/test_examples.py"),
    "docs/test_slurm.py",
    *("runs/test_memory_runs.py", "runs/test_streamed_runs.py"),
    *("runs/test_augmented_runs.py", "runs/test_grounded_runs.py"),
    *("runs/test_runs.py", "runs/test_finishing.py", "reproduction/test_sweep.py"),
    *("reproduction/test_learning_rates.py", "runs/test_cluster.py"),
    *("tasks/test_gscan.py", "tasks/test_gscan_official.py", "kernels/test_recurrences.py"),
    "cli/test_augment.py",
    *("tasks/test_release.py", "tasks/test_released_validation.py"),
    *("training/test_devices.py", "training/test_backend.py", "training/test_interrupt.py"),
    *("report/test_analyses.py", "report/test_grounded_analyses.py", "fuzz/test_readers.py"),
)
"""Files whose tests are marked `slow`: whole trainings, kills, documents run in subprocesses."""
LONGEST = ("docs/test_notebooks.py", "docs/test_tutorial.py", "laws/test_models.py")
"""Files that would keep one process busy when the others have ended, were they not first."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let fuzzers run at depth: `pytest -m fuzz --fuzz-inputs 100000`."""
    told = "inputs of each reader's fuzzer (default: 100)"
    parser.addoption("--fuzz-inputs", type=int, default=100, metavar="N", help=told)


@pytest.fixture
def fuzz_inputs(request: pytest.FixtureRequest) -> int:
    """How many inputs each reader gets."""
    return request.config.getoption("--fuzz-inputs")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest and the slow files; mark slow tests and those of official files.

    Other files follow by their number of tests. So `-m slow` and `-m official` are all of them.
    """
    counts = Counter(item.path for item in items)
    ranks = {path: _rank(str(path)) for path in counts}
    items.sort(key=lambda item: (ranks[item.path], -counts[item.path]))
    for item in items:
        if str(item.path).endswith(SLOW):
            item.add_marker("slow")
        if {"scan_archive", "mcd_archive", "gscan_archive", "translation_archive"} & set(
            getattr(item, "fixturenames", ())
        ):
            item.add_marker("official")


def _rank(path: str) -> int:
    return 0 if path.endswith(LONGEST) else 1 if path.endswith(SLOW) else 2


def pytest_collection_finish() -> None:
    """Leave what was collected out of garbage collection, a tenth of the time otherwise."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def official(name: str) -> Path:
    """Return an official archive beside the project; skip the test, or fail it, where absent."""
    shared = Path(os.environ.get("DAXY_SHARED_DATA", ROOT.parent / "shared" / "data"))
    archive = shared / name
    if not archive.is_file():
        if os.environ.get("DAXY_REQUIRE_OFFICIAL") == "1":
            pytest.fail(f"official files are required and {archive} is absent")
        pytest.skip(f"no official files at {archive}; DAXY_SHARED_DATA names their folder")
    return archive


@pytest.fixture(scope="session")
def scan_archive() -> Path:
    """The official SCAN files as an archive."""
    return official("scan.tar.xz")


@pytest.fixture(scope="session")
def mcd_archive() -> Path:
    """The official files of the maximum compound divergence splits (Keysers et al. 2020)."""
    return official("scan-mcd.tar.xz")


@pytest.fixture(scope="session")
def gscan_archive() -> Path:
    """Files of the authors' gSCAN generator (Ruis et al. 2020)."""
    return official("gscan.tar.xz")


@pytest.fixture(scope="session")
def translation_archive() -> Path:
    """The English-French selection of Lake & Baroni and Bastings et al."""
    return official("mt-en-fr.tar.xz")


@pytest.fixture(scope="session")
def gscan_folder(gscan_archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of the authors' gSCAN generator as a folder."""
    return unpacked(gscan_archive, tmp_path_factory.mktemp("official")) / "gscan"


@pytest.fixture(scope="session")
def scan_folder(scan_archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The official SCAN files as a folder, as published."""
    return unpacked(scan_archive, tmp_path_factory.mktemp("official"))


USERS = """
import contextlib, json, sys, traceback

for line in sys.stdin:
    said = ""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            exec(json.loads(line), {"__name__": "__main__"})
    except BaseException:
        said = traceback.format_exc()
    print(json.dumps(said), flush=True)
"""
"""A process that runs what it is told, and answers with the errors."""


@pytest.fixture(scope="session")
def refusal() -> Iterator[Callable[[str], str]]:
    """Run code where annotations are not checked, as users do; return what its error says."""
    words = [sys.executable, "-c", USERS]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as there:
        assert there.stdin is not None
        assert there.stdout is not None
        asked, answers = there.stdin, there.stdout

        def run(code: str) -> str:
            print(json.dumps(code), file=asked, flush=True)
            said = json.loads(answers.readline())
            assert said, code
            return said.splitlines()[-1].partition(": ")[2]

        yield run


@dataclass(frozen=True)
class Answer:
    """What the command line said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def daxy(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Ask the command line, in this process."""

    def ask(*arguments: str) -> Answer:
        capsys.readouterr()
        code = main(arguments)
        out, err = capsys.readouterr()
        return Answer(code, out, err)

    return ask


@pytest.fixture
def entry_for() -> Callable[..., Entry]:
    """Make up a run of a published cell, as the ledger holds it."""

    def make(
        cell: TableCell, score: float, seed: int = 0, settings: str = "s", **other: Any
    ) -> Entry:
        assert cell.recipe is not None
        run = f"{cell.recipe.identity} {settings} {seed}"
        digest = hashlib.blake2b(run.encode(), digest_size=6).hexdigest()
        facts: dict[str, Any] = {
            "row": cell.row,
            "column": cell.column,
            "seed": seed,
            "recipe": cell.recipe,
            "score": score,
            "test": {cell.recipe.metric: score},
            "test_examples": 7706,
            "statistics": {},
            "validation": 1.0,
            "best_epoch": 7,
            "epochs": 7,
            "steps": 3000,
            "run": f"run.seed{seed}.{digest}",
            "digest": digest,
            "settings_digest": settings,
            "daxy": "0.1.0",
            "jax": "0.7.0",
            "device": "cpu",
            "cores": 2,
            "date": "2026-01-01T00:00:00+00:00",
            "group": (f"run.seed{seed}.{digest}",),
        }
        return Entry(**(facts | other))

    return make
