"""Pairs with a tab between: `i am tired .`, a tab, `je suis fatigue .`, one pair a line."""

from daxy.formats._pair_lines import PairLines

FORMAT = PairLines("tsv", ".tsv", "<source>\\t<target>", "", "\t")
read, parse, write = FORMAT.examples, FORMAT.pairs, FORMAT.lines
