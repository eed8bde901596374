"""Narrow batches: how they lie in memory, and how kernels read them."""
