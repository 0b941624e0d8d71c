"""The project's own habits: one version, two commands, contracts that cover every room."""

import re
import subprocess
import tomllib
from pathlib import Path

import daxy
from daxy import papers

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    cited = re.search(r"^version: (.*)$", read("CITATION.cff"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == daxy.__version__
    # The newest entry is that version, or is unreleased and says that it will be.
    newest = re.search(
        r"^## \[(.*?)\](.*?)(?=^## |\Z)", read("CHANGELOG.md"), re.MULTILINE | re.DOTALL
    )
    assert newest is not None
    assert newest[1] == daxy.__version__ or (
        newest[1] == "Unreleased" and f"What will be {daxy.__version__}." in newest[2]
    )


def test_every_paper_is_cited() -> None:
    cited = read("CITATION.cff").lower()
    for name in papers.available():
        assert papers.get(name).title.lower() in cited
    assert "stack-augmented recurrent nets" in cited  # a memory, whose paper has no table here


def test_the_readme_has_two_commands_and_ci_runs_them() -> None:
    first, second = re.findall(r"^python3 -m venv .*$", read("README.md"), re.MULTILINE)
    assert first.endswith("pip install '.[all]' && .venv/bin/daxy demo")
    assert second.endswith("pip install '.[test]' && .venv/bin/pytest")
    assert "grep '^python3 -m venv ' README.md" in read(".ci/run")


def test_ci_is_a_script_that_bash_reads() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", str(script)], check=True)


def test_every_extra_that_is_named_in_a_document_exists() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    for name in ("README.md", "CONTRIBUTING.md", ".ci/run"):
        for named in re.findall(r"\.\[([\w,]+)\]", read(name)):
            assert set(named.split(",")) <= set(extras), named


def test_every_room_is_in_the_contract() -> None:
    (rooms,) = (c for c in PROJECT["tool"]["importlinter"]["contracts"] if c["id"] == "rooms")
    package = Path(daxy.__file__).parent
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    assert folders <= set(rooms["layers"])


def test_no_file_names_a_place_outside_the_project() -> None:
    outside = re.compile(r"(?<![\w.])/(?:work|root|home)/|index-url|registry *= *[\"']?http")
    tracked = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "mkdocs.yml", ".ci/run")
    for name in (*tracked, *(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))):
        assert not outside.search(read(name)), name
