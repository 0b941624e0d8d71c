"""What fits and predicts: a network with its training protocol, and later others."""
