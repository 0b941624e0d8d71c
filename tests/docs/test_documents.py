"""What the documents say can be done can be done, and what they point to is there."""

import re
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT, Block, blocks, commands, run

from daxy.cli import _parse, main
from daxy.core import registry

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]
README = blocks(ROOT / "README.md")
PAGES = [blocks(ROOT / "docs" / page) for page in ("gscan.md", "python.md", "transduction.md")]
TOLD = [
    block
    for page in (README, *PAGES)
    for block in page
    if block.output is not None or re.search(r"^assert ", block.code, flags=re.MULTILINE)
]
"""What says what comes of it, beside it or by assertions."""

every_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)


@every_document
def test_code_is_fenced(document: Path) -> None:
    """Blocks that are indented are read by no test."""
    assert not re.search(r"^    (daxy|python|pip) ", document.read_text("utf-8"), re.MULTILINE)


@every_document
def test_every_command_of_daxy_is_understood(document: Path) -> None:
    for words in commands(document):
        name, *arguments = words
        assert name in main.verbs(), words
        if "--help" in arguments:
            continue
        made = registry.load("daxy.cli", name, kind="verb").VERB
        verb = made if isinstance(made, type) else made(arguments)
        _parse.parse(verb, name, arguments)


@pytest.mark.parametrize("block", TOLD, ids=lambda block: block.code.splitlines()[-1])
def test_documents_do_what_they_say(block: Block, tmp_path: Path) -> None:
    run(block, tmp_path)


@every_document
def test_every_link_to_a_file_or_heading_leads_there(document: Path) -> None:
    text = _without_code(document)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = document.parent / path if path else document
        assert file.is_file(), target
        assert not anchor or anchor in _anchors(file), target


@every_document
def test_every_file_named_in_code_is_there(document: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for name in re.findall(r"`((?:src|tests|docs|examples|benchmarks|\.ci)/[^`\s*{<]*)`", text):
        assert (ROOT / name).exists(), name


def _without_code(document: Path) -> str:
    text = re.sub(r"^```.*?^```$", "", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def _anchors(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", _without_code(document), flags=re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }
