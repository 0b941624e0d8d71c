"""Pairs with a tab between: `i am tired .`, a tab, `je suis fatigue .`, one pair a line."""

from __future__ import annotations

from daxy.formats._pair_lines import LinesFormat, PairLines

LINES = PairLines("<source>\\t<target>", "", "\t")
read, parse, write = LINES.read, LINES.parse, LINES.write

FORMAT = LinesFormat("tsv", ".tsv", LINES)
