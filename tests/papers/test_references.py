"""Quoted scores: each is of a task that exists, and says where it was read."""

from collections import Counter
from collections.abc import Callable

from daxy import tasks
from daxy.reproduction import references


def test_each_is_a_percentage_of_a_test_that_exists() -> None:
    for each in references.references():
        task = tasks.get(each.task)
        assert each.test in (task.sizes.tests or {""})
        assert 0 <= each.value <= 100
        assert each.spread is None or 0 <= each.spread < 50
        assert task.metric == "exact"


def test_each_stands_once_and_every_source_is_used() -> None:
    every = references.references()
    places = Counter((each.task, each.test, each.learner, each.source.citation) for each in every)
    assert set(places.values()) == {1}
    assert {each.source.citation for each in every} == {
        source.citation for source in references.SOURCES.values()
    }


def test_a_card_shows_them_apart_from_the_scores_of_papers(daxy: Callable) -> None:
    card = daxy("tasks", "scan/length", "--json").json
    (bound,) = (x for x in card["quoted"] if x["learner"] == "code-davinci-002, least-to-most")
    assert (bound["score"], bound["value"], bound["is_lower_bound"]) == ("99.7", 99.7, False)
    lines = daxy("tasks", "scan/addprim_jump").out.splitlines()
    heads = [line.split()[0] for line in lines if ", %" in line]
    assert heads == ["published,", "quoted,"]
    assert any(line.split()[:2] == ["98.8", "±1.4"] and "Li et al. 2019" in line for line in lines)
    assert daxy("tasks", "transduction/copy", "--json").json["quoted"] == []


def test_a_card_shows_two_examples_of_the_test(daxy: Callable) -> None:
    card = daxy("tasks", "nacs/addprim_jump", "--json").json
    assert len(card["examples"]) == 2
    task = tasks.get("nacs/addprim_jump")
    for example in card["examples"]:
        source, target = tuple(example["source"]), tuple(example["target"])
        assert task.disagreement(source, target) is None
        assert "I_JUMP" in source
    out = daxy("tasks", "transduction/copy").out
    assert out.count("- Example: ") == 2
    assert " ... (65 tokens) -> " in out
