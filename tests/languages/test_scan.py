import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.languages import scan
from daxy.languages.scan import SCAN, Act, After, Around, NotACommand, Opposite, Repeat, Toward

# Lake & Baroni 2018, Figure 1 and section 2, and the README of the official files, in the papers'
# spelling of the actions.
PUBLISHED = {
    "jump": "JUMP",
    "jump left": "LTURN JUMP",
    "jump around right": "RTURN JUMP RTURN JUMP RTURN JUMP RTURN JUMP",
    "turn left twice": "LTURN LTURN",
    "jump thrice": "JUMP JUMP JUMP",
    "jump opposite left and walk thrice": "LTURN LTURN JUMP WALK WALK WALK",
    "jump opposite left after walk around left": (
        "LTURN WALK LTURN WALK LTURN WALK LTURN WALK LTURN LTURN JUMP"
    ),
    "turn opposite right": "RTURN RTURN",
    "turn around left": "LTURN LTURN LTURN LTURN",
}

WORDS = (
    "walk look run jump turn left right opposite around twice thrice and after".split()
)  # the 13 words of the paper


@pytest.mark.parametrize("command", PUBLISHED)
def test_a_command_means_what_the_paper_says(command: str) -> None:
    wanted = tuple(map(scan.official_spelling, PUBLISHED[command].split()))
    assert scan.denote(SCAN.parse(command.split())) == wanted


def test_a_command_is_parsed_as_the_grammar_says() -> None:
    command = SCAN.parse("jump around left twice after turn right".split())
    assert command == After(Repeat(Around("jump", "left"), 2), Toward("turn", "right"))
    assert SCAN.parse(["walk"]) == Act("walk")
    assert SCAN.parse("run opposite right".split()) == Opposite("run", "right")


def test_the_commands_for_some_actions_are_exactly_those_that_mean_them() -> None:
    meanings = scan.meanings()
    every = set(meanings.values())
    assert sum(len(scan.commands_for(actions)) for actions in every) == len(meanings)
    for actions in every:
        for command in scan.commands_for(actions):
            assert meanings[command] == actions
    assert scan.commands_for(("I_DAB", "DAB"))[0] == ("dab", "twice")


def test_there_are_as_many_commands_and_meanings_as_published() -> None:
    meanings = scan.meanings()
    assert len(meanings) == SCAN.size == 20_910
    assert len(set(meanings.values())) == 9_228
    assert {len(command) for command in meanings} == set(range(1, 10))
    lengths = {len(actions) for actions in meanings.values()}
    assert (min(lengths), max(lengths)) == (1, 48)
    assert 23 not in lengths
    assert {word for command in meanings for word in command} == set(WORDS)


def test_the_table_of_meanings_is_the_meaning_of_every_command_in_order() -> None:
    assert list(scan.meanings().items()) == [
        (scan.say(command), scan.denote(command)) for command in SCAN.commands()
    ]


def test_every_command_is_parsed_from_what_it_says() -> None:
    assert all(SCAN.parse(scan.say(command)) == command for command in SCAN.commands())


def test_an_extra_primitive_is_composed_like_the_others() -> None:
    command = scan.SCAN_WITH_DAB.parse("dab opposite left twice".split())
    half = ("I_TURN_LEFT", "I_TURN_LEFT", "I_DAB")
    assert scan.denote(command) == half * 2
    with pytest.raises(NotACommand):
        SCAN.parse(["dab"])


@pytest.mark.parametrize(
    ("words", "position", "expected", "may_end"),
    [
        ("", 1, "walk look run jump turn", False),
        ("fly", 1, "walk look run jump turn", False),
        ("turn", 2, "left right opposite around", False),
        ("turn twice", 2, "left right opposite around", False),
        ("jump around up", 3, "left right", False),
        ("jump jump", 2, "left right opposite around twice thrice and after", True),
        ("jump left left", 3, "twice thrice and after", True),
        ("jump twice twice", 3, "and after", True),
        ("jump and", 3, "walk look run jump turn", False),
        ("jump and walk and run", 4, "left right opposite around twice thrice", True),
        ("jump and walk twice thrice", 5, "", True),
    ],
)
def test_an_error_names_the_first_wrong_word_and_what_could_stand_there(
    words: str, position: int, expected: str, may_end: bool
) -> None:
    with pytest.raises(NotACommand) as caught:
        SCAN.parse(words.split())
    error = caught.value
    assert (error.position, set(error.expected)) == (position, set(expected.split()))
    assert error.may_end == may_end


@pytest.fixture(scope="module")
def beginnings() -> set[tuple[str, ...]]:
    every = scan.meanings()
    return {command[:length] for command in every for length in range(len(command) + 1)}


@given(words=st.lists(st.sampled_from([*WORDS, "fly"]), max_size=10))
def test_any_words_are_a_command_or_an_error_at_the_first_wrong_one(
    words: list[str], beginnings: set[tuple[str, ...]]
) -> None:
    if tuple(words) in scan.meanings():
        assert list(scan.say(SCAN.parse(words))) == words
        return
    with pytest.raises(NotACommand) as caught:
        SCAN.parse(words)
    before = tuple(words[: caught.value.position - 1])
    possible = {word for word in WORDS if (*before, word) in beginnings}
    assert before in beginnings
    assert tuple(words[: caught.value.position]) not in beginnings or len(before) == len(words)
    assert set(caught.value.expected) == possible
    if len(before) < len(words):
        assert caught.value.may_end == (before in scan.meanings())


@given(words=st.lists(st.text()))
def test_any_text_is_a_command_or_one_line_of_error(words: list[str]) -> None:
    try:
        SCAN.parse(words)
    except NotACommand as error:
        assert len(str(error).splitlines()) == 1


def test_the_proxy_is_right_by_its_own_grammar_alone() -> None:
    pair = ("dab", "twice"), ("I_DAB", "I_DAB")
    assert scan.disagreement(*pair, scan.SCAN_WITH_DAB) is None
    assert "'[dab] twice', word 1 cannot be 'dab'" in str(scan.disagreement(*pair))
    wrong = scan.disagreement(("dab",), ("I_JUMP",), scan.SCAN_WITH_DAB)
    assert wrong == "'dab' means I_DAB, not 'I_JUMP'"


def test_both_spellings_of_actions_are_read() -> None:
    papers = "WALK LOOK RUN JUMP LTURN RTURN".split()
    official = "I_WALK I_LOOK I_RUN I_JUMP I_TURN_LEFT I_TURN_RIGHT".split()
    assert list(map(scan.official_spelling, papers)) == official
    assert list(map(scan.official_spelling, official)) == official
    assert scan.official_spelling("FLY") == "FLY"
