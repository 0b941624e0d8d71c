"""A task of files only: its files are checked to the byte, and nothing is generated."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from daxy import tasks
from daxy.core.errors import WrongFile, WrongRequest
from daxy.core.split import Sizes
from daxy.tasks import FilesTask, OfficialFiles
from daxy.tasks._files_task import FilesOptions, FilesValidationOptions

FILES = {
    "data/train.tsv": "a b\tx y\na c\tx z\nb c\ty z\nc b\tz y\n",
    "data/dev.tsv": "c a\tz x\n",
    "data/short.tsv": "c\tz\n",
    "data/long.tsv": "a b c\tx y z\nc b a\tz y x\n",
}


def task_of(files: Mapping[str, str], **parts: str) -> FilesTask:
    return FilesTask(
        name="letters/files",
        family="letters/files",
        summary="letters as later letters",
        paper="nobody",
        rule="as the files have it",
        sizes=Sizes(train=4, test=3),
        metrics=("exact",),
        release=OfficialFiles(
            home="github.com/nobody/letters",
            sha256={
                name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()
            },
            licence="MIT",
        ),
        form="tsv",
        parts=parts,
    )


WHOLE = task_of(
    FILES,
    train="data/train.tsv",
    validation="data/dev.tsv",
    short="data/short.tsv",
    long="data/long.tsv",
)
BARE = task_of(FILES, train="data/train.tsv", test="data/long.tsv")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_bytes(text.encode())
    return tmp_path


def test_its_parts_are_those_of_the_files(clone: Path) -> None:
    split = WHOLE.split(FilesOptions(official=clone))
    assert {name: len(part) for name, part in split.named.items()} == {
        "train": 4,
        "validation": 1,
        "short": 1,
        "long": 2,
    }
    assert split.test[1].target == ("x", "y", "z")
    assert split.provenance.source == f"official files in {clone}"
    inside = WHOLE.split(FilesOptions(official=clone / "data"))
    assert inside.provenance.checksum == split.provenance.checksum
    with pytest.raises(WrongRequest, match="letters/files draws nothing; leave out --split-seed"):
        WHOLE.split(FilesOptions(official=clone, seed=1))


def test_a_validation_set_is_carved_where_none_is_released(clone: Path) -> None:
    assert BARE.options is FilesValidationOptions
    plain = FilesValidationOptions(official=clone)
    assert len(BARE.split(plain).validation) == 0
    drawn = FilesValidationOptions(
        official=clone, validation="draw", validation_fraction=0.5, seed=1
    )
    split = BARE.split(drawn)
    assert 0 < len(split.validation) < 4
    assert {*split.train.keys, *split.validation.keys} == {*BARE.split(plain).train.keys}
    assert plain.for_training() == replace(plain, validation="draw")


def test_without_files_one_line_says_where_they_are() -> None:
    message = (
        "letters/files does not come with daxy; expected --official DIR, a clone of"
        r" github.com/nobody/letters \(licence MIT\)"
    )
    for asked in (WHOLE.split, lambda: WHOLE.on(None)):
        with pytest.raises(WrongRequest, match=message):
            asked()


def test_another_file_than_was_released_is_refused(clone: Path) -> None:
    (clone / "data/dev.tsv").write_bytes(b"c a\tz z\n")
    with pytest.raises(WrongFile, match=r"dev\.tsv: is not the file that was released: its SHA"):
        WHOLE.split(FilesOptions(official=clone))
    (clone / "data/dev.tsv").unlink()
    with pytest.raises(WrongFile, match=r"holds no data/dev\.tsv; expected a clone of github"):
        WHOLE.split(FilesOptions(official=clone))


def test_a_pair_is_right_if_the_files_have_it(clone: Path) -> None:
    with pytest.raises(WrongRequest, match="no rules say which pairs of letters/files are right"):
        WHOLE.disagreement(("c",), ("z",))
    known = WHOLE.on(clone)
    assert known.disagreement(("c",), ("z",)) is None
    assert known.disagreement(("c",), ("x",)) == "'c' has another target in the files of " + (
        "letters/files"
    )
    assert known.disagreement(("d",), ("x",)) == "'d' is no source in the files of letters/files"
    with pytest.raises(WrongRequest, match="scan/simple is checked by its rules; leave out --offi"):
        tasks.get("scan/simple").on(clone)


def test_the_card_names_the_files_their_checksums_and_their_licence() -> None:
    assert "- Files: github.com/nobody/letters, licence MIT\n" in WHOLE.card
    digest = hashlib.sha256(FILES["data/dev.tsv"].encode()).hexdigest()
    assert f"  - `data/dev.tsv`: SHA-256 `{digest}`\n" in WHOLE.card
    assert tasks.get("scan/simple").files() is None


def test_verify_takes_the_files(
    clone: Path, daxy: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "get", {WHOLE.name: WHOLE}.__getitem__)
    asked = "verify", str(clone / "data" / "long.tsv"), "--task", WHOLE.name
    assert "letters/files does not come with daxy" in daxy(*asked).err
    answer = daxy(*asked, "--official", str(clone))
    assert answer.code == 0
    assert "2 examples, 0 disagreements" in answer.out
    other = clone / "other.tsv"
    other.write_text("a b c\tx y z\na b\tx x\n")
    answer = daxy("verify", str(other), "--task", WHOLE.name, "--official", str(clone))
    assert answer.code == 1
    assert f"{other}:2: 'a b' has another target in the files of letters/files" in answer.out
