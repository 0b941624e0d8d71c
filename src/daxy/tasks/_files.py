"""Released files of a task: their address, checksums and licence."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from daxy.core.errors import WrongFile
from daxy.tasks._release import File, find

SHOWN = 12
"""Digits of a checksum in an error."""


@dataclass(frozen=True, kw_only=True)
class OfficialFiles:
    """The files that a benchmark's authors released."""

    home: str
    """Address of the repository: `github.com/owner/repository`."""
    sha256: Mapping[str, str]
    """SHA-256 of each file in hexadecimal digits, by its path."""
    licence: str
    """Name of the licence: `MIT`."""

    def read(self, official: Path) -> dict[str, File]:
        """Return the files by their paths.

        Args:
            official: A clone of the repository, a folder in it, or an archive.

        Raises:
            WrongFile: a file is missing, cannot be read or differs from the released one.
        """
        files = find(official, self.sha256, self.home)
        for name, expected in self.sha256.items():
            if name not in files:
                raise WrongFile(official, f"holds no {name}; expected a clone of {self.home}")
            place, content = files[name]
            digest = hashlib.sha256(content).hexdigest()
            if digest != expected:
                sums = f"its SHA-256 is {digest[:SHOWN]}..., expected {expected[:SHOWN]}..."
                raise WrongFile(place, f"is not the file that was released: {sums}")
        return files

    @property
    def card(self) -> list[str]:
        """Lines of a task's card on the files."""
        sums = [f"  - `{name}`: SHA-256 `{digest}`" for name, digest in self.sha256.items()]
        return [f"- Files: {self.home}, licence {self.licence}", *sums]
