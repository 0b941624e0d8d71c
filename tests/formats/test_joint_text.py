"""Joint sequences: `<s> source ||| target </s>`."""

import pytest

from daxy import tasks
from daxy.core.errors import WrongFile, WrongRequest
from daxy.core.examples import Examples
from daxy.formats import joint_text

LINE = b"<s> a1 a2 ||| a2 a1 </s>\n"


def test_a_line_is_a_pair() -> None:
    assert joint_text.parse(LINE * 2, "a.txt") == [(("a1", "a2"), ("a2", "a1"))] * 2


@pytest.mark.parametrize("name", ["transduction/reverse", "transduction/gender"])
def test_what_is_written_is_read(name: str) -> None:
    test = tasks.get(name).split(tasks.data(name, train_pairs=10)).test
    text = joint_text.write(test)
    assert text.splitlines()[0].startswith("<s> ")
    assert Examples.of(joint_text.parse(text.encode(), "a.txt")).keys == test.keys


def test_a_token_that_is_a_mark_is_not_written() -> None:
    with pytest.raises(WrongRequest, match="cannot hold the token '</s>'"):
        joint_text.write(Examples.of([(["a"], ["</s>"])]))


EXPECTED = "expected `<s> <source> ||| <target> </s>` with single spaces"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"a1 ||| a1 </s>", "no `<s> ` at the start of 'a1 ||| a1 </s>'"),
        (b"<s> a1 ||| a1", "no ` </s>` at the end of '<s> a1 ||| a1'"),
        (b"<s> a1 a1 </s>", "no ` ||| ` in '<s> a1 a1 </s>'"),
        (b"<s> a1 ||| a1 ||| a1 </s>", "a second '|||' in '<s> a1 ||| a1 ||| a1 </s>'"),
        (b"<s> a1  a2 ||| a1 </s>", "two spaces, or one at an end, in '<s> a1  a2 ||| a1 </s>'"),
        (b"", "blank line"),
    ],
)
def test_a_wrong_line_is_named(line: bytes, complaint: str) -> None:
    with pytest.raises(WrongFile) as raised:
        joint_text.parse(LINE + line + b"\n", "a.txt")
    assert str(raised.value) == f"a.txt:2: {complaint}; {EXPECTED}"
