"""Loads all kernels when it is imported: what is forked from a process that has done so need not."""

from __future__ import annotations

from engine.kernels.build import found

for kernel in found():
    kernel.ready()
