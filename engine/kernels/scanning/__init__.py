"""Scanners: the structure of texts from outside, found at the speed of their bytes."""
