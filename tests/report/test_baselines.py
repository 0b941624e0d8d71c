"""Scores of the nearest neighbour beside those of networks."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.test_analyses import right, run

from benchmarks import baselines as benchmark
from daxy import papers, tasks
from daxy.report import analyses, baselines, results
from daxy.reproduction.ledger import Ledger

RESULTS = Path(__file__).parents[2] / "results"
MEASURED = json.loads((RESULTS / baselines.FILE).read_text())["tasks"]


@pytest.mark.parametrize("task", ["scan/addprim_turn_left", "nacs/template_jump_around_right"])
def test_measuring_again_gives_the_same_scores(task: str) -> None:
    assert benchmark.measure(task) == MEASURED[task]


def test_every_baseline_is_measured_by_the_metrics_of_its_task() -> None:
    for task, by_learner in MEASURED.items():
        assert list(by_learner) == list(benchmark.LEARNERS)
        for scores in by_learner.values():
            assert set(scores) == set(tasks.get(task).metrics)
    assert set(MEASURED) == set(benchmark.names())


def test_a_baseline_is_for_the_whole_test_set_as_published() -> None:
    recipe = papers.table("bastings2018/table4").cell("GRU +Attn", "jump").recipe
    assert recipe is not None
    exact = 100 * MEASURED["scan/addprim_jump"]["nearest"]["exact"]
    assert baselines.of_recipe(RESULTS, recipe)["nearest"] == exact
    for other in ({"part": "validation"}, {"after_steps": 5}, {"data": {"seed": 1}}):
        assert not baselines.of_recipe(RESULTS, replace(recipe, **other))
    assert not baselines.of_recipe(Path("nowhere"), recipe)


def test_a_page_of_results_has_the_baselines_below_the_networks(
    tmp_path: Path, entry_for: Callable
) -> None:
    table = papers.table("bastings2018/table4")
    ledger = Ledger(tmp_path)
    ledger.add(table, [entry_for(table.cell("GRU +Attn", "jump"), 0.125)])
    page = results.page(papers.get("bastings2018"), ledger)
    assert "baseline" not in page
    scores = {"exact": 0.591}
    content = {"tasks": {"scan/addprim_jump": dict.fromkeys(benchmark.LEARNERS, scores)}}
    (tmp_path / baselines.FILE).write_text(json.dumps(content))
    baselines.read.cache_clear()
    lines = results.page(papers.get("bastings2018"), ledger).splitlines()
    assert "| `nearest --substitute` | jump |  | 59.1 |  | baseline |" in lines
    assert results.BASELINES in lines


def test_an_analysis_of_the_whole_test_set_has_the_baselines(
    tmp_path: Path, daxy: Callable
) -> None:
    folder = run(tmp_path, "scan/simple_p1", 0, right)
    analysis = analyses.get("by_length")
    task = MEASURED["scan/simple_p1"]
    shares = {name: 100 * scores["exact"] for name, scores in task.items()}
    found = analysis.with_published(analysis.run([folder]), [folder])
    assert found.baselines == pytest.approx(shares)
    assert f"nearest {shares['nearest']:.1f}" in daxy("analyse", "by_length", str(folder.path)).out
