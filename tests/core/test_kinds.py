"""The kind of a file, by its first bytes as their formats' documents give them."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.core.errors import WrongFile
from daxy.core.kinds import check_kind, kind_of


def archived(kind: str) -> bytes:
    """Return an archive with one file of text."""
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w") as file:
            file.writestr("tasks.txt", "IN: jump OUT: I_JUMP\n")
    else:
        with tarfile.open(fileobj=buffer, mode="w") as file:
            file.addfile(tarfile.TarInfo("tasks.txt"), io.BytesIO(b""))
    return buffer.getvalue()


def parquet() -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table({"key": ["a"]}), buffer)
    return buffer.getvalue()


TEXT = b"IN: jump OUT: I_JUMP\n"
KINDS = {
    "empty": b"",
    "zip": archived("zip"),
    "tar": archived("tar"),
    "gzip": gzip.compress(TEXT),
    "xz": lzma.compress(TEXT),
    "bzip2": bz2.compress(TEXT),
    "7z": b"7z\xbc\xaf\x27\x1c\x00\x04",
    "parquet": parquet(),
    "html": b"\n<!DOCTYPE html>\n<html><title>Not found</title>",
    "not-found": b"404: Not Found",
    "git-lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
    "utf-16": "IN: jump OUT: I_JUMP\n".encode("utf-16"),
    "utf-32": "IN: jump OUT: I_JUMP\n".encode("utf-32"),
    "binary": bytes(5_000),
    "json-array": b'[\n  {"command": "walk"}\n]',
    "json-lines": b'{"a": 1}\n{"a": 2}\n',
    "json": b'{"size": 4,\n "agent": [3, 0]}',
    "gscan": b'{"grid_size": 6, "type_grammar": "adverb", "examples": {"train": [',
    "reascan": b'{\n "grid_size": 6,\n "type_grammar": "ReaSCAN-Grammer",\n',
    "vocabulary": b'{\n    "sos_token": "<SOS>",',
    "scan-text": TEXT,
}


@pytest.mark.parametrize(("name", "begin"), KINDS.items(), ids=KINDS)
def test_a_kind_is_known_by_its_first_bytes(name: str, begin: bytes) -> None:
    kind = kind_of(begin)
    assert kind is not None
    assert kind.name == name


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("value", [["walk"], {"walk": 1}], ids=["list", "dict"])
def test_pickles_of_every_protocol_are_known(protocol: int, value: object) -> None:
    kind = kind_of(pickle.dumps(value, protocol))
    assert kind is not None
    assert kind.name == "pickle"


def test_utf_16_is_known_without_its_mark() -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        kind = kind_of("walk left\tI_WALK".encode(encoding))
        assert kind is not None
        assert kind.name == "utf-16"


@pytest.mark.parametrize(
    "text",
    [
        "walk left",
        "i am .\tje suis .\n",
        "S -> <A B>",
        "I_WALK\nI_JUMP\n",
        "[PAD] I_WALK",
        "a\x07b",
    ],
)
def test_other_text_is_of_no_kind(text: str) -> None:
    assert kind_of(text.encode()) is None


@given(st.binary(max_size=5_000))
def test_any_bytes_have_a_kind_or_none(begin: bytes) -> None:
    kind = kind_of(begin)
    assert kind is None or kind.noun


def test_nested_json_is_no_error() -> None:
    kind = kind_of(b'{"a":' * 2_000)
    assert kind is not None
    assert kind.name == "json"


def test_a_refusal_says_the_kind_what_was_expected_and_what_to_do() -> None:
    with pytest.raises(WrongFile) as error:
        check_kind(KINDS["zip"], Path("tasks.txt"), "lines of text", reads=("json",))
    assert str(error.value) == (
        "tasks.txt: is a zip archive; expected lines of text; unpack it first"
    )
    check_kind(json.dumps({"size": 4}).encode(), "world.json", "a world", reads=("json",))
