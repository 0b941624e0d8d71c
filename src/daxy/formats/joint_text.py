"""Pairs as joint sequences (Grefenstette et al. 2015): `<s> a1 a2 ||| a2 a1 </s>`, one a line."""

from __future__ import annotations

from daxy.formats._pair_lines import LinesFormat, PairLines

LINES = PairLines("<s> <source> ||| <target> </s>", "<s> ", " ||| ", " </s>")
read, parse, write = LINES.read, LINES.parse, LINES.write

FORMAT = LinesFormat("joint-text", ".txt", LINES)
