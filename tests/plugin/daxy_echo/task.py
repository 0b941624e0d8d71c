"""Echo: two letters thrice, after one letter thrice and two letters once and twice."""

from dataclasses import dataclass
from itertools import product

from daxy.core.examples import Examples
from daxy.core.split import Sizes, Split
from daxy.tasks import DatasetOptions, Task
from daxy_echo.language import LANGUAGE, TIMES, Echo


@dataclass(frozen=True, kw_only=True)
class EchoTask(Task[DatasetOptions]):
    language = LANGUAGE
    options = DatasetOptions

    def build(self, data: DatasetOptions) -> Split:
        letters = [each for size in (1, 2) for each in product("abcd", repeat=size)]
        every = [Echo(each, adverb) for each in letters for adverb in ("", *TIMES)]
        pairs = Examples.of((LANGUAGE.say(each), LANGUAGE.denote(each)) for each in every)
        is_test = [len(each.letters) == 2 and each.adverb == "thrice" for each in every]
        rows = {"train": list[int](), "validation": list[int](), "test": list[int]()}
        for row, out in enumerate(is_test):
            rows["test" if out else "train" if row % 5 else "validation"].append(row)
        parts = {name: pairs.take(some) for name, some in rows.items()}
        about = {"task": self.name, "rule": self.rule, "seed": data.seed}
        return Split.of(**parts, **about, options=data.options)


THRICE = EchoTask(
    name="echo/thrice",
    family="echo/thrice",
    summary="two letters thrice, never seen together",
    paper="nobody yet",
    rule="two letters thrice in the test",
    sizes=Sizes(train=35, validation=9, test=16),
    metrics=("exact", "first_token"),
)
TASKS = {THRICE.name: THRICE}
