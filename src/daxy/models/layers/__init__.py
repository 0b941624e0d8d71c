"""Layers that architectures share; every layer takes a batch, and `vmap` adds the replicas."""
