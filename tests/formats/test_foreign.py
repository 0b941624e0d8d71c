"""Files of other programs: each shape is read right, or refused with its line and what to do."""

import io
import json
import os
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.core.errors import WrongFile
from daxy.core.examples import Examples
from daxy.formats import foreign
from daxy.formats.columns import Layout

WANTED = [(("walk", "twice"), ("I_WALK", "I_WALK")), (("jump",), ("I_JUMP",))]
LINES = "walk twice\tI_WALK I_WALK\njump\tI_JUMP\n"


def pairs(examples: Examples) -> list[tuple[Any, Any]]:
    return list(zip(examples.source, examples.target, strict=True))


def parquet(**changes: Any) -> bytes:
    values = {"source": ["walk twice", "jump"], "target": ["I_WALK I_WALK", "I_JUMP"], **changes}
    out = io.BytesIO()
    pq.write_table(pa.table(values), out)
    return out.getvalue()


def arrow(values: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    table = pa.table(values)
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    return out.getvalue()


RECORDS = [
    {"source": "walk twice", "target": "I_WALK I_WALK"},
    {"source": "jump", "target": "I_JUMP"},
]
RIGHT: dict[str, tuple[str, str | bytes, dict[str, Any]]] = {
    "tabs": ("a.tsv", LINES, {}),
    "no last line end": ("a.tsv", LINES.rstrip("\n"), {}),
    "blank lines at the end": ("a.tsv", LINES + "\n\n", {}),
    "CR LF": ("a.tsv", LINES.replace("\n", "\r\n"), {}),
    "byte order mark": ("a.tsv", "\ufeff" + LINES, {}),
    "suffix txt": ("a.txt", LINES, {}),
    "no suffix": ("a", LINES, {}),
    "double spaces": ("a.tsv", LINES.replace(" ", "  "), {}),
    "spaces at the ends": ("a.tsv", LINES.replace("\t", " \t "), {}),
    "header": ("a.tsv", f"source\ttarget\n{LINES}", {}),
    "header in capitals": ("a.tsv", f"Source\tTarget\n{LINES}", {}),
    "other names": ("a.tsv", f"input\toutput\n{LINES}", {}),
    "named columns": ("a.tsv", f"q\ta\n{LINES}", {"source_column": "q", "target_column": "a"}),
    "other order": (
        "a.tsv",
        "target\tid\tsource\nI_WALK I_WALK\t1\twalk twice\nI_JUMP\t2\tjump\n",
        {},
    ),
    "commas": ("a.csv", LINES.replace("\t", ","), {}),
    "commas and quotes": ("a.csv", '"walk twice","I_WALK I_WALK"\njump,I_JUMP\n', {}),
    "quotes removed": ("a.tsv", '"walk twice"\tI_WALK I_WALK\njump\tI_JUMP\n', {"quotes": "yes"}),
    "JSON lines": ("a.jsonl", "".join(json.dumps(each) + "\n" for each in RECORDS), {}),
    "JSON list": ("a.json", json.dumps(RECORDS), {}),
    "JSON lines with lists": (
        "a.jsonl",
        "".join(
            json.dumps({name: text.split() for name, text in each.items()}) + "\n"
            for each in RECORDS
        ),
        {},
    ),
    "JSON of columns": (
        "a.json",
        json.dumps({name: [each[name] for each in RECORDS] for name in ("source", "target")}),
        {},
    ),
    "Parquet of texts": ("a.parquet", parquet(), {}),
    "Parquet of lists": (
        "a.parquet",
        parquet(source=[["walk", "twice"], ["jump"]], target=[["I_WALK"] * 2, ["I_JUMP"]]),
        {},
    ),
    "Parquet of codes": (
        "a.parquet",
        parquet(source=pa.array(["walk twice", "jump"]).dictionary_encode()),
        {},
    ),
    "Arrow": (
        "a.arrow",
        arrow({"source": ["walk twice", "jump"], "target": ["I_WALK I_WALK", "I_JUMP"]}),
        {},
    ),
    "lines of SCAN": ("a.txt", "IN: walk twice OUT: I_WALK I_WALK\nIN: jump OUT: I_JUMP\n", {}),
    "joint sequences": (
        "a.txt",
        "<s> walk twice ||| I_WALK I_WALK </s>\n<s> jump ||| I_JUMP </s>\n",
        {},
    ),
}


@pytest.mark.parametrize("shape", RIGHT)
def test_a_shape_is_read(shape: str, tmp_path: Path) -> None:
    name, content, layout = RIGHT[shape]
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    (examples,) = foreign.read(path, Layout(**layout)).values()
    assert pairs(examples) == WANTED


WRONG: dict[str, tuple[str, str | bytes, str]] = {
    "nothing": ("a.tsv", "", "a.tsv: the file is empty"),
    "no tab": ("a.tsv", "walk I_WALK\n", "a.tsv:1: no tab in 'walk I_WALK'"),
    "blank line": ("a.tsv", "a b\tx\n\nc\tx\n", "a.tsv:2: no token in column 'source'"),
    "three columns": ("a.tsv", "a b\tx\nc\tx\ty\n", "a.tsv:2: 3 columns .*; expected 2"),
    "three columns throughout": ("a.tsv", "a b\tx\ty\n", "3 columns and no header"),
    "empty source": ("a.tsv", "a b\tx\n\tx\n", "a.tsv:2: no token in column 'source'"),
    "unprintable": ("a.tsv", "a b\tx\na \u200bb\tx\n", "a.tsv:2: unprintable token"),
    "not UTF-8": ("a.tsv", b"a b\tx\na\t\xff\n", "a.tsv:2: byte 0xff is not UTF-8"),
    "mixed line ends": ("a.tsv", "a b\tx\r\nc\tx\n", "a.tsv:2: the line ends in LF"),
    "unknown header": ("a.tsv", "question\tanswer\na b\tx y\n", "a.tsv:1: .* may be a header"),
    "quotes": ("a.tsv", 'a b\tx\n"a"\t"x"\n', "a.tsv:2: a cell in double quotes"),
    "the same column twice": ("a.tsv", "source\ttarget\ttarget\na\tx\tx\n", "two columns are"),
    "UTF-16": ("a.tsv", LINES.encode("utf-16"), "UTF-16 text.*iconv"),
    "a pickle": ("a.pkl", b"\x80\x04K\x01.", "daxy loads no pickles"),
    "gzip": ("a.tsv.gz", b"\x1f\x8b\x08", "unpack it first"),
    "a web page": ("a.tsv", "<!DOCTYPE html>", "download the raw file"),
    "an unknown column": ("a.tsv", LINES, "a.tsv:1: no header with the column 'foo'"),
    "an empty part": ("a.csv", "split,source,target\ntrain,a,x\n,b,y\n", "a.csv:3: nothing in"),
    "lists of numbers": ("a.jsonl", '{"source": [1], "target": [2]}\n', "list<item: int64>; exp"),
    "a null in a list": (
        "a.jsonl",
        '{"source": ["a", null], "target": ["b"]}\n',
        "a.jsonl:1: a null",
    ),
    "texts and lists": (
        "a.jsonl",
        '{"source": "a b", "target": "x"}\n{"source": ["c"], "target": "x"}\n',
        "a.jsonl:2: 'source' is a list, and a str before",
    ),
    "worlds": ("a.parquet", parquet(grid=[1, 2]), r"has worlds \(column 'grid'\)"),
    "numbers": ("a.parquet", parquet(target=[1, 2]), "column 'target' is int64"),
    "nulls": ("a.parquet", parquet(target=["x", None]), "row 2: nothing in column 'target'"),
    "no column": ("a.jsonl", '{"text": "a"}\n', "no column 'source'; it has 'text'"),
    "JSON of numbers": ("a.json", "[1]", "entry 1 of the list is no object"),
}


@pytest.mark.parametrize("shape", WRONG)
def test_another_shape_is_refused_with_its_place(shape: str, tmp_path: Path) -> None:
    name, content, message = WRONG[shape]
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(WrongFile, match=message):
        foreign.read(path, Layout(source_column="foo" if "unknown column" in shape else ""))


def test_two_files_of_one_part_are_refused(tmp_path: Path) -> None:
    for name in ("train.tsv", "train.csv"):
        (tmp_path / name).write_text(LINES)
    with pytest.raises(WrongFile, match=r"several files of train: train\.csv, train\.tsv"):
        foreign.read(tmp_path, Layout())


def test_an_empty_target_is_a_target(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a b\tx y\nc\t\nd\tz\n")
    (examples,) = foreign.read(tmp_path / "a.tsv", Layout()).values()
    assert list(examples.target) == [("x", "y"), (), ("z",)]


def test_characters_are_tokens(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("ab\txy z\n")
    (examples,) = foreign.read(tmp_path / "a.tsv", Layout(tokens="characters")).values()
    assert pairs(examples) == [(("a", "b"), ("x", "y", " ", "z"))]


def test_a_column_names_the_part(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "split,source,target\ntrain,a,x\ntest,b,y\ndev,c,z\ntrain,d,x\n"
    )
    parts = foreign.read(tmp_path / "a.csv", Layout())
    assert {name: list(part.source) for name, part in parts.items()} == {
        "train": [("a",), ("d",)],
        "test": [("b",)],
        "validation": [("c",)],
    }


def test_two_files_have_a_side_each(tmp_path: Path) -> None:
    (tmp_path / "src.txt").write_text("walk twice\njump\n")
    (tmp_path / "tgt.txt").write_text("I_WALK I_WALK\nI_JUMP\n")
    place = Path(f"{tmp_path}/src.txt,{tmp_path}/tgt.txt")
    assert pairs(foreign.read(place, Layout())[""]) == WANTED


def test_a_folder_has_a_file_a_part(tmp_path: Path) -> None:
    (tmp_path / "train-00000-of-00002.parquet").write_bytes(parquet())
    (tmp_path / "train-00001-of-00002.parquet").write_bytes(parquet(source=["run", "look"]))
    (tmp_path / "valid.tsv").write_text(LINES)
    (tmp_path / "provenance.json").write_text("{}")
    parts = foreign.read(tmp_path, Layout())
    assert {name: len(part) for name, part in parts.items()} == {"train": 4, "validation": 2}
    assert parts["train"].source[2] == ("run",)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(LINES,))
    writer.start()
    assert pairs(foreign.read(pipe, Layout())[""]) == WANTED
    writer.join()


words = st.text(st.characters(categories=("L", "N", "P")), min_size=1, max_size=5)
sides = st.lists(words, min_size=1, max_size=4)


@given(st.lists(st.tuples(sides, sides), min_size=1, max_size=8))
def test_any_pairs_are_read_as_they_were_written(rows: list[tuple[list[str], list[str]]]) -> None:
    texts = [(" ".join(source), " ".join(target)) for source, target in rows]
    read = foreign.of_values(texts, "train", Layout())[""]
    assert pairs(read) == [(tuple(source), tuple(target)) for source, target in rows]


def test_parts_with_other_tokens_are_joined() -> None:
    parts = [Examples.of([("b a", "y")]), Examples.of([("c", "x y"), ("a", "z")])]
    assert pairs(Examples.joined(parts)) == [
        (("b", "a"), ("y",)),
        (("c",), ("x", "y")),
        (("a",), ("z",)),
    ]
