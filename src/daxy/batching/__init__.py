"""Encoding of examples, order of batches and padded shapes."""
