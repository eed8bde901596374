"""The engine's kernels: small compiled functions over words and offsets.

They do not know SQL, and treat times as plain numbers.
"""

from engine.kernels.processor import choose

choose()
