"""Reproduction of published tables: plan, train, file, compare."""
