"""Configurations of architectures, one a file, which import no machine-learning framework."""
