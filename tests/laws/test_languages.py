"""What holds for every language there is, and for every one that is added."""

import pytest

from daxy import languages
from daxy.core.errors import DaxyError, WrongRequest
from daxy.languages import Tree

SENTENCES = {
    "copular": "he isn't very tired .",
    "gender": "",
    "gscan": "walk to a red small circle while spinning",
    "itg": "",
    "nacs": "jump left twice after walk",
    "scan": "jump around left thrice and turn right",
    "svo_sov": "si1 vi2 oi3",
}
NAMES = languages.available()
SPOKEN = [name for name in NAMES if SENTENCES.get(name, "x")]


def labels(tree: Tree) -> list[str]:
    return [tree["label"], *(label for child in tree["children"] for label in labels(child))]


@pytest.mark.parametrize("name", NAMES)
def test_a_language_says_what_it_is_and_refuses_other_words(name: str) -> None:
    assert languages.LANGUAGES.summary(name)
    language = languages.get(name)
    with pytest.raises(WrongRequest):
        language.parse(("?", "!"))
    with pytest.raises(DaxyError):
        language.interpret("? !")


@pytest.mark.parametrize("name", SPOKEN)
def test_a_sentence_is_parsed_said_again_and_drawn(name: str) -> None:
    language = languages.get(name)
    words = language.words(SENTENCES[name])
    phrase = language.parse(words)
    assert language.say(phrase) == words
    assert language.parse(language.say(phrase)) == phrase
    assert all(labels(language.tree(phrase)))
    assert all(language.say(part) for part in language.parts(phrase))
    reading = language.interpret(SENTENCES[name])
    assert reading.lines
    assert reading.trees[0][0] == language.tree(phrase)


@pytest.mark.parametrize("name", SPOKEN)
def test_a_sentence_means_something_or_something_in_a_world(name: str) -> None:
    language = languages.get(name)
    phrase = language.parse(language.words(SENTENCES[name]))
    if language.is_grounded:
        with pytest.raises(WrongRequest, match="means nothing without a world"):
            language.denote(phrase)
    else:
        assert language.denote(phrase)
