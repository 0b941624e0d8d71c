"""Examples keep every key, token and world in the tables and arrays of other libraries."""

from pathlib import Path

import numpy as np
import pytest

import daxy
from daxy.cli import main
from daxy.core.errors import WrongRequest
from daxy.core.split import Split
from daxy.core.vocabulary import END, PAD

GROUNDED = {"grid": 4, "resampling": 1, "kind": "simple_trans", "max_length": 5}


@pytest.fixture(scope="module")
def split() -> Split:
    return daxy.load("scan/addprim_jump", validation="draw")


@pytest.fixture(scope="module")
def grounded() -> Split:
    return daxy.load("gscan/length", **GROUNDED)


@pytest.mark.parametrize("form", ["pandas", "datasets"])
def test_a_split_comes_back_whole(split: Split, form: str) -> None:
    pytest.importorskip(form)
    tables = {name: getattr(part, f"to_{form}")() for name, part in split.parts.items()}
    for name, part in split.parts.items():
        assert list(tables[name]["key"]) == list(part.keys)
    again = daxy.pairs(tables)
    assert {name: part.keys for name, part in again.parts.items()} == {
        name: part.keys for name, part in split.parts.items()
    }


def test_a_table_has_the_world_of_each_example(grounded: Split) -> None:
    pytest.importorskip("datasets")
    some = grounded.test[:20]
    for row, example in zip(some.to_datasets(), some, strict=True):
        placed = {(it["row"], it["column"]) for it in row["things"]}
        assert placed == {cell for _, cell in example.world.placed}
        assert (row["agent_row"], row["agent_column"]) == example.world.agent
        assert row["target"] == list(example.target)


@pytest.mark.parametrize("pad", [PAD, -100])
def test_codes_are_the_tokens_and_the_end(split: Split, pad: int) -> None:
    for part in split.parts.values():
        arrays = part[:200].numpy(pad=pad)
        for side in ("source", "target"):
            rows, symbols = getattr(arrays, side), getattr(part, side).symbols
            mask = getattr(arrays, f"{side}_mask")
            assert (rows[~mask] == pad).all()
            assert (mask.sum(axis=1) == getattr(arrays, f"{side}_lengths")).all()
            for codes, kept, tokens in zip(rows, mask, getattr(part[:200], side), strict=True):
                *inner, end = codes[kept]
                assert end == END
                assert tuple(symbols[code - 2] for code in inner) == tokens


def test_a_code_is_one_token_in_all_parts() -> None:
    """A network that learns from one part reads the codes of the others."""
    split = daxy.pairs([("a c", "x")], {"one": [("b", "z y")], "two": [("c", "x")]})
    assert split.train.source.symbols == split.test.source.symbols == ("a", "b", "c")
    assert split.train.numpy().source.tolist() == [[2, 4, END]]
    assert split.test.numpy().source.tolist() == [[3, END], [4, END]]
    assert split.test.numpy().target_vocabulary.decode(split.test.numpy().target)[0] == ("z", "y")


@pytest.mark.parametrize("task", ["scan/length", "nacs/addprim_jump", "translation/daxy"])
def test_the_parts_of_every_benchmark_share_their_tokens(task: str) -> None:
    parts = daxy.load(task, validation="draw").parts.values()
    assert len({part.source.symbols for part in parts}) == 1
    assert len({part.target.symbols for part in parts}) == 1


def test_padding_is_not_the_code_of_a_token(split: Split) -> None:
    with pytest.raises(WrongRequest, match="pad must be 0 or negative, not 2"):
        split.train.numpy(pad=2)


def test_more_tokens_than_codes_are_refused() -> None:
    words = [f"w{number}" for number in range(1 << 16)]
    split = daxy.pairs([(word, "x") for word in words], [("w0", "x")])
    with pytest.raises(WrongRequest, match="65,536 distinct tokens; at most 65,534 have codes"):
        split.train.numpy()


@pytest.mark.peer
def test_a_loader_has_each_example_once(split: Split, grounded: Split) -> None:
    torch = pytest.importorskip("torch")
    loader = split.test.torch(batch_size=64, shuffle=True, seed=3)
    batches = list(loader)
    keys = [key for batch in batches for key in batch["keys"]]
    assert keys != list(split.test.keys)
    assert sorted(keys) == sorted(split.test.keys)
    assert [it["keys"] for it in split.test.torch(batch_size=64, shuffle=True, seed=3)] == [
        it["keys"] for it in batches
    ]
    for batch in batches[:3]:
        assert batch["source"].shape[1] == int(batch["source_lengths"].max())
        assert batch["target"].dtype == torch.int64
        assert bool((batch["target_mask"].sum(1) == batch["target_lengths"]).all())
    batch = next(iter(grounded.train.torch(batch_size=8)))
    seen = grounded.train[:8].observations
    assert seen is not None
    assert np.array_equal(batch["worlds"].numpy(), seen.cell_features[seen.cell_ids])


@pytest.mark.parametrize(
    ("task", "choices"),
    [
        ("scan/addprim_jump", {"validation": "draw"}),
        ("gscan/compositional", {"grid": 4, "resampling": 1, "kind": "normal", "shots": 0}),
    ],
)
def test_a_folder_for_the_hub_is_loaded(task: str, choices: dict, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    flags = [word for name, value in choices.items() for word in (f"--{name}", str(value))]
    folder = tmp_path / "data set"
    assert main.main(["export", task, *flags, "--format", "hub", "--out", f"{folder}/"]) == 0
    loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    wanted = {name: part for name, part in daxy.load(task, **choices).named.items() if len(part)}
    assert list(loaded) == list(wanted)
    for name, part in wanted.items():
        assert tuple(loaded[name]["key"]) == part.keys
        assert loaded[name][0]["source"] == list(part.source[0])
        assert tuple(loaded[name].features)[:3] == ("key", "source", "target")
    assert f"# {task}" in (folder / "README.md").read_text()

    (folder / "README.md").unlink()
    before = (folder / "data" / "train.parquet").read_bytes()
    again = ["export", task, *flags, "--format", "hub", "--out", f"{folder}/"]
    assert main.main(again) == 2
    (folder / "data" / "mine.parquet").write_bytes(before)
    assert main.main([*again, "--force"]) == 2
    assert not (folder / "README.md").exists()
    assert (folder / "data" / "train.parquet").read_bytes() == before
    (folder / "data" / "mine.parquet").unlink()
    assert main.main([*again, "--force"]) == 0
    if task.startswith("scan"):
        assert daxy.pairs(folder).test.keys == wanted["test"].keys
        assert daxy.pairs(loaded).train.keys == wanted["train"].keys
