"""What the documents say can be done can be done, and what they point to is there."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT, Block, blocks, commands, run, without_blocks

from daxy import learners, papers, tasks
from daxy.cli import _parse, main
from daxy.learners.neural.learner import Neural
from daxy.runs.folder import RunFolder
from daxy.runs.run import Run
from daxy.tasks import ScanOptions
from daxy.training.protocols import protocol

PAGES = sorted((ROOT / "docs").rglob("*.md"))
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]
TUTORIAL = ROOT / "docs" / "start" / "tutorial.md"
"""Its blocks are run in order, by a test of its own."""
IN_ORDER = [
    ROOT / "docs" / "howto" / name
    for name in ("score-predictions.md", "score-language-model.md", "grammar.md")
]
"""How-to pages whose blocks are steps: each needs the files of those before."""
SINGLE = [
    block
    for document in DOCUMENTS
    if document not in (TUTORIAL, *IN_ORDER)
    for block in blocks(document)
    if block.says_what_it_does and "runs/RUN" not in block.code
]

every_document = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT))
)


@every_document
def test_code_is_fenced(document: Path) -> None:
    """Blocks without a fence are read by no test."""
    text = without_blocks(document.read_text("utf-8"))
    assert not re.search(r"^    (daxy|python|pip) ", text, re.MULTILINE)


@every_document
def test_a_page_has_each_heading_once(document: Path) -> None:
    headings = re.findall(r"^## .*$", without_blocks(document.read_text("utf-8")), re.MULTILINE)
    assert len(set(headings)) == len(headings)


@every_document
def test_every_command_of_daxy_is_understood(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # Some files are read as soon as they are named.
    Path("my.itg").write_text("1/2 A -> a A1 | A1 b\n1/2 A -> c | d\n")
    Path("experiment.toml").write_text('task = "scan/length"\nlearner = "seq2seq"\n')
    learner = Neural.named("seq2seq", {}, protocol("bastings2018"))
    run = Run(task="scan/length", learner=learner, data=ScanOptions(), seed=0)
    folder = RunFolder(Path("runs/RUN"))
    folder.path.mkdir(parents=True)
    folder.begin(run.config, {})
    for block in blocks(document):
        _check_commands(block)


def _check_commands(block: Block) -> None:
    for words in commands(block):
        name, *arguments = words
        assert name in main.verbs(), words
        if "--help" in arguments:
            continue
        _parse.parse(main.VERBS.get(name), name, arguments)


@every_document
def test_every_flag_in_running_text_exists(document: Path) -> None:
    text = without_blocks(document.read_text("utf-8"))
    for code in re.findall(r"`([^`\n]+)`", text):
        if code.startswith(OTHER_PROGRAMS):
            continue
        for flag in re.findall(r"(?<![\w-])--[a-z][\w.-]*[a-z]", code):
            assert flag in _flags() or flag in OTHERS, (flag, code)


OTHER_PROGRAMS = ("pip ", "python ", "pytest ", "ruff ", "mkdocs ", "wsl ")
OTHERS = {"--pdb", "--requeue", "--sample_vocabulary"}
"""Flags of pytest, of SLURM, and of gSCAN's generator."""


@cache
def _flags() -> frozenset[str]:
    """Return every flag of every verb, with each benchmark's data and each model's settings."""
    first = {name.partition("/")[0]: name for name in reversed(tasks.available())}
    benchmarks = [
        *first.values(),
        "scan/length",
        "scan/addprim_jump",
        "gscan/length",
        "transduction/grammar",
        "transduction/svo_sov",
    ]
    requests = [(verb, *_of_one_task(verb)) for verb in main.verbs()]
    requests += [("show", task) for task in benchmarks]
    requests += [("augment", "gscan/compositional"), ("train", "scan/simple", "--augment", "geca")]
    requests += [("score", "pairs")]
    requests += [("train", "gscan/compositional", name) for name in learners.available()]
    return frozenset(flag for request in requests for flag in _flags_of(*request))


def _of_one_task(verb: str) -> tuple[str, ...]:
    return ("scan/simple",) if verb in ("augment", "export", "score", "show", "train") else ()


def _flags_of(verb: str, *arguments: str) -> Iterator[str]:
    yield from _parse.flags(_parse.resolve(main.VERBS.get(verb), arguments).verb)


@pytest.mark.parametrize("block", SINGLE, ids=lambda block: block.code.splitlines()[-1])
def test_documents_do_what_they_say(block: Block, tmp_path: Path) -> None:
    run(block, tmp_path)


@pytest.mark.parametrize("document", IN_ORDER, ids=lambda path: path.stem)
def test_the_steps_of_a_page_follow_each_other(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks(document):
        if block.code.startswith("daxy train"):  # takes hours
            _check_commands(block)
        else:
            run(block, tmp_path)


@every_document
def test_every_link_to_a_file_or_heading_leads_there(document: Path) -> None:
    text = _without_code(document)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = document.parent / path if path else document
        assert file.exists(), target
        assert not anchor or anchor in _anchors(file), target


@every_document
def test_every_file_named_in_code_is_there(document: Path) -> None:
    text = without_blocks(document.read_text("utf-8"))
    for name in re.findall(r"`((?:src|tests|docs|examples|benchmarks|\.ci)/[^`\s*{<]*)`", text):
        assert (ROOT / name).exists(), name


def _without_code(document: Path) -> str:
    text = without_blocks(document.read_text("utf-8"))
    return re.sub(r"`[^`\n]*`", "", text)


def _anchors(document: Path) -> set[str]:
    text = without_blocks(document.read_text("utf-8"))
    included = re.findall(r'^--8<-- "(.*)"$', text, flags=re.MULTILINE)
    filled = set(re.findall(r"#([\w-]+) \}$", _filled(text), flags=re.MULTILINE))
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    own = {re.sub(r"[^\w\- ]", "", it).strip().lower().replace(" ", "-") for it in headings}
    return own.union(filled, *(_anchors(ROOT / name) for name in included))


def _filled(text: str) -> str:
    """Return the headings of tables that the site's hook writes into a page of results."""
    names = re.findall(r"^<!-- fill: (?:results|quoted) (\w+) -->$", text, flags=re.MULTILINE)
    papers_here = [papers.get(name) for name in names if name in papers.available()]
    return "\n".join(f"{{ #{table.name} }}" for paper in papers_here for table in paper.tables)
