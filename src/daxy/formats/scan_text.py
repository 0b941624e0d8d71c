"""SCAN's official text format: `IN: jump left OUT: I_TURN_LEFT I_JUMP`, one pair a line."""

from __future__ import annotations

from daxy.formats._pair_lines import LinesFormat, PairLines

LINES = PairLines("IN: <command> OUT: <actions>", "IN: ", " OUT: ", kind="scan-text")
read, parse, write = LINES.read, LINES.parse, LINES.write

FORMAT = LinesFormat("scan-text", ".txt", LINES)
