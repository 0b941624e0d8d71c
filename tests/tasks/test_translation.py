"""The translation tasks: what is in which part, whichever sentences they are of."""

from pathlib import Path
from typing import Any

import pytest

from daxy import tasks
from daxy.core.errors import DaxyError
from daxy.core.examples import Examples
from daxy.core.split import Split
from daxy.languages import copular
from daxy.tasks.translation import CONTROL, NEW_WORD, SENTENCES, TIRED

TASK, REVERSED = "translation/daxy", "translation/daxy_fr_en"
SAID = ("i am daxy .", "je suis daxiste .")


def split(name: str = TASK, **choices: Any) -> Split:
    return tasks.get(name).split(tasks.data(name, **choices))


def pairs(examples: Examples) -> list[tuple[str, str]]:
    return [
        (" ".join(source), " ".join(target))
        for source, target in zip(examples.source, examples.target, strict=True)
    ]


WHO = ("I'm", "I am", "He's", "He is", "She's", "You are", "You're", "They are", "We aren't")
LINES = [f"{who} {what}.\tc'est {'abcdefghi'[number]} {what}\tx\n"
         for number, who in enumerate(WHO) for what in ("Ça", "là", "œuvre", "rue")]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "fra.txt"
    path.write_text("".join(LINES))
    return path


def test_the_grammars_pairs_are_of_the_grammar_and_as_many_as_the_released() -> None:
    made = split()
    sizes = made.provenance.sizes
    assert (sizes.train + sizes.validation, sizes.test) == (10_999, 1_199)
    assert dict(sizes.tests) == {SENTENCES: 1_183, NEW_WORD: 8, CONTROL: 8}
    for part in made.parts.values():
        for source, target in zip(part.source[:200], part.target[:200], strict=True):
            if "daxy" not in source:
                assert target in copular.translations(source)
            assert max(len(source), len(target)) <= 9


@pytest.mark.parametrize("choices", [{}, {"seed": 3}])
def test_no_sentence_of_either_language_is_in_both_parts(choices: dict[str, Any]) -> None:
    made = split(**choices)
    tested = made.named[SENTENCES]
    assert not set(tested.source) & {*made.train.source, *made.validation.source}
    assert not set(tested.target) & {*made.train.target, *made.validation.target}


def test_the_new_word_is_in_one_sentence_so_many_times() -> None:
    for repetitions, fraction in ((0, 0.1), (1, 0.1), (1, 0.9), (10, 0.1), (100, 0.1)):
        made = split(repetitions=repetitions, validation="draw", validation_fraction=fraction)
        learned = pairs(made.train) + pairs(made.validation)
        met = [pair for pair in learned if "daxy" in pair[0].split()]
        assert met == [SAID] * repetitions
        assert "daxy" not in " ".join(source for source, _ in pairs(made.named[SENTENCES])).split()
        assert repetitions == 0 or SAID in pairs(made.train)


def test_the_tests_are_the_eight_constructions() -> None:
    made = split(word="wug=wugue")
    for part, predicate in ((NEW_WORD, copular.adjective(("wug",), "wugue")), (CONTROL, TIRED)):
        rows = list(zip(made.named[part].source, made.named[part].target, strict=True))
        assert rows == list(copular.constructions(predicate).values())


def test_the_control_is_met_but_not_in_what_it_is_asked_in() -> None:
    made = split()
    learned = {*made.train.source, *made.validation.source}
    asked = {english for english, _ in copular.constructions(TIRED).values()}
    assert sum("tired" in source for source in learned) > 20
    assert not learned & asked
    answers = {*made.train.target, *made.validation.target}
    assert not answers & {french for _, french in copular.constructions(TIRED).values()}


def test_the_other_direction_is_the_same_reversed() -> None:
    one, other = split(), split(REVERSED)
    assert one.provenance.sizes == other.provenance.sizes
    for part, mirrored in zip(one.parts.values(), other.parts.values(), strict=True):
        assert list(part.swapped()) == list(mirrored)
    known, mirrored = tasks.get(TASK), tasks.get(REVERSED)
    assert known.facts(one.train) == mirrored.facts(other.train)
    assert known.distributions(one.train) == mirrored.distributions(other.train)


def test_draws_are_the_seeds() -> None:
    assert split(seed=1).provenance.checksum == split(seed=1).provenance.checksum
    assert split(seed=1).provenance.checksum != split(seed=2).provenance.checksum


def test_facts_count_what_the_paper_counts() -> None:
    lines = ["you are ill .", "you are ill .", "you are sad .", "he is not sad .",
             "i am tired .", "you are not very ill .", "you re tired .", "i am very tired .",
             "he is so ill ."]  # fmt: skip
    examples = Examples.of((line.split(), ["a", f"b{row % 2}"]) for row, line in enumerate(lines))
    facts = tasks.get(TASK).facts(examples)
    assert facts == {
        "sentences with tired": 3,
        "of its eight constructions": 1,
        "predicates a construction": 4 / 8,
        "pairs a construction": 5 / 8,
    }
    counts = tasks.get(TASK).distributions(examples)["construction"]
    assert (counts["you are X"], counts["he is not X"], counts["he is X"]) == (3, 1, 0)


def test_a_file_is_normalised_filtered_and_split(file: Path) -> None:
    made = split(pairs=file, test_fraction=0.25)
    every = [pair for part in (made.train, made.validation, made.named[SENTENCES])
             for pair in pairs(part) if "daxy" not in pair[0]]  # fmt: skip
    assert len(every) == len(LINES)
    assert ("i m ca .", "c est a ca") in every
    assert ("he is uvre .", "c est d uvre") in every
    assert ("we aren t la .", "c est i la") in every
    assert len(made.named[SENTENCES]) == len(LINES) // 4
    assert made.provenance.source == f"the sentences of {file}"


def test_a_files_control_is_not_learned_where_it_is_asked(file: Path) -> None:
    asked = ("You are tired.\tTu es fatigué.", "You are tired.\tVous êtes fatigué.",
             "You're tired.\tTu es fatigué.",
             "I am very tired.\tJe suis très fatigué.")  # fmt: skip
    file.write_text(file.read_text() + "".join(f"{line}\n" for line in asked))
    made = split(pairs=file, test_fraction=0.25)
    every = [pair for part in (made.train, made.validation, made.named[SENTENCES])
             for pair in pairs(part)]  # fmt: skip
    assert len(every) == len(LINES) + 1_000


def test_a_word_may_have_capitals_and_accents() -> None:
    asked = split(word="Wug=Wugué", repetitions=1, validation="none").named["new_word"]
    assert asked[0].source == ("you", "are", "wug", ".")
    assert asked[0].target == ("tu", "es", "wugue", ".")


def test_a_file_without_the_word_of_the_control_says_so(file: Path) -> None:
    said = "no sentence of train has `tired`, which the control asks for"
    assert ("tired" in file.read_text()) != (said in split(pairs=file).provenance.rule)
    with file.open("a") as more:
        more.write("She is tired of it.\tElle en a assez.\n" * 20)
    assert said not in split(pairs=file, validation="none").provenance.rule


def test_pairs_that_come_twice_and_what_is_filtered_out(file: Path) -> None:
    file.write_text(
        file.read_text() * 2
        + "She said no.\tElle a dit non.\n"
        + "It is late.\tIl est tard.\n"
        + "I am one two three four five six seven.\tTrop long.\n"
        + "I am short.\t"
        + "mot " * 9
        + ".\n"
    )
    for prefixes, more in (("lake2018", 1), ("tutorial", 0)):
        made = split(pairs=file, prefixes=prefixes, repetitions=0)
        sizes = made.provenance.sizes
        count = sizes.train + sizes.validation + sizes.tests[SENTENCES]
        assert count == 2 * len(LINES) + more
    longer = split(pairs=file, max_length=10, repetitions=0).provenance.sizes
    assert longer.train + longer.validation + longer.tests[SENTENCES] == 2 * len(LINES) + 3


def test_without_a_validation_set_all_is_learned() -> None:
    made = split(validation="none")
    assert (len(made.train), len(made.validation)) == (10_999, 0)


@pytest.mark.parametrize(
    ("choices", "problem"),
    [
        ({"word": "daxy"}, "word must be a word of a to z and its translation, as daxy=daxiste"),
        ({"word": "da xy=daxiste"}, "word must be a word of a to z and its translation"),
        ({"word": "wug=wugø"}, "word must be a word of a to z and its translation"),
        ({"word": "Œuf=wugue"}, "word must be a word of a to z and its translation"),
        ({"word": "daxy=!"}, "word must be a word of a to z and its translation"),
        ({"word": "daxy=dax=daxiste"}, "word must be a word of a to z and its translation"),
        ({"word": "happy=daxiste"}, "'happy' is no new word: '"),
        ({"word": "daxy=heureux"}, "'heureux' is no new word: '"),
        ({"repetitions": -1}, "repetitions must not be negative: -1"),
        ({"max_length": 0}, "max-length must be positive, not 0"),
        ({"max_length": 3}, "the grammar has no sentences of up to 3 words"),
        ({"word": "not=pas"}, "'not' is no new word: '"),
        ({"word": "tired=las"}, "'tired' is no new word: '"),
        ({"test_fraction": 1.0}, "test-fraction must be between 0 and 1, not 1"),
        ({"validation_fraction": 0.0}, "validation-fraction must be between 0 and 1, not 0"),
        ({"validation": "dab"}, "validation must be one of 'published', 'draw', 'none', not 'dab'"),
        ({"sentences": "released"}, "expected --official DIR"),
        ({"sentences": "file"}, "expected --pairs FILE"),
        ({"pairs": Path("a"), "official": Path("b")}, "expected one of them"),
        ({"pairs": Path("a"), "sentences": "released"}, "--pairs is not for the sentences of"),
        ({"official": Path("a"), "max_length": 8}, "is made already; leave out --max-length"),
        ({"official": Path("a"), "seed": 3}, "is made already; leave out --split-seed"),
        ({"prefixes": "tutorial"}, "sentences pass no filter; leave out --prefixes"),
        (
            {"validation": "none", "validation_fraction": 0.2},
            "there is no validation set (--validation draw carves one); leave out"
            " --validation-fraction",
        ),
        ({"official": Path("a")}, "a: no such file or folder"),
        ({"pairs": Path("absent.txt")}, "absent.txt: no such file"),
    ],
)  # fmt: skip
def test_a_wrong_choice_is_refused(choices: dict[str, Any], problem: str) -> None:
    with pytest.raises(DaxyError) as raised:
        split(**choices)
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("I am ill.\tРад.\n", ":1: no word of a to z in the French sentence 'Рад.'"),
        ("Je suis là.\tI am here.\n", ": no pair passes the filter; expected English sentences"),
        (
            "I am one two three four five six seven.\tLong.\n",
            ": no pair of up to 9 words; expected a",
        ),
        ("I am ill.\tJe suis malade.\n", "the test fraction leaves the test empty"),
    ],
)
def test_a_file_that_will_not_do_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "fra.txt"
    path.write_text(text)
    with pytest.raises(DaxyError) as raised:
        split(pairs=path)
    assert problem in str(raised.value)


def test_a_word_that_a_file_has_is_no_new_one(tmp_path: Path) -> None:
    path = tmp_path / "fra.txt"
    path.write_text("I am daxy.\tJe suis las.\nI am ill.\tJe suis malade.\n")
    with pytest.raises(DaxyError, match=f"'i am daxy .' is among those of {path}; expected"):
        split(pairs=path, test_fraction=0.5, validation="none")
