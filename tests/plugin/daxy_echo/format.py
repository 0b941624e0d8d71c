"""Arrows: `say a twice => a a`, one pair a line."""

from pathlib import Path

from daxy.core.errors import WrongFile
from daxy.core.examples import Examples
from daxy.formats import Parts, TextFormat


class Arrows(TextFormat):
    name = "arrows"
    suffix = ".arrows"

    def text(self, parts: Parts) -> str:
        pairs = (example.texts for examples in parts.values() for example in examples)
        return "".join(f"{source} => {target}\n" for source, target in pairs)

    def parse(self, data: bytes, path: Path) -> Parts:
        pairs = list[tuple[str, str]]()
        for number, line in enumerate(data.decode().splitlines(), start=1):
            source, arrow, target = line.partition(" => ")
            if not arrow:
                raise WrongFile(path, "expected `<source> => <target>`", line=number)
            pairs.append((source, target))
        return {"": Examples.of(pairs)}


FORMAT = Arrows()
