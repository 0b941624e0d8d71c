from pathlib import Path

import pytest

from daxy.core.errors import WrongFile, WrongRequest
from daxy.core.examples import Examples
from daxy.formats import parallel

PAIRS = Examples.of([(("jump", "left"), ("I_TURN_LEFT", "I_JUMP")), (("walk",), ("I_WALK",))])


@pytest.mark.parametrize("name", ["a", "a.src", "a.trg"])
def test_two_files_hold_a_side_each(name: str, tmp_path: Path) -> None:
    written = parallel.write(tmp_path / name, PAIRS)
    assert [file.name for file in written] == ["a.src", "a.trg"]
    assert written[0].read_text() == "jump left\nwalk\n"
    assert written[1].read_text() == "I_TURN_LEFT I_JUMP\nI_WALK\n"
    assert list(parallel.read(tmp_path / "a.trg")) == list(PAIRS)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("jump left\n", "a.trg: 2 lines; .*a.src has 1; expected as many"),
        ("jump  left\nwalk\n", "a.src:1: two spaces, or one at an end; expected lines of tokens"),
        ("jump left\n\n", "a.src:2: blank line"),
        ("", "a.src: the file is empty"),
        ("jump left\nwalk\x07\n", r"a.src:2: unprintable"),
    ],
)
def test_wrong_lines_are_named(lines: str, problem: str, tmp_path: Path) -> None:
    parallel.write(tmp_path / "a", PAIRS)
    (tmp_path / "a.src").write_text(lines)
    with pytest.raises(WrongFile, match=problem):
        parallel.read(tmp_path / "a.src")


def test_tokens_that_are_no_words_are_refused(tmp_path: Path) -> None:
    spaced = Examples.of([(("turn left",), ("a",))])
    with pytest.raises(WrongRequest, match="cannot hold the token 'turn left'"):
        parallel.write(tmp_path / "a", spaced)
    with pytest.raises(WrongRequest, match="cannot hold a side without tokens"):
        parallel.write(tmp_path / "a", Examples.of([(("a",), ())]))
