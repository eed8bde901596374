"""Evaluates scalar expressions a batch of rows at a time."""

from engine.scalar.program import Program
from engine.scalar.row_failures import Failures

__all__ = ["Failures", "Program"]
