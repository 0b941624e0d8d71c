"""Echo: `say a b twice` means `a b a b`."""

from typing import Any, NamedTuple

from daxy.core.errors import WrongRequest
from daxy.core.examples import Tokens
from daxy.languages import Language, Tree, node

TIMES = {"twice": 2, "thrice": 3}


class Echo(NamedTuple):
    letters: Tokens
    adverb: str


class EchoLanguage(Language[Echo]):
    constructions = ("twice", "thrice")

    def parse(self, words: Tokens) -> Echo:
        adverb = words[-1] if words and words[-1] in TIMES else ""
        letters = words[1 : len(words) - bool(adverb)]
        if words[:1] != ("say",) or not letters or {*letters} - {*"abcd"}:
            raise WrongRequest(f"{' '.join(words)!r} is no sentence; expected say, then a to d")
        return Echo(letters, adverb)

    def denote(self, phrase: Echo, world: Any = None) -> Tokens:
        return phrase.letters * TIMES.get(phrase.adverb, 1)

    def say(self, phrase: Echo) -> Tokens:
        return ("say", *phrase.letters, *filter(None, [phrase.adverb]))

    def tree(self, phrase: Echo) -> Tree:
        said = node("say", *map(node, phrase.letters))
        return node(phrase.adverb, said) if phrase.adverb else said


LANGUAGE = EchoLanguage()
