"""Loading files laid out as the official ones are; here they hold our own splits."""

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

import daxy
from daxy.core.errors import WrongFile
from daxy.formats import scan_text

TASK = "scan/addprim_turn_left"
FILES = "add_prim_split/tasks_{part}_addprim_turn_left.txt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    (folder / "add_prim_split").mkdir()
    split = daxy.load(TASK, validation="none")
    for part in ("train", "test"):
        path = folder / FILES.format(part=part)
        path.write_text(scan_text.write(split.parts[part]))
    return folder


def packed(folder: Path, archive: Path, root: str) -> Path:
    with tarfile.open(archive, "w:xz") as members:
        members.add(folder, root)
    return archive


def test_the_folder_loads_line_by_line(folder: Path) -> None:
    loaded = daxy.load(TASK, validation="none", official=folder)
    assert loaded.provenance.checksum == daxy.load(TASK, validation="none").provenance.checksum
    assert loaded.provenance.source == f"official files in {folder}"


@pytest.mark.parametrize("root", [".", "SCAN-master"])
def test_an_archive_may_keep_its_files_below_one_more_folder(
    root: str, folder: Path, tmp_path: Path
) -> None:
    archive = packed(folder, tmp_path / "scan.tar.xz", root)
    loaded = daxy.load(TASK, official=archive)
    assert loaded.provenance.checksum == daxy.load(TASK).provenance.checksum


@pytest.mark.parametrize("validation", ["draw", "dab", "none"])
def test_the_options_act_on_official_lines_too(validation: str, folder: Path) -> None:
    options = {"validation": validation, "seed": 2, "oversample": True}
    ours, official = (daxy.load(TASK, **options, official=place) for place in (None, folder))
    assert ours.provenance.checksum == official.provenance.checksum


def rewritten(folder: Path, target: Path, change: Callable[[str, str], str]) -> Path:
    """Return a copy of the folder; `change` is given each part's name and text."""
    for part in ("train", "test"):
        path = target / FILES.format(part=part)
        path.parent.mkdir(exist_ok=True)
        path.write_text(change(part, (folder / FILES.format(part=part)).read_text()))
    return target


def test_the_papers_spelling_is_read_and_the_official_one_given(
    folder: Path, tmp_path: Path
) -> None:
    papers = rewritten(
        folder,
        tmp_path,
        lambda _, text: text.replace("I_TURN_LEFT", "LTURN").replace("I_TURN_RIGHT", "RTURN"),
    )
    assert "LTURN" in (papers / FILES.format(part="test")).read_text()
    loaded = daxy.load(TASK, validation="none", official=papers)
    assert loaded.provenance.checksum == daxy.load(TASK, validation="none").provenance.checksum


def head(text: str, count: int) -> str:
    return "".join(text.splitlines(keepends=True)[:count])


NOT_THE_SPLIT = {
    "test lines are missing": (
        lambda part, text: head(text, 10) if part == "test" else text,
        r"test_addprim_turn_left\.txt: 1,198 commands of this part are missing, such as 'turn left",
    ),
    "train lines are missing": (
        lambda part, text: head(text, 100) if part == "train" else text,
        r"train_addprim_turn_left\.txt: [\d,]+ commands of this part are missing, such as '",
    ),
    "the primitive stands too few times": (
        lambda part, text: text + head(text, 5) if part == "train" else text,
        r"train_addprim_turn_left\.txt: 21,895 lines; expected 21,890",
    ),
    "a test line stands twice": (
        lambda part, text: text + head(text, 1) if part == "test" else text,
        r"test_addprim_turn_left\.txt: a command stands twice in this test file",
    ),
    "test has a line of train": (
        lambda part, text: text + "IN: jump OUT: I_JUMP\n" if part == "test" else text,
        r"test_addprim_turn_left\.txt: 1 of the commands are also in the train file",
    ),
}


@pytest.mark.parametrize(("change", "message"), NOT_THE_SPLIT.values(), ids=NOT_THE_SPLIT)
def test_files_that_are_not_the_split_are_refused(
    change: Callable[[str, str], str], message: str, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(WrongFile, match=message):
        daxy.load(TASK, official=rewritten(folder, tmp_path, change))


def test_more_commands_than_were_to_be_added_are_refused(tmp_path: Path) -> None:
    stem = "add_prim_split/with_additional_examples/tasks_{part}_addprim_complex_jump"
    (tmp_path / stem).parent.mkdir(parents=True)
    split = daxy.load("scan/addprim_complex_jump_num32_rep1", validation="none")
    for part in ("train", "test"):
        named = f"{stem.format(part=part)}_num1_rep1.txt"
        (tmp_path / named).write_text(scan_text.write(split.parts[part]))
    with pytest.raises(WrongFile, match="num1_rep1.txt: 32 commands were added; expected 1"):
        daxy.load("scan/addprim_complex_jump_num1_rep1", official=tmp_path)


def with_shots(folder: Path, name: str, count: int) -> Path:
    """Lay out a few-shot split whose train file adds the first so many of our own shots."""
    split = daxy.load(f"scan/{name}", validation="none")
    base = {*daxy.load("scan/filler_num0", validation="none").train.source}
    text = scan_text.write(split.train).splitlines(keepends=True)
    shots = [
        line for line, source in zip(text, split.train.source, strict=True) if source not in base
    ]
    left_out = set(shots[count:])
    place = folder / "few_shot_split"
    place.mkdir()
    train = "".join(line for line in text if line not in left_out)
    (place / f"tasks_train_{name}.txt").write_text(train)
    (place / f"tasks_test_{name}.txt").write_text(scan_text.write(split.test))
    return folder


@pytest.mark.parametrize(
    ("name", "shots"),
    [("fewshot_num32_rep3", 31), ("fewshot_num32_rep3", 32), ("fewshot_num64_rep1", 60)],
)
def test_official_draws_that_fell_short_are_read(name: str, shots: int, tmp_path: Path) -> None:
    loaded = daxy.load(
        f"scan/{name}", validation="none", official=with_shots(tmp_path, name, shots)
    )
    assert len(loaded.train) == 15_225 + shots


@pytest.mark.parametrize(
    ("name", "shots", "expected"),
    [
        ("fewshot_num32_rep3", 30, "31 to 32"),
        ("fewshot_num32_rep4", 31, "32"),
        ("fewshot_num64_rep5", 59, "60 to 64"),
    ],
)
def test_other_numbers_of_shots_are_refused(
    name: str, shots: int, expected: str, tmp_path: Path
) -> None:
    with pytest.raises(WrongFile, match=f"{shots} commands were added; expected {expected}$"):
        daxy.load(f"scan/{name}", official=with_shots(tmp_path, name, shots))


def test_files_in_each_others_place_are_refused(folder: Path, tmp_path: Path) -> None:
    other = {"train": "test", "test": "train"}
    swapped = rewritten(
        folder, tmp_path, lambda part, _: (folder / FILES.format(part=other[part])).read_text()
    )
    with pytest.raises(WrongFile):
        daxy.load(TASK, official=swapped)


def test_a_truncated_archive_is_refused_in_one_line(folder: Path, tmp_path: Path) -> None:
    whole = packed(folder, tmp_path / "whole.tar.xz", ".").read_bytes()
    archive = tmp_path / "scan.tar.xz"
    for length in (10, len(whole) // 2):
        archive.write_bytes(whole[:length])
        problem = r"scan\.tar\.xz: cannot be read as an archive \(compressed by xz\): "
        with pytest.raises(WrongFile, match=problem) as e:
            daxy.load(TASK, official=archive)
        assert len(str(e.value).splitlines()) == 1
