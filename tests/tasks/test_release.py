"""Official files from a clone, a folder in it, or an archive, on any platform."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import daxy
from daxy.core.errors import WrongFile
from daxy.formats import scan_text
from daxy.tasks import _release

TASK = "scan/addprim_turn_left"
FOLDER = "add_prim_split"


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    split = daxy.load(TASK, validation="none")
    return {part: scan_text.write(split.parts[part]) for part in ("train", "test")}


def laid_out(root: Path, texts: dict[str, str], end: str = "\n") -> Path:
    """Write the two files where SCAN's repository has them."""
    (root / FOLDER).mkdir(parents=True)
    for part, text in texts.items():
        path = root / FOLDER / f"tasks_{part}_addprim_turn_left.txt"
        path.write_bytes(text.replace("\n", end).encode())
    return root


def in_nacs(root: Path, texts: dict[str, str], end: str = "\n", *, text: bool = True) -> Path:
    """Write the two files where the repository NACS has them, as pairs or as text."""
    folder = root / "data/scan/add_turn_left"
    folder.mkdir(parents=True)
    for part, content in texts.items():
        if text:
            (folder / part).write_bytes(content.replace("\n", end).encode())
        pairs = [line[len("IN: ") :].split(" OUT: ") for line in content.splitlines()]
        for side, suffix in enumerate((".src", ".trg")):
            lines = "".join(f"{pair[side]}{end}" for pair in pairs)
            (folder / f"{part}{suffix}").write_bytes(lines.encode())
    return root


def checksum(official: Path | None = None, name: str = TASK) -> str:
    return daxy.load(name, validation="none", official=official).provenance.checksum


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("part", [".", FOLDER])
def test_a_clone_of_scan_loads_from_any_folder_of_it(
    part: str, end: str, texts: dict[str, str], tmp_path: Path
) -> None:
    assert checksum(laid_out(tmp_path, texts, end) / part) == checksum()


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("part", [".", "data", "data/scan", "data/scan/add_turn_left"])
def test_a_clone_of_nacs_loads_from_any_folder_of_it(
    part: str, text: bool, texts: dict[str, str], tmp_path: Path
) -> None:
    folder = in_nacs(tmp_path, texts, "\r\n", text=text) / part
    assert checksum(folder) == checksum()
    assert checksum(folder, "nacs/addprim_turn_left") == checksum(None, "nacs/addprim_turn_left")


def zipped(folder: Path, archive: Path, root: str) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as members:
        for path in folder.rglob("*"):
            members.write(path, Path(root) / path.relative_to(folder))


def tarred(mode: str) -> Callable[[Path, Path, str], None]:
    def pack(folder: Path, archive: Path, root: str) -> None:
        with tarfile.open(archive, mode) as members:  # pyright: ignore[reportCallIssue, reportArgumentType]
            members.add(folder, root)

    return pack


PACKED = {"zip": zipped, **{f"tar {kind}": tarred(f"w:{kind}") for kind in ("", "gz", "bz2", "xz")}}


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
def test_an_archive_loads_whatever_its_name(
    pack: Callable[[Path, Path, str], None], texts: dict[str, str], tmp_path: Path
) -> None:
    clone = in_nacs(tmp_path / "clone", texts, text=False)
    for number, root in enumerate((".", "NACS-main")):
        pack(clone, tmp_path / f"{number}", root)
        assert checksum(tmp_path / f"{number}") == checksum()


def test_a_file_of_the_same_name_in_another_folder_is_not_taken(
    texts: dict[str, str], tmp_path: Path
) -> None:
    clone = in_nacs(tmp_path / "clone", texts)
    other = clone / "data/scan/add_jump"
    other.mkdir()
    for part in texts:
        (other / part).write_text("IN: jump OUT: I_JUMP\n")
    zipped(clone / "data/scan", tmp_path / "some.zip", ".")
    assert checksum(tmp_path / "some.zip") == checksum()


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
def test_what_unpacks_to_too_much_is_refused_with_the_limit(
    pack: Callable[[Path, Path, str], None],
    texts: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clone = laid_out(tmp_path / "clone", texts)
    (clone / "a_large_file").write_bytes(bytes(3_000_000))
    pack(clone, tmp_path / "bomb", ".")
    monkeypatch.setattr(_release, "MOST", 2_000_000)
    with pytest.raises(WrongFile, match="bomb: unpacks to more than 2,000,000 bytes; at most"):
        checksum(tmp_path / "bomb")


def test_a_size_that_a_member_claims_is_enough_to_refuse(tmp_path: Path) -> None:
    header = tarfile.TarInfo("zeros")
    header.size = 4 << 30
    (tmp_path / "bomb.tar").write_bytes(header.tobuf())
    with pytest.raises(WrongFile, match="unpacks to more than 1,073,741,824 bytes"):
        checksum(tmp_path / "bomb.tar")


def test_an_encrypted_archive_is_refused(texts: dict[str, str], tmp_path: Path) -> None:
    archive = tmp_path / "secret.zip"
    zipped(laid_out(tmp_path / "clone", texts), archive, ".")
    content = bytearray(archive.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = -1
        while (start := content.find(signature, start + 1)) >= 0:
            content[start + flags] |= 1
    archive.write_bytes(content)
    with pytest.raises(WrongFile, match="cannot be read as an archive .* encrypted"):
        checksum(archive)


@pytest.mark.parametrize(
    ("content", "noun"),
    [
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"PAR1", "Parquet"),
        (b"<!DOCTYPE html>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
    ],
)
def test_another_kind_of_file_is_named(content: bytes, noun: str, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(content)
    expected = rf"a.zip: is {noun}.*; expected a clone of github.com/brendenlake/SCAN"
    with pytest.raises(WrongFile, match=expected):
        checksum(tmp_path / "a.zip")


def test_pairs_of_files_with_other_numbers_of_lines_are_refused(
    texts: dict[str, str], tmp_path: Path
) -> None:
    clone = in_nacs(tmp_path, texts, text=False)
    path = clone / "data/scan/add_turn_left/test.trg"
    path.write_text(path.read_text() + "I_JUMP\n")
    with pytest.raises(WrongFile, match=r"test.trg: 1,209 lines; .*test.src has 1,208; expected"):
        checksum(clone)


def test_a_gzipped_text_is_no_archive(texts: dict[str, str], tmp_path: Path) -> None:
    import gzip

    (tmp_path / "a.gz").write_bytes(gzip.compress(texts["test"].encode()))
    with pytest.raises(WrongFile, match=r"a.gz: cannot be read as an archive \(compressed by gzip"):
        checksum(tmp_path / "a.gz")


def test_a_link_out_of_an_archive_is_not_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as members:
        for part in ("train", "test"):
            link = tarfile.TarInfo(f"{FOLDER}/tasks_{part}_addprim_turn_left.txt")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            members.addfile(link, io.BytesIO())
    with pytest.raises(WrongFile, match="holds no add_prim_split/tasks_train_addprim_turn_left"):
        checksum(tmp_path / "a.tar")
