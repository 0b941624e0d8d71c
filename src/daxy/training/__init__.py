"""From a model and a split to trained weights: one loop, many replicas, resumable to the same bits."""
