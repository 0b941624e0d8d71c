"""From a model and a split to trained weights: one loop, many replicas, the same bits resumed."""
