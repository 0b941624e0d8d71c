"""SCAN's official text format: `IN: jump left OUT: I_TURN_LEFT I_JUMP`, one pair a line."""

from daxy.formats._pair_lines import PairLines

FORMAT = PairLines(
    "scan-text", ".txt", "IN: <command> OUT: <actions>", "IN: ", " OUT: ", kind="scan-text"
)
read, parse, write = FORMAT.examples, FORMAT.pairs, FORMAT.lines
