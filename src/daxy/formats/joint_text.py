"""Pairs as joint sequences (Grefenstette et al. 2015): `<s> a1 a2 ||| a2 a1 </s>`, one a line."""

from daxy.formats._pair_lines import PairLines

FORMAT = PairLines("joint-text", ".txt", "<s> <source> ||| <target> </s>", "<s> ", " ||| ", " </s>")
read, parse, write = FORMAT.examples, FORMAT.pairs, FORMAT.lines
