"""Greedy decoding, written once against `start` and `step`, and what can be seen in between."""
