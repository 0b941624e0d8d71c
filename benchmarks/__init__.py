"""Speed and memory, each against a peer in the same run: `python -m benchmarks.training`."""
