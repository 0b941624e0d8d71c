"""The report page without a browser: what it says, that it stands alone, and how large it is."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.report import test_grounded_analyses as grounded
from tests.report.test_analyses import AS_LAKE, LEARNER, SOME, right, run, short
from tests.runs.small_runs import experiment

from daxy import papers, tasks
from daxy.core.examples import Example, Sequences, Tokens
from daxy.report.page import Page, _examples, page
from daxy.report.page._encoding import Evaluated
from daxy.reproduction import plan as reproduction
from daxy.reproduction.entry import Entry
from daxy.reproduction.ledger import Ledger
from daxy.runs.folder import RunFolder

TASK = "scan/addprim_turn_left"
HOSTILE = "</script><script>document.title='changed'</script><b>&amp;\u2028"
"""A token and a title that would change a page that takes it for markup."""


def hostile(example: Example) -> Tokens:
    return (*example.target, HOSTILE)


def with_log(folder: RunFolder, records: int = 3) -> RunFolder:
    """Write the log that training would have left, a diverged loss included."""
    losses = [2.0 / (1 + n) for n in range(records - 1)] + [float("nan")]
    lines = [
        {"epoch": n + 1, "steps": 10 * (n + 1), "loss": loss, "validation": n / records}
        for n, loss in enumerate(losses)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder.path / "log.jsonl").write_text(text)
    return folder


def made(folders: list[RunFolder], results: Path, **options: Any) -> Page:
    shown = {"title": "A title", "ledger": Ledger(results), "examples": 0, **options}
    return page(folders, **shown)


class Outline(HTMLParser):
    """Texts of a page's elements, its scripts by their type, and its tables' rows."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {}
        self.scripts: dict[str, list[str]] = {}
        self.rows: list[list[str]] = []
        self._open: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.scripts.setdefault(dict(attrs).get("type") or "", []).append("")
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td") and self.rows:
            self.rows[-1].append("")
        if tag not in ("meta", "link", "br", "img", "input"):
            self._open.append((tag, dict(attrs).get("type") or ""))
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not self._open:
            return
        tag, kind = self._open[-1]
        self.texts[tag][-1] += data
        if tag == "script":
            self.scripts[kind][-1] += data
        if any(name in ("th", "td") for name, _ in self._open):
            self.rows[-1][-1] += data

    @property
    def data(self) -> Any:
        (text,) = self.scripts["application/json"]
        return json.loads(text)


def four_runs(folder: Path) -> list[RunFolder]:
    """Return runs of two learners on one task, and of one of them on another."""
    wider = {**LEARNER, "config": {"hidden": 8}}
    return [
        with_log(run(folder, TASK, 0, right)),
        with_log(run(folder, TASK, 1, short)),
        with_log(run(folder, TASK, 0, hostile, wider)),
        with_log(run(folder, "nacs/addprim_turn_left", 0, right)),
    ]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[RunFolder]:
    return four_runs(tmp_path_factory.mktemp("runs"))


def test_the_summary_has_a_row_per_learner_with_mean_and_deviation(
    folders: list[RunFolder], tmp_path: Path
) -> None:
    shown = made(folders, tmp_path)
    accuracy = [100 * folder.scores()["test"]["exact"] for folder in folders[:2]]
    mean, deviation = np.mean(accuracy), np.std(accuracy)
    rows = Outline(shown.html).rows
    first = rows.index([TASK])
    narrow, wide, other, mirrored, exact = (row[:3] for row in rows[first + 1 : first + 6])
    assert narrow == ["seq2seq, hidden 4 exact", "2", f"{mean:.1f} ±{deviation:.1f}"]
    assert wide == ["seq2seq, hidden 8 exact", "1", "0.0"]
    assert other == ["nacs/addprim_turn_left"]
    assert mirrored == ["seq2seq, hidden 4 back_mapping", "1", "100.0"]
    assert exact == ["seq2seq, hidden 4 exact", "1", "100.0"]
    assert [len(group.folders) for group in shown.groups] == [2, 1, 1]


def test_learners_are_compared_on_one_test_set_at_a_time(tmp_path: Path) -> None:
    choices = [replace(SOME, seed=0), replace(SOME, seed=1)]
    runs = [
        with_log(run(tmp_path, "scan/simple", 0, says, data=data))
        for data, says in zip(choices, (right, short), strict=True)
    ]
    report = made(runs, tmp_path)
    assert [group.title for group in report.groups] == [
        "scan/simple (split seed 0)",
        "scan/simple (split seed 1)",
    ]
    rows = Outline(report.html).rows
    heads = [cells[0] for cells in rows if cells and cells[0].startswith("scan/simple (")]
    assert heads[:2] == ["scan/simple (split seed 0)", "scan/simple (split seed 1)"]
    one_test = [with_log(run(tmp_path, "scan/length", 0, right, data=data)) for data in choices]
    assert {group.title for group in made(one_test, tmp_path).groups} == {"scan/length"}


def test_a_published_learner_stands_beside_the_paper_and_the_ledger(
    tmp_path: Path, entry_for: Callable[..., Entry]
) -> None:
    table = papers.table("lake2018/experiments")
    reproducible = (cell for cell in table.cells if cell.recipe and cell.value is not None)
    cell = next(cell for cell in reproducible if cell.recipe.task == "scan/simple")
    assert cell.recipe is not None
    learner = reproduction.learner_of(cell.recipe).settings()
    folder = run(tmp_path / "runs", cell.recipe.tasks[0], 0, right, learner, AS_LAKE)
    ledger = Ledger(tmp_path / "results")
    ledger.add(table, [entry_for(cell, 0.5)])
    rows = Outline(made([with_log(folder)], ledger.folder).html).rows
    (found,) = [row[2:] for row in rows if row[0].startswith(f"{cell.paper}/{cell.table}: ")]
    assert found == [cell.printed, "50.0 (n = 1)", "100.0 (n = 1)"]


def test_tokens_and_titles_are_text_wherever_they_stand(
    folders: list[RunFolder], tmp_path: Path
) -> None:
    outline = Outline(made(folders, tmp_path, title=HOSTILE).html)
    assert "b" not in outline.texts
    visible = HOSTILE.replace("\u2028", "\\u2028")
    assert outline.texts["title"] == outline.texts["h1"] == [visible]
    (script,) = outline.scripts[""]
    assert script.strip().endswith("showLooks();")
    assert visible in outline.data["tests"][0]["targets"]


def test_the_page_names_no_other_place(folders: list[RunFolder], tmp_path: Path) -> None:
    html = made(folders, tmp_path).html
    assert "default-src 'none'" in html
    assert set(re.findall(r"\b\w+://[\w.]+", html)) == {"http://www.w3.org"}
    assert not re.search(r"<(?:link|iframe|object|embed)\b|@import|url\(|\bfetch\(|XMLHttp", html)


def test_curves_leave_out_what_is_no_number(folders: list[RunFolder], tmp_path: Path) -> None:
    charts = Outline(made(folders, tmp_path).html).data["curves"]
    losses = [chart for chart in charts if chart["title"] == "Training loss"]
    assert [each["points"] for each in losses[0]["series"]] == [[[10, 2.0], [20, 1.0]]] * 3
    assert {chart["task"] for chart in charts} == {TASK, "nacs/addprim_turn_left"}


def test_breakdowns_are_the_analyses_of_the_command_line(
    folders: list[RunFolder], tmp_path: Path, daxy: Callable
) -> None:
    charts = Outline(made(folders, tmp_path).html).data["breakdowns"]
    (chart,) = [
        it for it in charts if it["task"] == TASK and it["title"].endswith("tokens in the target")
    ]
    answer = daxy("analyse", "by_length", *(str(it.path) for it in folders[:2]), "--json").json
    rows = [row for row in answer["rows"] if row["group"] == "tokens in the target"]
    assert chart["names"] == [row["name"] for row in rows]
    assert [value[0] for value in chart["series"][0]["values"]] == pytest.approx(
        [row["mean"] for row in rows], rel=1e-3
    )


def test_twenty_runs_of_7706_predictions_take_less_than_3_mb() -> None:
    """Predictions are drawn: real ones are more alike, and take less."""
    draws, count = np.random.default_rng(0), 7706

    def drawn() -> Sequences:
        lengths = draws.integers(1, 28, count)
        codes = draws.integers(6, size=lengths.sum()).astype(np.uint16)
        return Sequences(tuple("abcdef"), codes, np.concatenate([[0], np.cumsum(lengths)]))

    test = Evaluated(TASK, "exact", drawn(), drawn())
    test.runs += [(0, seed, np.zeros(count, np.bool_), drawn()) for seed in range(20)]
    blocks = list[str]()
    described = json.dumps(test.as_json(blocks))
    rest = sum(len(path.read_bytes()) for path in _template())
    assert sum(map(len, blocks)) + len(described) + rest < 2_900_000


def _template() -> list[Path]:
    from daxy.report import page as package

    return list(Path(package.__path__[0]).glob("page.*"))


def test_the_command_writes_one_file_and_says_its_scores(
    folders: list[RunFolder], tmp_path: Path, daxy: Callable
) -> None:
    out, paths = tmp_path / "report.html", [str(folder.path) for folder in folders]
    options = ("--out", str(out), "--examples", "0", "--results", str(tmp_path))
    answer = daxy("report", *paths, *options, "--json").json
    assert answer["bytes"] == out.stat().st_size
    assert answer["runs"] == 4
    assert answer["groups"][0]["scores"][0]["runs"][0] == 100
    again = daxy("report", *paths, *options)
    assert (again.code, "--force" in again.err) == (2, True)
    assert daxy("report", *paths, *options, "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "missing: RUN"),
        (("{run}", "{run}"), "is the same run as"),
        (("{run}", "--out", "page.pdf"), "ends in .html"),
        (("{run}", "--examples", "-1"), "--examples must not be negative"),
        (("{run}", "--results", "{missing}"), "no such folder"),
        (("{missing}",), "no such folder"),
        (("{empty}",), "no finished run"),
    ],
)
def test_wrong_requests_are_refused_and_write_nothing(
    arguments: tuple[str, ...],
    said: str,
    folders: list[RunFolder],
    tmp_path: Path,
    daxy: Callable,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    places = {"run": folders[0].path, "missing": tmp_path / "none", "empty": tmp_path / "empty"}
    answer = daxy("report", *(each.format(**places) for each in arguments))
    assert (answer.code, said in answer.err, answer.err.count("\n")) == (2, True, 1)
    assert not list(tmp_path.glob("*.html"))


@pytest.mark.slow
@pytest.mark.usefixtures("one_shape")
def test_attention_of_wrong_and_right_answers_is_shown(tmp_path: Path) -> None:
    folders = experiment(tmp_path / "runs").run([0])
    shown = Outline(made(folders, tmp_path, examples=3).html).data["looks"]
    assert len(shown) == 3
    for look in shown:
        (attention,) = look["maps"]
        assert attention["across"] == [*look["source"], "</s>"]
        assert attention["down"][: len(look["prediction"])] == look["prediction"]
        assert {sum(row) for row in attention["weights"]} <= set(range(95, 106))
        assert look["right"] == (look["prediction"] == look["target"])


def test_worlds_are_drawn_for_every_test_with_what_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blind = SimpleNamespace(attends=False, has_memory=False)
    monkeypatch.setattr(_examples, "load", lambda path: blind)
    folder = with_log(grounded.run(tmp_path, 0, grounded.knows_no_color))
    outline = Outline(made([folder], tmp_path, examples=2).html)
    looks, (test,) = outline.data["looks"], outline.data["tests"]
    assert test["tests"] == dict(
        tasks.get(grounded.TASK).split(grounded.DATA).provenance.sizes.tests
    )
    assert {look["test"] for look in looks} == {
        name for name, count in test["tests"].items() if count
    }
    for look in looks:
        wanted, done = (each["text"].rpartition(": ")[2] for each in look["pictures"])
        assert wanted == ", ".join(look["target"])
        assert done == (", ".join(look["prediction"]) or "no action")
    titles = {chart["title"] for chart in outline.data["breakdowns"]}
    assert "By situation: direction of the target" in titles
