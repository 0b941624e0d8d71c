"""Agreement with the official files, which lie beside the project and are not part of it."""

import tarfile
from collections import Counter
from pathlib import Path

import pytest

import daxy
from daxy import tasks
from daxy.core.errors import WrongFile
from daxy.formats import scan_text
from daxy.languages import scan
from daxy.tasks import ScanOptions

pytestmark = pytest.mark.official

FILES = {
    "length": "length_split/tasks_{part}_length.txt",
    "addprim_jump": "add_prim_split/tasks_{part}_addprim_jump.txt",
    "addprim_turn_left": "add_prim_split/tasks_{part}_addprim_turn_left.txt",
}

COUNTS = [1, 2, 4, 8, 16, 32]
COMPLEX = [f"addprim_complex_jump_num{n}_rep{r}" for n in COUNTS for r in range(1, 6)]
DRAWS = ["simple", *(f"simple_p{percent}" for percent in (1, 2, 4, 8, 16, 32, 64)), *COMPLEX]


def test_all_20910_pairs_are_the_official_ones(scan_folder: Path) -> None:
    official = scan_text.read(scan_folder / "tasks.txt")
    assert len(official) == 20_910
    assert dict(zip(official.source, official.target, strict=True)) == scan.meanings()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("part", ["train", "test"])
def test_a_rule_gives_the_official_lines_with_their_repeats(
    name: str, part: str, scan_folder: Path
) -> None:
    official = scan_text.read(scan_folder / FILES[name].format(part=part))
    ours = daxy.load(f"scan/{name}", validation="none").parts[part]
    assert Counter(ours.keys) == Counter(official.keys)


@pytest.mark.parametrize("name", [*FILES, *DRAWS])
def test_official_files_have_the_sizes_of_the_task_and_load_in_its_place(
    name: str, scan_folder: Path
) -> None:
    ours = daxy.load(f"scan/{name}", validation="none").provenance.sizes
    official = daxy.load(f"scan/{name}", validation="none", official=scan_folder).provenance
    assert official.sizes == ours
    assert official.source == f"official files in {scan_folder}"
    assert (official.rule == tasks.get(f"scan/{name}").rule) == (name in FILES)


@pytest.mark.parametrize("name", COMPLEX)
def test_official_additions_are_repeated_as_ours(name: str, scan_folder: Path) -> None:
    official = daxy.load(f"scan/{name}", validation="none", official=scan_folder).train
    ours = daxy.load(f"scan/{name}", validation="none").train
    repeats = (sorted(Counter(rows.keys).values()) for rows in (ours, official))
    assert next(repeats) == next(repeats)


def test_the_archive_loads_as_the_folder_does(scan_archive: Path, scan_folder: Path) -> None:
    for name in ("nacs/addprim_jump", "scan/simple_p1"):
        archived = daxy.load(name, official=scan_archive)
        unpacked = daxy.load(name, official=scan_folder)
        assert archived.provenance.checksum == unpacked.provenance.checksum
        assert archived.provenance.source == f"official files in {scan_archive}"


def test_official_lines_keep_their_order_and_lose_repeats_on_request(scan_folder: Path) -> None:
    every = scan_text.read(scan_folder / FILES["addprim_jump"].format(part="train"))
    whole = daxy.load("scan/addprim_jump", validation="none", official=scan_folder)
    once = daxy.load("scan/addprim_jump", validation="none", official=scan_folder, oversample=False)
    assert whole.train.keys == every.keys
    assert once.train.keys == tuple(dict.fromkeys(every.keys))
    assert len(once.train) == 13_204


@pytest.mark.parametrize(
    ("name", "share"),
    [("simple", 0.853), ("addprim_turn_left", 0.410), ("length", 0.0), ("addprim_jump", 0.0)],
)
def test_the_share_of_known_nacs_inputs_is_as_measured(
    name: str, share: float, scan_folder: Path
) -> None:
    task = daxy.tasks.get(f"nacs/{name}")
    statistics = task.statistics(task.split(ScanOptions(official=scan_folder)))
    assert list(statistics.values()) == pytest.approx([share], abs=0.0005)


def test_a_file_that_the_archive_lacks_is_named(scan_archive: Path) -> None:
    with pytest.raises(WrongFile, match="holds no filler_split/tasks_train_filler_num0.txt"):
        daxy.load("scan/filler_num0", official=scan_archive)


def test_every_official_file_is_written_as_it_was_read(scan_folder: Path) -> None:
    for path in [scan_folder / "tasks.txt", *scan_folder.glob("length_split/*.txt")]:
        assert scan_text.write(scan_text.read(path)) == path.read_text()


@pytest.mark.parametrize("number", [1, 2, 3])
def test_mcd_files_are_read_though_their_last_line_has_no_end(
    number: int, mcd_archive: Path
) -> None:
    sizes = {}
    with tarfile.open(mcd_archive) as members:
        for part in ("train", "test"):
            name = f"mcd/tasks_{part}_mcd{number}.txt"
            content = members.extractfile(name)
            assert content is not None
            pairs = scan_text.parse(content.read(), name)
            assert all(scan.disagreement(*pair) is None for pair in pairs)
            sizes[part] = len(pairs)
    assert sizes == {"train": 8_365, "test": 1_045}
