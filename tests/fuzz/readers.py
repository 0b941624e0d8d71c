"""The readers of files and commands: valid inputs of each, and what holds of all it accepts."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from safetensors.numpy import save

from daxy import papers
from daxy.cli._parse import parse
from daxy.cli.main import VERBS
from daxy.core.examples import Examples, Sequences
from daxy.core.files import write_json
from daxy.core.split import Provenance, Sizes
from daxy.formats import (
    _gscan_writing,
    gscan_json,
    joint_text,
    jsonl,
    parallel,
    parquet,
    predictions,
    scan_text,
    tatoeba,
    tsv,
    world_json,
)
from daxy.languages import copular, grounded, itg, scan, spelling
from daxy.reproduction.entry import Entry
from daxy.reproduction.ledger import Ledger, text
from daxy.runs.config import FORMAT
from daxy.runs.folder import RESULTS, RunFolder
from daxy.training.checkpoint import Checkpoint, named_arrays, read_arrays, restored
from daxy.worlds.columns import Worlds
from daxy.worlds.demonstration import demonstrate
from daxy.worlds.grid import ACTIONS, GridCell, Placed
from daxy.worlds.world import World

CUT = b"\0\0\n"
"""Stands in an input between what goes to two files."""
RESULTS_FOLDER = Path(__file__).parents[2] / "results"


@dataclass(frozen=True)
class Reader:
    """How inputs are read, in a folder for files, and written again as another input."""

    name: str
    inputs: Sequence[bytes]
    read: Callable[[bytes, Path], Any]
    check: Callable[[Any], object]
    write: Callable[[Any, Path], bytes] | None = None
    plain: Callable[[Any], Any] = lambda value: value
    """Gives what can be compared."""
    cost: int = 1
    """One input where a cheaper reader has so many."""


def of_file(name: str, read: Callable[[Path], Any]) -> Callable[[bytes, Path], Any]:
    def placed(data: bytes, folder: Path) -> Any:
        (folder / name).write_bytes(data)
        return read(folder / name)

    return placed


def to_file(write: Callable[[Path, Any], object], name: str = "w") -> Callable[[Any, Path], bytes]:
    def written(value: Any, folder: Path) -> bytes:
        write(folder / name, value)
        return (folder / name).read_bytes()

    return written


def of_two(read: Callable[[Path, Path], Any]) -> Callable[[bytes, Path], Any]:
    def placed(data: bytes, folder: Path) -> Any:
        paths = folder / "x.src", folder / "x.trg"
        for path, half in zip(paths, data.partition(CUT)[::2], strict=True):
            path.write_bytes(half)
        return read(*paths)

    return placed


def of_words(read: Callable[[str], Any]) -> Callable[[bytes, Path], Any]:
    """Return a reader of what a terminal passes on, whatever its bytes."""
    return lambda data, _: read(data.decode("utf-8", "surrogateescape").replace("\0", ""))


# Pairs

SOME = Examples.of([("jump twice".split(), ["I_JUMP"] * 2), (["walk"], ["I_WALK"])])
PARTS = {"train": SOME, "test": SOME[:1]}
CIRCLE, SQUARE = grounded.Thing("circle", "red", 2), grounded.Thing("square", "blue", 4)
WORLD = World(
    4, GridCell(0, 0), (Placed(CIRCLE, GridCell(1, 2)), Placed(SQUARE, GridCell(3, 3))), 2
)
WORLDS = (WORLD, World(4, GridCell(1, 0), WORLD.placed))
WALK = grounded.parse(("walk", "to", "a", "circle"))
SEEN = Examples(
    Sequences.of([grounded.say(WALK)] * 2),
    Sequences.of([tuple(demonstrate(WALK, world)) for world in WORLDS]),
    Worlds.of(WORLDS),
)
ABOUT = Provenance(
    task="scan/simple", rule="some", seed=0, sizes=Sizes(train=2, test=1), checksum="0" * 16
)


def rows(examples: Examples) -> list[Any]:
    worlds = examples.worlds if examples.worlds is not None else [None] * len(examples)
    return list(zip(examples.keys, examples.source, examples.target, worlds, strict=True))


def rows_of_parts(parts: Any) -> Any:
    return {name: rows(examples) for name, examples in parts.items()}


def check_words(examples: Examples) -> None:
    for _, source, target, _ in rows(examples):
        assert source and target
        assert all(each.isprintable() and each.split() == [each] for each in (*source, *target))


def check_parts(parts: Any) -> None:
    for examples in parts.values():
        assert len(examples)
        for _, source, target, world in rows(examples):
            assert all(isinstance(token, str) for token in (*source, *target))
            assert world is None or check_world(world) is None


def check_world(world: World) -> None:
    cells = [cell for _, cell in world.placed]
    assert len(set(cells)) == len(cells)
    assert all(0 <= each < world.size <= 255 for cell in (*cells, world.agent) for each in cell)
    for thing, _ in world.placed:
        assert thing.shape in grounded.SHAPES and thing.color in grounded.COLORS
        assert thing.size in (1, 2, 3, 4)


def check_official(parts: Any) -> None:
    check_parts({name: part for name, part in parts.items() if len(part)})
    for part in parts.values():
        assert all(grounded.say(grounded.parse(source)) == source for source in part.source)
        assert {action for target in part.target for action in target} <= {*ACTIONS}


def pair_text(name: str, form: Any) -> Reader:
    inputs = [form.write(SOME).encode(), form.write(SOME[:1]).encode()[:-1]]
    read = of_file("pairs", form.read)
    return Reader(name, inputs, read, check_words, lambda v, _: form.write(v).encode(), rows)


def two_texts(name: str, read: Callable[[Path, Path], Examples]) -> Reader:
    def write(value: Examples, folder: Path) -> bytes:
        paths = parallel.write(folder / "y.src", value)
        return CUT.join(path.read_bytes() for path in paths)

    inputs = [b"jump twice\nwalk\n" + CUT + b"J J\nW\n", b"a\n" + CUT + b"b"]
    return Reader(name, inputs, of_two(read), check_words, write, rows)


def official(path: Path, parts: Any) -> None:
    _gscan_writing.write(path, parts, _gscan_writing.header(4, "adverb", 0.9))


def lines_of_pairs(lines: Sequence[tatoeba.Line], _: Path) -> bytes:
    return "".join(f"{each.english}\t{each.french}\n" for each in lines).encode()


def check_sentences(lines: Sequence[tatoeba.Line]) -> None:
    assert [each.number for each in lines] == list(range(1, len(lines) + 1))
    for side in (side for each in lines for side in (each.english, each.french)):
        assert side.strip() and not any(ord(sign) < 32 or sign == "\ufffd" for sign in side)


# Predictions


def said(name: str, *inputs: bytes, of: Examples = SOME, suffix: str = ".jsonl") -> Reader:
    def read(path: Path) -> predictions.AlignedPredictions:
        order = path.with_name("order.tsv")
        order.write_text(tsv.write(SOME))
        return predictions.read(path, of, predictions.ReadOptions(order=order))

    def check(found: predictions.AlignedPredictions) -> None:
        assert found.rows.tolist() == [0, 1]
        assert len(found.predictions) == 2
        known = {*of.source.symbols, *of.target.symbols}
        tokens = {token for each in found.predictions for token in each}
        assert all(token in known or token.split() == [token] for token in tokens)

    def write(path: Path, found: predictions.AlignedPredictions) -> None:
        predictions.write(path, of, found.predictions, {"exact": np.zeros(2)})

    def plain(found: predictions.AlignedPredictions) -> Any:
        return list(found.predictions)

    return Reader(name, inputs, of_file("said", read), check, to_file(write, f"w{suffix}"), plain)


BY_KEY = [{"key": key, "prediction": "a b"} for key in SOME.keys]
BY_SOURCE = [{"source": list(each), "prediction": ["a"]} for each in SOME.source]
ROWS = ["".join(json.dumps(row) + "\n" for row in each).encode() for each in (BY_KEY, BY_SOURCE)]
ARRAYS = [json.dumps(each).encode() for each in (BY_KEY, BY_SOURCE)]
BY_WORLD = [
    {"source": "walk,to,a,circle", "world": world_json.to_json(world), "prediction": "walk,stay"}
    for world in WORLDS
]


# Languages


def check_grammar(grammar: itg.Grammar) -> None:
    for name in grammar.nonterminals:
        assert sum(rule.probability for rule in grammar.rules_of[name]) == 1
    assert all(set(rule.children) <= set(grammar.nonterminals) for rule in grammar.rules)


GRAMMAR = "1/5 A -> B1 A2 | A2 B1\n0.3 A -> x A1 b | A1 c # one\n1/2 A -> x | y z\n1/2 B_i -> b_i\n"
SMALL = itg.read(GRAMMAR, "small")


def derived(line: str) -> tuple[str, itg.Derivation]:
    source, bars, target = line.partition("|||")
    return line, itg.parse(SMALL, tuple(source.split()), tuple(target.split()) if bars else None)


def check_derived(found: tuple[str, itg.Derivation]) -> None:
    source, bars, target = found[0].partition("|||")
    assert found[1].source == tuple(source.split())
    assert not bars or found[1].target == tuple(target.split())
    assert set(found[1].rules) <= set(SMALL.rules)


def check_meant(found: tuple[tuple[str, ...], Any]) -> None:
    words, (language, clauses) = found
    assert clauses and all(words in clause.sentences(language) for clause in clauses)


def sentence(line: str) -> Any:
    return spelling.words(line), copular.parse(spelling.words(line))


def command(say: Callable[[Any], tuple[str, ...]]) -> Callable[[Any, Path], bytes]:
    return lambda value, _: " ".join(say(value)).encode()


# Runs, the ledger, and arrays

HOME = "scan-simple.seq2seq.seed0.0"
DATA = {"seed": 0, "source": "generated", "version": 1}
LEARNER = {
    "model": "seq2seq",
    "config": {"hidden": 8},
    "training": {"budget": {"kind": "epochs", "epochs": 3}},
}
CONFIG = {"task": "scan/simple", "data": DATA, "learner": LEARNER, "seed": 0, "format": FORMAT}
PLACE = {"group": [HOME], "daxy": "0", "jax": "0", "device_kind": "cpu", "cores": 2, "resumed": []}
SCORES = {"metric": "exact", "test": {"exact": 0.5, "bleu": 0.1}, "test_examples": 2}
SCORES |= {"validation": None, "best_epoch": 1, "epochs": 2, "steps": 9, "statistics": {"a": 0.5}}
RECORDS = [
    {"epoch": n, "steps": 9 * n, "loss": 0.5, "validation": 1.0, "tests": {}} for n in (1, 2)
]
LOG = "".join(json.dumps(each) + "\n" for each in RECORDS).encode()


def digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def of_run(
    name: str, value: Any, read: Callable[[RunFolder], Any], check: Callable[[Any], object]
) -> Reader:
    """Return the reader of one file of a run folder, whose others are as they should be."""

    def placed(data: bytes, folder: Path) -> Any:
        run = RunFolder(folder / HOME)
        run.path.mkdir(exist_ok=True)
        for result in RESULTS:
            (run.path / result).write_bytes(result.encode())
        (run.path / name).write_bytes(data)
        return read(run)

    data = value if isinstance(value, bytes) else json.dumps(value, indent=2).encode()
    again = None if isinstance(value, bytes) else to_file(write_json)
    return Reader(name, [data], placed, check, again)


def check_scores(scores: Any) -> None:
    for each in (
        scores["test"],
        scores.get("validation_scores", {}),
        *scores.get("tests", {}).values(),
    ):
        assert all(0 <= share <= 1 or isnan(share) for share in each.values()), each


def check_filed(entries: Sequence[Entry]) -> None:
    assert len({each.training for each in entries}) == len(entries)
    assert all(0 <= each.score <= 1 and each.run in each.group for each in entries)


TABLE = papers.get("bastings2018").table("table4")
FILED = Ledger(RESULTS_FOLDER).entries(TABLE)[:2]


def ledger(data: bytes, folder: Path) -> list[Entry]:
    path = Ledger(folder).path(TABLE)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return Ledger(folder).entries(TABLE)


STATE = {"weights": jnp.arange(6.0).reshape(2, 3), "count": jnp.array([3], "int32")}


def state(path: Path) -> Any:
    checkpoint = Checkpoint(path)
    names = checkpoint.owners()
    assert all(isinstance(name, str) for name in names), names
    return checkpoint.load(STATE), checkpoint.position()


def position_and_runs(position: Path, runs: Path) -> Any:
    """Return what is read of a checkpoint whose texts are these, and whose digest is right."""
    texts = [path.read_bytes().decode("utf-8", "replace") for path in (position, runs)]
    path = position.with_name("made")
    Checkpoint(path).save(STATE, {})
    both = hashlib.blake2b("".join(texts).encode(), digest_size=16)
    for name, own in sorted(named_arrays(STATE).items()):
        both.update(f"{name} {own.dtype} {own.shape}".encode() + own.tobytes())
    metadata = dict(zip(("position", "runs"), texts, strict=True)) | {"digest": both.hexdigest()}
    path.write_bytes(save(named_arrays(STATE), metadata))
    return state(path)


def check_state(found: Any) -> None:
    (tree, position), same = found
    assert isinstance(position, dict) and position == same
    assert all(np.array_equal(tree[name], STATE[name]) for name in STATE)


def arrays(path: Path) -> Any:
    return restored(read_arrays(path)[0], STATE, path)


# The command line

LINES = (
    "train scan/simple --cell gru --seeds 3 --learning-rates 0.1 0.2",
    "train gscan/compositional multimodal --variant paper --seeds 2 --json",
    "interpret scan jump twice --debug",
    "show scan/simple --json",
    "export scan/simple --format jsonl --seed 3",
    "score scan/simple --predictions p.jsonl --partial",
    "papers lake2018 --json",
    "tasks --json",
)


def request(line: str) -> Any:
    name, *words = line.split(" ")
    try:
        return parse(VERBS.get(name), name, words)
    except SystemExit as stop:
        assert not stop.code  # help was asked for
        return None


def made(write: Callable[[Path], object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "file")
        return (Path(folder) / "file").read_bytes()


def table_of(parts: Any) -> bytes:
    return made(lambda path: parquet.write(path, parts, ABOUT))


def always(_: object) -> None:
    return None


def holds(condition: Callable[[Any], bool]) -> Callable[[Any], None]:
    def check(value: Any) -> None:
        assert condition(value)

    return check


READERS = {
    reader.name: reader
    for reader in [
        pair_text("scan text", scan_text),
        pair_text("joint text", joint_text),
        pair_text("tsv", tsv),
        two_texts("parallel text", lambda source, _: parallel.read(source)),
        Reader(
            "jsonl",
            [jsonl.write(PARTS).encode(), jsonl.write({"test": SEEN}).encode()],
            of_file("data", jsonl.read),
            check_parts,
            lambda parts, _: jsonl.write(parts).encode(),
            rows_of_parts,
        ),
        Reader(
            "parquet",
            [table_of(PARTS), table_of({"test": SEEN})],
            of_file("data", parquet.read),
            check_parts,
            to_file(lambda path, parts: parquet.write(path, parts, ABOUT)),
            rows_of_parts,
        ),
        Reader(
            "stored parquet",
            [table_of(PARTS), table_of({"test": SEEN})],
            of_file("data", lambda path: dict(parquet.Stored(path))),
            check_parts,
            to_file(lambda path, parts: parquet.write(path, parts, ABOUT)),
            rows_of_parts,
        ),
        said("predictions jsonl", *ROWS),
        said("predictions array", *ARRAYS, b'["a b", "c"]'),
        said("plain predictions", b"a b\nc\n"),
        said("predictions in worlds", json.dumps(BY_WORLD).encode(), of=SEEN),
        said(
            "predictions parquet",
            made(lambda path: predictions.write(path, SOME, SOME.target, {"exact": np.zeros(2)})),
            suffix=".parquet",
        ),
        Reader(
            "gscan dataset",
            [made(lambda path: official(path, {"train": SEEN, "dev": SEEN[:1]}))],
            of_file("dataset.txt", lambda path: gscan_json.read(path).parts),
            check_official,
            to_file(official),
            rows_of_parts,
        ),
        Reader(
            "world",
            [json.dumps(world_json.to_json(WORLD), indent=1).encode()],
            of_file("world.json", world_json.read),
            check_world,
            lambda world, _: json.dumps(world_json.to_json(world)).encode(),
        ),
        Reader(
            "tatoeba",
            [b"Go.\tVa !\nI'm ill.\tJe suis malade.\tCC-BY\r\n", "Hé!\tÇa va ?".encode()],
            of_file("fra.txt", tatoeba.read),
            check_sentences,
            lines_of_pairs,
        ),
        Reader(
            "itg grammar",
            [GRAMMAR.encode(), b"1/2 S -> a | b, a B1 | B1 c\n1 B -> b"],
            of_file("g.itg", itg.load),
            check_grammar,
            lambda grammar, _: "\n".join(map(str, grammar.rules)).encode(),
        ),
        Reader(
            "itg sentence",
            [b"b1 b2 x ||| y z b2 b1", b"x b1 x b", b"b1 x x b ||| y z c b1"],
            of_words(derived),
            check_derived,
        ),
        Reader(
            "scan command",
            [b"jump around left twice", b"turn opposite right after walk thrice"],
            of_words(lambda line: scan.SCAN.parse(tuple(line.split()))),
            holds(lambda found: scan.meanings()[scan.say(found)] == scan.denote(found)),
            command(scan.say),
        ),
        Reader(
            "gscan command",
            [b"push a red small circle while spinning", b"walk to a square hesitantly"],
            of_words(lambda line: grounded.parse(grounded.words(line))),
            holds(lambda found: grounded.say(found) in grounded.command_indices()),
            command(grounded.say),
        ),
        Reader(
            "copular sentence",
            [b"I'm not very tired.", "Je ne suis pas prêt .".encode(), b"you are ill ."],
            of_words(sentence),
            check_meant,
            command(lambda found: found[0]),
        ),
        of_run("config.json", CONFIG, lambda run: asdict(run.config()), always),
        of_run("environment.json", PLACE, lambda run: (run.group, run.environment())[1], always),
        of_run("scores.json", SCORES, lambda run: run.scores(), check_scores),
        of_run("log.jsonl", LOG, lambda run: (run.evaluations(), run.records())[1], always),
        of_run(
            "done",
            json.dumps({name: digest(name.encode()) for name in RESULTS}).encode(),
            lambda run: (run.is_done(), json.loads((run.path / "done").read_text()))[1],
            holds(lambda found: all(digest(name.encode()) == found[name] for name in RESULTS)),
        ),
        Reader(
            "ledger",
            [text(TABLE, FILED).encode()],
            ledger,
            check_filed,
            lambda v, _: text(TABLE, v).encode(),
        ),
        Reader(
            "checkpoint",
            [made(lambda path: Checkpoint(path, ("a",)).save(STATE, {"epoch": 3}))],
            of_file("state.safetensors", state),
            check_state,
        ),
        Reader(
            "position of a checkpoint",
            [b'{"epoch": 3, "losses": [0.1]}' + CUT + b'["a", "b"]'],
            of_two(position_and_runs),
            check_state,
        ),
        Reader(
            "model",
            [save(named_arrays(STATE), {"vocabularies": "{}"}), save(named_arrays(STATE))],
            of_file("model.safetensors", arrays),
            holds(lambda tree: all(tree[name].shape == STATE[name].shape for name in STATE)),
            lambda tree, _: save(named_arrays(tree)),
            lambda tree: {name: own.tobytes() for name, own in named_arrays(tree).items()},
        ),
        Reader("arguments", [each.encode() for each in LINES], of_words(request), always, cost=5),
    ]
}
