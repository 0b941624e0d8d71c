"""Speed against a peer in the same run, memory, faults: `python -m benchmarks.training`."""
