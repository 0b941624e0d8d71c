"""From examples to arrays: one table of codes, an order of batches, few padded shapes."""
