"""Evaluates scalar expressions a batch of rows at a time."""

from engine.scalar.failures import Failures
from engine.scalar.program import Program

__all__ = ["Failures", "Program"]
