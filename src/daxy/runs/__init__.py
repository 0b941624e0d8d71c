"""Runs: one learner on one split from one seed, each in a folder of its own."""
