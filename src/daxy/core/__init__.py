"""Values that every other room uses: examples, splits, random streams, errors, files."""
