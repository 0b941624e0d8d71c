"""Shared values and tools: examples, splits, random streams, errors, files."""
