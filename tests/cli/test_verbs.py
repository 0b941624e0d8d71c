import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import pytest

import daxy as package
from daxy import tasks
from daxy.formats import jsonl, parquet, scan_text
from daxy.tasks._gscan_official import examine


def test_interpret_shows_the_parse_and_the_actions(daxy: Callable) -> None:
    answer = daxy("interpret", "scan", "jump left twice after turn right")
    assert answer.out == (
        "after\n"
        "  twice\n"
        "    left\n"
        "      jump\n"
        "  right\n"
        "    turn\n"
        "\n"
        "5 actions: I_TURN_RIGHT I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP\n"
    )


def test_interpret_needs_no_quotes(daxy: Callable) -> None:
    answer = daxy("interpret", "scan", "jump", "thrice", "--json")
    assert answer.json["command"] == "jump thrice"
    assert answer.json["actions"] == ["I_JUMP"] * 3
    assert answer.json["parse"] == {
        "label": "thrice",
        "children": [{"label": "jump", "children": []}],
    }


def test_interpret_goes_from_actions_to_the_commands_that_mean_them(daxy: Callable) -> None:
    commands = ["jump twice", "jump and jump", "jump after jump"]
    for language in ("nacs", "scan"):
        found = daxy("interpret", language, "I_JUMP I_JUMP", "--json").json
        assert found == {"actions": ["I_JUMP", "I_JUMP"], "commands": commands}
    assert daxy("interpret", "nacs", "JUMP", "JUMP").out.splitlines()[1:] == commands
    assert daxy("interpret", "nacs", commands[0]).out == daxy("interpret", "scan", commands[0]).out
    assert "did you mean I_JUMP?" in daxy("interpret", "nacs", "I_WALK I_JMP").err
    none = daxy("interpret", "nacs", "I_WALK I_JUMP I_RUN I_LOOK I_JUMP")
    assert (none.code, "no command of SCAN means 'I_WALK I_JUMP I_RUN" in none.err) == (2, True)


@pytest.mark.parametrize(
    ("asked", "labels"),
    [
        (("scan", "jump around left twice"), ("twice", "around left", "jump")),
        (("nacs", "I_JUMP I_JUMP"), ("twice", "and", "after", "jump")),
        (("gscan", "push a red circle cautiously"), ("cautiously", "push", "red", "circle")),
        (("copular", "I'm not tired."), ("not", "tired", "i/je", "i/je (a woman)")),
        (("svo_sov", "si1 vi2 oi3"), ("ST -> si1 | so1",)),
    ],
)
def test_interpret_draws_the_parse(
    asked: tuple[str, str], labels: tuple[str, ...], daxy: Callable, tmp_path: Path
) -> None:
    picture = tmp_path / "tree.svg"
    assert daxy("interpret", *asked, "--draw", str(picture), "--json").json["out"] == str(picture)
    for label in labels:
        assert f"<!-- {label.replace('->', '-&gt;')} -->" in picture.read_text()
    assert "--force replaces it" in daxy("interpret", *asked, "--draw", str(picture)).err


def test_interpret_shows_how_a_pair_is_derived(daxy: Callable) -> None:
    answer = daxy("interpret", "svo_sov", "si1 vi2 oi3 ||| so1 oo3 vo2")
    assert answer.out == (
        "A -> S1 VT2 O3 | S1 O3 VT2\n"
        "  S -> ST1 | ST1\n"
        "    ST -> si1 | so1\n"
        "  VT -> vi2 | vo2\n"
        "  O -> OT1 | OT1\n"
        "    OT -> oi3 | oo3\n"
        "\n"
        "3 tokens: so1 oo3 vo2\n"
        "probability of this derivation: 1e-05\n"
    )


def test_interpret_takes_a_joint_sequence(daxy: Callable) -> None:
    joint, plain = "<s> si1 vi2 oi3 ||| so1 oo3 vo2 </s>", "si1 vi2 oi3 ||| so1 oo3 vo2"
    assert daxy("interpret", "svo_sov", joint).out == daxy("interpret", "svo_sov", plain).out


def test_a_task_that_needs_a_file_has_a_card(daxy: Callable) -> None:
    answer = daxy("tasks", "transduction/grammar")
    assert answer.code == 0
    assert answer.out.startswith("# transduction/grammar")
    assert "expected --grammar FILE" in answer.out
    assert daxy("tasks", "transduction/grammar", "--json").json["published_sizes"] is None
    assert daxy("tasks", "transduction/grammar", "--grammar", "nope.itg").code == 2


def test_interpret_takes_a_grammar_file(daxy: Callable, tmp_path: Path) -> None:
    file = tmp_path / "mine.itg"
    file.write_text("1/2 A -> a A1 | A1 b\n1/2 A -> c | d\n")
    found = daxy("interpret", "itg", "a a c", "--grammar", str(file), "--json").json
    assert found["target"] == ["d", "b", "b"]
    assert found["derivation"]["label"] == "A -> a A1 | A1 b"


def test_shards_of_a_stream_are_written_apart(daxy: Callable, tmp_path: Path) -> None:
    request = ("export", "transduction/svo_sov", "--train-pairs", "300", "--out")
    assert daxy(*request, str(tmp_path / "all.parquet")).code == 0
    whole = parquet.read(tmp_path / "all.parquet")["train"]
    found = list[str]()
    for number in (1, 2):
        path = tmp_path / f"{number}.parquet"
        assert daxy(*request, str(path), "--shard", f"{number}/2").code == 0
        found += parquet.read(path)["train"].keys
    assert tuple(found) == whole.keys


WORLD = """
{"size": 4, "agent": [3, 0], "things": [
    {"shape": "circle", "color": "red", "size": 2, "cell": [2, 1]},
    {"shape": "circle", "color": "red", "size": 4, "cell": [0, 3]}
]}
"""


def test_interpret_gscan_shows_the_referent_and_the_actions(daxy: Callable, tmp_path: Path) -> None:
    world = tmp_path / "world.json"
    world.write_text(WORLD)
    request = ("interpret", "gscan", "push a red small circle while spinning", "--world", world)
    answer = daxy(*map(str, request))
    assert answer.code == 0, answer.err
    assert answer.out.startswith("while spinning\n  push\n    red\n      small\n        circle\n")
    assert "2 ·      [○2r]" in answer.out
    assert "a red small circle: the red circle of size 2 at (2, 1)" in answer.out
    found = daxy(*map(str, request), "--json").json
    assert found["referent"]["cell"] == [2, 1]
    spin = ["turn left"] * 4
    pushes = [*spin, "push"] * 2
    assert found["actions"] == [*spin, "walk", *spin, "turn left", "walk", *pushes]


def test_interpret_gscan_without_a_world_shows_the_parse_alone(daxy: Callable) -> None:
    found = daxy("interpret", "gscan", "walk to a circle", "--json").json
    assert found == {
        "command": "walk to a circle",
        "parse": {"label": "walk to", "children": [{"label": "circle", "children": []}]},
    }


def test_tasks_lists_families_with_their_sizes(daxy: Callable) -> None:
    answer = daxy("tasks")
    line = next(line for line in answer.out.splitlines() if line.startswith("scan/addprim_jump "))
    assert line.split()[1:3] == ["14,670", "7,706"]
    found = daxy("tasks", "--json").json
    assert list(found["tasks"]) == list(found["sizes"]) == tasks.available()
    assert found["sizes"]["scan/addprim_jump"] == {"train": 14_670, "test": 7_706}


def test_a_card_as_json_has_what_its_text_has(daxy: Callable) -> None:
    made, large, mine = (
        daxy("tasks", name, "--json").json
        for name in ("nacs/length", "gscan/length", "transduction/grammar")
    )
    assert made["rule"] == made["provenance"]["rule"] != ""
    assert list(made["scores"]) == made["metrics"] == ["back_mapping", "exact"]
    assert made["scores"]["exact"] == "the prediction equals the target, token for token"
    assert "not_loaded" not in made
    assert large["not_loaded"].startswith("`daxy show gscan/length` generates it")
    assert mine["not_loaded"].endswith("expected --grammar FILE")
    assert (mine["sizes"]["train"], mine["published_sizes"]) == (20_000, None)
    for card in (made, large, mine):
        text = daxy("tasks", card["task"]).out
        assert all(f"{name}: {said}" in text for name, said in card["scores"].items())
        assert f"- Split: {card['rule']}" in text
        assert card.get("not_loaded", "") in text


def test_the_card_of_a_nacs_task_has_the_share_of_known_inputs(daxy: Callable) -> None:
    answer = daxy("tasks", "nacs/addprim_turn_left")
    assert "- Share of test inputs whose actions occur in train: 41.0%" in answer.out
    assert "21890 train lines, 1208 test lines" in answer.out


def test_show_counts_and_draws_each_part(daxy: Callable) -> None:
    answer = daxy("show", "scan/addprim_jump", "--validation", "none", "--count", "1")
    assert "train: 14,670 examples, 13,204 distinct" in answer.out
    assert "validation: 0 examples, 0 distinct" in answer.out
    assert "test: 7,706 examples, 7,706 distinct" in answer.out
    # `jump` 1467 times, and walk, look, run, turn left and turn right are one action long.
    facts = daxy("show", "scan/addprim_jump", "--validation", "none", "--json").json
    assert facts["parts"]["train"]["target_lengths"]["1"] == 1467 + 5
    assert facts["parts"]["train"]["source_lengths"] == [1, 9]


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.parquet"])
def test_export_writes_the_part_in_the_format_of_the_name(
    name: str, daxy: Callable, tmp_path: Path
) -> None:
    path = tmp_path / name
    answer = daxy("export", "scan/length", "--split", "test", "--out", str(path))
    assert answer.out == f"{path}: 3,920 test examples\n"
    reader = {".txt": scan_text.read, ".jsonl": jsonl.read, ".parquet": parquet.read}[path.suffix]
    loaded = reader(path)
    examples = loaded["test"] if isinstance(loaded, dict) else loaded
    assert examples.keys == package.load("scan/length").test.keys


def test_export_of_all_parts_says_which_is_which(daxy: Callable) -> None:
    answer = daxy("export", "scan/simple_p1", "--split", "all", "--format", "jsonl")
    parts = [json.loads(line)["split"] for line in answer.out.splitlines()]
    split = package.load("scan/simple_p1")
    assert {part: parts.count(part) for part in dict.fromkeys(parts)} == {
        part: len(rows) for part, rows in split.parts.items() if len(rows)
    }


def test_export_never_replaces_what_is_no_file(daxy: Callable, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    answer = daxy("export", "scan/length", "--out", str(tmp_path / "pipe"), "--force")
    assert answer.code == 2
    assert answer.err.endswith("pipe is a device or a pipe; expected a file to write\n")


def test_verify_reads_a_pipe_once(daxy: Callable, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    lines = "IN: jump OUT: I_JUMP\nIN: walk OUT: I_JUMP\n"
    with ThreadPoolExecutor(1) as threads:
        written = threads.submit((tmp_path / "pipe").write_text, lines)
        answer = daxy("verify", str(tmp_path / "pipe"))
        assert written.result(10) == len(lines)
    assert answer.code == 1
    assert "pipe: 2 examples, 1 disagreement, " in answer.out


def test_export_replaces_a_file_only_when_forced(daxy: Callable, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("mine")
    assert daxy("export", "scan/length", "--out", str(path)).code == 2
    assert path.read_text() == "mine"
    assert daxy("export", "scan/length", "--out", str(path), "--force").code == 0
    assert path.read_text().startswith("IN: ")


@pytest.mark.parametrize("benchmark", ["scan", "nacs"])
def test_an_exported_split_is_verified(benchmark: str, daxy: Callable, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    daxy("export", f"{benchmark}/addprim_jump", "--validation", "none", "--out", str(path))
    answer = daxy("verify", str(path))
    assert answer.code == 0
    assert answer.out == f"{path}: 14,670 examples, 0 disagreements, 1,466 duplicates\n"


@pytest.mark.slow
@pytest.mark.parametrize("benchmark", ["scan", "nacs"])
def test_an_exported_split_with_the_proxy_is_verified(
    benchmark: str, daxy: Callable, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    daxy("export", f"{benchmark}/addprim_jump", "--validation", "dab", "--out", str(path))
    answer = daxy("verify", str(path))
    # `jump` stands 1467 times in train, and so does its twin.
    counts = "16,137 examples, 0 disagreements, 2,932 duplicates, 1,467 with the proxy `dab`"
    assert (answer.code, answer.out) == (0, f"{path}: {counts}\n")
    assert daxy("verify", str(path), "--json").json["proxy"] == 1467


def test_a_line_with_the_proxy_may_be_wrong(daxy: Callable, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("IN: dab twice OUT: I_DAB\nIN: jump OUT: I_DAB\n")
    answer = daxy("verify", str(path))
    assert answer.out.splitlines() == [
        f"{path}: 2 examples, 2 disagreements, 0 duplicates, 1 with the proxy `dab`",
        f"{path}:1: 'dab twice' means I_DAB I_DAB, not 'I_DAB'",
        f"{path}:2: 'jump' means I_JUMP, not 'I_DAB'",
    ]


def test_verify_names_the_lines_that_disagree(daxy: Callable, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(
        "IN: jump OUT: JUMP\n"  # the papers' spelling is right too
        "IN: walk left OUT: I_WALK I_TURN_LEFT\n"
        "IN: walk walk OUT: I_WALK I_WALK\n"
        "IN: jump OUT: I_JUMP\n"
    )
    answer = daxy("verify", str(path), "--json")
    assert answer.code == 1
    assert answer.json["examples"] == 4
    assert answer.json["disagreements"] == 2
    assert answer.json["duplicates"] == 1
    assert [each["line"] for each in answer.json["first_disagreements"]] == [2, 3]
    said = daxy("verify", str(path), "--show", "1").out.splitlines()
    wanted = "'walk left' means I_TURN_LEFT I_WALK, not 'I_WALK I_TURN_LEFT'"
    assert said[1:] == [f"{path}:2: {wanted}"]


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (
            "IN: walk OUT: I_WALK\nIN: I_JUMP OUT: jump\nIN: I_WALK OUT: run\nIN: I_RUN OUT: run\n",
            [1, 3],
        ),
        ("IN: JUMP OUT: jump\nIN: walk OUT: I_WALK\nIN: run OUT: I_RUN\n", [1]),
    ],
)
def test_verify_recognises_nacs_by_its_first_words(
    lines: str, wrong: list[int], daxy: Callable, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_text(lines)
    answer = daxy("verify", str(path), "--json")
    assert answer.code == 1
    assert [each["line"] for each in answer.json["first_disagreements"]] == wrong


@pytest.mark.parametrize("name", ["scored.jsonl", "scored.parquet"])
def test_score_counts_and_keeps_each_prediction(name: str, daxy: Callable, tmp_path: Path) -> None:
    test = package.load("scan/filler_num0").test
    given = tmp_path / "p.jsonl"
    right = [example.source != ("jump", "around", "right") for example in test]
    rows = [
        {"key": example.key, "prediction": list(example.target) if is_right else "I_JUMP"}
        for example, is_right in zip(test, right, strict=True)
    ]
    given.write_text("".join(json.dumps(row) + "\n" for row in rows))
    request = ["score", "scan/filler_num0", "--predictions", str(given)]
    answer = daxy(*request, "--out", str(tmp_path / name), "--json")
    assert answer.json["examples"] == 1173
    assert answer.json["accuracy"] == pytest.approx(1172 / 1173)
    # `jump around right` alone means eight actions; `turn left after jump around right` more.
    assert answer.json["by_target_length"]["8"] == {"examples": 1, "score": 0.0}
    assert package.score("scan/filler_num0", tmp_path / name).accuracy == answer.json["accuracy"]
    assert "99.9%" in daxy(*request).out


def test_a_score_and_a_card_show_published_scores(daxy: Callable, tmp_path: Path) -> None:
    test = package.load("scan/addprim_turn_left").test
    given = tmp_path / "p.jsonl"
    rows = [{"key": each.key, "prediction": list(each.target)} for each in test]
    given.write_text("".join(json.dumps(row) + "\n" for row in rows))
    place = {"table": "lake2018/experiments", "row": "best", "column": "turn_left"}
    figure = place | {"metric": "exact", "printed": "90.3", "value": 90.3, "spread": None}
    for request in (
        ["score", "scan/addprim_turn_left", "--predictions", str(given)],
        ["tasks", "scan/addprim_turn_left"],
    ):
        assert figure in daxy(*request, "--json").json["published"]
        assert re.search(r"90\.3 +exact +lake2018/experiments +best +turn_left", daxy(*request).out)


SMALL = ("--grid", "4", "--resampling", "1", "--kind", "simple_trans", "--max-length", "5")


def test_show_draws_an_example_and_prints_it(daxy: Callable, tmp_path: Path) -> None:
    split = package.load("gscan/length", grid=4, resampling=1, kind="simple_trans", max_length=5)
    for suffix, begins in ((".svg", b"<svg "), (".png", b"\x89PNG"), (".gif", b"GIF89a")):
        path = tmp_path / f"world{suffix}"
        answer = daxy("show", "gscan/length", *SMALL, "--draw", str(path), "--example", "I:4")
        example = split.named["I"][3]
        assert answer.out == f"{path}: {' '.join(example.source)}: {', '.join(example.target)}\n"
        assert path.read_bytes().startswith(begins)
    drawn = ElementTree.parse(tmp_path / "world.svg").getroot()
    said = " ".join(text.text or "" for text in drawn.iterfind("{*}text"))
    assert said == f"{' '.join(example.source)} {', '.join(example.target)}"


def test_the_card_of_a_large_task_generates_no_data(daxy: Callable) -> None:
    answer = daxy("tasks", "gscan/compositional")
    assert "343808 test lines (A 19282, B 18718," in answer.out
    assert "`daxy show gscan/compositional` generates it" in answer.out
    assert "provenance" not in daxy("tasks", "gscan/compositional", "--json").json


def test_the_number_of_workers_does_not_change_the_data(daxy: Callable) -> None:
    one, two = (
        daxy("tasks", "gscan/length", *SMALL, "--workers", n, "--json").json for n in ("1", "2")
    )
    assert one == two


def test_an_example_without_a_file_is_shown_as_text(daxy: Callable) -> None:
    answer = daxy("show", "gscan/length", *SMALL, "--example", "I:1")
    said, _, *rows = answer.out.splitlines()
    assert said.startswith("walk to a circle: ")
    assert [row[0] for row in rows] == list(" 0123")


def test_parts_without_examples_are_shown_and_have_no_score(daxy: Callable, tmp_path: Path) -> None:
    words = ("gscan/compositional", *SMALL[:-2], "--shots", "0")
    answer = daxy("show", *words, "--count", "0")
    assert "G: 0 examples, 0 distinct" in answer.out
    data = package.data("gscan/compositional", grid=4, resampling=1, kind="simple_trans", shots=0)
    test = tasks.get("gscan/compositional").split(data).test
    path = tmp_path / "predictions.jsonl"
    lines = (json.dumps({"key": key, "prediction": []}) + "\n" for key in set(test.keys))
    path.write_text("".join(lines))
    told = daxy("score", *words, "--predictions", str(path), "--json").json
    assert list(told["tests"]) == list("ABCDEF")


def test_show_puts_the_parts_of_gscan_side_by_side(daxy: Callable) -> None:
    answer = daxy("show", "gscan/length", *SMALL, "--count", "0")
    line = next(line for line in answer.out.splitlines() if line.startswith("examples"))
    assert line.split() == ["examples", "train", "validation", "A", "I"]
    parts = daxy("show", "gscan/length", *SMALL, "--json").json["parts"]
    for part in parts.values():
        for counts in part["distributions"].values():
            assert sum(counts.values()) == part["count"]


@pytest.mark.slow
def test_an_exported_set_of_gscan_is_verified_and_loaded(daxy: Callable, tmp_path: Path) -> None:
    path = tmp_path / "dataset.txt"
    words = ("--split", "all", "--format", "gscan-json", "--out", str(path))
    assert daxy("export", "gscan/length", *SMALL, *words).code == 0
    assert ", 0 disagreements, 0 shots" in daxy("verify", str(path)).out
    answer = daxy("tasks", "gscan/length", "--official", str(tmp_path), "--json").json
    made = daxy("tasks", "gscan/length", *SMALL, "--json").json
    assert answer["provenance"]["checksum"] == made["provenance"]["checksum"]


def test_score_of_gscan_shows_each_test_and_both_metrics(daxy: Callable, tmp_path: Path) -> None:
    split = package.load("gscan/length", grid=4, resampling=1, kind="simple_trans", max_length=5)
    lines = [
        {"key": key, "prediction": ",".join(target) if row % 2 else list(target)}
        for row, (key, target) in enumerate(zip(split.test.keys, split.test.target, strict=True))
    ]
    for line in lines[split.tests["I"]]:
        line["prediction"] = []
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = daxy("score", "gscan/length", *SMALL, "--predictions", str(path), "--json").json
    assert told["tests"] == {
        "A": {"exact": 1.0, "executes": 1.0},
        "I": {"exact": 0.0, "executes": 0.0},
    }
    assert told["accuracy"] == len(split.named["A"]) / len(split.test)


def test_a_killed_export_leaves_no_file_and_can_be_repeated(tmp_path: Path) -> None:
    path = tmp_path / "dataset.txt"
    words = [sys.executable, "-m", "daxy", "export", "gscan/length", *SMALL, "--split", "all"]
    words += ["--format", "gscan-json", "--out", str(path)]
    process = subprocess.Popen(words)
    while not any(tmp_path.iterdir()):  # what is being written has another name
        assert process.poll() is None
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert not path.exists()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    assert examine(path)[1] == []
