"""The code blocks of a document, and how they are run."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
OPTIMIZED = {"XLA_FLAGS": ""}
"""The environment of long trainings: compiled as users have it, not in the least time."""

# A block in a numbered list is indented.
_BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_END_OF_COMMAND = re.compile(r"^(\||\|\||&&|;|>)$")
_ASSERTION = re.compile(r"^assert ", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A block of `sh` or `python`, with what the `text` block right after it says it prints."""

    language: str
    code: str
    output: str | None

    @property
    def says_what_it_does(self) -> bool:
        """Whether the document shows its output, or asserts something."""
        return self.output is not None or _ASSERTION.search(self.code) is not None


def blocks(document: Path) -> list[Block]:
    """Return the blocks of a document that can be run, in order."""
    text = document.read_text(encoding="utf-8")
    found = list(_BLOCK.finditer(text))
    runnable: list[Block] = []
    for place, match in enumerate(found):
        after = found[place + 1] if place + 1 < len(found) else None
        adjacent = after is not None and not text[match.end() : after.start()].strip()
        is_output = after is not None and adjacent and after[2] == "text"
        output = textwrap.dedent(after[3]) if after is not None and is_output else None
        if match[2] in ("sh", "bash", "python"):
            runnable.append(Block(match[2], textwrap.dedent(match[3]), output))
    return runnable


def without_blocks(text: str) -> str:
    """Return the text of a document without its code blocks."""
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)


def commands(block: Block) -> Iterator[list[str]]:
    """Yield the words after `daxy` of each command in a shell block."""
    for line in block.code.splitlines() if block.language != "python" else ():
        words = shlex.split(line, comments=True)
        for place, word in enumerate(words):
            if word == "daxy" or word.endswith("/bin/daxy"):
                end = next((i for i, w in enumerate(words) if i > place and _ends(w)), None)
                yield words[place + 1 : end]


def run(block: Block, folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Run a block in a folder; fail unless it succeeds, and prints what the document says.

    Where the document shows an error of daxy's, the block has to fail, with that error.
    """
    command = ["bash", "-c", block.code] if block.language != "python" else [sys.executable, "-"]
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run(
        command,
        input=block.code if block.language == "python" else "",
        cwd=folder,
        env={**os.environ, **path, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    shows_error = (block.output or "").startswith("daxy: ")
    assert (ran.returncode != 0) == shows_error, f"{block.code}\n{ran.stdout}\n{ran.stderr}"
    if block.output is not None:
        _compare(block, ran.stderr if shows_error else ran.stdout)


def _compare(block: Block, printed: str) -> None:
    got, want = (_without_trailing_blanks(text) for text in (printed, block.output or ""))
    same = doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)
    assert same, f"{block.code}\nprints\n\n{got}\ninstead of\n\n{want}"


def _without_trailing_blanks(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"


def _ends(word: str) -> bool:
    return _END_OF_COMMAND.match(word) is not None
