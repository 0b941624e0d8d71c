"""Base class of file formats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from daxy.core.errors import WrongFile
from daxy.core.examples import Examples
from daxy.core.files import read_bytes, write_text
from daxy.core.split import Provenance

PAIRS = "pairs in a format that `daxy export` writes"

Parts = Mapping[str, Examples]
"""Examples by the name of their part; the name is empty in a file that names none."""


class Format(ABC):
    """A format to write examples to files and read them."""

    name: str
    """Name on the command line."""
    suffix: str
    """Suffix of its files."""
    has_parts: ClassVar[bool] = False
    """Whether a file names the part of each example."""
    has_worlds: ClassVar[bool] = False
    """Whether it holds worlds."""
    is_text: ClassVar[bool] = False
    """Whether a file is one text, which stdout can show."""
    is_folder: ClassVar[bool] = False
    """Whether all parts are in one folder of this format."""
    owner: ClassVar[str] = ""
    """The only benchmark with this format, whose file has all parts; see `Task.own_format`."""

    @abstractmethod
    def write(self, path: Path, parts: Parts, provenance: Provenance) -> None:
        """Write the parts one after another.

        Raises:
            WrongRequest: the format cannot hold them.
            RunFailed: the file cannot be written.
        """

    def files(self, path: Path) -> tuple[Path, ...]:
        """Return the files that `write` makes."""
        return (path,)

    def parse(self, data: bytes, path: Path) -> Parts:
        """Return the parts in the bytes of a file, named `path` in errors.

        Raises:
            WrongFile: a line is wrong, or the format cannot be read from a pipe.
        """
        del data
        raise WrongFile(path, f"is a pipe; expected a file for {self.name}")

    def read(self, path: Path) -> Parts:
        """Return the parts of a file.

        Raises:
            WrongFile: it cannot be read, or is not in this format; says where.
        """
        return self.parse(read_bytes(path, PAIRS), path)


class TextFormat(Format):
    """A format that is one text."""

    is_text = True

    @abstractmethod
    def text(self, parts: Parts) -> str:
        """Return the text of a file.

        Raises:
            WrongRequest: the format cannot hold the examples.
        """

    def write(self, path: Path, parts: Parts, provenance: Provenance) -> None:
        """Write the parts one after another; see `Format.write`."""
        del provenance
        write_text(path, self.text(parts))
