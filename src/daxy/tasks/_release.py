"""Files of a released repository, from a clone, a folder in it, or an archive.

Files are found by their paths in the repository. The given folder may be the root, any folder on
these paths, or an archive of one of these, with one more folder on top, as GitHub packs them.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Generator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, Protocol, final

from daxy.core.errors import WrongFile
from daxy.core.files import bounded, read_bytes
from daxy.core.kinds import HEAD, Kind, kind_of

Opening = Callable[[], IO[bytes]]


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        ...

    def close(self) -> None:
        """Close the stream."""


MOST = 1 << 30
"""Maximum unpacked bytes of an archive: 1 GiB; SCAN has a third of it."""
ARCHIVES = ".zip, .tar.gz, .tar.xz"
DECOMPRESSED: dict[str, Callable[[Path], Readable]] = {
    "tar": io.FileIO,
    "gzip": gzip.GzipFile,
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
}
"""Reader of the tar archive in each kind of file."""
DAMAGE = (OSError, EOFError, lzma.LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile)
UNREADABLE = (*DAMAGE, NotImplementedError, RuntimeError, ValueError)
"""Errors of reading a damaged or encrypted archive."""


class File(NamedTuple):
    """A file of a release."""

    place: str
    """Name in errors."""
    content: bytes


def find(official: Path, names: Collection[str], repository: str) -> dict[str, File]:
    """Return the existing ones of some files of a release, by their names.

    Args:
        official: A folder or an archive.
        names: Paths in the repository.
        repository: Its address for messages: "github.com/brendenlake/SCAN".

    Raises:
        WrongFile: it is neither, cannot be read or unpacks to more than `MOST` bytes.
    """
    if official.is_dir():
        places = {name: _in_folder(official, name) for name in names}
        return {name: File(str(path), read_bytes(path)) for name, path in places.items() if path}
    kind = _kind(official, repository)
    try:
        return _in_archive(official, "" if kind is None else kind.name, names)
    except UNREADABLE as error:
        problem = f"cannot be read as an archive ({kind.noun if kind else ''}): {error}"
        raise WrongFile(official, problem) from error


def _kind(official: Path, repository: str) -> Kind | None:
    try:
        with official.open("rb") as file:
            kind = kind_of(file.read(HEAD))
    except FileNotFoundError:
        raise WrongFile(official, "no such file or folder") from None
    except (OSError, ValueError) as error:
        raise WrongFile(official, f"cannot be read: {error}") from error
    if kind is None or kind.name not in (*DECOMPRESSED, "zip"):
        noun = "no folder and no archive" if kind is None else kind.noun
        wanted = f"a clone of {repository}, or an archive of it ({ARCHIVES})"
        raise WrongFile(official, f"is {noun}; expected {wanted}")
    return kind


def _in_folder(folder: Path, name: str) -> Path | None:
    """Return the path of a file in a folder, by its whole path or the end of it."""
    parts = PurePosixPath(name).parts
    places = (folder.joinpath(*parts[start:]) for start in range(len(parts)))
    return next((place for place in places if place.is_file()), None)


def _in_archive(archive: Path, kind: str, names: Collection[str]) -> dict[str, File]:
    files: dict[str, File] = {}
    known = dict.fromkeys(names, 0)
    """Number of matching parts of each file's path."""
    members = _zipped(archive) if kind == "zip" else _tarred(archive, kind)
    with closing(members):
        for member, opening in members:
            better = {
                name: shared for name in names if (shared := _shared(member, name)) > known[name]
            }
            if better:
                place = f"{archive}:{member}"
                file = File(place, b"".join(bounded(opening(), place, "text")))
                files |= dict.fromkeys(better, file)
                known |= better
            if all(known[name] == len(PurePosixPath(name).parts) for name in names):
                break
    return files


def _shared(member: str, name: str) -> int:
    """Return the number of parts of a file's path that a member matches, or 0."""
    path, wanted = PurePosixPath(member).parts, PurePosixPath(name).parts
    ends = (each for each in (path, path[1:]) if each and wanted[-len(each) :] == each)
    return max(map(len, ends), default=0)


def _tarred(archive: Path, kind: str) -> Generator[tuple[str, Opening], None, None]:
    unpacked = 0
    with closing(DECOMPRESSED[kind](archive)) as raw:
        stream = _Limited(raw, archive)
        with tarfile.open(fileobj=stream, mode="r|") as members:
            for member in members:
                unpacked += member.size
                _check_unpacked(archive, unpacked)
                if member.isfile():
                    content = members.extractfile(member)
                    assert content is not None
                    yield member.name, lambda content=content: content


def _zipped(archive: Path) -> Generator[tuple[str, Opening], None, None]:
    with zipfile.ZipFile(archive) as members:
        files = [member for member in members.infolist() if not member.is_dir()]
        _check_unpacked(archive, sum(member.file_size for member in files))
        for member in files:
            yield member.filename, lambda member=member: members.open(member)


def _check_unpacked(archive: Path, size: int) -> None:
    if size > MOST:
        problem = f"unpacks to more than {MOST:,} bytes; at most that many are read"
        raise WrongFile(archive, problem)


@final
class _Limited(io.RawIOBase):
    """A stream that cannot be read beyond the limit."""

    def __init__(self, inner: Readable, archive: Path) -> None:
        super().__init__()
        self.inner, self.archive, self.count = inner, archive, 0

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        piece = self.inner.read(size)
        self.count += len(piece)
        _check_unpacked(self.archive, self.count)
        return piece
