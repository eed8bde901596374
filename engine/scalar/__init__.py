"""Evaluates scalar expressions a batch of rows at a time."""

from engine.scalar.program import ScalarProgram
from engine.scalar.row_failures import Failures

__all__ = ["Failures", "ScalarProgram"]
