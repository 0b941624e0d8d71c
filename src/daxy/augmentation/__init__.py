"""New training examples from the old ones, whatever task they are of."""
