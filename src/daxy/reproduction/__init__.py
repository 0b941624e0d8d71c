"""Runs on disk, what is missing of them, and the tables of papers that they fill."""
