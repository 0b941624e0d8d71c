"""The official format of gSCAN: read, checked against itself, and written."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

import daxy
from daxy.core.errors import WrongFile
from daxy.core.split import Split
from daxy.formats import _gscan_file, gscan_json
from daxy.formats._gscan_writing import ColorOrder

TASK = "gscan/length"
Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def split() -> Split:
    return daxy.load(TASK, grid=4, resampling=1, kind="simple_trans", max_length=5)


@pytest.fixture(scope="module")
def written(split: Split, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("official") / "dataset.txt"
    gscan_json.FORMAT.write(path, split.named, split.provenance)
    return path


@pytest.fixture(scope="module")
def few(written: Path) -> str:
    value = json.loads(written.read_text())
    value["examples"] = {name: each[:40] for name, each in value["examples"].items()}
    return json.dumps(value)


@pytest.fixture
def small(few: str) -> dict[str, Any]:
    """The file as a value, with few examples."""
    return json.loads(few)


@pytest.mark.parametrize("vectors", get_args(ColorOrder))
def test_what_is_written_is_read_back(vectors: ColorOrder, split: Split, tmp_path: Path) -> None:
    gscan_json.GscanJson(vectors).write(tmp_path / "dataset.txt", split.named, split.provenance)
    again = daxy.load(TASK, official=tmp_path)
    assert again.provenance.checksum == split.provenance.checksum
    assert again.provenance.sizes == split.provenance.sizes


def test_what_is_written_is_json_as_the_authors_write_it(
    written: Path, gscan_archive: Path
) -> None:
    import tarfile

    with tarfile.open(gscan_archive) as archive:
        file = archive.extractfile("gscan/six_by_six_sample.txt")
        assert file is not None
        theirs = json.load(file)
    ours = json.loads(written.read_text())
    assert list(ours) == list(theirs)
    assert list(ours["examples"]) == list(theirs["examples"])
    for name, value in theirs.items():
        assert type(ours[name]) is type(value)
    assert shape(ours["examples"]["train"][0]) == shape(theirs["examples"]["train"][0])
    assert set(theirs["grammar"].split(";")) > set(ours["grammar"].split(";"))


def shape(value: Any) -> Any:
    """Return the keys and types of a value; objects that are numbered are all as the first."""
    if not isinstance(value, dict):
        return type(value)
    if "0" in value:
        return shape(value["0"])
    return {name: shape(each) for name, each in value.items()}


@pytest.mark.parametrize("indent", [None, 2])
def test_examples_are_found_in_any_layout(
    indent: int | None, small: dict[str, Any], tmp_path: Path
) -> None:
    small["note"] = 'a "quoted" [bracket] and a backslash \\'
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(small, indent=indent))
    file = _gscan_file.read(path)
    found = {
        name: [json.loads(bytes(text)) for text in texts] for name, texts in file.splits.items()
    }
    assert found == small.pop("examples")
    assert file.header == small
    assert not gscan_json.examine(path).disagreements


def test_the_order_of_bits_is_found_out(small: dict[str, Any], tmp_path: Path) -> None:
    for examples in small["examples"].values():
        for example in examples:
            situation = example["situation"]
            for each in (situation["target_object"], *situation["placed_objects"].values()):
                each["vector"] = each["vector"][::-1]
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(small))
    assert not gscan_json.examine(path).disagreements


def target(example: dict[str, Any]) -> dict[str, Any]:
    return example["situation"]["target_object"]


def first(example: dict[str, Any]) -> dict[str, Any]:
    return example["situation"]["placed_objects"]["0"]


def move_target(example: dict[str, Any]) -> None:
    target(example)["position"] = first(example)["position"] = dict(
        example["situation"]["agent_position"]
    )


def rename(example: dict[str, Any]) -> None:
    target(example)["object"]["color"] = first(example)["object"]["color"] = "purple"


def flip(example: dict[str, Any]) -> None:
    for each in (target(example), first(example)):
        each["vector"] = each["vector"][1:] + each["vector"][:1]


def outside(example: dict[str, Any]) -> None:
    example["situation"]["placed_objects"]["1"]["position"]["row"] = "4"


def together(example: dict[str, Any]) -> None:
    objects = example["situation"]["placed_objects"]
    objects["1"]["position"] = dict(objects["0"]["position"])


CHANGES: dict[str, tuple[Change, str]] = {
    "an object moved": (move_target, "the agent stands on the target"),
    "a target that is another one": (
        lambda example: target(example)["position"].update(row="9"),
        "target_object is not object 0 of placed_objects",
    ),
    "two objects on a cell": (together, "object 1 is on the cell"),
    "an object outside": (outside, "object 1 is at row '4'"),
    "an unknown word": (rename, "no color 'purple'; expected one of red, green, yellow, blue"),
    "a vector of something else": (flip, "the vector of a "),
    "an unknown command": (
        lambda example: example.update(command="walk,to,a,dog"),
        "command is 'walk,to,a,dog'",
    ),
    "an unknown action": (
        lambda example: example.update(target_commands="walk,fly"),
        "action 2 is 'fly'",
    ),
    "another meaning": (lambda example: example.update(meaning="jump"), "meaning is 'jump'"),
    "another derivation": (lambda example: example.update(derivation=""), "derivation is ''"),
    "another verb": (lambda e: e.update(verb_in_command="run"), "verb_in_command is 'run'"),
    "another manner": (lambda example: example.update(manner="slowly"), "manner is 'slowly'"),
    "another referent": (lambda e: e.update(referred_target="dog"), "referred_target is 'dog'"),
    "another distance": (
        lambda example: example["situation"].update(distance_to_target="99"),
        "distance_to_target is '99'",
    ),
    "another direction": (
        lambda example: example["situation"].update(direction_to_target="up"),
        "direction_to_target is 'up'",
    ),
    "no objects": (
        lambda example: example["situation"].update(placed_objects={}),
        "placed_objects is empty: the target is missing",
    ),
    "numbers that skip": (
        lambda e: e["situation"]["placed_objects"].update({"77": first(e)}),
        "placed_objects has '77' where",
    ),
    "no target": (
        lambda example: example["situation"].pop("target_object"),
        "missing required field `target_object`",
    ),
    "a field too many": (lambda e: e.update(answer="42"), "unknown field `answer`"),
    "a field with a line break": (lambda e: e.update({"a\u2028\n": ""}), "a\\u2028\\n"),
    "a number for a text": (
        lambda example: example.update(command=3),
        "Expected `str`, got `int` - at `$.command`",
    ),
    "no heading": (
        lambda example: example["situation"].update(agent_direction=4),
        "agent_direction is 4; expected 0 to 3",
    ),
    "no grid": (
        lambda example: example["situation"].update(grid_size=0),
        "grid_size is 0; expected 1 to 255",
    ),
}


@pytest.mark.parametrize(("change", "problem"), CHANGES.values(), ids=CHANGES)
def test_a_changed_example_is_found(
    change: Change, problem: str, small: dict[str, Any], tmp_path: Path
) -> None:
    change(small["examples"]["train"][17])
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(small))
    found = gscan_json.examine(path).disagreements
    assert [(each.split, each.number) for each in found] == [("train", 17)]
    assert problem in found[0].problem
    with pytest.raises(WrongFile, match=r"dataset\.txt: train\[17\]: "):
        gscan_json.read(path)


@pytest.mark.parametrize("key", ["command", "row", "0", "situation"])
def test_a_key_that_is_there_twice_is_found(
    key: str, small: dict[str, Any], tmp_path: Path
) -> None:
    text = json.dumps(small)
    start = text.index(f'"{key}": ', text.index('"train": ['))
    value, _ = json.JSONDecoder().raw_decode(text[start + len(key) + 4 :])
    field = f'"{key}": {json.dumps(value)}'
    assert text[start : start + len(field)] == field
    path = tmp_path / "dataset.txt"
    for again in (field, field.replace(":", " :", 1)):
        path.write_text(f"{text[:start]}{again}, {text[start:]}")
        (found,) = gscan_json.examine(path).disagreements
        column = start + len(again) + len(", ") - text.index("{", text.index('"train": [')) + 1
        said = f"no JSON: the key '{key}' is there twice at column {column}"
        assert found == ("train", 0, said)


def replaced(data: bytes, new: bytes) -> tuple[bytes, int]:
    """Replace `walk` in the first test example; return the file and the column of `walk`."""
    example = data.index(b"{", data.index(b'"test": ['))
    at = data.index(b"walk", example)
    return data[:at] + new + data[at + 4 :], at - example + 1


def test_a_byte_of_an_example_that_is_not_utf_8_is_found_with_its_column(
    small: dict[str, Any], tmp_path: Path
) -> None:
    data, column = replaced(json.dumps(small).encode(), b"w\xfflk")
    path = tmp_path / "dataset.txt"
    path.write_bytes(data)
    (found,) = gscan_json.examine(path).disagreements
    assert found == ("test", 0, f"not UTF-8 at column {column + 1}")


@pytest.mark.parametrize("new", [b"w\\ud800lk", b"w\x1blk", b'walk" "', b'w": [' + b"[" * 3000])
def test_a_file_that_is_no_json_is_refused_with_the_example(
    new: bytes, small: dict[str, Any], tmp_path: Path
) -> None:
    data, _ = replaced(json.dumps(small).encode(), new)
    path = tmp_path / "dataset.txt"
    path.write_bytes(data)
    with pytest.raises(WrongFile, match=r"dataset\.txt: no JSON in example 0 of 'test': "):
        gscan_json.examine(path)


def test_a_wrong_byte_outside_of_the_examples_is_found_with_its_place(
    small: dict[str, Any], tmp_path: Path
) -> None:
    data = json.dumps({**small, "after": "é?"}, ensure_ascii=False).encode()
    path = tmp_path / "dataset.txt"
    path.write_bytes(data.replace(b"?", b"\xff"))
    with pytest.raises(WrongFile, match="in its header: 'after': not UTF-8 at column 3"):
        gscan_json.read(path)


@pytest.mark.parametrize(
    ("number", "more", "kind"), [(1, "7", "int"), (0, '"walk"', "str"), (0, "[]", "array")]
)
def test_an_example_that_is_no_object_is_found(
    number: int, more: str, kind: str, small: dict[str, Any], tmp_path: Path
) -> None:
    small["examples"]["train"].insert(number, json.loads(more))
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(small))
    (found,) = gscan_json.examine(path).disagreements
    assert found == ("train", number, f"Expected `object`, got `{kind}`")


def test_an_example_that_is_too_long_is_found(small: dict[str, Any], tmp_path: Path) -> None:
    small["examples"]["train"][3]["command"] += " " * (1 << 20)
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(small))
    (found,) = gscan_json.examine(path).disagreements
    assert found == ("train", 3, "has more than 1,048,576 bytes")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda text: text[: len(text) // 3], "cut off in example"),
        (lambda text: text[:-2], "cut off in its header"),
        (lambda text: "", "the file is empty; expected a dataset.txt of gSCAN"),
        (lambda text: "[1, 2]", "is a JSON array; expected a dataset.txt of gSCAN"),
        (lambda text: '{"a": 1}', "expected one JSON object with `examples`"),
        (lambda text: text.replace("}, {", "} {", 1), "in example 1 of 'train': expected ','"),
        (lambda text: text.replace("}, {", "},, {", 1), "in example 1 of 'train': invalid char"),
        (lambda text: text.replace('"dev": [', '"train": [', 1), "the key 'train' is there twice"),
        (lambda text: text + "}", "no JSON outside of the examples"),
        (lambda text: '{"grid_size": 4, "examples": {"train": {}}}', "lists of examples"),
        (lambda text: '{"grid_size": 4, "examples": {"train": null}}', "lists of examples"),
        (lambda text: text.replace('"grid_size": 4', '"grid_size": [4]', 1), "in its header: "),
        (
            lambda text: text.replace('"simple_trans"', '"loud"', 1),
            "in its header: type_grammar is 'loud'; expected a dataset.txt of gSCAN with"
            " type_grammar adverb, normal, simple_trans or simple_intrans",
        ),
        (
            lambda text: text.replace('"red": "red"', '"pink": "pink"', 1),
            "in its header: color_adjectives are named 'pink'; expected red, green, yellow, blue",
        ),
        (
            lambda text: text.replace('"square": "square"', '"cru": "square", "dax": "circle"', 1),
            "in its header: nouns are named 'cru, dax'; expected circle, square, cylinder, as in"
            " files made without `--sample_vocabulary=sample`",
        ),
        (
            lambda text: text.replace('"walk": "walk"', '"walk": "push"', 1),
            "in its header: intransitive_verbs are named 'walk'; expected walk, push, pull",
        ),
        (
            lambda text: text.replace('"simple_trans"', '"ReaSCAN-Grammer"', 1),
            "is a file of ReaSCAN (type_grammar 'ReaSCAN-Grammer'); expected a dataset.txt of",
        ),
        (
            lambda text: '{"sos_token": "<SOS>",\n "eos_token": "<EOS>"}',
            "is a vocabulary of the gSCAN authors' program; expected a dataset.txt of gSCAN",
        ),
        (
            lambda text: "IN: jump OUT: I_JUMP\n",
            "is text with lines `IN: ... OUT: ...`, as SCAN's; expected a dataset.txt of gSCAN",
        ),
        (lambda text: "walk left\n", "is no JSON object; expected a dataset.txt of gSCAN"),
        (
            lambda text: text.replace("{", '{"note": "' + " " * (1 << 24) + '", ', 1),
            "has more than 16,777,216 bytes outside of its examples",
        ),
    ],
)
def test_a_damaged_file_is_refused(
    damage: Callable[[str], str], problem: str, small: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "dataset.txt"
    path.write_text(damage(json.dumps(small)))
    with pytest.raises(WrongFile) as refused:
        gscan_json.examine(path)
    assert problem in str(refused.value)


def test_lists_beside_the_examples_are_part_of_the_header(
    small: dict[str, Any], tmp_path: Path
) -> None:
    small["more"] = {"train": [{"a": 1}], "b": [2]}
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(dict(reversed(small.items()))))
    found = gscan_json.examine(path)
    assert found.header["more"] == small["more"]
    assert found.counts["train"] == len(small["examples"]["train"])


def test_vectors_in_which_a_bit_stands_for_two_things_are_found(
    small: dict[str, Any], tmp_path: Path
) -> None:
    for examples in small["examples"].values():
        for example in examples:
            for each in (target(example), *example["situation"]["placed_objects"].values()):
                each["vector"] = "1"
    path = tmp_path / "dataset.txt"
    path.write_text(json.dumps(small))
    assert gscan_json.examine(path).disagreements


def test_an_archive_is_said_to_be_one(tmp_path: Path) -> None:
    """The authors publish archives."""
    path = tmp_path / "compositional_splits.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("dataset.txt", "{}")
    with pytest.raises(
        WrongFile, match=r"is a zip archive; expected a dataset.txt of .*; unpack it first"
    ):
        gscan_json.examine(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongFile, match="no such file"):
        gscan_json.examine(tmp_path / "dataset.txt")
    with pytest.raises(WrongFile, match="cannot be read"):
        gscan_json.examine(tmp_path)
