"""The released English-French selection, and what the papers count in it."""

import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.archives import unpacked

from daxy import tasks
from daxy.core.errors import WrongFile
from daxy.core.split import Split
from daxy.formats import tsv

TASK = "translation/daxy"
FILES = ("train.tsv", "train_wo_valid.tsv", "valid.tsv", "test.tsv")


def split(official: Path, name: str = TASK, **choices: Any) -> Split:
    return tasks.get(name).split(tasks.data(name, official=official, **choices))


@pytest.fixture(scope="module")
def folder(translation_archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(translation_archive, tmp_path_factory.mktemp("official")) / "mt-en-fr"


def test_a_folder_and_the_archive_are_the_same(folder: Path, translation_archive: Path) -> None:
    one, other = split(folder).provenance, split(translation_archive).provenance
    assert one.checksum == other.checksum
    assert (one.sizes.train, one.sizes.validation, one.sizes.test) == (9_912, 1_087, 1_199)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("train_daxy_wo_valid.tsv", "train"),
        ("valid_daxy.tsv", "validation"),
        ("test_daxy.tsv", "new_word"),
        ("test_tired.tsv", "control"),
    ],
)
def test_each_part_is_the_released_file(name: str, part: str, folder: Path) -> None:
    found = split(folder).named[part]
    assert sorted(found.keys) == sorted(tsv.read(folder / name).keys)


def test_without_the_word_or_a_validation_set_it_is_the_other_files(folder: Path) -> None:
    plain = split(folder, repetitions=0)
    assert plain.train.keys == tsv.read(folder / "train_wo_valid.tsv").keys
    assert plain.validation.keys == tsv.read(folder / "valid.tsv").keys
    whole = split(folder, validation="none")
    assert sorted(whole.train.keys) == sorted(tsv.read(folder / "train_daxy.tsv").keys)
    assert tsv.read(folder / "test.tsv").keys[8:] == whole.named["sentences"].keys


def test_a_construction_has_22_pairs_with_the_test_counted_too(folder: Path) -> None:
    """Lake & Baroni: "22 distinct predicates on average"; of train alone there are fewer."""
    whole = split(folder, validation="none", repetitions=0)
    count = tasks.get(TASK).facts
    parts = [
        count(part)["pairs a construction"] for part in (whole.train, whole.named["sentences"])
    ]
    assert [8 * part for part in parts] == [147, 31]
    assert round(sum(parts)) == 22


def test_counts_of_train_are_the_papers(folder: Path) -> None:
    made = split(folder, validation="none", repetitions=0)
    facts = tasks.get(TASK).facts(made.train)
    assert facts["sentences with tired"] == 80
    assert facts["of its eight constructions"] == 1
    # What counts as a predicate the paper does not say. Here it is one word.
    lines = set((folder / "train.tsv").read_text().splitlines())
    framed = re.compile(r"(you are|he is|i am|you are not|he is not|i am not|[a-z]+ [a-z]+ very)"
                        r" (?!not |very )([a-z]+) \.\t.*")  # fmt: skip
    asked = ("you are", "he is", "i am not", "you are not", "he is not", "i am very",
             "you are very", "he is very")  # fmt: skip
    found = [match for match in map(framed.fullmatch, lines) if match and match[1] in asked]
    assert facts["pairs a construction"] == len(found) / 8
    assert facts["predicates a construction"] == len({match.group(1, 2) for match in found}) / 8
    back = split(folder, "translation/daxy_fr_en", validation="none", repetitions=0)
    assert tasks.get(back.provenance.task).facts(back.train) == facts


def test_an_eighth_of_the_released_test_is_in_train_in_french(folder: Path) -> None:
    """By both draws, the authors hold out English sentences alone."""
    made = split(folder)
    learned = [*made.train.target, *made.validation.target]
    tested = made.named["sentences"]
    assert not set(tested.source) & {*made.train.source, *made.validation.source}
    share = len(set(learned) & set(tested.target)) / len(set(tested.target))
    assert share == pytest.approx(1 / 8, abs=0.02)


def test_a_file_in_tatoebas_form_gives_the_same_sentences(folder: Path, tmp_path: Path) -> None:
    """Only what is asked of `tired` is left out: its answers are among the released sentences."""
    lines = (folder / "train.tsv").read_text().splitlines()
    path = tmp_path / "fra.txt"
    path.write_text("".join(f"{line.upper()}\tCC-BY\r\n" for line in lines))
    made = tasks.get(TASK).split(tasks.data(TASK, pairs=path, repetitions=0))
    answers = {" ".join(target) for target in made.named["control"].target}
    kept = [line for line in lines if line.split("\t")[1] not in answers]
    found = [f"{' '.join(source)}\t{' '.join(target)}"
             for part in (made.train, made.validation, made.named["sentences"])
             for source, target in zip(part.source, part.target, strict=True)]  # fmt: skip
    assert sorted(found) == sorted(kept)
    assert len(kept) > 9_900


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_the_released_one_is_refused(
    name: str, folder: Path, tmp_path: Path
) -> None:
    for each in FILES:
        (tmp_path / each).write_bytes((folder / each).read_bytes())
    path = tmp_path / name
    whole = path.read_bytes()
    path.write_bytes(whole + b"i am .\tje suis .\n")
    with pytest.raises(WrongFile, match=rf"{name}: is not the released file to the letter"):
        split(tmp_path)
    path.write_bytes(whole.replace(b"\t", b" ", 1))
    with pytest.raises(WrongFile, match=rf"{name}:1: no tab in"):
        split(tmp_path)
    lines = whole.splitlines(keepends=True)
    lines[len(lines) // 2] = b"he is odd .\til est etrange .\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(WrongFile, match=rf"{name}: is not the released file to the letter"):
        split(tmp_path)
    path.unlink()
    with pytest.raises(WrongFile, match="holds no .*[.]src and .*[.]trg"):
        split(tmp_path)


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.tar.xz"
    with tarfile.open(path, "w:xz") as archive:
        archive.add(__file__, "test.py")
    with pytest.raises(WrongFile, match="holds no train.src and train.trg"):
        split(path)
