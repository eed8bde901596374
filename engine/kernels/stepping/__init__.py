"""Compiled steps: many operators, and many rounds of a loop, in one call."""
