"""The engine's kernels: small compiled functions over words and offsets.

They know no SQL, and nothing of what a time means.
"""

from engine.kernels.processor import choose

choose()
