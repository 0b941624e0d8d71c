"""gSCAN's commands, and what their phrases speak of (Ruis et al. 2020)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daxy.languages import grounded
from daxy.languages._reader import NotACommand
from daxy.languages.grounded import Command, NoReferent, Phrase, Thing

WORDS = (
    *"walk to push pull a red green yellow blue small big circle square cylinder".split(),
    *("while spinning", "while zigzagging", "hesitantly", "cautiously"),
)  # the 18 input words of the released data


def test_a_command_is_parsed_as_the_grammar_says() -> None:
    said = grounded.words("walk to a red small circle while spinning")
    wanted = Command("walk", Phrase("circle", "red", "small"), "while spinning")
    assert grounded.parse(said) == wanted
    assert grounded.parse(["pull", "a", "square"]) == Command("pull", Phrase("square"))


def test_there_are_as_many_commands_and_words_as_in_the_data() -> None:
    every = [grounded.say(command) for command in grounded.commands()]
    assert len(set(every)) == len(every) == 675
    assert {word for said in every for word in said} == set(WORDS)
    # Every kind of verb, number of adjectives, and manner or none: 12 templates.
    templates = {
        (c.verb == "walk", bool(c.phrase.color) + bool(c.phrase.size), bool(c.manner))
        for c in grounded.commands()
    }
    assert len(templates) == 12


def test_every_command_is_parsed_from_what_it_says() -> None:
    for command in grounded.commands():
        said = grounded.say(command)
        assert grounded.parse(said) == command
        assert grounded.words(" ".join(said)) == said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("walk a circle", "word 2 cannot be 'a'; expected to"),
        ("push to a circle", "word 2 cannot be 'to'; expected a"),
        ("push a small red circle", "word 4 cannot be 'red'; expected circle, square or cylinder"),
        ("push a circle while", "word 4 cannot be 'while'; expected while spinning, while zigzag"),
        ("push a red", "ends too early: word 4 is missing; expected small, big, circle"),
        ("push a circle cautiously cautiously", "expected the end of the command"),
        ("", "word 1 is missing; expected walk, push or pull"),
    ],
)
def test_an_error_says_where_and_what_could_stand_there(text: str, message: str) -> None:
    with pytest.raises(NotACommand) as caught:
        grounded.parse(grounded.words(text))
    assert message in str(caught.value)


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_what_could_stand_at_the_first_wrong_word_can(said: list[str]) -> None:
    try:
        command = grounded.parse(said)
    except NotACommand as error:
        before = said[: error.position - 1]
        for word in error.expected:
            try:
                grounded.parse([*before, word])
            except NotACommand as later:
                assert later.position > error.position
        if error.may_end:
            grounded.parse(before)
    else:
        assert grounded.say(command) == tuple(said)


SMALL, MIDDLE, LARGE = (Thing("circle", "red", size) for size in (1, 2, 4))
BLUE = Thing("circle", "blue", 3)
SQUARE = Thing("square", "red", 1)


@pytest.mark.parametrize(
    ("phrase", "things", "wanted"),
    [
        (Phrase("square"), (SMALL, SQUARE), SQUARE),
        (Phrase("circle", "blue"), (SMALL, BLUE), BLUE),
        (Phrase("circle", None, "small"), (LARGE, MIDDLE, SQUARE), MIDDLE),
        (Phrase("circle", None, "big"), (SMALL, BLUE, MIDDLE), BLUE),
        (Phrase("circle", "red", "big"), (SMALL, BLUE, MIDDLE), MIDDLE),
    ],
)
def test_a_phrase_speaks_of_the_one_thing_that_fits(
    phrase: Phrase, things: tuple[Thing, ...], wanted: Thing
) -> None:
    assert things[grounded.referent(phrase, things)] == wanted


@pytest.mark.parametrize(
    ("phrase", "things", "message"),
    [
        (Phrase("cylinder"), (SMALL,), "nothing is a cylinder: there is a red circle of size 1"),
        (Phrase("circle"), (), "nothing is a circle: there is nothing at all"),
        (Phrase("circle"), (SMALL, BLUE), "more than one thing is a circle: a red circle of size"),
        (Phrase("circle", "red", "small"), (SMALL, BLUE), "a red circle of size 1; it is alone"),
        (Phrase("circle", None, "big"), (SMALL, SMALL), "all have one size"),
        (Phrase("circle", None, "small"), (SMALL, SMALL, BLUE), "more than one thing is a small"),
    ],
)
def test_where_no_one_thing_fits_the_reason_is_said(
    phrase: Phrase, things: tuple[Thing, ...], message: str
) -> None:
    with pytest.raises(NoReferent) as caught:
        grounded.referent(phrase, things)
    assert message in str(caught.value)
