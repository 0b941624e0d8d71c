import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from daxy.core.errors import DaxyError, WrongFile
from daxy.core.examples import Examples
from daxy.formats import jsonl
from daxy.worlds.columns import Worlds
from daxy.worlds.grid import GridCell
from daxy.worlds.world import World

OBJECT = "expected one JSON object a line"
CONVERT = "convert it with `jq -c '.[]' FILE`"


def test_an_example_is_one_object() -> None:
    examples = Examples.of([(["jump", "left"], ["I_TURN_LEFT", "I_JUMP"])])
    assert jsonl.write({"test": examples}) == (
        '{"split": "test", "key": "c0491fabe2026b79", '
        '"source": "jump left", "target": "I_TURN_LEFT I_JUMP"}\n'
    )


words = st.text(st.characters(codec="utf-8", exclude_characters="\ud800"), min_size=1)


@given(sides=st.lists(st.lists(words), min_size=2, max_size=2))
@example(sides=[["a\u00a0b", "c"], ["\n"]])
def test_any_tokens_are_read_back(sides: list[list[str]]) -> None:
    examples = Examples.of([(sides[0], sides[1])])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        path.write_text(jsonl.write({"test": examples}), encoding="utf-8")
        assert list(jsonl.read(path)["test"]) == list(examples)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", f"a.jsonl: the file is empty; {OBJECT}"),
        (b"\n", f"a.jsonl:1: blank line; {OBJECT}"),
        (b"{}\n\n{}\n", "a.jsonl:1: expected 'split' with a string"),
        (b"{}\n[1]\n", "a.jsonl:1: expected 'split' with a string"),
        (b"[1]\n", f"a.jsonl: is a JSON array; {OBJECT}; {CONVERT}"),
        (
            b"{'a': 1}\n",
            "a.jsonl:1: no JSON: Expecting property name enclosed in double quotes at"
            f" column 2; {OBJECT}",
        ),
        (
            b'{"split": "test", "source": "jump"}\n',
            "a.jsonl:1: expected 'target' with a string or a list of strings",
        ),
        (
            b'{"split": "a", "split": "b"}\n',
            f"a.jsonl:1: no JSON: the key 'split' is there twice at column 16; {OBJECT}",
        ),
        (b'{"split": "\xff"}\n', f"a.jsonl:1: not UTF-8 at column 12; {OBJECT}"),
        (
            b'{"split": "\\ud800"}\n',
            f"a.jsonl:1: half of a surrogate pair is no text at column 12; {OBJECT}",
        ),
    ],
)
def test_a_wrong_line_is_refused_with_its_number(
    content: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_bytes(content)
    with pytest.raises(WrongFile) as caught:
        jsonl.read(Path("a.jsonl"))
    assert str(caught.value) == message


def test_nesting_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"a":' * 100_000)
    with pytest.raises(WrongFile, match="no JSON"):
        jsonl.read(tmp_path / "a.jsonl")


@given(content=st.binary() | st.text().map(str.encode))
def test_any_bytes_are_read_or_refused_in_one_line(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(content)
    try:
        jsonl.read(path)
    except DaxyError as error:
        assert len(str(error).splitlines()) == 1


WORLD = '{"size": 2, "agent": [0, 0], "things": []}'
LINE = '"source": ["walk"], "target": ["turn left"]'


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [f'{{"split": "a", {LINE}, "world": {WORLD}}}', f'{{"split": "a", {LINE}}}'],
            "a.jsonl:2: some examples of this part have a `world`, and some have none",
        ),
        ([f'{{"split": "a", {LINE}, "world": 3}}'], "a.jsonl:1: expected an object with `size`"),
        (
            [f'{{"split": "a", "source": "walk", "target": [], "world": {WORLD}}}'],
            "a.jsonl:1: expected 'source' with a list of strings beside a world",
        ),
        (['{"split": "a", "source": [1], "target": ""}'], "a.jsonl:1: expected 'source' with a"),
    ],
)
def test_a_wrong_world_is_refused(lines: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with pytest.raises(WrongFile, match=re.escape(message)):
        jsonl.read(tmp_path / "a.jsonl")


def test_worlds_without_a_token_that_has_spaces_are_read_back(tmp_path: Path) -> None:
    plain = Examples.of([(["walk", "to", "a", "circle"], ["walk", "walk"])])
    examples = Examples(plain.source, plain.target, Worlds.of([World(2, GridCell(0, 0))]))
    text = jsonl.write({"test": examples})
    assert '"source": ["walk", "to", "a", "circle"], "target": ["walk", "walk"]' in text
    (tmp_path / "a.jsonl").write_text(text)
    (again,) = jsonl.read(tmp_path / "a.jsonl").values()
    assert (list(again.source), list(again.target)) == (list(plain.source), list(plain.target))
