from collections.abc import Callable
from pathlib import Path

import pytest

from daxy.formats import jsonl
from daxy.languages import scan


def test_it_says_what_is_made_and_of_what(daxy: Callable) -> None:
    answer = daxy("augment", "scan/simple_p2", "--count", "20", "--show", "2", "--json")
    found = answer.json
    assert found["train"] > found["augmented"] == 20
    assert 0 < found["fillable"] < found["templates"]
    assert len(found["shown"]) == 2
    for each in found["shown"]:
        template, gaps = each["template"], each["fragment"]
        for side, whole in zip(template, (each["source"], each["target"]), strict=True):
            said = side
            for place, piece in enumerate(gaps, 1):
                said = said.replace(f"_{place}", piece)
            assert said == whole
    text = daxy("augment", "scan/simple_p2", "--count", "20", "--show", "2").out
    assert text.startswith("20 new examples from ")
    assert text.count("  with  _1 = ") == 2


def test_a_seed_makes_the_same_examples_and_another_one_others(daxy: Callable) -> None:
    def shown(*flags: str) -> list[dict[str, str]]:
        return daxy("augment", "scan/simple_p2", "--count", "9", *flags, "--json").json["shown"]

    assert shown() == shown("--seed", "0") != shown("--seed", "1")


def test_all_of_them_are_written(daxy: Callable, tmp_path: Path) -> None:
    out = tmp_path / "new.jsonl"
    request = ("augment", "scan/addprim_jump", "--count", "50", "--out", str(out))
    assert daxy(*request).code == 0
    (examples,) = jsonl.read(out).values()
    meanings = scan.meanings()
    assert len(examples) == 50
    assert all(meanings[each.source] == each.target for each in examples)
    assert daxy(*request).code == 2
    assert daxy(*request, "--force").code == 0


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["gscan/compositional"], "GECA does not know worlds yet"),
        (["scan/simple", "--gaps", "0"], "gaps must be positive"),
        (["scan/simple", "--show", "-1"], "--show must not be negative"),
        (["scan/simpel"], "did you mean scan/simple"),
    ],
)
def test_what_cannot_be_is_refused(daxy: Callable, flags: list[str], message: str) -> None:
    answer = daxy("augment", *flags)
    assert answer.code == 2
    assert message in answer.err
